"""Tables and figures of a certificate: the properties and the verdict of every score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from biasbridge.analysis.charts import BLACK, GREY, Drawing, colour, finish, shades
from biasbridge.analysis.naming import STAMP
from biasbridge.studies import SYNTHETIC
from biasbridge.studies.certificate_scores import (
    TRAINING_STEPS,
    changed_settings,
    default_setting,
    mean_interval,
    measure_properties,
    nan_mean,
    random_models,
    stopped_models,
)
from biasbridge.studies.certificate_verdicts import (
    CANNOT_TELL,
    DETECTS_HALF,
    DETECTS_PART,
    DOES_NOT_DETECT,
    NOT_ESTIMATED,
    NOT_GRADED,
    SCORE_VERDICTS,
    judge_score,
    short,
)
from biasbridge.studies.conclusion import row_dicts

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats
    from biasbridge.stats.intervals import Estimate
    from biasbridge.studies.certificate_scores import StrengthScores

_CHOICES = {
    "query": "word list or templates",
    "sentences": "size of the corpus",
    "dim": "length of the vectors",
    "posts": "number of posts",
    "layer": "layer",
    "pooling": "pooling",
    "first_token": "first token",
}
_FEWEST_MODELS = 3
_PLACEBO = "placebo"
_RESAMPLED_STUDIES = 200
_CertificateRow = dict[str, object]
_Names = tuple[str, ...]
_LABELS = {DETECTS_HALF: "half", DETECTS_PART: "strong only"}  # else: the verdict
_DETECTION = {DETECTS_HALF: 3, DETECTS_PART: 1, NOT_GRADED: 0}  # shades
_COLOURS = {DOES_NOT_DETECT: "#eeeeee", CANNOT_TELL: "#f8f8f8", NOT_ESTIMATED: "white"}
_FAULT = "#f2d7c9"


class _CertificateTables(NamedTuple):
    """Tables by metric, convention, material and subject; also by strength, choice and steps."""

    certificate: pd.DataFrame
    curves: pd.DataFrame
    choices: pd.DataFrame
    training: pd.DataFrame


def certificate_tables(all_scores: Sequence[StrengthScores], resamples: int) -> _CertificateTables:
    """Compute the tables of every metric, convention, material and subject, in their order."""
    settings_by_metric: dict[_Names, list[StrengthScores]] = defaultdict(list)
    for scores in all_scores:
        settings_by_metric[_metric_names(scores)].append(scores)
    rows: list[_CertificateRow] = []
    curves: list[_CertificateRow] = []
    choices: list[_CertificateRow] = []
    training: list[_CertificateRow] = []
    for scores in default_setting(all_scores):
        if not scores.n_models:
            continue
        alternatives = settings_by_metric[_metric_names(scores)]
        random = random_models(scores, alternatives)
        properties = measure_properties(scores, random, resamples)
        claim = judge_score(properties)
        rows.append(
            {
                **scores.names,
                "models": scores.n_models,
                "seeds": len(scores.scores),
                **_estimate_columns("slope", properties.slope),
                **_estimate_columns("r", properties.r),
                **_estimate_columns("offset", properties.offset),
                **_estimate_columns("off_target", properties.off_target),
                "false_alarms": properties.alarms.share,
                "random_alarms": properties.random_alarms.share,
                **_estimate_columns("smallest_strength", properties.smallest),
                "verdict": claim.verdict,
                "verdict_of_change": judge_score(properties, change_alone=True).verdict,
                "verdict_again": _share_with_verdict(claim.verdict, scores, random, resamples),
                "why": claim.why,
                "models_key": scores.key,
            }
        )
        for strength, values in zip(scores.strengths.tolist(), scores.scores.T, strict=True):
            curves += _mean_score({**scores.names, "strength": strength}, values)
        at_zero, at_full = (scores.column(strength) for strength in (0.0, scores.strengths[-1]))
        effect = float(nan_mean(at_full, axis=0) - nan_mean(at_zero, axis=0))
        choices += _choice_effects(scores, alternatives, effect)
        training += _training_curve(scores, alternatives)
    certificate, *tables = map(pd.DataFrame, (rows, curves, choices, training))
    if len(certificate):  # the largest r of a placebo on the same models
        of_placebos = certificate["r"].abs().where(certificate["metric"] == _PLACEBO)
        models = [certificate["material"], certificate["subject"]]
        placebo_r = of_placebos.groupby(models).transform("max")
        certificate.insert([*certificate].index("r_high") + 1, "placebo_r", placebo_r)
    return _CertificateTables(certificate, *tables)


def _metric_names(scores: StrengthScores) -> _Names:
    return tuple(scores.names[name] for name in ("metric", "convention", "material", "subject"))


def _estimate_columns(name: str, estimate: Estimate) -> _CertificateRow:
    """Return the columns of an estimate and its ends; NaN for infinity (at no strength)."""
    ends = zip(("", "_low", "_high"), estimate, strict=True)
    return {f"{name}{end}": value if isfinite(value) else nan for end, value in ends}


def _choice_effects(
    scores: StrengthScores, alternatives: Iterable[StrengthScores], effect: float
) -> Iterator[_CertificateRow]:
    """Yield, for each choice, the root mean square difference from the default setting, over models
    (of the same seed and strength) and options, as a share of ``effect``: no bias to strongest.
    """
    differences: dict[str, list[Floats]] = defaultdict(list)
    options: dict[str, list[str]] = defaultdict(list)
    for alternative in alternatives:
        changed = changed_settings(scores, alternative)
        if len(changed) == 1 and changed[0] in _CHOICES:
            choice = changed[0]
            difference = _score_differences(scores, alternative)
            if len(difference) >= _FEWEST_MODELS:
                differences[choice].append(difference)
                options[choice].append(_option(alternative, choice))
    for choice, differences_by_option in differences.items():
        rms = float(np.sqrt(np.square(np.concatenate(differences_by_option)).mean()))
        if not rms:
            continue  # the score does not depend on the choice
        yield {
            **scores.names,
            "choice": _CHOICES[choice],
            "default": _option(scores, choice),
            "options": ", ".join(options[choice]),
            "models": min(map(len, differences_by_option)),
            "rms_change": rms,
            "share": rms / abs(effect) if effect else nan,
        }


def _option(scores: StrengthScores, choice: str) -> str:
    return scores.names["query"] if choice == "query" else scores.setting[choice]


def _score_differences(scores: StrengthScores, alternative: StrengthScores) -> Floats:
    """Subtract the scores of the seeds and strengths that both have. Shape (models,)."""
    _, rows, alternative_rows = np.intersect1d(scores.seeds, alternative.seeds, return_indices=True)
    _, columns, alternative_columns = np.intersect1d(
        scores.strengths, alternative.strengths, return_indices=True
    )
    difference = (
        alternative.scores[np.ix_(alternative_rows, alternative_columns)]
        - scores.scores[np.ix_(rows, columns)]
    )
    return difference[np.isfinite(difference)]


def _training_curve(
    scores: StrengthScores, alternatives: Iterable[StrengthScores]
) -> Iterator[_CertificateRow]:
    """Yield the mean score at the highest strength by steps; none for only random models."""
    stopped = stopped_models(scores, alternatives)
    trained = [(nan, scores)] if not scores.setting[TRAINING_STEPS] else []
    if any(steps for steps, _ in stopped):
        for steps, scores_at_steps in [*stopped, *trained]:
            yield from _mean_score({**scores.names, "steps": steps}, scores_at_steps.scores[:, -1])


def _mean_score(names: _CertificateRow, values: Floats) -> Iterator[_CertificateRow]:
    """Yield the mean of models with a value, if any, and its 95% t interval over seeds."""
    values = values[np.isfinite(values)]
    if len(values):
        estimate = mean_interval(values)._replace(value=float(values.mean()))
        yield {**names, "models": len(values), **_estimate_columns("score", estimate)}


def _share_with_verdict(
    verdict: str, scores: StrengthScores, random: StrengthScores | None, resamples: int
) -> float:
    """Return the share of studies of resampled seeds, at most 200, that reach the verdict."""
    n_studies = min(_RESAMPLED_STUDIES, resamples)
    rng = np.random.default_rng(1)
    verdicts = [
        judge_score(
            measure_properties(
                _resample(scores, rng), random and _resample(random, rng), n_studies // 2
            )
        ).verdict
        for _ in range(n_studies)
    ]
    return verdicts.count(verdict) / n_studies if n_studies else nan


def _resample(scores: StrengthScores, rng: np.random.Generator) -> StrengthScores:
    draws = rng.integers(0, len(scores.seeds), len(scores.seeds))
    names = ("seeds", "scores", "p", "excludes_unbiased", "off_target")
    return replace(scores, **{name: getattr(scores, name)[draws] for name in names})


def certificate_charts(tables: _CertificateTables, planted: str) -> dict[str, Drawing]:
    """Draw verdicts, curves and, if models were stopped early, the course of training."""
    certificate, curves, training = (
        with_material(table) for table in (tables.certificate, tables.curves, tables.training)
    )
    drawings = {
        "certificate": verdict_chart(certificate),
        "certificate_curves": _curve_chart(curves, planted.replace("_", " ")),
    }
    if len(progress := _training_progress(training)):
        drawings["certificate_training"] = _training_chart(progress)
    return drawings


def with_material(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with real material in the names of subjects, unless it is there."""
    if table.empty:
        return table
    names = zip(table["subject"], table["material"], strict=True)
    subjects = [
        name if material == SYNTHETIC or name.startswith(material) else f"{name}, {material}"
        for name, material in names
    ]
    return table.assign(subject=subjects)


