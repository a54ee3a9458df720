"""Effects of base pairs, word forms and measures on scores: every estimate of the study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasbridge.analysis.agreement import cohen_kappa, fleiss_kappa
from biasbridge.studies.base_pairs.analogies import pool_queries, solved_shares
from biasbridge.studies.base_pairs.estimate import (
    CORRELATION,
    Bootstrap,
    Estimate,
    empty_estimate,
    jackknife,
    weighted_mean,
    with_both_intervals,
    with_word_interval,
)
from biasbridge.studies.base_pairs.probe_results import (
    WORDS,
    PairScoreTable,
    ProbeResult,
    QueryResults,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from biasbridge.stats.arrays import Floats

    Categories = NDArray[np.intp]


def estimate_all(query_results: Sequence[QueryResults], bootstrap: Bootstrap) -> pd.DataFrame:
    """Compute ``base_pairs.csv``: by point and query, and for all analogies of a point pooled."""
    rows = [
        {"point": point, "query": query, **estimate._asdict()}
        for point, query, results in [*query_results, *pool_queries(query_results)]
        for estimate in estimates(results, bootstrap)
    ]
    return pd.DataFrame(rows, columns=["point", "query", *Estimate._fields])


def estimates(results: Mapping[str, ProbeResult], bootstrap: Bootstrap) -> Iterator[Estimate]:
    """Yield every estimate of one point and query; ``results`` by metric."""
    for metric, result in results.items():
        yield from _mean_cosines(metric, result)
        if WORDS not in result.tables:
            yield from solved_shares(metric, result, bootstrap)
            continue
        yield from _vocabulary_moments(metric, result)
        yield from _across_pairs(metric, result, bootstrap)
        yield from _across_forms(metric, result, bootstrap)
        yield from _against_truth(metric, result, bootstrap)
    with_words = [metric for metric in results if WORDS in results[metric].tables]
    for metric, other_metric in combinations(with_words, 2):
        first, second = (results[name].tables[WORDS] for name in (metric, other_metric))
        if (first.items, first.pairs) == (second.items, second.pairs):
            yield from _cohen_kappas(
                "measures",
                metric,
                other_metric,
                first.directions,
                second.directions,
                first.pairs,
                bootstrap,
            )


def _vocabulary_moments(metric: str, result: ProbeResult) -> Iterator[Estimate]:
    """Yield mean and standard deviation of the vocabulary's scores (table 1)."""
    if not result.size:
        return
    means, squares = result.means, result.spreads**2 + result.means**2

    def mean(pair_indices: Sequence[int]) -> float:
        return float(means[pair_indices].mean())

    def spread(pair_indices: Sequence[int]) -> float:
        return sqrt(float(squares[pair_indices].mean()) - mean(pair_indices) ** 2)

    moments = (("mean", mean, means), ("sd", spread, result.spreads))
    for statistic, compute, values_by_pair in moments:
        low, high = jackknife(compute, len(means))
        row = empty_estimate(statistic, metric, "", (result.size, len(means)))
        yield row._replace(value=compute(range(len(means))), pairs_low=low, pairs_high=high)
        for pair, value in zip(result.pairs, values_by_pair.tolist(), strict=True):
            row = empty_estimate(statistic, metric, "", (result.size, 1), pair)
            yield row._replace(value=value)


def _across_pairs(metric: str, result: ProbeResult, bootstrap: Bootstrap) -> Iterator[Estimate]:
    """Yield agreement of the pairs on directions and on magnitudes (table 2, figure 2)."""
    table = result.tables[WORDS]
    size = len(table.items), len(table.pairs)
    weights = bootstrap.weights(len(table.items))
    directions, scores = table.directions, table.scores
    is_changed = np.abs(scores[:, :, None] - scores[:, None, :]) >= result.spread

    def fleiss(pair_indices: Sequence[int], weights: Floats) -> Floats:
        return fleiss_kappa(directions[:, pair_indices], weights)

    def magnitude(pair_indices: Sequence[int], weights: Floats) -> Floats:
        changes = is_changed[:, pair_indices][:, :, pair_indices]
        return weighted_mean(weights, _off_diagonal_mean(changes))

    statistics = {"fleiss": fleiss}
    if isfinite(result.spread):
        statistics["magnitude"] = magnitude
    for statistic, compute in statistics.items():
        row = empty_estimate(statistic, metric, "", size)
        yield with_both_intervals(row, compute, weights, bootstrap, len(table.pairs))
    # No interval over pairs: the share is defined for all of them and falls with their number
    row = empty_estimate("unanimous", metric, "", size)
    is_unanimous = (directions == directions[:, :1]).all(axis=1)
    yield with_word_interval(row, weighted_mean(weights, is_unanimous), bootstrap)
    kappas = _kappas_between_pairs(directions, weights)
    for i, j in combinations(range(len(table.pairs)), 2):
        row = empty_estimate("two_pairs", metric, table.pairs[j], (size[0], 2), table.pairs[i])
        yield with_word_interval(row, kappas[:, i, j], bootstrap)
    yield from _cosine_correlations(metric, table, result.differences, kappas, bootstrap)


