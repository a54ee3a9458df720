"""Retrieval: which wording of a document, about men or women, is nearer to a neutral query."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from annotated_types import Gt, Lt

from biasbridge.corpora.protocols import RetrievalSource
from biasbridge.files import choice
from biasbridge.files.choice import Fileless, Whole
from biasbridge.files.language import language_of
from biasbridge.files.retrieval import read_queries, write_queries
from biasbridge.train.engine.device import one_thread
from biasbridge.train.engine.encodings import encoding_inputs, write_encodings
from biasbridge.train.engine.scores import open_needed
from biasbridge.train.subjects.word_mean import WordMean

if TYPE_CHECKING:
    from biasbridge.extrinsic.gap_table import Row
    from biasbridge.files.models.encodes import Encodes
    from biasbridge.train.engine.part import Facts, Inputs, StepBuilder
    from biasbridge.train.engine.store import Step

QUERIES = "queries.jsonl"


@choice
class Retrieval(Fileless):
    """Queries and documents of ``source``, encoded by the subject; nothing is trained.

    With word ``vectors`` a text is the mean of its words (``biasbridge.train.subjects.word_mean``).
    ``name``: the task in the tables. With fewer than ``min_support`` queries a gap is NaN;
    ``level``: of its interval.
    """

    source: RetrievalSource
    name: str = "retrieval"
    min_support: Whole = 10
    level: Annotated[float, Gt(0), Lt(1)] = 0.95
    by: Literal["encoder", "vectors"] = "encoder"

    version: ClassVar[int] = 2
    unkeyed: ClassVar[tuple[str, ...]] = ("by",)  # steps have the one or the other as input
    seeded: ClassVar[bool] = False
    compared: ClassVar[tuple[str, ...]] = ("male", "female")

    @property
    def needs(self) -> tuple[str, ...]:
        """Step that encodes the texts."""
        return (self.by,)

    @property
    def language(self) -> str:
        """Language of the queries."""
        return language_of(self.source)

    def facts(self) -> Facts:
        """Return the columns task, source and generated."""
        return {
            "task": self.name,
            "source": self.source.name,
            **self.source.parameters(),
            "generated": self.source.generated,
        }

    def build_steps(self, steps: StepBuilder, subject: Mapping[str, Step]) -> Step:
        """Return the table of gaps, from queries and encoded texts."""
        queries = steps("queries", self.source, load)
        query_inputs = {"queries": queries}
        if self.by == "vectors":
            return steps(
                "extrinsic", self, measure, {**query_inputs, "vectors": subject["vectors"]}
            )
        encoder_inputs = encoding_inputs(
            steps, self, encode_texts, subject["encoder"], query_inputs, "extrinsic"
        )
        return steps("extrinsic", self, measure, {**query_inputs, **encoder_inputs})


def load(source: RetrievalSource, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``queries.jsonl``."""
    write_queries(source.load(seed=seed), out / QUERIES)


def encode_texts(task: Retrieval, out: Path, inputs: Inputs, seed: int) -> None:
    """Write the vectors of queries and documents."""
    encoder = open_needed("encoder", inputs)
    _rows(task, inputs, encoder)
    write_encodings(encoder, out)


def measure(task: Retrieval, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``scores.parquet``: how often relevant documents are nearer, and signed gaps."""
    from biasbridge.extrinsic.gap_table import as_table

    model = open_needed(task.by, inputs)
    rows = _rows(task, inputs, WordMean(model) if task.by == "vectors" else model)
    as_table(rows).to_parquet(out / "scores.parquet")


def _rows(task: Retrieval, inputs: Inputs, encoder: Encodes) -> list[Row]:
    from biasbridge.extrinsic.retrieval.rows import retrieval_rows

    queries = list(read_queries(inputs["queries"] / QUERIES))
    with one_thread():
        return retrieval_rows(queries, encoder, level=task.level, min_support=task.min_support)
