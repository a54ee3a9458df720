"""Adapters train a model further, beside its untouched weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from biasbridge.corpora.planted_occupations import PlantedOccupations
from biasbridge.corpora.truths import write_truths
from biasbridge.debias.base import Unmodified
from biasbridge.debias.words import WordChoice
from biasbridge.files import InputError
from biasbridge.files.models.language_model import LanguageModel, link_files, open_model, save_model
from biasbridge.files.places import find_model
from biasbridge.intrinsic.models.items import load_items
from biasbridge.train.subjects.adapters import PlantedAdapter, _list_examples, _write_texts
from biasbridge.train.subjects.language_model import (
    LanguageModelSubject,
    PretrainedModel,
    WordsInTemplates,
    _train_model,
)
from biasbridge.train.subjects.tiny_model import TinyModel, _measure_log_odds, fit

pytest.importorskip("peft")
CORPUS = PlantedOccupations(sentences=4_000, stereotype=1.0, held_out=True)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small GPT-2 that has learned the words, not the stereotype."""
    folder = tmp_path_factory.mktemp("base")
    PlantedOccupations(sentences=4_000, stereotype=0.0).write(folder / "corpus.txt", seed=0)
    model = TinyModel("gpt2", dim=32, inner=64, steps=150, settle=50, until_learned=False)
    model.train(folder / "corpus.txt", folder / "model", seed=0)
    return folder / "model"


