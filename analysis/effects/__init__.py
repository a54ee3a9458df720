r"""What each condition did (``biasbridge effects``): how far it moved a score, a gap and
how well the task is done, against the parent, the unmodified embedding.

    D_b = value of the modified embedding of parent b - value of the reference of b,
    D = mean over clusters of their mean D_b

The reference is the parent, or, of overbiasing, the debiased embedding of the same method, words
and dose. Clusters are what is independent of one another (``analysis.joined.levels``), parents
where all share one. The error of D has two sources, and the interval is D +- t sqrt(e^2),

    e^2 = max(0, s^2 - c) / m + w,     t: of Satterthwaite's degrees of freedom

s^2: the variance of the m clusters' means, for other trainings might have come out otherwise;
w: the variance of D over resamples of items (test items of a gap, words of a score), drawn alike
for all embeddings; c: the variance between clusters of what a resample does to them, which s^2 has
already. Of fewer than 3 clusters nothing is known of other trainings, and the interval is that of
items alone. It is cut where the value would leave its scale: WEAT of 1 falls by 3 at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from analysis.correlation import Estimate
from analysis.frame import lists, text_rows, typed
from analysis.joined import DRAWN, SETTINGS, origins, utility_rows
from analysis.naming import ALL, CONDITION, CONTROL, DOSE_SIGN, GAP, ORIGINAL, SCORE, UTILITY
from analysis.options import OPTIONS, with_varied
from analysis.residuals import codes, group_means
from analysis.sampling import FEWEST_RESAMPLES
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Floats
    from analysis.results import Tables

FEWEST_CLUSTERS = 3
ROUNDING = 1e-9
# Embeddings are compared where these are the same; a score knows only the last
SHARED = (*SETTINGS, "task_options", "generated")
PARENT = ("embedding", "corpus", "parent_options")
OUTCOME = ("side", *SCORE, *GAP)
DEBIASED, OVERBIASED = DOSE_SIGN
Names = tuple[str, ...]


class Effect(NamedTuple):
    """What a modification did to one outcome: names, ``against`` what (``unmodified`` or
    ``debias``), on how much of what; ``reference``: the mean before; ``change`` with its 95%
    interval, NaN where nothing is known of its error; ``generalises_to``: what the interval does.
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
    """What a point is of; ``embedding``: what its unmodified embedding is called."""

    settings: Names
    condition: Names
    parent: str
    cluster: str
    model: str
    embedding: str


class _Cell(NamedTuple):
    """An outcome of a parent as modified or not: the mean over its rows (replicates, and embeddings
    that differ in the seed of what modified them), over resamples too; the ends of its scale.
    """

    of: _Point
    models: int
    value: float
    resampled: Floats
    least: float
    most: float


Cells = dict[str, _Cell]  # by parent


def effects(tables: Tables, utility: str = UTILITY) -> list[Effect]:
    """The effect of every modification (method, words, direction and dose) on every score, gap and
    on the ``utility`` over all items, over all embeddings and by training algorithm. What is
    compared shares every option of the method and the task. Raises ``InputError`` where the tables
    do not say what results of one modification differ in.

    Where posts to learn from were changed too, embeddings are compared that have the same.
    """
    found = []
    for outcome, conditions in _cells(typed(tables), utility).items():
        references = conditions.pop((CONTROL,), {})
        for condition, modified in conditions.items():
            *of_method, direction, dose = condition
            pairs = [(ORIGINAL, references)]
            if direction == OVERBIASED:
                pairs.append((DEBIASED, conditions.get((*of_method, DEBIASED, dose), {})))
            names = dict(zip((*SHARED, *OUTCOME, *CONDITION), (*outcome, *condition), strict=True))
            for against, reference in pairs:
                changes = [
                    (reference[parent], cell)
                    for parent, cell in modified.items()
                    if parent in reference
                    and isfinite(cell.value)
                    and isfinite(reference[parent].value)
                ]
                embeddings = dict.fromkeys(cell.of.embedding for _, cell in changes)
                if changes:
                    found.append(_effect(names, ALL, against, changes))
                for name in embeddings if len(embeddings) > 1 else ():
                    own = [each for each in changes if each[1].of.embedding == name]
                    found.append(_effect(names, name, against, own))
    return found


def _effect(
    names: Mapping[str, str],
    embedding: str,
    against: str,
    changes: Sequence[tuple[_Cell, _Cell]],
) -> Effect:
    """``changes``: each parent's reference, and as modified."""
    cluster = codes([cell.of.cluster for _, cell in changes])
    before = group_means(np.array([each.value for each, _ in changes]), cluster)
    own = group_means(np.array([cell.value - each.value for each, cell in changes]), cluster)
    known = min(min(len(each.resampled), len(cell.resampled)) for each, cell in changes)
    moved = [cell.resampled[:known] - each.resampled[:known] for each, cell in changes]
    interval, generalises_to = mean_change(own, group_means(np.array(moved), cluster))
    reference, first = float(before.mean()), changes[0][1]
    least, most = first.least - reference, first.most - reference
    return Effect(
        names,
        embedding,
        against,
        n=sum(cell.models for _, cell in changes),
        n_parents=len(changes),
        n_clusters=len(own),
        reference=reference,
        change=interval.value,
        low=max(interval.low, least) if least <= interval.value else interval.low,
        high=min(interval.high, most) if most >= interval.value else interval.high,
        generalises_to=generalises_to,
    )


