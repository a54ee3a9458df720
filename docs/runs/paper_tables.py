"""The main paper beside its repetitions: settings, claims, and figure 3 over all tasks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import yaml
from recorded_runs import (
    HERE,
    condition_effects,
    declared,
    joined,
    markdown,
    recorded_slices,
    tables,
)

from biasbridge.analysis.answer import name_verdict
from biasbridge.analysis.charts import BLACK, finish, intervals, palette_of, rule_at
from biasbridge.analysis.claims import study_claims
from biasbridge.analysis.effects import Effect, effects
from biasbridge.analysis.joined import observations_of
from biasbridge.analysis.naming import (
    ALL,
    CONTROL,
    ORIGINAL,
    gap_titles,
    measure_title,
    query_titles,
    score_titles,
)
from biasbridge.analysis.slices import FEW_PERMUTATIONS, SliceResult, measure_slice
from biasbridge.analysis.verdicts import FALLS, RISES
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.extrinsic.coreference.challenge import PRO
from biasbridge.extrinsic.coreference.resolution import ResolverSettings
from biasbridge.extrinsic.network_settings import CNNSettings
from biasbridge.files.charts import save_charts
from biasbridge.stats.formatting import format_estimate, format_number

ROOT = HERE.parents[1]
NETWORKS = ("cnn", "end_to_end_reduced")
COREFERENCE = "paper001_coreference"
LINEAR = "paper001_coreference_linear"
EVEN = "paper001_even"
RUNS = {  # a column each, by page
    "paper001": {
        "paper001_open": "TweetEval",
        EVEN: "Davidson",
        "paper001_en": "HatEval by keywords",
        "paper001_en_target": "HatEval by target",
        COREFERENCE: "coreference",
    },
    "hatespeech_es": {"paper001_es_women": "women", "paper001_es_migrants": "migrants"},
}
OVERVIEW = {  # posts and groups of the main table
    EVEN: ("Davidson, public", "men and women, by words in the post"),
    "paper001_open": ("TweetEval, public", "women and others, by keywords"),
    "paper001_en": ("HatEval, restricted", "women and others, by keywords"),
    "paper001_en_target": ("HatEval, restricted", "women and migrants, by target"),
    COREFERENCE: ("WinoBias", "with and against the stereotype"),
}
CLASSIFIERS = {"cnn": "network", "linear": "linear", "": "linear", "log_linear": "log-linear"}
SHARE = "_share"  # tasks in which all models flag equally many
PAPER_METHODS = ("balance", AttractRepel.name)
FINDINGS = {  # runs of the page on all tasks
    EVEN: "Hate speech, Davidson: men and women",
    "paper001_open": "Hate speech, TweetEval: women and others",
    "answer_en": "Hate speech, HatEval: women and others",
    LINEAR: "Coreference, WinoBias: with the stereotype and against it",
    "paper001_es_women": "Spanish hate speech: women and others",
    "paper001_es_migrants": "Spanish hate speech: migrants and others",
}
PANELS = {  # of figure 3, from above
    COREFERENCE: "Coreference: WinoBias, mean of both types",
    "paper001_open": "Hate speech: TweetEval, women and others",
    EVEN: "Hate speech: Davidson, women and men",
    "paper001_en": "Hate speech: HatEval, women and others",
    "paper001_en_target": "Hate speech: HatEval, women and migrants",
    "paper001_es_women": "Spanish hate speech: women and others",
    "paper001_es_migrants": "Spanish hate speech: migrants and others",
}
# Words of the corpora that no recipe builds; files/data/recipes.yaml has those of the others
WORDS = {
    "en_tweets": 8374221,
    "en_plots": 5315719,
    "en_edited": 16305708,
    "es_tweets_subtitles": 8048923,
}
AS_IN_ENGLISH = {
    *("dimensions", "epochs of the embedding", "fastText's buckets", "lengths after Attract-Repel"),
    *("classifier", "tested on", "trainings of the network"),
}
EMBEDDINGS = ("word2vec", "fasttext")
WIDTH = 150  # of a panel of figure 3
SQUARE = "M-1,-1H1V1H-1Z"  # the shortest path, for there are thousands
DRAWN = {  # name, gaps and panels of the pictures of changes
    LINEAR: (
        "coreference",
        "the gaps of WinoBias",
        ["WEAT 6b", "log odds gap, type1", "precision gap, type1"],
    ),
    EVEN: (
        "hatespeech_en",
        "gaps on Davidson's posts",
        [
            "WEAT 6b",
            *("recall gap, network", "precision gap, network"),
            *("recall gap, linear", "precision gap, linear"),
        ],
    ),
}
LISTS = {  # by which Attract-Repel moves vectors
    "gender_authors": ", authors' words",
    **{f"weat{n}": f", words of WEAT {n}" for n in ("6b", "7", "8")},
}
ROW_HEADER = alt.Header(labelAngle=0, labelAlign="left", labelFontSize=11)


class Setting(NamedTuple):
    """A setting: in the paper's English and Spanish studies, by default, and in a recorded run."""

    title: str
    english: str
    spanish: str
    default: str
    of_run: Callable[[str], str]


