"""How much of what is seen is not noise, and a correlation corrected for that noise."""

from __future__ import annotations

from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analysis.within import Estimate, unit_error, without_each, z_interval

if TYPE_CHECKING:
    from analysis.arrays import Floats, Ints
    from analysis.units import Rows
    from analysis.within import Residuals

FEWEST_RESAMPLES = 50  # of words or posts, for a standard error
RELIABLE = 0.5  # below, noise is most of what is seen, and a correction for it multiplies noise


class Reliability(NamedTuple):
    """A reliability, of all units and without each (n,); NaN where it is not known."""

    whole: float
    without_each: Floats


class Trainings(NamedTuple):
    """What the chance of a training does to gaps: ``error``, the variance of the mean gap of each
    unit over its trainings (units,), 0 where nothing was trained twice; ``sd``, the standard
    deviation from one training to the next, NaN there.
    """

    error: Floats
    sd: float

    def share(self, gaps: Floats, of: Residuals) -> float:
        """Its share of the variance of the units' gaps within bases; NaN where not known."""
        if not isfinite(self.sd):
            return nan
        return max(0.0, float(self.freed(of).sum()) / float((of.freed(gaps) ** 2).sum()))

    def freed(self, of: Residuals) -> Floats:
        """The error of each unit that is left when it is freed of its base."""
        found: Floats = self.error[of.told] * (1 - of.leverage)
        return found


def trainings(rows: Rows, unit: Ints) -> Trainings:
    """From units on which one classifier was trained several times on the same posts.

    s^2 = var_t(y_t) - mean_b var_t(y_tb - y_t),     error = sum over settings of w^2 s^2 / T

    y_t: the gap after training t of T, y_tb: in resample b of the test posts, for what test posts
    do to one training and not to another is noise of theirs; w: the weight of the setting (the
    classifier, what it learns from) in the unit's mean. Of a unit in which nothing was trained
    twice the mean error of the others is taken. Shape of unit: (n,).
    """

    def kinds(times: list[list[int]]) -> int:
        return len({rows.asked[row] for each in times for row in each})

    found = np.full(int(unit.max()) + 1, nan)
    singles = []
    for place, of_setting in _by_setting(rows, unit).items():
        for times in of_setting:
            if len(times) > 1:
                y = np.array([float(rows.y[each].mean()) for each in times])
                drawn = (rows.y_resampled[np.array(each)].told() for each in times)
                again = np.array([each.mean(axis=0) for each in drawn])
                usable = again[:, np.isfinite(again).all(axis=0)] - y[:, None]
                of_items = usable.var(axis=0, ddof=1).mean() if usable.shape[1] else 0.0
                singles.append(float(y.var(ddof=1) - of_items))
                share = kinds(times) / sum(map(kinds, of_setting))
                known = np.nan_to_num(found[place])
                found[place] = known + share**2 * singles[-1] / len(times)
    if not singles:
        return Trainings(np.zeros(len(found)), nan)
    error: Floats = np.where(np.isnan(found), float(np.nanmean(found)), found)
    return Trainings(error, sqrt(max(0.0, float(np.mean(singles)))))


def _by_setting(rows: Rows, unit: Ints) -> dict[int, list[list[list[int]]]]:
    """The places of the rows by unit, setting and training."""
    found: dict[int, dict[str, dict[str, list[int]]]] = {}
    if len(set(rows.training.tolist())) > 1:
        keys = zip(unit.tolist(), rows.setting.tolist(), rows.training.tolist(), strict=True)
        for row, (place, setting, training) in enumerate(keys):
            of_unit = found.setdefault(place, {})
            of_unit.setdefault(setting, {}).setdefault(training, []).append(row)
    return {
        place: [[*times.values()] for times in of_unit.values()] for place, of_unit in found.items()
    }


def reliability(
    side: Floats, resampled: Floats, of: Residuals, trained: Trainings | None = None
) -> Reliability:
    """The share of the variance within bases that is not noise, in [0, 1].

    reliability = 1 - sum_u (var_b(c_ub) + e_u) / sum_u c_u^2

    c_u: the value of unit u freed of its base, c_ub: in resample b of the words or posts, drawn
    alike for all units; e_u: its error by the chance of ``trained``. What a resample does to all
    units of a base alike attenuates nothing. What stretches all alike attenuates nothing either and
    is counted as noise: a reliability is rather too low. NaN below 50 resamples in which every unit
    has a value. Shapes: (units,), (units, resamples).
    """
    usable = resampled[:, np.isfinite(resampled).all(axis=0)]
    if usable.shape[1] < FEWEST_RESAMPLES:
        return Reliability(nan, np.full(len(of.told), nan))
    noise: Floats = of.freed(usable).var(axis=1, ddof=1)
    if trained:
        noise = noise + trained.freed(of)
    variance: Floats = of.freed(side) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        each: Floats = (noise.sum() - noise) / (variance.sum() - variance / (1 - of.leverage))
    whole = 1 - float(noise.sum()) / float(variance.sum())
    return Reliability(max(0.0, whole), np.clip(1 - each, 0, 1))


def ceiling(x: Reliability, y: Reliability) -> float:
    """The largest |r| that noise lets through, sqrt(x y); NaN where one is not known."""
    return sqrt(x.whole * y.whole)


def corrected(of: Residuals, x: Reliability, y: Reliability, shared: float = 0.0) -> Estimate:
    """r divided by its ceiling (Spearman, 1904), in [-1, 1], with its 90% interval; NaN where noise
    is most of either side. ``shared``: the error that units share (``analysis.shared_error``).
    """
    if not (x.whole >= RELIABLE and y.whole >= RELIABLE):
        return Estimate()
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out: Floats = without_each(of) / np.sqrt(x.without_each * y.without_each)
    value = of.r / ceiling(x, y)
    if abs(value) < 1:  # of r / sqrt(1 - r^2), as one of the corrected r
        shared *= ((1 - of.r**2) / (1 - value**2)) ** 1.5 / ceiling(x, y)
    r = z_interval(value, unit_error(of, left_out), 0.9, shared)
    return r._replace(value=max(-1.0, min(1.0, r.value)))
