"""The estimates of a study of base pairs on the terminal and as tables of its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from analysis.columns import labels, numbers, text_rows, texts
from analysis.show import estimate, short
from studies.base_pairs.analogies import UNAIDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from rich.console import Console

    from studies.base_pairs.readings import Readings

NAMING = ("method", "direction", "dose", "stereotype", "sentences", "changed", "dim", "seed")
TITLES = {
    "fleiss": "Fleiss kappa of the pairs",
    "unanimous": "one direction for all pairs",
    "magnitude": "changes of magnitude",
    "cosine_r": "r of cosine and kappa of two pairs",
    "pair_form": "pairs in {}",
    "word_form": "words in {}",
    "truth": "known: {}",
    "measures": "with {}",
}
PAGES = {
    "pair_form": "Pairs against their other forms, Cohen's kappa (table 3)",
    "word_form": "Words against their other forms, Cohen's kappa (table 4)",
    "truth": "Directions against those known, Cohen's kappa (table 5)",
    "measures": "Measures against each other, Cohen's kappa (table 6)",
    "cosine_r": "r of the cosine of two pairs' differences and their kappa (figure 2)",
    "solved": "Unrelated analogies that each pair solves",
}
INTERVALS = ("value", "low", "high", "pairs_low", "pairs_high")
NAMED_LOST = 8


def point_names(points: pd.DataFrame) -> dict[str, str]:
    """What each point is called: its embedding, whatever varies between points, and whether its
    data are generated.
    """
    columns = {name: labels(points, name) for name in NAMING if name in points}
    varied = {name: each for name, each in columns.items() if len(set(each)) > 1}
    told = [[f"{name} {value}" for value in each] for name, each in varied.items()]
    stamps = ["generated data" * (each == "True") for each in texts(points, "generated")]
    rows = zip(texts(points, "point"), texts(points, "embedding"), *told, stamps, strict=True)
    return {point: ", ".join(filter(None, rest)) for point, *rest in rows}


def print_base_pairs(
    found: pd.DataFrame,
    every: Sequence[tuple[str, str, dict[str, Readings]]],
    console: Console,
) -> None:
    """A block a point and query: a line an estimate over all pairs, a column a metric."""
    lost = {(point, query): _lost(readings) for point, query, readings in every}
    overall = found[found["pair"].eq("") & found["statistic"].isin([*TITLES, "solved"])]
    for (vectors, point), of_point in overall.groupby(["vectors", "point"], sort=False):
        solved = of_point["statistic"].eq("solved")
        for query, part in of_point[~solved].groupby("query", sort=False):
            metrics = list(dict.fromkeys(texts(part, "metric")))
            drawn = _table(str(query), metrics)
            for name, row in _lines(part).items():
                drawn.add_row(name, *(row.get(metric, "") for metric in metrics))
            console.print(f"{vectors}: {_sizes(part)}", style="bold", highlight=False)
            console.print(drawn)
            if told := lost[str(point), str(query)]:
                console.print(told, highlight=False, markup=False)
        if solved.any():
            console.print(f"{vectors}: analogies solved", style="bold", highlight=False)
            console.print(_analogies(of_point[solved]))
    console.print(
        "value [95% over words] (95% over base pairs); - : too few words, or all in one direction;"
        " Cohen's kappas are means over the pairs",
        highlight=False,
        markup=False,
    )


def _table(first: str, columns: Sequence[str]) -> Table:
    drawn = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)
    drawn.add_column(first)
    for name in columns:
        drawn.add_column(name, justify="right", no_wrap=True)
    return drawn


def _analogies(solved: pd.DataFrame) -> Table:
    """A line a query of unrelated analogies: the share solved by base pairs, and by none."""
    drawn = _table("unrelated pairs of words", ("number", "by base pairs", "by x alone"))
    for query, part in solved.groupby("query", sort=False):
        rows = {
            other: [words, _cell(*cells)]
            for other, words, *cells in zip(
                texts(part, "other"),
                texts(part, "words"),
                *(numbers(part, name).tolist() for name in INTERVALS),
                strict=True,
            )
        }
        by_pairs, alone = (rows.get(name, ["", "-"]) for name in ("partners", UNAIDED))
        drawn.add_row(str(query).removeprefix("unrelated_"), *by_pairs, alone[1])
    return drawn


def _cell(value: float, low: float, high: float, pairs_low: float, pairs_high: float) -> str:
    over_pairs = f"\n({short(pairs_low)},{short(pairs_high)})" if pairs_low == pairs_low else ""
    return estimate(value, low, high) + over_pairs


def _sizes(part: pd.DataFrame) -> str:
    words, pairs = (int(max(numbers(part, name), default=0)) for name in ("words", "pairs"))
    return f"{words} words, {pairs} base pairs"


def _lines(part: pd.DataFrame) -> dict[str, dict[str, str]]:
    """For each line of the table its cells by metric."""
    lines: dict[str, dict[str, str]] = {}
    columns = (numbers(part, name).tolist() for name in INTERVALS)
    told = text_rows(part, ("statistic", "other", "metric", "words"))
    for (statistic, other, metric, words), *cells in zip(told, *columns, strict=True):
        name = f"{TITLES[statistic].format(other.replace('_', ' '))}\n  {words} words"
        lines.setdefault(name, {})[metric] = _cell(*cells)
    return lines


def _lost(readings: dict[str, Readings]) -> str:
    """What no metric could be asked about, for it is outside the vocabulary."""
    every: dict[str, None] = {}
    for reading in readings.values():
        every |= dict.fromkeys(word for words in reading.lost.values() for word in words)
    names = ", ".join(list(every)[:NAMED_LOST]) + (", ..." if len(every) > NAMED_LOST else "")
    return f"outside the vocabulary: {len(every)} ({names})" if every else ""


def wide_tables(found: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The tables of the page, each with its heading: as the study's, a column a base pair."""
    keys = ["vectors", "query", "metric"]
    tables = [
        ("Scores over the vocabulary (table 1)", _long(found, ("mean", "sd"))),
        ("Agreement of the pairs (table 2)", _long(found, ("fleiss", "unanimous", "magnitude"))),
    ]
    for statistic, heading in PAGES.items():
        rows = found[found["statistic"].eq(statistic)]
        if not len(rows):
            continue
        by_pair = rows.assign(pair=[pair or "all" for pair in texts(rows, "pair")])
        wide = by_pair.pivot_table(
            index=[*keys, "other"], columns="pair", values="value", sort=False, dropna=False
        )
        tables.append((heading, _told(wide.dropna(how="all").reset_index())))
    tables.append(("Cosines", _long(found, ("cosine", "cosine_sd"))))
    if "published" in found:
        rows = found[found["published"].notna()]
        tables.append(("Beside the published numbers", _columns(rows, "published")))
    tables.append(("Every estimate over all pairs", _columns(found[found["pair"].eq("")])))
    return [(heading, table) for heading, table in tables if len(table)]


def _told(table: pd.DataFrame) -> pd.DataFrame:
    """The table without the names that tell nothing: one file of vectors, no other."""
    names = [name for name in ("vectors", "other") if name in table]
    return table.drop(columns=[name for name in names if len(set(texts(table, name))) == 1])


def _long(found: pd.DataFrame, statistics: Sequence[str]) -> pd.DataFrame:
    return _columns(found[found["statistic"].isin(statistics) & found["pair"].eq("")])


def _columns(rows: pd.DataFrame, *more: str) -> pd.DataFrame:
    names = ["vectors", "query", "statistic", "metric", "other", "pair"]
    told = [*names, *INTERVALS, *more, "words", "pairs", "reason"]
    return _told(rows[[name for name in told if name in rows and any(texts(rows, name))]])
