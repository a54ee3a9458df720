"""Pre-trained embeddings side by side, after a survey of them: one table of scores, and each score
against the length of the vectors.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analysis.grid import Words, save_charts, scatter_grid
from analysis.read import Tables
from files import atomic_path

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


def is_survey(tables: Tables) -> bool:
    """Whether the points are pre-trained embeddings, unmodified and without a task."""
    points = tables.points
    return bool(
        len(tables.intrinsic)
        and (points["corpus"] == "none").all()
        and (points["source"] == "none").all()
    )


def survey_table(tables: Tables) -> pd.DataFrame:
    """One row for each file, in the order of the points; columns: vectors, dim, and a score for
    each metric and query.

    WEAT is its absolute statistic |S|, as the survey prints it; every other score is its value.
    """
    scores = _scores(tables)
    wide = (
        scores.pivot_table(
            index=["embedding", "dim"], columns="score", values="y", sort=False, dropna=False
        )
        .dropna(how="all")
        .reset_index()
    )
    wide = wide.reindex(columns=["embedding", "dim", *dict.fromkeys(scores["score"])])
    return wide.rename(columns={"embedding": "vectors"}).rename_axis(columns=None)


def print_survey(tables: Tables, console: Console) -> None:
    """The table with one line for each score and one column for each file: files are few and their
    names are long.
    """
    table = survey_table(tables)
    names = table["vectors"].tolist()
    console.print(
        "Pre-trained embeddings: WEAT as |S|, other scores as they are",
        style="bold",
        soft_wrap=True,
    )
    shown = Table(box=box.SIMPLE, show_edge=False)
    shown.add_column("score", no_wrap=True)
    for name in names:
        shown.add_column(Text(name), justify="right", overflow="fold")
    for score in table.columns.drop("vectors"):
        shown.add_row(
            score,
            *(
                "-" if value != value else f"{value:g}" if score == "dim" else f"{value:.3f}"
                for value in table[score]
            ),
        )
    console.print(shown)
    if table.isna().any(axis=None):
        console.print("- : no score; the intrinsic table says why", highlight=False)


def write_survey(tables: Tables, folder: Path) -> list[Path]:
    """``survey.csv``, and ``figures/figure2_*`` for each metric: scores against vector length, a
    column for each family of files.
    """
    with atomic_path(folder / "survey.csv") as path:
        survey_table(tables).to_csv(path, index=False)
    written = [folder / "survey.csv"]
    scores = _scores(tables)
    for metric, part in scores.dropna(subset="y").groupby("metric", sort=False):
        title = TITLES.get(str(metric), str(metric))
        data = part.assign(
            x=part["dim"].astype(float),
            row="",
            column=part["family"],
            colour=part["query"],
            shape="",
        )
        words = Words(
            title=f"{title} against vector length",
            x="vector length",
            y=title,
            colour="query",
            notes=[NOTE],
        )
        chart = scatter_grid(
            data[["x", "y", "low", "high", "row", "column", "colour", "shape"]], words, mark="line"
        )
        stem = folder / "figures" / f"figure2_{metric}"
        written += save_charts(chart, stem, (".svg", ".png", ".pdf"))
        with atomic_path(stem.with_suffix(".csv")) as path:
            part.drop(columns=["low", "high"]).to_csv(path, index=False)
    return written


def _scores(tables: Tables) -> pd.DataFrame:
    """The scores with the file, its family, and the number that is drawn."""
    rows = tables.intrinsic.merge(
        tables.points[["point", "embedding"]], on="point", validate="many_to_one"
    )
    once = set((asked := rows.groupby("metric")["query"].nunique())[asked == 1].index)
    by_statistic = rows["metric"] == BY_STATISTIC
    rows = rows.assign(
        y=rows["value"].mask(by_statistic, rows["statistic"].abs()),
        score=[
            _score(*pair, single=pair[0] in once)
            for pair in zip(rows["metric"], rows["query"], strict=True)
        ],
        family=[
            _family(name, dim) for name, dim in zip(rows["embedding"], rows["dim"], strict=True)
        ],
        low=float("nan"),
        high=float("nan"),
    )
    return rows[
        [
            "embedding",
            "family",
            "dim",
            "metric",
            "query",
            "score",
            "y",
            "n_found",
            "n_lost",
            "low",
            "high",
        ]
    ]


def _score(metric: str, query: str, *, single: bool) -> str:
    """What a score is called in the table: the query alone where it names the metric, the metric
    alone where it has one query.
    """
    if query.startswith(metric):
        return query
    return metric if single else f"{metric} {query}"


def _family(name: str, dim: int) -> str:
    """The file's name without its vector length and its suffixes: ``glove.twitter.27B.25d.txt`` is
    of ``glove.twitter.27B``.
    """
    stem = re.sub(r"(\.(txt|vec|bin|gz|bz2|xz|glove))+$", "", name)
    return re.sub(rf"[._-]?(?<!\d){dim}d?(?![\dA-Za-z])", "", stem) or stem
