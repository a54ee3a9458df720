"""Log odds of the words that fill a slot, and the differences between groups of terms in them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from biasbridge.files import InputError, choice
from biasbridge.intrinsic.models.item_metric import (
    ItemMetric,
    ItemObservations,
    ScoreSettings,
    sizes,
)
from biasbridge.intrinsic.models.items import SLOT, Item, no_fillers
from biasbridge.intrinsic.models.likelihood import (
    TokenisedText,
    TokenQuery,
    describe_reading,
    find_words,
    log_likelihoods,
    mask_id,
    preceded_tokens,
    tokenise_texts,
)
from biasbridge.intrinsic.permutation import PValue, permutation_p

if TYPE_CHECKING:
    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.intrinsic.models.items import ItemSet
    from biasbridge.stats.arrays import Floats


# Terms are compared within texts if more than this share of items is in texts of both groups
_SHARED_TEXTS = 0.5
_FILLERS_SETTING = "fillers"  # setting: more than two words for the slot, between slashes
COMPARED, _WITHIN_TEXTS, BETWEEN = "compared", "within texts", "between texts"
# Settings that count items out of use begin with LOST
LOST_PREFIX, UNKNOWN_WORDS, TOO_LONG = "lost, ", "unknown to the model", "too long for the model"
_NOT_A_WORD, _NOT_PRECEDED = "their term inside a longer word", "with nothing before the slot"
_OTHER_GROUPS = "\0others"  # label of the terms of all groups but one


class _FilledText(NamedTuple):
    """A text with a filler in its slot, and the positions of the filler's and the term's tokens.

    The term is the attribute of an item whose term fills the slot.
    """

    text: TokenisedText
    filler: tuple[int, ...]
    term: tuple[int, ...]


# Items with a list for each pair of fillers, or for the term that fills the slot
_FilledItems = list[tuple[Item, list[list[_FilledText]]]]


def no_slots(items: ItemSet) -> str:
    """Return why a set has no slots to fill; empty if it has."""
    if not any(SLOT in item.text for item in items.items):
        return f"{items.name} has no texts with a slot"
    if len({item.fills for item in items.items}) > 1:
        return f"{items.name} mixes texts that contain their term with texts that it fills"
    return no_fillers(items)


def _fill_slots(
    model: LanguageModel, items: ItemSet, *, prefix: bool = False, first_token: str = "own"
) -> tuple[_FilledItems, list[str], ScoreSettings]:
    """Fill the slots, or their prefixes; return filled items, terms of lost items, and settings."""
    filled_items: _FilledItems = []
    lost, n_dropped = list[tuple[str, str]](), 0
    pairs_of = [
        (item, [(item.word,)] if item.fills else items.fillers_of(item)) for item in items.items
    ]
    texts = []
    for item, pairs in pairs_of:
        before, after = item.text.split(SLOT, 1)
        after = "" if prefix else after
        texts += [f"{before}{filler}{after}" for pair in pairs for filler in pair]
    tokenised = iter(tokenise_texts(model, texts, first_token=first_token))
    for item, pairs in pairs_of:
        candidates = [
            [_locate(model, item, filler, next(tokenised), prefix) for filler in pair]
            for pair in pairs
        ]
        located = [[x for x in pair if isinstance(x, _FilledText)] for pair in candidates]
        filled = [x for x, pair in zip(located, pairs, strict=True) if len(x) == len(pair)]
        if filled:
            filled_items.append((item, filled))
            n_dropped += len(candidates) - len(filled)
        else:
            reason = next(x for pair in candidates for x in pair if isinstance(x, str))
            lost.append((item.term, reason))
    reasons = Counter(reason for _, reason in lost)
    if not filled_items:
        remedy = "give others, or another model"
        raise InputError(
            f"no item of {items.name} can be scored by {model.name}: {', '.join(reasons)}; {remedy}"
        )
    flat = _flatten(filled_items)
    read = [filled_text.text for filled_text in flat]
    counts = [filled_text.text.tokens_per_word(filled_text.filler) for filled_text in flat]
    settings = dict(describe_reading(model, read, first_token=first_token))
    settings["fillers of several tokens"] = sum(sum(n) > 1 for n in counts) / len(counts)
    settings |= {"pairs of fillers unknown to the model": n_dropped} if n_dropped else {}
    settings |= {f"{LOST_PREFIX}{reason}": n for reason, n in reasons.items()}
    return filled_items, [term for term, _ in lost], settings


def require_groups(scored: Sequence[Item], items: ItemSet, model: LanguageModel) -> None:
    """Raise ``InputError`` if no item of a group can be scored."""
    groups = {item.group for item in scored}
    if missing := [group for group in items.groups if group not in groups]:
        raise InputError(f"{model.name} can score no text of group {missing[0]} of {items.name}")


def _flatten(filled_items: _FilledItems) -> list[_FilledText]:
    return [filled for _, pairs in filled_items for pair in pairs for filled in pair]


def _locate(
    model: LanguageModel, item: Item, filler: str, text: TokenisedText | None, prefix: bool
) -> _FilledText | str:
    """Locate filler and term in a text, or return why the item is lost."""
    start = item.text.index(SLOT)
    if text is None:
        return TOO_LONG
    end = start + len(filler)
    positions = text.positions_of(start, end)
    term: tuple[int, ...] = ()
    if term_word := item.attribute if item.fills else item.word:
        spans = find_words(text.text, term_word)
        outside = [span for span in spans if span[1] <= start or span[0] >= end]
        term = tuple(position for span in outside for position in text.positions_of(*span))
        if not term:
            return _NOT_A_WORD
    unknown = model.tokenizer.unk_token_id
    if prefix and positions[:1] == (0,):  # no token before it
        return _NOT_PRECEDED
    if not positions or any(text.ids[position] == unknown for position in (*positions, *term)):
        return UNKNOWN_WORDS
    return _FilledText(text, positions, term)


def _masked_filler(filled: _FilledText, mask: int, *, prior: bool) -> TokenQuery:
    """Query the filler's tokens, all masked; ``prior`` masks the term's tokens too."""
    hidden = {*filled.filler, *(filled.term if prior else ())}
    ids = tuple(mask if n in hidden else token for n, token in enumerate(filled.text.ids))
    return TokenQuery(ids, tuple((n, filled.text.ids[n]) for n in filled.filler))


def _filler_after(filled: _FilledText) -> TokenQuery:
    """Query the filler's tokens given the preceding tokens."""
    ids = filled.text.ids
    return TokenQuery(ids, tuple((n, ids[n]) for n in filled.filler if n))


