"""All unmasked likelihood (Kaneko & Bollegala, 2022): the metrics ``aul`` and ``aula``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from annotated_types import doc

from biasbridge.files import choice
from biasbridge.intrinsic.conventions import Convention
from biasbridge.intrinsic.items.item import ItemSet  # noqa: TC001 (read when a choice is made)
from biasbridge.intrinsic.likelihood.pairs import (
    PairMetric,
    Ties,
    pair_observations,
    preferences,
    read_pairs,
    sign_test,
)
from biasbridge.intrinsic.likelihood.sentences import unmasked_log_likelihoods
from biasbridge.intrinsic.likelihood.tokenised_text import require_kind
from biasbridge.intrinsic.permutation import PValue  # noqa: TC001 (as above)
from biasbridge.intrinsic.score import MetricInfo

if TYPE_CHECKING:
    from biasbridge.intrinsic.item_metric import Observations

KANEKO = Convention(
    "kaneko", "Kaneko & Bollegala (2022) by their code: a tie counts as anti.", {"ties": "anti"}
)


@choice
class Aul(PairMetric):
    """The share of pairs whose stereotype has the higher mean log-likelihood, nothing masked."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="aul",
        title="All unmasked likelihood",
        formula="share of pairs with AUL(stereo) > AUL(anti),  AUL(x) = mean_t log p(x_t | x)",
        sign="> .5: stereotypes are the likelier sentences",
        range=(0, 1),
        source="Kaneko & Bollegala (2022)",
        roles={"stereo": "sentences", "anti": "sentences"},
        asks=("crows_pairs_gender",),
        unbiased=0.5,
        default="Without special tokens; a tie counts 1/2.",
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (KANEKO,)
    attention: ClassVar[bool] = False
    configuration: ClassVar[Mapping[str, object]] = {
        "items": {
            "_target_": "biasbridge.corpora.items.CrowsPairs",
            "path": "${data:contextual/crows_pairs_anonymized.csv}",
        }
    }

    ties: Annotated[Ties, doc("value of a tie: 1/2, or 0 as for anti")] = "half"

    def observe(self, model: Any, items: ItemSet) -> Observations:
        """Return 1 for each pair whose stereotype is likelier, else 0."""
        require_kind(model, "masked", "use crows_pairs or pll for causal models")
        pairs, lost, settings = read_pairs(model, items)
        texts = [text for pair in pairs for text in (pair.stereo, pair.anti)]
        logs = unmasked_log_likelihoods(model, texts, attention=self.attention)
        means = np.array([token_logs.mean() for token_logs in logs])
        values = preferences(means[::2], means[1::2], self.ties)
        details = {
            "masked at a time": "none",
            "ties": self.ties,
            "tokens scored": sum(map(len, logs)),
        }
        return pair_observations(pairs, values, {**settings, **details}, lost)

    def test(self, observed: Observations) -> Mapping[str, PValue]:
        """Return the exact sign test over clusters; nothing if ties count as anti."""
        return {"": sign_test(observed)} if self.ties == "half" else {}


@choice
class Aula(Aul):
    """``Aul`` with each token's log-likelihood weighted by the attention it receives."""

    about: ClassVar[MetricInfo] = dataclasses.replace(
        Aul.about,
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
    )
    attention: ClassVar[bool] = True
    configuration: ClassVar[Mapping[str, object]] = {
        "items": {
            "_target_": "biasbridge.corpora.items.CrowsPairs",
            "path": "${data:contextual/crows_pairs_anonymized.csv}",
        }
    }
