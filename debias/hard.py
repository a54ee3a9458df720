"""Hard and double-hard debiasing, and OSCaR: maps of word vectors with a dose."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from biasbridge.debias.attract_repel import Norms
from biasbridge.debias.base import ONE_THREAD, OnAxis, map_blocks
from biasbridge.debias.erasers import main_axes, require_enough, unit, unit_differences
from biasbridge.debias.words import TARGETS_AND_ATTRIBUTES, require_roles
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count
from biasbridge.files.eraser import ROWS
from biasbridge.intrinsic.lookup import find_set
from biasbridge.intrinsic.metrics.separability import score_clusters

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.words import Query
    from biasbridge.stats.arrays import Floats, Singles

_Rows = NDArray[np.intp]
_FREQUENT = 50_000  # most frequent words, among which the most biased are searched
_PARALLEL = 1e-6  # largest sine of the angle between two directions that span no plane


class WordRows(NamedTuple):
    """Vocabulary rows of words. Shapes: pairs, equalise (n, 2); specific (n,), pairs included."""

    pairs: _Rows
    equalise: _Rows
    specific: _Rows


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
        """Compute f of every vector; out-of-vocabulary words are skipped. Raises ``InputError``."""
        before, word_rows = vectors.vectors, _find_word_rows(vectors, query)
        after, axes = self._neutralised(before, word_rows, np.asarray)
        equal = equalise(_units(before[word_rows.equalise]), axes)
        after[word_rows.equalise] = self.resize(equal, before[word_rows.equalise])
        return after

    def _neutralised(
        self, before: Singles, word_rows: WordRows, prepare: Callable[[Any], Any]
    ) -> tuple[Singles, Floats]:
        """Return rows, prepared, without the pairs' axes but for specific words; and the axes."""
        axes = _pair_axes(prepare(before[word_rows.pairs]), self.components)
        after = map_blocks(lambda rows: self.resize(_neutralise(prepare(rows), axes), rows), before)
        specific = before[word_rows.specific]
        after[word_rows.specific] = self.resize(prepare(specific), specific)
        return after, axes

    def resize(self, rows: Singles | Floats, old: Singles | Floats) -> Floats:
        """Scale rows to the lengths of the old rows, or to length 1; zero rows stay zero."""
        lengths = _row_lengths(old)
        return _units(rows) * (lengths if self.norms == "keep" else lengths > 0)

    def origin(self, before: Singles) -> Singles:
        """Return the vectors that a dose starts from, of length 1 with ``norms="unit"``."""
        return before if self.norms == "keep" else map_blocks(_units, before)


class ComponentSearch(NamedTuple):
    """The search for the component to remove. mean (dim,) and components (candidates, dim), largest
    first, are of the vocabulary; ``separation`` is the share of the biased words, .5 to 1, that
    2-means clusters with their side after the removal of each component.
    """

    mean: Floats
    components: Floats
    separation: Floats

    @property
    def chosen(self) -> int:
        """Index of the component with the smallest share."""
        return int(np.argmin(self.separation))

    def without(self, rows: Singles | Floats, index: int | None = None) -> Floats:
        """Remove the mean and a component (default: the chosen one) from rows (..., dim)."""
        component = self.components[[self.chosen if index is None else index]]
        return _neutralise(rows - self.mean, component)


