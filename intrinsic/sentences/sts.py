"""Agreement of an encoder with rated similarity, a measure of utility: the metric ``sts_b``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasbridge.files import choice
from biasbridge.intrinsic.item_metric import ItemMetric, Observations
from biasbridge.intrinsic.items.item import ItemSet  # noqa: TC001 (read when a choice is made)
from biasbridge.intrinsic.score import MetricInfo
from biasbridge.intrinsic.sentences.similarity import cosines

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

NO_SPREAD = 1e-9  # of ranks; below it all are equal but for rounding


@choice
class StsB(ItemMetric):
    """Spearman's rho of cosines and ratings over pairs of sentences; ties get mean ranks."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="sts_b",
        title="Semantic textual similarity, Spearman's rho",
        formula="rho over pairs of cos(first, second) and rated similarity",
        sign="1: the encoder orders pairs as people do; utility, not bias",
        range=(-1, 1),
        source="Cer et al. (2017)",
        roles={"first": "sentences", "second": "sentences"},
        unbiased=None,
        asks=("sts_b_test",),
        default="Resamples of the pairs keep the ranks among all.",
    )
    needs: ClassVar[str] = "encoder"
    configuration: ClassVar[Mapping[str, object]] = {
        "items": {
            "_target_": "biasbridge.corpora.items.StsBenchmark",
            "path": "${data:models/sts_b/sts-test.csv}",
        }
    }

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return why the items have no rated pairs; empty if they have."""
        rated = items.pairs and all(np.isfinite(pair.rating) for pair in items.pairs)
        return "" if rated else f"{items.name} has no rated pairs of sentences"

    def observe(self, encoder: Any, items: ItemSet) -> Observations:
        """Return the ranks of cosine and rating of each pair, (pairs, 2)."""
        from scipy.stats import rankdata  # slow to import

        similarities = cosines(encoder, [(pair.stereo, pair.anti) for pair in items.pairs])
        ratings = [pair.rating for pair in items.pairs]
        ranks = [rankdata(values) for values in (similarities, ratings)]
        names = [f"pair {number}" for number in range(1, len(items.pairs) + 1)]
        settings = {
            "pooling": encoder.pooling,
            "layer": encoder.layer,
            "dtype": encoder.opened.dtype,
        }
        return Observations(np.stack(ranks, axis=1), names, {"cluster": names}, settings=settings)

    def summarise(self, observed: Observations, weights: Floats) -> Mapping[str, Floats]:
        """Return Pearson's correlation of the ranks."""
        x, y = observed.values.T
        with np.errstate(invalid="ignore", divide="ignore"):
            w = weights / weights.sum(axis=0)
            dx, dy = (ranks[:, None] - ranks @ w for ranks in (x, y))
            var_x, var_y = ((w * d**2).sum(axis=0) for d in (dx, dy))
            spread = np.sqrt(var_x * var_y)
            rho = (w * dx * dy).sum(axis=0) / spread
        return {"": np.where(spread > NO_SPREAD, rho, np.nan)}
