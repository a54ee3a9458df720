"""From the tables of a results folder to the page and what lies beside it."""

from __future__ import annotations

import html
import json
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd
import vl_convert

from analysis.correlate import ALL, correlate_slices
from analysis.figures import STAMP, draw_figures
from analysis.join import join_points
from analysis.read import Tables, read_tables
from analysis.report import specs
from analysis.report.data import SHOWN, UNMODIFIED, page_data
from analysis.report.tex import correlations_tex
from files import InputError, atomic_path

HERE = Path(__file__).parent
MOST_BYTES = 5_000_000
TOLD_TO_THE_POINTER = ("by_group", "group", "n_found", "n_lost", "support", "reason")
LIBRARIES = (
    "numpy",
    "scipy",
    "pandas",
    "statsmodels",
    "scikit-learn",
    "gensim",
    "torch",
    "altair",
    "vl-convert-python",
)


def build_report(
    results: str | Path,
    out: Path | None = None,
    *,
    correlations: pd.DataFrame | None = None,
    figures: bool = True,
) -> list[Path]:
    """Write the page, ``correlations.tex`` and, where they are missing, the figures as SVG, PNG,
    PDF and CSV; the paths.

    Every number is one of the tables of the folder, ``correlations`` those of ``correlate_slices``
    where they are at hand. Raises ``InputError`` for a folder without tables, without a done point
    or without a gap, and for a page larger than 5 MB.
    """
    folder = Path(results)
    tables = read_tables(folder)
    if correlations is None:
        correlations = _correlations(tables, folder)
    data = page_data(tables, correlations)
    page = render(data, tables, title=_title(tables, folder), cost=_cost(folder))
    if len(page.encode()) > MOST_BYTES:  # then without what only the pointer is told
        data["rows"] = {
            name: column for name, column in data["rows"].items() if name not in TOLD_TO_THE_POINTER
        }
        page = render(data, tables, title=_title(tables, folder), cost=_cost(folder))
    if len(page.encode()) > MOST_BYTES:
        raise InputError(
            f"the page would have {len(page.encode()) / 1e6:.1f} MB, more than 5: give the results"
            " of fewer points"
        )
    target = out or folder / "report.html"
    with atomic_path(target) as work:
        work.write_text(page, encoding="utf-8")
    with atomic_path(target.with_name("correlations.tex")) as work:
        work.write_text(
            correlations_tex(correlations, generated=data["generated"]), encoding="utf-8"
        )
    return [
        target,
        target.with_name("correlations.tex"),
        *(_figures(tables, folder) if figures else []),
    ]


def _figures(tables: Tables, folder: Path) -> list[Path]:
    """The figures of the folder, drawn where one is missing: those of other points are moved away
    when tables are written.
    """
    found = sorted((folder / "figures").glob("figure*"))
    formats = {(path.stem, path.suffix) for path in found}
    if found and all(
        (stem, suffix) in formats
        for stem, _ in formats
        for suffix in (".svg", ".png", ".pdf", ".csv")
    ):
        return found
    return draw_figures(tables, folder / "figures")


def render(data: Mapping[str, Any], tables: Tables, *, title: str, cost: str) -> str:
    """The page as one text."""
    points = data["points"]
    methods = list(dict.fromkeys(point["method"] for point in points))
    embeddings = list(dict.fromkeys(point["embedding"] for point in points))
    figures = {
        "scatter": specs.scatter(methods, embeddings),
        "by_query": specs.small_multiples(methods, embeddings, "query", "gap"),
        "by_method": specs.small_multiples(methods, embeddings, "gap", "method_name"),
        "by_embedding": specs.small_multiples(methods, embeddings, "gap", "embedding"),
        "forest": specs.forest(),
        "curves": specs.curves(),
    }
    bundle = vl_convert.javascript_bundle("window.vegaEmbed=vegaEmbed;")
    return Template((HERE / "page.html").read_text(encoding="utf-8")).substitute(
        title=html.escape(title),
        style=(HERE / "style.css").read_text(encoding="utf-8"),
        banner=(
            f'<p class="banner" role="note">{html.escape(STAMP)}</p>' if data["generated"] else ""
        ),
        headline=html.escape(headline(data["correlations"])),
        rules=html.escape(data["rules"]),
        method=_method(tables, methods, cost),
        # In a script element only these characters could end it.
        data=json.dumps({**data, "specs": figures}, allow_nan=False, separators=(",", ":")).replace(
            "<", "\\u003c"
        ),
        bundle=bundle.replace("</script", "<\\/script"),
        app=(HERE / "app.js").read_text(encoding="utf-8"),
    )


