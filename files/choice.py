"""A choice: a frozen dataclass that checks its fields against their types when it is created.

``Annotated`` bounds and ``Literal`` define the allowed values of a field. The check is pydantic's,
strict (a text is no number, a truth value no whole number); NaN and infinity are refused.
``choice_classes`` finds the classes of choices by their presence in a folder.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import sys
import types
import typing
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, wraps
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    ParamSpec,
    Protocol,
    TypeVar,
    cast,
    dataclass_transform,
    runtime_checkable,
)

from annotated_types import Ge, Gt, Le, Lt
from pydantic import ConfigDict, TypeAdapter, ValidationError

from biasbridge.files.errors import InputError, nearest
from biasbridge.files.paths import HOME, ROOMS

T = TypeVar("T")
P = ParamSpec("P")

Count = Annotated[int, Ge(1)]
Whole = Annotated[int, Ge(0)]
Share = Annotated[float, Ge(0), Le(1)]
Positive = Annotated[float, Gt(0)]
NotNegative = Annotated[float, Ge(0)]

_STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True, allow_inf_nan=False)
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
_BOUNDS = {
    "ge": "of at least {:g}",
    "gt": "above {:g}",
    "le": "of at most {:g}",
    "lt": "below {:g}",
}

METRICS, METHODS = "intrinsic", "debias"  # groups of choices
_HINTS = {METRICS: ("MetricInfo",), METHODS: ("debias", "acts_on")}  # in files with such classes
_ROOMS_OF_GROUPS = {METRICS: ("intrinsic", "studies"), METHODS: ("debias",)}


@runtime_checkable
class Choice(Protocol):
    """A choice of a run: a corpus, a method, a metric, ...

    ``version`` is raised when its output changes. Three class attributes are optional: ``unkeyed``
    names fields that cannot change the result, ``seeded = False`` means that nothing is drawn at
    random, ``generated = True`` that the data are synthetic. An optional method ``keyed()`` returns
    what decides the result besides fields and files, such as the words of a named list.
    """

    version: ClassVar[int]

    @property
    def name(self) -> str:
        """Name in the tables."""

    def files(self) -> list[Path]:
        """Return the external files whose bytes decide the result."""


class Fileless:
    """Base of choices whose result depends on no external file."""

    def files(self) -> list[Path]:
        """Return no files."""
        return []


class FieldError(InputError):
    """An invalid value of a field; the message begins with the field."""


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def choice(cls: type[T]) -> type[T]:
    """Make a class a frozen dataclass that checks its fields before ``__post_init__``.

    Lists become tuples. Raises ``FieldError`` with the field, its value and what is allowed.
    """
    class_check = getattr(cls, "__post_init__", None)

    def check(self: object) -> None:
        for name, (hint, adapter) in _adapters(cast("Hashable", type(self))).items():
            value = _as_tuples(getattr(self, name))
            try:
                object.__setattr__(self, name, adapter.validate_python(value))
            except ValidationError:
                raise FieldError(_error_message(name, value, hint)) from None
        if class_check:
            class_check(self)

    cls.__post_init__ = check  # type: ignore[attr-defined]
    return dataclasses.dataclass(frozen=True)(cls)


def check_arguments(**hints: Any) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function to raise ``FieldError`` for arguments that ``hints`` do not allow."""
    adapters = {name: TypeAdapter(hint, config=_STRICT) for name, hint in hints.items()}

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(function)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            arguments = signature.bind(*args, **kwargs).arguments
            for name in hints.keys() & arguments:
                value = arguments[name]
                whole = int(value) if isinstance(value, Integral) else value  # NumPy's as well
                try:
                    adapters[name].validate_python(whole)
                except ValidationError:
                    raise FieldError(_error_message(name, value, hints[name])) from None
            return function(*args, **kwargs)

        return checked

    return decorate


