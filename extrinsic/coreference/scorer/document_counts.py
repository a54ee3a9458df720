"""All that is counted in one document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from extrinsic.coreference.scorer import ceaf, links, mentions
from extrinsic.coreference.scorer.overlap import Overlap, overlap

if TYPE_CHECKING:
    from extrinsic.coreference.scorer.count import Count
    from files.documents import Cluster

COUNTED: dict[str, Callable[[Overlap], Count]] = {
    "mentions": mentions.detection,
    "muc": links.muc,
    "b3": mentions.b_cubed,
    "ceaf_m": ceaf.ceaf_m,
    "ceaf_e": ceaf.ceaf_e,
    "lea": links.lea,
    "blanc_coreferent": links.coreferent,
    "blanc_not_coreferent": links.not_coreferent,
}


def counts(key: Sequence[Cluster], response: Sequence[Cluster]) -> npt.NDArray[np.float64]:
    """One row for each of ``COUNTED``, in order: recall's numerator and denominator, precision's
    numerator and denominator; shape (8, 4).

    Either side may be empty. Singletons count as they are: leave them out of both sides where the
    key does not annotate them. Raises ``InputError`` for an empty cluster and for a mention twice
    in one clustering.
    """
    table = overlap(key, response)
    return np.array([count(table) for count in COUNTED.values()])
