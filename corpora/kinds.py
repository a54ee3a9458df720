"""What a run asks of a corpus and of a labelled source."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from files import Choice

if TYPE_CHECKING:
    import pandas as pd


class Data(Choice, Protocol):
    """Text, labelled or not. ``generated`` marks data that are made up.

    It may tell its ``language`` (see ``files.language``): words in another are then refused.
    """

    generated: ClassVar[bool]

    def planted(self) -> Mapping[str, float]:
        """The biases planted in generated data, by the column of the tables that tells them."""


@runtime_checkable
class Corpus(Data, Protocol):
    """Unlabelled text, from which embeddings are trained."""

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write UTF-8 text, a tokenised sentence a line, tokens joined by spaces; its counts."""


@runtime_checkable
class Source(Data, Protocol):
    """Labelled posts, with which classifiers are trained and tested."""

    @property
    def grouped(self) -> bool:
        """Whether the posts come with their groups; known before anything is read."""

    def load(self, *, seed: int) -> pd.DataFrame:
        """One row a post: ``id`` (str, unique), ``text`` (tokenised, tokens joined by spaces),
        ``label`` (0 or 1), ``group`` (str; only where ``grouped``), ``split`` (``train``, ``dev``,
        ``test``; or ``all`` in every row: cross-validate) and, of published posts, ``raw``, the
        text as it was.
        """


class Collected:
    """Base of data from outside, in which nothing is generated or planted."""

    generated: ClassVar[bool] = False

    def planted(self) -> Mapping[str, float]:
        """Nothing."""
        return {}
