"""Retrieval by word vectors: a text is the mean of the vectors of its words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors

from biasbridge.corpora.generated_queries import GeneratedQueries
from biasbridge.extrinsic.retrieval.rows import retrieval_rows
from biasbridge.files import choice
from biasbridge.files.choice import Fileless
from biasbridge.files.vectors import save_mapped
from biasbridge.train.engine.point import Point, plan_point
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.word_mean import WordMean
from biasbridge.train.tasks.retrieval import Retrieval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from biasbridge.train.engine.part import Facts, Inputs, StepBuilder
    from biasbridge.train.engine.store import Step


def made(*words: str) -> KeyedVectors:
    found = KeyedVectors(vector_size=4)
    found.add_vectors(list(words), np.random.default_rng(0).normal(size=(len(words), 4)))
    return found


@choice
class Vectors(Fileless):
    """A subject of the words of the queries."""

    name: ClassVar[str] = "vectors_alone"
    version: ClassVar[int] = 1
    gives: ClassVar[tuple[str, ...]] = ("vectors",)
    unit: ClassVar[str] = "vectors"

    def facts(self) -> Facts:
        return {"embedding": "made", "method": "none", "generated": True}

    def build_steps(self, steps: StepBuilder) -> Mapping[str, Step]:
        return {"vectors": steps("vectors", self, write)}


def write(vectors: Vectors, out: Path, inputs: Inputs, seed: int) -> None:
    save_mapped(made(*words_of_queries()), out / "vectors")


def words_of_queries() -> list[str]:
    texts = [
        text
        for query in GeneratedQueries().load(seed=0)
        for each in query.documents
        for text in (query.text, each.male, each.female)
    ]
    return sorted({word for text in texts for word in text.lower().split()})


class Literally:
    """The mean by a loop over the words between spaces."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = made(*words_of_queries())
        return np.array([np.mean([vectors[w] for w in text.lower().split()], 0) for text in texts])

    def knows(self, text: str) -> bool:
        return True


def test_a_text_is_the_mean_of_its_words_as_written_or_in_lower_case() -> None:
    vectors = made("The", "the", "judge", "'s", ".")
    encoder = WordMean(vectors)
    both = encoder.encode(["The Judge's robe.", "nothing"])
    expected = np.mean([vectors[each] for each in ("The", "judge", "'s", ".")], axis=0)
    np.testing.assert_allclose(both, [expected, np.zeros(4)], rtol=1e-6)
    assert encoder.knows("the judge")
    assert not encoder.knows("the robe")
    assert not encoder.knows("")


def test_retrieval_by_word_vectors(tmp_path: Path) -> None:
    task = Retrieval(GeneratedQueries(), by="vectors")
    store = Store(tmp_path)
    plan = plan_point(Point("e", 0, Vectors(), (), task), store)
    assert plan.task is not None
    assert {*plan.task.inputs} == {"queries", "vectors"}
    table = pd.read_parquet(store.make(plan.task) / "scores.parquet")
    expected = retrieval_rows(GeneratedQueries().load(seed=0), Literally())
    assert table["value"].tolist() == pytest.approx([row.value for row in expected], abs=1e-6)
