"""Results that other code made, or other versions of libraries, than would make them now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from files import InputError
from files.source import source_now
from train.store.entry import DamagedError, Lineage, lineage, read_recipe

if TYPE_CHECKING:
    from rich.console import Console

    from train.store.stage import Stage
    from train.store.store import Store

Policy = Literal["refuse", "use", "rebuild"]


class Outdated(NamedTuple):
    """A stored result that would not be made so now.

    ``modules``: those whose source file differs; ``libraries``: those of other versions, as
    ``gensim 4.3.3 (now 4.4.0)``. ``code``: whether code differs here or in what it rests on.
    """

    stage: Stage
    code: bool
    modules: tuple[str, ...]
    libraries: tuple[str, ...]


def outdated(store: Store, ends: Iterable[Stage]) -> list[Outdated]:
    """The results that a run of these stages would use, and those that they rest on, where code or
    libraries differ from what is at hand; the recipes are read, no result is checked.
    """
    compared: dict[str, tuple[Lineage, bool, Outdated | None]] = {}
    found: dict[str, Outdated] = {}
    seen: set[str] = set()

    def compare(stage: Stage) -> tuple[Lineage, bool, Outdated | None]:
        if stage.key not in compared:
            inputs = {name: compare(each)[0] for name, each in stage.inputs.items()}
            compared[stage.key] = _compare(store, stage, inputs)
        return compared[stage.key]

    left = list(ends)
    while left:
        stage = left.pop(0)
        if stage.key in seen:
            continue
        seen.add(stage.key)
        _, stored, differing = compare(stage)
        if differing:
            found[stage.key] = differing
        if differing or not stored:  # what a stored result rests on is not used again
            left += stage.inputs.values()
    return list(found.values())


def _compare(
    store: Store, stage: Stage, inputs: Mapping[str, Lineage]
) -> tuple[Lineage, bool, Outdated | None]:
    """The lineage that a result would have now, whether it is stored, and how that one differs."""
    try:
        made = read_recipe(store.path(stage))["made"]
    except DamagedError:  # missing, or set aside when it is used
        return lineage(stage.source, inputs), False, None
    source = source_now(stage.source, made["modules"])
    now, before = lineage(source, inputs), made["libraries"]
    if made["lineage"] == now:
        return now, True, None
    libraries = tuple(
        f"{name} {before.get(name, 'none')} (now {source.libraries.get(name, 'none')})"
        for name in _differing(before, source.libraries)
    )
    code = made["lineage"]["code"] != now["code"]
    modules = tuple(_differing(made["modules"], source.modules))
    return now, True, Outdated(stage, code, modules, libraries)


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [name for name in sorted({**before, **now}) if before.get(name) != now.get(name)]


def say(found: Sequence[Outdated], policy: Policy, console: Console) -> None:
    """Print what becomes of outdated results: ``rebuild`` builds them again, ``use`` uses them.
    ``refuse`` uses those of other libraries and raises ``InputError`` for those of other code.
    """
    ours = [each for each in found if each.code]
    theirs = [each for each in found if not each.code]
    if ours and policy == "refuse":
        raise InputError(
            f"other code made results that this sweep would use: {_describe(ours)}; --stale"
            " rebuild makes them and what rests on them again, --stale use takes them as they are"
        )
    done = "built again" if policy == "rebuild" else "used"
    for group, what in ((ours, "code"), (theirs, "versions of libraries")):
        if group:
            line = f"{done}: made by other {what}: {_describe(group)}"
            console.print(line, soft_wrap=True)


def _describe(found: Sequence[Outdated]) -> str:
    """How many results of which stage, and what differs, first causes first."""
    kinds = Counter((each.stage.label, (*each.modules, *each.libraries)) for each in found)
    ordered = sorted(kinds.items(), key=lambda kind: not kind[0][1])
    return ", ".join(
        f"{count} {name}: {'+'.join(why) or 'rests on such'}" for (name, why), count in ordered
    )
