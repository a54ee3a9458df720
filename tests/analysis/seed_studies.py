"""The first study with other seeds and on other processors: is the planted link found, and is
nothing claimed where none is planted? About half an hour on one core:

python -m tests.analysis.seed_studies docs/studies --planted 5 --unplanted 20
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.scopes import SEEDS
from biasbridge.analysis.tables import read_tables
from biasbridge.analysis.verdicts import FALLS, RISES
from biasbridge.files import atomic_path

ROOT = Path(__file__).resolve().parent.parent.parent
# As in conf/experiment/hatespeech_en.yaml
DECLARED = Declaration(confirmatory=("precision",), smallest_change=0.05)
PARENTS = 5  # seeds of a study
PROCESSORS: Mapping[str, Mapping[str, str]] = {
    "own": {},
    "SSE3": {"ATEN_CPU_CAPABILITY": "default", "OPENBLAS_CORETYPE": "Prescott"},
    "AVX2": {"ATEN_CPU_CAPABILITY": "avx2", "OPENBLAS_CORETYPE": "Haswell"},
}


def run(folder: Path, processor: str, n_studies: int, transmission: int) -> pd.DataFrame:
    """Run studies in one sweep, without their reports; those of one processor share embeddings."""
    results = folder / f"{processor}_{transmission}"
    command = [
        *(sys.executable, str(ROOT / "train.py"), "--config-dir", "tests/reliability/conf"),
        *("+experiment=hatespeech_en", "study=tables_only", "~study.confirmatory"),
        "~study.smallest_change",
        *(f"seed=range({PARENTS * n_studies})", f"source.transmission={transmission}"),
        *(f"store.dir={folder / processor}", f"results.dir={results}", "hydra/launcher=basic"),
    ]
    environment = {**os.environ, **PROCESSORS[processor], "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return join_points(read_tables(results))


def judge(table: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Yield a row for each study of five seeds and declared test."""
    studies = table["seed"].astype(int) // PARENTS
    for number, study in table[table["measure"] == "precision"].groupby(studies):
        for result in correlate_slices(study, DECLARED):
            if result.confirmatory:
                yield {
                    "seeds": f"{PARENTS * number} to {PARENTS * number + PARENTS - 1}",
                    "query": result.names["query"],
                    "n": result.n,
                    **dict(zip(("change", "low", "high"), result.change, strict=True)),
                    "r_rm": result.within.r,
                    "p_holm": result.p_holm,
                    "verdict": result.verdict,
                    "other_seeds": result.holds[SEEDS],
                }


def main() -> None:
    """Run, judge, write and count."""
    parser = argparse.ArgumentParser(prog="python -m tests.analysis.seed_studies")
    parser.add_argument("out", type=Path)
    parser.add_argument("--planted", type=int, default=5, help="studies at transmission 1")
    parser.add_argument("--unplanted", type=int, default=20, help="studies at transmission 0")
    parser.add_argument("--work", type=Path, help="folder of store and results, to be continued")
    args = parser.parse_args()
    rows = []
    with TemporaryDirectory() as temporary:
        folder = (args.work or Path(temporary)).resolve()
        for processor in PROCESSORS:
            for transmission, n_studies in ((1, args.planted), (0, args.unplanted)):
                table = run(folder, processor, n_studies if processor == "own" else 1, transmission)
                design = {"processor": processor, "transmission": transmission}
                rows += [design | row for row in judge(table)]
    verdicts = pd.DataFrame(rows)
    with atomic_path(args.out / "first_study.csv") as path:
        verdicts.round(4).to_csv(path, index=False)
    claims = verdicts.assign(claim=verdicts["verdict"].isin([RISES, FALLS]))
    studies = claims.groupby(["processor", "transmission", "seeds"])["claim"].agg(["any", "all"])
    print(studies.groupby(["processor", "transmission"]).agg(["sum", "count"]))


if __name__ == "__main__":
    main()
