"""Models as observations: what is averaged for which question, by hand and by literal loops."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.joined import join_points, observations_of
from biasbridge.analysis.observations import Observations, _select_comparable
from biasbridge.analysis.scopes import SEEDS
from biasbridge.analysis.tables import Tables
from biasbridge.files.columns import as_float, as_text, text_rows
from tests.analysis.conftest import make_rows, make_sweep

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasbridge.analysis.slices import SliceResult
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
        np.char.add(letter, item.astype(str))
        for letter, item in zip("pcd", (parent, cluster, condition), strict=True)
    )
    rows = make_rows(x, y, **dict(zip(("parent", "cluster", "condition"), names, strict=True)))
    again = y[:, None] + rng.normal(size=(len(y), 60))
    return rows._replace(utility=rng.normal(size=len(y)), y_resampled=again).models()


def residual(side: Floats, *labels: NDArray[np.str_], further: Floats | None = None) -> Floats:
    """What least squares leave of a side given indicators of labels."""
    designs = [(item[:, None] == np.unique(item)).astype(float) for item in labels]
    if further is not None:
        designs.append(further[:, None])
    design = np.column_stack(designs)
    actual: Floats = side - design @ np.linalg.lstsq(design, side, rcond=None)[0]
    return actual


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
    actual = rows.select(np.array([4, 0, 1, 2, 3])).models()
    assert actual.model.tolist() == ["b", "a"]
    assert actual.y == pytest.approx([9, ((1 + 2 + 6) / 3 + 5) / 2])
    assert actual.parent.tolist() == ["q", "p"]


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
    of = rows.models().average_over_clusters()
    assert of.parent.tolist() == of.cluster.tolist() == [*"AAABB"]
    assert of.condition.tolist() == [*"12312"]
    assert of.x.tolist() == [-2, 0, 2, -1, 1]
    assert of.y.tolist() == [-1, 0.5, 0.5, 1, -1]  # -1 2 -1 and -1 -1 2; 1 -1
    assert of.model.tolist() == ["A 1", "A 2", "A 3", "6", "7"], "d is alone and says nothing"
    actual = of.within_models(99)
    uv, uu, vv = 2 + 0 + 1 - 1 - 1, 4 + 4 + 1 + 1, 1 + 0.25 + 0.25 + 1 + 1
    assert (actual.r, actual.df) == pytest.approx((uv / math.sqrt(uu * vv), 5 - 2 - 1))


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
        np.array([left[of.condition == item].mean() for item in np.unique(of.condition)])
        for left in (residual(of.x, of.parent), residual(of.y, of.parent))
    )
    actual = of.condition_means().within_models(99)
    assert actual.r == pytest.approx(r_of(x, y))
    assert (actual.n, actual.df) == (12, 10)


def test_the_line_has_the_slope_that_all_parents_share() -> None:
    x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 15.0])
    parent = np.repeat(["p", "q"], 3)
    offset = np.where(parent == "p", 0.0, -100.0)  # over all points y falls with x
    line = make_rows(x, 3 * x + offset, parent=parent).models().line()
    assert line == pytest.approx((3, x.mean(), (3 * x + offset).mean()))
    assert line.of_sign(-np.ones(6)) == pytest.approx((-3, -x.mean(), line.y))
    assert math.isnan(line.of_sign(np.array([1.0, -1.0])).slope)


def test_given_utility_is_the_partial_correlation() -> None:
    of = study()
    x, y = (residual(side, of.parent, further=of.utility) for side in (of.x, of.y))
    actual = of.given_utility(99)
    assert (actual.r, actual.df) == pytest.approx((r_of(x, y), len(x) - 12 - 1 - 1))
    nothing = of._replace(utility=np.where(np.arange(len(x)) == 3, np.nan, of.utility))
    unknown = nothing.given_utility(99)
    assert math.isnan(unknown.r)
    assert "unknown" in unknown.reason


# Models that lack some of what others have: which of their rows count, and what is said.

PARENTS, MODELS = "abcd", range(9)
CLASSIFIERS = {"classifier": ("cnn", "linear")}


def of_points(table: pd.DataFrame, points: list[str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([point in points for point in as_text(table, "point")])


def without(tables: Tables, points: list[str], side: str = "gap", query: str = "") -> Tables:
    """The tables with gaps, or scores of a query, that are not defined."""
    table = tables.extrinsic if side == "gap" else tables.intrinsic
    lost = of_points(table, points)
    if query:
        lost &= np.array([of == query for (of,) in text_rows(table, ["query"])])
    table = table.assign(value=table["value"].mask(lost))
    return tables._replace(**{"extrinsic" if side == "gap" else "intrinsic": table})


def failed(tables: Tables, points: list[str]) -> Tables:
    """The tables with points that failed."""
    status = np.where(of_points(tables.points, points), "failed", "done")
    left = (table[~of_points(table, points)] for table in (tables.intrinsic, tables.extrinsic))
    return Tables(tables.points.assign(status=status), *left)


def kept(tables: Tables, points: list[str]) -> Tables:
    """The tables without points that were never planned."""
    parts = (tables.points, tables.intrinsic, tables.extrinsic)
    return Tables(*(part[~of_points(part, points)] for part in parts))


def slice_of(tables: Tables, query: str = "weat7") -> SliceResult:
    """The slice of all methods, classifiers of the sweep as training data of one classifier."""
    wanted = {"query": query, "method": "all", "embedding": "all"}
    points = tables.points
    if "classifier" in points:
        points = points.assign(source=points["classifier"], classifier="linear")
    tables = tables._replace(points=points)
    actual = correlate_slices(join_points(tables))
    (one,) = (item for item in actual if wanted.items() <= item.names.items())
    return one


def named(models: range, setting: str) -> list[str]:
    """The points of models by their number of each parent."""
    return [f"{parent}{number} {setting}" for parent in PARENTS for number in models]


@pytest.mark.parametrize("largest", [range(7, 9), range(8, 9)], ids=["two", "one"])
@pytest.mark.parametrize("lose", [without, failed])
def test_gaps_of_one_classifier_that_are_lost_at_the_largest_scores_claim_nothing(
    largest: range, lose: Callable[[Tables, list[str]], Tables]
) -> None:
    """What a mean over the classifiers that are left would do: r = .72."""
    whole = slice_of(make_sweep(**CLASSIFIERS))
    actual = slice_of(lose(make_sweep(**CLASSIFIERS), named(largest, "cnn")))
    assert (whole.n_lost, whole.lost_models) == (0, "")
    assert abs(actual.within.r) < 0.35
    assert actual.verdict == "cannot tell"
    if len(largest) == 1:
        assert (actual.n, actual.n_lost, actual.lost_models) == (32, 4, "4 of 32 balance")
        assert "4 of 36 models are lost, more than a tenth" in actual.why
    else:  # more than a fifth lack it: it is left out for all
        assert (actual.n, actual.n_lost) == (36, 0)
        assert actual.lost_models == "cnn left out (8 of 32 balance lack it)"
        alone = slice_of(kept(make_sweep(**CLASSIFIERS), named(MODELS, "cnn")))
        assert actual.within.r == pytest.approx(alone.within.r)


def test_an_embedding_without_a_score_is_lost_too() -> None:
    points = named(range(8, 9), "cnn") + named(range(8, 9), "linear")
    some = without(make_sweep(**CLASSIFIERS), points, "score", "weat8")
    assert slice_of(some).lost_models == ""
    for query in ("weat8", "all"):
        actual = slice_of(some, query)
        assert (actual.n, actual.lost_models) == (32, "4 of 32 balance")


def test_a_query_that_nobody_has_takes_nobody_away() -> None:
    tables = make_sweep()
    gone = without(tables, as_text(tables.points, "point"), "score", "weat8")
    actual = slice_of(gone, "all")
    assert (actual.n, actual.lost_models) == (36, "")
    nothing = slice_of(gone, "weat8")
    assert (nothing.n, nothing.n_lost, nothing.verdict) == (0, 36, "cannot tell")
    assert nothing.lost_models == "4 of 4 unmodified, 32 of 32 balance"


def test_trainings_may_be_fewer_and_classifiers_count_alike() -> None:
    tables = make_sweep(classifier=("cnn", "linear"), replicate=(0, 1, 2))
    some = ["a3 cnn 1", "a3 cnn 2", "c5 cnn 0"]
    whole, fewer = slice_of(tables), slice_of(failed(tables, some))
    assert (fewer.n, fewer.lost_models) == (36, "")
    assert fewer.within.r == pytest.approx(whole.within.r, abs=0.1)


def test_a_setting_that_only_some_were_meant_to_have_takes_no_others_away() -> None:
    """One classifier was run on half of the embeddings on purpose, those of large scores."""
    tables = make_sweep(**CLASSIFIERS)
    actual = slice_of(kept(tables, named(range(5), "cnn")))
    alone = slice_of(kept(tables, named(MODELS, "cnn")))
    assert repr(actual.within) == repr(alone.within)
    left_out = "cnn left out (4 of 4 unmodified, 16 of 32 balance lack it)"
    assert (actual.n_lost, actual.lost_models) == (0, left_out)


def test_where_nothing_is_shared_embeddings_are_compared_with_those_of_the_same() -> None:
    """Half of the embeddings of each parent have one classifier, half the other."""
    tables = make_sweep(**CLASSIFIERS)
    tables = kept(tables, named(range(5), "cnn") + named(range(5, 9), "linear"))
    actual = slice_of(tables)
    assert actual.within.df == 36 - 2 * 4 - 1
    rows = observations_of(join_points(tables).query("query == 'weat7'"))
    group = [f"{parent}{of}" for parent, of in zip(rows.parent, rows.setting, strict=True)]
    u, v = (
        side - pd.Series(side).groupby(group).transform("mean").to_numpy()
        for side in (rows.x, rows.y)
    )
    assert actual.within.r == pytest.approx((u @ v) / np.sqrt((u @ u) * (v @ v)))
    assert actual.n_parents == actual.scopes[SEEDS].n == 4, "a parent with two classifiers is one"


def test_options_of_the_task_are_settings_where_a_model_has_several() -> None:
    tables = make_sweep(task_options=(0.3, 1.0))
    own = {name: i for i, name in enumerate(tables.points["unit_key"].unique())}
    options = [
        # The second differs between models, and is no setting of any.
        json.dumps({"predictions.C": c, "posts.stereotype": own[model]})
        for c, model in zip(
            tables.points["task_options"], as_text(tables.points, "unit_key"), strict=True
        )
    ]
    tables = tables._replace(points=tables.points.assign(task_options=options))
    actual = slice_of(without(tables, named(range(8, 9), "0.3")))
    assert (actual.n, actual.lost_models) == (32, "4 of 32 balance")


def test_a_model_meant_only_for_what_nobody_has_changes_nothing_for_the_others() -> None:
    model, kind = np.array([0, 0, 1, 1, 2, 2, 3]), np.array([0, 1, 0, 1, 0, 1, 2])
    known = np.array([1, 1, 1, 1, 1, 0, 0], dtype=bool)
    rows, _ = _select_comparable(model, kind, known)
    others, _ = _select_comparable(model[:-1], kind[:-1], known[:-1])
    assert rows.tolist() == [*others.tolist(), False]
    assert others.tolist() == [True, False, True, False, True, False]


def test_rows_of_points_that_failed_are_those_of_their_setting() -> None:
    joined = join_points(failed(make_sweep(**CLASSIFIERS), ["a3 cnn"]))
    rows = joined[joined["status"] == "failed"]
    assert sorted(as_text(rows, "query")) == ["weat7", "weat8"]
    assert np.isnan(as_float(rows, "x")).all()
    assert set(rows["model"]) == {"a3"}
    assert set(rows["unbiased"]) == {0.0}
