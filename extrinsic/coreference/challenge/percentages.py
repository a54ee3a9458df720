"""Do links follow the labour market? The percentage of women in an occupation against how much
rather a resolver links it to pronouns of women (Rudinger et al., 2018).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import atanh, sqrt, tanh
from typing import TYPE_CHECKING

import numpy as np

from extrinsic.coreference.challenge.measures import linked
from extrinsic.intervals import UNDEFINED, Estimate, quantile

if TYPE_CHECKING:
    from extrinsic.coreference.challenge.measures import Answer, Floats

FEWEST = 4  # occupations that an interval needs


def percentages_and_leanings(
    answers: Sequence[Answer], privileged: str, unprivileged: str
) -> Floats:
    """One row an occupation asked about with pronouns of both genders, (occupations, 2):
    its percentage, and the share of the unprivileged gender's pronouns that are linked to it minus
    that share of the privileged gender's, in [-1, 1].
    """
    percentage: dict[str, float] = {}
    links: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for case, resolution in answers:
        for question in case.questions:
            if question.percentage is not None:
                percentage[question.occupation] = question.percentage
                yes = linked(question, resolution.document.clusters)
                links[question.occupation, case.gender].append(yes)
    shares = {key: float(np.mean(found)) for key, found in links.items()}
    rows = [
        (percentage[name], shares[name, unprivileged] - shares[name, privileged])
        for name in percentage
        if (name, privileged) in shares and (name, unprivileged) in shares
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def correlation(rows: Floats, level: float) -> Estimate:
    """Pearson's r of the two columns and its interval by Fisher's z, tanh(atanh(r) -+ z / sqrt(n -
    3)); NaN where a column does not vary or there are fewer than four rows.
    """
    if len(rows) < FEWEST or not np.ptp(rows, axis=0).all():
        return UNDEFINED
    x, y = np.transpose(rows - np.mean(rows, axis=0))
    r = float(x @ y / np.sqrt((x @ x) * (y @ y)))
    if abs(r) >= 1:
        return Estimate(r, np.nan, np.nan)
    half = quantile(level) / sqrt(len(rows) - 3)
    return Estimate(r, tanh(atanh(r) - half), tanh(atanh(r) + half))
