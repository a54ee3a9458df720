"""What a run asks of a corpus, of labelled data, of queries and of a challenge set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, runtime_checkable

from files import Choice

if TYPE_CHECKING:
    import pandas as pd

    from corpora.truths import PlantedTerm
    from files.documents import Case, Document
    from files.retrieval import RetrievalQuery

Singletons = Literal["drop", "keep"]
HATE_SPEECH = "hate speech"
SPLITS = ("train", "dev", "test")


class Data(Choice, Protocol):
    """Text, labelled or not. ``generated`` marks synthetic data.

    It may have a ``language`` (see ``files.language``): words in another are then refused.
    """

    generated: ClassVar[bool]

    def planted(self) -> Mapping[str, float]:
        """What synthetic data are made with, biases and sizes, by the column that holds it."""


@runtime_checkable
class Corpus(Data, Protocol):
    """Unlabelled text, from which embeddings are trained."""

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write UTF-8 text, a tokenised sentence a line, tokens joined by spaces; its counts."""


@runtime_checkable
class SampledCorpus(Corpus, Protocol):
    """A corpus that can be looked into before anything is planned."""

    def sample(self) -> list[str]:
        """Its first texts as they are."""


@runtime_checkable
class LimitedCorpus(Corpus, Protocol):
    """A corpus that leaves out rare words, and of which the first texts alone can be taken."""

    @property
    def limit(self) -> int | None:
        """How many texts are taken; None: all."""

    @property
    def min_count(self) -> int:
        """How often a word must occur."""


@runtime_checkable
class PlantedCorpus(Corpus, Protocol):
    """A synthetic corpus of which it is known, term by term, what is planted."""

    @property
    def stereotype(self) -> float:
        """How much is planted, in [-1, 1]; 0: nothing."""

    def unplanted(self) -> Corpus:
        """The same with nothing planted."""

    def truths(self, *, seed: int) -> Mapping[str, PlantedTerm]:
        """What is planted, by term."""


@runtime_checkable
class Source(Data, Protocol):
    """Labelled posts, with which classifiers are trained and tested."""

    @property
    def grouped(self) -> bool:
        """Whether the posts come with their groups; known before anything is read."""

    @property
    def positive_class(self) -> str:
        """What label 1 is, such as ``hate speech``: the class that a classifier looks for, whose
        precision and recall are measured.
        """

    def load(self, *, seed: int) -> pd.DataFrame:
        """One row a post: ``id`` (str, unique), ``text`` (tokenised, tokens joined by spaces),
        ``label`` (0 or 1), ``group`` (str; only where ``grouped``), ``split`` (``train``, ``dev``,
        ``test``; or ``all`` in every row: cross-validate) and, of published posts, ``raw``, the
        text as it was.
        """


@runtime_checkable
class CheckedSource(Source, Protocol):
    """A source whose mistakes can be found before anything is planned."""

    def check(self) -> pd.DataFrame:
        """The posts as they are read, not tokenised: ``text``, ``label`` and, where ``grouped``,
        ``group``. Raises ``InputError`` as ``load`` does.
        """


@runtime_checkable
class Unsplit(Source, Protocol):
    """A source whose posts may all be test items, one fold after the other, known before
    anything is read.
    """

    @property
    def cross_validated(self) -> bool:
        """Whether every post is cross-validated."""


@runtime_checkable
class Challenge(Data, Protocol):
    """Documents with a pronoun whose antecedent is known, on which a resolver is tested."""

    def load(self, *, seed: int) -> list[Case]:
        """The cases, each document with a name of its own."""


@runtime_checkable
class PostChallenge(Data, Protocol):
    """Labelled posts of another origin than those that a classifier learns from, on which it is
    tested.
    """

    @property
    def positive_class(self) -> str:
        """What label 1 is; see ``Source``."""

    def posts(self, *, seed: int) -> pd.DataFrame:
        """One row a post: ``id``, ``text``, ``raw``, ``label`` and ``group`` as a ``Source`` has
        them, and where there are such ``term``, the word for people that it is about, and
        ``frame``: posts of one frame differ in their term alone (empty: in none, in no other).
        """


@runtime_checkable
class DocumentSource(Data, Protocol):
    """Documents with coreference, with which resolvers are trained and tested."""

    @property
    def scheme(self) -> str:
        """The annotation scheme: what counts as a mention, such as ``ontonotes`` or ``litbank``."""

    @property
    def singletons(self) -> Singletons:
        """What becomes of clusters of one mention, which some schemes annotate and some do not."""

    def load(self, *, seed: int) -> dict[str, list[Document]]:
        """The documents of the splits ``train``, ``dev`` and ``test``; the last two may be empty.

        No two have the same name and part.
        """


@runtime_checkable
class RetrievalSource(Data, Protocol):
    """Queries and documents in a male and a female wording."""

    def load(self, *, seed: int) -> list[RetrievalQuery]:
        """The queries, each with a relevant document or more."""


class Collected:
    """Base of data from outside, in which nothing is synthetic or planted."""

    generated: ClassVar[bool] = False

    def planted(self) -> Mapping[str, float]:
        """Nothing."""
        return {}


class EnglishChallenge(Collected):
    """Base of published challenge sets in English, the same for every seed."""

    seeded: ClassVar[bool] = False
    language: ClassVar[str] = "en"


class OneFile(Collected):
    """Base of such data that lie in one file, ``path``."""

    path: str

    @property
    def name(self) -> str:
        """Stands for them in the tables: the file's name without its endings."""
        return Path(self.path).name.split(".")[0]

    def files(self) -> list[Path]:
        """The file read."""
        return [Path(self.path)]
