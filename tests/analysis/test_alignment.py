"""r of scores that ask about the task's words less r of others, over the same embeddings."""

from __future__ import annotations

import io
import json
import re
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from analysis.alignment import ALIGNED, Measured, alignments, difference, write_alignment
from analysis.columns import texts
from analysis.joined import join_points
from analysis.report.__main__ import main as report
from analysis.results import write_tables
from analysis.shared_error import Side
from analysis.studies.correlation import Correlation
from analysis.within import Residuals, residuals
from files.tables import read_table
from tests.analysis.designs import studies
from tests.analysis.test_specifications import tables_of

if TYPE_CHECKING:
    from analysis.results import Tables

stress = pytest.mark.stress


def drawn(
    bases: int, units: int, r: tuple[float, float], between: float, rng: np.random.Generator
) -> tuple[Residuals, Residuals]:
    """Two scores, correlated with one another, and a gap that follows either by r within bases."""
    base = np.repeat(np.arange(bases), units)
    matrix = np.array([[1, between, r[0]], [between, 1, r[1]], [*r, 1]])
    x1, x2, y = rng.multivariate_normal([0, 0, 0], matrix, size=len(base)).T
    moved = rng.normal(0, 2, size=(3, bases))[:, base]
    first, second = (
        residuals(x + m, y + moved[2], base) for x, m in zip((x1, x2), moved[:2], strict=True)
    )
    return first, second


def alone(of: Residuals) -> Measured:
    """A correlation of which no resamples are known."""
    nothing = Side(of.u, np.zeros((len(of.u), 0)))
    return Measured(of, nothing, nothing)


def on_shared_items(count: int) -> tuple[float, float]:
    """How often the interval of a difference of 0 holds it, where items of a test set have slopes
    of their own on either score; the same where items are taken for all that there are.
    """
    rng = np.random.default_rng(5)
    base = np.repeat(np.arange(6), 9)
    held = np.zeros(2)
    for _ in range(count):
        scores = rng.normal(size=(2, 54))
        slopes = rng.normal(0, 0.2 * sqrt(200), size=(2, 200))
        of_items = np.einsum("su,si->ui", scores, slopes)
        weights = rng.poisson(1, size=(200, 200)).astype(float)
        own = rng.normal(size=54)
        y = Side(
            own + of_items.mean(axis=1),
            own[:, None] + of_items @ (weights / weights.sum(axis=0)),
        )
        first, second = (
            Measured(residuals(x, y.values, base), Side(x, np.zeros((54, 0))), y) for x in scores
        )
        fixed = [alone(each.of) for each in (first, second)]
        for place, (one, other) in enumerate(((first, second), fixed)):
            found = difference(one, [other])
            held[place] += found.low <= 0 <= found.high
    whole, of_items_at_hand = (held / count).tolist()
    return whole, of_items_at_hand


def coverage(bases: int, units: int, r: tuple[float, float], between: float, count: int) -> float:
    rng = np.random.default_rng(8)
    held = 0
    for _ in range(count):
        first, second = drawn(bases, units, r, between, rng)
        found = difference(alone(first), [alone(second)])
        held += found.low <= r[0] - r[1] <= found.high
    return held / count


def test_items_that_all_embeddings_share_are_in_the_interval() -> None:
    whole, of_items_at_hand = on_shared_items(200)
    assert whole >= 0.93 - 3 * sqrt(0.07 * 0.93 / 200)
    assert of_items_at_hand < 0.85


def test_the_interval_by_hand() -> None:
    rng = np.random.default_rng(0)
    base = np.repeat([0, 1, 2], 6)
    x1, x2, y = rng.normal(size=(3, 18))

    def r(x: np.ndarray[tuple[int, ...], np.dtype[np.float64]], kept: list[int]) -> float:
        own = base[kept]
        u, v = (
            side[kept] - np.array([side[kept][own == b].mean() for b in own]) for side in (x, y)
        )
        return float(u @ v / sqrt(float((u @ u) * (v @ v))))

    first, second = (alone(residuals(x, y, base)) for x in (x1, x2))
    found = difference(first, [second])
    everyone = list(range(18))
    assert found.value == pytest.approx(r(x1, everyone) - r(x2, everyone))
    left = []
    for out in everyone:
        kept = [i for i in everyone if i != out]
        left.append(r(x1, kept) - r(x2, kept))
    error = sqrt(17 / 18 * sum((each - float(np.mean(left))) ** 2 for each in left))
    half = (found.high - found.low) / 2
    assert 2.1 * error < half < 4.5 * error, "t of 2 to 14 degrees of freedom"


