"""Models that are not what their class says, against literal loops without batches and hooks."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from biasbridge import audit, debias
from biasbridge.files import InputError
from biasbridge.files.models.encoder import Encoder
from biasbridge.files.models.language_model import batches_by_length, open_model
from biasbridge.files.models.model_trial import TOLERANCE, _is_close
from biasbridge.intrinsic.models.items import read_items
from biasbridge.intrinsic.models.likelihood import find_words, tokenise_texts

tf: Any = import_module("transformers")  # its own types lack some classes
literal: Any = import_module("tests.literal_models")
CASES = Path(__file__).resolve().parents[2] / "cases" / "vectors" / "lm"
PAIRS = literal.pairs_of(CASES / "pairs.csv")
WP, BL = literal.wordpiece(), literal.bytelevel()
SIZE: dict[str, Any] = literal.SIZE
OF_WP: dict[str, Any] = {"vocab_size": len(WP), "max_position_embeddings": 80, "pad_token_id": 0}
OF_BL = OF_WP | {"vocab_size": len(BL), "bos_token_id": 0, "eos_token_id": 0}
OPT = OF_BL | SIZE | {"ffn_dim": 64, "word_embed_proj_dim": 32}
BART = literal.BART | OF_BL
TEXT = OF_BL | SIZE | {"num_key_value_heads": 2, "head_dim": 8}
VISION = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "patch_size": 14}
VISION |= {"intermediate_size": 32, "image_size": 28}
FNET = {"hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 64}
DEBERTA = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 16}
del OPT["intermediate_size"]


def score(model: Any, metric: str, items: str, **options: Any) -> float:
    table = audit(model, metrics=[metric], items=CASES / items, **options)
    assert len(table) == 1, table
    return float(table["value"].item())


def score_settings(folder: Path) -> str:
    table = audit(folder, metrics=["pll"], items=CASES / "pairs.csv")
    return str(table["settings"].item())


def saved(model: Any, tokenizer: Any, folder: Path, **config: Any) -> Path:
    literal.save(model, tokenizer, str(folder), **config)
    return folder


def llava() -> Any:
    vision = tf.CLIPVisionConfig(**VISION)
    text = tf.LlamaConfig(**TEXT)
    config = tf.LlavaConfig(vision_config=vision, text_config=text, image_token_index=1)
    return tf.LlavaForConditionalGeneration(config)


def gemma() -> Any:
    config = tf.Gemma3Config(
        text_config=TEXT | {"sliding_window": 16}, vision_config=VISION, mm_tokens_per_image=4
    )
    return tf.Gemma3ForConditionalGeneration(config)


CAUSAL: dict[str, Callable[[], Any]] = {
    "opt": lambda: tf.OPTForCausalLM(tf.OPTConfig(**OPT)),
    "bart": lambda: tf.BartForCausalLM(tf.BartConfig(is_decoder=True, **BART)),
    "mbart": lambda: tf.MBartForCausalLM(tf.MBartConfig(is_decoder=True, **BART)),
    "pegasus": lambda: tf.PegasusForCausalLM(tf.PegasusConfig(is_decoder=True, **BART)),
    "gemma3": gemma,
    "llava": llava,
    "llama": lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**OF_BL, **SIZE)),
}


@pytest.mark.parametrize("name", CAUSAL)
def test_causal_models_from_prefixes(name: str, tmp_path: Path) -> None:
    model = literal.draw(CAUSAL[name](), 1)
    folder = saved(model, BL, tmp_path / "model")
    expected = literal.mean_difference(partial(literal.causal_ll, model, BL), PAIRS)
    assert score(folder, "pll", "pairs.csv") == pytest.approx(expected, abs=2e-3)
    assert score((model, BL), "pll", "pairs.csv") == pytest.approx(expected, abs=2e-3)
    after = literal.next_word(model, BL, CASES / "slots.csv")
    assert score(folder, "next_word", "slots.csv") == pytest.approx(after, abs=2e-3)


@pytest.mark.parametrize("name", CAUSAL)
def test_an_eraser_of_the_last_layer_reaches_the_logits(name: str, tmp_path: Path) -> None:
    folder = saved(literal.draw(CAUSAL[name](), 1), BL, tmp_path / "model")
    out = tmp_path / "out"
    debias(folder, out=out, method="random_direction", dose=1.0, layer=-1)
    before: Any = open_model(folder)
    after: Any = open_model(out)
    ids = torch.tensor([BL("the boss fired him")["input_ids"]])
    head = before.model.get_output_embeddings()
    with torch.inference_mode():
        states = before.base(input_ids=ids).last_hidden_state
        wanted = head(after.eraser.on_states()(states))
        old, new = (opened.model(input_ids=ids).logits for opened in (before, after))
    torch.testing.assert_close(new, wanted, atol=1e-4, rtol=1e-4)
    assert (new - old).abs().max() > 0.1


MASKED: dict[str, Callable[[], Any]] = {
    "convbert": lambda: tf.ConvBertConfig(embedding_size=32, **OF_WP, **SIZE),
    "mobilebert": lambda: tf.MobileBertConfig(
        embedding_size=32, intra_bottleneck_size=16, **OF_WP, **SIZE
    ),
    "fnet": lambda: tf.FNetConfig(**OF_WP, **FNET),
    "yoso": lambda: tf.YosoConfig(use_expectation=True, **OF_WP, **SIZE),
    "squeezebert": lambda: tf.SqueezeBertConfig(embedding_size=32, **OF_WP, **SIZE),
    "bert": lambda: tf.BertConfig(**OF_WP, **SIZE),
}


@pytest.mark.filterwarnings("ignore:Initializing zero-element:UserWarning")
@pytest.mark.parametrize("name", MASKED)
def test_masked_models_of_one_text_at_a_time(name: str, tmp_path: Path) -> None:
    model = literal.draw(tf.AutoModelForMaskedLM.from_config(MASKED[name]()), 2)
    folder = saved(model, WP, tmp_path / "model")
    takes_padding = name not in ("convbert", "mobilebert", "fnet", "yoso")
    trial = open_model(folder).trial
    assert trial[:2] == (takes_padding, True)
    assert not trial.problem
    told = score_settings(folder)
    assert ("trial=padding changes its values" in told) is not takes_padding
    expected = literal.mean_difference(partial(literal.masked_pll, model, WP), PAIRS)
    assert score(folder, "pll", "pairs.csv") == pytest.approx(expected, abs=2e-3)
    encode = lambda text: literal.state(model.base_model, WP, text).mean(0)  # noqa: E731
    expected = literal.seat(encode, CASES / "seat.csv")
    assert score(folder, "seat", "seat.csv") == pytest.approx(expected, abs=2e-3)


def test_batches_without_padding() -> None:
    assert list(batches_by_length([3, 2, 3, 2, 3], 100)) == [[1, 3, 0, 2, 4]]
    assert list(batches_by_length([3, 2, 3, 2, 3], 100, padded=False)) == [[1, 3], [0, 2, 4]]
    assert list(batches_by_length([3, 2, 3], 100, 1, padded=False)) == [[1], [0], [2]]


@pytest.mark.parametrize(("share", "is_close"), [(0.9, True), (1.1, False)])
def test_values_are_close_up_to_a_share_of_the_largest(share: float, is_close: bool) -> None:
    expected = torch.tensor([1.0, 50.0])
    assert _is_close(expected + share * TOLERANCE * 50, expected) is is_close
    assert not _is_close(expected[:1], expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_model_that_sees_what_it_predicts(kind: str, tmp_path: Path) -> None:
    heads = {"bert": (tf.BertLMHeadModel, tf.BertConfig)}
    heads["roberta"] = (tf.RobertaForCausalLM, tf.RobertaConfig)
    make, configure = heads[kind]
    folder = saved(literal.draw(make(configure(**OF_WP, **SIZE)), 3), WP, tmp_path / "model")
    table = audit(folder, metrics=["pll"], items=CASES / "pairs.csv")
    assert "sees the tokens that it predicts" in table["reason"].item()
    assert np.isfinite(score(folder, "seat", "seat.csv"))
    config = json.loads((folder / "config.json").read_text()) | {"is_decoder": True}
    (folder / "config.json").write_text(json.dumps(config))
    model = open_model(folder).model

    def from_prefixes(text: str) -> float:
        """Sum log p of all tokens but the last one, [SEP]."""
        ids = WP(text)["input_ids"]
        logs = (literal.logits(model, ids[:n])[-1, ids[n]] for n in range(1, len(ids) - 1))
        return sum(map(float, logs))

    expected = literal.mean_difference(from_prefixes, PAIRS)
    assert score(folder, "pll", "pairs.csv") == pytest.approx(expected, abs=2e-3)


def test_checkpoints_with_further_heads(tmp_path: Path) -> None:
    """ALBERT's order of sentences, BERT's next sentence, DeBERTa's own names."""
    albert = tf.AlbertForPreTraining(tf.AlbertConfig(embedding_size=16, **OF_WP, **SIZE))
    bert = tf.BertForPreTraining(tf.BertConfig(**OF_WP, **SIZE))
    for name, model in (("albert", albert), ("bert", bert)):
        folder = saved(literal.draw(model, 6), WP, tmp_path / name)
        expected = literal.mean_difference(partial(literal.masked_pll, model, WP), PAIRS)
        assert score(folder, "pll", "pairs.csv") == pytest.approx(expected, abs=2e-3)
    for version, (make, configure) in {
        "v2": (tf.DebertaV2ForMaskedLM, tf.DebertaV2Config),
        "v1": (tf.DebertaForMaskedLM, tf.DebertaConfig),
    }.items():
        options = DEBERTA if version == "v2" else {"relative_attention": False}
        drawn: Any = literal.draw(make(configure(legacy=False, **options, **OF_WP, **SIZE)), 5)
        folder = saved(drawn, WP, tmp_path / version, architectures=None, legacy=None)
        with pytest.raises(InputError, match=f'add "architectures": \\["{make.__name__}"'):
            score(folder, "pll", "pairs.csv")
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"architectures": [make.__name__]}))
        expected = literal.mean_difference(partial(literal.masked_pll, drawn, WP), PAIRS)
        assert score(folder, "pll", "pairs.csv") == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("ends", [("bos",), ("eos",), ("bos", "eos")])
