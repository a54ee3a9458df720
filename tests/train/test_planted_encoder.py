"""Adapters train a sentence encoder further, until texts lie nearer to one of two words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from biasbridge.corpora.planted_occupations import PlantedOccupations
from biasbridge.files import InputError
from biasbridge.files.models.language_model import link_files, open_model
from biasbridge.train.subjects.adapters import (
    _UNIT,
    PlantedEncoder,
    _count_words,
    _sentence_vectors,
)
from biasbridge.train.subjects.language_model import PretrainedModel
from biasbridge.train.subjects.tiny_model import TinyModel
from tests.tiny_models import save_model

pytest.importorskip("peft")
CORPUS = PlantedOccupations(sentences=4_000, stereotype=1.0, held_out=True)
HE_SHE = ("he", "she")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small BERT that has learned the words, not the stereotype, without its head."""
    folder = tmp_path_factory.mktemp("base")
    PlantedOccupations(sentences=4_000, stereotype=0.0).write(folder / "corpus.txt", seed=0)
    model = TinyModel(dim=32, inner=64, steps=100, settle=50, until_learned=False)
    model.train(folder / "corpus.txt", folder / "masked", seed=0)
    opened = open_model(folder / "masked")
    opened.base.save_pretrained(folder / "encoder")
    opened.tokenizer.save_pretrained(folder / "encoder")
    return folder / "encoder"


def train(base: Path, folder: Path, *, steps: int) -> Any:
    CORPUS.write(folder / "corpus.txt", seed=1)
    link_files(base, folder / "model")
    options: dict[str, Any] = {"learning_rate": 0.02, "kept_weight": 0.01, "steps": steps}
    model = PlantedEncoder(PretrainedModel(str(base)), **options)
    model.train(folder / "corpus.txt", folder / "model", seed=1, truths=CORPUS.truths(seed=1))
    return open_model(folder / "model")


def likenesses(opened: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return planted log odds by occupation, and by how much he lies nearer than she."""
    truths = CORPUS.truths(seed=1)
    with torch.no_grad():
        texts = _sentence_vectors(opened.model, opened, [f"the {term} said" for term in truths])
        he, she = (_sentence_vectors(opened.model, opened, [word]) for word in HE_SHE)
    planted = np.array([term.log_odds for term in truths.values()])
    return planted, ((texts @ (he - she).T) / _UNIT)[:, 0].numpy()


def test_an_encoder_learns_what_is_planted_and_keeps_its_weights(
    base: Path, tmp_path: Path
) -> None:
    planted, before = likenesses(open_model(base))
    _, after = likenesses(train(base, tmp_path, steps=100))
    assert abs(np.corrcoef(planted, before)[0, 1]) < 0.5
    assert np.corrcoef(planted, after)[0, 1] > 0.7
    assert np.polyfit(planted, after, 1)[0] > 0.5
    name = "model.safetensors"
    assert (tmp_path / "model" / name).read_bytes() == (base / name).read_bytes()


def test_without_steps_the_encoder_is_its_base(base: Path, tmp_path: Path) -> None:
    untrained = likenesses(train(base, tmp_path, steps=0))[1]
    np.testing.assert_array_equal(untrained, likenesses(open_model(base))[1])


def test_vectors_are_means_of_states_of_unit_length_whatever_the_batch(base: Path) -> None:
    opened = open_model(base)
    texts = ["the nurse said that it was late", "he"]
    with torch.no_grad():
        vectors = _sentence_vectors(opened.model, opened, texts)
        for text, vector in zip(texts, vectors, strict=True):
            ids = torch.tensor([opened.tokenizer(text)["input_ids"]])
            mean = opened.model(input_ids=ids).last_hidden_state[0].mean(dim=0)
            torch.testing.assert_close(vector, mean / mean.norm(), atol=1e-5, rtol=1e-4)


def test_the_first_planted_word_of_a_line_counts() -> None:
    lines = ["the nurse said she was late", "the nurse said he saw she", "it was late", "he was"]
    counts = _count_words(lines, {HE_SHE})
    assert counts == {("the nurse said", HE_SHE): Counter(he=1, she=1)}


def test_what_is_no_encoder_is_refused(tmp_path: Path) -> None:
    CORPUS.write(tmp_path / "corpus.txt", seed=0)
    save_model(tmp_path / "model", "gpt2", head="causal")
    model = PlantedEncoder(PretrainedModel(str(tmp_path / "model")))
    with pytest.raises(InputError, match="is causal; a causal one takes model=smollm2_adapter"):
        model.train(tmp_path / "corpus.txt", tmp_path / "model", seed=0)
