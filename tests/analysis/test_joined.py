"""Points joined with both kinds of scores: what is kept, what differs, what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasbridge.analysis.answer import describe_task
from biasbridge.analysis.correlate import Levels, correlate, correlate_slices
from biasbridge.analysis.effects import saturation
from biasbridge.analysis.joined import (
    _join_scores,
    join_points,
    levels,
    low_skill_reason,
    observations_of,
)
from biasbridge.analysis.naming import GAP, SCORE
from biasbridge.analysis.observations import WORLD
from biasbridge.analysis.scopes import METHODS
from biasbridge.analysis.tables import Tables
from biasbridge.files import InputError
from tests.analysis.conftest import make_sweep

if TYPE_CHECKING:
    from biasbridge.analysis.slices import SliceResult


def test_one_row_per_point_score_and_gap(tables: Tables) -> None:
    joined = join_points(tables)
    assert len(joined) == (10 + 1) * 2 * 2
    assert not joined.duplicated(["point", *SCORE, *GAP]).any()
    assert set(tables.points.columns) <= set(joined.columns)
    assert set(joined["measure"]) == {"precision", "recall"}
    broken = joined[joined["point"] == "broken"]
    assert broken[["x", "y"]].isna().all(axis=None)
    assert set(broken["reason"]) == {"its point failed"}
    assert set(broken["method"]) == {"balance"}
    rows = joined.query(
        "point == 'word2vec balance overbias' and query == 'weat8' and measure == 'recall'"
    )
    assert len(rows) == 1
    row = rows.iloc[0]
    assert (row["x"], row["y"]) == (-0.5, 0.05)
    assert (row["privileged"], row["unprivileged"]) == ("male", "female")
    assert (row["y_low"], row["y_high"]) == pytest.approx((0.02, 0.09))
    unmodified = joined[joined["method"] == "none"]
    assert (unmodified["dose"] == 0).all()
    assert len(unmodified) == 2 * 2 * 2


def test_equals_a_literal_loop(tables: Tables) -> None:
    expected = set()
    for point in tables.points.query("status == 'done'")["point"]:
        for score in tables.intrinsic.query("point == @point").itertuples():
            for gap in tables.extrinsic.query(
                "point == @point and measure == 'recall' and kind == 'gap'"
            ).itertuples():
                expected.add((point, score.query, gap.measure, score.value, gap.low))
    joined = join_points(tables).query("measure == 'recall' and status == 'done'")
    assert (
        set(
            zip(
                joined["point"],
                joined["query"],
                joined["measure"],
                joined["x"],
                joined["y_low"],
                strict=True,
            )
        )
        == expected
    )


def test_nan_is_kept_with_its_reasons(tables: Tables) -> None:
    lost = tables.intrinsic["point"].eq("fasttext balance debias") & tables.intrinsic["query"].eq(
        "weat7"
    )
    tables.intrinsic.loc[lost, "value"] = np.nan
    tables.intrinsic.loc[lost, "reason"] = "2 of 8 words found"
    joined = (
        join_points(tables)
        .query("point == 'fasttext balance debias' and measure == 'precision'")
        .set_index("query")
    )
    assert joined["y"].isna().all()
    assert joined.loc["weat8", "reason"] == "female: no item predicted positive"
    assert joined.loc["weat7", "reason"] == "2 of 8 words found; female: no item predicted positive"


BROKEN: list[tuple[str, Callable[[Tables], Tables]]] = [
    (
        "no column 'method'; did you mean 'methods'",
        lambda t: t._replace(points=t.points.rename(columns={"method": "methods"})),
    ),
    (
        "the intrinsic table has no column 'query'",
        lambda t: t._replace(intrinsic=t.intrinsic.drop(columns="query")),
    ),
    (
        "the extrinsic table has no column 'measure'",
        lambda t: t._replace(extrinsic=pd.DataFrame(columns=["point", "task", "kind"])),
    ),
    ("the points table has no rows", lambda t: t._replace(points=t.points[:0])),
    ("the intrinsic table has no rows", lambda t: t._replace(intrinsic=t.intrinsic[:0])),
    ("the extrinsic table has no rows", lambda t: t._replace(extrinsic=t.extrinsic[:0])),
    (
        "none of the 11 points is done",
        lambda t: t._replace(points=t.points.assign(status="failed")),
    ),
    ("holds no gap", lambda t: t._replace(extrinsic=t.extrinsic.query("kind == 'value'"))),
    (
        "the points table holds point 'word2vec none' more than once",
        lambda t: t._replace(points=pd.concat([t.points, t.points[:1]])),
    ),
    (
        "the intrinsic table holds .* more than once",
        lambda t: t._replace(intrinsic=pd.concat([t.intrinsic, t.intrinsic[:1]])),
    ),
    (
        "the extrinsic table holds .* more than once",
        lambda t: t._replace(extrinsic=pd.concat([t.extrinsic, t.extrinsic[:1]])),
    ),
    (
        "1 done points have no row in the intrinsic table",
        lambda t: t._replace(intrinsic=t.intrinsic[2:]),
    ),
    (
        "1 done points have no row in the extrinsic table",
        lambda t: t._replace(extrinsic=t.extrinsic[3:]),
    ),
]


@pytest.mark.parametrize(("message", "broken"), BROKEN, ids=[message for message, _ in BROKEN])
def test_bad_tables_are_refused(
    message: str, broken: Callable[[Tables], Tables], tables: Tables
) -> None:
    with pytest.raises(InputError, match=message):
        join_points(broken(tables))


def test_unmodified_embeddings_are_the_dose_0_of_every_condition() -> None:
    facts = {"embedding": "word2vec", "status": "done", "generated": True}
    points = pd.DataFrame(
        [
            {"point": "a", "method": "none", "direction": "", "dose": 0.0, **facts},
            {"point": "b", "method": "balance", "direction": "debias", "dose": 1.0, **facts},
            {"point": "c", "method": "balance", "direction": "overbias", "dose": 1.0, **facts},
        ]
    )
    values = {"a": 0.5, "b": 0.1, "c": 0.9}
    intrinsic = pd.DataFrame(
        [
            {"point": point, "metric": "weat", "query": "weat7", "value": value}
            for point, value in values.items()
        ]
    )
    joined = _join_scores(Tables(points, intrinsic, pd.DataFrame()))
    actual = sorted(joined[["direction", "dose", "value"]].to_numpy().tolist())
    assert actual == [
        ["debias", 0.0, 0.5],
        ["debias", 1.0, 0.1],
        ["overbias", 0.0, 0.5],
        ["overbias", 1.0, 0.9],
    ]
    assert _join_scores(Tables(points[:1], intrinsic[:1], pd.DataFrame()))["method"].tolist() == [
        "none"
    ]


def test_models_are_embeddings_and_parents_what_they_were_before(tables: Tables) -> None:
    """A key stands for an embedding, whatever else differs between its points."""
    points = tables.points.assign(
        unit_key=tables.points["embedding"] + tables.points["method"],
        parent_key=tables.points["embedding"],
        corpus_key=np.where(tables.points["embedding"] == "word2vec", "wiki", "news"),
    )
    joined = join_points(tables._replace(points=points))
    assert joined["model"].nunique() == 6
    assert set(zip(joined["parent"], joined["cluster"], strict=True)) == {
        ("word2vec", "wiki"),
        ("fasttext", "news"),
    }
    without = join_points(tables)
    assert without["model"].tolist() == without["point"].tolist()
    assert without["parent"].tolist() == without["embedding"].tolist(), "nothing is modified"


def swept(*rows: tuple[str, int, str], **columns: float) -> dict[str, list[str]]:
    """The levels of unmodified embeddings, each of an algorithm, a seed and a corpus."""
    points = pd.DataFrame(rows, columns=["embedding", "seed", "corpus_key"])
    key = [" ".join(map(str, row)) for row in rows]
    return levels(points.assign(point=key, unit_key=key, parent_key=key, **columns))


def test_where_algorithms_share_corpora_a_corpus_is_the_model() -> None:
    """And its synthetic world, the run seed, the parent."""
    rows = list(product(["word2vec", "fasttext"], [0, 1], "uv"))
    rows = [(name, seed, f"{seed}{level}") for name, seed, level in rows]
    actual = swept(*rows, stereotype=0.5)
    assert actual["model"] == ["0u", "0v", "1u", "1v"] * 2
    assert actual["parent"] == actual["cluster"] == [*[f"{WORLD}0"] * 2, *[f"{WORLD}1"] * 2] * 2
    natural = swept(*rows)
    assert natural["model"] == actual["model"]
    assert natural["parent"] == [""] * 8


def test_of_unmodified_embeddings_algorithm_and_world_are_the_parent() -> None:
    rows = [("word2vec", seed, f"{seed}{level}") for seed in (0, 1) for level in "uv"]
    actual = swept(*rows, stereotype=0.5)
    assert actual["model"] == [" ".join(map(str, row)) for row in rows]
    assert actual["parent"] == [*["word2vec seed 0"] * 2, *["word2vec seed 1"] * 2]
    one = swept(*((name, 0, "one") for name in ("a", "b", "c")))
    assert len(set(one["parent"])) == 3, "three algorithms on one corpus are no copies of one"


def test_failed_points_are_rows_of_what_they_lack(tables: Tables) -> None:
    joined = join_points(tables)
    rows = observations_of(joined)
    lost = rows.model == "broken"
    assert lost.sum() == 4
    assert not rows.is_complete[lost].any()
    actual = correlate(joined.query("query == 'weat7' and measure == 'recall'"), x="x", y="y")
    assert [(item.n, item.n_lost, item.n_planned) for item in actual] == [(10, 1, 11)]


def test_utility_is_the_measure_of_that_name_over_all_items(tables: Tables) -> None:
    every = tables.extrinsic["kind"] == "value"
    values = np.linspace(0.5, 0.9, int(every.sum()))
    f1 = tables.extrinsic[every].assign(value=values)
    others = [f1.assign(group="male", value=0.1), f1.assign(measure="auc", value=0.2)]
    extrinsic = pd.concat([tables.extrinsic[~every], f1, *others])
    joined = join_points(tables._replace(extrinsic=extrinsic))
    expected = dict(zip(f1["point"], values, strict=True)) | {"broken": np.nan}
    known = [expected[point] for point in joined["point"]]
    assert joined["utility"].tolist() == pytest.approx(known, nan_ok=True)
    auc = join_points(tables._replace(extrinsic=extrinsic), "auc").query("status == 'done'")
    assert set(auc["utility"]) == {0.2}
    absent = join_points(tables._replace(extrinsic=extrinsic), "accuracy")
    assert absent["utility"].isna().all()


def test_resamples_of_words_and_posts_are_kept(tables: Tables) -> None:
    draws = [
        table.assign(
            resampled=pd.Series(
                list(zip(table["value"], table["value"] + number, strict=True)), table.index
            )
        )
        for number, table in enumerate((tables.intrinsic, tables.extrinsic), 1)
    ]
    joined = join_points(Tables(tables.points, *draws)).dropna(subset=["x", "y"])
    for side, number in (("x", 1), ("y", 2)):
        selected = joined[f"{side}_resampled"].tolist()
        assert selected == list(zip(joined[side], joined[side] + number, strict=True))


# What the rows of anybody's table are of: observations, parents, conditions and clusters.


def table(*levels: Sequence[str], seed: int = 0) -> pd.DataFrame:
    """A row for each combination of the levels, columns a, b, c, ...; y follows x."""
    rows = pd.DataFrame(list(product(*levels)), columns=list("abcde"[: len(levels)]))
    rng = np.random.default_rng(seed)
    x = rng.normal(size=len(rows))
    return rows.assign(x=x, y=x + rng.normal(size=len(rows)))


def found_in(rows: pd.DataFrame, **levels: Sequence[str]) -> SliceResult:
    asked = Levels(
        observation=levels.get("observation", ()),
        parent=levels.get("parent", ()),
        condition=levels.get("condition", ()),
        cluster=levels.get("cluster", ()),
        utility="".join(levels.get("utility", ())),
    )
    (actual,) = correlate(rows, x="x", y="y", levels=asked, confirmatory=["all"])
    return actual


CONDITIONS = [f"condition {i}" for i in range(24)]


def test_an_observation_is_one_of_its_parent() -> None:
    """2 algorithms x 24 conditions, named alike in both, are 48 models."""
    rows = table(["word2vec", "fasttext"], CONDITIONS)
    actual = found_in(rows, observation=["b"], parent=["a"])
    assert (actual.n, actual.n_parents, actual.n_conditions, actual.within.df) == (48, 2, 24, 45)
    named = found_in(rows, observation=["b"], parent=["a"], condition=["b"])
    assert repr(named) == repr(actual)
    item = found_in(rows, parent=["a"])
    assert (item.n, item.n_conditions, item.within.r) == (48, 0, actual.within.r)


@pytest.mark.parametrize("control", ["", "none", "unmodified"])
def test_the_control_is_no_method(control: str) -> None:
    rows = table(["word2vec", "fasttext"], [control, "inlp", "leace"], ["1", "2"])
    rows = rows.rename(columns={"b": "method"})
    actual = found_in(rows, observation=["method", "c"], parent=["a"], condition=["method", "c"])
    assert actual.scopes[METHODS].n == 2


def test_rows_of_one_observation_are_averaged() -> None:
    rows = table(["word2vec", "fasttext"], CONDITIONS, ["6", "7", "8"])
    actual = found_in(rows, observation=["b"], parent=["a"])
    means = rows.groupby(["a", "b"], as_index=False, sort=False)[["x", "y"]].mean()
    left = means[["x", "y"]] - means.groupby("a")[["x", "y"]].transform("mean")
    assert actual.n == 48
    assert actual.within.r == pytest.approx(np.corrcoef(left["x"], left["y"])[0, 1])


def test_without_levels_each_row_is_a_model_of_one_parent() -> None:
    rows = table(CONDITIONS)
    actual = found_in(rows)
    assert (actual.n, actual.n_parents, actual.n_clusters, actual.n_conditions) == (24, 0, 0, 0)
    assert actual.within.r == pytest.approx(np.corrcoef(rows["x"], rows["y"])[0, 1])


def nested() -> pd.DataFrame:
    """Two languages of three corpora of two seeds, in five conditions."""
    rows = table(["en", "es"], [*"123"], [*"12"], [*"uvwxy"])
    rows["b"] = rows["a"] + rows["b"]
    return rows.assign(c=rows["b"] + rows["c"])


@pytest.mark.parametrize("order", list(itertools.permutations(["a", "b"])), ids="-".join)
def test_clusters_may_be_named_in_any_order_and_the_widest_is_taken(order: Sequence[str]) -> None:
    rows = nested()
    actual = found_in(rows, parent=["c"], condition=["d"], cluster=order)
    assert (actual.n, actual.n_parents, actual.n_clusters, actual.within.n) == (60, 12, 2, 10)
    one = rows[rows["a"] == "en"]  # of one language its corpora
    actual = found_in(one, parent=["c"], condition=["d"], cluster=order)
    assert (actual.n_parents, actual.n_clusters, actual.within.n) == (6, 3, 15)


def test_the_order_of_rows_and_the_names_of_levels_do_not_matter() -> None:
    rows = nested()
    levels = {"parent": ["c"], "condition": ["d"], "cluster": ["b"]}
    actual = found_in(rows, **levels)
    renamed = rows.assign(**{name: "x " + rows[name] for name in "abcd"})
    assert repr(found_in(renamed, **levels).within) == repr(actual.within)
    shuffled = found_in(rows.sample(frac=1, random_state=1), **levels)
    assert shuffled.within.r == pytest.approx(actual.within.r)
    assert shuffled.within.s == pytest.approx(actual.within.s)
    assert shuffled.within.p == pytest.approx(actual.within.p, abs=0.03)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (
            {"parent": ["a"], "condition": ["d"], "cluster": ["d"]},
            "levels do not nest: parent 'en' is in d 'u' and in 'v'",
        ),
        (
            {"parent": ["c"], "condition": ["d"], "cluster": ["b", "same"]},
            "levels do not nest: b 'en1' is in same '1' and in '2'",
        ),
        (
            {"observation": ["c"], "parent": ["b"], "condition": ["d"]},
            "observation 'en11 of en1' is in the conditions 'u' and 'v'; .* --observation",
        ),
        (
            {"parent": ["c"], "cluster": ["a"]},
            "averaged for each condition; name the column of conditions with --condition",
        ),
        ({"parent": ["C"]}, "no column 'C'"),
        ({"cluster": ["corpus"], "parent": ["c"]}, "no column 'corpus'"),
        ({"utility": ["f1"]}, "no column 'f1'"),
    ],
)
def test_levels_that_say_nothing_are_refused(levels: dict[str, list[str]], message: str) -> None:
    rows = nested()
    with pytest.raises(InputError, match=message) as refused:
        found_in(rows.assign(same=rows["c"].str[-1]), **levels)
    assert "\n" not in str(refused.value)


def test_names_in_several_columns_stay_apart() -> None:
    """``p q`` and ``r`` are another model than ``p`` and ``q r``."""
    labels = [("p q", "r"), ("p", "q r")]
    rows = pd.DataFrame([(*label, i) for i in range(6) for label in labels], columns=[*"abc"])
    actual = found_in(rows.assign(x=range(12), y=range(12)), observation=["a", "b", "c"])
    assert actual.n == 12


# The task's utility beside a constant classifier, and what base rates make of a gap.


def with_skill(tables: Tables, recall: float, fpr: float) -> Tables:
    """The small experiment with recall and FPR over all items, each with an interval of +-.01."""
    rows = [
        {"point": point, "task": task, "kind": "value", "measure": measure, "group": "all"}
        | {"value": value, "low": value - 0.01, "high": value + 0.01}
        for point, task in zip(tables.points["point"], tables.points["task"], strict=True)
        for measure, value in (("recall", recall), ("fpr", fpr))
    ]
    return tables._replace(
        extrinsic=pd.concat([tables.extrinsic, pd.DataFrame(rows)], ignore_index=True)
    )


@pytest.mark.parametrize(("fpr", "refused"), [(0.5, True), (0.1, False)])
def test_a_task_that_hardly_beats_chance_gets_no_verdict(
    tables: Tables, fpr: float, refused: bool
) -> None:
    joined = join_points(with_skill(tables, 0.6, fpr))
    why = low_skill_reason(joined)
    text = "recall - FPR of the task is .10 ["
    assert why.startswith(text) if refused else not why
    judged = [item for item in correlate_slices(joined) if item.confirmatory]
    assert judged
    for item in judged:
        assert item.refused == why
        if refused:
            assert (item.verdict, item.why) == ("cannot tell", why)


def test_nothing_is_said_of_a_task_without_recall(tables: Tables) -> None:
    assert low_skill_reason(join_points(tables)) == ""
    assert describe_task(tables, "conll_f1") == []


def test_the_task_is_described_in_short_sentences(tables: Tables) -> None:
    of_all = {"kind": "value", "measure": "f1", "group": "all"}
    values = {"value": 0.62, "majority_baseline": 0.593}
    keys = tables.points[["point", "task"]].to_dict("records")
    f1 = pd.DataFrame([{**key, **of_all, **values} for key in keys])
    others = tables.extrinsic[tables.extrinsic["measure"] != "f1"]
    tables = tables._replace(extrinsic=pd.concat([others, f1], ignore_index=True))
    groups = pd.DataFrame(
        [
            {"point": point, "task": task, "kind": "value", "measure": measure, "group": group}
            | {"value": value}
            for point, task in zip(tables.points["point"], tables.points["task"], strict=True)
            for measure, by_group in {"base_rate": (0.4, 0.5), "fpr": (0.2, 0.3)}.items()
            for group, value in zip(("male", "female"), by_group, strict=True)
        ]
    )
    tables = tables._replace(extrinsic=pd.concat([tables.extrinsic, groups], ignore_index=True))
    [text] = describe_task(tables, "f1")
    assert text.startswith("Unmodified models: F1 .62 (majority baseline .59). Base rate: ")
    assert "rate: male .40, female .50. False positive rate: male .20, female .30" in text


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"classifier": ("cnn", "linear")}, "classifier cnn, linear"),
        ({"task_options": ("{}", '{"extrinsic.at": "share"}')}, "over default, extrinsic.at=share"),
        ({"replicate": (0, 1)}, ""),
    ],
)
def test_settings_that_a_gap_is_averaged_over_are_named(
    settings: dict[str, Sequence[object]], named: str
) -> None:
    lines = describe_task(make_sweep(**settings), "f1")
    assert [named in line for line in lines if "is the mean over" in line] == [True] * bool(named)


# Which doses drive scores to the end of their scale.

NOTHING = "No method drives more than a quarter of its scores to the end of their scale."


def study(values: Sequence[float], method: str = "attract_repel", **scale: float) -> Tables:
    points = [f"p{i}" for i in range(len(values))]
    result = pd.DataFrame({"point": points, "method": method, "direction": "debias", "dose": 0.5})
    scores = pd.DataFrame({"point": points, "metric": "weat", "convention": "d", "value": values})
    scores = scores.assign(**({"scale_min": -2.0, "scale_max": 2.0, "unbiased": 0.0} | scale))
    return Tables(result, scores, pd.DataFrame())


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (
            study([1.9, -1.95, 1.89, 0]),
            "2 of 4 scores of weat after attract_repel, debias, dose 0.5",
        ),
        (study([1.9, 1.89, 0, 0]), NOTHING),
        (study([1.9, 2], method="none"), ""),
        (study([0.99, 0.98, 0.5], scale_min=0.0, scale_max=1.0), "2 of 3 scores of weat"),
        # Where one end is the value without bias, to come near it is what debiasing is for
        (study([0, 0.01, 0.02, 0.5], scale_min=0.0, scale_max=1.0), NOTHING),
        (study([1.9, 2], scale_max=float("inf")), ""),
        (study([1.9, 2], unbiased=float("nan")), ""),
        (study([float("nan"), 2.0]), "1 of 1 scores"),
    ],
)
def test_scores_at_the_biased_ends_are_counted(tables: Tables, said: str) -> None:
    actual = saturation(tables)
    assert said in actual
    assert bool(said) == bool(actual)


def test_tables_without_a_scale_say_nothing() -> None:
    tables = study([2.0, 2.0])
    without = tables.intrinsic.drop(columns=["scale_min", "scale_max"])
    assert saturation(tables._replace(intrinsic=without)) == ""
