"""Data that ``datasets.load_dataset`` reads: from a hub, a local folder, or by a builder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from corpora.kinds import Collected
from files import InputError, choice

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset, IterableDataset


@choice
class HubData(Collected):
    """``path`` is a hub name, a local folder, or a builder such as ``csv``.

    ``data_files`` belongs to builders; ``config`` and ``revision`` to hub data sets. Code that
    comes with a data set is never run.
    """

    path: str
    config: str | None = None
    data_files: str | tuple[str, ...] | None = None
    revision: str | None = None

    def files(self) -> list[Path]:
        """The local files that are read, sorted within a folder; none for a hub name."""
        if self.data_files is not None:
            named = [self.data_files] if isinstance(self.data_files, str) else self.data_files
            return [Path(file) for file in named if Path(file).is_file()]
        return sorted(file for file in Path(self.path).rglob("*") if file.is_file())

    def stream(self, split: str) -> Iterator[Mapping[str, object]]:
        """The rows of a split, one at a time."""
        yield from self._load(split, streaming=True)

    def table(self, split: str) -> pd.DataFrame:
        """The rows of a split."""
        return self._load(split, streaming=False).to_pandas()

    @overload
    def _load(self, split: str, *, streaming: Literal[True]) -> IterableDataset: ...
    @overload
    def _load(self, split: str, *, streaming: Literal[False]) -> Dataset: ...
    def _load(self, split: str, *, streaming: bool) -> Dataset | IterableDataset:
        from datasets import load_dataset  # slow to import

        files = list(self.data_files) if isinstance(self.data_files, tuple) else self.data_files
        try:
            return load_dataset(
                self.path,
                self.config,
                data_files=files,
                revision=self.revision,
                split=split,
                streaming=streaming,
            )
        except (OSError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:300]
            failed = f"datasets cannot load {self.path!r} (split {split!r}): {reason}"
            raise InputError(f"{failed}; give a hub name or a local folder") from error
