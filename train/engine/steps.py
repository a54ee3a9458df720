"""Protocols of subjects and tasks, and the builder that turns choices into steps with keys."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

from biasbridge.files import Choice
from biasbridge.train.engine.source import full_name, module_of, require_findable
from biasbridge.train.engine.store import Decided, Step, Store

if TYPE_CHECKING:
    from biasbridge.intrinsic.words import Query


Facts = dict[str, str | int | float | bool]
Inputs = Mapping[str, Path]
_NOTHING: Mapping[str, Step] = MappingProxyType({})
C = TypeVar("C", bound=Choice)


@runtime_checkable
class Subject(Choice, Protocol):
    """A model whose bias is measured: an embedding or a language model.

    ``gives``: names of the steps that metrics and tasks can use. ``unit``: the step that is one
    observation; two metrics of one embedding are not two embeddings.
    """

    gives: ClassVar[tuple[str, ...]]
    unit: ClassVar[str]

    def facts(self) -> Facts:
        """Return the columns of the points table: embedding, method, direction, dose, ..."""

    def build_steps(self, steps: StepBuilder) -> Mapping[str, Step]:
        """Return the steps by name, those of ``gives`` and the ones shared with other subjects.

        Parameters
        ----------
        steps : StepBuilder
            Adds a step: ``steps(name, choice, carry_out, inputs)``.

        Returns
        -------
        mapping of str to Step
            Shared steps are ``base`` (the unmodified parent) and ``corpus``. Keys become the
            columns ``NAME_key``, that of the unit ``unit_key``.
        """


@runtime_checkable
class Task(Choice, Protocol):
    """A task in which a downstream system uses the model."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the steps that the subject must give."""

    def facts(self) -> Facts:
        """Return the columns of the points table: task, generated, ..."""

    def build_steps(self, steps: StepBuilder, subject: Mapping[str, Step]) -> Step:
        """Return the step that ends in the rows of the extrinsic table, ``scores.parquet``.

        Parameters
        ----------
        steps : StepBuilder
            Adds a step: ``steps(name, choice, carry_out, inputs)``.
        subject : mapping of str to Step
            The subject's steps by name.
        """


@runtime_checkable
class ChecksInput(Protocol):
    """A subject or task that checks its input before anything is built.

    The check runs once for equal choices, or for equal values of their attribute ``checked``.
    """

    def check(self, queries: Sequence[Query]) -> None:
        """Raise ``InputError`` for unusable input; ``queries``: those of the metrics."""


@runtime_checkable
class ComparesGroups(Protocol):
    """A task whose gaps compare groups of people."""

    @property
    def compared(self) -> tuple[str, ...]:
        """Groups named in advance; empty if all groups in the data are compared."""


@runtime_checkable
class HasWarnings(Protocol):
    """A task with warnings about its results."""

    def warnings(self, find: Callable[[str], Path | None]) -> list[str]:
        """Return the warnings; ``find`` returns the folder of a step by name, or None."""


