"""Word similarity and analogies: a debiased embedding that lost these merely broke."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike

from files import InputError, choice, read_lines
from files.choice import Count, Positive
from intrinsic.frequent_words import Searched, Singles, find_frequent
from intrinsic.lookup import Floats, unit_rows
from intrinsic.metric import About, FoundQuery, Metric, MinFound
from intrinsic.permutation import PValue
from intrinsic.score import Measured, mean_score
from intrinsic.wordsets import Query, WordSet


def word_similarity(w: ArrayLike, v: ArrayLike, judged: ArrayLike) -> tuple[float, float]:
    """Spearman's rho of the cosines of pairs with their judged similarity, and its two-sided p.

    1: cosines order the pairs as people do; 0: not at all. Shapes: w (n, dim), v (n, dim), judged
    (n,). Raises ``InputError`` for fewer than three pairs, a zero row, and where all cosines or all
    judgements are equal.
    """
    cosines: Floats = np.einsum("ij,ij->i", unit_rows(w), unit_rows(v))
    values = np.asarray(judged, dtype=np.float64)
    if len(cosines) < 3 or any((column == column[0]).all() for column in (cosines, values)):
        pairs = f"{len(cosines)} pair(s) of words, or pairs that are all alike,"
        raise InputError(f"{pairs} have no ranking to compare")
    from scipy.stats import spearmanr  # slow to import

    found = spearmanr(cosines, values)
    return float(found.statistic), float(found.pvalue)


def read_similarities(path: str | Path) -> Query:
    """Pairs, SimLex-style: word, word, number a line, between tabs, commas, semicolons or spaces.

    Further columns are ignored, and so are empty lines, lines that start with ``#``, and a header,
    whose third cell is no number. A pair that comes again, in either order, counts once, with the
    mean of its numbers (WordSim-353 has "money cash" and "money bank" twice). Raises ``InputError``
    for any other line without a number.
    """
    judged: dict[tuple[str, ...], list[float]] = {}
    for number, line in enumerate(read_lines(path), 1):
        cells = [cell for cell in re.split("[\t,; ]", line) if cell]
        if not cells or cells[0].startswith("#"):
            continue
        try:
            value = float(cells[2])
        except (IndexError, ValueError):
            if number > 1:
                bad = f"line {number} is not 'word word number': {line.strip()!r}"
                raise InputError(f"{path}: {bad}") from None
            continue
        there = (cells[1], cells[0])
        judged.setdefault(there if there in judged else (cells[0], cells[1]), []).append(value)
    if not judged:
        raise InputError(f"{path} has no pair of words with a number")
    name = Path(path).stem
    words = tuple(word for pair in judged for word in pair)
    values = tuple(sum(numbers) / len(numbers) for numbers in judged.values())
    pairs = WordSet(name, words, "und", Path(path).name, width=2, values=values)
    return Query(name, {"partners": pairs}, "und", f"Word similarity, {Path(path).name}")


@choice
class SemanticQuality(Metric):
    """SQ: agreement with word similarity judged in a file: SimLex-999, WordSim-353, MEN, ..."""

    about: ClassVar[About] = About(
        name="sq",
        title="Semantic quality: word similarity, Spearman's rho",
        formula="Spearman's rho over partners of (cos(w, v), judged similarity)",
        sign="larger: the vectors order pairs of words as people do; utility, not bias",
        range=(-1, 1),
        unbiased=None,
        source="Hill et al. (2015) and others; Lauscher et al. (2020)",
        roles={"partners": "pairs of words with a judgement each"},
        fewest={"partners": 3},
        default="Words as written; any loss of pairs is accepted, as it is usual.",
    )
    unlabelled: ClassVar[tuple[str, ...]] = (*Metric.unlabelled, "file")
    unkeyed: ClassVar[tuple[str, ...]] = (*Metric.unkeyed, "file")

    min_found: MinFound = 0.0
    file: Annotated[
        str | None, doc("word, word, number on each line: SimLex-999, WordSim-353, MEN, ...")
    ] = None

    @cached_property
    def asked(self) -> list[Query]:
        """The file's pairs as a query."""
        return [read_similarities(self.file)] if self.file else super().asked

    def files(self) -> list[Path]:
        """The files the score depends on."""
        return [*super().files(), *([Path(self.file)] if self.file else [])]

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """Spearman's rho with its two-sided p."""
        partners = words["partners"]
        if not partners.values:
            pairs = f"the pairs of query {words.query.name!r}"
            raise InputError(f"{pairs} have no judged similarity; give a file of word similarities")
        rho, p = word_similarity(partners.matrix[:, 0], partners.matrix[:, 1], partners.values)
        return Measured(rho, test=PValue.of_t(p, len(partners.words)))


