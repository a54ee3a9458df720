"""What pyproject.toml cannot say to setuptools: where a wheel keeps the rooms.

In a checkout, and where that is installed as editable, they are top-level packages, ``files``,
``train`` and so on, found by the path of the checkout: not by an import hook, before which a
folder of the same name would come. A wheel has them as ``biasbridge.rooms.files``: whoever
installs it may have a ``files.py``. Imports are the one thing that differs, and the command that
texts speak of.
"""

from __future__ import annotations

import ast
import runpy
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOMS = (*runpy.run_path("files/rooms.py")["ROOMS"], "conf")
HOME = "biasbridge/rooms"
TEXTS = (".py", ".html", ".yaml")


class BuildPy(build_py):
    """Puts the rooms of a wheel under ``HOME``."""

    def run(self) -> None:
        """Copy all as setuptools does, then move and adapt the rooms."""
        whole = Path(self.build_lib)
        if not self.editable_mode:
            shutil.rmtree(whole / "biasbridge", ignore_errors=True)  # of an earlier build
        super().run()
        if self.editable_mode:
            return
        (whole / HOME).mkdir()
        (whole / HOME / "__init__.py").write_text('"""The rooms of the project."""\n')
        for room in ROOMS:
            shutil.move(whole / room, whole / HOME / room)
        for path in sorted((whole / "biasbridge").rglob("*")):
            if path.suffix in TEXTS:
                text = path.read_text(encoding="utf-8")
                text = text.replace("python train.py", "biasbridge train")
                text = imported(text, path) if path.suffix == ".py" else text
                path.write_text(text, encoding="utf-8")


def imported(text: str, path: Path) -> str:
    """A module whose imports of rooms name them as a wheel has them."""
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import) and any(
            alias.name.partition(".")[0] in ROOMS for alias in node.names
        ):
            raise SystemExit(f"{path}:{node.lineno}: import from a room, not the room itself")
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] in ROOMS:
            line, start = lines[node.lineno - 1], node.col_offset + len("from ")
            lines[node.lineno - 1] = f"{line[:start]}{HOME.replace('/', '.')}.{line[start:]}"
    return "".join(lines)


setup(cmdclass={"build_py": BuildPy}, package_dir={"": "."})
