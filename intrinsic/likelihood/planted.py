"""How well a model's log odds recover those planted in it: the metric ``planted_bias``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from files import InputError, choice
from intrinsic.item_metric import Floats, ItemMetric, Observed
from intrinsic.items.item import ItemSet  # noqa: TC001 (read when a choice is made)
from intrinsic.likelihood.slots import Terms, by_term, log_odds, no_slots, observed
from intrinsic.permutation import PValue, estimated_p
from intrinsic.score import About

SHUFFLES = 9999
HELD_OUT = "held_out"


@choice
class PlantedBias(ItemMetric):
    """Slope and correlation of the log odds after each term on the true ones of its model."""

    about: ClassVar[About] = About(
        name="planted_bias",
        title="Recovery of planted log odds",
        formula=(
            "slope = cov(m, w) / var(w), r = cor(m, w) over held-out terms;  m: mean over templates"
            " of log p(he) - log p(she),  w: the term's true log odds, before any"
            " debiasing of the corpus"
        ),
        sign=(
            "slope 1 and r 1: the planted bias is measured as it is; slope 0: nothing is left of it"
        ),
        range=(-math.inf, math.inf),
        source="Ours",
        roles={"terms": "words", "fillers": "pairs of words"},
        unbiased=None,
        default="Models with planted.json alone.",
    )
    version: ClassVar[int] = 2

    @classmethod
    def takes(cls, items: ItemSet) -> str:
        """Texts that hold a term, with a slot."""
        if any(item.fills for item in items.items):
            return f"the terms of {items.name} fill the slot; give texts that hold them"
        return no_slots(items)

    def observe(self, given: Any, items: ItemSet) -> Observed:
        """The measured and the true log odds of each held-out term in each template."""
        if not given.planted:
            raise InputError(f"nothing is planted in {given.name}: its folder has no planted.json")
        truth = {
            term: float(each["log_odds"] if each.get("original") is None else each["original"])
            for term, each in given.planted["terms"].items()
            if each["half"] == HELD_OUT
        }
        asked, values, lost, settings = log_odds(given, items)
        kept = [number for number, item in enumerate(asked) if item.term in truth]
        if len({asked[number].term for number in kept}) < 3:
            raise InputError(f"{items.name} has fewer than three terms held out in {given.name}")
        of_items = [asked[number] for number in kept]
        both = np.array([[values[n], truth[asked[n].term]] for n in kept])
        return observed(of_items, both, settings, lost, half=HELD_OUT)

    def summarise(self, seen: Observed, weights: Floats) -> Mapping[str, Floats]:
        """Slope and correlation."""
        measured, true = _both(seen, weights)
        x, y = _centred(true), _centred(measured)
        w = measured.weights
        with np.errstate(invalid="ignore", divide="ignore"):
            covariance, of_x, of_y = (w * x * y).sum(0), (w * x * x).sum(0), (w * y * y).sum(0)
            return {"slope": covariance / of_x, "r": covariance / np.sqrt(of_x * of_y)}

    def test(self, seen: Observed) -> Mapping[str, PValue]:
        """The two-sided p of both from random permutations of the terms."""
        once = np.ones((len(seen.names), 1))
        measured, true = (_centred(each)[:, 0] for each in _both(seen, once))
        rng = np.random.default_rng(seen.seed)
        shuffled = rng.permuted(np.tile(measured, (SHUFFLES, 1)), axis=1)
        beyond = np.abs(shuffled @ true) >= abs(measured @ true) * (1 - 1e-12)
        p = estimated_p(int(beyond.sum()), SHUFFLES, tail="two-sided", strict=False)
        return {"slope": p, "r": p}


def _both(seen: Observed, weights: Floats) -> tuple[Terms, Terms]:
    """The measured and the true log odds of the terms, whatever their group."""
    return by_term(seen, weights, seen.values[:, 0]), by_term(seen, weights, seen.values[:, 1])


def _centred(terms: Terms) -> Floats:
    with np.errstate(invalid="ignore"):
        centred: Floats = terms.means - (terms.weights * terms.means).sum(0) / terms.weights.sum(0)
    return centred
