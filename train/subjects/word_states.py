"""Words in templates, and their mean vectors over these contexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.files import InputError
from biasbridge.files.models.encoder import Context, Encoder, WordPooling

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def word_as_text(word: str) -> str:
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
        text, split_templates = word_as_text(word), [template.split("{}") for template in templates]
        contexts[word] = [
            Context(before + text + after, len(before), len(before) + len(text))
            for before, after in split_templates
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
        if encoder.knows(word_as_text(word))
    }
    all_contexts = list(chain.from_iterable(known_contexts.values()))
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
