"""The Spanish instrument is sound, for gender and for migrants: the planted stereotype moves the
score and the planted label bias the gap, and at zero the interval of either covers 0.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from biasbridge.corpora.world import GeneratedCorpus, GeneratedPosts, WorldName
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.words import WordChoice
from biasbridge.extrinsic.classifiers import Linear
from biasbridge.extrinsic.gap_table import gap_rows
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.train.subjects.static import FastText, Word2Vec

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.debias.base import Direction
    from biasbridge.extrinsic.gap_table import GapRow

MODELS = {
    "word2vec": Word2Vec(dim=50, min_count=1, epochs=5),
    "fasttext": FastText(dim=50, min_count=1, epochs=5, bucket=20_000),
}
LEVELS = (-1.0, -0.5, 0.0, 0.5, 1.0)


class Bias(NamedTuple):
    """What is asked of a world: queries, the words that modify it, and its groups."""

    queries: tuple[str, ...]
    words: str
    gaps: Gaps


BIASES: dict[WorldName, Bias] = {
    "es_gender": Bias(("gender_es", "gender_pleasant_es"), "gender_union_es", Gaps()),
    "es_migrants": Bias(("migrant_es",), "migrant_es", Gaps("local", "migrant")),
}


@cache
def vectors(
    world: WorldName, stereotype: float, seed: int = 0, model: str = "word2vec"
) -> KeyedVectors:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.txt"
        GeneratedCorpus(stereotype=stereotype, world=world).write(path, seed=seed)
        return MODELS[model].train(path, seed=seed)


def scores(of: KeyedVectors, world: WorldName) -> list[float]:
    asked = Weat(queries=BIASES[world].queries, case="lower", p_value=False)
    return [row.value for row in asked.score(of, seed=0)]


@pytest.mark.slow
@pytest.mark.parametrize("world", BIASES)
def test_weat_follows_the_planted_stereotype(world: WorldName) -> None:
    found = np.array([scores(vectors(world, level), world) for level in (-1, 0, 0.5)])
    assert (np.diff(found, axis=0) > 0).all()
    assert (found[0] < -1.2).all()
    assert (found[2] > 0.6).all()
    assert (found[2] < 1.45).all(), "the default is clearly biased and far from the ceiling"


@pytest.mark.parametrize("world", BIASES)
def test_without_a_stereotype_the_interval_covers_0(world: WorldName) -> None:
    asked = Weat(queries=BIASES[world].queries, case="lower", resamples=200)
    for row in asked.score(vectors(world, 0), seed=0):
        assert row.low < 0 < row.high, row.query


@pytest.mark.stress
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("world", BIASES)
def test_weat_follows_five_levels_and_is_0_on_average_without(world: WorldName, model: str) -> None:
    found = np.array([scores(vectors(world, level, 0, model), world) for level in LEVELS])
    assert (np.diff(found, axis=0) > 0).all()
    without = [scores(vectors(world, 0, seed, model), world) for seed in range(4)]
    assert (np.abs(np.mean(without, axis=0)) < 0.2).all()


@cache
def gaps(world: WorldName, label_bias: float) -> dict[str, GapRow]:
    posts = GeneratedPosts(label_bias=label_bias, world=world).load(seed=0)
    predictions = Linear().predict(posts, vectors(world, 0.5), seed=0)
    return {
        row.measure: row for row in gap_rows(predictions, BIASES[world].gaps) if row.kind == "gap"
    }


@pytest.mark.parametrize("world", BIASES)
def test_the_recall_gap_follows_the_planted_label_bias(world: WorldName) -> None:
    found = [gaps(world, level)["recall"].value for level in (-1, 0, 1)]
    assert found == sorted(found)
    assert found[0] < -0.05 < 0.05 < found[-1]


@pytest.mark.parametrize("world", BIASES)
def test_without_label_bias_the_intervals_of_the_gaps_cover_0(world: WorldName) -> None:
    for row in gaps(world, 0).values():
        assert row.low < 0 < row.high, row.measure


@pytest.mark.stress
@pytest.mark.parametrize("world", BIASES)
def test_the_recall_gap_follows_five_levels(world: WorldName) -> None:
    found = [gaps(world, level)["recall"].value for level in LEVELS]
    assert found == sorted(found)


@pytest.mark.parametrize("world", BIASES)
def test_attract_repel_moves_the_score_both_ways(world: WorldName) -> None:
    start = vectors(world, 0.5)
    words = WordChoice(BIASES[world].words, lowercase=True).words()
    directions: tuple[Direction, Direction] = ("debias", "overbias")
    less, more = (
        scores(AttractRepel(direction, 0.1).modify(start, words, seed=0), world)
        for direction in directions
    )
    assert (np.array(less) < scores(start, world)).all()
    assert (np.array(more) > scores(start, world)).all()
