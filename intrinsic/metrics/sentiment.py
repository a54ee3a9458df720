"""RNSB: how unevenly a sentiment classifier spreads its verdict over the targets."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

import numpy as np
import scipy
from annotated_types import Ge, Lt, doc
from numpy.typing import ArrayLike

from files import InputError, choice
from intrinsic.lookup import Floats, means
from intrinsic.metric import About, Convention, FoundQuery, Metric
from intrinsic.score import Measured, by_name

MOST_STEPS = 100
SHORTEST = 1e-9
CLOSE = 1e-9


def negative_sentiment(
    positive: ArrayLike,
    negative: ArrayLike,
    targets: ArrayLike,
    *,
    penalise_intercept: bool = False,
    held_out: float = 0.0,
    seed: int = 0,
) -> Floats:
    """P(negative) of every target word, by a logistic regression on positive and negative words.

    Its weights w and intercept b minimise |w|^2 / 2 + sum_i log(1 + exp(-y_i (w . x_i + b))), found
    to machine precision by Newton's method; ``penalise_intercept`` adds b^2 / 2, as liblinear does.
    ``held_out`` is the share of the attribute words, equal in both classes, that is drawn by
    ``seed`` and not trained on. Shapes: (np, dim), (nn, dim), (nt, dim) -> (nt,). Raises
    ``InputError`` where a class has no word to train on.
    """
    first, second = (np.asarray(each, dtype=np.float64) for each in (positive, negative))
    if held_out:
        rng = np.random.default_rng(seed)
        first, second = (
            each[np.sort(rng.permutation(len(each))[round(held_out * len(each)) :])]
            for each in (first, second)
        )
    if not len(first) or not len(second):
        raise InputError(
            "a classifier needs positive and negative words; a set of attributes has none left"
        )
    words = np.concatenate([first, second])
    is_negative = np.repeat([0.0, 1.0], [len(first), len(second)])
    weights, intercept = logistic_regression(words, is_negative, penalise_intercept)
    return np.asarray(
        scipy.special.expit(np.asarray(targets, dtype=np.float64) @ weights + intercept)
    )


def logistic_regression(
    words: Floats, labels: Floats, penalise_intercept: bool
) -> tuple[Floats, float]:
    """Weights, a combination of the words (few words, few coordinates), and the intercept."""
    count, dim = words.shape
    basis: Floats = np.eye(dim)
    if count < dim:
        values, rotation = np.linalg.eigh(words @ words.T)
        kept = values > values[-1] * 1e-12
        basis = words.T @ (rotation[:, kept] / np.sqrt(values[kept]))
    design = np.column_stack([words @ basis, np.ones(count)])
    penalty = np.ones_like(design[0])
    penalty[-1] = float(penalise_intercept)
    found, margin = np.zeros_like(penalty), np.zeros(count)
    loss = count * math.log(2)
    for _ in range(MOST_STEPS):
        likely = scipy.special.expit(margin)
        slope = design.T @ (likely - labels) + penalty * found
        curvature = (design.T * (likely * (1 - likely))) @ design
        curvature.flat[:: len(penalty) + 1] += penalty
        step: Floats = np.linalg.solve(curvature, slope)
        # Newton's steps square the error: after this one nothing is left of it
        near = float(slope @ step) < CLOSE
        shrink, along, before = 1.0, design @ step, loss
        while True:
            at, there = found - shrink * step, margin - shrink * along
            likelihood = np.logaddexp(0, there).sum() - labels @ there
            loss = float(penalty @ (at * at)) / 2 + float(likelihood)
            if near or loss <= before or shrink < SHORTEST:
                break
            shrink /= 2
        found, margin = at, there
        if near:
            break
    return basis @ found[:-1], float(found[-1])


def divergence_from_uniform(values: ArrayLike) -> float:
    r"""The Kullback-Leibler divergence of the values, scaled to sum 1, from uniform, in nats.

    KL(P || U) = sum_i p_i log(p_i n);   0: all equal; at most log n. Shapes: (n,). Raises
    ``InputError`` for fewer than two values.
    """
    found = np.asarray(values, dtype=np.float64)
    if found.size < 2:
        values = f"{found.size} value(s) have no distribution to compare with"
        raise InputError(f"{values}; give at least two target words or groups")
    shares = found / found.sum()
    return float(np.sum(shares * np.log(np.where(shares > 0, shares * found.size, 1.0))))


@choice
class NegativeSentiment(Metric):
    """RNSB; ``each``: the share of the negative verdict of every target word, or group."""

    about: ClassVar[About] = About(
        name="rnsb",
        title="Relative Negative Sentiment Bias",
        formula=(
            "KL(P || U),  p_t = f(t) / sum_t f(t),  f(t) = P(negative | t) by a logistic regression"
            " on A (positive) and B (negative)"
        ),
        sign="> 0: the verdict differs between targets; on whom it falls: see each",
        range=(0, math.inf),
        source="Sweeney & Najafian (2019)",
        roles=dict.fromkeys(("X", "Y?", "X3?"), "targets")
        | {"A": "positive words", "B": "negative words"},
        asks=("weat6b",),
        default="Ours: a probability for each target; all attributes train, nothing is random.",
    )
    others: ClassVar[tuple[Convention, ...]] = (
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
        doc("what has a probability: each target word, or each group's mean"),
    ] = "word"
    held_out: Annotated[float, Ge(0), Lt(1), doc("share of attributes not trained on")] = 0.0
    penalise_intercept: Annotated[bool, doc("penalise the intercept, as liblinear does")] = False

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The divergence over target words, or over the means of the target groups."""
        groups = words.targets
        if self.unit == "group":
            names = list(groups)
            targets = means(found.raw for found in groups.values())
        else:
            names = [word for found in groups.values() for word in found.words]
            targets = np.concatenate([found.raw for found in groups.values()])
        negative = negative_sentiment(
            words["A"].raw,
            words["B"].raw,
            targets,
            penalise_intercept=self.penalise_intercept,
            held_out=self.held_out,
            seed=seed,
        )
        each = by_name(names, negative / float(negative.sum()))
        return Measured(divergence_from_uniform(negative), each=each)
