"""Methods on text: dataset balancing, and counterfactual data augmentation."""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from biasbridge.debias.base import WORDS, Direction, Inputs, S, StepBuilder, require_change
from biasbridge.debias.words import TARGETS_AND_ATTRIBUTES, require_roles, words_by_role
from biasbridge.files import InputError, atomic_path, choice
from biasbridge.files.choice import Fileless, Share
from biasbridge.files.text import OPENERS, open_binary
from biasbridge.intrinsic.word_forms import Counterparts
from biasbridge.intrinsic.words import read_query

if TYPE_CHECKING:
    from biasbridge.intrinsic.words import Query


LineNumbers = NDArray[np.int64]  # by their numbers, from 0
_Counts = dict[str, int | float | str]
_SPACE = re.compile(rb"(\s+)")


class OnText(Fileless):
    """Base of methods on text; a subclass provides ``rewrite``, its ``step_name`` and ``effect``,
    the count that is 0 where it changes nothing.
    """

    acts_on: ClassVar[str] = "text"
    version: ClassVar[int] = 1
    roles: ClassVar[tuple[str, ...]]
    step_name: ClassVar[str]
    effect: ClassVar[str]

    @property
    def name(self) -> str:
        """Name in the tables."""
        raise NotImplementedError

    def build_steps(self, steps: StepBuilder[S], inputs: Mapping[str, S]) -> S:
        """Return the step that writes the changed text."""
        step_inputs = {"corpus": inputs["text"], "words": inputs["words"]}
        return steps(self.step_name, self, _write_changed_text, step_inputs)

    def rewrite(self, corpus: Path, out: Path, query: Query, *, seed: int) -> _Counts:
        """Write the changed text to ``out``; return counts."""
        raise NotImplementedError


@choice
class Balance(OnText):
    """Dataset balancing (Dixon et al., 2018), after Goldfarb-Tarrant et al. (2021), section 3.1.

    A line contains a word if one of its tokens, split at ASCII white space, equals it (case
    matters). A line is a_pro if it contains a word of X and one of A, a_anti with Y and A,
    b_pro with Y and B, b_anti with X and B; it may be several of these. Removable are

    - ``debias``: the a_pro lines in excess of the number of a_anti lines, and the b_pro lines that
      are not a_pro in excess of the number of b_anti lines; with ``max_bias`` every pro line. Lines
      that are both pro and anti count as pro.
    - ``overbias``: every anti line, pro or not; ``max_bias`` changes nothing.

    Of the R removable lines, ``round(dose * min(R, floor(cap * lines)))`` are removed;
    ``cap=None`` sets no limit. The paper's limit is five per cent of the corpus; its released code
    has none. All other lines keep their bytes and their order.

    ``order="seeded"`` draws by seed which pro lines are in excess and which removable lines are
    removed first. ``order="corpus"`` is the convention of the paper's released code: the excess is
    the last lines, and the last removable lines are removed first; with dose 1 and no cap it keeps
    exactly the lines that code keeps. In both orders a larger dose removes every line that a
    smaller one removes.

    **The choice of targets decides what debiasing balances**: with genders as targets, at most as
    many men as women are at the office; with concepts as targets, men are at most as often at the
    office as at home. The released code has the genders as targets for test 6 and the concepts for
    7, 8 and the union; ``WordChoice.swap`` exchanges the two. Overbiasing does not depend on it.
    """

    step_name: ClassVar[str] = "balanced"
    effect: ClassVar[str] = "removed"
    roles: ClassVar[tuple[str, ...]] = TARGETS_AND_ATTRIBUTES
    chosen_as: ClassVar[tuple[str, ...]] = ("debias/balance",)
    configuration: ClassVar[Mapping[str, object]] = {"direction": "debias"}

    direction: Annotated[Direction, doc("or overbias")]
    dose: Annotated[Share, doc("share of the removable lines to remove, in [0, 1]")] = 1
    cap: Annotated[
        Share | None, doc("largest share of all lines to remove, the paper's limit; null: no limit")
    ] = 0.05
    order: Annotated[
        Literal["seeded", "corpus"],
        doc("corpus: keep the earliest lines, as in the paper's released code"),
    ] = "seeded"
    max_bias: Annotated[bool, doc("true: every pro-stereotypical line is removable")] = False

    @property
    def name(self) -> str:
        """``balance``, or ``balance_max`` if every pro line is removable."""
        return "balance_max" if self.max_bias and self.direction == "debias" else "balance"

    def rewrite(self, corpus: Path, out: Path, query: Query, *, seed: int) -> _Counts:
        """Write ``corpus`` without the removed lines to ``out``, as plain text; return counts.

        The counts: ``lines``; ``a_pro``, ``a_anti``, ``b_pro``, ``b_anti`` before;
        ``removable``; ``removed``; ``share`` = removed / lines; ``limited_by`` = "cap" or
        "removable", whichever is smaller. Memory grows by 8 bytes per pro or anti line. Raises
        ``InputError`` for a corpus that cannot be read or lacks all words of a role, and as
        ``words_by_role`` does.
        """
        if Path(out).suffix in OPENERS:
            remedy = f"give a name without {Path(out).suffix} instead of {out}"
            raise InputError(f"the balanced corpus is plain text; {remedy}")
        counts = _count_lines(Path(corpus), query)
        removable = self._removable(counts, np.random.default_rng(seed))
        limit = counts.lines if self.cap is None else math.floor(self.cap * counts.lines)
        removed = removable[: round(self.dose * min(len(removable), limit))]
        with atomic_path(out) as work:
            _copy_without(removed, Path(corpus), work)
        return {
            "lines": counts.lines,
            "a_pro": counts.a_pro,
            "a_anti": counts.a_anti,
            "b_pro": counts.b_pro,
            "b_anti": counts.b_anti,
            "removable": len(removable),
            "removed": len(removed),
            "share": len(removed) / counts.lines,
            "limited_by": "cap" if limit < len(removable) else "removable",
        }

    def _removable(self, counts: _StereotypeLines, rng: np.random.Generator) -> LineNumbers:
        """Return the removable lines in the order of removal."""
        if self.direction == "overbias":
            lines = np.array(counts.anti, dtype=np.int64)
        else:
            excess_a = self._excess(counts.pro_of_a, counts.a_anti, rng)
            excess_b = self._excess(counts.pro_of_b, counts.b_anti, rng)
            lines = np.sort(np.concatenate([excess_a, excess_b]))
        return rng.permutation(lines) if self.order == "seeded" else lines[::-1]

    def _excess(self, pro: array[int], n_anti: int, rng: np.random.Generator) -> LineNumbers:
        """Return the lines of ``pro`` after the first ``n_anti``, in corpus order or shuffled."""
        lines = np.array(pro, dtype=np.int64)
        if self.order == "seeded":
            lines = rng.permutation(lines)
        return lines[0 if self.max_bias else n_anti :]


