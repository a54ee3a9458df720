"""Protocols of metrics and probes; a probe examines a subject, or a metric on it, and returns rows
with columns of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from biasbridge.files import Choice

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.intrinsic.metric import MetricInfo
    from biasbridge.intrinsic.score import Score
    from biasbridge.intrinsic.wordsets import Query


@runtime_checkable
class AnyMetric(Choice, Protocol):
    """Protocol of a metric, whatever it measures; ``biasbridge.intrinsic.metric.Metric`` measures
    vectors.

    needs: the step of a subject it measures, such as ``vectors``. about: the meaning of its scores.
    """

    needs: ClassVar[str]
    about: ClassVar[MetricInfo]

    @property
    def loaded_queries(self) -> Sequence[Query]:
        """Queries with known words."""

    @property
    def open_queries(self) -> Sequence[str]:
        """Names of the queries whose words a run draws."""

    def with_queries(self, words: Mapping[str, Query]) -> Self:
        """Return the metric with the words of its open queries, by name."""

    def score(self, model: Any, /, *, seed: int) -> list[Score]:
        """Measure what the metric ``needs``; a row per score."""


@runtime_checkable
class Probe(Choice, Protocol):
    """Protocol of an examination of a subject.

    needs: the step of a subject it examines. per_metric: whether it examines every metric of the
    point, a step each; otherwise it runs once, without a metric.
    """

    needs: ClassVar[str]
    per_metric: ClassVar[bool]

    def rows(self, subject: Any, metric: Any, /, *, seed: int) -> pd.DataFrame:
        """Return the results as tidy rows, always with the same columns.

        ``subject`` is what the probe ``needs``; ``metric`` is None unless ``per_metric``.
        """
