"""JSON Lines, checked by pydantic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from biasbridge.files.atomic import atomic_path
from biasbridge.files.errors import InputError
from biasbridge.files.text import read_lines

T = TypeVar("T")


def read_json_lines(path: str | Path, adapter: TypeAdapter[T], kind: str) -> Iterator[T]:
    """Yield an object per line, as ``number_json_lines`` does."""
    return (value for _, value in number_json_lines(path, adapter, kind))


def number_json_lines(
    path: str | Path, adapter: TypeAdapter[T], kind: str
) -> Iterator[tuple[int, T]]:
    """Yield the number of each line and its object; blank lines are skipped.

    Raises ``InputError`` with the line if that is no object of this kind.
    """
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        try:
            yield number, adapter.validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            reason = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
            raise InputError(f"{path}: line {number} is no {kind} ({reason})") from None


def write_json_lines(rows: Iterable[T], adapter: TypeAdapter[T], path: str | Path) -> None:
    """Write an object per line; a reader sees the whole file or none."""
    with atomic_path(path) as work, work.open("wb") as out:
        out.writelines(adapter.dump_json(row) + b"\n" for row in rows)
