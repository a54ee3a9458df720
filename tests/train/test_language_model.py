"""A language model as the subject of a point: one observation whatever is read from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from biasbridge.corpora.world import GeneratedCorpus
from biasbridge.debias.unmodified import Unmodified
from biasbridge.debias.word_choice import WordChoice
from biasbridge.files.models.encoder import Encoder
from biasbridge.train.engine.part import StepBuilder
from biasbridge.train.engine.scores import open_needed
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.language_model import Encoding, LanguageModelSubject
from biasbridge.train.subjects.models import PretrainedModel
from biasbridge.train.subjects.transformer import WordsInTemplates
from tests.tiny_models import SMALL, save_model, word_pieces

USUAL = Encoding()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny BERT with its head."""
    config = transformers.AutoConfig.for_model("bert", **SMALL)
    torch.manual_seed(0)
    transformers.AutoModelForMaskedLM.from_config(config).save_pretrained(tmp_path / "tiny")
    word_pieces().save_pretrained(tmp_path / "tiny")
    return tmp_path / "tiny"


def subject(model: Path, encoding: Encoding = USUAL, **of_model: Any) -> LanguageModelSubject:
    return LanguageModelSubject(
        corpus=GeneratedCorpus(),
        model=PretrainedModel(str(model), **of_model),
        debias=Unmodified(),
        words=WordChoice("weat7"),
        vectors=WordsInTemplates(queries=("weat7",), layer=encoding.layer),
        encoding=encoding,
    )


def test_layers_and_pooling_are_views_of_one_observation(folder: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    views = [subject(folder, Encoding(layer=layer)) for layer in (-1, 1)]
    last, first = (each.build_steps(StepBuilder(0, store)) for each in views)
    assert last["model"].key == first["model"].key
    assert last["encoder"].key != first["encoder"].key
    assert [each.facts()["embedding"] for each in views] == ["tiny", "tiny layer 1"]
    made = store.make(first["encoder"])
    texts = ["the nurse said that", "a man"]
    encoder = open_needed("encoder", {"encoder": made})
    np.testing.assert_array_equal(encoder.encode(texts), Encoder(folder, layer=1).encode(texts))
    weights = [store.path(first[name]) / "model/model.safetensors" for name in ("model", "encoder")]
    assert weights[0].samefile(weights[1]), "weights lie in the store once"


def test_a_folder_is_known_by_its_bytes_and_copied(folder: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    before = subject(folder).build_steps(StepBuilder(0, store))["model"]
    made = store.make(before)
    moved = folder.rename(tmp_path / "moved")
    again = Store(tmp_path / "store")
    assert subject(moved).build_steps(StepBuilder(1, again))["model"].key == before.key
    save_model(moved, "bert", seed=9)
    assert subject(moved).build_steps(StepBuilder(0, Store(tmp_path / "store")))["model"].key != (
        before.key
    )
    assert open_needed("model", {"model": made}).kind == "masked"


def test_random_weights_are_another_model_of_each_seed(folder: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    twin = subject(folder, random_weights=True)
    assert twin.facts()["embedding"] == "tiny_random"
    assert twin.facts()["random_weights"] is True
    own, *drawn = (
        store.make(each.build_steps(StepBuilder(seed, store))["model"])
        for each, seed in ((subject(folder), 0), (twin, 0), (twin, 1))
    )
    texts = ["the nurse said that"]
    rows = [Encoder(made / "model").encode(texts) for made in (own, *drawn)]
    assert not any(np.allclose(rows[i], rows[j], atol=1e-3) for i, j in ((0, 1), (0, 2), (1, 2)))
