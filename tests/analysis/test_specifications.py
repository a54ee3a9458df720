"""The specification curve, and how often its tests are right."""

from __future__ import annotations

import json
import re
from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from analysis.columns import numbers, texts
from analysis.correlate import correlate, correlate_slices
from analysis.joined import join_points
from analysis.results import Tables
from analysis.specification_curve import level_table, specification_table, write_curves
from analysis.specifications import CHOICES, Curve, specification_curves
from analysis.studies.correlation import Correlation
from files.tables import read_table
from tests.analysis.designs import Kind, Studies, studies

stress = pytest.mark.stress
QUERIES = ("weat6b", "weat7", "weat8")
MEASURES = ("precision", "recall")


def tables_of(of: Studies, study: int, metrics: int = 1, turned: bool = False) -> Tables:
    """One study as a sweep's tables: two training algorithms, whose bases are those of the study,
    queries and gaps, further metrics that are copies of the first with noise of their own.
    """
    rng = np.random.default_rng(study)
    names = [f"p{i}" for i in range(len(of.base))]
    points = pd.DataFrame(
        {
            "point": names,
            "embedding": np.where(of.base % 2, "fasttext", "word2vec"),
            "method": "balance",
            "status": "done",
            "generated": False,
            "classifier": "cnn",
            "vectors_key": names,
            "base_key": of.base.astype(str),
        }
    )
    intrinsic, extrinsic = [], []
    for query, x in zip(QUERIES, of.x[study], strict=True):
        for metric in range(metrics):
            value = x if not metric else x + rng.normal(size=len(x))
            row = {"point": names, "metric": f"m{metric}", "query": query, "value": value}
            ends = {"unbiased": 0.0, "most": 9.0}
            if turned:
                row["value"], ends = -value, {"unbiased": 1.0, "most": 1.0}
            intrinsic.append(pd.DataFrame(row | ends))
    for measure, y in zip(MEASURES, of.y[study], strict=True):
        row = {"point": names, "task": "t", "kind": "gap", "measure": measure, "value": y}
        row |= {"group": "", "group_by": "annotation"}
        extrinsic.append(pd.DataFrame(row))
    return Tables(points, pd.concat(intrinsic), pd.concat(extrinsic))


def curve_of(tables: Tables, resamples: int = 199) -> Curve:
    (curve,) = specification_curves(join_points(tables), resamples=resamples)
    return curve


def shares(kind: Kind, bases: int, units: int, r: float, count: int) -> tuple[float, ...]:
    """How often each of the three tests of the curve, and that of a choice, is below .05."""
    of = studies(kind, bases, units, r, count, seed=11)
    told = []
    for study in range(count):
        curve = curve_of(tables_of(of, study))
        decides = [each.p for each in curve.levels if each.choice == "query"]
        told.append((curve.median_p, curve.agree_p, curve.beyond_p, decides[0]))
    return tuple(np.mean(np.array(told) < 0.05, axis=0).tolist())


def test_r_of_a_specification_is_that_of_its_slice() -> None:
    tables = tables_of(studies("normal", 4, 9, 0.5, 1), 0, metrics=2)
    curve = curve_of(tables)
    assert len(curve.specifications) == 2 * 3 * 2 * 3, "metrics, queries, gaps, embeddings"
    found = {
        tuple(each.names[name] for name in CHOICES if name != "classifier"): each.evidence
        for each in correlate_slices(join_points(tables))
    }
    for each in curve.specifications:
        levels = dict(zip(CHOICES, each.levels, strict=True))
        assert levels.pop("classifier") == "cnn"
        slice_ = found[tuple(levels.values())]
        assert each.n_units == slice_.n_units
        assert (each.r, each.low, each.high) == pytest.approx(
            (slice_.within, slice_.within_low, slice_.within_high)
        )
    r = [each.r for each in curve.specifications]
    assert r == sorted(r)
    assert curve.median == pytest.approx(np.median(r))


