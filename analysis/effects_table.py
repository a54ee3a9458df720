"""What each modification did, as a table: on the terminal and in ``effects.csv``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.effects import FEWEST_CLUSTERS, OUTCOME, SHARED, Effect
from analysis.frame import numbers, positions, text_rows, texts, typed
from analysis.naming import (
    ALL,
    CONDITION,
    CONTROL,
    ORIGINAL,
    confirmatory_of,
    gap_titles,
    measure_title,
    row_names,
    score_titles,
)
from analysis.show import NOTHING, SCORES_SHOWN, as_rows, estimate, print_lines, print_table
from files import atomic_path
from files.tables import write_csv

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.frame import Tables

TABLE = "effects.csv"
NEAR, OFTEN = 0.025, 0.25  # of the scale: 1.9 and more for WEAT's effect size; of the scores
SIDES = {"score": "scores", "gap": "gaps"}
TITLE = "what each condition did: mean over parents, less the unmodified embedding"


def effect_table(found: Sequence[Effect]) -> pd.DataFrame:
    """One row an effect."""
    rows = [{**each.names, **each._asdict()} for each in found]
    return pd.DataFrame(rows, columns=[*SHARED, *OUTCOME, *CONDITION, *Effect._fields[1:]])


def condition_table(
    found: Sequence[Effect], confirmatory: Sequence[str], *, digits: int = 3
) -> pd.DataFrame:
    """One row a condition at its largest dose, all cells text, as a reader is shown it: on how many
    parents, and how far it moved the gaps in the ``confirmatory`` measures, the utility and the
    first scores over all embeddings, with 95% intervals. Where posts to learn from were changed
    too, those are meant that were not. ``digits`` of gaps and utility.
    """
    table = _against_parents(found)
    if table.empty:
        return table[[]]
    dose = pd.Series(numbers(table, "dose"), table.index)
    table = table[dose == dose.groupby([table[name] for name in CONDITION[:-1]]).transform("max")]
    table = pd.concat([_titled(table, side, confirmatory) for side in ("gap", "utility", "score")])
    of_side = [2 if side == "score" else digits for side in texts(table, "side")]
    parts = (numbers(table, name).tolist() for name in ("change", "low", "high"))
    cells = table.assign(cell=list(map(estimate, *parts, of_side)))
    shared = [name for name in SHARED if len({*texts(table, name)} - {""}) > 1]
    plain = ("method", "direction", "dose")
    names = [name for name in CONDITION if name in plain or len({*texts(table, name)}) > 1]
    cells = _beside_each_task(cells, shared)
    wide = cells.pivot_table("cell", [*shared, *names], "title", "first", sort=False)
    parents = cells.groupby([*shared, *names], sort=False)["n_parents"].max()
    wide = wide.reindex(columns=list(dict.fromkeys(cells["title"])))
    wide.insert(0, "parents", parents)
    return wide.reset_index().fillna(NOTHING)


def _beside_each_task(cells: pd.DataFrame, shared: list[str]) -> pd.DataFrame:
    """The rows of scores, which have no task, once for every task that others have."""
    score = cells["side"] == "score"
    tasks = cells.loc[~score, shared].drop_duplicates()
    if not shared or tasks.empty:
        return cells
    each = cells[score].drop(columns=shared).merge(tasks, how="cross")
    return pd.concat([cells[~score], each], ignore_index=True)


def means_before(found: Sequence[Effect], confirmatory: Sequence[str]) -> dict[str, float]:
    """The first gap, the utility and the first score, by title, with their means over the parents
    before anything was done.
    """
    table = _against_parents(found)
    sides = [_titled(table, side, confirmatory).head(1) for side in ("gap", "utility", "score")]
    first = pd.concat([side for side in sides if len(side)]) if len(table) else table
    return (
        dict(zip(texts(first, "title"), numbers(first, "reference"), strict=True))
        if len(first)
        else {}
    )


def _against_parents(found: Sequence[Effect]) -> pd.DataFrame:
    table = effect_table(found)
    whole = (table["embedding"] == ALL) & (table["against"] == ORIGINAL)
    return table[whole & table["label_method"].isin(["", CONTROL])]


def _titled(table: pd.DataFrame, side: str, confirmatory: Sequence[str]) -> pd.DataFrame:
    table = table[table["side"] == side]
    if side == "gap":
        table = table[table["measure"].isin(confirmatory_of(texts(table, "measure"), confirmatory))]
        return table.assign(title=gap_titles(table))
    if side == "utility":
        return table.assign(title=[measure_title(each) for each in texts(table, "measure")])
    table = table.assign(title=score_titles(table))
    return table[table["title"].isin(list(dict.fromkeys(table["title"]))[:SCORES_SHOWN])]


def generalises_to(found: Sequence[Effect]) -> str:
    """What intervals, of those that are shown, do not generalise to: other trainings, or other
    items.
    """
    shown = [
        (SIDES.get(each.names["side"], measure_title(each.names["measure"])), each.generalises_to)
        for each in found
        if (each.embedding, each.against) == (ALL, ORIGINAL)
    ]
    few = f"where there are fewer than {FEWEST_CLUSTERS} independent seeds or corpora"
    lines = []
    for alone, answer in (
        ("items", f"other items (words), not to other trainings, {few}"),
        ("parents", "other trainings, not to other items (words)"),
    ):
        if names := dict.fromkeys(name for name, of in shown if of == alone):
            lines.append(f"intervals of {' and '.join(names)} generalise to {answer}")
    return "; ".join(lines)


def write_effects(
    found: Sequence[Effect], confirmatory: Sequence[str], path: Path, console: Console
) -> Path:
    """Print what the largest doses did, and write every effect; the path."""
    print_effects(found, confirmatory, console)
    with atomic_path(path) as work:
        write_csv(effect_table(found), work)
    return path


def print_effects(found: Sequence[Effect], confirmatory: Sequence[str], console: Console) -> None:
    """What the largest doses did, and what of the scores is not shown."""
    shown = condition_table(found, confirmatory)
    rows = as_rows({str(name): texts(shown, str(name)) for name in shown})
    generated = any(each.names["generated"] == "True" for each in found)
    stamp = ", synthetic data" if generated else ""
    if rows:
        print_table(TITLE + stamp, rows, console, left=(*SHARED, *CONDITION[:-1]))
        print_lines(filter(None, [generalises_to(found)]), console)


def saturation(tables: Tables) -> str:
    """What a reader is to know of each method, direction and dose of which more than a quarter of a
    metric's scores lie within 2.5% of a biased end of its scale; empty where no scale is known.
    """
    tables = typed(tables)
    scores = tables.intrinsic.merge(tables.points, on="point", suffixes=("", "_of_point"))
    scores = scores.assign(title=row_names(scores, ("metric", "convention")))
    scores = scores[(scores["method"] != CONTROL) & np.isfinite(scores["most"] - scores["least"])]
    scores = scores.dropna(subset=["value", "unbiased"])
    if scores.empty:
        return ""
    near = NEAR * (scores["most"] - scores["least"])
    low = (scores["least"] < scores["unbiased"]) & (scores["value"] <= scores["least"] + near)
    high = (scores["most"] > scores["unbiased"]) & (scores["value"] >= scores["most"] - near)
    at_end = (low | high).to_numpy()
    conditions = positions(text_rows(scores, ("title", "method", "direction", "dose")))
    said = [
        f"{at_end[rows].sum()} of {len(rows)} scores of {title} after {method}, {direction}, dose"
        f" {dose}"
        for (title, method, direction, dose), rows in conditions.items()
        if at_end[rows].mean() > OFTEN
    ]
    if not said:
        return "No method drives more than a quarter of its scores to the end of their scale."
    return f"At the end of their scale, where a larger dose shows nothing: {'; '.join(said)}."
