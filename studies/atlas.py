"""Atlas of published point sets, read again by one protocol: ``biasbridge atlas docs/atlas``."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields
from fnmatch import fnmatchcase
from math import isclose, isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import altair as alt
import numpy as np
import pandas as pd

from biasbridge.analysis.answer import format_change
from biasbridge.analysis.charts import CONFIG, PALETTE, Drawing, finish, intervals, rule_at
from biasbridge.analysis.correlate import Levels, correlate
from biasbridge.analysis.naming import ALL
from biasbridge.analysis.observations import both_finite
from biasbridge.analysis.printing import p_value
from biasbridge.analysis.slices import correlation_table
from biasbridge.analysis.tables import as_float, as_labels
from biasbridge.analysis.verdict import AT_MOST, CANNOT_TELL, FALLS, RISES, VERDICTS, judge
from biasbridge.files import InputError, choice, nearest
from biasbridge.files.data.registry import data_folder
from biasbridge.files.tables import read_table, require_columns
from biasbridge.files.text import read_nested
from biasbridge.stats.formatting import format_estimate, format_number

if TYPE_CHECKING:
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.stats.arrays import Truths

_Declared = TypeVar("_Declared", bound="PointSet | Correction")
_HEAD = """\
# Atlas of published point sets

{answer}

Each set is a published table over several embeddings or language models. It has two measures of
bias, or one measure and a variable that it should depend on. All are analysed like our own studies
([inference](../inference.md)).

![r_rm of every slice](atlas.svg)

{overview}

Cells below are r_rm with its interval. Bold cells have a verdict other than *cannot tell*. Numbers
are in [atlas.csv](atlas.csv), sources in `*.yaml`.

```bash
# writes this page, atlas.csv and atlas.svg there; without FOLDER of the sets whose tables lie here
BIASBRIDGE_DATA=FOLDER biasbridge atlas docs/atlas
```
"""
_FOOT = """
## Adding a set

A set is a YAML file in this folder and its table: a CSV beside it where the licence allows, else a
file in the folder `BIASBRIDGE_DATA`.

* `title`, `source`, `licence`, `claim`, `note`: measures, publication, licence, the authors'
  conclusion, remarks;
