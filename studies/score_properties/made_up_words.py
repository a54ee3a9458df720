"""A metric on words that are made up: their vectors are what a search varies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from files import InputError
from intrinsic.found_query import FoundQuery
from intrinsic.lookup import Floats, Found, means
from intrinsic.wordsets import Query, WordSet
from intrinsic.wordsets.wordset import width_of

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from intrinsic.metric import Metric

TARGETS = ("X", "Y", "words", "partners", "rows")
NEUTRAL = slice(2, 8)  # of a row: what follows its definition
VOCABULARY = "vocabulary"
NO_DIRECTION = 1e-9
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Roles:
    """Which of a metric's roles are target words, and which the groups they are held against.

    Two groups of single words, or the first and the second words of base pairs. ``vocabulary``:
    whether the metric searches one, whose words are neutral as well.
    """

    targets: tuple[str, ...]
    groups: tuple[str, ...]
    vocabulary: bool

    @classmethod
    def of(cls, metric: Metric) -> Roles:
        """Raises ``InputError`` for a metric that holds no words against groups."""
        takes = [role for role in ("X", "Y", "A", "B") if metric.about.takes(role)]
        searched = VOCABULARY in metric.options()
        if "pairs" in metric.about.roles:
            targets = [role for role in TARGETS if metric.about.takes(role)]
            if not (targets or searched):
                raise InputError(f"{metric.name} holds no words against its base pairs")
            return cls(tuple(targets), ("pairs",), searched)
        if takes == ["X", "Y", "A"]:  # there the attributes are neutral, and X and Y the groups
            return cls(("A",), ("X", "Y"), searched)
        targets = [role for role in TARGETS if metric.about.takes(role)]
        if not targets or "B" not in takes:
            raise InputError(f"{metric.name} holds no words against groups of attributes")
        return cls(tuple(targets), ("A", "B"), searched)


class MadeUp:
    """The words of a metric's roles, so many items in each; a matrix (words, dim) gives them
    vectors.

    ``neutral``: the places of the target words, those of the vocabulary aside if the metric
    measures others; ``free``: all places but those of the groups; ``grouped``: those of each group.
    """

    def __init__(self, metric: Metric, items: int, attributes: int, vocabulary: int) -> None:
        self._metric, self.roles = metric, Roles.of(metric)
        about = metric.about
        sizes = dict.fromkeys(self.roles.targets, items)
        sizes |= dict.fromkeys(self.roles.groups, attributes)
        sizes = {role: max(size, about.fewest.get(role, 1)) for role, size in sizes.items()}
        shapes = {role: (size, width_of(role) or 1) for role, size in sizes.items()}
        if self.roles.vocabulary:
            shapes[VOCABULARY] = (vocabulary, 1)
        ends = np.cumsum([0, *(size * width for size, width in shapes.values())])
        self._shapes, self.words = shapes, int(ends[-1])
        self.places: dict[str, Places] = {
            role: np.arange(start, end)
            for role, start, end in zip(shapes, ends[:-1], ends[1:], strict=True)
        }
        if self.roles.groups == ("pairs",):
            self.grouped = [self.places["pairs"][0::2], self.places["pairs"][1::2]]
        else:
            self.grouped = [self.places[role] for role in self.roles.groups]
        attribute = np.concatenate(self.grouped)
        self.free: Places = np.setdiff1d(np.arange(self.words), attribute)
        measured = [self._neutral(role) for role in self.roles.targets]
        self.neutral: Places = np.concatenate(measured or [self.places[VOCABULARY]])

    def _neutral(self, role: str) -> Places:
        size, width = self._shapes[role]
        places = self.places[role].reshape(size, width)
        return (places[:, NEUTRAL] if role == "rows" else places).ravel()

    @cached_property
    def _query(self) -> Query:
        sets = {
            role: WordSet(
                role,
                tuple(self._names[place] for place in self.places[role]),
                "und",
                "made up",
                width=width,
                values=tuple(map(float, range(size))) if role == "words" else (),
            )
            for role, (size, width) in self._shapes.items()
            if role != VOCABULARY
        }
        return Query("made_up", sets, "und")

    @cached_property
    def _names(self) -> list[str]:
        letters = "abcdefghijklmnopqrstuvwxyz"
        return ["".join(name) for name in product(letters, repeat=3)][: self.words]

    def found(self, matrix: Floats) -> FoundQuery:
        """The query as it would be found in vectors of these words."""
        sets = {}
        for role, wordset in self._query.sets.items():
            rows = matrix[self.places[role]]
            shape = rows.reshape(-1, wordset.width, rows.shape[1])
            raw = rows if wordset.width == 1 else shape
            sets[role] = Found(wordset.items, (), raw, wordset.values)
        return FoundQuery(self._query, self._vectors(matrix), sets, self._left_out)

    def _vectors(self, matrix: Floats) -> KeyedVectors:
        if not self.roles.vocabulary:
            return self._no_vectors
        from files.vectors import keyed

        places = self.places[VOCABULARY]
        return keyed([self._names[place] for place in places], matrix[places].astype(np.float32))

    @cached_property
    def _no_vectors(self) -> KeyedVectors:
        from files.vectors import keyed

        return keyed(["none"], np.ones((1, 1), dtype=np.float32))

    @cached_property
    def _left_out(self) -> frozenset[str]:
        return frozenset(self._query["pairs"].words if "pairs" in self._query.sets else ())

    def scores(self, matrix: Floats, seed: int) -> Mapping[str, float]:
        """The metric's value by part; none where it has none."""
        words = self.found(matrix)
        try:
            words.require_directions()
            measured = self._metric.measure(words, seed)
        except InputError:
            return {}
        if isinstance(measured, Mapping):
            return {part: one.value for part, one in measured.items()}
        return {"": measured.value}

    def unbiased(self, matrix: Floats, seed: int) -> Mapping[str, float]:
        """The value by part that means no bias; NaN where the metric has none."""
        declared = self._metric.about.unbiased
        usual = math.nan if declared is None else declared
        measured = self._metric.measure(self.found(matrix), seed)
        parts = measured if isinstance(measured, Mapping) else {"": measured}
        return {
            part: usual if one.unbiased is None else one.unbiased for part, one in parts.items()
        }

    def between(self, matrix: Floats) -> Floats:
        """The difference of the groups' mean attributes, at unit length each. Shape (dim,)."""
        first, second = means(unit(matrix[places]) for places in self.grouped)
        return np.asarray(first - second)

    def biases(self, matrix: Floats) -> Floats:
        """s(t, A) - s(t, B) of every neutral word. Shape (neutral,)."""
        return np.asarray(unit(matrix[self.neutral]) @ self.between(matrix))

    def without_bias(self, matrix: Floats) -> Floats:
        """The same with all but the groups turned until they are equally near both."""
        axis = self.between(matrix)
        length = float(np.linalg.norm(axis))
        if length < NO_DIRECTION:
            return matrix
        axis = axis / length
        # A row along the axis has no direction left; any that is orthogonal does
        spare = np.eye(len(axis))[np.abs(axis).argmin()]
        rows = _across(matrix[self.free], axis)
        rows[np.linalg.norm(rows, axis=1) < NO_DIRECTION] = spare
        turned = matrix.copy()
        turned[self.free] = unit(_across(_across(rows, axis), axis))  # again: rounding
        return turned

    def alike(self, matrix: Floats) -> Floats:
        """The same with every target word where the first one is."""
        same = matrix.copy()
        same[self.free] = matrix[self.free[0]]
        return same

    def described(self, matrix: Floats) -> dict[str, list[list[float]]]:
        """The vectors by role, as JSON."""
        return {role: matrix[places].tolist() for role, places in self.places.items()}


