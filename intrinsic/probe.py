"""What is asked of a subject apart from its scores: how a metric behaves on it, for example."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from files import Choice

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from intrinsic.metric import Metric


@runtime_checkable
class Probe(Choice, Protocol):
    """An examination of vectors whose rows have columns of their own.

    ``needs``: what the subject must give. ``of_metrics``: whether it examines each metric of the
    point, one stage a metric; otherwise it is carried out once, without a metric.
    """

    needs: ClassVar[str]
    of_metrics: ClassVar[bool]

    def rows(self, vectors: KeyedVectors, metric: Metric | None, *, seed: int) -> pd.DataFrame:
        """What is found, in tidy rows; the same columns whatever is found."""
        ...