* `table`, `address`, `sha256`: the file, where to get it, the digest of its bytes;
* `x`, `y`: columns, with what they measure and its unit; each x is correlated with each y;
* `observation`, `parent`, `condition`: the columns that name a model, its parent and its condition;
* `by`, `keep`: lists of columns to slice by, labels of the rows to use;
* `corrections`: wrong rows: `where` (columns and patterns of their cells), `becomes`, `why`.
"""
_OVERVIEW = ("set", "models, parents", "slices", *VERDICTS, "r_rm")
_NUMBERS = (
    *("n", "n_parents", "n_conditions", "n_lost", "r_rm", "low", "high", "p", "p_holm"),
    *("r_pearson", "change", "change_low", "change_high", "verdict", "why"),
)
_SMALL_R = 0.3  # an r_rm below which a published relation says little
_WORDS = {  # of one slice, of several
    CANNOT_TELL: ("cannot tell", "cannot tell"),
    RISES: ("rises", "rise"),
    FALLS: ("falls", "fall"),
    AT_MOST: ("changes little", "change little"),
}


@choice
class Correction:
    """Correction of a published table: cells of its rows (``*``: any text), and the evidence."""

    where: dict[str, str]
    becomes: dict[str, str]
    why: str

    def __post_init__(self) -> None:
        if not (self.where and self.becomes and self.why.strip()):
            raise InputError("a correction names rows (where), cells (becomes) and a reason (why)")


@choice
class PointSet:
    """A published table of two or more measures on several embeddings or language models.

    ``table`` lies beside the YAML or in the folder ``BIASBRIDGE_DATA``; ``sha256`` is its digest.
    ``x`` and ``y`` map columns to what they measure and its unit; each x is correlated with each y.
    ``observation``, ``parent`` and ``condition`` are columns that name a model, its parent and its
    condition; ``by`` lists columns to slice by; ``keep`` has the labels of the rows to use by
    column. ``claim``: the authors' conclusion, in our words.
    """

    title: str
    source: str
    licence: str
    table: str
    x: dict[str, str]
    y: dict[str, str]
    observation: tuple[str, ...]
    claim: str
    address: str = ""
    sha256: str = ""
    parent: tuple[str, ...] = ()
    condition: tuple[str, ...] = ()
    by: tuple[tuple[str, ...], ...] = ((),)
    keep: dict[str, list[str]] = field(default_factory=dict)
    corrections: tuple[Correction, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("title", "source", "licence", "table", "x", "y", "observation", "claim", "by"):
            if not getattr(self, name):
                raise InputError(f"{name} is empty; fill it in")

    def path(self, beside: Path) -> Path | None:
        """Return where the table lies; None if it is not available."""
        candidates = beside / self.table, data_folder() / self.table
        return next((path for path in candidates if path.is_file()), None)

    def read(self, path: Path) -> pd.DataFrame:
        """Return the rows to use; raise ``InputError`` for other bytes, no column or no row."""
        if self.sha256 and (digest := hashlib.sha256(path.read_bytes()).hexdigest()) != self.sha256:
            raise InputError(
                f"{path} is not the table that was published: its SHA-256 is {digest}, not"
                f" {self.sha256}; get it from {self.address or self.source}"
            )
        table = read_table(path)
        corrected_columns = [
            name
            for correction in self.corrections
            for name in (*correction.where, *correction.becomes)
        ]
        columns = (
            *self.x,
            *self.y,
            *self.observation,
            *self.parent,
            *self.condition,
            *self.keep,
            *corrected_columns,
            *(name for names in self.by for name in names),
        )
        require_columns(table, columns, str(path))
        is_used: Truths = np.ones(len(table), dtype=bool)
        for name, used_labels in self.keep.items():
            is_used &= np.isin(as_labels(table, name), used_labels)
        if not is_used.any():
            raise InputError(f"no row of {path} has the labels given in 'keep'; change 'keep'")
        return table[is_used].reset_index(drop=True)

    def apply_corrections(self, table: pd.DataFrame) -> tuple[pd.DataFrame, list[int]]:
        """Return the corrected table and the models changed per correction (0 is an error)."""
        corrected_table, n_changed = table.copy(), []
        for correction in self.corrections:
            is_matched: Truths = np.ones(len(table), dtype=bool)
            for name, pattern in correction.where.items():
                cells = as_labels(table, name, empty="")
                is_matched &= [fnmatchcase(cell, pattern) for cell in cells]
            is_changed: Truths = np.zeros(len(table), dtype=bool)
            for name, value in correction.becomes.items():
                is_changed |= np.array(as_labels(table, name, empty="")) != value
                corrected_table.loc[is_matched, name] = value
            columns = [as_labels(table[is_matched & is_changed], name) for name in self.observation]
            n_changed.append(len(set(zip(*columns, strict=True))))
            if not n_changed[-1]:
                raise InputError(f"the correction of {correction.where} changes nothing; remove it")
        return corrected_table, n_changed


class Slice(NamedTuple):
    """Result of a slice, the cells ``by``: r_rm, its interval and the verdict, and Pearson's r over
    the ``rows`` with both x and y; ``published``: r uncorrected if it differs, or NaN.
    """

    x: str
    y: str
    by: str
    finding: SliceResult
    rows: int = 0
    r_rows: float = nan
    published: float = nan


class PointSetResult(NamedTuple):
    """Slices of a point set (none without its table), and models changed by each correction."""

    name: str
    of: PointSet
    slices: Sequence[Slice] = ()
    n_corrected: Sequence[int] = ()

    @property
    def read(self) -> bool:
        """True if the table was available."""
        return bool(self.slices)


def read_atlas(folder: Path) -> list[PointSetResult]:
    """Read a folder's point sets by name; raise ``InputError`` if none is there or one is wrong."""
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise InputError(f"{folder} holds no point set; describe one in a YAML file there")
    return [_analyse_point_set(path) for path in paths]


def _analyse_point_set(path: Path) -> PointSetResult:
    """Read a point set and analyse its slices, all of which are confirmatory."""
    point_set = _read_point_set(path)
    table = point_set.path(path.parent)
    if table is None:
        return PointSetResult(path.stem, point_set)
    try:
        published = point_set.read(table)
        rows, n_corrected = point_set.apply_corrections(published)
        slices = _slices(point_set, rows)
        findings = judge([result.finding for result in slices])
        slices = [result._replace(finding=f) for result, f in zip(slices, findings, strict=True)]
        if n_corrected:
            r_of = {result[:3]: result.r_rows for result in _slices(point_set, published)}
            slices = [
                result
                if isclose(r := r_of.get(result[:3], nan), result.r_rows, abs_tol=1e-12)
                else result._replace(published=r)
                for result in slices
            ]
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return PointSetResult(path.stem, point_set, slices, n_corrected)