def settings(page: str) -> str:
    """Tabulate the settings of the paper, of ``train.py`` and of the recorded runs of a page."""
    return markdown(
        [
            {
                "setting": row.title,
                "the paper": row.english if page == "paper001" else row.spanish,
                "default": row.default,
                "here": _by_value({title: row.of_run(run) for run, title in RUNS[page].items()}),
            }
            for row in _settings()
            if page == "paper001" or row.title not in AS_IN_ENGLISH
        ]
    )


def _by_value(values: dict[str, str]) -> str:
    """Format the value of most runs first, then the others with their runs."""
    [(usual, n), *_] = Counter(values.values()).most_common(1)
    runs: dict[str, list[str]] = {}
    for run, value in values.items():
        if value != usual or n == 1:
            runs.setdefault(value, []).append(run)
    first = [usual] if n > 1 else []
    return "; ".join([*first, *(f"{', '.join(names)}: {value}" for value, names in runs.items())])


def _settings() -> list[Setting]:
    size = yaml.safe_load((ROOT / "conf" / "config.yaml").read_text("utf-8"))["size"]
    published = "as published: 25 (CNN)"
    return [
        Setting(
            "posts or documents",
            "Founta et al. (2018); OntoNotes",
            "HatEval",
            "generated",
            lambda run: f"{_names('source')(run)}, {_n_items(run):,}",
        ),
        Setting("groups", "men, women, by hand", "by target", "male, female", _groups),
        Setting(
            "corpora, million words",
            "tweets, 38.4; Wikipedia, 439.9",
            "tweets, 142.7",
            "",
            lambda run: ", ".join(
                f"{corpus} {n_words(corpus) / 1e6:.1f}"
                for corpus in tables(run).points["corpus"].unique()
            ),
        ),
        Setting("dimensions", "300", "300", f"{size['dim']}", _option("vectors.dim")),
        Setting(
            "epochs of the embedding",
            "5 (released code)",
            "5 (released code)",
            f"{size['epochs']}",
            _option("vectors.epochs"),
        ),
        Setting(
            "fastText's buckets",
            "",
            "",
            f"{size['bucket']:,}",
            lambda run: f"{int(_option('vectors.bucket')(run)):,}",
        ),
        Setting(
            "words of the methods",
            "WEAT's, with 100 nearest neighbours by spaCy",
            "WEAT's, expanded",
            "gender_union",
            _names("wordset"),
        ),
        Setting(
            "lengths after Attract-Repel",
            "unit (released code)",
            "unit (released code)",
            AttractRepel("debias").norms,
            _option("modified.norms"),
        ),
        Setting(
            "classifier",
            "CNN of Kim (2014); resolver of Lee et al. (2017)",
            "CNN",
            CNNSettings.name,
            _names("classifier"),
        ),
        Setting(
            "epochs of the network",
            f"{published}, {ResolverSettings().epochs} (resolver)",
            published,
            f"{CNNSettings().epochs}, {ResolverSettings().epochs}",
            _option("predictions.epochs"),
        ),
        Setting(
            "tested on",
            "one labelled test set; WinoBias",
            "one test set",
            f"{CNNSettings().folds} folds",
            _test_items,
        ),
        Setting("trainings of the network", "", "", "1", lambda run: f"{_n_trainings(run)}"),
        Setting("embeddings, unmodified ones, points", "", "", "", _n_embeddings),
    ]


