"""Embeddings that lack some of what others have: which of their rows count, and what is said."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from analysis.columns import numbers, text_rows, texts
from analysis.correlate import correlate_slices
from analysis.crossed import crossed_table
from analysis.joined import join_points, rows_of
from analysis.results import Tables
from analysis.specifications import specification_curves
from analysis.units import agreed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from analysis.findings import Finding

BASES, UNITS = "abcd", 9
Row = dict[str, object]


def study(seed: int = 0, /, **settings: Sequence[object]) -> Tables:
    """Four bases of nine embeddings, the first unmodified, measured in every combination of the
    ``settings`` (columns of the points): nothing ties gaps to scores, which rise with the number of
    the embedding; each value of the first setting has a level of its own.
    """
    rng = np.random.default_rng(seed)
    points: list[Row] = []
    scores: list[Row] = []
    gaps: list[Row] = []
    every = list(product(*settings.values()))
    first = list(next(iter(settings.values()), ()))
    levels = [0.6 * first.index(values[0]) if values else 0.0 for values in every]
    for base, number in product(BASES, range(UNITS)):
        x, own = number - 4 + 0.1 * rng.normal(), 0.01 * rng.normal()
        for values, level in zip(every, levels, strict=True):
            key = f"{base}{number} {' '.join(map(str, values))}"
            made: Row = {"embedding": "word2vec", "method": "balance" if number else "none"}
            made |= {"status": "done", "generated": False, "seed": 0, "replicate": 0}
            keys: Row = {"vectors_key": f"{base}{number}", "base_key": base, "corpus_key": "one"}
            points.append({"point": key} | made | keys | dict(zip(settings, values, strict=True)))
            for query, at in (("weat7", 1.5), ("weat8", -1.5)):
                score: Row = {"metric": "weat", "query": query, "value": x + at, "unbiased": 0.0}
                scores.append({"point": key} | score)
            gap: Row = {"task": "t", "kind": "gap", "measure": "recall"}
            y = level + own + 0.002 * rng.normal()
            gaps.append({"point": key, "value": y, "reason": ""} | gap)
    return Tables(*(pd.DataFrame(rows) for rows in (points, scores, gaps)))


def at(table: pd.DataFrame, points: list[str], query: str = "") -> list[bool]:
    """The rows of some points, of a query if named."""
    rows = text_rows(table, ("point", "query"))
    return [point in points and query in ("", of) for point, of in rows]


def without(tables: Tables, points: list[str], side: str = "gap", query: str = "") -> Tables:
    """The tables with gaps, or scores, that are not defined."""
    table = tables.extrinsic if side == "gap" else tables.intrinsic
    table = table.assign(value=table["value"].mask(np.array(at(table, points, query))))
    if side == "gap":
        return tables._replace(extrinsic=table)
    return tables._replace(intrinsic=table)


def failed(tables: Tables, points: list[str]) -> Tables:
    """The tables with points that failed."""
    lost = at(tables.points, points)
    status = np.where(lost, "failed", "done")
    left = (
        table[[point not in points for point in texts(table, "point")]]
        for table in (tables.intrinsic, tables.extrinsic)
    )
    return Tables(tables.points.assign(status=status), *left)


def kept(tables: Tables, points: list[str]) -> Tables:
    """The tables without points that were never planned."""
    parts = (tables.points, tables.intrinsic, tables.extrinsic)
    return Tables(*(part[[name not in points for name in texts(part, "point")]] for part in parts))


def slice_of(tables: Tables, query: str = "weat7") -> Finding:
    """The slice of all methods."""
    found = correlate_slices(join_points(tables))
    wanted = {"query": query, "method": "all", "embedding": "all"}
    (one,) = (each for each in found if wanted.items() <= each.names.items())
    return one


def named(numbers_: range, setting: str) -> list[str]:
    """The points of embeddings by their number in each base."""
    return [f"{base}{number} {setting}" for base in BASES for number in numbers_]


CLASSIFIERS = {"classifier": ("cnn", "linear")}


@pytest.mark.parametrize("largest", [range(7, 9), range(8, 9)], ids=["two", "one"])
@pytest.mark.parametrize("lose", [without, failed])
def test_gaps_of_one_classifier_that_are_lost_at_the_largest_scores_claim_nothing(
    largest: range, lose: Callable[[Tables, list[str]], Tables]
) -> None:
    """What a mean over the classifiers that are left would do: r = .72."""
    whole = slice_of(study(**CLASSIFIERS))
    lost = named(largest, "cnn")
    found = slice_of(lose(study(**CLASSIFIERS), lost))
    assert whole.marks.missing == ""
    assert abs(found.evidence.within) < 0.35
    assert found.judgement.verdict == "cannot tell"
    if len(largest) == 1:
        assert (found.evidence.n_units, found.marks.missing) == (32, "4 of 32 balance")
    else:  # more than a fifth
        assert found.evidence.n_units == 36
        assert found.marks.missing == "cnn everywhere (8 of 32 balance lack it)"
        alone = slice_of(kept(study(**CLASSIFIERS), named(range(UNITS), "cnn")))
        assert found.evidence.within == pytest.approx(alone.evidence.within)


@pytest.mark.parametrize("classifier", ["cnn", "linear"])
def test_whichever_row_of_a_unit_is_unknown_it_is_told_of_the_unit(classifier: str) -> None:
    found = slice_of(without(study(**CLASSIFIERS), [f"b3 {classifier}"]))
    assert found.marks.missing == "1 of 32 balance"
    assert (found.evidence.n_units, found.statistics.n, found.statistics.n_missing) == (35, 70, 2)


def test_an_embedding_without_a_score_is_missing_too() -> None:
    points = named(range(8, 9), "cnn") + named(range(8, 9), "linear")
    lost = without(study(**CLASSIFIERS), points, "score", "weat8")
    assert slice_of(lost).marks.missing == ""
    for query in ("weat8", "all"):
        found = slice_of(lost, query)
        assert (found.evidence.n_units, found.marks.missing) == (32, "4 of 32 balance")


def test_a_query_that_nobody_has_takes_nobody_away() -> None:
    lost = without(study(), [f"{b}{n} " for b in BASES for n in range(UNITS)], "score", "weat8")
    found = slice_of(lost, "all")
    assert (found.evidence.n_units, found.marks.missing) == (36, "")


def test_trainings_may_be_fewer_and_classifiers_count_alike() -> None:
    tables = study(classifier=("cnn", "linear"), replicate=(0, 1, 2))
    some = ["a3 cnn 1", "a3 cnn 2", "c5 cnn 0"]
    whole, fewer = slice_of(tables), slice_of(failed(tables, some))
    assert (fewer.evidence.n_units, fewer.marks.missing) == (36, "")
    assert fewer.statistics.n == whole.statistics.n - 3
    assert fewer.evidence.within == pytest.approx(whole.evidence.within, abs=0.1)
    assert fewer.evidence.spread_y == pytest.approx(whole.evidence.spread_y, rel=0.1)
    assert fewer.evidence.training_sd == pytest.approx(whole.evidence.training_sd, rel=0.1)


def test_a_setting_that_only_some_were_meant_to_have_takes_no_others_away() -> None:
    """One classifier was run on half of the embeddings on purpose, those of large scores."""
    tables = study(**CLASSIFIERS)
    half = kept(tables, named(range(5), "cnn"))
    found = slice_of(half)
    alone = slice_of(kept(tables, named(range(UNITS), "cnn")))
    assert repr(found.evidence) == repr(alone.evidence)
    assert found.marks.missing == "cnn everywhere (4 of 4 unmodified, 16 of 32 balance lack it)"


def test_where_nothing_is_shared_embeddings_are_compared_with_those_of_the_same() -> None:
    """Half of the embeddings of each base have one classifier, half the other."""
    tables = kept(study(**CLASSIFIERS), named(range(5), "cnn") + named(range(5, 9), "linear"))
    found = slice_of(tables)
    assert found.evidence.free == 36 - 2 * 4 - 1
    assert found.judgement.verdict == "cannot tell"
    by_hand = rows_of(join_points(tables).query("query == 'weat7'"))
    stratum = [
        f"{base}{setting}" for base, setting in zip(by_hand.base, by_hand.setting, strict=True)
    ]
    u, v = (
        side - pd.Series(side).groupby(stratum).transform("mean").to_numpy()
        for side in (by_hand.x, by_hand.y)
    )
    assert found.evidence.within == pytest.approx((u @ v) / np.sqrt((u @ u) * (v @ v)))


def test_options_of_the_task_are_settings_where_an_embedding_has_several() -> None:
    def options(c: float, dim: int) -> str:
        return json.dumps({"predictions.C": c, "posts.stereotype": dim})

    tables = study(task_options=(0.3, 1.0))
    own = {name: i for i, name in enumerate(tables.points["vectors_key"].unique())}
    told = [
        options(value, own[key])  # differs between embeddings, and is no setting of any
        for value, key in zip(
            tables.points["task_options"], texts(tables.points, "vectors_key"), strict=True
        )
    ]
    tables = tables._replace(points=tables.points.assign(task_options=told))
    found = slice_of(without(tables, named(range(8, 9), "0.3")))
    assert (found.evidence.n_units, found.marks.missing) == (32, "4 of 32 balance")


def test_crossed_with_labels_what_is_left_is_the_same_for_all() -> None:
    doses = {"label_dose": (0.0, 0.5, 1.0)}
    tables = study(classifier=("cnn", "linear"), **doses)
    method = np.where(tables.points["label_dose"] > 0, "resample", "none")
    direction = np.where(tables.points["label_dose"] > 0, "debias", "")
    points = tables.points.assign(label_method=method, label_direction=direction)
    tables = tables._replace(points=points)

    def crossed(some: Tables) -> pd.Series:
        table = crossed_table(join_points(some))
        assert table is not None
        return table[table["query"] == "weat8"].iloc[0]

    whole = crossed(tables)
    lost = [f"{base}8 cnn 0.5" for base in BASES]
    for lose in (without, failed):
        row = crossed(lose(tables, lost))
        assert (row["n_units"], row["n_left_out"]) == (32, 4)
        assert row["share_labels"] == pytest.approx(whole["share_labels"], abs=0.02)
    row = crossed(kept(tables, lost))  # never meant to be: that dose of linear counts for all
    assert (row["n_units"], row["n_left_out"]) == (36, 0)
    row = crossed(
        kept(tables, named(range(UNITS), "linear 0.5") + named(range(UNITS), "linear 1.0"))
    )
    assert (row["n_units"], row["n_left_out"]) == (36, 0)
    every = [f"a3 {c} {d}" for c, d in product(("cnn", "linear"), (0.0, 0.5, 1.0))]
    row = crossed(without(tables, every, "score", "weat8"))
    assert (row["n_units"], row["n_left_out"]) == (35, 1)
    assert np.isfinite(row["partial_score"])
    assert np.isfinite(row["share_embedding"])


def test_the_specification_curve_keeps_embeddings_of_which_a_point_failed() -> None:
    tables = study(replicate=(0, 1))
    lost = [f"{base}{number} 0" for base, number in zip(BASES, (3, 4, 5, 6), strict=True)]
    (curve,) = specification_curves(join_points(failed(tables, lost)), resamples=199)
    assert curve.left_out == ""
    assert {each.n_units for each in curve.specifications} == {36}


def test_a_third_of_the_points_may_fail_and_there_is_a_curve() -> None:
    tables = study(classifier=["cnn"])
    lost = [name for name in texts(tables.points, "point") if name.split()[0][1:] in "234"]
    left = failed(tables, lost)
    assert 0.2 < len(lost) / len(tables.points) < 0.5
    assert len(specification_curves(join_points(left), resamples=19)) == len(
        specification_curves(join_points(tables), resamples=19)
    )


def test_a_unit_meant_only_for_what_nobody_has_changes_nothing_for_the_others() -> None:
    unit, kind = np.array([0, 0, 1, 1, 2, 2, 3]), np.array([0, 1, 0, 1, 0, 1, 2])
    known = np.array([1, 1, 1, 1, 1, 0, 0], dtype=bool)
    rows, _ = agreed(unit, kind, known)
    without, _ = agreed(unit[:-1], kind[:-1], known[:-1])
    assert rows.tolist() == [*without.tolist(), False]
    assert without.tolist() == [True, False, True, False, True, False]


def test_the_specification_curve_takes_doses_of_labels_that_all_have() -> None:
    tables = study(label_dose=(0.0, 1.0))
    half = kept(tables, named(range(5), "1.0"))
    (curve,) = specification_curves(join_points(half), resamples=199)
    alone = kept(tables, named(range(UNITS), "1.0"))
    (expected,) = specification_curves(join_points(alone), resamples=199)
    assert [each.r for each in curve.specifications] == pytest.approx(
        [each.r for each in expected.specifications]
    )


@pytest.mark.parametrize(("share", "large"), [(0.05, False), (0.2, False), (0.2, True)])
def test_studies_without_association_claim_nothing_when_gaps_are_lost(
    share: float, large: bool
) -> None:
    """Gaps of one classifier are lost by chance, or in the upper half of the scores."""
    rng = np.random.default_rng(0)
    claims = 0
    for seed in range(40):
        tables = study(seed, **CLASSIFIERS)
        lost = [
            point
            for number, point in product(range(UNITS), BASES)
            if rng.random() < (2 * share * (number > 4) if large else share)
            for point in [f"{point}{number} cnn"]
        ]
        verdict = slice_of(without(tables, lost)).judgement.verdict
        claims += verdict in ("supports", "contradicts")
    assert claims <= 5, "of 40; with means over what is left 4 to 28"


def test_rows_of_points_that_failed_are_those_of_their_setting() -> None:
    joined = join_points(failed(study(**CLASSIFIERS), ["a3 cnn"]))
    rows = joined[joined["status"] == "failed"]
    assert sorted(texts(rows, "query")) == ["weat7", "weat8"]
    assert np.isnan(numbers(rows, "x")).all()
    assert set(rows["unit"]) == {"a3"}
    assert set(rows["unbiased"]) == {0.0}
