r"""What each condition did: how far it moved a score, a gap and how well the task is done, against
the parent, the unmodified embedding.

    D_b = value of the modified embedding of parent b - value of the reference of b,
    D = mean over clusters of their mean D_b

The reference is the parent, or, of overbiasing, the debiased embedding of the same method, words
and dose. Clusters are what is independent of one another (``analysis.joined.levels``), parents
where all share one. The error of
D has two sources, and the interval is D +- t sqrt(e^2),

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
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Floats
    from analysis.results import Tables

FEWEST_CLUSTERS = 3
FEWEST_RESAMPLES = 50
ROUNDING = 1e-9
# Embeddings are compared where these are the same; a score knows only the last
SHARED = (*SETTINGS, "task_options", "generated")
PARENT = ("embedding", "corpus", "base_options")
OUTCOME = ("side", *SCORE, *GAP)
Ends = tuple[float, float]  # of a scale, NaN where it has none
DEBIASED, OVERBIASED = DOSE_SIGN


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


class Change(NamedTuple):
    """A parent modified less its reference, and the same over resamples, (resamples,)."""

    embedding: str
    parent: str
    cluster: str
    models: int
    reference: float
    change: float
    resampled: Floats
    ends: Ends


class Cell(NamedTuple):
    """An outcome of a parent as modified or not: the mean over its rows (replicates, and embeddings
    that differ in the seed of what modified them), over resamples too; the ``ends`` of its scale.
    """

    embedding: str
    cluster: str
    models: int
    value: float
    resampled: Floats
    ends: Ends


Names = tuple[str, ...]
Cells = dict[Names, dict[Names, dict[str, Cell]]]  # by settings and outcome, condition, parent


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
            for against, reference in pairs:
                changes = list(_changes(modified, reference))
                names = dict(
                    zip((*SHARED, *OUTCOME, *CONDITION), (*outcome, *condition), strict=True)
                )
                for embedding, of in _by_embedding(changes):
                    found.append(_effect(names, embedding, against, of))
    return found


def _changes(modified: Mapping[str, Cell], reference: Mapping[str, Cell]) -> Iterator[Change]:
    for parent, cell in modified.items():
        before = reference.get(parent)
        if before is None or not (isfinite(cell.value) and isfinite(before.value)):
            continue
        known = min(len(cell.resampled), len(before.resampled))
        moved = cell.resampled[:known] - before.resampled[:known]
        change = cell.value - before.value
        yield Change(
            cell.embedding,
            parent,
            cell.cluster,
            cell.models,
            before.value,
            change,
            moved,
            cell.ends,
        )


def _by_embedding(changes: Sequence[Change]) -> Iterator[tuple[str, list[Change]]]:
    names = dict.fromkeys(each.embedding for each in changes)
    if names:
        yield ALL, [*changes]
    for name in names if len(names) > 1 else ():
        yield name, [each for each in changes if each.embedding == name]


def _effect(
    names: Mapping[str, str], embedding: str, against: str, changes: Sequence[Change]
) -> Effect:
    clusters = [each.cluster for each in changes]
    known = min(len(each.resampled) for each in changes)
    resampled = np.array([each.resampled[:known] for each in changes])
    place = np.unique(clusters, return_inverse=True)[1]
    size = np.bincount(place)

    def means(values: Floats) -> Floats:
        """Over the members of each cluster: (changes, ...) to (clusters, ...)."""
        total = np.zeros((len(size), *values.shape[1:]))
        np.add.at(total, place, values)
        return total / size.reshape(-1, *[1] * (values.ndim - 1))

    own = means(np.array([each.change for each in changes]))
    reference = float(means(np.array([each.reference for each in changes])).mean())
    interval, generalises_to = mean_change(own, means(resampled))
    least, most = (end - reference for end in changes[0].ends)
    return Effect(
        names,
        embedding,
        against,
        n=sum(each.models for each in changes),
        n_parents=len({each.parent for each in changes}),
        n_clusters=len(size),
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


def _cells(tables: Tables, utility: str) -> Cells:
    """What is known of every outcome of every parent, as modified or not."""
    points = _identified(tables.points[tables.points["status"] == "done"])
    origin = dict(
        zip(points["point"], text_rows(points, ("parent", "cluster", "model")), strict=True)
    )
    condition_of = dict(zip(points["point"], text_rows(points, CONDITION), strict=True))
    name_of = dict(zip(points["point"], _parent_names(points), strict=True))
    settings = dict(zip(points["point"], text_rows(points, SHARED), strict=True))
    rows: dict[tuple[Names, Names, str], list[tuple[Names, float, Floats, Ends]]] = {}
    seen = set()
    for table in _outcomes(tables, utility):
        resampled = lists(table, "resampled")
        of_score = table["side"].eq("score").all()
        names = text_rows(table, ("point", *OUTCOME))
        ends = zip(table["least"], table["most"], strict=True)
        for (point, *outcome), value, drawn, scale in zip(
            names, table["value"], resampled, ends, strict=True
        ):
            if point not in origin:
                continue
            parent, cluster, model = origin[point]
            condition, known = condition_of[point], settings[point]
            if of_score:
                known = (*[""] * (len(known) - 1), known[-1])
            if of_score and (model, *outcome) in seen:  # of several tasks on one embedding
                continue
            seen.add((model, *outcome))
            at = (CONTROL,) if condition[0] == CONTROL else condition
            key = ((*known, *outcome), at, parent)
            rows.setdefault(key, []).append(((name_of[point], cluster, model), value, drawn, scale))
    found: Cells = {}
    for (outcome_key, at, parent), each in rows.items():
        (name, cluster, _), _, _, scale = each[0]
        cell = Cell(
            name,
            cluster,
            len({names[-1] for names, _, _, _ in each}),
            float(np.mean([value for _, value, _, _ in each])),
            np.mean([drawn for _, _, drawn, _ in each], axis=0),
            scale,
        )
        found.setdefault(outcome_key, {}).setdefault(at, {})[parent] = cell
    return found


def _levels(points: pd.DataFrame) -> dict[str, list[str]]:
    """Models, parents and clusters; parents are clusters where all share one."""
    found = origins(points)
    return found if len(set(found["cluster"])) > 1 else found | {"cluster": found["parent"]}


def _identified(points: pd.DataFrame) -> pd.DataFrame:
    """The points with their origins and those options that no other column holds. Raises
    ``InputError`` where points of one parent, modified alike, do not differ in the table.
    """
    names = [name for name in (*SHARED, *PARENT, *CONDITION) if name not in OPTIONS]
    points = with_varied(points.assign(**_levels(points)), names)
    same: dict[Names, set[Names]] = {}
    made = text_rows(points, ("model", "extrinsic_key"))
    for key, each in zip(
        text_rows(points, (*SHARED, *CONDITION, "parent", *DRAWN)), made, strict=True
    ):
        same.setdefault(key, set()).add(each)
    for key, results in same.items():
        if len(results) > 1:
            condition = " ".join(filter(None, key[len(SHARED) : len(SHARED) + len(CONDITION)]))
            raise InputError(
                f"{len(results)} results of one unmodified embedding are {condition}, and the"
                " points table does not say what they differ in; run the experiment again for one"
                " that does"
            )
    return points


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
    """Scores, gaps, and the utility over all items."""
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    yield tables.intrinsic.assign(side="score")
    yield gaps.assign(side="gap", least=-1.0, most=1.0)
    yield utility_rows(tables.extrinsic, utility).assign(side="utility", least=0.0, most=1.0)
