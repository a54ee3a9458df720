"""Encoder of texts, and of words in texts, by the hidden states of a language model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, cast, get_args

import numpy as np

from biasbridge.files.errors import InputError
from biasbridge.files.models.language_model import (
    UNLIMITED,
    AnyModel,
    LanguageModel,
    open_model,
    read_part,
)
from biasbridge.files.models.sentence_modules import read_modules
from biasbridge.stats.arrays import Singles

if TYPE_CHECKING:
    import torch
    from gensim.models import KeyedVectors
    from numpy.typing import NDArray
    from transformers import Encoded

WordPooling = Literal["mean", "first", "last", "cls", "text"]
Pooling = Literal["mean", "words", "cls", "last", "modules"]
Encodings = dict[tuple[int, Pooling], dict[str, Singles]]  # by layer and pooling, then by text
_TOKENS = 4096  # per batch, padding included
_CONTEXTS = 32  # per batch, of words in contexts
MODEL = "model"  # folder of the model in that of its step
ENCODING = "encoding.json"


class Context(NamedTuple):
    """A text and the position of the word in it, ``text[start:end]``."""

    text: str
    start: int
    end: int


class Encoder:
    """An encoder of texts by the hidden states of a model.

    layer: of the hidden states, 0 the embeddings, -1 the last. pooling: the vector of a text:
    ``mean`` of all tokens, special ones included; ``words``, the mean without these; ``cls``, the
    first token; ``last``, the last one; ``modules``, what a folder of sentence-transformers asks
    for in its ``modules.json``, its default, else ``mean``. Raises ``InputError`` for a missing
    layer or another pooling.
    """

    def __init__(
        self,
        model: AnyModel,
        *,
        layer: int = -1,
        pooling: Pooling | None = None,
        device: str = "cpu",
    ) -> None:
        self.opened: LanguageModel = open_model(model, device=device)
        if pooling not in (None, *get_args(Pooling)):
            raise InputError(f"pooling={pooling!r}: give one of {', '.join(get_args(Pooling))}")
        place, is_asked = self.opened.place, pooling in (None, "modules")
        self.modules = read_modules(place, read_part) if place and is_asked else None
        if pooling == "modules" and not self.modules:
            raise InputError(f"{self.name} has no modules.json; give another pooling")
        self.layer = self._checked(layer)
        self.pooling: Pooling = pooling or ("modules" if self.modules else "mean")
        self._longest = min(
            self.opened.longest, (self.modules and self.modules.longest) or UNLIMITED
        )
        self._base = self.opened.base
        self.encodings: Encodings = {}  # of all texts encoded so far

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.opened.name

    @property
    def layers(self) -> int:
        """Number of layers; the hidden states have one more, the embeddings."""
        return int(self.opened.base.config.num_hidden_layers)

    @property
    def special_tokens(self) -> int:
        """Number of tokens that the tokenizer adds to a text."""
        return int(self.opened.tokenizer.num_special_tokens_to_add())

    @property
    def mask(self) -> str:
        """The mask token. Raises ``InputError`` if there is none."""
        return self.opened.mask

    def knows(self, text: str) -> bool:
        """Test whether a text has tokens, none of them the unknown token."""
        return self.opened.knows(text)

    def fits(self, text: str) -> bool:
        """Test whether the model reads a text to its end."""
        text = self.modules.text(text) if self.modules else text
        return self.opened.pieces(text) + self.special_tokens <= self._longest

    def encode(
        self, texts: Sequence[str], *, layer: int | None = None, pooling: Pooling | None = None
    ) -> Singles:
        """Compute one vector per text, shape (n_texts, dim), not of unit length.

        Layer and pooling default to those of the encoder. Equal texts are encoded once in the life
        of the encoder. A text longer than the model allows is truncated.
        """
        positive_layer = self._checked(self.layer if layer is None else layer) % (self.layers + 1)
        key = positive_layer, pooling or self.pooling
        cache = self.encodings.setdefault(key, {})
        new = [text for text in dict.fromkeys(texts) if text not in cache]
        cache.update(zip(new, self._encode(new, *key), strict=True))
        vectors = [cache[text] for text in texts]
        return np.stack(vectors) if vectors else self._encode([], *key)

    def recall(self, encodings: Encodings) -> None:
        """Take over encodings of the same model without its eraser, and apply the eraser to them:
        affine maps commute with means. Layers after the eraser's are skipped.
        """
        eraser = self.opened.eraser
        erased_layer = eraser.layer % (self.layers + 1) if eraser else self.layers + 1
        for (layer, pooling), by_text in encodings.items():
            if layer > erased_layer or not by_text or pooling == "modules":
                continue
            rows = np.stack(list(by_text.values()))
            rows = eraser.apply(rows) if eraser and layer == erased_layer else rows
            self.encodings[layer, pooling] = dict(zip(by_text, rows, strict=True))

    def _encode(self, texts: Sequence[str], layer: int, pooling: Pooling) -> Singles:
        import torch

        if not texts:
            return self._encode(["a"], layer, pooling)[:0]  # some project their last states
        modules = self.modules if pooling == "modules" else None
        if modules and layer < self.layers:
            raise InputError(f"layer={layer}: modules.json is for the last one; give pooling=mean")
        vectors: dict[int, Singles] = {}
        texts = [modules.text(text) for text in texts] if modules else texts
        encoded = self._tokenise(texts, return_special_tokens_mask=True)
        rows, special = encoded["input_ids"], encoded["special_tokens_mask"]
        for batch in self.opened.batches([len(row) for row in rows], _TOKENS):
            states = self._states([rows[i] for i in batch], layer)
            for state, i in zip(states, batch, strict=True):
                if modules:
                    states_of_text = state[: len(rows[i])].float()
                    vector = reduce(lambda x, step: step(x), modules.steps, states_of_text)
                else:
                    pooled = torch.tensor(_pooled(pooling, special[i]), device=state.device)
                    vector = state[pooled].mean(dim=0)
                vectors[i] = vector.float().cpu().numpy()
        return np.stack([vectors[i] for i in range(len(texts))])

    def vectors(
        self,
        contexts: Sequence[Context],
        *,
        layer: int = -1,
        pooling: WordPooling = "mean",
        batch_size: int | None = None,
    ) -> Singles:
        """Compute the vector of the word in each context, shape (n_contexts, dim).

        pooling: ``mean`` of the word's tokens, its ``first`` or ``last`` one; of the whole text
        ``cls``, its first token (a special one if the tokenizer adds it), or ``text``, the mean of
        all tokens, special ones included. Texts are padded and masked, so that vectors do not
        depend on the batch. NaN: the word ends after the longest text the model allows. Raises
        ``InputError`` for a missing layer.
        """
        layer = self._checked(layer)
        vectors: Singles = np.full((len(contexts), self._base.config.hidden_size), np.nan, "f4")
        # Batches of texts of similar length need least padding
        order = sorted(range(len(contexts)), key=lambda i: len(contexts[i].text))
        size = batch_size or self.opened.batch_size or _CONTEXTS
        size = size if self.opened.trial.takes_padding else 1
        for begin in range(0, len(order), size):
            batch = order[begin : begin + size]
            vectors[batch] = self._batch([contexts[i] for i in batch], layer, pooling)
        return vectors

    def _batch(self, contexts: list[Context], layer: int, pooling: WordPooling) -> Singles:
        import torch

        texts = [context.text for context in contexts]
        encoded = self._tokenise(texts, return_offsets_mapping=True)
        states = self._states(encoded["input_ids"], layer)
        positions = map(_word_tokens, contexts, encoded["offset_mapping"], repeat(pooling))
        means = [
            state[tokens].mean(dim=0) if tokens else torch.full_like(state[0], torch.nan)
            for state, tokens in zip(states, positions, strict=True)
        ]
        return np.asarray(torch.stack(means).float().cpu().numpy())

    def _tokenise(self, texts: Sequence[str], **options: bool) -> Encoded:
        longest = self._longest
        is_limited = longest < UNLIMITED
        return self.opened.tokenizer(
            list(texts),
            truncation=is_limited,
            max_length=longest if is_limited else None,
            **options,
        )

    def _states(self, rows: Sequence[Sequence[int]], layer: int) -> torch.Tensor:
        """Compute the hidden states of padded rows, (rows, tokens, dim)."""
        import torch

        ids, attention_mask = self.opened.pad(rows)
        with torch.inference_mode():
            out = self._base(
                input_ids=ids, attention_mask=attention_mask, output_hidden_states=True
            )
        from biasbridge.files.eraser_hook import states_of  # loads safetensors

        return cast("torch.Tensor", states_of(out, layer, self.layers))

    def _checked(self, layer: int) -> int:
        states = self.layers + 1
        if not -states <= layer < states:
            allowed = f"give 0 (embeddings) to {self.layers}, or -1 (the last) to {-states}"
            raise InputError(f"layer={layer}: {self.name} has {self.layers} layers; {allowed}")
        return layer


def open_encoder(folder: Path, device: str = "cpu") -> Encoder:
    """Open the encoder in the folder of a step: a model, a layer and a pooling."""
    options = json.loads((folder / ENCODING).read_text(encoding="utf-8"))
    return Encoder(folder / MODEL, **options, device=device)


class Encodes(Protocol):
    """An encoder of texts, such as ``Encoder``."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Compute one vector per text, (n_texts, dim), not of unit length."""

    def knows(self, text: str) -> bool:
        """Test whether a text has tokens, none of them the unknown token."""


