r"""Effect of exchanging only the identity term in a post on a classifier's predictions.

    false positive equality difference = sum over terms of |FPR - FPR of the term|   (Dixon et al.,
    false negative equality difference = sum over terms of |FNR - FNR of the term|        2018)

FPR and FNR are those of all items with a term; range [0, number of terms], 0 = equal.

    flips = P(the predictions for two terms in one frame differ)

over frames, each with the terms that occur in it, two different ones drawn at random: in [0, 1]; 0:
predictions do not depend on the term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pandas as pd

from biasbridge.extrinsic.gap_table import GapRow, Part, make_block, part_rows
from biasbridge.extrinsic.gaps import CRITERIA, DEFAULT_GAPS, Gaps
from biasbridge.extrinsic.grouped_predictions import (
    ALL,
    GroupedPredictions,
    GroupOrRest,
    low_support_reason,
)
from biasbridge.extrinsic.predictions import flag_share, read_grouped_predictions
from biasbridge.extrinsic.spread import hybrid_estimate, make_sampler
from biasbridge.files.columns import get_column
from biasbridge.stats.intervals import UNDEFINED, Estimate
from biasbridge.stats.proportions import proportion_estimate

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

_RATES = ("fpr", "fnr")
_TERMS = "terms"
Shares = TypeVar("Shares", "pd.Series[float]", pd.DataFrame)


def term_rows(predictions: pd.DataFrame, gaps: Gaps = DEFAULT_GAPS) -> list[GapRow]:
    """Compute the effect of terms on the predictions of a challenge set.

    ``predictions`` has the columns of ``biasbridge.extrinsic.gap_table.gap_table``, ``term``
    (empty: a post about nobody), and optionally ``frame`` (empty: a post in none).

    Rows of ``subset`` "terms" are measures of each term and its gaps to the rest (``kind``
    "term_gap"), unless terms are the groups themselves. Others: ``kind`` "equality_difference" of
    ``fpr`` and ``fnr``. ``kind`` "flips": over all pairs of terms (``group`` "all"), pairs with
    each term (``group``), and pairs of two compared groups (``privileged``, ``unprivileged``);
    support is the number of frames. Intervals are over frames.
    """
    predictions, gaps = flag_share(predictions, gaps.at), replace(gaps, at="threshold")
    posts = predictions[get_column(predictions, "term") != ""]
    by_term = posts.assign(group=posts["term"]).drop(columns="resampled_by", errors="ignore")
    measures = tuple(name for name in gaps.measures if name not in CRITERIA)
    term_gaps = replace(gaps, measures=measures, compare=("one-vs-rest",), groups=())
    terms = read_grouped_predictions(by_term, term_gaps)
    rows: list[GapRow] = []
    if not posts["group"].astype(str).equals(posts["term"].astype(str)):
        rows += [
            row._replace(kind="term_gap" if row.kind == "gap" else row.kind, subset=_TERMS)
            for row in part_rows([Part(terms, term_gaps.measures)], term_gaps)
            if row.group != ALL
        ]
    rows += [_equality_difference_row(terms, rate) for rate in _RATES]
    return rows + (_flip_rows(posts[posts["frame"] != ""], gaps) if "frame" in posts else [])


def _equality_difference_row(terms: GroupedPredictions, rate: str) -> GapRow:
    """Compute the equality difference of a rate over terms, the groups of ``terms``; ``reason``
    names terms that are excluded for low support.

    The interval is hybrid (``biasbridge.extrinsic.spread``), as a sum of absolute differences is
    biased upwards: it is above 0 even for equal terms.
    """
    by_term = {term: terms.group_measure(rate, GroupOrRest(term)) for term in terms.groups}
    defined = [term for term, measure in by_term.items() if not measure.reason]
    low_support = "; ".join(measure.reason for measure in by_term.values() if measure.reason)
    if len(defined) < 2:
        reason = low_support or "an equality difference needs two terms"
        return GapRow("equality_difference", rate, reason=reason)
    supports = [by_term[term].support for term in defined]
    weights = np.array(supports, dtype=np.float64)
    return GapRow(
        kind="equality_difference",
        measure=rate,
        **_sum_differences(terms, rate, defined, weights / weights.sum())._asdict(),
        support=min(supports),
        reason=f"left out: {low_support}" if low_support else "",
    )


def _flip_rows(framed: pd.DataFrame, gaps: Gaps) -> list[GapRow]:
    """Return the rows of ``kind`` "flips" of posts that are in frames."""
    if framed.empty:
        return []
    terms = _positive_shares(framed, "term")
    n = terms.notna().sum(axis=1)
    terms = terms[n > 1]
    totals, n = terms.sum(axis=1), n[n > 1]
    mean_of_others = terms.rsub(totals, axis=0).div(n - 1, axis=0)
    flips = _flip_probability(terms, mean_of_others)
    rows = [_flip_row(flips.mean(axis=1), ALL, gaps)]
    rows += [_flip_row(flips[term].dropna(), str(term), gaps) for term in flips]
    groups = _positive_shares(framed, "group")
    for first, second in _pairs(groups, gaps):
        pair_flips = _flip_probability(groups[first], groups[second]).dropna()
        row = _flip_row(pair_flips, f"{first} and {second}", gaps)
        rows.append(
            row._replace(
                group="",
                privileged=first,
                unprivileged=second,
                support_privileged=row.support,
                support_unprivileged=row.support,
            )
        )
    return rows


def _sum_differences(
    terms: GroupedPredictions, rate: str, names: Sequence[str], weights: Floats
) -> Estimate:
    block = make_block(terms, rate, names)
    overall = float(weights @ block.observed)
    value = float(np.abs(block.observed - overall).sum())
    # Change of each term as the sum grows by 1; alternating signs if all terms are equal
    direction = block.observed - overall if value > 0 else (-1.0) ** np.arange(len(names))
    direction = direction - weights @ direction
    direction = direction / np.abs(direction).sum()
    limits = [(1 - overall) / step if step > 0 else overall / -step for step in direction if step]
    sampler = make_sampler(block)

    def draw_sums(parameter: float) -> Floats:
        values = sampler(np.clip(overall + parameter * direction, 0, 1))
        sums: Floats = np.abs(values - (values @ weights)[:, None]).sum(axis=1)
        return sums

    return hybrid_estimate(value, draw_sums, (0.0, max(value, *limits)), terms.level)


def _positive_shares(framed: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the share predicted 1, frames x terms (or groups); NaN if a frame lacks the term."""
    return framed.pivot_table("prediction", "frame", column, aggfunc="mean", observed=True)


