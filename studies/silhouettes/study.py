"""How robust are word lists, and how accurate is a metric with them? Silhouettes of models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from files import InputError, choice
from files.choice import Fileless
from studies.silhouettes.scores import Definition

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from analysis.results import Tables

NOTES = (
    "Robustness: 1 minus the area between the lowest and the highest score over random subsets of"
    " the lists, as a share of the whole scale; 1: which words are found makes no difference. It is"
    " the higher the less of its scale a metric uses.",
    "Accuracy: .5 plus half the area between the mean distances from no bias on the biased and the"
    " unbiased model, as a share of the largest distance; .5: the metric finds no difference.",
    "It takes for granted that the models differ in bias and in nothing else, and compares metrics"
    " only on the same models and lists.",
    "Intervals are 95%, over pairs of models trained anew (seeds).",
)


@choice
class SilhouetteAnalysis(Fileless):
    """Bias Silhouette Analysis (Spliethöver & Wachsmuth, 2021), for ``probe=silhouettes``; accuracy
    needs the two models of ``subject=reference``.

    Prints table 1 (robustness) and 2 (accuracy) and the pilot study over the number of runs; writes
    ``silhouettes.csv``, ``silhouettes_curves.csv``, ``silhouettes_runs.csv``, figures and
    ``report.html``. ``definition``: see ``scores.accuracy``; ``limits``: metrics
    whose scale has no ends of its own, each with the lowest and the highest value.
    """

    definition: Definition = "printed"
    limits: tuple[tuple[str, float, float], ...] = ()

    name: ClassVar[str] = "silhouettes"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = (
        *("silhouettes.csv", "silhouettes_means.csv"),
        *("silhouettes_curves.csv", "silhouettes_runs.csv"),
        *("figures", "report.html"),
    )

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw; the paths written."""
        from studies.conclusion import Conclusion, conclude
        from studies.silhouettes.figures import charts
        from studies.silhouettes.pairs import read_pairs
        from studies.silhouettes.table import curves, fewer_runs, means, scores

        try:
            pairs = read_pairs(tables, {metric: ends for metric, *ends in self.limits})
        except InputError as refusal:
            console.print(f"no silhouettes: {refusal}")
            return []
        scored = scores(pairs, self.definition)
        mean, pilot = means(scored), fewer_runs(pairs, self.definition)
        found = {
            "silhouettes": scored,
            "silhouettes_means": mean,
            "silhouettes_curves": curves(pairs),
            "silhouettes_runs": pilot,
        }
        title = "How robust are the word lists, and how accurate are the metrics?"
        there = mean.dropna(axis="columns", how="all")
        shown = {"Tables 1 and 2: robustness and accuracy": there, "Fewer runs": pilot}
        drawn = charts(pairs, scored, pilot)
        conclusion = Conclusion(title, answer(mean), found, shown, drawn, NOTES)
        return conclude(conclusion, tables.points, folder, console)


def answer(mean: pd.DataFrame) -> str:
    """One sentence: the most and the least accurate and robust instruments."""
    known = mean.dropna(subset=["accuracy"])
    if not len(known):
        return _of_one_model(mean.dropna(subset=["robustness_biased"]))
    named = _instruments(known)
    best, worst = known["accuracy"].to_numpy().argmax(), known["accuracy"].to_numpy().argmin()
    at = known["accuracy"].to_numpy()
    robust = known[["robustness_biased", "robustness_unbiased"]].min(axis=1).to_numpy()
    least = robust.argmin()
    return (
        f"Most accurate is {named.iloc[best]} with {at[best]:.2f}, least {named.iloc[worst]} with"
        f" {at[worst]:.2f}; the least robust lists are those of {named.iloc[least]}, with"
        f" {robust[least]:.2f}."
    )


def _of_one_model(known: pd.DataFrame) -> str:
    """The most and the least robust lists."""
    if not len(known):
        return "No metric has a score here; the table says why."
    named, at = _instruments(known), known["robustness_biased"].to_numpy()
    best, least = at.argmax(), at.argmin()
    return (
        f"The most robust lists are those of {named.iloc[best]}, with {at[best]:.2f}, the least"
        f" {named.iloc[least]}, with {at[least]:.2f}; accuracy needs a second model,"
        " subject=reference."
    )


def _instruments(known: pd.DataFrame) -> pd.Series[str]:
    return known["metric"] + " (" + known["query"] + ", " + known["varied"] + ")"
