"""Word pairs to attract and to repel, from files or from a query."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasbridge.debias.roles import words_by_role
from biasbridge.files import InputError, read_lines
from biasbridge.files.names import known_form, normalise_text

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.debias.base import Pair
    from biasbridge.intrinsic.wordsets import Query


class UsablePairs(NamedTuple):
    """The usable pairs and the words out of vocabulary, sorted."""

    attract: list[Pair]
    repel: list[Pair]
    missing: list[str]


def read_pairs(path: str | Path) -> list[Pair]:
    """Read pairs from a file: two words a line, separated by white space; blank lines are skipped.

    Raises ``InputError`` for a line with another number of words.
    """
    pairs = []
    for number, line in enumerate(read_lines(path), 1):
        words = normalise_text(line).split()
        if len(words) == 2:
            pairs.append((words[0], words[1]))
        elif words:
            problem = f"line {number} holds {len(words)} words ({line.strip()[:60]!r})"
            raise InputError(f"{path}: {problem}; give two words a line")
    return pairs


def stereotype_pairs(query: Query) -> tuple[list[Pair], list[Pair]]:
    """Return the pro-stereotypical pairs X x A and Y x B of a query and the anti-stereotypical
    pairs X x B and Y x A, each a full product (target, attribute) in the query's order.

    Raises ``InputError`` as ``words_by_role`` does.
    """
    words = words_by_role(query)
    pro = [*product(words["X"], words["A"]), *product(words["Y"], words["B"])]
    anti = [*product(words["X"], words["B"]), *product(words["Y"], words["A"])]
    return pro, anti


def usable_pairs(
    attract: Iterable[Pair], repel: Iterable[Pair], vocabulary: Container[str]
) -> UsablePairs:
    """Return the distinct pairs of two different words of ``vocabulary``, sorted; a word that is
    not in it is looked up in lower case.

    A pair in both lists is only repelled. (a, b) and (b, a) are two pairs. Raises ``InputError``
    with the missing words if no pair is left.
    """
    attract, repel = (
        {(known_form(a, vocabulary), known_form(b, vocabulary)) for a, b in pairs}
        for pairs in (attract, repel)
    )
    words = {word for pair in attract | repel for word in pair}
    missing = {word for word in words if word not in vocabulary}

    def usable(pairs: set[Pair]) -> list[Pair]:
        return sorted(pair for pair in pairs if pair[0] != pair[1] and missing.isdisjoint(pair))

    result = UsablePairs(usable(attract - repel), usable(repel), sorted(missing))
    if not result.attract and not result.repel:
        listed = f": {', '.join(result.missing[:12])}{', ...' if len(missing) > 12 else ''}"
        n_oov = f"{len(missing)} of {len(words)} words are out of vocabulary"
        raise InputError(
            f"no pair of two different words of the vectors is left; {n_oov}"
            f"{listed if missing else ''}; use pairs in the language and the case of the vectors"
        )
    return result


def mean_cosine(vectors: KeyedVectors, pairs: Sequence[Pair]) -> float:
    """Compute the mean cosine of the words of pairs, all in vocabulary; NaN for no pairs."""
    if not pairs:
        return float("nan")
    rows = np.array([[vectors.key_to_index[word] for word in pair] for pair in pairs])
    unique_rows, positions = np.unique(rows, return_inverse=True)
    units = vectors.vectors[unique_rows].astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    first, second = units[positions.reshape(rows.shape).T]
    return float(np.einsum("ij,ij->i", first, second).mean())
