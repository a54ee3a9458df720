"""What users' modules have put in the place of the project's own functions, classes and values.

Whoever imports a module runs it, and it may change others: ``Weat.measure = mine``. The file of
``Weat`` is then as it was, and its results are not.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType

from files.loaded import users_name

PLAIN = {bool, int, float, str, bytes, tuple, frozenset, list, dict, set, type(None)}
# Functions, descriptors, wrappers and partials, and where they keep what they were made of
WRAPPED: dict[type, str] = {
    **dict.fromkeys((FunctionType, type(functools.cache(len))), "__wrapped__"),
    **dict.fromkeys((staticmethod, classmethod), "__func__"),
    **dict.fromkeys(
        (functools.partial, functools.partialmethod, functools.cached_property), "func"
    ),
    property: "fget",
}


def patches_of(module: str, literals: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    """Return what is patched in a loaded module and in its classes, by name: the user's module
    that it comes from and nothing, or nothing and a value other than the literal in the text.
    """
    found: dict[str, tuple[str, str]] = {}
    for name, value in _contents(module):
        if user := _user_of(value):
            found[name] = user, ""
        elif name in literals and type(value) in PLAIN and value != literals[name]:
            found[name] = "", repr(value)
    return found


def _contents(module: str) -> Iterator[tuple[str, object]]:
    for name, value in list(vars(sys.modules[module]).items()) if module in sys.modules else ():
        yield name, value
        if isinstance(value, type) and value.__module__ == module:
            yield from ((f"{name}.{each}", held) for each, held in list(vars(value).items()))


def _user_of(value: object) -> str:
    """Return the user's module that an object, or what it wraps, comes from; empty for none."""
    kind = type(value)
    if kind in PLAIN:
        return ""
    if kind in WRAPPED:
        code = value.__code__.co_filename if isinstance(value, FunctionType) else ""
        return users_name(code) or _user_of(getattr(value, WRAPPED[kind], None))
    home = (value if isinstance(value, type) else kind).__module__
    return users_name(getattr(sys.modules.get(home), "__file__", None))
