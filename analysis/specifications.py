"""The specification curve: r within bases under every defensible choice of an analysis, and what
such a curve would look like if no gap followed any score (Simonsohn, Simmons & Nelson, 2020).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analysis.columns import numbers, positions, text_rows, texts
from analysis.joined import bias_sign, rows_of
from analysis.naming import ALL, GAP, SCORE, UNMODIFIED
from analysis.permutation import LEAST_SHARE, ONE_THREAD, orders
from analysis.units import MOST_LACKING, agreed, codes, dependent, share_corpora, weights_of
from analysis.within import (
    FEWEST_FREE,
    NEARLY_1,
    NO_SPREAD,
    indicators,
    interval,
    residuals,
)

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Floats, Ints, Truths
    from analysis.permutation import Orders

GAP_OF = ("classifier", *GAP)
CHOICES = ("embedding", "method", "classifier", *SCORE, *GAP)
RESAMPLES = 1_999
CELLS = 20_000_000  # specifications times permutations
BEYOND = 2.0  # |t| that a specification by itself would be called an association at
Key = tuple[str, ...]


class Specification(NamedTuple):
    """One analysis: a level of each of ``CHOICES`` (``all``: together), how many embeddings, r
    within bases with its 95% interval, and where the curve under no association lies at its rank.
    """

    levels: Key
    n_units: int
    r: float
    low: float
    high: float
    null_low: float = nan
    null_high: float = nan


class Level(NamedTuple):
    """The specifications with one level of a choice: how many, their median r, the share above 0.

    ``decides``: the share of the variance of the sign over all specifications that lies between the
    levels of the choice, adjusted for their number, with its permutation ``p``; NaN where all signs
    agree.
    """

    choice: str
    level: str
    specifications: int
    median: float
    above: float
    decides: float
    p: float


class Curve(NamedTuple):
    """The specifications of a task in order of r, and three tests of no association in any of them:
    ``median`` r; ``agree``, the share of the more frequent sign; ``beyond``, the share with that
    sign and |t| of 2 or more. ``left_out`` says which gaps and units are not in it.
    """

    task: str
    specifications: Sequence[Specification]
    levels: Sequence[Level]
    median: float
    median_p: float
    agree: float
    agree_p: float
    beyond: float
    beyond_p: float
    left_out: str = ""

    @property
    def decisive(self) -> Level | None:
        """A level of the choice that decides most of the sign; None where all signs agree."""
        known = [each for each in self.levels if each.decides > 0]
        return max(known, key=lambda each: each.decides, default=None)

    def told(self) -> str:
        """The curve in a few sentences."""
        sign = "above" if self.median > 0 else "below"
        text = (
            f"{self.task}: {len(self.specifications)} specifications, median r within bases"
            f" {self.median:.2f} (p {self.median_p:.2g}); {self.agree:.0%} agree in sign"
            f" (p {self.agree_p:.2g}), {self.beyond:.0%} lie {sign} 0 by themselves"
            f" (p {self.beyond_p:.2g}), all for these words and test items."
        )
        if not (first := self.decisive):
            return text
        share = f"{first.decides:.0%} of its variance lies between its levels"
        return f"{text} {first.choice} decides the sign most: {share} (p {first.p:.2g})."


class Block(NamedTuple):
    """The scores and gaps of the embeddings of a task: x (units, scores), turned so that more is
    more biased, y (units, gaps), the ``base`` that association is looked for within and the
    ``cluster`` that is independent of others and the ``corpus`` it was trained on (units,), the
    labels of the units, the rows behind them with the ``weight`` of each in its gap, and what is
    left out for lack of a gap. A score's key is its ``SCORE``, a gap's ``GAP_OF``.
    """

    x: Floats
    y: Floats
    scores: Sequence[Key]
    gaps: Sequence[Key]
    base: Ints
    cluster: Ints
    corpus: Ints
    unit: Sequence[str]
    embedding: Sequence[str]
    method: Sequence[str]
    part: pd.DataFrame
    left_out: str

    def dependent(self, units: Ints) -> bool:
        """Whether units (their places) of one cluster, or of one corpus, would be taken as
        independent.
        """
        base, corpus = self.base[units], self.corpus[units]
        return dependent(base, self.cluster[units]) or share_corpora(units, base, corpus)


class _Group(NamedTuple):
    """Specifications on the same units (their places) and the same gap."""

    units: Ints
    gap: int
    scores: Ints
    levels: Sequence[Key]


@ONE_THREAD
def specification_curves(joined: pd.DataFrame, *, resamples: int = RESAMPLES) -> list[Curve]:
    """A curve for every task of the joined table that has two specifications or more.

    A specification is a score (metric, convention, query, part), a gap (measure, subset, groups), a
    classifier, and the embeddings used: each training algorithm or all, each method with the
    unmodified embeddings or all. It needs 8 degrees of freedom, as a verdict does. Scores without
    an unbiased value, measures of utility, are left out; in all others more is more biased
    (``turned`` ones have their sign changed).

    The null: gaps change places among the embeddings of a base, all gaps of an embedding together
    and the same for all specifications, so that what these share is kept. Tests are of t = z over
    its standard error under r = 0 (``analysis.permutation``), two-sided.
    """
    found = []
    for task, block in blocks(joined):
        groups = list(_groups(block))
        if sum(len(group.levels) for group in groups) > 1:
            found.append(_curve(task, block, groups, resamples))
    return found


def blocks(joined: pd.DataFrame) -> Iterator[tuple[str, Block]]:
    """The scores and gaps of every task of the joined table."""
    joined = joined.assign(stratum=rows_of(joined).stratum)
    for task, part in joined.groupby("task", sort=False):
        yield str(task), _block(part)


def _block(part: pd.DataFrame) -> Block:
    """The task's embeddings whose gaps are all defined, and its scores with an unbiased value."""
    part = part[np.isfinite(numbers(part, "unbiased"))]
    part = part.assign(weight=_weights(part))
    names = list(dict.fromkeys(texts(part, "unit")))
    place = {name: i for i, name in enumerate(names)}
    unit = np.array([place[name] for name in texts(part, "unit")], dtype=np.intp)
    first = np.unique(unit, return_index=True)[1]
    x, y = bias_sign(part) * numbers(part, "x"), numbers(part, "y")
    scores, x = _means(unit, text_rows(part, SCORE), x, np.isfinite(x).astype(float))
    gaps, y = _means(unit, text_rows(part, GAP_OF), y, numbers(part, "weight"))
    some = y[~np.isnan(y).all(axis=1)]  # what failed lacks everything: it says nothing of one gap
    lacking: Truths = np.isnan(some).sum(axis=0) > MOST_LACKING * len(some)
    kept: Truths = np.isnan(y[:, ~lacking]).sum(axis=1) == 0
    said = [f"{lacking.sum()} gaps that many embeddings lack"] if lacking.any() else []
    said += [f"{(~kept).sum()} embeddings that lack a gap"] if not kept.all() else []
    left = np.flatnonzero(kept)
    at = first[left]
    named = ("embedding", "method", "cluster", "stratum")
    embedding, method, cluster, stratum = (texts(part.iloc[at], name) for name in named)
    corpus = rows_of(part.iloc[at]).corpus
    held = [key for key, gone in zip(gaps, lacking, strict=True) if not gone]
    return Block(
        x[left],
        y[left][:, ~lacking],
        scores,
        held,
        codes(np.array(stratum, dtype=str)),
        codes(np.array(cluster, dtype=str)),
        codes(corpus),
        [names[each] for each in left],
        embedding,
        method,
        part,
        "; ".join(said),
    )


