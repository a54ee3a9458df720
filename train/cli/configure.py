"""Choices built from configuration values: every node with ``_target_`` becomes an object."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import re
import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from files import Choice, InputError, nearest
from files.choice import FieldError, missing_attributes
from files.language import UNDETERMINED, language_of
from files.printable import CONTROL
from files.rooms import importable
from intrinsic.conventions import ALL_CONVENTIONS, ByConvention
from intrinsic.probe import AnyMetric, Probe
from train.engine.part import Subject, Task
from train.engine.point import Point
from train.tasks.task_words import TaskWords

if TYPE_CHECKING:
    from analysis.planner import Planner
    from analysis.study import Study

TARGET = "_target_"
MISSING = "???"  # a required value in configuration files
# Generated corpora by language
WORLDS = dict.fromkeys(("en", UNDETERMINED), "corpus=generated")
WORLDS |= {"es": "corpus=generated_es_gender"}
PLACEHOLDERS = {"path": "FILE", "file": "FILE", "folder": "FOLDER", "model": "FOLDER"}
REFERENCE = re.compile(r"\$\{([\w.]+)\}")

Tree = Mapping[str, Any]


def to_point(tree: Tree, written: Tree) -> Point:
    """Return the point of a configuration; ``written``: the same with ``${...}`` unresolved.

    Raises ``InputError`` for an unknown key, an invalid value, or a choice that lacks an attribute.
    """
    _require_fitting_challenge(tree)
    read = Reader(written)
    intrinsic = tree["intrinsic"]
    if not isinstance(intrinsic, Mapping) or not intrinsic:
        raise InputError(f"intrinsic={intrinsic!r}: give a mapping of names to metrics")

    def read_part(key: str, kind: type) -> Any:
        node = tree.get(key)
        return None if node is None else require_kind(read(node, key), kind, key)

    if tree["task"] is None and isinstance(challenge := tree.get("challenge"), Mapping):
        kind = find_class(challenge.get(TARGET), "challenge").__name__
        raise InputError(f"challenge={kind} needs a task, and task is null; give one, or neither")
    _check_name(str(tree["name"]))
    metrics = (
        read(node, f"intrinsic.{name}")
        for name, metric_node in intrinsic.items()
        for node in _by_convention(metric_node)
    )
    subject, task = read_part("subject", Subject), read_part("task", Task)
    if task and not tree["corpus_named"]:
        _require_text(subject, task)
    try:
        return Point(
            experiment=tree["name"],
            seed=tree["seed"],
            subject=subject,
            metrics=tuple(require_kind(metric, AnyMetric, "intrinsic") for metric in metrics),
            task=task,
            probe=read_part("probe", Probe),
            from_task=read_part("from_task", TaskWords),
        )
    except FieldError as error:
        raise InputError(str(error).replace("experiment=", "name=")) from error


def _require_text(subject: Subject, task: Task) -> None:
    """Raise ``InputError`` for real texts with a model of the default synthetic corpus."""
    parts = {name: part for name, part in vars(task).items() if hasattr(part, "generated")}
    real_parts = [f"{name}={part.name}" for name, part in parts.items() if not part.generated]
    if not (real_parts and subject.facts()["generated"]):
        return
    language = language_of(task)
    synthetic = f"; to try it on synthetic text: {WORLDS[language]}" if language in WORLDS else ""
    raise InputError(
        f"{real_parts[0]} is real text, but no vectors and no corpus are given: give"
        " embedding=pretrained embedding.path=FILE, or corpus=text corpus.path=FILE" + synthetic
    )


def _by_convention(node: object) -> list[Tree]:
    """Return the node of a metric, or one per convention for the convention ``all``."""
    if not (isinstance(node, Mapping) and node.get("convention") == ALL_CONVENTIONS):
        return [cast("Tree", node)]
    metric = find_class(node.get(TARGET), "intrinsic")
    conventions = metric.conventions() if issubclass(metric, ByConvention) else {"default": None}
    return [{**node, "convention": name} for name in conventions]


def _check_name(name: str) -> None:
    """Raise ``InputError`` for a name that is no folder inside the results."""
    if CONTROL.search(name):
        raise InputError(f"name={name!r} contains a control character; choose another name")
    if Path(name).name != name or name in ("", ".."):
        raise InputError(f"name={name!r} is no folder name in results/; choose a name without /")


def _require_fitting_challenge(tree: Tree) -> None:
    """Raise ``InputError`` for a challenge set that does not fit the task.

    This is checked first, as sets of another kind bring settings that the task lacks.
    """
    nodes = [tree.get(name) for name in ("task", "challenge")]
    if not all(isinstance(node, Mapping) for node in nodes):
        return
    task, challenge = (find_class(node[TARGET], "task") for node in nodes if node)
    method, example = getattr(task, "challenges", ("", ""))
    if method and not hasattr(challenge, method):
        remedy = f"choose challenge={example}"
        raise InputError(
            f"challenge={challenge.__name__} does not fit task={task.__name__}; {remedy}"
        )


def to_study(node: Tree) -> Study:
    """Return the study of a configuration's node ``study``."""
    from analysis.study import Study  # loads the statistics, which a point does not need

    study: Study = require_kind(Reader({"study": node})(node, "study"), Study, "study")
    return study


