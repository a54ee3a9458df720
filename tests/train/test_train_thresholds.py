"""Thresholds of training, of the store and of a sweep: what lies just on either side of each."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from hydra import initialize_config_dir
from hydra.core.plugins import Plugins
from hydra.core.utils import JobStatus
from omegaconf import OmegaConf

from biasbridge.analysis.tables import Tables
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.files import InputError
from biasbridge.intrinsic.words import Query, WordSet
from biasbridge.train.cli import CONF
from biasbridge.train.cli.command import _build_cells
from biasbridge.train.cli.engines import check_engine, launch
from biasbridge.train.engine.locks import StoreError, locked
from biasbridge.train.engine.steps import DataReport
from biasbridge.train.engine.store import Store
from biasbridge.train.engine.store_tools import _age
from biasbridge.train.engine.tables import _describe_coverage, _models_like_parent
from biasbridge.train.subjects.tiny_model import Fit
from biasbridge.train.tasks.posts import describe_groups
from biasbridge.train.tasks.task_words import compares_genders
from tests.thresholds import Refused, decides
from tests.train.test_store import CORPUS, write


@decides(
    *(((0.98, 1.0), (True, True)), ((0.979, 1.0), (False, True))),
    *(((1.0, 0.9), (True, True)), ((1.0, 0.899), (False, True))),
    *(((1.0, 1.1), (True, True)), ((1.0, 1.101), (False, True))),
    *(((0.95, 1.0), (False, True)), ((0.949, 1.0), (False, False))),
    *(((1.0, 0.8), (False, True)), ((1.0, 0.799), (False, False))),
)
def test_what_is_planted_is_learned_where_the_log_odds_match(given: tuple[float, float]) -> object:
    """An r of .98 and a slope of .9 to 1.1 (docs/studies/certificate.md); near from .95, .8 on."""
    found = Fit(*given, 0.0)
    return found.learned, found.near


@decides((2, False), (3, True))
def test_three_scores_that_are_all_those_of_the_parent_are_an_error(scores: int) -> object:
    points = pd.DataFrame({"point": ["a", "b"], "unit_key": ["a", "b"], "parent_key": "a"})
    points = points.assign(method="leace", direction="debias", dose=1.0)
    rows = [(p, "seat", "d", f"q{i}", "", 0.1 * i) for p in "ab" for i in range(scores)]
    names = ["point", "metric", "convention", "query", "part", "value"]
    intrinsic = pd.DataFrame(rows, columns=names).assign(scale_min=-2.0, scale_max=2.0)
    return bool(_models_like_parent(Tables(points, intrinsic, pd.DataFrame())))


@decides((0.799, True), (0.8, False))
def test_a_run_warns_where_fewer_than_80_of_100_tokens_have_a_vector(share: float) -> object:
    points = pd.DataFrame({"point": ["a", "b"], "source": "s"})
    extrinsic = pd.DataFrame({"point": ["a", "b"], "coverage": [0.9, share]})
    return bool(_describe_coverage(Tables(points, pd.DataFrame(), extrinsic)))


@pytest.mark.parametrize(("age", "remembered"), [(1_999_999_999, False), (2_000_000_000, True)])
def test_a_digest_is_remembered_of_files_that_are_two_seconds_old(
    age: int, remembered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data"
    path.write_text("a")
    monkeypatch.setattr(Store, "hashed", {})
    changed = path.stat().st_ctime_ns
    fake = SimpleNamespace(time_ns=lambda: changed + age)
    monkeypatch.setattr("biasbridge.train.engine.store.time", fake)
    Store(tmp_path).digest(path)
    assert bool(Store.hashed) == remembered


@pytest.mark.parametrize(("free", "full"), [(2**20 - 1, True), (2**20, False)])
def test_an_error_of_writing_is_a_full_disk_where_less_than_a_mebibyte_is_free(
    free: int, full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(out: Path, inputs: Mapping[str, Path]) -> None:
        raise OSError(errno.EIO, "short write")

    monkeypatch.setattr(
        "biasbridge.train.engine.locks.shutil.disk_usage", lambda _: SimpleNamespace(free=free)
    )
    with pytest.raises(StoreError if full else OSError, match="disk is full" if full else "short"):
        Store(tmp_path).make(replace(CORPUS, build=fail))


@pytest.mark.parametrize(("removals", "made"), [(4, True), (5, False)])
def test_a_result_is_built_five_times_while_others_remove_its_folder(
    removals: int, made: bool, tmp_path: Path
) -> None:
    store, tries = Store(tmp_path), 0

    def build(out: Path, inputs: Mapping[str, Path]) -> None:
        nonlocal tries
        tries += 1
        if tries <= removals:
            store.path(CORPUS).parent.rmdir()
            raise RuntimeError("a folder is gone")
        write(out, inputs)

    step = replace(CORPUS, build=build)
    if made:
        assert store.make(step).is_dir()
    else:
        with pytest.raises(StoreError, match="another process keeps removing it"):
            store.make(step)
    assert tries == 5


@pytest.mark.parametrize(("waits", "said"), [(5.0, False), (5.1, True)])
def test_who_waits_for_more_than_five_seconds_says_so(
    waits: float,
    said: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Between two tries half a second passes at most."""
    clock, slept, tries = iter([0.0]), list[float](), iter([None] * 12)
    fake = SimpleNamespace(monotonic=lambda: next(clock, waits), sleep=slept.append)
    monkeypatch.setattr("biasbridge.train.engine.locks.time", fake)
    monkeypatch.setattr(
        "biasbridge.train.engine.locks._open",
        lambda *_: next(tries, os.open(tmp_path, os.O_RDONLY)),
    )
    with locked(tmp_path, "a result"):
        assert (slept[0], max(slept)) == (0.01, 0.5)
    assert bool(caplog.messages) == said


