"""Plain configuration values to choices: every node that names a class by ``_target_`` is built."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import re
import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from analysis.study import Study
from corpora.kinds import Challenge, PostChallenge
from files import Choice, InputError, nearest
from files.choice import FieldError, lacks
from files.printable import CONTROL
from files.rooms import importable
from intrinsic.probe import AnyMetric, Probe
from train.parts.part import Subject, Task
from train.parts.task_words import TaskWords
from train.point import Point

if TYPE_CHECKING:
    from analysis.planner import Planner

TARGET = "_target_"
MISSING = "???"  # what a file of the configuration leaves to be given
STANDS_FOR = {"path": "FILE", "file": "FILE", "folder": "FOLDER", "model": "FOLDER"}
REFERENCE = re.compile(r"\$\{([\w.]+)\}")

Tree = Mapping[str, Any]


class OfChallenge(NamedTuple):
    """How challenge sets of one kind are recognised, and what is said of them."""

    method: str
    holds: str
    such_as: str


OF_CHALLENGES: Mapping[type, OfChallenge] = {
    Challenge: OfChallenge(
        "load", "documents with pronouns", "challenge=generated, winobias, winogender or gap"
    ),
    PostChallenge: OfChallenge(
        "posts",
        "labelled posts",
        "challenge=generated_templates, hatecheck, identity_templates or csv",
    ),
}


def to_point(tree: Tree, written: Tree) -> Point:
    """The point that a configuration describes: its values, and the same as they are written, with
    ``${...}`` in the place of what a node takes from another.

    Raises ``InputError`` for an unknown key, a value that a field does not allow, and a choice
    that lacks what its kind needs.
    """
    _require_fitting_challenge(tree)
    read = Reader(written)
    for name, node in tree.items():  # those too that this point does not use
        if isinstance(node, Mapping) and TARGET in node:
            read(node, name)
    chosen = tree["intrinsic"]
    if not isinstance(chosen, Mapping) or not chosen:
        raise InputError(f"intrinsic={chosen!r}: give a mapping of names to metrics")
    metrics = [read(node, f"intrinsic.{name}") for name, node in chosen.items()]
    task = read(tree["task"], "task") if tree["task"] is not None else None
    if task is None and isinstance(unused := tree.get("challenge"), Mapping):
        kind = find_class(unused.get(TARGET), "challenge").__name__
        raise InputError(f"challenge={kind} tests a task, and there is none; leave one of them out")
    probe = read(tree["probe"], "probe") if tree.get("probe") is not None else None
    words = read(tree["from_task"], "from_task") if tree.get("from_task") is not None else None
    _check_name(str(tree["name"]))
    try:
        return Point(
            experiment=tree["name"],
            seed=tree["seed"],
            subject=cast("Subject", of_kind(read(tree["subject"], "subject"), Subject, "subject")),
            metrics=tuple(
                cast("AnyMetric", of_kind(metric, AnyMetric, "intrinsic")) for metric in metrics
            ),
            task=cast("Task", of_kind(task, Task, "task")) if task is not None else None,
            probe=cast("Probe", of_kind(probe, Probe, "probe")) if probe is not None else None,
            from_task=cast("TaskWords", of_kind(words, TaskWords, "from_task")) if words else None,
        )
    except FieldError as error:
        raise InputError(str(error).replace("experiment=", "name=")) from error


def _check_name(name: str) -> None:
    """Raise ``InputError`` for what names no folder inside that of the results."""
    if CONTROL.search(name):
        raise InputError(f"name={name!r} holds a control character; choose another")
    if Path(name).name != name or name in ("", ".."):
        raise InputError(f"name={name!r} names no folder in results/; choose a name without /")


def _require_fitting_challenge(tree: Tree) -> None:
    """Raise ``InputError`` for a challenge set that the task cannot be tested on, before anything
    else is read: a set of the other kind brings settings that the task does not know.
    """
    nodes = [tree.get(name) for name in ("task", "challenge")]
    task, challenge = (
        find_class(node.get(TARGET), name) if isinstance(node, Mapping) else None
        for name, node in zip(("task", "challenge"), nodes, strict=True)
    )
    wanted: type | None = getattr(task, "challenges", None)
    if wanted is None or challenge is None or task is None:
        return
    if not hasattr(challenge, OF_CHALLENGES[wanted].method):
        other = next(kind for known, kind in OF_CHALLENGES.items() if known is not wanted)
        if hasattr(challenge, other.method):
            kind = OF_CHALLENGES[wanted]
            raise InputError(
                f"challenge={challenge.__name__} holds {other.holds}, and"
                f" task={task.__name__} is tested on {kind.holds}; take {kind.such_as}"
            )


def to_study(node: Tree) -> Study:
    """The study that a configuration's node ``study`` describes."""
    return cast("Study", of_kind(Reader({"study": node})(node, "study"), Study, "study"))


