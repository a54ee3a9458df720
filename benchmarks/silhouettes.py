"""Silhouettes at the size of the paper's sentiment words: the subsets of a run scored by running
sums, and each on its own, in turns on the same subsets.

Vectors are drawn at random, positive and negative words apart by a little, 300 dimensions. Times
are of the processor, all threads together: what else the machine does is not in them.
"""

from __future__ import annotations

import json
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.row import Row
from files.vectors import keyed
from intrinsic import METRICS
from intrinsic.found_query import FoundQuery, find_query
from studies.silhouettes.along import along, on_every_subset
from studies.silhouettes.probe import ATTRIBUTES, kinds_of_list
from studies.silhouettes.subsets import Subsets, nested_subsets

if TYPE_CHECKING:
    from intrinsic.metric import Metric

POSITIVE, NEGATIVE, TARGETS, DIM = 2006, 4783, 80, 300
RUNS, STEP = 100, 6
SAMPLE = 40  # steps of one run that are scored one by one
PAPER = {"weat": "<= 30", "ect": "<= 30", "rnsb": "<= 900"}
OPTIONS: dict[str, dict[str, Any]] = {
    "weat": {"convention": "bsa"},
    "ect": {"min_found": 0.0},
    "rnd": {},
    "mac": {},
    "rnsb": {"convention": "bsa"},
}


def made_up(folder: Path) -> tuple[Path, dict[str, list[str]]]:
    """A file with the two queries, and their lists."""
    lists = {
        "X": [f"x{i}" for i in range(TARGETS)],
        "Y": [f"y{i}" for i in range(TARGETS)],
        "A": [f"good{i}" for i in range(POSITIVE)],
        "B": [f"bad{i}" for i in range(NEGATIVE)],
    }
    one = {"X": lists["X"], "Y": lists["Y"], "A": lists["A"] + lists["B"]}
    path = folder / "words.json"
    path.write_text(json.dumps({"two": lists, "one": one}), encoding="utf-8")
    return path, lists


def prepared(name: str, folder: Path, runs: int) -> tuple[Metric, FoundQuery, Subsets]:
    """The metric, its words and the subsets of all sentiment words."""
    path, lists = made_up(folder)
    rng = np.random.default_rng(0)
    sign = {"X": 0.2, "Y": -0.2, "A": 1.0, "B": -1.0}
    means = np.concatenate([np.full(len(words), sign[role]) for role, words in lists.items()])
    matrix = rng.normal(size=(len(means), DIM)) * 0.3
    matrix[:, :20] += 0.15 * means[:, None]
    vectors = keyed([word for words in lists.values() for word in words], matrix.astype(np.float32))
    query = "two" if name in ("weat", "rnsb", "mac") else "one"
    metric = METRICS[name].by(**OPTIONS[name], queries=(query,), words=str(path))
    found = find_query(vectors, metric.asked[0], metric.about.takes, case=metric.case)
    varied = kinds_of_list(found)[ATTRIBUTES]
    return metric, found, nested_subsets(varied, STEP, runs, seed=0)


def sampled(subsets: Subsets) -> Subsets:
    """Evenly spread steps of the first run."""
    steps = np.linspace(0, len(subsets.sizes) - 1, SAMPLE).round().astype(int)
    return Subsets(
        {role: orders[:1] for role, orders in subsets.orders.items()},
        {role: counts[steps] for role, counts in subsets.counts.items()},
        subsets.sizes[steps],
    )


def measured(name: str) -> Iterator[Row]:
    """The time of all runs, beside that of the same by a loop, from a sample of its steps."""
    with tempfile.TemporaryDirectory() as folder:
        metric, found, subsets = prepared(name, Path(folder), RUNS)
        part = sampled(subsets)
        loop = 0.0
        start = time.process_time()
        whole = along(metric, found, subsets, seed=0)[""]
        own = time.process_time() - start
        for _ in range(3):
            start = time.process_time()
            alone = on_every_subset(metric, found, part, 0)[""]
            loop += (time.process_time() - start) / 3
        steps = np.searchsorted(subsets.sizes, part.sizes)
        apart = float(np.nanmax(np.abs(whole[0, steps] - alone[0])))
    loop *= whole.size / SAMPLE
    what = f"{name}, {RUNS} runs over {POSITIVE + NEGATIVE} words, {whole.shape[1]} steps"
    yield Row(f"{what}: differs from a loop by", apart, "", "<= 1e-6")
    yield Row(
        f"{what}, a loop takes {loop / 60:.1f} min", own, "s of processor", PAPER.get(name, "")
    )
    yield Row(f"{name}: times faster than a loop", loop / own, "times")


def rows() -> Iterator[Row]:
    """What was measured, with its unit and target. RNSB takes minutes."""
    for name in OPTIONS:
        yield from measured(name)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield Row("most memory", used, "MB", "<= 1000")
