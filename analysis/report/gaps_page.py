"""The page of somebody's predictions: what each group gets, who fares worse, how sure that is."""

from __future__ import annotations

import base64
import html
from collections.abc import Hashable, Mapping, Sequence
from importlib import metadata
from math import isnan
from typing import TYPE_CHECKING, Any, TypeAlias

import vl_convert

from analysis.charts import CONFIG
from analysis.gap_charts import ALL, MOST_GROUPS, gap_panels, order_groups
from analysis.naming import measure_title
from analysis.report.frame import build_page, fill
from analysis.show import short
from analysis.summary import capital
from files import atomic_path

if TYPE_CHECKING:
    from pathlib import Path

    import altair as alt
    import pandas as pd

Row: TypeAlias = "Mapping[Hashable, Any]"
REST = "rest"
MEANINGS = {
    "base_rate": "of all items, the share with label 1: a fact about the data, not the classifier",
    "precision": "of the items that the classifier calls 1, the share that are",
    "recall": "of the items with label 1, the share that the classifier finds",
    "f1": "precision and recall in one number, 2 P R / (P + R)",
    "fpr": "of the items with label 0, the share that are called 1 all the same",
    "fnr": "of the items with label 1, the share that are missed",
    "accuracy": "of all items, the share whose label is predicted right",
    "selection_rate": "of all items, the share that the classifier calls 1",
    "auc": "how often an item with label 1 has the higher score of two, one of each label",
    "bpsn_auc": "the same, of other items with label 1 and the group's with label 0",
    "bnsp_auc": "the same, of the group's items with label 1 and others with label 0",
    "demographic_parity": "the largest difference in selection rate",
    "equalised_odds": "the larger of the largest differences in recall and false positive rate",
}
NAMED = 5  # groups in a sentence
SEEN_IN_FOUR_OF_FIVE = (1.959964 + 0.841621) / 1.959964  # of half an interval: power .8 at .05
FAR_APART = 0.1  # base rates, from which precision gaps need a caution


def write_gaps_page(table: pd.DataFrame, path: Path, title: str) -> Path:
    """Write the page of a table of gaps, as ``biasbridge.gaps`` returns it; it needs no network.

    A section for each classifier and class; ``title``: what was predicted.
    """
    blocks = _blocks(table)
    answers, sections = [], []
    for name, block in blocks.items():
        heading = f"<h3>{html.escape(name)}</h3>" if name else ""
        answers.append(heading + _answer(block))
        sections.append(_section(name, block))
    measures = [name for name in MEANINGS if name in set(table["measure"])]
    words = {
        "title": html.escape(title),
        "answer": "".join(answers),
        "sections": "".join(sections),
        "measures": "".join(
            f"<dt>{html.escape(measure_title(name))}</dt><dd>{html.escape(MEANINGS[name])}</dd>"
            for name in measures
        ),
        "made": f"Made with biasbridge {html.escape(metadata.version('biasbridge'))}.",
    }
    page = build_page(words["title"], fill("gaps_page.html", words), "img-src data:")
    with atomic_path(path) as work:
        work.write_text(page, encoding="utf-8")
    return path


