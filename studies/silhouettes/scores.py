"""Robustness and accuracy of Bias Silhouette Analysis (Spliethöver & Wachsmuth, 2021)."""

from __future__ import annotations

from math import isfinite, nan
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from analysis.arrays import Floats

Definition = Literal["printed", "released"]


class Scale(NamedTuple):
    """The lowest and the highest value of a metric, and that of a model without bias."""

    least: float
    most: float
    unbiased: float


def area(sizes: Floats, heights: Floats) -> float:
    """The area under a curve by the trapezoidal rule. Shapes: (sizes,), (sizes,)."""
    return float(np.trapezoid(heights, sizes))


def robustness(sizes: Floats, values: Floats, scale: Scale) -> float:
    r"""1 - area of the silhouette / ((b_max - b_min) |W|), in [0, 1].

    The silhouette lies between the lowest and the highest value of all runs at each size; |W| is
    the largest size. 1: every subset has the same value. Shapes: sizes (sizes,), values (runs,
    sizes). NaN where the scale has no end.
    """
    width = scale.most - scale.least
    if not isfinite(width):
        return nan
    silhouette = area(sizes, values.max(axis=0) - values.min(axis=0))
    return 1 - silhouette / (width * float(sizes[-1]))


def accuracy(
    sizes: Floats,
    biased: Floats,
    unbiased: Floats,
    scale: Scale,
    definition: Definition = "printed",
) -> float:
    r"""0.5 + 0.5 area / (D |W|), in [0, 1], of the means over runs mu of two reference models.

    ``printed``: the area between |mu_biased - b_0| and |mu_unbiased - b_0|, where b_0 is the value
    without bias and D how far the scale reaches from it; for b_0 = 0, as in the paper, |mu| and
    b_max - b_0. 0.5: the metric finds no difference between the models; below: it finds more bias
    in the unbiased one.

    ``released``: what the paper's code computes: the area between |mu| even where 0 is not the
    unbiased value (ECT's is 1), and D the whole scale b_max - b_min, so that no accuracy of WEAT or
    ECT lies outside [0.25, 0.75].

    Shapes: sizes (sizes,), values (runs, sizes). NaN where the scale has no end, or ``printed`` no
    value without bias.
    """
    origin = scale.unbiased if definition == "printed" else 0.0
    reach = (
        max(abs(scale.most - origin), abs(scale.least - origin))
        if definition == "printed"
        else scale.most - scale.least
    )
    if not isfinite(reach):
        return nan
    found, expected = (np.abs(each.mean(axis=0) - origin) for each in (biased, unbiased))
    return 0.5 + 0.5 * area(sizes, found - expected) / (reach * float(sizes[-1]))
