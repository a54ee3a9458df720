"""Which of a run's stages are rebuilt though they are in the store, printed with the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from train.estimate import print_plan
from train.store.stale import outdated, say

if TYPE_CHECKING:
    from rich.console import Console

    from train.front.settings import Settings
    from train.point import Plan
    from train.store import Stage, Store


def plan_rebuilds(
    plans: Sequence[Plan],
    cells: Sequence[Plan],
    store: Store,
    settings: Settings,
    console: Console,
) -> dict[str, Stage]:
    """Print the plan and what other code made; the stages whose results are rebuilt, by key.

    Raises ``InputError`` where results of other code are refused.
    """
    stages = {key: stage for plan in plans for key, stage in plan.stages().items()}
    if settings.overwrite == "always":
        print_plan(plans, cells, store, console, anew=stages)
        return stages
    found = outdated(store, [stage for plan in plans for stage in plan.ends])
    rebuilt = {each.stage.key: each.stage for each in found} if settings.stale == "rebuild" else {}
    print_plan(plans, cells, store, console, anew=rebuilt)
    say(found, settings.stale, console)
    return rebuilt


def remove(rebuilt: Mapping[str, Stage], store: Store) -> None:
    """Remove from the store the results that are rebuilt."""
    if rebuilt:
        store.prove_writable()
    for stage in rebuilt.values():
        store.discard(stage)
