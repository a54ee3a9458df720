"""The tables of a calibration: every instrument ranked in every setting, its curve, and how far its
readings depend on what has nothing to do with bias.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.correlation import LEVEL, Estimate
from analysis.frame import numbers
from studies.calibration.measures import Calibrated, calibrate, mean_interval

if TYPE_CHECKING:
    from studies.calibration.readings import Readings

IN_ORDER = 0.9  # share of steps
SIZES = ("sentences", "dim", "posts")  # settings that are numbers


def ranking(every: Sequence[Readings], resamples: int) -> pd.DataFrame:
    """One row an instrument and setting, by setting from the most to the least trustworthy.

    ``rank`` orders by the smallest detectable bias, then by the share of steps in the right order,
    then by rank correlation. ``trust`` is yes where a bias is detectable, at least 90% of the steps
    are in order, and no false alarm is above 5% beyond chance (the lower end of its interval);
    else the reason why not.
    """
    rows = [
        {"instrument": one.instrument, **one.setting, **_flat(found), "trust": trust(found)}
        for one in every
        for found in [calibrate(one, resamples)]
    ]
    table = pd.DataFrame(rows)
    settings = list(dict.fromkeys(name for one in every for name in one.setting))
    table = table.assign(
        _detectable=numbers(table, "detectable"),
        _steps=-numbers(table, "steps"),
        _order=-np.abs(numbers(table, "order")),
        **{f"_{name}": numbers(table, name) for name in settings if name in SIZES},
    )
    by = [f"_{name}" if name in SIZES else name for name in settings]
    table = table.sort_values([*by, "_detectable", "_steps", "_order"], kind="stable")
    rank = table.groupby(settings, sort=False).cumcount() + 1
    table.insert(0, "rank", rank)
    return table[[name for name in table if not str(name).startswith("_")]].reset_index(drop=True)


def trust(found: Calibrated) -> str:
    """``yes``, or why not."""
    if not isfinite(found.detectable.value):
        return "finds no planted bias" if found.seeds else "no reading"
    if not found.steps.value >= IN_ORDER:
        return f"{found.steps.value:.0%} of steps in order"
    alarms = (
        ("p", found.false_p),
        ("its interval", found.false_interval),
        ("its null", found.false_null),
    )
    for what, alarm in alarms:
        if alarm.low > LEVEL:
            return f"false alarms: {what} in {alarm.value:.0%}"
    return "yes"


def curves(every: Sequence[Readings]) -> pd.DataFrame:
    """One row an instrument, setting and planted level: the mean reading and its 95% t interval
    over seeds; the same with the mean at 0 as origin and the standard deviation there as unit.
    """
    rows = []
    for one in every:
        zero = one.at_zero[np.isfinite(one.at_zero)]
        unit = float(zero.std(ddof=1)) if len(zero) > 1 else nan
        origin = float(zero.mean()) if len(zero) else nan
        unit = unit if unit > 0 else nan
        for level, values in zip(one.levels.tolist(), one.read.T, strict=True):
            found = mean_interval(values)
            mean = {"seeds": int(np.isfinite(values).sum()), **found._asdict()}
            in_units = {f"{name}_sd": (x - origin) / unit for name, x in found._asdict().items()}
            rows.append(
                {"instrument": one.instrument, **one.setting, "planted": level, **mean, **in_units}
            )
    return pd.DataFrame(rows)


def dependence(every: Sequence[Readings]) -> pd.DataFrame:
    """One row an instrument and pair of neighbouring sizes of corpus, vector or post set, all else
    equal: how far the mean reading moves from the larger to the smaller with the same bias planted,
    as a share of its response (from 0 to the highest level) at the larger.

    ``at_zero``: where nothing is planted; ``at_top``: at the highest level, away from 0 positive:
    the smaller shows more bias. 95% t intervals over seeds, the response taken as known.
    """
    rows = []
    for size, small, large in _pairs(every):
        seeds = min(len(small.read), len(large.read))
        response = float(np.nanmean(large.read[:, -1]) - np.nanmean(large.at_zero))
        zero = (small.at_zero[:seeds] - large.at_zero[:seeds]) / response
        top = (small.read[:seeds, -1] - large.read[:seeds, -1]) / response
        rest = {name: value for name, value in large.setting.items() if name != size}
        rows.append(
            {"instrument": large.instrument, **rest, "over": size}
            | {"small": small.setting[size], "large": large.setting[size], "seeds": seeds}
            | dict(
                zip(("at_zero", "at_zero_low", "at_zero_high"), mean_interval(zero), strict=True)
            )
            | dict(zip(("at_top", "at_top_low", "at_top_high"), mean_interval(top), strict=True))
        )
    return pd.DataFrame(rows)


def _pairs(every: Sequence[Readings]) -> Iterator[tuple[str, Readings, Readings]]:
    """Readings of one instrument that differ in one size alone, neighbours in that size."""
    for size in SIZES:
        groups: dict[tuple[object, ...], list[Readings]] = {}
        for one in every:
            if size in one.setting:
                rest = tuple(each for each in one.setting.items() if each[0] != size)
                groups.setdefault((one.instrument, rest), []).append(one)
        for group in groups.values():
            ordered = sorted(group, key=lambda one: float(one.setting[size]))
            for small, large in itertools.pairwise(ordered):
                yield size, small, large


def _flat(found: Calibrated) -> dict[str, float]:
    estimates = {name: each for name, each in found._asdict().items() if isinstance(each, Estimate)}
    return {
        "seeds": found.seeds,
        "response": found.response,
        "offset": found.offset,
        **{
            name + end: value
            for name, each in estimates.items()
            for end, value in zip(("", "_low", "_high"), each, strict=True)
        },
    }
