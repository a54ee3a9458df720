"""What a bias metric's score is worth, from models in which a bias of known strength is planted."""

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
    "All is about a single reading, for that is what one has of one's own model.",
    "slope: how far the score moves per unit of strength, in standard deviations of models of one"
    " strength; r: of strength and score over all models; false alarms: the share of models"
    " without a bias of which one is claimed, by p or by the 95% interval; smallest strength: told"
    " from none in 80% of readings; offset: the mean score without a bias minus the value called"
    " unbiased, in standard deviations; choice: what moves a score most that is no bias, as a share"
    " of the full effect; learned at: training steps at which half of the score is there.",
    "The rule of the verdicts: does not, where the slope's interval reaches 0 or it is below .2;"
    " false alarms, where they are above 5% beyond chance; reads the truth, where one reading tells"
    " half the strength from none; reads part of it otherwise. Intervals are 95%, over seeds.",
    "Synthetic corpora are small and plain: a score that fails here is in doubt, one that passes is"
    " not proven.",
)


@choice
class Certificate(Fileless):
    """What the score of every metric and convention is worth, from readings of models in which a
    bias of known strength is ``planted``: slope and r against the strength, false alarms where it
    is 0 and on random vectors or weights, the smallest strength that one reading tells from none,
    how far choices move it (words, templates, layer, pooling, first token, corpus, dimensions),
    when in training it sees the bias, and a verdict. Where ``planted`` is ``label_bias`` the same
    of gaps.

    Prints a line for each metric, convention and subject; writes ``certificate.csv``,
    ``certificate_curves.csv``, ``certificate_choices.csv``, ``certificate_training.csv``, figures
    and ``report.html``. ``studies/certificate/verdict.py`` holds the rule; ``resamples`` of the
    seeds are drawn where no formula gives an interval.
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
        """Print, write and draw; the paths written."""
        from studies.certificate.figures import charts
        from studies.certificate.readings import read
        from studies.certificate.table import certify
        from studies.conclusion import Conclusion, conclude

        try:
            every = read(tables, self.planted)
        except InputError as refusal:
            console.print(f"no certificate: {refusal}")
            return []
        found = certify(every, self.resamples)
        written = {"certificate": found.certificate, "certificate_curves": found.curves}
        if len(found.choices):
            written["certificate_choices"] = found.choices
        if len(found.training):
            written["certificate_training"] = found.training
        shown = {
            "What each score is worth": found.certificate[[*SHOWN]],
            "What moves a score and is no bias": found.choices,
            "When in training a score sees the bias": found.training,
        }
        title = f"Which scores follow a planted {self.planted.replace('_', ' ')}?"
        drawn = charts(found, self.planted)
        answer = summarise(found.certificate)
        conclusion = Conclusion(title, answer, written, shown, drawn, NOTES)
        return conclude(conclusion, tables.points, folder, console)


SHOWN = (
    *("metric", "convention", "subject", "models", "slope", "slope_low", "slope_high", "r"),
    *("false_alarms", "smallest_strength", "verdict", "why"),
)


def summarise(certificate: pd.DataFrame) -> str:
    """One sentence: how many scores got which verdict."""
    from analysis.naming import counted
    from studies.certificate.verdict import VERDICTS

    counts = certificate["verdict"].value_counts()
    said = [f"{counts[name]} {name!r}" for name in VERDICTS if name in counts]
    scores = counted(len(certificate), "score")
    kinds = counted(certificate["subject"].nunique(), "kind")
    return (
        f"Verdicts on {scores} of {kinds} of model in which a bias of known strength is planted:"
        f" {', '.join(said)}."
    )
