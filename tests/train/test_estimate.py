"""What a sweep will cost, by typical or measured times and cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from omegaconf import OmegaConf

from biasbridge.corpora.corpus import TextCorpus
from biasbridge.corpora.world import GeneratedCorpus
from biasbridge.train.cli import local_engine as engine
from biasbridge.train.cli.local_engine import count_workers
from biasbridge.train.engine import estimate
from biasbridge.train.engine.estimate import Timing, describe_cost, expected_seconds, timings_of
from biasbridge.train.engine.store import Step, Store
from biasbridge.train.engine.store.entry import read_recipe
from biasbridge.train.subjects.embed import Word2Vec
from tests.points import SUBJECT, TASK, plan

if TYPE_CHECKING:
    from biasbridge.train.subjects.static import StaticVectors


def subject(sentences: int = 30_000, dim: int = 50) -> StaticVectors:
    """Vectors of a generated corpus, by default the one that ``TYPICAL`` has the times of."""
    embedding = Word2Vec(dim=dim, epochs=5, min_count=1)
    return replace(SUBJECT, corpus=GeneratedCorpus(sentences=sentences), embedding=embedding)


def cost(folder: Path, *, cores: int = 1) -> str:
    """What four seeds of Word2Vec and of five short steps cost, which take 3 s and .1 s each."""
    plans = [plan(folder, seed=seed, subject=subject(), task=TASK) for seed in range(4)]
    return describe_cost(plans, Store(folder), cores=cores)


def vectors(folder: Path, **size: int) -> Step:
    return plan(folder, subject=subject(**size)).unit


def timings(**measured: tuple[float, Step]) -> dict[tuple[str, str, str], list[Timing]]:
    """The timings of steps in seconds."""
    result: dict[tuple[str, str, str], list[Timing]] = {}
    for name, (seconds, step) in measured.items():
        result[step.name, step.made_by, name] = [Timing(seconds, step.work)]
    return result


def test_typical_times_are_shared_by_cores(tmp_path: Path) -> None:
    assert cost(tmp_path) == "4 points, 24 steps to run, about 14 s on 1 core"
    assert cost(tmp_path, cores=2).endswith("about 7 s on 2 cores")


def test_a_measured_time_counts_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(step: Step, _: object) -> float | None:
        return 10.0 if step.choice == "Word2Vec" else None

    monkeypatch.setattr(estimate, "expected_seconds", measured)
    assert cost(tmp_path).endswith("about 42 s on 1 core")  # 4 (10 + 5 x .1)


def test_a_corpus_of_another_size_is_forecast_within_a_factor_of_two(tmp_path: Path) -> None:
    """The seconds were measured on one machine: 2,000 sentences, then 60,000 in 100 dimensions."""
    small = vectors(tmp_path, sentences=2000, dim=20)
    large = vectors(tmp_path, sentences=60_000, dim=100)
    forecast = expected_seconds(large, timings(small=(0.546, small)))
    assert forecast is not None
    assert 12.57 / 2 < forecast < 12.57 * 2
    back = expected_seconds(small, timings(large=(12.57, large)))
    assert back is not None
    assert 0.546 / 2 < back < 0.546 * 2


def test_a_time_grows_with_the_bytes_of_files_and_the_epochs(tmp_path: Path) -> None:
    steps = []
    for number, epochs in ((1, 1), (50, 1), (50, 4)):
        path = tmp_path / f"{number}.txt"
        path.write_text("a text of words\n" * 1000 * number)
        corpus = TextCorpus(str(path), tokeniser="whitespace", min_count=1)
        embedding = Word2Vec(dim=8, epochs=epochs, min_count=1)
        steps.append(plan(tmp_path, subject=replace(SUBJECT, corpus=corpus, embedding=embedding)))
    first, longer, trained = (planned.unit for planned in steps)
    known = timings(first=(1.0, first))
    assert expected_seconds(longer, known) == pytest.approx(50)
    assert expected_seconds(trained, known) == pytest.approx(200)
    known |= timings(longer=(30.0, longer))  # nearer in size: it corrects the forecast
    assert expected_seconds(trained, known) == pytest.approx((120 + 200) / 2)
    assert expected_seconds(trained, timings(trained=(7.0, trained))) == pytest.approx(7)


def test_a_stored_time_is_without_imports(tmp_path: Path) -> None:
    def build(out: Path, inputs: Mapping[str, Path]) -> None:
        __import__("toy_slow_import")
        (out / "text").write_text("one")

    (tmp_path / "toy_slow_import.py").write_text("import time\ntime.sleep(0.5)\n")
    store = Store(tmp_path / "store")
    step = Step("corpus", "Text", 1, {"sentences": 7}, build)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        entry = store.make(step)
    (ran,) = timings_of([entry]).values()
    assert ran[0].seconds < 0.4
    assert ran[0].work == step.work
    assert read_recipe(entry)["made"]["seconds"] > 0.4


@pytest.mark.parametrize(
    ("n_jobs", "n_points", "workers"),
    [(-1, 9, 4), (-1, 3, 3), (2, 9, 2), (8, 9, 4), (None, 9, 4), (2, 1, 1)],
)
def test_workers_are_no_more_than_cores_jobs_and_points(
    n_jobs: int | None, n_points: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "count_cores", lambda: 4)
    launcher = {} if n_jobs is None else {"n_jobs": n_jobs}
    assert count_workers(OmegaConf.create({"launcher": launcher}), n_points) == workers
    serial = {"_target_": "hydra._internal.core_plugins.basic_launcher.BasicLauncher"}
    assert count_workers(OmegaConf.create({"launcher": serial}), n_points) == 1
