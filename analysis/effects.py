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
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import scipy

from biasbridge.analysis.correlation import MIN_RESAMPLES, ROUNDING, factorize, group_means
from biasbridge.analysis.joined import (
    OPTIONS,
    TASK_SETTINGS,
    TRAINING_DRAWS,
    keep_varying_options,
    origins,
    utility_rows,
)
from biasbridge.analysis.naming import (
    ALL,
    CONDITION,
    CONTROL,
    DOSE_SIGN,
    GAP,
    ORIGINAL,
    SCORE,
    UTILITY,
    gap_titles,
    measure_title,
    present_confirmatory,
    row_names,
    score_titles,
)
from biasbridge.analysis.printing import SCORES_SHOWN, as_rows, print_lines, print_table
from biasbridge.analysis.tables import as_arrays, as_float, as_text, group_indices, text_rows, typed
from biasbridge.files import InputError, atomic_path
from biasbridge.files.tables import write_csv
from biasbridge.stats.formatting import NOTHING, format_estimate
from biasbridge.stats.intervals import Estimate

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.tables import Tables
    from biasbridge.stats.arrays import Floats


# Of gaps that are no difference of two rates; others lie in [-1, 1]
_LARGEST_GAPS = {"log_odds": inf, "similarity": 2.0, "stereotype_similarity": 2.0}


MIN_CLUSTERS = 3
# Compared embeddings share these; a score has only the last
_SHARED = (*TASK_SETTINGS, "task_options", "generated")
_PARENT = ("embedding", "corpus", "parent_options")
_OUTCOME = ("side", *SCORE, *GAP)
DEBIASED, OVERBIASED = DOSE_SIGN
ConditionNames = tuple[str, ...]
TABLE = "effects.csv"
_NEAR_END = 0.025  # share of the scale: 1.9 and more for WEAT's effect size
_OFTEN = 0.25  # share of the scores
_SIDES = {"score": "scores", "gap": "gaps"}
_EFFECTS_TITLE = "effect of each condition: change from the unmodified embedding, mean over parents"


