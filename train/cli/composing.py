"""Points, studies and settings of composed configurations, and the cells of a sweep."""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import OverrideType
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from biasbridge.files import Choice, InputError, choice, nearest
from biasbridge.files.charts import FigureStyle
from biasbridge.files.choice import FieldError
from biasbridge.files.data.registry import data_path, groups, required_requests
from biasbridge.files.errors import CONTROL
from biasbridge.files.language import UNDETERMINED, language_of
from biasbridge.intrinsic.metric import AnyMetric, Probe
from biasbridge.intrinsic.score import ALL_CONVENTIONS, ByConvention
from biasbridge.train.cli import CONF
from biasbridge.train.cli.choices import TARGET, Reader, Tree, find_class, require_kind
from biasbridge.train.cli.class_configs import searching
from biasbridge.train.cli.command import (
    INPUT_ERRORS,
    expand_grids,
    line_of,
    one_line,
    parse_overrides,
)
from biasbridge.train.engine.point import Point
from biasbridge.train.engine.steps import Subject, Task
from biasbridge.train.engine.store_tools import Policy
from biasbridge.train.tasks.task_words import TaskWords

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

    from biasbridge.analysis.study import Study
    from biasbridge.train.cli.command import Command


_PARTS = {  # of a point, by their key
    "subject": Subject,
    "task": Task,
    "intrinsic": AnyMetric,
    "probe": Probe,
    "from_task": TaskWords,
}
_SETTINGS = (
    *("name", "seed", "corpus_named", "device", "store", "results"),
    *("overwrite", "stale", "plan"),
)
_KINDS_OF_FILES = ("experiment", "sweep", "data")  # which set options of other groups
_SEED = re.compile(r"\$\{\.*seed\}")  # in a value: such points differ in more than the seed
_NAMED = re.compile(r"\$\{(?:\w+:)?(\w+)")  # a key that a value refers to
_RELATIVE = re.compile(r"\$\{(?:\w+:)?\.")
# Generated corpora by language
WORLDS = dict.fromkeys(("en", UNDETERMINED), "corpus=generated")
WORLDS |= {"es": "corpus=generated_es_gender"}

Overwrite = Literal["only-missing", "always", "only-cache"]


@choice
class Settings:
    """Settings of a run.

    ``store``, ``results``: folders; ``figures``: of the study; ``stale``: what happens to results
    of other code; ``plan``: print the plan and stop.
    """

    store: str
    results: str
    overwrite: Overwrite
    stale: Policy
    plan: bool
    figures: FigureStyle = FigureStyle()

    def __post_init__(self) -> None:
        if self.stale == "rebuild" and self.overwrite == "only-cache":
            raise InputError(
                "stale=rebuild rebuilds results and overwrite=only-cache builds none; choose one"
            )


def read_settings(config: DictConfig) -> Settings:
    """Return the settings of a configuration. Raises ``InputError``."""
    values: dict[str, Any] = {n: config[n] for n in ("overwrite", "stale", "plan")}
    values |= {name: _folder(config, name) for name in ("store", "results")}
    values["figures"] = _figure_style(config.figures)
    return Settings(**values)


def _figure_style(node: object) -> FigureStyle:
    if not isinstance(node, Mapping):
        raise InputError(f"figures={node}: give one setting, such as figures.formats=[svg,png]")
    try:
        values: dict[str, Any] = {name: _plain(node[name]) for name in node}
        return FigureStyle(**values)
    except FieldError as error:
        raise InputError(f"figures.{error}") from None


def _folder(config: DictConfig, name: str) -> str:
    node = config[name]
    if not isinstance(node, Mapping):
        raise InputError(f"{name}={node}: give the folder as {name}.dir={node}")
    if not (node["dir"] and isinstance(node["dir"], str)):
        raise InputError(f"{name}.dir={node['dir']!r} is not a folder; give a path")
    return node["dir"]


