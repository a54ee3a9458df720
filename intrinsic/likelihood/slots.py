"""What metrics on texts with a slot share: log odds of what fills it, and groups of terms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from files import InputError
from intrinsic.item_metric import Floats, Observed, Settings
from intrinsic.items.item import SLOT, Item
from intrinsic.items.read import no_fillers
from intrinsic.likelihood.asking import Ask
from intrinsic.likelihood.reading import (
    Text,
    describe_reading,
    find_words,
    mask_id,
    read_texts,
)
from intrinsic.likelihood.sentences import after_the_first, answers
from intrinsic.permutation import PValue, permutation_p

if TYPE_CHECKING:
    from files.models.language_model import LanguageModel
    from intrinsic.items.item import ItemSet


# The share of items in texts of both groups beyond which terms are compared within texts
SHARED_TEXTS = 0.5
COMPARED, WITHIN, BETWEEN = "compared", "within texts", "between texts"
# A setting that says why items are lost begins with LOST
LOST, UNKNOWN = "lost, ", "unknown to the model or too long"


class Filled(NamedTuple):
    """An item's text with one filler in its slot: the places of the filler's tokens, and of those
    of the term, or attribute, that the text holds.
    """

    text: Text
    filler: tuple[int, ...]
    term: tuple[int, ...]


def no_slots(items: ItemSet) -> str:
    """Why a set has nothing to fill; empty where it has."""
    if not any(SLOT in item.text for item in items.items):
        return f"{items.name} has no texts with a slot"
    if len({item.fills for item in items.items}) > 1:
        return f"{items.name} mixes texts that hold their term with texts that ask for it"
    return no_fillers(items)


def no_two_groups(items: ItemSet) -> str:
    """Why the terms of a set cannot be compared; empty where they can."""
    if why := no_slots(items):
        return why
    groups = items.groups
    if len(groups) > 2:
        return f"{items.name} has {len(groups)} groups, and two are compared"
    if len(groups) == 1 and items.items[0].fills:
        return f"the terms that fill {items.name} are of one group, {groups[0]}; give two"
    return ""


def fill_slots(
    model: LanguageModel,
    items: ItemSet,
    *,
    prefix: bool = False,
    first_token: str = "own",
) -> tuple[list[tuple[Item, list[list[Filled]]]], list[str], Settings]:
    """Each item with its fillers in the slot, a list for each pair of fillers, or for the term that
    fills it; the terms of the items that are lost, one an item; and how they were read.

    prefix: the text ends with the filler. An item is lost whose text is too long, whose filler or
    term has no token or an unknown one, or whose term is not in the text.
    """
    kept, lost, dropped = [], [], 0
    wanted = [(item, pair) for item in items.items for pair in _fillers(item, items)]
    texts = [_filled(item, each, prefix) for item, pair in wanted for each in pair]
    read = iter(read_texts(model, texts, first_token=first_token))
    for item in items.items:
        found = [
            [_place(model, item, each, next(read), prefix) for each in pair]
            for pair in _fillers(item, items)
        ]
        known = [[each for each in pair if each] for pair in found if all(pair)]
        if known:
            kept.append((item, known))
            dropped += len(found) - len(known)
        else:
            lost.append(item.term)
    if not kept:
        raise InputError(
            f"no item of {items.name} can be asked: its terms and fillers are unknown to"
            f" {model.name}{', or not before the slot' if prefix else ''}"
        )
    both = [each.text for _, pairs in kept for pair in pairs for each in pair]
    fillers = [
        each.text.pieces(each.filler) for _, pairs in kept for pair in pairs for each in pair
    ]
    settings = dict(describe_reading(model, both, lower=False, first_token=first_token))
    settings["fillers of several tokens"] = sum(sum(n) > 1 for n in fillers) / len(fillers)
    settings |= {"pairs of fillers unknown to the model": dropped} if dropped else {}
    settings |= {f"{LOST}{UNKNOWN}": len(lost)} if lost else {}
    return kept, lost, settings


def require_groups(kept: Sequence[Item], items: ItemSet, model: LanguageModel) -> None:
    """Raise ``InputError`` where all items of a group are lost."""
    groups = {item.group for item in kept}
    if missing := [group for group in items.groups if group not in groups]:
        raise InputError(f"{model.name} takes no text of group {missing[0]} of {items.name}")


def _fillers(item: Item, items: ItemSet) -> Sequence[tuple[str, ...]]:
    return [(item.word,)] if item.fills else items.fillers_of(item)


def _filled(item: Item, filler: str, prefix: bool) -> str:
    before, after = item.text.split(SLOT, 1)
    return before + filler + ("" if prefix else after)


def _place(
    model: LanguageModel, item: Item, filler: str, text: Text | None, prefix: bool
) -> Filled | None:
    start = item.text.index(SLOT)
    if text is None:
        return None
    places = text.covering(start, start + len(filler))
    term: tuple[int, ...] = ()
    if held := item.attribute if item.fills else item.word:
        found = find_words(text.text, held)
        outside = [each for each in found if each[1] <= start or each[0] >= start + len(filler)]
        term = tuple(place for each in outside for place in text.covering(*each))
        if not term:
            return None
    unknown = model.tokenizer.unk_token_id
    if prefix and places[:1] == (0,):  # no token before it
        return None
    if not places or any(text.ids[place] == unknown for place in (*places, *term)):
        return None
    return Filled(text, places, term)


def masked_filler(filled: Filled, mask: int, *, prior: bool) -> Ask:
    """The filler's tokens, all masked; ``prior``: those of the term as well."""
    hidden = {*filled.filler, *(filled.term if prior else ())}
    ids = tuple(mask if n in hidden else token for n, token in enumerate(filled.text.ids))
    return Ask(ids, tuple((place, filled.text.ids[place]) for place in filled.filler))