def filler_log_odds(
    model: LanguageModel,
    items: ItemSet,
    *,
    prior: bool = False,
    sentence: bool = False,
    first_token: str = "own",
) -> tuple[list[Item], Floats, list[str], ScoreSettings]:
    """Compute log p(first filler) - log p(second filler) in the slot, the mean over filler pairs;
    of more than two fillers log p of each less the mean of the others, (n_items, fillers).

    If the term fills the slot: log p(term), less the mean of both groups in the same text if texts
    are of both groups. Masked models have as many masks as the filler has tokens; ``prior``
    subtracts the same with the term masked too. Causal models predict the filler from the text
    before the slot, or score the whole ``sentence``.

    Returns the scored items, values (n_items,) in nats, the terms of lost items, and settings.
    """
    causal = model.kind == "causal"
    filled, lost, settings = _fill_slots(
        model, items, prefix=causal and not sentence, first_token=first_token
    )
    require_groups([item for item, _ in filled], items, model)
    if [*dict.fromkeys(item.group for item, _ in filled)] != items.groups:
        filled.sort(key=lambda row: items.groups.index(row[0].group))  # the first is compared
    filled, lost, comparison = _comparable(filled, lost, items, model.name, prior=prior)
    logs, scoring = _filler_logs(model, _flatten(filled), prior=prior, sentence=sentence)
    scores, remaining = [], iter(logs.tolist())
    for _, pairs in filled:
        pair_logs = [[next(remaining) for _ in pair] for pair in pairs]
        scores.append(np.mean(np.stack(list(map(_contrast_fillers, pair_logs))), axis=0))
    scored_items, values = [item for item, _ in filled], np.array(scores)
    if values.ndim > 1:
        settings = {**settings, _FILLERS_SETTING: "/".join(items.fillers[0])}
    if comparison.get(COMPARED) == _WITHIN_TEXTS:
        values = _within_texts(scored_items, values)
    return scored_items, values, lost, {**settings, **scoring, **comparison}


