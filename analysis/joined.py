"""Points joined with their scores and gaps, a row per pair; their parents, clusters and utility."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from biasbridge.analysis.naming import ALL, CONDITION, CONTROL, GAP, SCORE, SLICE_COLUMNS, UTILITY
from biasbridge.analysis.observations import WORLD, Observations
from biasbridge.analysis.tables import Tables, group_indices, read_tables, require_rows, typed
from biasbridge.files import InputError
from biasbridge.files.columns import as_arrays, as_float, as_text, text_rows
from biasbridge.stats.formatting import format_estimate, format_number
from biasbridge.stats.intervals import quantile

if TYPE_CHECKING:
    from pathlib import Path

    from biasbridge.stats.arrays import Floats, Labels


# The classifier and its training data; TRAINING_DRAWS: the random draws of its training
TASK_SETTINGS = (
    *("task", "source", "challenge", "classifier"),
    *("label_method", "label_direction", "label_dose"),
)
TRAINING_DRAWS = ("seed", "replicate")
_NEEDED_POINT_COLUMNS = ("point", "embedding", "method", "status", "generated")
_NEEDED_SCORE_COLUMNS = ("point", "metric", "query", "value")
_NEEDED_GAP_COLUMNS = ("point", "task", "kind", "measure", "value")
JOINED_COLUMNS = (*SLICE_COLUMNS, "point", "x", "y", "generated")
RESAMPLED = ("x_resampled", "y_resampled")  # columns of lists, one number a resample
_WITHOUT_RESAMPLES = "intervals leave out the sampling error of words and items, without resamples"
_SCALE_COLUMNS = ("metric", "convention", "part")  # scores that share these share a scale
_SCORE_COLUMNS = ("low", "high", "unbiased", "p_value", "n_found", "n_oov", "resampled", "reason")
_GAP_COLUMNS = (
    *("low", "high", "resampled", "reason", "expected_from_base_rates"),
    *("support", "support_privileged", "support_unprivileged", "group_by"),
)
# Options of the unmodified embedding, of its modification, of the task
OPTIONS = ("parent_options", "method_options", "task_options")
MIN_SKILL = 0.2  # recall - FPR of the unmodified models, surely: 0 is chance


def join_points(tables: Tables, utility: str = UTILITY) -> pd.DataFrame:
    """Return one row per point, intrinsic score and gap; docs/results.md documents the columns.

    Unmodified embeddings have the method ``none``. A failed point has NaN in ``x`` and ``y``, in
    one row for each score and gap that done points of its setting have, so that it counts as lost.
    Raises ``InputError`` for a missing column, an empty table, a duplicate score, or a done point
    without a row.
    """
    checked = _check_tables(tables)
    require_rows(tables.extrinsic, _NEEDED_GAP_COLUMNS, [], "the extrinsic table")
    tables = checked
    done = tables.points[tables.points["status"] == "done"]
    scores, gaps = _score_rows(tables.intrinsic), _gap_rows(tables.extrinsic)
    for name, table in (("intrinsic", scores), ("extrinsic", gaps)):
        missing = sorted({*done["point"]} - {*table["point"]})
        if missing:
            raise InputError(
                f"{len(missing)} done points have no row in the {name} table ({missing[0]}, ...);"
                " run the experiment again"
            )
    joined = done.drop(columns="task").merge(scores, on="point")
    joined = joined.merge(gaps, on="point")
    reasons = zip(joined.pop("x_reason"), joined.pop("y_reason"), strict=True)
    joined = joined.assign(
        reason=["; ".join(dict.fromkeys(filter(None, pair))) for pair in reasons]
    )
    values = tables.extrinsic[tables.extrinsic["kind"] == "value"]
    utilities = utility_rows(values, utility)[["point", "task", "value"]]
    utilities = utilities.rename(columns={"value": "utility"}).drop_duplicates(["point", "task"])
    joined = joined.merge(utilities, on=["point", "task"], how="left")
    joined = joined.merge(_skills(values), on=["point", "task"], how="left")
    joined = _with_failed(joined, tables.points)
    return joined.assign(**levels(joined))


def utility_rows(extrinsic: pd.DataFrame, utility: str) -> pd.DataFrame:
    """Return the rows of the utility measure over all items."""
    return extrinsic[(extrinsic["measure"] == utility) & (extrinsic["group"] == ALL)]


def _with_failed(joined: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    failed = points[points["status"] != "done"].drop(columns="task")
    setting_columns = [name for name in TASK_SETTINGS if name != "task"]
    result_columns = ["task", *SCORE, *GAP, "unbiased", "reverse_scored"]
    failed_rows = failed.merge(
        joined[[*setting_columns, *result_columns]].drop_duplicates(), on=setting_columns
    )
    if failed_rows.empty:
        return joined
    return pd.concat([joined, failed_rows.assign(reason="its point failed")], ignore_index=True)


def origins(points: pd.DataFrame) -> dict[str, list[str]]:
    """Return for each row its ``model``, ``parent`` and ``cluster``.

    The model is an embedding in the store, the parent the unmodified embedding it was made from,
    and the cluster the independent unit above parents: the run seed where corpora are synthetic
    (corpora and posts of one seed share one world), else the corpus.
    """
    model = _keys(points, "unit_key", as_text(points, "point"))
    parent = _keys(points, "parent_key", model)
    corpus = _keys(points, "corpus_key", parent)
    generated = np.isfinite(as_float(points, "stereotype"))
    cluster = [
        f"{WORLD}{seed}" if is_generated and seed else key
        for key, seed, is_generated in zip(corpus, as_text(points, "seed"), generated, strict=True)
    ]
    return {"model": model, "parent": parent, "cluster": cluster}


def levels(points: pd.DataFrame) -> dict[str, list[str]]:
    """Return ``origins`` as correlations use them.

    Without modified embeddings, each embedding of a corpus or synthetic world is its own parent.
    Where algorithms share corpora, the corpus is the model and its world the parent; else
    the parent is algorithm and world, or the algorithm where each world has one embedding.
    """
    model, parent, world = origins(points).values()
    if _has_several(model, parent):
        return {"model": model, "parent": parent, "cluster": world}
    corpus, algorithm = _keys(points, "corpus_key", parent), as_text(points, "embedding")
    algorithm_and_world = [f"{a} {b.strip()}" for a, b in zip(algorithm, world, strict=True)]
    one = [""] * len(model)
    if 1 < len(set(corpus)) < len(set(model)):
        model, parent = corpus, world if _has_several(corpus, world) else one
    elif _has_several(model, algorithm_and_world):
        parent = algorithm_and_world
    elif len(set(world)) > 1 and _has_several(model, world):
        model, parent = [name.strip() for name in world], one
    else:
        parent = algorithm
    return {"model": model, "parent": parent, "cluster": parent}


def _has_several(inner: Sequence[str], outer: Sequence[str]) -> bool:
    return len(set(zip(inner, outer, strict=True))) > len(set(outer))


def is_joined(table: pd.DataFrame) -> bool:
    """Test whether a table has the columns of ``join_points``, and so names models and parents."""
    return set(JOINED_COLUMNS) <= set(table.columns)


def resamples_warning(table: pd.DataFrame) -> str:
    """Return a warning where a table has no resamples of scores and gaps; empty where it has."""
    if not is_joined(table):
        return _WITHOUT_RESAMPLES
    remedy = ": read_results(..., resamples=True) reads them"
    return f"{_WITHOUT_RESAMPLES}{remedy}" * set(RESAMPLED).isdisjoint(table.columns)


def observations_of(joined: pd.DataFrame, x: str = "x", y: str = "y") -> Observations:
    """Return the joined table, or two other columns of it, as arrays.

    The sign of ``reverse_scored`` scores is changed, so that higher always means more biased. A
    point is its own model, parent and cluster where the table has no such column.
    """
    model = _model_names(joined, _labels(joined, "model", "point"))
    parent = _labels(joined, "parent", "model" if "model" in joined else "point")
    method = np.array(as_text(joined, "method"), dtype=str)
    family = _texts(joined, ("method_family",))
    sign = bias_sign(joined) if x == "x" else np.ones(len(joined))
    return Observations.make(
        sign * as_float(joined, x),
        as_float(joined, y),
        model=model,
        parent=parent,
        cluster=_labels(joined, "cluster", "parent") if "parent" in joined else parent,
        condition=np.where(method == CONTROL, CONTROL, _conditions(joined)),
        method=method,
        family=np.where(method == CONTROL, "", np.where(family == "", method, family)),
        word_list=np.where(method == CONTROL, "", _texts(joined, ("wordset",))),
        direction=np.where(method == CONTROL, "", _texts(joined, ("direction",))),
        dose=as_float(joined, "dose"),
        setting=_texts(_with_options(joined), (*TASK_SETTINGS, "task_options")),
        training=_texts(joined, TRAINING_DRAWS),
        score_gap=_texts(joined, (*SCORE, *GAP)),
        utility=as_float(joined, "utility"),
        x_resampled=sign[:, None] * as_arrays(joined, f"{x}_resampled"),
        y_resampled=as_arrays(joined, f"{y}_resampled"),
        n_words=_sample_sizes(joined, "n_found"),
        n_items=_sample_sizes(joined, "support"),
    )


def _model_names(joined: pd.DataFrame, keys: Labels) -> Labels:
    """Return ``word2vec balance debias 1 seed 0`` for each key; the keys if ambiguous."""
    unmodified = np.array(as_text(joined, "method"), dtype=str) == CONTROL
    conditions = np.where(unmodified, "unmodified", _conditions(joined))
    parts = zip(
        as_text(joined, "embedding"), conditions.tolist(), as_text(joined, "seed"), strict=True
    )
    names = [f"{embedding} {condition} seed {seed}" for embedding, condition, seed in parts]
    pairs = set(zip(names, keys.tolist(), strict=True))
    is_unique = len(pairs) == len(set(names)) == len(set(keys.tolist()))
    return np.array(names, dtype=str) if is_unique and any(as_text(joined, "unit_key")) else keys


def _conditions(joined: pd.DataFrame) -> Labels:
    """Return ``attract_repel weat6b overbias 1`` for each row, with the options that vary."""
    names = [name for name in CONDITION if name not in OPTIONS]
    return _texts(keep_varying_options(joined, names), CONDITION)


def _with_options(joined: pd.DataFrame) -> pd.DataFrame:
    options, models = as_text(joined, "task_options"), as_text(joined, "model")
    if _has_several(options, models):
        return keep_varying_options(joined, ("model", *TASK_SETTINGS, *TRAINING_DRAWS))
    return joined.assign(task_options="")


def _texts(joined: pd.DataFrame, names: Sequence[str]) -> Labels:
    return np.array([" ".join(filter(None, row)) for row in text_rows(joined, names)], dtype=str)


def bias_sign(joined: pd.DataFrame) -> Floats:
    """Return -1 for ``reverse_scored`` rows, else 1. Shape (rows,)."""
    return np.where(np.array(as_text(joined, "reverse_scored"), dtype=str) == "True", -1.0, 1.0)


def unbiased_values(joined: pd.DataFrame) -> Floats:
    """Return the unbiased value of each row's score, signed as in ``observations_of``.

    NaN for measures of utility; 0 where the table has no such column.
    """
    if "unbiased" not in joined:
        return np.zeros(len(joined))
    return bias_sign(joined) * as_float(joined, "unbiased")


def _labels(joined: pd.DataFrame, name: str, otherwise: str) -> Labels:
    values = as_text(joined, name if name in joined else otherwise)
    return np.array(values, dtype=str)


def _sample_sizes(joined: pd.DataFrame, column: str) -> Floats:
    """Return the number of words or items that resamples are drawn from; infinite if unknown."""
    sizes = as_float(joined, column)
    return np.where(sizes > 0, sizes, np.inf)


def join_folder(folder: str | Path, utility: str = UTILITY) -> pd.DataFrame:
    """Read a results folder as ``join_points`` (without a task ``_join_scores``)."""
    tables = read_tables(folder)
    return join_points(tables, utility) if len(tables.extrinsic) else _join_scores(tables)


def _join_scores(tables: Tables) -> pd.DataFrame:
    """Return one row per done point and intrinsic score, in the column ``value``, for dose-response
    curves.

    An unmodified embedding is dose 0 of every method and direction: its row is repeated for each.
    """
    tables = _check_tables(tables)
    scores = _score_rows(tables.intrinsic).rename(columns={"x": "value"})
    joined = tables.points[tables.points["status"] == "done"].merge(scores, on="point")
    modified = joined[joined["method"] != CONTROL]
    conditions = modified[["method", "direction"]].drop_duplicates()
    if conditions.empty:
        return joined
    controls = joined[joined["method"] == CONTROL].drop(columns=[*conditions])
    return pd.concat([modified, controls.merge(conditions, how="cross")], ignore_index=True)


def _keys(joined: pd.DataFrame, column: str, otherwise: list[str]) -> list[str]:
    return [key or default for key, default in zip(as_text(joined, column), otherwise, strict=True)]


def _check_tables(tables: Tables) -> Tables:
    points, intrinsic = tables.points, tables.intrinsic
    require_rows(points, _NEEDED_POINT_COLUMNS, ["point"], "the points table")
    if not (points["status"] == "done").any():
        raise InputError(
            f"none of the {len(points)} points is done; read their errors in the points table, then"
            " run again"
        )
    require_rows(intrinsic, _NEEDED_SCORE_COLUMNS, [], "the intrinsic table")
    tables = typed(tables)
    require_rows(tables.intrinsic, (), ["point", *SCORE], "the intrinsic table")
    return tables


def _score_rows(intrinsic: pd.DataFrame) -> pd.DataFrame:
    scores = _side(intrinsic, "x", ("point", *SCORE, "value", *_SCORE_COLUMNS))
    # Of a metric whose unbiased value is the upper end of the scale
    names = text_rows(intrinsic, _SCALE_COLUMNS)
    ends = (intrinsic["scale_max"] <= intrinsic["unbiased"]).tolist()
    reverse_scored = {name for name, is_end in zip(names, ends, strict=True) if is_end}
    return scores.assign(reverse_scored=[name in reverse_scored for name in names])


def _side(rows: pd.DataFrame, side: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return the columns that exist; value and interval get the names of a side, x or y."""
    names = {name: f"{side}_{name}" for name in ("low", "high", "resampled", "reason")}
    present = [name for name in columns if name in rows]
    return rows[present].rename(columns={"value": side, **names})


