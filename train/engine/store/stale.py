"""Outdated results: made by other code or other library versions than the current ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from biasbridge.files import InputError
from biasbridge.train.engine.source import current_source
from biasbridge.train.engine.store.entry import DamagedError, Lineage, lineage, read_recipe

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.train.engine.store.step import Step
    from biasbridge.train.engine.store.store import Store

Policy = Literal["refuse", "use", "rebuild"]


class Outdated(NamedTuple):
    """A stored result of other code or library versions.

    ``modules``: source files that differ; ``libraries``: as ``gensim 4.3.3 (now 4.4.0)``; ``code``:
    whether code differs here or in an ancestor.
    """

    step: Step
    code: bool
    modules: tuple[str, ...]
    libraries: tuple[str, ...]


def outdated(store: Store, ends: Iterable[Step]) -> list[Outdated]:
    """Return the outdated results that these steps use, and outdated ancestors.

    Only recipes are read; no result is checked.
    """
    compared: dict[str, tuple[Lineage, bool, Outdated | None]] = {}
    outdated_by_key: dict[str, Outdated] = {}
    visited: set[str] = set()

    def compare(step: Step) -> tuple[Lineage, bool, Outdated | None]:
        if step.key not in compared:
            inputs = {name: compare(input_step)[0] for name, input_step in step.inputs.items()}
            compared[step.key] = _compare(store, step, inputs)
        return compared[step.key]

    queue = list(ends)
    while queue:
        step = queue.pop(0)
        if step.key in visited:
            continue
        visited.add(step.key)
        _, is_stored, difference = compare(step)
        if difference:
            outdated_by_key[step.key] = difference
        if difference or not is_stored:  # inputs of a current stored result are not used
            queue += step.inputs.values()
    return list(outdated_by_key.values())


def _compare(
    store: Store, step: Step, inputs: Mapping[str, Lineage]
) -> tuple[Lineage, bool, Outdated | None]:
    """Return the current lineage of a result, whether it is stored, and how that one differs."""
    try:
        made = read_recipe(store.path(step))["made"]
    except DamagedError:  # missing, or moved away when it is used
        return lineage(step.source, inputs), False, None
    source = current_source(step.source, made["modules"])
    current, old_libraries = lineage(source, inputs), made["libraries"]
    if made["lineage"] == current:
        return current, True, None
    libraries = tuple(
        f"{name} {old_libraries.get(name, 'none')} (now {source.libraries.get(name, 'none')})"
        for name in _differing(old_libraries, source.libraries)
    )
    code = made["lineage"]["code"] != current["code"]
    modules = tuple(_differing(made["modules"], source.modules))
    return current, True, Outdated(step, code, modules, libraries)


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [name for name in sorted({**before, **now}) if before.get(name) != now.get(name)]


def report_outdated(results: Sequence[Outdated], policy: Policy, console: Console) -> None:
    """Print what happens to outdated results: ``rebuild`` rebuilds, ``use`` uses them.

    ``refuse`` uses those of other libraries and raises ``InputError`` for those of other code.
    """
    other_code = [result for result in results if result.code]
    other_libraries = [result for result in results if not result.code]
    if other_code and policy == "refuse":
        raise InputError(
            f"stored results are of other code: {_describe(other_code)}; --stale rebuild rebuilds"
            " them and what depends on them, --stale use uses them unchanged"
        )
    action = "rebuilding" if policy == "rebuild" else "using"
    for group, cause in ((other_code, "code"), (other_libraries, "library versions")):
        if group:
            line = f"{action} results of other {cause}: {_describe(group)}"
            console.print(line, soft_wrap=True)


def _describe(results: Sequence[Outdated]) -> str:
    """Return the number of results per step and what differs, first causes first."""
    counts = Counter((r.step.label, (*r.modules, *r.libraries)) for r in results)
    ordered = sorted(counts.items(), key=lambda entry: not entry[0][1])
    return ", ".join(
        f"{count} {label}: {'+'.join(causes) or 'depends on these'}"
        for (label, causes), count in ordered
    )
