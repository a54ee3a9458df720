"""Every architecture of transformers that can be made tiny, against loops over one text at a time.

A new version of the library brings new ones: whatever it lists is drawn at random and tried.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch

from biasbridge.debias.erasers import RandomDirection
from biasbridge.files import InputError
from biasbridge.files.models.encoder import Encoder
from biasbridge.files.models.language_model import LanguageModel, open_model, with_eraser
from biasbridge.intrinsic.models.likelihood import sentence_log_likelihoods, tokenise_texts

tf: Any = import_module("transformers")  # its own types lack some classes
auto: Any = import_module("transformers.models.auto.modeling_auto")
literal: Any = import_module("tests.literal_models")
BYTES, PIECES = literal.bytelevel(), literal.wordpiece()
TEXTS = (
    "the nurse said that she was late",
    "a man",
    "women like children and family dinner good long hours in the office of our teacher",
    "he went home early every day",
)
# Sizes by the names that configurations give them, alone and in their parts
NAMES: dict[int, str] = {
    32: "hidden_size d_model n_embd dim emb_dim embedding_size hidden_dim embed_dim lru_width"
    " word_embed_proj_dim attention_hidden_size rnn_hidden_size cross_attention_hidden_size",
    64: "intermediate_size ffn_dim d_ff ffn_hidden_size n_inner encoder_ffn_dim decoder_ffn_dim"
    " feed_forward_size moe_intermediate_size shared_expert_intermediate_size mlp_hidden_size",
    80: "max_position_embeddings n_positions n_ctx max_seq_len max_sequence_length",
    2: "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers"
    " num_encoder_layers num_decoder_layers num_key_value_heads num_kv_heads n_kv_heads"
    " linear_num_key_heads num_experts_per_tok moe_k moe_topk n_group topk_group num_mem_blocks",
    4: "num_attention_heads n_head n_heads num_heads encoder_attention_heads qk_rope_head_dim"
    " decoder_attention_heads num_encoder_attention_heads num_decoder_attention_heads"
    " num_experts num_local_experts n_routed_experts moe_num_experts linear_num_value_heads",
    8: "head_dim attention_head_dim qk_nope_head_dim v_head_dim linear_key_head_dim d_kv"
    " linear_value_head_dim mamba_d_head mamba_head_dim kv_channels mamba_chunk_size chunk_size",
    16: "q_lora_rank kv_lora_rank sliding_window",
    400: "vocab_size",
    1: "n_shared_experts first_k_dense_replace",
    0: "pad_token_id bos_token_id eos_token_id",
}
SIZES = {name: size for size, names in NAMES.items() for name in names.split()}
LATENT = {"head_dim": 4, "num_key_value_heads": 4}
ROTARY, LAYERS, WINDOW = {"rotary_dim": 4}, {"num_hidden_layers": 4}, {"attention_window": [8, 8]}
OWN: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("deepseek_v3", "glm4_moe_lite", "minicpm3", "youtu", "axk1"), LATENT),
    **dict.fromkeys(("gptj", "codegen"), ROTARY),
    **dict.fromkeys(("qwen3_next", "qwen3_5_text", "lfm3"), LAYERS),
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "window_size": 8},
    "jamba": {"num_hidden_layers": 4, "attn_layer_period": 2, "attn_layer_offset": 1},
    "recurrent_gemma": {"num_hidden_layers": 3},
    "mamba2": {"num_heads": 8},
    "falcon_h1": {"mamba_n_heads": 8, "mamba_d_ssm": 64},
    "granitemoehybrid": {"mamba_n_heads": 8, "layer_types": ["mamba", "attention"]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "roc_bert": {"enable_pronunciation": False, "enable_shape": False},
    "roberta-prelayernorm": {"pad_token_id": 1},
    **dict.fromkeys(("longformer", "led"), WINDOW),
    "luke": {"entity_vocab_size": 20, "entity_emb_size": 8},
    "xmod": {"default_language": "en_XX"},
    "zaya": {"num_experts_per_tok": 1},
    "esmc": {"num_key_value_heads": 4},
}
LARGEST = 2_000_000  # parameters
# Tables of the library, and how many of their architectures are compared at least
TABLES = {"CAUSAL_LM": 140, "MASKED_LM": 44, "": 190}
# Architectures that see what they predict, have no head of tokens, or are no encoders of tokens
REFUSED = {
    "CAUSAL_LM": {"prophetnet", "xlm", "xlnet"},
    "MASKED_LM": {"bart", "flaubert", "mbart", "mvp", "xlm"},
    "": {"canine", "embedding_gemma2", "embedding_gemma2_text", "sam3_lite_text_text_model"},
}


def sizes_of(config: Any) -> dict[str, Any]:
    return {name: size for name, size in SIZES.items() if name in config.to_dict()}


def configure(kind: str) -> Any:
    """A tiny configuration of an architecture, its parts included."""
    plain = tf.AutoConfig.for_model(kind)
    parts = {name: getattr(plain, name, None) for name in plain.sub_configs or {}}
    nested = {name: sizes_of(part) for name, part in parts.items() if hasattr(part, "to_dict")}
    renamed = getattr(type(plain), "attribute_map", None) or {}
    own = {name: size for name, size in sizes_of(plain).items() if name not in renamed}
    own |= {"attn_implementation": "eager"}
    return tf.AutoConfig.for_model(kind, **own | nested | OWN.get(kind, {}))


def draw(kind: str, class_name: str, *, table: str) -> Any:
    """A model with random weights that reads text alone; None where none can be made tiny."""
    with suppress(Exception):  # whatever the library lacks or asks for
        config, make = configure(kind), getattr(tf, class_name)
        config.is_decoder = table == "CAUSAL_LM"
        with torch.device("meta"):
            assert sum(weights.numel() for weights in make(config).parameters()) < LARGEST
        torch.manual_seed(0)
        model = literal.draw(make(config), 0, scale=0.15)
        with torch.no_grad():
            out = reader_of(model)(input_ids=torch.arange(5, 13)[None])
        values = out[0] if table else out.last_hidden_state
        assert values.isfinite().all()
        return model
    return None


def reader_of(model: Any) -> Any:
    """Of an encoder-decoder the encoder."""
    is_pair = model.config.is_encoder_decoder and not hasattr(model, "lm_head")
    return model.get_encoder() if is_pair else model


def log_p(model: Any, tokenizer: Any, text: str) -> list[float]:
    ids = tokenizer(text)["input_ids"]
    if tokenizer is BYTES:
        return [float(literal.logits(model, ids[:n])[-1, ids[n]]) for n in range(1, len(ids))]
    mask = tokenizer.mask_token_id
    rows = [(n, [mask if k == n else i for k, i in enumerate(ids)]) for n in range(len(ids))]
    return [float(literal.logits(model, row)[n, ids[n]]) for n, row in rows[1:-1]]


def scores(opened: LanguageModel) -> Any:
    if opened.kind == "encoder":
        return Encoder(opened).encode(TEXTS)
    read = [text for text in tokenise_texts(opened, TEXTS) if text]
    return np.concatenate(sentence_log_likelihoods(opened, read))


def compare(model: Any, tokenizer: Any, *, has_head: bool) -> str:
    """What is wrong with the scores of a model, or why it is refused; empty if they are right."""
    if has_head:
        expected = np.concatenate([log_p(model, tokenizer, text) for text in TEXTS])
    else:
        reader = reader_of(model)
        expected = np.stack([literal.state(reader, tokenizer, text).mean(0) for text in TEXTS])
    try:
        opened = open_model((model, tokenizer))
        if has_head and opened.kind == "encoder":
            return "refused: it has no head of tokens"
        for size, side in ((1, "left"), (8, "right"), (8, "left")):
            tokenizer.padding_side = side
            batched = opened.with_options(batch_size=size, in_chat=False)
            far = np.abs(scores(batched) - expected).max() / max(1, np.abs(expected).max())
            if not far <= 1e-5:
                return f"wrong by {far:.1e} in batches of {size}"
        eraser = RandomDirection().fit_encoder(Encoder(opened), None, seed=0)
        with with_eraser(opened, eraser) as erased:
            moved = np.abs(scores(erased) - expected).max()
        return "" if moved > 1e-4 else f"an eraser moves its scores by {moved:.1e}"
    except InputError as error:
        return f"refused: {error}"
    except Exception as error:  # a fault of its own
        return f"raises {type(error).__name__}: {error}"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", TABLES)
def test_scores_of_every_architecture_are_those_of_loops(table: str) -> None:
    """Batches of 1 and 8, both sides of padding, and an eraser of the last layer."""
    tokenizer = BYTES if table == "CAUSAL_LM" else PIECES
    name = f"MODEL_FOR_{table}_MAPPING_NAMES" if table else "MODEL_MAPPING_NAMES"
    found = {}
    for kind, class_name in vars(auto)[name].items():
        if model := draw(kind, np.ravel(class_name)[0], table=table):
            found[kind] = compare(model, tokenizer, has_head=bool(table))
    told = {kind: problem for kind, problem in found.items() if problem}
    wrong = {kind: text for kind, text in told.items() if not text.startswith("refused: ")}
    assert wrong == {}
    assert {*told} == REFUSED[table], told
    assert len(found) >= TABLES[table]
