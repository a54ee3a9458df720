"""The recorded tables of runs, what was declared before them, and Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.effects import effects
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.naming import gap_titles, present_confirmatory, score_titles
from biasbridge.analysis.tables import read_tables
from biasbridge.debias.methods import family_of
from biasbridge.stats.formatting import NOTHING, format_number

if TYPE_CHECKING:
    from biasbridge.analysis.effects import Effect
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.analysis.tables import Tables

HERE = Path(__file__).parent
STUDIES = HERE.parent / "studies"
ENDS = ("", "_low", "_high")


@cache
def tables(run: str) -> Tables:
    """Read the recorded tables of a run; the families of methods are those of today."""
    recorded = read_tables(HERE / run)
    families = recorded.points["method"].map(family_of)
    planted = recorded.points["method"].str.startswith("planting")
    points = recorded.points.assign(method_family=families.mask(planted, "planting"))
    return recorded._replace(points=points)


@cache
def joined(run: str) -> pd.DataFrame:
    """Return one row per point, score and gap."""
    return join_points(tables(run), declared(run).utility)


@cache
def declared(run: str) -> Declaration:
    """Read what was declared before the run."""
    return Declaration.of(HERE / run)


def confirmatory_slices(rows: pd.DataFrame, run: str) -> list[tuple[SliceResult, dict[str, str]]]:
    """Correlate the confirmatory slices of a run; each with its columns ``score`` and ``gap``."""
    measures = present_confirmatory(rows["measure"], declared(run).confirmatory)
    rows = rows[rows["measure"].isin(measures)]
    results = [result for result in correlate_slices(rows, declared(run)) if result.confirmatory]
    names = pd.DataFrame([result.names for result in results])
    titles = zip(score_titles(names), gap_titles(names), strict=True)
    return [
        (result, {"score": score, "gap": gap.removesuffix(" gap")})
        for result, (score, gap) in zip(results, titles, strict=True)
    ]


@cache
def recorded_slices(run: str) -> list[tuple[SliceResult, dict[str, str]]]:
    """Correlate the confirmatory slices of all models of a run."""
    return confirmatory_slices(joined(run), run)


@cache
def condition_effects(run: str) -> list[Effect]:
    """Estimate the effects of every condition."""
    return effects(tables(run), declared(run).utility)


def markdown(rows: Sequence[dict[str, str]], merged: Sequence[str] = ()) -> str:
    """Format a Markdown table without empty columns; ``merged`` columns are blank where they repeat
    the row above.
    """
    table = pd.DataFrame(rows, dtype=object).fillna("")
    table = table.loc[:, ~table.isin(["", NOTHING]).all()]
    is_same = np.ones(len(table), dtype=bool)
    for name in table.columns.intersection([*merged]):  # within what the columns before share
        is_same &= table[name].eq(table[name].shift()).to_numpy()
        table[name] = table[name].mask(is_same, "")
    lines = [[*table], ["---"] * table.shape[1], *table.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def row_estimate(row: pd.Series, name: str, digits: int = 2) -> str:
    """Format a value with its ends, in ``NAME_low`` and ``NAME_high``; empty where undefined."""
    value, low, high = (float(str(row.get(f"{name}{end}", np.nan))) for end in ENDS)
    if not np.isfinite(value):
        return ""
    if np.isnan([low, high]).any():
        return format_number(value, digits)
    ends = (
        format_number(end, digits) if np.isfinite(end) else f"{end:+}"[0] + "∞"
        for end in (low, high)
    )
    return f"{format_number(value, digits)} [{','.join(ends)}]"
