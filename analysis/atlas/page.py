"""The atlas as a page, a table and a figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING

import pandas as pd

from analysis.look import CONFIG
from analysis.naming import SMALLEST
from analysis.show import estimate, p_value, short
from analysis.verdict import CANNOT_TELL, CONTRADICTS, NEGLIGIBLE, SUPPORTS, VERDICTS
from files.charts import SCHEMA, Spec

if TYPE_CHECKING:
    from analysis.atlas.protocol import Reading, Slice

HEAD = """\
# Atlas of published point sets

Published tables in which two measures of bias, or one and what it should depend on, were taken on
several embeddings or language models, read anew by one protocol: r within bases with its 95%
interval, p adjusted over the slices of a set (Holm), and the verdict that a study of our own would
get ([inference.md](../inference.md)). r over rows stands beside it with Fisher's interval, rows
taken as independent.

```bash
python -m analysis.atlas docs/atlas    # writes README.md, atlas.csv and atlas.svg there
```

{answer}

![r within bases of every slice](atlas.svg)

## The sets

{overview}
"""
FOOT = """
## Adding a set

A set is a YAML file in this folder, and its table: a CSV beside it where its figures may be carried
over (facts typed from a published table, with its source), else a file in the folder that
`BIASBRIDGE_DATA` names, told by its SHA-256, which is read and never copied. Its fields:

* `title`, `source`, `licence`, `claim`, `note`: what was set against what, where it was published,
  under which licence, what the authors concluded in our words, what else is to be known;
* `table`, `address`, `sha256`: the file, where to get it, and which bytes are meant;
* `x`, `y`: columns and what they measure, in which unit; each x is set against each y;
* `unit`, `base`: the columns that name one embedding or model, and what it was modified from;
* `by`, `keep`: the lists of columns to slice by, and the labels of the rows that are used;
* `corrections`: rows that are wrong, `where` (columns and patterns of their cells), what their
  cells become (`becomes`), and `why`.
