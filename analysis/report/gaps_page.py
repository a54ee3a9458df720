"""The page of a table of gaps: values by group, who fares worse, how sure that is."""

from __future__ import annotations

import base64
import html
from collections.abc import Hashable, Mapping, Sequence
from datetime import date
from importlib import metadata
from math import isnan, nan
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeAlias

import vl_convert

from analysis.charts import CONFIG
from analysis.gap_charts import ALL, MAX_GROUPS, gap_panels, order_groups
from analysis.naming import capitalise, measure_title
from analysis.report.frame import build_page, fill
from analysis.terminal import format_number
from files import atomic_path
from files.charts import make_spec
from files.tables import escape_control

if TYPE_CHECKING:
    from pathlib import Path

    import altair as alt
    import pandas as pd

Row: TypeAlias = "Mapping[Hashable, Any]"
REST = "rest"
MEANINGS = {
    "base_rate": "proportion of all items with label 1: a fact about the data, not the classifier",
    "precision": "of the items that the classifier calls 1, the proportion that are",
    "recall": "of the items with label 1, the proportion that the classifier finds",
    "f1": "precision and recall in one number, 2 P R / (P + R)",
    "fpr": "of the items with label 0, the proportion that are called 1",
    "fnr": "of the items with label 1, the proportion that are missed",
    "accuracy": "of all items, the proportion predicted correctly",
    "selection_rate": "of all items, the proportion that the classifier calls 1",
    "auc": "how often an item with label 1 scores higher than one with label 0",
    "bpsn_auc": "the same, of other items with label 1 and the group's with label 0",
    "bnsp_auc": "the same, of the group's items with label 1 and others with label 0",
    "demographic_parity": "the largest difference in selection rate",
    "equalised_odds": "the larger of the largest differences in recall and false positive rate",
}
MAX_NAMED = 5  # in a sentence
LEVEL = 0.05
ERROR_RATES = ("fpr", "fnr")  # lower is better
MOVED_BY_BASE_RATES = ("precision", "f1", "accuracy", "selection_rate")
MISSED_FACTOR = (1.959964 + 0.841621) / 1.959964  # times half an interval: power .8 at .05
LARGE_DIFFERENCE = 0.1  # of base rates; from here precision gaps need a caution


def write_gaps_page(
    table: pd.DataFrame, path: Path, title: str, *, label: str = "of label 1"
) -> Path:
    """Write the page of a table of gaps, with a section for each classifier and class.

    Parameters
    ----------
    table
        What :func:`biasbridge.gaps` returns.
    path, title
        Of the page.
    label
        What an item of the positive class is called, as in "30% of the items are ...".

    Returns
    -------
    Path
        The page, which needs no network.
    """
    blocks = _blocks(escape_control(table))
    answers, sections = [], []
    for name, block in blocks.items():
        heading = f"<h3>{html.escape(name)}</h3>" if name else ""
        answers.append(heading + _answer(block, label))
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
        "made": f"{date.today():%d %B %Y}, biasbridge {metadata.version('biasbridge')}.",
    }
    page = build_page(words["title"], fill("gaps_page.html", words), "img-src data:")
    with atomic_path(path) as work:
        work.write_text(page, encoding="utf-8")
    return path


