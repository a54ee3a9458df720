"""Tasks on what else than vectors a subject gives: an encoder of texts, a whole model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pandas as pd
import pytest

from biasbridge.corpora.generated_queries import GeneratedQueries
from biasbridge.corpora.query_wordings import list_occupations
from biasbridge.extrinsic.encoder_classifier import EncoderClassifier
from biasbridge.extrinsic.finetuned import Finetuned
from biasbridge.extrinsic.retrieval.rows import retrieval_rows
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.train.engine import scores
from biasbridge.train.engine.part import Task
from biasbridge.train.engine.point import Point, plan_point
from biasbridge.train.engine.store import Store
from biasbridge.train.tasks.posts import ModelVocabulary, coverage
from biasbridge.train.tasks.retrieval import Retrieval
from tests.extrinsic.test_retrieval import Bag
from tests.points import TASK, WEAT

if TYPE_CHECKING:
    from biasbridge.train.engine.part import Facts, Inputs, StepBuilder
    from biasbridge.train.engine.store import Step

WORDS = ("he", "his", "man", *(each.name for each in list_occupations("en")[:20]))


@choice
class Bags(Fileless):
    """A subject whose encoder counts some words."""

    name: ClassVar[str] = "bags"
    version: ClassVar[int] = 1
    gives: ClassVar[tuple[str, ...]] = ("model", "encoder")
    unit: ClassVar[str] = "model"

    def facts(self) -> Facts:
        return {"embedding": "bags", "method": "none", "generated": True}

    def build_steps(self, steps: StepBuilder) -> Mapping[str, Step]:
        model = steps("model", self, write)
        return {"model": model, "encoder": steps("encoder", self, write)}


def write(bags: Bags, out: Path, inputs: Inputs, seed: int) -> None:
    (out / "words.json").write_text(json.dumps(WORDS), encoding="utf-8")


def open_bag(folder: Path) -> Bag:
    return Bag(*json.loads((folder / "words.json").read_text(encoding="utf-8")))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "OPENERS", {"encoder": open_bag})


def point(task: Task) -> Point:
    return Point("e", 0, Bags(), (), task)


@pytest.mark.usefixtures("opened")
def test_retrieval_asks_the_encoder_of_the_subject(tmp_path: Path) -> None:
    source = GeneratedQueries()
    task = Retrieval(source)
    assert isinstance(task, Task)
    assert task.facts() == {"task": "retrieval", "source": "generated_en", "generated": True}
    store, asked = Store(tmp_path), point(task)
    plan = plan_point(asked, store)
    assert plan.task is not None
    assert {*plan.task.inputs} == {"queries", "encoder", "encodings"}
    table = pd.read_parquet(store.make(plan.task) / "scores.parquet")
    expected = retrieval_rows(source.load(seed=0), Bag(*WORDS))
    assert table["value"].tolist() == pytest.approx([row.value for row in expected])
    of_stereotype = {"stereotype_similarity", "stereotype_first"}
    assert {*table["measure"]} == {"relevance", "similarity", "first", *of_stereotype}
    again = plan_point(replace(asked, seed=1), store)
    assert again.task is not None
    assert again.task.inputs["queries"].key == plan.task.inputs["queries"].key, "nothing is drawn"


@pytest.mark.usefixtures("opened")
def test_posts_are_classified_on_what_the_classifier_needs(tmp_path: Path) -> None:
    task = replace(TASK, classifier=EncoderClassifier())
    assert TASK.needs == ("vectors",)
    assert task.needs == ("encoder",)
    assert replace(TASK, classifier=Finetuned()).needs == ("model",)
    store = Store(tmp_path)
    plan = plan_point(point(task), store)
    assert plan.task is not None
    predictions = plan.task.inputs["predictions"]
    assert {*predictions.inputs} == {"posts", "encoder", "encodings"}
    table = pd.read_parquet(store.make(plan.task) / "scores.parquet")
    assert {*table["kind"]} == {"value", "gap"}
    assert 0 < table["coverage"].iloc[0] < 1


def test_a_subject_without_what_classifier_or_metric_needs_is_refused() -> None:
    with pytest.raises(InputError, match="hatespeech_en needs vectors; subject=bags gives"):
        point(TASK)
    with pytest.raises(InputError, match="weat needs vectors; subject=bags gives model, encoder"):
        Point("e", 0, Bags(), (WEAT,))


def test_coverage_by_a_language_model() -> None:
    """``boat`` has an unknown token, ``He`` is known in lower case."""
    assert coverage(["he boat", "man He"], ModelVocabulary(Bag(*WORDS))) == pytest.approx(3 / 4)
