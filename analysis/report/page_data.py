"""The data of the page as JSON: numbers of the tables, without new computations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

import pandas as pd

from biasbridge.analysis.charts import BLACK, SHAPES, palette_of
from biasbridge.analysis.claims import declared as declared_tests
from biasbridge.analysis.effects import condition_table, effects
from biasbridge.analysis.joined import utility_rows
from biasbridge.analysis.naming import (
    ALL,
    CONTROL,
    DOSE_SIGN,
    GROUPS,
    SCORE,
    gap_axis,
    gap_titles,
    group_pairs,
    measure_title,
    present_confirmatory,
    query_titles,
    row_names,
    score_axis,
    shown_values,
)
from biasbridge.analysis.printing import as_rows, format_estimates
from biasbridge.analysis.slice_documents import count_models, describe_slice
from biasbridge.analysis.slices import (
    RESULT_COLUMNS,
    SliceResult,
    correlation_table,
    gap_and_score,
    without_repeats,
)
from biasbridge.analysis.tables import Tables, typed
from biasbridge.files import InputError
from biasbridge.files.columns import as_text, text_rows

if TYPE_CHECKING:
    from biasbridge.analysis.declaration import Declaration

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"

_POINT_COLUMNS = (
    *("point", "embedding", "method", "direction", "dose", "wordset", "corpus", "source", "seed"),
    *("replicate", "classifier", "status", "error"),
)
_ROW_COLUMNS = (
    *("x", "x_low", "x_high", "reverse_scored", "y", "y_low", "y_high"),
    *("n_found", "n_oov", "support", "reason"),
)
_ESTIMATE = "value, 95% interval"


def page_data(
    tables: Tables,
    joined: pd.DataFrame,
    slice_results: Sequence[SliceResult],
    declared: Declaration,
    change: Json,
) -> dict[str, Json]:
    """Collect points, rows, curves, correlations and effects; NaN becomes None.

    Numbers equal those of the tables to the last digit; displayed text is as on the terminal.
    """
    points, tables, joined = tables.points, typed(tables), joined[joined["status"] == "done"]
    declared_rows = [
        joined[joined["measure"] == measure]
        for measure in present_confirmatory(joined["measure"], declared.confirmatory)
    ]
    methods = [name for name in dict.fromkeys(tables.points["method"]) if name != CONTROL]
    listed = {id(result) for result in without_repeats(slice_results)}
    return {
        "points": as_rows(columns(points, _POINT_COLUMNS)),
        "rows": _rows(tables, joined),
        "gaps": _gaps(tables),
        "further": _further(tables),
        "curves": _dose_curves(tables, declared.utility),
        "correlations": _correlations(slice_results),
        "listed": [i for i, result in enumerate(slice_results) if id(result) in listed],
        "lines": [[_plain(value) for value in result.line] for result in slice_results],
        "tests": _tests(declared_tests(slice_results)),
        "change": change,
        "confirmatory": [
            title for rows in declared_rows for title in dict.fromkeys(gap_titles(rows))
        ],
        **_effects(tables, declared.confirmatory, declared.utility),
        "axes": _axes(joined),
        "synthetic": "True" in as_text(points, "generated"),
        "look": {
            "black": BLACK,
            "methods": dict(zip(methods, palette_of(methods), strict=True)),
            "shapes": SHAPES,
        },
    }


def _axes(joined: pd.DataFrame) -> dict[str, Json]:
    """Return axis titles: for the scores of each metric by query, and together; for each gap."""
    scores: dict[str, dict[str, Json]] = {}
    conventions = shown_values(joined, "convention")
    queries = query_titles(joined)
    metrics = zip(row_names(joined, SCORE[:2], ", "), joined["metric"], conventions, strict=True)
    for (title, metric, convention), query in zip(metrics, queries, strict=True):
        titles = scores.setdefault(title, {ALL: score_axis(metric, convention)})
        titles[query] = score_axis(metric, convention, query)
    pairs: dict[str, dict[str, None]] = {}
    for gap, pair in zip(gap_titles(joined), group_pairs(joined), strict=True):
        pairs.setdefault(gap, {})[pair] = None
    return {
        "scores": scores,
        "gaps": {gap: gap_axis(gap, group_names) for gap, group_names in pairs.items()},
    }


def _correlations(slice_results: Sequence[SliceResult]) -> list[dict[str, Json]]:
    table = correlation_table(slice_results)
    titles = columns(table, ("task", "classifier", "embedding")) | _titles(table)
    counts = {"models": list(map(count_models, slice_results))}
    return as_rows(titles | columns(table, ("method", *RESULT_COLUMNS)) | counts)


def _tests(results: Sequence[SliceResult]) -> Sequence[Json]:
    """Return a row a declared test, with all that is told of it."""
    return [
        {
            "gap": gap,
            "score": score,
            **{name: _unbroken(cell) for name, cell in describe_slice(result).items()},
            "note": result.note,
        }
        for (gap, score), result in zip(gap_and_score(results), results, strict=True)
    ]


def _rows(tables: Tables, joined: pd.DataFrame) -> dict[str, Json]:
    """Return scores and gaps, one list per column; ``point_index`` names each row's point."""
    return {
        **_point_indices(tables, joined),
        **_titles(joined),
        "groups": group_pairs(joined),
        "by_group": _by_group(joined, tables.extrinsic),
        **columns(joined, _ROW_COLUMNS),
    }


