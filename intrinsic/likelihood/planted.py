"""Recovery of the log odds planted in a model: the metric ``planted_bias``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasbridge.files import InputError, choice
from biasbridge.intrinsic.item_metric import ItemMetric, Observations
from biasbridge.intrinsic.items.item import ItemSet  # noqa: TC001 (read when a choice is made)
from biasbridge.intrinsic.likelihood.slots import item_observations, log_odds, no_slots
from biasbridge.intrinsic.likelihood.terms import TermMeans, by_term
from biasbridge.intrinsic.permutation import PValue, estimated_p
from biasbridge.intrinsic.score import MetricInfo

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

SHUFFLES = 9999
HELD_OUT = "held_out"


@choice
class PlantedBias(ItemMetric):
    """Slope and correlation of a model's log odds after each term on the planted log odds."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="planted_bias",
        title="Recovery of planted log odds",
        formula=(
            "slope = cov(m, w) / var(w), r = cor(m, w) over held-out terms;  m: mean over templates"
            " of log p(he) - log p(she),  w: the term's true log odds, before any"
            " debiasing of the corpus"
        ),
        sign=("slope 1 and r 1: the planted bias is fully recovered; slope 0: none of it is"),
        range=(-math.inf, math.inf),
        source="Ours",
        roles={"terms": "words", "fillers": "pairs of words"},
        unbiased=None,
        default="Only for models with planted.json.",
    )
    version: ClassVar[int] = 2
    configuration: ClassVar[Mapping[str, object]] = {
        "items": {
            "_target_": "biasbridge.corpora.items.BuiltInItems",
            "sets": ["occupations", "occupations_unseen"],
        }
    }

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return why the items have no texts with a term and a slot; empty if they do."""
        if any(item.fills for item in items.items):
            return f"the terms of {items.name} fill the slot; give texts that contain them"
        if any(len(words) > 2 for words in items.fillers):
            return f"{items.name} has more than two fillers; log odds are planted of two"
        return no_slots(items)

    def observe(self, model: Any, items: ItemSet) -> Observations:
        """Return measured and true log odds of each held-out term in each template, (items, 2)."""
        if not model.planted:
            raise InputError(f"nothing is planted in {model.name}: its folder has no planted.json")
        truth = {
            term: float(entry["log_odds"] if entry.get("original") is None else entry["original"])
            for term, entry in model.planted["terms"].items()
            if entry["half"] == HELD_OUT
        }
        scored_items, values, lost, settings = log_odds(model, items)
        held_out = [n for n, item in enumerate(scored_items) if item.term in truth]
        if len({scored_items[n].term for n in held_out}) < 3:
            raise InputError(f"{items.name} has fewer than three terms held out in {model.name}")
        held_out_items = [scored_items[n] for n in held_out]
        log_odds_pairs = np.array([[values[n], truth[scored_items[n].term]] for n in held_out])
        return item_observations(held_out_items, log_odds_pairs, settings, lost, half=HELD_OUT)

    def summarise(self, observed: Observations, weights: Floats) -> Mapping[str, Floats]:
        """Return slope and correlation."""
        measured, true = _term_means(observed, weights)
        x, y = _centred(true), _centred(measured)
        w = measured.weights
        with np.errstate(invalid="ignore", divide="ignore"):
            s_xy, s_xx, s_yy = (w * x * y).sum(0), (w * x * x).sum(0), (w * y * y).sum(0)
            return {"slope": s_xy / s_xx, "r": s_xy / np.sqrt(s_xx * s_yy)}

    def test(self, observed: Observations) -> Mapping[str, PValue]:
        """Return the two-sided p of slope and r from random permutations of the terms."""
        unweighted = np.ones((len(observed.names), 1))
        measured, true = (_centred(terms)[:, 0] for terms in _term_means(observed, unweighted))
        rng = np.random.default_rng(observed.seed)
        shuffled = rng.permuted(np.tile(measured, (SHUFFLES, 1)), axis=1)
        is_extreme = np.abs(shuffled @ true) >= abs(measured @ true) * (1 - 1e-12)
        p = estimated_p(int(is_extreme.sum()), SHUFFLES, tail="two-sided", strict=False)
        return {"slope": p, "r": p}


def _term_means(observed: Observations, weights: Floats) -> tuple[TermMeans, TermMeans]:
    return by_term(observed, weights, observed.values[:, 0]), by_term(
        observed, weights, observed.values[:, 1]
    )


def _centred(terms: TermMeans) -> Floats:
    with np.errstate(invalid="ignore"):
        centred: Floats = terms.means - (terms.weights * terms.means).sum(0) / terms.weights.sum(0)
    return centred
