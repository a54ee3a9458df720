"""The examples of docs/extending.md, written where it says: the method and the metric run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from biasbridge.cli.debias import main as debias
from debias import methods
from debias.methods import METHODS
from files import InputError
from files.vectors import open_mapped, read_vectors
from intrinsic.wordsets import load_query
from tests.fresh_code import forget_code

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "extending.md"
ROOMS = ("analysis", "conf", "corpora", "debias", "extrinsic", "files")
EXAMPLES = {"debias/centroid_shift": "conf/debias/centroid_shift"}
EXAMPLES["intrinsic/metrics/centroid_distance"] = "conf/intrinsic/centroid_distance"

SUBJECTS = [word for role in "XYAB" for word in load_query("weat7")[role].words]
MALE, FEMALE = (load_query("gender_union")[role].words for role in "XY")


def distance(vectors: KeyedVectors) -> float:
    """Return how far the centroids of male and female words lie apart."""
    x, y = (
        np.mean([vectors[w.lower()] for w in words if w.lower() in vectors], axis=0)
        for words in (MALE, FEMALE)
    )
    return float(np.linalg.norm(x - y))


def test_the_documented_method_and_metric_run(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
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


@pytest.fixture
def method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The documented method in the table of ``biasbridge debias``, and vectors to debias."""
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    (tmp_path / "toy_centroid_shift.py").write_text(code, encoding="utf-8")
    fixed = code.replace("    dose: Share = 1.0\n", "").replace("self.dose", "1.0")
    fixed = fixed.replace('    direction: Direction = "debias"\n', "")
    fixed = fixed.replace('-shift if self.direction == "overbias" else ', "")
    (tmp_path / "toy_fixed_shift.py").write_text(fixed.replace('"centroid_shift"', '"fixed_shift"'))
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("centroid_shift", "fixed_shift"):
        monkeypatch.setitem(METHODS["vectors"], name, f"toy_{name}.CentroidShift")
    monkeypatch.setattr(methods, "NAMES", (*methods.NAMES, "centroid_shift", "fixed_shift"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = [word.lower() for word in (*MALE, *FEMALE, *SUBJECTS, "house")]
    rows = [f"{word} {' '.join(map(str, rng.normal(size=8)))}" for word in dict.fromkeys(words)]
    Path("before.txt").write_text("\n".join([f"{len(rows)} 8", *rows, ""]), encoding="utf-8")
    yield "centroid_shift"
    forget_code()


DOSES = {
    "--method centroid_shift": 0.0,
    "--method centroid_shift --dose 0.5": 0.5,
    "--method centroid_shift --dose 0.5 --direction overbias": 1.5,
    "--method fixed_shift": 0.0,
}


@pytest.mark.parametrize("options", DOSES)
def test_the_documented_method_debiases_a_file(options: str, method: str) -> None:
    line = f"before.txt after.txt {options} --lowercase"
    assert debias(line.split()) == 0
    before, after = (read_vectors(f"{name}.txt") for name in ("before", "after"))
    expected = DOSES[options] * distance(before)
    assert distance(after) == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert np.allclose(after["house"], before["house"])


def test_a_method_without_a_dose_is_refused_a_dose(method: str) -> None:
    for options, said in {"--dose 0.5": "has no dose", "--until weat7=0": "has no dose"}.items():
        line = f"before.txt after.txt --method fixed_shift {options} --lowercase"
        with pytest.raises(InputError, match=f"fixed_shift {said}"):
            debias(line.split())


def test_the_documented_task_adds_its_step() -> None:
    (code,) = re.findall(r"\n\n(    def build_steps.*?)\n\n", PAGE.read_text("utf-8"), re.DOTALL)
    known: dict[str, Any] = {"measure": "the function"}
    exec(textwrap.dedent(code), known)
    task = object()
    found = known["build_steps"](task, lambda *given: given, {"vectors": "their step"})
    assert found == ("nearness", task, "the function", {"vectors": "their step"})
