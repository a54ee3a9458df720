"""How a command runs: where its results lie and which points it takes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from files import InputError, choice
from files.choice import FieldError
from train.store.stale import Policy

if TYPE_CHECKING:
    from omegaconf import DictConfig

Overwrite = Literal["only-missing", "always", "never", "only-cache"]


@choice
class Settings:
    """The folders ``store`` and ``results``; ``extend`` keeps the points of an earlier sweep in
    the latter; ``stale`` says what becomes of results that other code made; ``plan``: say what
    would run, and stop; ``power``, with it: how many embeddings and test items a study takes.
    """

    store: str
    results: str
    extend: bool
    overwrite: Overwrite
    stale: Policy
    plan: bool
    power: bool

    def __post_init__(self) -> None:
        if self.power and not self.plan:
            raise InputError("power=true plans and runs nothing; give plan=true with it")
        if self.stale == "rebuild" and self.overwrite == "only-cache":
            raise InputError(
                "stale=rebuild makes results again and overwrite=only-cache makes none; choose one"
            )


def read_settings(config: DictConfig) -> Settings:
    """The settings in a configuration. Raises ``InputError``."""
    try:
        return Settings(
            store=_folder(config, "store"),
            results=_folder(config, "results"),
            extend=config.results.extend,
            overwrite=config.overwrite,
            stale=config.stale,
            plan=config.plan,
            power=config.power,
        )
    except FieldError as error:
        raise InputError(str(error).replace("extend=", "results.extend=", 1)) from error


def _folder(config: DictConfig, name: str) -> str:
    node = config[name]
    if not isinstance(node, Mapping):
        raise InputError(f"{name}={node}: the folder is {name}.dir={node}")
    if not (node["dir"] and isinstance(node["dir"], str)):
        raise InputError(f"{name}.dir={node['dir']!r} names no folder")
    return node["dir"]
