"""The steps of the coreference task, end to end at tiny sizes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pandas as pd
import pytest
from rich.console import Console

from biasbridge.corpora.world_documents import (
    GeneratedChallenge,
    GeneratedDocuments,
    GeneratedOccupations,
)
from biasbridge.debias.base import Unmodified
from biasbridge.debias.words import WordChoice
from biasbridge.extrinsic.coreference import training as resolver_training
from biasbridge.extrinsic.coreference.challenge import ChallengeGaps
from biasbridge.extrinsic.coreference.linear import LogLinear
from biasbridge.extrinsic.coreference.resolution import Resolution, ResolverOutput
from biasbridge.extrinsic.coreference.resolver import EndToEnd
from biasbridge.files import choice
from biasbridge.files.choice import Fileless
from biasbridge.files.documents import Document, read_cases, read_documents
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.train.engine import source
from biasbridge.train.engine.locks import locked
from biasbridge.train.engine.point import Plan, Point, plan_point
from biasbridge.train.engine.store import Store
from biasbridge.train.engine.store_tools import gc
from biasbridge.train.subjects.static import StaticVectors, Word2Vec
from biasbridge.train.tasks.coreference import Coreference, _code_digest
from tests.fresh_code import forget_code

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.extrinsic.protocols import Resolver

SUBJECT = StaticVectors(
    corpus=GeneratedOccupations(sentences=1000, occupations=1000),
    embedding=Word2Vec(dim=8, epochs=1, min_count=1),
    debias=Unmodified(),
    words=WordChoice(lowercase=True),
)
TINY = EndToEnd(
    letter_dim=2,
    letter_filters=2,
    lstm=4,
    hidden=4,
    feature_size=2,
    max_span_width=3,
    spans_per_word=0.4,
    least_spans=4,
    max_antecedents=4,
    epochs=1,
    label="end_to_end_tiny",
)


def task(resolver: Resolver = TINY) -> Coreference:
    return Coreference(
        documents=GeneratedDocuments(documents=20),
        challenge=GeneratedChallenge(pairs=20),
        resolver=resolver,
        gaps=ChallengeGaps(min_support=0),
    )


def plan(folder: Path, coreference: Coreference, seed: int = 0) -> Plan:
    metric = Weat(queries=("weat6b",), case="lower")
    point = Point(experiment="e", seed=seed, subject=SUBJECT, metrics=(metric,), task=coreference)
    return plan_point(point, Store(folder))


@choice
class Chain(Fileless):
    """All candidates are the first two tokens and single pronouns; all are one entity."""

    fails: bool = False

    name: ClassVar[str] = "chain"
    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("fails",)

    def resolve(
        self,
        documents: Mapping[str, Sequence[Document]],
        vectors: KeyedVectors,
        *,
        seed: int,
        folder: Path,
    ) -> ResolverOutput:
        (folder / "steps").open("a").write("step\n")
        if self.fails:
            raise RuntimeError("interrupted")
        steps = (folder / "steps").read_text(encoding="utf-8").count("step")
        splits = {
            split: [_chained(each) for each in inside]
            for split, inside in documents.items()
            if split not in ("train", "dev")
        }
        return ResolverOutput(
            splits, {"epochs": [], "best": steps, "coverage": 1.0, "parameters": len(documents)}
        )


def _chained(document: Document) -> Resolution:
    spans = [mention for mention in document.mentions if mention[1] <= len(document.sentences[0])]
    return Resolution(replace(document, clusters=(tuple(spans),)), dict.fromkeys(spans, 0.5))


def test_a_point_ends_in_rows_of_gaps_and_of_held_out_documents(tmp_path: Path) -> None:
    planned = plan(tmp_path, task())
    assert planned.task is not None
    scores = pd.read_parquet(Store(tmp_path).make(planned.task) / "scores.parquet")
    gaps = scores[scores["kind"] == "gap"]
    pairs = {*zip(gaps["subset"], gaps["privileged"], gaps["unprivileged"], strict=True)}
    assert pairs == {
        (subset, *pair)
        for subset in ("type1", "type2")
        for pair in (("pro", "anti"), ("male", "female"))
    }
    assert {*scores["kind"]} == {"value", "gap", "ratio", "correlation"}
    held_out = scores[scores["subset"] == "held_out"].set_index("measure")
    assert held_out.loc["conll_f1", "group"] == "all"
    assert held_out.loc["conll_f1", "support"] == 4
    assert gaps.groupby(["measure", "subset", "privileged"]).size().eq(1).all()
    step = planned.task.inputs["predictions"]
    training = json.loads((Store(tmp_path).path(step) / "training.json").read_text())
    assert len(training["epochs"]) == 1
    assert not list((tmp_path / "unfinished").iterdir())


def test_a_resolver_with_a_design_makes_it_once_and_tells_log_odds(tmp_path: Path) -> None:
    plans = [
        plan(tmp_path, replace(task(resolver), replicate=resolver.draw))
        for resolver in (LogLinear(), LogLinear(draw=1), LogLinear(interaction=False))
    ]
    ends = [planned.task for planned in plans if planned.task]
    predictions = [end.inputs["predictions"] for end in ends]
    assert len({step.inputs["design"].key for step in predictions}) == 1
    assert len({step.key for step in predictions}) == 3
    store = Store(tmp_path)
    scores, blind = (pd.read_parquet(store.make(ends[n]) / "scores.parquet") for n in (0, 2))
    for table, is_zero in ((scores, False), (blind, True)):
        rows = {
            (row["kind"], row["measure"], row["subset"], row["group"] or row["privileged"]): row
            for row in table.to_dict("records")
        }
        gap = rows["gap", "log_odds", "type1", "pro"]
        assert (gap["support"], len(gap["resampled"])) == (20, 200)
        assert (gap["value"] == 0) == is_zero
        assert (gap["reason"] == "no interval: all values are equal") == is_zero
        assert rows["value", "accuracy", "type2", "pro"]["value"] > 0.6
        assert ("value", "free_links", "type2", "anti") in rows
        assert ("gap", "free_links", "type2", "pro") not in rows
    cases = list(read_cases(store.path(predictions[0].inputs["challenge"]) / "cases.jsonl"))
    found = read_documents(store.path(predictions[0]) / "challenge.jsonl")
    for case, document in zip(cases, found, strict=True):  # each pronoun is linked, likely or not
        assert any(case.questions[0].pronoun in cluster for cluster in document.clusters)


def test_predictions_are_of_the_documents_and_cases_given(tmp_path: Path) -> None:
    planned = plan(tmp_path, task(Chain()))
    assert planned.task is not None
    scores = pd.read_parquet(Store(tmp_path).make(planned.task) / "scores.parquet")
    folders = {name: Store(tmp_path).path(step) for name, step in planned.task.inputs.items()}
    cases = list(read_cases(folders["challenge"] / "cases.jsonl"))
    found = list(read_documents(folders["predictions"] / "challenge.jsonl"))
    assert [each.document.tokens for each in cases] == [each.tokens for each in found]
    # The chain of a case is its only cluster: all are right
    values = scores[(scores["kind"] == "value") & (scores["subset"] != "held_out")]
    assert (values[values["measure"].isin(["recall", "accuracy"])]["value"] == 1.0).all()
    assert (scores["mention_recall"].dropna()[scores["subset"] != "held_out"] == 1.0).all()
    held_out = scores[scores["subset"] == "held_out"].set_index("measure")["value"]
    assert held_out["mention_recall"] == pytest.approx(1 / 12)


def test_an_interrupted_training_finds_what_it_left(tmp_path: Path) -> None:
    store = Store(tmp_path)
    steps = [plan(tmp_path, task(Chain(fails=fails))).task for fails in (True, True, False)]
    for step in steps[:2]:
        assert step is not None
        with pytest.raises(RuntimeError, match="interrupted"):
            store.make(step)
    assert steps[2] is not None
    store.orphans(remove=True)
    store.make(steps[2])
    training = store.path(steps[2].inputs["predictions"]) / "training.json"
    assert json.loads(training.read_text(encoding="utf-8"))["best"] == 3
    assert not list((tmp_path / "unfinished").iterdir())


def test_a_training_on_inputs_built_since_starts_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []
    resolve = Chain.resolve

    def refuse_once(self: Chain, *arguments: object, folder: Path, **options: object) -> object:
        calls.append(sorted(path.name for path in folder.iterdir()))
        if len(calls) == 1:
            (folder / "checkpoint.pt").touch()
            raise resolver_training.OtherTrainingError("of other vectors")
        return resolve(self, *arguments, folder=folder, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Chain, "resolve", refuse_once)
    step = plan(tmp_path, task(Chain())).task
    assert step is not None
    Store(tmp_path).make(step)
    assert calls == [[], []]


def test_a_training_by_other_code_is_not_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = _code_digest(TINY)
    path = Path(resolver_training.__file__).resolve()
    with monkeypatch.context() as other:
        other.setitem(source._texts, str(path), path.read_bytes() + b"\nMORE = 1\n")  # noqa: SLF001
        forget_code()
        assert _code_digest(TINY) != digest
    forget_code()
    assert _code_digest(TINY) == digest


def test_seeds_share_the_challenge_and_replicates_the_documents(tmp_path: Path) -> None:
    one, other = (plan(tmp_path, task(), seed=seed) for seed in (0, 1))
    again = plan(tmp_path, replace(task(), replicate=1))
    assert one.task is not None
    assert other.task is not None
    assert again.task is not None
    assert one.task.inputs["challenge"].key == other.task.inputs["challenge"].key
    assert one.task.inputs["documents"].key != other.task.inputs["documents"].key
    assert one.task.inputs["documents"].key == again.task.inputs["documents"].key
    assert one.task.inputs["predictions"].key != again.task.inputs["predictions"].key
    # Another label or device is the same model
    labelled = plan(tmp_path, task(replace(TINY, label="small", device="cuda")))
    assert labelled.key == one.key


def test_the_garbage_collector_spares_a_training_under_way(tmp_path: Path) -> None:
    store = Store(tmp_path)
    step = plan(tmp_path, task(Chain(fails=True))).task
    assert step is not None
    with pytest.raises(RuntimeError, match="interrupted"):
        store.make(step)
    [unfinished] = (tmp_path / "unfinished").iterdir()
    with locked(store.lock(unfinished)):
        gc(store, "0m", Console(quiet=True), dry_run=False)
        assert unfinished.is_dir()
    gc(store, "0m", Console(quiet=True), dry_run=False)
    assert not unfinished.exists()
