r"""Bias of the embedding crossed with bias of the labels: how much of a gap's variance is whose.

Within parents b (unmodified embeddings, each with a run seed of its own) embeddings e meet levels l
of the labels (methods, directions and doses of ``debias.labels``), every one of a parent's
embeddings every level:

    gap_bel = parent_b + embedding_be + labels_bl + rest_bel

The components of variance are those of the analysis of variance (Searle, Casella & McCulloch,
1992): with E_b embeddings, L levels and the mean squares of embeddings within parents, of levels
within parents and of what is left,

    rest = MS_rest,   embedding = (MS_embedding - MS_rest) / L,
    labels = (sum_b E_b s_b^2 - B MS_rest) / sum_b E_b,   s_b^2: the variance of b's level means

and a share is a component over the sum of the three. An estimate below 0 counts as 0. The rest is
what neither explains: their interplay, and noise.

The correlations are r_rm: of score and gap (its mean over levels) within parents; of the signed
label dose (negative: debias) and the gap within embeddings.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import scipy

from analysis.correlation import ONE_THREAD, Correlation, Estimate, correlation
from analysis.findings import EXPLORED
from analysis.frame import numbers, text_rows, texts
from analysis.joined import rows_of
from analysis.naming import CONTROL, DOSE_SIGN, GAP, SCORE
from analysis.residuals import NO_SPREAD, codes
from analysis.rows import agreed, both_finite, weights_of

if TYPE_CHECKING:
    from analysis.arrays import Floats, Ints

SLICE = ("task", *GAP, "label_method", *SCORE)


class Crossing(NamedTuple):
    """The gaps of a slice. Shapes: gap (units, levels), score (units,), parent (units,), dose
    (levels,), signed.
    """

    gap: Floats
    score: Floats
    parent: Ints
    dose: Floats

    def at(self, units: Ints) -> Crossing:
        """Some of the units, and of these those that share their parent with another."""
        parent = self.parent[units]
        kept = units[np.bincount(parent, minlength=1)[parent] > 1] if len(units) else units
        return Crossing(self.gap[kept], self.score[kept], self.parent[kept], self.dose)


class Components(NamedTuple):
    """Components of variance; an estimate may lie below 0."""

    embedding: float = nan
    labels: float = nan
    rest: float = nan

    def share(self, name: str) -> float:
        """The share of one of them in all; negative where its estimate is."""
        total = sum(max(0.0, each) for each in self)
        return float(self._asdict()[name]) / total if total > 0 else nan


class Crossed(NamedTuple):
    """What is found of a slice: see ``crossed_table``."""

    n: int
    n_parents: int
    n_levels: int
    n_left_out: int
    embedding: Estimate
    labels: Estimate
    rest: float
    score: Correlation
    dose: Correlation


@ONE_THREAD
def crossed_table(joined: pd.DataFrame) -> pd.DataFrame | None:
    """One row a gap, method on labels and score; None where nothing is crossed: fewer than two
    levels of labels, or no parent with two embeddings.

    docs/results.md says what its columns mean. The value of an embedding at a level is the mean
    over classifiers that all have there, of replicates their mean. The level without a method
    belongs to every method. Intervals hold for these words and items.
    """
    rows = [
        dict(zip(SLICE, names, strict=True)) | _row(cross(crossing, left_out))
        for names, crossing, left_out in _crossings(joined)
    ]
    return pd.DataFrame(rows) if rows else None


def cross(of: Crossing, left_out: int = 0) -> Crossed:
    """Shares; r_rm of score and mean gap over levels, within parents; r_rm of label dose and gap,
    within embeddings.
    """
    models, levels = of.gap.shape
    parents = len(set(of.parent.tolist()))
    dose, model = np.tile(of.dose, models), np.repeat(np.arange(models), levels)
    return Crossed(
        models,
        parents,
        levels,
        left_out,
        _share_interval(of, "embedding", models - parents - 1),
        _share_interval(of, "labels", models - 1),
        max(0.0, components(of).share("rest")),
        correlation(of.score, of.gap.mean(axis=1), of.parent, permutations=EXPLORED),
        correlation(dose, of.gap.ravel(), model, permutations=EXPLORED),
    )


def components(of: Crossing) -> Components:
    """The components of variance; NaN where no parent has two models or there is one level."""
    levels = len(of.dose)
    if len(of.gap) == 0 or levels < 2:
        return Components()
    size: Floats = np.bincount(of.parent).astype(float)
    sums = np.zeros((len(size), levels))
    np.add.at(sums, of.parent, of.gap)
    means: Floats = sums / np.maximum(size, 1)[:, None]
    of_unit: Floats = of.gap.mean(axis=1)
    of_parent: Floats = means.mean(axis=1)
    left = of.gap - of_unit[:, None] - means[of.parent] + of_parent[of.parent, None]
    present = size > 0
    free = float(size.sum() - present.sum())
    rest = float((left**2).sum()) / (free * (levels - 1))
    embedding = levels * float(((of_unit - of_parent[of.parent]) ** 2).sum()) / free
    of_level = ((means - of_parent[:, None])[present] ** 2).sum(axis=1) / (levels - 1)
    labels = float((size[present] * of_level).sum() - present.sum() * rest) / float(size.sum())
    return Components((embedding - rest) / levels, labels, rest)


def _share_interval(of: Crossing, name: str, df: int) -> Estimate:
    """share -+ t s, s the jackknife standard error over embeddings, cut at 0 and 1. A share below 0
    counts as 0, and its interval is [0, t s].
    """
    n, every = len(of.gap), np.arange(len(of.gap))
    value = max(0.0, components(of).share(name))
    left_out = np.array([components(of.at(np.delete(every, i))).share(name) for i in every])
    variance = (n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum()) if n else nan
    if df < 1 or not (isfinite(variance) and variance > NO_SPREAD):
        return Estimate(value)
    reach = float(scipy.special.stdtrit(df, 0.975)) * sqrt(variance)
    low, high = np.clip([value - reach, value + reach], 0, 1).tolist()
    return Estimate(value, low, high)


def _crossings(joined: pd.DataFrame) -> Iterator[tuple[tuple[str, ...], Crossing, int]]:
    """Each slice that is crossed, and how many of its units lack a level."""
    if "label_method" not in joined:
        return
    method = np.array(texts(joined, "label_method"))
    sign = np.array([DOSE_SIGN.get(text, 0.0) for text in texts(joined, "label_direction")])
    dose = sign * np.nan_to_num(numbers(joined, "label_dose"))
    names = text_rows(joined, ("task", *GAP, *SCORE))
    kinds = list(dict.fromkeys(names))
    place = np.array([dict(zip(kinds, range(len(kinds)), strict=True))[name] for name in names])
    for number, kind in enumerate(kinds):
        for each in dict.fromkeys(method[place == number].tolist()):
            if each == CONTROL:
                continue
            rows = np.flatnonzero((place == number) & np.isin(method, (each, CONTROL)))
            crossing, left_out = _crossing(joined.iloc[rows], dose[rows])
            if len(crossing.gap):
                yield (*kind[:5], each, *kind[5:]), crossing, left_out


def _crossing(rows: pd.DataFrame, dose: Floats) -> tuple[Crossing, int]:
    """The embeddings that have every level, in each the mean over settings that all of them have,
    and how many have not.
    """
    levels, level = np.unique(dose, return_inverse=True)
    every = rows_of(rows)
    units, at, unit = np.unique(every.model, return_index=True, return_inverse=True)
    parent = np.unique(every.parent[at], return_inverse=True)[1]
    planned = np.zeros((len(units), len(levels)), dtype=bool)
    planned[unit, level] = True
    meant = np.flatnonzero(np.logical_and.reduce(planned, axis=1)[unit])
    known, kind = both_finite(every.x, every.y), codes(every.setting)
    kept = meant[agreed(codes(unit[meant]), codes(kind[meant]), known[meant], most=1)[0]]
    cell = unit[kept] * len(levels) + level[kept]
    weights = weights_of(codes(cell), kind[kept])
    gap, x = np.full(planned.shape, nan), np.full(len(units), nan)
    gap[unit[kept], level[kept]] = 0
    np.add.at(gap, (unit[kept], level[kept]), weights * every.y[kept])
    x[unit[kept]] = every.x[kept]
    whole = np.flatnonzero(np.isfinite(gap).all(axis=1))
    found = Crossing(gap, x, parent, levels).at(whole)
    return (found if len(levels) > 1 else found.at(whole[:0])), len(units) - len(whole)


def _row(found: Crossed) -> dict[str, float | int]:
    estimates = {
        "share_embedding": found.embedding,
        "share_labels": found.labels,
        "r_score": found.score.interval,
        "r_labels": found.dose.interval,
    }
    row: dict[str, float | int] = dict(zip(Crossed._fields[:4], found[:4], strict=True))
    for name, (value, low, high) in estimates.items():
        row |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return row | {"share_rest": found.rest}
