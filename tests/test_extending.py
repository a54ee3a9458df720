"""The examples of docs/extending.md, written where it says: the method and the metric run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from files.vectors import open_mapped
from intrinsic.wordsets import load_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

Floats = NDArray[np.float64]

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("analysis", "conf", "corpora", "debias", "extrinsic", "files")
EXAMPLES = {"debias/negate": "conf/debias/negate"}
EXAMPLES["intrinsic/metrics/centroid_distance"] = "conf/intrinsic/centroid_distance"

MATH, ARTS = (load_query("weat7")[role].words for role in "XY")


def unit_mean(vectors: KeyedVectors, words: tuple[str, ...]) -> Floats:
    """The mean of the words' vectors, each at unit length."""
    rows = np.array([vectors[word.lower()] for word in words], dtype=np.float64)
    return np.asarray((rows / np.linalg.norm(rows, axis=1, keepdims=True)).mean(axis=0))


@pytest.mark.slow
def test_the_documented_method_and_metric_run(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    code, recipes = (
        re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL) for language in ("python", "yaml")
    )
    for room in (*ROOMS, "biasbridge", "intrinsic", "studies", "train"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "train.py", tmp_path)
    for (module, recipe), text, yaml in zip(EXAMPLES.items(), code, recipes, strict=True):
        (tmp_path / f"{module}.py").write_text(text, encoding="utf-8")
        (tmp_path / f"{recipe}.yaml").write_text(yaml, encoding="utf-8")
    command = (
        "train.py debias=negate debias.dose=1 intrinsic=[weat,centroid_distance] source=none"
        " corpus.sentences=1000 size.dim=8 size.epochs=1"
    )
    done = subprocess.run(
        [sys.executable, *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    before, after = (
        open_mapped(next((tmp_path / "store" / stage).glob("*/vectors")))
        for stage in ("vectors", "modified")
    )
    assert np.array_equal(after["brother"], -before["brother"])
    assert np.array_equal(after["sister"], before["sister"])
    (table,) = (tmp_path / "results").rglob("intrinsic.parquet")
    scores = pd.read_parquet(table).set_index("metric")
    x, y = (unit_mean(after, words) for words in (MATH, ARTS))
    assert scores.loc["centroid_distance", "value"] == pytest.approx(np.linalg.norm(x - y))
