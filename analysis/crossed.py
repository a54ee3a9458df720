"""Bias of the embedding crossed with bias of the labels: the share of a gap's variance of each.

Within parents b (unmodified embeddings, each with its own run seed) embeddings e meet levels l of
the labels (methods, directions and doses of ``biasbridge.debias.labels``), every embedding of a
parent at every level:

    gap_bel = parent_b + embedding_be + labels_bl + rest_bel

The components of variance are those of the analysis of variance (Searle, Casella & McCulloch,
1992): with E_b embeddings, L levels and the mean squares of embeddings within parents, of levels
within parents and of the residual,

    rest = MS_rest,   embedding = (MS_embedding - MS_rest) / L,
    labels = (sum_b E_b s_b^2 - B MS_rest) / sum_b E_b,   s_b^2: the variance of b's level means

and a share is a component over the sum of the three. An estimate below 0 counts as 0. The rest is
interaction and noise.

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

from biasbridge.analysis.correlation import ONE_THREAD, Correlation, correlation
from biasbridge.analysis.frame import as_float, as_text, text_rows
from biasbridge.analysis.joined import rows_of
from biasbridge.analysis.naming import CONTROL, DOSE_SIGN, GAP, SCORE
from biasbridge.analysis.residuals import NO_SPREAD, factorize
from biasbridge.analysis.rows import both_finite, row_weights, select_comparable
from biasbridge.analysis.slice_results import FEW_PERMUTATIONS
from biasbridge.stats.intervals import Estimate

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats, Ints

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
        """Return the given units that share their parent with another of them."""
        parent = self.parent[units]
        shared = units[np.bincount(parent, minlength=1)[parent] > 1] if len(units) else units
        return Crossing(self.gap[shared], self.score[shared], self.parent[shared], self.dose)


class Components(NamedTuple):
    """Components of variance; an estimate may lie below 0."""

    embedding: float = nan
    labels: float = nan
    rest: float = nan

    def share(self, name: str) -> float:
        """Return the share of one component in the total; negative where its estimate is."""
        total = sum(max(0.0, component) for component in self)
        return float(self._asdict()[name]) / total if total > 0 else nan


class Crossed(NamedTuple):
    """The result of a slice: see ``crossed_table``."""

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
    """Return one row per gap, label method and score; None without a crossing: fewer than two
    levels of labels, or no parent with two embeddings.

    docs/results.md documents the columns. The value of an embedding at a level is the mean over the
    classifiers that all embeddings have there, each the mean of its replicates. The level without a
    method belongs to every method. Intervals hold for these words and items.
    """
    rows = [
        dict(zip(SLICE, names, strict=True)) | _row(cross(crossing, left_out))
        for names, crossing, left_out in _crossings(joined)
    ]
    return pd.DataFrame(rows) if rows else None


def cross(crossing: Crossing, left_out: int = 0) -> Crossed:
    """Return shares; r_rm of score and mean gap over levels, within parents; r_rm of label dose and
    gap, within embeddings.
    """
    models, levels = crossing.gap.shape
    parents = len(set(crossing.parent.tolist()))
    dose, model = np.tile(crossing.dose, models), np.repeat(np.arange(models), levels)
    return Crossed(
        models,
        parents,
        levels,
        left_out,
        _share_interval(crossing, "embedding", models - parents - 1),
        _share_interval(crossing, "labels", models - 1),
        _share(crossing, "rest"),
        correlation(
            crossing.score,
            crossing.gap.mean(axis=1),
            crossing.parent,
            permutations=FEW_PERMUTATIONS,
        ),
        correlation(dose, crossing.gap.ravel(), model, permutations=FEW_PERMUTATIONS),
    )


def components(crossing: Crossing) -> Components:
    """Return the components of variance; NaN without parents of two models or two levels."""
    levels = len(crossing.dose)
    if len(crossing.gap) == 0 or levels < 2:
        return Components()
    size: Floats = np.bincount(crossing.parent).astype(float)
    sums = np.zeros((len(size), levels))
    np.add.at(sums, crossing.parent, crossing.gap)
    means: Floats = sums / np.maximum(size, 1)[:, None]
    unit_means: Floats = crossing.gap.mean(axis=1)
    parent_means: Floats = means.mean(axis=1)
    parent = crossing.parent
    residual = crossing.gap - unit_means[:, None] - means[parent] + parent_means[parent, None]
    present = size > 0
    free = float(size.sum() - present.sum())
    rest = float((residual**2).sum()) / (free * (levels - 1))
    embedding = levels * float(((unit_means - parent_means[crossing.parent]) ** 2).sum()) / free
    level_variance = ((means - parent_means[:, None])[present] ** 2).sum(axis=1) / (levels - 1)
    between_levels = float((size[present] * level_variance).sum())
    labels = (between_levels - present.sum() * rest) / float(size.sum())
    return Components((embedding - rest) / levels, labels, rest)


def _share(crossing: Crossing, name: str) -> float:
    """Return a share of variance, a negative estimate as 0; NaN where nothing varies."""
    return float(np.maximum(0.0, components(crossing).share(name)))


def _share_interval(crossing: Crossing, name: str, df: int) -> Estimate:
    """Return share -+ t s, s the jackknife standard error over embeddings, clipped to [0, 1].

    A share below 0 counts as 0; its interval is [0, t s].
    """
    n, units = len(crossing.gap), np.arange(len(crossing.gap))
    value = _share(crossing, name)
    jackknife = np.array([components(crossing.at(np.delete(units, i))).share(name) for i in units])
    variance = (n - 1) / n * float(((jackknife - jackknife.mean()) ** 2).sum()) if n else nan
    if df < 1 or not (isfinite(variance) and variance > NO_SPREAD):
        return Estimate(value)
    half_width = float(scipy.special.stdtrit(df, 0.975)) * sqrt(variance)
    low, high = np.clip([value - half_width, value + half_width], 0, 1).tolist()
    return Estimate(value, low, high)


def _crossings(joined: pd.DataFrame) -> Iterator[tuple[tuple[str, ...], Crossing, int]]:
    """Yield each crossed slice, with the number of its units that lack a level."""
    if "label_method" not in joined:
        return
    method = np.array(as_text(joined, "label_method"))
    sign = np.array([DOSE_SIGN.get(text, 0.0) for text in as_text(joined, "label_direction")])
    dose = sign * np.nan_to_num(as_float(joined, "label_dose"))
    names = text_rows(joined, ("task", *GAP, *SCORE))
    kind_names = list(dict.fromkeys(names))
    numbers_by_name = {name: number for number, name in enumerate(kind_names)}
    kind_numbers = np.array([numbers_by_name[name] for name in names])
    for number, kind in enumerate(kind_names):
        for label_method in dict.fromkeys(method[kind_numbers == number].tolist()):
            if label_method == CONTROL:
                continue
            rows = np.flatnonzero(
                (kind_numbers == number) & np.isin(method, (label_method, CONTROL))
            )
            crossing, left_out = _crossing(joined.iloc[rows], dose[rows])
            if len(crossing.gap):
                yield (*kind[:5], label_method, *kind[5:]), crossing, left_out


def _crossing(rows: pd.DataFrame, dose: Floats) -> tuple[Crossing, int]:
    """Average the embeddings that have every level over shared settings; count the others."""
    levels, level = np.unique(dose, return_inverse=True)
    all_rows = rows_of(rows)
    units, first_row, unit = np.unique(all_rows.model, return_index=True, return_inverse=True)
    parent = np.unique(all_rows.parent[first_row], return_inverse=True)[1]
    planned = np.zeros((len(units), len(levels)), dtype=bool)
    planned[unit, level] = True
    planned_rows = np.flatnonzero(np.logical_and.reduce(planned, axis=1)[unit])
    has_pair, kind = both_finite(all_rows.x, all_rows.y), factorize(all_rows.setting)
    columns = factorize(unit[planned_rows]), factorize(kind[planned_rows]), has_pair[planned_rows]
    used_rows = planned_rows[select_comparable(*columns, max_missing=1)[0]]
    cell = unit[used_rows] * len(levels) + level[used_rows]
    weights = row_weights(factorize(cell), kind[used_rows])
    gap, x = np.full(planned.shape, nan), np.full(len(units), nan)
    gap[unit[used_rows], level[used_rows]] = 0
    np.add.at(gap, (unit[used_rows], level[used_rows]), weights * all_rows.y[used_rows])
    x[unit[used_rows]] = all_rows.x[used_rows]
    measured = np.flatnonzero(np.isfinite(gap).all(axis=1))
    crossing = Crossing(gap, x, parent, levels).at(measured)
    return (crossing if len(levels) > 1 else crossing.at(measured[:0])), len(units) - len(measured)


def _row(result: Crossed) -> dict[str, float | int]:
    estimates = {
        "share_embedding": result.embedding,
        "share_labels": result.labels,
        "r_score": result.score.interval,
        "r_labels": result.dose.interval,
    }
    row: dict[str, float | int] = dict(zip(Crossed._fields[:4], result[:4], strict=True))
    for name, (value, low, high) in estimates.items():
        row |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return row | {"share_rest": result.rest}
