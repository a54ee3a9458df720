"""Analogies of base pairs with word pairs that are unrelated to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import nan, sqrt
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasbridge.analysis.frame import as_float, as_text
from biasbridge.analysis.naming import ALL
from biasbridge.studies.base_pairs.estimate import (
    Bootstrap,
    Estimate,
    empty_estimate,
    weighted_mean,
    with_both_intervals,
    with_word_interval,
)
from biasbridge.studies.base_pairs.probe_results import (
    WORDS,
    ProbeResult,
    QueryResults,
    concatenate_scores,
)

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

UNAIDED = "no base pair"


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
    rows = rows.assign(compared_with=UNAIDED, value=values, pairs=0, **no_intervals)
    is_pooled = rows["query"].eq(ALL)
    for point in rows.loc[is_pooled, "point"]:
        queries = rows[~is_pooled & rows["point"].eq(point)]
        mean = np.average(as_float(queries, "value"), weights=as_float(queries, "words"))
        rows.loc[is_pooled & rows["point"].eq(point), "value"] = float(mean)
    return pd.concat([estimates, rows], ignore_index=True)


def pool_queries(query_results: Sequence[QueryResults]) -> Iterator[QueryResults]:
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


def solved_shares(metric: str, result: ProbeResult, bootstrap: Bootstrap) -> Iterator[Estimate]:
    """Yield the share of unrelated analogies solved by all base pairs, and by each of them."""
    for (role, _, pair_form), table in result.tables.items():
        other = role if pair_form == "base" else pair_form
        weights = bootstrap.weights(len(table.items))
        size = len(table.items), len(table.pairs)

        def share(
            pair_indices: Sequence[int], weights: Floats, solved: Floats = table.scores
        ) -> Floats:
            return weighted_mean(weights, solved[:, pair_indices].mean(axis=1))

        row = empty_estimate("solved", metric, other, size)
        yield with_both_intervals(row, share, weights, bootstrap, len(table.pairs))
        for i, pair in enumerate(table.pairs):
            row = empty_estimate("solved", metric, other, (size[0], 1), pair)
            yield with_word_interval(row, share([i], weights), bootstrap)
