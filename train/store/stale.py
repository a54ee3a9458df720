"""Results that other code made, or other versions of libraries, than would make them now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from files import InputError
from files.source import Source, source_now
from train.store.entry import DamagedError, Lineage, Made, lineage, read_recipe

if TYPE_CHECKING:
    from rich.console import Console

    from train.store.stage import Stage
    from train.store.store import Store

Policy = Literal["refuse", "use", "rebuild"]


@dataclass(frozen=True)
class Outdated:
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
    expected: dict[str, tuple[Made | None, Source, Lineage]] = {}
    found: dict[str, Outdated | None] = {}

    def expect(stage: Stage) -> tuple[Made | None, Source, Lineage]:
        if stage.key not in expected:
            made = _made(store, stage)
            source = source_now(stage.source, made["modules"] if made else ())
            inputs = {name: expect(each)[2] for name, each in stage.inputs.items()}
            expected[stage.key] = made, source, lineage(source, inputs)
        return expected[stage.key]

    def look(stage: Stage) -> None:
        if stage.key in found:
            return
        made, source, now = expect(stage)
        found[stage.key] = _compared(stage, made, source, now) if made else None
        if not made or found[stage.key]:
            for each in stage.inputs.values():
                look(each)

    for end in ends:
        look(end)
    return [each for each in found.values() if each]


def say(found: Sequence[Outdated], policy: Policy, console: Console) -> None:
    """Print what becomes of outdated results: ``rebuild`` builds them again, ``use`` uses them.
    ``refuse`` uses those of other libraries and raises ``InputError`` for those of other code.
    """
    ours = [each for each in found if each.code]
    theirs = [each for each in found if not each.code]
    if ours and policy == "refuse":
        raise InputError(
            f"other code made results that this sweep would use: {_spell(ours)}; stale=rebuild"
            " makes them and what rests on them again, stale=use takes them as they are"
        )
    done = "built again" if policy == "rebuild" else "used"
    for group, what in ((ours, "code"), (theirs, "versions of libraries")):
        if group:
            line = f"{done}: made by other {what}: {_spell(group)}"
            console.print(line, soft_wrap=True, highlight=False, markup=False)


def _made(store: Store, stage: Stage) -> Made | None:
    if not store.has(stage):
        return None
    try:
        return read_recipe(store.path(stage))["made"]
    except DamagedError:  # set aside when it is used
        return None


def _compared(stage: Stage, made: Made, source: Source, now: Lineage) -> Outdated | None:
    if made["lineage"] == now:
        return None
    libraries = made["libraries"]
    return Outdated(
        stage,
        code=made["lineage"]["code"] != now["code"],
        modules=tuple(_differing(made["modules"], source.modules)),
        libraries=tuple(
            f"{name} {libraries.get(name, 'none')} (now {source.libraries.get(name, 'none')})"
            for name in _differing(libraries, source.libraries)
        ),
    )


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [name for name in sorted({**before, **now}) if before.get(name) != now.get(name)]


def _spell(found: Sequence[Outdated]) -> str:
    """How many results of which stage, and what differs, first causes first."""
    kinds = Counter(
        (f"{each.stage.name} ({each.stage.made_by})", (*each.modules, *each.libraries))
        for each in found
    )
    ordered = sorted(kinds.items(), key=lambda kind: not kind[0][1])
    return ", ".join(
        f"{count} {name}: {'+'.join(why) or 'rests on such'}" for (name, why), count in ordered
    )
