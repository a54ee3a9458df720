"""The example of docs/extending.md: two files written as it says, and the method runs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from files.vectors import open_mapped

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_the_documented_method_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    code, recipe = (
        re.search(rf"```{language}\n(.*?)```", page, re.DOTALL)[1]
        for language in ("python", "yaml")
    )  # type: ignore[index]
    for room in (
        "analysis",
        "conf",
        "corpora",
        "debias",
        "extrinsic",
        "files",
        "hydra_plugins",
        "intrinsic",
        "train",
    ):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "train.py", tmp_path)
    (tmp_path / "debias" / "negate.py").write_text(code, encoding="utf-8")
    (tmp_path / "conf" / "debias" / "negate.yaml").write_text(recipe, encoding="utf-8")
    command = (
        "train.py debias=negate debias.dose=1 source=none corpus.sentences=1000 size.dim=8"
        " size.epochs=1"
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
