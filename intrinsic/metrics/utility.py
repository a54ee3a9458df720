"""Word similarity and analogies: the utility that debiasing should preserve, and a control."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import doc
from numpy.typing import ArrayLike, NDArray

from biasbridge.files import InputError, choice, read_lines
from biasbridge.files.choice import Count, Positive
from biasbridge.files.language import normalise_text
from biasbridge.intrinsic.lookup import (
    NEIGHBOUR_BATCH,
    Floats32,
    VocabularySize,
    frequent_words,
    unit_rows,
)
from biasbridge.intrinsic.metric import Metric, MetricInfo, MinFound, ResolvedQuery
from biasbridge.intrinsic.permutation import PValue
from biasbridge.intrinsic.score import MetricResult, by_name, mean_score
from biasbridge.intrinsic.words import COMMENT, Query, WordSet

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats


_MEAN_COLUMN = re.compile("simlex999|mean|average|avg|score|rating|similarity", re.IGNORECASE)
_WORD_COLUMN = re.compile("word.?1", re.IGNORECASE)
_MEAN_ROUNDING = 0.051  # of a mean with one decimal


def word_similarity(w: ArrayLike, v: ArrayLike, judged: ArrayLike) -> tuple[float, float]:
    """Compute Spearman's rho of the cosines of pairs with their judged similarity.

    Parameters
    ----------
    w, v : array of shape (n, dim)
        Vectors of the words, row by row a pair. Rows need not have unit length.
    judged : array of shape (n,)
        Similarity of the pairs, judged by people.

    Returns
    -------
    tuple of float
        rho in [-1, 1] (1: cosines order the pairs as people do; 0: not at all) and its two-sided p.

    Raises
    ------
    InputError
        Fewer than three pairs, a zero row, or equal cosines or judgements.
    """
    cosines: Floats = np.einsum("ij,ij->i", unit_rows(w), unit_rows(v))
    values = np.asarray(judged, dtype=np.float64)
    if len(cosines) < 3 or any((column == column[0]).all() for column in (cosines, values)):
        raise InputError(
            f"{len(cosines)} pair(s) of words, or equal ones, have no ranking to compare; give at"
            " least three different ones"
        )
    from scipy.stats import spearmanr  # slow to import

    rho = spearmanr(cosines, values)
    return float(rho.statistic), float(rho.pvalue)


def _read_similarities(path: str | Path) -> Query:
    """Read word, word, number per line, of several numbers their mean.

    Cells are separated by tabs, semicolons, commas or spaces; numbers may have decimal commas
    between tabs or semicolons. Of several columns of numbers the one counts that a header calls
    mean, average, score or SimLex999, or that is the mean of the others. Ignored: empty lines, and
    lines of ``#`` and a blank. A repeated pair, in either order, counts once with the mean of its
    numbers (WordSim-353 has "money cash" and "money bank" twice). Raises ``InputError`` for a line
    without a number, and for several numbers of which none is known to be the mean.
    """
    notes: list[str] = []
    lines = {number: line.strip() for number, line in enumerate(read_lines(path, notes), 1)}
    lines = {number: line for number, line in lines.items() if line and not COMMENT.match(line)}
    mark = next((m for m in "\t;," if all(line.count(m) > 1 for line in lines.values())), "")
    rows = [_cells(line, mark) for line in lines.values()]
    has_header = bool(rows) and _is_header(rows[0])
    header, rows = (rows[0], rows[1:]) if has_header else ([], rows)
    if not rows:
        raise InputError(f"{path} has no pair of words with a number")
    column = _judgements(header, rows, path)
    judged: dict[tuple[str, ...], list[float]] = {}
    for number, cells in zip([*lines][has_header:], rows, strict=True):
        value = _number(cells[column]) if column < len(cells) else None
        if value is None:
            error = f"line {number} is not 'word word number': {lines[number]!r}"
            raise InputError(f"{path}: {error}")
        pair, reverse = (cells[0], cells[1]), (cells[1], cells[0])
        judged.setdefault(reverse if reverse in judged else pair, []).append(value)
    name = Path(path).stem
    words = tuple(word for pair in judged for word in pair)
    values = tuple(sum(numbers) / len(numbers) for numbers in judged.values())
    pairs = WordSet(name, words, "und", Path(path).name, width=2, values=values)
    source = "; ".join([f"Word similarity, {Path(path).name}", *notes])
    return Query(name, {"partners": pairs}, "und", source)


@choice
class SemanticQuality(Metric):
    """SQ: agreement with judged word similarity, as in SimLex-999, WordSim-353 or MEN."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="sq",
        title="Semantic quality: word similarity, Spearman's rho",
        formula="Spearman's rho over partners of (cos(w, v), judged similarity)",
        sign="larger: the vectors order pairs of words more as people do; utility, not bias",
        is_utility=True,
        range=(-1, 1),
        unbiased=None,
        source="Hill et al. (2015) and others; Lauscher et al. (2020)",
        roles={"partners": "pairs of words with a judgement each"},
        fewest={"partners": 3},
        default="Words as written; any number of missing pairs is accepted, as is usual.",
    )
    unlabelled: ClassVar[tuple[str, ...]] = (*Metric.unlabelled, "file")
    unkeyed: ClassVar[tuple[str, ...]] = (*Metric.unkeyed, "file")
    configuration: ClassVar[Mapping[str, object]] = {
        "file": "${data:words/similarity/SimLex-999.tsv}"
    }

    min_found: MinFound = 0.0
    file: Annotated[
        str | None, doc("word, word, number on each line: SimLex-999, WordSim-353, MEN, ...")
    ] = None

    @cached_property
    def loaded_queries(self) -> list[Query]:
        """Pairs of the file as a query."""
        return [_read_similarities(self.file)] if self.file else super().loaded_queries

    def files(self) -> list[Path]:
        """Return the files the score depends on."""
        return [*super().files(), *([Path(self.file)] if self.file else [])]

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute Spearman's rho with its two-sided p."""
        partners = words["partners"]
        if not partners.values:
            raise InputError(
                f"the pairs of query {words.query.name!r} have no judged similarity; give a file of"
                " word similarities"
            )
        rho, p = word_similarity(partners.matrix[:, 0], partners.matrix[:, 1], partners.values)
        return MetricResult(rho, test=PValue.of_t(p, len(partners.words)))


