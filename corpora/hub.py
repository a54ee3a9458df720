"""Data that ``datasets.load_dataset`` reads from a hub, a local folder or with a builder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from annotated_types import doc

from biasbridge.corpora.protocols import RealData
from biasbridge.files import InputError, choice, nearest
from biasbridge.files.places import require_commit

if TYPE_CHECKING:
    import pandas as pd

# Files in a folder that describe its splits, columns and types
_CARDS = ("README.md", ".huggingface.yaml", "dataset_infos.json")
_TEXT = "\ue000"  # before the cells of a column of text while pandas reads them
Splits = Mapping[str, tuple[str, ...]]


@choice
class HubData(RealData):
    """Data at ``path``: ``org/name@COMMIT`` on a hub, a local folder, or a builder such as ``csv``.

    ``data_files`` names files or patterns, relative to the folder or hub data set, or for a builder
    to the working directory. ``config`` belongs to hub data sets. Code in a data set is never
    run. Local data are keyed by their bytes and bypass the library's cache, which identifies a file
    by its time. Hub data are keyed by name, commit and ``config``.
    """

    path: str
    config: str | None = None
    data_files: Annotated[
        str | tuple[str, ...] | None,
        doc("for builders: corpus.path=json corpus.data_files=posts.jsonl"),
    ] = None

    unkeyed: ClassVar[tuple[str, ...]] = ("path", "data_files")

    def files(self) -> list[Path]:
        """Return the local files that the library reads, and the files that describe them."""
        cards = [card for name in _CARDS if (card := Path(self.path) / name).is_file()]
        paths = [_local_path(file) for files in self._splits().values() for file in files]
        return [*(cards if self._is_folder else []), *(Path(path) for path in paths if path)]

    def keyed(self) -> Mapping[str, object]:
        """Return the split of each local file, or what identifies a hub data set."""
        if not self._is_local:
            _refuse_remote(self._patterns)
            path, revision = require_commit(self.path, "dataset")
            return {"path": path, "data_files": self.data_files, "revision": revision}
        base = Path(self.path).resolve() if self._is_folder and self.data_files is None else None
        splits = {
            split: [_key_name(file, base) for file in files]
            for split, files in self._splits().items()
        }
        return {"path": "" if self._is_folder else self.path, "splits": splits}

    @property
    def _is_folder(self) -> bool:
        return Path(self.path).is_dir() and not _is_builder(self.path)

    @property
    def _is_local(self) -> bool:
        return self._is_folder or _is_builder(self.path)

    @property
    def _patterns(self) -> tuple[str, ...]:
        return (self.data_files,) if isinstance(self.data_files, str) else self.data_files or ()

    def _splits(self) -> Splits:
        """Return the files of each split, local files as paths; empty for a hub data set."""
        if not self._is_local:
            return {}
        base = Path(self.path) if self._is_folder else Path()
        if self.data_files is not None:
            _refuse_remote(self._patterns)
            matches = (file for pattern in self._patterns for file in _resolve(pattern, base))
            return {"train": tuple(matches)}
        if not self._is_folder:
            raise InputError(f"path={self.path!r} is a builder, which needs data_files")
        names = tuple(sorted(str(path.relative_to(base)) for path in base.rglob("*")))
        cards = tuple((base / card).read_bytes() for card in _CARDS if card in names)
        return _splits_of_folder(str(base.resolve()), self.config, names, cards)

    def stream(self, split: str, text: str) -> Iterator[Mapping[str, object]]:
        """Yield the rows of a split; of CSV the column ``text`` stays as written."""
        with self._load(split, text, streaming=True) as rows:
            yield from ({**row, text: _unmarked(row[text])} if text in row else row for row in rows)

    def table(self, split: str, text: str) -> pd.DataFrame:
        """Return the rows of a split; of CSV the column ``text`` stays as written."""
        with self._load(split, text, streaming=False) as rows:
            table: pd.DataFrame = rows.to_pandas()
            return table.assign(**{text: table[text].map(_unmarked)}) if text in table else table

    @contextmanager
    def _load(self, split: str, text: str, *, streaming: bool) -> Iterator[Any]:
        from datasets import load_dataset, load_dataset_builder  # slow to import

        with TemporaryDirectory() as scratch, _as_input_error(f"{self.path!r} (split {split!r})"):
            is_local = self._is_local
            path, revision = (self.path, None) if is_local else require_commit(self.path, "dataset")
            options: dict[str, Any] = {
                "data_files": list(self._patterns) or None,
                "revision": revision,
                "cache_dir": scratch if is_local else None,
            }
            found: Any = load_dataset_builder(path, self.config, **options).config
            if hasattr(found, "converters"):  # pandas reads CSV
                if found.features:  # which state that 007 is text
                    options |= {"keep_default_na": False, "na_values": [""]}
                else:
                    options["converters"] = {text: _marked}
            yield load_dataset(path, self.config, split=split, streaming=streaming, **options)


def _marked(cell: str) -> str:
    """Return a cell that pandas takes neither for a number nor, as ``NA``, for an empty one."""
    return _TEXT + cell


def _unmarked(cell: object) -> object:
    return cell.removeprefix(_TEXT) if isinstance(cell, str) else cell


def pick_cell(row: Mapping[str, object], column: str, where: str) -> object:
    """Return the cell of a column; ``InputError`` for a missing column."""
    if column not in row:
        columns = f"{nearest(column, row)}; columns: {', '.join(row)}"
        raise InputError(f"{where} has no column {column!r}{columns}")
    return row[column]


@contextmanager
def _as_input_error(data: str) -> Iterator[None]:
    """Turn errors of the library, which may be of any class, into ``InputError``."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        problem = f"datasets cannot load {data}: {reason}"
        raise InputError(f"{problem}; give a hub name, a local folder or data_files") from error