def mean_change(own: Floats, resampled: Floats) -> tuple[Estimate, str]:
    """The mean of the changes of clusters (m,) with its 95% interval, given the same over resamples
    of items (m, resamples), drawn alike for all; and what the interval generalises to: other
    trainings (``parents``), other ``items``, both, or nothing (then it is NaN).
    """
    m, value = len(own), float(own.mean())
    usable = resampled[:, np.isfinite(resampled).all(axis=0)]
    of_items = shared = 0.0
    generalises_to = []
    if m >= FEWEST_CLUSTERS:
        generalises_to.append("parents")
    if usable.shape[1] >= FEWEST_RESAMPLES:
        of_items = float(usable.mean(axis=0).var(ddof=1))
        moved = usable - usable.mean(axis=1, keepdims=True)
        shared = float(moved.var(axis=0, ddof=1).mean()) if m > 1 else 0.0
        generalises_to.append("items")
    between = float(own.var(ddof=1)) if "parents" in generalises_to else 0.0
    error = max(0.0, between - shared) / m + of_items
    if not error > (ROUNDING * float(np.abs(own).max())) ** 2:  # no width is no certainty
        return Estimate(value), ""
    uncertain = of_items**2 / max(1, usable.shape[1] - 1)
    uncertain += (between / m) ** 2 / (m - 1) if between else 0.0
    reach = float(scipy.special.stdtrit(error**2 / uncertain, 0.975)) * sqrt(error)
    return Estimate(value, value - reach, value + reach), " and ".join(generalises_to)


def _cells(tables: Tables, utility: str) -> dict[Names, dict[Names, Cells]]:
    points = _points(tables.points[tables.points["status"] == "done"])
    rows: dict[tuple[Names, Names, str], list[_Cell]] = {}
    seen = set()
    for table in _outcomes(tables, utility):
        of_score = table["side"].eq("score").all()
        names = text_rows(table, ("point", *OUTCOME))
        drawn_lists = lists(table, "resampled")
        values = zip(table["value"], drawn_lists, table["least"], table["most"], strict=True)
        for (point, *outcome), (value, drawn, least, most) in zip(names, values, strict=True):
            of = points.get(point)
            if of is None or (of_score and (of.model, *outcome) in seen):
                continue  # a score is of the embedding, whatever its tasks
            seen.add((of.model, *outcome))
            settings = (*[""] * (len(SHARED) - 1), of.settings[-1]) if of_score else of.settings
            condition = (CONTROL,) if of.condition[0] == CONTROL else of.condition
            cell = _Cell(of, 1, value, drawn, least, most)
            rows.setdefault(((*settings, *outcome), condition, of.parent), []).append(cell)
    found: dict[Names, dict[Names, Cells]] = {}
    for (outcome_key, condition, parent), each in rows.items():
        cell = each[0]._replace(
            models=len({one.of.model for one in each}),
            value=float(np.mean([one.value for one in each])),
            resampled=np.mean([one.resampled for one in each], axis=0),
        )
        found.setdefault(outcome_key, {}).setdefault(condition, {})[parent] = cell
    return found


def _points(points: pd.DataFrame) -> dict[str, _Point]:
    """What each point is of. Raises ``InputError`` where points of one parent, modified alike, do
    not differ in the table.
    """
    levels = origins(points)
    if len(set(levels["cluster"])) == 1:
        levels["cluster"] = levels["parent"]
    names = [name for name in (*SHARED, *PARENT, *CONDITION) if name not in OPTIONS]
    points = with_varied(points.assign(**levels), names)
    settings, conditions = text_rows(points, SHARED), text_rows(points, CONDITION)
    drawn, made = text_rows(points, DRAWN), text_rows(points, ("model", "extrinsic_key"))
    results: dict[tuple[Names, ...], set[Names]] = {}
    for *key, parent, one in zip(settings, conditions, drawn, levels["parent"], made, strict=True):
        same = results.setdefault((*key, (parent,)), set())
        same.add(one)
        if len(same) > 1:
            raise InputError(
                f"several results of one unmodified embedding are {' '.join(filter(None, key[1]))},"
                " and the points table does not say what they differ in; run the experiment again"
                " for one that does"
            )
    of_points = (levels["parent"], levels["cluster"], levels["model"], _parent_names(points))
    of = zip(settings, conditions, *of_points, strict=True)
    return dict(zip(points["point"], map(_Point._make, of), strict=True))


def _parent_names(points: pd.DataFrame) -> list[str]:
    """For each point its training algorithm; with the corpus where one has several, and with the
    options in which its unmodified embeddings differ.
    """
    several: dict[str, set[str]] = {}
    rows = text_rows(points, PARENT)
    for embedding, corpus, _ in rows:
        several.setdefault(embedding, set()).add(corpus)
    return [
        " ".join(filter(None, (embedding, corpus if len(several[embedding]) > 1 else "", options)))
        for embedding, corpus, options in rows
    ]


def _outcomes(tables: Tables, utility: str) -> Iterator[pd.DataFrame]:
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    yield tables.intrinsic.assign(side="score")
    yield gaps.assign(side="gap", least=-1.0, most=1.0)
    yield utility_rows(tables.extrinsic, utility).assign(side="utility", least=0.0, most=1.0)
