"""Keep a sweep's tables: ``python docs/runs/record.py results/answer_en docs/runs/answer_en``.

Only scores, gaps and their provenance: no posts, vectors or paths. Names of measures after the
folders keep only those, so that large tables stay small.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.declaration import SETTINGS
from biasbridge.cli.correlate import main as correlate

LEFT_OUT = ("error", "refused", "intrinsic_key", "extrinsic_key")  # an error may name a file


def main(results: Path, out: Path, measures: Sequence[str]) -> None:
    """Write the three tables, the declaration and the correlations."""
    out.mkdir(parents=True, exist_ok=True)
    for name in ("points", "intrinsic", "extrinsic"):
        table = pd.read_parquet(results / f"{name}.parquet")
        table = table.drop(columns=[name for name in LEFT_OUT if name in table])
        if measures and name == "extrinsic":
            table = table[table["measure"].isin(measures)]
        if "resampled" in table:
            table["resampled"] = [np.float32(np.round(values, 4)) for values in table["resampled"]]
        table.to_parquet(out / f"{name}.parquet", compression="zstd")
    shutil.copy(results / SETTINGS, out / SETTINGS)
    correlate([str(out), "--out", str(out / "correlations.csv")])
    (out / "correlations_scopes.csv").replace(out / "scopes.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
