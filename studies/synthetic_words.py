"""Synthetic words, and the search for the vectors at which a score of them is lowest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from string import ascii_lowercase
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasbridge.files import InputError
from biasbridge.intrinsic.lookup import ResolvedQuery, ResolvedWords, means
from biasbridge.intrinsic.words import Query, WordSet, width_of
from biasbridge.stats.arrays import Floats

if TYPE_CHECKING:
    from biasbridge.intrinsic.metric import Metric

_TARGETS = ("X", "Y", "words", "partners", "rows")
_NEUTRAL = slice(2, 8)  # words of a row after its definition
_VOCABULARY = "vocabulary"
_NO_DIRECTION = 1e-9
_Indices = NDArray[np.intp]
ATTRIBUTE_SETS = ("near", "apart", "opposite", "crossed")
_Loss = Callable[[Floats], float]
_GROW, _SHRINK = 1.5, 0.9  # in balance where a fifth of the steps succeed
_FIRST_STEP, _LONGEST_STEP, _SHORTEST_STEP = 0.3, 1.0, 1e-10
_BRANCHES = 3  # best starts that are followed


@dataclass(frozen=True)
class Roles:
    """Target words of a metric, the groups (sets of single words, or the first and the second words
    of base pairs) they are compared with, and if it searches a ``vocabulary`` (neutral).
    """

    targets: tuple[str, ...]
    groups: tuple[str, ...]
    vocabulary: bool

    @classmethod
    def of(cls, metric: Metric) -> Roles:
        """Return a metric's roles; raise ``InputError`` if it compares no words with groups."""
        set_roles = [role for role in ("X", "Y", "A", "B") if metric.about.takes(role)]
        has_vocabulary = _VOCABULARY in metric.options()
        if "pairs" in metric.about.roles:
            targets = [role for role in _TARGETS if metric.about.takes(role)]
            if not (targets or has_vocabulary):
                raise InputError(f"{metric.name} compares no words with its base pairs")
            return cls(tuple(targets), ("pairs",), has_vocabulary)
        if set_roles == ["X", "Y", "A"]:  # the attributes are neutral, and X and Y the groups
            return cls(("A",), ("X", "Y"), has_vocabulary)
        targets = [role for role in _TARGETS if metric.about.takes(role)]
        if not targets or "B" not in set_roles:
            raise InputError(f"{metric.name} compares no words with groups of attributes")
        return cls(tuple(targets), ("A", "B"), has_vocabulary)


