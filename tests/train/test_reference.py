"""Two reference models: each measured on the words that both know."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from biasbridge.corpora.world import GeneratedCorpus
from biasbridge.files import InputError
from biasbridge.files.vectors import keyed, open_mapped, save_mapped
from biasbridge.studies.silhouettes.probe import Silhouettes
from biasbridge.train.engine.point import Plan, Point, plan_point
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.reference import Reference, Shared, keep_shared
from tests.points import SUBJECT, WEAT


def write(folder: Path, words: str) -> Path:
    matrix = np.random.default_rng(len(words)).normal(size=(len(words), 4)).astype(np.float32)
    save_mapped(keyed([*words], matrix), folder / "vectors")
    return folder


def test_vectors_are_those_of_the_shared_words(tmp_path: Path) -> None:
    own, other = write(tmp_path / "own", "abcd"), write(tmp_path / "other", "dxb")
    keep_shared(Shared(), tmp_path, {"vectors": own, "other": other}, 0)
    shared, whole = open_mapped(tmp_path / "vectors"), open_mapped(own / "vectors")
    assert shared.index_to_key == ["b", "d"]
    assert (shared["d"] == whole["d"]).all()


def test_disjoint_vocabularies_are_refused(tmp_path: Path) -> None:
    own, other = write(tmp_path / "own", "abcde"), write(tmp_path / "other", "xyz")
    with pytest.raises(InputError, match=r"share no word: one has a, b, c, \.\.\., the other x"):
        keep_shared(Shared(), tmp_path, {"vectors": own, "other": other}, 0)
    assert not (tmp_path / "vectors").exists()


def planned(folder: Path, which: Literal["biased", "unbiased"], seed: int = 0) -> Plan:
    assert isinstance(SUBJECT.corpus, GeneratedCorpus)
    unbiased = dataclasses.replace(
        SUBJECT, corpus=dataclasses.replace(SUBJECT.corpus, stereotype=0.0)
    )
    subject = Reference(biased=SUBJECT, unbiased=unbiased, which=which)
    point = Point(
        experiment="e", seed=seed, subject=subject, metrics=(WEAT,), probe=Silhouettes(runs=2)
    )
    return plan_point(point, Store(folder))


def test_both_points_name_both_models_and_say_which_they_are(tmp_path: Path) -> None:
    biased, unbiased = (planned(tmp_path, which) for which in ("biased", "unbiased"))
    for name in ("biased_key", "unbiased_key"):
        assert biased.keys()[name] == unbiased.keys()[name]
    assert biased.keys()["unit_key"] != unbiased.keys()["unit_key"]
    assert biased.keys()["biased_key"] == biased.keys()["parent_key"]
    facts = biased.point.facts(), unbiased.point.facts()
    assert [each["reference"] for each in facts] == ["biased", "unbiased"]
    assert [each["stereotype"] for each in facts] == [0.5, 0.0]
    assert planned(tmp_path, "biased", seed=1).keys()["biased_key"] != biased.keys()["biased_key"]


def test_the_same_subsets_are_drawn_of_both_models(tmp_path: Path) -> None:
    biased, unbiased = (planned(tmp_path, which).probes for which in ("biased", "unbiased"))
    assert [step.seed for step in biased] == [step.seed for step in unbiased]
