"""Tables on the terminal, as a rule within 100 columns, every estimate with its interval beside
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING

import pandas as pd
from rich.measure import Measurement
from rich.segment import Segments
from rich.table import Table
from rich.text import Text

from analysis.columns import numbers, text_rows, texts
from analysis.naming import (
    ALL,
    FAMILY,
    GAP,
    SCORE,
    SLICE_COLUMNS,
    TURNED,
    counted,
    gap_titles,
    row_names,
    shown,
    taggers,
)
from analysis.verdict import ROLE_PRIMARY

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.findings import Finding
    from analysis.results import Tables

NOTHING = "-"
LINES_SHOWN = 24
SCORES_SHOWN = 4
CROSSED = {
    "embedding": "share_embedding",
    "labels": "share_labels",
    "r(score)": "partial_score",
    "r(labels)": "partial_labels",
}
RIGHT_PICK = "right pick answers for these words and test items alone"
LEFT = {*SLICE_COLUMNS, "direction", "status", "verdict", "why", "note"}


def short(value: float, digits: int = 2) -> str:
    """A number that is rarely above 1, without its leading zero: ``.31``, ``-.09``, ``1.25``; ``-``
    when it is undefined.
    """
    if not isfinite(value):
        return NOTHING
    text = f"{value:.{digits}f}"
    text = text.removeprefix("-") if float(text) == 0 else text
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def estimate(
    value: float, low: float = float("nan"), high: float = float("nan"), digits: int = 2
) -> str:
    """A number with its interval: ``.31 [-.09,.62]``."""
    ends = f" [{short(low, digits)},{short(high, digits)}]"
    return short(value, digits) + (ends if isfinite(low) and isfinite(high) else "")


def estimates(table: pd.DataFrame) -> list[str]:
    """The ``value`` of each row with its interval."""
    columns = (numbers(table, name).tolist() for name in ("value", "low", "high"))
    return list(map(estimate, *columns))


def p_value(p: float) -> str:
    """A p-value to four decimals: ``.0104``, ``<.0001``."""
    return "<.0001" if p < 1e-4 else short(p, 4)


def print_slices(found: Sequence[Finding], title: str, console: Console) -> None:
    """The slices of ``correlate``: n, r with its 95% interval, rho and tau, each with its p-value,
    rows taken as independent.
    """
    rows = []
    for each in found:
        row = each.statistics
        missing = f"{row.n_missing} pairs missing" if row.n_missing else ""
        rows.append(
            each.names
            | {
                "n": str(row.n),
                "r": estimate(row.pearson, row.pearson_low, row.pearson_high),
                "p(r)": p_value(row.pearson_p),
                "rho": short(row.spearman),
                "p(rho)": p_value(row.spearman_p),
                "tau": short(row.kendall),
                "p(tau)": p_value(row.kendall_p),
                "note": "; ".join(filter(None, (row.reason, missing))),
            }
        )
    print_table(title, rows, console, left={*found[0].names, "note"})


def print_evidence(found: Sequence[Finding], console: Console, *, based: bool = True) -> None:
    """What ``correlate`` found over units: r within bases with its interval (not ``based``: over
    units, of which no bases are named), permutation p and adjusted p, r of all rows, how often the
    ranking is right, and the verdict.
    """
    r = "r within bases" if based else "r over units"
    rows = []
    for each in found:
        left_out = f"left out: {each.marks.missing}" if each.marks.missing else ""
        turned = f"score turned around ({TURNED})" if each.marks.turned else ""
        note = "; ".join(filter(None, (each.evidence.caution, turned, left_out)))
        told = {r if name == "r within bases" else name: of for name, of in _evidence(each).items()}
        if not based:
            del told["bases"]
        rows.append(each.names | told | {"why": each.judgement.why, "note": note})
    title = f"over units: {r} with its 95% interval; r of all rows with that over clusters"
    print_table(title, rows, console, left={*found[0].names, "verdict", "why", "note"})


def print_correlations(found: Sequence[Finding], console: Console) -> None:
    """The slices of ``correlate_slices`` over all methods, one table per task, metric and
    convention, exploratory verdicts in brackets, and why the primary ones have theirs; slices of
    single methods, and of measures of which none is primary, stay in the file, and where a table
    would be longer than 24 lines all but the primary ones do.
    """
    declared = {each.names["measure"] for each in found if each.judgement.role == ROLE_PRIMARY}
    all_methods = [each for each in found if each.names["method"] == ALL]
    whole = [each for each in all_methods if each.names["measure"] in declared or not declared]
    names = pd.DataFrame([each.names for each in whole], columns=list(SLICE_COLUMNS))
    columns = shown(names, (*SCORE[2:], *GAP))
    headings = row_names(names, FAMILY, ", ")
    left_out = len(all_methods) - len(whole)
    for heading in dict.fromkeys(headings):
        every = [each for each, of in zip(whole, headings, strict=True) if of == heading]
        asked = [each for each in every if each.judgement.role == ROLE_PRIMARY]
        block = asked if asked and len(every) > LINES_SHOWN else every
        left_out += len(every) - len(block)
        rows = [
            {name: each.names[name] for name in ("embedding", *columns)} | _evidence(each)
            for each in block
        ]
        generated = any(each.marks.generated for each in block)
        title = f"{heading}: all methods, r within bases with its 95% interval"
        if any(each.marks.turned for each in block):
            title += f", of the score turned around ({TURNED})"
        print_table(title + (", generated data" if generated else ""), rows, console)
        for each, row in zip(block, rows, strict=True):
            name = " ".join(filter(None, (row[name] for name in ("embedding", *columns))))
            for note in filter(None, _notes(each)):
                console.print(f"{name}: {note}", soft_wrap=True, highlight=False, markup=False)
    console.print(RIGHT_PICK, soft_wrap=True, highlight=False, markup=False)
    if left_out:
        told = f"{counted(left_out, 'further slice')}, all exploratory, in correlations.csv"
        console.print(told, soft_wrap=True, highlight=False, markup=False)
    for note in taggers(each.marks.group_by for each in whole):
        console.print(note, soft_wrap=True, highlight=False, markup=False)
    primary = [each.judgement for each in found if each.judgement.role == ROLE_PRIMARY]
    for (verdict, why), times in Counter((each.verdict, each.why) for each in primary).items():
        told = f"{times} of {len(primary)} primary slices, {verdict}: {why}"
        console.print(told, soft_wrap=True, highlight=False, markup=False)


def print_words(tables: Tables, console: Console) -> None:
    """The words that were drawn from the task's posts, a line a set; where points have others (of
    other posts, or another seed), each list with how many have it.
    """
    for line in word_lists(tables.words):
        console.print(line, soft_wrap=True, highlight=False, markup=False)


def word_lists(words: pd.DataFrame) -> list[str]:
    """``from_task, X (male), 12 points: he, him, ...``."""
    found: dict[tuple[str, str, str], list[str]] = {}
    names = text_rows(words, ("point", "query", "role", "stands_for")) if len(words) else []
    for (point, *of), word in zip(names, texts(words, "word"), strict=True):
        query, role, stands_for = of
        found.setdefault((point, f"{query}, {role}", stands_for), []).append(word)
    lists = Counter((of, side, ", ".join(each)) for (_, of, side), each in found.items())
    return [
        f"{of} ({side}), {times} point{'s' * (times > 1)}: {each}"
        for (of, side, each), times in lists.items()
    ]


def print_crossed(table: pd.DataFrame, console: Console) -> None:
    """The rows of ``analysis.crossed``: shares of the gap's variance and partial correlations, each
    with its interval.
    """
    columns = {
        "labels by": texts(table, "label_method"),
        "gap": gap_titles(table),
        "score": row_names(table, SCORE),
        "units": texts(table, "n_units"),
    }
    for title, name in CROSSED.items():
        ends = (numbers(table, f"{name}{end}").tolist() for end in ("", "_low", "_high"))
        columns[title] = list(map(estimate, *ends))
    title = (
        "embedding crossed with labels: shares of the gap's variance within bases; partial r of"
        " score and of label dose with the gap"
    )
    print_table(title, as_rows(columns), console, left=("labels by", "gap", "score"))


def _notes(found: Finding) -> tuple[str, str]:
    """What is said below a table: parts that disagree, embeddings that are missing."""
    missing = found.marks.missing
    return found.marks.reversal, f"left out: {missing}" if missing else ""


def _evidence(found: Finding) -> dict[str, str]:
    behind, judgement = found.evidence, found.judgement
    return {
        "n": str(found.statistics.n),
        "units": str(behind.n_units),
        "bases": str(behind.n_bases),
        "r within bases": estimate(behind.within, behind.within_low, behind.within_high),
        "p": p_value(behind.within_p),
        "adjusted": p_value(judgement.p_adjusted),
        "r": estimate(found.statistics.pearson, behind.r_low, behind.r_high),
        "right pick": estimate(behind.accuracy, behind.accuracy_low, behind.accuracy_high),
        "verdict": judgement.told,
    }


def as_rows(columns: dict[str, list[str]]) -> list[dict[str, str]]:
    """Columns as rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def print_table(
    title: str,
    rows: Sequence[dict[str, str]],
    console: Console,
    *,
    left: Iterable[str] = LEFT,
    blanks: int = 2,
) -> None:
    """Print rows under a title, the columns named in ``left`` to the left; a column ``note`` only
    where there is one.
    """
    console.print(Text(title, style="italic"), soft_wrap=True)
    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, blanks, 0, 0),
        header_style="bold",
    )
    names = list(rows[0]) if rows else []
    drawn = [name for name in names if name != "note" or any(row["note"] for row in rows)]
    for name in drawn:
        table.add_column(Text(name), justify="left" if name in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(row[name]) for name in drawn))
    # At its own width even where the console is narrower: a number broken over two lines misleads,
    # and a pipe has no width.
    natural = Measurement.get(console, console.options.update(width=1000), table).maximum
    options = console.options.update(width=max(console.width, natural))
    console.print(Segments(console.render(table, options)), crop=False, end="")
