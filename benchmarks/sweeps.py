"""Sweeps: what a cached one costs, what sharing saves, what a second worker gains. Whole commands,
on generated data.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.row import Row
from corpora.world import GeneratedCorpus
from debias.unmodified import Unmodified
from debias.word_choice import WordChoice
from intrinsic.metrics.weat import Weat
from train.embed import Word2Vec
from train.join import join_tables
from train.outcome import run_point
from train.parts.static import StaticVectors
from train.point import Point, plan_point
from train.store import Store
from train.store.stale import outdated

TRAIN = str(Path(__file__).resolve().parent.parent / "train.py")
TINY = [
    "+experiment=hatespeech_en",
    "corpus.sentences=1000",
    "size.dim=8",
    "size.epochs=1",
    "size.bucket=500",
    "source=none",
]
HEAVY = [
    "+experiment=hatespeech_en",
    "corpus.sentences=30000",
    "source.posts=1200",
    "classifier=linear",
    "embedding=word2vec",
]


def seconds(folder: Path, *arguments: str) -> float:
    """Wall time of one command, Python's start and imports included."""
    start = time.perf_counter()
    subprocess.run([sys.executable, TRAIN, *arguments], cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def rows() -> Iterator[Row]:
    """One row a measurement."""
    folder = Path(tempfile.mkdtemp())
    try:
        yield overhead(folder)
        yield from joining(folder)
        yield engines(folder)
        yield sharing(folder)
    finally:
        shutil.rmtree(folder)


def overhead(folder: Path) -> Row:
    """A sweep of 300 points run again, against starting Python."""
    doses = ",".join(f"{0.02 * i:.2f}" for i in range(1, 51))
    grid = [
        "embedding=word2vec",
        "debias=attract_repel",
        "debias.direction=debias,overbias",
        f"debias.dose={doses}",
        "seed=range(3)",
    ]
    sweep = [*TINY, *grid]
    seconds(folder, *sweep)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    python = time.perf_counter() - start
    each = (seconds(folder, *sweep) - python) / 300
    return Row("a cached sweep of 300 points, a point", each, "s", "<= 0.15")


def joining(folder: Path) -> Iterator[Row]:
    """5,000 points of a store: compared with the code at hand, and joined into tables."""
    store = Store(folder / "joining")
    subject = StaticVectors(
        corpus=GeneratedCorpus(sentences=1000),
        embedding=Word2Vec(dim=8, epochs=1, min_count=1),
        debias=Unmodified(),
        words=WordChoice(lowercase=True),
    )
    metric = Weat(queries=("weat6b", "weat7", "weat8"), case="lower")
    first = plan_point(Point(experiment="e", seed=0, subject=subject, metrics=(metric,)), store)
    run_point(first, store, folder)
    (measured,) = first.metrics
    scores = store.path(measured) / "scores.parquet"

    def copy(out: Path, inputs: Mapping[str, Path]) -> None:
        shutil.copy(scores, out)

    plans = []
    for number in range(5000):
        stage = replace(measured, params={"copy": number}, build=copy, decide=None)
        store.make(stage)
        plans.append(replace(first, metrics=(stage,)))
    start = time.perf_counter()
    outdated(store, [plan.metrics[0] for plan in plans])
    yield Row("results of 5,000 points, by which code", time.perf_counter() - start, "s", "<= 3")
    Store.checked.clear()
    start = time.perf_counter()
    join_tables(plans, store, folder)
    yield Row("tables of 5,000 points joined", time.perf_counter() - start, "s", "<= 10")


def engines(folder: Path) -> Row:
    """Serial against joblib with two workers, start of the processes included."""
    (folder / "engines").mkdir()
    sweep = [
        *HEAVY,
        "size.epochs=40",
        "debias=balance",
        "debias.direction=debias,overbias",
        "debias.dose=1",
        "seed=range(6)",
    ]
    took = {}
    for name, more in {
        "serial": ["hydra/launcher=basic"],
        "joblib": ["hydra.launcher.n_jobs=2"],
    }.items():
        took[name] = seconds(folder / "engines", *sweep, f"store.dir={name}", *more)
    ratio = took["serial"] / took["joblib"]
    what = "joblib with 2 workers against serial, 12 points of 14 s each"
    return Row(what, ratio, "times as fast", ">= 1.6")


def sharing(folder: Path) -> Row:
    """A shared sweep against the same points one by one, each with a store of its own."""
    (folder / "sharing").mkdir()
    grid = list(
        itertools.product(("balance", "attract_repel"), ("debias", "overbias"), ("0", "0.5", "1"))
    )
    common = [*HEAVY, "size.epochs=15"]
    shared = seconds(folder / "sharing", *common, "seed=0", "debias.dose=0,0.5,1")
    alone = 0.0
    for number, (method, direction, dose) in enumerate(grid):
        point = [
            f"debias={method}",
            f"debias.direction={direction}",
            f"debias.dose={dose}",
            f"store.dir=alone{number}",
        ]
        alone += seconds(folder / "sharing", *common, "hydra.mode=RUN", *point)
    what = f"{len(grid)} runs one by one against a sweep that shares"
    return Row(what, alone / shared, "times as fast")
