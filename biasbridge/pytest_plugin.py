"""The pytest fixture ``assert_gap``, a gate within a test."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def assert_gap() -> Callable[..., Any]:
    """Return ``biasbridge.gate`` as an assertion, which fails the test with the gate's sentence."""

    def check(*arguments: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        from biasbridge import gate

        if not (result := gate(*arguments, **options)):
            pytest.fail(result.sentence)
        return result

    return check
