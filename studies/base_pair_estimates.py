"""Estimates of the study of base pairs: effects of pairs, word forms and measures on scores.

Each has two 95% intervals. ``low`` and ``high``: over words, percentiles of a bootstrap that uses
the same resamples for all measures. ``pairs_low`` and ``pairs_high``: over base pairs, jackknife
with Student's t, for r on Fisher's z scale. (A bootstrap of pairs would draw copies of a pair,
which always agree.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import atanh, isfinite, nan, sqrt, tanh
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from biasbridge.analysis.naming import ALL
from biasbridge.files.columns import as_float, as_text
from biasbridge.stats.intervals import jackknife_error, t_interval
from biasbridge.studies.base_pair_tables import (
    WORDS,
    PairScoreTable,
    ProbeResult,
    QueryResults,
    concatenate_scores,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from biasbridge.stats.arrays import Floats

    Categories = NDArray[np.intp]

_TAILS = (0.025, 0.975)
_FEWEST_DEFINED = 0.9  # of the resamples: where fewer have a value there is no interval
_NEAR_ONE = 1 - 1e-12
_NO_SPREAD = 1e-12
_COSINE_R = "cosine_r"
_SHARES = ("magnitude", "solved")
_ONE_DIRECTION = "all words have one direction, so that kappa is 0 / 0"
_UNAIDED = "no base pair"


class Bootstrap(NamedTuple):
    """Settings of the intervals over words: resamples, and the fewest words that give a kappa."""

    resamples: int = 1_000
    min_words: int = 10

    def weights(self, n_words: int) -> Floats:
        """Draw the counts of words per resample, (1 + R, n_words); row 0 has each word once."""
        rng = np.random.default_rng(n_words)
        counts = rng.multinomial(n_words, np.full(n_words, 1 / n_words), size=self.resamples)
        return np.vstack([np.ones(n_words), counts])


class PairEstimate(NamedTuple):
    """A row of ``base_pairs.csv``; ``docs/results.md`` says what each column means."""

    statistic: str
    metric: str
    compared_with: str = ""
    pair: str = ""  # empty: all
    value: float = nan
    low: float = nan
    high: float = nan
    pairs_low: float = nan
    pairs_high: float = nan
    words: int = 0
    pairs: int = 0
    reason: str = ""


def estimate_all(query_results: Sequence[QueryResults], bootstrap: Bootstrap) -> pd.DataFrame:
    """Compute ``base_pairs.csv``: by point and query, and for all analogies of a point pooled."""
    rows = [
        {"point": point, "query": query, **estimate._asdict()}
        for point, query, results in [*query_results, *_pool_queries(query_results)]
        for estimate in estimates(results, bootstrap)
    ]
    return pd.DataFrame(rows, columns=["point", "query", *PairEstimate._fields])


def estimates(results: Mapping[str, ProbeResult], bootstrap: Bootstrap) -> Iterator[PairEstimate]:
    """Yield every estimate of one point and query; ``results`` by metric."""
    for metric, result in results.items():
        yield from _mean_cosines(metric, result)
        if WORDS not in result.tables:
            yield from _solved_shares(metric, result, bootstrap)
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


def _mean_cosines(metric: str, result: ProbeResult) -> Iterator[PairEstimate]:
    """Yield mean cosines of the words of pairs, of pairs' differences, and of random ones."""
    upper = result.differences[np.triu_indices(len(result.pairs), 1)]
    cosines = {f"words of {role}": moments for role, moments in result.likeness.items()}
    cosines["differences of pairs"] = (float(upper.mean()), float(upper.std()), len(upper))
    cosines |= {f"random {name}": moments for name, moments in result.random.items()}
    for name, (mean, sd, size) in cosines.items():
        yield PairEstimate("cosine", metric, name, value=mean, words=size)
        yield PairEstimate("cosine_sd", metric, name, value=sd, words=size)


def _vocabulary_moments(metric: str, result: ProbeResult) -> Iterator[PairEstimate]:
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
        low, high = _jackknife_interval(compute, len(means))
        row = PairEstimate(statistic, metric, words=result.size, pairs=len(means))
        yield row._replace(value=compute(range(len(means))), pairs_low=low, pairs_high=high)
        for pair, value in zip(result.pairs, values_by_pair.tolist(), strict=True):
            yield row._replace(pair=pair, value=value, pairs=1)


