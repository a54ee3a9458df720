"""The dose axis of erasers: x - dose (x - f(x)), from overbiased (-1) to erased (1)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Le, doc
from threadpoolctl import threadpool_limits

from biasbridge.debias.base import Direction, DoseAxis, OnVectors, restrict
from biasbridge.files import choice
from biasbridge.files.choice import Fileless
from biasbridge.files.eraser import ROWS

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.wordsets import Query
    from biasbridge.stats.arrays import Floats, Singles

ONE_THREAD = threadpool_limits.wrap(limits=1, user_api="blas")  # threads wait for each other
SignedDose = Annotated[float, Ge(-1), Le(1)]


@choice
class OnAxis(OnVectors, Fileless):
    """Base of methods that map each word vector x to f(x) and have a dose,

        x -> x - dose (x - f(x)),    dose in [-1, 1]

    0 changes no bit, 1 is f, and a negative dose overbiases: -1 mirrors f. A subclass provides
    ``erase``, and sets ``seeded`` if f depends on the seed.
    """

    dose: Annotated[SignedDose, doc("from -1 (overbias) over 0 (unmodified) to 1 (debias)")] = 1

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False

    @property
    def direction(self) -> Direction:
        """``overbias`` for a negative dose."""
        return "overbias" if self.dose < 0 else "debias"

    def erase(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Singles:
        """Compute f of every vector, (n_words, dim), in the order of the vocabulary."""
        raise NotImplementedError

    def dose_axis(self, vectors: KeyedVectors, query: Query, *, seed: int) -> DoseAxis:
        """Compute f once and return the vectors at any dose."""
        from biasbridge.files.vectors import with_matrix  # loads gensim

        full = with_matrix(vectors, self.erase(vectors, query, seed=seed))

        def at(dose: float, words: Collection[str] | None = None) -> KeyedVectors:
            before, after = restrict(vectors, words), restrict(full, words)
            rows = np.array(after.vectors if dose else before.vectors)
            if dose:
                rows = apply_dose(self.origin(before.vectors), rows, dose)
            return with_matrix(before, rows)

        return DoseAxis(at)

    @ONE_THREAD
    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        """Return a copy of ``vectors`` modified by the dose."""
        from biasbridge.files.vectors import with_matrix  # loads gensim

        before = vectors.vectors
        if not self.dose:
            return with_matrix(vectors, np.array(before))
        after = self.erase(vectors, query, seed=seed)
        return with_matrix(vectors, apply_dose(self.origin(before), after, self.dose))

    def origin(self, before: Singles) -> Singles:
        """Return the vectors x that a dose starts from."""
        return before


def apply_dose(before: Singles, after: Singles, dose: float) -> Singles:
    """Overwrite f(x) (``after``) by x - dose (x - f(x)), row by row; exactly f(x) at dose 1."""
    if dose != 1:
        after -= before
        after *= np.float32(dose)
        after += before
    return after


def map_blocks(f: Callable[[Floats], Floats], matrix: Singles) -> Singles:
    """Apply f to the rows of a matrix (n, dim), a block at a time in float64."""
    result = np.empty(matrix.shape, dtype=np.float32)
    for start in range(0, len(result), ROWS):
        rows = slice(start, start + ROWS)
        result[rows] = f(matrix[rows].astype(np.float64))
    return result