def _across(rows: Floats, axis: Floats) -> Floats:
    return np.asarray(rows - np.outer(rows @ axis, axis))


def unit(rows: Floats) -> Floats:
    """The rows at unit length; a zero row as the first axis."""
    lengths: Floats = np.linalg.norm(rows, axis=-1, keepdims=True)
    first = np.eye(1, rows.shape[-1])
    return np.where(lengths > NO_DIRECTION, rows / np.maximum(lengths, NO_DIRECTION), first)


def attribute_sets(made_up: MadeUp, count: int, dim: int, rng: np.random.Generator) -> list[Floats]:
    """Vectors of all words, of which those of the groups matter: near each other, apart, opposite,
    and with a direction of its own for every pair of attributes, in turn.
    """
    every = []
    for number in range(count):
        matrix = unit(rng.normal(size=(made_up.words, dim)))
        first, second = made_up.grouped
        size = min(len(first), len(second))
        kind = KINDS[number % len(KINDS)]
        if kind == "near":
            matrix[second[:size]] = unit(matrix[first[:size]] + 0.2 * matrix[second[:size]])
        elif kind == "opposite":
            axis = unit(rng.normal(size=(1, dim)))
            matrix[first] = unit(axis + 0.2 * matrix[first])
            matrix[second] = unit(-axis + 0.2 * matrix[second])
        elif kind == "crossed":
            # One pair far apart across the difference of all others
            axes = np.eye(dim)[: min(dim, 2)]
            matrix[first] = unit(axes[0] + 3 * axes[-1])
            matrix[second] = unit(-axes[0] + 3 * axes[-1])
            matrix[first[1::2]] = unit(axes[0] - 3 * axes[-1])
            matrix[second[1::2]] = unit(-axes[0] - 3 * axes[-1])
            matrix[first[:1]], matrix[second[:1]] = unit(axes[:1] + 1e-3), unit(-axes[:1])
        every.append(matrix)
    return every


