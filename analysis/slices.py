"""Slices of a table: every combination of what names its rows, each also together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from analysis.frame import positions, text_rows, texts
from analysis.naming import ALL, CONTROL

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Ints, Truths

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
