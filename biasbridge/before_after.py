"""Scores before and after an intervention, in one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING

from files import InputError

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from intrinsic.metric import Metric
    from intrinsic.score import Score


def compare(rows: Iterable[tuple[Sequence[Score], Sequence[Score]]]) -> pd.DataFrame:
    """A row a score, with the columns metric, query, part, before and after; a score that is
    measured twice stands once.
    """
    from pandas import DataFrame

    found = [
        (old.metric, old.query, old.part, old.value, new.value)
        for before, after in rows
        for old, new in zip(before, after, strict=True)
    ]
    names = ["metric", "query", "part"]
    table = DataFrame(found, columns=[*names, "before", "after"])
    return table.drop_duplicates(names, ignore_index=True)


def compare_vectors(
    metrics: Iterable[Metric], before: KeyedVectors, after: KeyedVectors
) -> pd.DataFrame:
    """The scores of vectors; NaN where they lack the words."""
    return compare((each.score(before, seed=0), each.score(after, seed=0)) for each in metrics)


def usual_metrics(language: str, similarity: Sequence[str]) -> list[Metric]:
    """What vectors are compared by: the gender tests of WEAT, and what they are good for, analogies
    and word similarity.
    """
    from intrinsic.audit import choose_metrics
    from intrinsic.wordsets import in_language

    tests = ("weat6b", "weat7", "weat8")
    asked: list[tuple[str, Sequence[str]]] = [("weat", [name]) for name in tests]
    asked += [("analogies", ()), *([("sq", ())] if similarity else [])]
    found: list[Metric] = []
    for name, queries in asked:
        try:
            there = in_language(queries, language) if queries else ()
            found += choose_metrics(
                [name], queries=there, language=language, case="lower", similarity=similarity
            )
        except InputError:  # there is none in the language
            if name == "sq":
                raise
    return found


def print_scores(table: pd.DataFrame) -> None:
    """The table as text, and which scores have no value."""
    rows: dict[str, str] = {}
    without = []
    for *names, before, after in table.itertuples(index=False):
        label = " ".join(filter(None, names))
        if isnan(before) and isnan(after):
            without.append(label)
        else:
            rows[label] = f"{before:8.4f} -> {after:8.4f}"
    width = max(map(len, rows), default=0)
    print(f"{'':<{width}} {'before':>8} -> {'after':>8}")
    for label, change in rows.items():
        print(f"{label:<{width}} {change}")
    if without:
        print(f"no value, for their words are not there: {', '.join(without)}")
