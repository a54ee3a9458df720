"""Embeddings: gensim does the work; what is ours is that seeds, counts and errors come out
right.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from biasbridge.files import InputError
from biasbridge.files.vectors import save_vectors
from biasbridge.train.subjects.embed import FastText, Pretrained, Word2Vec

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