def _list_members(names: str | list[str]) -> list[str]:
    """Return names with those of groups of data sets replaced by the members."""
    listed = [names] if isinstance(names, str) else names
    return [member for name in listed for member in groups().get(name, (name,))]


OmegaConf.register_new_resolver("data", data_path, replace=True)
OmegaConf.register_new_resolver("members", _list_members, replace=True)


def compose_point(overrides: Iterable[str]) -> Point:
    """Start Hydra and return the point of overrides. Raises ``InputError``."""
    with searching(None), initialize_config_dir(str(CONF), version_base="1.3"):
        try:
            return read_point(compose("config", overrides=list(overrides)))
        except INPUT_ERRORS as error:
            raise InputError(one_line(error)) from error


def read_study(config: DictConfig) -> Study:
    """Return the study of a configuration."""
    from biasbridge.analysis.study import Study  # loads the statistics, which a point does not need

    tree = _tree(config, resolve=True)
    study: Study = require_kind(Reader(tree)(tree["study"], "study"), Study, "study")
    return study


def _plain(node: object) -> object:
    return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node


def _tree(config: DictConfig, *, resolve: bool) -> dict[str, Any]:
    tree = OmegaConf.to_container(config, resolve=resolve)
    assert isinstance(tree, dict)
    return {str(key): value for key, value in tree.items() if key != "hydra"}


def read_point(config: DictConfig) -> Point:
    """Return the point of a composed configuration. Raises ``InputError``."""
    with required_requests():
        tree = _tree(config, resolve=True)
        _require_fitting_challenge(tree)
        reader = Reader(_tree(config, resolve=False))
        parts = {part: _read_part(part, tree, reader) for part in _PARTS}
    return _join_parts(tree, parts)


def _read_part(part: str, tree: Tree, reader: Reader) -> Any:
    """Return one of the ``_PARTS`` of a point from the resolved configuration."""
    if part == "intrinsic":
        return tuple(_read_metrics(tree[part], reader))
    node = tree.get(part)
    return None if node is None else require_kind(reader(node, part), _PARTS[part], part)


def _join_parts(tree: Tree, parts: Mapping[str, Any]) -> Point:
    _check_name(str(tree["name"]))
    subject, task = parts["subject"], parts["task"]
    if task and not tree["corpus_named"]:
        _require_text(subject, task)
    metrics, others = parts["intrinsic"], {name: parts[name] for name in ("probe", "from_task")}
    try:
        return Point(tree["name"], tree["seed"], subject, metrics, task, **others)
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


def _read_metrics(intrinsic: object, read: Reader) -> Iterator[AnyMetric]:
    if not isinstance(intrinsic, Mapping) or not intrinsic:
        raise InputError(f"intrinsic={intrinsic!r}: give a mapping of names to metrics")
    for name, metric_node in intrinsic.items():
        for node in _by_convention(metric_node):
            yield require_kind(read(node, f"intrinsic.{name}"), AnyMetric, "intrinsic")


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
        raise InputError(f"name={name!r} is not a folder name in results/; choose a name without /")


def _require_fitting_challenge(tree: Tree) -> None:
    """Raise ``InputError`` for another task's challenge set, before its settings raise others."""
    task_node, challenge_node = tree["task"], tree.get("challenge")
    if not isinstance(challenge_node, Mapping):
        return
    challenge = find_class(challenge_node.get(TARGET), "challenge")
    name = challenge.__name__
    if task_node is None:
        raise InputError(f"challenge={name} needs a task, and task is null; give one, or neither")
    if not isinstance(task_node, Mapping):
        return
    task = find_class(task_node.get(TARGET), "task")
    method, example = getattr(task, "challenges", ("", ""))
    if method and not hasattr(challenge, method):
        remedy = f"choose challenge={example}"
        raise InputError(f"challenge={name} does not fit task={task.__name__}; {remedy}")


