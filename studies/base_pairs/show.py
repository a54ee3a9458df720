"""The estimates of a study of base pairs on the terminal and as tables of its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.frame import labels, texts
from analysis.show import estimate, print_table, short
from studies.base_pairs.analogies import UNAIDED
from studies.charts import rows_of

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
# Of the page: a row an estimate over all pairs, and then a column a base pair
OVERALL = {
    "Scores over the vocabulary (table 1)": ("mean", "sd"),
    "Agreement of the pairs (table 2)": ("fleiss", "unanimous", "magnitude"),
}
BY_PAIR = {
    "Pairs against their other forms, Cohen's kappa (table 3)": "pair_form",
    "Words against their other forms, Cohen's kappa (table 4)": "word_form",
    "Directions against those known, Cohen's kappa (table 5)": "truth",
    "Measures against each other, Cohen's kappa (table 6)": "measures",
    "r of the cosine of two pairs' differences and their kappa (figure 2)": "cosine_r",
    "Unrelated analogies that each pair solves": "solved",
}
INTERVALS = ("value", "low", "high", "pairs_low", "pairs_high")
NAMED_LOST = 8
LEGEND = (
    "value [95% over words] (95% over base pairs); - : too few words, or all in one direction;"
    " Cohen's kappas are means over the pairs"
)


def point_names(points: pd.DataFrame) -> dict[str, str]:
    """What each point is called: its embedding, whatever varies between points, and whether its
    data are generated.
    """
    columns = {name: labels(points, name) for name in NAMING if name in points}
    varied = [
        [f"{name} {value}" for value in each] for name, each in columns.items() if len({*each}) > 1
    ]
    stamps = ["generated data" * (each == "True") for each in texts(points, "generated")]
    rows = zip(texts(points, "point"), texts(points, "embedding"), *varied, stamps, strict=True)
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
            size = f"{part['words'].max()} words, {part['pairs'].max()} base pairs"
            print_table(f"{vectors}: {query}, {size}", _by_metric(part), console, left={"estimate"})
            if line := lost[str(point), str(query)]:
                console.print(line, highlight=False, markup=False)
        if solved.any():
            title = f"{vectors}: analogies of unrelated pairs of words solved"
            print_table(title, _analogies(of_point[solved]), console, left={"query"})
    console.print(LEGEND, highlight=False, markup=False)


def estimate_title(statistic: str, other: str) -> str:
    """What an estimate is called in tables and figures."""
    return TITLES[statistic].format(other.replace("_", " "))


def _by_metric(part: pd.DataFrame) -> list[dict[str, str]]:
    """A row for each estimate, with a cell for each metric."""
    empty = {"words": "", **dict.fromkeys(part["metric"], "")}
    lines: dict[tuple[str, int], dict[str, str]] = {}
    for row in rows_of(part):
        name = estimate_title(row["statistic"], row["other"])
        line = lines.setdefault((name, row["words"]), {"estimate": name, **empty})
        line |= {"words": str(row["words"]), row["metric"]: _cell(row)}
    return list(lines.values())


def _analogies(solved: pd.DataFrame) -> list[dict[str, str]]:
    """A row for each query of unrelated analogies: the share solved by base pairs, and by none."""
    lines: dict[str, dict[str, str]] = {}
    for row in rows_of(solved):
        query = row["query"].removeprefix("unrelated_")
        empty = {"query": query, "number": "", "by base pairs": "-", "by x alone": "-"}
        line = lines.setdefault(query, empty)
        if row["other"] == UNAIDED:
            line["by x alone"] = _cell(row)
        elif row["other"] == "partners":
            line |= {"number": str(row["words"]), "by base pairs": _cell(row)}
    return list(lines.values())


def _cell(row: dict[str, float]) -> str:
    value, low, high, pairs_low, pairs_high = (row[name] for name in INTERVALS)
    over_pairs = f"\n({short(pairs_low)},{short(pairs_high)})" if pairs_low == pairs_low else ""
    return estimate(value, low, high) + over_pairs


def _lost(readings: dict[str, Readings]) -> str:
    """What no metric could be asked about, for it is outside the vocabulary."""
    every = list(
        dict.fromkeys(
            word for each in readings.values() for words in each.lost.values() for word in words
        )
    )
    names = ", ".join(every[:NAMED_LOST]) + (", ..." if len(every) > NAMED_LOST else "")
    return f"outside the vocabulary: {len(every)} ({names})" if every else ""


def page_tables(found: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The tables of the page, each with its heading: as the study's, a column a base pair."""
    overall = found[found["pair"].eq("")]
    tables = {
        heading: _columns(overall[overall["statistic"].isin(statistics)])
        for heading, statistics in OVERALL.items()
    }
    for heading, statistic in BY_PAIR.items():
        rows = found[found["statistic"].eq(statistic)]
        by_pair = rows.assign(pair=rows["pair"].replace("", "all"))
        wide = by_pair.pivot_table(
            index=["vectors", "query", "metric", "other"],
            columns="pair",
            values="value",
            sort=False,
            dropna=False,
        )
        tables[heading] = _varying(wide.dropna(how="all").reset_index())
    tables["Cosines"] = _columns(overall[overall["statistic"].isin(("cosine", "cosine_sd"))])
    if "published" in found:
        rows = found[found["published"].notna()]
        tables["Beside the published numbers"] = _columns(rows, "published")
    tables["Every estimate over all pairs"] = _columns(overall)
    return [(heading, table) for heading, table in tables.items() if len(table)]


def _varying(table: pd.DataFrame) -> pd.DataFrame:
    """The table without names that are the same in all rows: one file of vectors, no other."""
    names = [name for name in ("vectors", "other") if name in table]
    return table.drop(columns=[name for name in names if len(set(table[name])) == 1])


def _columns(rows: pd.DataFrame, *more: str) -> pd.DataFrame:
    names = ("vectors", "query", "statistic", "metric", "other", "pair", *INTERVALS, *more)
    kept = [name for name in (*names, "words", "pairs", "reason") if name in rows]
    return _varying(rows[[name for name in kept if any(texts(rows, name))]])
