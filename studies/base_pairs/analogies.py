"""Analogies of base pairs with pairs of words that have nothing to do with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan, sqrt
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.frame import numbers, texts
from analysis.naming import ALL
from studies.base_pairs.estimate import (
    Bootstrap,
    Estimate,
    over_both,
    over_words,
    row_of,
    weighted_mean,
)
from studies.base_pairs.readings import WORDS, Readings, joined

if TYPE_CHECKING:
    from analysis.arrays import Floats

UNAIDED = "no base pair"


def unaided(found: pd.DataFrame, intrinsic: pd.DataFrame) -> pd.DataFrame:
    """The estimates with the share of unrelated analogies that are solved without a base pair,
    which is the ``statistic`` of their metric.
    """
    solved = found[found["statistic"].eq("solved") & found["other"].eq("partners")]
    rows = solved[solved["pair"].eq("")].copy()
    if not len(rows):
        return found
    statistics = intrinsic.set_index(["point", "query", "metric"])["statistic"].to_dict()
    keys = zip(*(texts(rows, name) for name in ("point", "query", "metric")), strict=True)
    values = [float(statistics.get(key, nan)) for key in keys]
    none = dict.fromkeys(("low", "high", "pairs_low", "pairs_high"), nan)
    rows = rows.assign(other=UNAIDED, value=values, pairs=0, **none)
    every = rows["query"].eq(ALL)
    for point in rows.loc[every, "point"]:
        parts = rows[~every & rows["point"].eq(point)]
        mean = np.average(numbers(parts, "value"), weights=numbers(parts, "words"))
        rows.loc[every & rows["point"].eq(point), "value"] = float(mean)
    return pd.concat([found, rows], ignore_index=True)


def together(
    every: Sequence[tuple[str, str, Mapping[str, Readings]]],
) -> Iterator[tuple[str, str, Mapping[str, Readings]]]:
    """The analogies of several queries with the same base pairs as those of one, ``all``."""
    parts: dict[tuple[str, str, tuple[str, ...]], list[Readings]] = {}
    for point, _, found in every:
        for name, reading in found.items():
            if WORDS not in reading.tables:
                parts.setdefault((point, name, reading.pairs), []).append(reading)
    for (point, name, _), readings in parts.items():
        if len(readings) > 1:
            tables = {
                key: joined([each.tables[key] for each in readings])
                for key in readings[0].tables
                if all(key in each.tables for each in readings)
            }
            likeness = {**readings[0].likeness, "partners": _pooled(readings)}
            yield point, ALL, {name: replace(readings[0], tables=tables, likeness=likeness)}


def _pooled(readings: Sequence[Readings]) -> tuple[float, float, int]:
    means, spreads, sizes = np.array([each.likeness["partners"] for each in readings]).T
    mean = float(np.average(means, weights=sizes))
    square = float(np.average(spreads**2 + means**2, weights=sizes))
    return mean, sqrt(max(square - mean**2, 0)), int(sizes.sum())


def solved_share(name: str, reading: Readings, bootstrap: Bootstrap) -> Iterator[Estimate]:
    """The share of unrelated analogies that each pair solves."""
    for (role, _, pair_form), table in reading.tables.items():
        which = role if pair_form == "base" else pair_form
        weights = bootstrap.weights(len(table.items))
        size = len(table.items), len(table.pairs)

        def share(kept: Sequence[int], times: Floats, solved: Floats = table.scores) -> Floats:
            return weighted_mean(times, solved[:, kept].mean(axis=1))

        row = row_of("solved", name, which, size)
        yield over_both(row, share, weights, bootstrap, len(table.pairs))
        for i, pair in enumerate(table.pairs):
            row = row_of("solved", name, which, (size[0], 1), pair)
            yield over_words(row, share([i], weights), bootstrap)
