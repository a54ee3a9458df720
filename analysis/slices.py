"""Slices of a table: every combination of the columns that name its rows, each also pooled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.analysis.frame import as_text, group_indices, text_rows
from biasbridge.analysis.naming import ALL, CONTROL, POOLED_OVER

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.analysis.slice_results import SliceResult
    from biasbridge.stats.arrays import Ints, Truths

Names = dict[str, str]


def slices(
    table: pd.DataFrame, kinds: Sequence[str], pooled: Sequence[str] = ()
) -> Iterator[tuple[Names, Ints]]:
    """Yield the names and the rows of every slice that has any, in order of appearance.

    Rows that differ in a column of ``kinds`` are never pooled; each column of ``pooled`` has a
    slice per value and one of ``all``. A method's slice holds the controls too: they are the dose 0
    of every method (Goldfarb-Tarrant et al., 2021, measure each embedding before they modify it).
    """
    columns = {name: np.array(as_text(table, name), dtype=object) for name in pooled}
    keys = text_rows(table, kinds) if kinds else [()] * len(table)
    for kind, rows in group_indices(keys).items():
        block = {name: columns[name][rows] for name in pooled}
        values = {name: dict.fromkeys(block[name]) for name in pooled}
        values.get("method", {}).pop(CONTROL, None)
        for combination in product(*([*labels, ALL] for labels in values.values())):
            is_selected: Truths = np.ones(len(rows), dtype=bool)
            for name, value in zip(pooled, combination, strict=True):
                is_equal: Truths = block[name] == value
                if name == "method":
                    is_equal |= block[name] == CONTROL
                if value != ALL:
                    is_selected &= is_equal
            if is_selected.any():
                names = dict(zip((*kinds, *pooled), (*kind, *combination), strict=True))
                yield names, rows[is_selected]


def without_repeats(results: Sequence[SliceResult]) -> list[SliceResult]:
    """Return the results, those of equal rows once: where there is one embedding, or one method,
    the pooled slice stands for it, and the only query for all queries. Confirmatory results stay.
    """
    values: dict[tuple[str, ...], set[str]] = {}
    for result in results:
        for name in POOLED_OVER:
            values.setdefault(_around(result, name), set()).add(result.names[name])

    def repeated(result: SliceResult, name: str) -> bool:
        siblings = values[_around(result, name)]
        is_pooled = result.names[name] == ALL
        return len(siblings) == 2 and ALL in siblings and is_pooled == (name == "query")

    return [
        result
        for result in results
        if result.confirmatory or not any(repeated(result, name) for name in POOLED_OVER)
    ]


def _around(result: SliceResult, name: str) -> tuple[str, ...]:
    """Return the column, and the other names of a result."""
    return name, *(value for column, value in result.names.items() if column != name)
