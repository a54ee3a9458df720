"""Scores before and after an intervention, in one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING

from biasbridge.files import InputError
from biasbridge.intrinsic.resampling import RESAMPLES
from biasbridge.intrinsic.score import percentiles

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors
    from rich.console import Console

    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.score import Score


def compare(rows: Iterable[tuple[Sequence[Score], Sequence[Score]]]) -> pd.DataFrame:
    """Tabulate scores before and after, one row per score; repeated scores are dropped.

    Columns: metric, query, part, n (words or items), before, after, and low and high, the 95%
    interval of the change.
    """
    from pandas import DataFrame

    cells = [
        (old.metric, old.query, old.part, old.n_found, old.value, new.value, *_interval(old, new))
        for before, after in rows
        for old, new in zip(before, after, strict=True)
    ]
    keys = ["metric", "query", "part"]
    table = DataFrame(cells, columns=[*keys, "n", "before", "after", "low", "high"])
    return table.drop_duplicates(keys, ignore_index=True)


def _interval(old: Score, new: Score) -> tuple[float, float]:
    """Return the 95% interval of the change, over the same resampled words or items."""
    changes = [after - before for before, after in zip(old.resampled, new.resampled, strict=False)]
    return percentiles(changes, len(changes)) if changes else (nan, nan)


def compare_vectors(
    metrics: Iterable[Metric], before: KeyedVectors, after: KeyedVectors
) -> pd.DataFrame:
    """Compare the scores of vectors; NaN if words are out of vocabulary."""
    return compare(
        (metric.score(before, seed=0), metric.score(after, seed=0)) for metric in metrics
    )


def usual_metrics(language: str, similarity: Sequence[str], case: str) -> list[Metric]:
    """Return the gender tests of WEAT and two metrics of utility, analogies and similarity."""
    from biasbridge.intrinsic.audit import choose_metrics
    from biasbridge.intrinsic.words import require_queries

    tests = ("weat6b", "weat7", "weat8")
    choices: list[tuple[str, Sequence[str]]] = [("weat", [name]) for name in tests]
    choices += [("analogies", ()), *([("sq", ())] if similarity else [])]
    metrics: list[Metric] = []
    for name, queries in choices:
        try:
            metrics += choose_metrics(
                [name],
                queries=require_queries(queries, language) if queries else (),
                language=language,
                case=case,
                similarity=similarity,
                resamples=RESAMPLES if name == "weat" else 0,  # the others take minutes
            )
        except InputError:  # not available in the language
            if name == "sq":
                raise
    return metrics


def print_scores(table: pd.DataFrame, console: Console) -> None:
    """Print the table, and which scores have no value."""
    from rich.table import Table

    from biasbridge.command_line import say
    from biasbridge.files.terminal import print_columns

    rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, heading in enumerate(("", "n", "before", "after", "change [95%]")):
        rows.add_column(heading, justify="right" if number else "left")
    missing = []
    for *names, n, before, after, low, high in table.itertuples(index=False):
        label = " ".join(filter(None, names))
        if isnan(before) and isnan(after):
            missing.append(label)
        else:
            interval = "" if isnan(low) else f" [{low:+.2f}, {high:+.2f}]"
            change = f"{after - before:+.2f}{interval}"
            rows.add_row(label, str(n), f"{before:.4f}", f"{after:.4f}", change)
    print_columns(rows, console)
    if missing:
        say(console, f"no value (words out of vocabulary): {', '.join(missing)}")
