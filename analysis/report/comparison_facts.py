"""The facts that a page states before any number: scores, groups, gaps, labels, items, coverage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isinf
from typing import TYPE_CHECKING

from biasbridge.analysis.frame import text_rows, typed
from biasbridge.analysis.naming import (
    ALL,
    ANNOTATION,
    GROUPS,
    MIN_COVERAGE,
    gap_titles,
    measure_title,
    metric_title,
    positive_class,
    present_confirmatory,
    query_titles,
)

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.analysis.results import Tables

MOST_QUERIES = 8
ERROR_RATES = ("fpr", "fnr")  # higher is worse


def describe_compared(tables: Tables, confirmatory: Sequence[str]) -> dict[str, str]:
    """Describe what a study compares, by name; facts that the tables lack are left out."""
    tables = typed(tables)
    extrinsic = tables.extrinsic[tables.extrinsic["point"].isin(tables.points["point"])]
    gaps = extrinsic[extrinsic["kind"] == "gap"]
    facts = {
        "a score": _scores(tables.intrinsic),
        "groups": _groups(gaps),
        "a gap": _direction(gaps),
        "label 1": _label(tables.points, gaps),
        "test items": _items(extrinsic),
        "behind a gap": _support(gaps, confirmatory),
        "tokens with a vector": _coverage(extrinsic),
    }
    return {name: text for name, text in facts.items() if text}


def _scores(intrinsic: pd.DataFrame) -> str:
    """Format each metric: ``WEAT effect size (d) of WEAT 6b, WEAT 7: -2 to 2, 0 without bias``."""
    descriptions = []
    for metric, rows in intrinsic.groupby("metric", sort=False):
        queries = list(dict.fromkeys(query_titles(rows)))[:MOST_QUERIES]
        scales = dict.fromkeys(
            rows[["scale_min", "scale_max", "unbiased"]].itertuples(index=False, name=None)
        )
        texts = [f"{_ends(low, high)}, {unbiased:g} without bias" for low, high, unbiased in scales]
        scale = f": {texts[0]}" if len(texts) == 1 and "nan" not in texts[0] else ""
        descriptions.append(f"{metric_title(str(metric))} of {', '.join(queries)}{scale}")
    return "; ".join(descriptions)


def _groups(gaps: pd.DataFrame) -> str:
    pairs = [
        f"{privileged} (privileged) against {unprivileged} (unprivileged)"
        for privileged, unprivileged in dict.fromkeys(text_rows(gaps, GROUPS))
    ]
    titles = {ANNOTATION: "as the data are annotated"}
    sources = [titles.get(name, name) for name in dict.fromkeys(gaps["group_by"]) if name]
    source = f". Which group an item is about: {'; '.join(sources)}" if sources else ""
    return "; ".join(pairs) + source


def _direction(gaps: pd.DataFrame) -> str:
    measures = dict.fromkeys(gaps["measure"])
    rates = [measure_title(measure) for measure in measures if measure in ERROR_RATES]
    reversed_rates = f" (of {' and '.join(rates)} the other way round)" if rates else ""
    pairs = list(dict.fromkeys(text_rows(gaps, GROUPS)))
    default = ("the privileged group", "the unprivileged")
    privileged, unprivileged = pairs[0] if len(pairs) == 1 else default
    return (
        f"the value of {privileged} less that of {unprivileged}{reversed_rates}; above 0: worse for"
        f" {unprivileged}"
    )


def _ends(low: float, high: float) -> str:
    return "without bounds" if isinf(low) and isinf(high) else f"{low:g} to {high:g}"


def _label(points: pd.DataFrame, gaps: pd.DataFrame) -> str:
    of_classifier = "classifier" in points and "scheme" not in points
    if gaps.empty or not points["source"].any() or not of_classifier:
        return ""
    role = "the positive class, which precision, recall and the other measures are about"
    positive = positive_class(points)
    return f"{positive}: {role}" if positive else role


def _items(extrinsic: pd.DataFrame) -> str:
    values = extrinsic[(extrinsic["kind"] == "value") & (extrinsic["subset"] == "")]
    positives, negatives = (
        values[values["measure"] == measure].set_index(["point", "task", "group"])["support"]
        for measure in ("recall", "fpr")
    )
    if positives.empty or negatives.empty:
        return ""
    n_items = positives.add(negatives).dropna()
    if n_items.empty:
        return ""
    n_positives = positives.groupby(level="group", sort=False)
    texts = {
        str(group): f"{_range(counts)} (label 1: {_range(n_positives.get_group(group))})"
        for group, counts in n_items.groupby(level="group", sort=False)
    }
    overall = f"{texts.pop(ALL)}; " if ALL in texts else ""
    return overall + ", ".join(f"{group} {text}" for group, text in texts.items())


def _support(gaps: pd.DataFrame, confirmatory: Sequence[str]) -> str:
    rows = gaps.dropna(subset="support")
    rows = rows[rows["measure"].isin(present_confirmatory(rows["measure"], confirmatory))]
    supports = rows.assign(title=gap_titles(rows)).groupby("title", sort=False)["support"]
    texts = [f"{title} {_range(support)}" for title, support in supports]
    return f"items in the smaller group: {', '.join(texts)}" if texts else ""


def _coverage(extrinsic: pd.DataFrame) -> str:
    coverage = extrinsic["coverage"].dropna()
    if coverage.empty:
        return ""
    ends = dict.fromkeys(f"{100 * float(end):.0f}%" for end in (coverage.min(), coverage.max()))
    text = f"{' to '.join(ends)} of the items' tokens"
    if coverage.min() >= MIN_COVERAGE:
        return text
    return f"{text}; warning: low coverage, use vectors, or a corpus, of such texts"


def _range(values: Iterable[float]) -> str:
    counts = sorted({int(value) for value in values})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