def to_planner(node: Tree) -> Planner:
    """Return the planner of a configuration's node ``planner``."""
    return cast("Planner", Reader({"planner": node})(node, "planner"))


def require_kind(choice: object, kind: type, where: str) -> Any:
    """Return the choice. Raises ``InputError`` if it is not of the expected kind."""
    if isinstance(choice, kind):
        return choice
    missing = missing_attributes(choice, kind) if getattr(kind, "_is_protocol", False) else []
    reason = f", it lacks {', '.join(missing)}" if missing else ""
    raise InputError(f"{where}={type(choice).__qualname__} is no {kind.__name__}{reason}")


class Reader:
    """Builder of choices from nodes; errors name the key that the user wrote, not ``${...}``."""

    def __init__(self, written: Tree) -> None:
        self.written = written

    def __call__(self, node: Tree, where: str) -> Choice:
        """Return the choice that a node names by ``_target_``."""
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
        match = REFERENCE.fullmatch(node) if isinstance(node, str) else None
        return self._origin(match[1]) if match else where


def search_modules(folders: Iterable[str | Path]) -> None:
    """Append folders of configuration files to the module search path."""
    paths = (str(Path(folder).resolve()) for folder in folders)
    sys.path.extend(path for path in paths if path not in sys.path)


def find_class(target: object, where: str) -> type:
    """Return the class that ``_target_`` names. Raises ``InputError``.

    The class is first looked up in its source file, as importing a module runs it.
    """
    module, _, name = importable(str(target)).rpartition(".")
    if module.partition(".")[0] in sys.stdlib_module_names:
        raise InputError(f"{where}.{TARGET}={target} is no choice; decorate it with files.choice")
    if module not in sys.modules and (reason := _import_problem(module, name)):
        raise _import_error(target, where, reason)
    try:
        cls: object = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise _import_error(target, where, str(error)) from error
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        raise InputError(f"{where}.{TARGET}={target} is no choice; decorate it with files.choice")
    fields = [field.name for field in dataclasses.fields(cls)]
    required = ("name", "version", "files")
    if missing := [name for name in required if not (hasattr(cls, name) or name in fields)]:
        raise InputError(
            f"{where}.{TARGET}={target} has no {', '.join(missing)}, which every choice needs"
        )
    return cls


def _import_error(target: object, where: str, reason: str) -> InputError:
    remedy = "give package.module.Class"
    return InputError(f"{where}.{TARGET}={target!r} cannot be imported ({reason}); {remedy}")


def _import_problem(module: str, name: str) -> str:
    """Return why a class cannot be imported, empty if it can, without importing its module."""
    if not all(submodule.isidentifier() for submodule in [*module.split("."), name]):
        return "not a dotted name"
    first, *submodules = module.split(".")
    spec = find_spec(first)
    file = Path(spec.origin) if spec and spec.origin else None
    folders = [Path(folder) for folder in (spec.submodule_search_locations if spec else None) or []]
    for submodule in submodules:
        file, folders = _find_module_file(folders, submodule)
    if file is None or file.suffix != ".py":
        return f"there is no module {module}"
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError) as error:
        return f"{file} cannot be read: {error}"
    if any(isinstance(node, ast.ClassDef) and node.name == name for node in body):
        return ""
    return f"{file} defines no class {name}"


def _find_module_file(folders: Iterable[Path], module: str) -> tuple[Path | None, list[Path]]:
    """Return the file of a module in a package's folders, and its folders if a package."""
    for folder in folders:
        for file in (folder / module / "__init__.py", folder / f"{module}.py"):
            if file.is_file():
                return file, [file.parent] if file.stem == "__init__" else []
    return None, [folder / module for folder in folders if (folder / module).is_dir()]
