"""Would a study see a link between score and gap? Studies of posts in which one is planted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Ge

from files import InputError, atomic_path, choice
from files.choice import Count, Fileless

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.results import Tables


@choice
class Control(Fileless):
    """The verdicts of studies in which the truth is known, for points of ``source=generated_link``.

    Of every transmission, number of posts, and way in which embeddings came to differ (planted
    stereotypes, or a method), the gaps in the ``primary`` measures against the scores of each
    query: r and verdict of all embeddings together, and of ``draws`` smaller studies, each of some
    seeds drawn from them: how often each verdict is reached. The queries ``controls`` have nothing
    to do with the task. Prints both tables and writes ``control.csv`` and ``control_studies.csv``
    and figures of them.
    """

    primary: tuple[str, ...] = ("precision",)
    controls: tuple[str, ...] = ()
    draws: Annotated[Count, Ge(20)] = 100

    name: ClassVar[str] = "control"
    version: ClassVar[int] = 1

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw; the paths written."""
        import pandas as pd

        from analysis.joined import has_gaps
        from analysis.studies.control_figures import draw_controls, print_controls
        from analysis.studies.control_studies import designs, smaller_studies, whole_study

        if not has_gaps(tables) or "transmission" not in tables.points:
            remedy = "choose source=generated_link"
            console.print(f"no control: the points tell no transmission; {remedy}", highlight=False)
            return []
        rows, drawn = [], []
        for design in designs(tables, self.primary, self.controls):
            rows += whole_study(design)
            drawn += smaller_studies(design, self.draws)
        written = []
        for name, found in (("control", rows), ("control_studies", drawn)):
            path = folder / f"{name}.csv"
            with atomic_path(path) as work:
                pd.DataFrame(found).to_csv(work, index=False)
            written.append(path)
        print_controls(rows, drawn, console)
        try:
            return written + draw_controls(rows, drawn, folder / "figures")
        except InputError as refusal:
            console.print(f"not drawn: {refusal}", highlight=False, markup=False)
            return written
