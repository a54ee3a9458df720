"""How often the inference is right, in studies made as sweeps make them: small here, at full size
with ``-m stress``; docs/inference.md shows what ``python -m tests.analysis.simulate`` finds.
"""

from __future__ import annotations

from math import isfinite, isnan, sqrt

import numpy as np
import pytest

from analysis.correlate import correlate_slices
from analysis.evidence import evidence, within_interval
from analysis.grid import panel_statistics
from analysis.joined import join_points, rows_of
from analysis.specifications import specification_curves
from analysis.within import FEWEST_FREE, detectable
from tests.analysis.designs import (
    CHANCES,
    FAMILY,
    KINDS,
    ON_ITEMS,
    SIZES,
    Chance,
    Kind,
    corrections,
    disagreements,
    generated_worlds,
    of_generated_worlds,
    on_shared_items,
    own_slopes,
    power,
    rates,
    total_coverage,
)

STUDIES, MANY = 250, 1_000
SMALL_SIZES = ((2, 9), (6, 4))
stress = pytest.mark.stress


def may_tell(bases: int, units: int) -> bool:
    """Whether a study of so many bases, and units of each, gets a verdict."""
    return bases * units - bases - 1 >= FEWEST_FREE


CELLS = [(*size, r) for size in SIZES for r in (0, 0.5, 0.8) if r == 0 or may_tell(*size)]


def error(share: float, count: int) -> float:
    """Three standard errors of a share of so many studies."""
    return 3 * sqrt(share * (1 - share) / count)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("bases", "units"), SMALL_SIZES)
def test_nothing_is_claimed_where_nothing_is(kind: Kind, bases: int, units: int) -> None:
    found = rates(kind, bases, units, 0, STUDIES)
    assert found.p <= 0.07 + error(0.07, STUDIES)
    assert max(found.supported, found.contradicted) <= 0.05 + error(0.05, STUDIES)
    assert found.family <= 0.05 + error(0.05, STUDIES)
    assert found.coverage >= 0.93 - error(0.07, STUDIES)
    assert found.ignored > 0.15, "p over units, bases ignored"


@stress
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("bases", "units", "r"), CELLS)
def test_claims_and_intervals_at_full_size(kind: Kind, bases: int, units: int, r: float) -> None:
    """Some 8 minutes in all on a core of its own."""
    found = rates(kind, bases, units, r, MANY)
    if may_tell(bases, units):
        assert found.coverage >= 0.93 - error(0.07, MANY)
    if r == 0:
        assert max(found.supported, found.contradicted) <= 0.04 + error(0.04, MANY)
        assert found.family <= 0.05 + error(0.05, MANY)
        if may_tell(bases, units):
            assert found.p <= 0.07 + error(0.07, MANY)


@pytest.mark.parametrize(("bases", "units", "r"), [(2, 11, 0.8), (5, 15, 0.5)])
def test_an_association_is_supported(bases: int, units: int, r: float) -> None:
    assert power(bases, units, r, 200, alone=True) >= 0.8


@pytest.mark.parametrize(("bases", "units"), [(2, 9), (4, 9), (10, 6)])
def test_the_detectable_correlation_is_found_in_four_of_five_studies(
    bases: int, units: int
) -> None:
    r = detectable(bases * units - bases - 1, FAMILY)
    assert power(bases, units, r, 300, alone=True) == pytest.approx(0.8, abs=0.05 + error(0.8, 300))


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("algorithms", [1, 2])
def test_what_seeds_share_is_no_association(algorithms: int, chance: Chance) -> None:
    """Nine planted levels at four seeds: taken as independent, a third or more of such studies has
    p < .05, and up to 18% where the two embeddings of one corpus are.
    """
    count = 150
    found = of_generated_worlds(4, algorithms, 9, 0, count, chance)
    assert {(each.n_units, each.n_clusters) for each in found} == {(36, 4)}
    wrong = sum(each.within_p < 0.05 for each in found) / count
    assert wrong <= 0.05 + error(0.05, count)
    linked = of_generated_worlds(4, algorithms, 9, 1, 20, chance)
    assert sum(each.within_p < 0.05 and each.within_low > 0 for each in linked) >= 17