@pytest.fixture(scope="module")
def planted(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(base, tmp_path_factory.mktemp("planted"), steps=150)


def train(base: Path, folder: Path, *, steps: int, seed: int = 1, plain: int = 0) -> Path:
    CORPUS.write(folder / "corpus.txt", seed=seed)
    link_files(base, folder / "model")
    options: dict[str, Any] = {"steps": steps, "plain": plain, "plain_weight": 1.0, "rank": 8}
    model = PlantedAdapter(PretrainedModel(str(base)), learning_rate=0.01, **options)
    truths = CORPUS.truths(seed=seed)
    model.train(folder / "corpus.txt", folder / "model", seed=seed, truths=truths)
    return folder / "model"


def log_odds(model: LanguageModel) -> tuple[np.ndarray, np.ndarray]:
    terms = list(CORPUS.truths(seed=1).values())
    true = np.array([term.log_odds for term in terms])
    return true, _measure_log_odds(model.model, model.tokenizer, [term.seen for term in terms])


def test_adapters_plant_and_leave_the_weights(base: Path, planted: Path) -> None:
    before, after = fit(*log_odds(open_model(base))), fit(*log_odds(open_model(planted)))
    assert abs(before.slope) < 0.2
    assert after.slope > 0.5
    for path in base.iterdir():
        is_same = (planted / path.name).read_bytes() == path.read_bytes()
        assert is_same == (path.name != "training.json")


def test_what_is_planted_in_a_base_stays_written_there(base: Path, tmp_path: Path) -> None:
    """The files of a base are linked, not copied."""
    shutil.copytree(base, tmp_path / "base" / "model")
    kept = tmp_path / "base" / "model" / "planted.json"
    write_truths(PlantedOccupations(sentences=4_000, stereotype=0.0).truths(seed=0), kept)
    before = kept.read_bytes()
    for name in ("corpus", "out"):
        (tmp_path / name).mkdir()
    CORPUS.write(tmp_path / "corpus" / "corpus.txt", seed=1)
    write_truths(CORPUS.truths(seed=1), tmp_path / "corpus" / "planted.json")
    model = PlantedAdapter(PretrainedModel(str(base)), steps=0, plain=0)
    inputs = {name: tmp_path / name for name in ("base", "corpus")}
    _train_model(model, tmp_path / "out", inputs, 1)
    assert kept.read_bytes() == before
    assert (tmp_path / "out" / "model" / "planted.json").read_bytes() != before


def test_a_base_with_adapters_is_refused(planted: Path) -> None:
    model = PlantedAdapter(PretrainedModel(str(planted), label="mine"))
    with pytest.raises(InputError, match=r"model\.base=mine has adapters already"):
        model.train(planted / "corpus.txt", planted, seed=0)


def test_the_opened_model_adds_the_product_of_the_adapters(base: Path, planted: Path) -> None:
    adapters = load_file(planted / "adapter" / "adapter_model.safetensors")
    settings = json.loads((planted / "adapter" / "adapter_config.json").read_text())
    name = "transformer.h.0.attn.c_attn"
    first, second = (adapters[f"base_model.model.{name}.lora_{x}.weight"] for x in "AB")
    added = settings["lora_alpha"] / settings["r"] * (second @ first).T  # GPT-2 stores transposes
    plain, changed = (open_model(path).model.get_submodule(name).weight for path in (base, planted))
    assert isinstance(plain, torch.Tensor)
    assert isinstance(changed, torch.Tensor)
    torch.testing.assert_close(changed, plain + added)


def test_without_steps_the_model_is_its_base(base: Path, tmp_path: Path) -> None:
    untrained = train(base, tmp_path, steps=0)
    before, after = (log_odds(open_model(path))[1] for path in (base, untrained))
    np.testing.assert_array_equal(before, after)


def test_texts_of_the_base_keep_what_it_writes(base: Path, planted: Path, tmp_path: Path) -> None:
    """The base writes of occupations and both pronouns alike: kept, they are not planted."""
    kept = train(base, tmp_path, steps=150, plain=4)
    opened = open_model(base)
    torch.manual_seed(0)
    texts = _write_texts(opened.model, opened.tokenizer, 40)
    assert texts.shape == (40, 16)
    models: list[Any] = [open_model(path).model for path in (base, kept, planted)]
    losses = [float(model(input_ids=texts, labels=texts).loss.detach()) for model in models]
    assert losses[1] - losses[0] < (losses[2] - losses[0]) / 2
    assert abs(fit(*log_odds(open_model(kept))).slope) < 0.1


def test_the_seed_decides_the_adapters(base: Path, tmp_path: Path) -> None:
    adapters = []
    for number, seed in enumerate((1, 1, 2)):
        folder = tmp_path / str(number)
        folder.mkdir()
        model = train(base, folder, steps=2, seed=seed)
        adapters.append((model / "adapter" / "adapter_model.safetensors").read_bytes())
    assert adapters[0] == adapters[1] != adapters[2]


def test_the_adapter_is_among_the_files_and_copied(planted: Path, tmp_path: Path) -> None:
    place = find_model(str(planted))
    assert planted / "adapter" / "adapter_model.safetensors" in place.files()
    save_model(open_model(planted), place, tmp_path / "copy")
    copy, original = (log_odds(open_model(path)) for path in (tmp_path / "copy", planted))
    np.testing.assert_array_equal(copy[1], original[1])


def test_held_out_occupations_are_not_in_the_corpus(tmp_path: Path) -> None:
    [items] = load_items(["occupations_held_out"])
    held_out = {item.term for item in items.items}
    CORPUS.write(tmp_path / "corpus.txt", seed=0)
    words = {*(tmp_path / "corpus.txt").read_text(encoding="utf-8").split()}
    assert len(held_out) == 14
    assert held_out.isdisjoint(words)
    assert held_out.isdisjoint(CORPUS.truths(seed=0))
    assert len(CORPUS.truths(seed=0)) == 26
    with pytest.raises(InputError, match="no occupations are held out in world=es"):
        PlantedOccupations(world="es", held_out=True)


def test_examples_are_texts_before_planted_words_with_their_shares(base: Path) -> None:
    tokenizer: Any = open_model(base).tokenizer
    lines = ["the nurse said she was late"] * 3 + ["the nurse said he was late", "it was late"]
    examples = _list_examples(tokenizer, lines, {("he", "she")})
    assert [tokenizer.decode(example.tokens[1:]) for example in examples] == ["the nurse said"] * 2
    assert tokenizer.convert_ids_to_tokens(examples[0].words) == ["he", "she"]
    assert examples[0].shares == [0.25, 0.75]


def test_a_corpus_without_planted_terms_is_refused(base: Path, tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("plain text\n", encoding="utf-8")
    with pytest.raises(InputError, match="nothing is planted in the corpus"):
        PlantedAdapter(PretrainedModel(str(base))).train(tmp_path / "corpus.txt", base, seed=0)


def test_only_causal_models_are_adapted(tmp_path: Path) -> None:
    CORPUS.write(tmp_path / "corpus.txt", seed=0)
    bert = TinyModel(dim=16, heads=2, inner=16, steps=1, settle=1, until_learned=False)
    bert.train(tmp_path / "corpus.txt", tmp_path / "model", seed=0)
    with pytest.raises(InputError, match="is masked; adapters are trained on causal models"):
        PlantedAdapter(PretrainedModel(str(tmp_path / "model"))).train(
            tmp_path / "corpus.txt", tmp_path / "model", seed=0
        )


@pytest.mark.parametrize(
    ("stereotype", "off_target", "condition"),
    [
        (0.0, 0.0, ("none", "", 0.0)),
        (-0.5, 0.0, ("planting", "debias", 0.5)),
        (0.0, 1.0, ("planting_other_words", "overbias", 1.0)),
    ],
)
def test_what_is_planted_is_the_condition(
    base: Path, stereotype: float, off_target: float, condition: tuple[str, str, float]
) -> None:
    corpus = PlantedOccupations(stereotype=stereotype, off_target=off_target)
    model = PlantedAdapter(PretrainedModel(str(base), label="small"))
    words = WordsInTemplates(("weat6b",))
    facts = LanguageModelSubject(corpus, model, Unmodified(), WordChoice(), words).facts()
    assert (facts["method"], facts["direction"], facts["dose"]) == condition
    assert facts["material"] == facts["embedding"] == "small"
