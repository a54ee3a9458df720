"""RNSB over nested subsets: every classifier starts at the one of the subset before.

The classifiers of all runs are trained side by side. Each minimises |w|^2 / 2 + sum of the logistic
losses of its own subset of the words; so the margins of all runs are one product of matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from intrinsic.lookup import Floats, means
from intrinsic.metrics.sentiment import logistic_regression, negative_sentiment
from studies.silhouettes.subsets import Places, Subsets, running_sums

if TYPE_CHECKING:
    from intrinsic.found_query import FoundQuery
    from intrinsic.metrics.sentiment import NegativeSentiment

Flags = NDArray[np.bool_]

RUNS = 100  # trained side by side: their curvatures fill 36 MB at 300 dimensions
GROWN = 1.5  # a curvature serves until its subset has grown by so much
CLOSE = 1e-10  # Newton's decrement, squared, before the last step, which leaves a tenth or less
MOST_STEPS = 12  # with an old curvature, then the classifier is trained anew
SLOW = 0.5  # of the decrement left after a step: the curvature is no longer that of the subset


def rnsb_of_targets(metric: NegativeSentiment, words: FoundQuery, subsets: Subsets) -> Floats:
    """RNSB of subsets of the target words, (runs, steps): one classifier serves all."""
    rows = {role: each.raw for role, each in words.targets.items()}
    attributes = (words["A"].raw, words["B"].raw)
    found = np.empty(subsets.shape)
    if metric.unit == "group":
        for row, sums in zip(found, running_sums(rows, subsets), strict=True):
            centres = np.array(
                [
                    each / subsets.counts[role][:, None]
                    for role, each in zip(rows, sums, strict=True)
                ]
            )
            likely = negative_sentiment(
                *attributes,
                centres.reshape(-1, centres.shape[2]),
                penalise_intercept=metric.penalise_intercept,
            )
            row[:] = divergence(likely.reshape(centres.shape[:2]))
        return found
    verdicts = {
        role: negative_sentiment(*attributes, each, penalise_intercept=metric.penalise_intercept)
        for role, each in rows.items()
    }
    powers = {role: np.column_stack([f, xlogy(f, f)]) for role, f in verdicts.items()}
    n = np.sum([subsets.counts[role] for role in rows], axis=0)
    for row, sums in zip(found, running_sums(powers, subsets), strict=True):
        total, entropy = np.sum(sums, axis=0).T
        row[:] = np.where(n > 1, entropy / total - np.log(total) + np.log(n), np.nan)
    return found


def rnsb_of_attributes(metric: NegativeSentiment, words: FoundQuery, subsets: Subsets) -> Floats:
    """RNSB of subsets of the attribute words, (runs, steps): one classifier each."""
    groups = words.targets.values()
    targets = (
        means(each.raw for each in groups)
        if metric.unit == "group"
        else np.concatenate([each.raw for each in groups])
    )
    found = np.empty(subsets.shape)
    for start in range(0, len(found), RUNS):
        part = slice(start, start + RUNS)
        chosen = {role: orders[part] for role, orders in subsets.orders.items()}
        found[part] = classify_along(
            words["A"].raw,
            words["B"].raw,
            targets,
            subsets._replace(orders=chosen),
            penalise_intercept=metric.penalise_intercept,
        )
    return found


def divergence(likely: Floats) -> Floats:
    """``divergence_from_uniform`` of every column. Shapes: (n, columns) -> (columns,)."""
    shares = likely / likely.sum(axis=0)
    return np.asarray(xlogy(shares, shares * len(shares)).sum(axis=0))


def classify_along(
    positive: Floats,
    negative: Floats,
    targets: Floats,
    subsets: Subsets,
    *,
    penalise_intercept: bool,
) -> Floats:
    """The divergences of the targets' verdicts, (runs, steps)."""
    fits = Classifiers(positive, negative, subsets, penalise_intercept)
    found = np.empty(subsets.shape)
    for step in range(len(subsets.sizes)):
        fits.train(step)
        found[:, step] = divergence(expit(targets @ fits.weights[:-1] + fits.weights[-1]))
    return found


class Step(NamedTuple):
    """How far the weights moved, and how much the slope changed by it. Shapes: (dim + 1, runs)."""

    moved: Floats
    bend: Floats

    def share(self, along: Floats, of: Floats) -> Floats:
        """``along . of / moved . bend`` of each run; 0 of one that did not move."""
        product: Floats = np.einsum("ij,ij->j", self.moved, self.bend)
        counts = product > 0
        share: Floats = np.einsum("ij,ij->j", along, of) / np.where(counts, product, 1)
        return np.where(counts, share, 0)

    def of(self, chosen: Flags) -> Step:
        """Those of some of the runs."""
        return Step(self.moved[:, chosen], self.bend[:, chosen])