def _flip_probability(first: Shares, second: Shares) -> Shares:
    return first * (1 - second) + second * (1 - first)


def _pairs(groups: pd.DataFrame, gaps: Gaps) -> list[tuple[str, str]]:
    pairs = [(gaps.privileged, gaps.unprivileged)] if "pair" in gaps.compare else []
    if "pairwise" in gaps.compare:
        names = gaps.groups or tuple(map(str, groups))
        pairs += [(gaps.privileged, name) for name in names if name != gaps.privileged]
    return [pair for pair in dict.fromkeys(pairs) if {*pair} <= {*groups}]


def _flip_row(flips: pd.Series[float], group: str, gaps: Gaps) -> GapRow:
    n = len(flips)
    reason = low_support_reason("frame", group, n, gaps.min_support)
    probabilities = np.asarray(flips, dtype=np.float64)
    estimate = UNDEFINED if reason else _estimate_mean(probabilities, gaps.level)
    return GapRow("flips", "prediction", group, **estimate._asdict(), support=n, reason=reason)


def _estimate_mean(probabilities: Floats, level: float) -> Estimate:
    """Compute the mean with Wilson's interval of a proportion with the same variance."""
    mean = float(probabilities.mean())
    binomial, observed = mean * (1 - mean), float(probabilities.var())
    n = len(probabilities) * (binomial / observed if observed > 0 else 1.0)
    return proportion_estimate(mean * n, n, level)._replace(value=mean)