def _contrast_fillers(logs: Sequence[float]) -> Floats:
    if len(logs) <= 2:
        return np.asarray(logs[0] - logs[1] if len(logs) > 1 else logs[0])
    array: Floats = np.array(logs)
    others: Floats = (array.sum() - array) / (len(array) - 1)
    return array - others


def _filler_logs(
    model: LanguageModel, flat: Sequence[_FilledText], *, prior: bool, sentence: bool
) -> tuple[Floats, ScoreSettings]:
    """Return log p of each filler, less its prior, and how it was scored."""
    if model.kind == "causal":
        queries = [preceded_tokens(x.text) if sentence else [_filler_after(x)] for x in flat]
        scored_part = "whole sentence" if sentence else "text before the slot"
        return _sums(model, queries), {"scored": scored_part}
    mask = mask_id(model)
    masked = {"masked at a time": "as many as the filler has tokens"}
    logs = _sums(model, [[_masked_filler(x, mask, prior=False)] for x in flat])
    if not prior:
        return logs, masked
    if not any(x.term for x in flat):
        return logs, {**masked, "prior": "none, for the terms fill the slot"}
    prior_logs = _sums(model, [[_masked_filler(x, mask, prior=True)] for x in flat])
    return logs - prior_logs, {**masked, "prior": "term or attribute masked too, a mask a token"}


def _comparable(
    filled: _FilledItems, lost: list[str], items: ItemSet, model: str, *, prior: bool
) -> tuple[_FilledItems, list[str], ScoreSettings]:
    """Return the items that can be compared, the terms of those lost, and how they are compared.

    If terms fill the slot and most texts are of both groups, terms are compared within texts. Texts
    of one group each differ in more than the term: log p is then compared less log p with the
    attribute masked too. Raises ``InputError`` without such a prior, or if no item is left.
    """
    if not items.items[0].fills:
        return filled, lost, {}
    shared = of_both_groups(items.items, "text")
    if sum(item.text in shared for item in items.items) > _SHARED_TEXTS * len(items.items):
        shared = of_both_groups([item for item, _ in filled], "text")
        unpaired = [item.term for item, _ in filled if item.text not in shared]
        filled = [(item, pairs) for item, pairs in filled if item.text in shared]
        if not filled:
            raise InputError(f"{model} knows terms of both groups in no text of {items.name}")
        reason = {f"{LOST_PREFIX}alone in their text": len(unpaired)} if unpaired else {}
        return filled, [*lost, *unpaired], {COMPARED: _WITHIN_TEXTS, **reason}
    if not prior or any(not item.attribute for item, _ in filled):
        raise InputError(
            f"nothing of {items.name} can be compared: its texts have terms of one group each. Give"
            " terms of both groups in the same text, or a column attribute by which lpbs compares"
        )
    return filled, lost, {COMPARED: BETWEEN}


def of_both_groups(items: Sequence[Item], field: Literal["text", "template"]) -> set[str]:
    """Return the texts, or templates, that occur with more than one group."""
    groups: dict[str, set[str]] = {}
    for item in items:
        groups.setdefault(getattr(item, field), set()).add(item.group)
    return {key for key, labels in groups.items() if len(labels) > 1}


def _sums(model: LanguageModel, queries: Sequence[Sequence[TokenQuery]]) -> Floats:
    return np.array([math.fsum(logs) for logs in log_likelihoods(model, queries)])


def _within_texts(items: Sequence[Item], values: Floats) -> Floats:
    """Subtract the mean of both groups' means in the same text, whatever their numbers."""
    values = values.copy()
    rows_of: dict[str, dict[str, list[int]]] = {}
    for row, item in enumerate(items):
        rows_of.setdefault(item.text, {}).setdefault(item.group, []).append(row)
    for groups in rows_of.values():
        centre = np.mean([values[rows].mean() for rows in groups.values()])
        values[[row for rows in groups.values() for row in rows]] -= centre
    return values


def item_observations(
    items: Sequence[Item],
    values: Floats,
    settings: ScoreSettings,
    lost: Sequence[str],
    **extra: Any,
) -> ItemObservations:
    """Return a value or row of values per item, with terms and templates as factors."""
    fields = ("term", "template", "attribute")
    factors = {name: [str(getattr(item, name)) for item in items] for name in fields}
    if not any(factors["attribute"]):
        del factors["attribute"]
    groups = [item.group for item in items]
    names = [f"{item.term} ({item.template})" for item in items]
    return ItemObservations(
        values, names, factors, groups, {**settings, **sizes(factors), **extra}, lost
    )