def recorded_options(run: str, name: str) -> list[str]:
    """Return the recorded values of an option, each once."""
    points = tables(run).points
    columns = [points[name] for name in ("parent_options", "method_options", "task_options")]
    values = (json.loads(cell).get(name) for cell in pd.concat(columns).unique())
    return [*dict.fromkeys(str(value) for value in values if value is not None)]


def _option(name: str) -> Callable[[str], str]:
    return lambda run: ", ".join(recorded_options(run, name))


def _names(column: str) -> Callable[[str], str]:
    return lambda run: ", ".join(tables(run).points[column].unique())


def n_words(corpus: str) -> int:
    """Return the number of words of a corpus."""
    recipes = yaml.safe_load((ROOT / "files" / "data" / "recipes.yaml").read_text("utf-8"))
    return int(WORDS.get(corpus) or recipes["corpora"][corpus]["expected"]["tokens"])


def _n_items(run: str) -> int:
    values = tables(run).extrinsic.query("kind == 'value' and group == 'all'")
    measure = "conll_f1" if run == COREFERENCE else "base_rate"
    [n] = values.loc[values["measure"] == measure, "support"].unique()
    return int(n)


def _groups(run: str) -> str:
    if run == COREFERENCE:
        return "stereotype, its reverse"
    values = tables(run).extrinsic.query("kind == 'value' and measure == 'base_rate'")
    sizes = values.drop_duplicates("group").set_index("group")["support"]
    sides = ("extrinsic.privileged", "extrinsic.unprivileged")
    groups = [group for side in sides for group in recorded_options(run, side)]
    return ", ".join(f"{group} {sizes[group]:,.0f}" for group in groups)


def _test_items(run: str) -> str:
    if run == COREFERENCE:
        return _names("challenge")(run)
    points = tables(run).points
    cells = points.drop_duplicates(["classifier", "task_options"])
    folds = [json.loads(cell)["predictions.folds"] for cell in cells["task_options"]]
    by_classifier = dict.fromkeys(zip(folds, cells["classifier"], strict=True))
    return ", ".join(f"{n} folds ({name})" for n, name in by_classifier)


def _n_trainings(run: str) -> int:
    points = tables(run).points
    return int(points.loc[points["classifier"].isin(NETWORKS), "replicate"].nunique())


def _n_embeddings(run: str) -> str:
    points = tables(run).points
    n, n_parents = points["unit_key"].nunique(), points["parent_key"].nunique()
    return f"{n}, {n_parents}, {len(points)}"


def overview(_: str) -> str:
    """Tabulate the largest change of each run and classifier, and the verdicts of its tests."""
    rows = []
    for run, (posts, compared) in OVERVIEW.items():
        by_classifier: dict[str, list[tuple[SliceResult, dict[str, str]]]] = {}
        for result, titles in recorded_slices(run):
            if not result.names["task"].endswith(SHARE):
                by_classifier.setdefault(result.names["classifier"], []).append((result, titles))
        for classifier, found in by_classifier.items():
            claimed = [each for each in found if each[0].verdict in (RISES, FALLS)] or found
            largest, titles = max(claimed, key=lambda each: abs(each[0].change.value))
            verdicts = Counter(
                (result.names["measure"], name_verdict(result.verdict, result.x))
                for result, _ in found
            )
            counts = [f"{measure} {n} *{verdict}*" for (measure, verdict), n in verdicts.items()]
            rows.append(
                {
                    "posts": posts,
                    "groups": compared,
                    "classifier: F1 (constant)": _level(run, classifier),
                    "largest change as WEAT rises": f"{titles['gap']}, {titles['score']}:"
                    f" {format_estimate(*largest.change, digits=3, sign='+')}",
                    "verdicts": ", ".join(counts),
                }
            )
    return markdown(rows, merged=["posts"])


