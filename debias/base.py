"""What a debiasing method provides, and how it adds its steps to a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    TypeVar,
    runtime_checkable,
)

import numpy as np

from files import Choice, InputError
from intrinsic.wordsets import read_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from files.eraser import Eraser
    from intrinsic.wordsets import Query

WORDS = "words.yaml"  # the query that a method works on, in the folder of the step ``words``

Direction = Literal["debias", "overbias"]
Inputs = Mapping[str, Path]
Pair = tuple[str, str]
S = TypeVar("S")
C = TypeVar("C", bound=Choice)


class Steps(Protocol[S]):
    """Adds a step to a run."""

    def __call__(
        self,
        name: str,
        choice: C,
        carry_out: Callable[[C, Path, Inputs, int], None],
        inputs: Mapping[str, S] = ...,
    ) -> S:
        """The step in which ``carry_out(choice, out, inputs, seed)`` writes into the folder ``out``
        what the choice makes of the folders of its inputs.
        """


@runtime_checkable
class Method(Choice, Protocol):
    """A way to lower (debias) or raise (overbias) a bias.

    acts_on: what it changes: ``text``, ``vectors`` of words, ``states`` (vectors of words, or the
    hidden states of a language model), a ``model``, or ``labels``. It may have a ``direction`` and
    a ``dose``, from 0 (nothing changes) to 1; one without a dose is always applied in full.
    """

    acts_on: ClassVar[str]

    @property
    def roles(self) -> tuple[str, ...]:
        """The word sets that it needs of a query."""

    def build_steps(self, steps: Steps[S], given: Mapping[str, S]) -> S:
        """The step whose result is used in the place of what it changes.

        ``given``: what there is of ``text``, ``vectors``, ``model`` with its ``encoder``, and
        ``labels``; and the ``words`` of a subject.
        """


@runtime_checkable
class Words(Choice, Protocol):
    """The words that a method works on."""

    @property
    def language(self) -> str:
        """That of the words."""

    def in_language(self, language: str) -> Words:
        """The same words in a language, where they have a counterpart there."""

    def require_roles(self, roles: Sequence[str]) -> None:
        """Raise ``InputError`` naming the word sets that are missing."""

    def build_steps(self, steps: Steps[S], vectors: S) -> S:
        """The step that ends in ``words.yaml``; ``vectors``: the unmodified ones."""


class Applied(NamedTuple):
    """A method as the tables name it; ``none`` where nothing changes."""

    method: str
    direction: str
    dose: float


def applied(method: Method) -> Applied:
    """The method's name, its direction (empty where it has none) and how large its dose is."""
    dose = float(getattr(method, "dose", 1.0))
    if dose == 0:
        return Applied("none", "", 0.0)
    return Applied(method.name, getattr(method, "direction", ""), abs(dose))


class VectorsMethod(Method, Protocol):
    """A method that makes vectors of vectors."""

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        """Other vectors of the same vocabulary; ``vectors`` is left as it is."""


class ByDose(Protocol):
    """Vectors by a dose from -1 (overbias) over 0 to 1 (debias)."""

    def __call__(self, dose: float, words: Collection[str] | None = None) -> KeyedVectors:
        """A copy; of ``words`` alone, as far as there are vectors of them."""


class Axis(NamedTuple):
    """What a method makes of vectors by any dose, fitted once; and its eraser, where it is one."""

    at: ByDose
    eraser: Eraser | None = None


class DosedMethod(VectorsMethod, Protocol):
    """A method on vectors whose dose, or direction and dose, can be chosen afterwards."""

    @property
    def dose(self) -> float:
        """How far it goes."""

    @property
    def direction(self) -> Direction:
        """Whether it lowers or raises the bias."""

    def by(self, dose: float) -> Self:
        """The same by a dose from -1 (overbias) to 1 (debias)."""

    def along(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Axis:
        """What it makes of vectors by any dose, whatever its own."""


@runtime_checkable
class PairsMethod(DosedMethod, Protocol):
    """A method that moves pairs of words, those of a query in its direction or one's own."""

    def constraints(self, query: Query) -> tuple[list[Pair], list[Pair]]:
        """The pairs of a query to attract and those to repel."""

    def along_pairs(
        self, vectors: KeyedVectors, attract: Iterable[Pair], repel: Iterable[Pair], *, seed: int
    ) -> Axis:
        """What it makes of vectors by any dose from 0, with these pairs."""


def signed(method: DosedMethod) -> float:
    """The dose of a method, below 0 where it overbiases."""
    return -abs(method.dose) if method.direction == "overbias" else method.dose


class OnVectors:
    """Base of a method on word vectors, which has only to provide ``modify``."""

    acts_on: ClassVar[str] = "vectors"

    def build_steps(self: VectorsMethod, steps: Steps[S], given: Mapping[str, S]) -> S:
        """The modified vectors."""
        read = {"vectors": given["vectors"], "words": given["words"]}
        return steps("modified", self, write_modified, read)


def write_modified(method: VectorsMethod, out: Path, inputs: Inputs, seed: int) -> None:
    """``vectors/``, debiased or overbiased."""
    from files.vectors import open_mapped, save_mapped  # loads gensim

    vectors, query = open_mapped(inputs["vectors"] / "vectors"), read_query(inputs["words"] / WORDS)
    changed = method.modify(vectors, query, seed=seed)
    require_sound(method, vectors, changed)
    save_mapped(changed, out / "vectors")


def require_sound(method: Method, before: KeyedVectors, after: KeyedVectors) -> None:
    """Raise ``InputError`` where a method leaves all vectors as they were, or makes one zero."""
    require_change(method, np.array_equal(before.vectors, after.vectors))
    zero = np.flatnonzero(before.vectors.any(axis=1) & ~after.vectors.any(axis=1))
    if len(zero):
        raise InputError(
            f"debias={method.name} makes the vectors of {len(zero)} words zero at"
            f" dose={applied(method).dose:g} ({after.index_to_key[zero[0]]!r}, ...), and a zero"
            " vector has no cosine; choose another dose or other words"
        )


def require_change(method: Method, same: bool) -> None:
    """Raise ``InputError`` where a method that is asked for leaves all as it was: whatever is
    measured then is the unmodified model under another name.
    """
    if same:
        dose = f"dose={applied(method).dose:g}"
        raise InputError(f"debias={method.name} changes nothing at {dose}; raise it, or take none")
