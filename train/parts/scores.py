"""Metrics of a subject, and probes of it and of them: one stage each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from files import choice
from intrinsic.metric import Metric
from intrinsic.probe import Probe

if TYPE_CHECKING:
    from train.parts.part import Inputs, Stages
    from train.store import Stage


def lay_metric(stages: Stages, metric: Metric, subject: Mapping[str, Stage]) -> Stage:
    """The stage that ends in the metric's rows of the intrinsic table."""
    return stages("intrinsic", metric, measure, {metric.needs: subject[metric.needs]})


def lay_probe(
    stages: Stages, probe: Probe, metrics: Sequence[Metric], subject: Mapping[str, Stage]
) -> list[Stage]:
    """The stages that end in the probe's rows: one a metric, or one."""
    asked = [Probed(probe, each) for each in (metrics if probe.of_metrics else (None,))]
    inputs = {probe.needs: subject[probe.needs]}
    return [stages("probe", each, examine, inputs) for each in asked]


@choice
class Probed:
    """A probe and the metric that it examines."""

    probe: Probe
    metric: Metric | None

    name: ClassVar[str] = "probed"
    version: ClassVar[int] = 1

    def files(self) -> list[Path]:
        """Those of the probe and of the metric."""
        return [*self.probe.files(), *(self.metric.files() if self.metric else [])]


def measure(metric: Metric, out: Path, inputs: Inputs, seed: int) -> None:
    """``scores.parquet``, one row a score."""
    import pandas as pd

    from files.vectors import open_mapped

    vectors = open_mapped(inputs["vectors"] / "vectors")
    pd.DataFrame(metric.score(vectors, seed=seed)).to_parquet(out / "scores.parquet")


def examine(probed: Probed, out: Path, inputs: Inputs, seed: int) -> None:
    """``scores.parquet``, the probe's rows, with a column for its name."""
    from files.vectors import open_mapped

    vectors = open_mapped(inputs["vectors"] / "vectors")
    rows = probed.probe.rows(vectors, probed.metric, seed=seed)
    rows.insert(0, "probe", probed.probe.name)
    rows.to_parquet(out / "scores.parquet", index=False)
