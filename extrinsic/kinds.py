"""What a run asks of a group tagger, of a classifier and of a resolver of coreference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from files import Choice

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from extrinsic.coreference.resolution import Resolved
    from files.documents import Document


@runtime_checkable
class Tagger(Choice, Protocol):
    """Says which group a post is about, where the source does not."""

    @property
    def description(self) -> str:
        """What its groups are, in words fit for a caption."""

    def tag(self, posts: pd.DataFrame) -> pd.DataFrame:
        """The posts with a column ``group``."""


@runtime_checkable
class LanguageTagger(Tagger, Protocol):
    """A tagger by words, which other languages may have too."""

    def in_language(self, language: str) -> Tagger:
        """The same tagger by the words of a language, where they have a counterpart there."""


@runtime_checkable
class Classifier(Choice, Protocol):
    """Learns labels from posts, on the vectors of words; by a class attribute ``needs`` on an
    ``encoder`` of texts (``files.models.encodes``) or a language ``model``.
    """

    def predict(self, posts: pd.DataFrame, given: Any, *, seed: int) -> pd.DataFrame:
        """``given``: what it needs, opened. One row for each test post, or for every post where all
        are cross-validated: ``id``, ``split``, ``group``, ``label``, ``score`` (probability of
        label 1) and ``prediction``.

        ``posts`` has the columns that ``extrinsic.crossval.read_posts`` asks for.
        """


def needs_of(classifier: Classifier) -> str:
    """What it is given of the subject: ``vectors`` where it does not say."""
    needs: str = getattr(classifier, "needs", "vectors")
    return needs


@runtime_checkable
class CrossValidated(Protocol):
    """A classifier that deals posts without a split into folds."""

    @property
    def folds(self) -> int:
        """How many."""


@runtime_checkable
class Resolver(Choice, Protocol):
    """Learns from documents which mentions speak of one entity, on frozen vectors."""

    def resolve(
        self,
        documents: Mapping[str, Sequence[Document]],
        vectors: KeyedVectors,
        *,
        seed: int,
        folder: Path,
    ) -> Resolved:
        """All splits but ``train``, which it learns from, and ``dev``, which stops it, resolved.

        ``folder`` is its own: what it needs there to go on after an interruption.
        """