class Cell(NamedTuple):
    """What a cell of a sweep is composed to."""

    point: Point
    settings: Settings
    device: str


class Selection:
    """A selection of configuration files, and the parts of points that were read from it.

    A part is read once for equal values of the keys that it depends on.
    """

    def __init__(self, config: DictConfig) -> None:
        self.config = config
        self.uses_seed = bool(_SEED.search(OmegaConf.to_yaml(config)))
        self._written = _tree(config, resolve=False)
        self._needs = {part: self._needed([part]) for part in _PARTS}
        self._needs["task"] |= self._needed(["challenge"])
        self._needs[""] = self._needed(_SETTINGS)
        self._parts: dict[tuple[str, tuple[str, ...]], Any] = {}
        self._options: dict[str, set[str]] = {}

    def lacks(self, key: str) -> bool:
        """Test whether a key names an option that the choice of its group does not have."""
        group, *options = key.split(".")
        if not options or group not in self._written:
            return False
        if group not in self._options:
            self._options[group] = _option_names(self._written[group], group)
        return options[0] not in self._options[group]

    def _needed(self, keys: Iterable[str]) -> set[str]:
        """Return the top-level keys with which the values of others change, by their ``${...}``."""
        needed, pending = set[str](), list(keys)
        while pending:
            if (key := pending.pop()) in needed or key not in self._written:
                continue
            needed.add(key)
            text = str(self._written[key])
            pending += self._written if _RELATIVE.search(text) else _NAMED.findall(text)
        return needed

    def can_change(self, change: Override) -> bool:
        """Test whether an override changes an existing value, which needs no composition by Hydra,
        and is no reference to others.
        """
        *parents, name = change.key_or_group.split(".")
        node: Any = self._written
        for parent in parents:
            node = node.get(parent) if isinstance(node, Mapping) else None
        is_change = change.type == OverrideType.CHANGE and change.package is None
        return (
            is_change and "${" not in line_of(change) and isinstance(node, Mapping) and name in node
        )

    def read(self, changes: Sequence[Override], built: dict[str, Choice]) -> Cell:
        """Return the cell of a selection with changed values; ``built``: choices to share."""
        settings, device, tree = self._read("", changes, built)
        parts = {part: self._read(part, changes, built) for part in _PARTS}
        return Cell(_join_parts(tree, parts), settings, device)

    def _read(self, part: str, changes: Sequence[Override], built: dict[str, Choice]) -> Any:
        """Return a part of a point; those of its settings if ``part`` is empty."""
        needed = self._needs[part]
        relevant = [c for c in changes if c.key_or_group.partition(".")[0] in needed]
        key = part, tuple(map(line_of, relevant))
        if key in self._parts:
            return self._parts[key]
        before = [(c.key_or_group, self._value(c.key_or_group)) for c in relevant]
        try:
            for change in relevant:
                OmegaConf.update(self.config, change.key_or_group, change.value(), merge=True)
            with required_requests():
                read = self._read_changed(part, built)
        finally:
            for name, value in reversed(before):
                OmegaConf.update(self.config, name, value, merge=False)
        self._parts[key] = read  # not if data are missing
        return read

    def _read_changed(self, part: str, built: dict[str, Choice]) -> Any:
        if not part:
            tree = {name: self.config[name] for name in ("name", "seed", "corpus_named")}
            return read_settings(self.config), str(self.config.device), tree
        names = ("task", "challenge") if part == "task" else (part,)
        config = self.config
        tree = {name: _plain(config[name]) for name in names if name in config}
        if part == "task":
            _require_fitting_challenge(tree)
        return _read_part(part, tree, Reader(self._written, built))

    def _value(self, name: str) -> Any:
        node: Any = self._written
        for key in name.split("."):
            node = node[key]
        return node