def _stamps(subjects: Iterable[str]) -> list[str]:
    """Return the stamp of synthetic data, if any; with real material it says where it holds."""
    is_real = {", " in subject for subject in subjects}
    stamp = STAMP if len(is_real) == 1 else f"Where no text is named: s{STAMP[1:]}"
    return [stamp] if False in is_real else []


def verdict_chart(*tables: pd.DataFrame) -> Drawing:
    """Draw verdicts (dark: detects bias) and r by score and subject, one table below another."""
    return finish(
        alt.vconcat(*map(_verdict_panel, tables)) if len(tables) > 1 else _verdict_panel(tables[0]),
        "Which scores follow the planted bias",
        [
            *_stamps(pd.concat([table["subject"] for table in tables])),
            "r: correlation of planted strength and score, over models.",
        ],
    )


def _verdict_panel(table: pd.DataFrame) -> alt.LayerChart | alt.FacetChart:
    rows = [
        {
            "score": _score_label(row),
            "subject": row["subject"],
            "verdict": row["verdict"],
            "text": _LABELS.get(row["verdict"], row["verdict"]) + _r_text(row),
        }
        for row in row_dicts(table)
    ]
    detection = {verdict: shades(4)[shade] for verdict, shade in _DETECTION.items()}
    colours = {
        verdict: {**_COLOURS, **detection}.get(verdict, _FAULT) for verdict in SCORE_VERDICTS
    }
    axis = alt.Axis(
        labelAngle=0,
        labelOverlap=False,
        labelPadding=2 + 12 * any(", " in row["subject"] for row in rows),
        labelExpr="split(datum.label, ', ')",  # a line each for subject and material
        grid=False,
        orient="top",
    )
    base = alt.Chart(pd.DataFrame(rows)).encode(
        alt.X("subject:N", sort=None, title=None, axis=axis),
        alt.Y("score:N", sort=None, title=None, axis=alt.Axis(grid=False, labelLimit=260)),
    )
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    cells = base.mark_rect(stroke="white").encode(alt.Color("verdict:N", scale=scale, legend=None))
    ink = alt.condition(f"datum.verdict === '{DETECTS_HALF}'", alt.value("white"), alt.value(BLACK))
    chart = alt.layer(cells, base.mark_text(fontSize=10).encode(text="text:N", color=ink))
    return chart.properties(width=alt.Step(104), height=alt.Step(17))