class SyntheticWords:
    """Words of a metric's roles, with vectors in a matrix (words, dim).

    There are ``items`` target words in each role, ``attributes`` words or base pairs in each group.
    Indices: ``neutral``, of the targets, or of the vocabulary without any; ``free``, of all words
    outside the groups; ``grouped``, by group.
    """

    def __init__(self, metric: Metric, items: int, attributes: int, vocabulary: int) -> None:
        from biasbridge.files.vectors import keyed

        self._metric, self.roles = metric, Roles.of(metric)
        about = metric.about
        sizes = dict.fromkeys(self.roles.targets, items)
        sizes |= dict.fromkeys(self.roles.groups, attributes)
        sizes = {role: max(size, about.fewest.get(role, 1)) for role, size in sizes.items()}
        shapes = {role: (size, width_of(role) or 1) for role, size in sizes.items()}
        if self.roles.vocabulary:
            shapes[_VOCABULARY] = (vocabulary, 1)
        ends = np.cumsum([0, *(size * width for size, width in shapes.values())])
        self._shapes, self.words = shapes, int(ends[-1])
        self.indices: dict[str, _Indices] = {
            role: np.arange(start, end)
            for role, start, end in zip(shapes, ends[:-1], ends[1:], strict=True)
        }
        if self.roles.groups == ("pairs",):
            self.grouped = [self.indices["pairs"][0::2], self.indices["pairs"][1::2]]
        else:
            self.grouped = [self.indices[role] for role in self.roles.groups]
        attributes_of_groups = np.concatenate(self.grouped)
        self.free: _Indices = np.setdiff1d(np.arange(self.words), attributes_of_groups)
        targets = [self._neutral_indices(role) for role in self.roles.targets]
        self.neutral: _Indices = np.concatenate(targets or [self.indices[_VOCABULARY]])
        self._no_vectors = keyed(["none"], np.ones((1, 1), dtype=np.float32))
        letters = islice(product(ascii_lowercase, repeat=3), self.words)
        self._names = ["".join(name) for name in letters]
        sets = {
            role: WordSet(
                role,
                tuple(self._names[i] for i in self.indices[role]),
                "und",
                "made up",
                width=width,
                values=tuple(map(float, range(size))) if role == "words" else (),
            )
            for role, (size, width) in shapes.items()
            if role != _VOCABULARY
        }
        self._query = Query("made_up", sets, "und")
        self._pair_words = frozenset(sets["pairs"].words if "pairs" in sets else ())

    def _neutral_indices(self, role: str) -> _Indices:
        size, width = self._shapes[role]
        indices = self.indices[role].reshape(size, width)
        return (indices[:, _NEUTRAL] if role == "rows" else indices).ravel()

    def query(self, matrix: Floats) -> ResolvedQuery:
        """Return the query with its words' vectors, as if looked up in an embedding."""
        from biasbridge.files.vectors import keyed

        sets = {}
        for role, wordset in self._query.sets.items():
            rows = matrix[self.indices[role]]
            raw = rows if wordset.width == 1 else rows.reshape(-1, wordset.width, rows.shape[1])
            sets[role] = ResolvedWords(wordset.items, (), raw, wordset.values)
        vectors = self._no_vectors
        if self.roles.vocabulary:
            indices = self.indices[_VOCABULARY]
            vectors = keyed([self._names[i] for i in indices], matrix[indices].astype(np.float32))
        return ResolvedQuery(self._query, vectors, sets, self._pair_words)

    def scores(self, matrix: Floats, seed: int) -> Mapping[str, float]:
        """Compute the metric's value by part; empty where it is not defined."""
        words = self.query(matrix)
        try:
            words.require_directions()
            results = self._metric.measure(words, seed)
        except InputError:
            return {}
        if isinstance(results, Mapping):
            return {part: result.value for part, result in results.items()}
        return {"": results.value}

    def unbiased(self, matrix: Floats, seed: int) -> Mapping[str, float]:
        """Return the unbiased value by part; NaN where the metric has none."""
        declared = self._metric.about.unbiased
        default = math.nan if declared is None else declared
        results = self._metric.measure(self.query(matrix), seed)
        parts = results if isinstance(results, Mapping) else {"": results}
        return {
            part: default if result.unbiased is None else result.unbiased
            for part, result in parts.items()
        }

    def group_difference(self, matrix: Floats) -> Floats:
        """Compute the difference of the groups' mean attributes of unit length. Shape (dim,)."""
        first, second = means(_to_unit(matrix[indices]) for indices in self.grouped)
        return np.asarray(first - second)

    def biases(self, matrix: Floats) -> Floats:
        """Compute s(t, A) - s(t, B) of every neutral word. Shape (neutral,)."""
        return np.asarray(_to_unit(matrix[self.neutral]) @ self.group_difference(matrix))

    def without_bias(self, matrix: Floats) -> Floats:
        """Project all words outside the groups so that they are equally near both groups."""
        axis = self.group_difference(matrix)
        length = float(np.linalg.norm(axis))
        if length < _NO_DIRECTION:
            return matrix
        axis = axis / length
        # A row along the axis has no direction left; any other coordinate axis gives one
        substitute = np.eye(len(axis))[np.abs(axis).argmin()]
        rows = _reject(matrix[self.free], axis)
        rows[np.linalg.norm(rows, axis=1) < _NO_DIRECTION] = substitute
        projected = matrix.copy()
        projected[self.free] = _to_unit(_reject(_reject(rows, axis), axis))  # twice: rounding
        return projected

    def identical_targets(self, matrix: Floats) -> Floats:
        """Give every word outside the groups the vector of the first one."""
        identical = matrix.copy()
        identical[self.free] = matrix[self.free[0]]
        return identical

    def vectors_by_role(self, matrix: Floats) -> dict[str, list[list[float]]]:
        """Return the vectors by role, as lists."""
        return {role: matrix[indices].tolist() for role, indices in self.indices.items()}


def attribute_sets(
    words: SyntheticWords, n_sets: int, dim: int, rng: np.random.Generator
) -> list[Floats]:
    """Draw matrices (words, dim) whose groups are, in turn, of the four ``ATTRIBUTE_SETS``: near
    each other, apart, opposite, or crossed (each pair of attributes has a direction of its own).
    """
    sets = []
    for number in range(n_sets):
        matrix = _to_unit(rng.normal(size=(words.words, dim)))
        first, second = words.grouped
        size = min(len(first), len(second))
        kind = ATTRIBUTE_SETS[number % len(ATTRIBUTE_SETS)]
        if kind == "near":
            matrix[second[:size]] = _to_unit(matrix[first[:size]] + 0.2 * matrix[second[:size]])
        elif kind == "opposite":
            axis = _to_unit(rng.normal(size=(1, dim)))
            matrix[first] = _to_unit(axis + 0.2 * matrix[first])
            matrix[second] = _to_unit(-axis + 0.2 * matrix[second])
        elif kind == "crossed":
            # One pair differs orthogonally to the difference of all others
            axes = np.eye(dim)[: min(dim, 2)]
            matrix[first] = _to_unit(axes[0] + 3 * axes[-1])
            matrix[second] = _to_unit(-axes[0] + 3 * axes[-1])
            matrix[first[1::2]] = _to_unit(axes[0] - 3 * axes[-1])
            matrix[second[1::2]] = _to_unit(-axes[0] - 3 * axes[-1])
            matrix[first[:1]], matrix[second[:1]] = _to_unit(axes[:1] + 1e-3), _to_unit(-axes[:1])
        sets.append(matrix)
    return sets