def headline(correlations: list[dict[str, Any]]) -> str:
    """How many of the slices support that the score predicts the gap, contradict it, or cannot
    tell.
    """
    slices = [
        row
        for row in correlations
        if row["method"] == ALL
        and row["embedding"] == ALL
        and row["query"] != ALL
        and row["gap"] != "f1_gap"
    ]
    counts = {
        word: sum(row["verdict"].startswith(word) for row in slices)
        for word in ("supports", "contradicts", "cannot tell")
    }
    units = max((int(row["n_units"]) for row in slices), default=0)
    told = (
        f"{counts['supports']} support it, {counts['contradicts']} contradict it, and"
        f" {counts['cannot tell']} cannot tell"
    )
    return (
        f"Of {len(slices)} slices (a query and a gap, over all embeddings and methods, at most"
        f" {units} embedding runs each), {told}."
    )


def _correlations(tables: Tables, folder: Path) -> pd.DataFrame:
    """The correlations that lie in the folder, if they are of these tables as far as their slices
    and n tell; else computed.
    """
    joined = join_points(*tables)
    path = folder / "correlations.csv"
    if path.is_file():
        found = pd.read_csv(path)
        if set(SHOWN) <= set(found.columns):
            whole = found[(found[["embedding", "query", "method"]] == ALL).all(axis=1)]
            counted = joined.groupby(["task", "metric", "gap"]).size()
            told = whole.set_index(["task", "metric", "gap"])[["n", "n_missing"]].sum(axis=1)
            if told.sort_index().equals(counted.sort_index()):
                return found.fillna(dict.fromkeys(("verdict", "reversal", "reason"), ""))
    return correlate_slices(joined)


def _title(tables: Tables, folder: Path) -> str:
    names = (
        [str(name) for name in tables.points["experiment"].unique()]
        if "experiment" in tables.points
        else [folder.name]
    )
    return f"{', '.join(names)}: intrinsic and application bias"


def _cost(folder: Path) -> str:
    """The computing time that the points' records in the folder add up to."""
    records = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((folder / "points").glob("*.json"))
    ]
    took = [float(record.get("seconds", 0)) for record in records if isinstance(record, dict)]
    return (
        f"{sum(took) / 60:.1f} minutes of computing in the last attempts at {len(took)} points"
        if took
        else "not recorded"
    )


def _method(tables: Tables, methods: list[str], cost: str) -> str:
    """What was run on what, with which versions, and what it does not say."""
    points = tables.points
    done = points[points["status"] == "done"]
    facts = {
        "points": (
            f"{len(done)} of {len(points)} done"
            + (f", {len(points) - len(done)} failed" if len(done) < len(points) else "")
        ),
        "embedding runs": (
            f"{done['vectors_key'].nunique() if 'vectors_key' in done else len(done)} different"
            " embeddings"
        ),
        "embeddings": _told(points, "embedding"),
        "methods": ", ".join(method for method in methods if method != UNMODIFIED) or "none",
        "corpora": _told(points, "corpus"),
        "labelled posts": _told(points, "source"),
        "groups": _told(tables.extrinsic, "group_by"),
        "classifiers": _told(points, "classifier"),
        "word sets": _told(points, "wordset"),
        "conventions": _told(tables.intrinsic, "convention"),
        "seeds": _told(points, "seed"),
        "cost": cost,
        "versions": ", ".join(
            [
                f"Python {platform.python_version()}",
                *(f"{name} {metadata.version(name)}" for name in LIBRARIES),
            ]
        ),
    }
    listed = "".join(
        f"<tr><th scope='row' class='text'>{html.escape(name)}</th><td class='text"
        f" long'>{html.escape(told)}</td></tr>"
        for name, told in facts.items()
    )
    return f'<div class="wide"><table>{listed}</table></div>' + (HERE / "method.html").read_text(
        encoding="utf-8"
    )


def _told(table: pd.DataFrame, column: str) -> str:
    values = (
        [str(value) for value in table[column].dropna().unique() if str(value)]
        if column in table
        else []
    )
    return (
        ", ".join(values[:12]) + (f" and {len(values) - 12} more" if len(values) > 12 else "")
        or "none"
    )