@decides(("2m", 120), ("2h", 7200), ("2d", 172_800), ("1w", 604_800))
def test_an_age_has_minutes_hours_days_or_weeks(age: str) -> object:
    return _age(age)


@pytest.fixture
def hydra_conf() -> Iterator[None]:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield


@pytest.mark.usefixtures("hydra_conf")
def test_a_sweep_has_100000_cells_at_most() -> None:
    assert len(_build_cells({}, [], ["a=0,1", "b=range(50000)"])) == 100_000
    with pytest.raises(InputError, match="100,002 cells or more"):
        _build_cells({}, [], ["a=0,1", "b=range(50001)"])


N_JOBS, BATCH = "launcher.n_jobs", "sweeper.max_batch_size"


@decides(
    *(((N_JOBS, 0), Refused(N_JOBS)), ((N_JOBS, 1), True), ((N_JOBS, -1), True)),
    *(((N_JOBS, -2), Refused(N_JOBS)), ((BATCH, 0), Refused(BATCH)), ((BATCH, 1), True)),
)
def test_points_at_once_are_one_or_more(given: tuple[str, int]) -> object:
    hydra = OmegaConf.create({"launcher": {}, "sweeper": {}})
    OmegaConf.update(hydra, *given)
    check_engine(hydra)
    return True


@pytest.mark.usefixtures("hydra_conf")
@pytest.mark.parametrize(("failures", "done"), [(2, True), (3, False)])
def test_an_engine_is_given_up_after_three_launches_in_vain(
    failures: int, done: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launches = 0

    def run(*_: object, **__: object) -> list[object]:
        nonlocal launches
        launches += 1
        if launches <= failures:
            raise RuntimeError("the engine broke")
        return [SimpleNamespace(status=JobStatus.COMPLETED, return_value="outcome")]

    plugins = SimpleNamespace(instantiate_launcher=lambda **_: SimpleNamespace(launch=run))
    monkeypatch.setattr(Plugins, "instance", lambda: plugins)
    hydra = OmegaConf.create({"hydra": {"sweeper": {"max_batch_size": None}}})
    command: Any = SimpleNamespace(config=hydra)
    progress: Any = SimpleNamespace(new_outcomes=set)
    job: Any = SimpleNamespace(plan=SimpleNamespace(key="p"), overrides=[])
    outcomes, trouble = launch([[job]], command, progress, tmp_path)
    assert list(map(str, outcomes.values())) == ["outcome"] * done
    assert trouble == "RuntimeError: the engine broke"
    assert launches == 3


@decides((("he", "tree"), True), (("he", "tree", "sky"), False))
def test_a_query_asks_about_genders_where_half_of_its_words_do(known: tuple[str, ...]) -> object:
    words = {"X": known, "Y": ("she", "woman")}
    sets = {role: WordSet(role, words[role], "en", "made up") for role in words}
    return compares_genders([Query("q", sets, "en")])


@decides(((9, 9), (1, 0)), ((10, 9), (0, 1)), ((10, 10), (0, 0)))
def test_a_gap_needs_ten_posts_of_a_group_with_label_1(given: tuple[int, int]) -> object:
    """Of so many posts of women, and of these with label 1: problems and warnings."""
    female, positive = given
    groups = ["male"] * 20 + ["female"] * female
    labels = [1] * 20 + [1] * positive + [0] * (female - positive)
    posts, found = pd.DataFrame({"group": groups, "label": labels}), DataReport()
    gaps = Gaps(privileged="male", unprivileged="female")
    describe_groups(posts, "annotation", gaps, found)
    return len(found.problems), len(found.warnings)
