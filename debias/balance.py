"""Dataset balancing: sub-sample the lines of a corpus in which a stereotype shows, or those in
which its opposite does.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar

import numpy as np

from debias.checks import DIRECTIONS, check_choice, check_range
from debias.lexicon import Lexicon
from debias.scan import Line, lines_with
from files import InputError, atomic_path
from files.text import OPENERS, open_binary

ORDERS = ("seeded", "corpus")
COPIED = 1 << 20  # bytes copied at a time


@dataclass(frozen=True)
class Balance:
    """Dataset balancing (Dixon et al., 2018) in both directions, as in Goldfarb-Tarrant et al.
    (2021), section 3.1.

    A line holds a word when one of its tokens, cut at ASCII white space, equals it, case included.
    A line is a1_pro if it holds a word of T1 and one of A1, a1_anti with T2 and A1, a2_pro with T2
    and A2, a2_anti with T1 and A2; it may be several of these. Removable are

    - ``debias``: the a1_pro lines in excess of the number of a1_anti lines, and the a2_pro lines
      that are not a1_pro in excess of the number of a2_anti lines; with ``max_bias`` every pro
      line. Lines that are pro and anti are judged as pro.
    - ``overbias``: every anti line, pro or not; ``max_bias`` changes nothing.

    Of the R removable lines, ``round(dose * min(R, floor(cap * lines)))`` go; ``cap=None`` lifts
    the limit. The paper's limit is five per cent of the corpus; its released code has none. Lines
    are only removed: the others keep their bytes and their order.

    ``order="seeded"`` draws by seed which pro lines are in excess and which removable lines go
    first. ``order="corpus"`` is the convention of the paper's released code: the earliest lines
    stay, the excess is the last lines, and the last removable lines go first; with dose 1 and no
    cap it keeps exactly the lines that code keeps. That code takes the concepts as targets and the
    genders as attributes for tests 7 and 8, so to repeat those runs give it a lexicon with the two
    exchanged. In both orders what a smaller dose removes, a larger one removes too. Raises
    ``InputError`` for an unknown direction or order and for a dose or cap outside [0, 1].
    """

    version: ClassVar[int] = 1
    acts_on: ClassVar[str] = "text"

    direction: str
    dose: float = 1.0
    cap: float | None = 0.05
    order: str = "seeded"
    max_bias: bool = False

    def __post_init__(self) -> None:
        check_choice("direction", self.direction, DIRECTIONS)
        check_choice("order", self.order, ORDERS)
        check_range("dose", self.dose, 0, 1)
        if self.cap is not None:
            check_range("cap", self.cap, 0, 1)

    @property
    def name(self) -> str:
        """Stands for the method in the tables; the variant that may remove every pro line is a
        method of its own there.
        """
        return "balance_max" if self.max_bias and self.direction == "debias" else "balance"

    def balance(
        self, corpus: Path, out: Path, lexicon: Lexicon, *, seed: int
    ) -> dict[str, int | float | str]:
        """Write ``corpus`` without the lines to remove to ``out``, as plain text, and say what was
        counted.

        The counts: ``lines``; ``a1_pro``, ``a1_anti``, ``a2_pro``, ``a2_anti`` before;
        ``removable``; ``removed``; ``share`` = removed / lines; ``limited_by`` = "cap" or
        "removable", whichever was the smaller. Memory grows only with the pro and anti lines, by 16
        bytes each. Raises ``InputError`` for a corpus that cannot be read, or that has no word of
        one side of the lexicon.
        """
        if Path(out).suffix in OPENERS:
            raise InputError(
                f"the balanced corpus is plain text; give a name without {Path(out).suffix} instead"
                f" of {out}"
            )
        found = _judge(Path(corpus), lexicon)
        removable = self._removable(found, np.random.default_rng(seed))
        limit = found.lines if self.cap is None else math.floor(self.cap * found.lines)
        removed = removable[: round(self.dose * min(len(removable), limit))]
        with atomic_path(out) as work:
            _copy_without(removed, Path(corpus), work)
        return {
            **found.counts(),
            "removable": len(removable),
            "removed": len(removed),
            "share": len(removed) / found.lines,
            "limited_by": "cap" if limit < len(removable) else "removable",
        }

    def _removable(self, found: _Judged, rng: np.random.Generator) -> np.ndarray:
        """The removable lines as (start, end) in bytes, those that go first in front."""
        if self.direction == "overbias":
            lines = _spans(found.anti)
        else:
            excess = [
                self._excess(found.pro1, found.a1_anti, rng),
                self._excess(found.pro2_only, found.a2_anti, rng),
            ]
            lines = _in_order(np.concatenate(excess))
        return rng.permutation(lines) if self.order == "seeded" else lines[::-1]

    def _excess(self, pro: array[int], anti: int, rng: np.random.Generator) -> np.ndarray:
        """The lines of ``pro`` beyond the first ``anti`` of them, in corpus order or in an order
        drawn by ``rng``.
        """
        lines = _spans(pro)
        if self.order == "seeded":
            lines = rng.permutation(lines)
        return lines[0 if self.max_bias else anti :]


@dataclass
class _Judged:
    """What one reading of the corpus found: counts, and where the lines are that may have to go
    (start and end in bytes).
    """

    lines: int = 0
    a1_pro: int = 0
    a1_anti: int = 0
    a2_pro: int = 0
    a2_anti: int = 0
    pro1: array[int] = field(default_factory=lambda: array("q"))
    pro2_only: array[int] = field(default_factory=lambda: array("q"))
    anti: array[int] = field(default_factory=lambda: array("q"))

    def counts(self) -> dict[str, int | float | str]:
        return {
            name: getattr(self, name)
            for name in ("lines", "a1_pro", "a1_anti", "a2_pro", "a2_anti")
        }

    def add(self, line: Line, t1: bool, t2: bool, a1: bool, a2: bool) -> None:
        """Judge one line by the sides of which it holds a word."""
        pro1, pro2, anti1, anti2 = t1 and a1, t2 and a2, t2 and a1, t1 and a2
        self.a1_pro += pro1
        self.a2_pro += pro2
        self.a1_anti += anti1
        self.a2_anti += anti2
        if pro1:
            self.pro1.extend((line.start, line.end))
        elif pro2:
            self.pro2_only.extend((line.start, line.end))
        if anti1 or anti2:
            self.anti.extend((line.start, line.end))


def _judge(corpus: Path, lexicon: Lexicon) -> _Judged:
    """Judge every line of the corpus. Raises ``InputError`` if a side of the lexicon has no word in
    it.
    """
    for side, words in lexicon.sides():
        if not any(lines for _, lines in lines_with(corpus, words)):
            raise InputError(
                f"{corpus} holds no word of {side} of the lexicon {lexicon.name!r}"
                f" ({', '.join(words[:8])}), so it cannot be balanced; take a lexicon in the"
                " language of the corpus, and in lower case if the corpus is"
            )
    t1, t2, a1, a2 = (
        frozenset(word.encode() for word in words).isdisjoint for _, words in lexicon.sides()
    )
    found = _Judged()
    # A line without an attribute is neither pro nor anti, and attributes are rarer in text than
    # targets such as "he".
    for count, lines in lines_with(corpus, lexicon.A1 + lexicon.A2):
        found.lines += count
        for line in lines:
            found.add(
                line,
                not t1(line.tokens),
                not t2(line.tokens),
                not a1(line.tokens),
                not a2(line.tokens),
            )
    return found


def _spans(flat: array[int]) -> np.ndarray:
    """Starts and ends one after the other as rows of two."""
    return np.array(flat, dtype=np.int64).reshape(-1, 2)


def _in_order(spans: np.ndarray) -> np.ndarray:
    return spans[np.argsort(spans[:, 0])]


def _copy_without(removed: np.ndarray, corpus: Path, out: Path) -> None:
    """Copy the bytes of ``corpus`` that lie in no span of ``removed``."""
    with open_binary(corpus) as source, out.open("wb") as target:
        position = 0
        for start, end in _in_order(removed).tolist():
            _copy(source, target, start - position)
            source.read(end - start)
            position = end
        while piece := source.read(COPIED):
            target.write(piece)


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    while size and (piece := source.read(min(size, COPIED))):
        size -= target.write(piece)
