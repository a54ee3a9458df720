"""What differs has another key, and what cannot change a result has the same: each way in which
results were once stale or measured twice.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from corpora.kinds import Collected
from corpora.world import GeneratedPosts
from debias.balance import Balance
from debias.base import Method, OnVectors
from debias.labels import Relabel, Resample
from extrinsic.tagger import MentionTagger
from files import InputError, choice
from files.choice import Fileless
from intrinsic.metrics.set_distances import EmbeddingCoherence
from tests.points import SUBJECT, TASK, WEAT, plan

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from intrinsic.wordsets import Query
    from train.parts.hatespeech import HateSpeech

ECT = EmbeddingCoherence()


def named(folder: Path, task: HateSpeech) -> dict[str, str]:
    """The key of each stage by its name."""
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
    other = MentionTagger(groups=("men", "women"))
    assert named(tmp_path, TASK) == named(tmp_path, replace(TASK, groups=other))
    ungrouped = replace(TASK, source=Ungrouped())
    assert named(tmp_path, ungrouped) != named(tmp_path, replace(ungrouped, groups=other))
    assert (
        named(tmp_path, ungrouped)["posts"]
        == named(tmp_path, replace(ungrouped, groups=other))["posts"]
    )


def test_changed_labels_are_a_stage_of_their_own_and_dose_0_is_none(tmp_path: Path) -> None:
    plain = named(tmp_path, TASK)
    resampled, relabelled = (
        named(tmp_path, replace(TASK, labels=kind("overbias", 0.5))) for kind in (Resample, Relabel)
    )
    assert len({each["predictions"] for each in (plain, resampled, relabelled)}) == 3
    assert plain["posts"] == resampled["posts"]
    assert "labels" not in plain
    none = replace(TASK, labels=Resample("debias", 0.0))
    assert named(tmp_path, none) == plain
    assert none.facts() == TASK.facts()
    assert (
        replace(TASK, labels=Relabel("debias")).facts().items()
        >= {
            "label_method": "relabel",
            "label_direction": "debias",
            "label_dose": 1.0,
        }.items()
    )
    with pytest.raises(InputError, match="labels=balance acts on the text; choose a method on"):
        replace(TASK, labels=Balance("debias"))
    with pytest.raises(InputError, match="debias=resample acts on the labels"):
        replace(SUBJECT, debias=Resample("debias"))


@choice
class Ungrouped(Collected):
    """Posts without groups; two files of one name differ by their bytes."""

    path: str | None = None

    name: ClassVar[str] = "ungrouped"
    version: ClassVar[int] = 1
    grouped: ClassVar[bool] = False
    positive_class: ClassVar[str] = "hate speech"
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    def files(self) -> list[Path]:
        return [Path(self.path)] if self.path else []

    def load(self, *, seed: int) -> pd.DataFrame:
        return GeneratedPosts(posts=400).load(seed=seed).drop(columns="group")


@choice
class Shrink(OnVectors, Fileless):
    """A method that knows neither dose nor direction."""

    name: ClassVar[str] = "shrink"
    version: ClassVar[int] = 1
    roles: ClassVar[tuple[str, ...]] = ("X",)

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        raise NotImplementedError


def test_a_method_without_dose_and_direction_is_a_method(tmp_path: Path) -> None:
    method = Shrink()
    assert isinstance(method, Method)
    shrunk = plan(tmp_path, subject=replace(SUBJECT, debias=method))
    assert shrunk.point.facts()["method"] == "shrink"
    assert shrunk.point.facts()["dose"] == 1.0
    assert shrunk.key != plan(tmp_path).key


def test_dose_0_is_the_unmodified_embedding(tmp_path: Path) -> None:
    none = plan(tmp_path, subject=replace(SUBJECT, debias=Balance("debias", dose=0)))
    assert none.key == plan(tmp_path).key
    some = plan(tmp_path, subject=replace(SUBJECT, debias=Balance("debias", dose=0.5)))
    assert some.key != none.key
    assert some.keys()["parent_key"] == none.keys()["unit_key"]
    assert some.keys()["corpus_key"] == none.keys()["corpus_key"]


@choice
class OnModels(Shrink):
    """A method on what static vectors do not have."""

    acts_on: ClassVar[str] = "model"


def test_a_method_on_what_the_subject_has_not_is_refused() -> None:
    with pytest.raises(InputError, match=r"debias=shrink acts on the model, and subject=static"):
        replace(SUBJECT, debias=OnModels())
