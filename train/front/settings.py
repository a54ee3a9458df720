"""How a command runs: where its results lie and which points it takes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from files import choice

if TYPE_CHECKING:
    from omegaconf import DictConfig

Overwrite = Literal["only-missing", "always", "never", "only-cache"]


@choice
class Settings:
    """The folders ``store`` and ``results``; ``extend`` keeps the points of an earlier sweep in
    the latter; ``plan``: say what would run, and stop.
    """

    store: str
    results: str
    extend: bool
    overwrite: Overwrite
    plan: bool


def read_settings(config: DictConfig) -> Settings:
    """The settings in a configuration. Raises ``InputError``."""
    return Settings(
        store=str(config.store.dir),
        results=str(config.results.dir),
        extend=bool(config.results.extend),
        overwrite=config.overwrite,
        plan=config.plan,
    )