@choice
class TermMetric(ItemMetric):
    """Base of metrics that compare two groups of terms, or of several each with the others."""

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return why the items do not compare two groups of terms; empty if they do."""
        if reason := no_slots(items):
            return reason
        groups = items.groups
        if len(groups) == 1 and items.items[0].fills:
            return f"the terms that fill {items.name} are of one group, {groups[0]}; give two"
        return ""

    def summarise(self, observed: ItemObservations, weights: Floats) -> Mapping[str, Floats]:
        """Return the difference between the groups of each contrast."""
        standardised = getattr(self, "standardised", False)
        return {
            part: group_difference(contrast, weights, standardised=standardised)
            for part, contrast in group_contrasts(observed).items()
        }

    def test(self, observed: ItemObservations) -> Mapping[str, PValue]:
        """Return the two-sided p over partitions of terms, exact up to 40; none for one group."""
        tests = {}
        for part, contrast in group_contrasts(observed).items():
            terms = by_term(contrast, np.ones((len(observed.names), 1)))
            groups = _compared_groups(terms.groups)
            if len(groups) < 2:
                return {}
            x, y = (terms.means[np.array(terms.groups) == name, 0] for name in groups)
            tests[part] = permutation_p(x, y, tail="two-sided", seed=observed.seed)
        return tests


def group_contrasts(observed: ItemObservations) -> dict[str, ItemObservations]:
    """Return, by part, two groups of terms, or each group (and filler) against all others."""
    groups = list(dict.fromkeys(observed.groups))
    values = {"": observed.values}
    if observed.values.ndim > 1:
        fillers = str(observed.settings[_FILLERS_SETTING]).split("/")
        values = dict(zip(fillers, observed.values.T, strict=True))
    parts = {}
    for filler, group in product(values, groups if len(groups) > 2 else [""]):
        labels = [label if group in ("", label) else _OTHER_GROUPS for label in observed.groups]
        names = [f"{name} against the others" for name in (filler, group) if name]
        parts["; ".join(names)] = replace(observed, values=values[filler], groups=labels)
    return parts


def _compared_groups(labels: Sequence[str]) -> list[str]:
    """Return the two groups that are compared, the others last."""
    return sorted(dict.fromkeys(labels), key=_OTHER_GROUPS.__eq__)[:2]


class TermMeans(NamedTuple):
    """Weighted means of terms over their texts and weights of the terms, each (terms, R)."""

    names: list[str]
    groups: list[str]
    means: Floats
    weights: Floats


def by_term(observed: ItemObservations, weights: Floats, values: Floats | None = None) -> TermMeans:
    """Average values over the texts of each term of each group."""
    values = observed.values if values is None else values
    labels = list(zip(observed.groups, observed.factors["term"], strict=True))
    terms = list(dict.fromkeys(labels))
    term_indices = np.array([terms.index(label) for label in labels])
    member = (term_indices[None, :] == np.arange(len(terms))[:, None]).astype(float)
    total = member @ weights
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = member @ (values[:, None] * weights) / total
    term_weights: Floats = total / member.sum(axis=1, keepdims=True)
    means = np.where(total > 0, means, 0)
    return TermMeans(
        [term for _, term in terms], [group for group, _ in terms], means, term_weights
    )


def group_difference(
    observed: ItemObservations, weights: Floats, *, standardised: bool = False
) -> Floats:
    """Compute the difference of the groups' means over terms, (R,), maybe standardised."""
    terms = by_term(observed, weights)
    groups = _compared_groups(terms.groups)
    labels = np.array(terms.groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = [_weighted_mean(terms, labels == name) for name in groups]
        difference: Floats = means[0] - means[1] if len(means) > 1 else means[0]
        if not standardised:
            return difference
        in_groups = np.isin(labels, groups)
        centred = terms.means[in_groups] - _weighted_mean(terms, in_groups)
        w = terms.weights[in_groups]
        variance = (w * centred**2).sum(0) / w.sum(0)
        return np.where(variance > 0, difference / np.sqrt(variance), np.nan)


def _weighted_mean(terms: TermMeans, mask: Any) -> Floats:
    weights = terms.weights[mask]
    mean: Floats = (terms.means[mask] * weights).sum(axis=0) / weights.sum(axis=0)
    return mean
