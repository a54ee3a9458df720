"""r_rm of scores that ask about the task's words less r_rm of others, over the same models."""

from __future__ import annotations

import io
import json
import re
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from analysis.alignment import ALIGNED, alignments, difference, write_alignment
from analysis.frame import texts
from analysis.joined import join_points
from analysis.results import Tables
from analysis.study import Correlation
from files.tables import read_table
from tests.analysis.designs import study_of
from tests.analysis.test_specifications import measured, tables_of

if TYPE_CHECKING:
    from analysis.arrays import Floats, Ints
    from analysis.observations import Observations

stress = pytest.mark.stress


def models(x: Floats, y: Floats, parent: Ints) -> Observations:
    return study_of(x, y, parent, {}).of


def drawn(
    parents: int, size: int, r: tuple[float, float], between: float, rng: np.random.Generator
) -> tuple[Observations, Observations]:
    """Two scores, correlated with one another, and a gap that follows either by r within
    parents.
    """
    parent = np.repeat(np.arange(parents), size)
    matrix = np.array([[1, between, r[0]], [between, 1, r[1]], [*r, 1]])
    x1, x2, y = rng.multivariate_normal([0, 0, 0], matrix, size=len(parent)).T
    moved = rng.normal(0, 2, size=(3, parents))[:, parent]
    y = y + moved[2]
    return models(x1 + moved[0], y, parent), models(x2 + moved[1], y, parent)


def on_shared_items(count: int) -> tuple[float, float]:
    """How often the interval of a difference of 0 holds it, where items of a test set have slopes
    of their own on either score; the same where items are taken for all that there are.
    """
    rng = np.random.default_rng(5)
    parent = np.repeat(np.arange(6), 9)
    held = np.zeros(2)
    for _ in range(count):
        scores = rng.normal(size=(2, 54))
        slopes = rng.normal(0, 0.2 * sqrt(200), size=(2, 200))
        of_items = np.einsum("su,si->ui", scores, slopes)
        weights = rng.poisson(1, size=(200, 200)).astype(float)
        own = rng.normal(size=54)
        again = own[:, None] + of_items @ (weights / weights.sum(axis=0))
        fixed = [models(x, own + of_items.mean(axis=1), parent) for x in scores]
        known = [each._replace(y_resampled=again) for each in fixed]
        for place, (one, other) in enumerate((known, fixed)):
            found = difference(one, [other])
            held[place] += found.low <= 0 <= found.high
    whole, of_items_at_hand = (held / count).tolist()
    return whole, of_items_at_hand


def coverage(parents: int, size: int, r: tuple[float, float], between: float, count: int) -> float:
    rng = np.random.default_rng(8)
    held = 0
    for _ in range(count):
        first, second = drawn(parents, size, r, between, rng)
        found = difference(first, [second])
        held += found.low <= r[0] - r[1] <= found.high
    return held / count


def test_items_that_all_models_share_are_in_the_interval() -> None:
    whole, of_items_at_hand = on_shared_items(200)
    assert whole >= 0.93 - 3 * sqrt(0.07 * 0.93 / 200)
    assert of_items_at_hand < 0.85


@pytest.mark.parametrize("others", [1, 2])
def test_the_difference_and_its_interval_by_a_literal_loop(others: int) -> None:
    """D -+ t s: s from leaving out each model of all scores at once."""
    rng = np.random.default_rng(0)
    parent = np.repeat([0, 1, 2], [8, 6, 4])
    x, y = rng.normal(size=(1 + others, 18)), rng.normal(size=18)

    def d(kept: list[int]) -> float:
        own = parent[kept]
        r = []
        for score in x:
            u, v = (
                side[kept] - np.array([side[kept][own == p].mean() for p in own])
                for side in (score, y)
            )
            r.append(float(u @ v / sqrt(float((u @ u) * (v @ v)))))
        return r[0] - float(np.mean(r[1:]))

    everyone = list(range(18))
    left = np.array([d([i for i in everyone if i != out]) for out in everyone])
    df = 18 - 3 - 1
    s = sqrt((df + 1) / 18 * float(((left - left.mean()) ** 2).sum()))
    reach = float(stats.t.ppf(0.975, df)) * s
    first, *rest = (models(score, y, parent) for score in x)
    value = d(everyone)
    expected = (value, value - reach, value + reach)
    assert difference(first, rest) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("parents", "size", "r", "between"), [(2, 9, (0.0, 0.0), 0.5), (4, 9, (0.6, 0.2), 0.5)]
)
def test_intervals_hold_the_difference(
    parents: int, size: int, r: tuple[float, float], between: float
) -> None:
    assert coverage(parents, size, r, between, 300) >= 0.95 - 3 * sqrt(0.05 * 0.95 / 300)


def asked_both_ways(tables: Tables) -> Tables:
    """The same with the query weat6b called that of the task."""
    query = tables.intrinsic["query"].replace("weat6b", ALIGNED)
    return tables._replace(intrinsic=tables.intrinsic.assign(query=query))


def test_a_sweep_that_asked_both_ways(tmp_path: Path) -> None:
    """Query 1, whose x the gaps follow, is called that of the task."""
    tables = tables_of(measured(4, 9, 0.8, seed=2), metrics=2)
    assert alignments(join_points(tables)) == []
    tables = asked_both_ways(tables)
    found = alignments(join_points(tables))
    assert len(found) == 2 * 2 * 3, "metrics, gaps, all others and each"
    whole = [each for each in found if each.other == "all" and each.metric == "m0"]
    assert all(each.difference > 0 for each in whole)
    parts = [each for each in found if each[:9] == whole[0][:9] and each.other != "all"]
    assert whole[0].r_other == pytest.approx(np.mean([each.r_other for each in parts]))
    assert (whole[0].n, whole[0].n_parents, whole[0].df) == (36, 4, 31)
    console = Console(record=True, width=200)
    (path,) = write_alignment(found, tmp_path, console)
    assert texts(read_table(path), "other")[:3] == ["all", "weat7", "weat8"]
    assert write_alignment([], tmp_path, console) == []
    joined = join_points(tables)
    assert alignments(joined[joined["query"] == "weat7"]) == []


def test_queries_are_compared_over_the_models_that_have_both() -> None:
    tables = asked_both_ways(tables_of(measured(4, 9, 0.8, seed=2)))
    lost = (tables.intrinsic["point"] == "p5") & (tables.intrinsic["query"] == "weat8")
    value = tables.intrinsic["value"].where(~lost)
    holed = tables._replace(intrinsic=tables.intrinsic.assign(value=value))
    without = Tables(*(table[table["point"] != "p5"] for table in tables[:3]))
    found, expected = (alignments(join_points(each)) for each in (holed, without))
    assert [each.n for each in found] == [35] * len(found)
    assert [each[10:] for each in found] == [pytest.approx(each[10:]) for each in expected]


def test_the_report_shows_what_the_tasks_own_words_gain(tmp_path: Path) -> None:
    tables = asked_both_ways(tables_of(measured(4, 9, 0.8, seed=2)))
    Correlation().conclude(tables, tmp_path, Console(file=io.StringIO()))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    data = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert data
    assert len(json.loads(data[1])["alignments"]) == 2 * 3
    assert "task's own words</h2>" in page