def target_starts(words: SyntheticWords, matrix: Floats) -> list[Floats]:
    """Place all targets along one direction of the attributes, or half of them along another, in
    blocks or alternating: the groups' difference and sum, the first pair's difference, and the
    first and last principal component of all pairs' differences.
    """
    directions = _attribute_directions(words, matrix)
    free = words.free
    blocks = np.arange(len(free)) >= len(free) // 2
    alternating = np.arange(len(free)) % 2 == 1
    starts = []
    for (i, first), (j, second) in product(enumerate(directions), repeat=2):
        for is_second in [blocks] if i == j else [blocks, alternating]:
            start = matrix.copy()
            start[free] = np.where(is_second[:, None], second, first)
            starts.append(start)
    return starts


def transferred_targets(
    words: SyntheticWords, source_matrices: Sequence[Floats], matrix: Floats
) -> list[Floats]:
    """Combine targets of other matrices with the attributes of this one: unchanged, and rotated as
    the attributes must be rotated to lie nearest these (orthogonal Procrustes).
    """
    attributes, starts = np.concatenate(words.grouped), []
    for source in source_matrices:
        u, _, vt = np.linalg.svd(source[attributes].T @ matrix[attributes])
        for rotation in (np.eye(matrix.shape[1]), u @ vt):
            start = matrix.copy()
            start[words.free] = source[words.free] @ rotation
            starts.append(start)
    return starts


def _attribute_directions(words: SyntheticWords, matrix: Floats) -> list[Floats]:
    """List the directions of ``target_starts``, each with its opposite, at unit length."""
    first, second = (_to_unit(matrix[indices]) for indices in words.grouped)
    size = min(len(first), len(second))
    differences = first[:size] - second[:size]
    axes: Sequence[Floats] = [
        words.group_difference(matrix),
        first.mean(axis=0) + second.mean(axis=0),
        differences[0],
        *np.linalg.svd(differences)[2][[0, -1]],
    ]
    axes = [axis for axis in axes if np.linalg.norm(axis) > _NO_DIRECTION]
    signed_axes = np.array([sign * axis for axis in axes for sign in (1, -1)])
    return list(_to_unit(signed_axes))


def _to_unit(rows: Floats) -> Floats:
    """Scale rows to unit length; a zero row becomes the first coordinate axis."""
    lengths: Floats = np.linalg.norm(rows, axis=-1, keepdims=True)
    first = np.eye(1, rows.shape[-1])
    return np.where(lengths > _NO_DIRECTION, rows / np.maximum(lengths, _NO_DIRECTION), first)


def _reject(rows: Floats, axis: Floats) -> Floats:
    """Remove the component along an axis."""
    return np.asarray(rows - np.outer(rows @ axis, axis))


class Lowest(NamedTuple):
    """Lowest loss, the vectors that reach it, and the number of evaluations."""

    loss: float
    matrix: Floats
    evaluations: int


def lowest(
    loss: _Loss,
    starts: Sequence[Floats],
    free: NDArray[np.intp],
    evaluations: int,
    *,
    enough: float = -np.inf,
    rng: np.random.Generator,
    repair: Callable[[Floats], Floats] = np.asarray,
) -> Lowest:
    """Minimise a loss: evaluate all starts, then follow the best by an evolution strategy (1+1).

    A step moves one ``free`` row of the matrix (words, dim), or all, on the unit sphere; its length
    grows when it succeeds and shrinks when it fails. ``repair`` maps a matrix to one that the
    search may evaluate. A loss that is not finite is worse than any other. The search ends at the
    loss ``enough``, or after this many ``evaluations`` beyond the starts.
    """
    evaluated_starts = sorted(
        ((_finite(loss(m := repair(start))), i, m) for i, start in enumerate(starts))
    )
    count = len(starts)
    best_loss, _, best = evaluated_starts[0]
    n_steps = evaluations // min(_BRANCHES, len(evaluated_starts))
    for start_loss, _, start in evaluated_starts[:_BRANCHES]:
        if best_loss <= enough:
            break
        current, current_loss, step = start, start_loss, _FIRST_STEP
        for _ in range(n_steps):
            rows = free if rng.random() < 0.5 else rng.choice(free, size=1)
            candidate = current.copy()
            candidate[rows] = _to_unit(current[rows] + step * rng.normal(size=current[rows].shape))
            candidate = repair(candidate)
            candidate_loss, count = _finite(loss(candidate)), count + 1
            factor = _GROW if candidate_loss < current_loss else _SHRINK
            step = min(max(step * factor, _SHORTEST_STEP), _LONGEST_STEP)
            if candidate_loss <= current_loss:
                current, current_loss = candidate, candidate_loss
            if step == _SHORTEST_STEP:
                step = _FIRST_STEP
            if current_loss <= enough:
                break
        if current_loss < best_loss:
            best_loss, best = current_loss, current
    return Lowest(best_loss, best, count)


def _finite(loss: float) -> float:
    return loss if np.isfinite(loss) else np.inf
