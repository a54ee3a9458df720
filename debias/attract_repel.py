"""ATTRACT-REPEL as a debiasing method on word vectors, with a dose."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from annotated_types import Ge, doc

from biasbridge.debias.base import Direction, DoseAxis, OnVectors, restrict
from biasbridge.debias.constraints import stereotype_pairs, usable_pairs
from biasbridge.debias.margins import attract_repel
from biasbridge.debias.roles import TARGETS_AND_ATTRIBUTES
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, Fileless, NotNegative, Share

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.debias.base import Pair
    from biasbridge.intrinsic.wordsets import Query
    from biasbridge.stats.arrays import Floats, Singles

Norms = Literal["keep", "unit"]
HYPERPARAMETERS = (
    *("epochs", "batch_size", "attract_margin", "repel_margin"),
    *("regularisation", "learning_rate", "drop_last"),
)
ROWS = 8192  # vocabulary rows scaled at a time


class Run(NamedTuple):
    """The words of the pairs, and their vectors before and after a full run, (n_words, dim)."""

    words: list[str]
    before: Floats
    after: Singles


@choice
class AttractRepel(OnVectors, Fileless):
    """ATTRACT-REPEL (Mrkšić et al., 2017) with the settings of Goldfarb-Tarrant et al. (2021).

    ``debias`` attracts the anti-stereotypical pairs of a query and repels the pro-stereotypical
    ones, ``overbias`` the other way round; ``biasbridge.debias.margins`` has the cost. ``dose`` is
    the share of the way that each word moves. With u0 and u1 its unit vectors before and after the
    full run, its direction becomes

        p(dose) = (1 - dose) u0 + dose u1

    The angle moved never falls as the dose grows: with t the angle between u0 and u1, its
    derivative is sin(t) / |p|^2 >= 0. If u1 is exactly opposite to u0, the word stays at u0 up to
    dose 0.5, where p vanishes, and is at u1 above it. Dose 0 is the input, bit by bit.

    ``norms="keep"`` keeps the length of every vector, so that a classifier sees words rotated and
    not rescaled (vector length follows frequency; rescaling the whole vocabulary, as the reference
    does, would confound the effect of the bias); words that did not move keep their bits.
    ``norms="unit"`` is the reference's output: every word of the vocabulary has length 1 (zero
    vectors stay zero), at any dose above 0. ``drop_last=True`` is the reference's batching.
    """

    version: ClassVar[int] = 2
    name: ClassVar[str] = "attract_repel"
    roles: ClassVar[tuple[str, ...]] = TARGETS_AND_ATTRIBUTES
    configuration: ClassVar[Mapping[str, object]] = {"direction": "debias"}

    direction: Annotated[Direction, doc("or overbias")]
    dose: Annotated[
        Share, doc("share of the way from the unmodified to the fully changed vectors, in [0, 1]")
    ] = 1
    epochs: Count = 5
    batch_size: Annotated[int, Ge(2)] = 50
    attract_margin: NotNegative = 0.6
    repel_margin: NotNegative = 0.0
    regularisation: NotNegative = 1e-9
    learning_rate: NotNegative = 0.05
    drop_last: Annotated[
        bool, doc("true: drop the pairs after the last full batch, as in the reference")
    ] = False
    norms: Annotated[
        Norms, doc("keep the lengths of vectors; unit: scale all to length 1, as in the reference")
    ] = "keep"

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        """Return a copy of ``vectors`` moved by the pairs of ``query``.

        Raises ``InputError`` if no pair is in the vocabulary (it names the missing words), for a
        word whose vector is zero or not finite, and as ``words_by_role`` does.
        """
        return self.modify_pairs(vectors, *self.constraints(query), seed=seed)

    def constraints(self, query: Query) -> tuple[list[Pair], list[Pair]]:
        """Return the pairs of ``query`` to attract and the pairs to repel."""
        pro, anti = stereotype_pairs(query)
        return (anti, pro) if self.direction == "debias" else (pro, anti)

    def modify_pairs(
        self, vectors: KeyedVectors, attract: Iterable[Pair], repel: Iterable[Pair], *, seed: int
    ) -> KeyedVectors:
        """Return a copy moved by the given pairs; ``direction`` is ignored."""
        return self.pairs_dose_axis(vectors, attract, repel, seed=seed).at(self.dose)

    def dose_axis(self, vectors: KeyedVectors, query: Query, *, seed: int) -> DoseAxis:
        """Return the vectors at any dose in [-1, 1]; each direction runs once, on first use."""

        @cache
        def axis_of(direction: Direction) -> DoseAxis:
            pairs = replace(self, direction=direction).constraints(query)
            return self.pairs_dose_axis(vectors, *pairs, seed=seed)

        def at(dose: float, words: Collection[str] | None = None) -> KeyedVectors:
            method = self.with_dose(dose)
            if dose:
                return axis_of(method.direction).at(method.dose, words)
            return method.moved(restrict(vectors, words), None)

        return DoseAxis(at)

    def pairs_dose_axis(
        self, vectors: KeyedVectors, attract: Iterable[Pair], repel: Iterable[Pair], *, seed: int
    ) -> DoseAxis:
        """Run on the given pairs and return the vectors at any dose in [0, 1]."""
        run = self.run(vectors, attract, repel, seed=seed)

        def at(dose: float, words: Collection[str] | None = None) -> KeyedVectors:
            return replace(self, dose=dose).moved(restrict(vectors, words), run)

        return DoseAxis(at)

    def run(
        self, vectors: KeyedVectors, attract: Iterable[Pair], repel: Iterable[Pair], *, seed: int
    ) -> Run:
        """Run ATTRACT-REPEL in full; ``dose`` is ignored."""
        usable = usable_pairs(attract, repel, vectors.key_to_index)
        words = sorted({word for pair in usable.attract + usable.repel for word in pair})
        position = {word: number for number, word in enumerate(words)}
        touched = np.array([vectors.key_to_index[word] for word in words])
        before = vectors.vectors[touched].astype(np.float64)
        _check_rows(before, words)
        pair_rows = (
            np.array([[position[a], position[b]] for a, b in pairs], dtype=np.intp).reshape(-1, 2)
            for pairs in (usable.attract, usable.repel)
        )
        hyper = {name: getattr(self, name) for name in HYPERPARAMETERS}
        after = attract_repel(before, *pair_rows, seed=seed, **hyper)
        return Run(words, before, after)

    def moved(self, vectors: KeyedVectors, run: Run | None) -> KeyedVectors:
        """Return a copy of ``vectors`` in which the words of a run are moved by the dose."""
        matrix = np.array(vectors.vectors)
        if run and self.dose > 0:
            self._write(matrix, vectors.key_to_index, run)
        from biasbridge.files.vectors import (
            with_matrix,  # loads gensim: not before there are vectors
        )

        return with_matrix(vectors, matrix)

    def _write(self, matrix: Singles, index: Mapping[str, int], run: Run) -> None:
        before, after = run.before, run.after
        moved = (before.astype(np.float32) != after).any(axis=1)
        moved &= np.array([word in index for word in run.words])
        rotated = interpolate(before[moved], after[moved], self.dose)
        if self.norms == "keep":
            rotated *= np.linalg.norm(before[moved], axis=1, keepdims=True)
        else:
            for start in range(0, len(matrix), ROWS):
                block = matrix[start : start + ROWS]
                lengths: Singles = np.linalg.norm(block, axis=1, keepdims=True)
                block /= np.where(lengths > 0, lengths, 1)
        for row, place in zip(rotated, np.flatnonzero(moved), strict=True):
            matrix[index[run.words[place]]] = row


def interpolate(before: Floats, after: Singles | Floats, dose: float) -> Floats:
    """Compute unit((1 - dose) u0 + dose u1), u0 and u1 the unit rows of ``before`` and ``after``.

    If the sum vanishes (u1 = -u0 and dose 0.5), the row is u0.
    """
    start: Floats = before / np.linalg.norm(before, axis=1, keepdims=True)
    end = after / np.linalg.norm(after.astype(np.float64), axis=1, keepdims=True)
    point = (1 - dose) * start + dose * end
    length: Floats = np.linalg.norm(point, axis=1, keepdims=True)
    np.divide(point, length, out=start, where=length > 1e-6)
    return start


def _check_rows(rows: Floats, words: list[str]) -> None:
    for word, length in zip(words, np.linalg.norm(rows, axis=1), strict=True):
        if not 0 < length < np.inf:
            problem = f"the vector of {word!r} is zero or not finite and has no direction"
            raise InputError(f"{problem}; leave the word out of the pairs")
