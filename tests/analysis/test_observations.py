"""Models as observations: what is averaged for which question, by hand and by literal loops."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from biasbridge.analysis.observations import Observations, observations
from biasbridge.analysis.rows import Resampled
from tests.analysis.conftest import make_rows

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats


def study(
    seeds: int = 3, clusters: int = 4, conditions: int = 12, lost: int = 0, seed: int = 0
) -> Observations:
    """Parents of ``seeds`` each in ``clusters``, in every condition but for the first ones lost;
    conditions, and clusters in each, move score and gap of all seeds alike.
    """
    rng = np.random.default_rng(seed)
    parent, condition = np.divmod(np.arange(seeds * clusters * conditions)[lost:], conditions)
    cluster = parent // seeds
    moved = rng.normal(size=(2, conditions))[:, condition]
    moved = moved + rng.normal(size=(2, clusters, conditions))[:, cluster, condition]
    x, y = moved + 5 * rng.normal(size=(2, clusters * seeds))[:, parent]
    x, y = np.array([x, y]) + 0.5 * rng.normal(size=(2, len(parent)))
    names = (
        np.char.add(letter, each.astype(str))
        for letter, each in zip("pcd", (parent, cluster, condition), strict=True)
    )
    rows = make_rows(x, y, **dict(zip(("parent", "cluster", "condition"), names, strict=True)))
    again = Resampled.of(y[:, None] + rng.normal(size=(len(y), 60)))
    return observations(rows._replace(utility=rng.normal(size=len(y)), y_resampled=again))


def residual(side: Floats, *labels: NDArray[np.str_], further: Floats | None = None) -> Floats:
    """What least squares leave of a side given indicators of labels."""
    designs = [(each[:, None] == np.unique(each)).astype(float) for each in labels]
    if further is not None:
        designs.append(further[:, None])
    design = np.column_stack(designs)
    found: Floats = side - design @ np.linalg.lstsq(design, side, rcond=None)[0]
    return found


def r_of(x: Floats, y: Floats) -> float:
    return float(stats.pearsonr(x, y).statistic)


def test_a_model_is_the_mean_of_its_rows_by_kind() -> None:
    """Three trainings of one classifier and one of another: each classifier counts alike."""
    rows = make_rows(
        *([1, 1, 1, 1, 7], [1, 2, 6, 5, 9]),
        model=[*"aaaab"],
        parent=[*"ppppq"],
        setting=[*"cccdc"],
        training=[*"12311"],
    )
    found = observations(rows.at(np.array([4, 0, 1, 2, 3])))
    assert found.model.tolist() == ["b", "a"]
    assert found.y == pytest.approx([9, ((1 + 2 + 6) / 3 + 5) / 2])
    assert found.parent.tolist() == ["q", "p"]


def test_seeds_of_a_corpus_are_averaged_for_each_condition_by_hand() -> None:
    """Corpus A has two seeds. Less the means of parents, scores of its first are -1 0 1, of its
    second -3 0 3: of conditions -2 0 2; corpus B has one, -1 1 in two conditions.
    """
    rows = make_rows(
        *([1, 2, 3, 10, 13, 16, 4, 6, 99], [0, 3, 0, 1, 1, 4, 7, 5, 99]),
        parent=[*"aaabbbccd"],
        cluster=[*"AAAAAABBB"],
        condition=[*"123123121"],
    )
    of = observations(rows).average_over_clusters()
    assert of.parent.tolist() == of.cluster.tolist() == [*"AAABB"]
    assert of.condition.tolist() == [*"12312"]
    assert of.x.tolist() == [-2, 0, 2, -1, 1]
    assert of.y.tolist() == [-1, 0.5, 0.5, 1, -1]  # -1 2 -1 and -1 -1 2; 1 -1
    assert of.model.tolist() == ["A 1", "A 2", "A 3", "6", "7"], "d is alone and says nothing"
    found = of.within_models(99)
    uv, uu, vv = 2 + 0 + 1 - 1 - 1, 4 + 4 + 1 + 1, 1 + 0.25 + 0.25 + 1 + 1
    assert (found.r, found.df) == pytest.approx((uv / math.sqrt(uu * vv), 5 - 2 - 1))


@pytest.mark.parametrize(("seeds", "clusters"), [(1, 4), (4, 1)])
def test_what_shares_no_corpus_or_one_stays(seeds: int, clusters: int) -> None:
    models = study(seeds, clusters)
    assert models.average_over_clusters() is models


def test_seeds_of_a_corpus_taken_as_independent_claim_too_much() -> None:
    """Nothing ties gap to score but what each corpus does to each condition, alike in its seeds."""
    p = [
        study(4, 4, 6, seed=seed).average_over_clusters().within_models(199).p
        for seed in range(100)
    ]
    alone = [study(4, 4, 6, seed=seed).within_models(199).p for seed in range(100)]
    assert np.mean(np.array(p) < 0.05) < 0.12
    assert np.mean(np.array(alone) < 0.05) > 0.2


@pytest.mark.parametrize("lost", [0, 5])
def test_over_conditions_is_r_of_the_means_of_each_condition(lost: int) -> None:
    of = study(lost=lost)
    x, y = (
        np.array([left[of.condition == each].mean() for each in np.unique(of.condition)])
        for left in (residual(of.x, of.parent), residual(of.y, of.parent))
    )
    found = of.condition_means().within_models(99)
    assert found.r == pytest.approx(r_of(x, y))
    assert (found.n, found.df) == (12, 10)


def test_the_line_has_the_slope_that_all_parents_share() -> None:
    x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 15.0])
    parent = np.repeat(["p", "q"], 3)
    offset = np.where(parent == "p", 0.0, -100.0)  # over all points y falls with x
    line = observations(make_rows(x, 3 * x + offset, parent=parent)).line()
    assert line == pytest.approx((3, x.mean(), (3 * x + offset).mean()))
    assert line.of_sign(-np.ones(6)) == pytest.approx((-3, -x.mean(), line.y))
    assert math.isnan(line.of_sign(np.array([1.0, -1.0])).slope)


def test_given_utility_is_the_partial_correlation() -> None:
    of = study()
    x, y = (residual(side, of.parent, further=of.utility) for side in (of.x, of.y))
    found = of.given_utility(99)
    assert (found.r, found.df) == pytest.approx((r_of(x, y), len(x) - 12 - 1 - 1))
    nothing = of._replace(utility=np.where(np.arange(len(x)) == 3, np.nan, of.utility))
    unknown = nothing.given_utility(99)
    assert math.isnan(unknown.r)
    assert "unknown" in unknown.reason