def _point_indices(tables: Tables, table: pd.DataFrame) -> dict[str, Json]:
    index = {point: i for i, point in enumerate(tables.points["point"])}
    return {
        "point_index": [index[point] for point in table["point"]],
        "task": table["task"].tolist(),
    }


def _gaps(tables: Tables) -> dict[str, Json]:
    table = _of_points(tables, tables.extrinsic["kind"] == "gap")
    titles = {"gap": gap_titles(table), "groups": group_pairs(table)}
    return {**_estimates(tables, table), **titles, "by_group": _by_group(table, tables.extrinsic)}


def _further(tables: Tables) -> dict[str, Json]:
    """Return further measures, besides values of groups and gaps, without those of single terms."""
    table = _further_rows(tables)
    parts = (table["kind"], map(measure_title, table["measure"]), table["subset"])
    group_names = text_rows(table, ("group", *GROUPS))
    return {
        **_estimates(tables, table),
        "measure": [_further_title(*part) for part in zip(*parts, strict=True)],
        "groups": [", ".join(filter(None, names)) for names in group_names],
    }


def _further_rows(tables: Tables) -> pd.DataFrame:
    kind = tables.extrinsic["kind"]
    is_single_term = (kind == "flips") & ~tables.extrinsic["group"].isin(["", ALL])
    return _of_points(tables, ~kind.isin(["value", "gap", "term_gap"]) & ~is_single_term)


def has_further(tables: Tables) -> bool:
    """Test whether there are measures besides values of groups and gaps."""
    return len(_further_rows(tables)) > 0


def _further_title(kind: str, measure: str, subset: str) -> str:
    """Format ``largest difference, recall``; flips have no measure."""
    title = {"max_difference": "largest difference"}.get(kind, kind.replace("_", " "))
    return ", ".join(filter(None, (title, "" if kind == "flips" else measure, subset)))


def _of_points(tables: Tables, is_selected: pd.Series) -> pd.DataFrame:
    return tables.extrinsic[is_selected & tables.extrinsic["point"].isin(tables.points["point"])]


def _estimates(tables: Tables, table: pd.DataFrame) -> dict[str, Json]:
    return {
        **_point_indices(tables, table),
        **columns(table, ("value", "low", "high", "reason")),
        "items": columns(table, ("support",))["support"],
        _ESTIMATE: [_unbroken(estimate) for estimate in format_estimates(table)],
    }


