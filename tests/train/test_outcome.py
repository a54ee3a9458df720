"""What a point leaves: an error is noted and not raised; the tables come from the store and grow
only when asked to.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.word_choice import WordChoice
from biasbridge.train.engine.join import join_tables
from biasbridge.train.engine.outcome import read_outcome, run_point
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.embed import Word2Vec
from tests.points import SUBJECT, TASK, plan


def test_error_is_noted_with_its_traceback(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    bad = plan(store.root, subject=replace(SUBJECT, embedding=Word2Vec(min_count=10**6)))
    outcome = run_point(bad, store, tmp_path)
    assert outcome.status == "failed"
    assert outcome.refused
    assert "lower embedding.min_count" in outcome.error
    assert "Traceback" in outcome.traceback
    assert read_outcome(tmp_path, bad.key) == outcome
    points, intrinsic, extrinsic, *_ = join_tables([bad], store, tmp_path)
    assert points.loc[0, "error"] == outcome.error
    assert len(intrinsic) == len(extrinsic) == 0


def test_scores_and_record_of_a_point(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    good = plan(store.root)
    run_point(good, store, tmp_path)
    points, intrinsic, *_ = join_tables([good], store, tmp_path)
    noted = read_outcome(tmp_path, good.key)
    assert noted is not None
    assert noted.built == ("corpus", "vectors", "intrinsic")
    written = points[["status", "task", "method", "generated"]].to_numpy().tolist()
    assert written == [["done", "none", "none", True]]
    assert intrinsic["query"].tolist() == ["weat6b", "weat7", "weat8"]


def test_options_tell_what_decides_a_point_but_its_seed(tmp_path: Path) -> None:
    words = tmp_path / "mine.yaml"

    def options(seed: int = 0, epochs: int = 5, last: str = "poetry") -> list[dict[str, object]]:
        query = f"{{X: [man], Y: [woman], A: [science], B: [{last}]}}"
        words.write_text(f"language: en\nqueries: {{mine: {query}}}\n", encoding="utf-8")
        subject = replace(
            SUBJECT,
            debias=AttractRepel("debias", epochs=epochs),
            words=WordChoice("mine", file=str(words)),
        )
        written = plan(tmp_path / "store", subject=subject, task=TASK, seed=seed).options()
        return [json.loads(written[f"{name}_options"]) for name in ("parent", "method", "task")]

    base, method, task = options()
    assert (base["vectors.dim"], method["modified.epochs"], task["posts.posts"]) == (8, 5, 400)
    assert options(seed=1) == [base, method, task]
    assert options(epochs=2) == [base, method | {"modified.epochs": 2}, task]
    other = options(last="arts")[1]
    changed = {name for name in method if other[name] != method[name]}
    assert changed == {"words.files", "words.words"}
