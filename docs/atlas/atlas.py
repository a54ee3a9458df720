"""Write the atlas again: ``BIASBRIDGE_DATA=FOLDER python docs/atlas/atlas.py``.

Every set is analysed like our own studies, its slices all confirmatory. Writes atlas.csv,
atlas.svg, points.svg and the numbers in README.md. A set is a YAML file here and its table: a CSV
beside it where the licence allows, else in ``BIASBRIDGE_DATA``. Its fields:

* ``title``, ``source``, ``licence``, ``claim``, ``note``: measures, publication, licence, the
  authors' conclusion, remarks;
* ``table``, ``address``, ``sha256``: the file, where to get it, the digest of its bytes;
* ``x``, ``y``: columns, with what they measure and its unit; each x is correlated with each y;
* ``observation``, ``parent``, ``condition``: the columns that name a model, its parent and its
  condition;
* ``by``, ``keep``: lists of columns to slice by, labels of the rows to use;
* ``corrections``: wrong rows: ``where`` (columns and patterns of cells), ``becomes``, ``why``.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from math import isclose, isfinite, nan
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import yaml

from biasbridge.analysis.charts import CONFIG, PALETTE, Drawing, finish, intervals, rule_at
from biasbridge.analysis.correlate import Levels, correlate
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.naming import ALL
from biasbridge.analysis.observations import both_finite
from biasbridge.analysis.slice_documents import format_change
from biasbridge.analysis.slices import SliceResult, correlation_table
from biasbridge.analysis.tables import read_tables
from biasbridge.analysis.verdicts import CANNOT_TELL, VERDICTS, judge
from biasbridge.files.charts import save_chart
from biasbridge.files.columns import as_float, as_labels
from biasbridge.files.data.registry import data_folder
from biasbridge.files.tables import read_table, write_csv
from biasbridge.stats.formatting import format_estimate, format_number, format_p

HERE = Path(__file__).parent
NUMBERS = (
    *("n", "n_parents", "n_conditions", "n_lost", "r_rm", "low", "high", "p", "p_holm"),
    *("r_pearson", "change", "change_low", "change_high", "verdict", "why"),
)
SMALL_R = 0.3  # an r_rm below which a published relation says little
SQUARE = "M-1,-1H1V1H-1Z"  # the shortest path, for there are thousands
BESIDE = {  # sets of the main paper, with a run of ours: task, run, rows of its network or resolver
    "goldfarb_tarrant_2021_coreference": (
        "coreference",
        "paper001_coreference_linear",
        {"privileged": "pro"},
    ),
    "goldfarb_tarrant_2021_hatespeech_en": (
        "hate speech",
        "paper001_even",
        {"task": "hatespeech_en_cnn_threshold"},
    ),
}


class Slice(NamedTuple):
    """Result of a slice, and Pearson's r over its ``rows``; ``published``: r uncorrected if it
    differs.
    """

    x: str
    y: str
    by: str
    result: SliceResult
    rows: int
    r_rows: float
    published: float = nan


class PointSet(NamedTuple):
    """A set as declared, its slices, and the number of models that each correction changes."""

    name: str
    declared: dict[str, Any]
    slices: list[Slice]
    n_corrected: list[int]


def read_set(path: Path, table_path: Path) -> PointSet:
    """Analyse one set; ``table_path``: its published table."""
    declared = yaml.safe_load(path.read_text(encoding="utf-8"))
    digest = declared.get("sha256")
    if digest and hashlib.sha256(table_path.read_bytes()).hexdigest() != digest:
        raise SystemExit(f"{table_path} is not the table that was published; get it again")
    published = read_table(table_path)
    for name, labels in declared.get("keep", {}).items():
        published = published[np.isin(as_labels(published, name), labels)]
    published = published.reset_index(drop=True)
    table, n_corrected = published.copy(), []
    for correction in declared.get("corrections", ()):
        is_matched = np.ones(len(table), dtype=bool)
        for name, pattern in correction["where"].items():
            is_matched &= [fnmatchcase(cell, pattern) for cell in as_labels(table, name)]
        for name, value in correction["becomes"].items():
            table.loc[is_matched, name] = value
        n_corrected.append(len(table.loc[is_matched, declared["observation"]].drop_duplicates()))
    slices = analyse(declared, table)
    results = judge([part.result for part in slices])
    slices = [part._replace(result=own) for part, own in zip(slices, results, strict=True)]
    if n_corrected:
        r = {part[:3]: part.r_rows for part in analyse(declared, published)}
        slices = [
            part
            if isclose(r.get(part[:3], nan), part.r_rows, abs_tol=1e-12)
            else part._replace(published=r.get(part[:3], nan))
            for part in slices
        ]
    return PointSet(path.stem, declared, slices, n_corrected)


def analyse(declared: dict[str, Any], table: pd.DataFrame) -> list[Slice]:
    """Correlate each x with each y in every slice."""
    levels = Levels(declared["observation"], declared.get("parent", ()))
    return [
        Slice(
            x,
            y,
            ", ".join(f"{name} {cell}" for name, cell in result.names.items()),
            result,
            *pearson(table, x, y, result),
        )
        for columns in declared.get("by", [[]])
        for x in declared["x"]
        for y in declared["y"]
        for result in correlate(table, x=x, y=y, by=columns, levels=levels, confirmatory=[ALL])
    ]


def pearson(table: pd.DataFrame, x: str, y: str, result: SliceResult) -> tuple[int, float]:
    """Count the rows of a slice with both measures, and compute Pearson's r over them."""
    for name, cell in result.names.items():
        table = table[np.array(as_labels(table, name)) == cell]
    first, second = as_float(table, x), as_float(table, y)
    is_complete = both_finite(first, second)
    r = np.corrcoef(first[is_complete], second[is_complete])[0, 1]
    return int(is_complete.sum()), float(r)


