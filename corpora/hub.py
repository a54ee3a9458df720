"""Data that ``datasets.load_dataset`` reads: from a hub, a local folder, or by a builder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from corpora.kinds import Collected
from files import InputError, choice, nearest
from files.hub import require_commit
from files.text import refuse_bomb

if TYPE_CHECKING:
    import pandas as pd

# Files in a folder that say what its data are: splits, columns and their types
CARDS = ("README.md", ".huggingface.yaml", "dataset_infos.json")

Splits = Mapping[str, tuple[str, ...]]


@choice
class HubData(Collected):
    """``path`` is a hub name, a local folder, or a builder such as ``csv``.

    ``data_files`` names files or patterns, those of a folder or hub data set relative to it, those
    of a builder relative to the working directory. ``config`` and ``revision`` belong to hub data
    sets. Code that comes with a data set is never run. Of local data the bytes are keyed and
    nothing is taken from the library's cache, which knows a file by its time; what a hub serves is
    keyed by its name, ``config`` and ``revision``, a commit, which it needs.
    """

    path: str
    config: str | None = None
    data_files: str | tuple[str, ...] | None = None
    revision: str | None = None

    unkeyed: ClassVar[tuple[str, ...]] = ("path", "data_files", "revision")

    def files(self) -> list[Path]:
        """The local files that are read, as the library finds them, and what describes them.

        Raises ``InputError`` for a pattern or folder in which it finds none.
        """
        cards = [card for name in CARDS if (card := Path(self.path) / name).is_file()]
        found = [_local_part(file) for files in self._splits().values() for file in files]
        return [*(cards if self._folder else []), *(Path(file) for file in found if file)]

    def keyed(self) -> Mapping[str, object]:
        """The files' parts in the data; the names of what is not local.

        Raises ``InputError`` for what is not local and has no commit as its revision.
        """
        if not self._local:
            revision = require_commit(self.path, self.revision)
            return {"path": self.path, "data_files": self.data_files, "revision": revision}
        base = Path(self.path).resolve() if self._folder and self.data_files is None else None
        splits = {
            split: [_name(file, base) for file in files] for split, files in self._splits().items()
        }
        return {"path": "" if self._folder else self.path, "splits": splits}

    @property
    def _folder(self) -> bool:
        return Path(self.path).is_dir() and not _is_builder(self.path)

    @property
    def _local(self) -> bool:
        return self._folder or _is_builder(self.path)

    @property
    def _patterns(self) -> tuple[str, ...]:
        return (self.data_files,) if isinstance(self.data_files, str) else self.data_files or ()

    def _splits(self) -> Splits:
        """The files of each split, local ones as paths; empty for a hub."""
        if not self._local:
            return {}
        base = Path(self.path) if self._folder else Path()
        if self.data_files is not None:
            return {"train": tuple(f for each in self._patterns for f in _matching(each, base))}
        if not self._folder:
            raise InputError(f"path={self.path!r} is a builder, which needs data_files")
        names = tuple(sorted(str(path.relative_to(base)) for path in base.rglob("*")))
        cards = tuple((base / card).read_bytes() for card in CARDS if card in names)
        return _splits_of_folder(str(base.resolve()), self.config, names, cards)

    def stream(self, split: str) -> Iterator[Mapping[str, object]]:
        """The rows of a split, one at a time."""
        with self._load(split, streaming=True) as rows:
            yield from rows

    def table(self, split: str) -> pd.DataFrame:
        """The rows of a split."""
        with self._load(split, streaming=False) as rows:
            found: pd.DataFrame = rows.to_pandas()
            return found

    @contextmanager
    def _load(self, split: str, *, streaming: bool) -> Iterator[Any]:
        from datasets import load_dataset  # slow to import

        with TemporaryDirectory() as scratch, _refused(f"{self.path!r} (split {split!r})"):
            for file in self.files() if self._local else ():
                refuse_bomb(file)
            yield load_dataset(
                self.path,
                self.config,
                data_files=list(self._patterns) or None,
                revision=self.revision,
                split=split,
                streaming=streaming,
                cache_dir=scratch if self._local else None,
            )


def pick_cell(row: Mapping[str, object], column: str, where: str) -> object:
    """The cell of a column by its name; ``InputError`` where there is no such column."""
    if column not in row:
        columns = f"{nearest(column, row)}; columns: {', '.join(row)}"
        raise InputError(f"{where} has no column {column!r}{columns}")
    return row[column]


@contextmanager
def _refused(what: str) -> Iterator[None]:
    """An error of the library, which may be of any kind, as bad input."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        failed = f"datasets cannot load {what}: {reason}"
        raise InputError(f"{failed}; give a hub name, a local folder or data_files") from error


def _is_builder(path: str) -> bool:
    if "/" in path:
        return False
    from datasets.packaged_modules import _PACKAGED_DATASETS_MODULES  # slow to import

    return path in _PACKAGED_DATASETS_MODULES


def _matching(pattern: str, base: Path) -> list[str]:
    """What the library reads for a pattern; one of another machine as it is."""
    if _local_part(pattern) is None:
        return [pattern]
    from datasets.data_files import resolve_pattern  # slow to import

    try:
        return resolve_pattern(pattern, str(base.expanduser().resolve()))
    except FileNotFoundError as error:
        raise InputError(f"data_files={pattern!r} names no file in {base.resolve()}") from error


@lru_cache(maxsize=64)
def _splits_of_folder(
    folder: str, config: str | None, names: tuple[str, ...], cards: tuple[bytes, ...]
) -> Splits:
    """The files of each split of a folder; they follow from the names in it and its cards."""
    from datasets import load_dataset_builder  # slow to import

    with TemporaryDirectory() as scratch, _refused(repr(folder)):
        found = load_dataset_builder(folder, config, cache_dir=scratch).config.data_files or {}
        return {str(split): tuple(files) for split, files in found.items()}


def _local_part(file: str) -> str | None:
    """The path of a file on this machine, or of the archive that holds it; None for an address."""
    path = file.rpartition("::")[2].removeprefix("file://")
    return None if "://" in path else path


def _name(file: str, base: Path | None) -> str:
    """What a file is called in a key: its path in the folder, or else its name."""
    inside, _, last = file.rpartition("::")
    if (path := _local_part(last)) is None:
        return file
    name = os.path.relpath(path, base) if base else Path(path).name
    return f"{inside}::{name}" if inside else name
