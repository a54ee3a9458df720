"""Tables of the report of the study of base pairs, and the titles of its estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasbridge.analysis.frame import as_labels, as_text

if TYPE_CHECKING:
    import pandas as pd

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
# Tables of the page with one column per base pair
BY_PAIR = {
    "Pairs against their other forms, Cohen's kappa (table 3)": "pair_form",
    "Words against their other forms, Cohen's kappa (table 4)": "word_form",
    "Directions against those known, Cohen's kappa (table 5)": "truth",
    "Measures against each other, Cohen's kappa (table 6)": "measures",
    "r of the cosine of two pairs' differences and their kappa (figure 2)": "cosine_r",
    "Unrelated analogies that each pair solves": "solved",
}
INTERVALS = ("value", "low", "high", "pairs_low", "pairs_high")


def point_names(points: pd.DataFrame) -> dict[str, str]:
    """Name each point: its embedding, the columns that vary, and a stamp for generated data."""
    columns = {name: as_labels(points, name) for name in NAMING if name in points}
    varying = [
        [f"{name} {value}" for value in values]
        for name, values in columns.items()
        if len({*values}) > 1
    ]
    stamps = ["synthetic data" * (flag == "True") for flag in as_text(points, "generated")]
    rows = zip(
        as_text(points, "point"), as_text(points, "embedding"), *varying, stamps, strict=True
    )
    return {point: ", ".join(filter(None, parts)) for point, *parts in rows}


def estimate_title(statistic: str, other: str) -> str:
    """Return the title of an estimate in tables and figures."""
    return TITLES[statistic].format(other.replace("_", " "))


def report_tables(estimates: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables of the page by heading; like the paper's, with one column per base pair."""
    overall = estimates[estimates["pair"].eq("")]
    extra = ["published"] if "published" in estimates else []
    tables = {"Every estimate over all pairs (tables 1 and 2)": _estimate_columns(overall, *extra)}
    for heading, statistic in BY_PAIR.items():
        rows = estimates[estimates["statistic"].eq(statistic)]
        by_pair = rows.assign(pair=rows["pair"].replace("", "all"))
        wide = by_pair.pivot_table(
            index=["vectors", "query", "metric", "compared_with"],
            columns="pair",
            values="value",
            sort=False,
            dropna=False,
        )
        tables[heading] = _drop_constant_names(wide.dropna(how="all").reset_index())
    return tables


def _drop_constant_names(table: pd.DataFrame) -> pd.DataFrame:
    names = [name for name in ("vectors", "compared_with") if name in table]
    return table.drop(columns=[name for name in names if len(set(table[name])) == 1])


def _estimate_columns(rows: pd.DataFrame, *extra_columns: str) -> pd.DataFrame:
    names = ("vectors", "query", "statistic", "metric", "compared_with", "pair", *INTERVALS)
    columns = [
        name for name in (*names, *extra_columns, "words", "pairs", "reason") if name in rows
    ]
    table = _drop_constant_names(rows[[name for name in columns if any(as_text(rows, name))]])
    over_pairs = {f"pairs_{end}": f"over_pairs_{end}" for end in ("low", "high")}
    if "pairs_low" in table:
        table.insert(list(table).index("pairs_low"), "over_pairs", table["value"])
    return table.rename(columns=over_pairs)
