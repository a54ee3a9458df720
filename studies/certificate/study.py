"""Study of bias metrics on models in which a bias of known strength is planted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from files import InputError, choice
from files.choice import Fileless, Whole

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from analysis.results import Tables

NOTES = (
    "All numbers are about the score of a single model, because that is what one usually has.",
    "slope: change of the score per unit of strength, in standard deviations of models of one"
    " strength; r: correlation of strength and score over all models; false alarms: share of models"
    " without a bias of which one is claimed, by p or by the 95% interval; smallest strength: told"
    " from none by 80% of single scores; offset: mean score without a bias minus the unbiased"
    " value, in standard deviations; choice: what moves a score most without being a bias, as a"
    " share of the full effect; learned at: training steps at which the score is half learned.",
    "Rule of the verdicts, the first that applies: does not, if the slope's interval reaches 0 or"
    " the slope is below .2; false alarms, if they are above 5% beyond chance; reads the truth, if"
    " one score tells half the strength from none; reads part of it otherwise. Intervals are 95%,"
    " over seeds.",
    "Synthetic corpora are small and simple: a score that fails here is in doubt, a score that"
    " passes is not proven.",
)


@choice
class Certificate(Fileless):
    """Certificate of every metric and convention, from models with a planted bias.

    It has slope and r against the planted strength (column ``planted``; for ``label_bias`` of gaps,
    not scores), false alarms at strength 0 and on random vectors or weights, the smallest strength
    that one score tells from none, effects of choices (words, templates, layer, pooling, first
    token, corpus, dimensions), the training steps at which the score shows the bias, and a verdict
    (the rule is in ``studies/certificate/verdict.py``). ``resamples`` of the seeds are for
    intervals without a formula.

    Prints one row per metric, convention and subject; writes ``certificate.csv``,
    ``certificate_curves.csv``, ``certificate_choices.csv``, ``certificate_training.csv``, figures
    and ``report.html``.
    """

    planted: str = "stereotype"
    resamples: Whole = 500

    name: ClassVar[str] = "certificate"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = (
        *("certificate.csv", "certificate_curves.csv", "certificate_choices.csv"),
        *("certificate_training.csv", "figures", "report.html"),
    )

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw the certificate; return the paths written."""
        from studies.certificate.figures import charts
        from studies.certificate.strength_scores import read_scores
        from studies.certificate.table import certify
        from studies.conclusion import Conclusion, conclude

        try:
            all_scores = read_scores(tables, self.planted)
        except InputError as refusal:
            console.print(f"no certificate: {refusal}")
            return []
        certified = certify(all_scores, self.resamples)
        written = {"certificate": certified.certificate, "certificate_curves": certified.curves}
        if len(certified.choices):
            written["certificate_choices"] = certified.choices
        if len(certified.training):
            written["certificate_training"] = certified.training
        shown = {
            "Verdict on each score": certified.certificate[[*SHOWN]],
            "Effects of choices that are no bias": certified.choices,
            "Score by training steps": certified.training,
        }
        title = f"Which scores follow a planted {self.planted.replace('_', ' ')}?"
        drawings = charts(certified, self.planted)
        answer = summarise(certified.certificate)
        conclusion = Conclusion(title, answer, written, shown, drawings, NOTES)
        return conclude(conclusion, tables.points, folder, console)


SHOWN = (
    *("metric", "convention", "subject", "models", "slope", "slope_low", "slope_high", "r"),
    *("false_alarms", "smallest_strength", "verdict", "why"),
)


def summarise(certificate: pd.DataFrame) -> str:
    """Say in one sentence how many scores got each verdict."""
    from analysis.naming import with_count
    from studies.certificate.verdict import VERDICTS

    counts = certificate["verdict"].value_counts()
    verdicts = [f"{counts[name]} {name!r}" for name in VERDICTS if name in counts]
    scores = with_count(len(certificate), "score")
    kinds = with_count(certificate["subject"].nunique(), "kind")
    return (
        f"Verdicts on {scores} of {kinds} of model with a planted bias of known strength:"
        f" {', '.join(verdicts)}."
    )