def debiasing(_: str) -> str:
    """Tabulate what Attract-Repel by the authors' words did to the network, at full dose."""
    rows = []
    titles = {"precision": "precision gap", "recall": "recall gap", "fpr": "false positive gap"}
    for run in OVERVIEW:
        if run == COREFERENCE:
            continue
        row = {"posts": RUNS["paper001"][run]}
        for effect in condition_effects(run):
            names = effect.names
            is_meant = (names["method"], names["direction"], float(names["dose"] or 0)) == (
                AttractRepel.name,
                "debias",
                1,
            )
            is_meant &= names["classifier"] == "cnn" and names["wordset"] == "gender_authors"
            is_meant &= not names["task"].endswith(SHARE)
            is_meant &= effect.embedding == ALL and effect.against == "unmodified"
            title = titles.get(names["measure"], "F1" * (names["side"] == "utility"))
            if is_meant and title and names["side"] != "score":
                ends = effect.effect, effect.effect_low, effect.effect_high
                change = format_estimate(*ends, digits=3, sign="+")
                row[title] = f"{format_number(effect.reference, 3)}, {change}"
        rows.append(row)
    return markdown(rows)


def findings(_: str) -> str:
    """Tabulate every declared gap: what full debiasing did to it, all modifications, the scores."""
    rows = []
    for run, title in FINDINGS.items():
        for gap in study_claims([result for result, _ in recorded_slices(run)]):
            result, bound = gap.overall.result, format_number(gap.overall.bound, 3)
            if result.names["task"].endswith(SHARE) or (
                run == LINEAR and result.names["measure"] == "recall"
            ):
                continue  # much as at the threshold; as precision
            debiasing = [each for each in result.effects.full if each.direction == "debias"]
            largest = max(debiasing, key=lambda each: abs(each.change.value))
            change = format_estimate(*largest.change.interval, digits=3, sign="+")
            verdicts = Counter(name_verdict(score.verdict, score.x) for score in gap.scores)
            rows.append(
                {
                    "task and groups": title,
                    "classifier": CLASSIFIERS[result.names["classifier"]],
                    "gap": measure_title(result.names["measure"])
                    + result.names["subset"].replace("type", ", type "),
                    "unmodified": format_number(result.gap_unmodified, 3),
                    "largest change by full debiasing": f"{change} ({largest.method})",
                    "all modifications": f"up to {bound}:"
                    f" *{name_verdict(gap.overall.verdict, gap.overall.x)}*",
                    "with WEAT": ", ".join(f"{n} *{verdict}*" for verdict, n in verdicts.items()),
                }
            )
    return markdown(rows, merged=["task and groups", "classifier"])


def _level(run: str, classifier: str) -> str:
    """Return the utility of the unmodified models, and of a constant answer."""
    points = tables(run).points
    chosen = points[(points["method"] == CONTROL) & (points["classifier"] == classifier)]
    values = tables(run).extrinsic
    is_utility = (values["kind"] == "value") & (values["group"] == ALL)
    is_utility &= (values["measure"] == declared(run).utility) & values["point"].isin(
        chosen["point"]
    )
    utilities = values[is_utility].drop_duplicates("point")
    columns = utilities.reindex(columns=["value", "majority_baseline"])
    value, baseline = map(float, columns.mean())
    constant = f" ({format_number(baseline, 3)})" if np.isfinite(baseline) else ""
    title = {"cnn": "CNN"}.get(classifier, "resolver" if run == COREFERENCE else classifier)
    return f"{title}: {format_number(value, 3)}{constant}"


