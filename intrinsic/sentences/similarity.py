"""Utility of an encoder: whether sentences that people find similar lie near one another."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from math import atanh, nan, sqrt, tanh
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from files import InputError
from files.text import read_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from files.models.encodes import Encodes

SCORE, FIRST, SECOND = 4, 5, 6  # columns of sts-*.csv, counted from 0


class Rated(NamedTuple):
    """Two sentences, and how similar people find them."""

    first: str
    second: str
    score: float


class Correlated(NamedTuple):
    """A rank correlation of n pairs, with its interval."""

    value: float
    low: float
    high: float
    n: int


def read_sts(path: str | Path) -> list[Rated]:
    """The pairs of ``sts-train.csv``, ``sts-dev.csv`` or ``sts-test.csv`` of the STS Benchmark (Cer
    et al., 2017): separated by tabs, marks of quotation are text; score in [0, 5] in column 5,
    sentences in 6 and 7, and further columns.

    Raises ``InputError``, with the line, for a row with fewer columns or without a number, and for
    a file without a row.
    """
    pairs = []
    rows = csv.reader(read_lines(path), delimiter="\t", quoting=csv.QUOTE_NONE)
    for number, row in enumerate(rows, 1):
        try:
            pairs.append(Rated(row[FIRST].strip(), row[SECOND].strip(), float(row[SCORE])))
        except (IndexError, ValueError):
            wanted = "a number in column 5 and sentences in columns 6 and 7, separated by tabs"
            raise InputError(f"{path}: line {number} has not {wanted}") from None
    if not pairs:
        raise InputError(f"{path} has no pair of sentences")
    return pairs


def sts_spearman(encoder: Encodes, pairs: Sequence[Rated], *, level: float = 0.95) -> Correlated:
    """Spearman's rank correlation of the cosines of two sentences with their scores, in [-1, 1];
    ties get mean ranks. 1: the encoder orders the pairs as people do.

    low, high: by Fisher's z with the variance (1 + rho^2 / 2) / (n - 3) of Bonett and Wright
    (2000), over pairs. NaN for three pairs or fewer, and where scores or cosines are all equal.
    """
    from scipy.stats import spearmanr  # slow to import

    scores = [pair.score for pair in pairs]
    cosines = _cosines(encoder, pairs)
    if len(pairs) <= 3 or not np.ptp(scores) or not np.ptp(cosines):
        return Correlated(nan, nan, nan, len(pairs))
    rho = float(spearmanr(cosines, scores).statistic)
    if abs(rho) >= 1:
        return Correlated(rho, nan, nan, len(pairs))
    z = NormalDist().inv_cdf((1 + level) / 2)
    half = z * sqrt((1 + rho**2 / 2) / (len(pairs) - 3))
    return Correlated(rho, tanh(atanh(rho) - half), tanh(atanh(rho) + half), len(pairs))


def _cosines(encoder: Encodes, pairs: Sequence[Rated]) -> NDArray[np.float64]:
    texts = [text for pair in pairs for text in pair[:2]]
    vectors = np.asarray(encoder.encode(texts), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    first, second = (
        (vectors / np.where(lengths > 0, lengths, 1))
        .reshape(-1, 2, vectors.shape[1])
        .swapaxes(0, 1)
    )
    cosines: NDArray[np.float64] = (first * second).sum(axis=1)
    return cosines
