"""Scatter plots of any tidy table, or the paper's figures from a results folder.

biasbridge scatter results/hatespeech_en
biasbridge scatter my.csv --x WEAT --y "Performance Gap" --row Metric --column Embedding \\
    --out my.svg
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasbridge.analysis.charts import STAMP
from biasbridge.analysis.figures import MAX_COLUMNS, name_axes, with_titles
from biasbridge.analysis.frame import as_float, as_labels, as_text, require_columns, text_rows
from biasbridge.analysis.grid import INTERVALS, PLACES, ChartText, scatter_grid
from biasbridge.analysis.joined import WITHOUT_RESAMPLES, is_joined, lacks_resamples
from biasbridge.analysis.naming import CONTROL, GAP, REVERSED, SCORE, gap_titles, score_titles
from biasbridge.files import InputError

if TYPE_CHECKING:
    import altair as alt

WITHIN = (
    "Above each panel: r_rm of its points, within parents, each model once at its mean. Line: the"
    " slope within parents."
)
MAX_PANELS = 60  # of a figure that is legible
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
    """Draw ``y`` against ``x``, with r above each panel. Different scores or gaps of results are
    not pooled: each has its panels.

    ``row``, ``column``: columns whose values make panels; ``colour``, ``shape``: columns shown by
    the points; ``mark``: ``point``, or ``line`` for the mean of y at each x, shaded from minimum to
    maximum.
    """
    is_result = is_joined(table) or ((x, y) == ("x", "y") and {"metric", "measure"} <= {*table})
    if is_result:
        table, row, column = _keep_apart(table, row, column)
    data = grid_data(table, x=x, y=y, row=row, column=column, colour=colour, shape=shape)
    signs = set(as_text(data, "reverse_scored"))
    reverse = signs == {"True"}
    notes = [STAMP] if "True" in as_text(table, "generated") else []
    notes += [WITHIN] if is_joined(table) and mark == "point" else []
    notes += [WITHOUT_RESAMPLES] if lacks_resamples(table) else []
    text = ChartText(
        title=title or f"{y} against {x}",
        x=f"{x}, {REVERSED}" if reverse else x,
        y=y,
        colour=colour,
        shape=shape,
        black=CONTROL if colour == "method" else None,
        notes=[*notes, MIXED] if "True" in signs and not reverse else notes,
        reverse=reverse,
    )
    has_one_scale = is_result and len({*text_rows(table, ("metric", "convention"))}) == 1
    if is_result:
        named = name_axes(with_titles(table), text)
        x_title = named.x if has_one_scale else "score"
        text = text._replace(x=x_title if x == "x" else text.x, y=named.y if y == "y" else text.y)
        text = text._replace(title=title or f"{text.y} against {text.x}")
    values = as_float(data, "y")
    # Equal values need a second one for the axis to have a scale
    with_zero = bool((values < 0).any() and (values > 0).any()) or len({*values}) == 1
    text = text._replace(own_scales=is_result and not has_one_scale)
    return scatter_grid(data, text, mark=mark, zero=with_zero)


def _keep_apart(table: pd.DataFrame, row: str, column: str) -> tuple[pd.DataFrame, str, str]:
    """Return columns of panels that hold one score and one gap each, with the table that has them.

    Raise ``InputError`` for more than ``MAX_PANELS``.
    """
    tasks = as_text(table, "task")
    gaps = zip(tasks if len({*tasks}) > 1 else [""] * len(table), gap_titles(table), strict=True)
    titles = (score_titles(table), [", ".join(filter(None, gap)) for gap in gaps])
    sides, panels = [row, column], [name for name in (row, column) if name]
    for place, names in enumerate((SCORE, ("task", *GAP))):
        keys = pd.Series(text_rows(table, names), index=table.index)
        by_panel = keys.groupby([table[name] for name in panels]) if panels else keys
        if np.max(by_panel.nunique()) > 1:
            labels = zip(as_text(table, sides[place]), titles[place], strict=True)
            sides[place] = f"panel_{PLACES[place]}"
            table = table.assign(
                **{sides[place]: [", ".join(filter(None, pair)) for pair in labels]}
            )
    n_rows, n_columns = (table[name].nunique() if name else 1 for name in sides)
    if n_rows * n_columns > MAX_PANELS:
        raise InputError(
            f"{n_rows} scores and {n_columns} gaps make more than {MAX_PANELS} panels; choose rows"
            " first, as in rows[rows['metric'] == 'weat'], or run biasbridge scatter FOLDER"
        )
    row, column = sides[::-1] if n_rows < n_columns > MAX_COLUMNS else sides
    return table, row, column
