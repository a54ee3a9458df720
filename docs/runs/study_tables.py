"""Tables of one recorded study: its slices, breakouts, unmodified models and conditions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from recorded_runs import (
    HERE,
    condition_effects,
    confirmatory_slices,
    declared,
    joined,
    markdown,
    recorded_slices,
    row_estimate,
    tables,
)

from analysis.correlation import Correlation
from analysis.joined import rows_of
from analysis.measurement import measure as measure_slice
from analysis.naming import ALL, CONTROL, gap_titles, measure_title, score_titles
from analysis.observations import observations
from analysis.slice_results import (
    DOSES,
    FEW_PERMUTATIONS,
    GIVEN_CONDITION,
    GIVEN_UTILITY,
    METHODS,
    PARENTS,
)
from analysis.terminal import p_value
from stats.formatting import format_estimate, format_number

# Word sets of a single query, in place of the words of all queries
SINGLE_QUERIES = ("weat6b", "weat7", "weat8", "gender_es", "gender_pleasant_es", "migrant_es")
SHOWN = 16  # rows of a table of groups
QUANTITY, MEAN, EXPECTED = "quantity", "mean (range)", "expected from base rates"
PLANTING = "planting"  # method of models with a planted stereotype


def slices(run: str) -> str:
    """Tabulate the confirmatory slices below the number of models."""
    results = recorded_slices(run)
    has_tasks = len({result.names["task"] for result, _ in results}) > 1
    rows = [
        {
            **({"task": result.names["task"]} if has_tasks else {}),
            **titles,
            "these conditions": format_estimate(*result.models.interval),
            **{
                scope: format_estimate(*result.scopes().get(scope, Correlation()).interval)
                for scope in (PARENTS, DOSES, METHODS, GIVEN_CONDITION, GIVEN_UTILITY)
            },
            "p (Holm)": p_value(result.p_holm),
            "gap change": format_number(result.gap_change, 3),
            "detectable r": format_number(result.mde),
            "reliability": ", ".join(
                map(format_number, (result.reliability_x, result.reliability_y))
            ),
            "verdict": result.verdict,
        }
        for result, titles in results
    ]
    first = results[0][0]
    counts = f"{first.n} models of {first.n_parents} parents, {first.n_conditions} conditions:"
    return f"{counts}\n\n{markdown(rows, merged=['task'] if has_tasks else [])}"


def applications(run: str) -> str:
    """Tabulate b and r_rm of the confirmatory slices in which no model was lost, a row per score,
    the gaps side by side.
    """
    table: dict[str, dict[str, str]] = {}
    for result, titles in recorded_slices(run):
        if result.lost or not result.n:
            continue
        row = table.setdefault(titles["score"], {"score": titles["score"]})
        row[f"{titles['gap']}: b"] = format_estimate(
            *result.models.slope.times(result.sign), 4 if result.gap_change < 0.01 else 3
        )
        row[f"{titles['gap']}: r_rm"] = format_estimate(*result.within.interval)
        row[f"{titles['gap']}: verdict"] = f"{result.verdict}, {result.scope}".removesuffix(", ")
    return markdown(list(table.values()))


def by_method(run: str) -> str:
    """Tabulate r_rm with the first declared gap over planted and over erased models alone, each
    with the models of strength 0. Exploratory.
    """
    rows = joined(run)
    rows = rows[rows["measure"] == declared(run).confirmatory[0]]
    planted_methods = rows["method"].str.startswith(PLANTING)
    parts = {
        "planted": rows["method"].isin([PLANTING, CONTROL]),
        "erased": ~planted_methods,
    }
    table: dict[str, dict[str, str]] = {}
    for name, is_included in parts.items():
        for result, titles in confirmatory_slices(rows[is_included], run):
            if result.n:
                row = table.setdefault(titles["score"], {"score": titles["score"]})
                estimate = format_estimate(*result.models.interval)
                row[f"{name}: r_rm, models"] = f"{estimate}, {result.n}"
    return markdown(list(table.values()))


def breakouts(run: str) -> str:
    """Tabulate r_rm of the declared gaps with the mean of all queries' scores: for each task, gap,
    method (with the unmodified models) and embedding. Exploratory, as the paper's figures 4 and 6.

    "104 as 26": models, and the means of a condition within a cluster that r_rm is over.
    """
    rows = joined(run)
    rows = rows[rows["measure"].isin(declared(run).confirmatory)]
    methods = [name for name in dict.fromkeys(rows["method"]) if name != CONTROL]
    table = []
    for (task, gap), part in rows.groupby(["task", gap_titles(rows)], sort=False):
        for method in (ALL, *methods):
            kept = part if method == ALL else part[part["method"].isin([method, CONTROL])]
            row = {"task": str(task), "gap": str(gap).removesuffix(" gap"), "method": method}
            models = observations(rows_of(kept).comparable())
            row["models"] = f"{len(models.x)} as {len(models.average_over_clusters().x)}"
            for embedding in (ALL, *dict.fromkeys(rows["embedding"])):
                chosen = kept if embedding == ALL else kept[kept["embedding"] == embedding]
                result = measure_slice(
                    rows_of(chosen), {}, full=False, permutations=FEW_PERMUTATIONS
                )
                row[f"{embedding}: r_rm"] = format_estimate(*result.within.interval)
            table.append(row)
    return markdown(table, merged=("task", "gap"))


def by_corpus(run: str) -> str:
    """Tabulate r over the means of conditions for each corpus alone. Exploratory."""
    rows = joined(run)
    corpora = {name: rows[rows["corpus"] == name] for name in dict.fromkeys(rows["corpus"])}
    table: dict[tuple[str, str], dict[str, str]] = {}
    for name, part in corpora.items():
        for result, titles in confirmatory_slices(part, run):
            row = table.setdefault((titles["score"], titles["gap"]), dict(titles))
            row[name] = format_estimate(*result.conditions.interval)
    return markdown(list(table.values()))


def irreversible(run: str) -> str:
    """Tabulate the declared slices without linear changes that can be undone. Exploratory.

    Of erasers only the full dose stays.
    """
    rows = joined(run)
    is_included = rows["method"].isin(["none", "attract_repel"]) | (
        (rows["direction"] == "debias") & (rows["dose"] == 1)
    )
    return markdown(
        [
            {
                **titles,
                "conditions": str(result.n_conditions),
                "r_rm": format_estimate(*result.within.interval),
            }
            for result, titles in confirmatory_slices(rows[is_included], run)
        ]
    )


def unmodified(run: str) -> str:
    """Tabulate means and ranges of the unmodified models; of several tasks, each in its turn."""
    points = tables(run).points
    parents = points.loc[points["method"] == "none", "point"]
    scores, all_measures = (
        table[table["point"].isin(parents)]
        for table in (tables(run).intrinsic, tables(run).extrinsic)
    )
    rows = [
        {QUANTITY: str(title), MEAN: _spread(part["value"])}
        for title, part in scores.groupby(score_titles(scores), sort=False)
    ]
    by_task = dict(iter(all_measures.groupby("task", sort=False)))
    for task, measures in by_task.items():
        gaps, of_task = measures[measures["kind"] == "gap"], []
        for name in ("f1", "base_rate", "fpr", "conll_f1"):
            of_task += _group_values(measures[measures["measure"] == name], gaps, name)
        for title, part in gaps.groupby(gap_titles(gaps), sort=False):
            row = {QUANTITY: str(title), MEAN: _spread(part["value"])}
            of_task.append(row | {EXPECTED: _mean(part, "expected_from_base_rates")})
        rows += [{"task": str(task) if len(by_task) > 1 else "", **row} for row in of_task]
    return markdown([{"task": "", **row} for row in rows], merged=["task"])


def _group_values(rows: pd.DataFrame, gaps: pd.DataFrame, name: str) -> Iterator[dict[str, str]]:
    """Yield a measure of all items, or where it is of groups of those that gaps compare."""
    is_of_all = name in ("f1", "conll_f1")
    groups = [ALL] if is_of_all else [*gaps["privileged"], *gaps["unprivileged"]]
    values = rows[(rows["kind"] == "value") & rows["group"].isin(groups)]
    for group, part in values.groupby("group", sort=False):
        title = measure_title(name) + ("" if is_of_all else f", {group}")
        yield {QUANTITY: title, MEAN: _spread(part["value"])}
        if baseline := _mean(part, "majority_baseline"):
            yield {QUANTITY: f"{title}, majority baseline", MEAN: baseline}


def conditions(run: str) -> str:
    """Tabulate the effect of each method at full dose, over all parents.

    On the first score, the declared gaps and the utility, with the words of all queries.
    """
    effects_at_full_dose = [
        effect
        for effect in condition_effects(run)
        if effect.embedding == ALL
        and effect.against == "unmodified"
        and abs(float(effect.names["dose"])) == 1
        and effect.names["wordset"] not in SINGLE_QUERIES
    ]
    table = pd.DataFrame([{**effect.names, **effect._asdict()} for effect in effects_at_full_dose])
    is_score = table["side"] == "score"
    table["title"] = ""
    table.loc[is_score, "title"] = score_titles(table[is_score])
    first_score = table.loc[is_score, "title"].iloc[0]
    is_gap = (table["side"] == "gap") & table["measure"].isin(declared(run).confirmatory)
    table.loc[is_gap, "title"] = gap_titles(table[is_gap])
    is_utility = table["side"] == "utility"
    utilities = table.loc[is_utility, "measure"]
    table.loc[is_utility, "title"] = [measure_title(measure) for measure in utilities]
    table = table[(table["title"] != "") & (~is_score | (table["title"] == first_score))]
    digits = [2 if side == "score" else 3 for side in table["side"]]
    parts = (table[name].tolist() for name in ("change", "low", "high"))
    table["cell"] = list(map(format_estimate, *parts, digits))
    table["title"] = table["title"] + " (" + table["direction"] + ")"
    keys = ["task", "method"] if len({*table.loc[is_gap, "task"]}) > 1 else ["method"]
    wide = table.pivot_table("cell", keys, "title", "first", sort=False).reset_index()
    return markdown(wide.fillna("").astype(str).to_dict("records"))


def _spread(values: pd.Series) -> str:
    low, high = format_number(float(values.min()), 3), format_number(float(values.max()), 3)
    mean = format_number(float(values.mean()), 3)
    return mean if low == high else f"{mean} ({low} to {high})"


def _mean(rows: pd.DataFrame, name: str) -> str:
    mean = rows[name].mean() if name in rows else np.nan
    return format_number(float(mean), 3) if np.isfinite(mean) else ""


def limit(run: str) -> str:
    """Say which planted link the study detects, and tabulate what it says of each.

    ``detection_limit.csv`` is written by ``tests.analysis.detection_limit``; its verdicts pass over
    that planted labels lower the utility.
    """
    table = pd.read_csv(HERE / run / "detection_limit.csv")
    table["score"], table["gap"] = score_titles(table), table["measure"].map(measure_title)
    lines, rows = [], []
    for names, part in table.groupby(["score", "gap"], sort=False):
        last = part.iloc[-1]
        change = format_number(last["limit_slope"] * last["score_range"], 3)
        is_reached = np.isfinite(last["limit_transmission"])
        reached = f"transmission {row_estimate(last, 'limit_transmission', 3)}"
        lines.append(
            f"- {names[0]} and the {names[1]} gap: four of five such studies detect a slope of"
            f" {row_estimate(last, 'limit_slope', 4)}, which moves the gap by {change} over the"
            f" range of the score ({reached if is_reached else 'no transmission does so'})."
        )
        rows += [
            {
                **dict(zip(("score", "gap"), map(str, names), strict=True)),
                "transmission": f"{row['transmission']:g}",
                "r_rm": format_estimate(*(row[name] for name in ("r_rm", "low", "high"))),
                "b": row_estimate(row, "slope", 4),
                "b - b at 0": format_number(row["transmitted"], 4),
                "gap change": format_number(row["gap_change"], 3),
                "p (Holm)": p_value(row["p_holm"]),
                measure_title(declared(run).utility): format_number(row["utility"]),
                "verdict": str(row["verdict"]),
            }
            for _, row in part.iterrows()
        ]
    return "\n".join(lines) + f"\n\n{markdown(rows, merged=('score', 'gap'))}"


def groups(name: str) -> str:
    """Tabulate a recorded table of gaps: the values of each group, and its gaps to all others."""
    table = pd.read_csv(HERE / f"{name}.csv", keep_default_na=False, na_values=[""])
    values, gaps = (table[table["kind"] == kind] for kind in ("value", "gap"))
    rows = []
    order = values[values["measure"] == "fpr"].sort_values("value", ascending=False, kind="stable")
    for group in [ALL, *order["group"][order["group"] != ALL]][:SHOWN]:
        cells = {"group": group}
        for side, label, kind_rows in (("group", "", values), ("unprivileged", "gap in ", gaps)):
            for row in kind_rows[kind_rows[side] == group].to_dict("records"):
                estimate = format_estimate(row["value"], row["low"], row["high"])
                cells[label + measure_title(row["measure"])] = estimate
        rows.append(cells)
    has_groups = len(gaps[["privileged", "unprivileged"]].drop_duplicates()) > 2
    return markdown(rows if has_groups else rows[:1])
