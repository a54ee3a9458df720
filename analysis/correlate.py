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

from biasbridge.analysis.correlation import ONE_THREAD, PERMUTATIONS, Correlation
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.frame import as_float, as_labels, as_text, group_indices, require_columns
from biasbridge.analysis.joined import (
    JOINED_COLUMNS,
    bias_sign,
    is_joined,
    rows_of,
    unbiased_values,
)
from biasbridge.analysis.measurement import measure
from biasbridge.analysis.naming import ALL, KINDS, POOLED_OVER, SLICE_COLUMNS, SMALLEST_CHANGE
from biasbridge.analysis.scopes import RUNS
from biasbridge.analysis.slice_results import FEW_PERMUTATIONS, RESULT_COLUMNS, SliceResult
from biasbridge.analysis.slices import slices
from biasbridge.analysis.user_table import Levels, describe_repeats
from biasbridge.analysis.utility import low_utility_reason
from biasbridge.analysis.verdict import judge
from biasbridge.files import InputError
from biasbridge.stats.intervals import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.stats.arrays import Floats

DECLARED = Declaration()  # the default of a study
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
    smallest_change: float = SMALLEST_CHANGE,
) -> list[SliceResult]:
    """Correlate two columns within parents, in every slice of a table.

    Parameters
    ----------
    table : DataFrame
        One row per observation; models and parents are known in a table of ``join_points``.
    x, y : str
        Columns of the score and the gap.
    by : sequence of str, optional
        Columns to slice by, as text; an empty cell is the slice ``(empty)``. By default one slice.
        Several classifiers are slices of their own.
    levels : Levels, optional
        Columns of observation, parent, condition, clusters, utility and classifier.
    confirmatory : sequence of str, optional
        Slices that get a verdict, named by the values of ``by`` separated by spaces, or ``all``; p
        is adjusted over them.
    smallest_change : float, default=0.02
        Smallest change of y of interest, over the range of x.

    Returns
    -------
    list of SliceResult
        One per slice, in order of appearance.

    Raises
    ------
    InputError
        An unknown or non-numeric column, an unknown slice, a ``smallest_change`` that is not above
        0, or a table without rows.
    """
    require_columns(table, [x, y, *by], "the table")
    by = levels.slice_columns(table, by)
    if table.empty:
        raise InputError("the table has no rows; give one with at least 3")
    smallest_change = Declaration(smallest_change=smallest_change).smallest_change
    if reserved := [name for name in by if name in RESULT_COLUMNS]:
        raise InputError(f"column {reserved[0]!r} has the name of a result column; rename it")
    from_join = is_joined(table)
    scores = from_join and x == "x"
    signs: Floats = bias_sign(table) if scores else np.ones(len(table))
    if from_join and not levels.named:
        all_rows = rows_of(table, x, y)
        if levels.utility:
            all_rows = all_rows._replace(utility=as_float(table, levels.utility))
    else:
        all_rows = levels.rows(table, x, y)
        all_rows = all_rows._replace(x=signs * all_rows.x)
    cells = [as_labels(table, name) for name in by]
    keys = [tuple(column[row] for column in cells) for row in range(len(table))]
    confirmatory_keys = _confirmatory_keys(confirmatory, dict.fromkeys(keys))
    n_permutations = max(PERMUTATIONS, 100 * len(confirmatory_keys) - 1)
    results = []
    for key, indices in group_indices(keys).items():
        rows = all_rows.at(indices)
        names = dict(zip(by, key, strict=True))
        result = measure(rows, names, full=True, permutations=n_permutations)
        refused = (
            "" if levels.observation or (from_join and not levels.named) else describe_repeats(rows)
        )
        if refused:  # r without interval and p
            within = Correlation(result.within.r, slope=Estimate(result.within.slope.value))
            result = SliceResult(
                names,
                {RUNS: within},
                n=result.n,
                n_parents=result.n_parents,
                r_pearson=result.r_pearson,
            )
        results.append(
            result._replace(
                confirmatory=key in confirmatory_keys,
                refused=refused,
                reverse_scored=bool((signs[indices] < 0).any()),
                sign=_common_value(signs[indices]),
            )
        )
    return judge(results, smallest_change)


def _common_value(values: Floats) -> float:
    return float(values[0]) if len(set(values.tolist())) == 1 else nan


