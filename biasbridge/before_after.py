"""Scores before and after an intervention, in one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING

from files import InputError
from intrinsic.resampling import RESAMPLES
from intrinsic.score import percentiles

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from intrinsic.metric import Metric
    from intrinsic.score import Score


def compare(rows: Iterable[tuple[Sequence[Score], Sequence[Score]]]) -> pd.DataFrame:
    """A row a score, with the columns metric, query, part, n (words or items), before, after, and
    low and high of the change; a score that is measured twice stands once.
    """
    from pandas import DataFrame

    found = [
        (old.metric, old.query, old.part, old.n_found, old.value, new.value, *_interval(old, new))
        for before, after in rows
        for old, new in zip(before, after, strict=True)
    ]
    names = ["metric", "query", "part"]
    table = DataFrame(found, columns=[*names, "n", "before", "after", "low", "high"])
    return table.drop_duplicates(names, ignore_index=True)


def _interval(old: Score, new: Score) -> tuple[float, float]:
    """The 95% interval of the change, over the same resampled words or items before and after."""
    changes = [after - before for before, after in zip(old.resampled, new.resampled, strict=False)]
    return percentiles(changes, len(changes)) if changes else (nan, nan)


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
                [name],
                queries=there,
                language=language,
                case="lower",
                similarity=similarity,
                resamples=RESAMPLES if name == "weat" else 0,  # the others take minutes
            )
        except InputError:  # there is none in the language
            if name == "sq":
                raise
    return found


def print_scores(table: pd.DataFrame) -> None:
    """The table as text, and which scores have no value."""
    rows = [("", "n", "before", "after", "change [95%]")]
    without = []
    for *names, n, before, after, low, high in table.itertuples(index=False):
        label = " ".join(filter(None, names))
        if isnan(before) and isnan(after):
            without.append(label)
        else:
            interval = "" if isnan(low) else f" [{low:+.2f}, {high:+.2f}]"
            change = f"{after - before:+.2f}{interval}"
            rows.append((label, str(n), f"{before:.4f}", f"{after:.4f}", change))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for label, n, before, after, change in rows:
        cells = f"{n:>{widths[1]}}  {before:>{widths[2]}}  {after:>{widths[3]}}  {change}"
        print(f"{label:<{widths[0]}}  {cells}")
    if without:
        print(f"no value, for their words are not there: {', '.join(without)}")
