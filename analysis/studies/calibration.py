"""Which metric (or gap) finds a planted bias, how small a one, and how often one that is not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from files import InputError, atomic_path, choice
from files.choice import Fileless, Whole

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.results import Tables


@choice
class Calibration(Fileless):
    """Readings of every metric against what was planted in the generated world, seed by seed: its
    curve, order, sensitivity, false alarms, and how far it depends on the size of the corpus and
    the length of the vectors. Where ``planted`` is ``label_bias`` the same of gaps.

    Prints a table that ranks the instruments in each setting and writes it as ``calibration.csv``,
    with ``calibration_curves.csv`` and ``calibration_dependence.csv``, and figures of the three.
    ``analysis/studies/calibration_measures.py`` holds the rules; intervals are over seeds, of which
    ``resamples`` are drawn where no formula gives one.
    """

    planted: str = "stereotype"
    resamples: Whole = 500

    name: ClassVar[str] = "calibration"
    version: ClassVar[int] = 1

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw; the paths written."""
        from analysis.studies.calibration_figures import draw_calibration, print_ranking
        from analysis.studies.calibration_readings import read_instruments
        from analysis.studies.calibration_table import curves, dependence, ranking

        try:
            every = read_instruments(tables, self.planted)
        except InputError as refusal:
            console.print(f"not calibrated: {refusal}", highlight=False, markup=False)
            return []
        ranked = ranking(every, self.resamples)
        found = {
            "calibration": ranked,
            "calibration_curves": curves(every),
            "calibration_dependence": dependence(every),
        }
        written = []
        for name, table in found.items():
            written.append(folder / f"{name}.csv")
            with atomic_path(written[-1]) as path:
                table.to_csv(path, index=False)
        print_ranking(ranked, self.planted, console)
        return written + draw_calibration(found, self.planted, folder / "figures")