def claims(page: str) -> str:
    """Tabulate what the paper claims about gaps and F1 of its network, and what runs have."""
    return _english_claims() if page == "paper001" else _spanish_claims()


def _english_claims() -> str:
    runs = {run: title for run, title in RUNS["paper001"].items() if run != COREFERENCE}
    cells = {
        ("precision gap of unmodified word2vec, fastText", "-.044, .095: they differ"): {
            run: _pair(unmodified_gap(run, "precision", name) for name in EMBEDDINGS)
            for run in runs
        },
        ("recall gap of the same", "-.06, -.06: alike"): {
            run: _pair(unmodified_gap(run, "recall", name) for name in EMBEDDINGS) for run in runs
        },
        ("sd of the recall, precision gap among copies", "recall: much smaller"): {
            run: _pair((sd_among_copies(run, name) for name in ("recall", "precision")), 4)
            for run in runs
        },
        **{
            (f"r_rm of the {measure} gap, word2vec, fastText", "fastText: less regular"): {
                run: _pair((r_rm(run, measure, name) for name in EMBEDDINGS), 2) for run in runs
            }
            for measure in ("recall", "precision")
        },
    }
    return markdown(
        [
            {"claim": claim, "the paper": paper} | {runs[run]: cell for run, cell in row.items()}
            for (claim, paper), row in cells.items()
        ]
    )


def _spanish_claims() -> str:
    printed = {"women": "high .80s", "migrants": "low .60s"}
    return markdown(
        [
            {
                "F1, unmodified": title,
                "the paper": printed[title],
                **{
                    column: format_number(unmodified_f1(run, group), 3)
                    for column, group in (("here", title), ("here, all others", "others"))
                },
            }
            for run, title in RUNS["hatespeech_es"].items()
        ]
    )


def _pair(values: Iterator[float], digits: int = 3) -> str:
    return ", ".join(format_number(value, digits) for value in values)


def network_gaps(run: str) -> pd.DataFrame:
    """Return the declared gaps of the network at its own threshold under the paper's methods:
    ``y``, a row for each query and training.
    """
    rows = joined(run)
    is_declared = rows["measure"].isin(declared(run).confirmatory)
    is_declared &= rows["classifier"].isin(NETWORKS) & ~rows["task"].str.endswith(SHARE)
    return rows[is_declared & rows["method"].isin([CONTROL, *PAPER_METHODS])]


def _gaps(run: str, measure: str) -> pd.DataFrame:
    rows = network_gaps(run)
    rows = rows[rows["measure"] == measure].drop_duplicates("point")
    keys = ["embedding", "method", "parent_key", "unit_key"]
    return rows.groupby(keys, sort=False)["y"].mean().reset_index()


def unmodified_gap(run: str, measure: str, embedding: str) -> float:
    """Return the mean gap of the unmodified models of an embedding."""
    rows = _gaps(run, measure)
    is_meant = (rows["embedding"] == embedding) & (rows["method"] == CONTROL)
    return float(rows.loc[is_meant, "y"].mean())


def sd_among_copies(run: str, measure: str) -> float:
    """Return the sd of the gap, as a mean over trainings, around the mean of a parent's copies."""
    rows = _gaps(run, measure)
    return float((rows["y"] - rows.groupby("parent_key")["y"].transform("mean")).std())


def r_rm(run: str, measure: str, embedding: str) -> float:
    """Return r_rm of the gap with the mean of all queries' scores."""
    rows = network_gaps(run).query("measure == @measure and embedding == @embedding")
    return measure_slice(
        observations_of(rows), {}, full=False, permutations=FEW_PERMUTATIONS
    ).within.r


def unmodified_f1(run: str, group: str) -> float:
    """Return the network's mean F1 in a group, with unmodified embeddings."""
    points = tables(run).points
    points = points[points["classifier"].isin(NETWORKS) & (points["method"] == CONTROL)]
    rows = tables(run).extrinsic.query("kind == 'value' and measure == 'f1' and group == @group")
    return float(rows.loc[rows["point"].isin(points["point"]), "value"].mean())


