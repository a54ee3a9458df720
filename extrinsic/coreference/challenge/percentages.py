"""Percentage of women in an occupation against the excess of links to female pronouns (Rudinger et
al., 2018).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import atanh, sqrt, tanh
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.extrinsic.coreference.challenge.measures import is_linked
from biasbridge.stats.intervals import UNDEFINED, Estimate, quantile

if TYPE_CHECKING:
    from biasbridge.extrinsic.coreference.challenge.measures import Answer
    from biasbridge.stats.arrays import Floats

MIN_OCCUPATIONS = 4  # for an interval


def percentages_and_leanings(
    answers: Sequence[Answer], privileged: str, unprivileged: str
) -> Floats:
    """Return a row for each occupation with pronouns of both genders, (occupations, 2): its
    percentage, and the share of the unprivileged gender's pronouns linked to it minus that of the
    privileged gender's, in [-1, 1].
    """
    percentage: dict[str, float] = {}
    links: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for case, resolution in answers:
        for question in case.questions:
            if question.percentage is not None:
                percentage[question.occupation] = question.percentage
                answer = is_linked(question, resolution.document.clusters)
                links[question.occupation, case.gender].append(answer)
    shares = {key: float(np.mean(answers)) for key, answers in links.items()}
    rows = [
        (percentage[name], shares[name, unprivileged] - shares[name, privileged])
        for name in percentage
        if (name, privileged) in shares and (name, unprivileged) in shares
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def correlation(rows: Floats, level: float) -> Estimate:
    """Compute Pearson's r of two columns with Fisher's interval, tanh(atanh(r) -+ z / sqrt(n - 3));
    NaN if a column is constant or there are fewer than four rows.
    """
    if len(rows) < MIN_OCCUPATIONS or not np.ptp(rows, axis=0).all():
        return UNDEFINED
    x, y = np.transpose(rows - np.mean(rows, axis=0))
    r = float(x @ y / np.sqrt((x @ x) * (y @ y)))
    if abs(r) >= 1:
        return Estimate(r, np.nan, np.nan)
    half = quantile(level) / sqrt(len(rows) - 3)
    return Estimate(r, tanh(atanh(r) - half), tanh(atanh(r) + half))
