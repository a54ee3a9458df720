"""Likelihoods equal a loop over one text and one mask at a time with transformers alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from biasbridge import audit
from biasbridge.files import InputError
from biasbridge.files.models.language_model import LanguageModel, open_model
from biasbridge.intrinsic.likelihood import token_likelihoods as asking
from biasbridge.intrinsic.likelihood.sentences import (
    log_likelihoods,
    masked_together,
    sentence_log_likelihoods,
    unmasked_log_likelihoods,
)
from biasbridge.intrinsic.likelihood.stereoset import pieces_in_turn
from biasbridge.intrinsic.likelihood.tokenised_text import Text, mask_id, tokenise_texts
from tests.tiny_models import SMALL, byte_pieces, save_model

CASES = Path(__file__).parents[2] / "cases" / "vectors"

TEXTS = [
    "the nurse said that she would come",
    "the nurse said that he would come",
    "a man",
    "a walking engineer and the hospital of the doctor, at home",
]
MASKED = ("bert", "roberta", "distilbert", "albert", "electra")
CAUSAL = ("gpt2", "llama", "qwen2")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LanguageModel]:
    """A tiny random model of each architecture with its head, in larger numbers than usual, so that
    likelihoods differ.
    """
    found = {}
    for name in (*MASKED, *CAUSAL):
        head = "masked" if name in MASKED else "causal"
        found[name] = open_model(save_model(tmp_path_factory.mktemp(name), name, head=head))
        with torch.no_grad():
            for parameter in found[name].model.parameters():
                if parameter.ndim > 1:
                    parameter.mul_(8)
    return found


def read(model: LanguageModel, **options: Any) -> list[Text]:
    texts = [text for text in tokenise_texts(model, TEXTS, **options) if text]
    assert len(texts) == len(TEXTS)
    return texts


def log_p(model: LanguageModel, ids: list[int], place: int) -> torch.Tensor:
    """log p over the vocabulary at a place of one text."""
    asked: Any = model.model
    with torch.no_grad():
        logits: torch.Tensor = asked(input_ids=torch.tensor([ids])).logits
    return logits[0, place].log_softmax(dim=-1)


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize("within_word", [False, True])
def test_pll(opened: dict[str, LanguageModel], name: str, within_word: bool) -> None:
    model = opened[name]
    tokenizer: Any = model.tokenizer
    expected = []
    for text in TEXTS:
        encoded = tokenizer(text)
        ids, words = encoded["input_ids"], encoded.word_ids()
        logs = []
        for place in range(1, len(ids) - 1):
            hidden = list(ids)
            for later in range(place, len(ids)):
                if later == place or (within_word and words[later] == words[place]):
                    hidden[later] = tokenizer.mask_token_id
            logs.append(log_p(model, hidden, place)[ids[place]].item())
        expected.append(sum(logs))
    found = sentence_log_likelihoods(model, read(model), within_word_l2r=within_word)
    assert [sum(each) for each in found] == pytest.approx(expected, abs=1e-4, rel=1e-5)


@pytest.mark.parametrize("name", CAUSAL)
@pytest.mark.parametrize("first", ["own", "none", "eos"])
def test_log_likelihood(opened: dict[str, LanguageModel], name: str, first: str) -> None:
    model = opened[name]
    tokenizer: Any = model.tokenizer
    expected = []
    for text in TEXTS:
        ids = tokenizer(text, add_special_tokens=first == "own")["input_ids"]
        ids = [tokenizer.eos_token_id, *ids] if first == "eos" else ids
        logs = [log_p(model, ids[:n], -1)[ids[n]].item() for n in range(1, len(ids))]
        expected.append(sum(logs))
    found = sentence_log_likelihoods(model, read(model, first_token=first))
    assert [sum(each) for each in found] == pytest.approx(expected, abs=1e-4, rel=1e-5)


@pytest.mark.parametrize("name", ["bert", "roberta", "distilbert"])
def test_aul_and_aula(opened: dict[str, LanguageModel], name: str) -> None:
    model = opened[name]
    asked: Any = model.model
    for attention in (False, True):
        expected = []
        for text in TEXTS:
            ids = torch.tensor([model.tokenizer(text)["input_ids"]])
            with torch.no_grad():
                given = asked(input_ids=ids, output_attentions=True)
            logs = given.logits[0].log_softmax(dim=-1).gather(1, ids.T)[1:-1, 0]
            if attention:
                every = torch.cat(given.attentions).flatten(0, 1)  # (layers x heads, from, to)
                logs = logs * every.mean(dim=(0, 1))[1:-1]
            expected.append(logs.mean().item())
        found = unmasked_log_likelihoods(model, read(model), attention=attention)
        assert [each.mean() for each in found] == pytest.approx(expected, abs=1e-5, rel=1e-5)


def test_masked_together_and_pieces_in_turn(opened: dict[str, LanguageModel]) -> None:
    """``hospital`` in several pieces: all masked at once; and each after those before it, which
    StereoSet does without masks for those after it.
    """
    model = opened["bert"]
    tokenizer: Any = model.tokenizer
    text = read(model)[3]
    start = text.text.index("walking")
    places = text.positions_of(start, start + len("walking"))
    ids, mask = list(text.ids), tokenizer.mask_token_id
    assert len(places) > 1
    hidden = [mask if n in places else token for n, token in enumerate(ids)]
    together = [log_p(model, hidden, n)[ids[n]].item() for n in places]
    after = ids[places[-1] + 1 :]
    in_turn = [log_p(model, [*ids[:n], mask, *after], n)[ids[n]].item() for n in places]
    asks = [masked_together(text, places, mask), pieces_in_turn(text, places, mask)]
    assert mask_id(model) == mask
    found = log_likelihoods(model, asks)
    assert found[0] == pytest.approx(together, abs=1e-4)
    assert found[1] == pytest.approx(in_turn, abs=1e-4)


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_batches_and_trees_do_not_matter(
    opened: dict[str, LanguageModel], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = opened[name]
    one = sentence_log_likelihoods(model, read(model))
    monkeypatch.setattr(asking, "TOKENS", 1)
    monkeypatch.setattr(asking, "NODES", 5)
    two = sentence_log_likelihoods(model, read(model)[::-1])[::-1]
    monkeypatch.setattr(asking, "SHOWN_BY_MASK", ())
    three = sentence_log_likelihoods(model, read(model))
    for each in (two, three):
        for a, b in zip(one, each, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-4, rtol=1e-5)


WINDOWS: dict[str, dict[str, Any]] = {
    "mistral": {"sliding_window": 3},
    "qwen2": {"sliding_window": 4, "use_sliding_window": True, "max_window_layers": 1},
    "qwen3": {"sliding_window": 3, "use_sliding_window": True, "max_window_layers": 0},
    "gemma2": {"sliding_window": 3},
    "gpt_neo": {"window_size": 3, "attention_types": [[["local"], 3]], "num_layers": 3},
    "mistral whole": {"sliding_window": 48},
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_of_attention_hide_what_precedes_them(name: str, tmp_path: Path) -> None:
    """Every layer, or some layers of qwen2, see the last tokens only; a loop of single texts."""
    settings = SMALL | {"num_key_value_heads": 2, "head_dim": 8, "initializer_range": 0.5}
    config = transformers.AutoConfig.for_model(name.split()[0], **settings | WINDOWS[name])
    torch.manual_seed(0)
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path)
    byte_pieces(masked=False).save_pretrained(tmp_path)
    model = open_model(tmp_path)
    tokenizer: Any = model.tokenizer
    expected = []
    for text in TEXTS:
        ids = tokenizer(text)["input_ids"]
        expected.append(sum(log_p(model, ids[:n], -1)[ids[n]].item() for n in range(1, len(ids))))
    found = [sum(logs) for logs in sentence_log_likelihoods(model, read(model))]
    assert found == pytest.approx(expected, abs=1e-3, rel=1e-5)


def test_a_window_of_five_tokens_by_the_table_of_cases() -> None:
    folder = CASES / "models" / "mistral_sw"
    table = audit(str(folder), metrics=["pll", "crows_pairs"], items=str(CASES / "pairs.csv"))
    values = table[table["part"] == ""].set_index("metric")["value"]
    assert values["pll"] == pytest.approx(-13.53, abs=5e-3)
    assert values["crows_pairs"] == pytest.approx(0.571, abs=5e-4)


def test_equal_contexts_are_computed_once(
    opened: dict[str, LanguageModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = 0
    run = asking._logits  # noqa: SLF001 (counted, not changed)

    def counted(model: LanguageModel, batch: Any) -> Any:
        nonlocal rows
        rows += len(batch)
        return run(model, batch)

    monkeypatch.setattr(asking, "_logits", counted)
    text = read(opened["bert"])[0]
    one, other = sentence_log_likelihoods(opened["bert"], [text, text])
    assert rows == len(text.positions)
    assert one == other
    rows = 0
    sentence_log_likelihoods(opened["gpt2"], read(opened["gpt2"]))
    assert rows == 1  # a tree
    monkeypatch.setattr(asking, "SHOWN_BY_MASK", ())
    sentence_log_likelihoods(opened["gpt2"], read(opened["gpt2"]))
    assert rows == 1 + len(TEXTS)


def test_what_a_model_cannot_read_is_said(opened: dict[str, LanguageModel]) -> None:
    model = opened["bert"]
    long, short = tokenise_texts(model, ["the man " * 40, "zz man"])
    assert long is None
    assert short is not None
    assert short.unknown == 1
    with pytest.raises(InputError, match="is for causal models"):
        tokenise_texts(model, ["a man"], first_token="bos")
    with pytest.raises(InputError, match="no such token"):
        tokenise_texts(opened["gpt2"], ["a man"], first_token="bos")
    bare = LanguageModel("bare", model.base, model.tokenizer, "encoder")
    with pytest.raises(InputError, match="no head"):
        sentence_log_likelihoods(bare, read(model))
