"""Metrics on words in a slot: ``lpbs``, ``next_word``, ``disco`` and ``planted_bias``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Gt, Lt, doc

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count
from biasbridge.intrinsic.models.item_metric import ItemMetric, ItemObservations, items_from
from biasbridge.intrinsic.models.items import SLOT, Item, ItemSet
from biasbridge.intrinsic.models.likelihood import (
    TokenisedText,
    describe_reading,
    find_words,
    mask_id,
    tokenise_texts,
    top_tokens,
)
from biasbridge.intrinsic.models.slots import (
    LOST_PREFIX,
    TOO_LONG,
    UNKNOWN_WORDS,
    TermMeans,
    TermMetric,
    by_term,
    filler_log_odds,
    item_observations,
    no_slots,
    of_both_groups,
    require_groups,
)
from biasbridge.intrinsic.permutation import PValue, estimated_p
from biasbridge.intrinsic.score import Convention, MetricInfo

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats
_TERM_SHUFFLES = 9999
_HELD_OUT = "held_out"


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
        default="The difference in nats, with as many masks as a word has tokens. If terms fill"
        " the slot, b is log p minus log p with the attribute masked too. Groups are compared"
        " within texts if most texts are of both groups, else between texts with an attribute.",
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
    kinds: ClassVar[tuple[str, ...]] = ("masked",)
    instead: ClassVar[str] = "; use next_word for causal models"
    configuration: ClassVar[Mapping[str, object]] = items_from(
        "BuiltInItems", sets=["lpbs_professions", "lpbs_career", "lpbs_math", "lpbs_science"]
    )

    prior: Annotated[bool, doc("subtract the log odds with the term masked too")] = True
    standardised: Annotated[
        bool, doc("divide the difference by the standard deviation of all terms")
    ] = False

    def observe(self, model: Any, items: ItemSet) -> ItemObservations:
        """Return b(t) of each term in each template."""
        scored_items, values, lost, settings = filler_log_odds(model, items, prior=self.prior)
        return item_observations(scored_items, values, settings, lost)


@choice
class NextWord(TermMetric):
    """How much likelier the first filler is after terms of the first group than of the second."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="next_word",
        title="Log odds of the next word",
        formula=(
            "mean_{t in first group} b(t) - mean_{t in second} b(t),  "
            "b(t) = log p(he | text before the slot) - log p(she | text before the slot);"
            "  of one group the mean of b"
        ),
        sign="> 0: terms of the first group go with the first fillers",
        range=(-math.inf, math.inf),
        source="Vig et al. (2020), with the logarithm",
        roles={"terms": "words", "fillers": "pairs of words"},
        asks=("next_word_professions",),
        default="In nats; text after the slot is omitted.",
    )
    version: ClassVar[int] = 3
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "sentence",
            "Log-likelihoods of the whole sentences with either filler: text after the slot counts,"
            " which may contain the term.",
            {"sentence": True},
        ),
        Convention("bos", "The tokenizer's bos precedes the text.", {"first_token": "bos"}),
    )
    kinds: ClassVar[tuple[str, ...]] = ("causal",)
    instead: ClassVar[str] = "; use lpbs for masked models"
    configuration: ClassVar[Mapping[str, object]] = items_from(
        "BuiltInItems", sets=["next_word_professions"]
    )

    sentence: Annotated[bool, doc("score the whole sentence")] = False
    first_token: Annotated[str, doc("token before the text")] = "own"

    def observe(self, model: Any, items: ItemSet) -> ItemObservations:
        """Return b(t) of each term in each template."""
        scored_items, values, lost, settings = filler_log_odds(
            model, items, sentence=self.sentence, first_token=self.first_token
        )
        return item_observations(scored_items, values, settings, lost)


