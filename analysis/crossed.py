r"""Bias of the embedding crossed with bias of the labels: how much of a gap's variance is whose.

Within bases b (unmodified embeddings, each with a run seed of its own) embeddings e meet levels l
of the labels (methods, directions and doses of ``debias.labels``), every one of a base's embeddings
every level:

    gap_bel = base_b + embedding_be + labels_bl + rest_bel

The components of variance are those of the analysis of variance (Searle, Casella & McCulloch,
1992): with E_b embeddings, L levels and the mean squares of embeddings within bases, of levels
within bases and of what is left,

    rest = MS_rest,   embedding = (MS_embedding - MS_rest) / L,
    labels = (sum_b E_b s_b^2 - B MS_rest) / sum_b E_b,   s_b^2: the variance of b's level means

and a share is a component over the sum of the three. An estimate below 0 counts as 0. The rest is
what neither explains: their interplay, and noise.

The correlations are partial: of score (``turned`` where less is more biased) and gap, both freed of
base and level; of the signed label dose (negative: debias) and the gap, both freed of the
embedding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analysis.arrays import Ints
from analysis.coefficients import both_finite
from analysis.columns import numbers, text_rows, texts
from analysis.joined import rows_of
from analysis.naming import DOSE_SIGN, GAP, SCORE, UNMODIFIED
from analysis.units import agreed, codes, weights_of
from analysis.within import NO_SPREAD, Estimate, jackknife_reach, z_error, z_interval

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Floats

Statistic = Callable[[Ints], float]

SLICE = ("task", *GAP, "label_method", *SCORE)


class Crossing(NamedTuple):
    """The gaps of a slice. Shapes: gap (units, levels), score (units,), base (units,), dose
    (levels,), signed.
    """

    gap: Floats
    score: Floats
    base: Ints
    dose: Floats

    def at(self, units: Ints) -> Crossing:
        """Some of the units, and of these those that share their base with another."""
        base = self.base[units]
        kept = units[np.bincount(base, minlength=1)[base] > 1] if len(units) else units
        return Crossing(self.gap[kept], self.score[kept], self.base[kept], self.dose)


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

    n_units: int
    n_bases: int
    n_levels: int
    n_left_out: int
    embedding: Estimate
    labels: Estimate
    rest: float
    partial_score: Estimate
    partial_labels: Estimate


def crossed_table(joined: pd.DataFrame) -> pd.DataFrame | None:
    """One row a gap, method on labels and score; None where nothing is crossed: fewer than two
    levels of labels, or no base with two embeddings.

    ``joined`` comes from ``analysis.joined.join_points``. Columns: task, measure, subset,
    privileged, unprivileged, label_method, metric, convention, query, part; ``n_units``,
    ``n_bases``, ``n_levels``; ``n_left_out``, embeddings without the score, or whose gap is not
    known at every level; ``share_embedding``, ``share_labels``, each with ``_low`` and ``_high``,
    and ``share_rest``, in [0, 1]; ``partial_score``, ``partial_labels``, in [-1, 1], each with its
    interval.

    A unit is an embedding, its value at a level the mean over classifiers that all have there, of
    replicates their mean. The intervals (95%) are jackknives that leave out one embedding after the
    other, of a share, or of the z of r: they answer for the choice of embeddings, and speak of
    these bases. The level without a method belongs to every method.
    """
    import pandas as pd

    rows: list[dict[str, str | float]] = []
    of_gap: dict[tuple[tuple[str, ...], bytes], Crossed] = {}
    for names, crossing, left_out in _crossings(joined):
        gap = names[: -len(SCORE)], crossing.gap.tobytes()
        if gap in of_gap:  # scores that the same embeddings have
            found = of_gap[gap]._replace(partial_score=score_interval(crossing))
        else:
            found = of_gap[gap] = cross(crossing, left_out)
        rows.append(dict(zip(SLICE, names, strict=True)) | _told(found))
    return pd.DataFrame(rows) if rows else None


def cross(of: Crossing, left_out: int = 0) -> Crossed:
    """Shares and partial correlations with their intervals."""
    units = len(of.gap)
    bases = len(set(of.base.tolist()))
    free = units - bases - 1
    return Crossed(
        units,
        bases,
        len(of.dose),
        left_out,
        _share_interval(of, "embedding", free),
        _share_interval(of, "labels", units - 1),
        max(0.0, components(of).share("rest")),
        score_interval(of),
        _r_interval(lambda kept: partial_labels(of.at(kept)), units, units - 1),
    )


def score_interval(of: Crossing) -> Estimate:
    """``partial_score`` with its interval."""
    free = len(of.gap) - len(set(of.base.tolist())) - 1
    return _r_interval(lambda kept: partial_score(of.at(kept)), len(of.gap), free)


def components(of: Crossing) -> Components:
    """The components of variance; NaN where no base has two units or there is one level."""
    levels = len(of.dose)
    if len(of.gap) == 0 or levels < 2:
        return Components()
    size, means = _base_means(of)
    of_unit: Floats = of.gap.mean(axis=1)
    of_base: Floats = means.mean(axis=1)
    left = of.gap - of_unit[:, None] - means[of.base] + of_base[of.base, None]
    present = size > 0
    free = float(size.sum() - present.sum())
    rest = float((left**2).sum()) / (free * (levels - 1))
    embedding = levels * float(((of_unit - of_base[of.base]) ** 2).sum()) / free
    of_level = ((means - of_base[:, None])[present] ** 2).sum(axis=1) / (levels - 1)
    labels = float((size[present] * of_level).sum() - present.sum() * rest) / float(size.sum())
    return Components((embedding - rest) / levels, labels, rest)


def partial_score(of: Crossing) -> float:
    """r of score and gap, freed of base and level; NaN where a side does not vary."""
    if not len(of.gap):
        return nan
    size, means = _base_means(of)
    total = np.bincount(of.base, weights=of.score)
    u = of.score - (total / np.maximum(size, 1))[of.base]
    return _cosine(np.repeat(u[:, None], len(of.dose), axis=1), of.gap - means[of.base])


def partial_labels(of: Crossing) -> float:
    """r of signed label dose and gap, freed of the embedding; NaN where a side does not vary."""
    if not len(of.gap):
        return nan
    u = np.repeat((of.dose - float(of.dose.mean()))[None], len(of.gap), axis=0)
    return _cosine(u, of.gap - of.gap.mean(axis=1, keepdims=True))


def _base_means(of: Crossing) -> tuple[Floats, Floats]:
    """The number of units and the mean gap by base. Shapes: (bases,), (bases, levels)."""
    size: Floats = np.bincount(of.base).astype(float)
    sums = np.zeros((len(size), len(of.dose)))
    np.add.at(sums, of.base, of.gap)
    means: Floats = sums / np.maximum(size, 1)[:, None]
    return size, means


def _cosine(u: Floats, v: Floats) -> float:
    spread = sqrt(float((u * u).sum()) * float((v * v).sum()))
    return float((u * v).sum()) / spread if spread > NO_SPREAD else nan


def _share_interval(of: Crossing, name: str, free: int) -> Estimate:
    """share -+ t s, cut at 0 and 1 (``analysis.within.jackknife_reach``): a share near 0 has no z
    that would be more even. A share below 0 counts as 0, and its interval is [0, t s].
    """
    every = np.arange(len(of.gap))
    value = max(0.0, components(of).share(name))
    left_out = _without_each(lambda kept: components(of.at(kept)).share(name), every)
    reach = jackknife_reach(left_out, free)
    if not isfinite(reach):
        return Estimate(value)
    low, high = np.clip([value - reach, value + reach], 0, 1).tolist()
    return Estimate(value, low, high)


def _r_interval(statistic: Statistic, units: int, free: int) -> Estimate:
    every = np.arange(units)
    return z_interval(statistic(every), z_error(_without_each(statistic, every), free))


def _without_each(statistic: Statistic, units: Ints) -> Floats:
    """A statistic without each unit in turn. Shape (units,)."""
    return np.array([statistic(np.delete(units, place)) for place in units], dtype=float)


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
            if each == UNMODIFIED:
                continue
            rows = np.flatnonzero((place == number) & np.isin(method, (each, UNMODIFIED)))
            crossing, left_out = _crossing(joined.iloc[rows], dose[rows])
            if len(crossing.gap):
                yield (*kind[:5], each, *kind[5:]), crossing, left_out


def _crossing(rows: pd.DataFrame, dose: Floats) -> tuple[Crossing, int]:
    """The embeddings that have every level, in each the mean over settings that all of them have,
    and how many have not.
    """
    levels, level = np.unique(dose, return_inverse=True)
    every = rows_of(rows)
    units, at, unit = np.unique(every.unit, return_index=True, return_inverse=True)
    base = np.unique(every.base[at], return_inverse=True)[1]
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
    found = Crossing(gap, x, base, levels).at(whole)
    return (found if len(levels) > 1 else found.at(whole[:0])), len(units) - len(whole)


def _told(found: Crossed) -> dict[str, float | int]:
    estimates = {
        "share_embedding": found.embedding,
        "share_labels": found.labels,
        "partial_score": found.partial_score,
        "partial_labels": found.partial_labels,
    }
    told: dict[str, float | int] = dict(zip(Crossed._fields[:4], found[:4], strict=True))
    for name, (value, low, high) in estimates.items():
        told |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return told | {"share_rest": found.rest}
