"""Tokenised pairs of sentences, shares of preferred sentences, and p-values over clusters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from biasbridge.files import InputError, choice
from biasbridge.intrinsic.item_metric import ItemMetric, Observations, Settings
from biasbridge.intrinsic.likelihood.tokenised_text import Text, describe_reading, tokenise_texts
from biasbridge.intrinsic.permutation import PValue

if TYPE_CHECKING:
    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.intrinsic.items.item import ItemSet, Pair
    from biasbridge.stats.arrays import Floats

Ties = Literal["half", "anti"]
SAME = 1e-6  # smaller differences of log-likelihoods are rounding errors


class ReadPair(NamedTuple):
    """A tokenised pair and its row name."""

    name: str
    pair: Pair
    stereo: Text
    anti: Text


@choice
class PairMetric(ItemMetric):
    """Base of metrics on pairs of sentences."""

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return why the items give no pairs of sentences; empty if they do."""
        return "" if items.paired else f"{items.name} has no pairs of sentences"

    def summarise(self, observed: Observations, weights: Floats) -> Mapping[str, Floats]:
        """Return the mean of all pairs and, if there are several groups, of each group."""
        labels = np.array(observed.groups)
        masks = {"": np.ones(len(labels), dtype=bool)}
        if len({*observed.groups}) > 1:
            masks |= {name: labels == name for name in dict.fromkeys(observed.groups) if name}
        with np.errstate(invalid="ignore"):
            return {
                part: observed.values[mask] @ weights[mask] / weights[mask].sum(axis=0)
                for part, mask in masks.items()
            }


def read_pairs(
    model: LanguageModel, items: ItemSet, *, lower: bool = False, first_token: str = "own"
) -> tuple[list[ReadPair], list[str], Settings]:
    """Tokenise pairs; return them, the names of pairs that cannot be scored, and the settings.

    Not scored are pairs with a sentence too long for the model, or too short for a causal model to
    predict a token, and pairs that differ in an unknown token. Raises ``InputError`` if none is
    left.
    """
    texts = [text for pair in items.paired for text in (pair.stereo, pair.anti)]
    tokenised = tokenise_texts(model, texts, lower=lower, first_token=first_token)
    pairs, lost = [], []
    for n, pair in enumerate(items.paired):
        stereo, anti = tokenised[2 * n : 2 * n + 2]
        if stereo is None or anti is None or _is_indistinct(model, stereo, anti):
            lost.append(f"pair {n + 1}")
        else:
            pairs.append(ReadPair(f"pair {n + 1}", pair, stereo, anti))
    if not pairs:
        reason = f"the words in which they differ are unknown to {model.name}, or too many"
        raise InputError(f"no pair of {items.name} can be scored: {reason}")
    scored_texts = [text for pair in pairs for text in (pair.stereo, pair.anti)]
    return pairs, lost, describe_reading(model, scored_texts, lower=lower, first_token=first_token)


def _is_indistinct(model: LanguageModel, stereo: Text, anti: Text) -> bool:
    """Test whether a pair differs in unknown tokens or nothing, or has no token to predict."""
    if model.kind == "causal" and min(len(stereo.ids), len(anti.ids)) < 2:
        return True
    opcodes = SequenceMatcher(None, stereo.ids, anti.ids, autojunk=False).get_opcodes()
    changed = [
        token
        for tag, i, j, k, m in opcodes
        if tag != "equal"
        for token in (*stereo.ids[i:j], *anti.ids[k:m])
    ]
    return not changed or model.tokenizer.unk_token_id in changed


def pair_observations(
    pairs: Sequence[ReadPair], values: Floats, settings: Settings, lost: Sequence[str]
) -> Observations:
    """Return one observation per pair; a pair without a cluster forms its own."""
    clusters = [read_pair.pair.cluster or read_pair.pair.stereo for read_pair in pairs]
    return Observations(
        values,
        [read_pair.name for read_pair in pairs],
        {"cluster": clusters},
        [read_pair.pair.group for read_pair in pairs],
        {**settings, "clusters": len({*clusters})},
        lost,
    )


def preferences(stereo: Floats, anti: Floats, ties: Ties) -> Floats:
    """Return 1 where the first sentence is likelier, 0 where the second is; ties: 1/2 or 0."""
    difference = stereo - anti
    tie = 0.5 if ties == "half" else 0.0
    return np.where(np.abs(difference) < SAME, tie, (difference > 0).astype(float))


def sign_test(observed: Observations) -> PValue:
    """Compute the exact two-sided p of "half of the pairs prefer either sentence".

    Signs are flipped by whole clusters; with one pair per cluster this is the sign test. Ties keep
    the value 0.
    """
    signs: dict[str, int] = {}
    for label, value in zip(observed.factors["cluster"], observed.values.tolist(), strict=True):
        signs[label] = signs.get(label, 0) + round(2 * value - 1)
    sizes = [abs(sign) for sign in signs.values() if sign]
    return _sign_flip_p(sizes, abs(sum(signs.values())))


def _sign_flip_p(sizes: Sequence[int], threshold: int) -> PValue:
    """Compute P(|sum of +-sizes| >= threshold) with fair, independent signs."""
    total = sum(sizes)
    probabilities: Floats = np.zeros(2 * total + 1)  # index total + s: P(sum = s)
    probabilities[total] = 1
    for size in sizes:
        probabilities = (np.roll(probabilities, size) + np.roll(probabilities, -size)) / 2
    sums = np.abs(np.arange(-total, total + 1))
    p = min(1.0, float(probabilities[sums >= threshold].sum()))
    return PValue(p, "exact", 0, len(sizes), "two-sided", False, p, p)


def t_test(observed: Observations) -> Mapping[str, PValue]:
    """Compute Student's two-sided p of mean 0 with cluster-robust errors (Liang and Zeger, 1986).

    Returns nothing with fewer than two clusters or without variation.
    """
    from scipy.stats import t

    labels = observed.factors["cluster"]
    index_of = {label: n for n, label in enumerate(dict.fromkeys(labels))}
    cluster_indices = [index_of[label] for label in labels]
    mean = float(observed.values.mean())
    residual_sums = np.bincount(cluster_indices, weights=observed.values - mean)
    sums: Floats = np.asarray(residual_sums, dtype=np.float64)
    n_clusters = len(index_of)
    if n_clusters < 2 or not sums.any():
        return {}
    error = math.sqrt(n_clusters / (n_clusters - 1) * float(sums @ sums)) / len(observed.values)
    p = float(2 * t.sf(abs(mean) / error, n_clusters - 1))
    return {"": PValue.of_t(p, n_clusters)}
