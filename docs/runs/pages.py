"""The tables of the pages in this folder, from the recorded tables of results.

``python docs/runs/pages.py`` writes them between ``<!-- NAME RUN -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from analysis.charts import finish, intervals, rule_at
from analysis.correlate import correlate_slices
from analysis.correlation import Correlation
from analysis.declaration import Declaration
from analysis.effects import effects
from analysis.joined import join_points, rows_of
from analysis.measurement import measure as measure_slice
from analysis.naming import ALL, CONTROL, gap_titles, measure_title, score_titles
from analysis.observations import observations
from analysis.results import read_tables
from analysis.slice_results import (
    DOSES,
    FEW_PERMUTATIONS,
    GIVEN_CONDITION,
    GIVEN_UTILITY,
    METHODS,
    PARENTS,
)
from analysis.terminal import format_estimate, format_number, p_value
from corpora.planted_occupations import PlantedOccupations
from files.charts import save_charts
from studies.certificate.measures import measure
from studies.certificate.statistics import jackknife
from studies.certificate.strength_scores import strength_scores
from studies.certificate.verdict import DOES_NOT_DETECT

if TYPE_CHECKING:
    from analysis.effects import Effect
    from analysis.frame import Tables
    from analysis.slice_results import SliceResult
    from stats.arrays import Floats

HERE = Path(__file__).parent
STUDIES = HERE.parent / "studies"
READINGS = STUDIES / "certificate_readings.csv.gz"
RESAMPLES = 500  # of seeds
MODEL_KINDS = {
    "vectors": ("word2vec en", "fasttext en", "word2vec es"),
    "gaps": ("word2vec",),
    "models": ("tiny_bert en", "tiny_gpt2 en", "tiny_bert es", "tiny_gpt2 es"),
}
SYNTHETIC_KINDS = {  # that real material is compared with
    "en_tweets": "word2vec en",
    "en_plots": "word2vec en",
    "es_tweets_subtitles": "word2vec es",
    "smollm2-135m": "tiny_gpt2 en",
}
VERDICT_COLUMNS = ("verdict", "verdict_of_change")
PLANTING = "planting"  # method of models with a planted stereotype
ENDS = ("", "_low", "_high")
TRANSFER = STUDIES / "certificate_transfer.csv"
SLOPES = "transfer_slopes"  # figure of docs/runs/transfer.md
PLANTED_RUNS = ("transfer_hatespeech", "transfer_coreference", "transfer_retrieval")
TITLES = {  # the runs of docs/runs/transfer.md
    "transfer_grep_bias_ir": "Retrieval, sentence encoder",
    "transfer_grep_bias_ir_words": "Retrieval, word vectors",
    "answer_en": "Hate speech, English, women",
    "hatespeech_es_gender": "Hate speech, Spanish, women",
    "hatespeech_es_migrants": "Hate speech, Spanish, migrants",
    "transfer_hatespeech": "Hate speech, a planted link",
    "transfer_coreference": "Coreference, a planted link",
    "transfer_retrieval": "Retrieval, a planted stereotype",
}
BLOCK = re.compile(r"(<!-- (?P<name>[\w ./-]+) -->\n)(?P<body>.*?)(<!-- end -->)", re.DOTALL)
SLICE_KEYS = ("task", "metric", "convention", "query", "part", "measure")
# Word sets of a single query, in place of the words of all queries
SINGLE_QUERIES = ("weat6b", "weat7", "weat8", "gender_es", "gender_pleasant_es", "migrant_es")
SHOWN = 16  # rows of a table of groups
QUANTITY, MEAN, EXPECTED = "quantity", "mean (range)", "expected from base rates"


@cache
def tables(run: str) -> Tables:
    """Read the recorded tables of a run."""
    return read_tables(HERE / run)


@cache
def joined(run: str) -> pd.DataFrame:
    """Return one row per point, score and gap."""
    return join_points(tables(run), declared(run).utility)


@cache
def declared(run: str) -> Declaration:
    """Read what was declared before the run."""
    return Declaration.of(HERE / run)


def confirmatory_slices(rows: pd.DataFrame, run: str) -> list[tuple[SliceResult, dict[str, str]]]:
    """Correlate the confirmatory slices of a run; each with its columns ``score`` and ``gap``."""
    results = [result for result in correlate_slices(rows, declared(run)) if result.confirmatory]
    names = pd.DataFrame([result.names for result in results])
    titles = zip(score_titles(names), gap_titles(names), strict=True)
    return [
        (result, {"score": score, "gap": gap.removesuffix(" gap")})
        for result, (score, gap) in zip(results, titles, strict=True)
    ]


@cache
def recorded_slices(run: str) -> list[tuple[SliceResult, dict[str, str]]]:
    """Correlate the confirmatory slices of all models of a run."""
    return confirmatory_slices(joined(run), run)


@cache
def condition_effects(run: str) -> list[Effect]:
    """Estimate the effects of every condition."""
    return effects(tables(run), declared(run).utility)


def markdown(rows: Sequence[dict[str, str]], merged: Sequence[str] = ()) -> str:
    """Format a Markdown table; ``merged`` columns are blank where they repeat the row above."""
    table = pd.DataFrame(rows, dtype=object).fillna("")
    for name in merged:
        table[name] = table[name].mask(table[name].eq(table[name].shift()), "")
    table = table.loc[:, table.ne("").any()]
    lines = [[*table], ["---"] * table.shape[1], *table.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


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
            row["models"] = f"{len(models.x)} as {len(models.independent().x)}"
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


def _spread(values: pd.Series) -> str:
    low, high = format_number(float(values.min()), 3), format_number(float(values.max()), 3)
    mean = format_number(float(values.mean()), 3)
    return mean if low == high else f"{mean} ({low} to {high})"


def _mean(rows: pd.DataFrame, name: str) -> str:
    mean = rows[name].mean() if name in rows else np.nan
    return format_number(float(mean), 3) if np.isfinite(mean) else ""


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


@cache
def slopes(run: str) -> pd.DataFrame:
    """Return the slope b of the gap on the score for each confirmatory slice, one row each.

    ``score_range``: range of the score within a parent. ``slope_without_min`` and ``..._max``:
    smallest and largest b without the models of one method. ``planted``: strength of the planted
    bias, NaN in real data.
    """
    table = joined(run)
    rows = []
    for result, titles in recorded_slices(run):
        key = [result.names[name] for name in SLICE_KEYS]
        part = table[table[[*SLICE_KEYS]].astype(str).eq(key).all(axis=1)]
        methods = set(part["method"]) - {"none"}
        without = [_slope(part[part["method"] != method]) for method in sorted(methods)]
        is_planted = run in PLANTED_RUNS
        rows.append(
            {
                **{name: result.names[name] for name in ("metric", "query")},
                "run": TITLES[run],
                "planted": float(result.names["task"].rpartition("_")[2]) if is_planted else np.nan,
                **titles,
                "models": result.n,
                "parents": result.n_parents,
                "conditions": result.n_conditions,
                "score_range": float(part.groupby("parent")["x"].agg(np.ptp).max()),
                **_ends("slope", result.models.slope.times(result.sign)),
                "slope_without_min": min(without),
                "slope_without_max": max(without),
                **_ends("slope_conditions", result.conditions.slope.times(result.sign)),
                **_ends("r_rm", result.within.interval),
            }
        )
    return pd.DataFrame(rows)


def _slope(rows: pd.DataFrame) -> float:
    """Compute b over these models, within parents."""
    u, v = (rows[side] - rows.groupby("parent")[side].transform("mean") for side in "xy")
    return float((u @ v) / (u @ u))


def _ends(name: str, interval: Sequence[float]) -> dict[str, float]:
    return {f"{name}{end}": value for end, value in zip(ENDS, interval, strict=True)}


def _estimate(row: pd.Series, name: str, digits: int = 2) -> str:
    value, *ends = (float(row[f"{name}{end}"]) for end in ENDS)
    low, high = (
        format_number(end, digits) if np.isfinite(end) else f"{end:+}"[0] + "∞" for end in ends
    )
    return f"{format_number(value, digits)} [{low},{high}]"


def _counts(row: pd.Series) -> str:
    return "{models}, {parents}, {conditions}".format(**row)


def all_slopes() -> pd.DataFrame:
    """Return the slopes of all recorded runs, in the order of ``TITLES``."""
    runs = [slopes(run) for run in TITLES if (HERE / run).is_dir()]
    return pd.concat(runs, ignore_index=True)


def transfer(_: str) -> str:
    """Tabulate the slopes b in real data, and the largest change of the gap they allow.

    That is the farthest end of their intervals times the range of the score. With one parent,
    models are conditions.
    """
    table = all_slopes()
    ends = [f"{scope}{end}" for scope in ("slope", "slope_conditions") for end in ENDS[1:]]
    rows = [
        {
            "run": row["run"],
            "score": row["score"],
            "gap": row["gap"],
            "models, parents, conditions": _counts(row),
            "b": _estimate(row, "slope", 4),
            "b, other conditions": _estimate(row, "slope_conditions", 4)
            if row["parents"] > 1
            else "",
            "score moved by": format_number(row["score_range"]),
            "so gap at most": format_number(
                row["score_range"] * max(abs(row[end]) for end in ends), 3
            ),
            "r_rm": _estimate(row, "r_rm"),
        }
        for _, row in table[table["planted"].isna()].iterrows()
    ]
    return markdown(rows, merged=("run", "models, parents, conditions"))


def planted(_: str) -> str:
    """Tabulate the slopes with a planted bias, one row per score, the strengths side by side."""
    table = all_slopes()
    rows = []
    for (run, score), part in table.dropna(subset="planted").groupby(["run", "score"], sort=False):
        last = part.iloc[-1]
        rows.append(
            {
                "run": str(run),
                "score": str(score),
                "gap": str(last["gap"]),
                "models, parents, conditions": _counts(last),
                **{
                    f"b at {row['planted']:g}": _estimate(row, "slope", 3)
                    for _, row in part.iterrows()
                },
                "r_rm at 1": _estimate(last, "r_rm"),
            }
        )
    return markdown(rows, merged=("run", "gap", "models, parents, conditions"))


def draw_slopes(runs: Sequence[str]) -> None:
    """Draw ``transfer_slopes.svg``: b times the range of the score within a parent."""
    table = pd.concat([slopes(run) for run in runs])
    rows = pd.DataFrame({"run": table["run"], "slice": table["score"] + ", " + table["gap"]})
    for name, end in zip(("value", "low", "high"), ENDS, strict=True):
        rows[name] = table["score_range"] * table[f"slope{end}"]
    base = alt.Chart().encode(alt.Y("slice:N", sort=[*rows["slice"]], title=None))
    panel = alt.layer(rule_at(0), *intervals(base, size=30, title="change of the gap"))
    names = list(dict.fromkeys(rows["run"]))
    header = alt.Header(labelAngle=0, labelOrient="top", labelAnchor="start")
    row = alt.Row("run:N", sort=names, title=None, header=header)
    chart = panel.properties(width=360, height=alt.Step(16)).facet(row=row, data=rows, spacing=8)
    notes = [
        "b times the distance that the score was moved within a parent, with its 95% interval.",
        "Each panel has its own scale: cosines in retrieval, shares of posts in hate speech.",
    ]
    chart = chart.resolve_scale(x="independent", y="independent")
    figure = finish(chart, "How far a gap moves with a score", notes)
    save_charts(figure, HERE / SLOPES, (".svg",))


@cache
def recorded(name: str) -> pd.DataFrame:
    """Read a table of the recorded certificate."""
    return pd.read_csv(STUDIES / f"{name}.csv")


def certificate(subjects: str) -> str:
    """Tabulate the certificate of gaps, or of scores in the default convention.

    ``subjects``: ``vectors``, ``models`` or ``gaps``. Figures are of the first kind of model that
    has them, verdicts of all.
    """
    table = recorded("certificate_gaps" if subjects == "gaps" else "certificate")
    table = table[table["convention"].isin(["default", np.nan])]
    table = table[table["material"] == "synthetic"]
    rows = []
    for metric, part in table.groupby("metric", sort=False):
        by_kind = part.set_index("subject")
        kinds = [kind for kind in MODEL_KINDS[subjects] if kind in by_kind.index]
        if not kinds:
            continue
        first = by_kind.loc[kinds[0]]
        detects = first["verdict"] != DOES_NOT_DETECT
        choice = f"{_interval(first, 'choice_share')} ({first['choice']})"
        verdicts = {
            kind: str(by_kind.loc[kind, "verdict"]) if kind in kinds else ""
            for kind in MODEL_KINDS[subjects]
        }
        rows.append(
            {
                "metric": str(metric),
                "of": kinds[0],
                "models, seeds": f"{first['models']}, {first['seeds']}",
                "slope (sd)": _interval(first, "slope"),
                "r": _interval(first, "r"),
                "false alarms": _interval(first, "false_alarms") or "untested",
                "of random ones": _interval(first, "random_alarms") or "untested",
                "offset (sd)": _interval(first, "offset"),
                "smallest strength": _interval(first, "smallest_strength") or "none",
                "a choice moves it by": choice if detects and first["choice"] else "",
                **({"half learned after": _steps(first)} if subjects == "models" else {}),
                **verdicts,
            }
        )
    return markdown(rows)


def agreement(material: str) -> str:
    """Tabulate the verdicts on real material beside those on synthetic worlds, and the scores of
    the model before anything was planted.

    False alarms are of the models in which nothing was planted.
    """
    table = recorded("certificate")
    untouched = recorded(f"untouched_{material}").set_index(["metric", "convention", "query"])
    untouched = untouched.add_prefix("untouched_").rename(columns={"untouched_value": "untouched"})
    synthetic = table[table["subject"] == SYNTHETIC_KINDS[material]]
    verdicts = synthetic.set_index(["metric", "convention"])["verdict"]
    rows = [
        {
            "metric": row["metric"],
            "convention": row["convention"],
            "untouched": _interval(
                untouched.loc[(row["metric"], row["convention"], row["query"])], "untouched"
            ),
            "0 planted": format_number(row["at_zero"]),
            "slope (sd)": _interval(row, "slope"),
            "r": _interval(row, "r"),
            "off target (sd)": _interval(row, "off_target"),
            "false alarms": _interval(row, "false_alarms") or "untested",
            "verdict": row["verdict"],
            "of the change alone": row["verdict_of_change"],
            f"of {SYNTHETIC_KINDS[material]}": verdicts.get((row["metric"], row["convention"]), ""),
        }
        for _, row in table[table["material"] == material].iterrows()
    ]
    return markdown(rows, merged=("metric",))


def real_text(_: str) -> str:
    """Tabulate the verdicts on planted real text beside those on synthetic text, in the default
    conventions, below how many of all conventions agree.
    """
    table = recorded("certificate").query("subject in @MODEL_KINDS['vectors']")
    is_synthetic = table["material"] == "synthetic"
    verdicts = table[is_synthetic].set_index(["subject", "metric", "convention"])["verdict"]
    table = table[~is_synthetic]
    keys = zip(table["subject"], table["metric"], table["convention"], strict=True)
    table = table.assign(synthetic=[verdicts.get(key, "") for key in keys])
    lines, cells = [], defaultdict[str, dict[str, str]](dict)
    for material, rows in table.groupby("material", sort=False):
        is_compared = (rows["synthetic"] != "") & (rows["metric"] != "placebo")
        is_blind = rows["synthetic"] == DOES_NOT_DETECT
        (blind, _), (same, same_change) = (
            [int((part[name] == part["synthetic"]).sum()) for name in VERDICT_COLUMNS]
            for part in (rows[is_compared & is_blind], rows[is_compared & ~is_blind])
        )
        n_blind, n_other = (int((is_compared & part).sum()) for part in (is_blind, ~is_blind))
        lines.append(
            f"- {material}, conventions: of {n_blind} that on synthetic text (word2vec) get"
            f" *{DOES_NOT_DETECT}* {blind} do so here; of {n_other} with another verdict {same}"
            f" have it here, by the change alone {same_change}"
        )
        for _, row in rows[rows["convention"] == "default"].iterrows():
            both = dict.fromkeys([row["verdict"], row["verdict_of_change"]])
            cells[row["metric"]] |= {
                "metric": row["metric"],
                f"{material}: slope (sd)": _interval(row, "slope"),
                f"{material}: r": _interval(row, "r"),
                f"{material}: verdict": "; ".join(both),
            }
    for _, row in table[table["convention"] == "default"].iterrows():
        cells[row["metric"]][f"synthetic: {row['subject']}"] = row["synthetic"]
    return "\n".join(lines) + f"\n\n{markdown(list(cells.values()))}"


def word_lists(metric: str) -> str:
    """Tabulate what a metric says of planted real text, by the words it is asked with."""
    readings = pd.read_csv(READINGS, low_memory=False)
    readings = readings[(readings["metric"] == metric) & (readings["convention"] == "default")]
    is_text = readings["material"].isin(SYNTHETIC_KINDS) & readings["subject"].isin(
        MODEL_KINDS["vectors"]
    )
    rows = []
    for scores in strength_scores(readings[is_text]):
        if scores.setting["training_steps"]:  # random vectors
            continue
        properties = measure(scores, None, RESAMPLES)
        rows.append(
            {
                "material": scores.names["material"],
                "words": scores.names["query"],
                "models": str(scores.n_models),
                "where 0 is planted": format_number(properties.at_zero),
                "where .8 is": format_number(properties.at_full),
                "slope (sd)": format_estimate(*properties.slope),
                "r": format_estimate(*properties.r),
            }
        )
    return markdown(rows, merged=("material",))


def planted_odds(material: str) -> str:
    """Tabulate how far log odds of *he* and *she* in a language model follow the planted ones.

    Both are differences of occupations of men and of women, in nats.
    """
    readings = pd.read_csv(READINGS, low_memory=False)
    is_asked = (readings["metric"] == "next_word") & (readings["convention"] == "default")
    is_of_models = readings["material"] == material
    rows = []
    for scores in strength_scores(readings[is_asked & is_of_models]):
        if scores.setting["first_token"] != "own":
            continue
        planted_values = np.array([_planted_log_odds(s) for s in scores.strengths.tolist()])
        centred = planted_values - planted_values.mean()

        def slope(values: Floats, centred: Floats = centred) -> Floats:
            return (values * centred).sum(axis=-1).mean(axis=-1) / (centred @ centred)

        r = measure(replace(scores, strengths=planted_values), None, RESAMPLES).r
        rows.append(
            {
                "items": scores.names["query"],
                "models": str(scores.n_models),
                **{
                    f"where {planted:.2f} is planted": format_number(value)
                    for planted, value in zip(
                        planted_values, scores.scores.mean(axis=0), strict=True
                    )
                },
                "slope": format_estimate(*jackknife(slope, scores.scores)),
                "r": format_estimate(*r),
            }
        )
    return markdown(rows)


@cache
def _planted_log_odds(stereotype: float) -> float:
    truths = PlantedOccupations(stereotype=stereotype, held_out=True).truths(seed=0).values()
    by_group = {group: [] for group in dict.fromkeys(term.group for term in truths)}
    for term in truths:
        by_group[term.group].append(term.log_odds)
    first, second = map(np.mean, by_group.values())
    return float(first - second)


def _steps(row: pd.Series) -> str:
    steps = row["half_learned_at"]
    return f"{steps:.0f} steps" if np.isfinite(steps) else ""


def _interval(row: pd.Series, name: str) -> str:
    value, *ends = (float(str(row.get(f"{name}{end}", np.nan))) for end in ENDS)
    return format_estimate(value, *ends) if np.isfinite(value) else ""


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
        reached = f"transmission {_estimate(last, 'limit_transmission', 3)}"
        lines.append(
            f"- {names[0]} and the {names[1]} gap: four of five such studies detect a slope of"
            f" {_estimate(last, 'limit_slope', 4)}, which moves the gap by {change} over the range"
            f" of the score ({reached if is_reached else 'no transmission does so'})."
        )
        rows += [
            {
                **dict(zip(("score", "gap"), map(str, names), strict=True)),
                "transmission": f"{row['transmission']:g}",
                "r_rm": format_estimate(*(row[name] for name in ("r_rm", "low", "high"))),
                "b": _estimate(row, "slope", 4),
                "b - b at 0": format_number(row["transmitted"], 4),
                "gap change": format_number(row["gap_change"], 3),
                "p (Holm)": p_value(row["p_holm"]),
                measure_title(declared(run).utility): format_number(row["utility"]),
                "verdict": str(row["verdict"]),
            }
            for _, row in part.iterrows()
        ]
    return "\n".join(lines) + f"\n\n{markdown(rows, merged=('score', 'gap'))}"


TABLES: dict[str, Callable[[str], str]] = {
    "groups": groups,
    "transfer": transfer,
    "planted": planted,
    "worth": certificate,
    "agreement": agreement,
    "planted_odds": planted_odds,
    "real_text": real_text,
    "word_lists": word_lists,
    "applications": applications,
    "slices": slices,
    "unmodified": unmodified,
    "conditions": conditions,
    "by_corpus": by_corpus,
    "by_method": by_method,
    "breakouts": breakouts,
    "visible": irreversible,
    "limit": limit,
}


def render(page: str) -> str:
    """Replace the tables of a page by those of the recorded runs."""

    def block(match: re.Match[str]) -> str:
        kind, run = match["name"].split()
        return f"{match[1]}\n{TABLES[kind](run)}\n{match[4]}"

    return BLOCK.sub(block, page)


def pages() -> Iterator[Path]:
    """Yield the pages that have such tables."""
    for path in [*sorted(HERE.glob("*.md")), STUDIES / "certificate.md"]:
        if BLOCK.search(path.read_text(encoding="utf-8")):
            yield path


if __name__ == "__main__":
    for path in pages():
        path.write_text(render(path.read_text(encoding="utf-8")), encoding="utf-8")
    draw_slopes([run for run in TITLES if run not in PLANTED_RUNS])
    all_slopes().to_csv(TRANSFER, index=False, float_format="%.6g")