def draw_figure3() -> None:
    """Draw ``paper001_figure3.svg``: a panel for each score, gap and embedding of every task."""
    colours = alt.Scale(
        domain=[ORIGINAL, *PAPER_METHODS], range=[BLACK, *palette_of(PAPER_METHODS)]
    )
    parts = []
    for run, title in PANELS.items():
        is_first, is_last = run == next(iter(PANELS)), run == [*PANELS][-1]
        points = alt.Chart().mark_point(filled=True, shape=SQUARE, size=9, opacity=0.7)
        points = points.encode(
            alt.X("x:Q", title="WEAT" if is_last else None, scale=alt.Scale(zero=False)),
            alt.Y("y:Q", title="gap", scale=alt.Scale(zero=False)),
            alt.Color("method:N", scale=colours, title="method"),
        )
        r = alt.Chart().mark_text(align="right", baseline="bottom", fontSize=9)
        r = r.encode(text="r:N", x=alt.value(WIDTH), y=alt.value(-2))
        panels = alt.layer(points, r.transform_filter("datum.r != ''"))
        labels = alt.Header(labels=is_first, labelPadding=14)
        parts.append(
            panels.properties(width=WIDTH, height=60)
            .facet(
                data=_panel_points(run),
                row=alt.Row("query:N", sort=None, title=None, header=ROW_HEADER),
                column=alt.Column("column:N", sort=None, title=None, header=labels),
                spacing={"row": 16, "column": 8},
            )
            .properties(title=alt.TitleParams(title, anchor="start", frame="group", fontSize=12))
        )
    chart = alt.vconcat(*parts, spacing=14).resolve_scale(color="shared")
    notes = [
        "A point is an embedding: the mean over trainings of the network. r: Pearson's in a panel.",
        "In the paper's figure the score is on the y axis.",
    ]
    drawing = finish(chart, "The paper's figure 3 over all tasks: gap against WEAT", notes)
    save_charts(drawing, HERE / "paper001_figure3", (".svg",))


def _panel_points(run: str) -> pd.DataFrame:
    rows = network_gaps(run)
    rows = rows.assign(query=query_titles(rows), column=rows["embedding"] + ", " + rows["measure"])
    keys = ["query", "column", "method", "unit_key"]
    points = rows.groupby(keys, sort=False)[["x", "y"]].mean().round(4).reset_index()
    points["method"] = points["method"].replace(CONTROL, ORIGINAL)
    order = [
        f"{name}, {measure}" for name in EMBEDDINGS[::-1] for measure in ("precision", "recall")
    ]
    points = points.sort_values("column", key=lambda names: names.map(order.index), kind="stable")
    points["r"] = ""
    for _, panel in points.groupby(["query", "column"]):
        r = np.corrcoef(panel["x"], panel["y"])[0, 1]
        points.loc[panel.index[0], "r"] = f"r = {format_number(float(r))}"
    return points.drop(columns="unit_key")


def methods(run: str) -> str:
    """Tabulate what each method did at its largest dose, by word list, to scores and gaps."""
    return _tabulate_methods({"": _at_largest_doses(run)})


def methods_by_corpus(run: str) -> str:
    """Tabulate the same with the embeddings of each corpus alone."""
    recorded = tables(run)
    corpora = recorded.points["corpus"].unique().tolist()
    parts = {
        corpus: recorded._replace(points=recorded.points[recorded.points["corpus"] == corpus])
        for corpus in corpora
    }
    return _tabulate_methods(
        {
            corpus: _at_largest_doses(run, effects(part, declared(run).utility))
            for corpus, part in parts.items()
        }
    )


