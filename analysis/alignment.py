"""Does the gap follow a score better that asks about the task's own words? The difference of two
correlations within bases over the same embeddings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import hypot, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from analysis.coefficients import NORMAL_975
from analysis.columns import numbers, text_rows, texts
from analysis.joined import bias_sign, resampled
from analysis.naming import ALL, SCORE
from analysis.results import write_conclusions
from analysis.shared_error import SharedError, Side, moved_by_items, moved_by_words, together
from analysis.show import estimate
from analysis.specifications import GAP_OF, Block, blocks
from analysis.within import (
    FEWEST_FREE,
    Estimate,
    jackknife_reach,
    residuals,
    without_each,
)

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.arrays import Floats, Ints
    from analysis.units import Resampled
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


def alignments(joined: pd.DataFrame) -> list[Alignment]:
    """Every metric that was asked ``from_task`` and otherwise too, with every gap, where 8 degrees
    of freedom are left; the first row of each has all other queries.
    """
    return [
        each
        for task, block in blocks(joined)
        for each in _of_task(task, block, Drawn.of(block.part, block.unit))
    ]


@dataclass(frozen=True)
class Drawn:
    """Scores, turned so that more is more biased, and gaps of units over resamples of words and
    items, by their keys.
    """

    part: pd.DataFrame
    unit: Ints
    units: int
    scores: Sequence[tuple[str, ...]]
    gaps: Sequence[tuple[str, ...]]

    @classmethod
    def of(cls, part: pd.DataFrame, names: Sequence[str]) -> Drawn:
        """Of the rows of the named units."""
        place = {name: i for i, name in enumerate(names)}
        unit = np.array([place.get(name, -1) for name in texts(part, "unit")], dtype=np.intp)
        part, unit = part[unit >= 0], unit[unit >= 0]
        scores, gaps = (text_rows(part, names) for names in (SCORE, GAP_OF))
        return cls(part, unit, len(names), scores, gaps)

    def score(self, key: Sequence[str]) -> Floats:
        """Shape (units, resamples); NaN where a unit has none."""
        rows = np.flatnonzero([each == tuple(key) for each in self.scores])
        part = self.part.iloc[rows]
        drawn = resampled(part, "x_resampled").times(bias_sign(part))
        return self._means(rows, drawn, np.isfinite(numbers(part, "x")).astype(float))

    def gap(self, key: Sequence[str]) -> Floats:
        """The same of a gap."""
        rows = np.flatnonzero([each == tuple(key) for each in self.gaps])
        part = self.part.iloc[rows]
        return self._means(rows, resampled(part, "y_resampled"), numbers(part, "weight"))

    def _means(self, rows: Ints, drawn: Resampled, weights: Floats) -> Floats:
        used = np.flatnonzero(weights > 0)
        rows, values, weights = rows[used], drawn[used].told(), weights[used, None]
        sums, counts = np.zeros((self.units, values.shape[1])), np.zeros((self.units, 1))
        np.add.at(sums, self.unit[rows], values * weights)
        np.add.at(counts, self.unit[rows], weights)
        with np.errstate(invalid="ignore"):
            means: Floats = sums / counts
        return means


def _of_task(task: str, block: Block, drawn: Drawn) -> Iterator[Alignment]:
    query = SCORE.index("query")

    def kind(key: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for i, name in enumerate(key) if i != query)

    for at, key in enumerate(block.scores):
        if key[query] != ALIGNED:
            continue
        others = [i for i, other in enumerate(block.scores) if i != at and kind(other) == kind(key)]
        known = np.isfinite(block.x[:, [at, *others]]).all(axis=1)
        base = np.unique(block.base[known], return_inverse=True)[1]
        if block.dependent(np.flatnonzero(known)):
            continue
        words = [
            Side(block.x[known, i], drawn.score(block.scores[i])[known]) for i in (at, *others)
        ]
        for gap, gap_key in enumerate(block.gaps if others else ()):
            items = Side(block.y[known, gap], drawn.gap(gap_key)[known])
            aligned, *rest = (
                Measured(residuals(x.values, items.values, base), x, items) for x in words
            )
            if aligned.of.free < FEWEST_FREE or not all(e.of.defined for e in (aligned, *rest)):
                continue
            pairs = [(block.scores[i][query], [each]) for i, each in zip(others, rest, strict=True)]
            size = int(known.sum()), int(base.max()) + 1, aligned.of.free
            for name, of in [(ALL, rest), *(pairs if len(pairs) > 1 else [])]:
                found = difference(aligned, of)
                r = aligned.of.r, aligned.of.r - found.value
                yield Alignment._make((task, *kind(key), *gap_key, name, *size, *r, *found))


class Measured(NamedTuple):
    """A correlation, and the scores and gaps that it is of."""

    of: Residuals
    x: Side
    y: Side

    @property
    def moved(self) -> tuple[Floats, Floats]:
        """What resamples of words, and of items, do to it. Shapes: (n, resamples)."""
        return moved_by_words(self.of, self.x), moved_by_items(self.of, self.y)


def difference(aligned: Measured, others: Sequence[Measured]) -> Estimate:
    """r of one less the mean r of others over the same units and gaps, with its 95% interval.

    D +- sqrt((t s)^2 + (q shared)^2), with t s by leaving out unit after unit
    (``analysis.within.jackknife_reach``), of both at once, so that what ties them is kept; shared:
    what resamples of words and of items, the same for all units and scores, do to D
    (``analysis.shared_error``), 0 where there are none. In [-2, 2], 0: alike.
    """

    def less(own: Floats, theirs: Sequence[Floats]) -> Floats:
        known = min(len(each.T) for each in (own, *theirs))
        found: Floats = own.T[:known].T - np.mean([each.T[:known].T for each in theirs], axis=0)
        return found

    value = aligned.of.r - float(np.mean([each.of.r for each in others]))
    left = less(without_each(aligned.of), [without_each(each.of) for each in others])
    reach = jackknife_reach(left, aligned.of.free)
    if not isfinite(reach):
        return Estimate(value)
    sides = zip(aligned.moved, *(each.moved for each in others), strict=True)
    moved = (less(own, theirs) for own, *theirs in sides)
    shared = SharedError(*(together(each, aligned.of.leverage) for each in moved)).whole
    reach = hypot(reach, NORMAL_975 * shared)
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
