"""Metrics and methods of a user's folder, beside those of the project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasbridge.files import InputError
from biasbridge.files.choice import METHODS as METHOD_GROUP
from biasbridge.files.choice import METRICS as METRIC_GROUP
from biasbridge.files.choice import PROJECT, choice_classes, find_choice

if TYPE_CHECKING:
    from os import PathLike


def use_folder(folder: str | PathLike[str] | None) -> None:
    """Add the metrics and methods in the modules of a folder to those of this process.

    Raises ``InputError`` for a folder that is missing, a module that cannot be imported, and a name
    that the project has.
    """
    if folder is None:
        return
    if not Path(folder).is_dir():
        raise InputError(f"no such folder: {folder}; give the one with your own modules")
    from biasbridge.debias.methods import METHODS
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.models.item_metric import ItemMetric
    from biasbridge.intrinsic.registry import METRICS, MODEL_METRICS
    from biasbridge.train.cli.choices import search_modules

    search_modules([Path(folder)])
    for group in (METRIC_GROUP, METHOD_GROUP):
        for found in choice_classes(Path(folder), group):
            if find_choice([PROJECT], group, found.name):
                raise InputError(f"{found.target}: {found.name!r} is taken; choose another name")
            cls: Any = found.load()
            if group == METHOD_GROUP:
                METHODS[cls.acts_on][found.name] = cls
            elif issubclass(cls, Metric):
                METRICS[found.name] = cls
            elif issubclass(cls, ItemMetric):
                MODEL_METRICS[found.name] = cls
