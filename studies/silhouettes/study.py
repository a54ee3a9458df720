"""Study of silhouettes: robustness of word lists and accuracy of metrics."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import doc

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.studies.silhouettes.scores import Definition

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from biasbridge.analysis.results import Tables

NOTES = (
    "Robustness: 1 minus the area between the lowest and the highest score over random subsets of"
    " the lists, as a share of the whole scale; 1: the choice of words makes no difference. Metrics"
    " that use little of their scale have a high robustness.",
    "Accuracy: .5 plus half the area between the mean distances from no bias on the biased and the"
    " unbiased model, as a share of the largest distance; .5: the metric finds no difference.",
    "Accuracy assumes that the models differ only in bias; compare metrics on the same models and"
    " lists.",
    "Intervals are 95%, over pairs of models trained anew (seeds).",
)


@choice
class SilhouetteAnalysis(Fileless):
    """Bias Silhouette Analysis (Spliethöver & Wachsmuth, 2021), for ``probe=silhouettes``; accuracy
    needs the two models of ``subject=reference``, and is as ``printed`` or as ``released``
    (``scores.accuracy``). ``limits``: ends of the scale of metrics without them.

    Prints table 1 (robustness) and 2 (accuracy) and the pilot study over the number of runs; writes
    ``silhouettes.csv``, ``silhouettes_curves.csv``, ``silhouettes_runs.csv``, figures and
    ``report.html``.
    """

    definition: Annotated[
        Definition,
        doc("released: as the paper's code, which divides by the scale, with 0 as unbiased"),
    ] = "printed"
    limits: Annotated[
        tuple[tuple[str, float, float], ...],
        doc("lowest and highest value of metrics that declare none"),
    ] = ()

    name: ClassVar[str] = "silhouettes"
    version: ClassVar[int] = 2
    writes: ClassVar[tuple[str, ...]] = (
        *("silhouettes.csv", "silhouettes_means.csv"),
        *("silhouettes_curves.csv", "silhouettes_runs.csv"),
        *("figures", "report.html"),
    )
    chosen_as: ClassVar[tuple[str, ...]] = ("study/silhouettes",)
    configuration: ClassVar[Mapping[str, object]] = {"limits": [["rnsb", 0, 1], ["rnd", -2, 2]]}

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw the study; return the paths written."""
        from biasbridge.studies.conclusion import Conclusion, conclude
        from biasbridge.studies.silhouettes.figures import charts
        from biasbridge.studies.silhouettes.pairs import read_model_pairs
        from biasbridge.studies.silhouettes.table import curves, fewer_runs, means, scores

        try:
            pairs = read_model_pairs(tables, {metric: ends for metric, *ends in self.limits})
        except InputError as refusal:
            console.print(f"no silhouettes: {refusal}")
            return []
        scored = scores(pairs, self.definition)
        mean_scores, pilot = means(scored), fewer_runs(pairs, self.definition)
        written = {
            "silhouettes": scored,
            "silhouettes_means": mean_scores,
            "silhouettes_curves": curves(pairs),
            "silhouettes_runs": pilot,
        }
        title = "How robust are the word lists, and how accurate are the metrics?"
        summary = mean_scores.dropna(axis="columns", how="all")
        shown = {"Tables 1 and 2: robustness and accuracy": summary, "Fewer runs": pilot}
        drawings = charts(pairs, scored, pilot)
        conclusion = Conclusion(title, answer(mean_scores), written, shown, drawings, NOTES)
        return conclude(conclusion, tables.points, folder, console)


def answer(mean_scores: pd.DataFrame) -> str:
    """Name in one sentence the most and the least accurate metric and the least robust list."""
    scored = mean_scores.dropna(subset=["accuracy"])
    if not len(scored):
        return _single_model_answer(mean_scores.dropna(subset=["robustness_biased"]))
    names = _metric_labels(scored)
    accuracy = scored["accuracy"].to_numpy()
    best, worst = accuracy.argmax(), accuracy.argmin()
    robust = scored[["robustness_biased", "robustness_unbiased"]].min(axis=1).to_numpy()
    least_robust = robust.argmin()
    return (
        f"Most accurate is {names.iloc[best]} with {accuracy[best]:.2f}, least"
        f" {names.iloc[worst]} with {accuracy[worst]:.2f}; the least robust lists are those of"
        f" {names.iloc[least_robust]}, with {robust[least_robust]:.2f}."
    )


def _single_model_answer(scored: pd.DataFrame) -> str:
    """Name the most and the least robust lists."""
    if not len(scored):
        return "No metric has a score here; the table gives the reasons."
    names, robust = _metric_labels(scored), scored["robustness_biased"].to_numpy()
    best, worst = robust.argmax(), robust.argmin()
    return (
        f"The most robust lists are those of {names.iloc[best]}, with {robust[best]:.2f}, the least"
        f" {names.iloc[worst]}, with {robust[worst]:.2f}; accuracy needs a second model,"
        " subject=reference."
    )


def _metric_labels(scored: pd.DataFrame) -> pd.Series[str]:
    return scored["metric"] + " (" + scored["query"] + ", " + scored["list_kind"] + ")"