def _weights(part: pd.DataFrame) -> Floats:
    """What each row counts for in the gap of its embedding and classifier, which is a mean over
    settings (sources, doses of labels) that all embeddings have, trainings within each; 0 for what
    is not used. Shape (rows,).
    """
    rows = rows_of(part)
    found = np.zeros(len(part))
    for places in positions(text_rows(part, GAP_OF)).values():
        unit, kind = codes(rows.unit[places]), codes(rows.setting[places])
        kept, pattern = agreed(unit, kind, np.isfinite(rows.y[places]))
        kept &= pattern == np.bincount(pattern).argmax()  # where settings are not shared at all
        used = np.flatnonzero(kept)
        found[places[used]] = weights_of(codes(unit[used]), kind[used])
    return found


def _means(
    unit: Ints, keys: Sequence[Key], values: Floats, weights: Floats
) -> tuple[list[Key], Floats]:
    """The weighted mean of each unit and key; NaN where all weights are 0. Shape (units, keys)."""
    names = list(dict.fromkeys(keys))
    place = {name: i for i, name in enumerate(names)}
    column = np.array([place[key] for key in keys], dtype=np.intp)
    shape = (int(unit.max(initial=-1)) + 1, len(names))
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, (unit, column), np.where(weights > 0, values, 0) * weights)
    np.add.at(counts, (unit, column), weights)
    with np.errstate(invalid="ignore"):
        means: Floats = sums / counts
    return names, means


