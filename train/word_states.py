"""Words in templates and in corpus sentences, and their mean vectors over these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from files import InputError
from files.models.encoder import Context, Encoder, WordPooling

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def as_text(word: str) -> str:
    """A word as it stands in a text: the underscores of ``registered_nurse`` are spaces."""
    return word.replace("_", " ").strip() or word


def in_templates(words: Sequence[str], templates: Sequence[str]) -> dict[str, list[Context]]:
    """Every word in every template, in the place of ``{}``; the template ``{}`` is the word alone.

    Raises ``InputError`` for a template that does not hold ``{}`` once.
    """
    for template in templates:
        if template.count("{}") != 1:
            example = "such as 'This is {}.'"
            raise InputError(f"template {template!r}: give one with {{}} once, {example}")
    found: dict[str, list[Context]] = {}
    for word in words:
        text, cut = as_text(word), [template.split("{}") for template in templates]
        found[word] = [
            Context(before + text + after, len(before), len(before) + len(text))
            for before, after in cut
        ]
    return found


def in_lines(
    words: Sequence[str], lines: Iterator[str], sentences: int, *, seed: int
) -> dict[str, list[Context]]:
    """Up to so many lines, drawn at random, in which each word stands between spaces; words that
    stand in none are left out. A word counts once a line, where it stands first.
    """
    rng = np.random.default_rng(seed)
    found: dict[str, list[Context]] = {word: [] for word in words}
    seen = dict.fromkeys(words, 0)
    for line in lines:
        start = 0
        met = set()
        for token in line.split(" "):
            if token in found and token not in met:
                met.add(token)
                seen[token] += 1
                # Reservoir sampling: each line so far is kept with the same chance
                place = len(found[token])
                if place == sentences:
                    place = int(rng.integers(seen[token]))
                if place < sentences:
                    found[token][place : place + 1] = [Context(line, start, start + len(token))]
            start += len(token) + 1
    return {word: contexts for word, contexts in found.items() if contexts}


def word_vectors(
    encoder: Encoder,
    contexts: Mapping[str, Sequence[Context]],
    *,
    layer: int = -1,
    pooling: WordPooling = "mean",
    batch_size: int = 32,
) -> KeyedVectors:
    """Each word's mean vector over its contexts (see ``Encoder.vectors``).

    Left out are words of which the tokenizer knows a part not at all, and those that lie beyond
    the longest text in all of their contexts. Raises ``InputError`` where no word is left, and as
    ``Encoder.vectors`` does.
    """
    from files.vectors import keyed

    known = {word: found for word, found in contexts.items() if encoder.knows(as_text(word))}
    flat = list(chain.from_iterable(known.values()))
    if not flat:
        raise InputError(
            "none of the words stands in a text with tokens that the model knows; choose other"
            " words, another corpus or another model"
        )
    every = encoder.vectors(flat, layer=layer, pooling=pooling, batch_size=batch_size)
    ends = np.cumsum([len(each) for each in known.values()])[:-1]
    means = {}
    for word, rows in zip(known, np.split(every, ends), strict=True):
        inside = rows[np.isfinite(rows).all(axis=1)]
        if len(inside):
            means[word] = inside.mean(axis=0, dtype=np.float64).astype(np.float32)
    if not means:
        raise InputError("every word lies beyond the longest text the model takes; cut the texts")
    return keyed(list(means), np.array(list(means.values())))