KINDS = ("near", "apart", "opposite", "crossed")


def target_starts(made_up: MadeUp, matrix: Floats) -> list[Floats]:
    """The same with targets along the directions that the attributes have: their groups'
    difference and sum, the first pair's difference, the first and the last principal component of
    all pairs'; all along one, or half of them along another, by blocks or in turn.
    """
    along = _directions(made_up, matrix)
    free = made_up.free
    blocks = np.arange(len(free)) >= len(free) // 2
    turns = np.arange(len(free)) % 2 == 1
    starts = []
    for (i, one), (j, other) in product(enumerate(along), repeat=2):
        for second in [blocks] if i == j else [blocks, turns]:
            started = matrix.copy()
            started[free] = np.where(second[:, None], other, one)
            starts.append(started)
    return starts


def carried_over(made_up: MadeUp, others: Sequence[Floats], matrix: Floats) -> list[Floats]:
    """The targets of other matrices beside the attributes of this one: as they are, and turned as
    the attributes must be turned to lie nearest these (orthogonal Procrustes).
    """
    attributes, starts = np.concatenate(made_up.grouped), []
    for other in others:
        left, _, right = np.linalg.svd(other[attributes].T @ matrix[attributes])
        for turn in (np.eye(matrix.shape[1]), left @ right):
            started = matrix.copy()
            started[made_up.free] = other[made_up.free] @ turn
            starts.append(started)
    return starts


def _directions(made_up: MadeUp, matrix: Floats) -> list[Floats]:
    first, second = (unit(matrix[places]) for places in made_up.grouped)
    size = min(len(first), len(second))
    apart = first[:size] - second[:size]
    axes: Sequence[Floats] = [
        made_up.between(matrix),
        first.mean(axis=0) + second.mean(axis=0),
        apart[0],
        *np.linalg.svd(apart)[2][[0, -1]],
    ]
    axes = [axis for axis in axes if np.linalg.norm(axis) > NO_DIRECTION]
    ends = np.array([sign * axis for axis in axes for sign in (1, -1)])
    return list(unit(ends))
