"""Utility of an encoder: does it find similar what people find similar? The metric ``sts_b``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from files import choice
from intrinsic.item_metric import Floats, ItemMetric, Observed
from intrinsic.items.item import ItemSet  # noqa: TC001 (read when a choice is made)
from intrinsic.score import About
from intrinsic.sentences.similarity import cosines

NO_SPREAD = 1e-9  # of ranks; below it all are equal but for rounding


@choice
class StsB(ItemMetric):
    """Spearman's rho of cosines and ratings, over pairs of sentences; ties get mean ranks."""

    about: ClassVar[About] = About(
        name="sts_b",
        title="Semantic textual similarity, Spearman's rho",
        formula="rho over pairs of cos(first, second) and what people rated",
        sign="1: the encoder orders pairs as people do; utility, not bias",
        range=(-1, 1),
        source="Cer et al. (2017)",
        roles={"first": "sentences", "second": "sentences"},
        unbiased=None,
        asks=("sts_b_test",),
        default="Resamples of the pairs keep the ranks among all.",
    )
    needs: ClassVar[str] = "encoder"

    @classmethod
    def takes(cls, items: ItemSet) -> str:
        """Rated pairs."""
        rated = items.pairs and all(np.isfinite(pair.rating) for pair in items.pairs)
        return "" if rated else f"{items.name} has no rated pairs of sentences"

    def observe(self, given: Any, items: ItemSet) -> Observed:
        """The ranks of cosine and rating of each pair."""
        from scipy.stats import rankdata  # slow to import

        found = cosines(given, [(pair.stereo, pair.anti) for pair in items.pairs])
        ranks = [rankdata(each) for each in (found, [pair.rating for pair in items.pairs])]
        names = [f"pair {number}" for number in range(1, len(items.pairs) + 1)]
        settings = {"pooling": given.pooling, "layer": given.layer, "dtype": given.opened.dtype}
        return Observed(np.stack(ranks, axis=1), names, {"cluster": names}, settings=settings)

    def summarise(self, seen: Observed, weights: Floats) -> Mapping[str, Floats]:
        """Pearson's correlation of the ranks."""
        x, y = seen.values.T
        with np.errstate(invalid="ignore", divide="ignore"):
            share = weights / weights.sum(axis=0)
            dx, dy = (each[:, None] - each @ share for each in (x, y))
            of_x, of_y = ((share * each**2).sum(axis=0) for each in (dx, dy))
            spread = np.sqrt(of_x * of_y)
            rho = (share * dx * dy).sum(axis=0) / spread
        return {"": np.where(spread > NO_SPREAD, rho, np.nan)}
