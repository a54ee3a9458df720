"""Study of the properties of scores, by search, and of the vectors that they depend on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from biasbridge.files import choice
from biasbridge.files.choice import Fileless

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from biasbridge.analysis.results import Tables

NOTES = (
    "yes: the search found no counterexample in these dimensions and evaluations; no: there is a"
    " counterexample (score_properties.csv). A score is fair if it is at its unbiased value"
    " whenever no word is biased.",
    "With a difference of 0 no word would have an association; the difference of random halves"
    " (chance) is that of words of one kind.",
)

SHOWN = (
    *("metric", "part", "items", "words", "comparable", "trustworthy", "fair"),
    *("nearest", "farthest", "reason"),
)


@choice
class ScoreProperties(Fileless):
    """Tables 1 and 2 and figures 1 to 3 of Schröder et al. (2024), from the probes
    ``score_properties`` (any metrics) and ``attribute_groups`` (any vectors). Prints both tables
    and writes ``score_properties.csv``, ``attribute_differences.csv``, figures and ``report.html``.
    """

    name: ClassVar[str] = "score_properties"
    version: ClassVar[int] = 2
    writes: ClassVar[tuple[str, ...]] = (
        *("score_properties.csv", "attribute_differences.csv"),
        *("figures", "report.html"),
    )
    chosen_as: ClassVar[tuple[str, ...]] = ("study/score_properties",)

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw the study; return the paths written."""
        from biasbridge.studies.conclusion import Conclusion, conclude
        from biasbridge.studies.score_properties.figures import charts
        from biasbridge.studies.score_properties.table import difference_table, score_table

        scores = score_table(tables.probes)
        differences = difference_table(tables.points, tables.probes)
        all_tables = {"score_properties": scores, "attribute_differences": differences}
        written = {name: table for name, table in all_tables.items() if len(table)}
        if not written:
            remedy = "choose probe=score_properties or probe=attribute_groups"
            console.print(f"no score was examined: {remedy}")
            return []
        shown = {
            "Table 1: properties of scores": scores.reindex(columns=SHOWN)
            if len(scores)
            else scores,
            "Table 2: differences of attribute groups": differences,
        }
        drawings = charts(scores, tables.points, tables.probes)
        title = "Properties of scores"
        conclusion = Conclusion(title, _answer(scores), written, shown, drawings, NOTES)
        return conclude(conclusion, tables.points, folder, console)


def _answer(scores: pd.DataFrame) -> str:
    if not len(scores) or "comparable" not in scores:
        return "No score was examined; the differences of attribute groups are below."
    is_yes = scores[["comparable", "trustworthy", "fair"]] == "yes"
    counts = ", ".join(
        f"{is_yes[name].sum()} of {scores[name].isin(('yes', 'no')).sum()} are {name}"
        for name in is_yes
    )
    n_comparable_and_trustworthy = (is_yes["comparable"] & is_yes["trustworthy"]).sum()
    return (
        f"Of the scores examined {counts}; {n_comparable_and_trustworthy} are both comparable and"
        " trustworthy."
    )