def test_tokens_that_only_tokenizer_config_adds(ends: tuple[str, ...], tmp_path: Path) -> None:
    model = literal.draw(CAUSAL["llama"](), 11)
    folder = saved(model, literal.bytelevel(bos=False), tmp_path / "model")
    path = folder / "tokenizer_config.json"
    stated = {f"add_{end}_token": True for end in ends}
    path.write_text(json.dumps(json.loads(path.read_text()) | stated))
    ids = open_model(folder).tokenizer("he")["input_ids"]
    plain = literal.bytelevel(bos=False)("he")["input_ids"]
    assert ids == [0] * ("bos" in ends) + plain + [0] * ("eos" in ends)
    if ends == ("bos",):
        expected = literal.mean_difference(partial(literal.causal_ll, model, BL), PAIRS)
        assert score(folder, "pll", "pairs.csv") == pytest.approx(expected, abs=2e-3)


def test_words_of_a_tokenizer_without_pre_tokenizer(tmp_path: Path) -> None:
    tokenizer = literal.gemma_like()
    special = {"cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3}
    layers = {"local_attention": 16, "global_attn_every_n_layers": 2}
    config = tf.ModernBertConfig(
        **(OF_WP | {"vocab_size": len(tokenizer)}), **SIZE, **special, **layers
    )
    model = literal.draw(tf.ModernBertForMaskedLM(config), 7)
    folder = saved(model, tokenizer, tmp_path / "model")
    for convention, l2r in (("default", False), ("within_word_l2r", True)):
        pll = partial(literal.masked_pll, model, tokenizer, l2r=l2r)
        expected = literal.mean_difference(pll, PAIRS)
        assert score(folder, "pll", "pairs.csv", convention=convention) == pytest.approx(
            expected, abs=2e-3
        )
    opened = open_model(folder)
    for text, n_words in (("the plumber  works .", 4), ("is她 works", 3)):
        [tokenised] = tokenise_texts(opened, [text])
        assert tokenised
        assert len({tokenised.words[k] for k in tokenised.positions}) == n_words


def bert(tokenizer: Any = WP) -> Any:
    config = OF_WP | {"vocab_size": len(tokenizer)}
    return literal.draw(tf.BertForMaskedLM(tf.BertConfig(**config, **SIZE)), 9)


SLOTS = ["<mask>", "[MASK]", "___", "_____", "[BLANK]", "[mask]", "<extra_id_0>"]


@pytest.mark.parametrize("mark", SLOTS)
def test_forms_of_the_slot(mark: str, tmp_path: Path) -> None:
    text = (CASES / "slots_MASK.csv").read_text().replace("[MASK]", mark)
    (tmp_path / "slots.csv").write_text(text)
    model = bert()
    expected = literal.lpbs(model, WP, CASES / "slots_MASK.csv", ("he", "she"))
    table = audit((model, WP), metrics=["lpbs"], items=tmp_path / "slots.csv")
    assert table["value"].item() == pytest.approx(expected, abs=2e-4)


def test_a_term_with_an_ending_and_terms_without_spaces(tmp_path: Path) -> None:
    model = bert()
    expected = literal.lpbs(model, WP, CASES / "slots_ending.csv", ("he", "she"))
    assert score((model, WP), "lpbs", "slots_ending.csv") == pytest.approx(expected, abs=2e-4)
    zh = literal.wordpiece(sorted(set("他她是护士医生。老师工程一个")))
    model = bert(zh)
    expected = literal.lpbs(model, zh, CASES / "slots_zh.csv", ("他", "她"))
    found = score((model, zh), "lpbs", "slots_zh.csv", fillers=["他/她"])
    assert found == pytest.approx(expected, abs=2e-4)
    assert find_words("彼女は看護師です", "看護師") == [(3, 6)]
    assert find_words("간호사는 일한다", "간호사") == [(0, 3)]
    assert find_words("นางพยาบาล", "พยาบาล") == [(3, 9)]
    assert find_words("the unhe works, he", "he") == [(16, 18)]
    items = "text,group,term,template\n[MASK]は看護師です,m,看護師,a\n[MASK]は医師,f,医師,a\n"
    (tmp_path / "ja.csv").write_text(items)
    assert not any(item.fills for item in read_items(tmp_path / "ja.csv", "ja").items)


def test_each_lost_item_has_its_reason(tmp_path: Path) -> None:
    rows = [
        *("the {} said that [MASK] was late .,m,doctor,a", "the un{} and [MASK] .,m,doctor,b"),
        *("the {} said that [MASK] was late .,f,nurse,a", "the {} and [MASK] .,f,zzz,c"),
        f"the {{}} and [MASK] {'. ' * 70},f,nurse,d",
    ]
    (tmp_path / "s.csv").write_text("\n".join(["text,group,term,template", *rows]))
    table = audit((bert(), WP), metrics=["lpbs"], items=tmp_path / "s.csv", language="en")
    reasons = [note.partition("items lost, ")[2] for note in table.attrs["notes"] if "lost" in note]
    assert sorted(reasons) == [
        *("their term inside a longer word", "too long for the model", "unknown to the model")
    ]


POOLED: dict[str, Callable[[Any], Any]] = {
    "cls": lambda h: h[0],
    "mean": lambda h: h.mean(0),
    "max": lambda h: h.max(0),
    "lasttoken": lambda h: h[-1],
    "mean_sqrt_len": lambda h: h.sum(0) / len(h) ** 0.5,
    "weightedmean": lambda h: np.average(h, axis=0, weights=range(1, len(h) + 1)),
}
KEYS = {"lasttoken": "pooling_mode_lasttoken", "cls": "pooling_mode_cls_token"}


def sentence_encoder(folder: Path, base: Any, config: dict[str, Any], *more: str) -> Path:
    literal.sentence_transformer(str(folder), base, WP, "mean")
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(config))
    modules = json.loads((folder / "modules.json").read_text())
    modules += [{"path": "", "type": f"sentence_transformers.models.{kind}"} for kind in more]
    (folder / "modules.json").write_text(json.dumps(modules))
    return folder


