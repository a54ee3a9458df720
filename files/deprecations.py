"""Names that change: for one release an old name works and says what to use, then it is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import NamedTuple

from biasbridge.files.errors import InputError


class Deprecation(NamedTuple):
    """What became of a name: the version that deprecated it, the remedy, a phrase that begins with
    a verb, and whether it is gone.
    """

    version: str
    remedy: str
    is_gone: bool = False


# As they are called: "biasbridge NAME", "biasbridge NAME --option", "train.py KEY=" (or
# "KEY=VALUE"), a function of Python, "NAME()", or its parameter, "NAME(PARAMETER)". A name may go
# in the version after the one that deprecated it; tests/test_stability.py compares it with what was
# promised.
DEPRECATIONS: dict[str, Deprecation] = {}


def check_names(names: Iterable[str]) -> None:
    """Report the names that are deprecated, a line each, and raise ``InputError`` for one that is
    gone.
    """
    for name in names:
        if deprecation := DEPRECATIONS.get(name):
            version, remedy, is_gone = deprecation
            if is_gone:
                raise InputError(f"{name} was removed; {remedy}")
            print(f"{name} is deprecated since {version}; {remedy}", file=sys.stderr)
