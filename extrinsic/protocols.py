"""Protocols of group taggers, classifiers and coreference resolvers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from biasbridge.files import Choice

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from biasbridge.extrinsic.coreference.resolution import ResolverOutput
    from biasbridge.files.documents import Document


@runtime_checkable
class Tagger(Choice, Protocol):
    """Tagger of the group that a post is about, for sources without this annotation; with a method
    ``in_language`` by words that may exist in other languages.
    """

    @property
    def description(self) -> str:
        """Definition of the groups, as in a caption."""

    def tag(self, posts: pd.DataFrame) -> pd.DataFrame:
        """Return the posts with a column ``group``."""


def tagger_in_language(tagger: Tagger, language: str) -> Tagger:
    """Return the tagger with the words of a language, if these have a counterpart there."""
    in_language: Callable[[str], Tagger] | None = getattr(tagger, "in_language", None)
    return in_language(language) if in_language else tagger


@runtime_checkable
class Classifier(Choice, Protocol):
    """Classifier of posts on word vectors; with an attribute ``folds`` it cross-validates posts
    without a split; with a class attribute ``needs`` it classifies on an ``encoder`` of
    texts (``biasbridge.files.models.encoder``) or a language ``model``.
    """

    def predict(self, posts: pd.DataFrame, features: Any, *, seed: int) -> pd.DataFrame:
        """Train on the training posts and predict the others.

        Parameters
        ----------
        posts : DataFrame
            Columns as in ``biasbridge.extrinsic.crossval.read_posts``.
        features : KeyedVectors, Encodes or LanguageModel
            Whatever ``needs`` names; vectors by default.
        seed : int
            Seed of all random numbers.

        Returns
        -------
        DataFrame
            One row per test post, or per post if all are cross-validated: ``id``, ``split``,
            ``group``, ``label``, ``score`` (probability of label 1) and ``prediction``.
        """


def required_input(classifier: Classifier) -> str:
    """Return the input a classifier ``needs``; by default ``vectors``."""
    needs: str = getattr(classifier, "needs", "vectors")
    return needs


@runtime_checkable
class Resolver(Choice, Protocol):
    """Coreference resolver trained on frozen vectors."""

    def resolve(
        self,
        documents: Mapping[str, Sequence[Document]],
        vectors: KeyedVectors,
        *,
        seed: int,
        folder: Path,
    ) -> ResolverOutput:
        """Train on split ``train``, stop early by ``dev``, and resolve all other splits.

        Parameters
        ----------
        documents : mapping of str to sequence of Document
            Documents by split.
        vectors : KeyedVectors
            Frozen word vectors.
        seed : int
            Seed of all random numbers.
        folder : Path
            Folder for checkpoints, to resume after an interruption.

        Returns
        -------
        ResolverOutput
            Resolutions by split, in the order of the documents, and the training history.
        """


@runtime_checkable
class ResolverDesign(Choice, Protocol):
    """What a resolver computes without vectors, once for all embeddings."""

    def write(self, documents: Mapping[str, Sequence[Document]], out: Path) -> None:
        """Write it for documents by split into the folder ``out``."""


@runtime_checkable
class DesignedResolver(Resolver, Protocol):
    """A resolver whose ``resolve`` takes also ``design``, the folder that its design wrote."""

    @property
    def design(self) -> ResolverDesign:
        """What it computes without vectors."""