def _confirmatory_keys(
    confirmatory: Sequence[str], keys: dict[tuple[str, ...], None]
) -> set[tuple[str, ...]]:
    """Return the keys of the confirmatory slices. Raise ``InputError`` for an unknown one."""
    if list(confirmatory) == [ALL]:
        return set(keys)
    names_by_key = {key: " ".join(key) for key in keys}
    for name in confirmatory:
        if name not in names_by_key.values():
            examples = ", ".join(map(repr, list(names_by_key.values())[:8]))
            raise InputError(f"no slice {name!r}; the table has {examples}; or give {ALL}")
    return {key for key, name in names_by_key.items() if name in confirmatory}


@ONE_THREAD
def correlate_slices(joined: pd.DataFrame, declared: Declaration = DECLARED) -> list[SliceResult]:
    """Correlate every slice that the paper breaks out: task, classifier, metric, convention, part,
    measure and groups, and in each embedding {each, all} x query {each, all} x method {each, all}.

    Metrics are on different scales and never pooled. Scores that fall with bias are reverse-scored.

    Parameters
    ----------
    joined : DataFrame
        A table of ``join_points``.
    declared : Declaration, optional
        The confirmatory slices; never those of a measure of utility (no unbiased value).

    Returns
    -------
    list of SliceResult
        One per slice, confirmatory ones with a verdict.
    """
    require_columns(joined, JOINED_COLUMNS, "the joined table")
    all_rows, signs = rows_of(joined), bias_sign(joined)
    unbiased = unbiased_values(joined)
    synthetic = np.array([label == "True" for label in as_labels(joined, "generated")])
    group_by = np.array(as_text(joined, "group_by"), dtype=object)
    all_slices = [
        ({name: names[name] for name in SLICE_COLUMNS}, indices)
        for names, indices in slices(joined, KINDS, POOLED_OVER)
    ]
    present = list(dict.fromkeys(names["measure"] for names, _ in all_slices))
    is_confirmatory = [
        declared.holds(names, present) and isfinite(unbiased[indices[0]])
        for names, indices in all_slices
    ]
    n_permutations = max(PERMUTATIONS, 100 * sum(is_confirmatory) - 1)
    # The only method's slice has the rows of all methods: both get the same permutations
    tested = {
        indices.tobytes()
        for (_, indices), needed in zip(all_slices, is_confirmatory, strict=True)
        if needed
    }
    measured: dict[tuple[bytes, bool], SliceResult] = {}
    results = []
    for (names, indices), confirmatory in zip(all_slices, is_confirmatory, strict=True):
        key = indices.tobytes(), confirmatory
        if key not in measured:
            measured[key] = measure(
                all_rows.at(indices),
                names,
                full=confirmatory,
                permutations=n_permutations if key[0] in tested else FEW_PERMUTATIONS,
            )
        refused = ""
        if confirmatory:
            refused = low_utility_reason(joined.iloc[indices], declared.utility)
        results.append(
            measured[key]._replace(
                names=names,
                confirmatory=confirmatory,
                refused=refused,
                synthetic=bool(synthetic[indices].any()),
                reverse_scored=bool((signs[indices] < 0).any()),
                sign=_common_value(signs[indices]),
                line=measured[key].line.of_sign(signs[indices]),
                group_by="; ".join(filter(None, dict.fromkeys(group_by[indices].tolist()))),
            )
        )
    return judge(_add_heterogeneity(results), declared.smallest_change)


def _add_heterogeneity(results: Sequence[SliceResult]) -> list[SliceResult]:
    """Note in every pooled slice the parts with intervals on opposite sides of 0."""

    def around(result: SliceResult, column: str) -> tuple[str, ...]:
        return column, *(result.names[name] for name in SLICE_COLUMNS if name != column)

    parts: dict[tuple[str, ...], list[SliceResult]] = {}
    for result in results:
        for column in POOLED_OVER:
            if result.names[column] != ALL:
                parts.setdefault(around(result, column), []).append(result)
    return [
        result._replace(
            heterogeneity="; ".join(
                note
                for column in POOLED_OVER
                if result.names[column] == ALL
                and (note := _describe_opposite(parts.get(around(result, column), []), column))
            )
        )
        for result in results
    ]


def _describe_opposite(results: Sequence[SliceResult], column: str) -> str:
    above = [result for result in results if result.within.low > 0]
    below = [result for result in results if result.within.high < 0]
    if not (above and below):
        return ""
    positive, negative = (
        ", ".join(f"{result.names[column]} {result.within.r:.2f}" for result in side)
        for side in (above, below)
    )
    return f"heterogeneous: r_rm of {positive}, but of {negative}"
