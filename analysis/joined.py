"""Points, intrinsic scores and extrinsic gaps joined into the table that correlations and figures
are drawn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.columns import labels, lists, numbers, require_columns, text_rows, texts, values_of
from analysis.naming import ARM, GAP, SCORE, SLICE_COLUMNS, UNMODIFIED
from analysis.options import with_varied
from analysis.results import Tables, read_tables
from analysis.units import Resampled, Rows, strata
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
SCALE = ("metric", "convention", "part")  # what scores on one scale have in common
KEPT_OF_SCORES = ("low", "high", "unbiased", "p_value", "n_found", "n_lost", "resampled")
KEPT_OF_GAPS = (
    *("low", "high", "resampled"),
    *("support", "support_privileged", "support_unprivileged", "group_by"),
)


def join_points(tables: Tables) -> pd.DataFrame:
    """One row per point, intrinsic score and gap.

    Columns: every column of ``points``; ``metric``, ``convention``, ``query``, ``part``, ``x`` (the
    score) with its interval ``x_low``, ``x_high``, ``unbiased`` (the score without bias; NaN of a
    measure of utility), ``p_value``, ``n_found``, ``n_lost`` where recorded; ``turned``, whether
    the unbiased value is the upper end of the scale, so that less is more biased; ``task``,
    ``measure``, ``privileged``, ``unprivileged``, ``y`` (the gap) with its interval ``y_low``,
    ``y_high``, ``support`` and ``group_by`` where recorded; ``unit``, the embedding, ``base``, the
    unmodified embedding it descends from, and ``cluster``, what is independent of one another: run
    seeds where corpora are generated (those of one seed are of one world, and its posts too), else
    corpora, or bases where all share one of these; ``reason``, which says why ``x`` or ``y`` is
    NaN, or what its interval lacks. An unmodified embedding has the method ``none``.

    Of a failed point ``x`` and ``y`` are NaN, in a row for each score and gap that done points of
    its setting have, so that it is known to lack them. Raises ``InputError`` for a missing column,
    an empty table, a score that occurs twice, or a done point that one of the tables does not know.
    """
    done = _done(tables.points)
    scores, gaps = _scores(tables.intrinsic), _gaps(tables.extrinsic)
    for name, table in (("intrinsic", scores), ("extrinsic", gaps)):
        absent = sorted(set(texts(done, "point")) - set(texts(table, "point")))
        if absent:
            raise InputError(
                f"{len(absent)} done points have no row in the {name} table ({absent[0]}, ...): run"
                " the experiment again"
            )
    joined = done.drop(columns="task", errors="ignore").merge(scores, on="point")
    joined = joined.merge(gaps, on="point")
    reasons = zip(joined.pop("x_reason"), joined.pop("y_reason"), strict=True)
    joined = joined.assign(reason=["; ".join(dict.fromkeys(filter(None, e))) for e in reasons])
    joined = _with_failed(joined, tables.points)
    return joined.assign(**origins(joined))


def _with_failed(joined: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """With rows, all unknown, of the points that failed."""
    failed = points[points["status"] != "done"].drop(columns="task", errors="ignore")
    alike = [name for name in SETTINGS if name in failed]
    asked = ["task", *SCORE, *GAP, *(name for name in ("unbiased", "turned") if name in joined)]
    each = joined[[*alike, *asked]].drop_duplicates()
    lost = failed.merge(each, how="inner" if alike else "cross", on=alike or None)
    if lost.empty:
        return joined
    return pd.concat([joined, lost.assign(reason="its point failed")], ignore_index=True)


def origins(points: pd.DataFrame) -> dict[str, list[str]]:
    """For each row its ``unit``, ``base`` and ``cluster`` (see ``join_points``)."""
    unit = _keys(points, "vectors_key", texts(points, "point"))
    base = _keys(points, "base_key", unit)
    corpus = _keys(points, "corpus_key", base)
    worlds = _worlds(points, corpus)
    cluster = worlds if worlds != corpus or len(set(corpus)) > 1 else base
    return {"unit": unit, "base": base, "cluster": cluster}


def is_joined(table: pd.DataFrame) -> bool:
    """Whether a table has what ``join_points`` makes, so that it tells of units and bases."""
    return set(JOINED_COLUMNS) <= set(table.columns)


def rows_of(joined: pd.DataFrame, x: str = "x", y: str = "y") -> Rows:
    """The joined table, or two other columns of it, as arrays. ``turned`` scores have their sign
    changed, so that in all of them more is more biased. A point is its own unit, base and cluster
    where the table does not tell. Where nothing was modified, association is looked for within each
    training algorithm and cluster, or within the algorithm where they have one embedding each; a
    part of a table keeps the ``stratum`` that it had in the whole, where it has such a column.
    """
    unit = _labels(joined, "unit", "point")
    base = _labels(joined, "base", "unit" if "unit" in joined else "point")
    cluster = _labels(joined, "cluster", "base") if "base" in joined else base
    embedding = np.array(texts(joined, "embedding"), dtype=str)
    both = np.array([" ".join(pair) for pair in zip(embedding, cluster, strict=True)], dtype=str)
    method = np.array(texts(joined, "method"), dtype=str)
    bias = bias_sign(joined) if x == "x" else np.ones(len(joined))
    return Rows(
        x=bias * numbers(joined, x),
        y=numbers(joined, y),
        unit=unit,
        base=base,
        cluster=cluster,
        corpus=np.array(_keys(joined, "corpus_key", base.tolist()), dtype=str),
        algorithm=embedding,
        stratum=np.array(texts(joined, "stratum"), dtype=str)
        if "stratum" in joined
        else strata(unit, base, both, embedding),
        arm=method,
        modification=np.where(method == UNMODIFIED, UNMODIFIED, _told(joined, ARM)),
        setting=_told(_with_options(joined), (*SETTINGS, "task_options")),
        training=_told(joined, DRAWN),
        asked=_told(joined, (*SCORE, *GAP)),
        x_resampled=resampled(joined, f"{x}_resampled").times(bias),
        y_resampled=resampled(joined, f"{y}_resampled"),
    )


def _with_options(joined: pd.DataFrame) -> pd.DataFrame:
    """With those options of the task alone that differ between the points of a unit."""
    options = texts(joined, "task_options")
    units = set(zip(options, texts(joined, "unit"), strict=True))
    if len(units) > len({unit for _, unit in units}):
        return with_varied(joined, ("unit", *SETTINGS, *DRAWN))
    return joined.assign(task_options="")


def _told(joined: pd.DataFrame, names: Sequence[str]) -> Labels:
    """For each row what is told in some columns."""
    return np.array([" ".join(filter(None, row)) for row in text_rows(joined, names)], dtype=str)


def bias_sign(joined: pd.DataFrame) -> Floats:
    """-1 for rows whose score is lower where there is more bias (``turned``), else 1. Shape
    (rows,).
    """
    return np.where(np.array(texts(joined, "turned"), dtype=str) == "True", -1.0, 1.0)


def unbiased_of(joined: pd.DataFrame) -> Floats:
    """The value without bias of each row's score, turned as ``rows_of`` does: NaN of measures of
    utility, 0 where the table does not tell. Shape (rows,).
    """
    if "unbiased" not in joined:
        return np.zeros(len(joined))
    return bias_sign(joined) * numbers(joined, "unbiased")


def _labels(joined: pd.DataFrame, name: str, otherwise: str) -> Labels:
    return np.array(labels(joined, name if name in joined else otherwise), dtype=str)


def resampled(joined: pd.DataFrame, name: str) -> Resampled:
    """A column of lists, of which a join repeats each for many rows."""
    if name not in joined:
        return Resampled.of(np.zeros((len(joined), 0)))
    cells = values_of(joined, name)
    first: dict[int, int] = {}
    for row, cell in enumerate(cells):
        first.setdefault(id(cell), row)
    places = {cell: place for place, cell in enumerate(first)}
    different = lists(joined.iloc[list(first.values())], name)
    return Resampled(different, np.array([places[id(cell)] for cell in cells], dtype=np.intp))


def has_gaps(tables: Tables) -> bool:
    """Whether there is a done point with a score, and a gap to set it against."""
    done = "done" in texts(tables.points, "status")
    return done and len(tables.intrinsic) > 0 and "gap" in texts(tables.extrinsic, "kind")


def open_table(path: str | Path) -> pd.DataFrame:
    """The joined tables of a results folder (``join_scores`` where it has no downstream task), or
    the table of any other file.
    """
    if not Path(path).is_dir():
        return read_table(path)
    tables = read_tables(path)
    return join_points(tables) if len(tables.extrinsic) else join_scores(tables)


def join_scores(tables: Tables) -> pd.DataFrame:
    """One row per done point and intrinsic score, in the column ``value``, for dose-response
    curves.

    An unmodified embedding is the dose 0 of every method and direction, so its row is repeated for
    each that the table holds.
    """
    scores = _scores(tables.intrinsic).rename(columns={"x": "value"})
    joined = _done(tables.points).merge(scores, on="point")
    arm = [name for name in ("method", "direction") if name in joined]
    arms = joined.loc[joined["method"] != UNMODIFIED, arm].drop_duplicates()
    if arms.empty:
        return joined
    repeated = joined[joined["method"] == UNMODIFIED].drop(columns=arm).merge(arms, how="cross")
    return pd.concat([joined[joined["method"] != UNMODIFIED], repeated], ignore_index=True)


def _keys(joined: pd.DataFrame, column: str, otherwise: list[str]) -> list[str]:
    """A column of keys in the store, and what stands for them where they are not recorded."""
    return [key or other for key, other in zip(texts(joined, column), otherwise, strict=True)]


def _worlds(joined: pd.DataFrame, corpus: list[str]) -> list[str]:
    """The corpora, those that are generated by the run seed that decides about their world."""
    generated = np.isfinite(numbers(joined, "stereotype"))
    seeds = texts(joined, "seed")
    return [
        f"seed {seed}" if made and seed else key
        for key, seed, made in zip(corpus, seeds, generated, strict=True)
    ]


def _done(points: pd.DataFrame) -> pd.DataFrame:
    _check(points, POINT_COLUMNS, ["point"], "the points table")
    done = points[points["status"] == "done"]
    if done.empty:
        raise InputError(
            f"none of the {len(points)} points is done; read their errors in the points table and"
            " run again"
        )
    return done


def _scores(intrinsic: pd.DataFrame) -> pd.DataFrame:
    what = "the intrinsic table"
    _check(intrinsic, INTRINSIC_COLUMNS, [], what)
    kept = [name for name in ("point", "value", *KEPT_OF_SCORES) if name in intrinsic]
    names = {"value": "x"} | {each: f"x_{each}" for each in ("low", "high", "resampled")}
    scores = intrinsic[kept].rename(columns=names).assign(x_reason=texts(intrinsic, "reason"))
    scores = scores.assign(**{name: texts(intrinsic, name) for name in SCORE})
    _once(scores, ["point", *SCORE], what)
    return scores.assign(turned=_turned(intrinsic))


def _turned(intrinsic: pd.DataFrame) -> list[bool]:
    """For each row whether the unbiased value of its metric is the upper end of the scale."""
    names = text_rows(intrinsic, SCALE)
    ends = zip(names, numbers(intrinsic, "unbiased"), numbers(intrinsic, "most"), strict=True)
    turned = {name for name, unbiased, most in ends if most <= unbiased}
    return [name in turned for name in names]


def _gaps(extrinsic: pd.DataFrame) -> pd.DataFrame:
    what = "the extrinsic table"
    _check(extrinsic, EXTRINSIC_COLUMNS, [], what)
    rows = extrinsic[extrinsic["kind"] == "gap"]
    if rows.empty:
        raise InputError(
            f"{what} holds no gap (no row of kind 'gap'): the labelled data needs posts of both"
            " groups"
        )
    kept = [name for name in ("point", "task", "value", *KEPT_OF_GAPS) if name in rows]
    names = {"value": "y"} | {each: f"y_{each}" for each in ("low", "high", "resampled")}
    gaps = rows[kept].rename(columns=names).assign(y_reason=texts(rows, "reason"))
    gaps = gaps.assign(**{name: texts(rows, name) for name in GAP})
    _once(gaps, ["point", "task", *GAP], what)
    return gaps


def _check(table: pd.DataFrame, columns: Sequence[str], key: list[str], what: str) -> None:
    require_columns(table, columns, what)
    if table.empty:
        raise InputError(f"{what} has no rows; run the experiment first")
    if key:
        _once(table, key, what)


def _once(table: pd.DataFrame, key: list[str], what: str) -> None:
    twice = table[table.duplicated(key)]
    if len(twice):
        first = ", ".join(f"{name} {texts(twice, name)[0]!r}" for name in key)
        raise InputError(f"{what} holds {first} more than once; give each score a name of its own")