def _cosine_correlations(
    metric: str, table: PairScoreTable, cosines: Floats, kappas: Floats, bootstrap: Bootstrap
) -> Iterator[Estimate]:
    """Yield Pearson's r of cosine and kappa of two pairs: each with all others, and all pairs."""
    size = len(table.items), len(table.pairs)
    if len(table.pairs) < 4:
        return
    indices = list(range(len(table.pairs)))
    for i, pair in enumerate(table.pairs):
        other_pairs = [j for j in indices if j != i]
        r = _pearson_by_row(cosines[i, other_pairs], kappas[:, i, other_pairs])
        yield with_word_interval(empty_estimate(CORRELATION, metric, "", size, pair), r, bootstrap)

    def overall_r(pair_indices: Sequence[int], weights: Floats) -> Floats:
        cells = tuple(np.array(list(combinations(pair_indices, 2))).T)
        return _pearson_by_row(cosines[cells], kappas[: len(weights), *cells])

    row = empty_estimate(CORRELATION, metric, "", size)
    weights = np.ones((len(kappas), 1))
    yield with_both_intervals(row, overall_r, weights, bootstrap, len(indices))


def _across_forms(metric: str, result: ProbeResult, bootstrap: Bootstrap) -> Iterator[Estimate]:
    """Yield agreement of pairs, and of words, with their other forms (tables 3 and 4)."""
    table = result.tables[WORDS]
    row_of_item = {item: i for i, item in enumerate(table.items)}
    column_of_pair = {pair: i for i, pair in enumerate(table.pairs)}
    for (role, form, pair_form), changed in result.tables.items():
        if role != "words" or (form, pair_form) == ("base", "base"):
            continue
        statistic = "word_form" if pair_form == "base" else "pair_form"
        changed_form = form if pair_form == "base" else pair_form
        columns = [column_of_pair[pair] for pair in changed.pairs]
        base = table.directions[changed.item_indices(row_of_item)][:, columns]
        yield from _cohen_kappas(
            statistic, metric, changed_form, base, changed.directions, changed.pairs, bootstrap
        )


def _against_truth(metric: str, result: ProbeResult, bootstrap: Bootstrap) -> Iterator[Estimate]:
    """Yield agreement of each pair with the known directions of words (table 5)."""
    for (role, _, _), table in result.tables.items():
        if table.truth.any():
            direction = np.asarray(table.truth, dtype=np.intp) + 1
            truth = np.repeat(direction[:, None], len(table.pairs), axis=1)
            yield from _cohen_kappas(
                "truth", metric, role, truth, table.directions, table.pairs, bootstrap
            )


def _mean_cosines(metric: str, result: ProbeResult) -> Iterator[Estimate]:
    """Yield mean cosines of the words of pairs, of pairs' differences, and of random ones."""
    upper = result.differences[np.triu_indices(len(result.pairs), 1)]
    cosines = {f"words of {role}": moments for role, moments in result.likeness.items()}
    cosines["differences of pairs"] = (float(upper.mean()), float(upper.std()), len(upper))
    cosines |= {f"random {name}": moments for name, moments in result.random.items()}
    for name, (mean, sd, size) in cosines.items():
        yield empty_estimate("cosine", metric, name, (size, 0))._replace(value=mean)
        yield empty_estimate("cosine_sd", metric, name, (size, 0))._replace(value=sd)


def _cohen_kappas(
    statistic: str,
    metric: str,
    other: str,
    first: Categories,
    second: Categories,
    pairs: Sequence[str],
    bootstrap: Bootstrap,
) -> Iterator[Estimate]:
    """Yield Cohen's kappa of each pair's two columns, and their mean over pairs."""
    weights = bootstrap.weights(len(first))
    kappas = np.array([cohen_kappa(x, y, weights) for x, y in zip(first.T, second.T, strict=True)])
    defined_pairs = np.flatnonzero(np.isfinite(kappas[:, 0]))

    def mean_kappa(pair_indices: Sequence[int], weights: Floats) -> Floats:
        selected = kappas[defined_pairs[pair_indices]][:, : len(weights)]
        is_defined = np.isfinite(selected)
        with np.errstate(invalid="ignore"):
            means: Floats = np.where(is_defined, selected, 0).sum(axis=0) / is_defined.sum(axis=0)
        return means

    row = empty_estimate(statistic, metric, other, (len(first), len(defined_pairs)))
    yield with_both_intervals(row, mean_kappa, weights, bootstrap, len(defined_pairs))
    for pair, kappas_of_pair in zip(pairs, kappas, strict=True):
        row = empty_estimate(statistic, metric, other, (len(first), 1), pair)
        yield with_word_interval(row, kappas_of_pair, bootstrap)


def _kappas_between_pairs(directions: Categories, weights: Floats) -> Floats:
    """Compute Cohen's kappa of every two base pairs, NaN on the diagonal: (R, pairs, pairs)."""
    n_pairs = directions.shape[1]
    kappas = np.full((len(weights), n_pairs, n_pairs), nan)
    for i, j in combinations(range(n_pairs), 2):
        kappa = cohen_kappa(directions[:, i], directions[:, j], weights)
        kappas[:, i, j] = kappas[:, j, i] = kappa
    return kappas


def _pearson_by_row(x: Floats, y: Floats) -> Floats:
    """Compute Pearson's r of x with each row of y; NaN where either is constant or undefined."""
    first, second = x - x.mean(), y - y.mean(axis=1, keepdims=True)
    lengths = np.sqrt((first**2).sum() * (second**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        r: Floats = second @ first / lengths
    return r


def _off_diagonal_mean(matrices: NDArray[np.bool_]) -> Floats:
    n_pairs = matrices.shape[1]
    return np.asarray(matrices[:, ~np.eye(n_pairs, dtype=bool)].mean(axis=1))
