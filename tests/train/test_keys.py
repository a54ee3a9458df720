"""What differs has another key, and what cannot change a result has the same: each way in which
results were once stale or measured twice.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest

from corpora.world import GeneratedCorpus, GeneratedPosts
from debias.kinds import Method
from debias.unmodified import Unmodified
from debias.word_choice import WordChoice
from extrinsic.gaps import Gaps
from extrinsic.linear import Linear
from extrinsic.tagger import GenderTagger
from files import choice
from intrinsic.metric import Metric
from intrinsic.metrics.set_distances import EmbeddingCoherence
from intrinsic.metrics.weat import Weat
from intrinsic.wordsets import Query
from train.embed import Word2Vec
from train.parts.hatespeech import HateSpeech
from train.parts.static import StaticVectors
from train.point import Plan, Point, plan_point
from train.store import Store

WEAT = Weat(queries=("weat7",))
ECT = EmbeddingCoherence()
SUBJECT = StaticVectors(
    corpus=GeneratedCorpus(sentences=1000),
    embedding=Word2Vec(dim=8, epochs=1, min_count=1),
    debias=Unmodified(),
    words=WordChoice(query="weat7", swap=True, lowercase=True),
)
TASK = HateSpeech(
    source=GeneratedPosts(posts=400), groups=GenderTagger(), classifier=Linear(), gaps=Gaps()
)


def plan(
    folder: Path,
    *metrics: Metric,
    subject: StaticVectors = SUBJECT,
    task: HateSpeech | None = TASK,
) -> Plan:
    point = Point(
        experiment="e", seed=0, subject=subject, metrics=metrics or (WEAT,), task=task
    )
    return plan_point(point, Store(folder))


def named(folder: Path, task: HateSpeech) -> dict[str, str]:
    return {stage.name: key for key, stage in plan(folder, task=task).stages().items()}


def test_a_further_metric_measures_none_again_and_their_order_changes_nothing(
    tmp_path: Path,
) -> None:
    one, both, turned = (plan(tmp_path, *m) for m in ((WEAT,), (WEAT, ECT), (ECT, WEAT)))
    assert set(one.stages()) < set(both.stages())
    assert both.key == turned.key != one.key
    assert plan(tmp_path, WEAT, WEAT).key == one.key


def test_a_tagger_that_is_not_used_decides_nothing_and_one_that_is_decides(
    tmp_path: Path,
) -> None:
    other = GenderTagger(male_words=("sir",))
    assert named(tmp_path, TASK) == named(tmp_path, replace(TASK, groups=other))
    ungrouped = replace(TASK, source=Ungrouped())
    assert named(tmp_path, ungrouped) != named(tmp_path, replace(ungrouped, groups=other))
    assert (
        named(tmp_path, ungrouped)["posts"]
        == named(tmp_path, replace(ungrouped, groups=other))["posts"]
    )


def test_two_files_have_two_keys(tmp_path: Path) -> None:
    for name, text in (("a", "one\n"), ("b", "two\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "posts.csv").write_text(text, encoding="utf-8")
    keys = {
        plan(tmp_path, task=replace(TASK, source=Ungrouped(str(tmp_path / name / "posts.csv")))).key
        for name in ("a", "b")
    }
    assert len(keys) == 2


@choice
class Ungrouped:
    """Posts without groups; two files of one name are told apart by their bytes."""

    path: str | None = None

    name: ClassVar[str] = "ungrouped"
    version: ClassVar[int] = 1
    generated: ClassVar[bool] = True
    grouped: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    def files(self) -> list[Path]:
        return [Path(self.path)] if self.path else []

    def planted(self) -> dict[str, float]:
        return {}

    def load(self, *, seed: int) -> pd.DataFrame:
        return GeneratedPosts(posts=400).load(seed=seed).drop(columns="group")


@choice
class Shrink:
    """A method that knows neither dose nor direction."""

    name: ClassVar[str] = "shrink"
    version: ClassVar[int] = 1
    acts_on: ClassVar[str] = "vectors"
    roles: ClassVar[tuple[str, ...]] = ("X",)

    def files(self) -> list[Path]:
        return []

    def modify(self, vectors: object, query: Query, *, seed: int) -> object:
        raise NotImplementedError


def test_a_method_without_dose_and_direction_is_a_method(tmp_path: Path) -> None:
    method = Shrink()
    assert isinstance(method, Method)
    laid = plan(tmp_path, subject=replace(SUBJECT, debias=method))
    assert laid.point.facts()["method"] == "shrink"
    assert laid.point.facts()["dose"] == 1.0
    assert laid.key != plan(tmp_path).key


def test_dose_0_is_the_unmodified_embedding(tmp_path: Path) -> None:
    from debias.balance import Balance

    none = plan(tmp_path, subject=replace(SUBJECT, debias=Balance("debias", dose=0)))
    assert none.key == plan(tmp_path).key
    some = plan(tmp_path, subject=replace(SUBJECT, debias=Balance("debias", dose=0.5)))
    assert some.key != none.key
    assert some.keys()["base_key"] == none.keys()["vectors_key"]
    assert some.keys()["corpus_key"] == none.keys()["corpus_key"]


@pytest.mark.parametrize("acts_on", ["model", "training"])
def test_a_method_on_what_the_subject_has_not_is_refused(acts_on: str) -> None:
    class Elsewhere(Shrink):
        pass

    Elsewhere.acts_on = acts_on
    with pytest.raises(ValueError, match=f"debias=shrink acts on the {acts_on}"):
        replace(SUBJECT, debias=Elsewhere())
