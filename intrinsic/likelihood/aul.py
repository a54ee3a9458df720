"""Share of pairs by all unmasked likelihoods (Kaneko & Bollegala, 2022): ``aul``, ``aula``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import doc

from files import choice
from intrinsic.conventions import Convention
from intrinsic.item_metric import Floats, ItemMetric, Observed
from intrinsic.items.item import ItemSet  # noqa: TC001 (read when a choice is made)
from intrinsic.likelihood.pairs import (
    Ties,
    mean_of_groups,
    no_pairs,
    observed,
    preferences,
    read_pairs,
    sign_test,
)
from intrinsic.likelihood.reading import require_kind
from intrinsic.likelihood.sentences import unmasked
from intrinsic.permutation import PValue  # noqa: TC001 (as above)
from intrinsic.score import About

KANEKO = Convention(
    "kaneko", "Kaneko & Bollegala (2022) by their code: a tie counts as anti.", {"ties": "anti"}
)


@choice
class Aul(ItemMetric):
    """The share of pairs whose stereotype has the higher mean log-likelihood, nothing masked."""

    about: ClassVar[About] = About(
        name="aul",
        title="All unmasked likelihood",
        formula="share of pairs with AUL(stereo) > AUL(anti),  AUL(x) = mean_t log p(x_t | x)",
        sign="> .5: stereotypes are the likelier sentences",
        range=(0, 1),
        source="Kaneko & Bollegala (2022)",
        roles={"stereo": "sentences", "anti": "sentences"},
        asks=("crows_pairs_gender",),
        unbiased=0.5,
        default="Without special tokens; a tie counts a half.",
    )
    others: ClassVar[tuple[Convention, ...]] = (KANEKO,)
    attention: ClassVar[bool] = False

    ties: Annotated[Ties, doc("what equally likely sentences count")] = "half"

    @classmethod
    def takes(cls, items: ItemSet) -> str:
        """Pairs of sentences."""
        return no_pairs(items)

    def observe(self, given: Any, items: ItemSet) -> Observed:
        """1 for each pair whose stereotype is likelier, 0 otherwise."""
        require_kind(given, "masked", "crows_pairs and pll take causal ones")
        pairs, lost, settings = read_pairs(given, items)
        texts = [text for pair in pairs for text in (pair.stereo, pair.anti)]
        logs = unmasked(given, texts, attention=self.attention)
        means = np.array([each.mean() for each in logs])
        values = preferences(means[::2], means[1::2], self.ties)
        more = {"masked at a time": "none", "ties": self.ties, "tokens scored": sum(map(len, logs))}
        return observed(pairs, values, {**settings, **more}, lost)

    def summarise(self, seen: Observed, weights: Floats) -> Mapping[str, Floats]:
        """The share, and that of each group of pairs."""
        return mean_of_groups(seen, weights)

    def test(self, seen: Observed) -> Mapping[str, PValue]:
        """The exact sign test over clusters; none where a tie counts as anti."""
        return {"": sign_test(seen)} if self.ties == "half" else {}


@choice
class Aula(Aul):
    """As ``Aul``, each token's log-likelihood times the attention that it receives."""

    about: ClassVar[About] = About(
        name="aula",
        title="All unmasked likelihood with attention weights",
        formula=(
            "share of pairs with AULA(stereo) > AULA(anti),  AULA(x) = mean_t a_t log p(x_t | x), "
            " a_t: mean attention received, over layers, heads and tokens"
        ),
        sign=(
            "> .5: stereotypes are the likelier sentences; a_t falls with the length of a text, so"
            " sentences of different lengths compare badly"
        ),
        range=(0, 1),
        source="Kaneko & Bollegala (2022)",
        roles={"stereo": "sentences", "anti": "sentences"},
        asks=("crows_pairs_gender",),
        unbiased=0.5,
        default="Without special tokens; a tie counts a half.",
    )
    attention: ClassVar[bool] = True