class Classifiers:
    """A logistic regression for each run; ``weights`` (dim + 1, runs), the intercept last.

    They are trained by Newton's steps with the inverse curvature of an earlier subset and the words
    that joined since (a chord method) until the decrement is below ``CLOSE``; where that is slow,
    with a new curvature.
    """

    def __init__(
        self, positive: Floats, negative: Floats, subsets: Subsets, penalise_intercept: bool
    ) -> None:
        words = np.concatenate([positive, negative])
        self.design = np.column_stack([words, np.ones(len(words))])
        self.labels = np.repeat([0.0, 1.0], [len(positive), len(negative)])[:, None]
        self.penalty = np.ones(self.design.shape[1])
        self.penalty[-1] = float(penalise_intercept)
        self.subsets = subsets
        self.times = np.concatenate(
            [_joins(subsets.orders[role], subsets.counts[role]) for role in "AB"]
        )
        runs, dim = subsets.shape[0], self.design.shape[1]
        self.weights = np.zeros((dim, runs))
        self.inverse = np.empty((runs, dim, dim), dtype=np.float32)
        self.known = np.zeros(runs)  # the size of the subset whose curvature is known

    def train(self, step: int) -> None:
        """Move all weights to the optimum of the subsets of this step."""
        present = self.times <= step
        size = float(self.subsets.sizes[step])
        active = np.arange(len(self.known))
        if step == 0:
            for run in active.tolist():
                self._start(run, present[:, run])
        else:
            self._add_curvature(self.times == step)
        before = np.full(len(active), np.inf)
        steps: list[Step] = []
        last: Floats = np.empty(0)
        for _ in range(MOST_STEPS):
            for run in active[size > GROWN * self.known[active]].tolist():
                self._learn_curvature(run, present[:, run], size)
            slope = self._slope(active, present)
            if steps:
                steps[-1] = steps[-1]._replace(bend=slope - last)
            move = self._step(active, slope, steps)
            decrement = np.einsum("ij,ij->j", slope, move)
            slow = decrement > SLOW * before
            self.known[active[slow]] = 0
            move[:, slow] = 0
            self.weights[:, active] -= move
            going = (decrement >= CLOSE) | slow
            if not going.any():
                return
            steps = [each.of(going) for each in (*steps, Step(-move, move))]
            active, last = active[going], slope[:, going]
            before = np.where(slow, np.inf, decrement)[going]
        for run in active.tolist():
            self._start(run, present[:, run])

    def _slope(self, runs: Places, present: Flags) -> Floats:
        """The gradients of these runs, (dim + 1, runs)."""
        weights = self.weights[:, runs]
        residual = expit(self.design @ weights)
        residual -= self.labels
        residual *= present[:, runs]
        return np.asarray(self.design.T @ residual + self.penalty[:, None] * weights)

    def _step(self, runs: Places, slope: Floats, before: list[Step]) -> Floats:
        """Inverse curvature times slope, corrected by how the slope changed along the steps before
        it (L-BFGS, Nocedal, 1980). Shapes: (dim + 1, runs).
        """
        found: Floats = slope.copy()
        shares: list[Floats] = []
        for each in before[::-1]:
            shares.append(each.share(each.moved, found))
            found -= shares[-1] * each.bend
        turned = np.matmul(self.inverse[runs], found.T[:, :, None].astype(np.float32))
        found = turned[:, :, 0].T.astype(np.float64)
        for each, share in zip(before, shares[::-1], strict=True):
            found += (share - each.share(each.bend, found)) * each.moved
        return found

    def _learn_curvature(self, run: int, present: Flags, size: float) -> None:
        rows = self.design[present]
        likely = expit(rows @ self.weights[:, run])
        curvature = (rows.T * (likely * (1 - likely))) @ rows
        curvature.flat[:: len(curvature) + 1] += self.penalty
        self.inverse[run] = np.linalg.inv(curvature)
        self.known[run] = size

    def _add_curvature(self, joining: Flags) -> None:
        """Add that of the words that join, as many in every run (Woodbury's identity)."""
        runs = len(self.inverse)
        places = np.nonzero(joining.T)[1].reshape(runs, -1)
        rows = self.design[places]  # (runs, words, dim)
        likely = expit(np.einsum("rwd,dr->rw", rows, self.weights))
        scaled = (rows * np.sqrt(likely * (1 - likely))[:, :, None]).astype(np.float32)
        known = scaled @ self.inverse
        inner = known @ scaled.swapaxes(1, 2) + np.eye(scaled.shape[1], dtype=np.float32)
        self.inverse -= known.swapaxes(1, 2) @ np.linalg.solve(inner, known)

    def _start(self, run: int, present: Flags) -> None:
        """Train from nothing, with steps that never raise the loss."""
        rows, labels = self.design[present, :-1], self.labels[present, 0]
        found, intercept = logistic_regression(rows, labels, bool(self.penalty[-1]))
        self.weights[:, run] = [*found, intercept]


def _joins(orders: Places, counts: Places) -> Places:
    """The first step that has each item. Shapes: (runs, items) -> (items, runs)."""
    steps = np.searchsorted(counts, np.arange(orders.shape[1]), side="right")
    found = np.empty_like(orders)
    np.put_along_axis(found, orders, steps[None], axis=1)
    return found.T
