"""What a debiasing method says about itself, and what it does where it acts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, runtime_checkable

from files import Choice

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from intrinsic.wordsets import Query

Place = Literal["none", "text", "training", "vectors", "model", "labels"]
Direction = Literal["debias", "overbias"]


@runtime_checkable
class Method(Choice, Protocol):
    """A way to push a bias down or up.

    ``acts_on`` says where, ``roles`` which word sets it needs of a query. It may have a
    ``direction`` and a ``dose``; one without a dose is always applied in full.
    """

    acts_on: ClassVar[Place]
    roles: ClassVar[tuple[str, ...]]


@runtime_checkable
class TextMethod(Method, Protocol):
    """A method on the corpus, before training (``acts_on = "text"``)."""

    def balance(
        self, corpus: Path, out: Path, query: Query, *, seed: int
    ) -> Mapping[str, int | float | str]:
        """Write the corpus anew to ``out``, one sentence a line, and say what was counted."""


@runtime_checkable
class VectorsMethod(Method, Protocol):
    """A method on word vectors (``acts_on = "vectors"``)."""

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        """Other vectors of the same vocabulary; ``vectors`` is left as it is."""


@runtime_checkable
class LabelMethod(Method, Protocol):
    """A method on the labelled posts that a classifier learns from (``acts_on = "labels"``)."""

    def train_on(self, posts: pd.DataFrame, *, seed: int) -> pd.DataFrame:
        """The posts with columns that say how they are learned from: ``in_training``, whether at
        all, and ``train_label`` in the place of ``label``. Their other columns stay: posts are
        judged as they were.
        """


@runtime_checkable
class Directed(Protocol):
    """What lowers the bias (``debias``) or raises it (``overbias``)."""

    @property
    def direction(self) -> str:
        """``debias`` or ``overbias``."""


@runtime_checkable
class Dosed(Protocol):
    """What goes a share of its way, from 0 (nothing changes) to 1."""

    @property
    def dose(self) -> float:
        """The share of the way."""


def dose_of(method: Method) -> float:
    """How far the method goes: 0 means that nothing changes; 1 for a method without a dose."""
    return float(method.dose) if isinstance(method, Dosed) else 1.0


def direction_of(method: Method) -> str:
    """The method's direction; empty where it has none or nothing changes."""
    return method.direction if dose_of(method) and isinstance(method, Directed) else ""
