r"""What becomes of a classifier's answer when nothing but the term for people changes.

    false positive equality difference = sum over terms of |FPR - FPR of the term|   (Dixon et al.,
    false negative equality difference = sum over terms of |FNR - FNR of the term|        2018)

FPR and FNR being those of all items with a term; in [0, number of terms], 0 = equal.

    flips = P(the predictions for two terms in one frame differ)

over frames, each with the terms that occur in it, two different ones drawn at random: in [0, 1], 0:
the term decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pandas as pd

from extrinsic.gap_table import Row, make_block, sample_rows
from extrinsic.gaps import CRITERIA, DEFAULT, Gaps
from extrinsic.intervals import UNDEFINED, Estimate, Floats, quantile
from extrinsic.predictions import get_column, read_sample
from extrinsic.sample import ALL, Sample, Side, explain_lack
from extrinsic.spread import no_surprise, noise_of

RATES = ("fpr", "fnr")
TERMS = "terms"
Shares = TypeVar("Shares", "pd.Series[float]", pd.DataFrame)


def term_rows(predictions: pd.DataFrame, gaps: Gaps = DEFAULT) -> list[Row]:
    """What terms do to the predictions of a challenge set.

    ``predictions`` has the columns of ``extrinsic.gap_table.gap_table``, ``term``, empty for a post
    about nobody, and it may have ``frame``, empty for a post in none.

    Rows: the measures of each term and its gaps with the rest (``kind`` "term_gap"), of ``subset``
    "terms", where terms are not the groups themselves; ``kind`` "equality_difference" of ``fpr``
    and ``fnr``; and ``kind`` "flips", over all pairs of terms (``group`` "all"), those with each
    term (``group``), and those of each two groups that are compared (``privileged``,
    ``unprivileged``), with the number of frames as support. Intervals are over frames.
    """
    held = predictions[get_column(predictions, "term") != ""]
    by_term = held.assign(group=held["term"]).drop(columns="resampled_by", errors="ignore")
    measures = tuple(name for name in gaps.measures if name not in CRITERIA)
    every = replace(gaps, measures=measures, compare=("rest",), groups=())
    terms = read_sample(by_term, every)
    rows: list[Row] = []
    if not held["group"].astype(str).equals(held["term"].astype(str)):
        rows += [
            row._replace(kind="term_gap" if row.kind == "gap" else row.kind, subset=TERMS)
            for row in sample_rows(terms, every)
            if row.group != ALL
        ]
    rows += [find_equality_difference(terms, rate) for rate in RATES]
    return rows + (flip_rows(held[held["frame"] != ""], gaps) if "frame" in held else [])


def find_equality_difference(terms: Sample, rate: str) -> Row:
    """The equality difference of a rate over terms (the groups of ``terms``), those with too few
    items left out by name.

    Its interval holds what would make the sum that is seen no surprise, as for the largest
    difference (``extrinsic.spread``): a sum of absolute differences is never 0, however alike.
    """
    figures = {term: terms.figure(rate, Side(term)) for term in terms.groups}
    kept = [term for term, each in figures.items() if not each.reason]
    lacking = "; ".join(each.reason for each in figures.values() if each.reason)
    if len(kept) < 2:
        why = lacking or "an equality difference needs two terms"
        return Row("equality_difference", rate, reason=why)
    supports = [figures[term].support for term in kept]
    found = _sum_differences(terms, rate, kept, np.array(supports, dtype=np.float64))
    return Row(
        kind="equality_difference",
        measure=rate,
        **found._asdict(),
        support=min(supports),
        reason=f"left out: {lacking}" if lacking else "",
    )


def _sum_differences(terms: Sample, rate: str, kept: Sequence[str], supports: Floats) -> Estimate:
    block = make_block(terms, rate, kept)
    weights = supports / supports.sum()
    overall = float(weights @ block.seen)
    value = float(np.abs(block.seen - overall).sum())
    # In which direction each term is moved as the sum grows; where nothing is seen, by turns
    apart = block.seen - overall if value > 0 else (-1.0) ** np.arange(len(kept))
    apart = apart - weights @ apart
    apart = apart / np.abs(apart).sum()
    room = [(1 - overall) / each if each > 0 else overall / -each for each in apart if each]
    draw = noise_of(block)

    def drawn(truth: float) -> Floats:
        values = draw(np.clip(overall + truth * apart, 0, 1))
        found: Floats = np.abs(values - (values @ weights)[:, None]).sum(axis=1)
        return found

    return no_surprise(value, drawn, (0.0, max(value, *room)), terms.level)


def flip_rows(framed: pd.DataFrame, gaps: Gaps) -> list[Row]:
    """The rows of ``kind`` "flips" of posts that are in frames."""
    if framed.empty:
        return []
    terms = _shares(framed, "term")
    n = terms.notna().sum(axis=1)
    terms = terms[n > 1]
    ones, n = terms.sum(axis=1), n[n > 1]
    others = terms.rsub(ones, axis=0).div(n - 1, axis=0)
    changed = _differ(terms, others)
    rows = [_flips(changed.mean(axis=1), ALL, gaps)]
    rows += [_flips(changed[term].dropna(), str(term), gaps) for term in changed]
    groups = _shares(framed, "group")
    for one, other in _pairs(groups, gaps):
        found = _flips(_differ(groups[one], groups[other]).dropna(), f"{one} and {other}", gaps)
        rows.append(
            found._replace(
                group="",
                privileged=one,
                unprivileged=other,
                support_privileged=found.support,
                support_unprivileged=found.support,
            )
        )
    return rows


def _shares(framed: pd.DataFrame, by: str) -> pd.DataFrame:
    """The share predicted 1, frames x terms (or groups); NaN where a term is not in a frame."""
    return framed.pivot_table("prediction", "frame", by, aggfunc="mean", observed=True)


def _differ(one: Shares, other: Shares) -> Shares:
    """The chance that two predictions differ, of which these are the shares of 1."""
    return one * (1 - other) + other * (1 - one)


def _pairs(groups: pd.DataFrame, gaps: Gaps) -> list[tuple[str, str]]:
    """The groups that are compared with one another and that share frames."""
    found = [(gaps.privileged, gaps.unprivileged)] if "pair" in gaps.compare else []
    if "each" in gaps.compare:
        among = gaps.groups or tuple(map(str, groups))
        found += [(gaps.privileged, name) for name in among if name != gaps.privileged]
    return [pair for pair in dict.fromkeys(found) if {*pair} <= {*groups}]


def _flips(chances: pd.Series[float], group: str, gaps: Gaps) -> Row:
    """The mean over frames of a chance."""
    n = len(chances)
    reason = explain_lack("frame", group, n, gaps.least_support)
    found = (
        UNDEFINED if reason else _estimate_mean(np.asarray(chances, dtype=np.float64), gaps.level)
    )
    return Row("flips", "prediction", group, **found._asdict(), support=n, reason=reason)


def _estimate_mean(chances: Floats, level: float) -> Estimate:
    """The mean with the interval of a proportion of as many items as would make it as well known
    (Wilson).
    """
    mean = float(chances.mean())
    binomial, seen = mean * (1 - mean), float(chances.var())
    n = len(chances) * (binomial / seen if seen > 0 else 1.0)
    z = quantile(level)
    centre, half = mean + z**2 / (2 * n), z * np.sqrt(binomial / n + z**2 / (4 * n**2))
    low, high = ((centre + sign * half) / (1 + z**2 / n) for sign in (-1, 1))
    return Estimate(mean, float(min(low, mean)), float(max(high, mean)))