def _blocks(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Split the rows by classifier and class; the name is empty if there is one block."""
    columns = [name for name in ("classifier", "subset") if name in table]
    if not columns:
        return {"": table}
    prefix = {"classifier": "", "subset": "class "}
    parts = [prefix[name] + table[name].where(table[name].ne(""), "") for name in columns]
    names = parts[0] if len(parts) == 1 else parts[0] + ", " + parts[1]
    return {str(name): rows for name, rows in table.groupby(names, sort=False)}


def _answer(block: pd.DataFrame, label: str) -> str:
    gaps = block[(block["kind"] == "gap")]
    if len(gaps[["privileged", "unprivileged"]].drop_duplicates()) == 1:
        headline, lines = "", [_pair_sentence(row) for row in gaps.to_dict("records")]
    else:
        headline, lines = _many_sentences(block, gaps)
    items = "".join(f"<li>{line}</li>" for line in lines)
    return f"<div class='card'>{headline}<ul>{items}</ul></div>{_base_rates(block, label)}"


def _many_sentences(block: pd.DataFrame, gaps: pd.DataFrame) -> tuple[str, list[str]]:
    """Return the headline and the sentences: differences beyond chance, then possible chance.

    Differences that unequal base rates make by themselves come between.
    """
    rows = gaps[gaps["value"].notna()].to_dict("records")
    bonferroni = NormalDist().inv_cdf(1 - LEVEL / 2 / max(1, len(rows)))
    widening = bonferroni / NormalDist().inv_cdf(0.975)
    apart = [row for row in rows if row["low"] > 0 or row["high"] < 0]
    beyond_chance = [row for row in apart if _excludes_zero(row, widening)]
    unsure = [row for row in apart if row not in beyond_chance]
    rate_measures = MOVED_BY_BASE_RATES if _base_rates(block, "") else ()
    by_rates = [row for row in beyond_chance if row["measure"] in rate_measures]
    by_classifier = sorted(
        (row for row in beyond_chance if row not in by_rates), key=lambda row: -abs(row["value"])
    )
    worse = [row for row in by_classifier if row["value"] > 0]
    better = [row for row in by_classifier if row["value"] < 0]
    lines = [_group_sentence(row, block) for row in worse[:MAX_NAMED]]
    if len(worse) > MAX_NAMED:
        lines.append(f"Worse too: {_listed(worse[MAX_NAMED:])}.")
    if better:
        lines.append(f"Better than others: {_listed(better)}.")
    if by_rates:
        measures = " and ".join(dict.fromkeys(measure_title(row["measure"]) for row in by_rates))
        groups = ", ".join(dict.fromkeys(html.escape(row["unprivileged"]) for row in by_rates))
        lines.append(
            f"{capitalise(measures)} differ for {groups}, as they must where base rates do (below)."
        )
    if unsure:
        n_chance = max(1, round(LEVEL * len(rows)))
        lines.append(
            f"May be chance: {_listed(unsure)}. Of {len(rows)} comparisons about {n_chance}"
            " would look like these if all groups were treated alike."
        )
    counted = [row for row in rows if row["measure"] not in rate_measures]
    measures = " and ".join(dict.fromkeys(measure_title(row["measure"]) for row in counted))
    number = f"{len(by_classifier)}" if by_classifier else "None"
    verb = "differs" if len(by_classifier) < 2 else "differ"
    headline = f"{number} of {len(counted)} comparisons of {measures} {verb} beyond chance."
    return f'<p class="first">{headline}</p>', lines


def _excludes_zero(row: Row, widening: float) -> bool:
    """Test whether the interval, made so many times wider, excludes 0."""
    to_zero = row["value"] - row["low"] if row["value"] > 0 else row["high"] - row["value"]
    return bool(abs(row["value"]) > widening * to_zero)


def _group_sentence(row: Row, block: pd.DataFrame) -> str:
    """Format ``False positive rate is worse for x: .24, others .08; gap .17 [.13,.21] (n 434)``."""
    values = block[(block["kind"] == "value") & (block["measure"] == row["measure"])]
    value = dict(zip(values["group"], values["value"], strict=True)).get(row["unprivileged"], nan)
    other_value = value - row["value"] if row["measure"] in ERROR_RATES else value + row["value"]
    name, group = capitalise(measure_title(row["measure"])), html.escape(row["unprivileged"])
    others = "others" if row["privileged"] == REST else html.escape(row["privileged"])
    return (
        f"<b>{name} is worse for {group}</b>: {format_number(value, 2)}, {others}"
        f" {format_number(other_value, 2)}; gap {_signed(row['value'])} {_ends(row)}"
        f" (n {row['support_unprivileged']:,})."
    )


def _pair_sentence(row: Row) -> str:
    """Format ``Recall is worse for female by .19 [.03,.29]``, or that no difference is seen."""
    name = capitalise(measure_title(str(row["measure"])))
    if isnan(row["value"]):
        return f"{name}: no value, {html.escape(str(row['reason']))}."
    n = f"n {row['support_privileged']:,} and {row['support_unprivileged']:,}"
    if row["low"] > 0 or row["high"] < 0:
        worse = html.escape(str(row["unprivileged" if row["value"] > 0 else "privileged"]))
        estimate = f"{_signed(abs(row['value']))} {_ends(row, flipped=row['value'] < 0)}"
        return f"<b>{name} is worse for {worse}</b> by {estimate} ({n})."
    estimate = f"{_signed(row['value'], plus=True)} {_ends(row)}"
    missed = f"A gap below about {format_number(_could_be_missed(row), 2)} could be missed."
    return f"<b>{name}: no difference seen</b>, {estimate} ({n}). {missed}"


def _listed(rows: Sequence[Row]) -> str:
    texts = [
        f"{html.escape(row['unprivileged'])}, {measure_title(row['measure'])}"
        f" {_signed(row['value'], plus=True)} {_ends(row)} (n {row['support_unprivileged']:,})"
        for row in rows[:MAX_NAMED]
    ]
    n_hidden = len(rows) - len(texts)
    return "; ".join(texts) + (f"; and {n_hidden} more in the tables" if n_hidden else "")


def _base_rates(block: pd.DataFrame, label: str) -> str:
    """Warn if base rates differ, with the precision that they alone would give."""
    values = block[(block["kind"] == "value") & block["value"].notna()]
    by_measure = {
        name: values[values["measure"] == name].set_index("group")["value"]
        for name in ("base_rate", "recall", "fpr")
    }
    rates = by_measure["base_rate"].drop(ALL, errors="ignore")
    if len(rates) < 2 or rates.max() - rates.min() < LARGE_DIFFERENCE:
        return ""
    low, high = str(rates.idxmin()), str(rates.idxmax())
    text = (
        f"Base rates differ: {rates[low]:.0%} of the items of “{low}” are {label},"
        f" {rates[high]:.0%} of those of “{high}”. That alone moves precision and F1."
    )
    if all(ALL in by_measure[name] for name in ("recall", "fpr")):
        recall, fpr = by_measure["recall"][ALL], by_measure["fpr"][ALL]
        at_low, at_high = (_precision(float(rates[name]), recall, fpr) for name in (low, high))
        numbers = [format_number(rate, 2) for rate in (recall, fpr, at_low, at_high)]
        text += (
            f" A classifier with the same recall ({numbers[0]}) and false positive rate"
            f" ({numbers[1]}) for both would have a precision of {numbers[2]} and"
            f" {numbers[3]}. Compare recall and false positive rate first."
        )
    return f'<p class="banner" role="note">{html.escape(text)}</p>'


def _precision(base_rate: float, recall: float, fpr: float) -> float:
    true_positives = base_rate * recall
    return true_positives / (true_positives + (1 - base_rate) * fpr)


def _section(name: str, block: pd.DataFrame) -> str:
    heading = html.escape(f" of {name}" if name else "")
    order = order_groups(block)
    figures = "".join(
        _figure(measure, panel, block) for measure, panel in gap_panels(block).items()
    )
    n_hidden = len(order) - MAX_GROUPS
    note = (
        f" The {MAX_GROUPS} groups with the largest gaps; {n_hidden} more are in the table."
        if n_hidden > 0
        else ""
    )
    gaps = _gap_tables(block, order)
    return (
        f"<section><h2>Each group{heading}</h2><p>Dots with 95% intervals; the dashed line is all"
        f" items together. The groups with the largest gaps come first.{note}</p>"
        f"<div class='panels'>{figures}</div>"
        f"{_value_table(block, order)}</section><section><h2>The gaps{heading}</h2>"
        "<p>Positive: worse for the group. “Could be missed”: samples of this size detect a smaller"
        " gap in fewer than four of five cases. n: the items that the measure is a proportion of."
        "</p>"
        f"{_largest_table(block)}{gaps}</section>"
    )


def _figure(measure: str, panel: alt.LayerChart, block: pd.DataFrame) -> str:
    spec = make_spec(panel.configure(**CONFIG))
    data = base64.b64encode(vl_convert.vegalite_to_svg(spec).encode()).decode()
    rows = block[(block["kind"] == "value") & (block["measure"] == measure)]
    records = rows.head(MAX_GROUPS).to_dict("records")
    values = ", ".join(f"{row['group']} {format_number(row['value'], 2)}" for row in records)
    alt_text = html.escape(f"{measure_title(measure)} by group: {values}", quote=True)
    return f'<figure><img alt="{alt_text}" src="data:image/svg+xml;base64,{data}"></figure>'


def _value_table(block: pd.DataFrame, order: Sequence[str]) -> str:
    values = block[block["kind"] == "value"]
    measures = list(values["measure"].unique())
    cells = {(row["group"], row["measure"]): row for row in values.to_dict("records")}
    rows = []
    for group in [*order, ALL]:
        group_cells = [cells.get((group, measure)) for measure in measures]
        if any(group_cells):
            n = max(int(row["support"]) for row in group_cells if row)
            rows.append([group, f"{n:,}", *map(_cell, group_cells)])
    return _table(["group", "n", *map(measure_title, measures)], rows)


def _gap_tables(block: pd.DataFrame, order: Sequence[str]) -> str:
    """Format one table for two groups, or one table per measure for more."""
    gaps = block[block["kind"] == "gap"]
    if len(gaps[["privileged", "unprivileged"]].drop_duplicates()) == 1:
        names = [measure_title(str(name)) for name in gaps["measure"]]
        return _gap_table(gaps.to_dict("records"), names)
    rank = {name: number for number, name in enumerate(order)}
    tables = []
    for measure, gap_rows in gaps.groupby("measure", sort=False):
        rows = sorted(gap_rows.to_dict("records"), key=lambda row: rank[row["unprivileged"]])
        title = html.escape(capitalise(measure_title(str(measure))))
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
        "could be missed": [format_number(_could_be_missed(row), 2) for row in rows],
        "n": [_whole(row["support_unprivileged"]) for row in rows],
        "n compared": [_whole(row["support_privileged"]) for row in rows],
        "why no value": [str(row["reason"]) for row in rows],
    }
    filled = {name: column for name, column in columns.items() if any(column)}
    return _table(list(filled), list(zip(*filled.values(), strict=True)))


def _largest_table(block: pd.DataFrame) -> str:
    largest = block[(block["kind"] == "max_difference") & block["value"].notna()].to_dict("records")
    if not largest:
        return ""
    rows = [
        [
            measure_title(row["measure"]),
            str(row["unprivileged"]),
            str(row["privileged"]),
            _cell(row),
            _whole(row["support_unprivileged"]),
            _whole(row["support_privileged"]),
        ]
        for row in largest
    ]
    head = ["measure", "worst", "best", "difference", "n worst", "n best"]
    return f"<h3>Furthest apart</h3>{_table(head, rows)}"


def _could_be_missed(row: Row) -> float:
    """Return the gap that samples of this size detect with power .8: 2.8 standard errors."""
    return float(row["high"] - row["low"]) / 2 * MISSED_FACTOR


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    text_columns = {"measure", "group", "compared with", "worst", "best", "why no value"}
    classes = [' class="text"' if name in text_columns else "" for name in head]
    headings = "".join(
        f'<th scope="col"{css_class}>{html.escape(name)}</th>'
        for name, css_class in zip(head, classes, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td{css_class} data-name="{html.escape(name)}">{html.escape(cell)}</td>'
            for name, css_class, cell in zip(head, classes, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    table = f"<table><thead><tr>{headings}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class='wide cards' tabindex='0' role='region' aria-label='Table'>{table}</div>"


def _cell(row: Row | None, *, plus: bool = False) -> str:
    if row is None or isnan(row["value"]):
        return "-"
    return f"{_signed(row['value'], plus=plus)} {_ends(row)}".strip()


def _ends(row: Row, *, flipped: bool = False) -> str:
    ends = [row["low"], row["high"]]
    if isnan(ends[0]):
        return ""
    low, high = (-ends[1], -ends[0]) if flipped else ends
    return f"[{format_number(low, 2)},{format_number(high, 2)}]"


def _signed(value: float, *, plus: bool = False) -> str:
    return ("+" if plus and round(value, 2) > 0 else "") + format_number(value, 2)


def _whole(value: object) -> str:
    return f"{int(str(value)):,}" if str(value).isdigit() else ""
