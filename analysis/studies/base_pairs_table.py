"""What base pairs, forms of words and measures do to scores: estimates with two intervals each.

``low`` and ``high`` answer for the choice of words: percentiles of a bootstrap over them, the same
resamples for all measures. ``pairs_low`` and ``pairs_high`` answer for the choice of base pairs:
jackknife over pairs, Student's t, of r as Fisher's z. (A bootstrap would draw copies of pairs,
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
from scipy.special import stdtrit

from analysis.agreement import Floats, cohen_kappa, fleiss_kappa
from analysis.columns import numbers, texts
from analysis.naming import ALL
from analysis.studies.base_pairs_readings import WORDS, Readings, Scored, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.intp]

LEVEL = 0.95
TAILS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
UNAIDED = "no base pair"
CORRELATION = "cosine_r"
SHARES = ("magnitude", "solved")
ONE_DIRECTION = "all words have one direction, so that kappa is 0 / 0"


class Bootstrap(NamedTuple):
    """How intervals over words are drawn, and the fewest words that give a kappa."""

    resamples: int = 1_000
    least: int = 10

    def weights(self, size: int) -> Floats:
        """How often each of ``size`` words is drawn, all as they are first. Shape (1 + R, size)."""
        rng = np.random.default_rng(size)
        drawn = rng.multinomial(size, np.full(size, 1 / size), size=self.resamples)
        return np.vstack([np.ones(size), drawn])


class Estimate(NamedTuple):
    """A row of ``base_pairs.csv``; ``docs/results.md`` says what each column means."""

    statistic: str
    metric: str
    other: str
    pair: str
    value: float
    low: float = nan
    high: float = nan
    pairs_low: float = nan
    pairs_high: float = nan
    words: int = 0
    pairs: int = 0
    reason: str = ""


def estimate_all(
    every: Sequence[tuple[str, str, Mapping[str, Readings]]], bootstrap: Bootstrap
) -> pd.DataFrame:
    """The rows of ``base_pairs.csv``: every estimate of every point and query, and of the analogies
    of all queries of a point together.
    """
    rows = [
        {"point": point, "query": query, **each._asdict()}
        for point, query, found in [*every, *_together(every)]
        for each in estimates(found, bootstrap)
    ]
    return pd.DataFrame(rows, columns=["point", "query", *Estimate._fields])


def unaided(found: pd.DataFrame, intrinsic: pd.DataFrame) -> pd.DataFrame:
    """The estimates with the share of unrelated analogies that are solved without a base pair,
    which their metric tells as its ``statistic``.
    """
    solved = found[found["statistic"].eq("solved") & found["other"].eq("partners")]
    rows = solved[solved["pair"].eq("")].copy()
    if not len(rows):
        return found
    told = intrinsic.set_index(["point", "query", "metric"])["statistic"].to_dict()
    keys = zip(*(texts(rows, name) for name in ("point", "query", "metric")), strict=True)
    values = [float(told.get(key, nan)) for key in keys]
    none = dict.fromkeys(("low", "high", "pairs_low", "pairs_high"), nan)
    rows = rows.assign(other=UNAIDED, value=values, pairs=0, **none)
    every = rows["query"].eq(ALL)
    for point in rows.loc[every, "point"]:
        parts = rows[~every & rows["point"].eq(point)]
        mean = np.average(numbers(parts, "value"), weights=numbers(parts, "words"))
        rows.loc[every & rows["point"].eq(point), "value"] = float(mean)
    return pd.concat([found, rows], ignore_index=True)


def _together(
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
    """Mean, standard deviation and number of the partners' cosines of several readings."""
    means, spreads, sizes = np.array([each.likeness["partners"] for each in readings]).T
    mean = float(np.average(means, weights=sizes))
    square = float(np.average(spreads**2 + means**2, weights=sizes))
    return mean, sqrt(max(square - mean**2, 0)), int(sizes.sum())


def estimates(found: Mapping[str, Readings], bootstrap: Bootstrap) -> Iterator[Estimate]:
    """Every estimate of the readings of one point and query."""
    for name, reading in found.items():
        yield from _likeness(name, reading)
        if WORDS not in reading.tables:
            yield from _solved(name, reading, bootstrap)
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
    """Mean and standard deviation over frequent words (table 1)."""
    if not reading.size:
        return
    means, squares = reading.means, reading.spreads**2 + reading.means**2

    def mean(kept: Sequence[int]) -> float:
        return float(means[kept].mean())

    def spread(kept: Sequence[int]) -> float:
        return sqrt(float(squares[kept].mean()) - mean(kept) ** 2)

    for statistic, value, each in (("mean", mean, means), ("sd", spread, reading.spreads)):
        low, high = jackknife(value, len(means))
        told = _of(statistic, name, "", (reading.size, len(means)))
        yield told._replace(value=value(range(len(means))), pairs_low=low, pairs_high=high)
        for pair, one in zip(reading.pairs, each.tolist(), strict=True):
            yield _of(statistic, name, "", (reading.size, 1), pair)._replace(value=one)


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
        return _weighted(times, _off_diagonal(moved[:, kept][:, :, kept]))

    statistics = {"fleiss": fleiss}
    if isfinite(reading.spread):
        statistics["magnitude"] = magnitude
    for statistic, compute in statistics.items():
        told = _of(statistic, name, "", size)
        yield _over_both(told, compute, weights, bootstrap, len(table.pairs))
    # No interval over pairs: it is about all of these, and falls with their number
    told = _of("unanimous", name, "", size)
    alike = (directions == directions[:, :1]).all(axis=1)
    yield _over_words(told, _weighted(weights, alike), bootstrap)
    kappas = _between_pairs(directions, weights)
    for i, j in combinations(range(len(table.pairs)), 2):
        told = _of("two_pairs", name, table.pairs[j], (size[0], 2), table.pairs[i])
        yield _over_words(told, kappas[:, i, j], bootstrap)
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
        yield _over_words(_of(CORRELATION, name, "", size, pair), r, bootstrap)

    def overall(kept: Sequence[int], times: Floats) -> Floats:
        places = tuple(np.array(list(combinations(kept, 2))).T)
        return _correlations(cosines[places], kappas[: len(times), *places])

    told = _of(CORRELATION, name, "", size)
    yield _over_both(told, overall, np.ones((len(kappas), 1)), bootstrap, len(every))


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


