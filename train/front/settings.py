"""How a command runs: where its results lie and which points it takes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from files import InputError, choice
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
    return Settings(
        store=str(config.store.dir),
        results=str(config.results.dir),
        extend=bool(config.results.extend),
        overwrite=config.overwrite,
        stale=config.stale,
        plan=config.plan,
        power=config.power,
    )
