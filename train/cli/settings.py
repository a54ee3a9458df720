"""Settings of a run: where results go, and what happens to those that are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from biasbridge.files import InputError, choice
from biasbridge.train.engine.store.stale import Policy

if TYPE_CHECKING:
    from omegaconf import DictConfig

Overwrite = Literal["only-missing", "always", "only-cache"]


@choice
class Settings:
    """Settings of a run.

    ``store``, ``results``: folders; ``stale``: what happens to results of other code; ``plan``:
    print the plan and stop; ``power``: with it, the power of the study.
    """

    store: str
    results: str
    overwrite: Overwrite
    stale: Policy
    plan: bool
    power: bool

    def __post_init__(self) -> None:
        if self.power and not self.plan:
            raise InputError("power=true only plans a study; give plan=true with it")
        if self.stale == "rebuild" and self.overwrite == "only-cache":
            raise InputError(
                "stale=rebuild rebuilds results and overwrite=only-cache builds none; choose one"
            )


def read_settings(config: DictConfig) -> Settings:
    """Return the settings of a configuration. Raises ``InputError``."""
    values: dict[str, Any] = {n: config[n] for n in ("overwrite", "stale", "plan", "power")}
    values |= {name: _folder(config, name) for name in ("store", "results")}
    return Settings(**values)


def _folder(config: DictConfig, name: str) -> str:
    node = config[name]
    if not isinstance(node, Mapping):
        raise InputError(f"{name}={node}: give the folder as {name}.dir={node}")
    if not (node["dir"] and isinstance(node["dir"], str)):
        raise InputError(f"{name}.dir={node['dir']!r} is no folder; give a path")
    return node["dir"]
