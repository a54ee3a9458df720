"""Metrics of a subject, and probes of it and of them: one stage each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from files import choice
from intrinsic.metric import Metric
from intrinsic.probe import Probe
from intrinsic.wordsets import read_query
from train.parts.task_words import WORDS

if TYPE_CHECKING:
    from train.parts.part import Inputs, Stages
    from train.store import Stage


def lay_metric(
    stages: Stages, metric: Metric, subject: Mapping[str, Stage], words: Stage | None = None
) -> Stage:
    """The stage that ends in the metric's rows of the intrinsic table; ``words``: those of its open
    query.
    """
    inputs = {metric.needs: subject[metric.needs]} | _words(metric, words)
    return stages("intrinsic", metric, measure, inputs)


def lay_probe(
    stages: Stages,
    probe: Probe,
    metrics: Sequence[Metric],
    subject: Mapping[str, Stage],
    words: Stage | None = None,
) -> list[Stage]:
    """The stages that end in the probe's rows: one a metric, or one."""
    asked = [Probed(probe, each) for each in (metrics if probe.of_metrics else (None,))]
    inputs = {probe.needs: subject[probe.needs]}
    return [stages("probe", each, examine, inputs | _words(each.metric, words)) for each in asked]


def _words(metric: Metric | None, words: Stage | None) -> dict[str, Stage]:
    return {"words": words} if words and metric and metric.open else {}


def _filled(metric: Metric, inputs: Inputs) -> Metric:
    """The metric with the words of its open query."""
    if "words" not in inputs:
        return metric
    query = read_query(inputs["words"] / WORDS)
    return metric.given({query.name: query})


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
    pd.DataFrame(_filled(metric, inputs).score(vectors, seed=seed)).to_parquet(
        out / "scores.parquet"
    )


def examine(probed: Probed, out: Path, inputs: Inputs, seed: int) -> None:
    """``scores.parquet``, the probe's rows, with a column for its name."""
    from files.vectors import open_mapped

    vectors = open_mapped(inputs["vectors"] / "vectors")
    metric = _filled(probed.metric, inputs) if probed.metric else None
    rows = probed.probe.rows(vectors, metric, seed=seed)
    rows.insert(0, "probe", probed.probe.name)
    rows.to_parquet(out / "scores.parquet", index=False)
