"""Protocols of a corpus, of labelled data, of queries and of a challenge set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, runtime_checkable

from biasbridge.files import Choice

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.corpora.truths import PlantedTerm
    from biasbridge.files.documents import Document, DocumentCase, RetrievalQuery

Singletons = Literal["drop", "keep"]
HATE_SPEECH = "hate speech"
SPLITS = ("train", "dev", "test")
WITHOUT_TEXT = "without_text"  # key of a table's attrs: number of posts dropped for lack of text


class Data(Choice, Protocol):
    """Text, labelled or not. ``generated`` marks synthetic data.

    An optional ``language`` (see ``biasbridge.files.language``) refuses words in another language.
    """

    generated: ClassVar[bool]

    def parameters(self) -> Mapping[str, float]:
        """Return the parameters of synthetic data (biases, sizes) by column name; empty if real."""


@runtime_checkable
class Corpus(Data, Protocol):
    """Unlabelled text for training embeddings."""

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write UTF-8 text: one tokenised sentence per line, tokens joined by spaces.

        Parameters
        ----------
        out : Path
            File to write.
        seed : int
            Seed of everything drawn.

        Returns
        -------
        dict
            Counts by name, such as ``lines``, ``tokens``, ``types``.
        """


@runtime_checkable
class SampledCorpus(Corpus, Protocol):
    """A corpus of which a sample can be read before a run is planned."""

    def sample(self) -> list[str]:
        """Return the first texts, not tokenised."""


@runtime_checkable
class LimitedCorpus(Corpus, Protocol):
    """A corpus that drops rare words and can be limited to its first texts."""

    @property
    def limit(self) -> int | None:
        """Number of texts to read; None: all."""

    @property
    def min_count(self) -> int:
        """Minimum frequency of a word."""


@runtime_checkable
class PlantedCorpus(Corpus, Protocol):
    """A synthetic corpus whose planted bias is known for each term."""

    @property
    def stereotype(self) -> float:
        """Planted strength in [-1, 1]; 0: no bias."""

    @property
    def off_target(self) -> float:
        """Planted strength of a stereotype of other words."""

    def unplanted(self) -> Corpus:
        """Return the same corpus with both strengths 0."""

    def truths(self, *, seed: int) -> Mapping[str, PlantedTerm]:
        """Return the planted bias by term."""


@runtime_checkable
class Source(Data, Protocol):
    """Labelled posts for training and testing classifiers."""

    @property
    def grouped(self) -> bool:
        """Whether the posts come with groups; known without reading them."""

    @property
    def positive_class(self) -> str:
        """Name of label 1, such as ``hate speech``, the class of precision and recall."""

    def load(self, *, seed: int) -> pd.DataFrame:
        """Read or draw the posts.

        Parameters
        ----------
        seed : int
            Seed of the order and of everything drawn.

        Returns
        -------
        DataFrame
            One row per post: ``id`` (str, unique), ``text`` (tokenised, tokens joined by spaces),
            ``label`` (0 or 1), ``group`` (str or None; only if ``grouped``), ``split`` (``train``,
            ``dev``, ``test``; or ``all`` in every row: cross-validate) and, for published posts,
            ``raw`` (the original text).
        """


@runtime_checkable
class CheckedSource(Source, Protocol):
    """A source that can be validated before a run is planned."""

    def check(self) -> pd.DataFrame:
        """Return the posts, not tokenised: ``text``, ``label`` and, if ``grouped``, ``group``."""


@runtime_checkable
class MaybeCrossValidated(Source, Protocol):
    """A source that says, without reading its posts, whether they are cross-validated."""

    @property
    def cross_validated(self) -> bool:
        """Whether every post is cross-validated."""


@runtime_checkable
class Challenge(Data, Protocol):
    """Documents with a pronoun and its annotated antecedent, for testing resolvers."""

    def load(self, *, seed: int) -> list[DocumentCase]:
        """Return the cases; document names are unique."""


@runtime_checkable
class PostChallenge(Data, Protocol):
    """Labelled posts for testing classifiers, of another origin than their training posts."""

    @property
    def positive_class(self) -> str:
        """Name of label 1; see ``Source``."""

    def posts(self, *, seed: int) -> pd.DataFrame:
        """Read or draw the posts: ``id``, ``text``, ``raw``, ``label`` and ``group`` as
        ``Source.load`` returns them; optionally ``term``, the word for people in the post, and
        ``frame``: posts of one frame differ in their term only (empty: the post has no frame).
        """


@runtime_checkable
class DocumentSource(Data, Protocol):
    """Documents with coreference for training and testing resolvers."""

    @property
    def scheme(self) -> str:
        """Annotation scheme, which defines a mention: ``ontonotes``, ``litbank`` or another."""

    @property
    def singletons(self) -> Singletons:
        """Treatment of clusters of one mention, which only some schemes annotate."""

    def load(self, *, seed: int) -> dict[str, list[Document]]:
        """Read or draw the documents.

        Parameters
        ----------
        seed : int
            Seed of the splits and of everything drawn.

        Returns
        -------
        dict
            Documents by split: ``train``, ``dev`` and ``test``; the last two may be empty. Name and
            part together are unique.
        """


@runtime_checkable
class RetrievalSource(Data, Protocol):
    """Queries and documents in a male and a female wording."""

    def load(self, *, seed: int) -> list[RetrievalQuery]:
        """Return the queries, each with at least one relevant document."""


class RealData:
    """Base of real data: nothing is synthetic or planted."""

    generated: ClassVar[bool] = False

    def parameters(self) -> Mapping[str, float]:
        """Return no parameters."""
        return {}


class EnglishChallenge(RealData):
    """Base of published challenge sets in English, the same for every seed."""

    seeded: ClassVar[bool] = False
    language: ClassVar[str] = "en"


class SingleFileData(RealData):
    """Base of real data in one file, ``path``."""

    path: str

    @property
    def name(self) -> str:
        """Name in tables: the file name without its endings."""
        return Path(self.path).name.split(".")[0]

    def files(self) -> list[Path]:
        """Return the file to read."""
        return [Path(self.path)]
