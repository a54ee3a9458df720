"""The tables of the pages in this folder, from the recorded tables: ``python docs/runs/pages.py``
writes them anew between ``<!-- NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from analysis.charts import finish, intervals, rule_at
from analysis.correlate import correlate_slices
from analysis.declaration import Declaration
from analysis.effects import effects
from analysis.joined import join_points
from analysis.naming import ALL, gap_titles, measure_title, score_titles
from analysis.results import read_tables
from analysis.show import estimate, p_value, short
from files.charts import save_charts
from studies.certificate.recorded import FILE as RECORDED

if TYPE_CHECKING:
    from analysis.effects import Effect
    from analysis.findings import Finding
    from analysis.frame import Tables

HERE = Path(__file__).parent
STUDIES = HERE.parent / "studies"
KINDS = {
    "vectors": ("word2vec en", "fasttext en", "word2vec es"),
    "gaps": ("word2vec",),
    "models": ("tiny_bert en", "tiny_gpt2 en", "tiny_bert es", "tiny_gpt2 es"),
}
ENDS = ("", "_low", "_high")
TRANSFER = (STUDIES / "certificate_transfer.csv", RECORDED.with_name("transfer.csv"))
SLOPES = "transfer_slopes"  # the figure of docs/runs/transfer.md
B = tuple(f"slope{end}" for end in ENDS)
PLANTED = ("transfer_hatespeech", "transfer_coreference", "transfer_retrieval")
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
SLICED = ("task", "metric", "convention", "query", "part", "measure")
ONE_TEST = (
    "weat6b",
    "weat7",
    "weat8",
    "gender_es",
    "gender_pleasant_es",
    "migrant_es",
)  # their own words


@cache
def tables(run: str) -> Tables:
    """The recorded tables."""
    return read_tables(HERE / run)


@cache
def joined(run: str) -> pd.DataFrame:
    """One row a point, score and gap."""
    return join_points(tables(run), declared(run).utility)


@cache
def declared(run: str) -> Declaration:
    """What was declared before the run."""
    return Declaration.of(HERE / run)


@cache
def findings(run: str) -> list[Finding]:
    """The confirmatory slices."""
    found = correlate_slices(joined(run), declared(run))
    return [each for each in found if each.confirmatory]


@cache
def moved(run: str) -> list[Effect]:
    """What every condition did."""
    return effects(tables(run), declared(run).utility)


def markdown(rows: Sequence[dict[str, str]]) -> str:
    """A table."""
    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads), *([row.get(name, "") for name in heads] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def slices(run: str) -> str:
    """The confirmatory slices."""
    found = findings(run)
    names = pd.DataFrame([each.names for each in found])
    rows = [
        {
            "score": score,
            "gap": gap.removesuffix(" gap"),
            "models, parents, conditions": f"{each.n}, {each.n_parents}, {each.n_conditions}",
            "these conditions": estimate(*each.within.interval),
            "p (Holm)": p_value(each.p_holm),
            "other conditions": estimate(*each.conditions.interval),
            "given the condition": estimate(*each.given_condition.interval),
            "verdict": each.verdict,
        }
        for each, score, gap in zip(found, score_titles(names), gap_titles(names), strict=True)
    ]
    return markdown(rows)


def more(run: str) -> str:
    """What else is to be known of these slices."""
    found = findings(run)
    names = pd.DataFrame([each.names for each in found])
    rows = [
        {
            "score": score,
            "gap": gap.removesuffix(" gap"),
            "given utility": estimate(*each.given_utility.interval),
            "found in 4 of 5 studies from r": short(each.mde),
            "reliability": f"{short(each.reliability_x)}, {short(each.reliability_y)}",
            "lost": str(each.lost),
        }
        for each, score, gap in zip(found, score_titles(names), gap_titles(names), strict=True)
    ]
    return markdown(rows)


def _spread(values: pd.Series) -> str:
    low, high = short(float(values.min()), 3), short(float(values.max()), 3)
    return f"{short(float(values.mean()), 3)} ({low} to {high})"


def unmodified(run: str) -> str:
    """Means of the unmodified models, and their range; words that scores lost; of gaps what base
    rates alone would make.
    """
    of = tables(run)
    plain = of.points.loc[of.points["method"] == "none", "point"]
    scores = of.intrinsic[of.intrinsic["point"].isin(plain)]
    extrinsic = of.extrinsic[of.extrinsic["point"].isin(plain)]
    rows = []
    for title, part in scores.assign(title=score_titles(scores)).groupby("title", sort=False):
        every = {
            word.strip() for words in part["lost"].fillna("") for word in str(words).split(",")
        }
        lost = ", ".join(sorted(every - {""}))
        without = f"without {lost}" if lost else ""
        rows.append({"what": str(title), "mean (range)": _spread(part["value"]), "note": without})
    gaps = extrinsic[extrinsic["kind"] == "gap"]
    values = extrinsic[extrinsic["kind"] == "value"]
    values = values[values["group"].isin([ALL, *gaps["privileged"], *gaps["unprivileged"]])]
    for measure, group in (("f1", ALL), ("base_rate", ""), ("fpr", ""), ("conll_f1", ALL)):
        own = values[values["measure"] == measure]
        for name, part in own.groupby("group", sort=False):
            if (name == ALL and group != ALL) or (name != ALL and group == ALL):
                continue
            what = measure_title(measure) if name == ALL else f"{measure_title(measure)}, {name}"
            rows.append({"what": what, "mean (range)": _spread(part["value"])})
            constant = part["constant"] if "constant" in part else np.array([np.nan])
            if np.isfinite(constant).any():
                told = f"{what} of calling all the same"
                rows.append({"what": told, "mean (range)": short(float(np.nanmean(constant)), 3)})
    for title, part in gaps.assign(title=gap_titles(gaps)).groupby("title", sort=False):
        made = part["from_base_rates"].mean() if "from_base_rates" in part else np.nan
        note = f"{short(float(made), 3)} by base rates alone" if np.isfinite(made) and made else ""
        rows.append({"what": str(title), "mean (range)": _spread(part["value"]), "note": note})
    return markdown(rows)


def conditions(run: str) -> str:
    """How far each method at its full dose moved the first score, the gaps declared and the task's
    utility, over all parents; with the words of all tests.
    """
    kept = [
        each
        for each in moved(run)
        if each.embedding == ALL
        and each.against == "unmodified"
        and abs(float(each.names["dose"])) == 1
        and each.names["wordset"] not in ONE_TEST
    ]
    table = pd.DataFrame([{**each.names, **each._asdict()} for each in kept])
    score = table["side"] == "score"
    table["title"] = ""
    table.loc[score, "title"] = score_titles(table[score])
    first = table.loc[score, "title"].iloc[0]
    gap = (table["side"] == "gap") & table["measure"].isin(declared(run).confirmatory)
    table.loc[gap, "title"] = gap_titles(table[gap])
    utility = table["side"] == "utility"
    table.loc[utility, "title"] = [measure_title(each) for each in table.loc[utility, "measure"]]
    table = table[(table["title"] != "") & (~score | (table["title"] == first))]
    digits = [2 if side == "score" else 3 for side in table["side"]]
    parts = (table[name].tolist() for name in ("change", "low", "high"))
    table["cell"] = list(map(estimate, *parts, digits))
    table["title"] = table["title"] + " (" + table["direction"] + ")"
    names = ["method", "wordset"]
    wide = table.pivot_table("cell", names, "title", "first", sort=False).reset_index()
    wide = wide.rename(columns={"wordset": "words"}).fillna("")
    return markdown(wide.astype(str).to_dict("records"))


def visible(run: str) -> str:
    """The declared slices without the linear changes that can be undone: of erasers the whole dose
    alone. Exploratory.
    """
    table = joined(run)
    kept = table["method"].isin(["none", "attract_repel"]) | (
        (table["direction"] == "debias") & (table["dose"] == 1)
    )
    found = correlate_slices(table[kept], declared(run))
    found = [each for each in found if each.confirmatory]
    names = pd.DataFrame([each.names for each in found])
    rows = [
        {
            "score": score,
            "gap": gap.removesuffix(" gap"),
            "conditions": str(each.n_conditions),
            "r_rm": estimate(*each.within.interval),
        }
        for each, score, gap in zip(found, score_titles(names), gap_titles(names), strict=True)
    ]
    return markdown(rows)


@cache
def slopes(run: str) -> pd.DataFrame:
    """How far the gap moves where the score is 1 larger, in each confirmatory slice: one row each,
    with how far the score was ``moved`` within a parent, and the least and greatest b without the
    models of one method. ``planted``: the strength of what was planted, NaN in real data.
    """
    found, table = findings(run), joined(run)
    names = pd.DataFrame([each.names for each in found])
    rows = []
    for each, score, gap in zip(found, score_titles(names), gap_titles(names), strict=True):
        own = table[[*SLICED]].astype(str).eq([each.names[name] for name in SLICED]).all(axis=1)
        methods = set(table.loc[own, "method"]) - {"none"}
        without = [_slope(table[own & (table["method"] != one)]) for one in sorted(methods)]
        planted = float(each.names["task"].rpartition("_")[2]) if run in PLANTED else np.nan
        rows.append(
            {
                **{name: each.names[name] for name in ("metric", "query")},
                "run": TITLES[run],
                "planted": planted,
                "score": score,
                "gap": gap.removesuffix(" gap"),
                "models": each.n,
                "parents": each.n_parents,
                "conditions": each.n_conditions,
                "moved": float(table[own].groupby("parent")["x"].agg(np.ptp).max()),
                **_ends("slope", each.slope),
                "slope_without_least": min(without),
                "slope_without_most": max(without),
                **_ends("slope_conditions", each.slope_conditions),
                **_ends("r_rm", each.within.interval),
            }
        )
    return pd.DataFrame(rows)


def _slope(rows: pd.DataFrame) -> float:
    """b of these models."""
    u, v = (rows[side] - rows.groupby("parent")[side].transform("mean") for side in "xy")
    return float((u @ v) / (u @ u))


def _ends(name: str, one: Sequence[float]) -> dict[str, float]:
    return {f"{name}{end}": value for end, value in zip(ENDS, one, strict=True)}


def _estimate(row: pd.Series, name: str, digits: int = 2) -> str:
    value, *ends = (float(row[f"{name}{end}"]) for end in ENDS)
    low, high = (short(end, digits) if np.isfinite(end) else f"{end:+}"[0] + "∞" for end in ends)
    return f"{short(value, digits)} [{low},{high}]"


def _counts(row: pd.Series) -> str:
    return "{models}, {parents}, {conditions}".format(**row)


def every_slope() -> pd.DataFrame:
    """The slopes of all recorded runs, in the order of ``TITLES``."""
    runs = [slopes(run) for run in TITLES if (HERE / run).is_dir()]
    return pd.concat(runs, ignore_index=True)


def transfer(_: str) -> str:
    """The slopes b in real data; and the farthest end of their intervals over the distance that
    the score was moved. Of one parent models are conditions.
    """
    table = every_slope()
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
            "without one method": f"{short(row['slope_without_least'], 4)} to"
            f" {short(row['slope_without_most'], 4)}",
            "score moved by": short(row["moved"]),
            "so gap at most": short(row["moved"] * max(abs(row[end]) for end in ends), 3),
            "r_rm": _estimate(row, "r_rm"),
        }
        for _, row in table[table["planted"].isna()].iterrows()
    ]
    return markdown(rows)


def planted(_: str) -> str:
    """The slopes where something is planted: a row a score and gap, the strengths side by side."""
    table = every_slope()
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
    return markdown(rows)


def slope_rows(runs: Sequence[str]) -> pd.DataFrame:
    """How far each gap moves while a score is moved as far as it was within a parent: b times that
    distance, with its interval; one row a run and confirmatory slice.
    """
    rows = [
        (TITLES[run], f"{row['score']}, {row['gap']}", *(row["moved"] * row[name] for name in B))
        for run in runs
        for _, row in slopes(run).iterrows()
    ]
    return pd.DataFrame(rows, columns=["run", "slice", "value", "low", "high"])


def draw_slopes(runs: Sequence[str]) -> None:
    """``transfer_slopes.svg``."""
    rows = slope_rows(runs)
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
    drawn = finish(chart, "How far a gap moves with a score", notes)
    save_charts(drawn, HERE / SLOPES, (".svg",))


@cache
def recorded(name: str) -> pd.DataFrame:
    """A table of the recorded certificate."""
    return pd.read_csv(STUDIES / f"{name}.csv")


def worth(subjects: str) -> str:
    """What gaps, or scores of word vectors or of language models in the default convention, are
    worth: the figures of the first kind of model that has them, and the verdicts of all.
    """
    table = recorded("certificate_gaps" if subjects == "gaps" else "certificate")
    table = table[table["convention"].isin(["default", np.nan])]
    rows = []
    for metric, part in table.groupby("metric", sort=False):
        of = part.set_index("subject")
        there = [kind for kind in KINDS[subjects] if kind in of.index]
        if not there:
            continue
        first = of.loc[there[0]]
        follows = first["verdict"] != "does not"
        rows.append(
            {
                "metric": str(metric),
                "of": there[0],
                "models, seeds": f"{first['models']}, {first['seeds']}",
                "slope (sd)": _shown(first, "slope"),
                "r": _shown(first, "r"),
                "false alarms": _shown(first, "false_alarms") or "untested",
                "of random ones": _shown(first, "random_alarms") or "untested",
                "tells from none": (_shown(first, "smallest_strength") or "nothing")
                if follows
                else "",
                "a choice moves it by": f"{_shown(first, 'choice_share')} ({first['choice']})"
                if follows and first["choice"]
                else "",
                **({"half learned after": _steps(first)} if subjects == "models" else {}),
                **{
                    kind: str(of.loc[kind, "verdict"]) if kind in there else ""
                    for kind in KINDS[subjects]
                },
            }
        )
    return markdown(rows)


def _steps(row: pd.Series) -> str:
    return f"{row['learned_at']:.0f} steps" if np.isfinite(row["learned_at"]) else ""


def _shown(row: pd.Series, name: str) -> str:
    found = [float(str(row.get(f"{name}{end}", np.nan))) for end in ENDS]
    return estimate(*found) if np.isfinite(found[0]) else ""


TABLES: dict[str, Callable[[str], str]] = {
    "transfer": transfer,
    "planted": planted,
    "worth": worth,
    "slices": slices,
    "more": more,
    "unmodified": unmodified,
    "conditions": conditions,
    "visible": visible,
}


def render(page: str) -> str:
    """The page with its tables as the recorded runs have them."""

    def block(found: re.Match[str]) -> str:
        kind, run = found["name"].split()
        return f"{found[1]}\n{TABLES[kind](run)}\n{found[4]}"

    return BLOCK.sub(block, page)


def pages() -> Iterator[Path]:
    """Those that have such tables."""
    for path in [*sorted(HERE.glob("*.md")), STUDIES / "certificate.md"]:
        if BLOCK.search(path.read_text(encoding="utf-8")):
            yield path


if __name__ == "__main__":
    for path in pages():
        path.write_text(render(path.read_text(encoding="utf-8")), encoding="utf-8")
    draw_slopes([run for run in TITLES if run not in PLANTED])
    for path in TRANSFER:
        every_slope().to_csv(path, index=False, float_format="%.6g")