def _across_pairs(metric: str, result: ProbeResult, bootstrap: Bootstrap) -> Iterator[PairEstimate]:
    """Yield agreement of the pairs on directions and on magnitudes (table 2, figure 2)."""
    table = result.tables[WORDS]
    overall = PairEstimate("", metric, words=len(table.items), pairs=len(table.pairs))
    weights = bootstrap.weights(len(table.items))
    directions, scores = table.directions, table.scores
    is_changed = np.abs(scores[:, :, None] - scores[:, None, :]) >= result.spread

    def fleiss(pair_indices: Sequence[int], weights: Floats) -> Floats:
        return fleiss_kappa(directions[:, pair_indices], weights)

    def magnitude(pair_indices: Sequence[int], weights: Floats) -> Floats:
        changes = is_changed[:, pair_indices][:, :, pair_indices]
        of_two_pairs = changes[:, ~np.eye(len(pair_indices), dtype=bool)]
        return _weighted_mean(weights, np.asarray(of_two_pairs.mean(axis=1)))

    statistics = {"fleiss": fleiss}
    if isfinite(result.spread):
        statistics["magnitude"] = magnitude
    for statistic, compute in statistics.items():
        row = overall._replace(statistic=statistic)
        yield _with_both_intervals(row, compute, weights, bootstrap)
    # No interval over pairs: the share is defined for all of them and falls with their number
    row = overall._replace(statistic="unanimous")
    is_unanimous = (directions == directions[:, :1]).all(axis=1)
    yield _with_word_interval(row, _weighted_mean(weights, is_unanimous), bootstrap)
    kappas = _kappas_between_pairs(directions, weights)
    for i, j in combinations(range(len(table.pairs)), 2):
        first, second = table.pairs[i], table.pairs[j]
        row = PairEstimate("two_pairs", metric, second, first, words=overall.words, pairs=2)
        yield _with_word_interval(row, kappas[:, i, j], bootstrap)
    yield from _cosine_correlations(metric, table, result.differences, kappas, bootstrap)


def _cosine_correlations(
    metric: str, table: PairScoreTable, cosines: Floats, kappas: Floats, bootstrap: Bootstrap
) -> Iterator[PairEstimate]:
    """Yield Pearson's r of cosine and kappa of two pairs: each with all others, and all pairs."""
    n_pairs = len(table.pairs)
    if n_pairs < 4:
        return
    row = PairEstimate(_COSINE_R, metric, words=len(table.items), pairs=n_pairs)
    for i, pair in enumerate(table.pairs):
        other_pairs = [j for j in range(n_pairs) if j != i]
        r = _pearson_by_row(cosines[i, other_pairs], kappas[:, i, other_pairs])
        yield _with_word_interval(row._replace(pair=pair), r, bootstrap)

    def overall_r(pair_indices: Sequence[int], weights: Floats) -> Floats:
        cells = tuple(np.array(list(combinations(pair_indices, 2))).T)
        return _pearson_by_row(cosines[cells], kappas[: len(weights), *cells])

    yield _with_both_intervals(row, overall_r, np.ones((len(kappas), 1)), bootstrap)


def _across_forms(metric: str, result: ProbeResult, bootstrap: Bootstrap) -> Iterator[PairEstimate]:
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
        base = table.directions[[row_of_item[item] for item in changed.items]][:, columns]
        yield from _cohen_kappas(
            statistic, metric, changed_form, base, changed.directions, changed.pairs, bootstrap
        )


def _against_truth(
    metric: str, result: ProbeResult, bootstrap: Bootstrap
) -> Iterator[PairEstimate]:
    """Yield agreement of each pair with the known directions of words (table 5)."""
    for (role, _, _), table in result.tables.items():
        if table.truth.any():
            direction = np.asarray(table.truth, dtype=np.intp) + 1
            truth = np.repeat(direction[:, None], len(table.pairs), axis=1)
            yield from _cohen_kappas(
                "truth", metric, role, truth, table.directions, table.pairs, bootstrap
            )


