"""Embeddings: gensim does the work; what is ours is that seeds, counts and errors come out
right.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors

from biasbridge.corpora.queries import GeneratedQueries
from biasbridge.corpora.world import GeneratedCorpus
from biasbridge.extrinsic.retrieval import retrieval_rows
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.files.vectors import keyed, open_mapped, save_mapped, save_vectors
from biasbridge.studies.silhouettes import Silhouettes
from biasbridge.train.engine.point import Plan, Point, plan_point
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.static import (
    FastText,
    Pretrained,
    Reference,
    Shared,
    Word2Vec,
    _keep_shared,
)
from biasbridge.train.tasks.retrieval import Retrieval, WordMean
from tests.points import SUBJECT, WEAT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from biasbridge.train.engine.steps import Facts, Inputs, StepBuilder
    from biasbridge.train.engine.store import Step


SMALL = {"dim": 8, "min_count": 2, "epochs": 2}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(
        "a cat sat on a mat\na dog sat on a rug\nonce\n" * 20 + "never again seen\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(
    "choice", [Word2Vec(**SMALL), FastText(**SMALL, bucket=100)], ids=lambda choice: choice.name
)
def test_vectors_follow_the_seed_and_keep_words_of_min_count(
    choice: Word2Vec, corpus: Path
) -> None:
    first, again, other = (choice.train(corpus, seed=seed) for seed in (1, 1, 2))
    assert first.index_to_key == again.index_to_key
    assert np.array_equal(first.vectors, again.vectors)
    assert not np.array_equal(first.vectors, other.vectors)
    assert set(first.index_to_key) == {"a", "cat", "dog", "sat", "on", "mat", "rug", "once"}
    assert first.index_to_key[0] == "a"
    assert first.get_vecattr("a", "count") == 80
    assert first.vectors.shape == (8, 8)
    assert type(first).__name__ == "KeyedVectors"


def test_refuses_a_corpus_too_small(corpus: Path) -> None:
    with pytest.raises(
        InputError, match=r"no word of .* occurs 500 times; lower embedding\.min_count"
    ):
        Word2Vec(min_count=500).train(corpus, seed=0)


@pytest.mark.parametrize("kind", [Word2Vec, partial(FastText, bucket=2_000)])
def test_without_epochs_vectors_are_random(kind: Callable[..., Word2Vec], corpus: Path) -> None:
    choice = kind(dim=200, min_count=2, epochs=0)
    first, again = (choice.train(corpus, seed=1) for _ in range(2))
    assert np.array_equal(first.vectors, again.vectors)
    assert abs(first.similarity("cat", "mat")) < 0.3
    assert (choice.facts(), Word2Vec(**SMALL).facts()) == ({"training_steps": 0}, {})


def test_pretrained_reads_a_file(corpus: Path, tmp_path: Path) -> None:
    vectors = Word2Vec(**SMALL).train(corpus, seed=0)
    save_vectors(vectors, tmp_path / "mine.vec")
    choice = Pretrained(str(tmp_path / "mine.vec"))
    assert choice.name == "mine.vec"
    assert choice.files() == [tmp_path / "mine.vec"]
    assert np.array_equal(choice.load().vectors, vectors.vectors)


# Two reference models: each measured on the words that both know.


def write(folder: Path, words: str) -> Path:
    matrix = np.random.default_rng(len(words)).normal(size=(len(words), 4)).astype(np.float32)
    save_mapped(keyed([*words], matrix), folder / "vectors")
    return folder


def test_vectors_are_those_of_the_shared_words(tmp_path: Path) -> None:
    own, other = write(tmp_path / "own", "abcd"), write(tmp_path / "other", "dxb")
    _keep_shared(Shared(), tmp_path, {"vectors": own, "other": other}, 0)
    shared, whole = open_mapped(tmp_path / "vectors"), open_mapped(own / "vectors")
    assert shared.index_to_key == ["b", "d"]
    assert (shared["d"] == whole["d"]).all()


def test_disjoint_vocabularies_are_refused(tmp_path: Path) -> None:
    own, other = write(tmp_path / "own", "abcde"), write(tmp_path / "other", "xyz")
    with pytest.raises(InputError, match=r"share no word: one has a, b, c, \.\.\., the other x"):
        _keep_shared(Shared(), tmp_path, {"vectors": own, "other": other}, 0)
    assert not (tmp_path / "vectors").exists()


def planned(folder: Path, which: Literal["biased", "unbiased"], seed: int = 0) -> Plan:
    assert isinstance(SUBJECT.corpus, GeneratedCorpus)
    unbiased = dataclasses.replace(
        SUBJECT, corpus=dataclasses.replace(SUBJECT.corpus, stereotype=0.0)
    )
    subject = Reference(biased=SUBJECT, unbiased=unbiased, which=which)
    point = Point(
        experiment="e", seed=seed, subject=subject, metrics=(WEAT,), probe=Silhouettes(runs=2)
    )
    return plan_point(point, Store(folder))


def test_both_points_name_both_models_and_say_which_they_are(tmp_path: Path) -> None:
    biased, unbiased = (planned(tmp_path, which) for which in ("biased", "unbiased"))
    for name in ("biased_key", "unbiased_key"):
        assert biased.keys()[name] == unbiased.keys()[name]
    assert biased.keys()["unit_key"] != unbiased.keys()["unit_key"]
    assert biased.keys()["biased_key"] == biased.keys()["parent_key"]
    facts = biased.point.facts(), unbiased.point.facts()
    assert [each["reference"] for each in facts] == ["biased", "unbiased"]
    assert [each["stereotype"] for each in facts] == [0.5, 0.0]
    assert planned(tmp_path, "biased", seed=1).keys()["biased_key"] != biased.keys()["biased_key"]


def test_the_same_subsets_are_drawn_of_both_models(tmp_path: Path) -> None:
    biased, unbiased = (planned(tmp_path, which).probes for which in ("biased", "unbiased"))
    assert [step.seed for step in biased] == [step.seed for step in unbiased]


# Retrieval by word vectors: a text is the mean of the vectors of its words.


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
        return {"vectors": steps("vectors", self, write_word_mean)}


def write_word_mean(vectors: Vectors, out: Path, inputs: Inputs, seed: int) -> None:
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
