"""What the page shows, as plain values: the tables' own numbers, nothing computed anew."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from analysis.correlate import ALL, SLICE_COLUMNS
from analysis.join import join_points
from analysis.pooling import meta_analysis, mixed_model, z_error
from analysis.read import Tables
from analysis.show import estimate
from analysis.verdict import RULES

POINT_COLUMNS = (
    "point",
    "embedding",
    "method",
    "direction",
    "dose",
    "wordset",
    "corpus",
    "source",
    "seed",
    "replicate",
    "classifier",
    "status",
    "error",
)
ROW_COLUMNS = (
    "query",
    "metric",
    "gap",
    "by_group",
    "x",
    "x_low",
    "x_high",
    "y",
    "low",
    "high",
    "group",
    "n_found",
    "n_lost",
    "support",
    "reason",
)
SHOWN = (
    *SLICE_COLUMNS,
    "n",
    "n_units",
    "n_bases",
    "pearson",
    "r_low",
    "r_high",
    "r_p",
    "p_holm",
    "p_bh",
    "spearman",
    "rho_low",
    "rho_high",
    "kendall",
    "tau_low",
    "tau_high",
    "r_corrected",
    "r_corrected_low",
    "r_corrected_high",
    "influence_low",
    "influence_high",
    "detectable",
    "accuracy",
    "accuracy_low",
    "accuracy_high",
    "verdict",
    "reversal",
    "reason",
)
UNMODIFIED = "none"


def page_data(tables: Tables, correlations: pd.DataFrame) -> dict[str, Any]:
    """Points, rows, curves, correlations and pooled estimates; NaN is None. Every value is one of
    the tables' to the last digit.
    """
    joined = join_points(*tables)
    points = tables.points
    place = {point: i for i, point in enumerate(points["point"])}
    joined = joined.assign(by_group=_by_group(joined, tables.extrinsic))
    rows = joined[[name for name in ROW_COLUMNS if name in joined]].assign(
        p=joined["point"].map(place)
    )
    return {
        "points": records(points[[name for name in POINT_COLUMNS if name in points]]),
        "rows": columns(rows),
        "curves": columns(dose_curves(tables)),
        "correlations": records(correlations[[name for name in SHOWN if name in correlations]]),
        "pooled": pooled(joined, correlations),
        "rules": RULES,
        "generated": bool(points["generated"].any()) if "generated" in points else False,
    }


def _by_group(joined: pd.DataFrame, extrinsic: pd.DataFrame) -> list[str]:
    """The measure behind each gap for either group, with its interval: ``female .61 [.50, .70],
    male .72 [.62, .80]``.
    """
    told: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in extrinsic.to_dict("records"):
        if not str(row["measure"]).endswith("_gap"):
            found = (
                f"{row.get('group')}"
                f" {estimate(row['value'], row.get('low', math.nan), row.get('high', math.nan))}"
            )
            told.setdefault((row["point"], f"{row['measure']}_gap"), []).append(
                (str(row.get("group") or ""), found)
            )
    rows = zip(joined["point"], joined["gap"].str.partition(" (")[0], joined["group"], strict=True)
    return [
        "; ".join(found for group, found in told.get((point, gap), []) if group in pair.split("-"))
        for point, gap, pair in rows
    ]


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as JSON has them."""
    return [{key: plain(value) for key, value in row.items()} for row in table.to_dict("records")]


def columns(table: pd.DataFrame) -> dict[str, list[Any]]:
    """The columns as JSON has them: a third of the size of rows."""
    return {str(name): [plain(value) for value in table[name].tolist()] for name in table.columns}


def plain(value: Any) -> Any:
    """A JSON value; NaN, infinity and missing values are None."""
    if value is None or value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value.item() if hasattr(value, "item") else value


def dose_curves(tables: Tables) -> pd.DataFrame:
    """One row for each point and what it scored: the metrics, the gaps, the task's F1, utility; the
    unmodified embedding is dose 0 of all.

    The dose is signed: debiasing below 0, overbiasing above. Columns: embedding, method, dose,
    seed, what, kind, value.
    """
    points = tables.points[tables.points["status"] == "done"]
    scores = tables.intrinsic.assign(
        what=tables.intrinsic["metric"] + " " + tables.intrinsic["query"], kind="score"
    )
    parts = [scores[["point", "what", "kind", "value"]]]
    if len(tables.extrinsic):
        extrinsic = tables.extrinsic
        gaps = extrinsic[extrinsic["measure"].astype(str).str.endswith("_gap")]
        overall = extrinsic[
            (extrinsic["measure"] == "f1")
            & extrinsic["group"].fillna("").isin(["", "all", "overall"])
        ]
        parts += [gaps.assign(what=gaps["measure"], kind="gap")[["point", "what", "kind", "value"]]]
        parts += [
            overall.assign(what="F1 of the task", kind="utility")[
                ["point", "what", "kind", "value"]
            ]
        ]
    values = pd.concat(parts, ignore_index=True)
    sign = points["direction"].map({"debias": -1.0, "overbias": 1.0}).fillna(0.0)
    made = points.assign(dose=sign * points["dose"])[
        ["point", "embedding", "method", "dose", "seed"]
    ]
    curves = made.merge(values, on="point").drop(columns="point")
    methods = [method for method in curves["method"].unique() if method != UNMODIFIED]
    plain_ones = curves[curves["method"] == UNMODIFIED]
    repeated = [plain_ones.assign(method=method) for method in methods]
    return pd.concat([curves[curves["method"] != UNMODIFIED], *repeated], ignore_index=True).dropna(
        subset="value"
    )


def pooled(joined: pd.DataFrame, correlations: pd.DataFrame) -> list[dict[str, Any]]:
    """For every metric and gap: the random-effects mean over embeddings, and the slope within base
    embeddings.

    The slices of an embedding's queries share its gaps, so they are one slice here: what is pooled
    must be independent.
    """
    found = []
    for (task, metric, gap), part in joined.groupby(["task", "metric", "gap"], sort=False):
        slices = [
            z_error(block["x"], block["y"], block["unit"])
            for _, block in part.groupby("embedding", sort=False)
        ]
        meta = meta_analysis([r for r, _ in slices], [error for _, error in slices])
        mixed = mixed_model(part["x"], part["y"], part["base"])
        whole = correlations[
            (correlations[["task", "metric", "gap"]] == [task, metric, gap]).all(axis=1)
        ]
        whole = whole[(whole[["embedding", "query", "method"]] == ALL).all(axis=1)]
        reversal = whole["reversal"].iloc[0] if len(whole) else ""
        named = {"task": task, "metric": metric, "gap": gap, "reversal": reversal}
        found.append(
            named
            | {key: plain(value) for key, value in meta.items()}
            | {f"mixed_{key}": plain(value) for key, value in mixed.items()}
        )
    return found