def _is_builder(path: str) -> bool:
    if "/" in path:
        return False
    from datasets.packaged_modules import _PACKAGED_DATASETS_MODULES  # slow to import

    return path in _PACKAGED_DATASETS_MODULES


def _refuse_remote(files: Iterable[str]) -> None:
    """Raise ``InputError`` for a URL: what it holds may change, and a key would not."""
    for file in files:
        if _local_path(file) is None:
            raise InputError(f"data_files: {file!r} may change; download it, and give its path")


def _resolve(pattern: str, base: Path) -> list[str]:
    """Return the files that the library reads for a pattern."""
    from datasets.data_files import resolve_pattern  # slow to import

    try:
        files: list[str] = resolve_pattern(pattern, str(base.expanduser().resolve()))
    except FileNotFoundError as error:
        raise InputError(f"data_files={pattern!r} names no file in {base.resolve()}") from error
    return files


@lru_cache(maxsize=64)
def _splits_of_folder(
    folder: str, config: str | None, names: tuple[str, ...], cards: tuple[bytes, ...]
) -> Splits:
    """Return the files of each split of a folder, determined by its file names and cards."""
    from datasets import load_dataset_builder  # slow to import

    with TemporaryDirectory() as scratch, _as_input_error(repr(folder)):
        data_files = load_dataset_builder(folder, config, cache_dir=scratch).config.data_files or {}
        splits = {str(split): tuple(files) for split, files in data_files.items()}
    _refuse_remote(file for files in splits.values() for file in files)
    return splits


def _local_path(file: str) -> str | None:
    """Return the path of a local file or of the archive that holds it; None for a URL."""
    path = file.rpartition("::")[2].removeprefix("file://")
    return None if "://" in path else path


def _key_name(file: str, base: Path | None) -> str:
    """Return the name of a file in a key: its path in the folder, or else its name."""
    archive_member, _, location = file.rpartition("::")
    if (path := _local_path(location)) is None:
        return file
    name = os.path.relpath(path, base) if base else Path(path).name
    return f"{archive_member}::{name}" if archive_member else name
