"""The planner beside a plan: where its numbers come from, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from omegaconf import OmegaConf
from rich.console import Console

from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.planner import Design, Pilot, Planner
from biasbridge.analysis.results import Tables, write_tables
from biasbridge.analysis.study import Correlation
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.files import InputError
from biasbridge.intrinsic.metrics.set_distances import RelativeNormDistance
from biasbridge.intrinsic.metrics.utility import Analogies
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.studies.survey import Survey
from biasbridge.train.cli.configure import read_planner
from biasbridge.train.cli.settings import Settings
from biasbridge.train.engine.power import (
    confirmatory_slices,
    planned_design,
    print_power,
    read_pilot,
)
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.embed import FastText
from tests.points import SUBJECT, TASK, WEAT, plan

if TYPE_CHECKING:
    from biasbridge.train.engine.point import Plan

STATED = Planner(reliability_x=0.9, reliability_y=0.6, studies=40)


@pytest.fixture
def plans(tmp_path: Path) -> list[Plan]:
    """Two seeds, each with an unmodified embedding and two doses."""
    doses = [AttractRepel(direction="debias", dose=dose) for dose in (0.5, 1.0)]
    return [
        plan(tmp_path / "store", seed=seed, subject=replace(SUBJECT, debias=debias), task=TASK)
        for seed in (0, 1)
        for debias in (SUBJECT.debias, *doses)
    ]


def pilot_tables(models: int = 9, noise: float = 0.5) -> Tables:
    """Two parents of embeddings whose gaps are measured with noise of half the true variance."""
    rng = np.random.default_rng(0)
    names = [f"p{i}" for i in range(2 * models)]
    points = pd.DataFrame(
        {
            "point": names,
            "embedding": "word2vec",
            "method": "balance",
            "status": "done",
            "generated": False,
            "unit_key": names,
            "parent_key": np.repeat(["a", "b"], models),
        }
    )
    true = rng.normal(size=len(names))
    x, y = (
        true + 0.1 * rng.normal(size=len(names)),
        true + np.sqrt(noise) * rng.normal(size=len(names)),
    )
    tables = []
    for value, spread, names_of in (
        (x, 0.01, {"metric": "weat", "query": "weat7", "unbiased": 0.0}),
        (y, noise, {"task": "t", "kind": "gap", "measure": "recall", "support": 120, "group": ""}),
    ):
        drawn = value[:, None] + np.sqrt(spread) * rng.normal(size=(len(names), 200))
        row = {"point": names, "value": value, "resampled": list(drawn)}
        tables.append(pd.DataFrame(row | names_of))
    return Tables(points, *tables)


def test_a_pilot_is_read_from_the_results_folder(tmp_path: Path) -> None:
    assert read_pilot(tmp_path, Correlation()) == pytest.approx(Pilot(), nan_ok=True)
    write_tables(tmp_path, pilot_tables())
    pilot = read_pilot(tmp_path, Correlation())
    assert (pilot.models, pilot.items, pilot.tests) == (18, 120, 1)
    assert pilot.reliability_x > 0.97
    assert pilot.reliability_y == pytest.approx(0.66, abs=0.2)


def test_the_design_is_that_of_the_plan(plans: list[Plan]) -> None:
    design = planned_design(replace(STATED, sesoi=0.2), Correlation(), plans, Pilot())
    assert (design.parents, design.conditions) == (2, 3), "the control and two doses"
    assert (design.reliability_x, design.reliability_y, design.sesoi) == (0.9, 0.6, 0.2)
    assert design.tests == 3 * 2, "queries and confirmatory measures"
    assert (design.words_error, design.items_error) == (0, 0)
    at_hand = Pilot(0.7, 0.5, 0.1, 0.2, items=100, models=40, tests=4)
    seen = planned_design(Planner(sesoi=0.4), Correlation(), plans, at_hand)
    assert seen == Design(2, 3, 4, 0.4, 0.7, 0.5, 0.1, 0.2)
    assert planned_design(Planner(tests=9), Correlation(), plans, at_hand).tests == 9
    for estimate, taken in ((0.0, 0.01), (0.011, 0.011)):
        of_noise = at_hand._replace(reliability_y=estimate)
        assert planned_design(Planner(), Correlation(), plans, of_noise).reliability_y == taken


def test_parents_of_a_synthetic_world_are_averaged(tmp_path: Path) -> None:
    """As in the analysis: two seeds of two algorithms are two worlds."""
    fasttext = FastText(dim=8, epochs=1, min_count=1, bucket=100)
    subjects = [
        replace(SUBJECT, embedding=embedding, debias=debias)
        for embedding in (SUBJECT.embedding, fasttext)
        for debias in (SUBJECT.debias, AttractRepel(direction="debias", dose=0.5))
    ]
    both = [plan(tmp_path / "store", seed=seed, subject=of) for seed in (0, 1) for of in subjects]
    design = planned_design(STATED, Correlation(), both, Pilot())
    assert (design.parents, design.conditions) == (2, 2)


def test_the_confirmatory_slices_are_those_that_the_verdict_counts() -> None:
    """A query of two metrics is two slices; one whose words are drawn in a run is one too."""
    weat = Weat(queries=("weat7", "weat8", "from_task"))
    metrics = [weat, RelativeNormDistance(queries=("weat7",))]
    assert confirmatory_slices(Correlation(), metrics) == 4 * 2
    assert confirmatory_slices(Correlation(), [*metrics, Analogies()]) == 4 * 2
    named = Correlation(queries=("weat7", "all"), confirmatory=("recall",))
    assert confirmatory_slices(named, metrics) == 4
    assert confirmatory_slices(Correlation(methods=("balance", "all")), [WEAT]) == 3 * 2 * 2
    tables = pilot_tables()
    both = [tables.intrinsic, tables.intrinsic.assign(metric="rnd")]
    joined = join_points(tables._replace(intrinsic=pd.concat(both, ignore_index=True)))
    found = correlate_slices(joined, Correlation(confirmatory=("recall",)))
    counted = {each.tests for each in found if each.confirmatory}
    asked = [kind(queries=("weat7",)) for kind in (Weat, RelativeNormDistance)]
    assert counted == {confirmatory_slices(Correlation(confirmatory=("recall",)), asked)}


def test_what_is_refused(plans: list[Plan], tmp_path: Path) -> None:
    store, console = Store(tmp_path / "store"), Console(quiet=True)
    with pytest.raises(InputError, match=r"give planner\.reliability_x=0\.8"):
        print_power(Planner(), Correlation(), plans, store, tmp_path, console)
    with pytest.raises(InputError, match="study=survey computes none"):
        print_power(STATED, Survey(), plans, store, tmp_path, console)


def test_power_is_part_of_a_plan() -> None:
    with pytest.raises(InputError, match="give plan=true with it"):
        Settings("store", "results", "only-missing", "refuse", plan=False, power=True)


def test_the_node_planner_is_read() -> None:
    node = {"_target_": "biasbridge.analysis.planner.Planner", "sesoi": 0.2, "reliability_y": 0.5}
    config = OmegaConf.create({"planner": node})
    assert read_planner(config) == Planner(sesoi=0.2, reliability_y=0.5)
    config.planner.sesi = 0.2
    with pytest.raises(InputError, match=r"planner\.sesi.*did you mean 'sesoi'"):
        read_planner(config)
