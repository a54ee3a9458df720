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

from files.vectors import open_mapped
from intrinsic.wordsets import load_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("analysis", "conf", "corpora", "debias", "extrinsic", "files")
EXAMPLES = {"debias/centroid_shift": "conf/debias/centroid_shift"}
EXAMPLES["intrinsic/metrics/centroid_distance"] = "conf/intrinsic/centroid_distance"

MALE, FEMALE = (load_query("gender_union")[role].words for role in "XY")


def distance(vectors: KeyedVectors) -> float:
    """Return how far the centroids of male and female words lie apart."""
    x, y = (
        np.mean([vectors[w.lower()] for w in words if w.lower() in vectors], axis=0)
        for words in (MALE, FEMALE)
    )
    return float(np.linalg.norm(x - y))


def test_the_documented_method_and_metric_run(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    code, recipes = (
        re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL) for language in ("python", "yaml")
    )
    for room in (*ROOMS, "biasbridge", "intrinsic", "stats", "studies", "train"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "train.py", tmp_path)
    for (module, recipe), text, yaml in zip(EXAMPLES.items(), code, recipes, strict=True):
        (tmp_path / f"{module}.py").write_text(text, encoding="utf-8")
        (tmp_path / f"{recipe}.yaml").write_text(yaml, encoding="utf-8")
    command = (
        "train.py debias=centroid_shift debias.dose=0.5 source=none"
        " intrinsic=[weat,centroid_distance] intrinsic.centroid_distance.queries=[gender_union]"
        " intrinsic.centroid_distance.convention=raw corpus.sentences=1000 size.dim=8 size.epochs=1"
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
        open_mapped(next((tmp_path / "store" / step).glob("*/vectors")))
        for step in ("vectors", "modified")
    )
    assert np.array_equal(after["house"], before["house"])
    (table,) = (tmp_path / "results").rglob("intrinsic.parquet")
    scores = pd.read_parquet(table)
    assert np.isfinite(scores["value"]).all(), scores["reason"].tolist()
    value = scores.set_index("metric").loc["centroid_distance", "value"]
    assert value == pytest.approx(distance(after), rel=1e-5)
    assert value == pytest.approx(distance(before) / 2, rel=1e-5)