@choice
class DisCo(ItemMetric):
    """Number of the likeliest words in a slot that depend on the group of the term."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="disco",
        title="Discovery of correlations",
        formula=(
            "mean over templates of the number of words that are among the top 3 in the slot and"
            " whose chi-square test of (top 3 or not) x (group of the term) has p < .05 / words"
        ),
        sign="larger: more words depend on the group; no sign",
        range=(0, math.inf),
        source="Webster et al. (2020)",
        roles={"terms": "words of two groups"},
        asks=("disco_names",),
        default="Chi-square without correction for continuity; over templates of both groups.",
    )
    version: ClassVar[int] = 3
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "fairllms",
            "fairllms 0.2.0: 100 (1 - the share of the top 3 that the n-th terms of both groups"
            " have in common), the mean over templates and pairs.",
            {"counted": "overlap"},
        ),
    )
    kinds: ClassVar[tuple[str, ...]] = ("masked",)
    configuration: ClassVar[Mapping[str, object]] = items_from("BuiltInItems", sets=["disco_names"])

    top: Annotated[Count, doc("number of likeliest words that count")] = 3
    level: Annotated[
        float, Gt(0), Lt(1), doc("level of the test, divided by the number of words tested")
    ] = 0.05
    counted: Annotated[
        Literal["significant", "overlap"],
        doc("words that depend on the group, or words that pairs of terms do not share"),
    ] = "significant"

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return why the items do not compare two groups of terms; empty if they do."""
        if any(item.fills for item in items.items):
            return f"the terms of {items.name} fill the slot; give texts that contain them"
        if len(items.groups) != 2 or items.pairs:
            return f"{items.name} has {len(items.groups)} groups of terms; disco compares two"
        return ""

    def observe(self, model: Any, items: ItemSet) -> ItemObservations:
        """Return the likeliest tokens in the slot of each item, (items, top)."""
        mask = mask_id(model)
        texts = [item.text.replace(SLOT, model.mask, 1) for item in items.items]
        unknown = model.tokenizer.unk_token_id
        readable, lost, reasons = [], [], []
        for item, text in zip(items.items, tokenise_texts(model, texts), strict=True):
            if text is None or text.ids.count(mask) != 1 or _is_unknown(text, item.word, unknown):
                lost.append(item.term)
                reasons.append(UNKNOWN_WORDS if text else TOO_LONG)
            else:
                readable.append((item, text))
        details: dict[str, str | int] = {
            f"{LOST_PREFIX}{reason}": n for reason, n in Counter(reasons).items()
        }
        readable_items = [item for item, _ in readable]
        require_groups(readable_items, items, model)
        shared = of_both_groups(readable_items, "template")
        is_paired = [item.template in shared for item in readable_items]
        if self.counted == "overlap":  # the n-th terms of both groups, or neither
            places = _places(items)
            scorable = Counter(places[item] for item in readable_items)
            is_paired = [scorable[places[item]] == 2 for item in readable_items]
        unpaired = [item.term for item in compress(readable_items, map(not_, is_paired))]
        scored = list(compress(readable, is_paired))
        if not scored:
            raise InputError(
                f"no template of {items.name} has terms of both groups: nothing can be compared"
            )
        details |= {f"{LOST_PREFIX}alone in their template": len(unpaired)} if unpaired else {}
        top = min(self.top, len(model.tokenizer))
        scored_texts = [text for _, text in scored]
        tokens = top_tokens(model, [(text.ids, text.ids.index(mask)) for text in scored_texts], top)
        settings = describe_reading(model, scored_texts)
        details |= {"masked at a time": "one token", "top": self.top}
        values = np.array(tokens, dtype=float)
        scored_items = [item for item, _ in scored]
        return item_observations(scored_items, values, {**settings, **details}, [*lost, *unpaired])

    def summarise(self, observed: ItemObservations, weights: Floats) -> Mapping[str, Floats]:
        """Return the mean over templates, weighted by how often their terms are drawn."""
        templates = np.array(observed.factors["template"])
        template_values, template_weights = [], []
        for name in dict.fromkeys(templates.tolist()):
            rows = np.flatnonzero(templates == name)
            in_first = np.array(
                [observed.groups[row] == observed.groups[0] for row in rows.tolist()]
            )
            tokens = observed.values[rows]
            if self.counted == "overlap":
                value, weight = _overlap(tokens, in_first, weights[rows])
            else:
                words = np.unique(tokens)
                is_top = (tokens[None] == words[:, None, None]).any(axis=2).astype(float)
                p = _chi_square_p(is_top, in_first.astype(float), weights[rows])
                value, weight = (p < self.level / len(words)).sum(axis=0), weights[rows].mean(0)
            template_values.append(value)
            template_weights.append(weight)
        v, w = np.array(template_values, dtype=float), np.array(template_weights)
        with np.errstate(invalid="ignore"):
            return {"": (v * w).sum(axis=0) / w.sum(axis=0)}


def _places(items: ItemSet) -> dict[Item, tuple[str, int]]:
    """Return the template of each item, and its number among those of its group."""
    n_before: Counter[tuple[str, str]] = Counter()
    places = {}
    for item in items.items:
        places[item] = item.template, n_before[item.template, item.group]
        n_before[item.template, item.group] += 1
    return places


