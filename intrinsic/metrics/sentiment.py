"""RNSB: divergence of a sentiment classifier's predictions over the targets from uniform."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import scipy
from annotated_types import Ge, Lt, doc
from numpy.typing import ArrayLike

from biasbridge.files import InputError, choice
from biasbridge.intrinsic.lookup import means
from biasbridge.intrinsic.metric import Convention, Metric, MetricInfo, ResolvedQuery
from biasbridge.intrinsic.score import MetricResult, by_name

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

_MAX_STEPS = 100  # of Newton's method
_MIN_SHRINK = 1e-9  # of a step
_CONVERGED = 1e-9  # decrement of the loss


def negative_sentiment(
    positive: ArrayLike,
    negative: ArrayLike,
    targets: ArrayLike,
    *,
    penalise_intercept: bool = False,
    held_out: float = 0.0,
    seed: int = 0,
) -> Floats:
    """Compute P(negative) of target words by logistic regression (Sweeney & Najafian, 2019).

    Its weights w and intercept b minimise |w|^2 / 2 + sum_i log(1 + exp(-y_i (w . x_i + b))), by
    Newton's method to machine precision.

    Parameters
    ----------
    positive, negative : array of shape (n_positive, dim), (n_negative, dim)
        Vectors of the attribute words, used as they are.
    targets : array of shape (n_targets, dim)
        Vectors of the target words.
    penalise_intercept : bool, default=False
        Add b^2 / 2 to the loss, as liblinear does.
    held_out : float, default=0.0
        Share of the attribute words of each class left out of training, drawn by ``seed``.
    seed : int, default=0

    Returns
    -------
    array of shape (n_targets,)
        Probabilities in [0, 1].

    Raises
    ------
    InputError
        A class without words to train on.
    """
    first, second = (np.asarray(rows, dtype=np.float64) for rows in (positive, negative))
    if held_out:
        rng = np.random.default_rng(seed)
        first, second = (
            rows[np.sort(rng.permutation(len(rows))[round(held_out * len(rows)) :])]
            for rows in (first, second)
        )
    if not len(first) or not len(second):
        raise InputError(
            "the classifier needs positive and negative words; an attribute set has none left"
        )
    words = np.concatenate([first, second])
    is_negative = np.repeat([0.0, 1.0], [len(first), len(second)])
    weights, intercept = _logistic_regression(words, is_negative, penalise_intercept)
    return np.asarray(
        scipy.special.expit(np.asarray(targets, dtype=np.float64) @ weights + intercept)
    )


def _logistic_regression(
    words: Floats, labels: Floats, penalise_intercept: bool
) -> tuple[Floats, float]:
    """Fit weights (dim,), a combination of the words, and the intercept, on words (n, dim)."""
    n, dim = words.shape
    basis: Floats = np.eye(dim)
    if n < dim:
        values, rotation = np.linalg.eigh(words @ words.T)
        is_nonzero = values > values[-1] * 1e-12
        basis = words.T @ (rotation[:, is_nonzero] / np.sqrt(values[is_nonzero]))
    design = np.column_stack([words @ basis, np.ones(n)])
    penalty = np.ones_like(design[0])
    penalty[-1] = float(penalise_intercept)
    coefficients, margin = np.zeros_like(penalty), np.zeros(n)
    loss = n * math.log(2)
    for _ in range(_MAX_STEPS):
        probabilities = scipy.special.expit(margin)
        gradient = design.T @ (probabilities - labels) + penalty * coefficients
        hessian = (design.T * (probabilities * (1 - probabilities))) @ design
        hessian.flat[:: len(penalty) + 1] += penalty
        step: Floats = np.linalg.solve(hessian, gradient)
        # Newton's steps square the error: after this one it is below machine precision
        is_last = float(gradient @ step) < _CONVERGED
        shrink, margin_step, previous_loss = 1.0, design @ step, loss
        while True:
            new_coefficients = coefficients - shrink * step
            new_margin = margin - shrink * margin_step
            likelihood = np.logaddexp(0, new_margin).sum() - labels @ new_margin
            square: Floats = new_coefficients * new_coefficients
            loss = float(penalty @ square) / 2 + float(likelihood)
            if is_last or loss <= previous_loss or shrink < _MIN_SHRINK:
                break
            shrink /= 2
        coefficients, margin = new_coefficients, new_margin
        if is_last:
            break
    return basis @ coefficients[:-1], float(coefficients[-1])


def _divergence_from_uniform(values: ArrayLike) -> float:
    """Compute KL(P || U) = sum p log(p n) of values scaled to sum 1, in [0, log n]; 0: equal."""
    frequencies = np.asarray(values, dtype=np.float64)
    n = frequencies.size
    if n < 2:
        raise InputError(
            f"{n} value(s) have no distribution to compare with; give at least two target words or"
            " groups"
        )
    shares = frequencies / frequencies.sum()
    return float(np.sum(shares * np.log(np.where(shares > 0, shares * n, 1.0))))


@choice
class NegativeSentiment(Metric):
    """RNSB; single scores: share of the negative probability, by target word or group."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="rnsb",
        title="Relative Negative Sentiment Bias",
        formula=(
            "KL(P || U),  p_t = f(t) / sum_t f(t),  f(t) = P(negative | t) by a logistic regression"
            " on A (positive) and B (negative)"
        ),
        sign="> 0: P(negative) differs between targets; for whom it is higher: see single scores",
        range=(0, math.inf),
        source="Sweeney & Najafian (2019)",
        roles=dict.fromkeys(("X", "Y?", "X3?"), "targets")
        | {"A": "positive words", "B": "negative words"},
        asks=("weat6b",),
        default="Ours: a probability for each target; all attributes train, nothing is random.",
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "wefe",
            "WEFE 1.0: a fifth of the attribute words held out at random (by our generator, not"
            " WEFE's); the intercept is penalised.",
            {"held_out": 0.2, "penalise_intercept": True, "min_found": 0.8},
        ),
        Convention(
            "bsa",
            "Spliethöver & Wachsmuth (2021): one probability for each group's mean.",
            {"unit": "group", "min_found": 0.0},
        ),
    )

    unit: Annotated[
        Literal["word", "group"],
        doc("a probability for each target word, or for each group's mean"),
    ] = "word"
    held_out: Annotated[float, Ge(0), Lt(1), doc("share of attributes not trained on")] = 0.0
    penalise_intercept: Annotated[bool, doc("penalise the intercept, as liblinear does")] = False

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the divergence over target words, or over the means of the target groups."""
        groups = words.targets
        if self.unit == "group":
            names = list(groups)
            targets = means(group.raw for group in groups.values())
        else:
            names = [word for group in groups.values() for word in group.words]
            targets = np.concatenate([group.raw for group in groups.values()])
        negative = negative_sentiment(
            words["A"].raw,
            words["B"].raw,
            targets,
            penalise_intercept=self.penalise_intercept,
            held_out=self.held_out,
            seed=seed,
        )
        shares = by_name(names, negative / float(negative.sum()))
        return MetricResult(_divergence_from_uniform(negative), single_scores=shares)