@choice
class CounterfactualAugmentation(OnText):
    """Counterfactual data augmentation (Lu et al., 2020); the original lines stay.

    Of n lines that contain a word of a pair, ``round(dose * n)``, drawn by seed, are followed by
    their counterfactual, in which every word of a pair is replaced by its partner. Nothing is
    removed or changed. A larger dose adds every line that a smaller one adds. At dose 1 both words
    of a pair have equal frequencies and contexts, except words of several pairs.

    A word is a token, split at ASCII white space, in lower case, Capitalised, in UPPER CASE or as
    the query writes it; its partner gets the same case. 's, 'll and 'd may follow it. If a word is
    in several pairs, the first counts. The exceptions are "her" and "his" if the pairs give them
    two partners: they become "him" and "hers" at the end of a line and before punctuation or a word
    of a short list (determiners, pronouns, prepositions, conjunctions, adverbs, auxiliaries, a few
    verbs), otherwise "his" and "her".

    The next word alone does not decide every case. Known errors: "her" before an object without a
    determiner ("gave her money"), a verb ("saw her leave") or an adverb not listed ("met her
    briefly") becomes "his", and "his" before a verb ("a friend of his called") "her"; before an
    adverb within a noun phrase ("her once famous name") or a conjunction ("her and his friends")
    "her" becomes "him", and "his" "hers". Tested on "him" and "his" in text, as if each were "her",
    the rule errs for 4% in film plots, 6% in OntoGUM and 9% in tweets: one object in six, one
    possessive in fifty. Names are exchanged only if the query pairs them.
    """

    name: ClassVar[str] = "cda"
    step_name: ClassVar[str] = "augmented"
    effect: ClassVar[str] = "added"
    roles: ClassVar[tuple[str, ...]] = ("counterparts",)
    direction: ClassVar[str] = "debias"

    dose: Annotated[
        Share,
        doc("share of the lines with a word of a pair that get their counterfactual, in [0, 1]"),
    ] = 1

    def rewrite(self, corpus: Path, out: Path, query: Query, *, seed: int) -> _Counts:
        """Write ``corpus`` with counterfactual lines to ``out``, as plain text; return counts.

        The counts: ``lines`` before; ``with_words``: lines with a word of a pair; ``added``;
        ``exchanged``: words replaced in the added lines, of these ``by_next_word`` those whose
        partner the next word decided; ``other_case``: words of a pair that were not replaced
        because of their mixed case ("sHe"). Memory grows by 9 bytes per line with a word. Raises
        ``InputError`` for a corpus that cannot be read or contains no word of the pairs, for a
        query without pairs and for an entry that is not one word.
        """
        swapper = _WordSwapper(query)
        lines, with_words, other_case = swapper.count(corpus)
        if not with_words:
            examples = ", ".join(query["counterparts"].words[:8])
            raise InputError(
                f"{corpus} contains no word of the counterparts of the query {query.name!r}"
                f" ({examples}); use words in the language of the corpus"
            )
        order = np.random.default_rng(seed).permutation(with_words)
        chosen = order < round(self.dose * with_words)
        with atomic_path(out) as work, work.open("wb") as target:
            target.writelines(swapper.augmented(corpus, chosen))
        return {
            "lines": lines,
            "with_words": with_words,
            "added": int(chosen.sum()),
            "exchanged": swapper.exchanged,
            "by_next_word": swapper.by_next_word,
            "other_case": other_case,
        }


