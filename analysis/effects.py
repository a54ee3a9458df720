"""Effect of each condition (``biasbridge effects``): the change of a score, a gap and the task's
utility against the parent, the unmodified embedding, as
``biasbridge.analysis.condition_effects`` estimates it.

For overbiasing a second row has the change against the debiased embedding of the same method, words
and dose. An interval ends where the value would leave its scale: WEAT of 1 falls by 3 at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from biasbridge.analysis.condition_effects import (
    MIN_UNITS,
    MeanChange,
    adjust_changes,
    mean_change,
    units_of,
)
from biasbridge.analysis.correlation import group_means
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
    SMALLEST_CHANGE,
    UTILITY,
    SmallestChange,
    gap_titles,
    measure_title,
    present_confirmatory,
    row_names,
    score_titles,
    smallest_change_of,
)
from biasbridge.analysis.printing import SCORES_SHOWN, as_rows
from biasbridge.analysis.tables import group_indices, typed
from biasbridge.analysis.verdicts import judge_change
from biasbridge.files import InputError, nearest
from biasbridge.files.columns import as_arrays, as_float, as_text, text_rows
from biasbridge.files.writers import Document, TextTable
from biasbridge.stats.formatting import NOTHING, format_estimate

if TYPE_CHECKING:
    from biasbridge.analysis.tables import Key, Tables
    from biasbridge.stats.arrays import Floats


# Of gaps that are no difference of two rates; others lie in [-1, 1]
_LARGEST_GAPS = {"log_odds": inf, "similarity": 2.0, "stereotype_similarity": 2.0}
# Compared embeddings share these; a score has only the last
_SHARED = (*TASK_SETTINGS, "task_options", "generated")
_PARENT = ("embedding", "corpus", "parent_options")
_OUTCOME = ("side", *SCORE, *GAP)
DEBIASED, OVERBIASED = DOSE_SIGN
_ConditionNames = tuple[str, ...]
_NEAR_END = 0.025  # share of the scale: 1.9 and more for WEAT's effect size
_OFTEN = 0.25  # share of the scores
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
    n_units: int
    reference: float
    effect: float
    effect_low: float
    effect_high: float
    verdict: str = ""
    change: MeanChange = MeanChange()


class _Point(NamedTuple):
    """The settings and origin of a point; ``embedding``: the name of its unmodified embedding."""

    settings: _ConditionNames
    condition: _ConditionNames
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


Means = dict[str, _Cell]  # by parent


def effects(
    tables: Tables, utility: str = UTILITY, smallest_change: SmallestChange = SMALLEST_CHANGE
) -> list[Effect]:
    """Estimate the effect of every modification (method, words, direction and dose) on every score,
    gap and the ``utility`` over all items, over all embeddings and by training algorithm.

    Compared embeddings share every option of the method and the task, and the same training data of
    classifiers. Changes of gaps from the unmodified embeddings have a verdict, p adjusted over the
    conditions. Raises ``InputError`` where the tables do not say how results of one modification
    differ.
    """
    results: list[Effect] = []
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
    return _judged(results, smallest_change)


def _judged(results: Sequence[Effect], smallest_change: SmallestChange) -> list[Effect]:
    """Return the effects, those on gaps with verdicts."""
    families: dict[tuple[str, ...], list[int]] = {}
    for index, result in enumerate(results):
        if result.names["side"] == "gap" and result.against == ORIGINAL:
            shared = [result.names[name] for name in (*_SHARED, *_OUTCOME)]
            families.setdefault((*shared, result.embedding), []).append(index)
    judged = list(results)
    for family in families.values():
        changes = [results[index].change for index in family]
        for index, change, p in zip(family, changes, adjust_changes(changes), strict=True):
            x = smallest_change_of(smallest_change, results[index].names["measure"])
            word = judge_change(change, p, x)
            judged[index] = results[index]._replace(verdict=word)
    return judged


def _effect(
    names: Mapping[str, str], embedding: str, against: str, changes: Sequence[tuple[_Cell, _Cell]]
) -> Effect:
    points = [cell.point for _, cell in changes]
    origin = np.array([(point.parent, point.cluster) for point in points])
    unit, stratum, _ = units_of(*origin.T)
    n_resamples = min(min(len(before.resampled), len(cell.resampled)) for before, cell in changes)
    differences, resampled = (
        group_means(np.array(values), unit)
        for values in (
            [cell.value - before.value for before, cell in changes],
            [cell.resampled[:n_resamples] - b.resampled[:n_resamples] for b, cell in changes],
        )
    )
    stratum = stratum[np.unique(unit, return_index=True)[1]]
    change = mean_change(differences, stratum, resampled)
    reference, first_cell = float(np.mean([b.value for b, _ in changes])), changes[0][1]
    to_min, to_max = first_cell.scale_min - reference, first_cell.scale_max - reference
    value, low, high = change.interval
    return Effect(
        names,
        embedding,
        against,
        n=sum(cell.models for _, cell in changes),
        n_parents=len(changes),
        n_units=len(differences),
        reference=reference,
        effect=value,
        effect_low=max(low, to_min) if to_min <= value else low,
        effect_high=min(high, to_max) if to_max >= value else high,
        change=change,
    )


def _cells(tables: Tables, utility: str) -> dict[_ConditionNames, dict[_ConditionNames, Means]]:
    points = _points(tables.points[tables.points["status"] == "done"])
    rows: dict[tuple[_ConditionNames, _ConditionNames, str], list[_Cell]] = {}
    seen_scores = set()
    for table in _outcomes(tables, utility):
        is_score = table["side"].eq("score").all()
        names = text_rows(table, ("point", *_OUTCOME))
        ends = table["scale_min"], table["scale_max"]
        columns = names, table["value"], as_arrays(table, "resampled"), *ends
        for (point_name, *outcome), *values in zip(*columns, strict=True):
            point = points.get(point_name)
            if point is None or (is_score and (point.model, *outcome) in seen_scores):
                continue  # a score belongs to the embedding, whatever its tasks
            seen_scores.add((point.model, *outcome))
            settings = (
                (*[""] * (len(_SHARED) - 1), point.settings[-1]) if is_score else point.settings
            )
            condition = (CONTROL,) if point.condition[0] == CONTROL else point.condition
            key = (*settings, *outcome), condition, point.parent
            rows.setdefault(key, []).append(_Cell(point, 1, *values))
    cells: dict[_ConditionNames, dict[_ConditionNames, Means]] = {}
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
    names = [name for name in (*_SHARED, *_PARENT, *CONDITION) if name not in OPTIONS]
    points = keep_varying_options(points.assign(**levels), names)
    settings, conditions = text_rows(points, _SHARED), text_rows(points, CONDITION)
    training, results_keys = (
        text_rows(points, TRAINING_DRAWS),
        text_rows(points, ("model", "extrinsic_key")),
    )
    results_by_key: dict[tuple[_ConditionNames, ...], set[_ConditionNames]] = {}
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


# Two methods against each other, in one direction: at full doses, and where a score moved alike.


def compare_methods(
    tables: Tables, methods: Sequence[str], confirmatory: Sequence[str], utility: str = UTILITY
) -> list[Effect]:
    """Estimate the effect of the first of two methods less that of the second, per parent, on each
    gap in the ``confirmatory`` measures and on the ``utility``.

    Each is the mean over the word lists that both have, over all where they share none. A score has
    moved alike where its mean over parents changed by the most that both reach. Between doses, 0
    included, it is interpolated linearly, and the outcome of each parent with the same weights.
    """
    tables = typed(tables)  # a score without an unbiased value measures utility
    cells = _cells(tables._replace(intrinsic=tables.intrinsic.dropna(subset="unbiased")), utility)
    known = sorted({key[0] for conditions in cells.values() for key in conditions} - {CONTROL})
    for name in methods:
        if name not in known:
            remedy = f"{nearest(name, known)}; give two of {', '.join(known)}"
            raise InputError(f"no method {name!r}{remedy}")
    outcomes = [(dict(zip((*_SHARED, *_OUTCOME), key, strict=True)), cells[key]) for key in cells]
    gaps = [names["measure"] for names, _ in outcomes if names["side"] == "gap"]
    compared = {"gap": present_confirmatory(gaps, confirmatory), "utility": [utility]}
    results = []
    for (names, conditions), direction in product(outcomes, DOSE_SIGN):
        words, paths = _paths(conditions, methods, direction)
        if names["measure"] not in compared.get(names["side"], ()) or min(map(len, paths)) < 2:
            continue
        at = [({"dose": "full", "score_change": "nan"}, [{max(path): 1.0} for path in paths])]
        for score, scored in outcomes:
            if score["side"] == "score" and score["generated"] == names["generated"]:
                change, weights = _equal_change(_paths(scored, methods, direction)[1])
                labels = {name: score[name] for name in SCORE} | {"dose": "equal score"}
                at += [(labels | {"score_change": repr(change)}, weights)] if change else []
        for labels, weights in at:
            labels |= {"method": methods[0], "wordset": words, "direction": direction}
            after, before = map(_weighted, paths, weights)
            pairs = [(before[parent], after[parent]) for parent in after if parent in before]
            results += [_effect(names | labels, ALL, methods[1], pairs)] if pairs else []
    return results


def _paths(
    conditions: Mapping[_ConditionNames, Means], methods: Sequence[str], direction: str
) -> tuple[str, list[dict[float, Means]]]:
    """Return the word lists, and for each method its cells by dose; at 0 the unmodified ones."""
    chosen = [[key for key in conditions if key[::3] == (name, direction)] for name in methods]
    shared = set.intersection(*({key[1] for key in keys} for keys in chosen))
    words = shared or {key[1] for keys in chosen for key in keys}
    paths = []
    for keys in chosen:
        by_dose: dict[float, list[_ConditionNames]] = {0.0: [(CONTROL,)]}
        for key in keys:
            by_dose.setdefault(float(key[-1]), []).extend([key] * (key[1] in words))
        weights = {dose: dict.fromkeys(x, 1 / len(x)) for dose, x in sorted(by_dose.items()) if x}
        paths.append({dose: _weighted(conditions, weights[dose]) for dose in weights})
    return ", ".join(sorted(words)), paths


def _weighted(parts: Mapping[Key, Means], weights: Mapping[Key, float]) -> Means:
    """Return weighted sums, of the parents that every part with a weight knows."""
    used = [(parts.get(place, {}), weight) for place, weight in weights.items() if weight]
    shares, sums = np.array([weight for _, weight in used]), {}
    for parent, first in used[0][0].items():
        cells = [part[parent] for part, _ in used if parent in part]
        n_resamples = min(len(cell.resampled) for cell in cells)
        if len(cells) == len(used) and all(isfinite(cell.value) for cell in cells):
            resampled = shares @ np.array([cell.resampled[:n_resamples] for cell in cells])
            value = float(shares @ [cell.value for cell in cells])
            sums[parent] = first._replace(value=value, resampled=resampled)
    return sums


def _equal_change(paths: Sequence[Mapping[float, Means]]) -> tuple[float, list[dict[float, float]]]:
    """Return the largest mean change of a score that all methods reach, and for each the weights of
    the first two doses between which it lies; 0 where they move it apart, or not at all.
    """
    parents = sorted(set.intersection(*({*cells} for path in paths for cells in path.values())))
    means = [[[cells[name].value for name in parents] for cells in x.values()] for x in paths]
    changes = [np.mean(mean, axis=1) - np.mean(mean[0]) for mean in means if parents]
    low = max((change.min() for change in changes), default=0.0)
    high = min((change.max() for change in changes), default=0.0)
    reached, weights = float(max(low, high, key=abs)), []
    for path, change in zip(paths, changes, strict=True) if reached else ():
        beyond = change - reached
        first = int(np.flatnonzero(beyond[:-1] * beyond[1:] <= 0)[0])
        share = float(beyond[first] / (beyond[first] - beyond[first + 1]))
        weights.append(dict(zip([*path][first:], (1 - share, share), strict=False)))
    return reached, weights


# The effect of each modification as a table: on the terminal and in ``effects.csv``.


def effect_table(results: Sequence[Effect]) -> pd.DataFrame:
    """Return one row per effect; columns: docs/columns.csv."""
    rows = [{**result.names, **result._asdict()} for result in results]
    return pd.DataFrame(rows, columns=[*_SHARED, *_OUTCOME, *CONDITION, *Effect._fields[1:-1]])


def condition_table(results: Sequence[Effect], confirmatory: Sequence[str]) -> pd.DataFrame:
    """Return one row per condition at its largest dose, all cells text.

    Columns: the number of parents, and the changes of the gaps in the ``confirmatory`` measures,
    the utility and the first scores over all embeddings, with 95% intervals; conditions without
    modified training labels.
    """
    table = effect_table(results)
    is_pooled = (table["embedding"] == ALL) & (table["against"] == ORIGINAL)
    table = table[is_pooled & table["label_method"].isin(["", CONTROL])]
    if table.empty:
        return table[[]]
    dose = pd.Series(as_float(table, "dose"), table.index)
    table = table[dose == dose.groupby([table[name] for name in CONDITION[:-1]]).transform("max")]
    table = pd.concat([_titled(table, side, confirmatory) for side in ("gap", "utility", "score")])
    n_digits = [2 if side == "score" else 3 for side in as_text(table, "side")]
    parts = (as_float(table, name).tolist() for name in ("effect", "effect_low", "effect_high"))
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


def effects_document(results: Sequence[Effect], confirmatory: Sequence[str]) -> Document:
    """Return the effects of the largest doses as text."""
    shown = condition_table(results, confirmatory)
    if not len(shown):
        return Document(())
    rows = as_rows({str(name): as_text(shown, str(name)) for name in shown})
    generated = any(result.names["generated"] == "True" for result in results)
    stamp = ", synthetic data" if generated else ""
    table = TextTable.of_rows(_EFFECTS_TITLE + stamp, rows, (*_SHARED, *CONDITION[:-1]))
    return Document((), (), [table], _shortage(results))


def _shortage(results: Sequence[Effect]) -> list[str]:
    if any(0 < result.n_units < MIN_UNITS for result in results):
        return [f"An interval takes {MIN_UNITS} unmodified models (parents)."]
    return []


def comparison_table(results: Sequence[Effect]) -> pd.DataFrame:
    """Return one row per result of ``compare_methods``; columns: docs/columns.csv."""
    table = effect_table(results).drop(columns=["method_options", "verdict"])
    return table.assign(score_change=[float(result.names["score_change"]) for result in results])


def comparison_document(results: Sequence[Effect], confirmatory: Sequence[str]) -> Document:
    """Return a table for each direction, with the first scores, as text."""
    tables = []
    table = comparison_table(results)
    equal = table[table["score_change"].notna()]
    scores = dict(zip(equal.index, score_titles(equal), strict=True))
    shown = [None, *dict.fromkeys(scores.values())][: 1 + SCORES_SHOWN]
    settings: list[str] = []
    for name in _SHARED:  # those that tell apart what the others do not
        if len({*text_rows(table, [*settings, name])}) > max(1, len({*text_rows(table, settings)})):
            settings.append(name)
    table = pd.concat([_titled(table, side, confirmatory) for side in ("gap", "utility")])
    for (method, other, way), part in table.groupby(["method", "against", "direction"], sort=False):
        rows = [
            {name: row[name] for name in settings}
            | {
                "outcome": row["title"],
                "at": f"{scores[i]} {row['score_change']:+.2f}" if i in scores else "full doses",
                "difference [95%]": format_estimate(
                    row["effect"], row["effect_low"], row["effect_high"], 3, sign="+"
                ),
                "parents": str(row["n_parents"]),
            }
            for i, row in part.iterrows()
            if scores.get(i) in shown
        ]
        title = f"{method} less {other}, {way}: difference of effects, mean over parents"
        tables.append(TextTable.of_rows(title, rows, (*settings, "outcome", "at")))
    return Document((), (), tables, _shortage(results))


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