def filler_after(filled: Filled) -> Ask:
    """The filler's tokens after those before them."""
    ids = filled.text.ids
    return Ask(ids, tuple((place, ids[place]) for place in filled.filler if place))


def log_odds(
    model: LanguageModel,
    items: ItemSet,
    *,
    prior: bool = False,
    sentence: bool = False,
    first_token: str = "own",
) -> tuple[list[Item], Floats, list[str], Settings]:
    """log p(first filler) - log p(second) in the slot of each item, the mean over pairs of fillers;
    of a term that fills the slot, its log p, where texts are of both groups less the mean of the
    two groups in the same text.

    A masked model has as many masks as the filler has tokens. ``prior``: less the same with the
    term masked too. A causal model is given what stands before the slot, or scores the whole
    ``sentence``. The items asked, the values (items,), the terms lost, and the settings.
    """
    causal = model.kind == "causal"
    kept, lost, settings = fill_slots(
        model, items, prefix=causal and not sentence, first_token=first_token
    )
    require_groups([item for item, _ in kept], items, model)
    kept, lost, comparison = _compared(kept, lost, items, model.name, prior=prior)
    flat = [each for _, pairs in kept for pair in pairs for each in pair]
    if causal:
        asked = [after_the_first(x.text) if sentence else [filler_after(x)] for x in flat]
        shown = "whole sentence" if sentence else "text before the slot"
        settings = {**settings, "scored": shown}
    else:
        mask = mask_id(model)
        asked = [[masked_filler(each, mask, prior=False)] for each in flat]
        settings = {**settings, "masked at a time": "as many as the filler has tokens"}
    logs = _sums(model, asked)
    if prior and any(each.term for each in flat):
        asked = [[masked_filler(each, mask_id(model), prior=True)] for each in flat]
        logs = logs - _sums(model, asked)
        settings = {
            **settings,
            "prior": "term or attribute masked too, a mask a token",
        }
    elif prior:
        settings = {**settings, "prior": "none, for the terms fill the slot"}
    values, place = [], 0
    for _, pairs in kept:
        each = []
        for pair in pairs:
            one = logs[place : place + len(pair)]
            each.append(float(one[0] - one[1]) if len(pair) > 1 else float(one[0]))
            place += len(pair)
        values.append(float(np.mean(each)))
    asked_items, logs = [item for item, _ in kept], np.array(values)
    if comparison.get(COMPARED) == WITHIN:
        logs = _within_texts(asked_items, logs)
    return asked_items, logs, lost, {**settings, **comparison}


Kept = list[tuple[Item, list[list[Filled]]]]


def _compared(
    kept: Kept, lost: list[str], items: ItemSet, model: str, *, prior: bool
) -> tuple[Kept, list[str], Settings]:
    """Return the items that can be compared, the terms of those lost, and how they are compared.

    Terms that fill texts which, mostly, are of both groups are compared within these. Texts of one
    group each differ in more than the term: there log p is compared less that with the attribute
    masked too, and without such a prior not at all. Raises ``InputError`` where nothing is left.
    """
    if not items.items[0].fills:
        return kept, lost, {}
    shared = of_both_groups(items.items, "text")
    if sum(item.text in shared for item in items.items) > SHARED_TEXTS * len(items.items):
        shared = of_both_groups([item for item, _ in kept], "text")
        alone = [item.term for item, _ in kept if item.text not in shared]
        kept = [each for each in kept if each[0].text in shared]
        if not kept:
            raise InputError(f"{model} knows terms of both groups in no text of {items.name}")
        reason = {f"{LOST}alone in their text": len(alone)} if alone else {}
        return kept, [*lost, *alone], {COMPARED: WITHIN, **reason}
    if not prior or any(not item.attribute for item, _ in kept):
        raise InputError(
            f"nothing of {items.name} can be compared: its texts have terms of one group each; give"
            " terms of both groups in the same text, or a column attribute, by which lpbs compares"
        )
    return kept, lost, {COMPARED: BETWEEN}