def _gap_rows(extrinsic: pd.DataFrame) -> pd.DataFrame:
    rows = extrinsic[extrinsic["kind"] == "gap"]
    if rows.empty:
        raise InputError(
            "the extrinsic table holds no gap (no row of kind 'gap'): the labelled data needs posts"
            " of both groups"
        )
    require_rows(rows, (), ["point", "task", *GAP], "the extrinsic table")
    return _side(rows, "y", ("point", "task", *GAP, "value", *_GAP_COLUMNS))


# Options of a sweep without a column of their own, such as ``modified.epochs``.


def keep_varying_options(points: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Keep only the options, ``modified.epochs=1``, that differ between points with the same values
    in ``columns``; empty text where there are none.
    """
    groups = list(group_indices(text_rows(points, columns)).values())
    varied_columns = {}
    for name in OPTIONS:
        cells = as_text(points, name)
        parsed = {cell: _options_of(cell) for cell in dict.fromkeys(cells)}
        rows = [parsed[cell] for cell in cells]
        varied: dict[str, None] = {}
        for members in groups:
            group_rows = [rows[place] for place in members]
            for option in dict.fromkeys(option for row in group_rows for option in row):
                if any(row.get(option) != group_rows[0].get(option) for row in group_rows):
                    varied[option] = None
        varied_columns[name] = [
            " ".join(f"{option}={row[option]}" for option in sorted(varied) if option in row)
            for row in rows
        ]
    return points.assign(**varied_columns)


def _options_of(text: str) -> Mapping[str, str]:
    """Return the options in a cell. Raise ``InputError`` for a cell that holds none."""
    if not text:
        return {}
    options: object = None
    with suppress(ValueError, RecursionError):
        options = json.loads(text)
    if not isinstance(options, dict):
        raise InputError(f"a column of options holds {text[:80]!r}; run the experiment again")
    return {
        str(name): value if isinstance(value, str) else json.dumps(value)
        for name, value in options.items()
    }


# How well the task is done.


def _skills(values: pd.DataFrame) -> pd.DataFrame:
    """Return recall - FPR over all items of each point and task, and its error by sampling items:
    positive and negative ones are drawn apart.
    """
    sides = []
    for measure in ("recall", "fpr"):
        rows = utility_rows(values, measure).drop_duplicates(["point", "task"])
        rows = rows.set_index(["point", "task"])[["value", "low", "high"]].astype(float)
        sides.append((rows["value"], (rows["high"] - rows["low"]) / (2 * quantile(0.95))))
    (recall, recall_error), (fpr, fpr_error) = sides
    error = np.sqrt(recall_error**2 + fpr_error**2)
    return pd.DataFrame({"skill": recall - fpr, "skill_error": error}).reset_index()


def low_skill_reason(joined: pd.DataFrame) -> str:
    """Return why gaps of a task get no verdict: recall - FPR of its unmodified models (of all where
    there is none) is not surely above ``MIN_SKILL``, by trainings and items. Empty where it is, or
    unknown.
    """
    if not {"skill", "skill_error", "method"} <= {*joined}:
        return ""
    unmodified = joined[joined["method"] == CONTROL]
    rows = unmodified if len(unmodified) else joined
    rows = rows.assign(parent=_labels(rows, "parent", "point")).drop_duplicates(["point", "task"])
    means = rows.groupby("parent")[["skill", "skill_error"]].mean().dropna()
    if means.empty:
        return ""
    value, error = means.mean().tolist()
    variance, n = error**2, len(means)
    variance += float(means["skill"].var()) / n if n > 1 else 0.0
    half = float(stdtrit(max(1, n - 1), 0.975) if n > 1 else quantile(0.95)) * sqrt(variance)
    if value - half > MIN_SKILL:
        return ""
    estimate = format_estimate(value, value - half, value + half)
    return (
        f"recall - FPR of the task is {estimate}, and 0 is chance. A verdict takes a task that is"
        f" surely above {format_number(MIN_SKILL, 1)}"
    )
