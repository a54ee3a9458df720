"""What a study compares, as its page says before any number: groups, gaps, labels, items, and how
much of the texts the vectors know.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from math import isinf
from typing import TYPE_CHECKING

from analysis.frame import text_rows, typed
from analysis.naming import (
    ALL,
    ANNOTATION,
    GROUPS,
    LEAST_COVERAGE,
    confirmatory_of,
    gap_titles,
    measure_title,
    metric_title,
    positive_class,
    query_titles,
)

if TYPE_CHECKING:
    import pandas as pd

    from analysis.results import Tables

MOST_QUERIES = 8
OTHER_WAY_ROUND = ("fpr", "fnr")  # rates of errors: more is worse


def describe_compared(tables: Tables, confirmatory: Sequence[str]) -> dict[str, str]:
    """What is compared, by name: who with whom, what a gap says, what label 1 is, how many items
    there are and how many of their tokens have a vector. What the tables do not say is left out.
    """
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


def facts_list(facts: dict[str, str]) -> str:
    """The facts as HTML."""
    listed = [f"<dt>{html.escape(n)}</dt><dd>{html.escape(text)}</dd>" for n, text in facts.items()]
    return f'<dl class="facts">{"".join(listed)}</dl>' if listed else ""


def _scores(intrinsic: pd.DataFrame) -> str:
    """``WEAT effect size (d), queries WEAT 6b, WEAT 7: -2 to 2, 0 without bias``, a metric each."""
    said = []
    for metric, part in intrinsic.groupby("metric", sort=False):
        queries = list(dict.fromkeys(query_titles(part)))[:MOST_QUERIES]
        scale = dict.fromkeys(
            part[["least", "most", "unbiased"]].itertuples(index=False, name=None)
        )
        ends = [f"{_ends(low, high)}, {no:g} without bias" for low, high, no in scale]
        known = f": {ends[0]}" if len(ends) == 1 and "nan" not in ends[0] else ""
        said.append(f"{metric_title(str(metric))} of {', '.join(queries)}{known}")
    return "; ".join(said)


def _groups(gaps: pd.DataFrame) -> str:
    pairs = dict.fromkeys(text_rows(gaps, GROUPS))
    said = [f"{one} (privileged) against {other} (unprivileged)" for one, other in pairs]
    annotated = {ANNOTATION: "as the data are annotated"}
    by = [annotated.get(each, each) for each in dict.fromkeys(gaps["group_by"]) if each]
    return "; ".join(said) + (f". Which group an item is about: {'; '.join(by)}" if by else "")


def _direction(gaps: pd.DataFrame) -> str:
    measures = dict.fromkeys(gaps["measure"])
    rates = [measure_title(each) for each in measures if each in OTHER_WAY_ROUND]
    of_errors = f" (of {' and '.join(rates)} the other way round)" if rates else ""
    pairs = list(dict.fromkeys(text_rows(gaps, GROUPS)))
    one, other = pairs[0] if len(pairs) == 1 else ("the privileged group", "the unprivileged")
    return f"the value of {one} less that of {other}{of_errors}; above 0: worse for {other}"


def _ends(low: float, high: float) -> str:
    """``-2 to 2``, or that there are none."""
    return "without bounds" if isinf(low) and isinf(high) else f"{low:g} to {high:g}"


def _label(points: pd.DataFrame, gaps: pd.DataFrame) -> str:
    of_classifier = "classifier" in points and "scheme" not in points
    if gaps.empty or not points["source"].any() or not of_classifier:
        return ""
    sought = "what the classifier looks for; precision, recall and the other measures are about it"
    positive = positive_class(points)
    return f"{positive}: {sought}" if positive else sought


def _items(extrinsic: pd.DataFrame) -> str:
    values = extrinsic[(extrinsic["kind"] == "value") & (extrinsic["subset"] == "")]
    sides = [
        values[values["measure"] == measure].set_index(["point", "task", "group"])["support"]
        for measure in ("recall", "fpr")
    ]
    both = sides[0].add(sides[1]).dropna() if all(map(len, sides)) else sides[0][:0]
    if both.empty:
        return ""
    of_group = both.groupby(level="group", sort=False)
    ones = sides[0].groupby(level="group", sort=False)
    items = {
        str(name): f"{_range(part)} (label 1: {_range(ones.get_group(name))})"
        for name, part in of_group
    }
    whole = f"{items.pop(ALL)}; " if ALL in items else ""
    return whole + ", ".join(f"{name} {each}" for name, each in items.items())


def _support(gaps: pd.DataFrame, confirmatory: Sequence[str]) -> str:
    known = gaps.dropna(subset="support")
    known = known[known["measure"].isin(confirmatory_of(known["measure"], confirmatory))]
    parts = known.assign(title=gap_titles(known)).groupby("title", sort=False)["support"]
    said = [f"{title} {_range(part)}" for title, part in parts]
    return f"items in the group that has fewer: {', '.join(said)}" if said else ""


def _coverage(extrinsic: pd.DataFrame) -> str:
    known = extrinsic["coverage"].dropna()
    if known.empty:
        return ""
    ends = dict.fromkeys(f"{100 * float(each):.0f}%" for each in (known.min(), known.max()))
    warning = (
        "; warning: a classifier sees little of such texts, take vectors, or a corpus, of them"
    )
    share = f"{' to '.join(ends)} of those of the items"
    return share + warning if known.min() < LEAST_COVERAGE else share


def _range(values: Iterable[float]) -> str:
    found = sorted({int(each) for each in values})
    return str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}"
