"""Metrics of a subject: one stage each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from intrinsic.metric import Metric
    from train.parts.part import Inputs, Stages
    from train.store import Stage


def lay_metric(stages: Stages, metric: Metric, subject: Mapping[str, Stage]) -> Stage:
    """The stage that ends in the metric's rows of the intrinsic table."""
    return stages("intrinsic", metric, measure, {metric.needs: subject[metric.needs]})


def measure(metric: Metric, out: Path, inputs: Inputs, seed: int) -> None:
    """``scores.parquet``, one row a score."""
    import pandas as pd

    from files.vectors import open_mapped

    vectors = open_mapped(inputs["vectors"] / "vectors")
    pd.DataFrame(metric.score(vectors, seed=seed)).to_parquet(out / "scores.parquet")
