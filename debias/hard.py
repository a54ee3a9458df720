"""Hard debiasing: neutral words lose the gender direction, pairs of gendered words share it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from biasbridge.debias.attract_repel import Norms
from biasbridge.debias.axis import OnAxis, map_blocks
from biasbridge.debias.directions import main_axes, unit_differences
from biasbridge.debias.examples import require_enough
from biasbridge.debias.roles import require_roles
from biasbridge.files import choice
from biasbridge.files.choice import Count
from biasbridge.intrinsic.lookup import find_set

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.wordsets import Query
    from biasbridge.stats.arrays import Floats, Singles

Rows = NDArray[np.intp]


class WordRows(NamedTuple):
    """Vocabulary rows of words. Shapes: pairs, equalise (n, 2); specific (n,), pairs included."""

    pairs: Rows
    equalise: Rows
    specific: Rows


@choice
class Hard(OnAxis):
    """Hard debiasing (Bolukbasi et al., 2016). With unit vectors x and V the first principal
    components of the centred ``pairs``, orthonormal rows,

        f(x) = unit(x - x V'V)    of every word not in ``specific`` or ``pairs``

    and then the two words of each pair of ``equalise`` become nu + s and nu - s, nu their mean
    without V, |nu|^2 + |s|^2 = 1, and s along V with the sign of their difference. f has the length
    of x with ``norms="keep"``; with ``unit`` 1, and doses are of unit vectors x.
    """

    components: Annotated[Count, doc("principal components of the pairs to remove")] = 1
    norms: Annotated[Norms, doc("keep the lengths of vectors; unit: scale all to length 1")] = (
        "keep"
    )

    version: ClassVar[int] = 2
    name: ClassVar[str] = "hard"
    family: ClassVar[str] = "pair subspace"
    roles: ClassVar[tuple[str, ...]] = ("pairs",)

    def erase(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Singles:
        """Compute f of every vector; out-of-vocabulary words are skipped. Raises ``InputError`` if
        fewer than two ``pairs`` are in the vocabulary.
        """
        before, word_rows = vectors.vectors, find_word_rows(vectors, query)
        axes = pair_axes(before[word_rows.pairs], self.components)
        after = map_blocks(lambda rows: self.resize(neutralise(rows, axes), rows), before)
        after[word_rows.specific] = self.resize(
            before[word_rows.specific], before[word_rows.specific]
        )
        equal = equalise(units(before[word_rows.equalise]), axes)
        after[word_rows.equalise] = self.resize(equal, before[word_rows.equalise])
        return after

    def resize(self, rows: Singles | Floats, old: Singles | Floats) -> Floats:
        """Scale rows to the lengths of the old rows, or to length 1, as ``norms`` says; where the
        old row is zero to 0.
        """
        lengths = row_lengths(old)
        return units(rows) * (lengths if self.norms == "keep" else lengths > 0)

    def origin(self, before: Singles) -> Singles:
        """Return the vectors that a dose starts from, of length 1 with ``norms="unit"``."""
        return before if self.norms == "keep" else map_blocks(units, before)


def find_word_rows(vectors: KeyedVectors, query: Query) -> WordRows:
    """Find the rows of a query's words; ``equalise`` and ``specific`` may be empty."""
    require_roles(query, Hard.roles)
    rows = {role: np.empty((0, 2), dtype=np.intp) for role in ("equalise", "specific")}
    for role in {"pairs", *rows} & query.sets.keys():
        items = find_set(vectors, query[role], case="lower").items
        item_rows = [[vectors.key_to_index[word] for word in item] for item in items]
        rows[role] = np.array(item_rows, dtype=np.intp).reshape(-1, query[role].width)
    require_enough(len(rows["pairs"]), query["pairs"].name, "the vectors")
    specific = np.union1d(rows["specific"], rows["pairs"])
    return WordRows(rows["pairs"], rows["equalise"], specific)


def pair_axes(pairs: Singles | Floats, components: int) -> Floats:
    """Compute the first principal components of the pair-centred unit vectors, (components, dim),
    of pairs (n, 2, dim).
    """
    return main_axes(unit_differences(pairs.astype(np.float64)), components)[0]


def neutralise(rows: Floats, axes: Floats) -> Floats:
    """Compute x - x V'V, V orthonormal rows. Shapes: (..., dim), (k, dim) -> (..., dim)."""
    return np.asarray(rows - (rows @ axes.T) @ axes)


def equalise(pairs: Floats, axes: Floats) -> Floats:
    """Map pairs (a, b) to nu + s and nu - s, with V orthonormal rows and m = (a + b) / 2,

        nu = m - m V'V,    s = sqrt(1 - |nu|^2) unit((a - b) V') V

    s is along the first row of V if a and b are equal along V. Shapes: pairs (n, 2, dim), axes
    (k, dim) -> (n, 2, dim).
    """
    middle = neutralise(pairs.mean(axis=1), axes)
    difference = (pairs[:, 0] - pairs[:, 1]) @ axes.T
    difference[~difference.any(axis=1), 0] = 1
    length = np.sqrt(np.maximum(1 - (middle**2).sum(axis=1), 0))
    offset = length[:, None] * units(difference) @ axes
    return np.stack([middle + offset, middle - offset], axis=1)


def units(rows: Singles | Floats) -> Floats:
    """Scale rows (..., dim) to unit length; zero rows stay zero."""
    lengths = row_lengths(rows)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1))


def row_lengths(rows: Singles | Floats) -> Floats:
    """Compute the lengths of rows: (..., dim) -> (..., 1)."""
    squares: Floats = np.einsum("...i,...i->...", rows, rows, dtype=np.float64)
    return np.sqrt(squares)[..., None]