def to_planner(node: Tree) -> Planner:
    """What a configuration's node ``planner`` asks for."""
    from analysis.planner import Planner

    return cast("Planner", of_kind(Reader({"planner": node})(node, "planner"), Planner, "planner"))


def of_kind(found: object, kind: type, where: str) -> object:
    """The choice, if it is what is wanted there. Raises ``InputError`` naming what it lacks."""
    if isinstance(found, kind):
        return found
    missing = lacks(found, kind) if getattr(kind, "_is_protocol", False) else []
    why = f", for it has no {', '.join(missing)}" if missing else ""
    raise InputError(f"{where}={type(found).__qualname__}: it is no {kind.__name__}{why}")


class Reader:
    """Builds choices from nodes, and names in its errors the key that the user gave: a value that
    comes by ``${corpus}`` is named as that of ``corpus``.
    """

    def __init__(self, written: Tree) -> None:
        self.written = written

    def __call__(self, node: Tree, where: str) -> Choice:
        """The choice that a node names by ``_target_``."""
        if not isinstance(node, Mapping):
            raise InputError(f"{where}={node!r}: give a mapping with {TARGET} and its fields")
        values = {key: value for key, value in node.items() if key != TARGET}
        cls = find_class(node.get(TARGET), where)
        fields = [each.name for each in dataclasses.fields(cls) if each.init]
        make = getattr(cls, "configured", cls)
        for key in values if make is cls else ():
            if key not in fields:
                raise InputError(
                    f"unknown config key '{where}.{key}'{nearest(key, fields)}"
                    f" {cls.__name__} has: {', '.join(fields)}"
                )
        for key in (key for key, value in values.items() if value == MISSING):
            asked = self._origin(f"{where}.{key}")
            raise InputError(f"{asked} is not given; give {asked}={STANDS_FOR.get(key, 'VALUE')}")
        ready: dict[str, object] = {
            key: self._value(value, f"{where}.{key}") for key, value in values.items()
        }
        try:
            return cast("Choice", make(**ready))
        except FieldError as error:
            raise InputError(f"{where}.{error}") from error
        except TypeError as error:
            raise InputError(f"{where}: {error}; {cls.__name__} has {', '.join(fields)}") from error

    def _value(self, value: object, where: str) -> object:
        if isinstance(value, Mapping) and TARGET in value:
            return self(value, self._origin(where))
        return value

    def _origin(self, where: str) -> str:
        """Where a value is written: the key that ``${...}`` names there, else ``where`` itself."""
        found: object = self.written
        for part in where.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        match = REFERENCE.fullmatch(found) if isinstance(found, str) else None
        return self._origin(match[1]) if match else where


def find_class(target: object, where: str) -> type:
    """The choice that ``_target_`` names. Its class is looked for in its file before that is
    imported, for to import a module is to run it. Raises ``InputError``.
    """
    module, _, name = importable(str(target)).rpartition(".")
    if module.partition(".")[0] in sys.stdlib_module_names:
        raise InputError(f"{where}.{TARGET}={target} is no choice; make it with files.choice")
    if module not in sys.modules and (reason := _why_not_there(module, name)):
        raise _not_imported(target, where, reason)
    try:
        cls: object = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise _not_imported(target, where, str(error)) from error
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        raise InputError(f"{where}.{TARGET}={target} is no choice; make it with files.choice")
    fields = [each.name for each in dataclasses.fields(cls)]
    needed = ("name", "version", "files")
    if missing := [name for name in needed if not (hasattr(cls, name) or name in fields)]:
        raise InputError(
            f"{where}.{TARGET}={target} has no {', '.join(missing)}, which every choice needs"
        )
    return cls


def _not_imported(target: object, where: str, reason: str) -> InputError:
    remedy = "give package.module.Class"
    return InputError(f"{where}.{TARGET}={target!r} cannot be imported ({reason}); {remedy}")


def _why_not_there(module: str, name: str) -> str:
    """Why there is no such class to import; empty where there is one. Imports nothing."""
    if not all(part.isidentifier() for part in [*module.split("."), name]):
        return "that is no dotted name"
    first, *rest = module.split(".")
    spec = find_spec(first)
    for number in range(len(rest)):
        inside = spec.submodule_search_locations if spec else None
        spec = PathFinder.find_spec(".".join([first, *rest[: number + 1]]), inside or [])
    if spec is None or not (spec.origin or "").endswith(".py"):
        return f"there is no module {module}"
    try:
        body = ast.parse(Path(str(spec.origin)).read_bytes()).body
    except (OSError, SyntaxError, ValueError) as error:
        return f"{spec.origin} cannot be read: {error}"
    if any(isinstance(node, ast.ClassDef) and node.name == name for node in body):
        return ""
    return f"{spec.origin} defines no class {name}"
