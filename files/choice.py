"""A choice: a frozen dataclass whose fields are checked against their types when it is made.

``Annotated`` bounds and ``Literal`` are the one place where a field's allowed values stand. The
check is pydantic's, strict (a text is no number, a truth value no whole number); NaN and infinity
are refused; what is wrong is said in one line.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import types
import typing
from collections.abc import Callable, Hashable, Mapping
from functools import cache, wraps
from numbers import Integral
from pathlib import Path
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    cast,
    dataclass_transform,
    runtime_checkable,
)

from annotated_types import Ge, Gt, Le, Lt
from pydantic import ConfigDict, TypeAdapter, ValidationError

from files.errors import InputError, nearest

T = TypeVar("T")
P = ParamSpec("P")

Count = Annotated[int, Ge(1)]
Whole = Annotated[int, Ge(0)]
Share = Annotated[float, Ge(0), Le(1)]
Positive = Annotated[float, Gt(0)]
NotNegative = Annotated[float, Ge(0)]

STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True, allow_inf_nan=False)
WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
BOUNDS = {"ge": "of at least {:g}", "gt": "above {:g}", "le": "of at most {:g}", "lt": "below {:g}"}


@runtime_checkable
class Choice(Protocol):
    """What every choice of a run says about itself.

    ``name`` stands for it in the tables. ``version`` is raised when its output changes. ``files()``
    are the files from outside whose bytes decide its result. Three class attributes may be added:
    ``unkeyed`` names fields that cannot change the result, ``seeded = False`` says that nothing is
    drawn at random, ``generated = True`` that the data are made up; and a method, ``keyed()``, for
    what decides the result besides fields and files, such as the words of a named list.
    """

    version: ClassVar[int]

    @property
    def name(self) -> str:
        """What stands for it in the tables."""

    def files(self) -> list[Path]:
        """The files from outside whose bytes decide its result."""


class Fileless:
    """Base of a choice whose result depends on no file from outside."""

    def files(self) -> list[Path]:
        """None."""
        return []


class FieldError(InputError):
    """A field has a value that its type does not allow; the message begins with the field."""


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def choice(cls: type[T]) -> type[T]:
    """A frozen dataclass that checks its fields, lists taken as tuples, before ``__post_init__``.

    Raises ``FieldError`` naming the field, its value and what is allowed.
    """
    own = getattr(cls, "__post_init__", None)

    def check(self: object) -> None:
        for name, (hint, adapter) in _adapters(cast("Hashable", type(self))).items():
            value = as_tuples(getattr(self, name))
            try:
                object.__setattr__(self, name, adapter.validate_python(value))
            except ValidationError:
                raise FieldError(_refusal(name, value, hint)) from None
        if own:
            own(self)

    cls.__post_init__ = check  # type: ignore[attr-defined]
    return dataclasses.dataclass(frozen=True)(cls)


def checks(**hints: Any) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Have a function check arguments by the types of ``hints``; it raises ``FieldError``."""
    adapters = {name: TypeAdapter(hint, config=STRICT) for name, hint in hints.items()}

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(function)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            given = signature.bind(*args, **kwargs).arguments
            for name in hints.keys() & given:
                value = given[name]
                whole = int(value) if isinstance(value, Integral) else value  # NumPy's as well
                try:
                    adapters[name].validate_python(whole)
                except ValidationError:
                    raise FieldError(_refusal(name, value, hints[name])) from None
            return function(*args, **kwargs)

        return checked

    return decorate


def hints_of(cls: type) -> dict[str, Any]:
    """The types of the fields that a choice is made from, bounds included."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {each.name: hints[each.name] for each in dataclasses.fields(cls) if each.init}


def as_tuples(value: Any) -> Any:
    """Lists, as YAML gives them, as tuples."""
    return tuple(as_tuples(item) for item in value) if isinstance(value, list | tuple) else value


def lacks(value: object, protocol: type) -> list[str]:
    """The names of a protocol that an object does not have."""
    names = {
        name: None
        for each in reversed(protocol.__mro__)
        if getattr(each, "_is_protocol", False) and each is not Protocol
        for name in (*inspect.get_annotations(each), *vars(each))
        if not name.startswith("_")
    }
    return [name for name in names if not hasattr(value, name)]


@cache
def _adapters(cls: Hashable) -> Mapping[str, tuple[Any, TypeAdapter[Any]]]:
    return {
        name: (hint, TypeAdapter(hint, config=None if dataclasses.is_dataclass(hint) else STRICT))
        for name, hint in hints_of(cast("type", cls)).items()
    }


def _refusal(name: str, value: object, hint: Any) -> str:
    for kind in (hint, *typing.get_args(hint)):
        if getattr(kind, "_is_protocol", False) and (missing := lacks(value, kind)):
            given = type(value).__name__
            return f"{name}={given}: it is no {kind.__name__}, for it has no {', '.join(missing)}"
    hint_text = nearest(value, _literals(hint)) if isinstance(value, str) else ""
    allowed = spell(hint)
    if allowed.startswith("a list") and isinstance(value, str | int):
        hint_text = f"; of one item: {json.dumps([value], ensure_ascii=False)}"
    if "a text" in allowed and any(each is True or each is False for each in _items(value)):
        hint_text = "; YAML reads yes and no as true and false: put the word in quotation marks"
    return f"{name}={value!r}: give {allowed}{hint_text}"


def _items(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def spell(hint: Any) -> str:
    """A type with its bounds in words: ``a whole number of at least 1``."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return f"{spell(args[0])} {_spell_bounds(args[1:])}".rstrip()
    if origin is Literal:
        return f"one of {', '.join(map(str, args))}" if len(args) > 1 else str(args[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join("null" if arg is type(None) else spell(arg) for arg in args)
    if origin is tuple:
        return f"a list, each item {spell(args[0])}"
    return WORDS.get(hint, getattr(hint, "__name__", str(hint)))


def _spell_bounds(bounds: tuple[Any, ...]) -> str:
    found = {
        name: getattr(bound, name)
        for bound in bounds
        if isinstance(bound, Ge | Gt | Le | Lt)
        for name in BOUNDS
        if hasattr(bound, name)
    }
    if found.keys() == {"ge", "le"}:
        return f"from {found['ge']:g} to {found['le']:g}"
    return " and ".join(BOUNDS[name].format(limit) for name, limit in found.items())


def _literals(hint: Any) -> list[str]:
    if typing.get_origin(hint) is Literal:
        return [str(arg) for arg in typing.get_args(hint)]
    return [text for arg in typing.get_args(hint) for text in _literals(arg)]
