"""What a score means, what a metric finds on one query, and the row of the table made of both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from intrinsic.permutation import Floats, PValue
from intrinsic.wordsets.wordset import MORE_GROUPS

if TYPE_CHECKING:
    from intrinsic.found_query import FoundQuery

UNTESTED = PValue(math.nan, "none", 0, 0, "", False, math.nan, math.nan)


@dataclass(frozen=True)
class About:
    """What a score means, as data.

    roles: what each word set stands for; a role that ends in ``?`` may be absent. range: the least
    and the greatest value, infinite where there is no bound, NaN where it is not known. unbiased:
    the value of an embedding without the bias; None where the score measures something else.
    fewest: items a role needs, one where it is not named. asks: the built-in queries of an audit in
    English; elsewhere those of the same name in that language. default: what the default convention
    is, where ``source`` does not say all. falls: whether, by its ``sign``, the score is lower where
    X goes with A, or words with the first words of pairs.
    """

    name: str
    title: str
    formula: str
    sign: str
    range: tuple[float, float]
    source: str
    roles: Mapping[str, str]
    unbiased: float | None = 0
    fewest: Mapping[str, int] = field(default_factory=dict)
    asks: tuple[str, ...] = ()
    default: str = ""
    falls: bool = False

    @property
    def required(self) -> list[str]:
        """The roles that a query must have."""
        return [role for role in self.roles if not role.endswith("?")]

    def takes(self, role: str) -> bool:
        """Whether a word set in this role is used."""
        more = f"{role[0]}3?" if MORE_GROUPS.fullmatch(role) else role
        return not self.roles.keys().isdisjoint((role, f"{role}?", more))


@dataclass(frozen=True)
class Measured:
    """A value and what comes with it; ``each``: the words', pairs' or groups' it summarises."""

    value: float
    statistic: float = math.nan
    test: PValue = UNTESTED
    reason: str = ""
    each: Mapping[str, float] = field(default_factory=dict)
    unbiased: float | None = None  # where it is not what ``About`` says
    interval: tuple[float, float] = (math.nan, math.nan)  # 95%, over resampled words
    resampled: tuple[float, ...] = ()


class Score(NamedTuple):
    """One row of the table of scores; ``docs/results.md`` says what each column means.

    Where the value or the p-value cannot be had it is NaN and ``reason`` says why. n_found and
    n_lost count the items of all word sets; ``lost`` names those outside the vocabulary and ``cut``
    those found but cut by the convention. ``part``: which one, where a score has several.
    ``least``, ``most``: the ends of the metric's scale.
    ``resampled``: the score over resamples of the words that are the same for every embedding
    (``intrinsic.resampling``), NaN where a resample has none; empty without ``resamples`` and
    where there is no score. ``settings``: how a language model was asked.
    """

    metric: str
    convention: str
    query: str
    part: str
    value: float
    low: float
    high: float
    unbiased: float
    least: float
    most: float
    statistic: float
    p_value: float
    p_low: float
    p_high: float
    p_method: str
    tail: str
    strict: bool
    n_found: int
    n_lost: int
    lost: str
    cut: str
    language: str
    dim: int
    reason: str
    resampled: tuple[float, ...]
    settings: str = ""


def make_row(about: About, convention: str, words: FoundQuery, part: str, one: Measured) -> Score:
    """The row of one score, or of one of its parts."""
    unbiased = about.unbiased if one.unbiased is None else one.unbiased
    finite = math.isfinite(one.value)
    found = words.measured.values()
    lost = [word for each in found for word in each.lost]
    return Score(
        metric=about.name,
        convention=convention,
        query=words.query.name,
        part=part,
        value=one.value if finite else math.nan,
        low=one.interval[0],
        high=one.interval[1],
        unbiased=math.nan if unbiased is None else unbiased,
        least=about.range[0],
        most=about.range[1],
        statistic=one.statistic,
        p_value=one.test.p,
        p_low=one.test.low,
        p_high=one.test.high,
        p_method=one.test.method,
        tail=one.test.tail,
        strict=one.test.strict,
        n_found=sum(len(each.words) for each in found) + len(words.cut),
        n_lost=len(lost),
        lost=",".join(lost),
        cut=",".join(words.cut),
        language=words.query.language,
        dim=words.vectors.vector_size,
        reason=one.reason or ("" if finite else "the score is 0 / 0 on these vectors"),
        resampled=one.resampled,
    )


def mean_score(names: Sequence[str], scores: Floats) -> Measured:
    """The mean of the scores, (names,) or (names, n); ``each``: every name's, or its mean."""
    single: Floats = scores if scores.ndim == 1 else scores.mean(axis=1)
    return Measured(float(scores.mean()), each=by_name(names, single))


def by_name(names: Sequence[str], scores: Floats) -> dict[str, float]:
    """The scores as plain numbers under their names."""
    values: list[float] = scores.tolist()
    return dict(zip(names, values, strict=True))


def percentiles(values: Sequence[float], resamples: int) -> tuple[float, float]:
    """The 2.5% and 97.5% quantiles of finite values; NaN if these are under nine tenths of
    ``resamples``, or all the same: that a set has a single word is no sign of no error.
    """
    finite = [value for value in values if math.isfinite(value)]
    if len(finite) < 0.9 * resamples:
        return math.nan, math.nan
    low, high = (float(np.quantile(finite, share)) for share in (0.025, 0.975))
    return (low, high) if low < high else (math.nan, math.nan)
