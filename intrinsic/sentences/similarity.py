"""Rated pairs of sentences, and their cosines under an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasbridge.files import InputError
from biasbridge.files.text import read_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from biasbridge.files.models.encodes import Encodes

SCORE, FIRST, SECOND = 4, 5, 6  # columns of sts-*.csv, counted from 0


class RatedPair(NamedTuple):
    """Two sentences and their rated similarity, 0 to 5."""

    first: str
    second: str
    score: float


def read_sts(path: str | Path) -> list[RatedPair]:
    """Read ``sts-train.csv``, ``sts-dev.csv`` or ``sts-test.csv`` of STS-B (Cer et al., 2017).

    Tab-separated, no quoting: rating in [0, 5] in column 5, sentences in columns 6 and 7. Raises
    ``InputError`` for a row with fewer columns or without a number, and for an empty file.
    """
    pairs = []
    for number, line in enumerate(read_lines(path), 1):
        row = line.split("\t")
        try:
            pairs.append(RatedPair(row[FIRST].strip(), row[SECOND].strip(), float(row[SCORE])))
        except (IndexError, ValueError):
            expected = "a number in column 5 and sentences in columns 6 and 7, separated by tabs"
            raise InputError(f"{path}: line {number} needs {expected}") from None
    if not pairs:
        raise InputError(f"{path} has no pair of sentences")
    return pairs


def cosines(encoder: Encodes, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Compute the cosine of the sentences of each pair; 0 for a zero vector."""
    texts = [text for pair in pairs for text in pair]
    vectors = np.asarray(encoder.encode(texts), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    first, second = (
        (vectors / np.where(lengths > 0, lengths, 1))
        .reshape(-1, 2, vectors.shape[1])
        .swapaxes(0, 1)
    )
    similarities: NDArray[np.float64] = (first * second).sum(axis=1)
    return similarities