def _cohen_kappas(
    statistic: str,
    metric: str,
    other: str,
    first: Categories,
    second: Categories,
    pairs: Sequence[str],
    bootstrap: Bootstrap,
) -> Iterator[PairEstimate]:
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

    row = PairEstimate(statistic, metric, other, words=len(first), pairs=len(defined_pairs))
    yield _with_both_intervals(row, mean_kappa, weights, bootstrap)
    for pair, kappas_of_pair in zip(pairs, kappas, strict=True):
        yield _with_word_interval(row._replace(pair=pair, pairs=1), kappas_of_pair, bootstrap)


def cohen_kappa(x: Categories, y: Categories, weights: Floats) -> Floats:
    """Compute Cohen's kappa (1960) of two raters for each weighting of the items.

    The counts of a bootstrap are weights: one product gives the kappas of all resamples. NaN where
    both raters give all items one category. Shapes: x, y (items,); weights (resamples, items).
    """
    size = int(max(x.max(), y.max())) + 1
    cells = np.eye(size * size)[x * size + y]
    joint = (weights @ cells).reshape(-1, size, size) / weights.sum(axis=1)[:, None, None]
    expected = (joint.sum(axis=1) * joint.sum(axis=2)).sum(axis=1)
    return _beyond_chance(np.trace(joint, axis1=1, axis2=2), expected)


def fleiss_kappa(ratings: Categories, weights: Floats) -> Floats:
    """Compute Fleiss's kappa (1971) of the columns of ratings, as ``cohen_kappa``."""
    raters = ratings.shape[1]
    votes: Floats = np.eye(int(ratings.max()) + 1)[ratings].sum(axis=1)
    agreeing: Floats = ((votes**2).sum(axis=1) - raters) / (raters**2 - raters)
    sums = weights.sum(axis=1)
    shares: Floats = weights @ (votes / raters) / sums[:, None]
    return _beyond_chance(weights @ agreeing / sums, (shares**2).sum(axis=1))


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    disagreement = 1 - expected
    safe = np.where(disagreement > _NO_SPREAD, disagreement, 1)
    return np.where(disagreement > _NO_SPREAD, (observed - expected) / safe, nan)


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


def _solved_shares(
    metric: str, result: ProbeResult, bootstrap: Bootstrap
) -> Iterator[PairEstimate]:
    """Yield the share of unrelated analogies solved by all base pairs, and by each of them."""
    for (role, _, pair_form), table in result.tables.items():
        other = role if pair_form == "base" else pair_form
        weights = bootstrap.weights(len(table.items))

        def share(
            pair_indices: Sequence[int], weights: Floats, solved: Floats = table.scores
        ) -> Floats:
            return _weighted_mean(weights, solved[:, pair_indices].mean(axis=1))

        words, pairs = len(table.items), len(table.pairs)
        row = PairEstimate("solved", metric, other, words=words, pairs=pairs)
        yield _with_both_intervals(row, share, weights, bootstrap)
        for i, pair in enumerate(table.pairs):
            of_pair = row._replace(pair=pair, pairs=1)
            yield _with_word_interval(of_pair, share([i], weights), bootstrap)


def _pool_queries(query_results: Sequence[QueryResults]) -> Iterator[QueryResults]:
    """Yield the analogies of all queries that share a point, metric and base pairs, as ``all``."""
    by_pairs: dict[tuple[str, str, tuple[str, ...]], list[ProbeResult]] = {}
    for point, _, results in query_results:
        for name, result in results.items():
            if WORDS not in result.tables:
                by_pairs.setdefault((point, name, result.pairs), []).append(result)
    for (point, name, _), results_of_queries in by_pairs.items():
        first = results_of_queries[0]
        if len(results_of_queries) > 1:
            tables = {
                key: concatenate_scores([result.tables[key] for result in results_of_queries])
                for key in first.tables
                if all(key in result.tables for result in results_of_queries)
            }
            likeness = {**first.likeness, "partners": _pool_likeness(results_of_queries)}
            yield point, ALL, {name: replace(first, tables=tables, likeness=likeness)}


def _pool_likeness(results: Sequence[ProbeResult]) -> tuple[float, float, int]:
    """Pool mean, standard deviation and number of the partners' cosines."""
    means, spreads, sizes = np.array([result.likeness["partners"] for result in results]).T
    mean = float(np.average(means, weights=sizes))
    square = float(np.average(spreads**2 + means**2, weights=sizes))
    return mean, sqrt(max(square - mean**2, 0)), int(sizes.sum())


