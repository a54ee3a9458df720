"""Tables of one recorded study: its slices, breakouts, unmodified models and conditions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

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
    tables,
)

from biasbridge.analysis.answer import (
    CHANGE_HEADING,
    VERDICT_HEADING,
    change_rows,
    detectable,
    format_change,
    name_verdict,
    reasons,
    scope_rows,
)
from biasbridge.analysis.joined import rows_of
from biasbridge.analysis.naming import ALL, CONTROL, gap_titles, measure_title, score_titles
from biasbridge.analysis.slices import FEW_PERMUTATIONS, measure_slice
from biasbridge.stats.formatting import format_estimate, format_number

if TYPE_CHECKING:
    from biasbridge.analysis.slices import SliceResult

# Word sets of a single query, in place of the words of all queries
SINGLE_QUERIES = ("weat6b", "weat7", "weat8", "gender_es", "gender_pleasant_es", "migrant_es")
SHOWN = 16  # rows of a table of groups
QUANTITY, MEAN, EXPECTED = "quantity", "mean (range)", "expected from base rates"
PLANTING = "planting"  # method of models with a planted stereotype
GAP = "gap"
LINK = "linked_"  # prefix of the method on labels that plants a link with a query
KEYS = 3  # columns of a row of breakouts before its cells
MAX_UNTOLD = 3  # degrees of freedom that tell nothing


def slices(run: str) -> str:
    """Tabulate the declared tests below the number of models, and what each holds for."""
    results, x = [result for result, _ in recorded_slices(run)], declared(run).smallest_change
    rows = [
        {GAP: gap} | row
        for gap, gap_rows in change_rows(results, x, _correlations).items()
        for row in gap_rows
    ]
    first = results[0]
    models = ", ".join(dict.fromkeys(_models(result) for result in results))
    counts = f"{models} of {first.n_parents} parents, {first.n_conditions} conditions:"
    limits = "\n".join(f"- {line}" for line in [*reasons(results), *detectable(results)])
    tables = f"{markdown(rows, merged=[GAP])}\n{markdown(scope_rows(results))}"
    return f"{counts}\n\n{tables}\n{limits}".rstrip() + "\n"


def _models(result: SliceResult) -> str:
    """Return the number of models: ``44 as 22`` where parents of a corpus are averaged."""
    return f"{result.n} models" + (f" as {n}" if (n := result.within.n) < result.n else "")


def _correlations(result: SliceResult) -> dict[str, str]:
    return {
        "r_rm": format_estimate(*result.within.interval),
        "Pearson's r": format_number(result.r_pearson),
    }


def applications(run: str) -> str:
    """Tabulate change, r_rm and verdict of the declared tests in which no model was lost, a row per
    score, the gaps side by side.
    """
    table: dict[str, dict[str, str]] = {}
    for result, titles in recorded_slices(run):
        if not result.lost and result.n:
            row = table.setdefault(titles["score"], {"score": titles["score"]})
            gap = titles["gap"]
            row[f"{gap}: change"] = format_change(result)
            row[f"{gap}: r_rm"] = format_estimate(*result.within.interval)
            row[f"{gap}: verdict"] = name_verdict(result, declared(run).smallest_change)
    scopes = markdown(scope_rows([result for result, _ in recorded_slices(run) if not result.lost]))
    return f"{markdown(list(table.values()))}\n{scopes}"


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
                estimate = format_estimate(*result.within.interval)
                row[f"{name}: r_rm, models"] = f"{estimate}, {result.n}"
    return markdown(list(table.values()))


def breakouts(run: str) -> str:
    """Tabulate r_rm and Pearson's r of the declared gaps with the mean of all queries' scores: for
    each task, gap, method (with the unmodified models) and embedding. Exploratory, as the paper's
    figures 4 and 6.

    "-.77 [-.88,-.56], 44 as 22; -.52": r_rm, the models, the means of a condition within a cluster
    that r_rm is over, and r over the points. Empty with 3 degrees of freedom or fewer.
    """
    rows = joined(run)
    rows = rows[rows["measure"].isin(declared(run).confirmatory)]
    methods = [name for name in dict.fromkeys(rows["method"]) if name != CONTROL]
    table = []
    for (task, gap), part in rows.groupby(["task", gap_titles(rows)], sort=False):
        for method in (ALL, *methods):
            kept = part if method == ALL else part[part["method"].isin([method, CONTROL])]
            row = {"task": str(task), "gap": str(gap).removesuffix(" gap"), "method": method}
            for embedding in (ALL, *dict.fromkeys(rows["embedding"])):
                chosen = kept if embedding == ALL else kept[kept["embedding"] == embedding]
                result = measure_slice(
                    rows_of(chosen), {}, full=False, permutations=FEW_PERMUTATIONS
                )
                if result.within.df > MAX_UNTOLD:
                    r_rm, n = format_estimate(*result.within.interval), _models(result)
                    cell = f"{r_rm}, {n.replace(' models', '')}; {format_number(result.r_pearson)}"
                    row[f"{embedding}: r_rm, models; r"] = cell
            table.append(row)
    return markdown([row for row in table if len(row) > KEYS], merged=("task", "gap"))


def by_corpus(run: str) -> str:
    """Tabulate the change of the gap for each corpus alone. Exploratory."""
    rows = joined(run)
    corpora = {name: rows[rows["corpus"] == name] for name in dict.fromkeys(rows["corpus"])}
    table: dict[tuple[str, str], dict[str, str]] = {}
    for name, part in corpora.items():
        for result, titles in confirmatory_slices(part, run):
            row = table.setdefault((titles["score"], titles["gap"]), dict(titles))
            row[name] = format_change(result)
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
                CHANGE_HEADING: format_change(result),
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
    """Tabulate the change of the gap at each transmission of a planted link, by its query's score,
    below the change that a study without a link would have seen.

    Verdicts pass over that planted labels lower the utility.
    """
    table = joined(run).drop(columns="majority_baseline")
    query = next(name.removeprefix(LINK) for name in {*table["label_method"]} if LINK in name)
    rows, seen = [], {}
    for transmission, part in table.groupby("label_dose"):
        for result, titles in confirmatory_slices(part, run):
            if result.names["query"] != query:
                continue
            seen.setdefault(titles["gap"], format_number(result.detectable_change, 3))
            rows.append(
                {
                    **titles,
                    "transmission": f"{transmission:g}",
                    CHANGE_HEADING: format_change(result),
                    VERDICT_HEADING: name_verdict(result, declared(run).smallest_change),
                    "r_rm": format_estimate(*result.within.interval),
                    measure_title(declared(run).utility): format_number(
                        float(part["utility"].mean())
                    ),
                }
            )
    rows.sort(key=lambda row: row["gap"])  # stable
    tables = markdown(rows, merged=("score", "gap"))
    limits = " and ".join(f"{change} in {gap}" for gap, change in seen.items())
    return f"Where nothing is planted, four of five studies see changes of {limits}.\n\n{tables}"


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