def field_types(cls: type) -> dict[str, Any]:
    """Return the types of the init fields of a choice, bounds included."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls) if field.init}


def _as_tuples(value: Any) -> Any:
    """Convert lists, which YAML gives, to tuples."""
    return tuple(_as_tuples(item) for item in value) if isinstance(value, list | tuple) else value


def missing_attributes(value: object, protocol: type) -> list[str]:
    """Return the attributes of a protocol that an object lacks."""
    names = {
        name: None
        for base in reversed(protocol.__mro__)
        if getattr(base, "_is_protocol", False) and base is not Protocol
        for name in (*inspect.get_annotations(base), *vars(base))
        if not name.startswith("_")
    }
    return [name for name in names if not hasattr(value, name)]


@cache
def _adapters(cls: Hashable) -> Mapping[str, tuple[Any, TypeAdapter[Any]]]:
    return {
        name: (hint, TypeAdapter(hint, config=None if dataclasses.is_dataclass(hint) else _STRICT))
        for name, hint in field_types(cast("type", cls)).items()
    }


def _error_message(name: str, value: object, hint: Any) -> str:
    for kind in (hint, *typing.get_args(hint)):
        if getattr(kind, "_is_protocol", False) and (missing := missing_attributes(value, kind)):
            class_name = type(value).__name__
            problem = f"it is not a {kind.__name__}: it lacks {', '.join(missing)}"
            return f"{name}={class_name}: {problem}"
    hint_text = nearest(value, _literals(hint)) if isinstance(value, str) else ""
    allowed = describe_type(hint)
    if allowed.startswith("a list") and isinstance(value, str | int):
        hint_text = f"; of one item: {json.dumps([value], ensure_ascii=False)}"
    if "a text" in allowed and any(item is True or item is False for item in _items(value)):
        hint_text = "; YAML reads yes and no as true and false: put the word in quotation marks"
    return f"{name}={value!r}: give {allowed}{hint_text}"


def _items(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def as_names(names: str | Sequence[str]) -> list[str]:
    """Return one name or several as a list. Raise ``InputError`` for another value."""
    if not isinstance(names, str | Iterable):
        raise InputError(f"{names!r} is not a name; give a name, or a list of names")
    return [names] if isinstance(names, str) else list(names)


def describe_type(hint: Any) -> str:
    """Describe a type with its bounds: ``a whole number of at least 1``."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return f"{describe_type(args[0])} {_spell_bounds(args[1:])}".rstrip()
    if origin is Literal:
        return f"one of {', '.join(map(str, args))}" if len(args) > 1 else str(args[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join("null" if arg is type(None) else describe_type(arg) for arg in args)
    if origin is tuple:
        return f"a list, each item {describe_type(args[0])}"
    if origin is Mapping:
        return f"a mapping of names, each to {describe_type(args[1])}"
    return _WORDS.get(hint, getattr(hint, "__name__", str(hint)))


def _spell_bounds(bounds: tuple[Any, ...]) -> str:
    limits = {
        name: getattr(bound, name)
        for bound in bounds
        if isinstance(bound, Ge | Gt | Le | Lt)
        for name in _BOUNDS
        if hasattr(bound, name)
    }
    if limits.keys() == {"ge", "le"}:
        return f"from {limits['ge']:g} to {limits['le']:g}"
    return " and ".join(_BOUNDS[name].format(limit) for name, limit in limits.items())


def _literals(hint: Any) -> list[str]:
    if typing.get_origin(hint) is Literal:
        return [str(arg) for arg in typing.get_args(hint)]
    return [text for arg in typing.get_args(hint) for text in _literals(arg)]


class ChoiceClass(NamedTuple):
    """A class that is chosen as ``GROUP=NAME``; ``module``: its import name.

    A class says itself how it is chosen: a metric by the name in its ``MetricInfo``, a method of
    ``debias`` by its ``name``, any other as ``chosen_as = ("source/csv",)`` declares.
    """

    group: str
    name: str
    module: str
    qualname: str

    @property
    def target(self) -> str:
        """Value of ``_target_``."""
        return f"{self.module}.{self.qualname}"

    def load(self) -> Any:
        """Import the class. Raises ``InputError`` if its module cannot be imported."""
        try:
            return getattr(import_module(self.module), self.qualname)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise InputError(f"{self.target} cannot be imported ({reason}); correct it") from error


def choice_classes(folder: str | Path, group: str, name: str = "") -> list[ChoiceClass]:
    """Return the classes of a group, in the order of files and lines, or those of one name.

    ``folder``: the project, or a user's folder, of which the modules beside the configuration files
    are searched. Modules are parsed, not run.
    """
    path = Path(folder).resolve()
    if path == HOME:
        return _project_classes(group, name)
    paths = sorted(path.glob("*.py"))
    modules = [(path.stem, path.read_text(encoding="utf-8", errors="replace")) for path in paths]
    return list(_search(modules, group, name))


def search_modules(folders: Iterable[str | Path]) -> None:
    """Append folders of configuration files to the module search path."""
    paths = (str(Path(folder).resolve()) for folder in folders)
    sys.path.extend(path for path in paths if path not in sys.path)


def find_choice(folders: Iterable[str | Path], group: str, name: str) -> ChoiceClass | None:
    """Return the class of a name in the first folder that has it, if any.

    Raises ``InputError`` for several in one folder.
    """
    for folder in folders:
        if classes := choice_classes(folder, group, name):
            if len(classes) > 1:
                targets = " and ".join(choice_class.target for choice_class in classes)
                raise InputError(f"{group}={name} could be {targets}; rename one")
            return classes[0]
    return None


def present_classes(group: str, *packages: str) -> dict[str, Any]:
    """Return the classes of a group that lie in packages of the project, by name."""
    classes = choice_classes(HOME, group)
    return {one.name: one.load() for one in classes if one.module.startswith(packages)}


@cache
def _project_classes(group: str, name: str) -> list[ChoiceClass]:
    rooms = _ROOMS_OF_GROUPS.get(group, ROOMS)
    return list(_search((module for room in rooms for module in _room_modules(room)), group, name))


@cache
def _room_modules(room: str) -> list[tuple[str, str]]:
    """Return the modules of a room and their texts, which do not change in a process."""
    return [
        (
            ".".join(("biasbridge", *path.relative_to(HOME).with_suffix("").parts)),
            path.read_text("utf-8"),
        )
        for path in sorted((HOME / room).rglob("*.py"))
    ]


def module_texts() -> list[str]:
    """Return the texts of all modules in which choices may lie."""
    return [text for room in ROOMS for _, text in _room_modules(room)]


def _search(modules: Iterable[tuple[str, str]], group: str, name: str) -> Iterator[ChoiceClass]:
    hints = (f"{group}/{name}", *_HINTS.get(group, ()))
    for module, text in modules:
        if name in text and any(hint in text for hint in hints):
            for choice_class in _parse(text, module):
                if choice_class.group == group and name in ("", choice_class.name):
                    yield choice_class


@cache
def _parse(text: str, module: str) -> list[ChoiceClass]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):  # the error is that of the import, if it comes to that
        return []
    methods = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and METHODS in str(node.module).split(".")
        for alias in node.names
    }
    classes: list[ChoiceClass] = []
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        values = _attributes(node)
        is_method = "acts_on" in values or bool({*map(ast.unparse, node.bases)} & methods)
        methods |= {node.name} if is_method else set()
        for group, name in _names_of(values, is_method=is_method):
            classes.append(ChoiceClass(group, name, module, node.name))
    return classes


def _attributes(node: ast.ClassDef) -> dict[str, ast.expr]:
    """Return the values that a class gives its attributes."""
    values: dict[str, ast.expr] = {}
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                values[name] = value
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values[name] = value
    return values


def _names_of(values: dict[str, ast.expr], *, is_method: bool) -> Iterator[tuple[str, str]]:
    """Yield the group and the name of each way in which a class is chosen."""
    declared = values.get("chosen_as")
    if isinstance(declared, ast.Tuple):
        for element in declared.elts:
            group, _, name = str(_constant(element)).rpartition("/")
            yield group, name
        return
    about = values.get("about")
    if isinstance(about, ast.Call):
        for keyword in about.keywords:
            if keyword.arg == "name" and (name := _constant(keyword.value)):
                yield METRICS, name
    elif is_method and (name := _constant(values.get("name"))):
        yield METHODS, name


def _constant(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
