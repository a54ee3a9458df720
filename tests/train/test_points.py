"""What a point leaves: an error is noted and not raised; the tables come from the store and grow
only when asked to.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
import torch
from omegaconf import OmegaConf

from biasbridge.corpora.corpus import TextCorpus
from biasbridge.corpora.world import GeneratedCorpus
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.words import WordChoice
from biasbridge.files import InputError
from biasbridge.train.cli import engines as engine
from biasbridge.train.cli.engines import count_workers
from biasbridge.train.engine import cost as estimate
from biasbridge.train.engine import device
from biasbridge.train.engine.cost import Timing, _expected_seconds, _timings_of, describe_cost
from biasbridge.train.engine.device import pick_device, step_device
from biasbridge.train.engine.point import read_outcome, run_point
from biasbridge.train.engine.store import Step, Store, read_recipe
from biasbridge.train.engine.tables import join_tables
from biasbridge.train.subjects.static import Word2Vec
from tests.points import SUBJECT, TASK, plan

if TYPE_CHECKING:
    from biasbridge.train.engine.store import Request
    from biasbridge.train.subjects.static import StaticVectors


def test_error_is_noted_with_its_traceback(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    bad = plan(store.root, subject=replace(SUBJECT, embedding=Word2Vec(min_count=10**6)))
    outcome = run_point(bad, store, tmp_path)
    assert outcome.status == "failed"
    assert outcome.refused
    assert "lower embedding.min_count" in outcome.error
    assert "Traceback" in outcome.traceback
    assert read_outcome(tmp_path, bad.key) == outcome
    points, intrinsic, extrinsic, *_ = join_tables([bad], store, tmp_path)
    assert points.loc[0, "error"] == outcome.error
    assert len(intrinsic) == len(extrinsic) == 0


def test_scores_and_record_of_a_point(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    good = plan(store.root)
    run_point(good, store, tmp_path)
    points, intrinsic, *_ = join_tables([good], store, tmp_path)
    noted = read_outcome(tmp_path, good.key)
    assert noted is not None
    assert noted.built == ("corpus", "vectors", "intrinsic")
    written = points[["status", "task", "method", "generated"]].to_numpy().tolist()
    assert written == [["done", "none", "none", True]]
    assert intrinsic["query"].tolist() == ["weat6b", "weat7", "weat8"]


def test_options_tell_what_decides_a_point_but_its_seed(tmp_path: Path) -> None:
    words = tmp_path / "mine.yaml"

    def options(seed: int = 0, epochs: int = 5, last: str = "poetry") -> list[dict[str, object]]:
        query = f"{{X: [man], Y: [woman], A: [science], B: [{last}]}}"
        words.write_text(f"language: en\nqueries: {{mine: {query}}}\n", encoding="utf-8")
        subject = replace(
            SUBJECT,
            debias=AttractRepel("debias", epochs=epochs),
            words=WordChoice("mine", file=str(words)),
        )
        written = plan(tmp_path / "store", subject=subject, task=TASK, seed=seed).options()
        return [json.loads(written[f"{name}_options"]) for name in ("parent", "method", "task")]

    base, method, task = options()
    assert (base["vectors.dim"], method["modified.epochs"], task["posts.posts"]) == (8, 5, 400)
    assert options(seed=1) == [base, method, task]
    assert options(epochs=2) == [base, method | {"modified.epochs": 2}, task]
    other = options(last="arts")[1]
    changed = {name for name in method if other[name] != method[name]}
    assert changed == {"words.files", "words.words"}


# What a sweep will cost, by typical or measured times and cores.


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

    monkeypatch.setattr(estimate, "_expected_seconds", measured)
    assert cost(tmp_path).endswith("about 42 s on 1 core")  # 4 (10 + 5 x .1)


def test_a_corpus_of_another_size_is_forecast_within_a_factor_of_two(tmp_path: Path) -> None:
    """The seconds were measured on one machine: 2,000 sentences, then 60,000 in 100 dimensions."""
    small = vectors(tmp_path, sentences=2000, dim=20)
    large = vectors(tmp_path, sentences=60_000, dim=100)
    forecast = _expected_seconds(large, timings(small=(0.546, small)))
    assert forecast is not None
    assert 12.57 / 2 < forecast < 12.57 * 2
    back = _expected_seconds(small, timings(large=(12.57, large)))
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
    assert _expected_seconds(longer, known) == pytest.approx(50)
    assert _expected_seconds(trained, known) == pytest.approx(200)
    known |= timings(longer=(30.0, longer))  # nearer in size: it corrects the forecast
    assert _expected_seconds(trained, known) == pytest.approx((120 + 200) / 2)
    assert _expected_seconds(trained, timings(trained=(7.0, trained))) == pytest.approx(7)


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
    (ran,) = _timings_of([entry]).values()
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
    monkeypatch.setattr(engine, "_count_cores", lambda: 4)
    launcher = {} if n_jobs is None else {"n_jobs": n_jobs}
    assert count_workers(OmegaConf.create({"launcher": launcher}), n_points) == workers
    serial = {"_target_": "hydra._internal.core_plugins.basic_launcher.BasicLauncher"}
    assert count_workers(OmegaConf.create({"launcher": serial}), n_points) == 1


# The device of a job: GPUs in turn, or the one that is named.


def test_jobs_take_the_visible_gpus_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_has_gpu_driver", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert [pick_device("auto", number) for number in range(4)] == [
        "cuda:0",
        "cuda:1",
        "cuda:0",
        "cuda:1",
    ]
    assert [pick_device(name, 1) for name in ("cpu", "cuda", "cuda:1")] == ["cpu", "cuda", "cuda:1"]
    with pytest.raises(InputError, match="2 GPUs are visible"):
        pick_device("cuda:2", 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert pick_device("auto", 3) == "cpu"
    for bad in ("cuda", "gpu", "mps", ""):
        with pytest.raises(InputError, match="device="):
            pick_device(bad, 0)


def test_language_models_of_a_step_are_on_the_device_of_the_job(tmp_path: Path) -> None:
    def build(out: Path, inputs: Mapping[str, Path]) -> None:
        (out / "device").write_text(step_device(), encoding="utf-8")

    devices = []
    for number, request in enumerate(({"device": "cuda:1"}, {})):
        step = Step("probe", "tests.Probe", number, {}, build)
        folder = Store(tmp_path, cast("Request", request)).make(step)
        devices.append((folder / "device").read_text(encoding="utf-8"))
    assert devices == ["cuda:1", "cpu"]
    assert step_device() == "cpu"


# The pool of processes of this machine.

SWEEP = """
import os
from joblib.externals.loky.backend import resource_tracker
from biasbridge.train.cli.engines import _start_trackers
_start_trackers()
resource_tracker.register("/loky-1-never-made", "semlock")
os._exit(130)
"""


def test_a_semaphore_left_behind_prints_nothing_after_the_last_line() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SWEEP], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, "")
