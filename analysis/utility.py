"""How well the task is done, beside a classifier that calls all items the same; and how much of a
gap the groups' base rates alone would make.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from analysis.frame import numbers, typed
from analysis.naming import ALL, CONTROL, GAP, ORIGINAL, capital, gap_titles, measure_title
from analysis.show import short

if TYPE_CHECKING:
    import pandas as pd

    from analysis.frame import Tables

LEAST_ABOVE = 0.05  # of the utility above that of a constant classifier, for a verdict


def useless(joined: pd.DataFrame, utility: str) -> str:
    """Why gaps of a task get no verdict: its mean utility is hardly above that of a classifier that
    calls all items the same; empty where it is, or nothing is known of such a classifier.
    """
    both = np.stack([numbers(joined, name) for name in ("utility", "constant")])
    known = both[:, np.isfinite(both).all(axis=0)]
    if not known.size:
        return ""
    value, constant = known.mean(axis=1).tolist()
    if value >= constant + LEAST_ABOVE:
        return ""
    return (
        f"{measure_title(utility)} is {short(value)}, where calling all items the same has"
        f" {short(constant)}; a verdict takes {short(LEAST_ABOVE)} more than that"
    )


def describe_task(tables: Tables, utility: str) -> list[str]:
    """Of each task, over the unmodified models (over all where there is none): its utility beside
    that of a constant classifier, the base rates and false positive rates of the groups compared,
    and of each gap what base rates alone would make of it.
    """
    tables = typed(tables)
    points = tables.points[tables.points["status"] == "done"]
    plain = points[(points["method"] == CONTROL) & points["label_method"].isin(["", CONTROL])]
    name = f"{ORIGINAL} " if len(plain) else ""
    used = plain if len(plain) else points
    rows = tables.extrinsic[tables.extrinsic["point"].isin(used["point"])]
    tasks = list(dict.fromkeys(rows["task"]))
    said = []
    for task in tasks:
        own = rows[rows["task"] == task]
        of = f"{task}, {name}models: " if len(tasks) > 1 else f"{capital(name)}models: "
        if parts := [*_level(own, utility), *_from_base_rates(own)]:
            said.append(f"{of}{'; '.join(parts)}.")
    return said


def _level(rows: pd.DataFrame, utility: str) -> Iterator[str]:
    values = rows[rows["kind"] == "value"]
    own = (values["group"] == ALL) & (values["measure"] == utility)
    whole = values[own].drop_duplicates("point")  # on a challenge set: of the task's own test items
    value, constant = (float(whole[name].mean()) for name in ("value", "constant"))
    if not isfinite(constant):
        return
    same = f"where calling all items the same has {short(constant)}"
    yield f"{measure_title(utility)} {short(value)}, {same}"
    gaps = rows[rows["kind"] == "gap"]
    groups = dict.fromkeys([*gaps["privileged"], *gaps["unprivileged"]])
    for measure, what in (("base_rate", "base rate"), ("fpr", "false positive rate")):
        of = values[(values["measure"] == measure) & (values["subset"] == "")]
        means = of.groupby("group")["value"].mean()
        shown = [f"{group} {short(means[group])}" for group in groups if group in means]
        if 0 < len(shown) <= 2:
            yield f"{what} {', '.join(shown)}"


def _from_base_rates(rows: pd.DataFrame) -> Iterator[str]:
    gaps = rows[(rows["kind"] == "gap") & rows["from_base_rates"].abs().gt(0)]
    if gaps.duplicated(["point", *GAP[:2]]).any():
        return  # several pairs of groups
    for title, of in gaps.assign(title=gap_titles(gaps)).groupby("title", sort=False):
        if of["measure"].iloc[0] == "f1":
            continue  # precision says it
        mean, made = (
            short(float(of["value"].mean()), 3),
            short(float(of["from_base_rates"].mean()), 3),
        )
        yield f"{title} {mean}, {made} by base rates alone"