def test_permutations_by_hand() -> None:
    """One specification more than a literal loop over permutations of whole embeddings."""
    of = studies("growing noise", 2, 9, 0.4, 1, seed=3)
    curve = curve_of(tables_of(of, 0), resamples=400)
    rng = np.random.default_rng(5)

    def whole(y: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        found = []
        for chosen in (of.base >= 0, of.base == 0, of.base == 1):
            for x in of.x[0]:
                for gap in y:
                    u, v = (freed(side[chosen], of.base[chosen]) for side in (x, gap))
                    if chosen.sum() > 9:  # of one base of nine only seven degrees are free
                        found.append(float(u @ v / sqrt(float((u @ u) * (v @ v)))))
        return float(np.median(found))

    def freed(
        side: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
        base: np.ndarray[tuple[int, ...], np.dtype[np.intp]],
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        means = np.array([float(side[base == own].mean()) for own in base])
        left: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = side - means
        return left

    assert curve.median == pytest.approx(whole(of.y[0]))
    permuted = []
    for _ in range(400):
        order = np.concatenate([rng.permutation(9), 9 + rng.permutation(9)])
        permuted.append(whole(of.y[0][:, order]))
    low = [each.null_low for each in curve.specifications]
    high = [each.null_high for each in curve.specifications]
    assert np.mean(low) < np.quantile(permuted, 0.3) < np.quantile(permuted, 0.7) < np.mean(high)


def test_a_metric_whose_unbiased_value_is_its_largest_is_turned_around() -> None:
    of = studies("normal", 2, 12, 0.6, 1)
    plain, turned = (curve_of(tables_of(of, 0, turned=turned)) for turned in (False, True))
    assert [each.r for each in turned.specifications] == pytest.approx(
        [each.r for each in plain.specifications]
    )


def test_turned_scores_are_so_with_units_named_too() -> None:
    tables = tables_of(studies("normal", 4, 9, 0.8, 1, seed=2), 0, turned=True)
    joined, by = join_points(tables), ["metric", "query", "measure"]
    named = correlate(joined, x="x", y="y", by=by, cluster=["unit"], base=["base"])
    plain = correlate(joined, x="x", y="y", by=by)
    assert named[0].evidence.within > 0.5
    assert [each.evidence.within for each in named] == pytest.approx(
        [each.evidence.within for each in plain]
    )


def test_the_choice_that_decides_the_sign_is_named() -> None:
    """Of two gaps one follows the score and the other runs against it."""
    of = studies("ladder of doses", 4, 9, 0.9, 1)
    y = of.y.copy()
    y[:, 1] = -y[:, 0]
    curve = curve_of(tables_of(of._replace(y=y), 0))
    assert curve.decisive is not None
    assert curve.decisive.choice == "measure"
    assert curve.decisive.decides == pytest.approx(1)
    assert curve.agree == pytest.approx(0.5)
    assert "measure decides the sign most: 100%" in curve.told()
    assert "all for these words and test items. " in curve.told()


def test_embeddings_without_a_gap_are_left_out_and_said() -> None:
    tables = tables_of(studies("normal", 2, 12, 0, 1), 0)
    value = tables.extrinsic["value"].to_numpy(copy=True)
    value[3] = np.nan  # of the first gap
    curve = curve_of(tables._replace(extrinsic=tables.extrinsic.assign(value=value)))
    assert curve.left_out == "1 embeddings that lack a gap"
    assert max(each.n_units for each in curve.specifications) == 23
    value[24:40] = np.nan  # of the second gap
    curve = curve_of(tables._replace(extrinsic=tables.extrinsic.assign(value=value)))
    assert curve.left_out.startswith("1 gaps that many embeddings lack")


def test_utility_and_small_studies_make_no_curve() -> None:
    tables = tables_of(studies("normal", 2, 12, 0, 1), 0)
    blank = tables.intrinsic.assign(unbiased=np.nan)
    assert specification_curves(join_points(tables._replace(intrinsic=blank))) == []
    small = tables_of(studies("normal", 2, 4, 0, 1), 0)
    assert specification_curves(join_points(small)) == []


def test_tables_and_figure(tmp_path: Path) -> None:
    tables = tables_of(studies("normal", 4, 9, 0.5, 1), 0)
    curve = curve_of(tables)
    console = Console(record=True, width=400)
    written = {path.name for path in write_curves([curve], tmp_path, console)}
    assert {"specifications.csv", "specification_levels.csv"} <= written
    assert {f"specifications_t.{each}" for each in ("svg", "png", "pdf")} <= written
    assert curve.told() in console.export_text()
    table = specification_table([curve])
    assert numbers(table, "rank").tolist() == list(range(1, len(table) + 1))
    levels = level_table([curve])
    assert texts(levels, "choice")[0] == "all"
    assert numbers(levels, "specifications")[0] == len(table)
    assert set(texts(levels, "choice")) == {"all", "embedding", "query", "measure"}
    assert write_curves([], tmp_path, console) == []


def test_the_study_writes_the_curve_and_the_report_shows_it(tmp_path: Path) -> None:
    tables = tables_of(studies("normal", 4, 9, 0.5, 1), 0)
    written = Correlation().conclude(tables, tmp_path, Console(quiet=True))
    assert {"specifications.csv", "specification_levels.csv"} <= {path.name for path in written}
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Every defensible choice" in page
    found = re.search('<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data = json.loads(found[1])
    (told,) = data["specifications_told"]
    assert told.startswith(f"t: {len(data['specifications'])} specifications")
    r = numbers(read_table(tmp_path / "specifications.csv"), "r")
    assert [row["r"] for row in data["specifications"]] == pytest.approx(r.tolist())


def test_no_curve_is_claimed_where_nothing_is() -> None:
    """Units of clusters that move both sides, queries that share gaps, noise that grows with x."""
    for kind in ("ladder of doses", "growing noise"):
        found = shares(kind, 2, 9, 0, 80)
        assert max(found[:3]) <= 0.06 + 3 * sqrt(0.06 * 0.94 / 80), (kind, found)


def test_a_link_is_seen() -> None:
    assert shares("ladder of doses", 4, 9, 0.5, 20)[0] >= 0.8


@stress
@pytest.mark.parametrize("kind", ["normal", "ladder of doses", "growing noise", "heavy tails"])
@pytest.mark.parametrize(("bases", "units"), [(2, 9), (4, 9), (10, 6)])
def test_no_curve_is_claimed_where_nothing_is_at_full_size(
    kind: Kind, bases: int, units: int
) -> None:
    found = shares(kind, bases, units, 0, 1_000)
    assert max(found) <= 0.07 + 3 * sqrt(0.07 * 0.93 / 1_000), found
