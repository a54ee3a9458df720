"""What an embedding is worth besides its bias: word similarity and analogies. A debiased embedding
that lost these merely broke.
"""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike, NDArray

from files import InputError, choice, read_lines
from files.choice import Count, Positive
from intrinsic.found_query import FoundQuery
from intrinsic.frequent_words import Searched, frequent
from intrinsic.lookup import unit_rows
from intrinsic.metric import About, Metric, MinFound
from intrinsic.permutation import PValue
from intrinsic.score import Measured
from intrinsic.wordsets import Query, WordSet

Floats = NDArray[np.float64]


def word_similarity(w: ArrayLike, v: ArrayLike, judged: ArrayLike) -> tuple[float, float]:
    """Spearman's correlation of the cosines of pairs of words with their judged similarity, and its
    two-sided p.

    1: cosines order the pairs as people do; 0: not at all. Shapes: w (n, dim), v (n, dim), judged
    (n,). Raises ``InputError`` for fewer than three pairs, a zero row, and where all cosines or all
    judgements are equal.
    """
    cosines, values = (
        np.einsum("ij,ij->i", unit_rows(w), unit_rows(v)),
        np.asarray(judged, dtype=float),
    )
    if len(cosines) < 3 or np.ptp(cosines) == 0 or np.ptp(values) == 0:
        raise InputError(
            f"{len(cosines)} pair(s) of words, or pairs that are all alike, have no ranking to"
            " compare"
        )
    from scipy.stats import spearmanr  # slow to import

    found = spearmanr(cosines, values)
    return float(found.statistic), float(found.pvalue)


def read_similarities(path: str | Path) -> Query:
    """The pairs of a word similarity file, SimLex-style: word, word, number on each line, between
    tabs, commas, semicolons or spaces.

    Further columns are ignored, and so are empty lines, lines that start with ``#``, and a header,
    whose third cell is no number. Raises ``InputError`` for any other line without a number.
    """
    words, values = [], []
    for number, line in enumerate(read_lines(path), 1):
        cells = [
            cell
            for cell in line.replace(";", "\t").replace(",", "\t").replace(" ", "\t").split("\t")
            if cell
        ]
        if not cells or cells[0].startswith("#"):
            continue
        try:
            value = float(cells[2])
        except (IndexError, ValueError):
            if number == 1:
                continue
            raise InputError(
                f"{path}: line {number} is not 'word word number': {line.strip()!r}"
            ) from None
        words += cells[:2]
        values.append(value)
    if not values:
        raise InputError(f"{path} has no pair of words with a number")
    name = Path(path).stem
    pairs = WordSet(name, tuple(words), "und", Path(path).name, width=2, values=tuple(values))
    return Query(name, {"partners": pairs}, "und", f"Word similarity, {Path(path).name}")


