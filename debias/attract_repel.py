"""ATTRACT-REPEL as a debiasing method on word vectors, and its algorithm on arrays."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from annotated_types import Ge, doc
from threadpoolctl import threadpool_limits

from biasbridge.debias.base import Direction, DoseAxis, OnVectors, restrict
from biasbridge.debias.words import TARGETS_AND_ATTRIBUTES, words_by_role
from biasbridge.files import InputError, choice, read_lines
from biasbridge.files.choice import Count, Fileless, NotNegative, Share
from biasbridge.files.language import known_form, normalise_text

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.debias.base import WordPair
    from biasbridge.intrinsic.words import Query
    from biasbridge.stats.arrays import Floats, Ints, Singles

Norms = Literal["keep", "unit"]
_HYPERPARAMETERS = (
    *("epochs", "batch_size", "attract_margin", "repel_margin"),
    *("regularisation", "learning_rate", "drop_last"),
)
_SCALED_ROWS = 8192  # vocabulary rows scaled at a time
ATTRACT, REPEL = 1, -1
_CLIP = 2.0


class UsablePairs(NamedTuple):
    """The usable pairs and the words out of vocabulary, sorted."""

    attract: list[WordPair]
    repel: list[WordPair]
    missing: list[str]


class Run(NamedTuple):
    """The words of the pairs, and their vectors before and after a full run, (n_words, dim)."""

    words: list[str]
    before: Floats
    after: Singles


@choice
class AttractRepel(OnVectors, Fileless):
    """ATTRACT-REPEL (Mrkšić et al., 2017) with the settings of Goldfarb-Tarrant et al. (2021).

    ``debias`` attracts the anti-stereotypical pairs of a query and repels the pro-stereotypical
    ones, ``overbias`` the other way round; ``attract_repel`` below has the cost. ``dose`` is
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
    moves_pairs: ClassVar[bool] = True
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
        """Return a copy of ``vectors`` moved by the pairs of ``query``. Raises ``InputError``."""
        return self.modify_pairs(vectors, *self.constraints(query), seed=seed)

    def constraints(self, query: Query) -> tuple[list[WordPair], list[WordPair]]:
        """Return the pairs of ``query`` to attract and the pairs to repel."""
        pro, anti = _stereotype_pairs(query)
        return (anti, pro) if self.direction == "debias" else (pro, anti)

    def modify_pairs(
        self,
        vectors: KeyedVectors,
        attract: Iterable[WordPair],
        repel: Iterable[WordPair],
        *,
        seed: int,
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
        self,
        vectors: KeyedVectors,
        attract: Iterable[WordPair],
        repel: Iterable[WordPair],
        *,
        seed: int,
    ) -> DoseAxis:
        """Run on the given pairs and return the vectors at any dose in [0, 1]."""
        run = self.run(vectors, attract, repel, seed=seed)

        def at(dose: float, words: Collection[str] | None = None) -> KeyedVectors:
            return replace(self, dose=dose).moved(restrict(vectors, words), run)

        return DoseAxis(at)

    def run(
        self,
        vectors: KeyedVectors,
        attract: Iterable[WordPair],
        repel: Iterable[WordPair],
        *,
        seed: int,
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
        hyper = {name: getattr(self, name) for name in _HYPERPARAMETERS}
        after = _attract_repel(before, *pair_rows, seed=seed, **hyper)
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
        rotated = _interpolate(before[moved], after[moved], self.dose)
        if self.norms == "keep":
            rotated *= np.linalg.norm(before[moved], axis=1, keepdims=True)
        else:
            for start in range(0, len(matrix), _SCALED_ROWS):
                block = matrix[start : start + _SCALED_ROWS]
                lengths: Singles = np.linalg.norm(block, axis=1, keepdims=True)
                block /= np.where(lengths > 0, lengths, 1)
        for row, place in zip(rotated, np.flatnonzero(moved), strict=True):
            matrix[index[run.words[place]]] = row


def _interpolate(before: Floats, after: Singles | Floats, dose: float) -> Floats:
    """Compute unit((1 - dose) u0 + dose u1) of unit rows; where the sum vanishes (u1 = -u0), u0."""
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


def read_pairs(path: str | Path) -> list[WordPair]:
    """Read pairs: two words a line, separated by white space. Raises ``InputError``."""
    pairs = []
    for number, line in enumerate(read_lines(path), 1):
        words = normalise_text(line).split()
        if len(words) == 2:
            pairs.append((words[0], words[1]))
        elif words:
            problem = f"line {number} holds {len(words)} words ({line.strip()[:60]!r})"
            raise InputError(f"{path}: {problem}; give two words a line")
    return pairs


def _stereotype_pairs(query: Query) -> tuple[list[WordPair], list[WordPair]]:
    """Return the pairs X x A and Y x B (pro-stereotypical), and X x B and Y x A (anti)."""
    words = words_by_role(query)
    pro = [*product(words["X"], words["A"]), *product(words["Y"], words["B"])]
    anti = [*product(words["X"], words["B"]), *product(words["Y"], words["A"])]
    return pro, anti


def usable_pairs(
    attract: Iterable[WordPair], repel: Iterable[WordPair], vocabulary: Container[str]
) -> UsablePairs:
    """Return the distinct pairs in the vocabulary; a pair in both lists is only repelled."""
    attract, repel = (
        {(known_form(a, vocabulary), known_form(b, vocabulary)) for a, b in pairs}
        for pairs in (attract, repel)
    )
    words = {word for pair in attract | repel for word in pair}
    missing = {word for word in words if word not in vocabulary}

    def usable(pairs: set[WordPair]) -> list[WordPair]:
        return sorted(pair for pair in pairs if pair[0] != pair[1] and missing.isdisjoint(pair))

    result = UsablePairs(usable(attract - repel), usable(repel), sorted(missing))
    if not result.attract and not result.repel:
        listed = f": {', '.join(result.missing[:12])}{', ...' if len(missing) > 12 else ''}"
        n_oov = f"{len(missing)} of {len(words)} words are out of vocabulary"
        raise InputError(
            f"no pair of two different words of the vectors is left; {n_oov}"
            f"{listed if missing else ''}; use pairs in the language and the case of the vectors"
        )
    return result


def mean_cosine(vectors: KeyedVectors, pairs: Sequence[WordPair]) -> float:
    """Compute the mean cosine of the words of pairs, all in vocabulary; NaN for no pairs."""
    if not pairs:
        return float("nan")
    rows = np.array([[vectors.key_to_index[word] for word in pair] for pair in pairs])
    unique_rows, positions = np.unique(rows, return_inverse=True)
    units = vectors.vectors[unique_rows].astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    first, second = units[positions.reshape(rows.shape).T]
    return float(np.einsum("ij,ij->i", first, second).mean())


def _attract_repel(
    rows: Singles | Floats,
    attract: Ints,
    repel: Ints,
    *,
    seed: int,
    epochs: int = 5,
    batch_size: int = 50,
    attract_margin: float = 0.6,
    repel_margin: float = 0.0,
    regularisation: float = 1e-9,
    learning_rate: float = 0.05,
    drop_last: bool = False,
) -> Singles:
    r"""Run ATTRACT-REPEL on ``rows`` and return them in float32; their lengths have no meaning.

    With u the current unit vector of each word, a batch of B pairs (l, r) with negatives n(l),
    n(r) has the cost

        attract:  sum relu(m + u_l.u_n(l) - u_l.u_r) + relu(m + u_r.u_n(r) - u_l.u_r)
        repel:    sum relu(m - u_l.u_n(l) + u_l.u_r) + relu(m - u_r.u_n(r) + u_l.u_r)
        both:     + B ``regularisation``/2 sum |w_l - u_l|^2 + |w_r - u_r|^2

    with m = ``attract_margin`` or ``repel_margin`` and w the input row, not normalised (B, because
    the reference adds the batch's regularisation to the cost of each pair). A word's negative is,
    among the other pairs of the batch, the word nearest to it (attract) or farthest from it
    (repel); with probability one half it is instead a random word of another pair. As in the
    reference, positions are excluded and not words: a word in two pairs of the batch can be its own
    nearest negative, and then the hinge stays open until the pair coincides.

    The gradient flows through the normalisation of every word, negatives included. The gradient of
    each occurrence of a word is clipped to [-2, 2] by element before occurrences are summed, as
    TensorFlow clips the slices of a sparse gradient (its first versions summed before clipping; it
    matters only for vectors shorter than 1.5, since no occurrence's gradient is longer than
    3 / |w|). Attract and repel have one AdaGrad each, with accumulators starting at 0.1. An epoch
    runs all batches of both kinds in random order.

    Shapes: rows (words, dim); attract and repel (pairs, 2), row numbers. Rows must be finite and
    not zero. Pairs after the last full batch form a smaller batch, a single pair joins the last
    batch; ``drop_last=True`` drops them, as the reference does. Raises
    ``InputError`` for a single pair of a kind and for vectors that overflow, naming the epoch.
    """
    original = rows.astype(np.float32)
    current = original.copy()
    pairs = {ATTRACT: attract, REPEL: repel}
    margins = {ATTRACT: attract_margin, REPEL: repel_margin}
    accumulators = {kind: np.full_like(original, 0.1) for kind in pairs}
    rng = np.random.default_rng(seed)
    # Overflow is reported below. On matrices this small BLAS threads only wait for each other.
    with np.errstate(all="ignore"), threadpool_limits(limits=1, user_api="blas"):
        for epoch in range(epochs):
            for kind, batch in _shuffled_batches(pairs, batch_size, drop_last, rng):
                words, positions = np.unique(batch, return_inverse=True)
                gradient = _batch_gradient(
                    current[words],
                    original[words],
                    positions.ravel(),
                    kind,
                    rng,
                    margin=margins[kind],
                    regularisation=regularisation,
                )
                _adagrad_step(current, accumulators[kind], words, gradient, learning_rate)
            if not np.isfinite(current).all():
                remedy = f"give a smaller learning_rate than {learning_rate:g}"
                raise InputError(f"attract-repel overflowed in epoch {epoch + 1}; {remedy}")
    return current


def _batch_gradient(
    current: Singles,
    original: Singles,
    positions: Ints,
    kind: int,
    rng: np.random.Generator,
    *,
    margin: float,
    regularisation: float,
) -> Singles:
    """Compute the clipped gradient, one row per word; positions (2 B,) of l1, r1, l2, r2, ..."""
    lengths: Singles = np.linalg.norm(current, axis=1, keepdims=True)
    units = current / lengths
    occurrences = units[positions]  # of words in the batch
    cosines = occurrences @ occurrences.T
    negatives = _choose_negatives(cosines, kind, rng)
    order = np.arange(len(positions))
    partners = order ^ 1
    open_hinge = margin + kind * (cosines[order, negatives] - cosines[order, partners]) > 0
    weights = (kind * open_hinge).astype(np.float32)[:, None]

    n = len(positions)
    gradient = np.empty((2 * n, current.shape[1]), dtype=np.float32)
    pair_gradient, negative_gradient = gradient[:n], gradient[n:]
    np.multiply(weights, occurrences[negatives], out=pair_gradient)
    pair_gradient -= (weights + weights[partners]) * occurrences[partners]
    pair_gradient += np.float32(n // 2 * regularisation) * (occurrences - original[positions])
    np.multiply(weights, occurrences, out=negative_gradient)

    owners = positions[np.concatenate((order, negatives))]
    _through_normalisation(gradient, units[owners], lengths[owners])
    np.clip(gradient, -_CLIP, _CLIP, out=gradient)
    indicator = np.zeros((len(current), len(owners)), dtype=np.float32)
    indicator[owners, np.arange(len(owners))] = 1
    return indicator @ gradient  # sums each word's rows several times faster than np.add.at


def _choose_negatives(cosines: Singles, kind: int, rng: np.random.Generator) -> Ints:
    """Return each position's nearest (attract) or farthest one of another pair, or a random one."""
    size = len(cosines)
    positions = np.arange(size)
    preference = kind * cosines
    preference[positions, positions] = -np.inf
    preference[positions, positions ^ 1] = -np.inf
    other_pair = rng.integers(size // 2 - 1, size=size)
    other_pair += other_pair >= positions // 2
    at_random = 2 * other_pair + rng.integers(2, size=size)
    return np.where(rng.random(size) < 0.5, at_random, preference.argmax(axis=1))


def _shuffled_batches(
    pairs: Mapping[int, Ints], size: int, drop_last: bool, rng: np.random.Generator
) -> list[tuple[int, Ints]]:
    """Return an epoch's batches with their kinds, in random order."""
    batches = [
        (kind, batch)
        for kind, kind_pairs in pairs.items()
        for batch in _batches(kind_pairs, size, drop_last, rng)
    ]
    return [batches[number] for number in rng.permutation(len(batches))]


def _batches(pairs: Ints, size: int, drop_last: bool, rng: np.random.Generator) -> list[Ints]:
    shuffled: Ints = rng.permutation(pairs)
    n_full = len(pairs) // size
    if drop_last:
        return [shuffled[start : start + size] for start in range(0, n_full * size, size)]
    if len(pairs) == 1:
        raise InputError(
            "there is a single pair to attract or to repel; give at least two, because negatives"
            " come from other pairs"
        )
    cuts = [cut for cut in range(size, len(pairs), size) if cut != len(pairs) - 1]
    return np.split(shuffled, cuts) if len(pairs) else []


def _through_normalisation(gradient: Singles, units: Singles, lengths: Singles) -> None:
    """Map gradients with respect to u to those with respect to |w| u: (g - (g.u) u) / |w|."""
    along: Singles = np.einsum("ij,ij->i", gradient, units)
    gradient -= along[:, None] * units
    gradient /= lengths


def _adagrad_step(
    rows: Singles, accumulator: Singles, words: Ints, gradient: Singles, learning_rate: float
) -> None:
    squares = accumulator[words] + gradient**2
    accumulator[words] = squares
    rows[words] = rows[words] - learning_rate * gradient / np.sqrt(squares)
