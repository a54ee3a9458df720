"""The page of gaps at every threshold: where they close, a chart and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import vl_convert

from analysis.report.frame import as_image, write_page
from analysis.threshold_charts import thresholds_chart
from files.charts import make_spec
from files.tables import escape_control

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd


def write_thresholds_page(
    table: pd.DataFrame,
    path: Path,
    title: str,
    sentences: Sequence[str],
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
) -> Path:
    """Write the page of a table of ``biasbridge.thresholds``, with its sentences and the largest
    gaps as text.
    """
    spec = make_spec(thresholds_chart(escape_control(table)))
    return write_page(
        path,
        "thresholds_page.html",
        title=title,
        sentences=sentences,
        chart=as_image(vl_convert.vegalite_to_svg(spec).encode()),
        head=head,
        rows=rows,
    )