def _blocks(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each classifier and class, by name; one without a name where there is one."""
    by = [name for name in ("classifier", "subset") if name in table]
    if not by:
        return {"": table}
    label = {"classifier": "", "subset": "class "}
    names = [label[name] + table[name].where(table[name].ne(""), "") for name in by]
    joined = names[0] if len(names) == 1 else names[0] + ", " + names[1]
    return {str(name): rows for name, rows in table.groupby(joined, sort=False)}


def _answer(block: pd.DataFrame) -> str:
    gaps = block[block["kind"] == "gap"]
    sides = gaps[["privileged", "unprivileged"]].drop_duplicates()
    if len(sides) == 1:
        lines = [_pair_sentence(row) for row in gaps.to_dict("records")]
    else:
        far = block[block["kind"] == "largest"]
        lines = [_far_sentence(row, block) for row in far.to_dict("records")]
        each = gaps.groupby(["privileged", "measure"], sort=False)
        lines += [_standing_out(found) for _, found in each]
    listed = "".join(f"<li>{line}</li>" for line in lines)
    return f"<ul class='card'>{listed}</ul>{_base_rates(block)}"


def _pair_sentence(row: Row) -> str:
    """``Recall is worse for female by .19 [.03,.29]``, or that no difference is seen."""
    name = capital(measure_title(str(row["measure"])))
    if isnan(row["value"]):
        return f"{name}: no value, {html.escape(str(row['reason']))}."
    n = f"n {row['support_privileged']:,} and {row['support_unprivileged']:,}"
    interval = f"{_signed(abs(row['value']))} {_ends(row, turned=row['value'] < 0)}"
    ends = {True: row["unprivileged"], False: row["privileged"]}
    if row["low"] > 0 or row["high"] < 0:
        worse = html.escape(str(ends[row["value"] > 0]))
        return f"<b>{name} is worse for {worse}</b> by {interval} ({n})."
    found = f"{_signed(row['value'], plus=True)} {_ends(row)}"
    least = short(_could_be_missed(row), 2)
    missed = f"One below about {least} could be missed."
    return f"<b>{name}: no difference seen</b>, {found} ({n}). {missed}"


def _far_sentence(row: Row, block: pd.DataFrame) -> str:
    name = capital(measure_title(str(row["measure"])))
    if isnan(row["value"]):
        return f"{name}: no value, {html.escape(str(row['reason']))}."
    worst, best = html.escape(str(row["unprivileged"])), html.escape(str(row["privileged"]))
    values = block[(block["kind"] == "value") & (block["measure"] == row["measure"])]
    of = dict(zip(values["group"], values["value"], strict=True))
    shown = [
        f" ({short(of[g], 2)})" if g in of else "" for g in (row["unprivileged"], row["privileged"])
    ]
    return (
        f"<b>{name} differs most between {worst}{shown[0]}, the worst, and {best}{shown[1]}</b>:"
        f" by {_signed(row['value'])} {_ends(row)}."
    )


def _standing_out(gaps: pd.DataFrame) -> str:
    """The groups whose gap's interval leaves 0 out."""
    to = gaps["privileged"].iloc[0]
    others = "all others" if to == REST else html.escape(str(to))
    name = measure_title(str(gaps["measure"].iloc[0]))
    gaps = gaps.reindex(gaps["value"].abs().sort_values(ascending=False).index)
    worse, better = gaps[gaps["low"] > 0], gaps[gaps["high"] < 0]
    parts = [f"worse for {_listed(worse)}"] * bool(len(worse))
    parts += [f"better for {_listed(better)}"] * bool(len(better))
    if not parts:
        return f"Against {others}, no group stands out in {name}."
    return f"Against {others}, {name} is {'; '.join(parts)}."


def _listed(gaps: pd.DataFrame) -> str:
    named = [
        f"{html.escape(str(row['unprivileged']))} ({_signed(row['value'], plus=True)})"
        for row in gaps.head(NAMED).to_dict("records")
    ]
    more = len(gaps) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _base_rates(block: pd.DataFrame) -> str:
    """The caution where base rates differ, with the precision that they alone would make."""
    values = block[(block["kind"] == "value") & block["value"].notna()]
    found = {
        name: values[values["measure"] == name].set_index("group")["value"]
        for name in ("base_rate", "recall", "fpr")
    }
    rates = found["base_rate"].drop(ALL, errors="ignore")
    if len(rates) < 2 or rates.max() - rates.min() < FAR_APART:
        return ""
    low, high = str(rates.idxmin()), str(rates.idxmax())
    text = (
        f"Base rates differ: {rates[low]:.0%} of the items of {low} have label 1, {rates[high]:.0%}"
        f" of those of {high}. That alone moves precision and F1."
    )
    if all(ALL in found[name] for name in ("recall", "fpr")):
        recall, fpr = found["recall"][ALL], found["fpr"][ALL]
        one, other = (_precision(float(rates[name]), recall, fpr) for name in (low, high))
        text += (
            f" A classifier with the same recall ({short(recall, 2)}) and false positive rate"
            f" ({short(fpr, 2)}) for both would have a precision of {short(one, 2)} and"
            f" {short(other, 2)}. Compare recall and false positive rate first."
        )
    return f'<p class="banner" role="note">{html.escape(text)}</p>'


def _precision(base_rate: float, recall: float, fpr: float) -> float:
    found = base_rate * recall
    return found / (found + (1 - base_rate) * fpr)


def _section(name: str, block: pd.DataFrame) -> str:
    heading = html.escape(f" of {name}" if name else "")
    order = order_groups(block)
    figures = "".join(
        _figure(measure, panel, block) for measure, panel in gap_panels(block).items()
    )
    more = len(order) - MOST_GROUPS
    note = (
        f" The {MOST_GROUPS} groups with the largest gaps; {more} more are in the table."
        if more > 0
        else ""
    )
    gaps = _gap_tables(block, order)
    return (
        f"<section><h2>Each group{heading}</h2><p>Dots with 95% intervals; the dashed line is all"
        f" items together.{note}</p><div class='panels'>{figures}</div>"
        f"{_value_table(block, order)}</section><section><h2>The gaps{heading}</h2>{gaps}</section>"
    )


def _figure(measure: str, panel: alt.LayerChart, block: pd.DataFrame) -> str:
    spec = panel.configure(**CONFIG).to_dict()
    data = base64.b64encode(vl_convert.vegalite_to_svg(spec).encode()).decode()
    rows = block[(block["kind"] == "value") & (block["measure"] == measure)]
    shown = rows.head(MOST_GROUPS).to_dict("records")
    values = ", ".join(f"{row['group']} {short(row['value'], 2)}" for row in shown)
    alt_text = html.escape(f"{measure_title(measure)} by group: {values}", quote=True)
    return f'<figure><img alt="{alt_text}" src="data:image/svg+xml;base64,{data}"></figure>'


def _value_table(block: pd.DataFrame, order: Sequence[str]) -> str:
    values = block[block["kind"] == "value"]
    measures = list(values["measure"].unique())
    cells = {(row["group"], row["measure"]): row for row in values.to_dict("records")}
    rows = []
    for group in [*order, ALL]:
        found = [cells.get((group, measure)) for measure in measures]
        if any(found):
            n = max(int(row["support"]) for row in found if row)
            rows.append([group, f"{n:,}", *map(_cell, found)])
    return _table(["group", "n", *map(measure_title, measures)], rows)


def _gap_tables(block: pd.DataFrame, order: Sequence[str]) -> str:
    """One table of two groups, a line a measure; of more a table a measure, a line a group."""
    gaps = block[block["kind"] == "gap"]
    if len(gaps[["privileged", "unprivileged"]].drop_duplicates()) == 1:
        names = [measure_title(str(name)) for name in gaps["measure"]]
        return _gap_table(gaps.to_dict("records"), names)
    place = {name: number for number, name in enumerate(order)}
    tables = []
    for measure, found in gaps.groupby("measure", sort=False):
        rows = sorted(found.to_dict("records"), key=lambda row: place[row["unprivileged"]])
        title = html.escape(capital(measure_title(str(measure))))
        tables.append(f"<h3>{title}</h3>{_gap_table(rows)}")
    return "".join(tables)


def _gap_table(rows: Sequence[Row], measures: Sequence[str] = ()) -> str:
    columns: dict[str, list[str]] = {
        "measure": list(measures),
        "group": [str(row["unprivileged"]) for row in rows],
        "compared with": [
            "all others" if row["privileged"] == REST else str(row["privileged"]) for row in rows
        ],
        "gap": [_cell(row, plus=True) for row in rows],
        "could be missed": [short(_could_be_missed(row), 2) for row in rows],
        "n": [_whole(row["support_unprivileged"]) for row in rows],
        "n compared": [_whole(row["support_privileged"]) for row in rows],
        "why no value": [str(row["reason"]) for row in rows],
    }
    kept = {name: column for name, column in columns.items() if any(column)}
    return _table(list(kept), list(zip(*kept.values(), strict=True)))


def _could_be_missed(row: Row) -> float:
    """The gap that four of five samples of this size would show: 2.8 standard errors."""
    return float(row["high"] - row["low"]) / 2 * SEEN_IN_FOUR_OF_FIVE


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    text = {"measure", "group", "compared with", "why no value"}
    kinds = [' class="text"' if name in text else "" for name in head]
    top = "".join(
        f'<th scope="col"{kind}>{html.escape(name)}</th>'
        for name, kind in zip(head, kinds, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td{kind} data-name="{html.escape(name)}">{html.escape(cell)}</td>'
            for name, kind, cell in zip(head, kinds, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class='wide cards' tabindex='0' role='region' aria-label='Table'>{table}</div>"


def _cell(row: Row | None, *, plus: bool = False) -> str:
    if row is None or isnan(row["value"]):
        return "-"
    return f"{_signed(row['value'], plus=plus)} {_ends(row)}".strip()


def _ends(row: Row, *, turned: bool = False) -> str:
    ends = [row["low"], row["high"]]
    if isnan(ends[0]):
        return ""
    low, high = (-ends[1], -ends[0]) if turned else ends
    return f"[{short(low, 2)},{short(high, 2)}]"


def _signed(value: float, *, plus: bool = False) -> str:
    return ("+" if plus and value > 0 else "") + short(value, 2)


def _whole(value: object) -> str:
    return f"{int(str(value)):,}" if str(value).isdigit() else ""
