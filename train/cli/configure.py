"""Point, study and planner of a composed configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from biasbridge.files import Choice, InputError
from biasbridge.files.choice import FieldError
from biasbridge.files.data.registry import data_path, groups, required_requests
from biasbridge.files.language import UNDETERMINED, language_of
from biasbridge.files.printable import CONTROL
from biasbridge.intrinsic.conventions import ALL_CONVENTIONS, ByConvention
from biasbridge.intrinsic.probe import AnyMetric, Probe
from biasbridge.train.cli import CONF
from biasbridge.train.cli import class_source as class_source  # Hydra finds classes from here on
from biasbridge.train.cli.choices import TARGET, Reader, Tree, find_class, require_kind
from biasbridge.train.cli.error_messages import INPUT_ERRORS, one_line
from biasbridge.train.engine.part import Subject, Task
from biasbridge.train.engine.point import Point
from biasbridge.train.tasks.task_words import TaskWords

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from biasbridge.analysis.planner import Planner
    from biasbridge.analysis.study import Study

# Generated corpora by language
WORLDS = dict.fromkeys(("en", UNDETERMINED), "corpus=generated")
WORLDS |= {"es": "corpus=generated_es_gender"}


def list_members(names: str | list[str]) -> list[str]:
    """Return names with those of groups of data sets replaced by the members."""
    listed = [names] if isinstance(names, str) else names
    return [member for name in listed for member in groups().get(name, (name,))]


OmegaConf.register_new_resolver("data", data_path, replace=True)
OmegaConf.register_new_resolver("members", list_members, replace=True)


def compose_point(overrides: Iterable[str]) -> Point:
    """Start Hydra and return the point of overrides. Raises ``InputError``."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
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


def read_planner(config: DictConfig) -> Planner:
    """Return the planner for ``power=true`` of a configuration."""
    tree = _tree(config, resolve=True)
    return cast("Planner", Reader(tree)(tree["planner"], "planner"))


def _tree(config: DictConfig, *, resolve: bool) -> dict[str, Any]:
    tree = OmegaConf.to_container(config, resolve=resolve)
    assert isinstance(tree, dict)
    return {str(key): value for key, value in tree.items() if key != "hydra"}


@required_requests()
def read_point(config: DictConfig, built: dict[str, Choice] | None = None) -> Point:
    """Return the point of a composed configuration; ``built``: choices that it may share.

    Raises ``InputError`` for an unknown key, an invalid value, or a choice that lacks an attribute.
    """
    tree = _tree(config, resolve=True)
    _require_fitting_challenge(tree)
    read = Reader(_tree(config, resolve=False), built)

    def read_part(key: str, kind: type) -> Any:
        node = tree.get(key)
        return None if node is None else require_kind(read(node, key), kind, key)

    _check_name(str(tree["name"]))
    subject, task = read_part("subject", Subject), read_part("task", Task)
    if task and not tree["corpus_named"]:
        _require_text(subject, task)
    try:
        return Point(
            experiment=tree["name"],
            seed=tree["seed"],
            subject=subject,
            metrics=tuple(_read_metrics(tree["intrinsic"], read)),
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
        raise InputError(f"name={name!r} is no folder name in results/; choose a name without /")


def _require_fitting_challenge(tree: Tree) -> None:
    """Raise ``InputError`` for a challenge set that does not fit the task.

    This is checked first, as sets of another kind bring settings that the task lacks.
    """
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
