"""What a run asks of a metric, and of a probe: an examination of a subject, or of a metric on it,
whose rows have columns of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from files import Choice

if TYPE_CHECKING:
    import pandas as pd

    from intrinsic.metric import About
    from intrinsic.score import Score
    from intrinsic.wordsets import Query


@runtime_checkable
class AnyMetric(Choice, Protocol):
    """A metric, whatever it measures; ``intrinsic.metric.Metric`` measures word vectors.

    needs: the step of a subject that it measures, such as ``vectors``. about: what its scores mean.
    """

    needs: ClassVar[str]
    about: ClassVar[About]

    @property
    def asked(self) -> Sequence[Query]:
        """The queries whose words are known."""

    @property
    def open(self) -> Sequence[str]:
        """The names of those whose words come with a run."""

    def given(self, words: Mapping[str, Query]) -> Self:
        """The metric with the words of its open queries."""

    def score(self, given: Any, /, *, seed: int) -> list[Score]:
        """One row a score of what it ``needs``."""


@runtime_checkable
class Probe(Choice, Protocol):
    """An examination of a subject.

    needs: the step of a subject that it examines. of_metrics: whether it examines each metric of
    the point, one step a metric; otherwise it is carried out once, without a metric.
    """

    needs: ClassVar[str]
    of_metrics: ClassVar[bool]

    def rows(self, given: Any, metric: Any, /, *, seed: int) -> pd.DataFrame:
        """What is found, in tidy rows; the same columns whatever is found."""
