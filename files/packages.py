"""Files inside an installed package, named ``package:NAME``. Nothing of it is imported or run."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from files.errors import InputError

PACKAGE = "package:"


def in_package(path: str | Path, endings: tuple[str, ...]) -> list[Path]:
    """The files with these endings in the package that ``path`` names, the shortest path first;
    none where it names no package. Raises ``InputError`` for a package that is not installed.
    """
    text = str(path)
    if not text.startswith(PACKAGE):
        return []
    name = text.removeprefix(PACKAGE)
    try:
        listed = distribution(name).files or []
    except (PackageNotFoundError, ValueError) as error:
        remedy = f"pip install --no-deps {name}"
        raise InputError(f"package {name!r} is not installed; {remedy}") from error
    paths = [Path(str(each.locate())) for each in listed if each.name.endswith(endings)]
    return sorted(paths, key=lambda each: (len(each.parts), each))
