"""Retrieval: which wording of a document, about men or about women, lies nearer to a query that
names neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from annotated_types import Gt, Lt

from corpora.kinds import RetrievalSource
from files import choice
from files.choice import Fileless, Whole
from files.language import language_of
from files.retrieval import read_queries, write_queries
from train.device import one_thread
from train.parts.encodings import encoded, keep_encodings
from train.parts.scores import open_needed
from train.word_mean import WordMean

if TYPE_CHECKING:
    from extrinsic.gap_table import Row
    from files.models.encodes import Encodes
    from train.parts.part import Facts, Inputs, Stages
    from train.store import Stage

QUERIES = "queries.jsonl"


@choice
class Retrieval(Fileless):
    """Queries and documents of ``source`` by the subject's encoder, or by its word ``vectors``, a
    text being the mean of its words (see ``train.word_mean``); nothing is trained.

    ``name`` is the task in the tables. Below ``least_support`` queries a gap is NaN; ``level``: of
    its interval.
    """

    source: RetrievalSource
    name: str = "retrieval"
    least_support: Whole = 10
    level: Annotated[float, Gt(0), Lt(1)] = 0.95
    by: Literal["encoder", "vectors"] = "encoder"

    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("by",)  # its steps read the one or the other
    seeded: ClassVar[bool] = False
    compared: ClassVar[tuple[str, ...]] = ("male", "female")

    @property
    def needs(self) -> tuple[str, ...]:
        """What texts are encoded by."""
        return (self.by,)

    @property
    def language(self) -> str:
        """That of the queries."""
        return language_of(self.source)

    def facts(self) -> Facts:
        """The columns task, source and generated."""
        return {
            "task": self.name,
            "source": self.source.name,
            **self.source.planted(),
            "generated": self.source.generated,
        }

    def build_steps(self, steps: Stages, subject: Mapping[str, Stage]) -> Stage:
        """Queries, and the table of gaps."""
        queries = steps("queries", self.source, load)
        read = {"queries": queries}
        if self.by == "vectors":
            return steps("extrinsic", self, measure, {**read, "vectors": subject["vectors"]})
        given = encoded(steps, self, encode_texts, subject["encoder"], read, "extrinsic")
        return steps("extrinsic", self, measure, {**read, **given})


def load(source: RetrievalSource, out: Path, inputs: Inputs, seed: int) -> None:
    """``queries.jsonl``."""
    write_queries(source.load(seed=seed), out / QUERIES)


def encode_texts(task: Retrieval, out: Path, inputs: Inputs, seed: int) -> None:
    """The vectors of queries and documents."""
    encoder = open_needed("encoder", inputs)
    _rows(task, inputs, encoder)
    keep_encodings(encoder, out)


def measure(task: Retrieval, out: Path, inputs: Inputs, seed: int) -> None:
    """``scores.parquet``: how often relevant documents are nearer, and the gaps between wordings,
    each with its interval and support.
    """
    from extrinsic.gap_table import as_table

    given = open_needed(task.by, inputs)
    rows = _rows(task, inputs, WordMean(given) if task.by == "vectors" else given)
    as_table(rows).to_parquet(out / "scores.parquet")


def _rows(task: Retrieval, inputs: Inputs, encoder: Encodes) -> list[Row]:
    from extrinsic.retrieval.rows import retrieval_rows

    queries = list(read_queries(inputs["queries"] / QUERIES))
    with one_thread():
        return retrieval_rows(queries, encoder, level=task.level, least_support=task.least_support)
