"""The axis that erasers share: x - dose (x - f(x)), from overbiased through untouched to erased."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from debias.base import Axis, Direction, OnVectors
from files import choice
from files.choice import Fileless
from files.eraser import ROWS

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from intrinsic.wordsets import Query

Singles = NDArray[np.float32]
Floats = NDArray[np.float64]

ONE_THREAD = threadpool_limits.wrap(limits=1, user_api="blas")  # more wait for one another
SignedDose = Annotated[float, Ge(-1), Le(1)]


@choice
class OnAxis(OnVectors, Fileless):
    """Base of a method on word vectors that makes f(x) of each vector x and goes by a dose,

        x -> x - dose (x - f(x)),    dose in [-1, 1]

    0 changes no bit, 1 is f, and a negative dose overbiases: -1 mirrors f. A method gives
    ``erase``, and is ``seeded`` if it draws anything.
    """

    dose: SignedDose = 1.0

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False

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

    @ONE_THREAD
    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        """A copy of ``vectors`` by the dose."""
        from files.vectors import with_matrix  # loads gensim

        before = vectors.vectors
        if not self.dose:
            return with_matrix(vectors, np.array(before))
        return with_matrix(
            vectors, toward(before, self.erase(vectors, query, seed=seed), self.dose)
        )


def toward(before: Singles, after: Singles, dose: float) -> Singles:
    """x - dose (x - f(x)) in the place of f(x), row by row; exactly f(x) at dose 1."""
    if dose != 1:
        after -= before
        after *= np.float32(dose)
        after += before
    return after


def in_blocks(f: Callable[[Floats], Floats], matrix: Singles) -> Singles:
    """f of the rows of a matrix (n, dim), some thousands at a time in float64."""
    made = np.empty(matrix.shape, dtype=np.float32)
    for start in range(0, len(made), ROWS):
        rows = slice(start, start + ROWS)
        made[rows] = f(matrix[rows].astype(np.float64))
    return made


def restricted(vectors: KeyedVectors, words: Collection[str] | None) -> KeyedVectors:
    """The vectors of these words alone, as far as they are there; all where none are named."""
    if words is None:
        return vectors
    from files.vectors import keyed  # loads gensim

    there = [word for word in dict.fromkeys(words) if word in vectors.key_to_index]
    rows = [vectors.key_to_index[word] for word in there]
    return keyed(there, np.array(vectors.vectors[rows]))