def _pooled(pooling: Pooling, special: Sequence[int]) -> list[int]:
    tokens = list(range(len(special)))
    if pooling == "words":
        return [i for i in tokens if not special[i]] or tokens
    return {"mean": tokens, "cls": tokens[:1], "last": tokens[-1:]}[pooling]


def _word_tokens(
    context: Context, offsets: Sequence[tuple[int, int]], pooling: WordPooling
) -> list[int]:
    word_tokens = [
        i
        for i, (start, end) in enumerate(offsets)
        if max(start, context.start) < min(end, context.end)
    ]
    is_truncated = max((end for _, end in offsets), default=0) < context.end
    if is_truncated or not word_tokens:
        return []
    if pooling == "mean":
        return word_tokens
    if pooling in ("first", "last"):
        return [word_tokens[0 if pooling == "first" else -1]]
    return [0] if pooling == "cls" else list(range(len(offsets)))


def _word_as_text(word: str) -> str:
    """Return the word as written in text: underscores of ``registered_nurse`` become spaces."""
    return word.replace("_", " ").strip() or word


def template_contexts(words: Sequence[str], templates: Sequence[str]) -> dict[str, list[Context]]:
    """Return each word in every template, at ``{}``; the template ``{}`` is the word alone.

    Raises ``InputError`` for a template that does not contain ``{}`` exactly once.
    """
    for template in templates:
        if template.count("{}") != 1:
            example = "such as 'This is {}.'"
            raise InputError(f"template {template!r}: give one with {{}} once, {example}")
    contexts: dict[str, list[Context]] = {}
    for word in words:
        text = _word_as_text(word)
        contexts[word] = [
            Context(before + text + after, len(before), len(before) + len(text))
            for before, after in (template.split("{}") for template in templates)
        ]
    return contexts


