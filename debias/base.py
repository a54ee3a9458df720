"""Debiasing methods: protocols, base classes on word vectors, and the choice of no method."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    NoReturn,
    Protocol,
    Self,
    TypeVar,
    cast,
    runtime_checkable,
)

import numpy as np
from annotated_types import Ge, Le, doc
from threadpoolctl import threadpool_limits

from biasbridge.files import Choice, InputError, choice
from biasbridge.files.choice import FieldError, Fileless, field_types
from biasbridge.files.eraser import ROWS
from biasbridge.intrinsic.words import read_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.files.eraser import Eraser
    from biasbridge.intrinsic.words import Query
    from biasbridge.stats.arrays import Floats, Singles


WORDS = "words.yaml"  # the query that a method works on, in the folder of the step ``words``

ONE_THREAD = threadpool_limits.wrap(limits=1, user_api="blas")  # threads wait for each other

Direction = Literal["debias", "overbias"]
Inputs = Mapping[str, Path]
WordPair = tuple[str, str]
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


class VectorsAtDose(Protocol):
    """A function from a dose in [-1, 1] (-1: overbias, 1: debias) to vectors."""

    def __call__(self, dose: float, words: Collection[str] | None = None) -> KeyedVectors:
        """Return a copy at the dose, restricted to ``words`` in the vocabulary if given."""


class DoseAxis(NamedTuple):
    """The vectors at any dose of a method fitted once, and its eraser if it has one."""

    at: VectorsAtDose
    eraser: Eraser | None = None


class VectorsMethod(Method, Protocol):
    """A method that modifies word vectors; ``OnVectors`` has all but ``modify``.

    ``moves_pairs``: whether it moves pairs of words, taken from a query or given by the user, as
    ``AttractRepel`` does.
    """

    moves_pairs: ClassVar[bool]

    @property
    def dose(self) -> float:
        """Strength of the change."""

    @property
    def direction(self) -> Direction:
        """``debias`` lowers the bias, ``overbias`` raises it."""

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        """Return new vectors of the same vocabulary; ``vectors`` stays unchanged."""

    def with_dose(self, dose: float) -> Self:
        """Return the method at a dose in [-1, 1] (-1: overbias, 1: debias)."""

    def dose_axis(self, vectors: KeyedVectors, query: Query, *, seed: int) -> DoseAxis:
        """Fit the method and return the vectors at any dose; its own dose is ignored."""


def signed_dose(method: Method) -> float:
    """Return the dose of a method, negative if it overbiases; 1 without a dose."""
    dose = float(getattr(method, "dose", 1.0))
    return -abs(dose) if getattr(method, "direction", "") == "overbias" else dose


class OnVectors:
    """Base of methods on word vectors; a subclass provides ``modify``."""

    acts_on: ClassVar[str] = "vectors"
    moves_pairs: ClassVar[bool] = False  # has ``constraints`` and ``pairs_dose_axis``

    def with_dose(self, dose: float) -> Self:
        """Return the method at a dose in [-1, 1]. Raises ``InputError`` if it has none."""
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
            if not dose:
                return restrict(vectors, words)
            method = cast("VectorsMethod", self.with_dose(dose))
            return restrict(method.modify(vectors, query, seed=seed), words)

        return DoseAxis(at)

    def build_steps(self: VectorsMethod, steps: StepBuilder[S], inputs: Mapping[str, S]) -> S:
        """Return the step that writes the modified vectors."""
        step_inputs = {"vectors": inputs["vectors"], "words": inputs["words"]}
        return steps("modified", self, _write_modified, step_inputs)


def restrict(vectors: KeyedVectors, words: Collection[str] | None) -> KeyedVectors:
    """Return the vectors of those of ``words`` in the vocabulary; None: all vectors."""
    if words is None:
        return vectors
    from biasbridge.files.vectors import keyed  # loads gensim

    known_words = [word for word in dict.fromkeys(words) if word in vectors.key_to_index]
    rows = [vectors.key_to_index[word] for word in known_words]
    return keyed(known_words, np.array(vectors.vectors[rows]))


def _write_modified(method: VectorsMethod, out: Path, inputs: Inputs, seed: int) -> None:
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
    """Raise ``InputError`` if the method had no effect, and would rename an unmodified model."""
    if is_unchanged:
        dose = f"dose={method_label(method).dose:g}"
        raise InputError(
            f"debias={method.name} changes nothing at {dose}; raise the dose, or use debias=none"
        )


@choice
class BothWays(OnVectors):
    """Base of methods with one dose for both directions."""

    dose: Annotated[
        float,
        Ge(-1),
        Le(1),
        doc("how much to change, from -1 (overbias) to 1 (debias); 0 leaves the vectors unchanged"),
    ] = 1

    @property
    def direction(self) -> Direction:
        """``overbias`` for a negative dose."""
        return "overbias" if self.dose < 0 else "debias"


@choice
class OnAxis(BothWays, Fileless):
    """Base of methods that map each word vector x to f(x) and have a dose,

        x -> x - dose (x - f(x)),    dose in [-1, 1]

    0 changes no bit, 1 is f, and a negative dose overbiases: -1 mirrors f. A subclass provides
    ``erase``, and sets ``seeded`` if f depends on the seed.
    """

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False

    def erase(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Singles:
        """Compute f of every vector, (n_words, dim), in the order of the vocabulary."""
        raise NotImplementedError

    def dose_axis(self, vectors: KeyedVectors, query: Query, *, seed: int) -> DoseAxis:
        """Compute f once and return the vectors at any dose."""
        from biasbridge.files.vectors import with_matrix  # loads gensim

        full = with_matrix(vectors, self.erase(vectors, query, seed=seed))

        def at(dose: float, words: Collection[str] | None = None) -> KeyedVectors:
            before, after = restrict(vectors, words), restrict(full, words)
            rows = np.array(after.vectors if dose else before.vectors)
            if dose:
                rows = _apply_dose(self.origin(before.vectors), rows, dose)
            return with_matrix(before, rows)

        return DoseAxis(at)

    @ONE_THREAD
    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        """Return a copy of ``vectors`` modified by the dose."""
        from biasbridge.files.vectors import with_matrix  # loads gensim

        before = vectors.vectors
        if not self.dose:
            return with_matrix(vectors, np.array(before))
        after = self.erase(vectors, query, seed=seed)
        return with_matrix(vectors, _apply_dose(self.origin(before), after, self.dose))

    def origin(self, before: Singles) -> Singles:
        """Return the vectors x that a dose starts from."""
        return before


def _apply_dose(before: Singles, after: Singles, dose: float) -> Singles:
    """Overwrite f(x) (``after``) by x - dose (x - f(x)), row by row; exactly f(x) at dose 1."""
    if dose != 1:
        after -= before
        after *= np.float32(dose)
        after += before
    return after


def map_blocks(f: Callable[[Floats], Floats], matrix: Singles) -> Singles:
    """Apply f to the rows of a matrix (n, dim), a block at a time in float64."""
    result = np.empty(matrix.shape, dtype=np.float32)
    for start in range(0, len(result), ROWS):
        rows = slice(start, start + ROWS)
        result[rows] = f(matrix[rows].astype(np.float64))
    return result


@choice
class Unmodified(Fileless):
    """No change; ``direction`` and ``dose`` exist so that a grid over methods can include it.

    Raises ``FieldError`` for a dose other than 0.
    """

    version: ClassVar[int] = 1
    name: ClassVar[str] = "none"
    acts_on: ClassVar[str] = "none"
    roles: ClassVar[tuple[str, ...]] = ()
    chosen_as: ClassVar[tuple[str, ...]] = ("debias/none", "labels/none")

    direction: Annotated[
        Direction, doc("direction and dose exist so that a grid over methods can include none")
    ] = "debias"
    dose: float = 0

    def __post_init__(self) -> None:
        if self.dose != 0:
            raise FieldError(
                f"dose={self.dose:g} without a method; choose a method, for example debias=balance"
            )

    def build_steps(self, steps: StepBuilder[S], inputs: Mapping[str, S]) -> NoReturn:
        """Raise: at dose 0 a run has no debiasing step."""
        raise NotImplementedError