@choice
class Analogies(Metric):
    """3CosAdd: is d nearest to b - a + c, for any base pairs a : b and c : d? ``each``: by pair."""

    about: ClassVar[About] = About(
        name="analogies",
        title="Analogies among base pairs, 3CosAdd accuracy",
        formula=(
            "share of (a : b, c : d) in pairs with d = argmax_{w not in {a, b, c}} cos(w, unit(b) -"
            " unit(a) + unit(c))"
        ),
        sign="larger: the pairs stand in one relation; utility: not which pairs measure bias well",
        range=(0, 1),
        unbiased=None,
        source="Mikolov et al. (2013); caution: Zhang, Sneyd & Stevenson (2020)",
        roles={"pairs": "pairs"},
        fewest={"pairs": 2},
        asks=("base_pairs",),
    )

    vocabulary: Searched = 50_000

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """Both directions of each pair; d is sought among frequent words and those of the pairs."""
        pairs = words["pairs"]
        if len(set(pairs.items)) < 2:
            raise InputError("an analogy needs two different base pairs")
        named = [word for item in pairs.items for word in item]
        rows = dict(zip(named, [*pairs.matrix.reshape(len(named), -1)], strict=True))
        pool = find_frequent(words.vectors, self.vocabulary, words.left_out).matrix
        place = {word: len(pool) + i for i, word in enumerate(rows)}
        pool = np.concatenate([pool, np.array([*rows.values()], dtype=np.float32)])

        def solved(a: str, b: str, c: str, d: str) -> bool:
            """Whether d is the word of the pool nearest to b - a + c, leaving out a, b and c."""
            cosines: Singles = pool @ (rows[b] - rows[a] + rows[c]).astype(np.float32)
            cosines[[place[a], place[b], place[c]]] = -np.inf
            return int(cosines.argmax()) == place[d]

        each = {}
        for a, b in pairs.items:
            others = [(c, d) for c, d in pairs.items if (c, d) != (a, b)]
            hits = [solved(a, b, c, d) for c, d in others] + [solved(b, a, d, c) for c, d in others]
            each[f"{a}:{b}"] = float(np.mean(hits))
        return Measured(float(np.mean([*each.values()])), each=each)


@choice
class GeneratedAnalogies(Metric):
    """Bolukbasi's generator: pairs of frequent words that stand as the first pair; see ``each``."""

    about: ClassVar[About] = About(
        name="generated_analogies",
        title="Analogies generated for the first base pair (a, b), mean score",
        formula=(
            "mean of the 100 largest cos(unit(a) - unit(b), x - y), |x - y| <= 1, over pairs (x, y)"
            " of frequent words, each x once"
        ),
        sign="to be read: people must say which pairs (see each) are definitions or stereotypes",
        range=(-1, 1),
        unbiased=None,
        source="Bolukbasi et al. (2016)",
        roles={"pairs": "pairs", "excluded?": "excluded"},
        asks=("professions_she_he",),
    )
    version: ClassVar[int] = 4

    vocabulary: Searched = 5_000
    most: Annotated[Count, doc("number of pairs with the largest scores")] = 100
    farthest: Annotated[Positive, doc("largest distance of the words of a pair")] = 1.0

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean score of the pairs found; fewer than asked where fewer lie near enough."""
        searched = find_frequent(words.vectors, self.vocabulary, words.left_out)
        first = words["pairs"].matrix[0]
        axis: Singles = np.asarray(first[0] - first[1], dtype=np.float32)
        axis /= float(np.linalg.norm(axis))
        along: Singles = searched.matrix @ axis
        best = np.zeros(len(along), dtype=np.intp)
        score = np.full(len(along), -np.inf, dtype=np.float32)
        for start in range(0, len(along), 1_000):
            rows = slice(start, start + 1_000)
            squared: Singles = 2 - 2 * (searched.matrix[rows] @ searched.matrix.T)
            near = (squared <= self.farthest**2) & (squared > 1e-6)
            cosines = (along[rows, None] - along) / np.sqrt(np.maximum(squared, 1e-6))
            cosines[~near] = -np.inf
            best[rows], score[rows] = cosines.argmax(axis=1), cosines.max(axis=1)
        order = np.argsort(-score, kind="stable")[: self.most]
        order = order[np.isfinite(score[order])]
        if not order.size:
            apart = f"no two of {len(along)} words lie within {self.farthest} of one another"
            raise InputError(f"{apart}; allow more with farthest")
        pairs = zip(order.tolist(), best[order].tolist(), strict=True)
        names = [f"{searched.words[x]}:{searched.words[y]}" for x, y in pairs]
        return mean_score(names, score[order].astype(np.float64))