"""
OVERVIEW = ("set", "units, bases", "slices", *VERDICTS, "r within bases", "said")
COLUMNS = (
    *("slice", "rows", "units, bases", "r over rows, as if independent"),
    *("r within bases", "adjusted p", "verdict", "why"),
)
NUMBERS = (
    *("n", "pearson", "pearson_low", "pearson_high"),
    *("n_units", "n_bases", "free", "within", "within_low", "within_high", "within_p"),
    *("family", "p_adjusted", "detectable", "verdict", "why", "caution"),
)


def page(readings: Sequence[Reading]) -> str:
    """The atlas in Markdown."""
    rows = [_overview(each) for each in readings if each.read]
    text = HEAD.format(answer=answer(readings), overview=_table(OVERVIEW, rows))
    absent = [each for each in readings if not each.read]
    if absent:
        text += "\nNot read here, for their tables are not at hand:\n\n"
        text += "".join(
            f"* {each.of.title}: `{each.of.table}`, {_origin(each)}\n" for each in absent
        )
    return text + "".join(_section(each) for each in readings if each.read) + FOOT


def answer(readings: Sequence[Reading]) -> str:
    """What all slices together say, in two sentences."""
    read = [each for each in readings if each.read]
    slices = [one for each in read for one in each.slices]
    counts = Counter(one.finding.judgement.verdict for one in slices)
    wide = sum(_holds(one, -SMALLEST) and _holds(one, SMALLEST) for one in slices)
    units = [one.finding.evidence.n_units for one in slices]
    told = ", ".join(f"{counts[name]} {word}" for name, word in _WORDS.items())
    return (
        f"**Of {len(slices)} slices of {len(read)} sets {told}.** A slice has {min(units)} to"
        f" {max(units)} embeddings or models; in {wide} the interval of r within bases holds both"
        f" {short(-SMALLEST, 1)} and {short(SMALLEST, 1)}: such a study tells neither that there is"
        " an association nor that there is none."
    )


_WORDS = {
    SUPPORTS: "support an association",
    CONTRADICTS: "contradict it",
    NEGLIGIBLE: "find it negligible",
    CANNOT_TELL: "cannot tell",
}


def table(readings: Iterable[Reading]) -> pd.DataFrame:
    """One row a slice: its set, x, y and what it is sliced by, and the columns of
    ``correlations.csv``.
    """
    rows = []
    for each in readings:
        for one in each.slices:
            found = one.finding
            told = found.statistics._asdict() | found.evidence._asdict()
            told |= found.judgement._asdict()
            names = {"set": each.name, "x": one.x, "y": one.y, "by": one.by}
            numbers = {name: told[name] for name in NUMBERS}
            rows.append(names | numbers | {"pearson_uncorrected": one.published})
    return pd.DataFrame(rows)


def forest(readings: Iterable[Reading]) -> Spec:
    """Every slice's r within bases with its interval, a panel a set, as a Vega-Lite
    specification.
    """
    rows = [
        {
            "set": each.of.title,
            "slice": _slice_name(each, one),
            "r": one.finding.evidence.within,
            "low": _finite(one.finding.evidence.within_low),
            "high": _finite(one.finding.evidence.within_high),
            "verdict": one.finding.judgement.verdict,
        }
        for each in readings
        for one in each.slices
        if isfinite(one.finding.evidence.within)
    ]
    return {
        "$schema": SCHEMA,
        "config": CONFIG | {"axisY": {"labelLimit": 420}},
        "data": {"values": rows},
        "facet": {
            "row": {
                "field": "set",
                "type": "nominal",
                "title": None,
                "sort": None,
                "header": {"labelAngle": 0, "labelOrient": "top", "labelAnchor": "start"},
            }
        },
        "resolve": {"scale": {"y": "independent"}},
        "spec": {"width": 380, "height": {"step": 15}, "layer": _layers()},
    }


def _layers() -> list[Spec]:
    """Rules at 0 and at the smallest correlation of interest, then intervals and values."""
    x = {"type": "quantitative", "title": "r within bases, 95% interval"}
    scale = {"domain": [-1, 1]}
    y = {"field": "slice", "type": "nominal", "title": None, "sort": None}
    colours = {"domain": list(VERDICTS), "range": ["#0072B2", "#D55E00", "#009E73", "#666666"]}
    colour = {"field": "verdict", "type": "nominal", "scale": colours, "title": None}
    rules = [
        {
            "mark": {"type": "rule", "color": "#888888", "strokeDash": dash},
            "encoding": {"x": {"datum": at, **x, "scale": scale}},
        }
        for at, dash in ((0, [1, 0]), (-SMALLEST, [2, 3]), (SMALLEST, [2, 3]))
    ]
    bars = {
        "mark": {"type": "rule"},
        "encoding": {
            "y": y,
            "x": {"field": "low", **x, "scale": scale},
            "x2": {"field": "high"},
            "color": colour,
        },
    }
    points = {
        "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
        "encoding": {"y": y, "x": {"field": "r", **x, "scale": scale}, "color": colour},
    }
    return [*rules, bars, points]


def _section(each: Reading) -> str:
    of = each.of
    lines = [
        f"\n## {of.title}\n",
        f"{of.source}. `{each.name}.yaml`, licence: {of.licence}. {_origin(each)}".rstrip(),
        f"\nThe authors: {of.claim}",
        *([f"\n{of.note}"] if of.note else []),
    ]
    for correction, units in zip(of.corrections, each.corrected, strict=True):
        cells = " and ".join(f"{name} {cell}" for name, cell in correction.becomes.items())
        lines.append(f"\nCorrected, {units} units: {cells}. {correction.why}")
    return "\n".join([*lines, "", _table(COLUMNS, [_row(each, one) for one in each.slices]), ""])


def _row(each: Reading, one: Slice) -> Sequence[str]:
    found, behind, told = one.finding.statistics, one.finding.evidence, one.finding.judgement
    r = estimate(found.pearson, found.pearson_low, found.pearson_high)
    return (
        _slice_name(each, one),
        str(found.n),
        f"{behind.n_units}, {behind.n_bases if each.of.base else 'not modified'}",
        r + (f"; as published {short(one.published)}" if isfinite(one.published) else ""),
        estimate(behind.within, behind.within_low, behind.within_high),
        p_value(told.p_adjusted) if isfinite(told.p_adjusted) else "",
        told.verdict,
        told.why,
    )


def _overview(each: Reading) -> Sequence[str]:
    counts = Counter(one.finding.judgement.verdict for one in each.slices)
    behind = [one.finding.evidence for one in each.slices]
    r = [one.within for one in behind if isfinite(one.within)]
    units = max(one.n_units for one in behind)
    bases = max(one.n_bases for one in behind) if each.of.base else "not modified"
    anchor = "".join(c for c in each.of.title.lower().replace(" ", "-") if c.isalnum() or c in "-_")
    return (
        f"[{each.of.title}](#{anchor})",
        f"{units}, {bases}",
        str(len(each.slices)),
        *(str(counts[verdict]) for verdict in VERDICTS),
        f"{short(min(r))} to {short(max(r))}" if r else "",
        each.of.claim,
    )


def _slice_name(each: Reading, one: Slice) -> str:
    of = each.of
    told = [of.x[one.x]] if len(of.x) > 1 or not one.by else []
    told += [of.y[one.y]] if len(of.y) > 1 else []
    return "; ".join([*told, *filter(None, [one.by])])


def _origin(each: Reading) -> str:
    of = each.of
    return f"Read from `{of.table}`: {of.address}, SHA-256 {of.sha256}." if of.sha256 else ""


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _holds(one: Slice, value: float) -> bool:
    """Whether the interval holds a value; one that is not known holds any."""
    behind = one.finding.evidence
    return not (behind.within_low > value or behind.within_high < value)


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
