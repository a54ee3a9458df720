"""What metrics on pairs of sentences share: how pairs are read, shares, and p over clusters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from files import InputError
from intrinsic.item_metric import Floats, Observed, Settings
from intrinsic.likelihood.reading import Text, describe_reading, read_texts
from intrinsic.permutation import PValue

if TYPE_CHECKING:
    from files.models.language_model import LanguageModel
    from intrinsic.items.item import ItemSet, Pair

Ties = Literal["half", "anti"]
SAME = 1e-6  # log-likelihoods nearer than this are equal: rounding, not data


class ReadPair(NamedTuple):
    """A pair in tokens, under the name by which its row goes."""

    name: str
    pair: Pair
    stereo: Text
    anti: Text


def no_pairs(items: ItemSet) -> str:
    """Why a set has no pairs to ask; empty where it has."""
    return "" if items.paired else f"{items.name} has no pairs of sentences"


def read_pairs(
    model: LanguageModel, items: ItemSet, *, lower: bool = False, first_token: str = "own"
) -> tuple[list[ReadPair], list[str], Settings]:
    """The pairs in tokens, the names of those that are lost, and how they were read. Lost are pairs
    with a sentence too long for the model, or too short for it to have something before a token,
    and those that differ in a token that the model does not know. ``InputError`` where none is
    left.
    """
    texts = [text for pair in items.paired for text in (pair.stereo, pair.anti)]
    read = read_texts(model, texts, lower=lower, first_token=first_token)
    pairs, lost = [], []
    for number, pair in enumerate(items.paired):
        stereo, anti = read[2 * number : 2 * number + 2]
        if stereo is None or anti is None or _hidden(model, stereo, anti):
            lost.append(f"pair {number + 1}")
        else:
            pairs.append(ReadPair(f"pair {number + 1}", pair, stereo, anti))
    if not pairs:
        why = f"the words in which they differ are unknown to {model.name}, or too many"
        raise InputError(f"no pair of {items.name} can be asked: {why}")
    both = [text for pair in pairs for text in (pair.stereo, pair.anti)]
    return pairs, lost, describe_reading(model, both, lower=lower, first_token=first_token)


def _hidden(model: LanguageModel, stereo: Text, anti: Text) -> bool:
    """Whether the model does not see how two sentences differ, or nothing before their tokens."""
    if model.kind == "causal" and min(len(stereo.ids), len(anti.ids)) < 2:
        return True
    steps = SequenceMatcher(None, stereo.ids, anti.ids, autojunk=False).get_opcodes()
    changed = [
        token
        for tag, i, j, k, m in steps
        if tag != "equal"
        for token in (*stereo.ids[i:j], *anti.ids[k:m])
    ]
    return not changed or model.tokenizer.unk_token_id in changed


def observed(
    pairs: Sequence[ReadPair], values: Floats, settings: Settings, lost: Sequence[str]
) -> Observed:
    """One value a pair. A pair without a cluster is a cluster of its own."""
    clusters = [each.pair.cluster or each.pair.stereo for each in pairs]
    return Observed(
        values,
        [each.name for each in pairs],
        {"cluster": clusters},
        [each.pair.group for each in pairs],
        {**settings, "clusters": len({*clusters})},
        lost,
    )


def preferences(stereo: Floats, anti: Floats, ties: Ties) -> Floats:
    """1 where the first sentence is the likelier one, 0 where the second is; a tie counts a half,
    or as ``anti``.
    """
    difference = stereo - anti
    tie = 0.5 if ties == "half" else 0.0
    return np.where(np.abs(difference) < SAME, tie, (difference > 0).astype(float))


def mean_of_groups(seen: Observed, weights: Floats) -> dict[str, Floats]:
    """The weighted mean of all items, and of each group where there are several."""
    groups = list(dict.fromkeys(seen.groups)) if len({*seen.groups}) > 1 else []
    labels = np.array(seen.groups)
    parts = {"": np.ones(len(seen.names), dtype=bool)} | {name: labels == name for name in groups}
    with np.errstate(invalid="ignore"):
        return {
            name: seen.values[chosen] @ weights[chosen] / weights[chosen].sum(axis=0)
            for name, chosen in parts.items()
        }


def sign_test(seen: Observed) -> PValue:
    """The exact two-sided p that half of the pairs prefer either sentence: over clusters, each of
    which may turn as a whole. A pair alone is a cluster; then it is the sign test. Ties turn into
    themselves.
    """
    signs: dict[str, int] = {}
    for label, value in zip(seen.factors["cluster"], seen.values.tolist(), strict=True):
        signs[label] = signs.get(label, 0) + round(2 * value - 1)
    turned = [abs(sign) for sign in signs.values() if sign]
    return _turning_p(turned, abs(sum(signs.values())))


def _turning_p(sizes: Sequence[int], beyond: int) -> PValue:
    """P(|sum of +-sizes| >= beyond), the signs fair and independent."""
    total = sum(sizes)
    shares: Floats = np.zeros(2 * total + 1)  # place total + s: P(sum = s)
    shares[total] = 1
    for size in sizes:
        shares = (np.roll(shares, size) + np.roll(shares, -size)) / 2
    sums = np.abs(np.arange(-total, total + 1))
    p = min(1.0, float(shares[sums >= beyond].sum()))
    return PValue(p, "exact", 0, len(sizes), "two-sided", False, p, p)


def t_test(seen: Observed) -> Mapping[str, PValue]:
    """Student's two-sided p that the mean over pairs is 0, its error that of whole clusters (Liang
    and Zeger, 1986); none with fewer than two clusters.
    """
    from scipy.stats import t

    clusters = list(dict.fromkeys(seen.factors["cluster"]))
    number = {label: place for place, label in enumerate(clusters)}
    places = [number[label] for label in seen.factors["cluster"]]
    mean = float(seen.values.mean())
    sums: Floats = np.asarray(np.bincount(places, weights=seen.values - mean), dtype=np.float64)
    count = len(clusters)
    if count < 2 or not sums.any():
        return {}
    error = math.sqrt(count / (count - 1) * float(sums @ sums)) / len(seen.values)
    p = float(2 * t.sf(abs(mean) / error, count - 1))
    return {"": PValue.of_t(p, count)}
