"""Texts, and words in texts, to vectors: the hidden states of a language model or encoder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from files.errors import InputError
from files.models.language_model import UNLIMITED, AnyModel, LanguageModel, by_length, open_model

if TYPE_CHECKING:
    import torch
    from transformers import Encoded

WordPooling = Literal["mean", "first", "last", "cls", "text"]
Pooling = Literal["mean", "words", "cls", "last"]
Singles = NDArray[np.float32]
Encodings = dict[tuple[int, Pooling], dict[str, Singles]]  # by layer and pooling, of each text
TOKENS = 4096  # of a batch, padding included
MODEL = "model"  # the folder of a model within that of its step
ENCODING = "encoding.json"


class Context(NamedTuple):
    """A text and the characters in it, ``text[start:end]``, that are the word."""

    text: str
    start: int
    end: int


class Encoder:
    """A model asked for hidden states.

    layer: of the hidden states, 0 the embeddings, -1 the last. pooling: what becomes one vector of
    a text: ``mean`` of all tokens, special ones included; ``words``, the mean of all but these;
    ``cls``, the first token; ``last``, the last one. Raises ``InputError`` for a layer that the
    model has not, and for another pooling.
    """

    def __init__(
        self,
        model: AnyModel,
        revision: str | None = None,
        *,
        layer: int = -1,
        pooling: Pooling = "mean",
        device: str = "cpu",
    ) -> None:
        self.opened: LanguageModel = open_model(model, revision, device=device)
        if pooling not in get_args(Pooling):
            raise InputError(f"pooling={pooling!r}: give one of {', '.join(get_args(Pooling))}")
        self.layer, self.pooling = self._checked(layer), pooling
        self._base = self.opened.base
        self.encodings: Encodings = {}  # of every text encoded so far

    @property
    def name(self) -> str:
        """The model's."""
        return self.opened.name

    @property
    def layers(self) -> int:
        """The number of layers; the hidden states have one more, the embeddings."""
        return int(self.opened.base.config.num_hidden_layers)

    @property
    def special_tokens(self) -> int:
        """How many tokens the tokenizer adds to a text."""
        return int(self.opened.tokenizer.num_special_tokens_to_add())

    @property
    def mask(self) -> str:
        """The token that stands for a word left open. ``InputError`` where there is none."""
        return self.opened.mask

    def knows(self, text: str) -> bool:
        """Whether a text has tokens, none of them the unknown one."""
        return self.opened.knows(text)

    def encode(
        self, texts: Sequence[str], *, layer: int | None = None, pooling: Pooling | None = None
    ) -> Singles:
        """One vector a text, shape (texts, dim), by the encoder's own layer and pooling where none
        is given; not of unit length. Equal texts are encoded once in the life of the encoder. A
        longer text than the model takes is cut.
        """
        chosen = self._checked(self.layer if layer is None else layer) % (self.layers + 1)
        how = chosen, pooling or self.pooling
        known = self.encodings.setdefault(how, {})
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(new, self._encode(new, *how), strict=True))
        found = [known[text] for text in texts]
        return np.stack(found) if found else self._encode([], *how)

    def recall(self, encodings: Encodings) -> None:
        """Take what the same model encoded without its eraser, which is applied to it: an affine
        map of states is that of their mean. Layers after the eraser's are left to be encoded.
        """
        eraser = self.opened.eraser
        erased = eraser.layer % (self.layers + 1) if eraser else self.layers + 1
        for (layer, pooling), known in encodings.items():
            if layer > erased or not known:
                continue
            rows = np.stack(list(known.values()))
            rows = eraser.apply(rows) if eraser and layer == erased else rows
            self.encodings[layer, pooling] = dict(zip(known, rows, strict=True))

    def _encode(self, texts: Sequence[str], layer: int, pooling: Pooling) -> Singles:
        import torch

        found: Singles = np.zeros((len(texts), self.opened.base.config.hidden_size), "f4")
        if not texts:
            return found
        encoded = self._tokenise(texts, return_special_tokens_mask=True)
        rows, special = encoded["input_ids"], encoded["special_tokens_mask"]
        for places in by_length([len(row) for row in rows], TOKENS):
            states = self._states([rows[place] for place in places], layer)
            for state, place in zip(states, places, strict=True):
                own = torch.tensor(_pooled(pooling, special[place]), device=state.device)
                found[place] = state[own].mean(dim=0).float().cpu().numpy()
        return found

    def vectors(
        self,
        contexts: Sequence[Context],
        *,
        layer: int = -1,
        pooling: WordPooling = "mean",
        batch_size: int = 32,
    ) -> Singles:
        """The vector of the word in each context.

        pooling: ``mean`` of the word's tokens, its ``first`` or ``last`` one; of the whole text
        ``cls``, its first token, a special one where the tokenizer adds it, or ``text``, the mean
        of all, special ones included. Texts are padded and masked, so that their neighbours in a
        batch do not matter. Shape (contexts, dim); NaN where the word ends beyond the longest text
        the model takes. Raises ``InputError`` for a layer that the model has not.
        """
        layer = self._checked(layer)
        found: Singles = np.full((len(contexts), self._base.config.hidden_size), np.nan, "f4")
        # Texts of one length together waste least on padding
        order = sorted(range(len(contexts)), key=lambda place: len(contexts[place].text))
        for begin in range(0, len(order), batch_size):
            places = order[begin : begin + batch_size]
            rows = [contexts[place] for place in places]
            found[places] = self._batch(rows, layer, pooling)
        return found

    def _batch(self, contexts: list[Context], layer: int, pooling: WordPooling) -> Singles:
        import torch

        texts = [each.text for each in contexts]
        encoded = self._tokenise(texts, return_offsets_mapping=True)
        states = self._states(encoded["input_ids"], layer)
        chosen = map(_chosen, contexts, encoded["offset_mapping"], repeat(pooling))
        means = [
            state[tokens].mean(dim=0) if tokens else torch.full_like(state[0], torch.nan)
            for state, tokens in zip(states, chosen, strict=True)
        ]
        return np.asarray(torch.stack(means).float().cpu().numpy())

    def _tokenise(self, texts: Sequence[str], **options: bool) -> Encoded:
        longest = self.opened.longest
        limited = longest < UNLIMITED
        return self.opened.tokenizer(
            list(texts), truncation=limited, max_length=longest if limited else None, **options
        )

    def _states(self, rows: Sequence[Sequence[int]], layer: int) -> torch.Tensor:
        """Hidden states of padded rows, (rows, tokens, dim)."""
        import torch

        ids, real = self.opened.pad(rows)
        with torch.inference_mode():
            return self._base(
                input_ids=ids, attention_mask=real, output_hidden_states=True
            ).hidden_states[layer]

    def _checked(self, layer: int) -> int:
        states = self.layers + 1
        if not -states <= layer < states:
            allowed = f"give 0 (embeddings) to {self.layers}, or -1 (the last) to {-states}"
            raise InputError(f"layer={layer}: {self.name} has {self.layers} layers; {allowed}")
        return layer


def open_encoder(folder: Path) -> Encoder:
    """The encoder of a step: a model, which layer, and how the vectors of tokens become one."""
    chosen = json.loads((folder / ENCODING).read_text(encoding="utf-8"))
    return Encoder(folder / MODEL, layer=chosen["layer"], pooling=chosen["pooling"])


def _pooled(pooling: Pooling, special: Sequence[int]) -> list[int]:
    """The places of the tokens whose states are averaged."""
    every = list(range(len(special)))
    if pooling == "words":
        return [place for place in every if not special[place]] or every
    return {"mean": every, "cls": every[:1], "last": every[-1:]}[pooling]


def _chosen(
    context: Context, offsets: Sequence[tuple[int, int]], pooling: WordPooling
) -> list[int]:
    """The places of the tokens whose states are averaged."""
    inside = [
        place
        for place, (start, end) in enumerate(offsets)
        if max(start, context.start) < min(end, context.end)
    ]
    cut = max((end for _, end in offsets), default=0) < context.end
    if cut or not inside:
        return []
    if pooling == "mean":
        return inside
    if pooling in ("first", "last"):
        return [inside[0 if pooling == "first" else -1]]
    return [0] if pooling == "cls" else list(range(len(offsets)))
