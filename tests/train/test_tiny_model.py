"""Tiny models: what is measured of them, that they learn what is planted, and what they leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from biasbridge.corpora.planted_occupations import PlantedOccupations
from biasbridge.files import InputError
from biasbridge.train.subjects.tiny_model import (
    Architecture,
    TinyModel,
    _measure_log_odds,
    fit,
    fits,
)

SMALL: dict[str, Any] = {"dim": 16, "heads": 2, "inner": 16, "batch": 16}
LOADERS: dict[Architecture, Any] = {
    "bert": transformers.AutoModelForMaskedLM,
    "gpt2": transformers.AutoModelForCausalLM,
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    PlantedOccupations(sentences=4_000).write(path, seed=0)
    return path


@pytest.fixture(scope="module", params=LOADERS)
def trained(
    request: pytest.FixtureRequest, corpus: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Architecture, Path]:
    folder = tmp_path_factory.mktemp(request.param)
    TinyModel(request.param, **SMALL, steps=20, settle=10).train(corpus, folder, seed=1)
    return request.param, folder


def load(architecture: Architecture, folder: Path) -> tuple[Any, Any]:
    model, report = LOADERS[architecture].from_pretrained(folder, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    return model.eval(), transformers.AutoTokenizer.from_pretrained(folder)


def test_the_folder_loads_whole_with_its_tokenizer(trained: tuple[Architecture, Path]) -> None:
    architecture, folder = trained
    model, tokenizer = load(architecture, folder)
    around = {"bert": ("[CLS]", "[SEP]"), "gpt2": ("<|endoftext|>", None)}[architecture]
    tokens = tokenizer.convert_ids_to_tokens(tokenizer("The nurse said, zyx")["input_ids"])
    unknown = tokenizer.unk_token
    expected = [around[0], "the", "nurse", "said", unknown, unknown, around[1]]
    assert tokens == [token for token in expected if token]
    assert tokenizer.is_fast
    assert len(tokenizer) == model.config.vocab_size
    assert (folder / "model.safetensors").is_file()
    assert json.loads((folder / "training.json").read_text())["steps"] == 20
    if architecture == "bert":
        assert tokenizer.mask_token_id in tokenizer("the nurse said [MASK] was late")["input_ids"]


def test_same_seed_same_bytes(
    trained: tuple[Architecture, Path], corpus: Path, tmp_path: Path
) -> None:
    architecture, folder = trained
    choice = TinyModel(architecture, **SMALL, steps=20, settle=10)
    choice.train(corpus, tmp_path / "same", seed=1)
    choice.train(corpus, tmp_path / "other", seed=2)
    names = {path.name for path in folder.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "training.json"} <= names
    for name in names:
        assert (tmp_path / "same" / name).read_bytes() == (folder / name).read_bytes(), name
    weights = tmp_path / "other" / "model.safetensors"
    assert weights.read_bytes() != (folder / "model.safetensors").read_bytes()


def test_log_odds_are_those_of_one_text_after_another(trained: tuple[Architecture, Path]) -> None:
    architecture, folder = trained
    model, tokenizer = load(architecture, folder)
    slots = [*PlantedOccupations().truths(seed=0).values()][3].seen
    values = []
    for text in slots.texts:
        given = text if architecture == "bert" else text.split(" [MASK]")[0]
        rows = tokenizer(given, return_tensors="pt")["input_ids"]
        place = rows[0].tolist().index(tokenizer.mask_token_id) if architecture == "bert" else -1
        with torch.no_grad():
            chances = model(input_ids=rows).logits[0, place].log_softmax(dim=0)
        he, she = tokenizer.convert_tokens_to_ids(list(slots.fillers))
        values.append(float(chances[he] - chances[she]))
    found = _measure_log_odds(model, tokenizer, [slots])
    assert found == pytest.approx([np.mean(values)], abs=1e-5)


def test_fit_by_hand() -> None:
    true = np.array([-2.0, 0.0, 2.0])
    assert fit(true, 0.5 * true + 7) == pytest.approx((1, 0.5, 7))
    assert fit(true, np.array([1.0, 0.0, 1.0])) == pytest.approx((0, 0, 2 / 3))
    assert fit(true, np.array([2.0, 0.0, 0.0])) == pytest.approx((-np.sqrt(0.75), -0.5, 2 / 3))
    none = fit(np.zeros(3), true)
    assert np.isnan(none.r)
    assert none.learned
    assert none.magnitude == pytest.approx(4 / 3)


def test_too_few_steps_are_one_line(corpus: Path, tmp_path: Path) -> None:
    truths = PlantedOccupations(sentences=4_000).truths(seed=0)
    choice = TinyModel(**SMALL, steps=100)
    with pytest.raises(
        InputError, match=r"^steps=100: too few .*; give more\. Slope .* Required: "
    ):
        choice.train(corpus, tmp_path / "model", seed=0, truths=truths)
    assert not (tmp_path / "model").exists()


def test_truths_of_another_corpus_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("a cat sat\n" * 9, encoding="utf-8")
    truths = PlantedOccupations().truths(seed=0)
    with pytest.raises(
        InputError, match=r"lacks he or she; give the corpus in which they were planted"
    ):
        TinyModel(**SMALL).train(tmp_path / "corpus.txt", tmp_path / "m", seed=0, truths=truths)


def test_a_corpus_without_words_and_heads_that_do_not_divide(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("\n \n", encoding="utf-8")
    with pytest.raises(InputError, match="has no words"):
        TinyModel().train(tmp_path / "corpus.txt", tmp_path / "m", seed=0)
    with pytest.raises(InputError, match=r"^dim=10: give a multiple of heads=4$"):
        TinyModel(dim=10)


def test_a_real_corpus_keeps_its_capitals_and_most_frequent_words(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("Ann met Bob\nAnn met a dog\n" * 20, encoding="utf-8")
    facts = TinyModel("gpt2", **SMALL, vocabulary=2, steps=3, settle=1).train(
        tmp_path / "corpus.txt", tmp_path / "m", seed=0
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "m")
    [row] = tokenizer(["Ann met Bob ann"])["input_ids"]
    tokens = tokenizer.convert_ids_to_tokens(row)
    assert tokens == ["<|endoftext|>", "Ann", "met", "<|unk|>", "<|unk|>"]
    assert (facts["steps"], len(tokenizer)) == (3, 5)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", LOADERS)
def test_what_is_planted_is_learned(architecture: Architecture, tmp_path: Path) -> None:
    corpus = PlantedOccupations(stereotype=-1.0)
    corpus.write(tmp_path / "corpus.txt", seed=0)
    truths = corpus.truths(seed=0)
    facts: Any = TinyModel(architecture).train(
        tmp_path / "corpus.txt", tmp_path / "model", seed=0, truths=truths
    )
    assert 0.9 <= facts["calibration_seen_slope"] <= 1.1
    held_out = [each for each in truths.values() if each.half == "held_out"]
    found = fits(*load(architecture, tmp_path / "model"), held_out)
    for kind, each in found.items():
        assert each.r == pytest.approx(facts[f"held_out_{kind}_r"], abs=1e-3)
        assert each.slope == pytest.approx(facts[f"held_out_{kind}_slope"], abs=1e-3)
        assert each.r >= 0.98
        assert each.slope == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("steps", [0, 3])
def test_a_model_is_stopped_after_exactly_so_many_steps(steps: int, tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("the nurse said she was late\n" * 20, encoding="utf-8")
    model = TinyModel(steps=steps, until_learned=False)
    facts = model.train(tmp_path / "corpus.txt", tmp_path / "model", seed=0)
    assert facts["steps"] == steps
    assert (facts["loss"] is None) == (steps == 0)
    assert model.facts() == {"training_steps": steps}
    assert TinyModel().facts() == {}
