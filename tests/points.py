"""Small points of the generated world, for tests of what is planned and run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.corpora.world import GeneratedCorpus, GeneratedPosts
from biasbridge.debias.base import Unmodified
from biasbridge.debias.words import WordChoice
from biasbridge.extrinsic.classifiers import Linear
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.taggers import MentionTagger
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.train.engine.point import Plan, Point, plan_point
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.static import StaticVectors, Word2Vec
from biasbridge.train.tasks.hatespeech import HateSpeech

if TYPE_CHECKING:
    from biasbridge.intrinsic.metric import Metric

WEAT = Weat(queries=("weat6b", "weat7", "weat8"), case="lower")
SUBJECT = StaticVectors(
    corpus=GeneratedCorpus(sentences=1000),
    embedding=Word2Vec(dim=8, epochs=1, min_count=1),
    debias=Unmodified(),
    words=WordChoice(lowercase=True),
)
TASK = HateSpeech(
    source=GeneratedPosts(posts=400), groups=MentionTagger(), classifier=Linear(), gaps=Gaps()
)


def plan(
    folder: Path,
    *metrics: Metric,
    subject: StaticVectors = SUBJECT,
    task: HateSpeech | None = None,
    seed: int = 0,
) -> Plan:
    """The plan of a point over the store in ``folder``; WEAT where no metric is named."""
    point = Point(experiment="e", seed=seed, subject=subject, metrics=metrics or (WEAT,), task=task)
    return plan_point(point, Store(folder))
