"""The one protocol: every slice of a point set with r over rows, r within bases, its interval and
the verdict that a study of our own would get.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose, nan
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analysis.atlas.point_set import PointSet, read_point_set
from analysis.correlate import correlate
from analysis.judging import judge
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.findings import Finding

X, Y = "x", "y"


class Slice(NamedTuple):
    """What is found of a slice: ``x``, ``y`` are columns, ``by`` the cells that it is sliced by,
    ``published``: r over rows without the corrections where they change it, else NaN.
    """

    x: str
    y: str
    by: str
    finding: Finding
    published: float = nan


class Reading(NamedTuple):
    """A point set as it was read: its YAML, its slices (none where the table is not at hand), and
    how many units each correction changed.
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
    """A point set and what is found of it; all its slices are one family of primary ones."""
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
    return [
        Slice(x, y, ", ".join(f"{name} {cell}" for name, cell in each.names.items()), each)
        for by in of.by
        for x in of.x
        for y in of.y
        for each in correlate(table, x=x, y=y, by=by, cluster=of.unit, base=of.base)
    ]


def _judged(slices: Sequence[Slice]) -> list[Slice]:
    findings = [
        each.finding._replace(names={X: each.x, Y: each.y, "by": each.by}) for each in slices
    ]
    judged = judge(findings, [()] * len(findings))
    return [each._replace(finding=told) for each, told in zip(slices, judged, strict=True)]


def _with_published(corrected: Sequence[Slice], published: Sequence[Slice]) -> Iterator[Slice]:
    before = {each[:3]: each.finding.statistics.pearson for each in published}
    for each in corrected:
        r = before.get(each[:3], nan)
        same = isclose(r, each.finding.statistics.pearson, abs_tol=1e-12)
        yield each if same else each._replace(published=r)
