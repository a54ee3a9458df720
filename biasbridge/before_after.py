"""Scores before and after an intervention, in one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import erfc, isnan, nan, sqrt
from statistics import stdev
from typing import TYPE_CHECKING

from biasbridge.files import InputError
from biasbridge.intrinsic.registry import METRICS, MODEL_METRICS
from biasbridge.intrinsic.resampling import RESAMPLES
from biasbridge.intrinsic.score import percentiles
from biasbridge.stats.intervals import ALPHA, holm

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors
    from rich.console import Console

    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.score import Score


def compare(
    rows: Iterable[tuple[Sequence[Score], Sequence[Score]]], *, worst_first: bool = False
) -> pd.DataFrame:
    """Tabulate scores before and after, one row per score; repeated scores are dropped.

    Columns: metric, query, part, n (words or items), before, after, low and high, the 95%
    interval of the change, and verdict: worse, better, or empty where no change is shown. All
    changes are tested together: normal approximation over the same resamples, Holm's method.
    ``worst_first``: rows that became worse come before the others, the farthest first.
    """
    from pandas import DataFrame

    pairs: dict[tuple[str, str, str], tuple[Score, Score]] = {}
    for before, after in rows:
        for old, new in zip(before, after, strict=True):
            pairs.setdefault((old.metric, old.query, old.part), (old, new))
    cells = [
        (*key, old.n_found, old.value, new.value, *_interval(old, new))
        for key, (old, new) in pairs.items()
    ]
    keys = ["metric", "query", "part"]
    table = DataFrame(cells, columns=[*keys, "n", "before", "after", "low", "high"])
    p_values = [_p_of_change(old, new) for old, new in pairs.values()]
    adjusted = iter(holm([p for p in p_values if not isnan(p)]))
    is_shown = [not isnan(p) and next(adjusted) < ALPHA for p in p_values]
    harms = [_harm(old, new) for old, new in pairs.values()]
    sides = ["worse" if size > 0 else "better" for size in harms]
    table["verdict"] = [side * shown for side, shown in zip(sides, is_shown, strict=True)]
    if not worst_first:
        return table
    rank = {"worse": 0, "": 1, "better": 2}
    order = sorted(table.index, key=lambda i: (rank[table["verdict"][i]], -harms[i]))
    return table.loc[order]


def _harm(old: Score, new: Score) -> float:
    """Return how much worse a score became: farther from unbiased, or less of a utility."""
    if isnan(new.value - old.value):
        return 0.0
    if not isnan(old.unbiased):
        return abs(new.value - old.unbiased) - abs(old.value - old.unbiased)
    about = {**METRICS, **MODEL_METRICS}[old.metric].about
    return (new.value - old.value) * (1 if about.less_is_better else -1)


def _changes(old: Score, new: Score) -> list[float]:
    """Return the changes over the same resampled words or items."""
    return [after - before for before, after in zip(old.resampled, new.resampled, strict=False)]


def _interval(old: Score, new: Score) -> tuple[float, float]:
    """Return the 95% interval of the change."""
    changes = _changes(old, new)
    return percentiles(changes, len(changes)) if changes else (nan, nan)


def _p_of_change(old: Score, new: Score) -> float:
    """Return the two-sided p of no change; NaN without resamples."""
    finite = [change for change in _changes(old, new) if not isnan(change)]
    sd = stdev(finite) if len(finite) > 1 else 0.0
    return erfc(abs(new.value - old.value) / sd / sqrt(2)) if sd else nan


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


def missing_notes(table: pd.DataFrame) -> list[str]:
    """Return a note that names the scores without a value; none if all have one."""
    rows = table[table["before"].isna() & table["after"].isna()]
    cells = rows[["metric", "query", "part"]].itertuples(index=False)
    names = [" ".join(filter(None, row)) for row in cells]
    return [f"no value (words out of vocabulary): {', '.join(names)}"] if names else []


def print_scores(table: pd.DataFrame, console: Console) -> None:
    """Print the table, and which scores have no value."""
    from biasbridge.files.writers import Document, TextTable, print_document

    rows = []
    for *names, n, before, after, low, high, verdict in table.itertuples(index=False):
        if isnan(before) and isnan(after):
            continue
        label = " ".join(filter(None, names))
        interval = "" if isnan(low) else f" [{low:+.2f}, {high:+.2f}]"
        change = f"{after - before:+.2f}{interval}"
        rows.append([label, str(n), f"{before:.4f}", f"{after:.4f}", change, verdict])
    shown = TextTable("", ["", "n", "before", "after", "change [95%]", ""], rows)
    legend = "worse, better: the change is shown after Holm's adjustment"
    notes = [*missing_notes(table), *[legend] * bool(table["verdict"].any())]
    print_document(Document((), (), [shown], notes), console, ruled=False)
