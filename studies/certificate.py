"""Study of bias metrics on models in which a bias of known strength is planted, and placebos."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import pandas as pd
from annotated_types import doc

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless, Whole
from biasbridge.intrinsic.metric import Convention, Metric, MetricInfo, ResolvedQuery
from biasbridge.intrinsic.score import MetricResult
from biasbridge.stats.formatting import capitalise, format_number
from biasbridge.studies import SYNTHETIC
from biasbridge.studies.certificate_verdicts import (
    ALARM_RATE,
    CANNOT_TELL,
    SCORE_VERDICTS,
    judge_score,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from biasbridge.analysis.tables import Tables
    from biasbridge.studies.certificate_scores import StrengthScores

_NOTES = (
    "All numbers are about the score of a single model, because that is what one usually has. sd:"
    " standard deviation of models of one strength. Intervals are 95%, over seeds.",
    "slope: change of the score per unit of strength, in sd. r: correlation of strength and score"
    " over all models. placebo r: the largest r of a number that says nothing about a bias, on the"
    " same models. offset: mean score without a bias minus the unbiased value, in sd. off target:"
    " change by a stereotype of other words, in sd. Both have 90% intervals.",
    "false alarms: how often a bias is claimed, by p or by the 95% interval, in models without a"
    " bias and in random ones. smallest strength: the one that 80% of single scores tell from none."
    " verdict again: share of resampled studies (other seeds) with the same verdict.",
    "The rule of the verdicts is in docs/studies/certificate.md. Every number follows from the"
    " readings in certificate_readings.csv.",
    "Synthetic corpora are small and simple. In real text a bias is planted only near chosen words."
    " So a score that fails here is in doubt, but a score that passes is not proven.",
)
_SHOWN = (
    *("metric", "convention", "material", "subject", "models", "slope", "slope_low", "slope_high"),
    *("r", "placebo_r", "offset", "off_target", "false_alarms", "smallest_strength", "verdict"),
    *("verdict_again", "why"),
)
_SLOPE = 12.0  # sd from no bias to the whole: more than one score needs, as WEAT and likelihoods
_FORECAST_STUDIES = 100
_MORE_SEEDS, _SMALL_SHARE = (8, 20, 40), 0.25  # of undecided studies


@choice
class Certificate(Fileless):
    """Certificate of every metric and convention, from models with a planted bias.

    It has slope and r against the planted strength (column ``planted``; for ``label_bias`` of gaps,
    not scores), the offset at strength 0, the change by a stereotype of other words (column
    ``off_target``), false alarms, the smallest strength that one score tells from none, effects of
    choices (words, templates, layer, pooling, first token, corpus, dimensions), the training steps
    at which the score shows the bias, and a verdict (``studies/certificate_verdicts.py``).

    Prints one row per metric, convention, material (synthetic, or the real text or model in which
    the bias is planted) and subject; writes ``certificate.csv``, its readings
    (``certificate_readings.csv``), curves, choices, training, figures and ``report.html``.
    """

    planted: Annotated[
        str, doc("column of the planted strength; label_bias: certify gaps instead of scores")
    ] = "stereotype"
    resamples: Annotated[Whole, doc("bootstrap resamples of the seeds, for intervals")] = 500

    name: ClassVar[str] = "certificate"
    version: ClassVar[int] = 2
    writes: ClassVar[tuple[str, ...]] = (
        *("certificate.csv", "certificate_readings.csv", "certificate_curves.csv"),
        *("certificate_choices.csv", "certificate_training.csv", "figures", "report.html"),
    )
    chosen_as: ClassVar[tuple[str, ...]] = ("study/certificate",)

    def forecast(self, facts: Sequence[Mapping[str, object]]) -> list[str]:
        """Say how often drawn scores of a faultless metric stay undecided in the planned models."""
        from biasbridge.analysis.tables import Tables
        from biasbridge.studies.certificate_scores import default_setting, read_scores

        points = pd.DataFrame(facts)
        names = dict.fromkeys(("metric", "convention", "query", "part", "subset", "p_method"), "")
        numbers = {"value": 0.0, "low": -1.0, "high": 1.0, "p_value": 0.5, "unbiased": 0.0}
        points = points.assign(point=range(len(points)), status="done")
        rows = points[["point"]].assign(kind="gap", measure="", scale_max=1.0, **names, **numbers)
        try:
            all_scores = read_scores(Tables(points, rows, rows), self.planted)
        except InputError:
            return []
        kinds = [_share_undecided(scores, all_scores) for scores in default_setting(all_scores)]
        return [f"Even a faultless metric would get {CANNOT_TELL!r} in {'; in '.join(kinds)}"]

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw the certificate; return the paths written."""
        from biasbridge.studies.certificate_scores import read_readings, strength_scores
        from biasbridge.studies.certificate_tables import certificate_charts, certificate_tables
        from biasbridge.studies.conclusion import Conclusion, conclude

        try:
            readings = read_readings(tables, self.planted)
        except InputError as refusal:
            console.print(f"no certificate: {refusal}")
            return []
        certified = certificate_tables(strength_scores(readings), self.resamples)
        written = {"certificate": certified.certificate, "certificate_readings": readings}
        written["certificate_curves"] = certified.curves
        if len(certified.choices):
            written["certificate_choices"] = certified.choices
        if len(certified.training):
            written["certificate_training"] = certified.training
        shown = {
            "Verdict on each score": certified.certificate[[*_SHOWN]],
            "Effects of choices other than the bias": certified.choices,
            "Score by training steps": certified.training,
        }
        title = f"Which scores follow a planted {self.planted.replace('_', ' ')}?"
        drawings = certificate_charts(certified, self.planted)
        answer = _summarise(certified.certificate)
        conclusion = Conclusion(title, answer, written, shown, drawings, _NOTES)
        return conclude(conclusion, tables.points, folder, console)


