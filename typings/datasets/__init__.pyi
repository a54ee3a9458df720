from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, overload

import pandas as pd

class Dataset:
    column_names: list[str]
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, object]]: ...
    @overload
    def __getitem__(self, key: str) -> Sequence[object]: ...
    @overload
    def __getitem__(self, key: int) -> dict[str, object]: ...
    def add_column(self, name: str, column: Sequence[object]) -> Dataset: ...
    def remove_columns(self, column_names: str | list[str]) -> Dataset: ...
    def select(self, indices: Sequence[int]) -> Dataset: ...
    def to_dict(self) -> dict[str, list[object]]: ...
    def to_pandas(self) -> pd.DataFrame: ...
    @classmethod
    def from_pandas(cls, df: pd.DataFrame, *, preserve_index: bool | None = None) -> Dataset: ...
    @classmethod
    def from_dict(cls, mapping: Mapping[str, Sequence[object]]) -> Dataset: ...
    @classmethod
    def from_list(cls, mapping: Sequence[Mapping[str, object]]) -> Dataset: ...

class IterableDataset:
    column_names: list[str] | None
    def __iter__(self) -> Iterator[dict[str, object]]: ...

class BuilderConfig:
    data_files: Mapping[object, Sequence[str]] | None

class DatasetBuilder:
    config: BuilderConfig

def load_dataset_builder(
    path: str, name: str | None = None, *, cache_dir: str | None = None
) -> DatasetBuilder: ...
@overload
def load_dataset(
    path: str,
    name: str | None = None,
    *,
    data_files: str | Sequence[str] | None = None,
    split: str,
    revision: str | None = None,
    streaming: Literal[False] = False,
    cache_dir: str | None = None,
) -> Dataset: ...
@overload
def load_dataset(
    path: str,
    name: str | None = None,
    *,
    data_files: str | Sequence[str] | None = None,
    split: str,
    revision: str | None = None,
    streaming: Literal[True],
    cache_dir: str | None = None,
) -> IterableDataset: ...
@overload
def load_dataset(
    path: str,
    name: str | None = None,
    *,
    data_files: str | Sequence[str] | None = None,
    split: str,
    revision: str | None = None,
    streaming: bool,
    cache_dir: str | None = None,
) -> Dataset | IterableDataset: ...
def disable_progress_bars() -> None: ...
