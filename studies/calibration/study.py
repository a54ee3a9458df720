"""Which metric (or gap) finds a planted bias, how small a one, and how often one that is not."""

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
    "All rules are about a single reading, for that is what one has of one's own vectors.",
    "detectable: the smallest planted bias that 80% of readings distinguish from none; steps: the"
    " share of steps from level to level in the right direction; offset: the mean reading where"
    " nothing is planted minus the value called unbiased, in standard deviations.",
    "trust: yes where a bias is detectable, 90% of the steps are in order, and false alarms are not"
    " above 5% beyond chance. Intervals are 95%, over seeds.",
    "Corpora of the generated world are small and plain; a ranking on them is none of the world.",
)


@choice
class Calibration(Fileless):
    """Readings of every metric against what was planted in the generated world, seed by seed: its
    curve, order, sensitivity, false alarms, and how far it depends on the size of the corpus and
    the length of the vectors. Where ``planted`` is ``label_bias`` the same of gaps.

    Prints a table that ranks the instruments in each setting and writes it as ``calibration.csv``,
    with ``calibration_curves.csv`` and ``calibration_dependence.csv``, figures of the three and
    ``report.html``.
    ``studies/calibration/measures.py`` holds the rules; intervals are over seeds, of which
    ``resamples`` are drawn where no formula gives one.
    """

    planted: str = "stereotype"
    resamples: Whole = 500

    name: ClassVar[str] = "calibration"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = (
        *("calibration.csv", "calibration_curves.csv", "calibration_dependence.csv"),
        *("figures", "report.html"),
    )

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw; the paths written."""
        from studies.calibration.figures import charts
        from studies.calibration.readings import read_instruments
        from studies.calibration.table import curves, dependence, ranking
        from studies.conclusion import Conclusion, conclude

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
        shown = {
            "The instruments, from the most to the least trustworthy": ranked,
            "How readings depend on size alone": found["calibration_dependence"],
        }
        title = f"Which instrument finds a planted {self.planted.replace('_', ' ')}?"
        drawn = charts(found, self.planted)
        conclusion = Conclusion(title, trusted(ranked), found, shown, drawn, NOTES)
        return conclude(conclusion, tables.points, folder, console)


def trusted(ranked: pd.DataFrame) -> str:
    """One sentence: which instruments are trusted in how many of the settings."""
    from studies.calibration.readings import SETTINGS

    settings = ranked.groupby([name for name in SETTINGS if name in ranked], sort=False).ngroups
    counts = ranked.loc[ranked["trust"] == "yes", "instrument"].value_counts(sort=False)
    ordered = sorted(counts.items(), key=lambda each: -each[1])
    named = ", ".join(f"{name} in {count}" for name, count in ordered)
    every = ranked["instrument"].nunique()
    return (
        f"Of {every} instruments in {settings} settings of synthetic data, these are trusted:"
        f" {named or 'none in any'}."
    )
