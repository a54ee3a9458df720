"""What the tables and charts of all studies share: their rows, and the files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from files.charts import save_charts

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

FORMATS = (".svg", ".png", ".pdf")


def draw(charts: Mapping[str, alt.TopLevelMixin], folder: Path) -> list[Path]:
    """Write each chart under its name in every format; the paths."""
    return [
        path
        for name, chart in charts.items()
        for path in save_charts(chart, folder / name, FORMATS)
    ]


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows by column."""
    return [dict(zip(map(str, table), row, strict=True)) for row in table.itertuples(index=False)]
