"""Tiny random models of several architectures, with tokenizers trained on a few sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import transformers
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

if TYPE_CHECKING:
    from biasbridge.files.models.language_model import LanguageModel

LINES = (
    "the doctor said that he would come back to the hospital with the engineer",
    "the nurse said that she would stay at home with the family of the teacher",
    "a woman and a man were walking to the office and the market",
)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
BYTE_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
SMALL = {"vocab_size": 400, "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 3}
SMALL |= {"intermediate_size": 24, "max_position_embeddings": 48}
GPT = {"vocab_size": 400, "n_embd": 16, "n_head": 2, "n_layer": 3, "n_positions": 48}
T5 = {"vocab_size": 400, "d_model": 16, "d_kv": 8, "d_ff": 24, "num_heads": 2, "num_layers": 3}


def word_pieces() -> transformers.PreTrainedTokenizerFast:
    """BERT's kind: lower case, [CLS] and [SEP] around the text."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    letters = "abcdefghijklmnopqrstuvwxy"  # no z: an unknown letter
    made.train_from_iterator(
        [*LINES, f"{letters} {letters[::-1]}"],
        trainers.WordPieceTrainer(
            vocab_size=150, special_tokens=SPECIAL, initial_alphabet=list(letters)
        ),
    )
    ends = [(each, made.token_to_id(each)) for each in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    return _wrapped(made, names)


def byte_pieces(*, masked: bool) -> transformers.PreTrainedTokenizerFast:
    """RoBERTa's kind, <s> and </s> around the text; or GPT-2's: no special token but the last."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = BYTE_SPECIAL if masked else ["</s>"]
    made.train_from_iterator(
        LINES,
        trainers.BpeTrainer(
            vocab_size=330,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    if not masked:
        made.post_processor = processors.ByteLevel(trim_offsets=True)
        return _wrapped(made, {"eos": "</s>"})
    end, begin = ((token, BYTE_SPECIAL.index(token)) for token in ("</s>", "<s>"))
    made.post_processor = processors.RobertaProcessing(end, begin, add_prefix_space=False)
    names = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}
    return _wrapped(made, names)


def marked_pieces() -> transformers.PreTrainedTokenizerFast:
    """Llama's kind: spaces as marks, <s> before the text, no padding token."""
    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    special = ["<unk>", "<s>", "</s>"]
    made.train_from_iterator(LINES, trainers.BpeTrainer(vocab_size=120, special_tokens=special))
    begin = [("<s>", made.token_to_id("<s>"))]
    made.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=begin)
    return _wrapped(made, {"unk": "<unk>", "bos": "<s>", "eos": "</s>"})


def _wrapped(made: Tokenizer, names: dict[str, str]) -> transformers.PreTrainedTokenizerFast:
    tokens = {f"{name}_token": token for name, token in names.items()}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **tokens)


def _bytes() -> transformers.PreTrainedTokenizerFast:
    return byte_pieces(masked=True)


def _plain_bytes() -> transformers.PreTrainedTokenizerFast:
    return byte_pieces(masked=False)


Settings = dict[str, int]
ARCHITECTURES: dict[str, tuple[Settings, Callable[[], transformers.PreTrainedTokenizerFast]]] = {
    "bert": (SMALL, word_pieces),
    "distilbert": (
        {**SMALL, "dim": 16, "n_heads": 2, "n_layers": 3, "hidden_dim": 24},
        word_pieces,
    ),
    "albert": (SMALL | {"embedding_size": 8}, word_pieces),
    "electra": (SMALL | {"embedding_size": 8}, word_pieces),
    "roberta": (SMALL | {"pad_token_id": 1}, _bytes),
    "bart": (
        T5 | {"encoder_layers": 3, "decoder_layers": 1, "max_position_embeddings": 48},
        _bytes,
    ),
    "t5": (T5, marked_pieces),
    "gpt2": (GPT, _plain_bytes),
    "llama": (SMALL, marked_pieces),
    "qwen2": (SMALL | {"num_key_value_heads": 2}, _plain_bytes),
}


HEADS = {
    "": transformers.AutoModel,
    "masked": transformers.AutoModelForMaskedLM,
    "causal": transformers.AutoModelForCausalLM,
    "classes": transformers.AutoModelForSequenceClassification,
}


def save_model(
    folder: Path, architecture: str, *, seed: int = 0, head: str = "", scale: float = 1, **more: Any
) -> Path:
    """A folder with a random model of the architecture and its tokenizer; ``head``: what predicts
    tokens, if anything does; ``scale``: of its weights, as likelihoods differ little in small ones.
    """
    settings, tokenizer = ARCHITECTURES[architecture]
    settings = settings | more
    torch.manual_seed(seed)
    if architecture == "bart":
        heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
        settings = settings | heads | {"encoder_ffn_dim": 24, "decoder_ffn_dim": 24}
    config = transformers.AutoConfig.for_model(architecture, **settings)
    model = HEADS[head].from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(scale)
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def literal_logs(model: LanguageModel, prompt: str, option: str) -> list[float]:
    """log p of the tokens that the option adds to the prompt, one forward pass each."""
    tokenizer, network = model.tokenizer, model.model
    n_before = len(tokenizer(prompt, add_special_tokens=False)["input_ids"])
    whole = tokenizer(f"{prompt} {option}", return_special_tokens_mask=True)
    ids, special = whole["input_ids"], whole["special_tokens_mask"]
    places = [place for place, is_special in enumerate(special) if not is_special][n_before:]
    logs = []
    for place in places:
        shown: Any = list(ids)
        if model.kind == "masked":
            shown[place] = tokenizer.mask_token_id
        with torch.no_grad():
            logits: Any = network(input_ids=torch.tensor([shown])).logits[0]
        row = logits[place if model.kind == "masked" else place - 1]
        logs.append(row.log_softmax(dim=-1)[ids[place]].item())
    return logs
