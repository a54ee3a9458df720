"""What every subject and task provides, and how it turns its choices into stages."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

from files import Choice
from train.seeds import derive_seed
from train.store import Stage, Store
from train.store.stage import Decided

Facts = dict[str, str | int | float | bool]
Inputs = Mapping[str, Path]
NOTHING: Mapping[str, Stage] = MappingProxyType({})
C = TypeVar("C", bound=Choice)


@runtime_checkable
class Subject(Choice, Protocol):
    """What is measured.

    ``gives``: what metrics and tasks can ask of it. ``lay``: its stages by name, those that it
    gives and those that others share (``base``, ``corpus``); each becomes the column ``NAME_key``.
    """

    gives: ClassVar[tuple[str, ...]]

    def facts(self) -> Facts:
        """The columns that tell of it: embedding, method, direction and dose, generated, others."""

    def lay(self, stages: Stages) -> Mapping[str, Stage]:
        """Its stages by name."""


@runtime_checkable
class Task(Choice, Protocol):
    """What a subject is put to.

    ``needs``: what the subject must give. ``lay``: the stage that ends in the rows of the extrinsic
    table, ``scores.parquet``.
    """

    needs: ClassVar[tuple[str, ...]]

    def facts(self) -> Facts:
        """The columns that tell of it: task, generated, others."""

    def lay(self, stages: Stages, subject: Mapping[str, Stage]) -> Stage:
        """Its last stage."""


@dataclass(frozen=True)
class Stages:
    """Lays stages for one run seed: files from outside are hashed, nothing is built."""

    run_seed: int
    store: Store

    def __call__(
        self,
        name: str,
        choice: C,
        carry_out: Callable[[C, Path, Inputs, int], None],
        inputs: Mapping[str, Stage] = NOTHING,
        *,
        drawn: str = "",
    ) -> Stage:
        """The stage in which ``carry_out(choice, out, inputs, seed)`` writes into the folder
        ``out`` what the choice makes of the folders of its inputs.

        The seed derives from ``drawn`` in the place of ``name`` where that is given. What draws
        nothing at random (``seeded = False``) is the same for every run seed, and shared.
        """
        seeded = getattr(choice, "seeded", True)
        seed = derive_seed(self.run_seed, drawn or name) if seeded else None
        params, files = decide(choice, self.store.digest)
        return Stage(
            name=name,
            made_by=type(choice).__qualname__,
            version=choice.version,
            params=params,
            build=partial(_build, choice, carry_out, seed or 0),
            inputs=dict(inputs),
            files=files,
            seed=seed,
            decide=partial(decide, choice),
            made_of=(__name__, *(each.__module__ for each in (*classes(choice), carry_out))),
        )


def _build(
    choice: C,
    carry_out: Callable[[C, Path, Inputs, int], None],
    seed: int,
    out: Path,
    inputs: Inputs,
) -> None:
    carry_out(choice, out, inputs, seed)


def decide(choice: Choice, digest: Callable[[Path], str]) -> Decided:
    """What decides the result of a choice: its files from outside, by ``digest``, and its
    parameters.
    """
    files = {f"{number} {path.name}": digest(path) for number, path in enumerate(choice.files())}
    return Decided(keyed_params(choice), files)


def keyed_params(choice: Choice) -> dict[str, object]:
    """The parameters of a choice that decide its result; those named in ``unkeyed`` (where a file
    lies, how many workers) do not. A choice within it counts by its class, version and parameters.
    """
    unkeyed: tuple[str, ...] = getattr(choice, "unkeyed", ())
    fields = dataclasses.fields(choice)  # type: ignore[arg-type]
    kept = {each.name: getattr(choice, each.name) for each in fields if each.name not in unkeyed}
    further: Callable[[], Mapping[str, object]] = getattr(choice, "keyed", dict)
    told = {**kept, **further()}
    params: dict[str, object] = json.loads(json.dumps(told, default=_nested))
    return params


def classes(choice: Choice) -> list[type]:
    """That of a choice, and those of the choices that it holds, at any depth."""
    fields = dataclasses.fields(choice)  # type: ignore[arg-type]
    values = [getattr(choice, each.name) for each in fields]
    flat = [item for value in values for item in (value if isinstance(value, tuple) else (value,))]
    held = [each for item in flat if isinstance(item, Choice) for each in classes(item)]
    return [type(choice), *held]


def _nested(choice: Choice) -> dict[str, object]:
    made_by = {"made_by": type(choice).__qualname__, "version": choice.version}
    return made_by | keyed_params(choice)


def write_json(path: Path, value: Mapping[str, int | float | str]) -> None:
    """Counts beside a result."""
    path.write_text(json.dumps(dict(value), indent=1), encoding="utf-8")
