"""The task's utility beside a constant classifier, and what base rates make of a gap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.utility import describe_task, low_utility_reason
from tests.analysis.conftest import make_sweep

if TYPE_CHECKING:
    from biasbridge.analysis.results import Tables


def with_constant(tables: Tables, f1: float, constant: float) -> Tables:
    """The small experiment with rows of F1 over all items."""
    rows = [
        {"point": point, "task": task, "kind": "value", "measure": "f1", "group": "all"}
        | {"value": f1, "majority_baseline": constant}
        for point, task in zip(tables.points["point"], tables.points["task"], strict=True)
    ]
    kept = tables.extrinsic[tables.extrinsic["measure"] != "f1"]
    return tables._replace(extrinsic=pd.concat([kept, pd.DataFrame(rows)], ignore_index=True))


@pytest.mark.parametrize(("f1", "refused"), [(0.62, True), (0.65, False)])
def test_a_task_that_hardly_beats_a_constant_classifier_gets_no_verdict(
    tables: Tables, f1: float, refused: bool
) -> None:
    joined = join_points(with_constant(tables, f1, 0.593))
    why = "F1 is .62, majority baseline .59; a verdict takes at least .05 more"
    assert low_utility_reason(joined, "f1") == (why if refused else "")
    judged = [each for each in correlate_slices(joined) if each.confirmatory]
    assert judged
    for each in judged:
        assert (each.refused == why) == refused
        if refused:
            assert each.verdict == "cannot tell"
            assert why in each.why


def test_nothing_is_said_of_a_utility_without_constant(tables: Tables) -> None:
    assert low_utility_reason(join_points(tables), "f1") == ""
    assert describe_task(tables, "conll_f1") == []


def test_the_task_is_described_in_one_sentence(tables: Tables) -> None:
    tables = with_constant(tables, 0.62, 0.593)
    groups = pd.DataFrame(
        [
            {"point": point, "task": task, "kind": "value", "measure": measure, "group": group}
            | {"value": value}
            for point, task in zip(tables.points["point"], tables.points["task"], strict=True)
            for measure, by_group in {"base_rate": (0.4, 0.5), "fpr": (0.2, 0.3)}.items()
            for group, value in zip(("male", "female"), by_group, strict=True)
        ]
    )
    tables = tables._replace(extrinsic=pd.concat([tables.extrinsic, groups], ignore_index=True))
    [said] = describe_task(tables, "f1")
    assert said.startswith("Unmodified models: F1 .62, majority baseline .59; ")
    assert "base rate male .40, female .50; false positive rate male .20, female .30" in said


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"classifier": ("cnn", "linear")}, "classifier cnn, linear"), ({"replicate": (0, 1)}, "")],
)
def test_settings_that_a_gap_is_averaged_over_are_named(
    settings: dict[str, Sequence[object]], named: str
) -> None:
    lines = describe_task(make_sweep(**settings), "f1")
    assert [named in line for line in lines if "is the mean over" in line] == [True] * bool(named)
