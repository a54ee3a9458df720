"""Retrieval: which wording of a document, about men or women, is nearer to a neutral query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Gt, Lt
from numpy.typing import NDArray

from biasbridge.corpora.protocols import RetrievalSource
from biasbridge.corpora.tokens import tokenise_treebank
from biasbridge.files import choice
from biasbridge.files.choice import Fileless, Whole
from biasbridge.files.documents import read_queries, write_queries
from biasbridge.files.language import known_form, language_of
from biasbridge.train.engine.device import one_thread
from biasbridge.train.engine.scores import encoding_inputs, open_needed, write_encodings

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.extrinsic.gap_table import GapRow
    from biasbridge.files.models.encoder import Encodes
    from biasbridge.train.engine.steps import Facts, Inputs, StepBuilder
    from biasbridge.train.engine.store import Step


_QUERIES = "queries.jsonl"


class WordMean:
    """Mean of the vectors of a text's tokens (Penn Treebank tokens, as in GloVe's corpora).

    A token is looked up as written, then in lower case; if both are out of vocabulary it is treated
    as in ``biasbridge.extrinsic.encode``.
    """

    def __init__(self, vectors: KeyedVectors) -> None:
        self.vectors = vectors

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, (texts, dim); zeros if no token has a vector."""
        from biasbridge.extrinsic.classifiers import mean_vectors
        from biasbridge.extrinsic.encode import encode_words

        means = mean_vectors(encode_words([self._tokens(text) for text in texts], self.vectors))
        return means.astype(np.float32)

    def knows(self, text: str) -> bool:
        """Test whether a text has tokens and all of them have a vector."""
        tokens = self._tokens(text)
        return bool(tokens) and all(token in self.vectors.key_to_index for token in tokens)

    def _tokens(self, text: str) -> list[str]:
        vocabulary = self.vectors.key_to_index
        tokens = [token.text for sentence in tokenise_treebank(text) for token in sentence]
        return [known_form(token, vocabulary) for token in tokens]


@choice
class Retrieval(Fileless):
    """Queries and documents of ``source``, encoded by the subject; nothing is trained.

    With word ``vectors`` a text is the mean of its words (``biasbridge.train.tasks.retrieval``).
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
        queries = steps("queries", self.source, _load_queries_and_documents)
        query_inputs = {"queries": queries}
        if self.by == "vectors":
            return steps(
                "extrinsic",
                self,
                _measure_retrieval,
                {**query_inputs, "vectors": subject["vectors"]},
            )
        encoder_inputs = encoding_inputs(
            steps, self, _encode_texts, subject["encoder"], query_inputs, "extrinsic"
        )
        return steps("extrinsic", self, _measure_retrieval, {**query_inputs, **encoder_inputs})


def _load_queries_and_documents(
    source: RetrievalSource, out: Path, inputs: Inputs, seed: int
) -> None:
    """Write ``queries.jsonl``."""
    write_queries(source.load(seed=seed), out / _QUERIES)


def _encode_texts(task: Retrieval, out: Path, inputs: Inputs, seed: int) -> None:
    """Write the vectors of queries and documents."""
    encoder = open_needed("encoder", inputs)
    _retrieval_rows(task, inputs, encoder)
    write_encodings(encoder, out)


def _measure_retrieval(task: Retrieval, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``scores.parquet``: how often relevant documents are nearer, and signed gaps."""
    from biasbridge.extrinsic.gap_table import as_table

    model = open_needed(task.by, inputs)
    rows = _retrieval_rows(task, inputs, WordMean(model) if task.by == "vectors" else model)
    as_table(rows).to_parquet(out / "scores.parquet")


def _retrieval_rows(task: Retrieval, inputs: Inputs, encoder: Encodes) -> list[GapRow]:
    from biasbridge.extrinsic.retrieval import retrieval_rows

    queries = list(read_queries(inputs["queries"] / _QUERIES))
    with one_thread():
        return retrieval_rows(queries, encoder, level=task.level, min_support=task.min_support)
