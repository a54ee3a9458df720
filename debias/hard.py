"""Hard debiasing: neutral words lose the direction of gender, pairs of gendered words share it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from debias.attract_repel import Norms
from debias.axis import Floats, OnAxis, Singles, in_blocks
from debias.directions import main_axes, unit_differences
from debias.examples import require_some
from debias.roles import require_roles
from files import choice
from files.choice import Count
from intrinsic.lookup import find_set

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from intrinsic.wordsets import Query

Rows = NDArray[np.intp]


class Places(NamedTuple):
    """The rows of a vocabulary in which words stand. Shapes: pairs and equalise (n, 2), specific
    (n,), which has the words of the pairs too.
    """

    pairs: Rows
    equalise: Rows
    specific: Rows


@choice
class Hard(OnAxis):
    """Hard debiasing (Bolukbasi et al., 2016). With unit vectors x and V the first principal
    components of the centred ``pairs``, orthonormal rows,

        f(x) = unit(x - x V'V)    of every word but ``specific`` ones and those of ``pairs``

    and then the two words of each pair of ``equalise`` are nu + s and nu - s, nu their mean without
    V, |nu|^2 + |s|^2 = 1, and s along V on the side where they were. ``norms="keep"`` gives each
    word the length that it had, ``unit`` length 1.
    """

    components: Annotated[Count, doc("of the pairs, taken away")] = 1
    norms: Norms = "keep"

    name: ClassVar[str] = "hard"
    roles: ClassVar[tuple[str, ...]] = ("pairs",)

    def erase(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Singles:
        """f of every vector. Pairs and words that are not in ``vectors`` are left out; raises
        ``InputError`` where fewer than two ``pairs`` are left.
        """
        before, places = vectors.vectors, find_places(vectors, query)
        axes = pair_axes(before[places.pairs], self.components)
        after = in_blocks(lambda rows: self.resize(neutralise(rows, axes), rows), before)
        after[places.specific] = self.resize(before[places.specific], before[places.specific])
        equal = equalise(units(before[places.equalise]), axes)
        after[places.equalise] = self.resize(equal, before[places.equalise])
        return after

    def resize(self, rows: Singles | Floats, old: Singles | Floats) -> Floats:
        """The rows at the lengths of the old ones, or all at length 1, as ``norms`` says."""
        return units(rows) * (lengths_of(old) if self.norms == "keep" else 1)


def find_places(vectors: KeyedVectors, query: Query) -> Places:
    """Where the words of a query stand; of ``equalise`` and ``specific`` there may be none."""
    require_roles(query, Hard.roles)
    rows = {role: np.empty((0, 2), dtype=np.intp) for role in ("equalise", "specific")}
    for role in {"pairs", *rows} & query.sets.keys():
        items = find_set(vectors, query[role], case="lower").items
        found = [[vectors.key_to_index[word] for word in item] for item in items]
        rows[role] = np.array(found, dtype=np.intp).reshape(-1, query[role].width)
    require_some(len(rows["pairs"]), query["pairs"].name, "the vectors")
    specific = np.union1d(rows["specific"], rows["pairs"])
    return Places(rows["pairs"], rows["equalise"], specific)


def pair_axes(pairs: Singles | Floats, components: int) -> Floats:
    """The first principal components of the centred unit vectors of pairs. Shapes: (n, 2, dim) ->
    (components, dim).
    """
    return main_axes(unit_differences(pairs.astype(np.float64)), components)[0]


def neutralise(rows: Floats, axes: Floats) -> Floats:
    """x - x V'V, V orthonormal rows. Shapes: (..., dim), (k, dim) -> (..., dim)."""
    return np.asarray(rows - (rows @ axes.T) @ axes)


def equalise(pairs: Floats, axes: Floats) -> Floats:
    """Pairs (a, b) as nu + s and nu - s, with V orthonormal rows and m = (a + b) / 2,

        nu = m - m V'V,    s = sqrt(1 - |nu|^2) unit((a - b) V') V

    s is along the first row of V where a and b are equal along V. Shapes: pairs (n, 2, dim), axes
    (k, dim) -> (n, 2, dim).
    """
    middle = neutralise(pairs.mean(axis=1), axes)
    apart = (pairs[:, 0] - pairs[:, 1]) @ axes.T
    apart[~apart.any(axis=1), 0] = 1
    left = np.sqrt(np.maximum(1 - (middle**2).sum(axis=1), 0))
    across = left[:, None] * units(apart) @ axes
    return np.stack([middle + across, middle - across], axis=1)


def units(rows: Singles | Floats) -> Floats:
    """Rows (..., dim) at unit length; zero rows stay zero."""
    lengths = lengths_of(rows)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1))


def lengths_of(rows: Singles | Floats) -> Floats:
    """Shapes: (..., dim) -> (..., 1)."""
    squares: Floats = np.einsum("...i,...i->...", rows, rows, dtype=np.float64)
    return np.sqrt(squares)[..., None]
