from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

class KeyedVectors:
    vector_size: int
    vectors: NDArray[np.float32]
    index_to_key: list[str]
    key_to_index: dict[str, int]
    next_index: int
    expandos: dict[str, NDArray[np.int64]]
    attrs: dict[str, object]  # of biasbridge.debias alone
    def __init__(self, vector_size: int, count: int = 0, dtype: DTypeLike = ...) -> None: ...
    def __len__(self) -> int: ...
    def __contains__(self, key: str) -> bool: ...
    @overload
    def __getitem__(self, key_or_keys: str) -> NDArray[np.float32]: ...
    @overload
    def __getitem__(self, key_or_keys: Sequence[str]) -> NDArray[np.float32]: ...
    def get_vecattr(self, key: str, attr: Literal["count"]) -> int: ...
    def set_vecattr(self, key: str, attr: Literal["count"], val: int) -> None: ...
    def add_vectors(
        self,
        keys: Sequence[str],
        weights: ArrayLike,
        extras: Mapping[str, ArrayLike] | None = None,
        replace: bool = False,
    ) -> None: ...
    def get_mean_vector(
        self,
        keys: Sequence[str],
        weights: ArrayLike | None = None,
        pre_normalize: bool = True,
        post_normalize: bool = False,
        ignore_missing: bool = True,
    ) -> NDArray[np.float32]: ...
    def most_similar(
        self,
        positive: Iterable[str] | str | None = None,
        negative: Iterable[str] | str | None = None,
        topn: int = 10,
    ) -> list[tuple[str, float]]: ...
    def similarity(self, w1: str, w2: str) -> np.float32: ...
    def rank(self, key1: str, key2: str) -> int: ...
    def save(self, fname_or_handle: str | Path, *, sep_limit: int = ...) -> None: ...
    @classmethod
    def load(cls, fname: str | Path, mmap: Literal["r", "r+", "w+", "c"] | None = None) -> Self: ...
    def save_word2vec_format(
        self, fname: str | Path, *, binary: bool = False, prefix: str = "", append: bool = False
    ) -> None: ...
    @classmethod
    def load_word2vec_format(
        cls,
        fname: str | Path,
        *,
        binary: bool = False,
        encoding: str = "utf8",
        unicode_errors: str = "strict",
        limit: int | None = None,
        no_header: bool = False,
    ) -> KeyedVectors: ...
