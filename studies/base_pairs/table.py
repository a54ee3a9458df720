"""What base pairs, forms of words and measures do to scores: every estimate of the study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.agreement import cohen_kappa, fleiss_kappa
from studies.base_pairs.analogies import solved_share, together
from studies.base_pairs.estimate import (
    CORRELATION,
    Bootstrap,
    Estimate,
    jackknife,
    over_both,
    over_words,
    row_of,
    weighted_mean,
)
from studies.base_pairs.readings import WORDS, Readings, Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from analysis.arrays import Floats

    Places = NDArray[np.intp]


def estimate_all(
    every: Sequence[tuple[str, str, Mapping[str, Readings]]], bootstrap: Bootstrap
) -> pd.DataFrame:
    """The rows of ``base_pairs.csv``: every estimate of every point and query, and of the analogies
    of all queries of a point together.
    """
    rows = [
        {"point": point, "query": query, **each._asdict()}
        for point, query, found in [*every, *together(every)]
        for each in estimates(found, bootstrap)
    ]
    return pd.DataFrame(rows, columns=["point", "query", *Estimate._fields])


def estimates(found: Mapping[str, Readings], bootstrap: Bootstrap) -> Iterator[Estimate]:
    """Every estimate of the readings of one point and query."""
    for name, reading in found.items():
        yield from _likeness(name, reading)
        if WORDS not in reading.tables:
            yield from solved_share(name, reading, bootstrap)
            continue
        yield from _vocabulary(name, reading)
        yield from _across_pairs(name, reading, bootstrap)
        yield from _across_forms(name, reading, bootstrap)
        yield from _truths(name, reading, bootstrap)
    for one, other in combinations([name for name in found if WORDS in found[name].tables], 2):
        first, second = found[one].tables[WORDS], found[other].tables[WORDS]
        if (first.items, first.pairs) == (second.items, second.pairs):
            yield from _kappas(
                "measures", one, other, first.directions, second.directions, first.pairs, bootstrap
            )


def _vocabulary(name: str, reading: Readings) -> Iterator[Estimate]:
    if not reading.size:
        return
    means, squares = reading.means, reading.spreads**2 + reading.means**2

    def mean(kept: Sequence[int]) -> float:
        return float(means[kept].mean())

    def spread(kept: Sequence[int]) -> float:
        return sqrt(float(squares[kept].mean()) - mean(kept) ** 2)

    for statistic, value, each in (("mean", mean, means), ("sd", spread, reading.spreads)):
        low, high = jackknife(value, len(means))
        row = row_of(statistic, name, "", (reading.size, len(means)))
        yield row._replace(value=value(range(len(means))), pairs_low=low, pairs_high=high)
        for pair, one in zip(reading.pairs, each.tolist(), strict=True):
            yield row_of(statistic, name, "", (reading.size, 1), pair)._replace(value=one)


def _across_pairs(name: str, reading: Readings, bootstrap: Bootstrap) -> Iterator[Estimate]:
    """Agreement of the pairs on the words' directions, and on magnitudes (table 2, figure 2)."""
    table = reading.tables[WORDS]
    size = len(table.items), len(table.pairs)
    weights = bootstrap.weights(len(table.items))
    directions, scores = table.directions, table.scores
    moved = np.abs(scores[:, :, None] - scores[:, None, :]) >= reading.spread

    def fleiss(kept: Sequence[int], times: Floats) -> Floats:
        return fleiss_kappa(directions[:, kept], times)

    def magnitude(kept: Sequence[int], times: Floats) -> Floats:
        return weighted_mean(times, _off_diagonal(moved[:, kept][:, :, kept]))

    statistics = {"fleiss": fleiss}
    if isfinite(reading.spread):
        statistics["magnitude"] = magnitude
    for statistic, compute in statistics.items():
        row = row_of(statistic, name, "", size)
        yield over_both(row, compute, weights, bootstrap, len(table.pairs))
    # No interval over pairs: it is about all of these, and falls with their number
    row = row_of("unanimous", name, "", size)
    alike = (directions == directions[:, :1]).all(axis=1)
    yield over_words(row, weighted_mean(weights, alike), bootstrap)
    kappas = _between_pairs(directions, weights)
    for i, j in combinations(range(len(table.pairs)), 2):
        row = row_of("two_pairs", name, table.pairs[j], (size[0], 2), table.pairs[i])
        yield over_words(row, kappas[:, i, j], bootstrap)
    yield from _follows_cosine(name, table, reading.differences, kappas, bootstrap)