@choice
class SemanticQuality(Metric):
    """SQ: agreement with judged word similarity, read from ``file`` (SimLex-999, WordSim-353, MEN,
    ...).
    """

    about: ClassVar[About] = About(
        name="sq",
        title="Semantic quality: word similarity, Spearman's rho",
        formula="Spearman's rho over partners of (cos(w, v), judged similarity)",
        sign="larger: the vectors order pairs of words as people do; utility, not bias",
        low=-1,
        high=1,
        unbiased=None,
        source="Hill et al. (2015) and others; Lauscher et al. (2020)",
        roles={"partners": "pairs of words with a judgement each"},
        fewest={"partners": 3},
    )
    default_source: ClassVar[str] = (
        "Words as written; any loss of pairs is accepted, as it is usual."
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
            raise InputError(
                f"the pairs of query {words.query.name!r} have no judged similarity; give a file of"
                " word similarities"
            )
        rho, p = word_similarity(partners.matrix[:, 0], partners.matrix[:, 1], partners.values)
        return Measured(rho, test=PValue.of_t(p, len(partners.words)))


@choice
class Analogies(Metric):
    """3CosAdd on the base pairs: is d nearest to b - a + c, for every two pairs a : b and c : d?
    ``each`` has every pair's accuracy.
    """

    about: ClassVar[About] = About(
        name="analogies",
        title="Analogies among base pairs, 3CosAdd accuracy",
        formula=(
            "share of (a : b, c : d) in pairs with d = argmax_{w not in {a, b, c}} cos(w, unit(b) -"
            " unit(a) + unit(c))"
        ),
        sign=(
            "larger: the pairs stand in the same relation; utility, not bias: it does not tell"
            " which pairs measure bias reliably"
        ),
        low=0,
        high=1,
        unbiased=None,
        source="Mikolov et al. (2013); caution: Zhang, Sneyd & Stevenson (2020)",
        roles={"pairs": "base pairs"},
        fewest={"pairs": 2},
        asks=("base_pairs",),
    )

    vocabulary: Searched = 50_000

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """Both directions of every pair are asked; d is sought among the frequent words and the
        words of the pairs.
        """
        pairs = words["pairs"]
        rows = {
            word: row
            for item, both in zip(pairs.items, pairs.matrix, strict=True)
            for word, row in zip(item, both, strict=True)
        }
        searched = frequent(words.vectors, self.vocabulary, words.left_out)
        pool = np.concatenate([searched.matrix, np.array(list(rows.values()), dtype=np.float32)])
        place = {word: len(searched.words) + i for i, word in enumerate(rows)}
        if len(set(pairs.items)) < 2:
            raise InputError("an analogy needs two different base pairs")
        each = {}
        for item in pairs.items:
            others = [other for other in pairs.items if other != item]
            hits = [
                _solves(pool, rows, place, a, b, c, d)
                for a, b in (item, item[::-1])
                for c, d in _alike(others, a == item[0])
            ]
            each[":".join(item)] = float(np.mean(hits))
        return Measured(float(np.mean(list(each.values()))), each=each)


def _alike(pairs: list[tuple[str, ...]], forward: bool) -> list[tuple[str, ...]]:
    return pairs if forward else [pair[::-1] for pair in pairs]


def _solves(
    pool: NDArray[np.float32],
    rows: dict[str, Floats],
    place: dict[str, int],
    a: str,
    b: str,
    c: str,
    d: str,
) -> bool:
    """Whether d is the word of the pool nearest to b - a + c, leaving out a, b and c."""
    cosines = pool @ (rows[b] - rows[a] + rows[c]).astype(np.float32)
    cosines[[place[a], place[b], place[c]]] = -np.inf
    return int(cosines.argmax()) == place[d]


@choice
class GeneratedAnalogies(Metric):
    """Bolukbasi's generator: the pairs of frequent words that stand to each other as the first base
    pair; ``each`` has them.
    """

    about: ClassVar[About] = About(
        name="generated_analogies",
        title="Analogies generated for the first base pair (a, b), mean score",
        formula=(
            "mean of the 100 largest cos(unit(a) - unit(b), x - y), |x - y| <= 1, over pairs (x, y)"
            " of frequent words, each x once"
        ),
        sign=(
            "to be read (see each): which of the pairs are definitions and which stereotypes,"
            " people must say"
        ),
        low=-1,
        high=1,
        unbiased=None,
        source="Bolukbasi et al. (2016)",
        roles={"pairs": "base pairs", "excluded?": "words left out"},
        asks=("professions_she_he",),
    )

    vocabulary: Searched = 5_000
    most: Annotated[Count, doc("number of pairs with the largest scores")] = 100
    farthest: Annotated[Positive, doc("largest distance of the words of a pair")] = 1.0

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean score of the pairs found; fewer than asked where fewer lie near enough."""
        searched = frequent(words.vectors, self.vocabulary, words.left_out)
        first = words["pairs"].matrix[0]
        axis = (first[0] - first[1]).astype(np.float32)
        axis /= np.linalg.norm(axis)
        along = searched.matrix @ axis
        best, score = (
            np.zeros(len(along), dtype=np.intp),
            np.full(len(along), -np.inf, dtype=np.float32),
        )
        for start in range(0, len(along), 1_000):
            rows = slice(start, start + 1_000)
            squared = 2 - 2 * (searched.matrix[rows] @ searched.matrix.T)
            near = (squared <= self.farthest**2) & (squared > 1e-6)
            cosines = np.where(
                near, (along[rows, None] - along) / np.sqrt(np.maximum(squared, 1e-6)), -np.inf
            )
            best[rows], score[rows] = cosines.argmax(axis=1), cosines.max(axis=1)
        order = [
            place
            for place in np.argsort(-score, kind="stable")[: self.most]
            if math.isfinite(score[place])
        ]
        if not order:
            raise InputError(
                f"no two of {len(along)} words lie within {self.farthest} of one another; allow"
                " more with farthest"
            )
        each = {f"{searched.words[x]}:{searched.words[best[x]]}": float(score[x]) for x in order}
        return Measured(float(np.mean(list(each.values()))), each=each)