@choice
class DoubleHard(Hard):
    """Double-hard debiasing (Wang et al., 2020): ``Hard``, without ``equalise``, of

        x - mean - ((x - mean) . u) u

    u is the one of the first ``candidates`` principal components of the vocabulary after whose
    removal 2-means separates the most biased words worst. These are the ``biased`` words farthest
    to either side along the direction of the pairs in the unmodified vectors, among the 50,000 most
    frequent that are neither ``specific`` nor in a pair. If no component changes much, the choice
    depends on the seed.
    """

    candidates: Annotated[Count, doc("principal components of the vocabulary to try")] = 20
    biased: Annotated[Count, doc("words per side that 2-means clusters")] = 500

    name: ClassVar[str] = "double_hard"
    seeded: ClassVar[bool] = True

    def erase(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Singles:
        """Compute f of every vector. Raises ``InputError`` as ``Hard`` does."""
        search = self.search(vectors, query, seed=seed)
        word_rows = _find_word_rows(vectors, query)
        return self._neutralised(vectors.vectors, word_rows, search.without)[0]

    @ONE_THREAD
    def search(self, vectors: KeyedVectors, query: Query, *, seed: int) -> ComponentSearch:
        """Try the components: measure how well 2-means separates biased words without each."""
        matrix, word_rows = vectors.vectors, _find_word_rows(vectors, query)
        [gender] = _pair_axes(matrix[word_rows.pairs], 1)
        words, sides = _most_biased(matrix, gender, word_rows.specific, self.biased)
        search = ComponentSearch(*_main_components(matrix, self.candidates), np.empty(0))
        shares = []
        for index in range(len(search.components)):
            axes = _pair_axes(search.without(matrix[word_rows.pairs], index), self.components)
            rows = _units(_neutralise(search.without(matrix[words], index), axes))
            shares.append(score_clusters(rows, sides, seed=seed)[0])
        return search._replace(separation=np.array(shares))


@choice
class Oscar(OnAxis):
    """OSCaR (Dev et al., 2021): f(x) is x rotated in the plane of two directions, b1 the unit
    difference of the means of X and Y and b2 that of A and B, by an angle that depends on where x
    lies in it: see ``rotate``. b1 stays, b2 becomes orthogonal to it; the length of x and its
    component outside the plane stay. (The paper has one list of occupations in place of A and B,
    and its first principal component as b2.)
    """

    name: ClassVar[str] = "oscar"
    roles: ClassVar[tuple[str, ...]] = TARGETS_AND_ATTRIBUTES

    def erase(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Singles:
        """Compute f of every vector. Raises ``InputError`` if too few words of a role are in the
        vocabulary, or if the directions span no plane.
        """
        require_roles(query, self.roles)
        found_sets = {role: find_set(vectors, query[role], case="lower") for role in self.roles}
        for role, found_set in found_sets.items():
            require_enough(len(found_set.items), query[role].name, "the vectors")
        x, y, a, b = (found_set.raw.mean(axis=0) for found_set in found_sets.values())
        first, second = unit(x - y), unit(a - b)
        return map_blocks(partial(_rotate, first=first, second=second), vectors.vectors)


def _find_word_rows(vectors: KeyedVectors, query: Query) -> WordRows:
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


def _pair_axes(pairs: Singles | Floats, components: int) -> Floats:
    """Compute the first principal components of pair-centred unit vectors, (components, dim)."""
    return main_axes(unit_differences(pairs.astype(np.float64)), components)[0]


def _neutralise(rows: Floats, axes: Floats) -> Floats:
    """Compute x - x V'V, V orthonormal rows. Shapes: (..., dim), (k, dim) -> (..., dim)."""
    return np.asarray(rows - (rows @ axes.T) @ axes)


def equalise(pairs: Floats, axes: Floats) -> Floats:
    """Map pairs (a, b) with m = (a + b) / 2, along orthonormal rows V, to nu + s and nu - s,

    nu = m - m V'V,    s = sqrt(1 - |nu|^2) unit((a - b) V') V    (the first row if they agree)
    """
    middle = _neutralise(pairs.mean(axis=1), axes)
    difference = (pairs[:, 0] - pairs[:, 1]) @ axes.T
    difference[~difference.any(axis=1), 0] = 1
    length = np.sqrt(np.maximum(1 - (middle**2).sum(axis=1), 0))
    offset = length[:, None] * _units(difference) @ axes
    return np.stack([middle + offset, middle - offset], axis=1)


def _most_biased(
    matrix: Singles, axis: Floats, excluded: _Rows, n_per_side: int
) -> tuple[_Rows, NDArray[np.bool_]]:
    """Return the rows of the words at either end of an axis, and which have the largest cosine."""
    candidates = np.setdiff1d(np.arange(min(len(matrix), _FREQUENT)), excluded)
    require_enough(len(candidates), "words that are not specific", "the vectors")
    order = np.argsort(_units(matrix[candidates]) @ axis, kind="stable")
    n_per_side = min(n_per_side, len(candidates) // 2)
    words = np.sort(candidates[np.concatenate([order[:n_per_side], order[-n_per_side:]])])
    return words, np.isin(words, candidates[order[-n_per_side:]])


def _main_components(matrix: Singles, number: int) -> tuple[Floats, Floats]:
    """Compute the mean and the first principal components of rows: (dim,), (number, dim)."""
    mean = matrix.mean(axis=0, dtype=np.float64)
    products = np.zeros((len(mean), len(mean)))
    for start in range(0, len(matrix), ROWS):
        rows = matrix[start : start + ROWS] - mean
        products += rows.T @ rows
    return mean, np.linalg.eigh(products)[1].T[::-1][:number]


def _rotate(rows: Floats, first: Floats, second: Floats) -> Floats:
    """Rotate rows in the plane of two unit vectors by (pi/2 - t) min(a / t, (pi - a) / (pi - t)).

    t is the angle between the vectors, a that from the first to a row's projection, modulo pi: the
    first stays, the second comes to pi/2, and angles between are stretched evenly.
    """
    cosine = float(first @ second)
    orthogonal = second - cosine * first
    sine = float(np.linalg.norm(orthogonal))
    if not sine > _PARALLEL:
        raise InputError("the two directions are parallel; change the words of one of them")
    angle = np.arctan2(sine, cosine)
    plane = np.stack([first, orthogonal / sine])
    projected = rows @ plane.T
    row_angles = np.arctan2(projected[:, 1], projected[:, 0]) % np.pi
    turn = (np.pi / 2 - angle) * np.minimum(
        row_angles / angle, (np.pi - row_angles) / (np.pi - angle)
    )
    rotated = (projected[:, 0] + 1j * projected[:, 1]) * np.exp(1j * turn)
    return np.asarray(rows + (np.stack([rotated.real, rotated.imag], axis=1) - projected) @ plane)


def _units(rows: Singles | Floats) -> Floats:
    """Scale rows (..., dim) to unit length; zero rows stay zero."""
    lengths = _row_lengths(rows)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1))


def _row_lengths(rows: Singles | Floats) -> Floats:
    """Compute the lengths of rows: (..., dim) -> (..., 1)."""
    squares: Floats = np.einsum("...i,...i->...", rows, rows, dtype=np.float64)
    return np.sqrt(squares)[..., None]
