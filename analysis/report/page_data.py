"""What the page shows, as plain values: the tables' own numbers, nothing computed anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

import pandas as pd

from analysis.charts import BLACK, SHAPES, palette_of
from analysis.effects import effects
from analysis.effects_table import condition_table, generalises_to
from analysis.findings import RESULT_COLUMNS, Finding, correlation_table
from analysis.frame import Tables, text_rows, texts, typed, values_of
from analysis.joined import utility_rows
from analysis.naming import (
    ALL,
    CONTROL,
    DOSE_SIGN,
    GROUPS,
    SCORE,
    confirmatory_of,
    gap_axis,
    gap_titles,
    group_pairs,
    measure_title,
    query_titles,
    row_names,
    score_axis,
    shown_values,
)
from analysis.show import describe_slice, estimates
from analysis.slices import without_repeats
from analysis.specification_curve import specification_table
from files import InputError

if TYPE_CHECKING:
    from analysis.declaration import Declaration
    from analysis.specifications import Curve

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"

POINT_COLUMNS = (
    *("point", "embedding", "method", "direction", "dose", "wordset", "corpus", "source", "seed"),
    *("replicate", "classifier", "status", "error"),
)
ROW_COLUMNS = (
    *("x", "x_low", "x_high", "reverse_scored", "y", "y_low", "y_high"),
    *("n_found", "n_lost", "support", "reason"),
)
MEASURED = "value, 95% interval"


def page_data(
    tables: Tables,
    joined: pd.DataFrame,
    found: Sequence[Finding],
    declared: Declaration,
    curves: Sequence[Curve] = (),
) -> dict[str, Json]:
    """Points, rows, curves, correlations, specifications and effects; NaN is None.
    Every number is one of the tables' to the last digit, and in what a reader is shown formatted
    as on the terminal.
    """
    points, tables, joined = tables.points, typed(tables), joined[joined["status"] == "done"]
    main = [
        joined[joined["measure"] == measure]
        for measure in confirmatory_of(joined["measure"], declared.confirmatory)
    ]
    methods = [name for name in dict.fromkeys(tables.points["method"]) if name != CONTROL]
    correlations = _correlations(found)
    listed = {id(each) for each in without_repeats(found)}
    return {
        "points": _records(columns(points, POINT_COLUMNS)),
        "rows": _rows(tables, joined),
        "gaps": _gaps(tables),
        "further": _further(tables),
        "curves": dose_curves(tables, declared.utility),
        "correlations": correlations,
        "listed": [place for place, each in enumerate(found) if id(each) in listed],
        "lines": [[plain(each) for each in one.line] for one in found],
        "verdicts": _verdicts(found, correlations),
        "confirmatory": [title for part in main for title in dict.fromkeys(gap_titles(part))],
        "specifications": _of_table(specification_table(curves)),
        "specification_sentences": [curve.sentence() for curve in curves],
        **_effects(tables, declared.confirmatory, declared.utility),
        "axes": _axes(joined),
        "sesoi": declared.sesoi,
        "synthetic": "True" in texts(points, "generated"),
        "look": {
            "black": BLACK,
            "methods": dict(zip(methods, palette_of(methods), strict=True)),
            "shapes": SHAPES,
        },
    }


def _axes(joined: pd.DataFrame) -> dict[str, Json]:
    """What axes are called: of each metric's scores by query, and together; of each gap."""
    scores: dict[str, dict[str, Json]] = {}
    conventions = shown_values(joined, "convention")
    queries = query_titles(joined)
    metrics = zip(row_names(joined, SCORE[:2], ", "), joined["metric"], conventions, strict=True)
    for (title, metric, convention), query in zip(metrics, queries, strict=True):
        of_metric = scores.setdefault(title, {ALL: score_axis(metric, convention)})
        of_metric[query] = score_axis(metric, convention, query)
    pairs: dict[str, dict[str, None]] = {}
    for gap, pair in zip(gap_titles(joined), group_pairs(joined), strict=True):
        pairs.setdefault(gap, {})[pair] = None
    return {"scores": scores, "gaps": {gap: gap_axis(gap, of) for gap, of in pairs.items()}}


def _correlations(found: Sequence[Finding]) -> list[dict[str, Json]]:
    table = correlation_table(found)
    named = columns(table, ("task", "embedding")) | _titles(table)
    return _records(named | columns(table, ("method", *RESULT_COLUMNS)))


def _verdicts(
    found: Sequence[Finding], correlations: Sequence[Mapping[str, Json]]
) -> list[dict[str, Json]]:
    pairs = zip(found, correlations, strict=True)
    asked = [(each, row) for each, row in pairs if each.confirmatory]
    named = ("task", "metric", "embedding", "method")
    vary = [name for name in named if len({row[name] for _, row in asked}) > 1]
    return [
        {name: row[name] for name in vary}
        | {"score": row["query"], "gap": row["gap"]}
        | {name: unbroken(cell) for name, cell in describe_slice(each).items()}
        | {"verdict": each.why}
        for each, row in asked
    ]


def _rows(tables: Tables, joined: pd.DataFrame) -> dict[str, Json]:
    """The scores and gaps, a list a column; ``p`` is the place of each row's point."""
    named = {**_titles(joined), "groups": group_pairs(joined)}
    own = {"by_group": by_group(joined, tables.extrinsic)}
    return {**_places(tables, joined), **named, **own, **columns(joined, ROW_COLUMNS)}


def _places(tables: Tables, table: pd.DataFrame) -> dict[str, Json]:
    place = {point: i for i, point in enumerate(tables.points["point"])}
    return {"p": [place[point] for point in table["point"]], "task": table["task"].tolist()}