def of_both_groups(items: Sequence[Item], shared: Literal["text", "template"]) -> set[str]:
    """Return the texts, or templates, that occur with more than one group."""
    groups: dict[str, set[str]] = {}
    for item in items:
        groups.setdefault(getattr(item, shared), set()).add(item.group)
    return {name for name, names in groups.items() if len(names) > 1}


def _sums(model: LanguageModel, asked: Sequence[Sequence[Ask]]) -> Floats:
    return np.array([math.fsum(each) for each in answers(model, asked)])


def _within_texts(items: Sequence[Item], values: Floats) -> Floats:
    """Return the values of terms less the mean of the two groups' means in their text, which does
    not depend on how many of a group the model knows.
    """
    values = values.copy()
    texts: dict[str, dict[str, list[int]]] = {}
    for number, item in enumerate(items):
        texts.setdefault(item.text, {}).setdefault(item.group, []).append(number)
    for groups in texts.values():
        middle = np.mean([values[numbers].mean() for numbers in groups.values()])
        values[[number for numbers in groups.values() for number in numbers]] -= middle
    return values


def observed(
    items: Sequence[Item], values: Floats, settings: Settings, lost: Sequence[str], **more: Any
) -> Observed:
    """One value, or row of values, an item; terms and templates are what items share."""
    named = ("term", "template", "attribute")
    factors = {name: [str(getattr(item, name)) for item in items] for name in named}
    if not any(factors["attribute"]):
        del factors["attribute"]
    counts = {f"{name}s": len({*labels}) for name, labels in factors.items()}
    groups = [item.group for item in items]
    names = [f"{item.term} ({item.template})" for item in items]
    return Observed(values, names, factors, groups, {**settings, **counts, **more}, lost)


class Terms(NamedTuple):
    """The weighted means of each term over its texts, (terms, R), and how much each counts."""

    names: list[str]
    groups: list[str]
    means: Floats
    weights: Floats


def by_term(seen: Observed, weights: Floats, values: Floats | None = None) -> Terms:
    """The mean of each term of each group over its texts."""
    values = seen.values if values is None else values
    labels = list(zip(seen.groups, seen.factors["term"], strict=True))
    known = list(dict.fromkeys(labels))
    which = np.array([known.index(label) for label in labels])
    member = (which[None, :] == np.arange(len(known))[:, None]).astype(float)
    total = member @ weights
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = member @ (values[:, None] * weights) / total
    counted: Floats = total / member.sum(axis=1, keepdims=True)
    means = np.where(total > 0, means, 0)
    return Terms([term for _, term in known], [group for group, _ in known], means, counted)


def group_difference(seen: Observed, weights: Floats, *, standardised: bool = False) -> Floats:
    """The mean over the terms of the first group less that of the second, (R,); of a single group
    the mean. ``standardised``: over the standard deviation of all terms.
    """
    terms = by_term(seen, weights)
    first = list(dict.fromkeys(terms.groups))[:2]
    labels = np.array(terms.groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = [_mean(terms, labels == name) for name in first]
        value: Floats = means[0] - means[1] if len(means) > 1 else means[0]
        if not standardised:
            return value
        both = np.isin(labels, first)
        centred = terms.means[both] - _mean(terms, both)
        variance = (terms.weights[both] * centred**2).sum(0) / terms.weights[both].sum(0)
        return np.where(variance > 0, value / np.sqrt(variance), np.nan)


def _mean(terms: Terms, chosen: Any) -> Floats:
    weights = terms.weights[chosen]
    total: Floats = (terms.means[chosen] * weights).sum(axis=0) / weights.sum(axis=0)
    return total


def term_test(seen: Observed) -> dict[str, PValue]:
    """The two-sided p of the difference between the groups under re-partition of their terms, exact
    for up to 40; none of a single group.
    """
    terms = by_term(seen, np.ones((len(seen.names), 1)))
    groups = list(dict.fromkeys(terms.groups))[:2]
    if len(groups) < 2:
        return {}
    x, y = (terms.means[np.array(terms.groups) == name, 0] for name in groups)
    return {"": permutation_p(x, y, tail="two-sided", seed=seen.seed)}
