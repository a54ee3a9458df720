"""The instrument is sound: embeddings trained on the generated corpus show what was planted in it,
and balancing it moves them.

The expected values are the planted ones. gensim and a plain loop over the paper's equation stand
where the project's own embedding and WEAT would otherwise test themselves; one test then holds the
project's ``effect_size`` to the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors, Word2Vec
from numpy.typing import NDArray
from scipy.stats import spearmanr

from biasbridge.corpora.world import GeneratedCorpus
from biasbridge.intrinsic import effect_size
from biasbridge.intrinsic.words import load_wordset

MODELS: dict[str, Callable[..., Word2Vec]] = {
    "word2vec": Word2Vec,
    "fasttext": partial(FastText, bucket=20_000),
}
LEVELS = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)
QUERIES = {
    "weat6b": ("male_terms", "female_terms", "career", "family"),
    "weat7": ("math", "arts", "male_terms", "female_terms"),
    "weat8": ("science", "arts_2", "male_terms_2", "female_terms_2"),
}
# For each query, the lists of the men, the women, and the topics that stereotype gives to either.
ROLES = {
    "weat6b": ("male_terms", "female_terms", "career", "family"),
    "weat7": ("male_terms", "female_terms", "math", "arts"),
    "weat8": ("male_terms_2", "female_terms_2", "science", "arts_2"),
}


def words(name: str) -> list[str]:
    return [word.lower() for word in load_wordset(name).words]


@cache
def corpus(stereotype: float, seed: int) -> list[list[str]]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.txt"
        GeneratedCorpus(stereotype=stereotype).write(path, seed=seed)
        return [line.split(" ") for line in path.read_text(encoding="utf-8").splitlines()]


def train(lines: list[list[str]], model: str, *, seed: int = 0) -> KeyedVectors:
    return MODELS[model](
        lines,
        sg=1,
        vector_size=50,
        window=5,
        min_count=1,
        epochs=5,
        negative=5,
        workers=1,
        seed=seed,
    ).wv


@cache
def planted(stereotype: float, seed: int, model: str) -> KeyedVectors:
    return train(corpus(stereotype, seed), model, seed=seed)


def cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def association(vectors: KeyedVectors, word: str, a: str, b: str) -> float:
    """s(w): mean cosine with the words of ``a`` minus mean cosine with those of ``b``."""
    to_a, to_b = (
        [cosine(vectors[word], vectors[other]) for other in words(name)] for name in (a, b)
    )
    return sum(to_a) / len(to_a) - sum(to_b) / len(to_b)


def weat(vectors: KeyedVectors, query: str) -> float:
    x, y, a, b = QUERIES[query]
    s_x, s_y = ([association(vectors, word, a, b) for word in words(name)] for name in (x, y))
    return float((np.mean(s_x) - np.mean(s_y)) / np.std(s_x + s_y))


def without(lines: list[list[str]], query: str, *, pro: bool, share: float) -> list[list[str]]:
    """The corpus without a ``share`` of all its lines, drawn from the stereotypical (or the
    anti-stereotypical) ones of a query.
    """
    male, female, his, hers = (set(words(name)) for name in ROLES[query])
    first, second = (his, hers) if pro else (hers, his)
    found = [
        i for i, line in enumerate(lines)
        if (male & set(line) and first & set(line)) or (female & set(line) and second & set(line))
    ]  # fmt: skip
    count = int(share * len(lines))
    assert count <= len(found)
    gone: set[int] = set(np.random.default_rng(0).permutation(found)[:count].tolist())
    return [line for i, line in enumerate(lines) if i not in gone]


@pytest.mark.parametrize("model", ["word2vec", pytest.param("fasttext", marks=pytest.mark.slow)])
def test_weat_follows_the_planted_stereotype(model: str) -> None:
    for query in QUERIES:
        low, none, usual = (weat(planted(level, 0, model), query) for level in (-1, 0, 0.5))
        assert low < -1.2, query
        assert abs(none) < 0.5, query
        assert 0.6 < usual < 1.45, f"{query}: clearly biased and far from the ceiling"


@pytest.mark.stress
@pytest.mark.parametrize("model", MODELS)
def test_weat_follows_nine_levels(model: str) -> None:
    for query in QUERIES:
        found = [weat(planted(level, 0, model), query) for level in LEVELS]
        assert spearmanr(LEVELS, found).statistic >= 0.95, query
        assert 0.6 < found[LEVELS.index(0.5)] < 1.45, query


@pytest.mark.stress
@pytest.mark.parametrize("model", MODELS)
def test_without_a_stereotype_weat_is_0_on_average(model: str) -> None:
    for query in QUERIES:
        found = [weat(planted(0.0, seed, model), query) for seed in range(8)]
        assert abs(np.mean(found)) < 0.15, query


def test_each_word_leans_as_planted() -> None:
    vectors, leans = planted(0.5, 0, "word2vec"), GeneratedCorpus(stereotype=0.5).leans(seed=0)
    found = [association(vectors, word, "male_terms", "female_terms") for word in leans]
    assert spearmanr(list(leans.values()), found).statistic > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    ["weat6b", *(pytest.param(query, marks=pytest.mark.stress) for query in ("weat7", "weat8"))],
)
def test_taking_out_few_lines_moves_the_bias_both_ways(query: str) -> None:
    lines = corpus(0.5, 0)
    start = weat(planted(0.5, 0, "word2vec"), query)
    less = [
        weat(train(without(lines, query, pro=True, share=share), "word2vec"), query)
        for share in (0.01, 0.02)
    ]
    more = [
        weat(train(without(lines, query, pro=False, share=share), "word2vec"), query)
        for share in (0.01, 0.02)
    ]
    assert less[1] < less[0] < start < more[0] < more[1]
    assert less[1] < start - 0.4
    assert more[1] > start + 0.4


def test_the_projects_effect_size_is_the_loop() -> None:
    vectors = planted(0.5, 0, "word2vec")
    for query, names in QUERIES.items():
        assert effect_size(*(vectors[words(name)] for name in names)) == pytest.approx(
            weat(vectors, query), abs=1e-4
        )
