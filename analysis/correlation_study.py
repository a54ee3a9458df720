"""The default study: scores against gaps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.result_folder import WRITES
from biasbridge.analysis.tables import SETTINGS_JSON
from biasbridge.files import atomic_path, choice

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.tables import Tables

_NO_TASK = "none"  # the fact ``task`` of a point without one


@choice
class Correlation(Declaration):
    """Intrinsic scores against gaps, slice by slice, as in Goldfarb-Tarrant et al. (2021).

    Prints the points, the correlations where there are gaps, and the effects of conditions; writes
    ``correlations.csv``, ``effects.csv`` where something was modified
    (``biasbridge.analysis.effects``); with three points or more, the figures, ``report.html`` and
    ``correlations.tex``. Its fields are those of ``Declaration``; the confirmatory measures are
    printed and drawn in figure 3.
    """

    name: ClassVar[str] = "correlation"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = WRITES
    chosen_as: ClassVar[tuple[str, ...]] = ("study/correlation",)

    def outline(self, facts: Sequence[Mapping[str, object]]) -> list[str]:
        """Return whether the planned models are enough for a verdict, in lines of 80 columns."""
        import numpy as np
        import pandas as pd

        from biasbridge.analysis.condition_effects import MIN_UNITS, units_of
        from biasbridge.analysis.joined import levels, observations_of
        from biasbridge.analysis.naming import with_count
        from biasbridge.analysis.scopes import DOSES, MINIMUM, RUNS

        if all(fact.get("task") == _NO_TASK for fact in facts):
            return ["no task: there are scores and no gaps, so no verdict is possible"]
        points = pd.DataFrame(facts).assign(point=np.arange(len(facts)).astype(str))
        # What is measured is unknown yet: any numbers
        drawn = points.assign(x=np.arange(len(facts)), y=0.0, **levels(points))
        models = observations_of(drawn).models().with_siblings()
        df = models.average_over_clusters().residuals().df
        n_conditions, n_parents = len({*models.condition}), len({*models.parent})
        n_each = f"{with_count(n_conditions, 'condition')} of {with_count(n_parents, 'parent')}"
        needed = f"{MINIMUM[DOSES]} conditions" * (1 < n_conditions < MINIMUM[DOSES])
        if needed or df < MINIMUM[RUNS]:
            needed = needed or f"{MINIMUM[RUNS]} degrees of freedom"
            return [f"{n_each}: no verdict is possible, {needed} are needed"]
        unit, _, name = units_of(models.stratum, models.cluster)
        few = f", one on gaps takes {MIN_UNITS} {name}" * (len({*unit}) < MIN_UNITS)
        return [f"{n_each}: a verdict is possible{few * (n_conditions > 1)}"]

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, correlate and draw; return the paths written."""
        from biasbridge.analysis.concluding import conclude

        with atomic_path(folder / SETTINGS_JSON) as path:
            path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        return conclude(self, tables, folder, console)
