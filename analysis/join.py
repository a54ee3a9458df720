"""Points, intrinsic scores and extrinsic gaps joined into the table that correlations and figures
are drawn from.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from analysis.read import read_table, read_tables, require_columns
from files import InputError

POINT_COLUMNS = ("point", "embedding", "method", "status", "generated")
INTRINSIC_COLUMNS = ("point", "metric", "query", "value")
EXTRINSIC_COLUMNS = ("point", "task", "measure", "value")


def join_points(
    points: pd.DataFrame, intrinsic: pd.DataFrame, extrinsic: pd.DataFrame
) -> pd.DataFrame:
    """One row per done point, intrinsic score and gap: ``x`` the score, ``y`` the gap with its
    interval ``low``, ``high``.

    Columns: every column of ``points``; ``metric``, ``query``, ``x`` (and ``p_value``, ``n_found``,
    ``n_lost``, ``convention`` where recorded); ``task``, ``gap`` (the measure, such as
    ``recall_gap``), ``group``, ``y``, ``low``, ``high`` (and ``support``); ``x_low`` and
    ``x_high``, the interval of the score over resampled words; ``unbiased``, the score without
    bias; ``unit``, the embedding, and ``base``, the unmodified embedding it descends from;
    ``reason``, which says why ``x`` or ``y`` is NaN, or what its interval lacks. An unmodified
    embedding has the method ``none`` and the dose 0.

    A metric scored under several conventions, or a gap between several pairs of groups, becomes
    several: ``weat (caliskan)``, ``recall_gap (male-other)``. Failed points are left out. Raises
    ``InputError`` for a missing column, an empty table, a score that occurs twice, or a done point
    that one of the tables does not know.
    """
    done = _done(points)
    scores = _scores(intrinsic)
    gaps = _gaps(extrinsic)
    for name, table in (("intrinsic", scores), ("extrinsic", gaps)):
        absent = sorted(set(done["point"]) - set(table["point"]))
        if absent:
            raise InputError(
                f"{len(absent)} done points have no row in the {name} table ({absent[0]}, ...): run"
                " the experiment again"
            )
    joined = (
        done.drop(columns=["task"], errors="ignore")
        .merge(scores, on="point")
        .merge(gaps, on="point")
    )
    joined = joined.assign(unit=_units(joined), base=_bases(joined))
    reasons = joined[["x_reason", "y_reason"]].apply(
        lambda row: "; ".join(dict.fromkeys(filter(None, row))), axis=1
    )
    return joined.drop(columns=["x_reason", "y_reason"]).assign(reason=reasons)


def open_table(path: str | Path) -> pd.DataFrame:
    """The joined tables of a results folder (``join_scores`` where it has no downstream task), or
    the table of any other file.
    """
    if not Path(path).is_dir():
        return read_table(path)
    tables = read_tables(path)
    return (
        join_points(*tables)
        if len(tables.extrinsic)
        else join_scores(tables.points, tables.intrinsic)
    )


def join_scores(points: pd.DataFrame, intrinsic: pd.DataFrame) -> pd.DataFrame:
    """One row per done point and intrinsic score, in the column ``value``, for dose-response
    curves.

    An unmodified embedding is the dose 0 of every method and direction, so its row is repeated for
    each that the table holds.
    """
    joined = _done(points).merge(_scores(intrinsic).rename(columns={"x": "value"}), on="point")
    arms = joined.loc[joined["method"] != "none", ["method", "direction"]].drop_duplicates()
    unmodified = joined[joined["method"] == "none"]
    if arms.empty:
        return joined
    repeated = unmodified.drop(columns=["method", "direction"]).merge(arms, how="cross")
    return pd.concat([joined[joined["method"] != "none"], repeated], ignore_index=True)


def _units(joined: pd.DataFrame) -> pd.Series:
    """The embedding behind each row: its key in the store, or the point where that is not
    recorded.
    """
    if "vectors_key" not in joined:
        return joined["point"]
    return joined["vectors_key"].where(joined["vectors_key"].astype(str) != "", joined["point"])


def _bases(joined: pd.DataFrame) -> pd.Series:
    """What the embedding was before it was modified: corpus, algorithm and seed."""
    made_of = [name for name in ("corpus", "embedding", "stereotype", "seed") if name in joined]
    # astype(str) would leave NaN, which real data have in the column stereotype, what it is.
    return pd.Series(
        [" ".join(map(str, row)) for row in joined[made_of].itertuples(index=False)],
        index=joined.index,
        dtype=object,
    )


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
    _check(intrinsic, INTRINSIC_COLUMNS, [], "the intrinsic table")
    kept = [
        c
        for c in ("low", "high", "unbiased", "p_value", "n_found", "n_lost", "convention")
        if c in intrinsic
    ]
    scores = intrinsic[[*INTRINSIC_COLUMNS, *kept]].rename(
        columns={"value": "x", "low": "x_low", "high": "x_high"}
    )
    scores = scores.assign(
        x_reason=_text(intrinsic, "reason"), metric=told_apart(intrinsic, "metric", "convention")
    )
    _once(scores, ["point", "metric", "query"], "the intrinsic table")
    return scores


def _gaps(extrinsic: pd.DataFrame) -> pd.DataFrame:
    _check(extrinsic, EXTRINSIC_COLUMNS, [], "the extrinsic table")
    rows = extrinsic[extrinsic["measure"].astype(str).str.endswith("_gap")]
    if rows.empty:
        raise InputError(
            "the extrinsic table holds no gap (no measure ends in '_gap'): the labelled data needs"
            " posts of both groups"
        )
    intervals = {name: rows[name] if name in rows else float("nan") for name in ("low", "high")}
    kept = [c for c in ("support",) if c in rows]
    gaps = rows[[*EXTRINSIC_COLUMNS, *kept]].rename(columns={"value": "y", "measure": "gap"})
    gaps = gaps.assign(
        **intervals,
        group=_text(rows, "group"),
        y_reason=_text(rows, "reason"),
        gap=told_apart(rows, "measure", "group"),
    )
    _once(gaps, ["point", "task", "gap"], "the extrinsic table")
    return gaps


def _check(table: pd.DataFrame, columns: tuple[str, ...], key: list[str], what: str) -> None:
    require_columns(table, columns, what)
    if table.empty:
        raise InputError(f"{what} has no rows; run the experiment first")
    if key:
        _once(table, key, what)


def _once(table: pd.DataFrame, key: list[str], what: str) -> None:
    twice = table[table.duplicated(key)]
    if len(twice):
        first = ", ".join(f"{name} {twice.iloc[0][name]!r}" for name in key)
        raise InputError(f"{what} holds {first} more than once; give each score a name of its own")


def _text(table: pd.DataFrame, column: str) -> pd.Series:
    return (
        table[column].fillna("").astype(str)
        if column in table
        else pd.Series("", index=table.index)
    )


def told_apart(table: pd.DataFrame, name: str, detail: str) -> pd.Series:
    """``name``, with ``detail`` in brackets where one name has several."""
    details = _text(table, detail)
    several = details.groupby(table[name].to_numpy()).nunique()
    split = table[name].map(several) > 1
    return table[name].where(~split, table[name] + " (" + details + ")")
