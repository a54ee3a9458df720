"""Two classifiers on the same items: the measures and gaps of one minus those of the other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from extrinsic.combined import Combined
from extrinsic.gap_table import difference_rows, sample_rows, value_rows
from extrinsic.predictions import read_sample
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

    from extrinsic.gaps import Gaps
    from extrinsic.rows import Row
    from extrinsic.sample import Sample


def classifier_rows(predictions: Mapping[str, pd.DataFrame], gaps: Gaps) -> list[Row]:
    """The rows of ``extrinsic.gap_table.gap_table``, for several classifiers by name, all of the
    same items in the same order; ``classifier`` has their names.

    After the rows of each come those of each two of them, ``first - second``: values and gaps of
    the first minus those of the second, with intervals of differences within items, so that an item
    that both get wrong widens none (``extrinsic.combined``). Nothing is pooled over classifiers.

    Raises ``InputError`` where labels or groups differ, and as ``gap_table`` does.
    """
    samples = {name: read_sample(table, gaps) for name, table in predictions.items()}
    for one, other in combinations(samples, 2):
        _require_same_items(one, samples[one], other, samples[other])
    rows = [
        row._replace(classifier=name)
        for name, sample in samples.items()
        for row in sample_rows(sample, gaps)
    ]
    for one, other in combinations(samples, 2):
        pair = Combined([samples[one], samples[other]], [1, -1])
        found = value_rows(pair, gaps) + difference_rows(pair, gaps)
        rows += [row._replace(classifier=f"{one} - {other}") for row in found]
    return rows


def _require_same_items(one: str, first: Sample, other: str, second: Sample) -> None:
    same = np.array_equal(first.cell // 2, second.cell // 2) and np.array_equal(
        first.code, second.code
    )
    if not same or list(first.groups) != list(second.groups):
        what = f"{one} and {other} are not of the same items"
        raise InputError(f"{what} (labels or groups differ); give rows in the same order")
