"""Correlations of scores and gaps, by slices.

biasbridge correlate results/hatespeech_en
biasbridge correlate my.csv --x WEAT --y "Performance Gap" --by Metric,Embedding \\
    --observation Name --parent Base --confirmatory all --out slices.csv
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING

import numpy as np

from analysis.correlation import ONE_THREAD, PERMUTATIONS, Correlation, Estimate
from analysis.declaration import Declaration
from analysis.findings import (
    EXPLORED,
    RESULT_COLUMNS,
    Finding,
    measure,
)
from analysis.foreign import Levels, repeats
from analysis.frame import labels, numbers, positions, require_columns, texts
from analysis.joined import (
    JOINED_COLUMNS,
    bias_sign,
    is_joined,
    rows_of,
    unbiased_of,
)
from analysis.naming import ALL, KINDS, POOLED_OVER, SESOI, SLICE_COLUMNS
from analysis.slices import slices
from analysis.utility import useless
from analysis.verdict import judge
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Floats

DECLARED = Declaration()  # where a study declares nothing else
NO_LEVELS = Levels()


@ONE_THREAD
def correlate(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    by: Sequence[str] = (),
    levels: Levels = NO_LEVELS,
    confirmatory: Sequence[str] = (),
    sesoi: float = SESOI,
) -> list[Finding]:
    """One finding per slice of the ``by`` columns, in order of appearance (one in all when ``by``
    is empty).

    ``levels``: the columns that name observation, parent, condition, clusters and utility. A table
    that comes from ``join_points`` says all this itself, where no level is named. ``confirmatory``:
    the slices that get a verdict, each by the values of ``by`` with a space between, or ``all``;
    p is adjusted over them. The ``by`` columns are
    read as text, and an empty cell is a slice of its own, ``(empty)``. Raises ``InputError`` for an
    unknown or non-numeric column, an unknown slice, and a table without rows.
    """
    by = list(dict.fromkeys(by))
    require_columns(table, [x, y, *by], "the table")
    if table.empty:
        raise InputError("the table has no rows; give one with at least 3")
    if taken := [name for name in by if name in RESULT_COLUMNS]:
        raise InputError(f"column {taken[0]!r} has the name of a result column; rename it")
    ours = is_joined(table)
    scores = ours and x == "x"
    signs: Floats = bias_sign(table) if scores else np.ones(len(table))
    if ours and not levels.named:
        whole = rows_of(table, x, y)
        if levels.utility:
            whole = whole._replace(utility=numbers(table, levels.utility))
    else:
        whole = levels.rows(table, x, y)
        whole = whole._replace(x=signs * whole.x)
    cells = [labels(table, name) for name in by]
    keys = [tuple(column[row] for column in cells) for row in range(len(table))]
    asked = _asked(confirmatory, dict.fromkeys(keys))
    many = max(PERMUTATIONS, 100 * len(asked) - 1)
    found = []
    for key, places in positions(keys).items():
        rows = whole.at(places)
        names = dict(zip(by, key, strict=True))
        each = measure(rows, names, full=True, permutations=many)
        refused = "" if levels.observation or (ours and not levels.named) else repeats(rows)
        if refused:  # r can be had, but not how sure it is
            slope = Estimate(each.within.slope.value)
            within = Correlation(each.within.r, slope=slope)
            each = Finding(names, within, n=each.n, n_parents=each.n_parents)
        found.append(
            each._replace(
                confirmatory=key in asked,
                refused=refused,
                reverse_scored=bool((signs[places] < 0).any()),
                sign=_same(signs[places]),
            )
        )
    return judge(found, sesoi)


def _same(values: Floats) -> float:
    """The value that all have; NaN where they differ."""
    return float(values[0]) if len(set(values.tolist())) == 1 else nan


def _asked(confirmatory: Sequence[str], keys: dict[tuple[str, ...], None]) -> set[tuple[str, ...]]:
    """The keys of the confirmatory slices. Raises ``InputError`` for one that is not there."""
    if list(confirmatory) == [ALL]:
        return set(keys)
    named = {key: " ".join(key) for key in keys}
    for name in confirmatory:
        if name not in named.values():
            some = ", ".join(map(repr, list(named.values())[:8]))
            raise InputError(f"no slice {name!r}; there are {some}; or give {ALL}")
    return {key for key, name in named.items() if name in confirmatory}


@ONE_THREAD
def correlate_slices(joined: pd.DataFrame, declared: Declaration = DECLARED) -> list[Finding]:
    """Every slice that the paper breaks out: task, metric, convention, part, measure and groups,
    and in each embedding {each, all} x query {each, all} x method {each, all}.

    ``joined`` comes from ``join_points``. Metrics are on different scales and never pooled. Scores
    of which less is more biased are reverse-scored. ``declared``: the confirmatory slices; those of
    a score without an unbiased value, a measure of utility, are never confirmatory.
    """
    require_columns(joined, JOINED_COLUMNS, "the joined table")
    whole, signs = rows_of(joined), bias_sign(joined)
    unbiased = unbiased_of(joined)
    synthetic = np.array([label == "True" for label in labels(joined, "generated")])
    group_by = np.array(texts(joined, "group_by"), dtype=object)
    every = [
        ({name: names[name] for name in SLICE_COLUMNS}, places)
        for names, places in slices(joined, KINDS, POOLED_OVER)
    ]
    present = list(dict.fromkeys(names["measure"] for names, _ in every))
    asked = [
        declared.holds(names, present) and isfinite(unbiased[places[0]]) for names, places in every
    ]
    many = max(PERMUTATIONS, 100 * sum(asked) - 1)
    # The only method's slice has the rows of all methods: both get the same permutations
    tested = {places.tobytes() for (_, places), sure in zip(every, asked, strict=True) if sure}
    known: dict[tuple[bytes, bool], Finding] = {}
    found = []
    for (names, places), confirmatory in zip(every, asked, strict=True):
        key = places.tobytes(), confirmatory
        if key not in known:
            known[key] = measure(
                whole.at(places),
                names,
                full=confirmatory,
                permutations=many if key[0] in tested else EXPLORED,
            )
        of_task = joined.iloc[places]
        found.append(
            known[key]._replace(
                names=names,
                confirmatory=confirmatory,
                refused=useless(of_task, declared.utility) if confirmatory else "",
                synthetic=bool(synthetic[places].any()),
                reverse_scored=bool((signs[places] < 0).any()),
                sign=_same(signs[places]),
                line=known[key].line.of_sign(signs[places]),
                group_by="; ".join(filter(None, dict.fromkeys(group_by[places].tolist()))),
            )
        )
    return judge(_with_heterogeneity(found), declared.sesoi)


def _with_heterogeneity(found: Sequence[Finding]) -> list[Finding]:
    """For every slice that pools queries, embeddings or methods, which of its parts have intervals
    on opposite sides of 0.
    """

    def around(each: Finding, over: str) -> tuple[str, ...]:
        return over, *(each.names[name] for name in SLICE_COLUMNS if name != over)

    parts: dict[tuple[str, ...], list[Finding]] = {}
    for each in found:
        for over in POOLED_OVER:
            if each.names[over] != ALL:
                parts.setdefault(around(each, over), []).append(each)
    return [
        each._replace(
            heterogeneity="; ".join(
                note
                for over in POOLED_OVER
                if each.names[over] == ALL
                and (note := _opposite(parts.get(around(each, over), []), over))
            )
        )
        for each in found
    ]


def _opposite(parts: Sequence[Finding], over: str) -> str:
    above = [each for each in parts if each.within.low > 0]
    below = [each for each in parts if each.within.high < 0]
    if not (above and below):
        return ""
    one, other = (
        ", ".join(f"{each.names[over]} {each.within.r:.2f}" for each in side)
        for side in (above, below)
    )
    return f"heterogeneous: r_rm of {one}, but of {other}"
