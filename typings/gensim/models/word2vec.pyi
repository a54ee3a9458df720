from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from gensim.models.keyedvectors import KeyedVectors

class Word2Vec:
    wv: KeyedVectors
    corpus_total_words: int
    def __init__(
        self,
        sentences: Iterable[Sequence[str]] | None = None,
        corpus_file: str | None = None,
        vector_size: int = 100,
        alpha: float = 0.025,
        window: int = 5,
        min_count: int = 5,
        sample: float = 1e-3,
        seed: int = 1,
        workers: int = 3,
        sg: int = 0,
        negative: int = 5,
        epochs: int = 5,
    ) -> None: ...
    def build_vocab(self, *, corpus_file: str) -> None: ...
    def train(self, *, corpus_file: str, total_words: int, epochs: int) -> None: ...
    def save(self, fname_or_handle: str | Path, *, sep_limit: int = ...) -> None: ...
    @classmethod
    def load(cls, fname: str | Path) -> Self: ...
