from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from gensim.models.keyedvectors import KeyedVectors
from gensim.models.word2vec import Word2Vec
from numpy.typing import NDArray

class FastTextKeyedVectors(KeyedVectors):
    vectors_vocab: NDArray[np.float32]
    vectors_ngrams: NDArray[np.float32]
    min_n: int
    max_n: int
    bucket: int
    def __init__(self, vector_size: int, min_n: int, max_n: int, bucket: int) -> None: ...
    def recalc_char_ngram_buckets(self) -> None: ...
    def adjust_vectors(self) -> None: ...

class FastText(Word2Vec):
    wv: FastTextKeyedVectors
    def __init__(
        self,
        sentences: Iterable[Sequence[str]] | None = None,
        corpus_file: str | None = None,
        sg: int = 0,
        vector_size: int = 100,
        alpha: float = 0.025,
        window: int = 5,
        min_count: int = 5,
        sample: float = 1e-3,
        seed: int = 1,
        workers: int = 3,
        negative: int = 5,
        epochs: int = 5,
        min_n: int = 3,
        max_n: int = 6,
        bucket: int = 2_000_000,
    ) -> None: ...

def load_facebook_vectors(path: str | Path, encoding: str = "utf-8") -> FastTextKeyedVectors: ...
def save_facebook_model(
    model: FastText, path: str | Path, encoding: str = "utf-8", lr_update_rate: int = 100
) -> None: ...
