"""The effect of each modification as a table: on the terminal and in ``effects.csv``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasbridge.analysis.effects import MIN_CLUSTERS, OUTCOME, SHARED, Effect
from biasbridge.analysis.frame import as_float, as_text, group_indices, text_rows, typed
from biasbridge.analysis.naming import (
    ALL,
    CONDITION,
    CONTROL,
    ORIGINAL,
    gap_titles,
    measure_title,
    present_confirmatory,
    row_names,
    score_titles,
)
from biasbridge.analysis.terminal import SCORES_SHOWN, as_rows, print_lines, print_table
from biasbridge.files import atomic_path
from biasbridge.files.tables import write_csv
from biasbridge.stats.formatting import NOTHING, format_estimate

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.frame import Tables

TABLE = "effects.csv"
NEAR_END = 0.025  # share of the scale: 1.9 and more for WEAT's effect size
OFTEN = 0.25  # share of the scores
SIDES = {"score": "scores", "gap": "gaps"}
TITLE = "effect of each condition: mean over parents, less the unmodified embedding"


def effect_table(results: Sequence[Effect]) -> pd.DataFrame:
    """Return one row per effect."""
    rows = [{**result.names, **result._asdict()} for result in results]
    return pd.DataFrame(rows, columns=[*SHARED, *OUTCOME, *CONDITION, *Effect._fields[1:]])


def condition_table(
    results: Sequence[Effect], confirmatory: Sequence[str], *, digits: int = 3
) -> pd.DataFrame:
    """Return one row per condition at its largest dose, all cells text.

    Columns: the number of parents, and the changes of the gaps in the ``confirmatory`` measures,
    the utility and the first scores over all embeddings, with 95% intervals; conditions without
    modified training labels. ``digits``: of gaps and utility.
    """
    table = _against_parents(results)
    if table.empty:
        return table[[]]
    dose = pd.Series(as_float(table, "dose"), table.index)
    table = table[dose == dose.groupby([table[name] for name in CONDITION[:-1]]).transform("max")]
    table = pd.concat([_titled(table, side, confirmatory) for side in ("gap", "utility", "score")])
    n_digits = [2 if side == "score" else digits for side in as_text(table, "side")]
    parts = (as_float(table, name).tolist() for name in ("change", "low", "high"))
    cells = table.assign(cell=list(map(format_estimate, *parts, n_digits)))
    shared = [name for name in SHARED if len({*as_text(table, name)} - {""}) > 1]
    always_shown = ("method", "direction", "dose")
    names = [name for name in CONDITION if name in always_shown or len({*as_text(table, name)}) > 1]
    cells = _beside_each_task(cells, shared)
    wide = cells.pivot_table("cell", [*shared, *names], "title", "first", sort=False)
    parents = cells.groupby([*shared, *names], sort=False)["n_parents"].max()
    wide = wide.reindex(columns=list(dict.fromkeys(cells["title"])))
    wide.insert(0, "parents", parents)
    return wide.reset_index().fillna(NOTHING)


def _beside_each_task(cells: pd.DataFrame, shared: list[str]) -> pd.DataFrame:
    """Repeat the rows of scores, which have no task, for every task of the others."""
    score = cells["side"] == "score"
    tasks = cells.loc[~score, shared].drop_duplicates()
    if not shared or tasks.empty:
        return cells
    scores = cells[score].drop(columns=shared).merge(tasks, how="cross")
    return pd.concat([cells[~score], scores], ignore_index=True)


def _against_parents(results: Sequence[Effect]) -> pd.DataFrame:
    table = effect_table(results)
    is_pooled = (table["embedding"] == ALL) & (table["against"] == ORIGINAL)
    return table[is_pooled & table["label_method"].isin(["", CONTROL])]


def _titled(table: pd.DataFrame, side: str, confirmatory: Sequence[str]) -> pd.DataFrame:
    table = table[table["side"] == side]
    if side == "gap":
        table = table[
            table["measure"].isin(present_confirmatory(as_text(table, "measure"), confirmatory))
        ]
        return table.assign(title=gap_titles(table))
    if side == "utility":
        return table.assign(title=[measure_title(measure) for measure in as_text(table, "measure")])
    table = table.assign(title=score_titles(table))
    return table[table["title"].isin(list(dict.fromkeys(table["title"]))[:SCORES_SHOWN])]


def describe_generalisation(results: Sequence[Effect]) -> str:
    """Return what the shown intervals do not generalise to: other trainings, or other items."""
    shown = [
        (
            SIDES.get(result.names["side"], measure_title(result.names["measure"])),
            result.generalises_to,
        )
        for result in results
        if (result.embedding, result.against) == (ALL, ORIGINAL)
    ]
    few_clusters = f"where there are fewer than {MIN_CLUSTERS} independent seeds or corpora"
    lines = []
    for source, answer in (
        ("items", f"other items (words), not to other trainings, {few_clusters}"),
        ("parents", "other trainings, not to other items (words)"),
    ):
        if names := dict.fromkeys(name for name, result_source in shown if result_source == source):
            lines.append(f"intervals of {' and '.join(names)} generalise to {answer}")
    return "; ".join(lines)


def write_effects(
    results: Sequence[Effect], confirmatory: Sequence[str], path: Path, console: Console
) -> Path:
    """Print the effects of the largest doses, and write every effect; return the path."""
    print_effects(results, confirmatory, console)
    with atomic_path(path) as work:
        write_csv(effect_table(results), work)
    return path


def print_effects(results: Sequence[Effect], confirmatory: Sequence[str], console: Console) -> None:
    """Print the effects of the largest doses, and which intervals do not generalise."""
    shown = condition_table(results, confirmatory)
    rows = as_rows({str(name): as_text(shown, str(name)) for name in shown})
    generated = any(result.names["generated"] == "True" for result in results)
    stamp = ", synthetic data" if generated else ""
    if rows:
        print_table(TITLE + stamp, rows, console, left_aligned=(*SHARED, *CONDITION[:-1]))
        print_lines(filter(None, [describe_generalisation(results)]), console)


def saturation(tables: Tables) -> str:
    """Return the methods, directions and doses of which more than a quarter of a metric's scores
    lie within 2.5% of a biased end of its scale; empty where no scale is known.
    """
    tables = typed(tables)
    scores = tables.intrinsic.merge(tables.points, on="point", suffixes=("", "_of_point"))
    scores = scores.assign(title=row_names(scores, ("metric", "convention")))
    scores = scores[
        (scores["method"] != CONTROL) & np.isfinite(scores["scale_max"] - scores["scale_min"])
    ]
    scores = scores.dropna(subset=["value", "unbiased"])
    if scores.empty:
        return ""
    margin = NEAR_END * (scores["scale_max"] - scores["scale_min"])
    low = (scores["scale_min"] < scores["unbiased"]) & (
        scores["value"] <= scores["scale_min"] + margin
    )
    high = (scores["scale_max"] > scores["unbiased"]) & (
        scores["value"] >= scores["scale_max"] - margin
    )
    at_end = (low | high).to_numpy()
    conditions = group_indices(text_rows(scores, ("title", "method", "direction", "dose")))
    descriptions = [
        f"{at_end[rows].sum()} of {len(rows)} scores of {title} after {method}, {direction}, dose"
        f" {dose}"
        for (title, method, direction, dose), rows in conditions.items()
        if at_end[rows].mean() > OFTEN
    ]
    if not descriptions:
        return "No method drives more than a quarter of its scores to the end of their scale."
    return (
        f"At the end of their scale, where a larger dose shows nothing: {'; '.join(descriptions)}."
    )
