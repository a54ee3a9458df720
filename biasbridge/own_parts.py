"""Metrics and methods of a user, beside those of the project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from biasbridge.files import InputError
from biasbridge.files.choice import as_names

if TYPE_CHECKING:
    from os import PathLike

    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.models.item_metric import ItemMetric

OwnMetric: TypeAlias = "str | type[Metric] | type[ItemMetric] | Metric | ItemMetric"


def as_metrics(metrics: OwnMetric | Sequence[OwnMetric]) -> tuple[list[str], list[Any]]:
    """Return the names of metrics, those of classes included, and the objects that are metrics."""
    is_one = isinstance(metrics, str | type) or hasattr(metrics, "about")
    names: list[str] = []
    objects: list[Any] = []
    for metric in cast("list[OwnMetric]", [metrics] if is_one else as_names(cast("Any", metrics))):
        if isinstance(metric, str):
            names.append(metric)
        elif isinstance(metric, type):
            names.append(register(metric))
        else:
            objects.append(metric)
    return names, objects


def use_folder(folder: str | PathLike[str] | None) -> None:
    """Add the metrics and methods in the modules of a folder to those of this process.

    Raises ``InputError`` for a folder that is missing, a module that cannot be imported, and a name
    that the project has.
    """
    if folder is None:
        return
    if not Path(folder).is_dir():
        raise InputError(f"no such folder: {folder}; give the one with your own modules")
    from biasbridge.files.choice import METHODS, METRICS, choice_classes, search_modules

    search_modules([Path(folder)])
    for group in (METRICS, METHODS):
        for found in choice_classes(Path(folder), group):
            register(found.load())


def register(cls: Any) -> str:
    """Add a metric or a method to those of this process, and return its name."""
    from biasbridge.debias.methods import METHODS as DEBIAS_METHODS
    from biasbridge.files.choice import METHODS, METRICS, find_choice
    from biasbridge.files.paths import HOME
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.models.item_metric import ItemMetric
    from biasbridge.intrinsic.registry import METRICS as VECTOR_METRICS
    from biasbridge.intrinsic.registry import MODEL_METRICS

    about = getattr(cls, "about", None)
    name, group = (about.name, METRICS) if about else (getattr(cls, "name", ""), METHODS)
    target = f"{cls.__module__}.{cls.__qualname__}"
    if not about and not hasattr(cls, "acts_on"):
        raise InputError(f"{target} is neither a metric nor a method; see docs/extending.md")
    taken = find_choice([HOME], group, name)
    if taken and taken.load() is not cls:
        raise InputError(f"{target}: {name!r} is taken; choose another name")
    if not about:
        DEBIAS_METHODS.get(cls.acts_on, {})[name] = cls
    elif issubclass(cls, Metric):
        VECTOR_METRICS[name] = cls
    elif issubclass(cls, ItemMetric):
        MODEL_METRICS[name] = cls
    return str(name)