@pytest.mark.parametrize(
    ("bases", "units", "r", "between"), [(2, 9, (0.0, 0.0), 0.5), (4, 9, (0.6, 0.2), 0.5)]
)
def test_intervals_hold_the_difference(
    bases: int, units: int, r: tuple[float, float], between: float
) -> None:
    assert coverage(bases, units, r, between, 300) >= 0.95 - 3 * sqrt(0.05 * 0.95 / 300)


@stress
@pytest.mark.parametrize(("bases", "units"), [(2, 9), (4, 9), (10, 9), (5, 20)])
@pytest.mark.parametrize(
    ("r", "between"), [((0.0, 0.0), 0.5), ((0.5, 0.0), 0.7), ((0.5, 0.5), 0.8), ((0.8, 0.3), 0.3)]
)
def test_intervals_hold_the_difference_at_full_size(
    bases: int, units: int, r: tuple[float, float], between: float
) -> None:
    assert coverage(bases, units, r, between, 2_000) >= 0.935


def asked_both_ways(tables: Tables) -> Tables:
    """The same with the query weat6b called that of the task."""
    query = tables.intrinsic["query"].replace("weat6b", ALIGNED)
    return tables._replace(intrinsic=tables.intrinsic.assign(query=query))


def test_a_sweep_that_asked_both_ways(tmp_path: Path) -> None:
    """Query 1, whose x the gaps follow, is called that of the task."""
    tables = tables_of(studies("normal", 4, 9, 0.8, 1, seed=2), 0, metrics=2)
    assert alignments(join_points(tables)) == []
    tables = asked_both_ways(tables)
    found = alignments(join_points(tables))
    assert len(found) == 2 * 2 * 3, "metrics, gaps, all others and each"
    whole = [each for each in found if each.other == "all" and each.metric == "m0"]
    assert all(each.difference > 0 for each in whole)
    parts = [each for each in found if each[:9] == whole[0][:9] and each.other != "all"]
    assert whole[0].r_other == pytest.approx(np.mean([each.r_other for each in parts]))
    assert (whole[0].n_units, whole[0].n_bases, whole[0].free) == (36, 4, 31)
    console = Console(record=True, width=200)
    (path,) = write_alignment(found, tmp_path, console)
    assert texts(read_table(path), "other")[:3] == ["all", "weat7", "weat8"]
    assert "36 embeddings" in console.export_text()
    assert write_alignment([], tmp_path, console) == []
    joined = join_points(tables)
    same = pd.concat([joined[joined["query"] == "weat7"]])
    assert alignments(same) == []


def test_the_report_holds_the_table_as_it_is_written(tmp_path: Path) -> None:
    """All but the columns that no row differs in; the differences with interval and embeddings."""
    plain = tables_of(studies("normal", 4, 9, 0.8, 1, seed=2), 0)
    for tables, rows in ((asked_both_ways(plain), 2 * 3), (plain, 0)):
        write_tables(tmp_path, tables)
        Correlation().conclude(tables, tmp_path, Console(file=io.StringIO()))
        pages = [(tmp_path / "report.html").read_text(encoding="utf-8")]
        assert report([str(tmp_path)]) == 0
        pages.append((tmp_path / "report.html").read_text(encoding="utf-8"))
        for page in pages:
            data = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
            assert data
            found = json.loads(data[1])["alignments"]
            assert len(found) == rows
            assert ("task's own words</h2>" in page) == bool(rows)
        if rows:
            written = pd.read_csv(tmp_path / "alignment.csv", keep_default_na=False)
            names = ["other", "n_units", "n_bases", "r_aligned", "r_other", "difference"]
            for name in (*names, "low", "high"):
                assert [row[name] for row in found] == written[name].tolist(), name
            assert {row["gap"] for row in found} == {"recall gap", "precision gap"}
