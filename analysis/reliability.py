"""How much of what is seen is not noise of the words, items and trainings behind it."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np

from analysis.residuals import codes
from analysis.sampling import FEWEST_RESAMPLES

if TYPE_CHECKING:
    from analysis.arrays import Floats, Ints
    from analysis.residuals import Residuals
    from analysis.rows import Rows


def reliability(of: Residuals, side: Floats, resampled: Floats, noise: Floats) -> float:
    """The share of the variance within parents that is not noise, in [0, 1].

    reliability = 1 - sum_i (var_b(c_ib) + (1 - h_i) noise_i) / sum_i c_i^2

    c_i: the value of model i less what its parent explains, c_ib: in resample b of the words or
    items, drawn alike for all models; ``noise``: its error by the chance of training. What a
    resample does to all models of a parent alike attenuates nothing. NaN below 50 resamples in
    which every model has a value. Shapes: (all,), (all, resamples), (all,).
    """
    usable = resampled[:, np.isfinite(resampled[of.kept]).all(axis=0)]
    variance = float(np.square(of.residual(side)).sum())
    if usable.shape[1] < FEWEST_RESAMPLES or variance == 0:
        return nan
    drawn = float(of.residual(usable).var(axis=1, ddof=1).sum())
    trained = float((noise[of.kept] * (1 - of.h)).sum())
    return max(0.0, 1 - (drawn + trained) / variance)


def training_noise(rows: Rows) -> Floats:
    """The variance of each model's mean gap by the chance of training, in order of appearance; 0
    where nothing was trained twice. Shape (models,).

    From models on which one classifier was trained T times on the same items:

    s^2 = var_t(y_t) - mean_b var_t(y_tb - y_t),     noise = sum over settings of w^2 s^2 / T

    y_t: the gap after training t, y_tb: in resample b of the items, for what items do to one
    training and not to another is noise of theirs; w: the weight of the setting in the mean. A
    model in which nothing was trained twice has the mean noise of the others.
    """
    model = codes(rows.model)
    found = np.full(int(model.max(initial=-1)) + 1, nan)
    for place, of_setting in _by_setting(rows, model).items():
        asked = [len({rows.asked[row] for each in times for row in each}) for times in of_setting]
        for times, weight in zip(of_setting, np.array(asked) / sum(asked), strict=True):
            if len(times) > 1:
                variance = _training_variance(rows, times)
                known = np.nan_to_num(found[place])
                found[place] = known + weight**2 * variance / len(times)
    if np.isnan(found).all():
        return np.zeros(len(found))
    return np.where(np.isnan(found), float(np.nanmean(found)), found)


def _training_variance(rows: Rows, times: list[list[int]]) -> float:
    """s^2 of ``training_noise``; ``times``: the rows of each training."""
    y = np.array([float(rows.y[each].mean()) for each in times])
    again = np.array([rows.y_resampled[np.array(each)].rows().mean(axis=0) for each in times])
    usable = again[:, np.isfinite(again).all(axis=0)] - y[:, None]
    of_items = float(usable.var(axis=0, ddof=1).mean()) if usable.shape[1] else 0.0
    return float(y.var(ddof=1)) - of_items


def _by_setting(rows: Rows, model: Ints) -> dict[int, list[list[list[int]]]]:
    """The places of the rows by model, setting and training; none where there is one training."""
    if len(set(rows.training.tolist())) < 2:
        return {}
    found: dict[int, dict[str, dict[str, list[int]]]] = {}
    keys = zip(model.tolist(), rows.setting.tolist(), rows.training.tolist(), strict=True)
    for row, (place, setting, training) in enumerate(keys):
        of_model = found.setdefault(place, {})
        of_model.setdefault(setting, {}).setdefault(training, []).append(row)
    return {
        place: [[*times.values()] for times in of_model.values()]
        for place, of_model in found.items()
    }
