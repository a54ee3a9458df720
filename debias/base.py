"""Protocols of debiasing methods, and how a method adds its steps to a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    TypeVar,
    cast,
    runtime_checkable,
)

import numpy as np

from biasbridge.files import Choice, InputError
from biasbridge.files.choice import field_types
from biasbridge.intrinsic.wordsets import read_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.files.eraser import Eraser
    from biasbridge.intrinsic.wordsets import Query

WORDS = "words.yaml"  # the query that a method works on, in the folder of the step ``words``

Direction = Literal["debias", "overbias"]
Inputs = Mapping[str, Path]
Pair = tuple[str, str]
S = TypeVar("S")
C = TypeVar("C", bound=Choice)


class StepBuilder(Protocol[S]):
    """Adds a step to a run."""

    def __call__(
        self,
        name: str,
        choice: C,
        carry_out: Callable[[C, Path, Inputs, int], None],
        inputs: Mapping[str, S] = ...,
    ) -> S:
        """Return the step in which ``carry_out(choice, out, inputs, seed)`` writes the folder
        ``out`` from the folders of ``inputs``.
        """


@runtime_checkable
class Method(Choice, Protocol):
    """A method that lowers (debias) or raises (overbias) a bias.

    It may have a ``direction`` and a ``dose``, from 0 (no change) to 1; a method without a dose is
    always applied in full.

    ``acts_on`` is what it changes: ``text``, ``vectors`` (of words), ``states`` (word vectors or
    the hidden states of a language model), ``model`` or ``labels``. A method that shares its idea
    with others names their ``family``: what families show counts once
    (``biasbridge.analysis.scopes``).
    """

    acts_on: ClassVar[str]

    @property
    def roles(self) -> tuple[str, ...]:
        """Word sets of the query that the method needs."""

    def build_steps(self, steps: StepBuilder[S], inputs: Mapping[str, S]) -> S:
        """Return the step whose result replaces ``inputs[acts_on]``.

        Parameters
        ----------
        steps : callable
            Adds a step to the run.
        inputs : mapping of str to step
            The steps that exist of ``text``, ``vectors``, ``model`` with its ``encoder``, and
            ``labels`` (with the steps of the subject); and the ``words`` of a subject.
        """


@runtime_checkable
class Words(Choice, Protocol):
    """Words that a method works on."""

    @property
    def language(self) -> str:
        """Language of the words, an ISO 639 code."""

    def in_language(self, language: str) -> Words:
        """Return the counterpart of the words in a language, if there is one."""

    def require_roles(self, roles: Sequence[str]) -> None:
        """Raise ``InputError`` if word sets are missing, and name them."""

    def build_steps(self, steps: StepBuilder[S], vectors: S) -> S:
        """Return the step that writes ``words.yaml``, given that of the unmodified vectors."""


class MethodLabel(NamedTuple):
    """A method as named in the tables; ``none`` at dose 0."""

    method: str
    direction: str
    dose: float


def method_label(method: Method) -> MethodLabel:
    """Return the method's name, its direction (empty if it has none) and its absolute dose."""
    dose = float(getattr(method, "dose", 1.0))
    if dose == 0:
        return MethodLabel("none", "", 0.0)
    return MethodLabel(method.name, getattr(method, "direction", ""), abs(dose))


def method_family(method: Method) -> str:
    """Return the family of a method, by default its own name; empty at dose 0."""
    return getattr(method, "family", method.name) if method_label(method).dose else ""


class VectorsMethod(Method, Protocol):
    """A method that modifies word vectors."""

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        """Return new vectors of the same vocabulary; ``vectors`` stays unchanged."""


class VectorsAtDose(Protocol):
    """A function from a dose in [-1, 1] (-1: overbias, 1: debias) to vectors."""

    def __call__(self, dose: float, words: Collection[str] | None = None) -> KeyedVectors:
        """Return a copy at the dose, restricted to ``words`` in the vocabulary if given."""


class DoseAxis(NamedTuple):
    """The vectors at any dose of a method fitted once, and its eraser if it has one."""

    at: VectorsAtDose
    eraser: Eraser | None = None


class DosedMethod(VectorsMethod, Protocol):
    """A method on vectors whose dose and direction can be chosen after fitting."""

    @property
    def dose(self) -> float:
        """Strength of the change."""

    @property
    def direction(self) -> Direction:
        """``debias`` lowers the bias, ``overbias`` raises it."""

    def with_dose(self, dose: float) -> Self:
        """Return the method at a dose in [-1, 1] (-1: overbias, 1: debias)."""

    def dose_axis(self, vectors: KeyedVectors, query: Query, *, seed: int) -> DoseAxis:
        """Fit the method and return the vectors at any dose; its own dose is ignored."""