def _write_changed_text(method: OnText, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``corpus.txt`` and ``counts.json``."""
    corpus, query = inputs["corpus"] / "corpus.txt", read_query(inputs["words"] / WORDS)
    counts = method.rewrite(corpus, out / "corpus.txt", query, seed=seed)
    require_change(method, not counts[method.effect])
    (out / "counts.json").write_text(json.dumps(counts, indent=1), encoding="utf-8")


@dataclass
class _StereotypeLines:
    """Counts of pro- and anti-stereotypical lines, and the numbers of removable lines."""

    lines: int = 0
    a_pro: int = 0
    a_anti: int = 0
    b_pro: int = 0
    b_anti: int = 0
    pro_of_a: array[int] = field(default_factory=lambda: array("q"))
    pro_of_b: array[int] = field(default_factory=lambda: array("q"))  # and not of a
    anti: array[int] = field(default_factory=lambda: array("q"))

    def add(self, line: int, x: bool, y: bool, a: bool, b: bool) -> None:
        """Count a line by the roles of which it contains a word."""
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


def _count_lines(corpus: Path, query: Query) -> _StereotypeLines:
    """Count lines by role. Raises ``InputError`` if a role has no word in the corpus."""
    by_role = words_by_role(query)
    word_sets = [frozenset(word.encode() for word in words) for words in by_role.values()]
    query_words = frozenset[bytes]().union(*word_sets)
    corpus_words: set[bytes] = set()
    counts = _StereotypeLines()
    with open_binary(corpus) as lines:
        for line in lines:
            if line_words := query_words.intersection(line.split()):
                corpus_words |= line_words
                has_role = (not line_words.isdisjoint(words) for words in word_sets)
                counts.add(counts.lines, *has_role)
            counts.lines += 1
    for (role, words), word_set in zip(by_role.items(), word_sets, strict=True):
        if corpus_words.isdisjoint(word_set):
            problem = f"{corpus} contains no word of {role} of the query {query.name!r}"
            raise InputError(
                f"{problem} ({', '.join(words[:8])}) and cannot be balanced; use words in the"
                " language of the corpus, and in lower case if the corpus is"
            )
    return counts


def _copy_without(removed: LineNumbers, corpus: Path, out: Path) -> None:
    removed_lines = frozenset(removed.tolist())
    with open_binary(corpus) as source, out.open("wb") as target:
        target.writelines(line for number, line in enumerate(source) if number not in removed_lines)


class _WordSwapper:
    """Replaces words by their partners, in each case, and counts the replacements."""

    def __init__(self, query: Query) -> None:
        require_roles(query, CounterfactualAugmentation.roles)
        self._counterparts = Counterparts(query)
        self._lower = frozenset(word.lower() for word in self._counterparts.before_noun)
        self.exchanged = self.by_next_word = 0

    def count(self, corpus: Path) -> tuple[int, int, int]:
        """Count lines, lines with a word of a pair, and words in another case."""
        lines = with_words = other_case = 0
        with open_binary(corpus) as source:
            for line in source:
                lines += 1
                if self._lower.isdisjoint(line.lower().split()):
                    continue
                tokens = line.split()
                n_known = sum(token in self._counterparts for token in tokens)
                with_words += n_known > 0
                other_case += sum(token.lower() in self._lower for token in tokens) - n_known
        return lines, with_words, other_case

    def augmented(self, corpus: Path, chosen: NDArray[np.bool_]) -> Iterator[bytes]:
        """Yield every line, and the counterfactual after each chosen line with words."""
        number = 0
        with open_binary(corpus) as source:
            for line in source:
                if not any(token in self._counterparts for token in line.split()):
                    yield line
                    continue
                if chosen[number]:
                    yield line if line.endswith(b"\n") else line + b"\n"
                    yield self._counterfactual(line)
                else:
                    yield line
                number += 1

    def _counterfactual(self, line: bytes) -> bytes:
        pieces = [*_SPACE.split(line), b"", b""]  # tokens, each followed by white space
        for index in range(0, len(pieces) - 2, 2):
            if (token := pieces[index]) in self._counterparts:
                pieces[index] = self._counterparts.partner(token, pieces[index + 2])
                self.by_next_word += self._counterparts.has_two(token)
                self.exchanged += 1
        return b"".join(pieces)
