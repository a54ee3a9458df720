"""Discovery of correlations (Webster et al., 2020): the metric ``disco``."""

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
from biasbridge.intrinsic.conventions import Convention
from biasbridge.intrinsic.item_metric import ItemMetric, Observations
from biasbridge.intrinsic.items.item import SLOT, Item, ItemSet
from biasbridge.intrinsic.likelihood.slots import (
    LOST_PREFIX,
    UNKNOWN,
    item_observations,
    of_both_groups,
    require_groups,
)
from biasbridge.intrinsic.likelihood.token_likelihoods import top_tokens
from biasbridge.intrinsic.likelihood.tokenised_text import (
    Text,
    describe_reading,
    find_words,
    mask_id,
    require_kind,
    tokenise_texts,
)
from biasbridge.intrinsic.score import MetricInfo

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats


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
    configuration: ClassVar[Mapping[str, object]] = {
        "items": {"_target_": "biasbridge.corpora.items.BuiltInItems", "sets": ["disco_names"]}
    }

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

    def observe(self, model: Any, items: ItemSet) -> Observations:
        """Return the likeliest tokens in the slot of each item, (items, top)."""
        require_kind(model, "masked")
        mask = mask_id(model)
        texts = [item.text.replace(SLOT, model.mask, 1) for item in items.items]
        unknown = model.tokenizer.unk_token_id
        readable, lost = [], []
        for item, text in zip(items.items, tokenise_texts(model, texts), strict=True):
            if text is None or text.ids.count(mask) != 1 or _is_unknown(text, item.word, unknown):
                lost.append(item.term)
            else:
                readable.append((item, text))
        details: dict[str, str | int] = {f"{LOST_PREFIX}{UNKNOWN}": len(lost)} if lost else {}
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
        settings = describe_reading(model, scored_texts, lower=False, first_token="own")
        details |= {"masked at a time": "one token", "top": self.top}
        values = np.array(tokens, dtype=float)
        scored_items = [item for item, _ in scored]
        return item_observations(scored_items, values, {**settings, **details}, [*lost, *unpaired])

    def summarise(self, observed: Observations, weights: Floats) -> Mapping[str, Floats]:
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
                p = chi_square_p(is_top, in_first.astype(float), weights[rows])
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


def chi_square_p(is_top: Floats, in_first: Floats, weights: Floats) -> Floats:
    """Compute p of Pearson's chi-square test of (word among the likeliest) x (group of the term).

    Parameters
    ----------
    is_top : array of shape (words, n)
        1 where the word is among the likeliest tokens of an item, else 0.
    in_first : array of shape (n,)
        1 where the item's term is of the first group, else 0.
    weights : array of shape (n, R)
        Number of times each item counts in each resample.

    Returns
    -------
    array of shape (words, R)
        p with one degree of freedom, no continuity correction; 1 where a margin is empty.
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


def _is_unknown(text: Text, term: str, unknown: int | None) -> bool:
    spans = find_words(text.text, term)
    positions = [position for span in spans for position in text.positions_of(*span)]
    return not positions or any(text.ids[position] == unknown for position in positions)
