"""The atlas as a page, a table and a figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd

from analysis.charts import CONFIG, PALETTE, Drawing, finish, intervals, rule_at
from analysis.findings import correlation_table
from analysis.naming import SESOI
from analysis.show import estimate, p_value, short
from analysis.verdict import INCONCLUSIVE, NEGATIVE, NEGLIGIBLE, POSITIVE, VERDICTS

if TYPE_CHECKING:
    from studies.atlas.protocol import Reading, Slice

HEAD = """\
# Atlas of published point sets

{answer}

Published tables that set two measures of bias, or one and what it should depend on, against each
other over several embeddings or language models, read by the protocol of our own studies: r_rm
(within parents, where models were made from one another) with its 95% interval, p adjusted over the
slices of a set (Holm), and a verdict ([inference.md](../inference.md)).

![r_rm of every slice](atlas.svg)

{overview}

Below, each cell is r_rm with its interval; bold: any other verdict than inconclusive.
[atlas.csv](atlas.csv) has every slice with its rows, r over rows, p and verdict in a sentence.

```bash
biasbridge atlas docs/atlas    # writes this page, atlas.csv and atlas.svg there
```
"""
FOOT = """
## Adding a set

A set is a YAML file in this folder and its table: a CSV beside it where the licence allows, else a
file in the folder that `BIASBRIDGE_DATA` names, which is read and never copied.

* `title`, `source`, `licence`, `claim`, `note`: what was set against what, where it was published,
  what the authors concluded in our words, remarks;
* `table`, `address`, `sha256`: the file, where to get it, which bytes are meant;
* `x`, `y`: columns, with what they measure and its unit; each x is set against each y;
* `observation`, `parent`, `condition`: the columns that name a model, what it was made from, and
  what was done to it;