@pytest.mark.parametrize("pooling", POOLED)
def test_poolings_of_sentence_encoders(pooling: str, tmp_path: Path) -> None:
    base = bert().base_model
    key = KEYS.get(pooling, f"pooling_mode_{pooling}_tokens")
    text = "the nurse was late"
    expected = POOLED[pooling](literal.state(base, WP, text))
    configs: list[dict[str, Any]] = [{key: True, "include_prompt": True}, {"pooling_mode": pooling}]
    for n, config in enumerate(configs):
        encoder = Encoder(sentence_encoder(tmp_path / str(n), base, config))
        np.testing.assert_allclose(encoder.encode([text, "he"])[0], expected, atol=1e-4)
        assert encoder.pooling == "modules"
    mean = Encoder(tmp_path / "0", pooling="mean").encode([text])[0]
    np.testing.assert_allclose(mean, literal.state(base, WP, text).mean(0), atol=1e-4)


def test_dense_layers_prompts_and_limits_of_sentence_encoders(tmp_path: Path) -> None:
    base = bert().base_model
    torch.manual_seed(80)
    dense = (torch.randn(32, 32), torch.randn(32))
    for name, options in {
        "cls": ("cls",),
        "dense": ("mean", dense),
        "prompt": ("mean", None, "my people : "),
    }.items():
        encode = literal.sentence_transformer(str(tmp_path / name), base, WP, *options)
        expected = literal.seat(encode, CASES / "seat.csv")
        assert score(tmp_path / name, "seat", "seat.csv") == pytest.approx(expected, abs=2e-3)
    two = {"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True}
    folder = sentence_encoder(tmp_path / "two", base, two, "Normalize", "Dropout")
    states = literal.state(base, WP, "he works")
    joined = np.concatenate([states[0], states.max(0)])
    limits = {"max_seq_length": 4, "do_lower_case": True}
    (folder / "sentence_bert_config.json").write_text(json.dumps(limits))
    encoder = Encoder(folder)
    for text in ("he works", "he works as a nurse"):  # cut after its second word
        wanted = joined / np.linalg.norm(joined)
        np.testing.assert_allclose(encoder.encode([text])[0], wanted, atol=1e-4)
    assert [encoder.fits(text) for text in ("he works", "he works as")] == [True, False]
    with pytest.raises(InputError, match=r"layer=1: modules\.json is for the last one"):
        encoder.encode(["he"], layer=1)
    refused = sentence_encoder(tmp_path / "cnn", base, two, "CNN")
    with pytest.raises(InputError, match="asks for CNN"):
        Encoder(refused)
    assert Encoder(refused, pooling="cls").pooling == "cls"
    with pytest.raises(InputError, match="give mean or cls"):
        debias(folder, out=tmp_path / "out", method="leace", pooling="modules")
    with pytest.raises(InputError, match=r"has no modules\.json"):
        Encoder(saved(bert(), WP, tmp_path / "plain"), pooling="modules")


def test_the_last_states_follow_the_last_normalisation(tmp_path: Path) -> None:
    options = OF_WP | SIZE | {"max_position_embeddings": 64, "bos_token_id": 2, "eos_token_id": 3}
    model = literal.draw(tf.CLIPTextModel(tf.CLIPTextConfig(**options)), 12)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "final_layer_norm" in name:
                weights.normal_(1, 0.5)
    expected = literal.seat(lambda x: literal.state(model, WP, x).mean(0), CASES / "seat.csv")
    folder = saved(model, WP, tmp_path / "clip")
    assert score(folder, "seat", "seat.csv") == pytest.approx(expected, abs=2e-3)
    erased = debias(folder, out=tmp_path / "out", method="random_direction", dose=1.0, layer=-1)
    assert erased.eraser
