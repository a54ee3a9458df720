"""Which properties scores have, by search, and what they rest on in given vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from files import choice
from files.choice import Fileless

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from analysis.results import Tables

NOTES = (
    "A yes says that the search found no counterexample in so many dimensions and evaluations; a no"
    " comes with one (score_properties.csv). A score is fair where it is at its unbiased value"
    " whenever no word is biased.",
    "A difference of 0 would leave no word any association; that of random halves (chance) is what"
    " words of one kind have among themselves.",
)

SHOWN = (
    *("metric", "part", "items", "words", "comparable", "trustworthy", "fair"),
    *("nearest", "farthest", "reason"),
)


@choice
class ScoreProperties(Fileless):
    """Tables 1 and 2 and figures 1 to 3 of Schröder et al. (2024), of the probes
    ``score_properties`` (any metrics) and ``attribute_groups`` (any vectors), each where it is.

    Prints both tables, writes them as ``score_properties.csv`` and ``attribute_differences.csv``,
    draws the figures and writes ``report.html``.
    """

    name: ClassVar[str] = "score_properties"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = (
        *("score_properties.csv", "attribute_differences.csv"),
        *("figures", "report.html"),
    )

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw; the paths written."""
        from studies.conclusion import Conclusion, conclude
        from studies.score_properties.figures import charts
        from studies.score_properties.table import difference_table, score_table

        scores = score_table(tables.probes)
        differences = difference_table(tables.points, tables.probes)
        found = {"score_properties": scores, "attribute_differences": differences}
        kept = {name: table for name, table in found.items() if len(table)}
        if not kept:
            remedy = "choose probe=score_properties or probe=attribute_groups"
            console.print(f"no score was examined: {remedy}")
            return []
        shown = {
            "Table 1: properties of scores": scores.reindex(columns=SHOWN)
            if len(scores)
            else scores,
            "Table 2: differences of attribute groups": differences,
        }
        drawn = charts(scores, tables.points, tables.probes)
        title = "Properties of scores"
        conclusion = Conclusion(title, _answer(scores), kept, shown, drawn, NOTES)
        return conclude(conclusion, tables.points, folder, console)


def _answer(scores: pd.DataFrame) -> str:
    if not len(scores) or "comparable" not in scores:
        return "No score was examined; the differences of attribute groups are below."
    yes = scores[["comparable", "trustworthy", "fair"]] == "yes"
    counts = ", ".join(
        f"{yes[name].sum()} of {scores[name].isin(('yes', 'no')).sum()} are {name}" for name in yes
    )
    both = (yes["comparable"] & yes["trustworthy"]).sum()
    return f"Of the scores examined {counts}; {both} are both comparable and trustworthy."
