"""ATTRACT-REPEL on plain arrays: cost, gradient, negatives and optimiser (Mrkšić et al., 2017)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from files import InputError

Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]
Indices = NDArray[np.intp]

ATTRACT, REPEL = 1, -1
CLIP = 2.0


def attract_repel(
    rows: Singles | Doubles,
    attract: Indices,
    repel: Indices,
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
    r"""``rows`` in float32, after pulling pairs together and others apart; lengths mean nothing.

    With u the unit vector of each word as it stands, a batch of B pairs (l, r) with negatives n(l),
    n(r) has the cost

        attract:  sum relu(m + u_l.u_n(l) - u_l.u_r) + relu(m + u_r.u_n(r) - u_l.u_r)
        repel:    sum relu(m - u_l.u_n(l) + u_l.u_r) + relu(m - u_r.u_n(r) + u_l.u_r)
        both:     + B ``regularisation``/2 sum |w_l - u_l|^2 + |w_r - u_r|^2

    with m = ``attract_margin`` or ``repel_margin`` and w the row as given, not normalised (B,
    because the reference adds the batch's regularisation to the cost of each pair). A word's
    negative is, among the other pairs of the batch, the word nearest to it (attract) or farthest
    from it (repel); with probability one half it is instead either word of another pair drawn at
    random. As in the reference, places are excluded and not words: a word that is in two pairs of
    the batch can be its own nearest negative, and then the hinge stays open until the pair
    coincides.

    The gradient flows through the normalisation of every word, the negatives' too. Each occurrence
    of a word has its gradient clipped to [-2, 2] by element before they are summed, as TensorFlow
    clips the slices of a sparse gradient (its first versions summed before; it matters only for
    vectors shorter than 1.5, since no occurrence's gradient is longer than 3 / |w|). Attract and
    repel have an AdaGrad each, accumulators starting at 0.1. An epoch runs all batches of both
    kinds in random order.

    Shapes: rows (words, dim); attract and repel (pairs, 2), row numbers. Rows must be finite and
    not zero. The pairs left over after the last full batch make a smaller one, or join the last if
    it is a single pair; ``drop_last=True`` leaves them out, as the reference does. Raises
    ``InputError`` for a single pair of a kind and for vectors that overflow, naming the epoch.
    """
    original = rows.astype(np.float32)
    current = original.copy()
    pairs = {ATTRACT: attract, REPEL: repel}
    margins = {ATTRACT: attract_margin, REPEL: repel_margin}
    accumulators = {kind: np.full_like(original, 0.1) for kind in pairs}
    rng = np.random.default_rng(seed)
    # What overflows is reported below; and on matrices this small several BLAS threads only wait
    # for one another.
    with np.errstate(all="ignore"), threadpool_limits(limits=1, user_api="blas"):
        for epoch in range(epochs):
            for kind, batch in _shuffled_batches(pairs, batch_size, drop_last, rng):
                words, places = np.unique(batch, return_inverse=True)
                gradient = batch_gradient(
                    current[words],
                    original[words],
                    places.ravel(),
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
    places: Indices,
    kind: int,
    rng: np.random.Generator,
    *,
    margin: float,
    regularisation: float,
) -> Singles:
    """The clipped gradient of one batch's cost, a row for each word of the batch.

    Shapes: current, original (words, dim); places (2 B,), the words at l1, r1, l2, r2, ...; the
    result is as ``current``.
    """
    lengths: Singles = np.linalg.norm(current, axis=1, keepdims=True)
    units = current / lengths
    at_place = units[places]
    cosines = at_place @ at_place.T
    negatives = choose_negatives(cosines, kind, rng)
    every = np.arange(len(places))
    partners = every ^ 1
    open_hinge = margin + kind * (cosines[every, negatives] - cosines[every, partners]) > 0
    weights = (kind * open_hinge).astype(np.float32)[:, None]

    gradient = np.empty((2 * len(places), current.shape[1]), dtype=np.float32)
    of_pairs, of_negatives = gradient[: len(places)], gradient[len(places) :]
    np.multiply(weights, at_place[negatives], out=of_pairs)
    of_pairs -= (weights + weights[partners]) * at_place[partners]
    of_pairs += np.float32(len(places) // 2 * regularisation) * (at_place - original[places])
    np.multiply(weights, at_place, out=of_negatives)

    owners = places[np.concatenate((every, negatives))]
    _through_normalisation(gradient, units[owners], lengths[owners])
    np.clip(gradient, -CLIP, CLIP, out=gradient)
    of_word = np.zeros((len(current), len(owners)), dtype=np.float32)
    of_word[owners, np.arange(len(owners))] = 1
    return of_word @ gradient  # the sum of each word's rows; np.add.at takes several times as long


def _through_normalisation(gradient: Singles, units: Singles, lengths: Singles) -> None:
    """Turn gradients by unit vectors u into those by the vectors |w| u, in place:
    (g - (g.u) u) / |w|.
    """
    along: Singles = np.einsum("ij,ij->i", gradient, units)
    gradient -= along[:, None] * units
    gradient /= lengths


def choose_negatives(cosines: Singles, kind: int, rng: np.random.Generator) -> Indices:
    """The place of the negative of each place, from the cosines of all places, shape (2 B, 2 B).

    Nearest (attract) or farthest (repel) among the places of other pairs; with probability one half
    a random place of another pair.
    """
    size = len(cosines)
    every = np.arange(size)
    preference = kind * cosines
    preference[every, every] = -np.inf
    preference[every, every ^ 1] = -np.inf
    other_pair = rng.integers(size // 2 - 1, size=size)
    other_pair += other_pair >= every // 2
    at_random = 2 * other_pair + rng.integers(2, size=size)
    return np.where(rng.random(size) < 0.5, at_random, preference.argmax(axis=1))


def _shuffled_batches(
    pairs: Mapping[int, Indices], size: int, drop_last: bool, rng: np.random.Generator
) -> list[tuple[int, Indices]]:
    """An epoch's batches of both kinds in random order, each with its kind."""
    batches = [
        (kind, batch)
        for kind, of_kind in pairs.items()
        for batch in _batches(of_kind, size, drop_last, rng)
    ]
    return [batches[number] for number in rng.permutation(len(batches))]


def _batches(pairs: Indices, size: int, drop_last: bool, rng: np.random.Generator) -> list[Indices]:
    """The pairs in random order, cut into batches."""
    shuffled: Indices = rng.permutation(pairs)
    whole = len(pairs) // size
    if drop_last:
        return [shuffled[start : start + size] for start in range(0, whole * size, size)]
    if len(pairs) == 1:
        raise InputError(
            "there is a single pair to attract or to repel; give at least two, since each finds its"
            " negatives in the others"
        )
    cuts = [cut for cut in range(size, len(pairs), size) if cut != len(pairs) - 1]
    return np.split(shuffled, cuts) if len(pairs) else []


def _adagrad_step(
    rows: Singles, accumulator: Singles, words: Indices, gradient: Singles, learning_rate: float
) -> None:
    """Move the rows of the batch's words, in place."""
    squares = accumulator[words] + gradient**2
    accumulator[words] = squares
    rows[words] = rows[words] - learning_rate * gradient / np.sqrt(squares)
