"""ATTRACT-REPEL on plain arrays: cost, gradient, negatives and optimiser (Mrkšić et al., 2017)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats, Ints, Singles

ATTRACT, REPEL = 1, -1
CLIP = 2.0


def attract_repel(
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
                gradient = batch_gradient(
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


def batch_gradient(
    current: Singles,
    original: Singles,
    positions: Ints,
    kind: int,
    rng: np.random.Generator,
    *,
    margin: float,
    regularisation: float,
) -> Singles:
    """Compute the clipped gradient of a batch's cost, one row per word of the batch.

    Shapes: current, original (words, dim); positions (2 B,), the words at l1, r1, l2, r2, ...;
    the result is as ``current``.
    """
    lengths: Singles = np.linalg.norm(current, axis=1, keepdims=True)
    units = current / lengths
    occurrences = units[positions]  # of words in the batch
    cosines = occurrences @ occurrences.T
    negatives = choose_negatives(cosines, kind, rng)
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
    np.clip(gradient, -CLIP, CLIP, out=gradient)
    indicator = np.zeros((len(current), len(owners)), dtype=np.float32)
    indicator[owners, np.arange(len(owners))] = 1
    return indicator @ gradient  # sums each word's rows several times faster than np.add.at


def _through_normalisation(gradient: Singles, units: Singles, lengths: Singles) -> None:
    """Map gradients with respect to u to those with respect to |w| u: (g - (g.u) u) / |w|."""
    along: Singles = np.einsum("ij,ij->i", gradient, units)
    gradient -= along[:, None] * units
    gradient /= lengths


def choose_negatives(cosines: Singles, kind: int, rng: np.random.Generator) -> Ints:
    """Return the position of each position's negative, from all cosines, shape (2 B, 2 B).

    It is the nearest (attract) or farthest (repel) position of another pair; with probability one
    half a random position of another pair.
    """
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


def _adagrad_step(
    rows: Singles, accumulator: Singles, words: Ints, gradient: Singles, learning_rate: float
) -> None:
    squares = accumulator[words] + gradient**2
    accumulator[words] = squares
    rows[words] = rows[words] - learning_rate * gradient / np.sqrt(squares)
