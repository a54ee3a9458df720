"""Points joined with both kinds of scores: what is kept, what differs, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import pytest

from biasbridge.analysis.correlate import correlate
from biasbridge.analysis.joined import join_points, join_scores, levels, rows_of
from biasbridge.analysis.naming import GAP, SCORE
from biasbridge.analysis.results import Tables
from biasbridge.files import InputError


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
    joined = join_scores(Tables(points, intrinsic, pd.DataFrame()))
    found = sorted(joined[["direction", "dose", "value"]].to_numpy().tolist())
    assert found == [
        ["debias", 0.0, 0.5],
        ["debias", 1.0, 0.1],
        ["overbias", 0.0, 0.5],
        ["overbias", 1.0, 0.9],
    ]
    assert join_scores(Tables(points[:1], intrinsic[:1], pd.DataFrame()))["method"].tolist() == [
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
    found = swept(*rows, stereotype=0.5)
    assert found["model"] == ["0u", "0v", "1u", "1v"] * 2
    assert found["parent"] == found["cluster"] == [*["seed 0"] * 2, *["seed 1"] * 2] * 2
    natural = swept(*rows)
    assert natural["model"] == found["model"]
    assert natural["parent"] == [""] * 8


def test_of_unmodified_embeddings_algorithm_and_world_are_the_parent() -> None:
    rows = [("word2vec", seed, f"{seed}{level}") for seed in (0, 1) for level in "uv"]
    found = swept(*rows, stereotype=0.5)
    assert found["model"] == [" ".join(map(str, row)) for row in rows]
    assert found["parent"] == [*["word2vec seed 0"] * 2, *["word2vec seed 1"] * 2]
    one = swept(*((name, 0, "one") for name in ("a", "b", "c")))
    assert len(set(one["parent"])) == 3, "three algorithms on one corpus are no copies of one"


def test_failed_points_are_rows_of_what_they_lack(tables: Tables) -> None:
    joined = join_points(tables)
    rows = rows_of(joined)
    lost = rows.model == "broken"
    assert lost.sum() == 4
    assert not rows.is_complete[lost].any()
    found = correlate(joined.query("query == 'weat7' and measure == 'recall'"), x="x", y="y")
    assert [(each.n, each.lost, each.planned) for each in found] == [(10, 1, 11)]


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
        kept = joined[f"{side}_resampled"].tolist()
        assert kept == list(zip(joined[side], joined[side] + number, strict=True))
