"""Expansion of a query: add the nearest neighbours of each role in some vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasbridge.debias.roles import TARGETS_AND_ATTRIBUTES, words_by_role
from biasbridge.files import InputError
from biasbridge.files.names import normalise_text

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.wordsets import Query, WordSet
    from biasbridge.stats.arrays import Singles

ROWS = 8192  # vocabulary rows compared at a time


def expand(
    query: Query,
    vectors: KeyedVectors,
    *,
    k: int = 100,
    stop: Iterable[str] = (),
    lowercase: bool = False,
) -> Query:
    """Add the ``k`` nearest neighbours of each of X, Y, A and B to ``query``, nearest first.

    A word's nearness to a role is its highest cosine with any seed word of that role. A role
    receives the ``k`` nearest words that are no seed of any role, that are nearest to this role,
    that are words (``is_word``) and that are not in ``stop`` (case is ignored); fewer if the
    vocabulary is short. So every word is added once, as Goldfarb-Tarrant et al. (2021, section 4.1)
    expand to "unique" neighbours after Lauscher et al. (2020); their manual selection is the
    built-in query ``gender_authors``. With any vectors, write the result out (``write_query``),
    read it, and remove what does not belong.

    Case is kept: in cased vectors "She" is a neighbour of "she", and balancing, which compares
    exactly, needs both. ``lowercase``, for a text in lower case, adds only words in lower case.
    Seeds out of vocabulary stay in the query. Time: one pass over the vocabulary; memory: a few
    numbers per word.

    Raises ``InputError`` for k < 1, for a role with no seed in the vectors, and as
    ``words_by_role`` does.
    """
    if k < 1:
        raise InputError(f"k={k}: give a whole number of at least 1")
    roles = [role for role in TARGETS_AND_ATTRIBUTES if role in query.sets]
    seeds = words_by_role(query, roles or TARGETS_AND_ATTRIBUTES)
    nearness = _nearness(seeds, vectors)
    nearest_role = nearness.argmax(axis=1)
    stop_words = {normalise_text(word).casefold() for word in stop}
    all_seeds = {word for words in seeds.values() for word in words}
    sets = dict(query.sets)
    for column, role in enumerate(seeds):
        ranked = _ranked(nearness[:, column], nearest_role == column)
        words = (
            word
            for word in (normalise_text(vectors.index_to_key[row]) for row in ranked)
            if word not in all_seeds
            and word.casefold() not in stop_words
            and is_word(word)
            and not (lowercase and word != word.lower())
        )
        sets[role] = _extended(query[role], k, words)
    return replace(query, name=f"{query.name}_{k}nn", sets=sets)


def _extended(seed: WordSet, k: int, words: Iterable[str]) -> WordSet:
    return replace(
        seed,
        name=f"{seed.name}_{k}nn",
        words=(*seed.words, *islice(words, k)),
        source=f"{seed.source}; expanded to {k} nearest neighbours",
    )


def is_word(token: str) -> bool:
    """Test whether a token is no number, address or mark such as <UNK> or 4th."""
    return (
        token[:1].isalpha()
        and token.split() == [token]
        and token.isprintable()  # no invisible mark inside
        and "://" not in token
        and not any(sign.isdigit() for sign in token)
    )


def _nearness(seeds: Mapping[str, tuple[str, ...]], vectors: KeyedVectors) -> Singles:
    """Compute each word's highest cosine with each role's seeds, (vocabulary, roles); NaN: -1."""
    rows = [
        [vectors.key_to_index[word] for word in words if word in vectors.key_to_index]
        for words in seeds.values()
    ]
    for (role, words), seed_rows in zip(seeds.items(), rows, strict=True):
        if not seed_rows:
            problem = f"none of the words of {role} ({', '.join(words[:8])}) is in the vectors"
            raise InputError(f"{problem}; give words in their language and case")
    role_starts = np.cumsum([0, *map(len, rows[:-1])])
    units = _unit(vectors.vectors[np.concatenate(rows)])
    nearness = np.empty((len(vectors), len(seeds)), dtype=np.float32)
    for start in range(0, len(vectors), ROWS):
        cosines = _unit(vectors.vectors[start : start + ROWS]) @ units.T
        nearness[start : start + ROWS] = np.fmax.reduceat(cosines, role_starts, axis=1)
    return np.nan_to_num(nearness, nan=-1.0)


def _unit(rows: Singles) -> Singles:
    """Scale rows to length 1 in float32; a zero row becomes NaN."""
    rows = np.asarray(rows, dtype=np.float32)
    lengths: Singles = np.linalg.norm(rows, axis=1, keepdims=True)
    units = np.full_like(rows, np.nan)
    np.divide(rows, lengths, out=units, where=lengths > 0)
    return units


def _ranked(nearness: Singles, is_candidate: NDArray[np.bool_]) -> Iterator[int]:
    """Yield the candidate rows, nearest first; ties in vocabulary order."""
    rows = np.flatnonzero(is_candidate)
    yield from rows[np.argsort(-nearness[rows], kind="stable")].tolist()
