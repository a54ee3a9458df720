"""Differences between groups of terms: the base of metrics, their parts and their p."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from biasbridge.files import choice
from biasbridge.intrinsic.item_metric import ItemMetric, Observations
from biasbridge.intrinsic.likelihood.slots import FILLERS, no_slots
from biasbridge.intrinsic.permutation import PValue, permutation_p

if TYPE_CHECKING:
    from biasbridge.intrinsic.items.item import ItemSet
    from biasbridge.stats.arrays import Floats

OTHERS = "\0others"  # label of the terms of all groups but one


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

    def summarise(self, observed: Observations, weights: Floats) -> Mapping[str, Floats]:
        """Return the difference between the groups of each contrast."""
        parts = contrasts(observed)
        return {part: group_difference(contrast, weights) for part, contrast in parts.items()}

    def test(self, observed: Observations) -> Mapping[str, PValue]:
        """Return the two-sided p over partitions of terms, exact up to 40; none for one group."""
        tests = {}
        for part, contrast in contrasts(observed).items():
            terms = by_term(contrast, np.ones((len(observed.names), 1)))
            groups = compared_groups(terms.groups)
            if len(groups) < 2:
                return {}
            x, y = (terms.means[np.array(terms.groups) == name, 0] for name in groups)
            tests[part] = permutation_p(x, y, tail="two-sided", seed=observed.seed)
        return tests


def contrasts(observed: Observations) -> dict[str, Observations]:
    """Return what is compared, by part: two groups of terms, as ``""``; of more groups each with
    all others, and the same for each of more than two fillers.
    """
    groups = list(dict.fromkeys(observed.groups))
    values = {"": observed.values}
    if observed.values.ndim > 1:
        fillers = str(observed.settings[FILLERS]).split("/")
        values = dict(zip(fillers, observed.values.T, strict=True))
    parts = {}
    for filler, group in product(values, groups if len(groups) > 2 else [""]):
        labels = [label if group in ("", label) else OTHERS for label in observed.groups]
        names = [f"{name} against the others" for name in (filler, group) if name]
        parts["; ".join(names)] = replace(observed, values=values[filler], groups=labels)
    return parts


def compared_groups(labels: Sequence[str]) -> list[str]:
    """Return the two groups that are compared, the others last."""
    return sorted(dict.fromkeys(labels), key=OTHERS.__eq__)[:2]


class TermMeans(NamedTuple):
    """Weighted means of terms over their texts and weights of the terms, each (terms, R)."""

    names: list[str]
    groups: list[str]
    means: Floats
    weights: Floats


def by_term(observed: Observations, weights: Floats, values: Floats | None = None) -> TermMeans:
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
    observed: Observations, weights: Floats, *, standardised: bool = False
) -> Floats:
    """Compute the difference of the groups' means over terms, (R,); with one group its mean.

    ``standardised`` divides by the standard deviation of all terms.
    """
    terms = by_term(observed, weights)
    groups = compared_groups(terms.groups)
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