class Composer:
    """Composer of cells that reads each selection of configuration files once.

    Cells mostly differ in values alone, and many in the seed alone: those share the parts of their
    points. ``hydra``: the command's overrides of Hydra; ``left_out``: by choice, the options that a
    file sets and it lacks.
    """

    def __init__(self, hydra: Sequence[str] = ()) -> None:
        self.left_out: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._hydra = list(hydra)
        self._groups: dict[str, bool] = {}
        self._selected: dict[tuple[str, ...], Selection] = {}
        self._parsed: dict[str, Override] = {}
        self._cells: dict[tuple[str, ...], Cell | None] = {}  # by all overrides but the seed
        self._built: dict[str, Choice] = {}

    def list_cells(self, command: Command) -> list[list[str]]:
        """Return the overrides of each distinct cell, or of the one point. Raises ``InputError``.

        The options of a grid that a choice lacks are left out, if the command gives the choice or
        another cell's choice has them: else they are mistakes in the file.
        """
        cells = expand_grids(command)
        given = {*map(self._key, command.overrides)}
        lacking = [[key for key in self._lacking(cell) if key not in given] for cell in cells]
        pairs = [*zip(cells, lacking, strict=True)]
        known = {key for cell, keys in pairs for key in {*map(self._key, cell)} - {*keys}}
        distinct: dict[tuple[str, ...], None] = {}
        for cell, keys in pairs:
            dropped = [key for key in keys if key in known or key.partition(".")[0] in given]
            for group, _, option in (key.partition(".") for key in dropped):
                chosen = next((line for line in cell if self._key(line) == group), group)
                self.left_out[chosen][option] = None
            distinct[tuple(line for line in cell if self._key(line) not in dropped)] = None
        return [*map(list, distinct)]

    def _lacking(self, cell: Sequence[str]) -> list[str]:
        """Return the keys of a cell that are options which its choices lack."""
        selection, changes = self._select(cell)
        return [o.key_or_group for o in changes if selection.lacks(o.key_or_group)]

    def _key(self, line: str) -> str:
        return str(self._parse(line).key_or_group)

    def read(self, cell: Sequence[str]) -> Cell:
        """Return what a cell is composed to. Raises ``InputError``."""
        seeds = [line for line in cell if _is_seed(self._parse(line))]
        others = tuple(line for line in cell if line not in seeds)
        if len(seeds) != 1:
            return self._read(cell)
        if others not in self._cells:
            selection, changes = self._select(cell)
            lines = map(line_of, changes)
            is_shared = not selection.uses_seed and not any(map(_SEED.search, lines))
            self._cells[others] = self._read(cell) if is_shared else None
        shared = self._cells[others]
        if shared is None:
            return self._read(cell)
        seed = self._parse(seeds[0]).value()
        assert isinstance(seed, int)
        return shared._replace(point=shared.point.with_seed(seed))

    def _read(self, cell: Sequence[str]) -> Cell:
        selection, changes = self._select(cell)
        if all(map(selection.can_change, changes)):
            with suppress(InputError, OmegaConfBaseException):
                return selection.read(changes, self._built)
        config = self(cell)  # whose errors name the key that was written
        return Cell(read_point(config), read_settings(config), str(config.device))

    def _select(self, cell: Sequence[str]) -> tuple[Selection, list[Override]]:
        """Return the selection of a cell and its changes of values."""
        overrides = [self._parse(line) for line in cell]
        files = tuple(line_of(override) for override in overrides if self._selects_a_file(override))
        if files not in self._selected:
            self._selected[files] = Selection(self(files))
        return self._selected[files], [o for o in overrides if line_of(o) not in files]

    def _parse(self, line: str) -> Override:
        if line not in self._parsed:
            [self._parsed[line]] = parse_overrides([line])
        return self._parsed[line]

    def __call__(self, overrides: Sequence[str]) -> DictConfig:
        """Return the configuration of overrides, without Hydra's own node."""
        lines = [*self._hydra, *overrides]
        whole = compose("config", overrides=lines, return_hydra_config=True)
        _check_keys(whole, whole.hydra)
        for line, option in drop_options_of_other_choices(whole, whole.hydra):
            self.left_out[line][option] = None
        config = OmegaConf.masked_copy(whole, [str(key) for key in whole if key != "hydra"])
        OmegaConf.set_struct(config, True)
        return config

    def _selects_a_file(self, override: Override) -> bool:
        key = override.key_or_group
        if key not in self._groups:
            loader = GlobalHydra.instance().config_loader()
            names = loader.get_group_options(key, config_name="config", overrides=self._hydra)
            self._groups[key] = bool(names)
        return self._groups[key] and not isinstance(override.value(), dict)