* `by`, `keep`: lists of columns to slice by, labels of the rows that are used;
* `corrections`: wrong rows: `where` (columns and patterns of their cells), `becomes`, `why`.
"""
OVERVIEW = ("set", "models, parents", "slices", *VERDICTS, "r_rm")
NUMBERS = (
    *("n", "n_parents", "n_conditions", "lost", "r_rm", "low", "high", "p", "p_holm"),
    *("verdict", "scope", "why", "mde"),
)


def page(readings: Sequence[Reading]) -> str:
    """The atlas in Markdown."""
    rows = [_overview(each) for each in readings if each.read]
    text = HEAD.format(answer=answer(readings), overview=_table(OVERVIEW, rows))
    absent = [each for each in readings if not each.read]
    if absent:
        text += "\nNot read here, for their tables are not at hand:\n\n"
        text += "".join(f"* {each.of.title}: {each.of.address}\n" for each in absent)
    return text + "".join(_section(each) for each in readings if each.read) + FOOT


def answer(readings: Sequence[Reading]) -> str:
    """What all slices together say, in two sentences."""
    read = [each for each in readings if each.read]
    slices = [one for each in read for one in each.slices]
    counts = Counter(one.finding.verdict for one in slices)
    wide = sum(_holds(one, -SESOI) and _holds(one, SESOI) for one in slices)
    models = [one.finding.n for one in slices]
    verdicts = ", ".join(f"{counts[name]} {word}" for name, word in _WORDS.items())
    return (
        f"**Of {len(slices)} slices of {len(read)} sets {verdicts}.** A slice has {min(models)} to"
        f" {max(models)} embeddings or models; in {wide} the interval of r_rm holds both"
        f" {short(-SESOI, 1)} and {short(SESOI, 1)}: such a study can say neither that"
        " there is a relation nor that there is none."
    )


_WORDS = {
    POSITIVE: "are positive",
    NEGATIVE: "negative",
    NEGLIGIBLE: "negligible",
    INCONCLUSIVE: "inconclusive",
}


def table(readings: Iterable[Reading]) -> pd.DataFrame:
    """One row a slice: its set, x, y and what it is sliced by, rows and r over them, and columns of
    ``correlations.csv``.
    """
    rows = []
    for each in readings:
        for one in each.slices:
            names = {"set": each.name, "x": one.x, "y": one.y, "by": one.by}
            found = correlation_table([one.finding], NUMBERS).iloc[0].to_dict()
            of_rows = {"rows": one.rows, "r_rows": one.r_rows, "r_published": one.published}
            rows.append(names | of_rows | found)
    return pd.DataFrame(rows)


def forest(readings: Iterable[Reading]) -> Drawing:
    """Every slice's r_rm with its interval, a panel a set; lines at 0 and at the smallest
    correlation of interest.
    """
    found = [(each, one, one.finding.within) for each in readings for one in each.slices]
    rows = [
        {
            "set": each.of.title,
            "slice": _slice_name(each, one),
            "r": within.r,
            "low": within.low,
            "high": within.high,
            "verdict": one.finding.verdict,
        }
        for each, one, within in found
        if isfinite(within.r)
    ]
    looks = dict(zip(VERDICTS, (*PALETTE[:3], "#666666"), strict=True))
    shown = [name for name in VERDICTS if name in {row["verdict"] for row in rows}]
    scale = alt.Scale(domain=shown, range=[looks[name] for name in shown])
    base = alt.Chart().encode(
        alt.Y("slice:N", title=None, sort=None),
        alt.Color("verdict:N", title="verdict", scale=scale, legend=alt.Legend(orient="top")),
    )
    axis: dict[str, Any] = {"title": "r_rm, 95% interval", "scale": alt.Scale(domain=[-1, 1])}
    layers = [
        rule_at(0),
        *(rule_at(at, strokeDash=[2, 3]) for at in (-SESOI, SESOI)),
        *intervals(base, "r", size=45, opacity=1, **axis),
    ]
    header = alt.Header(labelAngle=0, labelOrient="top", labelAnchor="start", labelPadding=4)
    panels = alt.Row("set:N", title=None, sort=None, header=header)
    chart = alt.layer(*layers).properties(width=380, height=alt.Step(15))
    drawn = chart.facet(row=panels, data=pd.DataFrame(rows), spacing=8)
    sure = sum(row["verdict"] != INCONCLUSIVE for row in rows)
    title = f"A verdict on {sure} of {len(rows)} published relations; the others are inconclusive"
    notes = ["r_rm with its 95% interval; dotted: the smallest correlation of interest."]
    whole = finish(drawn.resolve_scale(y="independent"), title, notes)
    drawing: Drawing = whole.configure(**CONFIG | {"axisY": {"labelLimit": 0}})
    return drawing


def _section(each: Reading) -> str:
    of = each.of
    origin = f" Read from {of.address}." if of.sha256 else ""
    lines = [
        f"\n## {of.title}\n",
        f"{of.source}; `{each.name}.yaml`, licence: {of.licence}.{origin}",
        f"\nThe authors: {of.claim}",
        *([f"\n{of.note}"] if of.note else []),
    ]
    for correction, units in zip(of.corrections, each.corrected, strict=True):
        cells = " and ".join(f"{name} {cell}" for name, cell in correction.becomes.items())
        lines.append(f"\nCorrected, {units} models: {cells}. {correction.why}")
    return "\n".join([*lines, "", _grid(each), "", _verdicts(each), ""])


def _grid(each: Reading) -> str:
    """r_rm with its interval: a row a score and slice, a column a gap; of one score a row a gap."""
    rows: dict[str, dict[str, str]] = {}
    for one in each.slices:
        cell = estimate(*one.finding.within.interval)
        bold = one.finding.verdict != INCONCLUSIVE
        name = _slice_name(each, one, gap=False)
        rows.setdefault(name, {})[one.y] = f"**{cell}**" if bold else cell
    if len(rows) == 1:
        [(name, cells)] = rows.items()
        return _table((f"{name} against", "r_rm [95%]"), [(each.of.y[y], cells[y]) for y in cells])
    grid = ([name, *(row.get(y, "") for y in each.of.y)] for name, row in rows.items())
    return _table(("r_rm [95%]", *each.of.y.values()), grid)


def _verdicts(each: Reading) -> str:
    found = [(one, one.finding) for one in each.slices]
    lines = [
        f"{_slice_name(each, one)}: {of.why}" for one, of in found if of.verdict != INCONCLUSIVE
    ]
    lacks = Counter(of.why.partition(": ")[2] for _, of in found if of.verdict == INCONCLUSIVE)
    for why, _ in lacks.most_common(1):
        most = ", most of them" if len(lacks) > 1 else ""
        lines.append(f"{lacks.total()} {INCONCLUSIVE}{most}: {why}")
    least = min((of.p_holm for _, of in found if isfinite(of.p_holm)), default=None)
    if least is not None:
        lines.append(f"least p (Holm): {p_value(least)}")
    return "\n".join(f"* {line}" for line in lines)


def _overview(each: Reading) -> Sequence[str]:
    found = [one.finding for one in each.slices]
    counts = Counter(one.verdict for one in found)
    r = [one.within.r for one in found if isfinite(one.within.r)]
    models = max(one.n for one in found)
    parents = max(one.n_parents for one in found) if each.of.parent else "none named"
    return (
        each.of.title,
        f"{models}, {parents}",
        str(len(each.slices)),
        *(str(counts[verdict]) for verdict in VERDICTS),
        f"{short(min(r))} to {short(max(r))}" if r else "",
    )


def _slice_name(each: Reading, one: Slice, *, gap: bool = True) -> str:
    of = each.of
    parts = [of.x[one.x]] if len(of.x) > 1 or not one.by else []
    parts += [of.y[one.y]] if gap and len(of.y) > 1 else []
    return "; ".join([*parts, *filter(None, [one.by])])


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _holds(one: Slice, value: float) -> bool:
    """Whether the interval holds a value; one that is not known holds any."""
    of = one.finding.within
    return not (of.low > value or of.high < value)
