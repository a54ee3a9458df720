"""Scatter plots of any tidy table, or the paper's figures from a results folder.

biasbridge scatter results/hatespeech_en
biasbridge scatter my.csv --x WEAT --y "Performance Gap" --row Metric --column Embedding \\
    --out my.svg
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from analysis.charts import STAMP
from analysis.frame import as_float, as_labels, as_text, require_columns
from analysis.grid import INTERVALS, PLACES, ChartText, scatter_grid
from analysis.joined import WITHOUT_RESAMPLES, is_joined, lacks_resamples
from analysis.naming import REVERSED
from files import InputError

if TYPE_CHECKING:
    import altair as alt

MIXED = f"r is of scores with their sign changed where {REVERSED}"


def grid_data(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    row: str = "",
    column: str = "",
    colour: str = "",
    shape: str = "",
) -> pd.DataFrame:
    """Return the named columns under the names that ``scatter_grid`` draws; columns without a name
    are blank. A table of ``join_points`` keeps its models and parents, so that r is taken within
    them. Raise ``InputError`` for an unknown column.
    """
    sources = dict(zip(PLACES, (row, column, colour, shape), strict=True))
    require_columns(table, [x, y, *filter(None, sources.values())], "the table")
    if table.empty:
        raise InputError("the table has no rows; give one with at least one")
    blank = [""] * len(table)
    places = {
        name: as_labels(table, source) if source else blank for name, source in sources.items()
    }
    sides = {"x": as_float(table, x), "y": as_float(table, y)}
    if not is_joined(table):
        return pd.DataFrame(sides | places)
    other_resamples = [
        f"{name}_resampled" for name, source in (("x", x), ("y", y)) if source != name
    ]
    dropped = [*INTERVALS, *other_resamples, *([] if x == "x" else ["reverse_scored"])]
    return table.drop(columns=dropped, errors="ignore").assign(**sides, **places)


def scatter_chart(
    table: pd.DataFrame,
    x: str,
    y: str,
    *,
    row: str = "",
    column: str = "",
    colour: str = "",
    shape: str = "",
    title: str = "",
    mark: str = "point",
) -> alt.TopLevelMixin:
    """Draw ``y`` against ``x``, with r above each panel.

    ``row``, ``column``: columns whose values make panels; ``colour``, ``shape``: columns shown by
    the points; ``mark``: ``point``, or ``line`` for the mean of y at each x, shaded from minimum to
    maximum.
    """
    data = grid_data(table, x=x, y=y, row=row, column=column, colour=colour, shape=shape)
    signs = set(as_text(data, "reverse_scored"))
    reverse = signs == {"True"}
    notes = [STAMP] if "True" in as_text(table, "generated") else []
    notes += [WITHOUT_RESAMPLES] if lacks_resamples(table) else []
    text = ChartText(
        title=title or f"{y} against {x}",
        x=f"{x}, {REVERSED}" if reverse else x,
        y=y,
        colour=colour,
        shape=shape,
        notes=[*notes, MIXED] if "True" in signs and not reverse else notes,
        reverse=reverse,
    )
    values = as_float(data, "y")
    # Equal values need a second one for the axis to have a scale
    with_zero = bool((values < 0).any() and (values > 0).any()) or len({*values}) == 1
    return scatter_grid(data, text, mark=mark, zero=with_zero)