def atlas_table(sets: Iterable[PointSet]) -> pd.DataFrame:
    """Return a row per slice: set, x, y, cells, rows and r, and columns of correlations.csv."""
    return pd.DataFrame(
        [
            {"set": each.name, "x": part.x, "y": part.y, "by": part.by, "rows": part.rows}
            | {"r_rows": part.r_rows, "r_published": part.published}
            | correlation_table([part.result], NUMBERS).iloc[0].to_dict()
            for each in sets
            for part in each.slices
        ]
    )


def forest_plot(sets: Iterable[PointSet]) -> Drawing:
    """Draw each slice's r_rm with its interval, a panel per set; lines: 0, smallest of interest."""
    rows = [
        {"set": each.declared["title"], "slice": slice_name(each, part)}
        | {"r": part.result.within.r, "low": part.result.within.low}
        | {"high": part.result.within.high, "verdict": part.result.verdict}
        for each in sets
        for part in each.slices
    ]
    colours = dict(zip(VERDICTS, (*PALETTE[:4], "#666666"), strict=True))
    verdicts = [name for name in VERDICTS if name in {row["verdict"] for row in rows}]
    scale = alt.Scale(domain=verdicts, range=[colours[name] for name in verdicts])
    base = alt.Chart().encode(
        alt.Y("slice:N", title=None, sort=None),
        alt.Color("verdict:N", title="verdict", scale=scale, legend=alt.Legend(orient="top")),
    )
    axis: dict[str, Any] = {"title": "r_rm, 95% interval", "scale": alt.Scale(domain=[-1, 1])}
    layers = [
        rule_at(0),
        *(rule_at(r, strokeDash=[2, 3]) for r in (-SMALL_R, SMALL_R)),
        *intervals(base, "r", size=45, opacity=1, **axis),
    ]
    header = alt.Header(labelAngle=0, labelOrient="top", labelAnchor="start", labelPadding=4)
    panels = alt.Row("set:N", title=None, sort=None, header=header)
    chart = alt.layer(*layers).properties(width=380, height=alt.Step(15))
    facets = chart.facet(row=panels, data=pd.DataFrame(rows), spacing=8)
    n_conclusive = sum(row["verdict"] != CANNOT_TELL for row in rows)
    title = f"{n_conclusive} of {len(rows)} published relations have a conclusive verdict"
    notes = ["r_rm with its 95% interval; dotted: the smallest correlation of interest."]
    figure = finish(facets.resolve_scale(y="independent"), title, notes)
    drawing: Drawing = figure.configure(**CONFIG | {"axisY": {"labelLimit": 0}})
    return drawing


