"""Would a study see a link between score and gap? Studies of data in which one is planted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Ge

from analysis.verdict import NEGATIVE, POSITIVE
from files import choice
from files.choice import Count, Fileless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from analysis.results import Tables
    from studies.control.studies import Row

NOTES = (
    "A link is planted where transmission is above 0, for queries of the link; the control queries"
    " have nothing to do with the task.",
    "r_rm is within parents: embeddings of one seed share the world's own leans and what the task"
    " learns from.",
    "apart: how many of the smaller studies share no seed; intervals are Wilson's for so many.",
    "It says what such a study can see in synthetic data, not that there is a link in the world.",
)


@choice
class Control(Fileless):
    """The verdicts of studies in which the truth is known, for points of ``source=generated_link``
    or ``documents=generated_link``.

    Of every transmission, number of posts or documents, and way in which embeddings came to differ
    (planted stereotypes, or a method), the gaps in the ``confirmatory`` measures against the scores
    of each query: r and verdict of all embeddings together, and of ``draws`` smaller studies, each
    of some seeds drawn from them (``sizes``; where they are kept ``apart``, no two share a seed):
    how often each verdict is reached. The queries ``controls`` have nothing to do with the task.
    Prints both tables and writes ``control.csv``, ``control_studies.csv``, figures of them and
    ``report.html``.
    """

    confirmatory: tuple[str, ...] = ("precision",)
    controls: tuple[str, ...] = ()
    draws: Annotated[Count, Ge(20)] = 100
    sizes: tuple[Count, ...] = (2, 3, 4, 6, 10)
    apart: bool = False

    name: ClassVar[str] = "control"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = (
        "control.csv",
        "control_studies.csv",
        "figures",
        "report.html",
    )

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw; the paths written."""
        import pandas as pd

        from analysis.joined import has_gaps
        from studies.conclusion import Conclusion, conclude
        from studies.control.figures import charts
        from studies.control.studies import designs, smaller_studies, whole_study

        if not has_gaps(tables) or "transmission" not in tables.points:
            remedy = "choose source=generated_link or documents=generated_link"
            console.print(f"no control: the points have no transmission; {remedy}")
            return []
        rows, drawn = [], []
        for design in designs(tables, self.confirmatory, self.controls):
            rows += whole_study(design)
            drawn += smaller_studies(design, self.draws, self.sizes, apart=self.apart)
        whole, smaller = pd.DataFrame(rows), pd.DataFrame(drawn)
        shown = {
            "The whole study: r_rm and verdict": whole,
            "Smaller studies drawn from it: how often each verdict is reached": smaller,
        }
        conclusion = Conclusion(
            "Would a study see a link between score and gap?",
            answer(rows),
            {"control": whole, "control_studies": smaller},
            shown,
            charts(whole, smaller),
            NOTES,
        )
        return conclude(conclusion, tables.points, folder, console)


def answer(rows: Sequence[Row]) -> str:
    """One sentence: how often the whole study is right and wrong about links and their absence."""
    linked = [str(row["verdict"]) for row in rows if row["linked"]]
    none = [str(row["verdict"]) for row in rows if not row["linked"]]
    return (
        f"Of {len(linked)} slices with a planted link the whole study calls"
        f" {linked.count(POSITIVE)} positive and {linked.count(NEGATIVE)} negative; of {len(none)}"
        f" without one it claims a link in {none.count(POSITIVE) + none.count(NEGATIVE)}."
    )
