"""The protocol of the atlas: every slice of a point set with r over rows, r_rm and a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose, nan
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasbridge.analysis.correlate import correlate
from biasbridge.analysis.frame import as_float, as_labels
from biasbridge.analysis.naming import ALL
from biasbridge.analysis.rows import both_finite
from biasbridge.analysis.user_table import Levels
from biasbridge.analysis.verdict import judge
from biasbridge.files import InputError
from biasbridge.studies.atlas.point_set import PointSet, read_point_set

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.analysis.slice_results import SliceResult


class Slice(NamedTuple):
    """Result of a slice, the cells ``by``: r_rm, its interval and the verdict, and Pearson's r over
    the ``rows`` with both x and y; ``published``: r uncorrected if it differs, or NaN.
    """

    x: str
    y: str
    by: str
    finding: SliceResult
    rows: int = 0
    r_rows: float = nan
    published: float = nan


class PointSetResult(NamedTuple):
    """Slices of a point set (none without its table), and models changed by each correction."""

    name: str
    of: PointSet
    slices: Sequence[Slice] = ()
    n_corrected: Sequence[int] = ()

    @property
    def read(self) -> bool:
        """True if the table was available."""
        return bool(self.slices)


def read_atlas(folder: Path) -> list[PointSetResult]:
    """Read a folder's point sets by name; raise ``InputError`` if none is there or one is wrong."""
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise InputError(f"{folder} holds no point set; describe one in a YAML file there")
    return [analyse_point_set(path) for path in paths]


def analyse_point_set(path: Path) -> PointSetResult:
    """Read a point set and analyse its slices, all of which are confirmatory."""
    point_set = read_point_set(path)
    table = point_set.path(path.parent)
    if table is None:
        return PointSetResult(path.stem, point_set)
    try:
        published = point_set.read(table)
        rows, n_corrected = point_set.apply_corrections(published)
        slices = _with_verdicts(_slices(point_set, rows))
        if n_corrected:
            slices = list(_with_published_r(slices, _slices(point_set, published)))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return PointSetResult(path.stem, point_set, slices, n_corrected)


def _slices(point_set: PointSet, table: pd.DataFrame) -> list[Slice]:
    levels = Levels(point_set.observation, point_set.parent, point_set.condition)
    return [
        Slice(x, y, _slice_cells(finding), finding, *_r_over_rows(table, x, y, finding))
        for columns in point_set.by
        for x in point_set.x
        for y in point_set.y
        for finding in correlate(table, x=x, y=y, by=columns, levels=levels, confirmatory=[ALL])
    ]


def _slice_cells(finding: SliceResult) -> str:
    return ", ".join(f"{name} {cell}" for name, cell in finding.names.items())


def _r_over_rows(table: pd.DataFrame, x: str, y: str, finding: SliceResult) -> tuple[int, float]:
    """Count the rows of a slice that have both measures, and compute Pearson's r over them."""
    in_slice = np.ones(len(table), dtype=bool)
    for name, cell in finding.names.items():
        in_slice &= np.array(as_labels(table, name)) == cell
    first, second = as_float(table[in_slice], x), as_float(table[in_slice], y)
    is_complete = both_finite(first, second)
    n = int(is_complete.sum())
    first, second = first[is_complete], second[is_complete]
    if n < 3 or not (np.ptp(first) and np.ptp(second)):
        return n, nan
    return n, float(np.corrcoef(first, second)[0, 1])


def _with_verdicts(slices: Sequence[Slice]) -> list[Slice]:
    findings = judge([result.finding for result in slices])
    return [
        result._replace(finding=finding) for result, finding in zip(slices, findings, strict=True)
    ]


def _with_published_r(corrected: Sequence[Slice], published: Sequence[Slice]) -> Iterator[Slice]:
    published_r = {result[:3]: result.r_rows for result in published}
    for result in corrected:
        r = published_r.get(result[:3], nan)
        yield result if isclose(r, result.r_rows, abs_tol=1e-12) else result._replace(published=r)
