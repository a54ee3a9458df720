"""Claims of small studies where nothing is planted, drawn by seed from large runs:
python -m tests.analysis.seed_studies docs/figures results/A results/B:1
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.correlate import correlate_slices
from analysis.declaration import Declaration
from analysis.joined import join_points
from analysis.results import read_tables
from analysis.verdict import NEGATIVE, NEGLIGIBLE, POSITIVE
from files import atomic_path
from stats.intervals import proportion_estimate

if TYPE_CHECKING:
    from analysis.slice_results import SliceResult

SEEDS = 5  # of a study
STUDIES = 40
CLAIMS = (POSITIVE, NEGATIVE)


def studies_of(table: pd.DataFrame, size: int) -> list[pd.DataFrame]:
    """Return studies of ``size`` seeds: without a common seed, and further ones at random."""
    seeds = np.array(sorted(table["seed"].unique()))
    rng = np.random.default_rng(0)
    samples: list[np.ndarray] = []
    while len(samples) < STUDIES:
        order = rng.permutation(seeds)
        samples += [order[i : i + size] for i in range(0, len(seeds) - size + 1, size)]
    return [table[table["seed"].isin(sample)] for sample in samples[:STUDIES]]


def confirmatory(table: pd.DataFrame, declared: Declaration) -> list[SliceResult]:
    """Return the declared slices of a study, with verdicts."""
    return [result for result in correlate_slices(table, declared) if result.confirmatory]


def rows_of_run(path: str) -> Iterator[dict[str, object]]:
    """Yield a row per classifier and slice, and one for any slice of a study.

    ``path``: a results folder, after ``:`` the seeds of a study. Where a link was planted at some
    transmissions, those without one are used.
    """
    folder, _, size = path.partition(":")
    table = join_points(read_tables(folder))
    if "transmission" in table:
        table = table[table["transmission"].astype(float).eq(0)]
    declared = Declaration.of(Path(folder))
    systems = table["classifier"] if "classifier" in table else pd.Series("", index=table.index)
    for system, part in table.groupby(systems, sort=False):
        n_seeds = int(size or SEEDS)
        studies = studies_of(part, n_seeds)
        with Pool(2) as pool:
            results = pool.map(partial(confirmatory, declared=declared), studies)
        [whole] = [confirmatory(part, declared)]
        design = {
            "run": Path(folder).name,
            "system": system,
            "seeds": n_seeds,
            "models": max(result.n for result in results[0]),
            "studies": len(studies),
            "disjoint": part["seed"].nunique() // n_seeds,
        }
        for column, overall in enumerate(whole):
            slice_results = [study[column] for study in results]
            names = {name: overall.names[name] for name in ("measure", "query")}
            correlation = overall.models
            yield (
                design
                | names
                | shares([[result] for result in slice_results], design["disjoint"])
                | {
                    "r_all_seeds": correlation.r,
                    "r_low": correlation.low,
                    "r_high": correlation.high,
                    "verdict_all_seeds": overall.verdict,
                    "scope_all_seeds": overall.scope,
                }
            )
        yield design | {"measure": "any", "query": "any"} | shares(results, design["disjoint"])


def shares(studies: list[list[SliceResult]], n_disjoint: int) -> dict[str, object]:
    """Return the shares of studies with a claim, by its scope, and with *negligible*."""
    counted = {
        "claim": lambda result: result.verdict in CLAIMS,
        "claim_of_other_models": lambda result: (
            result.verdict in CLAIMS and result.scope.startswith("other")
        ),
        "positive": lambda result: result.verdict == POSITIVE,
        "negligible": lambda result: result.verdict == NEGLIGIBLE,
    }
    row: dict[str, object] = {}
    for name, counts in counted.items():
        share = float(np.mean([any(map(counts, study)) for study in studies]))
        _, low, high = proportion_estimate(share * n_disjoint, n_disjoint)
        row |= {name: share, f"{name}_low": low, f"{name}_high": high}
    return row


def main() -> None:
    """Draw, judge and write."""
    parser = argparse.ArgumentParser(prog="python -m tests.analysis.seed_studies")
    parser.add_argument("out", type=Path)
    parser.add_argument("runs", nargs="+", help="results folders, with :N seeds of a study")
    args = parser.parse_args()
    rows = []
    for path in args.runs:
        for row in rows_of_run(path):
            print(*row.values(), sep=", ", flush=True)
            rows.append(row)
    with atomic_path(args.out / "seed_claims.csv") as work:
        pd.DataFrame(rows).round(4).to_csv(work, index=False)


if __name__ == "__main__":
    main()