@choice
class Analogies(Metric):
    """3CosAdd: share of base pairs a : b, c : d with d nearest to b - a + c."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="analogies",
        title="Analogies among base pairs, 3CosAdd accuracy",
        formula=(
            "share of (a : b, c : d) in pairs with d = argmax_{w not in {a, b, c}} cos(w, unit(b) -"
            " unit(a) + unit(c))"
        ),
        sign="larger: the pairs share one relation; utility, not which pairs measure bias well",
        is_utility=True,
        range=(0, 1),
        unbiased=None,
        source="Mikolov et al. (2013); caution: Zhang, Sneyd & Stevenson (2020)",
        roles={"pairs": "pairs"},
        fewest={"pairs": 2},
        asks=("base_pairs",),
    )
    version: ClassVar[int] = 4

    vocabulary: VocabularySize = 50_000

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the share, both directions of each pair; d is sought among frequent words too."""
        pairs = words["pairs"]
        if len(set(pairs.items)) < 2:
            raise InputError("an analogy needs two different base pairs")
        names = [word for pair in pairs.items for word in pair]
        rows = dict(zip(names, [*pairs.matrix.reshape(len(names), -1)], strict=True))
        pool = frequent_words(words.vectors, self.vocabulary, words.excluded_words).matrix
        index = {word: len(pool) + i for i, word in enumerate(rows)}
        pool = np.concatenate([pool, np.array([*rows.values()], dtype=np.float32)])

        def solved(a: str, b: str, c: str, d: str) -> bool:
            """Test if d is the word nearest to b - a + c, leaving out a, b and c."""
            cosines: Floats32 = pool @ (rows[b] - rows[a] + rows[c]).astype(np.float32)
            cosines[[index[a], index[b], index[c]]] = -np.inf
            return int(cosines.argmax()) == index[d]

        def accuracy(a: str, b: str) -> float:
            tests = [(c, d) for c, d in pairs.items if (c, d) != (a, b)]
            hits = [solved(a, b, c, d) for c, d in tests] + [solved(b, a, d, c) for c, d in tests]
            return float(np.mean(hits))

        accuracy_of = {pair: accuracy(*pair) for pair in dict.fromkeys(pairs.items)}
        # A resample holds pairs several times
        return mean_score(pairs.words, np.array([accuracy_of[pair] for pair in pairs.items]))


