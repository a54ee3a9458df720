"""What a subject and a task provide, and how their choices become steps with keys."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar, runtime_checkable

from files import Choice
from files.source import full_name, module_of
from train.store import Stage, Store
from train.store.stage import Decided

if TYPE_CHECKING:
    from intrinsic.wordsets import Query

Facts = dict[str, str | int | float | bool]
Inputs = Mapping[str, Path]
NOTHING: Mapping[str, Stage] = MappingProxyType({})
C = TypeVar("C", bound=Choice)


@runtime_checkable
class Subject(Choice, Protocol):
    """What is measured.

    gives: the steps that metrics and tasks can ask for. unit: which of its steps is one observation
    (two metrics of one embedding are not two embeddings).
    """

    gives: ClassVar[tuple[str, ...]]
    unit: ClassVar[str]

    def facts(self) -> Facts:
        """Its columns in the table of points: embedding, method, direction, dose, generated, ..."""

    def build_steps(self, steps: Stages) -> Mapping[str, Stage]:
        """Its steps by name: those that it gives, and those that it has in common with others
        (``base``, the unmodified one; ``corpus``). Their keys become the columns ``NAME_key``, that
        of the unit ``unit_key``.
        """


@runtime_checkable
class Task(Choice, Protocol):
    """What a subject is put to."""

    @property
    def needs(self) -> tuple[str, ...]:
        """What the subject must give."""

    def facts(self) -> Facts:
        """Its columns in the table of points: task, generated, ..."""

    def build_steps(self, steps: Stages, subject: Mapping[str, Stage]) -> Stage:
        """The step that ends in the rows of the extrinsic table, ``scores.parquet``."""


@runtime_checkable
class Checked(Protocol):
    """A subject or task whose input can be checked before anything is built, once for all that are
    alike; those with the same ``checked``, if it has that, count as alike.
    """

    def check(self, queries: Sequence[Query]) -> None:
        """Raise ``InputError`` for input of which no point can be made; ``queries``: what the
        metrics ask.
        """


@runtime_checkable
class OfGroups(Protocol):
    """A task whose gaps are between groups of people, which words can be about."""

    @property
    def compared(self) -> tuple[str, ...]:
        """Those that are named beforehand; none where all that there are are compared."""


@runtime_checkable
class Remarking(Protocol):
    """A task that has something to say of its results."""

    def remarks(self, find: Callable[[str], Path | None]) -> list[str]:
        """A line each; ``find`` gives the folder of a step by its name, None where it has none."""


@dataclass
class Findings:
    """What stands in the way of a run, what it would do unasked, and what else is worth knowing."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


@runtime_checkable
class Inspected(Protocol):
    """A task that can describe its data without a run."""

    def inspect(self, found: Findings) -> None:
        """Add what is found. Raises ``InputError`` where a run would."""


@runtime_checkable
class Foreseen(Protocol):
    """A subject that knows its words before it is trained."""

    def foresee_words(self, lines: int) -> list[str]:
        """The words that training would give a vector, judged by the first lines of its text."""


@dataclass(frozen=True)
class Stages:
    """Adds steps to a run of one seed: files from outside are hashed, nothing is built."""

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
        """The step in which ``carry_out(choice, out, inputs, seed)`` writes into the folder ``out``
        what the choice makes of the folders of its inputs.

        The seed derives from ``drawn`` in the place of ``name`` where that is given. What draws
        nothing at random (``seeded = False``) is the same for every run seed, and shared.
        """
        seeded = getattr(choice, "seeded", True)
        seed = derive_seed(self.run_seed, drawn or name) if seeded else None
        params, files = decide(choice, self.store.digest)
        return Stage(
            name=name,
            made_by=full_name(type(choice)),
            done_by=full_name(carry_out),
            version=choice.version,
            params=params,
            build=partial(_build, choice, carry_out, seed or 0),
            inputs=dict(inputs),
            files=files,
            seed=seed,
            decide=partial(decide, choice),
            made_of=(__name__, module_of(carry_out), *map(module_of, classes(choice))),
        )


def derive_seed(run_seed: int, step: str) -> int:
    """A seed in [0, 2**31) from the run's seed and the step's name, so that a further step changes
    the randomness of no other.
    """
    digest = hashlib.sha256(f"{run_seed}/{step}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


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
    lies, how many workers) do not. A choice within it counts by its class, with its module, its
    version and parameters.
    """
    unkeyed: tuple[str, ...] = getattr(choice, "unkeyed", ())
    fields = dataclasses.fields(choice)  # type: ignore[arg-type]
    kept = {each.name: getattr(choice, each.name) for each in fields if each.name not in unkeyed}
    further: Callable[[], Mapping[str, object]] = getattr(choice, "keyed", dict)
    params: dict[str, object] = json.loads(json.dumps({**kept, **further()}, default=_nested))
    return params


def classes(choice: Choice) -> list[type]:
    """That of a choice, and those of the choices that it holds, at any depth."""
    fields = dataclasses.fields(choice)  # type: ignore[arg-type]
    values = [getattr(choice, each.name) for each in fields]
    flat = [item for value in values for item in (value if isinstance(value, tuple) else (value,))]
    held = [each for item in flat if isinstance(item, Choice) for each in classes(item)]
    return [type(choice), *held]


def _nested(choice: Choice) -> dict[str, object]:
    made_by = {"made_by": full_name(type(choice)), "version": choice.version}
    return made_by | keyed_params(choice)