def _read_point_set(path: Path) -> PointSet:
    """Read a YAML file; raise ``InputError``, naming it, for a missing, unknown or wrong field."""
    content = read_nested(path)
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a mapping; docs/atlas/README.md lists its fields")
    try:
        corrections = [
            _build(Correction, correction) for correction in content.get("corrections") or []
        ]
        return _build(PointSet, content | {"corrections": corrections})
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _build(cls: type[_Declared], values: object) -> _Declared:
    if not isinstance(values, Mapping):
        raise InputError(f"{values!r} is not a mapping; name fields and their values")
    names = [declared.name for declared in fields(cls)]
    for name in values:
        if name not in names:
            raise InputError(f"unknown field {name!r}{nearest(name, names)}")
    try:
        return cls(**values)
    except TypeError as error:  # a missing field
        raise InputError(f"{error}; give {', '.join(names)}".replace("__init__() ", "")) from None


def _slices(point_set: PointSet, table: pd.DataFrame) -> list[Slice]:
    levels = Levels(point_set.observation, point_set.parent, point_set.condition)
    return [
        Slice(
            x,
            y,
            ", ".join(f"{name} {cell}" for name, cell in finding.names.items()),
            finding,
            *_r_over_rows(table, x, y, finding),
        )
        for columns in point_set.by
        for x in point_set.x
        for y in point_set.y
        for finding in correlate(table, x=x, y=y, by=columns, levels=levels, confirmatory=[ALL])
    ]


def _r_over_rows(table: pd.DataFrame, x: str, y: str, finding: SliceResult) -> tuple[int, float]:
    """Count the rows of a slice that have both measures, and compute Pearson's r over them."""
    in_slice = np.ones(len(table), dtype=bool)
    for name, cell in finding.names.items():
        in_slice &= np.array(as_labels(table, name)) == cell
    first, second = as_float(table[in_slice], x), as_float(table[in_slice], y)
    is_complete = both_finite(first, second)
    n = int(is_complete.sum())
    first, second = first[is_complete], second[is_complete]
    if n < 3 or not (np.ptp(first) and np.ptp(second)):
        return n, nan
    return n, float(np.corrcoef(first, second)[0, 1])


def atlas_page(readings: Sequence[PointSetResult]) -> str:
    """Write the atlas in Markdown."""
    available = [reading for reading in readings if reading.read]
    absent = [reading for reading in readings if not reading.read]
    rows = [_overview_row(reading) for reading in available]
    text = _HEAD.format(answer=_atlas_answer(readings), overview=_markdown_table(_OVERVIEW, rows))
    if absent:
        text += "\nNot analysed here, because their tables are not available:\n\n"
        text += "".join(f"* {reading.of.title}: {reading.of.address}\n" for reading in absent)
    text += "".join(_section(reading) for reading in available)
    return text + _FOOT


def _atlas_answer(readings: Sequence[PointSetResult]) -> str:
    """Summarise all slices in four sentences."""
    available = [reading for reading in readings if reading.read]
    slices = [result for reading in available for result in reading.slices]
    counts = Counter(result.finding.verdict for result in slices)
    n_uninformative = sum(
        _interval_includes(result, -_SMALL_R) and _interval_includes(result, _SMALL_R)
        for result in slices
    )
    n_models = [result.finding.n for result in slices]
    verdicts = ", ".join(
        f"{counts[name]} {one if counts[name] == 1 else several}"
        for name, (one, several) in _WORDS.items()
        if counts[name]
    )
    return (
        f"**Of {len(slices)} slices of {len(available)} sets {verdicts}.** A slice has"
        f" {min(n_models)} to {max(n_models)} embeddings or models. In {n_uninformative} slices the"
        f" interval of r_rm includes both {format_number(-_SMALL_R, 1)} and"
        f" {format_number(_SMALL_R, 1)}. Such a study can neither show nor exclude a relation."
    )


def atlas_table(readings: Iterable[PointSetResult]) -> pd.DataFrame:
    """Return a row per slice: set, x, y, cells, rows and r, and columns of ``correlations.csv``."""
    rows = []
    for reading in readings:
        for result in reading.slices:
            names = {"set": reading.name, "x": result.x, "y": result.y, "by": result.by}
            over_rows = {"rows": result.rows, "r_rows": result.r_rows}
            over_rows |= {"r_published": result.published}
            statistics = correlation_table([result.finding], _NUMBERS).iloc[0].to_dict()
            rows.append(names | over_rows | statistics)
    return pd.DataFrame(rows)