def paired_points() -> pd.DataFrame:
    """Return the main paper's points and ours: ``whose``, ``panel``, ``embedding``, ``WEAT``,
    ``gap`` in points of 100.
    """
    parts = []
    for name, (task, run, of_run) in BESIDE.items():
        declared = yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
        theirs = read_table(data_folder() / declared["table"]).astype({"Test": str})
        theirs = theirs[theirs["Test"].isin(("6", "7", "8"))]
        theirs = theirs.rename(columns={"Performance Gap": "gap", "Metric": "measure"})
        theirs["embedding"] = theirs["Embedding"].str.lower()
        for column in ("WEAT", "gap"):
            theirs[column] = as_float(theirs, column)
        tables = read_tables(HERE.parent / "runs" / run)
        ours = join_points(tables, Declaration.of(HERE.parent / "runs" / run).utility)
        ours = ours[ours["measure"].isin(("precision", "recall"))]
        for column, value in of_run.items():
            ours = ours[ours[column] == value]
        keys = [
            "measure",
            "embedding",
            "corpus",
            "query",
            *("method", "direction", "dose", "wordset"),
        ]
        ours = ours.groupby(keys, dropna=False)[["x", "y"]].mean().reset_index()
        ours = ours.rename(columns={"x": "WEAT"}).assign(gap=100 * ours["y"])
        for whose, points in (("the paper", theirs), ("here", ours)):
            panel = task + ", " + points["measure"].str.lower()
            parts.append(points.assign(whose=whose, panel=panel))
    columns = ["whose", "panel", "embedding", "WEAT", "gap"]
    return pd.concat(parts, ignore_index=True)[columns].round({"WEAT": 4, "gap": 3})


def points_plot(points: pd.DataFrame) -> Drawing:
    """Draw the main paper's points beside ours, on the same axes."""
    embeddings = sorted({*points["embedding"]}, reverse=True)
    colours = alt.Scale(domain=embeddings, range=PALETTE[: len(embeddings)])
    panels = []
    for panel in points["panel"].unique():
        rows = points[points["panel"] == panel]
        scales = {
            axis: alt.Scale(domain=[float(rows[axis].min()), float(rows[axis].max())], nice=True)
            for axis in ("WEAT", "gap")
        }
        marks = alt.Chart().mark_point(filled=True, shape=SQUARE, size=9, opacity=0.6)
        marks = marks.encode(
            alt.X("WEAT:Q", scale=scales["WEAT"], title="WEAT 6 (6b), 7, 8"),
            alt.Y("gap:Q", scale=scales["gap"], title=f"{panel}: gap"),
            alt.Color("embedding:N", scale=colours),
        )
        layers = alt.layer(rule_at(0), marks).properties(width=240, height=130)
        columns = alt.Column("whose:N", sort=["the paper", "here"], title=None)
        panels.append(layers.facet(column=columns, data=rows, spacing=12))
    chart = alt.vconcat(*panels, spacing=12).resolve_scale(color="shared")
    title = "The main paper's points beside ours, on the same axes"
    notes = [
        "A point: an embedding and a WEAT; ours are means over seeds, types and trainings.",
        "Gaps in points of 100. Above 0: with the stereotype; worse for women.",
    ]
    return finish(chart, title, notes)


def answer(sets: Sequence[PointSet]) -> str:
    """Summarise all slices."""
    results = [part.result for each in sets for part in each.slices]
    counts = Counter(result.verdict for result in results)
    said = [name for name in (CANNOT_TELL, *VERDICTS[:-1]) if counts[name]]
    wide = sum(result.within.low <= -SMALL_R < SMALL_R <= result.within.high for result in results)
    n_models = [result.n for result in results]
    return (
        f"**Of {len(results)} slices of {len(sets)} sets"
        f" {', '.join(f'{counts[name]} {name}' for name in said)}.** A slice has {min(n_models)} to"
        f" {max(n_models)} embeddings or models. In {wide} slices the interval of r_rm includes"
        f" both {format_number(-SMALL_R, 1)} and {format_number(SMALL_R, 1)}. Such a study can"
        " neither show nor exclude a relation."
    )


def overview_row(each: PointSet) -> list[str]:
    """Return a set's models, parents, verdicts and range of r_rm."""
    results = [part.result for part in each.slices]
    counts, r = Counter(result.verdict for result in results), [part.within.r for part in results]
    is_named = "parent" in each.declared
    n_parents = max(result.n_parents for result in results) if is_named else "not given"
    return [
        each.declared["title"],
        f"{max(result.n for result in results)}, {n_parents}",
        str(len(results)),
        *(str(counts[verdict]) for verdict in VERDICTS),
        f"{format_number(min(r))} to {format_number(max(r))}",
    ]


