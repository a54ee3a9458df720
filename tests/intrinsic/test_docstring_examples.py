"""The examples in docstrings of equations give the values they print."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = (
    "biasbridge.intrinsic.directions",
    "biasbridge.intrinsic.metrics.association",
    "biasbridge.intrinsic.metrics.direct",
    "biasbridge.intrinsic.metrics.neighbours",
    "biasbridge.intrinsic.metrics.set_distances",
    "biasbridge.intrinsic.metrics.weat",
    "biasbridge.intrinsic.permutation",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
