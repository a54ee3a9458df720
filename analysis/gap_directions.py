"""For every gap the scores that it rises or falls with, over all embeddings and methods."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

import pandas as pd

from biasbridge.analysis.frame import as_text, text_rows
from biasbridge.analysis.naming import ALL, REVERSED_SIGN, SLICE_COLUMNS, gap_titles, score_titles
from biasbridge.analysis.verdict import FALLS, RISES
from biasbridge.files.choice_classes import METRICS, PROJECT, choice_classes

if TYPE_CHECKING:
    from biasbridge.analysis.slice_results import SliceResult

DIRECTIONS = {1: "rises with", -1: "falls with", 0: "no clear relation with"}
SIGNS = {RISES: 1, FALLS: -1}  # of the verdicts that claim a direction
ResultsByGap = dict[str, dict[str, "SliceResult"]]


def own_metrics_first(results: Sequence[SliceResult]) -> list[SliceResult]:
    """Return the results, those of a user's own metrics first: where few are shown, these are."""
    known = {each.name for each in choice_classes(PROJECT, METRICS)}
    return sorted(results, key=lambda result: result.names["metric"] in known)


def results_by_gap(results: Sequence[SliceResult]) -> ResultsByGap:
    """Return the slice results over all embeddings and methods, by the titles of gap and score."""
    pooled = [
        result
        for result in own_metrics_first(results)
        if result.names["embedding"] == result.names["method"] == ALL
        and result.names["query"] != ALL
    ]
    table = pd.DataFrame([result.names for result in pooled], columns=list(SLICE_COLUMNS))
    varying = [name for name in ("task", "classifier") if len({*as_text(table, name)}) > 1]
    labels = text_rows(table, varying) if varying else [()] * len(table)
    tasks = ["".join(f"{label} " for label in row) for row in labels]
    gaps: ResultsByGap = {}
    for task, gap, score, result in zip(
        tasks, gap_titles(table), score_titles(table), pooled, strict=True
    ):
        title = score + REVERSED_SIGN if result.reverse_scored else score
        gaps.setdefault(task + gap, {})[title] = result
    return gaps


def scores_by_direction(scores: dict[str, SliceResult]) -> dict[str, list[str]]:
    """Return the titles of the scores that a gap rises with, falls with, or neither."""
    names_by_direction: dict[str, list[str]] = {}
    for name, result in scores.items():
        names_by_direction.setdefault(_direction(result), []).append(name)
    return names_by_direction


def _direction(result: SliceResult) -> str:
    """Return the direction by the verdict of a confirmatory slice, which adjusts for the number of
    tests, and by the interval of an exploratory one.
    """
    within = result.within
    if not isfinite(within.r):
        return f"no r_rm ({within.reason}) with"
    if result.confirmatory:
        return DIRECTIONS[SIGNS.get(result.verdict, 0)]
    return DIRECTIONS[(within.low > 0) - (within.high < 0)]


def join_titles(names: Sequence[str]) -> str:
    """Join titles, a shared first word once: ``WEAT 6b, 7, 8``."""
    first, _, remainder = names[0].partition(" ")
    if remainder and all(name.startswith(f"{first} ") for name in names):
        return f"{first} {', '.join(name.removeprefix(f'{first} ') for name in names)}"
    return ", ".join(names)