def section(each: PointSet) -> str:
    """Write what the authors conclude, the verdicts of a set, and a table of r_rm unless the set is
    too small for any verdict.
    """
    declared = each.declared
    source = f"{declared['source']}; `{each.name}.yaml`."
    parts = [f"## {declared['title']}", source, f"The authors: {declared['claim']}"]
    parts += [declared["note"]] if "note" in declared else []
    corrections = declared.get("corrections", ())
    for correction, n_models in zip(corrections, each.n_corrected, strict=True):
        cells = " and ".join(f"{name} {cell}" for name, cell in correction["becomes"].items())
        parts.append(f"Corrected, {n_models} models: {cells}. {correction['why']}")
    is_too_small = all(part.result.why.startswith("too few models") for part in each.slices)
    tables = [] if is_too_small else [r_table(each)]
    return "\n\n".join([*parts, *tables, verdict_list(each), ""])


def r_table(each: PointSet) -> str:
    """Tabulate r_rm by score and slice (rows) and gap (columns), or by gap for a single row."""
    gap_names = each.declared["y"]
    rows: dict[str, dict[str, str]] = {}
    for part in each.slices:
        bold = "" if part.result.verdict == CANNOT_TELL else "**"
        cell = f"{bold}{format_estimate(*part.result.within.interval)}{bold}"
        rows.setdefault(slice_name(each, part, gap=False), {})[part.y] = cell
    if len(rows) == 1:
        [(name, cells)] = rows.items()
        lines = [[gap_names[y], cell] for y, cell in cells.items()]
        return markdown_table([f"{name} against", "r_rm [95%]"], lines)
    body = ([name, *(cells.get(y, "") for y in gap_names)] for name, cells in rows.items())
    return markdown_table(["r_rm [95%]", *gap_names.values()], body)


def verdict_list(each: PointSet) -> str:
    """List conclusive slices, the most common reason of the others, and the lowest p."""
    lines, reasons = [], Counter[str]()
    for part in each.slices:
        result = part.result
        if result.verdict == CANNOT_TELL:
            reasons[result.why or "the interval holds 0"] += 1
            continue
        change = f"the second by {format_change(result)} over the range of the first"
        lines.append(f"{slice_name(each, part)}: {result.verdict}, {change}")
    for reason, _ in reasons.most_common(1):
        most = ", most of them" if len(reasons) > 1 else ""
        lines.append(f"{reasons.total()} {CANNOT_TELL}{most}: {reason}")
    p = min(part.result.p_holm for part in each.slices if isfinite(part.result.p_holm))
    return "\n".join(f"* {line}" for line in [*lines, f"lowest adjusted p: {format_p(p)}"])


def slice_name(each: PointSet, part: Slice, *, gap: bool = True) -> str:
    """Name a slice by score, gap and cells, as far as its set has several."""
    x, y = each.declared["x"], each.declared["y"]
    names = [x[part.x]] if len(x) > 1 or not part.by else []
    return "; ".join(
        [*names, *([y[part.y]] if gap and len(y) > 1 else []), *filter(None, [part.by])]
    )


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [columns, ["---"] * len(columns), *rows])


def put(page: str, start: str, end: str, text: str) -> str:
    """Replace what begins with ``start``, up to ``end``."""
    begin = page.index(start)
    return page[:begin] + text + page[page.index(end, begin) :]


def main(out: Path = HERE) -> None:
    """Write the table, the figure and the numbers of the page."""
    sets = []
    for path in sorted(HERE.glob("*.yaml")):
        name = yaml.safe_load(path.read_text(encoding="utf-8"))["table"]
        beside = HERE / name
        sets.append(read_set(path, beside if beside.is_file() else data_folder() / name))
    write_csv(atlas_table(sets), out / "atlas.csv")
    save_chart(forest_plot(sets), out / "atlas.svg")
    save_chart(points_plot(paired_points()), out / "points.svg")
    columns = ["set", "models, parents", "slices", *VERDICTS, "r_rm"]
    page = (HERE / "README.md").read_text(encoding="utf-8")
    page = put(page, "**Of ", "\n", answer(sets))
    page = put(page, "| set |", "\n\n", markdown_table(columns, map(overview_row, sets)))
    page = page[: page.index("## ")] + "".join(map(section, sets)).rstrip() + "\n"
    (out / "README.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
