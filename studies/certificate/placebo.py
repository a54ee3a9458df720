"""Placebo metrics: numbers of word vectors that say nothing about a stereotype."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import doc

from biasbridge.files import choice
from biasbridge.intrinsic.metric import Convention, Metric, MetricInfo, ResolvedQuery
from biasbridge.intrinsic.score import MetricResult


@choice
class Placebo(Metric):
    """Mean vector norm or frequency of the target words, or a constant. Not a metric of an audit: a
    certificate must say that it does not detect a bias.
    """

    statistic: Annotated[
        Literal["norm", "frequency", "constant"], doc("what is read instead of a bias")
    ] = "norm"

    about: ClassVar[MetricInfo] = MetricInfo(
        name="placebo",
        title="Placebo",
        formula="mean over w in X and Y of ||w||; of log(1 + rank of w by frequency); or 1",
        sign="none",
        range=(0, float("inf")),
        source="Ours",
        roles={"X": "targets", "Y": "targets"},
        asks=("weat6b",),
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention("frequency", "Ours.", {"statistic": "frequency"}),
        Convention("constant", "Ours.", {"statistic": "constant"}),
    )

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the number; its nominal unbiased value is 0."""
        if self.statistic == "constant":
            return MetricResult(1.0)
        if self.statistic == "frequency":
            index = words.vectors.key_to_index
            ranks = [index[word] for role in "XY" for word in words[role].words]
            return MetricResult(float(np.log1p(ranks).mean()))
        raw = np.concatenate([words[role].raw for role in "XY"])
        return MetricResult(float(np.linalg.norm(raw, axis=1).mean()))
