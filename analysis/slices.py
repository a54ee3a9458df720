"""Slices of a table: every combination of what names its rows, each also together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from analysis.frame import positions, text_rows, texts
from analysis.naming import ALL, CONTROL, POOLED_OVER

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Ints, Truths
    from analysis.findings import Finding

Names = dict[str, str]


def slices(
    table: pd.DataFrame, kinds: Sequence[str], pooled: Sequence[str] = ()
) -> Iterator[tuple[Names, Ints]]:
    """The names and the rows of every slice that has any, in order of appearance.

    Rows that differ in a column of ``kinds`` are never together; of each column of ``pooled`` there
    is a slice a value and one of ``all``. A method's slice holds the controls too: they are the
    dose 0 of every method (Goldfarb-Tarrant et al., 2021, measure each embedding before they modify
    it).
    """
    columns = {name: np.array(texts(table, name), dtype=object) for name in pooled}
    keys = text_rows(table, kinds) if kinds else [()] * len(table)
    for kind, rows in positions(keys).items():
        block = {name: columns[name][rows] for name in pooled}
        values = {name: dict.fromkeys(block[name]) for name in pooled}
        values.get("method", {}).pop(CONTROL, None)
        for chosen in product(*([*each, ALL] for each in values.values())):
            kept: Truths = np.ones(len(rows), dtype=bool)
            for name, value in zip(pooled, chosen, strict=True):
                same: Truths = block[name] == value
                if name == "method":
                    same |= block[name] == CONTROL
                if value != ALL:
                    kept &= same
            if kept.any():
                yield dict(zip((*kinds, *pooled), (*kind, *chosen), strict=True)), rows[kept]


def without_repeats(found: Sequence[Finding]) -> list[Finding]:
    """The findings, those of the same rows once: where there is one embedding, or one method, the
    slice of all of them stands for it, and the only query for all queries. What was declared stays.
    """
    values: dict[tuple[str, ...], set[str]] = {}
    for each in found:
        for name in POOLED_OVER:
            values.setdefault(_around(each, name), set()).add(each.names[name])

    def repeated(each: Finding, name: str) -> bool:
        there = values[_around(each, name)]
        of_all = each.names[name] == ALL
        return len(there) == 2 and ALL in there and of_all == (name == "query")

    return [
        each
        for each in found
        if each.confirmatory or not any(repeated(each, name) for name in POOLED_OVER)
    ]


def _around(found: Finding, name: str) -> tuple[str, ...]:
    """The name, and what a finding is called by beside it."""
    return name, *(value for other, value in found.names.items() if other != name)
