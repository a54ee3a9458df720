"""Word pairs to attract and to repel: read from files, or made from a query."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from debias.roles import words_by_role
from files import InputError, read_lines

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from debias.base import Pair
    from intrinsic.wordsets import Query


class UsablePairs(NamedTuple):
    """The pairs that can be used, sorted, and the words that the vocabulary lacks, sorted."""

    attract: list[Pair]
    repel: list[Pair]
    missing: list[str]


def read_pairs(path: str | Path) -> list[Pair]:
    """Pairs from a file: two words a line, set apart by white space; blank lines are passed over.

    Raises ``InputError`` naming the line that holds another number of words.
    """
    found = []
    for number, line in enumerate(read_lines(path), 1):
        words = line.split()
        if len(words) == 2:
            found.append((words[0], words[1]))
        elif words:
            held = f"line {number} holds {len(words)} words ({line.strip()[:60]!r})"
            raise InputError(f"{path}: {held}; give two words a line")
    return found


def stereotype_pairs(query: Query) -> tuple[list[Pair], list[Pair]]:
    """The pro-stereotypical pairs X x A and Y x B of a query and its anti-stereotypical pairs
    X x B and Y x A, each a full product (target, attribute) in the query's order.

    Raises ``InputError`` as ``words_by_role`` does.
    """
    words = words_by_role(query)
    pro = [*product(words["X"], words["A"]), *product(words["Y"], words["B"])]
    anti = [*product(words["X"], words["B"]), *product(words["Y"], words["A"])]
    return pro, anti


def usable_pairs(
    attract: Iterable[Pair], repel: Iterable[Pair], vocabulary: Container[str]
) -> UsablePairs:
    """The pairs of two different words of ``vocabulary``, once; one in both lists is only repelled.

    Pairs are ordered: (a, b) and (b, a) are two. Their order in the input means nothing, so the
    result is sorted. Raises ``InputError`` with the missing words if no pair is left.
    """
    attract, repel = set(attract), set(repel)
    words = {word for pair in attract | repel for word in pair}
    missing = {word for word in words if word not in vocabulary}

    def usable(pairs: set[Pair]) -> list[Pair]:
        return sorted(pair for pair in pairs if pair[0] != pair[1] and missing.isdisjoint(pair))

    kept = UsablePairs(usable(attract - repel), usable(repel), sorted(missing))
    if not kept.attract and not kept.repel:
        some = f": {', '.join(kept.missing[:12])}{', ...' if len(missing) > 12 else ''}"
        lost = f"{len(missing)} of {len(words)} words are not in them{some if missing else ''}"
        raise InputError(
            f"no pair of two different words of the vectors is left; {lost}; take pairs in the"
            " language and the case of the vectors"
        )
    return kept


def mean_cosine(vectors: KeyedVectors, pairs: Sequence[Pair]) -> float:
    """The mean cosine of the words of each pair; NaN for none. ``vectors`` must have them all."""
    if not pairs:
        return float("nan")
    rows = np.array([[vectors.key_to_index[word] for word in pair] for pair in pairs])
    used, positions = np.unique(rows, return_inverse=True)
    units = vectors.vectors[used].astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    left, right = units[positions.reshape(rows.shape).T]
    return float(np.einsum("ij,ij->i", left, right).mean())
