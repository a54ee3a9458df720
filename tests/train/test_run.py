"""What a sweep leaves: an error is noted and not raised, tables grow only when asked to."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from analysis.tables import Tables, write_tables
from corpora.world import GeneratedCorpus
from extrinsic.groups import GenderTagger
from intrinsic.weat import Weat
from train.embed import Word2Vec
from train.point import Plan, Point, plan_point
from train.run import collect, distinct, extended, run_point
from train.store import Store
from train.words import Words


def plan(store: Store, seed: int = 0, **changes: object) -> Plan:
    choices: dict[str, object] = {
        "corpus": GeneratedCorpus(sentences=1000),
        "embedding": Word2Vec(dim=8, epochs=1, min_count=1),
        "debias": None,
        "words": Words(lowercase=True),
        "intrinsic": {"weat": Weat(case="lower")},
        "source": None,
        "groups": GenderTagger(),
        "classifier": None,
    }
    return plan_point(Point(experiment="e", task="none", seed=seed, **(choices | changes)), store)  # type: ignore[arg-type]


def test_error_is_noted_with_its_traceback(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    bad = plan(store, embedding=Word2Vec(min_count=10**6))
    record = run_point(bad, store, tmp_path)
    assert record["status"] == "failed"
    assert "lower embedding.min_count" in record["error"]
    assert "Traceback" in record["traceback"]
    points, intrinsic, extrinsic = collect([bad], store, tmp_path)
    assert points.loc[0, "error"] == record["error"]
    assert len(intrinsic) == len(extrinsic) == 0


def test_point_that_never_ran_counts_as_failed(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    points, _, _ = collect([plan(store)], store, tmp_path)
    assert points[["status", "error"]].to_numpy().tolist() == [["failed", "did not run"]]


def test_scores_and_record_of_a_point(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    good = plan(store)
    run_point(good, store, tmp_path)
    points, intrinsic, _ = collect([good], store, tmp_path)
    assert json.loads((tmp_path / "points" / f"{good.key}.json").read_text())["status"] == "done"
    assert points.loc[0, ["source", "method", "generated"]].tolist() == ["none", "none", True]
    assert intrinsic["query"].tolist() == ["weat6b", "weat7", "weat8"]


def test_equal_plans_are_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert len(distinct([plan(store), plan(store), plan(store, seed=1)])) == 2


def test_tables_are_extended_by_points_of_the_same_data_only(tmp_path: Path) -> None:
    def tables(point: str, source: str, status: str = "done") -> Tables:
        facts = {"point": point, "experiment": "e", "task": "t", "source": source, "corpus": "c", "status": status}
        return Tables(pd.DataFrame([facts]), pd.DataFrame([{"point": point, "value": 1.0}]), pd.DataFrame([{"point": point, "value": 2.0}]))

    new = tables("b", "davidson")
    assert extended(new, tmp_path) == new
    write_tables(tmp_path, *tables("a", "davidson", "failed"))
    assert [list(table["point"]) for table in extended(new, tmp_path)] == [["a", "b"]] * 3
    assert [list(table["point"]) for table in extended(tables("a", "davidson"), tmp_path)] == [["a"]] * 3
    assert [list(table["point"]) for table in extended(tables("b", "generated"), tmp_path)] == [["b"]] * 3
