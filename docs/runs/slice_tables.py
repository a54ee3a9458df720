"""Tables of the declared tests of recorded runs, and of unmodified models and conditions.

``LAYOUTS`` declares the columns of every table of tests; ``tabulate_tests`` writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import altair as alt
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
    SCORE_RANGE,
    change_cells,
    change_tables,
    detectable,
    name_scope,
    name_verdict,
    scope_lines,
)
from biasbridge.analysis.charts import finish, intervals, rule_at
from biasbridge.analysis.claims import study_claims
from biasbridge.analysis.joined import observations_of
from biasbridge.analysis.naming import ALL, CONTROL, gap_titles, measure_title, score_titles
from biasbridge.analysis.scopes import DOSES, SEEDS
from biasbridge.analysis.slice_documents import (
    CHANGE_HEADING,
    VERDICT_HEADING,
    count_models,
    format_change,
    reasons,
)
from biasbridge.analysis.slices import FEW_PERMUTATIONS, digits_of, measure_slice
from biasbridge.analysis.verdicts import YES
from biasbridge.files.charts import save_charts
from biasbridge.stats.formatting import format_estimate, format_number

if TYPE_CHECKING:
    from biasbridge.analysis.slices import SliceResult

REAL = {  # the runs of docs/runs/transfer.md
    "transfer_grep_bias_ir": "Retrieval, sentence encoder",
    "transfer_grep_bias_ir_words": "Retrieval, word vectors",
    "answer_en": "Hate speech, English, women",
    "hatespeech_es_gender": "Hate speech, Spanish, women",
    "hatespeech_es_migrants": "Hate speech, Spanish, migrants",
}
PLANTED = {
    "transfer_hatespeech": "Hate speech, a planted link",
    "transfer_coreference": "Coreference, a planted link",
    "transfer_retrieval": "Retrieval, a planted stereotype",
}
COUNTS = "models, parents, conditions"
# Word sets of a single query, in place of the words of all queries
SINGLE_QUERIES = ("weat6b", "weat7", "weat8", "gender_es", "gender_pleasant_es", "migrant_es")
SHOWN = 8  # rows of a table of groups
QUANTITY, MEAN, EXPECTED = "quantity", "mean (range)", "expected from base rates"
PLANTING = "planting"  # method of models with a planted stereotype
LINK = "linked_"  # prefix of the method on labels that plants a link with a query
MAX_UNTOLD = 3  # degrees of freedom that tell nothing


class DeclaredTest(NamedTuple):
    """A test with texts that name its row and columns."""

    names: Mapping[str, str]
    result: SliceResult


class Layout(NamedTuple):
    """Layout of a table: ``rows``, the names that a row is for; cells by column, whose title may
    have names of the test in braces.
    """

    tests: Callable[[str], Iterable[DeclaredTest]]
    rows: Sequence[str]
    columns: Mapping[str, Callable[[DeclaredTest], str]]
    merged: Sequence[str] = ()


def tabulate_tests(table: Layout, run: str) -> str:
    """Format tests as Markdown, those of one row side by side.

    Raises ``ValueError`` for two tests of one row and column.
    """
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for test in table.tests(run):
        names = {name: test.names[name] for name in table.rows}
        row = rows.setdefault(tuple(names.values()), names)
        cells = {title.format(**test.names): cell(test) for title, cell in table.columns.items()}
        cells = {title: cell for title, cell in cells.items() if cell}
        if cells.keys() & row.keys():
            raise ValueError(
                f"{run}: two tests for {names}, {[*cells]}: name what tells them apart"
            )
        row |= cells
    return markdown(list(rows.values()), table.merged)


def _change(test: DeclaredTest) -> str:
    return format_change(test.result)


def _precise_change(test: DeclaredTest) -> str:
    return format_estimate(*test.result.change, digits=4, sign="+")


def _verdict(test: DeclaredTest) -> str:
    return name_verdict(test.result.verdict, test.result.x)


def _r_rm(test: DeclaredTest) -> str:
    return format_estimate(*test.result.within.interval)


def _at_full_strength(cell: Callable[[DeclaredTest], str]) -> Callable[[DeclaredTest], str]:
    return lambda test: cell(test) if test.names["strength"] == "1" else ""


def _tests_of(
    parts: Callable[[pd.DataFrame], Iterable[tuple[Mapping[str, str], pd.DataFrame]]], run: str
) -> Iterator[DeclaredTest]:
    """Yield the declared tests of parts of a run's rows, each with the names of its part."""
    has_several = len({*joined(run)["task"]}) > 1
    for names, rows in parts(joined(run)):
        for result, titles in confirmatory_slices(rows, run):
            if result.n:
                task = {"task": str(result.names["task"]) if has_several else ""}
                yield DeclaredTest({**task, **names, **titles}, result)


