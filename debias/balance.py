"""Dataset balancing: sub-sample the lines in which a stereotype, or its opposite, shows."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from debias.base import WORDS, Direction, Inputs, S, Steps, require_change
from debias.roles import TARGETS_AND_ATTRIBUTES, words_by_role
from files import InputError, atomic_path, choice
from files.choice import Fileless, Share
from files.text import OPENERS, open_binary
from intrinsic.wordsets import read_query

if TYPE_CHECKING:
    from intrinsic.wordsets import Query

Lines = NDArray[np.int64]  # by their numbers, from 0


@choice
class Balance(Fileless):
    """Dataset balancing (Dixon et al., 2018), after Goldfarb-Tarrant et al. (2021), section 3.1.

    A line holds a word when one of its tokens, cut at ASCII white space, equals it, case included.
    A line is a_pro if it holds a word of X and one of A, a_anti with Y and A, b_pro with Y and B,
    b_anti with X and B; it may be several of these. Removable are

    - ``debias``: the a_pro lines in excess of the number of a_anti lines, and the b_pro lines that
      are not a_pro in excess of the number of b_anti lines; with ``max_bias`` every pro line. Lines
      that are pro and anti are judged as pro.
    - ``overbias``: every anti line, pro or not; ``max_bias`` changes nothing.

    Of the R removable lines, ``round(dose * min(R, floor(cap * lines)))`` go; ``cap=None`` lifts
    the limit. The paper's limit is five per cent of the corpus; its released code has none. Lines
    are only removed: the others keep their bytes and their order.

    ``order="seeded"`` draws by seed which pro lines are in excess and which removable lines go
    first. ``order="corpus"`` is the convention of the paper's released code: the earliest lines
    stay, the excess is the last lines, and the last removable lines go first; with dose 1 and no
    cap it keeps exactly the lines that code keeps. In both orders what a smaller dose removes, a
    larger one removes too.

    **Which sets are the targets decides what is balanced** when debiasing: with genders as targets
    at most as many men as women are at the office, with concepts as targets men are at most as
    often at the office as at home. The released code has the genders for test 6 and the concepts
    for 7, 8 and the union; ``WordChoice.swap`` exchanges the two. Overbiasing is the same either
    way.
    """

    version: ClassVar[int] = 1
    acts_on: ClassVar[str] = "text"
    roles: ClassVar[tuple[str, ...]] = TARGETS_AND_ATTRIBUTES

    direction: Direction
    dose: Share = 1.0
    cap: Share | None = 0.05
    order: Literal["seeded", "corpus"] = "seeded"
    max_bias: bool = False

    @property
    def name(self) -> str:
        """``balance``; ``balance_max``, a method of its own, where every pro line may go."""
        return "balance_max" if self.max_bias and self.direction == "debias" else "balance"

    def build_steps(self, steps: Steps[S], given: Mapping[str, S]) -> S:
        """The text without the lines to remove."""
        read = {"corpus": given["text"], "words": given["words"]}
        return steps("balanced", self, write_balanced, read)

    def balance(
        self, corpus: Path, out: Path, query: Query, *, seed: int
    ) -> dict[str, int | float | str]:
        """Write ``corpus`` without the lines to remove to ``out``, as plain text; what was counted.

        The counts: ``lines``; ``a_pro``, ``a_anti``, ``b_pro``, ``b_anti`` before;
        ``removable``; ``removed``; ``share`` = removed / lines; ``limited_by`` = "cap" or
        "removable", whichever was the smaller. Memory grows only with the pro and anti lines, by 8
        bytes each. Raises ``InputError`` for a corpus that cannot be read, or that has no word of
        one role of the query, and as ``words_by_role`` does.
        """
        if Path(out).suffix in OPENERS:
            remedy = f"give a name without {Path(out).suffix} instead of {out}"
            raise InputError(f"the balanced corpus is plain text; {remedy}")
        found = _judge(Path(corpus), query)
        removable = self._removable(found, np.random.default_rng(seed))
        limit = found.lines if self.cap is None else math.floor(self.cap * found.lines)
        removed = removable[: round(self.dose * min(len(removable), limit))]
        with atomic_path(out) as work:
            _copy_without(removed, Path(corpus), work)
        return {
            "lines": found.lines,
            "a_pro": found.a_pro,
            "a_anti": found.a_anti,
            "b_pro": found.b_pro,
            "b_anti": found.b_anti,
            "removable": len(removable),
            "removed": len(removed),
            "share": len(removed) / found.lines,
            "limited_by": "cap" if limit < len(removable) else "removable",
        }

    def _removable(self, found: _Judged, rng: np.random.Generator) -> Lines:
        """The removable lines, those that go first in front."""
        if self.direction == "overbias":
            lines = np.array(found.anti, dtype=np.int64)
        else:
            of_a = self._excess(found.pro_of_a, found.a_anti, rng)
            of_b = self._excess(found.pro_of_b, found.b_anti, rng)
            lines = np.sort(np.concatenate([of_a, of_b]))
        return rng.permutation(lines) if self.order == "seeded" else lines[::-1]

    def _excess(self, pro: array[int], anti: int, rng: np.random.Generator) -> Lines:
        """The lines of ``pro`` beyond the first ``anti``, in corpus order or drawn by ``rng``."""
        lines = np.array(pro, dtype=np.int64)
        if self.order == "seeded":
            lines = rng.permutation(lines)
        return lines[0 if self.max_bias else anti :]


def write_balanced(method: Balance, out: Path, inputs: Inputs, seed: int) -> None:
    """``corpus.txt`` with lines removed, and the counts in ``counts.json``."""
    corpus, query = inputs["corpus"] / "corpus.txt", read_query(inputs["words"] / WORDS)
    counts = method.balance(corpus, out / "corpus.txt", query, seed=seed)
    require_change(method, not counts["removed"])
    (out / "counts.json").write_text(json.dumps(counts, indent=1), encoding="utf-8")


@dataclass
class _Judged:
    """What one reading of the corpus found: counts, and lines that may have to go."""

    lines: int = 0
    a_pro: int = 0
    a_anti: int = 0
    b_pro: int = 0
    b_anti: int = 0
    pro_of_a: array[int] = field(default_factory=lambda: array("q"))
    pro_of_b: array[int] = field(default_factory=lambda: array("q"))  # and not of a
    anti: array[int] = field(default_factory=lambda: array("q"))

    def add(self, line: int, x: bool, y: bool, a: bool, b: bool) -> None:
        """Judge one line by the roles of which it holds a word."""
        a_pro, b_pro, a_anti, b_anti = x and a, y and b, y and a, x and b
        self.a_pro += a_pro
        self.b_pro += b_pro
        self.a_anti += a_anti
        self.b_anti += b_anti
        if a_pro:
            self.pro_of_a.append(line)
        elif b_pro:
            self.pro_of_b.append(line)
        if a_anti or b_anti:
            self.anti.append(line)


def _judge(corpus: Path, query: Query) -> _Judged:
    """Judge every line. Raises ``InputError`` if a role of the query has no word in the corpus."""
    by_role = words_by_role(query)
    sets = [frozenset(word.encode() for word in words) for words in by_role.values()]
    every = frozenset[bytes]().union(*sets)
    seen: set[bytes] = set()
    found = _Judged()
    with open_binary(corpus) as lines:
        for line in lines:
            if held := every.intersection(line.split()):
                seen |= held
                found.add(found.lines, *(not held.isdisjoint(words) for words in sets))
            found.lines += 1
    for (role, words), own in zip(by_role.items(), sets, strict=True):
        if seen.isdisjoint(own):
            none = f"{corpus} holds no word of {role} of the query {query.name!r}"
            raise InputError(
                f"{none} ({', '.join(words[:8])}), so it cannot be balanced; take words in the"
                " language of the corpus, and in lower case if the corpus is"
            )
    return found


def _copy_without(removed: Lines, corpus: Path, out: Path) -> None:
    gone = frozenset(removed.tolist())
    with open_binary(corpus) as source, out.open("wb") as target:
        target.writelines(line for number, line in enumerate(source) if number not in gone)