class Effect(NamedTuple):
    """The effect of a modification on one outcome: the columns of ``effects.csv``
    (docs/results.md). An interval is NaN where its error is unknown.
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

    settings: ConditionNames
    condition: ConditionNames
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
            names = dict(
                zip((*_SHARED, *_OUTCOME, *CONDITION), (*outcome, *condition), strict=True)
            )
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
    names: Mapping[str, str], embedding: str, against: str, changes: Sequence[tuple[_Cell, _Cell]]
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
    interval, generalises_to = _mean_change(
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


def _mean_change(changes: Floats, resampled: Floats) -> tuple[Estimate, str]:
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


def _cells(tables: Tables, utility: str) -> dict[ConditionNames, dict[ConditionNames, Cells]]:
    points = _points(tables.points[tables.points["status"] == "done"])
    rows: dict[tuple[ConditionNames, ConditionNames, str], list[_Cell]] = {}
    seen_scores = set()
    for table in _outcomes(tables, utility):
        is_score = table["side"].eq("score").all()
        names = text_rows(table, ("point", *_OUTCOME))
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
                (*[""] * (len(_SHARED) - 1), point.settings[-1]) if is_score else point.settings
            )
            condition = (CONTROL,) if point.condition[0] == CONTROL else point.condition
            cell = _Cell(point, 1, value, resampled, scale_min, scale_max)
            rows.setdefault(((*settings, *outcome), condition, point.parent), []).append(cell)
    cells: dict[ConditionNames, dict[ConditionNames, Cells]] = {}
    for (outcome_key, condition, parent), cell_rows in rows.items():
        cell = cell_rows[0]
        if len(cell_rows) > 1:
            cell = cell._replace(
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
    names = [name for name in (*_SHARED, *_PARENT, *CONDITION) if name not in OPTIONS]
    points = keep_varying_options(points.assign(**levels), names)
    settings, conditions = text_rows(points, _SHARED), text_rows(points, CONDITION)
    training, results_keys = (
        text_rows(points, TRAINING_DRAWS),
        text_rows(points, ("model", "extrinsic_key")),
    )
    results_by_key: dict[tuple[ConditionNames, ...], set[ConditionNames]] = {}
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
    rows = text_rows(points, _PARENT)
    for embedding, corpus, _ in rows:
        corpora.setdefault(embedding, set()).add(corpus)
    return [
        " ".join(filter(None, (embedding, corpus if len(corpora[embedding]) > 1 else "", options)))
        for embedding, corpus, options in rows
    ]


def _outcomes(tables: Tables, utility: str) -> Iterator[pd.DataFrame]:
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    yield tables.intrinsic.assign(side="score")
    largest = gaps["measure"].map(_LARGEST_GAPS).astype(float).fillna(1.0)
    yield gaps.assign(side="gap", scale_min=-largest, scale_max=largest)
    yield utility_rows(tables.extrinsic, utility).assign(
        side="utility", scale_min=0.0, scale_max=1.0
    )


# The effect of each modification as a table: on the terminal and in ``effects.csv``.


def effect_table(results: Sequence[Effect]) -> pd.DataFrame:
    """Return one row per effect.

    Parameters
    ----------
    results : sequence of Effect
        Changes from the unmodified models.

    Returns
    -------
    DataFrame
        Columns: docs/results.md.
    """
    rows = [{**result.names, **result._asdict()} for result in results]
    return pd.DataFrame(rows, columns=[*_SHARED, *_OUTCOME, *CONDITION, *Effect._fields[1:]])


def condition_table(
    results: Sequence[Effect], confirmatory: Sequence[str], *, digits: int = 3
) -> pd.DataFrame:
    """Return one row per condition at its largest dose, all cells text.

    Columns: the number of parents, and the changes of the gaps in the ``confirmatory`` measures,
    the utility and the first scores over all embeddings, with 95% intervals; conditions without
    modified training labels. ``digits``: of gaps and utility.
    """
    table = effect_table(results)
    is_pooled = (table["embedding"] == ALL) & (table["against"] == ORIGINAL)
    table = table[is_pooled & table["label_method"].isin(["", CONTROL])]
    if table.empty:
        return table[[]]
    dose = pd.Series(as_float(table, "dose"), table.index)
    table = table[dose == dose.groupby([table[name] for name in CONDITION[:-1]]).transform("max")]
    table = pd.concat([_titled(table, side, confirmatory) for side in ("gap", "utility", "score")])
    n_digits = [2 if side == "score" else digits for side in as_text(table, "side")]
    parts = (as_float(table, name).tolist() for name in ("change", "low", "high"))
    cells = table.assign(cell=list(map(format_estimate, *parts, n_digits)))
    shared = [name for name in _SHARED if len({*as_text(table, name)} - {""}) > 1]
    always_shown = ("method", "direction", "dose")
    names = [name for name in CONDITION if name in always_shown or len({*as_text(table, name)}) > 1]
    cells = _beside_each_task(cells, shared)
    wide = cells.pivot_table("cell", [*shared, *names], "title", "first", sort=False)
    parents = cells.groupby([*shared, *names], sort=False)["n_parents"].max()
    wide = wide.reindex(columns=list(dict.fromkeys(cells["title"])))
    wide.insert(0, "parents", parents)
    return wide.reset_index().fillna(NOTHING)


def _beside_each_task(cells: pd.DataFrame, shared: list[str]) -> pd.DataFrame:
    """Repeat the rows of scores, which have no task, for every task of the others."""
    score = cells["side"] == "score"
    tasks = cells.loc[~score, shared].drop_duplicates()
    if not shared or tasks.empty:
        return cells
    scores = cells[score].drop(columns=shared).merge(tasks, how="cross")
    return pd.concat([cells[~score], scores], ignore_index=True)


def _titled(table: pd.DataFrame, side: str, confirmatory: Sequence[str]) -> pd.DataFrame:
    table = table[table["side"] == side]
    if side == "gap":
        table = table[
            table["measure"].isin(present_confirmatory(as_text(table, "measure"), confirmatory))
        ]
        return table.assign(title=gap_titles(table))
    if side == "utility":
        return table.assign(title=[measure_title(measure) for measure in as_text(table, "measure")])
    table = table.assign(title=score_titles(table))
    return table[table["title"].isin(list(dict.fromkeys(table["title"]))[:SCORES_SHOWN])]


def describe_generalisation(results: Sequence[Effect]) -> str:
    """Return what the shown intervals do not generalise to: other trainings, or other items."""
    shown = [
        (
            _SIDES.get(result.names["side"], measure_title(result.names["measure"])),
            result.generalises_to,
        )
        for result in results
        if (result.embedding, result.against) == (ALL, ORIGINAL)
    ]
    few_clusters = f"with fewer than {MIN_CLUSTERS} independent seeds or corpora"
    lines = []
    for source, answer in (
        ("items", f"other items (words), not for other trainings ({few_clusters})"),
        ("parents", "other trainings, not for other items (words)"),
    ):
        if names := dict.fromkeys(name for name, result_source in shown if result_source == source):
            lines.append(f"intervals of {' and '.join(names)} hold for {answer}")
    return "; ".join(lines)


def write_effects(
    results: Sequence[Effect], confirmatory: Sequence[str], path: Path, console: Console
) -> Path:
    """Print the effects of the largest doses, and write every effect; return the path."""
    print_effects(results, confirmatory, console)
    with atomic_path(path) as work:
        write_csv(effect_table(results), work)
    return path


def print_effects(results: Sequence[Effect], confirmatory: Sequence[str], console: Console) -> None:
    """Print the effects of the largest doses, and which intervals do not generalise."""
    shown = condition_table(results, confirmatory)
    rows = as_rows({str(name): as_text(shown, str(name)) for name in shown})
    generated = any(result.names["generated"] == "True" for result in results)
    stamp = ", synthetic data" if generated else ""
    if rows:
        print_table(_EFFECTS_TITLE + stamp, rows, console, left_aligned=(*_SHARED, *CONDITION[:-1]))
        print_lines(filter(None, [describe_generalisation(results)]), console)


def saturation(tables: Tables) -> str:
    """Return the methods, directions and doses of which more than a quarter of a metric's scores
    lie within 2.5% of a biased end of its scale; empty where no scale is known.
    """
    tables = typed(tables)
    scores = tables.intrinsic.merge(tables.points, on="point", suffixes=("", "_of_point"))
    scores = scores.assign(title=row_names(scores, ("metric", "convention")))
    scores = scores[
        (scores["method"] != CONTROL) & np.isfinite(scores["scale_max"] - scores["scale_min"])
    ]
    scores = scores.dropna(subset=["value", "unbiased"])
    if scores.empty:
        return ""
    margin = _NEAR_END * (scores["scale_max"] - scores["scale_min"])
    low = (scores["scale_min"] < scores["unbiased"]) & (
        scores["value"] <= scores["scale_min"] + margin
    )
    high = (scores["scale_max"] > scores["unbiased"]) & (
        scores["value"] >= scores["scale_max"] - margin
    )
    at_end = (low | high).to_numpy()
    conditions = group_indices(text_rows(scores, ("title", "method", "direction", "dose")))
    descriptions = [
        f"{at_end[rows].sum()} of {len(rows)} scores of {title} after {method}, {direction}, dose"
        f" {dose}"
        for (title, method, direction, dose), rows in conditions.items()
        if at_end[rows].mean() > _OFTEN
    ]
    if not descriptions:
        return "No method drives more than a quarter of its scores to the end of their scale."
    return (
        "At the end of their scale a larger dose cannot move scores any further. There lie"
        f" {'; '.join(descriptions)}."
    )
