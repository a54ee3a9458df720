"""Tables of a certificate: the properties and verdict of every score, and a forecast of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from biasbridge.analysis.tables import Tables
from biasbridge.files import InputError
from biasbridge.stats.formatting import format_number
from biasbridge.studies import SYNTHETIC
from biasbridge.studies.certificate_scores import (
    TRAINED,
    TRAINING_STEPS,
    UNTRAINED,
    default_setting,
    mean_interval,
    measure_properties,
    nan_mean,
    read_scores,
)
from biasbridge.studies.certificate_verdicts import ALARM_RATE, CANNOT_TELL, judge_score

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats
    from biasbridge.stats.intervals import Estimate
    from biasbridge.studies.certificate_scores import MetricProperties, StrengthScores

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
_CertificateRow = dict[str, object]
_Names = tuple[str, ...]
_RESAMPLED_STUDIES = 200
_SLOPE = 12.0  # sd from no bias to the whole: more than one score needs, as WEAT and likelihoods
_FORECAST_STUDIES = 100
_NOT_EXCLUDED = " not excluded"  # of the figure of a fault


class CertificateTables(NamedTuple):
    """Tables by metric, convention, material and subject; also by strength, choice and steps."""

    certificate: pd.DataFrame
    curves: pd.DataFrame
    choices: pd.DataFrame
    training: pd.DataFrame


def certify(all_scores: Sequence[StrengthScores], resamples: int) -> CertificateTables:
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
        random = _random_models(scores, alternatives)
        properties = measure_properties(scores, random, resamples)
        verdict, why = judge_score(properties)
        rows.append(
            {
                **scores.names,
                "models": scores.n_models,
                "seeds": len(scores.scores),
                **_property_columns(properties),
                "verdict": verdict,
                "verdict_of_change": judge_score(properties, change_alone=True)[0],
                "verdict_again": _share_with_verdict(verdict, scores, random, resamples),
                "why": why,
                "models_key": scores.key,
            }
        )
        curves += _strength_curve(scores)
        at_zero, at_full = (scores.column(strength) for strength in (0.0, scores.strengths[-1]))
        effect = float(nan_mean(at_full, axis=0) - nan_mean(at_zero, axis=0))
        choices += _choice_effects(scores, alternatives, effect)
        training += _training_curve(scores, alternatives)
    tables = (pd.DataFrame(table) for table in (curves, choices, training))
    return CertificateTables(_with_placebo(pd.DataFrame(rows)), *tables)


def _with_placebo(certificate: pd.DataFrame) -> pd.DataFrame:
    """Add ``placebo_r``, the largest r of a placebo on the same models; NaN if none was asked."""
    if certificate.empty:
        return certificate
    models = [certificate["material"], certificate["subject"]]
    of_placebos = certificate["r"].abs().where(certificate["metric"] == _PLACEBO)
    placebo_r = of_placebos.groupby(models).transform("max")
    certificate.insert([*certificate].index("r_high") + 1, "placebo_r", placebo_r)
    return certificate


def _property_columns(properties: MetricProperties) -> _CertificateRow:
    return {
        **_estimate_columns("slope", properties.slope),
        **_estimate_columns("r", properties.r),
        **_estimate_columns("offset", properties.offset),
        **_estimate_columns("off_target", properties.off_target),
        "false_alarms": properties.alarms.share,
        "random_alarms": properties.random_alarms.share,
        **_estimate_columns("smallest_strength", properties.smallest),
    }


def _metric_names(scores: StrengthScores) -> _Names:
    return tuple(scores.names[name] for name in ("metric", "convention", "material", "subject"))


def _estimate_columns(name: str, estimate: Estimate) -> _CertificateRow:
    """Return the columns of an estimate and its ends; NaN for infinity (at no strength)."""
    ends = zip(("", "_low", "_high"), estimate, strict=True)
    return {f"{name}{end}": value if isfinite(value) else nan for end, value in ends}


def _mean_score(values: Floats) -> Estimate:
    """Return the mean of finite values with its 95% t interval, if there are enough for one."""
    return mean_interval(values)._replace(value=float(values.mean()))


def _strength_curve(scores: StrengthScores) -> Iterable[_CertificateRow]:
    """Yield the mean score at each strength with its 95% t interval over seeds."""
    for strength, column in zip(scores.strengths.tolist(), scores.scores.T, strict=True):
        values = column[np.isfinite(column)]
        if len(values):
            yield {
                **scores.names,
                "strength": strength,
                "models": len(values),
                **_estimate_columns("score", _mean_score(values)),
            }


def _choice_effects(
    scores: StrengthScores, alternatives: Iterable[StrengthScores], effect: float
) -> Iterable[_CertificateRow]:
    """Yield, for each choice, the root mean square difference from the default setting, over models
    (of the same seed and strength) and options, as a share of ``effect``: no bias to strongest.
    """
    differences: dict[str, list[Floats]] = defaultdict(list)
    options: dict[str, list[str]] = defaultdict(list)
    for alternative in alternatives:
        changed = _changed_settings(scores, alternative)
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


def _changed_settings(scores: StrengthScores, alternative: StrengthScores) -> list[str]:
    """List the settings in which two scores of a metric, convention and subject differ."""
    changed = [name for name in scores.setting if scores.setting[name] != alternative.setting[name]]
    has_other_query = scores.names["query"] != alternative.names["query"]
    return [*(["query"] if has_other_query else []), *changed]


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


def _stopped_models(
    scores: StrengthScores, alternatives: Iterable[StrengthScores]
) -> list[tuple[int, StrengthScores]]:
    """List the scores of models that were stopped early, by number of training steps."""
    stopped = [
        (int(alternative.setting[TRAINING_STEPS]), alternative)
        for alternative in alternatives
        if alternative.setting[TRAINING_STEPS] != TRAINED
        and _changed_settings(scores, alternative) == [TRAINING_STEPS]
    ]
    return sorted(stopped, key=lambda steps_and_scores: steps_and_scores[0])


def _training_curve(
    scores: StrengthScores, alternatives: Iterable[StrengthScores]
) -> Iterable[_CertificateRow]:
    """Yield the mean score at the highest strength by steps; none for only random models."""
    stopped = _stopped_models(scores, alternatives)
    trained = [(nan, scores)] if not scores.setting[TRAINING_STEPS] else []
    if any(steps for steps, _ in stopped):
        for steps, scores_at_steps in [*stopped, *trained]:
            values = scores_at_steps.scores[:, -1]
            values = values[np.isfinite(values)]
            if len(values):
                estimate = _estimate_columns("score", _mean_score(values))
                yield {**scores.names, "steps": steps, "models": len(values), **estimate}


def _random_models(
    scores: StrengthScores, alternatives: Iterable[StrengthScores]
) -> StrengthScores | None:
    """Return the scores of random vectors or weights, whatever the corpus."""
    stopped = _stopped_models(scores, alternatives)
    return next((random for steps, random in stopped if steps == int(UNTRAINED)), None)


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
        )[0]
        for _ in range(n_studies)
    ]
    return verdicts.count(verdict) / n_studies if n_studies else nan


def _resample(scores: StrengthScores, rng: np.random.Generator) -> StrengthScores:
    draws = rng.integers(0, len(scores.seeds), len(scores.seeds))
    names = ("seeds", "scores", "p", "excludes_unbiased", "off_target")
    return replace(scores, **{name: getattr(scores, name)[draws] for name in names})


def forecast(facts: Sequence[Mapping[str, object]], planted: str) -> list[str]:
    """Say how often a metric without a fault will get "cannot tell" from the planned models.

    Its scores are drawn for every model and judged by the rule. Empty if no bias is planted.
    """
    points = pd.DataFrame(facts)
    names = dict.fromkeys(("metric", "convention", "query", "part", "subset", "p_method"), "")
    numbers = {"value": 0.0, "low": -1.0, "high": 1.0, "p_value": 0.5, "unbiased": 0.0}
    points = points.assign(point=range(len(points)), status="done")
    rows = points[["point"]].assign(kind="gap", measure="", scale_max=1.0, **names, **numbers)
    try:
        all_scores = read_scores(Tables(points, rows, rows), planted)
    except InputError:
        return []
    kinds = [_describe(scores, all_scores) for scores in default_setting(all_scores)]
    return [f"A metric without a fault will get {CANNOT_TELL!r} in {'; in '.join(kinds)}"]


def _describe(scores: StrengthScores, all_scores: Sequence[StrengthScores]) -> str:
    random = _random_models(scores, [other for other in all_scores if other.names == scores.names])
    rng = np.random.default_rng(0)
    reasons: Counter[str] = Counter()
    for _ in range(_FORECAST_STUDIES):
        drawn = _draw_scores(scores, rng), random and _draw_scores(random, rng)
        verdict, figure = judge_score(measure_properties(*drawn, _FORECAST_STUDIES))
        if verdict == CANNOT_TELL:
            fault, is_fault, _ = figure.partition(_NOT_EXCLUDED)
            reasons[fault + is_fault if is_fault else "slope not sure"] += 1
    material, subject = scores.names["material"], scores.names["subject"]
    kind = subject or "models"
    kind += f" ({material})" * (material != SYNTHETIC)
    mostly = f": mostly {reasons.most_common(1)[0][0]}" if reasons else ""
    share = format_number(reasons.total() / _FORECAST_STUDIES)
    return f"{share} of studies with {len(scores.seeds)} seeds of {kind}{mostly}"


def _draw_scores(scores: StrengthScores, rng: np.random.Generator) -> StrengthScores:
    """Draw scores of a metric without a fault for the same models, with claims in 5%."""
    claims = np.where(rng.random(scores.scores.shape) < ALARM_RATE, 1.0, 0.0)
    return replace(
        scores,
        scores=_SLOPE * scores.strengths + rng.normal(size=claims.shape) + 0 * scores.scores,
        p=np.where(claims == 1, 0.01, 0.5) + 0 * scores.p,
        excludes_unbiased=claims + 0 * scores.excludes_unbiased,
        off_target=rng.normal(size=len(scores.seeds)) + 0 * scores.off_target,
    )
