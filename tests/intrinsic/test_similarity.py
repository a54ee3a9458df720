"""Similarity of sentences: cosines against what people say."""

from __future__ import annotations

from collections.abc import Sequence
from math import atanh, sqrt, tanh
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import rankdata

from files import InputError
from intrinsic.sentences.similarity import Rated, read_sts, sts_spearman
from tests.minilm import minilm

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


class Angles:
    """Texts are numbers: angles in degrees, at some length."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        angles = np.radians([float(text) for text in texts])
        lengths = np.arange(1, len(texts) + 1)[:, None]
        unit = np.column_stack([np.cos(angles), np.sin(angles)])
        return np.asarray(lengths * unit, dtype=np.float32)

    def knows(self, text: str) -> bool:
        return True


ANGLES = (0, 10, 20, 40, 80, 90)


def rated(scores: Sequence[float]) -> list[Rated]:
    return [Rated("0", str(each), score) for each, score in zip(ANGLES, scores, strict=True)]


def test_rho_by_hand() -> None:
    """Ranks of cosines fall with the angle: 6 5 4 3 2 1; those of the scores 5 6 4 3 1.5 1.5, so
    that the squares of their differences sum to 2.5 and Pearson's r of the ranks is that below.
    """
    scores = [4, 5, 3, 2, 1, 1]
    found = sts_spearman(Angles(), rated(scores))
    expected = np.corrcoef([6, 5, 4, 3, 2, 1], rankdata(scores))[0, 1]
    assert found.value == pytest.approx(expected)
    half = 1.959964 * sqrt((1 + expected**2 / 2) / 3)
    assert found.low == pytest.approx(tanh(atanh(expected) - half), abs=1e-6)
    assert found.high == pytest.approx(tanh(atanh(expected) + half), abs=1e-6)
    assert found.n == 6
    assert sts_spearman(Angles(), rated([1, 2, 3, 4, 5, 6])).value == -1


def test_without_a_difference_there_is_no_correlation() -> None:
    assert np.isnan(sts_spearman(Angles(), rated([3] * 6)).value)
    assert np.isnan(sts_spearman(Angles(), rated([4, 5, 3, 2, 1, 1])[:3]).value)


def test_the_interval_covers() -> None:
    """Bivariate normal, rho = 6 / pi asin(r / 2)."""
    rng, r, n = np.random.default_rng(0), 0.8, 100
    truth = 6 / np.pi * np.arcsin(r / 2)
    held = 0
    for _ in range(400):
        x, y = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], size=n).T
        angles = np.degrees(np.arccos(rankdata(x) / (n + 1)))
        pairs = [Rated("0", str(a), b) for a, b in zip(angles, y, strict=True)]
        found = sts_spearman(Angles(), pairs)
        held += found.low <= truth <= found.high
    assert held / 400 >= 0.925


def test_quotation_marks_are_text(tmp_path: Path) -> None:
    path = tmp_path / "sts-test.csv"
    rows = ('a\tb\tc\t1\t2.500\t"Stop, he said\tHe said "stop"\tmore', "a\tb\tc\t2\t0\tOne\tTwo")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert read_sts(path) == [
        Rated('"Stop, he said', 'He said "stop"', 2.5),
        Rated("One", "Two", 0),
    ]
    for bad, number in (("a\tb\tc\t1\tx\tOne\tTwo", 1), (f"{rows[0]}\na\tb\tc\t1\t2\tOne", 2)):
        path.write_text(f"{bad}\n", encoding="utf-8")
        with pytest.raises(InputError, match=f"line {number} has not a number in column 5"):
            read_sts(path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(InputError):
        read_sts(path)


@pytest.mark.realdata
@pytest.mark.slow
def test_minilm_on_the_test_split(realdata: Path) -> None:
    """.8203, as its authors publish it (82.03)."""
    pairs = read_sts(realdata / "models" / "sts_b" / "sts-test.csv")
    found = sts_spearman(minilm(), pairs)
    assert found.n == 1379
    assert found.value == pytest.approx(0.8203, abs=5e-5)
    assert found.low < 0.8203 < found.high