def _share_undecided(scores: StrengthScores, all_scores: Sequence[StrengthScores]) -> str:
    """Say how many of 100 studies of drawn scores are undecided, most often why, and how many seeds
    would suffice.
    """
    from biasbridge.studies.certificate_scores import random_models

    random = random_models(scores, [other for other in all_scores if other.names == scores.names])
    n_seeds, reasons = len(scores.seeds), _undecided(scores, random)
    material, subject = scores.names["material"], scores.names["subject"]
    kind = subject or "models"
    kind += f" ({material})" * (material != SYNTHETIC)
    mostly = f" (most often: {reasons.most_common(1)[0][0]})" if reasons else ""
    share = reasons.total() / _FORECAST_STUDIES
    said = f"{format_number(share)} of studies with {n_seeds} seeds of {kind}{mostly}"
    for more in [n for n in _MORE_SEEDS if n > n_seeds and share > _SMALL_SHARE]:
        share = _undecided(_with_seeds(scores, more), random).total() / _FORECAST_STUDIES
        said += f", with {more} in {format_number(share)}"
        if share <= _SMALL_SHARE:
            break
    return said


def _undecided(scores: StrengthScores, random: StrengthScores | None) -> Counter[str]:
    """Count why drawn studies are undecided."""
    from biasbridge.studies.certificate_scores import measure_properties

    rng = np.random.default_rng(0)
    reasons: Counter[str] = Counter()
    for _ in range(_FORECAST_STUDIES):
        studies = _draw_scores(scores, rng), random and _draw_scores(random, rng)
        claim = judge_score(measure_properties(*studies, _FORECAST_STUDIES))
        if claim.verdict == CANNOT_TELL:
            fault = claim.open_fault
            reasons[f"{fault} not excluded" if fault else "slope not sure"] += 1
    return reasons


def _with_seeds(scores: StrengthScores, n: int) -> StrengthScores:
    """Return scores of as many seeds, those there are in turn."""
    turn = np.arange(n) % len(scores.seeds)
    arrays = ("scores", "p", "excludes_unbiased", "off_target")
    changed: dict[str, Any] = {name: getattr(scores, name)[turn] for name in arrays}
    return replace(scores, seeds=np.arange(float(n)), **changed)


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


def _summarise(certificate: pd.DataFrame) -> str:
    """Say in one sentence how many scores got each verdict."""
    from biasbridge.analysis.naming import with_count

    counts = certificate["verdict"].value_counts()
    verdicts = [f"{counts[name]} {name!r}" for name in SCORE_VERDICTS if name in counts]
    scores = with_count(len(certificate), "score")
    kinds = with_count(certificate["subject"].nunique(), "kind")
    return (
        f"{capitalise(scores)} of {kinds} of model with a planted bias of known"
        f" strength. Verdicts: {', '.join(verdicts)}."
    )


@choice
class Placebo(Metric):
    """Mean vector norm or frequency of the target words, or a constant. Not a metric of an audit: a
    certificate must say that it does not detect a bias.
    """

    statistic: Annotated[
        Literal["norm", "frequency", "constant"], doc("number that is measured instead of a bias")
    ] = "norm"

    about: ClassVar[MetricInfo] = MetricInfo(
        name="placebo",
        title="Placebo",
        formula="mean over w in X and Y of ||w||; of log(1 + rank of w by frequency); or 1",
        sign="none",
        range=(0, float("inf")),
        source="Ours",
        roles={"X": "targets", "Y": "targets"},
        asks=("weat6b",),
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention("frequency", "Ours.", {"statistic": "frequency"}),
        Convention("constant", "Ours.", {"statistic": "constant"}),
    )

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the number; its nominal unbiased value is 0."""
        if self.statistic == "constant":
            return MetricResult(1.0)
        if self.statistic == "frequency":
            index = words.vectors.key_to_index
            ranks = [index[word] for role in "XY" for word in words[role].words]
            return MetricResult(float(np.log1p(ranks).mean()))
        raw = np.concatenate([words[role].raw for role in "XY"])
        return MetricResult(float(np.linalg.norm(raw, axis=1).mean()))