@runtime_checkable
class PairsMethod(DosedMethod, Protocol):
    """A method that moves pairs of words, taken from a query or given by the user."""

    def constraints(self, query: Query) -> tuple[list[Pair], list[Pair]]:
        """Return the pairs of a query to attract and those to repel."""

    def pairs_dose_axis(
        self, vectors: KeyedVectors, attract: Iterable[Pair], repel: Iterable[Pair], *, seed: int
    ) -> DoseAxis:
        """Fit the method on these pairs and return the vectors at any dose in [0, 1]."""


def signed_dose(method: Method) -> float:
    """Return the dose of a method, negative if it overbiases; 1 without a dose."""
    dose = float(getattr(method, "dose", 1.0))
    return -abs(dose) if getattr(method, "direction", "") == "overbias" else dose


class OnVectors:
    """Base of methods on word vectors; a subclass provides ``modify``."""

    acts_on: ClassVar[str] = "vectors"

    def with_dose(self, dose: float) -> Self:
        """Return the method at a dose in [-1, 1] (-1: overbias, 1: debias). Raises ``InputError``
        if it has no dose, or none below 0.
        """
        names = field_types(type(self))
        has_direction = "direction" in names
        changes: dict[str, object] = {}
        if has_direction:
            changes["direction"] = "overbias" if dose < 0 else "debias"
        if "dose" in names:
            changes["dose"] = abs(dose) if has_direction else dose
        elif abs(dose) != 1 or (dose < 0 and not has_direction):
            name = cast("Method", self).name
            raise InputError(f"{name} has no dose, and dose={dose:g} is asked for; leave it out")
        return cast("Self", replace(cast("Any", self), **changes))

    def dose_axis(self, vectors: KeyedVectors, query: Query, *, seed: int) -> DoseAxis:
        """Return the vectors at any dose; each is computed by ``modify``."""

        def at(dose: float, words: Collection[str] | None = None) -> KeyedVectors:
            method = cast("VectorsMethod", self.with_dose(dose)) if dose else None
            changed = method.modify(vectors, query, seed=seed) if method else vectors
            return restrict(changed, words)

        return DoseAxis(at)

    def build_steps(self: VectorsMethod, steps: StepBuilder[S], inputs: Mapping[str, S]) -> S:
        """Return the step that writes the modified vectors."""
        step_inputs = {"vectors": inputs["vectors"], "words": inputs["words"]}
        return steps("modified", self, write_modified, step_inputs)


def restrict(vectors: KeyedVectors, words: Collection[str] | None) -> KeyedVectors:
    """Return the vectors of those of ``words`` in the vocabulary; None: all vectors."""
    if words is None:
        return vectors
    from biasbridge.files.vectors import keyed  # loads gensim

    known_words = [word for word in dict.fromkeys(words) if word in vectors.key_to_index]
    rows = [vectors.key_to_index[word] for word in known_words]
    return keyed(known_words, np.array(vectors.vectors[rows]))


def write_modified(method: VectorsMethod, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``vectors/``, debiased or overbiased."""
    from biasbridge.files.vectors import open_mapped, save_mapped  # loads gensim

    vectors, query = open_mapped(inputs["vectors"] / "vectors"), read_query(inputs["words"] / WORDS)
    modified = method.modify(vectors, query, seed=seed)
    require_sound(method, vectors, modified)
    save_mapped(modified, out / "vectors")


def require_sound(method: Method, before: KeyedVectors, after: KeyedVectors) -> None:
    """Raise ``InputError`` if a method changes no vector, or makes a vector zero."""
    require_change(method, np.array_equal(before.vectors, after.vectors))
    zero = np.flatnonzero(before.vectors.any(axis=1) & ~after.vectors.any(axis=1))
    if len(zero):
        raise InputError(
            f"debias={method.name} makes the vectors of {len(zero)} words zero at"
            f" dose={method_label(method).dose:g} ({after.index_to_key[zero[0]]!r}, ...);"
            " a zero vector has no cosine: choose another dose or other words"
        )


def require_change(method: Method, is_unchanged: bool) -> None:
    """Raise ``InputError`` if the method had no effect: results would be those of the unmodified
    model under another name.
    """
    if is_unchanged:
        dose = f"dose={method_label(method).dose:g}"
        raise InputError(
            f"debias={method.name} changes nothing at {dose}; raise the dose, or use debias=none"
        )
