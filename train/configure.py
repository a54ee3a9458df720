"""Plain configuration values to choices: every node that names a class by ``_target_`` is built."""

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
from files.choice import FieldError, lacks
from files.language import UNDETERMINED, language_of
from files.printable import CONTROL
from files.rooms import importable
from intrinsic.conventions import EVERY, ByConvention
from intrinsic.probe import AnyMetric, Probe
from train.parts.part import Subject, Task
from train.parts.task_words import TaskWords
from train.point import Point

if TYPE_CHECKING:
    from analysis.planner import Planner
    from analysis.study import Study

TARGET = "_target_"
MISSING = "???"  # what a file of the configuration leaves to be given
# The generated corpora by the language of their posts
WORLDS = dict.fromkeys(("en", UNDETERMINED), "corpus=generated")
WORLDS |= {"es": "corpus=generated_es_gender"}
STANDS_FOR = {"path": "FILE", "file": "FILE", "folder": "FOLDER", "model": "FOLDER"}
REFERENCE = re.compile(r"\$\{([\w.]+)\}")

Tree = Mapping[str, Any]


def to_point(tree: Tree, written: Tree) -> Point:
    """The point that a configuration describes: its values, and the same as they are written, with
    ``${...}`` in the place of what a node takes from another.

    Raises ``InputError`` for an unknown key, a value that a field does not allow, and a choice
    that lacks what its kind needs.
    """
    _require_fitting_challenge(tree)
    read = Reader(written)
    chosen = tree["intrinsic"]
    if not isinstance(chosen, Mapping) or not chosen:
        raise InputError(f"intrinsic={chosen!r}: give a mapping of names to metrics")

    def part(key: str, kind: type) -> Any:
        node = tree.get(key)
        return None if node is None else of_kind(read(node, key), kind, key)

    if tree["task"] is None and isinstance(unused := tree.get("challenge"), Mapping):
        kind = find_class(unused.get(TARGET), "challenge").__name__
        raise InputError(f"challenge={kind} tests a task, and there is none; leave one of them out")
    _check_name(str(tree["name"]))
    metrics = (
        read(node, f"intrinsic.{name}") for name, each in chosen.items() for node in _by_name(each)
    )
    subject, task = part("subject", Subject), part("task", Task)
    if task and not tree["corpus_named"]:
        _require_text(subject, task)
    try:
        return Point(
            experiment=tree["name"],
            seed=tree["seed"],
            subject=subject,
            metrics=tuple(of_kind(metric, AnyMetric, "intrinsic") for metric in metrics),
            task=task,
            probe=part("probe", Probe),
            from_task=part("from_task", TaskWords),
        )
    except FieldError as error:
        raise InputError(str(error).replace("experiment=", "name=")) from error


def _require_text(subject: Subject, task: Task) -> None:
    """Raise ``InputError`` for real texts where a subject would be trained on the generated corpus,
    which nobody named.
    """
    parts = {name: part for name, part in vars(task).items() if hasattr(part, "generated")}
    real = [f"{name}={part.name}" for name, part in parts.items() if not part.generated]
    if not (real and subject.facts()["generated"]):
        return
    language = language_of(task)
    synthetic = f"; to try it on synthetic text: {WORLDS[language]}" if language in WORLDS else ""
    raise InputError(
        f"{real[0]} is no synthetic text, and there are no vectors and no corpus: give"
        " embedding=pretrained embedding.path=FILE, or corpus=text corpus.path=FILE" + synthetic
    )


def _by_name(node: object) -> list[Tree]:
    """The node of a metric; where its convention is ``all`` one for each of them."""
    if not (isinstance(node, Mapping) and node.get("convention") == EVERY):
        return [cast("Tree", node)]
    metric = find_class(node.get(TARGET), "intrinsic")
    named = metric.conventions() if issubclass(metric, ByConvention) else {"default": None}
    return [{**node, "convention": name} for name in named]


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
    if not all(isinstance(node, Mapping) for node in nodes):
        return
    task, challenge = (find_class(node[TARGET], "task") for node in nodes if node)
    method, such_as = getattr(task, "challenges", ("", ""))
    if method and not hasattr(challenge, method):
        remedy = f"take challenge={such_as}"
        raise InputError(
            f"challenge={challenge.__name__}: task={task.__name__} is not tested on such; {remedy}"
        )


def to_study(node: Tree) -> Study:
    """The study that a configuration's node ``study`` describes."""
    from analysis.study import Study  # loads the statistics, which a point needs not

    study: Study = of_kind(Reader({"study": node})(node, "study"), Study, "study")
    return study


def to_planner(node: Tree) -> Planner:
    """What a configuration's node ``planner`` asks for."""
    return cast("Planner", Reader({"planner": node})(node, "planner"))


def of_kind(found: object, kind: type, where: str) -> Any:
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


def search_modules(folders: Iterable[str | Path]) -> None:
    """Search folders of configuration files for modules too, after all others."""
    paths = (str(Path(folder).resolve()) for folder in folders)
    sys.path.extend(path for path in paths if path not in sys.path)


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
    file = Path(spec.origin) if spec and spec.origin else None
    folders = [Path(each) for each in (spec.submodule_search_locations if spec else None) or []]
    for part in rest:
        file, folders = _inside(folders, part)
    if file is None or file.suffix != ".py":
        return f"there is no module {module}"
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError) as error:
        return f"{file} cannot be read: {error}"
    if any(isinstance(node, ast.ClassDef) and node.name == name for node in body):
        return ""
    return f"{file} defines no class {name}"


def _inside(folders: Iterable[Path], part: str) -> tuple[Path | None, list[Path]]:
    """The file of a module in one of the folders of its package, and its own folders; a package
    may lack ``__init__.py``.
    """
    for folder in folders:
        for file in (folder / part / "__init__.py", folder / f"{part}.py"):
            if file.is_file():
                return file, [file.parent] if file.stem == "__init__" else []
    return None, [folder / part for folder in folders if (folder / part).is_dir()]
