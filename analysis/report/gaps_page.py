"""The page of somebody's predictions: what each group gets, who fares worse, how sure that is."""

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
from analysis.gap_charts import ALL, MOST_GROUPS, gap_panels, order_groups
from analysis.naming import capital, measure_title
from analysis.report.frame import build_page, fill
from analysis.show import short
from files import atomic_path
from files.charts import make_spec
from files.tables import without_control

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
LEVEL = 0.05
ERRORS = ("fpr", "fnr")  # the smaller the better
MOVED_BY_BASE_RATES = ("precision", "f1", "accuracy", "selection_rate")
SEEN_IN_FOUR_OF_FIVE = (1.959964 + 0.841621) / 1.959964  # of half an interval: power .8 at .05
FAR_APART = 0.1  # base rates, from which precision gaps need a caution


def write_gaps_page(
    table: pd.DataFrame, path: Path, title: str, *, label: str = "of label 1"
) -> Path:
    """Write the page of a table of gaps, as ``biasbridge.gaps`` returns it; it needs no network.

    A section for each classifier and class; ``title``: what was predicted; ``label``: what an item
    of label 1 is called.
    """
    blocks = _blocks(without_control(table))
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
    """The rows of each classifier and class, by name; one without a name where there is one."""
    by = [name for name in ("classifier", "subset") if name in table]
    if not by:
        return {"": table}
    label = {"classifier": "", "subset": "class "}
    names = [label[name] + table[name].where(table[name].ne(""), "") for name in by]
    joined = names[0] if len(names) == 1 else names[0] + ", " + names[1]
    return {str(name): rows for name, rows in table.groupby(joined, sort=False)}


def _answer(block: pd.DataFrame, label: str) -> str:
    gaps = block[(block["kind"] == "gap")]
    if len(gaps[["privileged", "unprivileged"]].drop_duplicates()) == 1:
        first, lines = "", [_pair_sentence(row) for row in gaps.to_dict("records")]
    else:
        first, lines = _many_sentences(block, gaps)
    listed = "".join(f"<li>{line}</li>" for line in lines)
    return f"<div class='card'>{first}<ul>{listed}</ul></div>{_base_rates(block, label)}"


def _many_sentences(block: pd.DataFrame, gaps: pd.DataFrame) -> tuple[str, list[str]]:
    """What is beyond chance among all comparisons, what may be chance; differences that base rates
    make by themselves come last.
    """
    known = gaps[gaps["value"].notna()].to_dict("records")
    wider = NormalDist().inv_cdf(1 - LEVEL / 2 / max(1, len(known))) / NormalDist().inv_cdf(0.975)
    apart = [row for row in known if row["low"] > 0 or row["high"] < 0]
    sure = [row for row in apart if _beyond(row, wider)]
    of_rates = MOVED_BY_BASE_RATES if _base_rates(block, "") else ()
    own = sorted(
        (row for row in sure if row["measure"] not in of_rates), key=lambda row: -abs(row["value"])
    )
    worse, better = [r for r in own if r["value"] > 0], [r for r in own if r["value"] < 0]
    lines = [_group_sentence(row, block) for row in worse[:NAMED]]
    more = f"Worse too: {_listed(worse[NAMED:])}."
    lines += [more] if len(worse) > NAMED else []
    lines += [f"Better than others: {_listed(better)}."] if better else []
    if moved := [row for row in sure if row["measure"] in of_rates]:
        measures = " and ".join(dict.fromkeys(measure_title(row["measure"]) for row in moved))
        which = ", ".join(dict.fromkeys(html.escape(row["unprivileged"]) for row in moved))
        lines.append(
            f"{capital(measures)} differ for {which}, as they must where base rates do (below)."
        )
    unsure = [row for row in apart if row not in sure]
    if unsure:
        chance = max(1, round(LEVEL * len(known)))
        lines.append(
            f"May be chance: {_listed(unsure)}. Of {len(known)} comparisons about {chance}"
            " would look like these if all groups were treated alike."
        )
    asked = [row for row in known if row["measure"] not in of_rates]
    of = " and ".join(dict.fromkeys(measure_title(row["measure"]) for row in asked))
    number = f"{len(own)} of {len(asked)}" if own else f"None of {len(asked)}"
    verb = "differs" if len(own) < 2 else "differ"
    first = f"{number} comparisons of {of} {verb} beyond chance."
    return f'<p class="first">{first}</p>', lines


def _beyond(row: Row, wider: float) -> bool:
    """Whether 0 lies outside the interval made so many times wider."""
    to_zero = row["value"] - row["low"] if row["value"] > 0 else row["high"] - row["value"]
    return bool(abs(row["value"]) > wider * to_zero)


def _group_sentence(row: Row, block: pd.DataFrame) -> str:
    """``False positive rate is worse for x: .24, others .08; gap .17 [.13,.21] (n 434)``."""
    found = block[(block["kind"] == "value") & (block["measure"] == row["measure"])]
    value = dict(zip(found["group"], found["value"], strict=True)).get(row["unprivileged"], nan)
    other = value - row["value"] if row["measure"] in ERRORS else value + row["value"]
    name, group = capital(measure_title(row["measure"])), html.escape(row["unprivileged"])
    others = "others" if row["privileged"] == REST else html.escape(row["privileged"])
    return (
        f"<b>{name} is worse for {group}</b>: {short(value, 2)}, {others} {short(other, 2)}; gap"
        f" {_signed(row['value'])} {_ends(row)} (n {row['support_unprivileged']:,})."
    )


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


def _listed(rows: Sequence[Row]) -> str:
    named = [
        f"{html.escape(row['unprivileged'])}, {measure_title(row['measure'])}"
        f" {_signed(row['value'], plus=True)} {_ends(row)} (n {row['support_unprivileged']:,})"
        for row in rows[:NAMED]
    ]
    more = len(rows) - len(named)
    return "; ".join(named) + (f"; and {more} more in the tables" if more else "")


def _base_rates(block: pd.DataFrame, label: str) -> str:
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
        f"Base rates differ: {rates[low]:.0%} of the items of “{low}” are {label},"
        f" {rates[high]:.0%} of those of “{high}”. That alone moves precision and F1."
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
        f" items together. The groups with the largest gaps come first.{note}</p>"
        f"<div class='panels'>{figures}</div>"
        f"{_value_table(block, order)}</section><section><h2>The gaps{heading}</h2>"
        "<p>Positive: worse for the group. “Could be missed”: so many items show a smaller gap in"
        " fewer than four of five samples. n: the items that the measure is a share of.</p>"
        f"{_far_table(block)}{gaps}</section>"
    )


def _figure(measure: str, panel: alt.LayerChart, block: pd.DataFrame) -> str:
    spec = make_spec(panel.configure(**CONFIG))
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


def _far_table(block: pd.DataFrame) -> str:
    """The two groups furthest apart in each measure."""
    far = block[(block["kind"] == "largest") & block["value"].notna()].to_dict("records")
    if not far:
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
        for row in far
    ]
    head = ["measure", "worst", "best", "difference", "n worst", "n best"]
    return f"<h3>Furthest apart</h3>{_table(head, rows)}"


def _could_be_missed(row: Row) -> float:
    """The gap that four of five samples of this size would show: 2.8 standard errors."""
    return float(row["high"] - row["low"]) / 2 * SEEN_IN_FOUR_OF_FIVE


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    text = {"measure", "group", "compared with", "worst", "best", "why no value"}
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
    return ("+" if plus and round(value, 2) > 0 else "") + short(value, 2)


def _whole(value: object) -> str:
    return f"{int(str(value)):,}" if str(value).isdigit() else ""
