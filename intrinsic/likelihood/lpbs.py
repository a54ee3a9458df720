"""The log probability bias score (Kurita et al., 2019): the metric ``lpbs``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from annotated_types import doc

from files import choice
from intrinsic.conventions import Convention
from intrinsic.item_metric import Floats, ItemMetric, Observed
from intrinsic.items.item import ItemSet  # noqa: TC001 (read when a choice is made)
from intrinsic.likelihood.reading import require_kind
from intrinsic.likelihood.slots import (
    group_difference,
    log_odds,
    no_two_groups,
    observed,
    term_test,
)
from intrinsic.permutation import PValue  # noqa: TC001 (as above)
from intrinsic.score import About


@choice
class LogProbabilityBias(ItemMetric):
    """How much likelier terms of the first group than those of the second make the first filler."""

    about: ClassVar[About] = About(
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
        default="The difference in nats; as many masks as a word has tokens. Of terms that fill the"
        " slot: log p, less that with the attribute masked too; compared within texts where most"
        " are of both groups, else between texts, where there is an attribute.",
    )
    version: ClassVar[int] = 2
    others: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "effect_size",
            "Kurita et al. (2019), their effect size: the difference over the standard deviation of"
            " all terms.",
            {"standardised": True},
        ),
        Convention(
            "without_prior",
            "The log odds alone, as of Bordia & Bowman (2019): what is likely anyway counts too.",
            {"prior": False},
        ),
    )

    prior: Annotated[bool, doc("whether the log odds with the term masked too are subtracted")] = (
        True
    )
    standardised: Annotated[
        bool, doc("whether the difference is divided by the standard deviation of all terms")
    ] = False

    @classmethod
    def takes(cls, items: ItemSet) -> str:
        """Texts with a slot."""
        return no_two_groups(items)

    def observe(self, given: Any, items: ItemSet) -> Observed:
        """The score of each term in each template."""
        require_kind(given, "masked", "next_word is the like of lpbs for causal ones")
        asked, values, lost, settings = log_odds(given, items, prior=self.prior)
        return observed(asked, values, settings, lost)

    def summarise(self, seen: Observed, weights: Floats) -> Mapping[str, Floats]:
        """The difference of the groups."""
        return {"": group_difference(seen, weights, standardised=self.standardised)}

    def test(self, seen: Observed) -> Mapping[str, PValue]:
        """The exact p over terms."""
        return term_test(seen)