def add_unaided_solutions(estimates: pd.DataFrame, intrinsic: pd.DataFrame) -> pd.DataFrame:
    """Append the share of analogies solved without a base pair: ``statistic`` of the scores."""
    is_solved = estimates["statistic"].eq("solved") & estimates["compared_with"].eq("partners")
    solved = estimates[is_solved]
    rows = solved[solved["pair"].eq("")].copy()
    if not len(rows):
        return estimates
    statistics = intrinsic.set_index(["point", "query", "metric"])["statistic"].to_dict()
    keys = zip(*(as_text(rows, name) for name in ("point", "query", "metric")), strict=True)
    values = [float(statistics.get(key, nan)) for key in keys]
    no_intervals = dict.fromkeys(("low", "high", "pairs_low", "pairs_high"), nan)
    rows = rows.assign(compared_with=_UNAIDED, value=values, pairs=0, **no_intervals)
    is_pooled = rows["query"].eq(ALL)
    for point in rows.loc[is_pooled, "point"]:
        queries = rows[~is_pooled & rows["point"].eq(point)]
        mean = np.average(as_float(queries, "value"), weights=as_float(queries, "words"))
        rows.loc[is_pooled & rows["point"].eq(point), "value"] = float(mean)
    return pd.concat([estimates, rows], ignore_index=True)


def _with_both_intervals(
    row: PairEstimate,
    compute: Callable[[Sequence[int], Floats], Floats],
    weights: Floats,
    bootstrap: Bootstrap,
) -> PairEstimate:
    """Estimate a statistic of pair indices and word weights, with both intervals."""
    row = _with_word_interval(row, compute(range(row.pairs), weights), bootstrap)
    if not isfinite(row.value):
        return row

    def value_of(pair_indices: Sequence[int]) -> float:
        value = float(compute(pair_indices, weights[:1])[0])
        if row.statistic != _COSINE_R:
            return value
        return atanh(min(max(value, -_NEAR_ONE), _NEAR_ONE))

    low, high = _jackknife_interval(value_of, row.pairs)
    if row.statistic == _COSINE_R:
        return row._replace(pairs_low=tanh(low), pairs_high=tanh(high))
    minimum = 0 if row.statistic in _SHARES else -1
    return row._replace(pairs_low=max(low, minimum), pairs_high=min(high, 1))


def _with_word_interval(row: PairEstimate, values: Floats, bootstrap: Bootstrap) -> PairEstimate:
    """Fill in value and interval from values of all words and of resamples, or the reason."""
    if row.words < bootstrap.min_words:
        reason = f"{row.words} words, fewer than {bootstrap.min_words}"
        return row._replace(reason=reason)
    value, resampled = float(values[0]), values[1:]
    if not isfinite(value):
        return row._replace(reason=_ONE_DIRECTION)
    finite = resampled[np.isfinite(resampled)]
    if len(finite) < _FEWEST_DEFINED * len(resampled) or not len(resampled):
        return row._replace(value=value)
    low, high = np.quantile(finite, _TAILS).tolist()
    return row._replace(value=value, low=low, high=high)


def _jackknife_interval(
    compute: Callable[[Sequence[int]], float], n_pairs: int
) -> tuple[float, float]:
    """Return the jackknife 95% interval of a statistic of indices of base pairs.

    value +- t sqrt((n - 1) / n sum_i (value_i - mean)^2), where value_i leaves out pair i and t has
    n - 1 degrees of freedom: for a mean, Student's. NaN for fewer than three pairs.
    """
    if n_pairs < 3:
        return nan, nan
    estimate = compute(range(n_pairs))
    leave_one_out = np.array(
        [compute([j for j in range(n_pairs) if j != i]) for i in range(n_pairs)]
    )
    _, low, high = t_interval(estimate, jackknife_error(leave_one_out), n_pairs - 1)
    return low, high


def _weighted_mean(weights: Floats, values: Floats | NDArray[np.bool_]) -> Floats:
    """Average the words' values by each weighting. Shapes: (R, words), (words,) -> (R,)."""
    return np.asarray(weights @ values / weights.sum(axis=1))
