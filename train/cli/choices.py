"""Choices by group, built from configuration values: a node with ``_target_`` becomes an object."""

from __future__ import annotations

import dataclasses
import importlib
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from biasbridge.files import Choice, InputError, nearest
from biasbridge.files.choice import (
    METHODS,
    METRICS,
    FieldError,
    choice_classes,
    missing_attributes,
    module_texts,
)
from biasbridge.files.paths import HOME, ROOMS
from biasbridge.train.cli import CONF

TARGET = "_target_"
COMMAND_LINE = "command-line"  # provider of the folder of configuration that it names
MISSING = "???"  # a required value in configuration files
PLACEHOLDERS = {"path": "FILE", "file": "FILE", "folder": "FOLDER", "model": "FOLDER"}
_GROUPS = (METRICS, METHODS, "labels", "probe", "queries", "study")  # which may have no file
_REFERENCE = re.compile(r"\$\{([\w.]+)\}")

_KEY = re.compile(r"^ *(\w+):", re.MULTILINE)  # of YAML, and a field of a class
_PLAIN_KEY = re.compile(r"(?!hydra\b)[a-z_]+(\.[a-z_]+)*")  # of a value that is there

Tree = Mapping[str, Any]


def require_kind(choice: object, kind: type, where: str) -> Any:
    """Return the choice. Raises ``InputError`` if it is not of the expected kind."""
    if isinstance(choice, kind):
        return choice
    missing = missing_attributes(choice, kind) if getattr(kind, "_is_protocol", False) else []
    reason = f", it lacks {', '.join(missing)}" if missing else ""
    raise InputError(f"{where}={type(choice).__qualname__} is not a {kind.__name__}{reason}")


class Reader:
    """Builder of choices from nodes; errors name the key that the user wrote, not ``${...}``.

    ``built``: choices by their nodes, which the points of a sweep share.
    """

    def __init__(self, written: Tree, built: dict[str, Choice] | None = None) -> None:
        self.written = written
        self._built = {} if built is None else built

    def __call__(self, node: Tree, where: str) -> Choice:
        """Return the choice that a node names by ``_target_``."""
        key = repr(node)
        if key not in self._built:
            self._built[key] = self._build(node, where)
        return self._built[key]

    def _build(self, node: Tree, where: str) -> Choice:
        if not isinstance(node, Mapping):
            raise InputError(f"{where}={node!r}: give a mapping with {TARGET} and its fields")
        values = {key: value for key, value in node.items() if key != TARGET}
        cls = find_class(node.get(TARGET), where)
        fields = [field.name for field in dataclasses.fields(cls) if field.init]
        make = getattr(cls, "configured", cls)
        for key in values if make is cls else ():
            if key not in fields:
                raise InputError(
                    f"unknown config key '{where}.{key}'{nearest(key, fields)}"
                    f" ({cls.__name__} has: {', '.join(fields)})"
                )
        for key in (key for key, value in values.items() if value == MISSING):
            name = self._origin(f"{where}.{key}")
            raise InputError(f"{name} is required; give {name}={PLACEHOLDERS.get(key, 'VALUE')}")
        arguments: dict[str, object] = {
            key: self._value(value, f"{where}.{key}") for key, value in values.items()
        }
        try:
            return cast("Choice", make(**arguments))
        except FieldError as error:
            raise InputError(f"{where}.{error}") from error
        except TypeError as error:
            raise InputError(f"{where}: {error}; {cls.__name__} has {', '.join(fields)}") from error

    def _value(self, value: object, where: str) -> object:
        if isinstance(value, Mapping) and TARGET in value:
            return self(value, self._origin(where))
        return value

    def _origin(self, where: str) -> str:
        """Return the key where a value is written: that of ``${...}``, else ``where``."""
        node: object = self.written
        for part in where.split("."):
            node = node.get(part) if isinstance(node, Mapping) else None
        match = _REFERENCE.fullmatch(node) if isinstance(node, str) else None
        return self._origin(match[1]) if match else where


def choice_groups() -> list[str]:
    """Return the groups of the configuration."""
    folders = {path.parent.relative_to(CONF).as_posix() for path in CONF.rglob("*.yaml")}
    return sorted({*folders, *_GROUPS} - {"."})


def choices(group: str, folders: Iterable[str | Path] = ()) -> list[str]:
    """Return the names of a group: files and classes of the project and of a user's folders."""
    files = [
        path.stem for folder in (CONF, *folders) for path in Path(folder, group).glob("*.yaml")
    ]
    classes = [each.name for folder in (HOME, *folders) for each in choice_classes(folder, group)]
    return sorted({*files, *classes})


def refuse_unwritten(overrides: Iterable[str]) -> None:
    """Raise ``InputError`` for a key with a name that no file of configuration and no module of the
    project has, and which therefore is misspelt: before classes are imported.
    """
    texts = [path.read_text("utf-8") for path in CONF.rglob("*.yaml")] + module_texts()
    for key in (line.partition("=")[0] for line in overrides if "=" in line):
        for name in key.split(".") if _PLAIN_KEY.fullmatch(key) else ():
            if not any(name in text for text in texts):
                known = {word for text in texts for word in _KEY.findall(text)}
                hint = nearest(name, known.union(choice_groups()))
                raise InputError(f"unknown config key {name!r}{hint} (in {key})")


def find_class(target: object, where: str) -> type:
    """Return the class that ``_target_`` names. Raises ``InputError``."""
    module, _, name = str(target).rpartition(".")
    if module.partition(".")[0] in ROOMS:  # a user's own file may have such a name
        with suppress(ImportError):
            if hasattr(importlib.import_module(f"biasbridge.{module}"), name):
                raise InputError(f"{where}.{TARGET}={target}: give biasbridge.{target}")
    if module.partition(".")[0] in sys.stdlib_module_names:  # which an import may run
        raise InputError(
            f"{where}.{TARGET}={target} is not a choice; decorate it with biasbridge.files.choice"
        )
    try:
        cls: object = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError, TypeError, SyntaxError) as error:
        raise InputError(
            f"{where}.{TARGET}={target!r} cannot be imported ({error}); give package.module.Class"
        ) from error
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        raise InputError(
            f"{where}.{TARGET}={target} is not a choice; decorate it with biasbridge.files.choice"
        )
    fields = [field.name for field in dataclasses.fields(cls)]
    required = ("name", "version", "files")
    if missing := [name for name in required if not (hasattr(cls, name) or name in fields)]:
        raise InputError(
            f"{where}.{TARGET}={target} has no {', '.join(missing)}, which every choice needs"
        )
    return cls
