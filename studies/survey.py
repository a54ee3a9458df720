"""Pre-trained embeddings side by side: one table of scores, and each score against the length of
the vectors.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from analysis.frame import labels, numbers, texts, values_of
from analysis.naming import row_names
from files import choice
from files.choice import Fileless

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.results import Tables

# The survey prints the absolute WEAT statistic, a sum over the target words, and not the effect
# size.
BY_STATISTIC = "weat"
NOTE = (
    "Lines join files of one family. Unbiased: WEAT and Direct Bias 0; SemBias definition 1,"
    " stereotype and none 0; ECT 1."
)
TITLES = {
    "weat": "WEAT, absolute statistic",
    "sembias": "SemBias, share of rows",
    "direct_bias": "Direct Bias",
    "ect": "ECT, Spearman's rho",
}
NUMBERS = (
    *("embedding", "family", "dim", "metric", "convention", "query", "part"),
    *("score", "y", "n_found", "n_lost"),
)


@choice
class Survey(Fileless):
    """The scores of pre-trained embeddings, after a survey of them; for points without a task.

    Prints one table, writes it as ``survey.csv``, and draws ``figures/figure2_*`` for each metric:
    scores against vector length, a column for each family of files.
    """

    name: ClassVar[str] = "survey"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = ("survey.csv", "figures")

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw; the paths written."""
        from analysis.results import write_conclusions
        from analysis.show import print_described

        if tables.intrinsic.empty:
            return []
        scores = survey_scores(tables)
        table = survey_table(scores)
        print_described(
            "Pre-trained embeddings: WEAT as |S|, other scores as they are", table, console
        )
        written = write_conclusions(folder, {"survey": table})
        return [*written, *draw_survey(scores, folder / "figures")]


def survey_scores(tables: Tables) -> pd.DataFrame:
    """Every score with its file, the file's family, what the score is called in the table, and the
    number ``y`` that is shown: for WEAT its absolute statistic |S|, as the survey prints it, else
    its value.
    """
    points = tables.points[["point", "embedding"]]
    rows = tables.intrinsic.merge(points, on="point", validate="many_to_one")
    by_statistic = np.array(texts(rows, "metric")) == BY_STATISTIC
    statistic, value = np.abs(numbers(rows, "statistic")), numbers(rows, "value")
    families = map(_family, texts(rows, "embedding"), labels(rows, "dim"))
    return rows.assign(
        y=np.where(by_statistic, statistic, value), score=_names(rows), family=list(families)
    )


def survey_table(scores: pd.DataFrame) -> pd.DataFrame:
    """One row for each file, in the order of the points; columns: vectors, dim, and one for each
    score.
    """
    wide: dict[str, dict[str, object]] = {}
    columns = (values_of(scores, name) for name in ("embedding", "dim", "score", "y"))
    for point, file, dim, score, y in zip(texts(scores, "point"), *columns, strict=True):
        wide.setdefault(point, {"vectors": file, "dim": dim})[str(score)] = y
    return pd.DataFrame(wide.values())


def draw_survey(scores: pd.DataFrame, out: Path) -> list[Path]:
    """``figure2_*`` for each metric in every format, with a CSV of its numbers; the paths."""
    from analysis.grid import ChartText, scatter_grid
    from analysis.results import write_conclusions
    from files.charts import save_charts

    written = []
    for name, part in scores.dropna(subset="y").groupby("metric", sort=False):
        metric = str(name)
        title = TITLES.get(metric, metric)
        data = part.assign(
            x=numbers(part, "dim"),
            row="",
            column=part["family"],
            colour=row_names(part, ("convention", "query", "part")),
            shape="",
        )
        text = ChartText(
            title=f"{title} against vector length",
            x="vector length",
            y=title,
            colour="query",
            notes=[NOTE],
        )
        stem = out / f"figure2_{metric}"
        chart = scatter_grid(data, text, mark="line")
        shown = part[[name for name in NUMBERS if name in part]]
        written += save_charts(chart, stem, (".svg", ".png", ".pdf"))
        written += write_conclusions(out, {stem.name: shown})
    return written


def _names(rows: pd.DataFrame) -> list[str]:
    """What each score is called: the query alone where it names the metric, the metric alone where
    it has one query; with convention and part where they vary.
    """
    asked: dict[str, set[str]] = {}
    pairs = list(zip(texts(rows, "metric"), texts(rows, "query"), strict=True))
    for metric, query in pairs:
        asked.setdefault(metric, set()).add(query)
    names = [
        query
        if query.startswith(metric)
        else f"{metric} {query}"
        if len(asked[metric]) > 1
        else metric
        for metric, query in pairs
    ]
    return row_names(rows.assign(name=names), ("name", "convention", "part"))


def _family(name: str, dim: str) -> str:
    """The file's name without its vector length and its suffixes: ``glove.twitter.27B.25d.txt`` is
    of ``glove.twitter.27B``.
    """
    stem = re.sub(r"(\.(txt|vec|bin|gz|bz2|xz|glove))+$", "", name)
    return re.sub(rf"[._-]?(?<!\d){dim}d?(?![\dA-Za-z])", "", stem) or stem
