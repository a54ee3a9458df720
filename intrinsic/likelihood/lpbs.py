"""The log probability bias score (Kurita et al., 2019): the metric ``lpbs``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from annotated_types import doc

from biasbridge.files import choice
from biasbridge.intrinsic.conventions import Convention
from biasbridge.intrinsic.items.item import ItemSet  # noqa: TC001 (read when a choice is made)
from biasbridge.intrinsic.likelihood.slots import item_observations, log_odds
from biasbridge.intrinsic.likelihood.terms import TermMetric, contrasts, group_difference
from biasbridge.intrinsic.likelihood.tokenised_text import require_kind
from biasbridge.intrinsic.score import MetricInfo

if TYPE_CHECKING:
    from biasbridge.intrinsic.item_metric import Observations
    from biasbridge.stats.arrays import Floats


@choice
class LogProbabilityBias(TermMetric):
    """How much likelier terms of the first group than those of the second make the first filler."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="lpbs",
        title="Log probability bias score",
        formula=(
            "mean_{t in first group} b(t) - mean_{t in second} b(t),  b(t) = log p(he | t)/p(he | t"
            " masked) - log p(she | t)/p(she | t masked);  of one group the mean of b"
        ),
        sign="> 0: terms of the first group go with the first fillers",
        range=(-math.inf, math.inf),
        source="Kurita et al. (2019)",
        roles={"terms": "words", "fillers": "pairs of words"},
        asks=("lpbs_professions", "lpbs_career", "lpbs_math", "lpbs_science"),
        default="The difference in nats; as many masks as a word has tokens. If terms fill the"
        " slot: log p, less log p with the attribute masked too; compared within texts if most are"
        " of both groups, else between texts with an attribute.",
    )
    version: ClassVar[int] = 3
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "effect_size",
            "Kurita et al. (2019), their effect size: the difference over the standard deviation of"
            " all terms.",
            {"standardised": True},
        ),
        Convention(
            "without_prior",
            "Log odds without prior (Bordia & Bowman, 2019): unconditional frequency counts too.",
            {"prior": False},
        ),
    )
    configuration: ClassVar[Mapping[str, object]] = {
        "items": {
            "_target_": "biasbridge.corpora.items.BuiltInItems",
            "sets": ["lpbs_professions", "lpbs_career", "lpbs_math", "lpbs_science"],
        }
    }

    prior: Annotated[bool, doc("subtract the log odds with the term masked too")] = True
    standardised: Annotated[
        bool, doc("divide the difference by the standard deviation of all terms")
    ] = False

    def observe(self, model: Any, items: ItemSet) -> Observations:
        """Return b(t) of each term in each template."""
        require_kind(model, "masked", "use next_word for causal models")
        scored_items, values, lost, settings = log_odds(model, items, prior=self.prior)
        return item_observations(scored_items, values, settings, lost)

    def summarise(self, observed: Observations, weights: Floats) -> Mapping[str, Floats]:
        """Return the difference between the groups of each contrast."""
        return {
            part: group_difference(contrast, weights, standardised=self.standardised)
            for part, contrast in contrasts(observed).items()
        }
