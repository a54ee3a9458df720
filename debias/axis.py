"""The axis that erasers share: x - dose (x - f(x)), from overbiased through untouched to erased."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

import numpy as np
from annotated_types import Ge, Le

from debias.base import Axis, Direction, OnVectors
from files import InputError, choice
from files.choice import Fileless

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from numpy.typing import NDArray

    from intrinsic.wordsets import Query

    Singles = NDArray[np.float32]

SignedDose = Annotated[float, Ge(-1), Le(1)]
Norms = Literal["keep", "unit"]


@choice
class OnAxis(OnVectors, Fileless):
    """Base of a method on word vectors that makes f(x) of each vector x and goes by a dose,

        x -> x - dose (x - f(x)),    dose in [-1, 1]

    0 changes no bit, 1 is f, and a negative dose overbiases: -1 mirrors f. A method gives
    ``erase``.
    """

    dose: SignedDose = 1.0

    version: ClassVar[int] = 1

    @property
    def direction(self) -> Direction:
        """``overbias`` for a negative dose."""
        return "overbias" if self.dose < 0 else "debias"

    def erase(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Singles:
        """f of every vector, (words, dim), in the order of the vocabulary."""
        raise NotImplementedError

    def by(self, dose: float) -> Self:
        """The same by another dose."""
        return replace(self, dose=dose)

    def along(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Axis:
        """What becomes of ``vectors`` by any dose, f computed once."""
        from files.vectors import with_matrix  # loads gensim

        full = with_matrix(vectors, self.erase(vectors, query, seed=seed))

        def at(dose: float, words: Collection[str] | None = None) -> KeyedVectors:
            before, after = (restricted(each, words) for each in (vectors, full))
            rows = np.array(after.vectors if dose else before.vectors)
            return with_matrix(before, toward(before.vectors, rows, dose) if dose else rows)

        return Axis(at)

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        """A copy of ``vectors`` by the dose."""
        from files.vectors import with_matrix  # loads gensim

        matrix = np.array(vectors.vectors)
        if self.dose:
            matrix = toward(matrix, self.erase(vectors, query, seed=seed), self.dose)
        return with_matrix(vectors, matrix)


def toward(before: Singles, after: Singles, dose: float) -> Singles:
    """x - dose (x - f(x)), row by row; exactly f(x) at dose 1."""
    if dose == 1:
        return after
    return before - np.float32(dose) * (before - after)


def restricted(vectors: KeyedVectors, words: Collection[str] | None) -> KeyedVectors:
    """The vectors of these words alone, as far as they are there; all where none are named."""
    if words is None:
        return vectors
    from files.vectors import keyed  # loads gensim

    there = [word for word in dict.fromkeys(words) if word in vectors.key_to_index]
    rows = [vectors.key_to_index[word] for word in there]
    return keyed(there, np.array(vectors.vectors[rows]))


def require_dim(found: int, wanted: int, what: str) -> None:
    """Raise ``InputError`` where what was fitted has another dimension than what it meets."""
    if found != wanted:
        raise InputError(f"the eraser has {found} dimensions and {what} {wanted}; fit it on those")
