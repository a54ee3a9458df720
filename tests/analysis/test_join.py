"""Points joined with both kinds of scores: what is kept, what is told apart, what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from analysis.join import join_points, join_scores
from analysis.read import Tables
from files import InputError


def test_one_row_per_done_point_score_and_gap(tables: Tables) -> None:
    joined = join_points(*tables)
    assert len(joined) == 10 * 2 * 2
    assert not joined.duplicated(["point", "metric", "query", "gap"]).any()
    assert set(tables.points.columns) <= set(joined.columns)
    assert set(joined["gap"]) == {"precision_gap", "recall_gap"}
    assert "broken" not in set(joined["point"])
    row = joined.query(
        "point == 'word2vec balance overbias' and query == 'weat8' and gap == 'recall_gap'"
    ).squeeze()
    assert (row["x"], row["y"], row["group"]) == (-0.5, 0.05, "male-female")
    assert (row["low"], row["high"]) == pytest.approx((0.02, 0.09))
    unmodified = joined[joined["method"] == "none"]
    assert (unmodified["dose"] == 0).all()
    assert len(unmodified) == 2 * 2 * 2


def test_equals_a_literal_loop(tables: Tables) -> None:
    expected = set()
    for point in tables.points.query("status == 'done'")["point"]:
        for score in tables.intrinsic.query("point == @point").itertuples():
            for gap in tables.extrinsic.query(
                "point == @point and measure == 'recall_gap'"
            ).itertuples():
                expected.add((point, score.query, gap.measure, score.value, gap.low))
    joined = join_points(*tables).query("gap == 'recall_gap'")
    assert (
        set(
            zip(
                joined["point"],
                joined["query"],
                joined["gap"],
                joined["x"],
                joined["low"],
                strict=True,
            )
        )
        == expected
    )


def test_nan_is_kept_with_its_reasons(tables: Tables) -> None:
    lost = tables.intrinsic["point"].eq("fasttext balance debias") & tables.intrinsic["query"].eq(
        "weat7"
    )
    tables.intrinsic.loc[lost, ["value", "reason"]] = [np.nan, "2 of 8 words found"]
    joined = (
        join_points(*tables)
        .query("point == 'fasttext balance debias' and gap == 'precision_gap'")
        .set_index("query")
    )
    assert joined["y"].isna().all()
    assert joined.loc["weat8", "reason"] == "female: no item predicted positive"
    assert joined.loc["weat7", "reason"] == "2 of 8 words found; female: no item predicted positive"


def test_conventions_and_pairs_of_groups_are_told_apart(tables: Tables) -> None:
    intrinsic = pd.concat([tables.intrinsic, tables.intrinsic.assign(convention="caliskan")])
    extrinsic = pd.concat(
        [
            tables.extrinsic,
            tables.extrinsic.query("measure == 'recall_gap'").assign(group="male-other"),
        ]
    )
    joined = join_points(tables.points, intrinsic, extrinsic)
    assert set(joined["metric"]) == {"weat (default)", "weat (caliskan)"}
    assert set(joined["gap"]) == {
        "precision_gap",
        "recall_gap (male-female)",
        "recall_gap (male-other)",
    }
    assert len(joined) == 10 * 4 * 3


def test_parquet_and_back_joins_the_same(tables: Tables, tmp_path: object) -> None:
    stored = []
    for name, table in tables._asdict().items():
        table.to_parquet(f"{tmp_path}/{name}.parquet")
        stored.append(pd.read_parquet(f"{tmp_path}/{name}.parquet"))
    pd.testing.assert_frame_equal(join_points(*stored), join_points(*tables), check_dtype=False)


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
        lambda t: t._replace(extrinsic=pd.DataFrame(columns=["point", "task"])),
    ),
    ("the points table has no rows", lambda t: t._replace(points=t.points[:0])),
    ("the intrinsic table has no rows", lambda t: t._replace(intrinsic=t.intrinsic[:0])),
    ("the extrinsic table has no rows", lambda t: t._replace(extrinsic=t.extrinsic[:0])),
    (
        "none of the 11 points is done",
        lambda t: t._replace(points=t.points.assign(status="failed")),
    ),
    ("holds no gap", lambda t: t._replace(extrinsic=t.extrinsic.query("measure == 'f1'"))),
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
        join_points(*broken(tables))


def test_unmodified_embeddings_are_the_dose_0_of_every_arm() -> None:
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
    joined = join_scores(points, intrinsic)
    found = sorted(joined[["direction", "dose", "value"]].to_numpy().tolist())
    assert found == [
        ["debias", 0.0, 0.5],
        ["debias", 1.0, 0.1],
        ["overbias", 0.0, 0.5],
        ["overbias", 1.0, 0.9],
    ]
    assert join_scores(points[:1], intrinsic[:1])["method"].tolist() == ["none"]


def test_units_are_embeddings_and_bases_what_they_were_before(tables: Tables) -> None:
    points, intrinsic, extrinsic = tables
    points = points.assign(
        corpus="tweets", stereotype=np.nan, vectors_key=points["embedding"] + points["method"]
    )
    joined = join_points(points, intrinsic, extrinsic)
    assert joined["unit"].nunique() == 6, (
        "a key stands for an embedding, whatever else differs between its points"
    )
    assert sorted(joined["base"].unique()) == ["tweets fasttext nan 0", "tweets word2vec nan 0"]
    assert join_points(*tables)["unit"].tolist() == join_points(*tables)["point"].tolist(), (
        "without keys each point is a unit"
    )
