"""Does the gap follow a score better that asks about the task's own words? The difference of two
correlations within bases over the same embeddings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from analysis.naming import ALL, SCORE
from analysis.results import write_conclusions
from analysis.show import estimate
from analysis.specifications import Block, blocks
from analysis.units import dependent
from analysis.within import (
    FEWEST_FREE,
    Estimate,
    indicators,
    jackknife_reach,
    residuals,
    without_each,
)

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.arrays import Floats
    from analysis.within import Residuals

ALIGNED = "from_task"  # the query of words drawn from the task's own training data


class Alignment(NamedTuple):
    """r within bases of a metric asked with the task's words, and with those of ``other`` queries
    (``all``: the mean of their r), with one gap, over the same ``n_units`` embeddings of
    ``n_bases`` bases; their difference with its 95% interval.
    """

    task: str
    metric: str
    convention: str
    part: str
    classifier: str
    measure: str
    subset: str
    privileged: str
    unprivileged: str
    other: str
    n_units: int
    n_bases: int
    free: int
    r_aligned: float
    r_other: float
    difference: float
    low: float
    high: float


def alignments(joined: pd.DataFrame, intrinsic: pd.DataFrame) -> list[Alignment]:
    """Every metric that was asked ``from_task`` and otherwise too, with every gap, where 8 degrees
    of freedom are left; the first row of each has all other queries.
    """
    return [each for task, block in blocks(joined, intrinsic) for each in _of_task(task, block)]


def _of_task(task: str, block: Block) -> Iterator[Alignment]:
    query = SCORE.index("query")

    def kind(key: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for i, name in enumerate(key) if i != query)

    for at, key in enumerate(block.scores):
        if key[query] != ALIGNED:
            continue
        others = [i for i, other in enumerate(block.scores) if i != at and kind(other) == kind(key)]
        known = np.isfinite(block.x[:, [at, *others]]).all(axis=1)
        base = np.unique(block.base[known], return_inverse=True)[1]
        if dependent(base, block.cluster[known]):
            continue
        design = indicators(base)
        for gap, gap_key in enumerate(block.gaps if others else ()):
            y = block.y[known, gap]
            aligned, *rest = (residuals(block.x[known, i], y, design) for i in (at, *others))
            if aligned.free < FEWEST_FREE or not all(each.defined for each in (aligned, *rest)):
                continue
            pairs = [(block.scores[i][query], [each]) for i, each in zip(others, rest, strict=True)]
            size = int(known.sum()), design.shape[1], aligned.free
            for name, of in [(ALL, rest), *(pairs if len(pairs) > 1 else [])]:
                found = difference(aligned, of)
                r = aligned.r, aligned.r - found.value
                yield Alignment._make((task, *kind(key), *gap_key, name, *size, *r, *found))


def difference(aligned: Residuals, others: Sequence[Residuals]) -> Estimate:
    """r of one less the mean r of others over the same units, with its 95% interval.

    D +- t s by leaving out unit after unit (``analysis.within.jackknife_reach``), of both at once,
    so that what ties them is kept. In [-2, 2], 0: alike.
    """
    value = aligned.r - float(np.mean([each.r for each in others]))
    left: Floats = without_each(aligned) - np.mean([without_each(each) for each in others], axis=0)
    reach = jackknife_reach(left, aligned.free)
    if not isfinite(reach):
        return Estimate(value)
    return Estimate(value, max(-2.0, value - reach), min(2.0, value + reach))


def alignment_table(found: Sequence[Alignment]) -> pd.DataFrame:
    """One row a metric, gap and other query, or all of these; a column a field of ``Alignment``."""
    return pd.DataFrame(found, columns=list(Alignment._fields))


def write_alignment(found: Sequence[Alignment], folder: Path, console: Console) -> list[Path]:
    """Print the differences from all other queries and write ``alignment.csv``; its path, of none
    nothing.
    """
    if not found:
        return []
    console.print("r within bases of scores that ask about the task's words, less that of others:")
    for each in found:
        if each.other == ALL:
            names = (each.task, each.metric, each.convention, each.part, each.classifier)
            gap = " ".join(filter(None, (each.measure, each.subset, "gap")))
            told = estimate(each.difference, each.low, each.high)
            line = ", ".join([*filter(None, names), gap, f"{each.n_units} embeddings"])
            console.print(f"  {told}  {line}", soft_wrap=True, highlight=False, markup=False)
    return write_conclusions(folder, {"alignment": alignment_table(found)})
