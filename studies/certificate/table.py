"""Tables of a certificate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from biasbridge.studies.certificate.measures import measure
from biasbridge.studies.certificate.replication import share_with_verdict
from biasbridge.studies.certificate.statistics import mean_interval, nan_mean
from biasbridge.studies.certificate.strength_scores import (
    STEPS,
    TRAINED,
    UNTRAINED,
    default_setting,
)
from biasbridge.studies.certificate.verdict import judge

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats
    from biasbridge.stats.intervals import Estimate
    from biasbridge.studies.certificate.measures import MetricProperties
    from biasbridge.studies.certificate.strength_scores import StrengthScores

CHOICES = {
    "query": "word list or templates",
    "sentences": "size of the corpus",
    "dim": "length of the vectors",
    "posts": "number of posts",
    "layer": "layer",
    "pooling": "pooling",
    "first_token": "first token",
}
FEWEST_MODELS = 3
PLACEBO = "placebo"
Row = dict[str, object]
Names = tuple[str, ...]


class CertificateTables(NamedTuple):
    """Tables by metric, convention, material and subject; also by strength, choice and steps."""

    certificate: pd.DataFrame
    curves: pd.DataFrame
    choices: pd.DataFrame
    training: pd.DataFrame


def certify(all_scores: Sequence[StrengthScores], resamples: int) -> CertificateTables:
    """Compute the tables of every metric, convention, material and subject, in their order."""
    settings_by_metric: dict[Names, list[StrengthScores]] = defaultdict(list)
    for scores in all_scores:
        settings_by_metric[_metric_names(scores)].append(scores)
    rows: list[Row] = []
    curves: list[Row] = []
    choices: list[Row] = []
    training: list[Row] = []
    for scores in default_setting(all_scores):
        if not scores.n_models:
            continue
        alternatives = settings_by_metric[_metric_names(scores)]
        random = random_models(scores, alternatives)
        properties = measure(scores, random, resamples)
        verdict, why = judge(properties)
        rows.append(
            {
                **scores.names,
                "models": scores.n_models,
                "seeds": len(scores.scores),
                **_property_columns(properties),
                "verdict": verdict,
                "verdict_of_change": judge(properties, change_alone=True)[0],
                "verdict_again": share_with_verdict(verdict, scores, random, resamples),
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
    of_placebos = certificate["r"].abs().where(certificate["metric"] == PLACEBO)
    placebo_r = of_placebos.groupby(models).transform("max")
    certificate.insert([*certificate].index("r_high") + 1, "placebo_r", placebo_r)
    return certificate


def _property_columns(properties: MetricProperties) -> Row:
    return {
        **_estimate_columns("slope", properties.slope),
        **_estimate_columns("r", properties.r),
        **_estimate_columns("offset", properties.offset),
        **_estimate_columns("off_target", properties.off_target),
        "false_alarms": properties.alarms.share,
        "random_alarms": properties.random_alarms.share,
        **_estimate_columns("smallest_strength", properties.smallest),
    }


def _metric_names(scores: StrengthScores) -> Names:
    return tuple(scores.names[name] for name in ("metric", "convention", "material", "subject"))


def _estimate_columns(name: str, estimate: Estimate) -> Row:
    """Return the columns of an estimate and its ends; NaN for infinity (at no strength)."""
    ends = zip(("", "_low", "_high"), estimate, strict=True)
    return {f"{name}{end}": value if isfinite(value) else nan for end, value in ends}


def _mean_score(values: Floats) -> Estimate:
    """Return the mean of finite values with its 95% t interval, if there are enough for one."""
    return mean_interval(values)._replace(value=float(values.mean()))


def _strength_curve(scores: StrengthScores) -> Iterable[Row]:
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
) -> Iterable[Row]:
    """Yield, for each choice, the root mean square difference from the default setting, over models
    (of the same seed and strength) and options, as a share of ``effect``: no bias to strongest.
    """
    differences: dict[str, list[Floats]] = defaultdict(list)
    options: dict[str, list[str]] = defaultdict(list)
    for alternative in alternatives:
        changed = _changed_settings(scores, alternative)
        if len(changed) == 1 and changed[0] in CHOICES:
            choice = changed[0]
            difference = _score_differences(scores, alternative)
            if len(difference) >= FEWEST_MODELS:
                differences[choice].append(difference)
                options[choice].append(_option(alternative, choice))
    for choice, differences_by_option in differences.items():
        rms = float(np.sqrt(np.square(np.concatenate(differences_by_option)).mean()))
        if not rms:
            continue  # the score does not depend on the choice
        yield {
            **scores.names,
            "choice": CHOICES[choice],
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
        (int(alternative.setting[STEPS]), alternative)
        for alternative in alternatives
        if alternative.setting[STEPS] != TRAINED
        and _changed_settings(scores, alternative) == [STEPS]
    ]
    return sorted(stopped, key=lambda steps_and_scores: steps_and_scores[0])


def _training_curve(
    scores: StrengthScores, alternatives: Iterable[StrengthScores]
) -> Iterable[Row]:
    """Yield the mean score at the highest strength by steps; none for only random models."""
    stopped = _stopped_models(scores, alternatives)
    trained = [(nan, scores)] if not scores.setting[STEPS] else []
    if any(steps for steps, _ in stopped):
        for steps, scores_at_steps in [*stopped, *trained]:
            values = scores_at_steps.scores[:, -1]
            values = values[np.isfinite(values)]
            if len(values):
                estimate = _estimate_columns("score", _mean_score(values))
                yield {**scores.names, "steps": steps, "models": len(values), **estimate}


def random_models(
    scores: StrengthScores, alternatives: Iterable[StrengthScores]
) -> StrengthScores | None:
    """Return the scores of random vectors or weights, whatever the corpus."""
    stopped = _stopped_models(scores, alternatives)
    return next((random for steps, random in stopped if steps == int(UNTRAINED)), None)