@dataclass
class DataReport:
    """Report on data before a run: problems that prevent it, warnings, and other lines."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


@runtime_checkable
class SupportsInspect(Protocol):
    """A task that can describe its data without a run."""

    def inspect(self, report: DataReport) -> None:
        """Add problems, warnings and lines to a report. Raises ``InputError`` as a run does."""


@runtime_checkable
class PredictsVocabulary(Protocol):
    """A subject that can predict its vocabulary before training."""

    def predict_vocabulary(self, lines: int) -> list[str]:
        """Return the words that would get a vector, judged by the first lines of the corpus."""


class _ChoiceFields(NamedTuple):
    """What a choice and the function that carries it out give their step at any seed."""

    choice: Choice  # kept: another object must not get its id
    title: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class SharedSteps:
    """What the plans of a sweep share: descriptions of choices by identity, and steps by key."""

    described: dict[tuple[int, Callable[..., None]], _ChoiceFields] = field(default_factory=dict)
    steps: dict[str, Step] = field(default_factory=dict)


@dataclass(frozen=True)
class StepBuilder:
    """Builder of steps for one run seed: outside files are hashed, nothing is built.

    ``planned``: shared with the builders of other points.
    """

    run_seed: int
    store: Store
    planned: SharedSteps = field(default_factory=SharedSteps)

    def __call__(
        self,
        name: str,
        choice: C,
        carry_out: Callable[[C, Path, Inputs, int], None],
        inputs: Mapping[str, Step] = _NOTHING,
        *,
        drawn: str = "",
    ) -> Step:
        """Return the step that runs ``carry_out(choice, out, inputs, seed)``.

        Parameters
        ----------
        name : str
            Name of the step, from which its seed is derived.
        choice : Choice
            What decides the result. With ``seeded = False`` all run seeds share the step.
        carry_out : callable
            Module-level function that writes into the new folder ``out``; ``inputs`` maps names to
            folders of the input steps.
        drawn : str
            Name to derive the seed from instead of ``name``.
        """
        seeded = getattr(choice, "seeded", True)
        seed = _derive_seed(self.run_seed, drawn or name) if seeded else None
        described = self._describe(choice, carry_out)
        step = Step(
            name=name,
            title=f"{described.title},seed={self.run_seed}" if seeded else described.title,
            build=partial(_build, choice, carry_out, seed or 0),
            inputs=dict(inputs),
            seed=seed,
            **described.fields,
        )
        return self.planned.steps.setdefault(step.key, step)

    def _describe(self, choice: Choice, carry_out: Callable[..., None]) -> _ChoiceFields:
        described = self.planned.described.get((id(choice), carry_out))
        if described is None:
            require_findable(carry_out)
            for cls in _classes(choice):
                require_findable(cls)
            params, files = _decide(choice, self.store.digest)
            fields = {
                "made_by": full_name(type(choice)),
                "done_by": full_name(carry_out),
                "version": choice.version,
                "params": params,
                "files": files,
                "decide": partial(_decide, choice),
                "made_of": (__name__, module_of(carry_out), *map(module_of, _classes(choice))),
            }
            described = _ChoiceFields(choice, _title_of(choice), fields)
            self.planned.described[id(choice), carry_out] = described
        return described


def _derive_seed(run_seed: int, step: str) -> int:
    """Return a seed in [0, 2**31) from run seed and step name, independent of other steps."""
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


def _decide(choice: Choice, digest: Callable[[Path], str]) -> Decided:
    """Return what decides the result of a choice: parameters and digests of outside files."""
    files = {f"{number} {path.name}": digest(path) for number, path in enumerate(choice.files())}
    return Decided(_keyed_params(choice), files)


def _keyed_params(choice: Choice) -> dict[str, object]:
    """Return the parameters that are part of the key; of nested choices also class and version."""
    unkeyed: tuple[str, ...] = getattr(choice, "unkeyed", ())
    names = [field.name for field in dataclasses.fields(choice)]  # type: ignore[arg-type]
    values = {name: getattr(choice, name) for name in names if name not in unkeyed}
    further: Callable[[], Mapping[str, object]] = getattr(choice, "keyed", dict)
    params: dict[str, object] = json.loads(json.dumps({**values, **further()}, default=_nested))
    return params


def _title_of(choice: Choice) -> str:
    """Return a choice's name and the settings that decide its result and are not the default."""
    unkeyed: tuple[str, ...] = getattr(choice, "unkeyed", ())
    settings = [
        f"{field.name}={_short(getattr(choice, field.name))}"
        for field in dataclasses.fields(choice)  # type: ignore[arg-type]
        if field.name not in (*unkeyed, "name") and getattr(choice, field.name) != _default(field)
    ]
    return ",".join([choice.name, *settings])


def _default(field: dataclasses.Field[Any]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _short(value: object) -> str:
    if isinstance(value, tuple | list):
        return "+".join(map(_short, value))
    return str(getattr(value, "name", value))


def _classes(choice: Choice) -> list[type]:
    """Return the class of a choice and of all choices it contains, at any depth."""
    fields = dataclasses.fields(choice)  # type: ignore[arg-type]
    values = [getattr(choice, field.name) for field in fields]
    flat = [item for value in values for item in (value if isinstance(value, tuple) else (value,))]
    nested = [cls for item in flat if isinstance(item, Choice) for cls in _classes(item)]
    return [type(choice), *nested]


def _nested(choice: Choice) -> dict[str, object]:
    made_by = {"made_by": full_name(type(choice)), "version": choice.version}
    return made_by | _keyed_params(choice)
