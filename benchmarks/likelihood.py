"""Likelihoods of language models: why contexts are batched, common prefixes are shared and the head
is applied to the scored positions only.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from benchmarks.row import Row, Work
from biasbridge.files import choice
from biasbridge.files.choice import Fileless
from biasbridge.files.models.language_model import LanguageModel
from biasbridge.intrinsic.models.items import ItemSet, Pair
from biasbridge.intrinsic.models.pairs import CrowsPairs, PseudoLogLikelihood

SMOL = {"vocab_size": 49152, "hidden_size": 576, "intermediate_size": 1536}
SMOL |= {"num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3}
MINI = {"vocab_size": 30522, "hidden_size": 384, "intermediate_size": 1536}
MINI |= {"num_hidden_layers": 6, "num_attention_heads": 12}
TINY = {"vocab_size": 2000, "hidden_size": 64, "intermediate_size": 256}
TINY |= {"num_hidden_layers": 2, "num_attention_heads": 2}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@choice
class SyntheticPairs(Fileless):
    """Pairs with lengths as in CrowS-Pairs, 6 to 30 words, that differ in one word."""

    number: int
    vocabulary: int

    name: ClassVar[str] = "synthetic_pairs"
    version: ClassVar[int] = 1

    def load(self) -> list[ItemSet]:
        """Return the pairs."""
        rng = np.random.default_rng(0)
        pairs = []
        for _ in range(self.number):
            size = int(np.clip(rng.normal(15.7, 5), 6, 30))
            words = [f"w{n}" for n in rng.integers(5, self.vocabulary, size)]
            i = int(rng.integers(size))
            changed = [*words[:i], f"w{rng.integers(5, self.vocabulary)}", *words[i + 1 :]]
            pairs.append(Pair(" ".join(words), " ".join(changed)))
        return [ItemSet("pairs", "en", pairs=tuple(pairs))]


def word_tokenizer(size: int, *, masked: bool) -> transformers.PreTrainedTokenizerFast:
    """Return a tokenizer with one token per word."""
    vocabulary = {token: n for n, token in enumerate(SPECIAL)}
    vocabulary |= {f"w{n}": n for n in range(len(SPECIAL), size)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if masked:
        ends: Any = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
        tokenizer.post_processor = processors.TemplateProcessing(
            "[CLS] $A [SEP]", special_tokens=ends
        )
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    tokens = {f"{name}_token": token for name, token in names.items()}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **tokens)


def random_model(settings: dict[str, int], *, masked: bool) -> LanguageModel:
    """Return a model with random weights."""
    auto: Any = transformers
    kind = "bert" if masked else "llama"
    config = auto.AutoConfig.for_model(kind, **settings, tie_word_embeddings=True)
    loader = auto.AutoModelForMaskedLM if masked else auto.AutoModelForCausalLM
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = loader.from_config(config, attn_implementation="eager").eval()
    tokenizer = word_tokenizer(settings["vocab_size"], masked=masked)
    return LanguageModel("random", network, tokenizer, "masked" if masked else "causal")


def causal(number: int, folder: Path) -> Work:
    """Time PLL of pairs on a model of SmolLM2's size."""
    torch.set_num_threads(1)
    model = random_model(SMOL, masked=False)
    metric = PseudoLogLikelihood(SyntheticPairs(number, SMOL["vocab_size"]))
    return partial(metric.score, model, seed=0)


def masked(settings: dict[str, int], folder: Path) -> Work:
    """Time CrowS-Pairs of 200 pairs on a masked model."""
    torch.set_num_threads(1)
    metric = CrowsPairs(SyntheticPairs(200, settings["vocab_size"]))
    return partial(metric.score, random_model(settings, masked=True), seed=0)


ROWS = [
    Row("PLL of 1,508 pairs, 135 M parameters, one core", partial(causal, 1508), 180, 1500),
    Row("PLL of 100 pairs, the same model", partial(causal, 100), 15, 1500),
    Row("CrowS-Pairs, 200 pairs, 6 layers 384 d", partial(masked, MINI), 48, 500),
    Row("CrowS-Pairs, 200 pairs, 2 layers 64 d", partial(masked, TINY), 3, 500),
]