def test_embeddings_of_one_corpus_are_one_witness() -> None:
    """Ten seeds of both algorithms, one embedding each: 20 embeddings, 10 witnesses."""
    (tables,) = generated_worlds(10, 2, 1, 0, 1)
    joined = join_points(tables)
    together = evidence(rows_of(joined))
    assert (together.n_units, together.n_clusters, together.free) == (10, 10, 8)
    x, y = (joined.groupby("corpus_key")[side].mean() for side in ("x", "y"))
    assert together.within == pytest.approx(x.corr(y))
    drawn = joined.assign(row="", column="", stratum=rows_of(joined).stratum)
    (panel,) = panel_statistics(drawn)
    assert (panel.r, panel.low) == pytest.approx((together.within, together.within_low))
    alone = evidence(rows_of(joined[joined["embedding"] == "word2vec"]))
    assert (alone.n_units, alone.free) == (10, 8)
    assert isfinite(alone.within_p)


def test_a_corpus_that_lacks_an_algorithm_is_left_out() -> None:
    (tables,) = generated_worlds(4, 2, 9, 0, 1)
    points = tables.points.assign(
        status=np.where(tables.points["point"] == "2 fasttext 3", "failed", "done")
    )
    joined = join_points(tables._replace(points=points))
    (found,) = (
        each
        for each in correlate_slices(joined)
        if each.names["embedding"] == each.names["method"] == "all" != each.names["query"]
    )
    assert (found.evidence.n_units, found.marks.missing) == (35, "1 of 36 unmodified")


def test_algorithms_of_one_seed_are_no_witnesses_of_their_own() -> None:
    """Each has a corpus of its own, but they share the seed's world and its posts."""
    (tables,) = generated_worlds(10, 2, 1, 0, 1)
    joined = join_points(tables._replace(points=tables.points.drop(columns="corpus_key")))
    together = evidence(rows_of(joined))
    assert (together.n_units, together.n_clusters) == (20, 10)
    assert isnan(together.within)
    assert together.caution.endswith("see each training algorithm by itself")
    assert isfinite(together.r_low), "over seeds there is an interval"
    assert isnan(within_interval(rows_of(joined))[0].value)
    drawn = joined.assign(row="", column="", stratum=rows_of(joined).stratum)
    assert [isnan(panel.r) for panel in panel_statistics(drawn)] == [True], "nor in a figure"


def test_the_specification_curve_has_each_algorithm_by_itself() -> None:
    (tables,) = generated_worlds(4, 2, 9, 0, 1)
    scores = tables.intrinsic.assign(unbiased=0.0)
    (curve,) = specification_curves(join_points(tables._replace(intrinsic=scores)), resamples=99)
    assert {each.levels[0] for each in curve.specifications} == {"word2vec", "fasttext"}


@pytest.mark.parametrize("clusters", [5, 10])
def test_intervals_over_clusters_hold_the_total_r(clusters: int) -> None:
    assert total_coverage(clusters, 9, 0.5, 0.5, 150) >= 0.93 - error(0.07, 150)


@pytest.mark.parametrize(("bases", "units"), [(10, 9), (10, 35)])
def test_negligible_is_wrong_in_one_of_twenty_studies(bases: int, units: int) -> None:
    found = corrections(bases, units, 0.3, (0.5, 0.5), 100)
    assert found.negligible <= 0.05 + error(0.05, 100)
    assert found.corrected == pytest.approx(0.3, abs=0.05)
    assert found.observed == pytest.approx(0.2, abs=0.05)


def test_what_is_negligible_is_called_so_where_there_are_enough_units() -> None:
    assert corrections(10, 35, 0, (0.2, 0.2), 60).negligible > 0.8


@pytest.mark.parametrize("kind", ["normal", "growing noise", "heavy tails"])
def test_alike_parts_are_rarely_said_to_disagree(kind: Kind) -> None:
    assert disagreements(3, 2, 9, kind, 0, 200) <= 0.05


def test_items_that_all_embeddings_share_are_no_evidence() -> None:
    """Taken for all that there are, they are called an association in three of ten studies."""
    found = on_shared_items(6, 6, 200, 0, 0.3, 150)
    assert found.p <= 0.05 + error(0.05, 150)
    assert found.coverage >= 0.93 - error(0.07, 150)
    assert found.fixed_p > 0.15


@pytest.mark.parametrize("bases", [5, 12])
def test_what_holds_for_other_bases_takes_bases(bases: int) -> None:
    """Slopes of their own in every base, 0 on average: p is about the bases at hand."""
    found = own_slopes(bases, 9, 1, 200)
    assert found.across <= 0.05 + error(0.05, 200)
    assert found.p > 0.12


@stress
@pytest.mark.parametrize(("bases", "units", "r", "spread"), ON_ITEMS)
def test_shared_items_at_full_size(bases: int, units: int, r: float, spread: float) -> None:
    found = on_shared_items(bases, units, 200, r, spread, 300)
    assert found.coverage >= 0.93 - error(0.07, 300)
    if r == 0:
        assert found.p <= 0.05 + error(0.05, 300)
