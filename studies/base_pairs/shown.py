"""What a study of base pairs shows of its estimates, by which names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.frame import labels, texts

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


def point_names(points: pd.DataFrame) -> dict[str, str]:
    """What each point is called: its embedding, whatever varies between points, and whether its
    data are generated.
    """
    columns = {name: labels(points, name) for name in NAMING if name in points}
    varied = [
        [f"{name} {value}" for value in each] for name, each in columns.items() if len({*each}) > 1
    ]
    stamps = ["synthetic data" * (each == "True") for each in texts(points, "generated")]
    rows = zip(texts(points, "point"), texts(points, "embedding"), *varied, stamps, strict=True)
    return {point: ", ".join(filter(None, rest)) for point, *rest in rows}


def estimate_title(statistic: str, other: str) -> str:
    """What an estimate is called in tables and figures."""
    return TITLES[statistic].format(other.replace("_", " "))


def shown_tables(found: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables of the page by their headings: as the study's, a column a base pair."""
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
    return tables


def _varying(table: pd.DataFrame) -> pd.DataFrame:
    """The table without names that are the same in all rows: one file of vectors, no other."""
    names = [name for name in ("vectors", "other") if name in table]
    return table.drop(columns=[name for name in names if len(set(table[name])) == 1])


def _columns(rows: pd.DataFrame, *more: str) -> pd.DataFrame:
    names = ("vectors", "query", "statistic", "metric", "other", "pair", *INTERVALS, *more)
    kept = [name for name in (*names, "words", "pairs", "reason") if name in rows]
    table = _varying(rows[[name for name in kept if any(texts(rows, name))]])
    over_pairs = {f"pairs_{end}": f"over_pairs_{end}" for end in ("low", "high")}
    if "pairs_low" in table:
        table.insert(list(table).index("pairs_low"), "over_pairs", table["value"])
    return table.rename(columns=over_pairs)
