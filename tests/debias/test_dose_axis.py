"""Doses of every method with a dose from -1 to 1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasbridge.debias.bam import Bam
from biasbridge.debias.double_hard import DoubleHard
from biasbridge.debias.gbdd import Gbdd
from biasbridge.debias.hard import Hard
from biasbridge.debias.inlp import Inlp
from biasbridge.debias.leace import Leace
from biasbridge.debias.mean_difference import MeanDifference
from biasbridge.debias.oscar import Oscar
from biasbridge.debias.sent_debias import SentDebias
from biasbridge.intrinsic import find, statistic
from tests.debias.planted import QUERY, planted_vectors

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

# Double-hard: where the component that is removed is of words that lean to neither side
METHODS = (
    *(Bam, Gbdd, Hard, Inlp, Leace, MeanDifference, Oscar, SentDebias),
    partial(DoubleHard, candidates=1),
)


@pytest.mark.parametrize("method", METHODS)
def test_doses(method: Callable[..., Any]) -> None:
    """Dose 0 changes no bit, 1/2 is half way, and WEAT's statistic falls from dose -1 to 1."""
    before = planted_vectors()
    by_dose = {
        dose: method(dose=dose).modify(before, QUERY, seed=0) for dose in (-1, -0.5, 0, 0.5, 1)
    }
    assert by_dose[0].vectors.tobytes() == before.vectors.tobytes()
    assert by_dose[0].vectors is not before.vectors
    half = (before.vectors + by_dose[1].vectors) / 2
    np.testing.assert_allclose(by_dose[0.5].vectors, half, atol=1e-6)
    mirrored = 2 * before.vectors - by_dose[1].vectors
    np.testing.assert_allclose(by_dose[-1].vectors, mirrored, atol=1e-6)
    scores = [lean_of(vectors) for vectors in by_dose.values()]
    assert all(later < earlier for earlier, later in pairwise(scores))
    assert abs(scores[-1]) < 0.5 * scores[2] < scores[2] < scores[0]


def lean_of(vectors: KeyedVectors) -> float:
    """WEAT's statistic of the planted words."""
    x, y, a, b = (find(vectors, QUERY[role].words).raw for role in "XYAB")
    return statistic(x, y, a, b)
