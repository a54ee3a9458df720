"""A metric is handed what it needs of a subject, whatever that is; the subject says what is one
observation.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import pandas as pd
import pytest

from files import InputError, choice
from files.choice import Fileless
from intrinsic.metric import MetricInfo
from intrinsic.metrics.weat import Weat
from intrinsic.probe import AnyMetric
from intrinsic.score import Score
from intrinsic.wordsets import Query
from tests.points import WEAT
from train.engine import scores
from train.engine.point import Point, plan_point
from train.engine.store import Store

if TYPE_CHECKING:
    from train.engine.part import Facts, Inputs, StepBuilder
    from train.engine.store import Step


@choice
class Digits(Fileless):
    """A subject without word vectors: two layers, of which each is one observation."""

    layer: int = 0

    name: ClassVar[str] = "digits"
    version: ClassVar[int] = 1
    gives: ClassVar[tuple[str, ...]] = ("numbers",)
    unit: ClassVar[str] = "numbers"

    def facts(self) -> Facts:
        return {"embedding": "digits", "method": "none", "generated": True}

    def build_steps(self, steps: StepBuilder) -> Mapping[str, Step]:
        return {"numbers": steps("numbers", self, write)}


def write(digits: Digits, out: Path, inputs: Inputs, seed: int) -> None:
    (out / "numbers.json").write_text(json.dumps([3, 5, digits.layer]), encoding="utf-8")


@choice
class Largest(Fileless):
    """The largest number."""

    name: ClassVar[str] = "largest"
    version: ClassVar[int] = 1
    needs: ClassVar[str] = "numbers"
    about: ClassVar[MetricInfo] = Weat.about
    loaded_queries: ClassVar[Sequence[Query]] = ()
    open_queries: ClassVar[Sequence[str]] = ()

    def with_queries(self, words: Mapping[str, Query]) -> Self:
        return self

    def score(self, given: list[int], *, seed: int) -> list[Score]:
        empty = Score._make(math.nan for _ in Score._fields)
        return [empty._replace(metric=self.name, value=max(given))]


def test_what_a_metric_needs_is_opened_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opener = {"numbers": lambda folder: json.loads((folder / "numbers.json").read_text())}
    monkeypatch.setattr(scores, "OPENERS", opener)
    assert isinstance(Largest(), AnyMetric)
    store = Store(tmp_path)
    plans = [plan_point(Point("e", 0, Digits(layer), (Largest(),)), store) for layer in (0, 9)]
    found = [pd.read_parquet(store.make(plan.metrics[0]) / "scores.parquet") for plan in plans]
    assert [table["value"].tolist() for table in found] == [[5], [9]]
    assert plans[0].keys() == {"unit_key": plans[0].unit.key, "extrinsic_key": ""}
    assert plans[0].unit.key != plans[1].unit.key


def test_a_metric_of_what_the_subject_has_not_is_refused() -> None:
    with pytest.raises(InputError, match="weat needs vectors; subject=digits gives numbers"):
        Point("e", 0, Digits(), (WEAT,))