def _is_seed(override: Override) -> bool:
    """Test whether an override sets the seed to a whole number."""
    is_change = override.type == OverrideType.CHANGE and override.package is None
    return is_change and override.key_or_group == "seed" and type(override.value()) is int


def _option_names(node: object, group: str) -> set[str]:
    """Return the options of the choice of a group, of which ``none`` has none; for several choices,
    such as metrics, their names.
    """
    if not isinstance(node, Mapping):
        return set()
    if TARGET not in node:
        return {str(n) for n, one in node.items() if not isinstance(one, Mapping) or TARGET in one}
    cls = find_class(node[TARGET], group)
    is_none = getattr(cls, "name", None) == "none"
    return set() if is_none else {TARGET, *(field.name for field in dataclasses.fields(cls))}


def drop_options_of_other_choices(config: DictConfig, hydra: DictConfig) -> list[tuple[str, str]]:
    """Remove the options that an experiment sets for its own choice of a group, where the command
    chooses another one that lacks them; return that choice, as it was written, and each option.
    """
    overrides = parse_overrides(hydra.overrides.task)
    given = {override.key_or_group: line_of(override) for override in overrides}
    chosen, tree = hydra.runtime.choices, _tree(config, resolve=False)
    dropped: list[tuple[str, str]] = []
    files = [f"{kind}/{chosen[kind]}.yaml" for kind in _KINDS_OF_FILES if chosen.get(kind)]
    places = [Path(source.path, name) for source in hydra.runtime.config_sources for name in files]
    for written in map(OmegaConf.load, filter(Path.is_file, places)):
        assert isinstance(written, DictConfig)
        for group in filter(given.get, map(str, written)):
            names = written[group] if isinstance(config.get(group), DictConfig) else ()
            own = _option_names(tree[group], group)
            for name in [name for name in map(str, names) if name not in own]:
                if not any(f"{key}.".startswith(f"{group}.{name}.") for key in given):
                    with open_dict(config[group]):
                        config[group].pop(name, None)
                    dropped.append((given[group], name))
    return dropped


def _check_keys(config: DictConfig, hydra: DictConfig) -> None:
    """Raise ``InputError`` for a top-level key that nothing reads, and for a missing one."""
    written = OmegaConf.to_yaml(config) + OmegaConf.to_yaml(hydra)
    base = OmegaConf.to_container(OmegaConf.load(CONF / "config.yaml"))
    assert isinstance(base, dict)
    required = {str(key) for key in base} - {"defaults", "hydra"}
    known, defaults = set(required), base["defaults"]
    for names in (hydra.runtime.choices, *(group for group in defaults if group != "_self_")):
        known |= {str(group) for group in names if not re.search("[ /@]", str(group))}
    known |= set(re.findall(r"\$\{(\w+)[.}]", written))
    for key in map(str, config):
        if key not in known | {"hydra"}:
            names = ", ".join(sorted(known))
            raise InputError(
                f"unknown config key {key!r}{nearest(key, known)} (known keys: {names})"
            )
    for key in (*required, "subject", "intrinsic", "task", "study"):
        if key not in config:
            remedy = f"do not remove it with ~{key} or {key}=[]"
            raise InputError(f"the config key {key!r} is missing; {remedy}")
