"""WEAT 9 beside the tests of a study: one more stage, the others as they were."""

from __future__ import annotations

from pathlib import Path

from hydra import compose, initialize_config_dir

from intrinsic.metrics.weat import Weat
from train.front.compose import CONF, read_point
from train.point import Plan, plan_point
from train.store import Store


def planned(folder: Path, *overrides: str) -> Plan:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", overrides=list(overrides))
    return plan_point(read_point(config), Store(folder))


def test_it_changes_no_other_stage(tmp_path: Path) -> None:
    usual = planned(tmp_path)
    checked = planned(tmp_path, "intrinsic=[weat,weat_sanity]")
    (added,) = checked.stages().keys() - usual.stages().keys()
    assert usual.stages().keys() < checked.stages().keys()
    assert checked.stages()[added].params["queries"] == ["weat9"]
    labels = {metric.label for metric in checked.point.metrics if isinstance(metric, Weat)}
    assert len(labels) == 2  # slices of their own