def _chi_square_p(is_top: Floats, in_first: Floats, weights: Floats) -> Floats:
    """Compute p of Pearson's chi-square test of (word among the likeliest) x (group of the term).

    Shapes: is_top (words, n), in_first (n,), weights (n, R) -> (words, R). There is no continuity
    correction; 1 where a margin is empty.
    """
    from scipy.stats import chi2

    n: Floats = weights.sum(axis=0)
    n_first: Floats = in_first @ weights
    n_top: Floats = is_top @ weights
    n_top_first: Floats = (is_top * in_first) @ weights
    margins: Floats = n_top * (n - n_top) * n_first * (n - n_first)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = n * (n * n_top_first - n_top * n_first) ** 2 / margins
    p: Floats = chi2.sf(np.where(margins > 0, statistic, 0), 1)
    return p


def _overlap(tokens: Floats, in_first: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return 100 (1 - shared top words) of the n-th terms of both groups, and their weights."""
    first, second = np.flatnonzero(in_first == 1), np.flatnonzero(in_first == 0)
    pairs = list(zip(first.tolist(), second.tolist(), strict=False))
    n_common = [len({*tokens[i].tolist()} & {*tokens[j].tolist()}) for i, j in pairs]
    difference = 100 * (1 - np.array(n_common) / tokens.shape[1])
    pair_weights = np.array([weights[i] * weights[j] for i, j in pairs])
    total: Floats = pair_weights.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, difference @ pair_weights / total, 0), total


def _is_unknown(text: TokenisedText, term: str, unknown: int | None) -> bool:
    spans = find_words(text.text, term)
    positions = [position for span in spans for position in text.positions_of(*span)]
    return not positions or any(text.ids[position] == unknown for position in positions)


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
    configuration: ClassVar[Mapping[str, object]] = items_from(
        "BuiltInItems", sets=["occupations", "occupations_unseen"]
    )

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return why the items have no texts with a term and a slot; empty if they do."""
        if any(item.fills for item in items.items):
            return f"the terms of {items.name} fill the slot; give texts that contain them"
        if any(len(words) > 2 for words in items.fillers):
            return f"{items.name} has more than two fillers; log odds are planted of two"
        return no_slots(items)

    def observe(self, model: Any, items: ItemSet) -> ItemObservations:
        """Return measured and true log odds of each held-out term in each template, (items, 2)."""
        if not model.planted:
            raise InputError(f"nothing is planted in {model.name}: its folder has no planted.json")
        truth = {
            term: float(entry["log_odds"] if entry.get("original") is None else entry["original"])
            for term, entry in model.planted["terms"].items()
            if entry["half"] == _HELD_OUT
        }
        scored_items, values, lost, settings = filler_log_odds(model, items)
        held_out = [n for n, item in enumerate(scored_items) if item.term in truth]
        if len({scored_items[n].term for n in held_out}) < 3:
            raise InputError(f"{items.name} has fewer than three terms held out in {model.name}")
        held_out_items = [scored_items[n] for n in held_out]
        log_odds_pairs = np.array([[values[n], truth[scored_items[n].term]] for n in held_out])
        return item_observations(held_out_items, log_odds_pairs, settings, lost, half=_HELD_OUT)

    def summarise(self, observed: ItemObservations, weights: Floats) -> Mapping[str, Floats]:
        """Return slope and correlation."""
        measured, true = (by_term(observed, weights, column) for column in observed.values.T)
        x, y = _centred(true), _centred(measured)
        w = measured.weights
        with np.errstate(invalid="ignore", divide="ignore"):
            s_xy, s_xx, s_yy = (w * x * y).sum(0), (w * x * x).sum(0), (w * y * y).sum(0)
            return {"slope": s_xy / s_xx, "r": s_xy / np.sqrt(s_xx * s_yy)}

    def test(self, observed: ItemObservations) -> Mapping[str, PValue]:
        """Return the two-sided p of slope and r from random permutations of the terms."""
        unweighted = np.ones((len(observed.names), 1))
        measured, true = (
            _centred(by_term(observed, unweighted, column))[:, 0] for column in observed.values.T
        )
        rng = np.random.default_rng(observed.seed)
        shuffled = rng.permuted(np.tile(measured, (_TERM_SHUFFLES, 1)), axis=1)
        is_extreme = np.abs(shuffled @ true) >= abs(measured @ true) * (1 - 1e-12)
        p = estimated_p(int(is_extreme.sum()), _TERM_SHUFFLES, tail="two-sided", strict=False)
        return {"slope": p, "r": p}


def _centred(terms: TermMeans) -> Floats:
    with np.errstate(invalid="ignore"):
        centred: Floats = terms.means - (terms.weights * terms.means).sum(0) / terms.weights.sum(0)
    return centred
