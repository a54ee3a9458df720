"""Models whose logits, and encoders whose vectors, are tables: their scores are known by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import torch
import transformers
from numpy.typing import ArrayLike
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from biasbridge.files import choice
from biasbridge.files.choice import Fileless
from biasbridge.files.models.language_model import LanguageModel
from biasbridge.intrinsic.models.items import Item, ItemSet

if TYPE_CHECKING:
    from biasbridge.files.models.encoder import Context
    from biasbridge.stats.arrays import Floats


SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
Table = Mapping[tuple[str, ...], Mapping[str, float]]


def words(known: Sequence[str], *, masked: bool = True) -> transformers.PreTrainedTokenizerFast:
    """A word a token; a masked model's puts [CLS] and [SEP] around the text."""
    vocabulary = {token: number for number, token in enumerate([*SPECIAL, *known])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if masked:
        ends = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
        tokenizer.post_processor = processors.TemplateProcessing(
            "[CLS] $A [SEP]", special_tokens=ends
        )
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    tokens = {f"{name}_token": token for name, token in names.items()}
    tokens["bos_token"] = "[CLS]"
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **tokens)


class TableModel(torch.nn.Module):
    """The probabilities of words in a context; what is left is spread over all other tokens.

    table: by the words of a text, special tokens left out. In the place that is asked about stands
    ``_`` where it is masked, ``<word>`` where it is not; of a causal model the words before.
    """

    def __init__(self, table: Table, tokenizer: Any, *, causal: bool) -> None:
        super().__init__()
        self.table, self.tokenizer, self.causal = table, tokenizer, causal
        self.config = SimpleNamespace(
            vocab_size=len(tokenizer), pad_token_id=0, model_type="table", is_encoder_decoder=False
        )
        self.dtype, self.seen = torch.float32, 0

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
        logits = torch.zeros(*input_ids.shape, self.config.vocab_size)
        for row, (ids, real) in enumerate(zip(input_ids.tolist(), attention_mask, strict=True)):
            self.seen += 1
            text = self.tokenizer.convert_ids_to_tokens(ids[: int(real.sum())])
            for place in range(len(text)):
                logits[row, place] = self._logs(text, place)
        return SimpleNamespace(logits=logits)

    def _logs(self, text: list[str], place: int) -> torch.Tensor:
        if self.causal:
            context = tuple(token for token in text[: place + 1] if token != "[CLS]")
        else:
            shown = "_" if text[place] == "[MASK]" else f"<{text[place]}>"
            blanked = [*text[:place], shown, *text[place + 1 :]]
            context = tuple(token for token in blanked if token not in ("[CLS]", "[SEP]"))
        given = self.table.get(context, {})
        size = self.config.vocab_size
        rest = (1 - sum(given.values())) / (size - len(given))
        p = torch.full((size,), rest, dtype=torch.float64)
        for word, share in given.items():
            p[self.tokenizer.convert_tokens_to_ids(word)] = share
        return p.log().float()


def table_model(
    vocabulary_words: Sequence[str], table: Table, *, causal: bool = False
) -> LanguageModel:
    """The table as a language model."""
    tokenizer = words(vocabulary_words, masked=not causal)
    model: Any = TableModel(table, tokenizer, causal=causal)
    return LanguageModel("table", model, tokenizer, "causal" if causal else "masked")


@choice
class Given(Fileless):
    """Items made in a test."""

    sets: tuple[str, ...] = ()

    name: ClassVar[str] = "given"
    version: ClassVar[int] = 1
    known: ClassVar[dict[str, ItemSet]] = {}

    def load(self) -> list[ItemSet]:
        return [self.known[name] for name in self.sets]


def given(*sets: ItemSet) -> Given:
    """A source of these sets."""
    renamed = [
        dataclasses.replace(items, name=f"{items.name}{len(Given.known) + n}")
        for n, items in enumerate(sets)
    ]
    Given.known.update({items.name: items for items in renamed})
    return Given(tuple(items.name for items in renamed))


# Encoders that are tables: of each text the vector that a test gives it.


class Opened(NamedTuple):
    dtype: str = "float32"

    def pieces(self, text: str) -> int:
        return 1 + text.count("-")


class EncoderTable:
    """What ``Encoder`` gives, by text: SEAT the vector of a sentence, CEAT that of a word in it."""

    layer, layers, pooling, special_tokens, opened = -1, 2, "mean", 2, Opened()

    def __init__(self, vectors: Mapping[str, ArrayLike]) -> None:
        self.of = {text: np.asarray(vector, dtype=float) for text, vector in vectors.items()}

    def knows(self, text: str) -> bool:
        return text in self.of

    def fits(self, text: str) -> bool:
        return True

    def encode(self, texts: Sequence[str], **_: object) -> Floats:
        return np.stack([self.of[text] for text in texts])

    def vectors(self, contexts: Sequence[Context], **_: object) -> Floats:
        return np.stack([self.of[context.text] for context in contexts])


@choice
class GivenVectors(Fileless):
    """Items as they are."""

    sets: tuple[ItemSet, ...]
    name = "given"
    version = 1

    def load(self) -> list[ItemSet]:
        return [*self.sets]


def given_vectors(rows: Sequence[tuple[str, str, str, str]]) -> GivenVectors:
    """A set of sentences: (text, group, term, template)."""
    return GivenVectors(
        (ItemSet("own", "en", items=tuple(Item(*row, fills=False) for row in rows)),)
    )


def random_set(
    rng: np.random.Generator, words: int = 4, contexts: int = 3, dim: int = 5
) -> tuple[GivenVectors, EncoderTable]:
    """Words of X, Y, A and B in some contexts each, with vectors of which words share a part."""
    rows, vectors = [], {}
    for group in "XYAB":
        for word in range(words):
            own = rng.normal(size=dim)
            for context in range(contexts):
                text = f"{group}{word} {context}"
                rows.append((text, group, f"{group}{word}", str(context)))
                vectors[text] = own + rng.normal(size=dim)
    return given_vectors(rows), EncoderTable(vectors)