def _curve_chart(curves: pd.DataFrame, planted: str) -> Drawing:
    """Draw mean score and interval by strength, a panel per metric (its first convention)."""
    first_convention = curves.groupby("metric", sort=False)["convention"].transform("first")
    rows = curves[curves["convention"] == first_convention].drop(columns="convention")
    subjects = list(dict.fromkeys(rows["subject"]))
    base = alt.Chart().encode(
        alt.X("strength:Q", title=f"planted {planted}"), colour("subject", subjects)
    )
    y = alt.Y("score:Q", title="score", scale=alt.Scale(zero=False))
    layers = [
        base.mark_area(opacity=0.15).encode(
            alt.Y("score_low:Q", title="score"), alt.Y2("score_high")
        ),
        base.mark_line(point={"size": 18, "opacity": 1}).encode(y),
    ]
    panel = alt.layer(*layers).properties(width=140, height=100)
    columns = ["metric", "subject", "strength", "score", "score_low", "score_high"]
    chart = panel.facet(alt.Facet("metric:N", title=None, sort=None), data=rows[columns], columns=5)
    figure = chart.resolve_scale(y="independent").resolve_axis(x="independent")
    title = "Scores by planted strength: mean and 95% interval over seeds"
    return finish(figure, title, _stamps(subjects))