@choice
class UnrelatedAnalogies(Metric):
    """3CosAdd with base pairs on pairs of words unrelated to them.

    "man is to apple as woman is to ?" is solved by apples if man and woman are similar enough.
    ``statistic``: the share solved without a base pair, y being the word nearest to x; single
    scores by pair of words.
    """

    about: ClassVar[MetricInfo] = MetricInfo(
        name="unrelated_analogies",
        title="Unrelated analogies that base pairs solve, 3CosAdd accuracy",
        formula=(
            "share of ((a, b) in pairs, (x, y) in partners) with y = argmax_{w not in {a, b, x}}"
            " cos(w, unit(x) - unit(b) + unit(a))"
        ),
        sign="larger: analogies with the base pairs return words similar to x in any case",
        range=(0, 1),
        unbiased=None,
        source="Zhang, Sneyd & Stevenson (2020)",
        roles={"pairs": "pairs", "partners": "pairs of words unrelated to them"},
        asks=("unrelated_plurals",),
    )
    items: ClassVar[str] = "partners"

    vocabulary: VocabularySize = 50_000

    def by_pair(self, words: ResolvedQuery) -> Floats:
        """Return 1 if the base pair solves the partner's analogy, else 0, (partners, pairs)."""
        pool, index = self._pool(words)
        pairs = words["pairs"]
        columns = [
            _solved(words, pool, index, first - second, names)
            for names, (first, second) in zip(pairs.items, pairs.matrix, strict=True)
        ]
        return np.stack(columns, axis=1).astype(np.float64)

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean over base pairs and partners."""
        pool, index = self._pool(words)
        no_offset: Floats = np.zeros(words.vectors.vector_size)
        without_pair = float(_solved(words, pool, index, no_offset, ()).mean())
        solved = self.by_pair(words)
        by_partner = by_name(words["partners"].words, solved.mean(axis=1))
        return MetricResult(float(solved.mean()), statistic=without_pair, single_scores=by_partner)

    def _pool(self, words: ResolvedQuery) -> tuple[Floats32, Mapping[str, int]]:
        """Return frequent words and all words of the query, at unit length, and their index."""
        query_words = [
            word for role in ("partners", "pairs") for item in words[role].items for word in item
        ]
        frequent = words.vectors.index_to_key[: self.vocabulary]
        names = list(dict.fromkeys([*frequent, *query_words]))
        rows: Floats32 = np.array(
            words.vectors.vectors[[words.vectors.key_to_index[name] for name in names]]
        )
        norms: Floats32 = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.where(norms > 0, norms, 1)[:, None]
        return rows, {name: i for i, name in enumerate(names)}


@choice
class GeneratedAnalogies(Metric):
    """Bolukbasi's generator: pairs of frequent words that differ as the first pair."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="generated_analogies",
        title="Analogies generated for the first base pair (a, b), mean score",
        formula=(
            "mean of the 100 largest cos(unit(a) - unit(b), x - y), |x - y| <= 1, over pairs (x, y)"
            " of frequent words, each x once"
        ),
        sign="no sign: people judge which pairs (single scores) are definitions or stereotypes",
        range=(-1, 1),
        unbiased=None,
        source="Bolukbasi et al. (2016)",
        roles={"pairs": "pairs", "excluded?": "excluded"},
        asks=("professions_she_he",),
    )
    version: ClassVar[int] = 5

    vocabulary: VocabularySize = 5_000
    most: Annotated[Count, doc("number of pairs with the largest scores")] = 100
    farthest: Annotated[Positive, doc("largest distance of the words of a pair")] = 1.0

    def select_words(self, words: ResolvedQuery) -> ResolvedQuery:
        """Return the words with the first pair alone."""
        return words.truncated({"pairs": 1})

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the mean score; over fewer pairs than ``most`` if fewer lie near enough."""
        frequent = frequent_words(words.vectors, self.vocabulary, words.excluded_words)
        first = words["pairs"].matrix[0]
        axis: Floats32 = np.asarray(first[0] - first[1], dtype=np.float32)
        axis /= float(np.linalg.norm(axis))
        components: Floats32 = frequent.matrix @ axis
        n = len(components)
        best = np.zeros(n, dtype=np.intp)
        score = np.full(n, -np.inf, dtype=np.float32)
        for start in range(0, n, 1_000):
            rows = slice(start, start + 1_000)
            squares: Floats32 = 2 - 2 * (frequent.matrix[rows] @ frequent.matrix.T)
            is_near = (squares <= self.farthest**2) & (squares > 1e-6)
            differences = components[rows, None] - components
            cosines = differences / np.sqrt(np.maximum(squares, 1e-6))
            cosines[~is_near] = -np.inf
            best[rows], score[rows] = cosines.argmax(axis=1), cosines.max(axis=1)
        order = np.argsort(-score, kind="stable")[: self.most]
        order = order[np.isfinite(score[order])]
        if not order.size:
            raise InputError(
                f"no two of {n} words lie within {self.farthest} of one another; allow more with"
                " farthest"
            )
        pairs = zip(order.tolist(), best[order].tolist(), strict=True)
        names = [f"{frequent.words[x]}:{frequent.words[y]}" for x, y in pairs]
        return mean_score(names, score[order].astype(np.float64))


def _cells(line: str, mark: str) -> list[str]:
    cells = line.split(mark) if mark else filter(None, re.split("[\t,; ]", line))
    cells = [normalise_text(cell).strip('"') for cell in cells]
    return [cell.replace(",", ".") if _number(cell.replace(",", ".")) else cell for cell in cells]


def _number(cell: str) -> float | None:
    try:
        return value if math.isfinite(value := float(cell)) else None
    except ValueError:
        return None


def _is_header(cells: Sequence[str]) -> bool:
    """Test whether the first line names columns: its last cell, or its first two, say so."""
    return all(_number(cell) is None for cell in cells[2:]) or bool(_WORD_COLUMN.match(cells[0]))


def _judgements(header: Sequence[str], rows: Sequence[Sequence[str]], path: str | Path) -> int:
    """Return the column of the judgements, that of the mean where there are several numbers."""
    columns = [k for k, cell in enumerate(rows[0]) if k > 1 and _number(cell) is not None]
    if len(columns) < 2:
        return columns[0] if columns else 2
    if named := [k for k in columns if k < len(header) and _MEAN_COLUMN.search(header[k])]:
        return named[0]
    table = np.array(
        [[_number(cell) or 0.0 for cell in row] for row in rows if len(row) > columns[-1]]
    )
    for k in (columns[0], columns[-1]):
        others = table[:, [column for column in columns if column != k]].mean(axis=1)
        if np.allclose(table[:, k], others, rtol=0, atol=_MEAN_ROUNDING):
            return k
    problem = f"{path} has {len(columns)} columns of numbers, none of them named mean or score"
    raise InputError(f"{problem}; keep that of the judgements, or name it in a header")


def _solved(
    words: ResolvedQuery,
    pool: Floats32,
    index: Mapping[str, int],
    offset: Floats,
    base: Sequence[str],
) -> NDArray[np.bool_]:
    """Test if y is the word nearest to x + offset, leaving out x and the base pair: (partners,)."""
    partners = words["partners"]
    queries: Floats32 = (partners.matrix[:, 0] + offset).astype(np.float32)
    x, y = (np.array([index[item[i]] for item in partners.items]) for i in (0, 1))
    nearest = np.empty(len(queries), dtype=np.intp)
    for start in range(0, len(queries), NEIGHBOUR_BATCH):
        rows = slice(start, start + NEIGHBOUR_BATCH)
        cosines: Floats32 = queries[rows] @ pool.T
        cosines[np.arange(len(cosines)), x[rows]] = -np.inf
        cosines[:, [index[word] for word in base]] = -np.inf
        nearest[rows] = cosines.argmax(axis=1)
    solved: NDArray[np.bool_] = nearest == y
    return solved
