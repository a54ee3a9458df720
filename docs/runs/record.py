"""Keep a sweep's tables: ``python docs/runs/record.py results/answer_en docs/runs/answer_en``.

Only scores, gaps and their provenance: no posts, vectors or paths. Names of measures after the
folders keep only those, so that large tables stay small. Without arguments the correlations of all
recorded runs are computed again. Exploratory slices are not kept.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from recorded_runs import HERE, recorded_slices

from biasbridge.analysis.concluding import gap_table
from biasbridge.analysis.slices import correlation_table, scope_table
from biasbridge.analysis.tables import SETTINGS_JSON
from biasbridge.files.tables import write_csv

LEFT_OUT = ("error", "refused", "intrinsic_key", "extrinsic_key")  # an error may name a file


def keep_tables(results: Path, out: Path, measures: Sequence[str]) -> None:
    """Write the three tables and the declaration."""
    out.mkdir(parents=True, exist_ok=True)
    for name in ("points", "intrinsic", "extrinsic"):
        table = pd.read_parquet(results / f"{name}.parquet")
        table = table.drop(columns=[name for name in LEFT_OUT if name in table])
        if measures and name == "extrinsic":
            table = table[table["measure"].isin(measures)]
        if "resampled" in table:
            table["resampled"] = [np.float32(np.round(values, 4)) for values in table["resampled"]]
        table.to_parquet(out / f"{name}.parquet", compression="zstd")
    shutil.copy(results / SETTINGS_JSON, out / SETTINGS_JSON)


def write_correlations(run: Path) -> None:
    """Write ``correlations.csv``, ``gaps.csv`` and ``scopes.csv`` of the declared tests."""
    results = [result for result, _ in recorded_slices(str(run.resolve()))]
    write_csv(correlation_table(results), run / "correlations.csv")
    write_csv(gap_table(results), run / "gaps.csv")
    write_csv(scope_table(results), run / "scopes.csv")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        keep_tables(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
    runs = sys.argv[2:3] or sorted(path.parent for path in HERE.glob("*/points.parquet"))
    for run in runs:
        write_correlations(Path(run))
