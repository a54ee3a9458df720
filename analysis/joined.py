"""Points, intrinsic scores and extrinsic gaps joined into the table that correlations and figures
are drawn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.frame import (
    Tables,
    labels,
    lists,
    numbers,
    require_rows,
    text_rows,
    texts,
    typed,
    values_of,
)
from analysis.naming import ALL, CONDITION, CONTROL, GAP, SCORE, SLICE_COLUMNS, UTILITY
from analysis.options import with_varied
from analysis.results import read_tables
from analysis.rows import Resampled, Rows
from files import InputError
from files.tables import read_table

if TYPE_CHECKING:
    from analysis.arrays import Floats, Labels

# What a classifier is and learns from, and what else decides how its training comes out
SETTINGS = (
    *("task", "source", "challenge", "classifier"),
    *("label_method", "label_direction", "label_dose"),
)
DRAWN = ("seed", "replicate")
POINT_COLUMNS = ("point", "embedding", "method", "status", "generated")
INTRINSIC_COLUMNS = ("point", "metric", "query", "value")
EXTRINSIC_COLUMNS = ("point", "task", "kind", "measure", "value")
JOINED_COLUMNS = (*SLICE_COLUMNS, "point", "x", "y", "generated")
RESAMPLED = ("x_resampled", "y_resampled")  # columns of lists, one number a resample
WITHOUT_RESAMPLES = "intervals leave out the sampling error of words and items, without resamples"
SCALE = ("metric", "convention", "part")  # what scores on one scale have in common
KEPT_OF_SCORES = (
    *("low", "high", "unbiased", "p_value", "n_found", "n_lost", "resampled", "reason"),
)
KEPT_OF_GAPS = (
    *("low", "high", "resampled", "reason", "from_base_rates"),
    *("support", "support_privileged", "support_unprivileged", "group_by"),
)


def join_points(tables: Tables, utility: str = UTILITY) -> pd.DataFrame:
    """One row per point, intrinsic score and gap; docs/results.md says what its columns mean.

    A control, an unmodified embedding, has the method ``none``. Of a failed point ``x`` and ``y``
    are NaN, in a row for each score and gap that done points of its setting have, so that it is
    known to lack them. Raises ``InputError`` for a missing column, an empty table, a score that
    occurs twice, or a done point that one of the tables does not know.
    """
    whole = _checked(tables)
    require_rows(tables.extrinsic, EXTRINSIC_COLUMNS, [], "the extrinsic table")
    tables = whole
    done = tables.points[tables.points["status"] == "done"]
    scores, gaps = _scores(tables.intrinsic), _gaps(tables.extrinsic)
    for name, table in (("intrinsic", scores), ("extrinsic", gaps)):
        absent = sorted({*done["point"]} - {*table["point"]})
        if absent:
            raise InputError(
                f"{len(absent)} done points have no row in the {name} table ({absent[0]}, ...): run"
                " the experiment again"
            )
    joined = done.drop(columns="task").merge(scores, on="point")
    joined = joined.merge(gaps, on="point")
    reasons = zip(joined.pop("x_reason"), joined.pop("y_reason"), strict=True)
    joined = joined.assign(reason=["; ".join(dict.fromkeys(filter(None, e))) for e in reasons])
    joined = joined.merge(_utilities(tables.extrinsic, utility), on=["point", "task"], how="left")
    joined = _with_failed(joined, tables.points)
    return joined.assign(**levels(joined))


def utility_rows(extrinsic: pd.DataFrame, utility: str) -> pd.DataFrame:
    """How well the task is done: the rows of the measure of that name over all items."""
    return extrinsic[(extrinsic["measure"] == utility) & (extrinsic["group"] == ALL)]


def _utilities(extrinsic: pd.DataFrame, utility: str) -> pd.DataFrame:
    rows = utility_rows(extrinsic[extrinsic["kind"] == "value"], utility)
    rows = rows[["point", "task", "value", "constant"]].rename(columns={"value": "utility"})
    return rows.drop_duplicates(["point", "task"])


def _with_failed(joined: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    failed = points[points["status"] != "done"].drop(columns="task")
    alike = [name for name in SETTINGS if name != "task"]
    asked = ["task", *SCORE, *GAP, "unbiased", "reverse_scored"]
    lost = failed.merge(joined[[*alike, *asked]].drop_duplicates(), on=alike)
    if lost.empty:
        return joined
    return pd.concat([joined, lost.assign(reason="its point failed")], ignore_index=True)


def origins(points: pd.DataFrame) -> dict[str, list[str]]:
    """For each row its ``model``, an embedding in the store, the ``parent``, the unmodified
    embedding that it was made from, and the ``cluster`` of that, what is independent of one
    another: run seeds where corpora are synthetic (those of one seed are of one world, and its
    posts too), else corpora.
    """
    model = _keys(points, "unit_key", texts(points, "point"))
    parent = _keys(points, "parent_key", model)
    corpus = _keys(points, "corpus_key", parent)
    return {"model": model, "parent": parent, "cluster": _worlds(points, corpus)}


def levels(points: pd.DataFrame) -> dict[str, list[str]]:
    """The same, as correlations take them.

    Where nothing was modified, embeddings of one corpus, or of one synthetic world, are no parents
    of one another: where algorithms share corpora the corpus is the model, and its world the
    parent; else the parent is algorithm and world, or where each world has one embedding the
    algorithm.
    """
    found = origins(points)
    model, parent, cluster = found.values()
    if _several(model, parent):
        return found
    corpus, algorithm = _keys(points, "corpus_key", parent), texts(points, "embedding")
    if 1 < len(set(corpus)) < len(set(model)):
        model, parent = corpus, cluster if _several(corpus, cluster) else [""] * len(model)
    else:
        own = [" ".join(pair) for pair in zip(algorithm, cluster, strict=True)]
        parent = own if _several(model, own) else algorithm
        if parent is algorithm and _several(model, cluster) and len(set(cluster)) > 1:
            model, parent = cluster, [""] * len(model)
    return {"model": model, "parent": parent, "cluster": parent}


def _several(inner: Sequence[str], outer: Sequence[str]) -> bool:
    return len(set(zip(inner, outer, strict=True))) > len(set(outer))


def is_joined(table: pd.DataFrame) -> bool:
    """Whether a table has what ``join_points`` makes, so that it names models and parents."""
    return set(JOINED_COLUMNS) <= set(table.columns)


def lacks_resamples(table: pd.DataFrame) -> bool:
    """Return whether a joined table was read without the resamples of its scores and gaps."""
    return is_joined(table) and set(RESAMPLED).isdisjoint(table.columns)


def rows_of(joined: pd.DataFrame, x: str = "x", y: str = "y") -> Rows:
    """The joined table, or two other columns of it, as arrays. ``reverse_scored`` scores have their
    sign changed, so that in all of them more is more biased. A point is its own model, parent and
    cluster where the table does not say.
    """
    model = _model_names(joined, _labels(joined, "model", "point"))
    parent = _labels(joined, "parent", "model" if "model" in joined else "point")
    method = np.array(texts(joined, "method"), dtype=str)
    sign = bias_sign(joined) if x == "x" else np.ones(len(joined))
    return Rows(
        x=sign * numbers(joined, x),
        y=numbers(joined, y),
        model=model,
        parent=parent,
        cluster=_labels(joined, "cluster", "parent") if "parent" in joined else parent,
        condition=np.where(method == CONTROL, CONTROL, _texts(joined, CONDITION)),
        method=method,
        setting=_texts(_with_options(joined), (*SETTINGS, "task_options")),
        training=_texts(joined, DRAWN),
        asked=_texts(joined, (*SCORE, *GAP)),
        utility=numbers(joined, "utility"),
        x_resampled=resampled(joined, f"{x}_resampled", "n_found").times(sign),
        y_resampled=resampled(joined, f"{y}_resampled", "support"),
    )


def _model_names(joined: pd.DataFrame, keys: Labels) -> Labels:
    """``word2vec balance debias 1 seed 0`` for each key, where that names every model and no two
    alike.
    """
    unmodified = np.array(texts(joined, "method"), dtype=str) == CONTROL
    done = np.where(unmodified, "unmodified", _texts(joined, CONDITION))
    parts = zip(texts(joined, "embedding"), done.tolist(), texts(joined, "seed"), strict=True)
    names = [f"{embedding} {condition} seed {seed}" for embedding, condition, seed in parts]
    pairs = set(zip(names, keys.tolist(), strict=True))
    same = len(pairs) == len(set(names)) == len(set(keys.tolist()))
    return np.array(names, dtype=str) if same and any(texts(joined, "unit_key")) else keys


def _with_options(joined: pd.DataFrame) -> pd.DataFrame:
    """With those options of the task alone that differ between the points of a unit."""
    options, models = texts(joined, "task_options"), texts(joined, "model")
    if _several(options, models):
        return with_varied(joined, ("model", *SETTINGS, *DRAWN))
    return joined.assign(task_options="")


def _texts(joined: pd.DataFrame, names: Sequence[str]) -> Labels:
    return np.array([" ".join(filter(None, row)) for row in text_rows(joined, names)], dtype=str)


def bias_sign(joined: pd.DataFrame) -> Floats:
    """-1 for rows whose score is lower where there is more bias (``reverse_scored``), else 1. Shape
    (rows,).
    """
    return np.where(np.array(texts(joined, "reverse_scored"), dtype=str) == "True", -1.0, 1.0)


def unbiased_of(joined: pd.DataFrame) -> Floats:
    """The value without bias of each row's score, its sign changed as ``rows_of`` does: NaN of
    measures of utility, 0 where the table does not say. Shape (rows,).
    """
    if "unbiased" not in joined:
        return np.zeros(len(joined))
    return bias_sign(joined) * numbers(joined, "unbiased")


def _labels(joined: pd.DataFrame, name: str, otherwise: str) -> Labels:
    found = labels(joined, name if name in joined else otherwise, empty="")
    return np.array(found, dtype=str)


def resampled(joined: pd.DataFrame, name: str, size: str) -> Resampled:
    """Read a column of lists, of which a join repeats each for many rows, and the column of the
    number of words or items that they are drawn from.
    """
    if name not in joined:
        return Resampled.of(np.zeros((len(joined), 0)))
    cells = values_of(joined, name)
    first: dict[int, int] = {}
    for row, cell in enumerate(cells):
        first.setdefault(id(cell), row)
    places = {cell: place for place, cell in enumerate(first)}
    different = joined.iloc[list(first.values())]
    sizes = numbers(different, size)
    return Resampled(
        lists(different, name),
        np.array([places[id(cell)] for cell in cells], dtype=np.intp),
        np.where(sizes > 0, sizes, np.inf),
    )


def has_gaps(tables: Tables) -> bool:
    """Whether there is a done point with a score, and a gap to set it against."""
    tables = typed(tables)
    done = (tables.points["status"] == "done").any()
    return bool(done and len(tables.intrinsic) and (tables.extrinsic["kind"] == "gap").any())


def open_table(path: str | Path, utility: str = UTILITY) -> pd.DataFrame:
    """The joined tables of a results folder (``join_scores`` where it has no downstream task), or
    the table of any other file.
    """
    if not Path(path).is_dir():
        return read_table(path, lists="resampled")
    tables = read_tables(path)
    return join_points(tables, utility) if len(tables.extrinsic) else join_scores(tables)


def join_scores(tables: Tables) -> pd.DataFrame:
    """One row per done point and intrinsic score, in the column ``value``, for dose-response
    curves.

    An unmodified embedding is the dose 0 of every method and direction, so its row is repeated for
    each that the table holds.
    """
    tables = _checked(tables)
    scores = _scores(tables.intrinsic).rename(columns={"x": "value"})
    joined = tables.points[tables.points["status"] == "done"].merge(scores, on="point")
    modified = joined[joined["method"] != CONTROL]
    conditions = modified[["method", "direction"]].drop_duplicates()
    if conditions.empty:
        return joined
    controls = joined[joined["method"] == CONTROL].drop(columns=[*conditions])
    return pd.concat([modified, controls.merge(conditions, how="cross")], ignore_index=True)


def _keys(joined: pd.DataFrame, column: str, otherwise: list[str]) -> list[str]:
    return [key or other for key, other in zip(texts(joined, column), otherwise, strict=True)]


def _worlds(joined: pd.DataFrame, corpus: list[str]) -> list[str]:
    """The corpora, those that are generated by the run seed that decides about their world."""
    generated = np.isfinite(numbers(joined, "stereotype"))
    seeds = texts(joined, "seed")
    return [
        f"seed {seed}" if made and seed else key
        for key, seed, made in zip(corpus, seeds, generated, strict=True)
    ]


def _checked(tables: Tables) -> Tables:
    points, intrinsic = tables.points, tables.intrinsic
    require_rows(points, POINT_COLUMNS, ["point"], "the points table")
    if not (points["status"] == "done").any():
        raise InputError(
            f"none of the {len(points)} points is done; read their errors in the points table and"
            " run again"
        )
    require_rows(intrinsic, INTRINSIC_COLUMNS, [], "the intrinsic table")
    tables = typed(tables)
    require_rows(tables.intrinsic, (), ["point", *SCORE], "the intrinsic table")
    return tables


def _scores(intrinsic: pd.DataFrame) -> pd.DataFrame:
    kept = [name for name in ("point", *SCORE, "value", *KEPT_OF_SCORES) if name in intrinsic]
    names = {"value": "x", "reason": "x_reason"}
    names |= {each: f"x_{each}" for each in ("low", "high", "resampled")}
    scores = intrinsic[kept].rename(columns=names)
    return scores.assign(reverse_scored=_reverse_scored(intrinsic))


def _reverse_scored(intrinsic: pd.DataFrame) -> list[bool]:
    """For each row whether the unbiased value of its metric is the upper end of the scale."""
    names = text_rows(intrinsic, SCALE)
    ends = (intrinsic["most"] <= intrinsic["unbiased"]).tolist()
    reverse_scored = {name for name, is_end in zip(names, ends, strict=True) if is_end}
    return [name in reverse_scored for name in names]


def _gaps(extrinsic: pd.DataFrame) -> pd.DataFrame:
    rows = extrinsic[extrinsic["kind"] == "gap"]
    if rows.empty:
        raise InputError(
            "the extrinsic table holds no gap (no row of kind 'gap'): the labelled data needs posts"
            " of both groups"
        )
    require_rows(rows, (), ["point", "task", *GAP], "the extrinsic table")
    kept = [name for name in ("point", "task", *GAP, "value", *KEPT_OF_GAPS) if name in rows]
    names = {"value": "y", "reason": "y_reason"}
    names |= {each: f"y_{each}" for each in ("low", "high", "resampled")}
    return rows[kept].rename(columns=names)