def _training_chart(progress: pd.DataFrame) -> Drawing:
    """Draw the share of the final score by training steps, one panel per metric."""
    subjects = list(dict.fromkeys(progress["subject"]))
    share = alt.Scale(domain=[-0.5, 1.5], clamp=True)
    scale = alt.Scale(type="sqrt")
    ticks = alt.Axis(values=sorted(progress["steps"].unique().tolist()), format="d")
    base = alt.Chart().encode(
        alt.X("steps:Q", title="training steps", scale=scale, axis=ticks),
        alt.Y("gone:Q", title="share of the final score", scale=share),
        alt.Detail("convention:N"),
        colour("subject", subjects),
    )
    shape = alt.Shape("subject:N", sort=subjects, legend=None)
    points = base.mark_point(size=25, filled=True, opacity=1).encode(shape)
    final = alt.Chart().mark_rule(color=GREY).encode(y=alt.datum(1))
    chart = (
        alt.layer(final, base.mark_line(strokeWidth=1), points)
        .properties(width=190, height=130)
        .facet(
            alt.Facet("metric:N", title=None, sort=None),
            data=progress[["metric", "convention", "subject", "steps", "gone"]],
            columns=3,
        )
    )
    title = "Training steps at which each score shows the bias"
    notes = [
        *_stamps(subjects),
        "0: random weights; 1: end of training. One line per convention; means over models.",
    ]
    return finish(chart, title, notes)


def _training_progress(training: pd.DataFrame) -> pd.DataFrame:
    """Add ``gone``, the share of the change; drop scores whose change is within their interval."""
    progress = []
    names = ["metric", "convention", "subject"]
    for _, rows in training.groupby(names, sort=False) if len(training) else ():
        first, last = rows.iloc[0], rows.iloc[-1]
        change = float(last["score"]) - float(first["score"])
        if abs(change) > float(last["score_high"]) - float(last["score_low"]):
            share = (rows["score"] - float(first["score"])) / change
            progress.append(rows.assign(gone=share)[rows["steps"].notna()])
    return pd.concat(progress) if progress else pd.DataFrame()


def _r_text(row: dict[str, object]) -> str:
    return "" if row["verdict"] == NOT_ESTIMATED else f", r {short(float(str(row['r'])))}"


def _score_label(row: dict[str, object]) -> str:
    """Return the metric, with the convention if it has a name: ``weat, wefe``."""
    metric, convention = str(row["metric"]), str(row["convention"])
    return metric if convention in ("default", "") else f"{metric}, {convention}"
