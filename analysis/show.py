"""Tables on the terminal, as a rule within 100 columns, every estimate with its interval beside
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from rich.measure import Measurement
from rich.segment import Segments
from rich.table import Table
from rich.text import Text

from analysis.frame import numbers, text_rows, texts
from analysis.naming import (
    ALL,
    FAMILY,
    GAP,
    SCORE,
    SLICE_COLUMNS,
    gap_titles,
    row_names,
    score_titles,
    shown_columns,
    taggers,
)
from files.masking import mask_slurs

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.findings import Finding

NOTHING = "-"
SCORES_SHOWN = 4
ROWS_SHOWN = 20
WIDTH, COLUMNS = 100, 10
FURTHER = ("lost", "given utility", "given condition")  # left out of a wide table, in this order
R_RM = "r_rm, repeated-measures correlation within parents"
HOLM = "p (Holm)"
LEFT = {*SLICE_COLUMNS, "direction", "status", "note"}


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


def estimates(
    table: pd.DataFrame, value: str = "value", low: str = "low", high: str = "high"
) -> list[str]:
    """The value of each row with its interval."""
    columns = (numbers(table, name).tolist() for name in (value, low, high))
    return list(map(estimate, *columns))


def p_value(p: float) -> str:
    """A p-value to four decimals: ``.0104``, ``<.0001``."""
    return "<.0001" if p < 1e-4 else short(p, 4)


def print_slices(found: Sequence[Finding], title: str, console: Console) -> None:
    """The slices of ``correlate``, one line each in at most ``COLUMNS`` columns of ``WIDTH``
    characters, then verdicts and notes.
    """
    names, mixed = list(found[0].names), not all(each.confirmatory for each in found)
    rows = [each.names | describe_slice(each, alone=mixed) for each in found]
    if not any(each.confirmatory for each in found):
        rows = [{name: cell for name, cell in row.items() if name != HOLM} for row in rows]
    same = [name for name in names if len({row[name] for row in rows}) == 1 < len(rows)]
    rows, left_out = _within_width(rows, [*same, *FURTHER])
    print_table(f"{title}: {R_RM}", rows, console, left=names)
    if left_out:
        print_lines([f"not shown: {', '.join(left_out)}; --out FILE has every column"], console)
    _print_verdicts(found, names, console)
    _print_said(found, names, [each.note for each in found], console, note=True)


def _within_width(
    rows: list[dict[str, str]], least: Sequence[str]
) -> tuple[list[dict[str, str]], list[str]]:
    """The rows without as many of the columns ``least`` as it takes, and which these are."""
    left_out: list[str] = []
    for name in least:
        widths = [max(len(each), *(len(row[each]) for row in rows)) + 2 for each in rows[0]]
        if len(widths) <= COLUMNS and sum(widths) - 2 <= WIDTH:
            break
        rows = [{key: cell for key, cell in row.items() if key != name} for row in rows]
        left_out.append(name)
    return rows, left_out


def print_correlations(found: Sequence[Finding], console: Console) -> None:
    """The confirmatory slices of ``correlate_slices``, one table per task, metric and convention,
    each with its verdict in a sentence; then the answer, of every gap that was measured.
    """
    asked = [each for each in found if each.confirmatory]
    names = pd.DataFrame([each.names for each in asked], columns=list(SLICE_COLUMNS))
    headings = row_names(names, FAMILY, ", ") if asked else []
    several = [name for name in ("embedding", "method") if len(set(names[name])) > 1]
    columns = [*several, *shown_columns(names, (*SCORE[2:], *GAP))]
    for heading in dict.fromkeys(headings):
        block = [each for each, of in zip(asked, headings, strict=True) if of == heading]
        rows = [
            {name: each.names[name] for name in columns} | describe_slice(each) for each in block
        ]
        rows, _ = _within_width(rows, FURTHER)
        synthetic = ", synthetic data" if any(each.synthetic for each in block) else ""
        print_table(f"{heading}: {R_RM}{synthetic}", rows, console)
        _print_verdicts(block, columns, console)
    print_lines(answer_lines(found), console)
    print_lines(taggers(each.group_by for each in asked), console)


def describe_slice(found: Finding, *, alone: bool = False) -> dict[str, str]:
    """What a reader is shown of a slice, on the terminal, in LaTeX and on the page; ``alone``: with
    its own p.
    """
    of = found.within
    counts = (str(each) if each else NOTHING for each in (found.n_parents, found.n_conditions))
    return {
        "models / parents / conditions": " / ".join((str(found.n), *counts)),
        "r_rm [95%]": estimate(*of.interval),
        **({"p": p_value(of.p)} if alone else {}),
        HOLM: p_value(found.p_holm),
        "given condition": estimate(*found.given_condition.interval),
        "given utility": estimate(*found.given_utility.interval),
        "lost": str(found.lost),
    }


def _print_verdicts(found: Sequence[Finding], columns: Sequence[str], console: Console) -> None:
    """What each confirmatory slice says."""
    _print_said(found, columns, [each.why if each.confirmatory else "" for each in found], console)


def _print_said(
    found: Sequence[Finding],
    columns: Sequence[str],
    texts: Sequence[str],
    console: Console,
    *,
    note: bool = False,
) -> None:
    """What there is to say of each slice, verdicts as sentences, once for all of which the same is
    said.
    """
    said: dict[str, list[str]] = {}
    for each, text in zip(found, texts, strict=True):
        if text:
            name = " ".join(filter(None, (each.names[name] for name in columns))) or "all"
            said.setdefault(text, []).append(name)
    verbs = {True: " are ", False: " is "}
    lines = (
        f"{', '.join(of)}{': ' if note else verbs[len(of) > 1]}{text}" for text, of in said.items()
    )
    print_lines(lines, console)


def answer_lines(found: Sequence[Finding]) -> list[str]:
    """Every gap that was measured, declared or not, with the scores that it rises or falls with, a
    line each: over all embeddings and methods.
    """
    whole = [
        each
        for each in found
        if each.names["embedding"] == each.names["method"] == ALL and each.names["query"] != ALL
    ]
    table = pd.DataFrame([each.names for each in whole], columns=list(SLICE_COLUMNS))
    titles = zip(gap_titles(table), score_titles(table), whole, strict=True)
    of_gap: dict[str, list[tuple[str, Finding]]] = {}
    for gap, score, each in titles:
        of_gap.setdefault(gap, []).append((score, each))
    return [_gap_line(gap, parts) for gap, parts in of_gap.items()]


def _gap_line(gap: str, parts: Sequence[tuple[str, Finding]]) -> str:
    """``recall gap (exploratory): falls with WEAT 6b -.84 [-.89,-.76]``."""
    ways: dict[str, list[str]] = {}
    for name, each in parts:
        of = each.within
        way = "rises with" if of.low > 0 else "falls with" if of.high < 0 else "no sign with"
        if not isfinite(of.r):
            way = "not measured with"
        ways.setdefault(way, []).append(f"{name} {estimate(*of.interval)}".replace(" -", " -"))
    asked = dict.fromkeys(each.verdict for _, each in parts if each.confirmatory)
    role = f"confirmatory: {', '.join(asked)}" if asked else "exploratory"
    said = "; ".join(f"{way} {', '.join(scores[:SCORES_SHOWN])}" for way, scores in ways.items())
    hidden = sum(max(0, len(scores) - SCORES_SHOWN) for scores in ways.values())
    return f"{gap} ({role}): {said}" + (f"; {hidden} more in correlations.csv" if hidden else "")


def print_lines(lines: Iterable[str], console: Console) -> None:
    """Print whole lines as they are."""
    for line in lines:
        console.print(line, soft_wrap=True)


def word_lists(words: pd.DataFrame) -> list[str]:
    """The words that were drawn from the task's posts, ``from_task, X (male), 12 points: he``, a
    line a set; where points have others, each list with how many have it.
    """
    found: dict[tuple[str, str, str], list[str]] = {}
    names = text_rows(words, ("point", "query", "role", "stands_for")) if len(words) else []
    for (point, *of), word in zip(names, texts(words, "word"), strict=True):
        query, role, stands_for = of
        found.setdefault((point, f"{query}, {role}", stands_for), []).append(mask_slurs(word))
    lists = Counter((of, side, ", ".join(each)) for (_, of, side), each in found.items())
    return [
        f"{of} ({side}), {times} point{'s' * (times > 1)}: {each}"
        for (of, side, each), times in lists.items()
    ]


def described(table: pd.DataFrame) -> dict[str, list[str]]:
    """The columns as a reader is shown them: numbers to two digits with their intervals, which are
    the columns ``NAME_low`` and ``NAME_high``, or ``low`` and ``high`` after the number.
    """
    columns: dict[str, list[str]] = {}
    names = list(map(str, table))
    for name, following in zip(names, [*names[1:], ""], strict=True):
        low = f"{name}_low" if f"{name}_low" in names else "low" if following == "low" else ""
        if low:
            columns[name] = estimates(table, name, low, low.replace("low", "high"))
        elif not name.endswith(("low", "high")) and any(cells := _cells(table, name)):
            columns[name] = cells
    return columns


def worded(table: pd.DataFrame) -> list[str]:
    """The columns that hold no numbers."""
    return [
        str(name)
        for name, column in table.items()
        if is_bool_dtype(column) or not is_numeric_dtype(column)
    ]


def _cells(table: pd.DataFrame, name: str) -> list[str]:
    if name in worded(table):
        return texts(table, name)
    values = numbers(table, name)
    known = values[np.isfinite(values)]
    digits = 0 if (known == known.round()).all() else 3
    return [short(value, digits) for value in values.tolist()]


def print_described(title: str, table: pd.DataFrame, console: Console) -> None:
    """Print the first rows of a table as ``described`` has it."""
    more = f" (the first of {len(table)} rows)" if len(table) > ROWS_SHOWN else ""
    rows = as_rows(described(table))[:ROWS_SHOWN]
    print_table(title + more, rows, console, left=worded(table))


def varying(table: pd.DataFrame) -> pd.DataFrame:
    """The table without names that are the same in all its rows."""
    same = [name for name in worded(table) if len({*texts(table, name)}) < 2]
    return table.drop(columns=same) if len(table) > 1 else table


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
    if title:
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
