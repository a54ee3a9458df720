"""The scorer against scorch (PyPI), one document at a time, for it sums documents otherwise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from biasbridge.extrinsic.coreference.scorer import METRICS, counts, rates
from biasbridge.files.documents import Cluster, Span
from tests.extrinsic.clusterings import pairs

Peer = Callable[[list[set[Span]], list[set[Span]]], tuple[float, float, float]]


def peer(name: str) -> Peer:
    found: Peer = getattr(pytest.importorskip("scorch.scores"), name)
    return found


def sets(clustering: tuple[Cluster, ...]) -> list[set[Span]]:
    return [set(cluster) for cluster in clustering]


@pytest.mark.parametrize(
    ("metric", "theirs"),
    [
        ("muc", "muc"),
        ("b3", "b_cubed"),
        ("ceaf_m", "ceaf_m"),
        ("ceaf_e", "ceaf_e"),
        ("blanc", "blanc"),
    ],
)
def test_as_scorch(metric: str, theirs: str) -> None:
    function = peer(theirs)
    compared = 0
    for key, response in pairs(300):
        table = counts(key, response)
        lone = table[0, 1] == 1  # which it scores by BLANC, where the reference scorer does not
        if not key or not response or not table[0, 0] or (metric == "blanc" and lone):
            continue  # without a common mention it divides by 0
        found = rates(table)[METRICS.index(metric)]
        np.testing.assert_allclose(
            found, function(sets(key), sets(response)), atol=1e-12, err_msg=f"{key} {response}"
        )
        compared += 1
    assert compared > 200
