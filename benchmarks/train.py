"""The store: 5,000 finished points compared with the current code and joined into tables; and tiny
language models, trained until they have learned a planted bias.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.row import Row, Work
from biasbridge.corpora.planted_occupations import PlantedOccupations
from biasbridge.corpora.world import GeneratedCorpus
from biasbridge.debias.base import Unmodified
from biasbridge.debias.words import WordChoice
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.train.engine.point import Plan, Point, plan_point, run_point
from biasbridge.train.engine.store import Store
from biasbridge.train.engine.store_tools import outdated
from biasbridge.train.engine.tables import join_tables
from biasbridge.train.subjects.static import StaticVectors, Word2Vec
from biasbridge.train.subjects.tiny_model import Architecture, TinyModel


def finished(folder: Path) -> tuple[Store, list[Plan]]:
    """Return a store of 5,000 points whose scores are copies of one point's, and their plans."""
    store = Store(folder / "store")
    subject = StaticVectors(
        corpus=GeneratedCorpus(sentences=1000),
        embedding=Word2Vec(dim=8, epochs=1, min_count=1),
        debias=Unmodified(),
        words=WordChoice(lowercase=True),
    )
    metric = Weat(queries=("weat6b", "weat7", "weat8"), case="lower")
    first = plan_point(Point(experiment="e", seed=0, subject=subject, metrics=(metric,)), store)
    run_point(first, store, folder)
    (metric_stage,) = first.metrics
    scores = store.path(metric_stage) / "scores.parquet"

    def copy(out: Path, inputs: Mapping[str, Path]) -> None:
        shutil.copy(scores, out)

    plans = []
    for number in range(5000):
        step = replace(metric_stage, params={"copy": number}, build=copy, decide=None)
        store.make(step)
        plans.append(replace(first, metrics=(step,)))
    return store, plans


def compared(folder: Path) -> Work:
    """Time the comparison of results with the current code."""
    store, plans = finished(folder)
    return partial(outdated, store, [plan.metrics[0] for plan in plans])


def joined(folder: Path) -> Work:
    """Time joining the three tables."""
    store, plans = finished(folder)
    Store.checked.clear()
    return partial(join_tables, plans, store, folder)


def learn(architecture: Architecture, folder: Path) -> Work:
    """Time training a model at strength 1."""
    corpus, text = PlantedOccupations(stereotype=1.0), folder / "corpus.txt"
    corpus.write(text, seed=0)
    return partial(
        TinyModel(architecture).train, text, folder, seed=0, truths=corpus.truths(seed=0)
    )


ROWS = [
    Row("results of 5,000 points, by which code", compared, 3),
    Row("tables of 5,000 points joined", joined, 10),
    Row("tiny BERT learns what is planted", partial(learn, "bert"), 60),
    Row("tiny GPT-2 learns what is planted", partial(learn, "gpt2"), 90),
]
