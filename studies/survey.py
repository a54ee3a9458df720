"""Survey of pre-trained embeddings: a table of scores, and scores against vector length."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from biasbridge.analysis.naming import row_names
from biasbridge.files import choice
from biasbridge.files.choice import Fileless
from biasbridge.files.columns import as_float, as_labels, as_text

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.tables import Tables

# The published survey prints the absolute WEAT statistic, a sum over target words, not the effect
# size.
_BY_STATISTIC = "weat"
_NOTE = (
    "Lines join files of one family. Values without a bias: WEAT 0, Direct Bias 0, ECT 1, SemBias"
    " definition 1, stereotype 0 and none 0."
)
_TITLES = {
    "weat": "WEAT, absolute statistic",
    "sembias": "SemBias, share of rows",
    "direct_bias": "Direct Bias",
    "ect": "ECT, Spearman's rho",
}
_NUMBERS = (
    *("embedding", "family", "dim", "metric", "convention", "query", "part"),
    *("score", "y", "n_found", "n_oov"),
)


@choice
class Survey(Fileless):
    """Scores of pre-trained embeddings, as in a published survey; for points without a task. Prints
    one table, writes it as ``survey.csv``, and draws ``figures/figure2_*`` for each metric: scores
    against vector length, one column per family of files.
    """

    name: ClassVar[str] = "survey"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = ("survey.csv", "figures")
    chosen_as: ClassVar[tuple[str, ...]] = ("study/survey",)

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw the survey; return the paths written."""
        from biasbridge.analysis.printing import print_first_rows
        from biasbridge.analysis.result_folder import write_csv_tables
        from biasbridge.files.writers import text_table

        if tables.intrinsic.empty:
            return []
        scores = _survey_scores(tables)
        table = _survey_table(scores)
        heading = "Pre-trained embeddings: WEAT as |S|, other scores unchanged"
        print_first_rows(text_table(heading, table), console)
        written = write_csv_tables(folder, {"survey": table})
        return [*written, *_draw_survey(scores, folder / "figures")]


def _survey_scores(tables: Tables) -> pd.DataFrame:
    """Return scores with ``family`` of files, column ``score``, and ``y`` shown: |S| for WEAT."""
    points = tables.points[["point", "embedding"]]
    rows = tables.intrinsic.merge(points, on="point", validate="many_to_one")
    shows_statistic = np.array(as_text(rows, "metric")) == _BY_STATISTIC
    statistic, value = np.abs(as_float(rows, "statistic")), as_float(rows, "value")
    families = map(_family, as_text(rows, "embedding"), as_labels(rows, "dim"))
    return rows.assign(
        y=np.where(shows_statistic, statistic, value),
        score=_score_names(rows),
        family=list(families),
    )


def _survey_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Return one row per file, in the order of the points: vectors, dim and a column per score.

    Where a file lacks the words of a query, its row names no part. The column of that row is left
    out if another file has the parts.
    """
    rows: dict[str, dict[str, object]] = {}
    columns = (scores[name].tolist() for name in ("embedding", "dim", "score", "y"))
    for point, file, dim, score, y in zip(as_text(scores, "point"), *columns, strict=True):
        rows.setdefault(point, {"vectors": file, "dim": dim})[str(score)] = y
    found = scores["y"].notna()
    by_query = found.groupby([scores["metric"], scores["query"]]).transform("any")
    by_score = found.groupby(scores["score"]).transform("any")
    empty = scores["score"][by_query & ~by_score].unique()
    return pd.DataFrame(rows.values()).drop(columns=empty)


def _draw_survey(scores: pd.DataFrame, out: Path) -> list[Path]:
    """Draw ``figure2_*`` for each metric in every format, with a CSV of its numbers."""
    from biasbridge.analysis.figures import ChartText, scatter_grid
    from biasbridge.analysis.result_folder import write_csv_tables
    from biasbridge.files.charts import save_charts

    written = []
    for name, rows in scores.dropna(subset="y").groupby("metric", sort=False):
        metric = str(name)
        title = _TITLES.get(metric, metric)
        data = rows.assign(
            x=as_float(rows, "dim"),
            row="",
            column=rows["family"],
            colour=row_names(rows, ("convention", "query", "part")),
            shape="",
        )
        text = ChartText(
            title=f"{title} against vector length",
            x="vector length",
            y=title,
            colour="query",
            notes=[_NOTE],
        )
        stem = out / f"figure2_{metric}"
        chart = scatter_grid(data, text, mark="line")
        chart_data = rows[[name for name in _NUMBERS if name in rows]]
        written += save_charts(chart, stem)
        written += write_csv_tables(out, {stem.name: chart_data})
    return written


def _score_names(rows: pd.DataFrame) -> list[str]:
    """Name a score by query or metric, with convention and part where they vary."""
    queries: dict[str, set[str]] = {}
    pairs = list(zip(as_text(rows, "metric"), as_text(rows, "query"), strict=True))
    for metric, query in pairs:
        queries.setdefault(metric, set()).add(query)
    names = [
        query
        if query.startswith(metric)
        else f"{metric} {query}"
        if len(queries[metric]) > 1
        else metric
        for metric, query in pairs
    ]
    return row_names(rows.assign(name=names), ("name", "convention", "part"))


def _family(name: str, dim: str) -> str:
    """Strip vector length and suffixes: ``glove.27B`` from ``glove.27B.25d.txt``."""
    stem = re.sub(r"(\.(txt|vec|bin|gz|bz2|xz|glove))+$", "", name)
    return re.sub(rf"[._-]?(?<!\d){dim}d?(?![\dA-Za-z])", "", stem) or stem