def columns(table: pd.DataFrame, names: Iterable[str]) -> dict[str, Sequence[Json]]:
    """Return the columns that exist, as JSON values: a third of the size of rows."""
    return {
        name: [_plain(value) for value in table[name].tolist()] for name in names if name in table
    }


def _plain(value: object) -> Json:
    """Convert to a JSON value; NaN, infinity and missing values become None."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if isinstance(value, str | int) else None


def _by_group(joined: pd.DataFrame, extrinsic: pd.DataFrame) -> list[str]:
    """Format the values of both groups behind each gap: ``male .72 [.62,.80]; female ...``."""
    values = extrinsic[extrinsic["kind"] == "value"]
    gap_keys = ("point", "task", "measure", "subset")
    keys = zip(text_rows(values, (*gap_keys, "group")), format_estimates(values), strict=True)
    group_values = {key: f"{key[-1]} {estimate}" for key, estimate in keys}
    gaps = zip(text_rows(joined, gap_keys), text_rows(joined, GROUPS), strict=True)
    return [
        "; ".join(group_values[*gap, group] for group in groups if (*gap, group) in group_values)
        for gap, groups in gaps
    ]


def _dose_curves(tables: Tables, utility: str) -> dict[str, Sequence[Json]]:
    """Return scores, gaps and utility of each point by signed dose.

    Debiasing is below 0, overbiasing above; the unmodified embedding is dose 0 of every method.
    Columns: embedding, method, dose, what, kind, value.
    """
    points = tables.points[tables.points["status"] == "done"]
    extrinsic = tables.extrinsic
    gaps = extrinsic[extrinsic["kind"] == "gap"]
    overall = utility_rows(extrinsic, utility)
    has_several_tasks = len({*gaps["task"]}) > 1

    def titled(rows: pd.DataFrame, titles: Iterable[str]) -> list[str]:
        pairs = zip(rows["task"], titles, strict=True)
        return [f"{task}: {title}" if has_several_tasks else title for task, title in pairs]

    of_task = [f"{measure_title(utility)} of the task"] * len(overall)
    values = pd.concat(
        [
            tables.intrinsic.assign(what=row_names(tables.intrinsic, SCORE), kind="score"),
            gaps.assign(what=titled(gaps, gap_titles(gaps)), kind="gap"),
            overall.assign(what=titled(overall, of_task), kind="utility"),
        ]
    )[["point", "what", "kind", "value"]].dropna(subset="value")
    sign = [DOSE_SIGN.get(direction, 0.0) for direction in points["direction"]]
    doses = points[["point", "embedding", "method"]].assign(dose=sign * points["dose"])
    curves = doses.merge(values, on="point").drop(columns="point").dropna(subset="dose")
    is_unmodified = curves["method"] == CONTROL
    methods = dict.fromkeys(curves.loc[~is_unmodified, "method"])
    repeated = [curves[is_unmodified].assign(method=method) for method in methods]
    every_dose = pd.concat([curves[~is_unmodified], *repeated], ignore_index=True)
    return columns(every_dose, ("embedding", "method", "dose", "what", "kind", "value"))


def _effects(tables: Tables, confirmatory: Sequence[str], utility: str) -> dict[str, Json]:
    try:
        condition_effects = effects(tables, utility)
    except InputError as error:
        return {"effects": [], "effects_note": str(error)}
    return {"effects": _table_records(condition_table(condition_effects, confirmatory))}


def _titles(table: pd.DataFrame) -> dict[str, Sequence[Json]]:
    return {
        "metric": row_names(table, SCORE[:2], ", "),
        "query": query_titles(table),
        "gap": gap_titles(table),
    }


def _table_records(table: pd.DataFrame) -> list[dict[str, Json]]:
    cells = {
        str(name): [_unbroken(cell) if isinstance(cell, str) else cell for cell in column]
        for name, column in columns(table, table.columns).items()
    }
    return as_rows(cells)


def _unbroken(cell: str) -> str:
    """Keep an estimate on one line, by a no-break space."""
    return cell.replace(" [", "\u00a0[")
