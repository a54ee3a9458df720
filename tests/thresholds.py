"""Named numbers by what they decide: probes on either side of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from biasbridge.files import InputError


class Refused(str):
    """The outcome of an ``InputError`` whose text the pattern is found in."""

    __slots__ = ()


def decides(*cases: tuple[Any, Any]) -> Callable[[Callable[..., object]], Any]:
    """Test what a probe returns for each input; its further arguments are fixtures."""

    def decorate(probe: Callable[..., object]) -> Any:
        _, *fixtures = inspect.signature(probe).parameters

        @pytest.mark.parametrize(("given", "outcome"), cases)
        def test(given: Any, outcome: Any, request: pytest.FixtureRequest) -> None:
            values = {name: request.getfixturevalue(name) for name in fixtures}
            run = partial(probe, given, **values)
            if isinstance(outcome, Refused):
                with pytest.raises(InputError, match=outcome):
                    run()
            else:
                assert run() == outcome

        return test

    return decorate