def _follows_cosine(
    name: str, table: Scored, cosines: Floats, kappas: Floats, bootstrap: Bootstrap
) -> Iterator[Estimate]:
    """Pearson's r of the cosine of two pairs' differences and their kappa: of each pair with all
    others, and over all.
    """
    size = len(table.items), len(table.pairs)
    if len(table.pairs) < 4:
        return
    every = list(range(len(table.pairs)))
    for i, pair in enumerate(table.pairs):
        others = [j for j in every if j != i]
        r = _correlations(cosines[i, others], kappas[:, i, others])
        yield over_words(row_of(CORRELATION, name, "", size, pair), r, bootstrap)

    def overall(kept: Sequence[int], times: Floats) -> Floats:
        places = tuple(np.array(list(combinations(kept, 2))).T)
        return _correlations(cosines[places], kappas[: len(times), *places])

    row = row_of(CORRELATION, name, "", size)
    yield over_both(row, overall, np.ones((len(kappas), 1)), bootstrap, len(every))


def _across_forms(name: str, reading: Readings, bootstrap: Bootstrap) -> Iterator[Estimate]:
    """Agreement of a pair with its other forms, and of words with theirs (tables 3 and 4)."""
    table = reading.tables[WORDS]
    place = {item: i for i, item in enumerate(table.items)}
    column = {pair: i for i, pair in enumerate(table.pairs)}
    for (role, form, pair_form), other in reading.tables.items():
        if role != "words" or (form, pair_form) == ("base", "base"):
            continue
        statistic, which = ("word_form", form) if pair_form == "base" else ("pair_form", pair_form)
        columns = [column[pair] for pair in other.pairs]
        same = table.directions[other.among(place)][:, columns]
        yield from _kappas(statistic, name, which, same, other.directions, other.pairs, bootstrap)


def _truths(name: str, reading: Readings, bootstrap: Bootstrap) -> Iterator[Estimate]:
    """Agreement of each pair with what is known of words (table 5)."""
    for (role, _, _), table in reading.tables.items():
        if table.truth.any():
            truth = np.asarray(table.truth, dtype=np.intp) + 1
            known = np.repeat(truth[:, None], len(table.pairs), axis=1)
            yield from _kappas("truth", name, role, known, table.directions, table.pairs, bootstrap)


def _likeness(name: str, reading: Readings) -> Iterator[Estimate]:
    """Mean cosines: of the words of pairs, of pairs' differences, and of random ones."""
    upper = reading.differences[np.triu_indices(len(reading.pairs), 1)]
    cosines = {f"words of {role}": each for role, each in reading.likeness.items()}
    cosines["differences of pairs"] = (float(upper.mean()), float(upper.std()), len(upper))
    cosines |= {f"random {what}": each for what, each in reading.random.items()}
    for what, (mean, sd, size) in cosines.items():
        yield row_of("cosine", name, what, (size, 0))._replace(value=mean)
        yield row_of("cosine_sd", name, what, (size, 0))._replace(value=sd)


def _kappas(
    statistic: str,
    metric: str,
    other: str,
    first: Places,
    second: Places,
    pairs: Sequence[str],
    bootstrap: Bootstrap,
) -> Iterator[Estimate]:
    """Cohen's kappa of each pair's two columns, and their mean over pairs."""
    weights = bootstrap.weights(len(first))
    each = np.array([cohen_kappa(x, y, weights) for x, y in zip(first.T, second.T, strict=True)])
    known = np.flatnonzero(np.isfinite(each[:, 0]))

    def mean(kept: Sequence[int], times: Floats) -> Floats:
        kappas = each[known[kept]][:, : len(times)]
        defined = np.isfinite(kappas)
        with np.errstate(invalid="ignore"):
            means: Floats = np.where(defined, kappas, 0).sum(axis=0) / defined.sum(axis=0)
        return means

    row = row_of(statistic, metric, other, (len(first), len(known)))
    yield over_both(row, mean, weights, bootstrap, len(known))
    for pair, kappas in zip(pairs, each, strict=True):
        row = row_of(statistic, metric, other, (len(first), 1), pair)
        yield over_words(row, kappas, bootstrap)


def _between_pairs(directions: Places, weights: Floats) -> Floats:
    """Cohen's kappa of every two base pairs; NaN on the diagonal. Shape (R, pairs, pairs)."""
    size = directions.shape[1]
    kappas = np.full((len(weights), size, size), nan)
    for i, j in combinations(range(size), 2):
        found = cohen_kappa(directions[:, i], directions[:, j], weights)
        kappas[:, i, j] = kappas[:, j, i] = found
    return kappas


def _correlations(x: Floats, y: Floats) -> Floats:
    """Pearson's r of x with each row of y; NaN where either is constant or not defined."""
    first, second = x - x.mean(), y - y.mean(axis=1, keepdims=True)
    lengths = np.sqrt((first**2).sum() * (second**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        r: Floats = second @ first / lengths
    return r


def _off_diagonal(table: NDArray[np.bool_]) -> Floats:
    size = table.shape[1]
    return np.asarray(table[:, ~np.eye(size, dtype=bool)].mean(axis=1))