def _solved(name: str, reading: Readings, bootstrap: Bootstrap) -> Iterator[Estimate]:
    """The share of unrelated analogies that each pair solves."""
    for (role, _, pair_form), table in reading.tables.items():
        which = role if pair_form == "base" else pair_form
        weights = bootstrap.weights(len(table.items))
        size = len(table.items), len(table.pairs)

        def share(kept: Sequence[int], times: Floats, solved: Floats = table.scores) -> Floats:
            return _weighted(times, solved[:, kept].mean(axis=1))

        told = _of("solved", name, which, size)
        yield _over_both(told, share, weights, bootstrap, len(table.pairs))
        for i, pair in enumerate(table.pairs):
            told = _of("solved", name, which, (size[0], 1), pair)
            yield _over_words(told, share([i], weights), bootstrap)


def _likeness(name: str, reading: Readings) -> Iterator[Estimate]:
    """Mean cosines: of the words of pairs, of pairs' differences, and of random ones."""
    upper = reading.differences[np.triu_indices(len(reading.pairs), 1)]
    told = {f"words of {role}": each for role, each in reading.likeness.items()}
    told["differences of pairs"] = (float(upper.mean()), float(upper.std()), len(upper))
    told |= {f"random {what}": each for what, each in reading.random.items()}
    for what, (mean, sd, size) in told.items():
        yield _of("cosine", name, what, (size, 0))._replace(value=mean)
        yield _of("cosine_sd", name, what, (size, 0))._replace(value=sd)


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

    def mean(kept: Sequence[int], times: Floats) -> Floats:
        kappas = each[kept][:, : len(times)]
        defined = np.isfinite(kappas)
        with np.errstate(invalid="ignore"):
            means: Floats = np.where(defined, kappas, 0).sum(axis=0) / defined.sum(axis=0)
        return means

    told = _of(statistic, metric, other, (len(first), int(np.isfinite(each[:, 0]).sum())))
    yield _over_both(told, mean, weights, bootstrap, len(pairs))
    for pair, kappas in zip(pairs, each, strict=True):
        told = _of(statistic, metric, other, (len(first), 1), pair)
        yield _over_words(told, kappas, bootstrap)


def _of(statistic: str, metric: str, other: str, size: tuple[int, int], pair: str = "") -> Estimate:
    """A row without a value, of so many words and pairs."""
    return Estimate(statistic, metric, other, pair, nan, words=size[0], pairs=size[1])


def _over_both(
    told: Estimate,
    compute: Callable[[Sequence[int], Floats], Floats],
    weights: Floats,
    bootstrap: Bootstrap,
    pairs: int,
) -> Estimate:
    """The estimate of all pairs with both intervals; ``compute`` gives a value a weighting."""
    told = _over_words(told, compute(range(pairs), weights), bootstrap)
    if not isfinite(told.value):
        return told

    def one(kept: Sequence[int]) -> float:
        found = float(compute(kept, weights[:1])[0])
        return atanh(found) if told.statistic == CORRELATION else found

    low, high = jackknife(one, pairs)
    if told.statistic == CORRELATION:
        return told._replace(pairs_low=tanh(low), pairs_high=tanh(high))
    least = 0 if told.statistic in SHARES else -1
    return told._replace(pairs_low=max(low, least), pairs_high=min(high, 1))


def _over_words(told: Estimate, values: Floats, bootstrap: Bootstrap) -> Estimate:
    """The estimate with its interval over words; ``values``: of all words, then of resamples."""
    if told.words < bootstrap.least:
        few = f"{told.words} words, fewer than {bootstrap.least}"
        return told._replace(reason=few)
    value, drawn = float(values[0]), values[1:]
    if not isfinite(value):
        return told._replace(reason=ONE_DIRECTION)
    finite = drawn[np.isfinite(drawn)]
    if len(finite) < 0.9 * len(drawn) or not len(drawn):
        return told._replace(value=value)
    low, high = np.quantile(finite, TAILS).tolist()
    return told._replace(value=value, low=low, high=high)


def jackknife(compute: Callable[[Sequence[int]], float], size: int) -> tuple[float, float]:
    """The 95% interval of a statistic of ``size`` base pairs, each left out once.

    value +- t sqrt((n - 1) / n sum_i (value_i - mean)^2) with n - 1 degrees of freedom; of a mean
    it is Student's interval. NaN for fewer than three pairs, and where a value is.
    """
    if size < 3:
        return nan, nan
    whole = compute(range(size))
    left = np.array([compute([j for j in range(size) if j != i]) for i in range(size)])
    error = sqrt((size - 1) / size * float(((left - left.mean()) ** 2).sum()))
    reach = float(stdtrit(size - 1, TAILS[1])) * error
    return whole - reach, whole + reach


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


def _weighted(times: Floats, values: Floats | NDArray[np.bool_]) -> Floats:
    return np.asarray(times @ values / times.sum(axis=1))


def _off_diagonal(table: NDArray[np.bool_]) -> Floats:
    """The mean of each item's square table but for its diagonal. Shape (items, n, n)."""
    size = table.shape[1]
    return np.asarray(table[:, ~np.eye(size, dtype=bool)].mean(axis=1))
