"""Effect of each condition (``biasbridge effects``): the change of a score, a gap and the task's
utility against the parent, the unmodified embedding.

    D_b = value of the modified embedding of parent b - value of the reference of b,
    D = mean over clusters of their mean D_b

The reference is the parent or, for overbiasing, the debiased embedding of the same method, words
and dose. Clusters are the independent units (``biasbridge.analysis.joined.origins``), parents where
all share one. The error of D has two sources, and the interval is D +- t sqrt(e^2),

    e^2 = max(0, s^2 - c) / m + w,     t: of Satterthwaite's degrees of freedom

s^2: the variance of the m clusters' means, from the chance of training; w: the variance of D over
resamples of items (test items of a gap, words of a score), drawn alike for all embeddings; c: the
variance between clusters of the effect of a resample, which s^2 already contains. With fewer than 3
clusters the variance of training is unknown, and the interval covers items alone. It is clipped
where the value would leave its scale: WEAT of 1 falls by 3 at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from biasbridge.analysis.frame import as_arrays, text_rows, typed
from biasbridge.analysis.joined import SETTINGS, TRAINING_DRAWS, origins, utility_rows
from biasbridge.analysis.naming import (
    ALL,
    CONDITION,
    CONTROL,
    DOSE_SIGN,
    GAP,
    ORIGINAL,
    SCORE,
    UTILITY,
)
from biasbridge.analysis.options import OPTIONS, keep_varying_options
from biasbridge.analysis.residuals import factorize, group_means
from biasbridge.analysis.sampling import MIN_RESAMPLES
from biasbridge.files import InputError
from biasbridge.stats.intervals import Estimate

# Of gaps that are no difference of two rates; others lie in [-1, 1]
LARGEST_GAPS = {"log_odds": inf, "similarity": 2.0, "stereotype_similarity": 2.0}

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.analysis.results import Tables
    from biasbridge.stats.arrays import Floats

MIN_CLUSTERS = 3
ROUNDING = 1e-9
# Compared embeddings share these; a score has only the last
SHARED = (*SETTINGS, "task_options", "generated")
PARENT = ("embedding", "corpus", "parent_options")
OUTCOME = ("side", *SCORE, *GAP)
DEBIASED, OVERBIASED = DOSE_SIGN
Names = tuple[str, ...]


class Effect(NamedTuple):
    """The effect of a modification on one outcome.

    ``against``: ``unmodified`` or ``debias``; ``reference``: the mean before; ``change`` with its
    95% interval, NaN where its error is unknown; ``generalises_to``: what the interval generalises
    to.
    """

    names: Mapping[str, str]
    embedding: str
    against: str
    n: int
    n_parents: int
    n_clusters: int
    reference: float
    change: float
    low: float
    high: float
    generalises_to: str


class _Point(NamedTuple):
    """The settings and origin of a point; ``embedding``: the name of its unmodified embedding."""

    settings: Names
    condition: Names
    parent: str
    cluster: str
    model: str
    embedding: str


class _Cell(NamedTuple):
    """An outcome of a parent, modified or not: means over its rows; the ends of its scale."""

    point: _Point
    models: int
    value: float
    resampled: Floats
    scale_min: float
    scale_max: float


Cells = dict[str, _Cell]  # by parent


def effects(tables: Tables, utility: str = UTILITY) -> list[Effect]:
    """Estimate the effect of every modification (method, words, direction and dose) on every score,
    gap and the ``utility`` over all items, over all embeddings and by training algorithm.

    Compared embeddings share every option of the method and the task, and the same training data of
    classifiers. Raises ``InputError`` where the tables do not say how results of one modification
    differ.
    """
    results = []
    for outcome, conditions in _cells(typed(tables), utility).items():
        references = conditions.pop((CONTROL,), {})
        for condition, modified in conditions.items():
            *method, direction, dose = condition
            pairs = [(ORIGINAL, references)]
            if direction == OVERBIASED:
                pairs.append((DEBIASED, conditions.get((*method, DEBIASED, dose), {})))
            names = dict(zip((*SHARED, *OUTCOME, *CONDITION), (*outcome, *condition), strict=True))
            for against, reference in pairs:
                changes = [
                    (reference[parent], cell)
                    for parent, cell in modified.items()
                    if parent in reference
                    and isfinite(cell.value)
                    and isfinite(reference[parent].value)
                ]
                embeddings = dict.fromkeys(cell.point.embedding for _, cell in changes)
                if changes:
                    results.append(_effect(names, ALL, against, changes))
                for name in embeddings if len(embeddings) > 1 else ():
                    subset = [change for change in changes if change[1].point.embedding == name]
                    results.append(_effect(names, name, against, subset))
    return results


def _effect(
    names: Mapping[str, str],
    embedding: str,
    against: str,
    changes: Sequence[tuple[_Cell, _Cell]],
) -> Effect:
    cluster = factorize([cell.point.cluster for _, cell in changes])
    reference_means = group_means(np.array([before.value for before, _ in changes]), cluster)
    cluster_changes = group_means(
        np.array([cell.value - before.value for before, cell in changes]), cluster
    )
    n_resamples = min(min(len(before.resampled), len(cell.resampled)) for before, cell in changes)
    resampled_changes = [
        cell.resampled[:n_resamples] - before.resampled[:n_resamples] for before, cell in changes
    ]
    interval, generalises_to = mean_change(
        cluster_changes, group_means(np.array(resampled_changes), cluster)
    )
    reference, first_cell = float(reference_means.mean()), changes[0][1]
    to_min, to_max = first_cell.scale_min - reference, first_cell.scale_max - reference
    return Effect(
        names,
        embedding,
        against,
        n=sum(cell.models for _, cell in changes),
        n_parents=len(changes),
        n_clusters=len(cluster_changes),
        reference=reference,
        change=interval.value,
        low=max(interval.low, to_min) if to_min <= interval.value else interval.low,
        high=min(interval.high, to_max) if to_max >= interval.value else interval.high,
        generalises_to=generalises_to,
    )


def mean_change(changes: Floats, resampled: Floats) -> tuple[Estimate, str]:
    """Return the mean of the changes of clusters with its 95% interval, and what it generalises to.

    Parameters
    ----------
    changes : array of shape (m,)
        Change of each cluster.
    resampled : array of shape (m, resamples)
        The same over resamples of items, drawn alike for all.

    Returns
    -------
    Estimate, str
        Mean with interval; ``parents`` (other trainings), ``items``, both, or empty (interval NaN).
    """
    m, value = len(changes), float(changes.mean())
    usable = resampled[:, np.isfinite(resampled).all(axis=0)]
    items_variance = shared = 0.0
    generalises_to = []
    if m >= MIN_CLUSTERS:
        generalises_to.append("parents")
    if usable.shape[1] >= MIN_RESAMPLES:
        items_variance = float(usable.mean(axis=0).var(ddof=1))
        centred = usable - usable.mean(axis=1, keepdims=True)
        shared = float(centred.var(axis=0, ddof=1).mean()) if m > 1 else 0.0
        generalises_to.append("items")
    between = float(changes.var(ddof=1)) if "parents" in generalises_to else 0.0
    error = max(0.0, between - shared) / m + items_variance
    if not error > (ROUNDING * float(np.abs(changes).max())) ** 2:  # no width is no certainty
        return Estimate(value), ""
    variance_of_error = items_variance**2 / max(1, usable.shape[1] - 1)
    variance_of_error += (between / m) ** 2 / (m - 1) if between else 0.0
    half_width = float(scipy.special.stdtrit(error**2 / variance_of_error, 0.975)) * sqrt(error)
    return Estimate(value, value - half_width, value + half_width), " and ".join(generalises_to)


def _cells(tables: Tables, utility: str) -> dict[Names, dict[Names, Cells]]:
    points = _points(tables.points[tables.points["status"] == "done"])
    rows: dict[tuple[Names, Names, str], list[_Cell]] = {}
    seen_scores = set()
    for table in _outcomes(tables, utility):
        is_score = table["side"].eq("score").all()
        names = text_rows(table, ("point", *OUTCOME))
        drawn_lists = as_arrays(table, "resampled")
        values = zip(
            table["value"], drawn_lists, table["scale_min"], table["scale_max"], strict=True
        )
        for (point_name, *outcome), (value, resampled, scale_min, scale_max) in zip(
            names, values, strict=True
        ):
            point = points.get(point_name)
            if point is None or (is_score and (point.model, *outcome) in seen_scores):
                continue  # a score belongs to the embedding, whatever its tasks
            seen_scores.add((point.model, *outcome))
            settings = (
                (*[""] * (len(SHARED) - 1), point.settings[-1]) if is_score else point.settings
            )
            condition = (CONTROL,) if point.condition[0] == CONTROL else point.condition
            cell = _Cell(point, 1, value, resampled, scale_min, scale_max)
            rows.setdefault(((*settings, *outcome), condition, point.parent), []).append(cell)
    cells: dict[Names, dict[Names, Cells]] = {}
    for (outcome_key, condition, parent), cell_rows in rows.items():
        cell = cell_rows[0]._replace(
            models=len({row.point.model for row in cell_rows}),
            value=float(np.mean([row.value for row in cell_rows])),
            resampled=np.mean([row.resampled for row in cell_rows], axis=0),
        )
        cells.setdefault(outcome_key, {}).setdefault(condition, {})[parent] = cell
    return cells


def _points(points: pd.DataFrame) -> dict[str, _Point]:
    """Return the settings and origin of each point. Raise ``InputError`` where points of one
    parent, modified alike, do not differ in the table.
    """
    levels = origins(points)
    if len(set(levels["cluster"])) == 1:
        levels["cluster"] = levels["parent"]
    names = [name for name in (*SHARED, *PARENT, *CONDITION) if name not in OPTIONS]
    points = keep_varying_options(points.assign(**levels), names)
    settings, conditions = text_rows(points, SHARED), text_rows(points, CONDITION)
    training, results_keys = (
        text_rows(points, TRAINING_DRAWS),
        text_rows(points, ("model", "extrinsic_key")),
    )
    results_by_key: dict[tuple[Names, ...], set[Names]] = {}
    for *key, parent, result_key in zip(
        settings, conditions, training, levels["parent"], results_keys, strict=True
    ):
        result_keys = results_by_key.setdefault((*key, (parent,)), set())
        result_keys.add(result_key)
        if len(result_keys) > 1:
            raise InputError(
                f"several results of one unmodified embedding are {' '.join(filter(None, key[1]))},"
                " and the points table does not distinguish them; run the experiment again"
            )
    point_origins = (levels["parent"], levels["cluster"], levels["model"], _parent_names(points))
    columns = zip(settings, conditions, *point_origins, strict=True)
    return dict(zip(points["point"], map(_Point._make, columns), strict=True))


def _parent_names(points: pd.DataFrame) -> list[str]:
    """Return for each point its training algorithm, with the corpus where one has several, and with
    the options in which its unmodified embeddings differ.
    """
    corpora: dict[str, set[str]] = {}
    rows = text_rows(points, PARENT)
    for embedding, corpus, _ in rows:
        corpora.setdefault(embedding, set()).add(corpus)
    return [
        " ".join(filter(None, (embedding, corpus if len(corpora[embedding]) > 1 else "", options)))
        for embedding, corpus, options in rows
    ]


def _outcomes(tables: Tables, utility: str) -> Iterator[pd.DataFrame]:
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    yield tables.intrinsic.assign(side="score")
    largest = gaps["measure"].map(LARGEST_GAPS).astype(float).fillna(1.0)
    yield gaps.assign(side="gap", scale_min=-largest, scale_max=largest)
    yield utility_rows(tables.extrinsic, utility).assign(
        side="utility", scale_min=0.0, scale_max=1.0
    )
