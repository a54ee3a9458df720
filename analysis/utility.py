"""How well the task is done, beside the majority baseline; and the part of a gap that the groups'
base rates alone would make.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasbridge.analysis.frame import as_float, as_text, typed
from biasbridge.analysis.joined import SETTINGS, TRAINING_DRAWS
from biasbridge.analysis.naming import (
    ALL,
    CONTROL,
    GAP,
    ORIGINAL,
    capitalise,
    gap_titles,
    measure_title,
)
from biasbridge.analysis.options import keep_varying_options
from biasbridge.stats.formatting import format_number

if TYPE_CHECKING:
    from biasbridge.analysis.frame import Tables

MIN_ABOVE_BASELINE = 0.05  # utility above the majority baseline that a verdict needs


def low_utility_reason(joined: pd.DataFrame, utility: str) -> str:
    """Return why gaps of a task get no verdict: its mean utility hardly exceeds the majority
    baseline. Empty where it does, or the baseline is unknown.
    """
    values = np.stack([as_float(joined, name) for name in ("utility", "majority_baseline")])
    complete = values[:, np.isfinite(values).all(axis=0)]
    if not complete.size:
        return ""
    value, baseline = complete.mean(axis=1).tolist()
    if value >= baseline + MIN_ABOVE_BASELINE:
        return ""
    title = measure_title(utility)
    return (
        f"{title} is {format_number(value)}, majority baseline {format_number(baseline)};"
        f" a verdict takes at least {format_number(MIN_ABOVE_BASELINE)} more"
    )


def describe_task(tables: Tables, utility: str) -> list[str]:
    """Return a line per task, over the unmodified models (over all where there is none): its
    utility and majority baseline, the base rates and false positive rates of the compared groups,
    and for each gap the value expected from base rates alone. A further line names the settings,
    such as classifiers, over whose means the gaps of a model are taken.
    """
    tables = typed(tables)
    points = tables.points[tables.points["status"] == "done"]
    unmodified = points[(points["method"] == CONTROL) & points["label_method"].isin(["", CONTROL])]
    name = f"{ORIGINAL} " if len(unmodified) else ""
    described = unmodified if len(unmodified) else points
    rows = tables.extrinsic[tables.extrinsic["point"].isin(described["point"])]
    tasks = list(dict.fromkeys(rows["task"]))
    lines = []
    for task in tasks:
        task_rows = rows[rows["task"] == task]
        prefix = f"{task}, {name}models: " if len(tasks) > 1 else f"{capitalise(name)}models: "
        if parts := [*_level(task_rows, utility), *_from_base_rates(task_rows)]:
            lines.append(f"{prefix}{'; '.join(parts)}.")
        if settings := [*_averaged_settings(points[points["point"].isin(task_rows["point"])])]:
            lines.append(
                f"The gap of a model in {task} is the mean over {'; '.join(settings)}: to tell them"
                " apart give each a task.name of its own."
            )
    return lines


def _averaged_settings(points: pd.DataFrame) -> Iterator[str]:
    """Yield what differs between the settings of a model: ``classifier cnn, linear``."""
    models = as_text(points, "unit_key")
    draws = [name for name in (*SETTINGS, *TRAINING_DRAWS) if name in points]
    varying = keep_varying_options(points, ("unit_key", *draws))
    for name in (*SETTINGS[1:], "task_options"):
        values = pd.Series(as_text(varying, name))
        if values.groupby(models).nunique().max() > 1:
            title = "" if name == "task_options" else f"{name.replace('_', ' ')} "
            yield title + ", ".join(dict.fromkeys(values))


def _level(rows: pd.DataFrame, utility: str) -> Iterator[str]:
    values = rows[rows["kind"] == "value"]
    is_utility = (values["group"] == ALL) & (values["measure"] == utility)
    # On a challenge set these are of the task's own test items
    utilities = values[is_utility].drop_duplicates("point")
    value, baseline = (float(utilities[name].mean()) for name in ("value", "majority_baseline"))
    if not isfinite(baseline):
        return
    title = measure_title(utility)
    yield f"{title} {format_number(value)}, majority baseline {format_number(baseline)}"
    gaps = rows[rows["kind"] == "gap"]
    groups = dict.fromkeys([*gaps["privileged"], *gaps["unprivileged"]])
    for measure, title in (("base_rate", "base rate"), ("fpr", "false positive rate")):
        measure_rows = values[(values["measure"] == measure) & (values["subset"] == "")]
        means = measure_rows.groupby("group")["value"].mean()
        group_values = [
            f"{group} {format_number(means[group])}" for group in groups if group in means
        ]
        if 0 < len(group_values) <= 2:
            yield f"{title} {', '.join(group_values)}"


def _from_base_rates(rows: pd.DataFrame) -> Iterator[str]:
    gaps = rows[(rows["kind"] == "gap") & rows["expected_from_base_rates"].abs().gt(0)]
    if gaps.duplicated(["point", *GAP[:2]]).any():
        return  # several pairs of groups
    for title, gap_rows in gaps.assign(title=gap_titles(gaps)).groupby("title", sort=False):
        if gap_rows["measure"].iloc[0] == "f1":
            continue  # the precision gap shows it
        mean, expected = (
            format_number(float(gap_rows["value"].mean()), 3),
            format_number(float(gap_rows["expected_from_base_rates"].mean()), 3),
        )
        yield f"{title} {mean}, {expected} by base rates alone"
