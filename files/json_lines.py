"""JSON Lines of what pydantic can check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from files.atomic import atomic_path
from files.errors import InputError
from files.text import read_lines

T = TypeVar("T")


def read_json_lines(path: str | Path, kind: TypeAdapter[T], what: str) -> Iterator[T]:
    """Read an object a line, blank lines left out.

    Raises ``InputError``, with the line, for what is no ``what``.
    """
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        try:
            yield kind.validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            reason = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
            raise InputError(f"{path}: line {number} is no {what} ({reason})") from None


def write_json_lines(rows: Iterable[T], kind: TypeAdapter[T], path: str | Path) -> None:
    """An object a line; the file appears whole."""
    with atomic_path(path) as work, work.open("wb") as out:
        out.writelines(kind.dump_json(row) + b"\n" for row in rows)
