"""What a debiasing method provides, and how it adds its steps to a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    TypeVar,
    runtime_checkable,
)

import numpy as np

from files import Choice, InputError
from intrinsic.wordsets import read_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from intrinsic.wordsets import Query

WORDS = "words.yaml"  # the query that a method works on, in the folder of the step ``words``

Direction = Literal["debias", "overbias"]
Inputs = Mapping[str, Path]
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
    require_change(method, np.array_equal(vectors.vectors, changed.vectors))
    save_mapped(changed, out / "vectors")


def require_change(method: Method, same: bool) -> None:
    """Raise ``InputError`` where a method that is asked for leaves all as it was: whatever is
    measured then is the unmodified model under another name.
    """
    if same:
        dose = f"dose={applied(method).dose:g}"
        raise InputError(f"debias={method.name} changes nothing at {dose}; raise it, or take none")
