"""Robustness and accuracy of Bias Silhouette Analysis (Spliethöver & Wachsmuth, 2021)."""

from __future__ import annotations

from math import isfinite, nan
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

Definition = Literal["printed", "released"]


class Scale(NamedTuple):
    """Lowest and highest value of a metric, and its value for a model without bias."""

    minimum: float
    maximum: float
    unbiased: float


def area(sizes: Floats, heights: Floats) -> float:
    """Compute the area under a curve by the trapezoidal rule. Shapes: (sizes,), (sizes,)."""
    return float(np.trapezoid(heights, sizes))


def robustness(sizes: Floats, values: Floats, scale: Scale) -> float:
    r"""Compute the robustness of a word list, 1 - area of the silhouette / ((b_max - b_min) |W|).

    The silhouette lies between the lowest and the highest value of all runs at each size; |W| is
    the largest size.

    Parameters
    ----------
    sizes : array of shape (sizes,)
        Words in the lists.
    values : array of shape (runs, sizes)
        Values of the metric.
    scale : Scale
        Ends of the metric's scale.

    Returns
    -------
    float
        In [0, 1]; 1: every subset has the same value. NaN where the scale has no end.
    """
    width = scale.maximum - scale.minimum
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
    r"""Compute the accuracy of a metric, 0.5 + 0.5 area / (D |W|).

    The area lies between the means over runs, mu, of two reference models; |W| is the largest size.

    Parameters
    ----------
    sizes : array of shape (sizes,)
        Words in the lists.
    biased, unbiased : array of shape (runs, sizes)
        Values of the metric on the two models.
    scale : Scale
        Ends and unbiased value of the metric's scale.
    definition : {"printed", "released"}
        ``printed``: the area between |mu_biased - b_0| and |mu_unbiased - b_0|, where b_0 is the
        unbiased value and D the largest distance from it; for b_0 = 0, as in the paper, |mu| and
        b_max - b_0. ``released``: as the paper's code, the area between |mu| even where 0 is not
        the unbiased value (ECT's is 1), and D the whole scale b_max - b_min, so that the accuracy
        of WEAT and ECT is always in [0.25, 0.75].

    Returns
    -------
    float
        In [0, 1]; 0.5: the metric finds no difference between the models; below: it finds more bias
        in the unbiased one. NaN where the scale has no end, or ``printed`` no unbiased value.
    """
    origin = scale.unbiased if definition == "printed" else 0.0
    reach = (
        max(abs(scale.maximum - origin), abs(scale.minimum - origin))
        if definition == "printed"
        else scale.maximum - scale.minimum
    )
    if not isfinite(reach):
        return nan
    biased_distance, unbiased_distance = (
        np.abs(values.mean(axis=0) - origin) for values in (biased, unbiased)
    )
    difference = area(sizes, biased_distance - unbiased_distance)
    return 0.5 + 0.5 * difference / (reach * float(sizes[-1]))