def _gaps(tables: Tables) -> dict[str, Json]:
    """The gap of every point, whether or not there is a score to set it against."""
    table = _of_points(tables, tables.extrinsic["kind"] == "gap")
    named = {"gap": gap_titles(table), "groups": group_pairs(table)}
    return {**_measured(tables, table), **named, "by group": by_group(table, tables.extrinsic)}


def _further(tables: Tables) -> dict[str, Json]:
    """What was measured beyond values of groups and gaps, where it was asked for; what there is of
    every single term stays in the file.
    """
    table = _further_rows(tables)
    parts = (table["kind"], map(measure_title, table["measure"]), table["subset"])
    named = text_rows(table, ("group", *GROUPS))
    return {
        **_measured(tables, table),
        "measure": [_further_title(*each) for each in zip(*parts, strict=True)],
        "groups": [", ".join(filter(None, each)) for each in named],
    }


def _further_rows(tables: Tables) -> pd.DataFrame:
    kind = tables.extrinsic["kind"]
    single = (kind == "flips") & ~tables.extrinsic["group"].isin(["", ALL])
    return _of_points(tables, ~kind.isin(["value", "gap", "term_gap"]) & ~single)


def has_further(tables: Tables) -> bool:
    """Whether more was measured than values of groups and gaps."""
    return len(_further_rows(tables)) > 0


def _further_title(kind: str, measure: str, subset: str) -> str:
    """``largest difference, recall``; flips are of predictions alone."""
    title = {"largest": "largest difference"}.get(kind, kind.replace("_", " "))
    return ", ".join(filter(None, (title, "" if kind == "flips" else measure, subset)))


def _of_points(tables: Tables, kept: pd.Series) -> pd.DataFrame:
    return tables.extrinsic[kept & tables.extrinsic["point"].isin(tables.points["point"])]


def _measured(tables: Tables, table: pd.DataFrame) -> dict[str, Json]:
    own = columns(table, ("value", "low", "high", "reason"))
    items = columns(table, ("support",))["support"]
    shown = [unbroken(each) for each in estimates(table)]
    return {**_places(tables, table), **own, "items": items, MEASURED: shown}


def columns(table: pd.DataFrame, names: Iterable[str]) -> dict[str, Sequence[Json]]:
    """The columns that there are as JSON has them: a third of the size of rows."""
    return {name: [plain(v) for v in values_of(table, name)] for name in names if name in table}


def plain(value: object) -> Json:
    """A JSON value; NaN, infinity and missing values are None."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if isinstance(value, str | int) else None


def by_group(joined: pd.DataFrame, extrinsic: pd.DataFrame) -> list[str]:
    """The measure behind each gap for either group, with its interval: ``male .72 [.62,.80]; female
    .61 [.50,.70]``.
    """
    values = extrinsic[extrinsic["kind"] == "value"]
    measured = ("point", "task", "measure", "subset")
    keys = text_rows(values, (*measured, "group"))
    of = {key: f"{key[-1]} {each}" for key, each in zip(keys, estimates(values), strict=True)}
    gaps = zip(text_rows(joined, measured), text_rows(joined, GROUPS), strict=True)
    return [
        "; ".join(of[*gap, group] for group in groups if (*gap, group) in of)
        for gap, groups in gaps
    ]


def dose_curves(tables: Tables, utility: str) -> dict[str, Sequence[Json]]:
    """For each point and what it scored: the metrics, the gaps, the task's utility; the unmodified
    embedding is dose 0 of all.

    The dose is signed: debiasing below 0, overbiasing above. Columns: embedding, method, dose,
    what, kind, value.
    """
    points = tables.points[tables.points["status"] == "done"]
    extrinsic = tables.extrinsic
    gaps = extrinsic[extrinsic["kind"] == "gap"]
    overall = utility_rows(extrinsic, utility)
    values = pd.concat(
        [
            tables.intrinsic.assign(what=row_names(tables.intrinsic, SCORE), kind="score"),
            gaps.assign(what=gap_titles(gaps), kind="gap"),
            overall.assign(what=f"{measure_title(utility)} of the task", kind="utility"),
        ]
    )[["point", "what", "kind", "value"]].dropna(subset="value")
    sign = [DOSE_SIGN.get(direction, 0.0) for direction in points["direction"]]
    made = points[["point", "embedding", "method"]].assign(dose=sign * points["dose"])
    curves = made.merge(values, on="point").drop(columns="point").dropna(subset="dose")
    plain_ones = curves["method"] == CONTROL
    methods = dict.fromkeys(curves.loc[~plain_ones, "method"])
    repeated = [curves[plain_ones].assign(method=method) for method in methods]
    whole = pd.concat([curves[~plain_ones], *repeated], ignore_index=True)
    return columns(whole, ("embedding", "method", "dose", "what", "kind", "value"))


def _effects(tables: Tables, confirmatory: Sequence[str], utility: str) -> dict[str, Json]:
    try:
        found = effects(tables, utility)
    except InputError as refusal:
        return {"effects": [], "effects_note": str(refusal)}
    return {
        "effects": _of_table(condition_table(found, confirmatory)),
        "effects_note": generalises_to(found),
    }


def _titles(table: pd.DataFrame) -> dict[str, Sequence[Json]]:
    return {
        "metric": row_names(table, SCORE[:2], ", "),
        "query": query_titles(table),
        "gap": gap_titles(table),
    }


def _of_table(table: pd.DataFrame) -> list[dict[str, Json]]:
    cells = {
        str(name): [unbroken(each) if isinstance(each, str) else each for each in column]
        for name, column in columns(table, table.columns).items()
    }
    return _records(cells)


def unbroken(cell: str) -> str:
    """An estimate that is not broken over two lines."""
    return cell.replace(" [", "\u00a0[")


def _records(columns: Mapping[str, Sequence[Json]]) -> list[dict[str, Json]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
