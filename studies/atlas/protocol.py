"""The one protocol: every slice of a point set with r over rows, r_rm, its interval and the verdict
that a study of our own would get.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose, nan
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analysis.correlate import correlate
from analysis.foreign import Levels
from analysis.frame import labels, numbers
from analysis.naming import ALL
from analysis.rows import both_finite
from analysis.verdict import judge
from files import InputError
from studies.atlas.point_set import PointSet, read_point_set

if TYPE_CHECKING:
    import pandas as pd

    from analysis.findings import Finding


class Slice(NamedTuple):
    """What is found of a slice: ``x``, ``y`` are columns, ``by`` the cells that it is sliced by,
    ``rows``: how many, ``r_rows``: Pearson's r over all of them, ``published``: that without the
    corrections where they change it, else NaN.
    """

    x: str
    y: str
    by: str
    finding: Finding
    rows: int = 0
    r_rows: float = nan
    published: float = nan


class Reading(NamedTuple):
    """A point set as it was read: its YAML, its slices (none where the table is not at hand), and
    how many models each correction changed.
    """

    name: str
    of: PointSet
    slices: Sequence[Slice] = ()
    corrected: Sequence[int] = ()

    @property
    def read(self) -> bool:
        """Whether the table was at hand."""
        return bool(self.slices)


def read_atlas(folder: Path) -> list[Reading]:
    """Every point set of a folder, in the order of their names. Raises ``InputError`` for a folder
    without any, and as ``read_point_set`` and ``PointSet.read`` do.
    """
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise InputError(f"{folder} holds no point set; describe one in a YAML file there")
    return [read_one(path) for path in paths]


def read_one(path: Path) -> Reading:
    """A point set and what is found of it; all its slices are confirmatory."""
    of = read_point_set(path)
    table = of.path(path.parent)
    if table is None:
        return Reading(path.stem, of)
    try:
        published = of.read(table)
        rows, corrected = of.corrected(published)
        slices = _judged(_slices(of, rows))
        if corrected:
            slices = list(_with_published(slices, _slices(of, published)))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return Reading(path.stem, of, slices, corrected)


def _slices(of: PointSet, table: pd.DataFrame) -> list[Slice]:
    levels = Levels(of.observation, of.parent, of.condition)
    return [
        Slice(x, y, _cells(each), each, *_over_rows(table, x, y, each))
        for by in of.by
        for x in of.x
        for y in of.y
        for each in correlate(table, x=x, y=y, by=by, levels=levels, confirmatory=[ALL])
    ]


def _cells(found: Finding) -> str:
    return ", ".join(f"{name} {cell}" for name, cell in found.names.items())


def _over_rows(table: pd.DataFrame, x: str, y: str, found: Finding) -> tuple[int, float]:
    """How many rows of a slice have both, and Pearson's r over them."""
    kept = np.ones(len(table), dtype=bool)
    for name, cell in found.names.items():
        kept &= np.array(labels(table, name)) == cell
    first, second = numbers(table[kept], x), numbers(table[kept], y)
    known = both_finite(first, second)
    if known.sum() < 3 or not (np.ptp(first[known]) and np.ptp(second[known])):
        return int(known.sum()), nan
    return int(known.sum()), float(np.corrcoef(first[known], second[known])[0, 1])


def _judged(slices: Sequence[Slice]) -> list[Slice]:
    judged = judge([each.finding for each in slices])
    return [each._replace(finding=found) for each, found in zip(slices, judged, strict=True)]


def _with_published(corrected: Sequence[Slice], published: Sequence[Slice]) -> Iterator[Slice]:
    before = {each[:3]: each.r_rows for each in published}
    for each in corrected:
        r = before.get(each[:3], nan)
        yield each if isclose(r, each.r_rows, abs_tol=1e-12) else each._replace(published=r)