def _groups(block: Block) -> Iterator[_Group]:
    """The specifications by what they are computed on."""
    embedding, method = np.array(block.embedding, dtype=str), np.array(block.method, dtype=str)
    embeddings = list(dict.fromkeys(block.embedding))
    methods = [each for each in dict.fromkeys(block.method) if each != UNMODIFIED]
    known = np.isfinite(block.x)
    for e, m in product(
        *([ALL, *each] if len(each) > 1 else [ALL] for each in (embeddings, methods))
    ):
        chosen: Truths = np.isin(embedding, embeddings if e == ALL else [e])
        chosen &= np.isin(method, [*methods, UNMODIFIED] if m == ALL else [m, UNMODIFIED])
        patterns: dict[bytes, list[int]] = {}
        for score in range(known.shape[1]):
            patterns.setdefault((chosen & known[:, score]).tobytes(), []).append(score)
        for pattern, scores in patterns.items():
            units = np.flatnonzero(np.frombuffer(pattern, dtype=bool))
            sizes = np.bincount(block.base[units])
            if sizes.sum() - (sizes > 0).sum() - 1 < FEWEST_FREE:
                continue
            if block.dependent(units):
                continue
            told = units[sizes[block.base[units]] > 1]
            for gap, (classifier, *of_gap) in enumerate(block.gaps):
                vary = [i for i in scores if _varies(block.x[told, i], block.base[told])]
                if vary and _varies(block.y[told, gap], block.base[told]):
                    levels = [(e, m, classifier, *block.scores[i], *of_gap) for i in vary]
                    yield _Group(told, gap, np.array(vary, dtype=np.intp), levels)


def _varies(values: Floats, base: Ints) -> bool:
    return bool((_freed(values[None], base) ** 2).sum() > NO_SPREAD * (values**2).sum())


def _freed(values: Floats, base: Ints) -> Floats:
    """Rows freed of the means of the bases. Shape (rows, units)."""
    share = indicators(np.unique(base, return_inverse=True)[1])
    left: Floats = values - (values @ share / share.sum(axis=0)) @ share.T
    return left