def _all_tests(run: str) -> Iterator[DeclaredTest]:
    """Yield the declared tests."""
    for result, titles in recorded_slices(run):
        if result.n:
            yield DeclaredTest(titles, result)


def _by_method(rows: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yield planted and erased models alone, each with the models of strength 0. Exploratory."""
    yield {"part": "planted"}, rows[rows["method"].isin([PLANTING, CONTROL])]
    yield {"part": "erased"}, rows[~rows["method"].str.startswith(PLANTING)]


def _by_corpus(rows: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yield each corpus alone. Exploratory."""
    return (({"part": str(name)}, part) for name, part in rows.groupby("corpus", sort=False))


def _irreversible(rows: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yield the models without linear changes that can be undone: of erasers only the full dose
    stays. Exploratory.
    """
    is_erased = (rows["direction"] == "debias") & (rows["dose"] == 1)
    yield {}, rows[rows["method"].isin(["none", "attract_repel"]) | is_erased]


def _by_transmission(rows: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yield the models at each transmission of a planted link. Verdicts pass over that planted
    labels lower the utility.
    """
    for transmission, part in rows.drop(columns="skill").groupby("label_dose"):
        utility = format_number(float(part["utility"].mean()))
        yield {"transmission": f"{transmission:g}", "utility": utility}, part


def _link_tests(run: str) -> list[DeclaredTest]:
    """Return the tests of a planted link by its query's score, gap by gap."""
    query = next(name.removeprefix(LINK) for name in {*joined(run)["label_method"]} if LINK in name)
    tests = _tests_of(_by_transmission, run)
    return sorted(
        (test for test in tests if test.result.names["query"] == query),
        key=lambda test: test.names["gap"],
    )


def _breakout_tests(run: str) -> Iterator[DeclaredTest]:
    """Yield the tests of the declared gaps with the mean of all queries' scores: for each task,
    gap, method (with the unmodified models) and embedding. Exploratory, as the paper's figures 4
    and 6; none with 3 degrees of freedom or fewer.
    """
    rows = joined(run)
    rows = rows[rows["measure"].isin(declared(run).confirmatory)]
    methods = [name for name in dict.fromkeys(rows["method"]) if name != CONTROL]
    for (task, gap), part in rows.groupby(["task", gap_titles(rows)], sort=False):
        for method in (ALL, *methods):
            models = part if method == ALL else part[part["method"].isin([method, CONTROL])]
            for embedding in (ALL, *dict.fromkeys(rows["embedding"])):
                is_included = models["embedding"].eq(embedding) | (embedding == ALL)
                result = measure_slice(
                    observations_of(models[is_included]),
                    {},
                    full=False,
                    permutations=FEW_PERMUTATIONS,
                )
                if result.within.df > MAX_UNTOLD:
                    names = {"task": str(task), "gap": str(gap).removesuffix(" gap")}
                    yield DeclaredTest({**names, "method": method, "part": embedding}, result)


def _tests_of_runs(runs: Mapping[str, str]) -> Iterator[DeclaredTest]:
    """Yield the declared tests of several runs, each with the title of its run."""
    for run, title in runs.items():
        for result, titles in recorded_slices(run):
            counts = f"{result.n}, {result.n_parents}, {result.n_conditions}"
            strength = str(result.names["task"]).rpartition("_")[2] if runs is PLANTED else "1"
            names = {"run": title, **titles, COUNTS: counts, "strength": f"{float(strength):g}"}
            yield DeclaredTest(names, result)


def _score_range(test: DeclaredTest) -> str:
    [gap] = study_claims([test.result])
    return change_cells(gap.scores[0])[SCORE_RANGE]


def _gap_before(test: DeclaredTest) -> str:
    before = test.result.gap_unmodified
    return format_number(before, digits_of(before))


def _holds_for(test: DeclaredTest) -> str:
    return ", ".join(scope for scope in (DOSES, SEEDS) if test.result.holds.get(scope) == YES)


def _scope(name: str) -> Callable[[DeclaredTest], str]:
    return lambda test: name_scope(test.result, name)


def _detectable(test: DeclaredTest) -> str:
    is_named = bool(detectable([test.result]))
    return format_number(test.result.detectable_change, 3) if is_named else ""


LAYOUTS = {
    "changes": Layout(
        _all_tests,
        ("gap", "score"),
        {
            "unmodified gap": _gap_before,
            SCORE_RANGE: _score_range,
            CHANGE_HEADING: _change,
            VERDICT_HEADING: _verdict,
            "holds for": _holds_for,
        },
        merged=("gap",),
    ),
    "tests": Layout(
        _all_tests,
        ("gap", "score"),
        {
            "unmodified gap": _gap_before,
            SCORE_RANGE: _score_range,
            CHANGE_HEADING: _change,
            VERDICT_HEADING: _verdict,
            "r_rm": _r_rm,
            "Pearson's r": lambda test: format_number(test.result.r_pearson),
            **{scope: _scope(scope) for scope in (DOSES, SEEDS)},
            "why": lambda test: test.result.why,
            "change that four of five such studies see": _detectable,
        },
    ),
    "by_method": Layout(
        lambda run: (
            test
            for test in _tests_of(_by_method, run)
            if test.result.names["measure"] == declared(run).confirmatory[0]
        ),
        ("score",),
        {"{part}: r_rm, models": lambda test: f"{_r_rm(test)}, {test.result.n}"},
    ),
    "by_corpus": Layout(
        partial(_tests_of, _by_corpus),
        ("task", "gap", "score"),
        {"{part}": _change},
        merged=("task", "gap"),
    ),
    # "-.77 [-.88,-.56], 44 as 22; -.52": r_rm, the models, the means of a condition within a
    # cluster that r_rm is over, and r over the points
    "breakouts": Layout(
        _breakout_tests,
        ("task", "gap", "method"),
        {
            "{part}: r_rm, models; r": lambda test: (
                f"{_r_rm(test)}, {count_models(test.result)};"
                f" {format_number(test.result.r_pearson)}"
            )
        },
        merged=("task", "gap"),
    ),
    "visible": Layout(
        partial(_tests_of, _irreversible),
        ("score", "gap"),
        {"conditions": lambda test: str(test.result.n_conditions), CHANGE_HEADING: _change},
    ),
    "limit": Layout(
        _link_tests,
        ("score", "gap", "transmission"),
        {
            CHANGE_HEADING: _change,
            VERDICT_HEADING: _verdict,
            "r_rm": _r_rm,
            "F1": lambda test: test.names["utility"],
        },
        merged=("score", "gap"),
    ),
    "transfer_tests": Layout(
        lambda _: _tests_of_runs(REAL),
        ("run", "gap", COUNTS, "score"),
        {
            SCORE_RANGE: _score_range,
            CHANGE_HEADING: _precise_change,
            VERDICT_HEADING: _verdict,
            "r_rm": _r_rm,
            **{scope: _scope(scope) for scope in (DOSES, SEEDS)},
            "why": lambda test: test.result.why,
        },
    ),
    "planted": Layout(
        lambda _: _tests_of_runs(PLANTED),
        ("run", "gap", COUNTS, "score"),
        {
            "change at {strength}": _change,
            "r_rm at {strength}": _at_full_strength(_r_rm),
            "verdict at {strength}": _at_full_strength(_verdict),
        },
    ),
}


def slices(run: str) -> str:
    """Tabulate the declared tests below the number of models, and what each holds for."""
    results = [result for result, _ in recorded_slices(run)]
    claims = study_claims(results)
    rows = [
        {"gap": table.heading} | dict(zip(table.head, row, strict=True))
        for table in change_tables(claims, _correlations)
        for row in table.rows
    ]
    first = results[0]
    models = ", ".join(dict.fromkeys(count_models(result, " models") for result in results))
    counts = f"{models} of {first.n_parents} parents, {first.n_conditions} conditions:"
    lines = [*scope_lines(claims), *reasons(results), *detectable(results)]
    limits = "\n".join(f"- {line}" for line in lines)
    return f"{counts}\n\n{markdown(rows, merged=['gap'])}\n{limits}".rstrip() + "\n"


def _correlations(result: SliceResult) -> dict[str, str]:
    return {
        "r_rm": format_estimate(*result.within.interval),
        "Pearson's r": format_number(result.r_pearson),
    }


def limit(run: str) -> str:
    """Tabulate the changes with a planted link, below the change that a study without one would
    have seen.
    """
    seen: dict[str, str] = {}
    for test in _link_tests(run):
        seen.setdefault(test.names["gap"], format_number(test.result.detectable_change, 3))
    limits = " and ".join(f"{change} in {gap}" for gap, change in seen.items())
    heading = f"Where nothing is planted, four of five studies see changes of {limits}."
    return f"{heading}\n\n{tabulate_tests(LAYOUTS['limit'], run)}"


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
    parts = (table[name].tolist() for name in ("effect", "effect_low", "effect_high"))
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


def draw_transfer() -> None:
    """Draw ``transfer_changes.svg`` of real data."""
    notes = [
        "Change over the range of the score, with its 95% interval.",
        "Each panel has its own scale: cosines in retrieval, shares of posts in hate speech.",
    ]
    _draw_changes(
        "transfer_changes",
        ((test.names["run"], test) for test in _tests_of_runs(REAL)),
        "How far a gap moves with a score",
        notes,
        x="independent",
    )


def draw_answer() -> None:
    """Draw ``answer_changes.svg``: the declared tests above the weakest link that was planted."""
    weakest = [
        test for test in _link_tests("answer_en_link") if test.names["transmission"] == "0.1"
    ]
    _draw_changes(
        "answer_changes",
        [
            *(("The study: 672 embeddings", test) for test in _all_tests("answer_en")),
            *(("With the weakest planted link, for comparison", test) for test in weakest),
        ],
        "How far the gaps of the classifier move with WEAT",
        ["Change over the range of the score, with its 95% interval, in shares of posts."],
        x="shared",
    )


def _draw_changes(
    stem: str,
    tests: Iterable[tuple[str, DeclaredTest]],
    title: str,
    notes: Sequence[str],
    *,
    x: Literal["independent", "shared"],
) -> None:
    """Draw the change of each test with its interval, in the panel that is named before it."""
    rows = pd.DataFrame(
        [
            {"panel": panel, "slice": f"{test.names['score']}, {test.names['gap']}"}
            | dict(zip(("value", "low", "high"), test.result.change, strict=True))
            for panel, test in tests
        ]
    )
    base = alt.Chart().encode(alt.Y("slice:N", sort=[*rows["slice"]], title=None))
    intervals_of_panel = alt.layer(rule_at(0), *intervals(base, size=30, title="change of the gap"))
    panels = list(dict.fromkeys(rows["panel"]))
    header = alt.Header(labelAngle=0, labelOrient="top", labelAnchor="start")
    row = alt.Row("panel:N", sort=panels, title=None, header=header)
    chart = intervals_of_panel.properties(width=360, height=alt.Step(16))
    chart = chart.facet(row=row, data=rows, spacing=8).resolve_scale(x=x, y="independent")
    save_charts(finish(chart, title, notes), HERE / stem, (".svg",))