def word_vectors(
    encoder: Encoder,
    contexts: Mapping[str, Sequence[Context]],
    *,
    layer: int = -1,
    pooling: WordPooling = "mean",
    batch_size: int = 32,
) -> KeyedVectors:
    """Return each word's mean vector over its contexts (see ``Encoder.vectors``).

    Words with parts unknown to the tokenizer, and words beyond the model's maximum length in all
    contexts, are left out. Raises ``InputError`` if no word remains, and as ``Encoder.vectors``
    does.
    """
    from biasbridge.files.vectors import keyed

    known_contexts = {
        word: word_contexts
        for word, word_contexts in contexts.items()
        if encoder.knows(_word_as_text(word))
    }
    all_contexts = [*chain.from_iterable(known_contexts.values())]
    if not all_contexts:
        raise InputError(
            "no word has tokens that the model knows; choose other"
            " words, another corpus or another model"
        )
    states = encoder.vectors(all_contexts, layer=layer, pooling=pooling, batch_size=batch_size)
    ends = np.cumsum([len(word_contexts) for word_contexts in known_contexts.values()])[:-1]
    means = {}
    for word, rows in zip(known_contexts, np.split(states, ends), strict=True):
        inside = rows[np.isfinite(rows).all(axis=1)]
        if len(inside):
            means[word] = inside.mean(axis=0, dtype=np.float64).astype(np.float32)
    if not means:
        raise InputError(
            "every word lies beyond the maximum length of the model; shorten the texts"
        )
    return keyed(list(means), np.array(list(means.values())))