def _curve(task: str, block: Block, groups: Sequence[_Group], resamples: int) -> Curve:
    count = sum(len(group.levels) for group in groups)
    resamples = max(199, min(resamples, CELLS // count))
    place = orders(tuple(block.base.tolist()), resamples)
    place = np.concatenate([np.arange(len(block.base), dtype=place.dtype)[None], place])
    r, t = (
        np.concatenate(each, axis=1)
        for each in zip(*(_studentised(block, group, place) for group in groups), strict=True)
    )
    low, high = np.quantile(np.sort(r[1:], axis=1), [0.025, 0.975], axis=0)
    made = [_specification(block, group, i) for group in groups for i in range(len(group.scores))]
    order = np.argsort([each.r for each in made], kind="stable")
    ranked = [
        made[at]._replace(null_low=float(low[rank]), null_high=float(high[rank]))
        for rank, at in enumerate(order.tolist())
    ]
    above = (t > 0).mean(axis=1)
    agree = np.maximum(above, 1 - above)
    sign = np.where(above >= 0.5, 1, -1)
    beyond: Floats = (t * sign[:, None] >= BEYOND).mean(axis=1)
    return Curve(
        task,
        ranked,
        _levels([each.levels for each in made], r),
        median=float(np.median(r[0])),
        median_p=_p(np.abs(np.median(t, axis=1))),
        agree=float(agree[0]),
        agree_p=_p(agree),
        beyond=float(beyond[0]),
        beyond_p=_p(beyond),
        left_out=block.left_out,
    )


def _p(statistic: Floats) -> float:
    """(1 + #{permuted >= observed}) / (1 + permutations); the observed one comes first."""
    return float((statistic >= statistic[0] - 1e-9).mean())


def _studentised(block: Block, group: _Group, place: Orders) -> tuple[Floats, Floats]:
    """r and t of the specifications of a group for every order of the units, the observed first.
    Shapes (orders, scores).
    """
    base = np.unique(block.base[group.units], return_inverse=True)[1]
    share = indicators(base)
    u = _unit(_freed(block.x[np.ix_(group.units, group.scores)].T, base))
    v = _unit(_freed(block.y[:, group.gap][place[:, group.units]], base))
    m = share.sum(axis=0)
    factor = np.where(m > 2, m / np.maximum(m - 2, 1), 2)
    u2, v2 = u * u, v * v
    of_strata = np.where(m > 2, factor / (m * (m - 1)), 0)
    fixed: Floats = (v2 @ share) @ (of_strata * (u2 @ share)).T
    variance: Floats = np.maximum(v2 @ (u2 * factor[base]).T - fixed, LEAST_SHARE * (v2 @ u2.T))
    r: Floats = np.clip(v @ u.T, -NEARLY_1, NEARLY_1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t: Floats = np.nan_to_num(np.arctanh(r) / np.sqrt(variance))
    return r, t


def _unit(rows: Floats) -> Floats:
    """Rows of length 1; rows of length 0 stay."""
    lengths: Floats = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return rows / np.where(lengths > 0, lengths, 1)


def _specification(block: Block, group: _Group, number: int) -> Specification:
    x, y = block.x[group.units, group.scores[number]], block.y[group.units, group.gap]
    base = np.unique(block.base[group.units], return_inverse=True)[1]
    found = interval(residuals(x, y, base))
    return Specification(group.levels[number], len(group.units), *found)


def _levels(levels: Sequence[Key], r: Floats) -> list[Level]:
    """For every choice with several levels what each of them has, and how much it decides."""
    found = []
    signs = np.sign(r)
    for place, choice in enumerate(CHOICES):
        own = np.array([key[place] for key in levels], dtype=str)
        names = list(dict.fromkeys(own.tolist()))
        if len(names) < 2:
            continue
        share = indicators(np.array([names.index(name) for name in own.tolist()], dtype=np.intp))
        decides = _between(signs, share)
        known = bool(np.isfinite(decides[0]))
        p = _p(np.nan_to_num(decides, nan=-np.inf)) if known else nan
        for name in names:
            at = own == name
            told = float(np.median(r[0, at])), float((r[0, at] > 0).mean())
            found.append(Level(choice, name, int(at.sum()), *told, float(decides[0]), p))
    return found


def _between(values: Floats, share: Floats) -> Floats:
    """epsilon^2 = 1 - (1 - eta^2) (n - 1) / (n - k) of each row, eta^2 the share of its variance
    between k levels; NaN where it does not vary. Shapes: (rows, n), (n, k) -> (rows,).
    """
    n, k = share.shape
    centred = values - values.mean(axis=1, keepdims=True)
    between: Floats = ((centred @ share) ** 2 / share.sum(axis=0)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        eta2: Floats = between / (centred**2).sum(axis=1)
    share_between: Floats = 1 - (1 - eta2) * (n - 1) / max(1, n - k)
    return share_between
