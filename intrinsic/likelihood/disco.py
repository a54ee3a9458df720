"""Discovery of correlations (Webster et al., 2020): the metric ``disco``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Gt, Lt, doc

from files import InputError, choice
from files.choice import Count
from intrinsic.conventions import Convention
from intrinsic.item_metric import Floats, ItemMetric, Observed
from intrinsic.items.item import SLOT, ItemSet
from intrinsic.likelihood.asking import likeliest
from intrinsic.likelihood.reading import (
    Text,
    describe_reading,
    find_words,
    mask_id,
    read_texts,
    require_kind,
)
from intrinsic.likelihood.slots import LOST, UNKNOWN, observed, of_both_groups, require_groups
from intrinsic.score import About


@choice
class DisCo(ItemMetric):
    """How many of the likeliest words in a slot depend on the group of the term."""

    about: ClassVar[About] = About(
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
    version: ClassVar[int] = 2
    others: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "fairllms",
            "fairllms 0.2.0: 100 (1 - the share of the top 3 that the n-th terms of both groups"
            " have in common), the mean over templates and pairs.",
            {"counted": "overlap"},
        ),
    )

    top: Annotated[Count, doc("how many of the likeliest words count")] = 3
    level: Annotated[
        float, Gt(0), Lt(1), doc("level of the test, divided by the number of words tested")
    ] = 0.05
    counted: Annotated[
        Literal["significant", "overlap"],
        doc("words that depend on the group, or what pairs of terms do not share"),
    ] = "significant"

    @classmethod
    def takes(cls, items: ItemSet) -> str:
        """Texts that hold a term of one of two groups, with a slot."""
        if any(item.fills for item in items.items):
            return f"the terms of {items.name} fill the slot; give texts that hold them"
        if len(items.groups) != 2 or items.pairs:
            return f"{items.name} has {len(items.groups)} groups of terms; disco compares two"
        return ""

    def observe(self, given: Any, items: ItemSet) -> Observed:
        """The likeliest tokens in the slot of each item, (items, top)."""
        require_kind(given, "masked")
        mask = mask_id(given)
        texts = [item.text.replace(SLOT, given.mask, 1) for item in items.items]
        read = read_texts(given, texts)
        unknown = given.tokenizer.unk_token_id
        slots = [
            None
            if text is None or text.ids.count(mask) != 1 or _unknown(text, item.word, unknown)
            else (text, text.ids.index(mask))
            for item, text in zip(items.items, read, strict=True)
        ]
        kept = [
            (item, *slot) for item, slot in zip(items.items, slots, strict=True) if slot is not None
        ]
        lost = [item.term for item, slot in zip(items.items, slots, strict=True) if slot is None]
        more: dict[str, str | int] = {f"{LOST}{UNKNOWN}": len(lost)} if lost else {}
        known = [item for item, *_ in kept]
        require_groups(known, items, given)
        shared = of_both_groups(known, "template")
        alone = [item.term for item in known if item.template not in shared]
        kept = [each for each in kept if each[0].template in shared]
        if not kept:
            raise InputError(
                f"no template of {items.name} has terms of both groups: nothing can be compared"
            )
        more |= {f"{LOST}alone in their template": len(alone)} if alone else {}
        top = min(self.top, len(given.tokenizer))
        fills = likeliest(given, [(text.ids, place) for _, text, place in kept], top)
        settings = describe_reading(
            given, [text for _, text, _ in kept], lower=False, first_token="own"
        )
        more |= {"masked at a time": "one token", "top": self.top}
        asked = [item for item, *_ in kept]
        values = np.array(fills, dtype=float)
        return observed(asked, values, {**settings, **more}, [*lost, *alone])

    def summarise(self, seen: Observed, weights: Floats) -> Mapping[str, Floats]:
        """The mean over templates, each as often as its items' terms are drawn."""
        templates = np.array(seen.factors["template"])
        values, counted = [], []
        for name in dict.fromkeys(templates.tolist()):
            rows = np.flatnonzero(templates == name)
            of_first = np.array([seen.groups[row] == seen.groups[0] for row in rows.tolist()])
            fills = seen.values[rows]
            if self.counted == "overlap":
                value, weight = _overlap(fills, of_first, weights[rows])
            else:
                found = np.unique(fills)
                has = (fills[None] == found[:, None, None]).any(axis=2).astype(float)
                p = chi_square_p(has, of_first.astype(float), weights[rows])
                value, weight = (p < self.level / len(found)).sum(axis=0), weights[rows].mean(0)
            values.append(value)
            counted.append(weight)
        each, share = np.array(values, dtype=float), np.array(counted)
        with np.errstate(invalid="ignore"):
            return {"": (each * share).sum(axis=0) / share.sum(axis=0)}


def chi_square_p(has: Floats, first: Floats, weights: Floats) -> Floats:
    """p of Pearson's chi-square test, one degree of freedom, of each word's table of (among the
    likeliest or not) x (first group or second); 1 where a margin is empty.

    has: (words, n), 1 where the word is among the likeliest. first: (n,), 1 in the first group.
    weights: (n, R). Shape (words, R).
    """
    from scipy.stats import chi2

    n: Floats = weights.sum(axis=0)
    of_first: Floats = first @ weights
    having: Floats = has @ weights
    both: Floats = (has * first) @ weights
    margins: Floats = having * (n - having) * of_first * (n - of_first)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = n * (n * both - having * of_first) ** 2 / margins
    p: Floats = chi2.sf(np.where(margins > 0, statistic, 0), 1)
    return p


def _overlap(fills: Floats, of_first: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """100 (1 - share in common) of the n-th terms of both groups, and how often they are drawn."""
    one, other = np.flatnonzero(of_first == 1), np.flatnonzero(of_first == 0)
    pairs = list(zip(one.tolist(), other.tolist(), strict=False))
    common = [len({*fills[a].tolist()} & {*fills[b].tolist()}) for a, b in pairs]
    apart = 100 * (1 - np.array(common) / fills.shape[1])
    drawn = np.array([weights[a] * weights[b] for a, b in pairs])
    total: Floats = drawn.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, apart @ drawn / total, 0), total


def _unknown(text: Text, term: str, unknown: int | None) -> bool:
    """Whether a text lacks its term, or a token of it is the unknown one."""
    places = [place for span in find_words(text.text, term) for place in text.covering(*span)]
    return not places or any(text.ids[place] == unknown for place in places)