def _tabulate_methods(parts: dict[str, pd.DataFrame]) -> str:
    rows = pd.concat([part.assign(corpus=corpus) for corpus, part in parts.items()])
    digits = [2 if side == "score" else 3 for side in rows["side"]]
    parts = (rows[name].tolist() for name in ("change", "low", "high"))
    rows["cell"] = list(map(partial(format_estimate, sign="+"), *parts, digits))
    keys = ["condition", "corpus"]
    wide = rows.pivot_table("cell", keys, "panel", "first", sort=False).reset_index()
    renamed = wide.rename(columns={"condition": "method"}).astype(str)
    return markdown(renamed.to_dict("records"))


def _at_largest_doses(run: str, found: Sequence[Effect] = ()) -> pd.DataFrame:
    """Return the effects at full dose over all embeddings, with the titles of their outcomes;
    ``found``: the effects, if not those of the whole run.
    """
    rows = pd.DataFrame(
        [
            {**effect.names, "change": effect.effect}
            | {"low": effect.effect_low, "high": effect.effect_high}
            for effect in found or condition_effects(run)
            if effect.embedding == ALL
            and effect.against == "unmodified"
            and abs(float(effect.names["dose"])) == 1
        ]
    )
    rows = rows[rows["side"] != "utility"].assign(panel="")
    for side, titles_of in (("gap", gap_titles), ("score", score_titles)):
        is_side = rows["side"] == side
        rows.loc[is_side, "panel"] = titles_of(rows[is_side])
    by_task = rows["classifier"].map(CLASSIFIERS) + rows["task"].str.endswith(SHARE).map(
        {True: ", equal share", False: ""}
    )
    if len({*by_task[rows["side"] == "gap"]}) > 1:
        rows["panel"] += (", " + by_task).where(rows["side"] == "gap", "")
    is_meant = rows["measure"].isin(declared(run).confirmatory)
    is_meant &= (rows["privileged"] == PRO) | (PRO not in rows["privileged"].unique())
    rows = rows[is_meant | (rows["side"] == "score")]
    directions = rows["direction"].map({"debias": "debiasing", "overbias": "overbiasing"})
    by_list = rows["method"] == AttractRepel.name
    lists = rows["wordset"].map(LISTS).where(by_list, "")
    return rows.assign(condition=directions + ": " + rows["method"] + lists)


def draw_changes(run: str) -> None:
    """Draw ``NAME_changes.svg``: what each method at its largest dose did to a score and gaps."""
    name, gaps, panels = DRAWN[run]
    rows = _at_largest_doses(run)
    rows = rows[rows["panel"].isin(panels)]
    order = [*rows.sort_values("direction", kind="stable")["condition"].unique()]
    by_method = dict(zip(names := rows["method"].unique().tolist(), palette_of(names), strict=True))
    scale = alt.Scale(domain=[*by_method], range=[*by_method.values()])
    shares = rows[rows["panel"].str.contains("precision|recall")]
    domain = [float(shares["low"].min()), float(shares["high"].max())]
    parts = []
    for panel in panels:
        axis = alt.Axis(labelLimit=0, labels=not parts, ticks=not parts)
        base = alt.Chart().encode(
            alt.Y("condition:N", sort=order, title=None, axis=axis),
            alt.Color("method:N", legend=None, scale=scale),
        )
        is_share = panel in {*shares["panel"]}
        of_x = alt.Scale(domain=domain) if is_share else alt.Scale()
        marks = intervals(base, "change", size=40, opacity=1, title=None, scale=of_x)
        table = rows.loc[rows["panel"] == panel, ["condition", "method", "change", "low", "high"]]
        part = alt.layer(rule_at(0), *marks, data=table)
        heading = alt.TitleParams(panel, anchor="start", frame="group", fontSize=11)
        parts.append(part.properties(width=510 // len(panels), height=alt.Step(17), title=heading))
    chart = alt.hconcat(*parts, spacing=10)
    title = f"What each method at its largest dose did to WEAT 6b, and to {gaps}"
    notes = ["Changes against the unmodified embeddings, with 95% intervals, over eight of these."]
    save_charts(finish(chart, title, notes), HERE / f"{name}_changes", (".svg",))
