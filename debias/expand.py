"""Lexicon expansion: add to each side the words nearest to it in some vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from debias.checks import check_whole
from debias.lexicon import SIDES, Lexicon
from files import InputError

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

ROWS = 8192  # vocabulary rows compared at a time


def expand(
    lexicon: Lexicon, vectors: KeyedVectors, *, k: int = 100, stop: Iterable[str] = ()
) -> Lexicon:
    """``lexicon`` with the ``k`` nearest neighbours of each side added, nearest first.

    A word's nearness to a side is its highest cosine with any seed word of that side. A side
    receives the ``k`` nearest words that are no seed of any side, that no other side is nearer to,
    that are words (``is_word``) and that are not in ``stop`` (compared without regard to case);
    fewer if the vocabulary is short. So every word is added once, as Goldfarb-Tarrant et al. (2021,
    section 4.1) expand to "unique" neighbours after Lauscher et al. (2020); which nearness they
    used and what they removed by hand is not published, so write the result out
    (``write_lexicon``), read it, and remove what does not belong.

    Case is kept: in cased vectors "She" is a neighbour of "she", and balancing, which compares
    exactly, needs both. Seeds missing from the vectors stay in the lexicon. The time is one pass
    over the vocabulary and the memory a few numbers a word.

    Raises ``InputError`` for k < 1 and for a side with no seed in the vectors.
    """
    check_whole("k", k, 1)
    nearness = _nearness(lexicon, vectors)
    nearest_side = nearness.argmax(axis=1)
    left_out = {word.casefold() for word in stop}
    seeds = {word for _, words in lexicon.sides() for word in words}
    added = {}
    for column, side in enumerate(SIDES):
        ranked = _ranked(nearness[:, column], nearest_side == column)
        candidates = (vectors.index_to_key[row] for row in ranked)
        words = (
            word
            for word in candidates
            if word not in seeds and word.casefold() not in left_out and is_word(word)
        )
        added[side] = getattr(lexicon, side) + tuple(
            word for word, _ in zip(words, range(k), strict=False)
        )
    return replace(
        lexicon,
        name=f"{lexicon.name}_{k}nn",
        source=f"{lexicon.source}; expanded to {k} nearest neighbours a side",
        **added,
    )


def is_word(token: str) -> bool:
    """Whether ``token`` starts with a letter and is no number, address or placeholder such as
    <UNK>, @user, #tag or 4th.
    """
    return (
        token[:1].isalpha()
        and token.split() == [token]
        and "://" not in token
        and not any(sign.isdigit() for sign in token)
    )


def _nearness(lexicon: Lexicon, vectors: KeyedVectors) -> np.ndarray:
    """The highest cosine of every word with the seeds of every side, shape (vocabulary, 4); -1 for
    a zero or broken row.
    """
    rows = [
        [vectors.key_to_index[word] for word in words if word in vectors.key_to_index]
        for _, words in lexicon.sides()
    ]
    for (side, words), found in zip(lexicon.sides(), rows, strict=True):
        if not found:
            raise InputError(
                f"none of the words of {side} ({', '.join(words[:8])}) is in the vectors; is their"
                " language or case another?"
            )
    first_of_side = np.cumsum([0, *map(len, rows[:-1])])
    seeds = _unit(vectors.vectors[np.concatenate(rows)])
    nearness = np.empty((len(vectors), len(SIDES)), dtype=np.float32)
    for start in range(0, len(vectors), ROWS):
        cosines = _unit(vectors.vectors[start : start + ROWS]) @ seeds.T
        nearness[start : start + ROWS] = np.maximum.reduceat(cosines, first_of_side, axis=1)
    return np.nan_to_num(nearness, nan=-1.0)


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows scaled to length 1 in float32; a zero row becomes NaN."""
    rows = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, np.nan)


def _ranked(nearness: np.ndarray, claimed: np.ndarray) -> Iterator[int]:
    """The claimed rows, nearest first; equals in vocabulary order."""
    rows = np.flatnonzero(claimed)
    yield from rows[np.argsort(-nearness[rows], kind="stable")].tolist()