def forest_plot(readings: Iterable[PointSetResult]) -> Drawing:
    """Draw each slice's r_rm with its interval, a panel per set; lines: 0, smallest of interest."""
    rows = [
        {
            "set": reading.of.title,
            "slice": _slice_name(reading, result),
            "r": result.finding.within.r,
            "low": result.finding.within.low,
            "high": result.finding.within.high,
            "verdict": result.finding.verdict,
        }
        for reading in readings
        for result in reading.slices
        if isfinite(result.finding.within.r)
    ]
    colours = dict(zip(VERDICTS, (*PALETTE[:3], "#666666"), strict=True))
    verdicts = [name for name in VERDICTS if name in {row["verdict"] for row in rows}]
    scale = alt.Scale(domain=verdicts, range=[colours[name] for name in verdicts])
    base = alt.Chart().encode(
        alt.Y("slice:N", title=None, sort=None),
        alt.Color("verdict:N", title="verdict", scale=scale, legend=alt.Legend(orient="top")),
    )
    axis: dict[str, Any] = {"title": "r_rm, 95% interval", "scale": alt.Scale(domain=[-1, 1])}
    layers = [
        rule_at(0),
        *(rule_at(r, strokeDash=[2, 3]) for r in (-_SMALL_R, _SMALL_R)),
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


def _section(reading: PointSetResult) -> str:
    point_set = reading.of
    lines = [
        f"\n## {point_set.title}\n",
        f"{point_set.source}; `{reading.name}.yaml`, licence: {point_set.licence}.",
        f"\nThe authors: {point_set.claim}",
        *([f"\n{point_set.note}"] if point_set.note else []),
    ]
    for correction, n_models in zip(point_set.corrections, reading.n_corrected, strict=True):
        cells = " and ".join(f"{name} {cell}" for name, cell in correction.becomes.items())
        lines.append(f"\nCorrected, {n_models} models: {cells}. {correction.why}")
    return "\n".join([*lines, "", _r_table(reading), "", _verdict_list(reading), ""])


def _r_table(reading: PointSetResult) -> str:
    """Tabulate r_rm by score and slice (rows) and gap (columns), or by gap for a single row."""
    gap_names = reading.of.y
    rows: dict[str, dict[str, str]] = {}
    for result in reading.slices:
        cell = format_estimate(*result.finding.within.interval)
        is_conclusive = result.finding.verdict != CANNOT_TELL
        name = _slice_name(reading, result, gap=False)
        rows.setdefault(name, {})[result.y] = f"**{cell}**" if is_conclusive else cell
    if len(rows) == 1:
        [(name, cells)] = rows.items()
        return _markdown_table(
            (f"{name} against", "r_rm [95%]"), [(gap_names[y], cells[y]) for y in cells]
        )
    body = ([name, *(cells.get(y, "") for y in gap_names)] for name, cells in rows.items())
    return _markdown_table(("r_rm [95%]", *gap_names.values()), body)


def _verdict_list(reading: PointSetResult) -> str:
    """List conclusive slices, the most common reason of the others, and the lowest p."""
    findings = [result.finding for result in reading.slices]
    lines = [
        f"{_slice_name(reading, result)}: {result.finding.verdict}, the second by"
        f" {format_change(result.finding)} over the range of the first"
        for result in reading.slices
        if result.finding.verdict != CANNOT_TELL
    ]
    reasons = Counter(
        finding.why or "the interval holds 0"
        for finding in findings
        if finding.verdict == CANNOT_TELL
    )
    for reason, _ in reasons.most_common(1):
        qualifier = ", most of them" if len(reasons) > 1 else ""
        lines.append(f"{reasons.total()} {CANNOT_TELL}{qualifier}: {reason}")
    p_values = [finding.p_holm for finding in findings if isfinite(finding.p_holm)]
    if p_values:
        lines.append(f"lowest p (Holm): {p_value(min(p_values))}")
    return "\n".join(f"* {line}" for line in lines)


def _overview_row(reading: PointSetResult) -> Sequence[str]:
    findings = [result.finding for result in reading.slices]
    counts = Counter(finding.verdict for finding in findings)
    r = [finding.within.r for finding in findings if isfinite(finding.within.r)]
    n_models = max(finding.n for finding in findings)
    n_parents = max(finding.n_parents for finding in findings) if reading.of.parent else "not given"
    return (
        reading.of.title,
        f"{n_models}, {n_parents}",
        str(len(reading.slices)),
        *(str(counts[verdict]) for verdict in VERDICTS),
        f"{format_number(min(r))} to {format_number(max(r))}" if r else "",
    )


def _slice_name(reading: PointSetResult, result: Slice, *, gap: bool = True) -> str:
    point_set = reading.of
    names = [point_set.x[result.x]] if len(point_set.x) > 1 or not result.by else []
    names += [point_set.y[result.y]] if gap and len(point_set.y) > 1 else []
    return "; ".join([*names, *filter(None, [result.by])])


def _markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _interval_includes(result: Slice, value: float) -> bool:
    """Test whether the interval includes a value; an interval that is not estimated does."""
    within = result.finding.within
    return not (within.low > value or within.high < value)
