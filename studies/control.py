"""Study of power: would a study find a link between score and gap that is planted in the data?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Ge, doc

from biasbridge.analysis.verdict import FALLS, RISES
from biasbridge.files import choice
from biasbridge.files.choice import Count, Fileless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from biasbridge.analysis.tables import Tables
    from biasbridge.studies.control_studies import StudyRow

_NOTES = (
    "Where transmission is above 0, a link is planted for the words of the link. The control"
    " queries are unrelated to the task.",
    "r_rm is within parents, because embeddings of one seed share the biases of the unplanted"
    " corpus and the training texts of the task.",
    "n_disjoint: number of smaller studies without a common seed. Wilson's intervals use it.",
    "The result shows what such a study can detect in synthetic data, not that the link exists in"
    " real data.",
)


@choice
class Control(Fileless):
    """Verdicts of studies with a planted link, for points of ``source=generated_link`` or
    ``documents=generated_link``.

    There is one study for every transmission, number of posts or documents, and way in which
    embeddings differ (planted stereotypes, or a method). It correlates gaps of the ``confirmatory``
    measures with the scores of each query (``controls``: queries unrelated to the task): r and
    verdict of all embeddings, and how often smaller studies reach each verdict. Smaller studies
    have ``sizes`` seeds, drawn from all: ``draws`` of each size, or with ``disjoint`` only those
    without a common seed. Prints both tables and writes ``control.csv``, ``control_studies.csv``,
    figures and ``report.html``.
    """

    confirmatory: Annotated[
        tuple[str, ...],
        doc("measures whose gaps the planted link opens, with the sign of the score"),
    ] = ("precision",)
    controls: Annotated[tuple[str, ...], doc("queries unrelated to the task")] = ()
    draws: Annotated[Count, Ge(20), doc("smaller studies of each size")] = 100
    sizes: Annotated[tuple[Count, ...], doc("seeds of a smaller study, at most half of all")] = (
        2,
        3,
        4,
        6,
        10,
    )
    disjoint: Annotated[bool, doc("true: use only studies without a common seed, not draws")] = (
        False
    )

    name: ClassVar[str] = "control"
    version: ClassVar[int] = 2
    writes: ClassVar[tuple[str, ...]] = (
        "control.csv",
        "control_studies.csv",
        "figures",
        "report.html",
    )
    chosen_as: ClassVar[tuple[str, ...]] = ("study/control",)
    configuration: ClassVar[Mapping[str, object]] = {
        "controls": ["control_things", "control_people"]
    }

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw the study; return the paths written."""
        import pandas as pd

        from biasbridge.analysis.joined import has_gaps
        from biasbridge.studies.conclusion import Conclusion, conclude
        from biasbridge.studies.control_studies import (
            control_charts,
            designs,
            smaller_studies,
            whole_study,
        )

        if not has_gaps(tables) or "transmission" not in tables.points:
            remedy = "choose source=generated_link or documents=generated_link"
            console.print(f"no control: the points have no transmission; {remedy}")
            return []
        rows, smaller_rows = [], []
        for design in designs(tables, self.confirmatory, self.controls):
            rows += whole_study(design)
            smaller_rows += smaller_studies(design, self.draws, self.sizes, disjoint=self.disjoint)
        whole, smaller = pd.DataFrame(rows), pd.DataFrame(smaller_rows)
        shown = {
            "Whole study: r_rm and verdict": whole,
            "Smaller studies: share with each verdict": smaller,
        }
        conclusion = Conclusion(
            "Would a study find a link between score and gap?",
            _control_answer(rows),
            {"control": whole, "control_studies": smaller},
            shown,
            control_charts(whole, smaller),
            _NOTES,
        )
        return conclude(conclusion, tables.points, folder, console)


def _control_answer(rows: Sequence[StudyRow]) -> str:
    """Say in one sentence how often the whole study is right and wrong."""
    with_link = [str(row["verdict"]) for row in rows if row["is_linked"]]
    without_link = [str(row["verdict"]) for row in rows if not row["is_linked"]]
    false_claims = without_link.count(RISES) + without_link.count(FALLS)
    return (
        f"The whole study has {len(with_link)} slices with a planted link. It finds that the gap"
        f" rises in {with_link.count(RISES)} of them and falls in {with_link.count(FALLS)}. In"
        f" {len(without_link)} slices without a link it claims {false_claims} links."
    )
