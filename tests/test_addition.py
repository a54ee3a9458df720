"""A subject, a probe, a task and a study, each a file of its own and one YAML, run end to end and
are reported: nothing else of the project is touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Train

FILES = {
    # Vectors made of a formula: male words lie towards science by so much.
    "toy_subject.py": """
from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

from files import choice
from files.choice import Share
from intrinsic.wordsets import load_query


@choice
class Tilted:
    tilt: Share = 0.5
    name: ClassVar[str] = "tilted"
    version: ClassVar[int] = 1
    gives: ClassVar[tuple[str, ...]] = ("vectors",)
    unit: ClassVar[str] = "vectors"

    def files(self):
        return []

    def facts(self):
        unmodified = {"embedding": "tilted", "method": "none", "direction": "", "dose": 0.0}
        return {**unmodified, "tilt": self.tilt, "generated": True}

    def build_steps(self, steps):
        return {"vectors": steps("tilted", self, write)}


def write(tilted, out: Path, inputs, seed: int) -> None:
    from files.vectors import keyed, save_mapped

    query, rng = load_query("weat8"), np.random.default_rng(seed)
    words = {word: role for role in "XYAB" for word in query[role].words}
    matrix = rng.normal(size=(len(words), 8)).astype(np.float32)
    matrix[:, 0] += [tilted.tilt * (3 if role in "XA" else -3) for role in words.values()]
    save_mapped(keyed(list(words), matrix), out / "vectors")
""",
    "toy_task.py": """
from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pandas as pd

from files import choice
from files.vectors import open_mapped


@choice
class Distance:
    name: ClassVar[str] = "distance"
    version: ClassVar[int] = 1
    needs: ClassVar[tuple[str, ...]] = ("vectors",)

    def files(self):
        return []

    def facts(self):
        return {"task": self.name, "generated": True}

    def build_steps(self, steps, subject):
        return steps("distance", self, measure, {"vectors": subject["vectors"]})


def measure(task, out: Path, inputs, seed: int) -> None:
    vectors = open_mapped(inputs["vectors"] / "vectors")
    gap = float(vectors["science"][0] - vectors["poetry"][0])
    row = {"kind": "gap", "measure": "reach", "group": "", "privileged": "science"}
    row |= {"unprivileged": "non-binary arts", "value": gap, "low": gap - 1, "high": gap + 1}
    pd.DataFrame([row | {"support": 1, "reason": ""}]).to_parquet(out / "scores.parquet")
""",
    "toy_probe.py": """
from __future__ import annotations

from typing import ClassVar

import pandas as pd

from files import choice


@choice
class Halves:
    words: int = 10
    name: ClassVar[str] = "halves"
    version: ClassVar[int] = 1
    needs: ClassVar[str] = "vectors"
    of_metrics: ClassVar[bool] = True

    def files(self):
        return []

    def rows(self, vectors, metric, *, seed):
        row = {"metric": metric.name, "words": self.words, "known": len(vectors)}
        return pd.DataFrame([row])
""",
    "toy_study.py": """
from __future__ import annotations

from typing import ClassVar

from files import choice


@choice
class Largest:
    measure: str = "reach"
    name: ClassVar[str] = "largest"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = ("largest.csv",)

    def files(self):
        return []

    def conclude(self, tables, folder, console):
        gaps = tables.extrinsic[tables.extrinsic["measure"] == self.measure]
        largest = gaps.nlargest(1, "value").merge(tables.points, on="point")
        largest.to_csv(folder / "largest.csv")
        for name, rows in tables.probes.groupby(["probe", "metric"]):
            console.print(f"{name}: {len(rows)} rows, {set(rows['words'])} words")
        console.print(f"largest {self.measure} of {len(gaps)}: tilt {largest['tilt'].iloc[0]}")
        return [folder / "largest.csv"]
""",
    "conf/subject/tilted.yaml": "_target_: toy_subject.Tilted\ntilt: 0.5\n",
    "conf/task/distance.yaml": "_target_: toy_task.Distance\n",
    "conf/probe/halves.yaml": "_target_: toy_probe.Halves\nwords: 12\n",
    "conf/study/largest.yaml": "_target_: toy_study.Largest\nmeasure: reach\n",
}
SWEEP = [
    *("--config-dir", "conf", "name=toy", "hydra.mode=MULTIRUN", "subject=tilted", "task=distance"),
    *("intrinsic.weat.queries=[weat8]", "subject.tilt=0,0.25,0.5,0.75,1", "seed=0,1"),
    "hydra/launcher=basic",
]


@pytest.mark.slow
def test_a_toy_subject_probe_task_and_study_run_and_are_reported(
    tmp_path: Path, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)

    def sweep(*more: str) -> str:
        status, out, err = train(*SWEEP, *more)
        assert status == 0, out + err
        return out

    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    printed = sweep()
    results = tmp_path / "results" / "toy"
    found = pd.read_csv(results / "correlations.csv")
    assert set(found["measure"]) == {"reach"}
    assert set(found["unprivileged"]) == {"non-binary arts"}
    assert (found["n"] == 10).all()
    assert (found["r_rm"] > 0.5).all(), "the tilt drives both"
    assert "10 models of 1 parent" in printed
    confirmatory = found[found["verdict"].notna()]
    assert confirmatory[["embedding", "query"]].to_numpy().tolist() == [["all", "weat8"]]
    assert "the test declared before the run" in (results / "report.html").read_text(
        encoding="utf-8"
    )

    assert not (results / "probes.parquet").exists()
    printed = sweep("study=largest", "probe=halves")
    assert "('halves', 'weat'): 10 rows, {12} words" in printed
    assert len(pd.read_parquet(results / "probes.parquet")) == 10
    assert "largest reach of 10: tilt 1.0" in printed
    assert "largest.csv" in printed

    # Other points: what is set aside with the tables is what the toy study wrote, and nothing else
    (results / "mine.txt").write_text("kept", encoding="utf-8")
    largest = (results / "largest.csv").read_bytes()
    sweep("subject.tilt=0,1")
    (aside,) = (path.parent for path in results.glob("earlier/*/largest.csv"))
    assert (aside / "largest.csv").read_bytes() == largest
    assert (aside / "probes.parquet").is_file()
    assert not (results / "largest.csv").exists()
    assert (results / "mine.txt").is_file()
    assert not (aside / "mine.txt").exists()
