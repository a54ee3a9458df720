"""The examples in docstrings of equations give the values they print."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = (
    "intrinsic.directions",
    "intrinsic.metrics.association",
    "intrinsic.metrics.direct",
    "intrinsic.metrics.neighbours",
    "intrinsic.metrics.set_distances",
    "intrinsic.metrics.weat",
    "intrinsic.permutation",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
