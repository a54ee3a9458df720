"""Functions, classes and values of the project that users' modules have replaced.

An imported module may change others: ``Weat.measure = mine``. The file of ``Weat`` is then the
same, but its results differ.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType

from train.engine.provenance.loaded import user_module_of

PLAIN = {bool, int, float, str, bytes, tuple, frozenset, list, dict, set, type(None)}
# Functions, descriptors, wrappers and partials, and the attribute that holds what they wrap
WRAPPED: dict[type, str] = {
    **dict.fromkeys((FunctionType, type(functools.cache(len))), "__wrapped__"),
    **dict.fromkeys((staticmethod, classmethod), "__func__"),
    **dict.fromkeys(
        (functools.partial, functools.partialmethod, functools.cached_property), "func"
    ),
    property: "fget",
}


def patches_of(module: str, literals: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    """Return the patches of a loaded module and its classes by name: (user's module, "") or
    ("", value that differs from the literal in the text).
    """
    patches: dict[str, tuple[str, str]] = {}
    for name, value in _contents(module):
        if user := _user_of(value):
            patches[name] = user, ""
        elif name in literals and type(value) in PLAIN and value != literals[name]:
            patches[name] = "", repr(value)
    return patches


def _contents(module: str) -> Iterator[tuple[str, object]]:
    for name, value in list(vars(sys.modules[module]).items()) if module in sys.modules else ():
        yield name, value
        if isinstance(value, type) and value.__module__ == module:
            members = list(vars(value).items())
            yield from ((f"{name}.{attribute}", member) for attribute, member in members)


def _user_of(value: object) -> str:
    """Return the user's module that an object, or what it wraps, comes from; empty for none."""
    kind = type(value)
    if kind in PLAIN:
        return ""
    if kind in WRAPPED:
        code = value.__code__.co_filename if isinstance(value, FunctionType) else ""
        return user_module_of(code) or _user_of(getattr(value, WRAPPED[kind], None))
    home = (value if isinstance(value, type) else kind).__module__
    return user_module_of(getattr(sys.modules.get(home), "__file__", None))
