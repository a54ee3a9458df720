"""Configurations of classes: a class that is present is a choice of its group, without a file.

Keys are the fields of the class, values their defaults. A class may give others, such as those of
``${...}``, in ``configuration``. Files of the same name come first.
"""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, get_args

import yaml
from annotated_types import DocInfo
from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

from biasbridge.files import Choice
from biasbridge.files.choice import (
    METRICS,
    ChoiceClass,
    choice_classes,
    field_types,
    find_choice,
    search_modules,
)
from biasbridge.files.paths import HOME
from biasbridge.intrinsic.metric import Metric
from biasbridge.intrinsic.score import ByConvention
from biasbridge.train.cli.choices import COMMAND_LINE, MISSING, PLACEHOLDERS, TARGET

_EVERY_METRIC = "metric"  # file with the options of every metric on word vectors
_WIDTH = 120
SCHEME = "classes"  # prefix of folders of classes in Hydra's search path

Node = dict[str, Any]

_user_folder: ContextVar[Path | None] = ContextVar("user_folder", default=None)


def class_configuration(found: ChoiceClass) -> Node:
    """Return the content of the file that a class stands for."""
    cls = found.load()
    node = {TARGET: f"{cls.__module__}.{cls.__qualname__}", **_values(cls)}
    if found.group != METRICS:
        return node
    defaults = [f"/{_EVERY_METRIC}@{found.name}", "_self_"]
    return {**({"defaults": defaults} if issubclass(cls, Metric) else {}), found.name: node}


def _values(cls: Any) -> Node:
    """Return the keys of a class; of a metric None, the value of its convention."""
    shared = {field.name for field in dataclasses.fields(Metric)} if issubclass(cls, Metric) else ()
    fields = [field for field in dataclasses.fields(cls) if field.init and field.name not in shared]
    if issubclass(cls, ByConvention):
        values: Node = {"convention": None, **dict.fromkeys(field.name for field in fields)}
        if "items" in values:
            values["items"] = {TARGET: "biasbridge.corpora.items.BuiltInItems", "sets": MISSING}
    else:
        values = {field.name: _default(field) for field in fields}
    return {**values, **getattr(cls, "configuration", {})}


def _default(field: dataclasses.Field[Any]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return _as_yaml(field.default_factory())
    return MISSING if field.default is dataclasses.MISSING else _as_yaml(field.default)


def _as_yaml(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_as_yaml(item) for item in value]
    if isinstance(value, Choice) and dataclasses.is_dataclass(value):
        values = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        target = f"{type(value).__module__}.{type(value).__qualname__}"
        return {TARGET: target, **{name: _as_yaml(item) for name, item in values.items()}}
    return value


def describe_class(found: ChoiceClass) -> str:
    """Return the configuration of a class as YAML with comments."""
    group, name = found.group, found.name
    cls, content = found.load(), class_configuration(found)
    notes = _notes(cls)
    lines = [f"# {line}" for line in _header(cls, group, name)]
    if "defaults" in content:
        lines.append(f"defaults: [{', '.join(content.pop('defaults'))}]")
    node, indent = content, ""
    if group == METRICS:
        node, indent = content[name], "  "
        lines.append(f"{name}:")
    for key, value in node.items():
        text = yaml.safe_dump({key: value}, width=_WIDTH, sort_keys=False, allow_unicode=True)
        first, *rest = textwrap.indent(text.rstrip("\n"), indent).split("\n")
        lines += [f"{first} # {notes[key]}" if key in notes else first, *rest]
    return "\n".join([*lines, ""])


def _header(cls: Any, group: str, name: str) -> Iterator[str]:
    """Yield what a class is, and how it is chosen if it needs a value."""
    if issubclass(cls, ByConvention):
        yield f"{cls.about.title}. {cls.about.source}."
        yield f"{cls.about.sign}."
        return
    paragraph = (inspect.getdoc(cls) or "").partition("\n\n")[0]
    yield from textwrap.wrap(" ".join(paragraph.split()), _WIDTH - 2)
    required = [key for key, value in _values(cls).items() if value == MISSING]
    if required:
        values = (f"{group}.{key}={PLACEHOLDERS.get(key, 'VALUE')}" for key in required)
        yield " ".join([f"{group}={name}", *values])


def _notes(cls: Any) -> Mapping[str, str]:
    """Return the comment of each key."""
    notes = {
        name: note.documentation
        for name, hint in field_types(cls).items()
        for note in get_args(hint)
        if isinstance(note, DocInfo)
    }
    if issubclass(cls, ByConvention):
        notes["convention"] = ", ".join(cls.conventions())
    return notes


class ClassConfigSource(ConfigSource):
    """Classes of a folder as configuration files."""

    @staticmethod
    def scheme() -> str:
        """Return the prefix of folders in Hydra's search path."""
        return SCHEME

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the configuration of a class. Raises ``InputError`` if it cannot be imported."""
        found = self._find(config_path)
        assert found
        node = OmegaConf.create(class_configuration(found))
        return ConfigResult(self.provider, self.full_path(), node, {"package": None})

    def available(self) -> bool:
        """Return whether the folder exists."""
        return Path(self.path).is_dir()

    def is_group(self, config_path: str) -> bool:
        """Return whether the folder has a class of the group."""
        return bool(config_path and choice_classes(self.path, config_path.rstrip("/")))

    def is_config(self, config_path: str) -> bool:
        """Return whether the folder has the class."""
        return bool(self._find(config_path))

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Return the names of a group."""
        if results_filter == ObjectType.GROUP:
            return []
        return sorted({found.name for found in choice_classes(self.path, config_path)})

    def _find(self, config_path: str) -> ChoiceClass | None:
        group, _, name = config_path.removesuffix(".yaml").rpartition("/")
        return find_choice([self.path], group, name) if group and name else None


class ProjectClasses(SearchPathPlugin):
    """Search of the project's classes after its files, and then of a user's folder."""

    def manipulate_search_path(self, search_path: Any) -> None:
        """Add the project and the folder of ``searching`` to Hydra's search path."""
        search_path.append("classes", f"{SCHEME}://{HOME}")
        if folder := _user_folder.get():
            search_path.append(COMMAND_LINE, f"file://{folder}")
            search_path.append(f"{COMMAND_LINE}-{SCHEME}", f"{SCHEME}://{folder}")


@contextmanager
def searching(folder: Path | None) -> Iterator[None]:
    """Let Hydra, if it is started in the block, and Python search a user's folder too."""
    token = _user_folder.set(folder)
    search_modules([folder] if folder else [])
    try:
        yield
    finally:
        _user_folder.reset(token)


Plugins.instance().register(ClassConfigSource)
Plugins.instance().register(ProjectClasses)
