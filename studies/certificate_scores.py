"""Scores of models in which a bias of known strength is planted, and their properties.

Arrays ``values`` have shape (..., seeds, levels), NaN where missing; leading axes are resamples or
leave-one-out copies. ``strengths`` (levels,) ascend and hold 0. All properties are about the score
of a single model of one seed, because that is what a practitioner has.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrc, ndtri, stdtrit

from biasbridge.files import InputError
from biasbridge.files.columns import as_float, as_text
from biasbridge.files.paths import digest_of
from biasbridge.stats.intervals import ALPHA, Estimate, jackknife_error, t_interval
from biasbridge.studies import SYNTHETIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from biasbridge.analysis.tables import Tables
    from biasbridge.stats.arrays import Floats

_LABEL_BIAS = "label_bias"
_CORRELATION_P = "t"  # the p of a correlation of 0, which does not test for an unbiased model
_ANY_CASE = ",case=lower"  # experiments add it to every convention: planted words are lower case
TRAINING_STEPS = "training_steps"  # of models stopped early; NaN: trained to the end
_CORPUS = ("sentences", "dim", "posts", "classifier")
_FIRST_TOKEN = re.compile(r",first_token=([^,]+)")  # first token of a causal model's texts
_ENCODED = ("layer", "pooling", "first_token")
_SETTINGS = (*_CORPUS, *_ENCODED, TRAINING_STEPS)
_DEFAULTS = {"layer": "-1", "pooling": "mean", "first_token": "own"}
TRAINED, UNTRAINED = "", "0"  # STEPS of models trained to the end, and of random models
_NAMES = ("metric", "convention", "material", "subject", "query")
_KEY_LENGTH = 8
_MATERIALS = ("material", "corpus", "generated")  # a model, real text, or synthetic text
_OFF_TARGET_COLUMN = "off_target"  # strength of a stereotype of other words
# A reading is a score of one model. sign: -1 where a lower score is more biased
_NUMBERS = ("strength", _OFF_TARGET_COLUMN, "seed", "sign", "value", "low", "high", "p", "unbiased")
_READING = (*_NAMES, *_SETTINGS, *_NUMBERS, "model")
FEWEST_SEEDS = 3
_POWER = 0.8
# What one score needs to tell a strength from none with this power, in standard deviations
_DETECTABLE = float(ndtri(1 - ALPHA / 2) + ndtri(_POWER))
_ONE_SIDED = 0.9  # level of an interval, each end of which is one-sided at 5%
_NEAR_NONE = 0.25  # of the largest strength: up to there responses to s and -s cancel


@dataclass(frozen=True)
class StrengthScores:
    """Scores of one metric, convention and query on one subject in one setting.

    ``setting``: size of corpus and vectors, layer, pooling, first token, training steps. Arrays are
    (seeds, levels), NaN where missing: ``scores``, with their sign changed where lower is more
    biased; ``p`` of no bias; ``excludes_unbiased``, 1 where the 95% interval excludes ``unbiased``
    (which has the sign of the scores), else 0. ``strengths`` ascend and hold 0. ``off_target``,
    (seeds,): scores of models with a stereotype of other words. ``key``: digest of the models.
    """

    names: Mapping[str, str]
    setting: Mapping[str, str]
    strengths: Floats
    seeds: Floats
    scores: Floats
    p: Floats
    excludes_unbiased: Floats
    unbiased: float
    off_target: Floats
    key: str = ""

    def column(self, strength: float) -> Floats:
        """Return the scores at a strength, (seeds,)."""
        return self.scores[:, self.strengths == strength][:, 0]

    @property
    def n_models(self) -> int:
        """Number of models with a score."""
        return int(np.isfinite(self.scores).sum())


def read_scores(tables: Tables, planted: str) -> list[StrengthScores]:
    """Read every score, for ``label_bias`` every gap, in the order of the table."""
    return strength_scores(read_readings(tables, planted))


def read_readings(tables: Tables, planted: str) -> pd.DataFrame:
    """Read the scores of all models, or for ``label_bias`` the gaps. Raises ``InputError``."""
    points = tables.points[tables.points["status"] == "done"]
    if not np.isfinite(as_float(points, planted)).any():
        raise InputError(
            f"the points have no number in {planted!r}; plant a bias of known strength"
        )
    rows = _gap_rows(tables) if planted == _LABEL_BIAS else _score_rows(tables)
    joined = rows.merge(points[[name for name in points if name not in rows or name == "point"]])
    strengths = as_float(joined, planted)
    joined = joined[np.isfinite(strengths)].assign(strength=strengths[np.isfinite(strengths)])
    if 0 not in set(joined["strength"]) or not joined["strength"].max() > 0:
        raise InputError(f"{planted} has no level 0 with others above it; plant 0 and more")
    scale_max, unbiased = as_float(joined, "scale_max"), as_float(joined, "unbiased")
    names = zip(as_text(joined, "metric"), as_text(joined, "convention"), strict=True)
    is_reversed = (scale_max <= unbiased) ^ np.array([_falls(*name) for name in names])
    materials = zip(*(as_text(joined, name) for name in _MATERIALS), strict=True)
    subjects = zip(as_text(joined, "embedding"), as_text(joined, "language"), strict=True)
    joined = joined.assign(
        **_settings(joined),
        material=[
            model or (corpus if generated == "False" else SYNTHETIC)
            for model, corpus, generated in materials
        ],
        subject=[f"{name.partition(' ')[0]} {language}".strip() for name, language in subjects],
        sign=np.where(is_reversed, -1, 1),
        off_target=np.nan_to_num(as_float(joined, _OFF_TARGET_COLUMN)),
        model=[key[:_KEY_LENGTH] for key in as_text(joined, "unit_key")],
    )
    return joined[[*_READING]]


def strength_scores(readings: pd.DataFrame) -> list[StrengthScores]:
    """Group readings by name and setting; those of one strength and seed are averaged."""
    if "material" not in readings:  # recorded before there was any other
        readings = readings.assign(material=SYNTHETIC)
    names = {name: as_text(readings, name) for name in (*_NAMES, "model")}
    readings = readings.assign(**_settings(readings), **names)
    return [
        _strength_scores(dict(zip((*_NAMES, *_SETTINGS), map(str, key), strict=True)), group)
        for key, group in readings.groupby([*_NAMES, *_SETTINGS], sort=False)
    ]


def default_setting(all_scores: Sequence[StrengthScores]) -> list[StrengthScores]:
    """Select one query and setting for each metric, convention, material and subject: the first
    query in the setting of most trained models, with the last layer and the mean over tokens; no
    random models.
    """
    n_models: dict[tuple[str, ...], int] = {}
    for scores in all_scores:
        if scores.setting[TRAINING_STEPS] == UNTRAINED:
            continue
        key = (*_kind(scores), *_training_setting(scores))
        n_models[key] = max(n_models.get(key, 0), scores.scores.size)
    largest: dict[tuple[str, ...], tuple[str, ...]] = {}
    for material, subject, *training in n_models:
        best = largest.setdefault((material, subject), tuple(training))
        if n_models[material, subject, *training] > n_models[material, subject, *best]:
            largest[material, subject] = tuple(training)
    selected: dict[tuple[str, ...], StrengthScores] = {}
    for scores in all_scores:
        is_default = all(scores.setting[name] in ("", value) for name, value in _DEFAULTS.items())
        if is_default and _training_setting(scores) == largest.get(_kind(scores)):
            metric, convention = scores.names["metric"], scores.names["convention"]
            selected.setdefault((metric, convention, *_kind(scores)), scores)
    return list(selected.values())


class FalseAlarms(NamedTuple):
    """Models without a bias of which one is claimed: p < .05, or without p a 95% interval that
    excludes the unbiased value.
    """

    n_claims: int = 0
    n_models: int = 0

    @property
    def share(self) -> float:
        """Share of the models; NaN without models."""
        return self.n_claims / self.n_models if self.n_models else nan

    def p_above(self, rate: float) -> float:
        """Return the one-sided p of the exact binomial test of a rate of at most this."""
        n_fewer = self.n_claims - 1
        return float(bdtrc(n_fewer, self.n_models, rate)) if n_fewer >= 0 else 1.0

    def p_below(self, rate: float) -> float:
        """Return the one-sided p of the exact binomial test of a rate of at least this."""
        return float(bdtr(self.n_claims, self.n_models, rate))


class DoseStep(NamedTuple):
    """Change of the mean score from one strength to another, in standard deviations, with its 90%
    interval. ``is_outer``: from half of the largest strength to the whole, on either side of 0.
    """

    start: float
    end: float
    change: Estimate
    is_outer: bool


class MetricProperties(NamedTuple):
    """Properties of a score; NaN where not estimated. sd: of models of one strength.

    ``slope``: change of the score from strength 0 to 1, in sd (Cohen's d), with its 95% jackknife
    interval over seeds. ``r``: Pearson's, of strength and score over all models; its 95% interval,
    and that of ``smallest`` (``smallest_strength``, of the score turned by the sign of the slope),
    are percentiles over resampled seeds. ``offset``: mean score at strength 0 minus the unbiased
    value, in sd of these models, ``off_target``: change of the mean score by a stereotype of other
    words in sd, with 90% jackknife intervals. ``steps``: changes between 0, half of the largest
    strength and the whole. ``alarms``, ``random_alarms``: false alarms at strength 0, and of random
    vectors or weights.
    """

    slope: Estimate = Estimate()
    r: Estimate = Estimate()
    smallest: Estimate = Estimate()
    offset: Estimate = Estimate()
    off_target: Estimate = Estimate()
    steps: tuple[DoseStep, ...] = ()
    alarms: FalseAlarms = FalseAlarms()
    random_alarms: FalseAlarms = FalseAlarms()

    @property
    def is_undetectable(self) -> bool:
        """Whether a single score could not show even the ends of the slope's interval."""
        return max(self.slope.high, -self.slope.low) < _DETECTABLE

    @property
    def all_alarms(self) -> FalseAlarms:
        """False alarms of all models without a bias."""
        return FalseAlarms(*(a + b for a, b in zip(self.alarms, self.random_alarms, strict=True)))


def measure_properties(
    scores: StrengthScores, random: StrengthScores | None, resamples: int
) -> MetricProperties:
    """Compute all properties; ``random``: of random models; ``resamples``: for intervals."""
    values, strengths, rng = scores.scores, scores.strengths, np.random.default_rng(0)
    slope_estimate = jackknife(partial(slope, strengths=strengths), values)
    turned = -values if slope_estimate.value < 0 else values
    draws = rng.integers(0, len(values), (resamples, len(values)))
    r, smallest = (
        _percentile_interval(statistic(sample, strengths), statistic(sample[draws], strengths))
        for statistic, sample in ((_strength_correlation, values), (_smallest_strength, turned))
    )
    at_zero = strengths == 0
    return MetricProperties(
        slope_estimate,
        r,
        smallest,
        jackknife(partial(offset, unbiased=scores.unbiased), values[:, at_zero], _ONE_SIDED),
        _off_target(scores),
        tuple(_steps(scores)),
        _false_alarms(scores.p[:, at_zero], scores.excludes_unbiased[:, at_zero]),
        _false_alarms(random.p, random.excludes_unbiased) if random else FalseAlarms(),
    )


def _false_alarms(p: Floats, excludes_unbiased: Floats) -> FalseAlarms:
    """Count the models of which a bias is claimed, by p if there is one, else by the interval."""
    for claims, is_finite in (
        (p < ALPHA, np.isfinite(p)),
        (excludes_unbiased == 1, np.isfinite(excludes_unbiased)),
    ):
        if is_finite.any():
            return FalseAlarms(int((claims & is_finite).sum()), int(is_finite.sum()))
    return FalseAlarms()


def _off_target(scores: StrengthScores) -> Estimate:
    """Estimate the change by a stereotype of other words, from models of the same seeds near 0."""
    strengths = scores.strengths
    is_near = np.abs(strengths) <= _NEAR_NONE * np.abs(strengths).max()
    is_near &= np.isin(-strengths, strengths)

    def change(joined: Floats) -> Floats:
        values = joined[..., :-1]
        moved = joined[..., -1] - nan_mean(values[..., is_near], axis=-1)
        return _in_spreads(nan_mean(moved, axis=-1), _spread_within(values))

    has_both = np.isfinite(scores.off_target) & np.isfinite(scores.column(0.0))
    joined = np.column_stack([scores.scores, scores.off_target])[has_both]
    return jackknife(change, joined, _ONE_SIDED) if len(joined) >= FEWEST_SEEDS else Estimate()


def _steps(scores: StrengthScores) -> Iterator[DoseStep]:
    """Yield the changes of the mean score from lower to higher strengths, where both exist."""
    spread = float(_spread_within(scores.scores))
    for sign in (-1, 1):
        sizes = np.unique(np.abs(scores.strengths[np.sign(scores.strengths) == sign]))
        if not len(sizes) or not spread > 0:
            continue
        half = sizes[np.abs(sizes - sizes[-1] / 2).argmin()]
        for inner, outer in ((0.0, half), (half, sizes[-1])):
            start, end = sorted((sign * float(inner), sign * float(outer)))
            change = mean_interval(scores.column(end) - scores.column(start), _ONE_SIDED)
            if start < end and isfinite(change.value):
                in_sd = Estimate(*(value / spread for value in change))
                yield DoseStep(start, end, in_sd, bool(outer == sizes[-1]))


def _percentile_interval(value: Floats, resampled: Floats) -> Estimate:
    """Return a value with its 95% percentile interval; without ends if there are no resamples."""
    values = np.sort(resampled[~np.isnan(resampled)])
    if np.isnan(value) or not len(values):
        return Estimate(float(value))
    low, high = (float(values[round(q * (len(values) - 1))]) for q in (0.025, 0.975))
    return Estimate(float(value), min(low, float(value)), max(high, float(value)))


def _score_rows(tables: Tables) -> pd.DataFrame:
    rows = tables.intrinsic
    rows = rows[np.isfinite(as_float(rows, "unbiased"))]
    first_parts = rows.groupby(["metric", "convention", "query"])["part"].transform("first")
    rows = rows[rows["part"] == first_parts]  # a whole set comes before its parts
    conventions = [name.replace(_ANY_CASE, "") for name in as_text(rows, "convention")]
    matches = [_FIRST_TOKEN.search(name) for name in conventions]
    rows = rows.assign(
        convention=[_FIRST_TOKEN.sub("", name) for name in conventions],
        first_token=[match[1] if match else _DEFAULTS["first_token"] for match in matches],
    )
    p = as_float(rows, "p_value")
    p = np.where(np.array(as_text(rows, "p_method")) == _CORRELATION_P, np.nan, p)
    return rows.assign(p=p)


def _gap_rows(tables: Tables) -> pd.DataFrame:
    rows = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    return rows.assign(
        metric=[f"{name} gap" for name in as_text(rows, "measure")],
        convention="",
        query=as_text(rows, "subset"),
        p=np.nan,
        unbiased=0.0,
        scale_max=np.inf,
    )


def _settings(rows: pd.DataFrame) -> dict[str, list[str]]:
    """Return the settings as text: ``10000`` for ``10000.0``, and an empty text for NaN."""
    return {
        name: ["" if cell == "nan" else cell.removesuffix(".0") for cell in as_text(rows, name)]
        for name in _SETTINGS
    }


def _strength_scores(names: Mapping[str, str], rows: pd.DataFrame) -> StrengthScores:
    low, high, unbiased = (as_float(rows, name) for name in ("low", "high", "unbiased"))
    outside = np.where(np.isfinite(low), (low > unbiased) | (high < unbiased), np.nan)
    rows = rows.assign(outside=outside, value=rows["sign"] * as_float(rows, "value"))
    has_other_words = as_float(rows, _OFF_TARGET_COLUMN) != 0
    scores, p, excluded = (
        rows[~has_other_words].pivot_table(
            index="seed", columns="strength", values=name, dropna=False
        )
        for name in ("value", "p", "outside")
    )
    strengths = sorted({0.0, *scores.columns})
    others = rows[has_other_words]
    # Of a reversed stereotype the score that the same one would have, by its change from 0
    reversed_ones = as_float(others, _OFF_TARGET_COLUMN) < 0
    if reversed_ones.any():
        zero = scores.reindex(others["seed"], columns=[0.0])[0.0].to_numpy()
        mirrored = 2 * zero - as_float(others, "value")
        others = others.assign(value=np.where(reversed_ones, mirrored, others["value"]))
    off_target = others.groupby("seed")["value"].mean().reindex(scores.index)
    values, p_values, claims = (
        table.reindex(columns=strengths).to_numpy(dtype=float) for table in (scores, p, excluded)
    )
    return StrengthScores(
        {name: names[name] for name in _NAMES},
        {name: names[name] for name in _SETTINGS},
        np.array(strengths),
        np.asarray(scores.index, dtype=float),
        values,
        p_values,
        claims,
        float(rows["sign"].iloc[0] * unbiased[0]),
        off_target.to_numpy(dtype=float),
        digest_of(sorted(set(rows["model"])))[:_KEY_LENGTH],
    )


def _falls(metric: str, convention: str) -> bool:
    """Test whether a score falls with the stereotype by its documented sign."""
    from biasbridge.intrinsic.registry import METRICS

    if metric not in METRICS:
        return False
    declared = METRICS[metric].conventions().get(convention.partition(",")[0])
    return METRICS[metric].about.falls ^ bool(declared and declared.is_reversed)


def _kind(scores: StrengthScores) -> tuple[str, str]:
    return scores.names["material"], scores.names["subject"]


def _training_setting(scores: StrengthScores) -> tuple[str, ...]:
    return tuple(scores.setting[name] for name in (*_CORPUS, TRAINING_STEPS))


def mean_interval(values: Floats, level: float = 0.95) -> Estimate:
    """Return a mean with its t interval; NaN for fewer than three finite values."""
    values = values[np.isfinite(values)]
    if len(values) < FEWEST_SEEDS:
        return Estimate()
    error = float(values.std(ddof=1)) / sqrt(len(values))
    return t_interval(float(values.mean()), error, len(values) - 1, level)


def jackknife(
    statistic: Callable[[Floats], Floats], values: Floats, level: float = 0.95
) -> Estimate:
    """Estimate a statistic of values (..., seeds, levels) with its jackknife interval over seeds,

    value -+ t_{S - 1} sqrt((S - 1) / S sum_s (value_s - mean)^2),    value_s: without seed s
    """
    by_seed = values[np.isfinite(values).any(axis=1)]
    n = len(by_seed)
    if n < FEWEST_SEEDS:
        return Estimate()
    without = statistic(np.stack([np.delete(by_seed, i, axis=0) for i in range(n)]))
    error = jackknife_error(without)
    value = float(statistic(by_seed))
    return t_interval(value, error, n - 1, level) if isfinite(error) else Estimate()


def _spread_within(values: Floats) -> Floats:
    """Compute the pooled standard deviation of models of one strength; 0 below rounding errors."""
    deviations = values - nan_mean(values, axis=-2)[..., None, :]
    df = (np.isfinite(values).sum(axis=-2) - 1).clip(0).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread: Floats = np.sqrt(np.nansum(deviations**2, axis=(-2, -1)) / df)
    largest = np.abs(np.nan_to_num(values)).max(axis=(-2, -1))
    return np.where(spread <= 1e-12 * largest, 0.0, spread)


def slope(values: Floats, strengths: Floats) -> Floats:
    """Compute the mean over seeds of the least-squares slope of values on strengths, in standard
    deviations of models of one strength. 0 where all values are equal, NaN without a spread.
    """
    x = np.where(np.isfinite(values), strengths, np.nan)
    x = x - nan_mean(x, axis=-1)[..., None]
    squares = np.nansum(x**2, axis=-1)
    products = np.nansum(x * (values - nan_mean(values, axis=-1)[..., None]), axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(squares > 0, products / squares, np.nan)
        return _in_spreads(nan_mean(slopes, axis=-1), _spread_within(values))


def offset(at_zero: Floats, unbiased: float) -> Floats:
    """Compute the mean value at strength 0 minus the unbiased one, in their standard deviation."""
    return _in_spreads(nan_mean(at_zero, axis=(-2, -1)) - unbiased, _spread_within(at_zero))


def _strength_correlation(values: Floats, strengths: Floats) -> Floats:
    """Compute Pearson's r over all models: 0 if values are equal, NaN for fewer than three."""
    axes = (-2, -1)
    x = np.where(np.isfinite(values), strengths, np.nan)
    x = np.nan_to_num(x - nan_mean(x, axis=axes)[..., None, None])
    y = np.nan_to_num(values - nan_mean(values, axis=axes)[..., None, None])
    length = np.sqrt((x**2).sum(axis=axes) * (y**2).sum(axis=axes))
    r = (x * y).sum(axis=axes) / np.where(length > 0, length, 1.0)
    return np.where(np.isfinite(values).sum(axis=axes) < FEWEST_SEEDS, np.nan, r)


def _smallest_strength(values: Floats, strengths: Floats) -> Floats:
    """Compute the smallest strength that a single score tells from none with a power of .8.

    A score tells a strength above 0 from none where it is above the prediction interval of a
    further score at 0, m -+ t s sqrt(1 + 1 / n), with m, s and n of the scores at 0; a strength
    below 0 where it is below. The power at a strength is the share of its scores that do, over both
    sides of 0 if both are planted, and all larger strengths must reach .8 too.
    Between strengths, the normal quantile of the power is interpolated linearly (exact for a normal
    score that is linear in the strength). Infinity where none has the power, NaN for fewer than
    three scores at 0.
    """
    has_score = np.isfinite(values)
    zero = values[..., strengths == 0][..., 0]
    n = np.isfinite(zero).sum(axis=-1)
    mean = nan_mean(zero, axis=-1)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(np.nansum((zero - mean) ** 2, axis=-1) / (n - 1))
        half_width = stdtrit(n - 1.0, 1 - ALPHA / 2) * np.sqrt(1 + 1 / n) * spread
        signed = np.sign(strengths) * (values - mean[..., None])
        is_detected = has_score & (signed > half_width[..., None, None])
    sizes = np.unique(np.abs(strengths))
    sides = [np.abs(strengths) == size for size in sizes]
    n_detected, n_scores = (
        np.stack([which[..., side].sum(axis=(-2, -1)) for side in sides], axis=-1)
        for which in (is_detected, has_score)
    )
    power = n_detected / np.maximum(1, n_scores)
    power[..., 0] = ALPHA / 2
    return np.where(n < FEWEST_SEEDS, np.nan, _where_power_is_reached(power, n_scores, sizes))


def _where_power_is_reached(power: Floats, n_scores: Floats, sizes: Floats) -> Floats:
    """Interpolate the size from which on the power is .8, between the last without and the next."""
    reaches = np.flip(
        np.logical_and.accumulate(np.flip(power >= _POWER, axis=-1), axis=-1), axis=-1
    )
    last = (~reaches).sum(axis=-1, keepdims=True) - 1
    pair = np.minimum(np.concatenate([last, last + 1], axis=-1), len(sizes) - 1)
    ends = np.take_along_axis(power, pair, axis=-1)
    n = np.take_along_axis(n_scores, pair, axis=-1).min(axis=-1, keepdims=True)
    margin = 1 / (2 * np.maximum(1, n))  # keeps the quantiles of 0 and 1 finite
    below, above = np.moveaxis(ndtri(np.clip(ends, margin, 1 - margin)), -1, 0)
    low, high = np.moveaxis(sizes[pair], -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        fraction = np.minimum(1.0, (ndtri(_POWER) - below) / (above - below))
        return np.where(last[..., 0] == len(sizes) - 1, np.inf, low + fraction * (high - low))


def nan_mean(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    """Return means of finite values; NaN where there are none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(np.nanmean(values, axis=axis))


def _in_spreads(difference: Floats, spread: Floats) -> Floats:
    """Divide by standard deviations; 0 where both are 0, NaN where only the deviation is."""
    return np.where(
        spread > 0, difference / np.where(spread > 0, spread, 1), np.where(difference, np.nan, 0.0)
    )


def random_models(
    scores: StrengthScores, alternatives: Iterable[StrengthScores]
) -> StrengthScores | None:
    """Return the scores of random vectors or weights, whatever the corpus."""
    stopped = stopped_models(scores, alternatives)
    return next((random for steps, random in stopped if steps == int(UNTRAINED)), None)


def stopped_models(
    scores: StrengthScores, alternatives: Iterable[StrengthScores]
) -> list[tuple[int, StrengthScores]]:
    """List the scores of models that were stopped early, by number of training steps."""
    stopped = [
        (int(alternative.setting[TRAINING_STEPS]), alternative)
        for alternative in alternatives
        if alternative.setting[TRAINING_STEPS] != TRAINED
        and changed_settings(scores, alternative) == [TRAINING_STEPS]
    ]
    return sorted(stopped, key=lambda steps_and_scores: steps_and_scores[0])


def changed_settings(scores: StrengthScores, alternative: StrengthScores) -> list[str]:
    """List the settings in which two scores of a metric, convention and subject differ."""
    changed = [name for name in scores.setting if scores.setting[name] != alternative.setting[name]]
    has_other_query = scores.names["query"] != alternative.names["query"]
    return [*(["query"] if has_other_query else []), *changed]
