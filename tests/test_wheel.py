"""The wheel holds every room with its data, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOT_SHIPPED = {".ci", "benchmarks", "docs", "tests", "typings"}
LATER = ("analysis/new/__init__.py", "analysis/new/__init__.pyi", "conf/new/choice.yaml")
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


def kept_by_git() -> list[str]:
    """Every file that git tracks or would add."""
    if not (ROOT / ".git").exists():
        pytest.skip("no clone, so nothing to compare the wheel with")
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.splitlines() if (ROOT / name).is_file()]


def test_the_wheel_holds_every_room_and_its_data(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for name in kept_by_git():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    for name in LATER:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).touch()
    subprocess.run(
        [sys.executable, "-c", BUILD, tmp_path], cwd=project, capture_output=True, check=True
    )
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        shipped = {name for name in wheel.namelist() if ".dist-info/" not in name}
    rooms = {
        name
        for name in (*kept_by_git(), *LATER)
        if "/" in name and PurePosixPath(name).parts[0] not in NOT_SHIPPED
    }
    assert shipped == rooms
