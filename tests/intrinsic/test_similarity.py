"""Similarity of sentences: cosines against what people say."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest
from scipy.stats import rankdata

from biasbridge.corpora.items import StsBenchmark
from biasbridge.files import InputError
from biasbridge.intrinsic.item_metric import Observations
from biasbridge.intrinsic.score import Score, percentiles
from biasbridge.intrinsic.sentences.similarity import RatedPair, read_sts
from biasbridge.intrinsic.sentences.sts import StsB
from tests.minilm import minilm

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


class Angles:
    """Texts are numbers: angles in degrees, at some length."""

    pooling: ClassVar[str] = "mean"
    layer: ClassVar[int] = -1
    opened: ClassVar[SimpleNamespace] = SimpleNamespace(dtype="float64")

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        angles = np.radians([float(text) for text in texts])
        lengths = np.arange(1, len(texts) + 1)[:, None]
        unit = np.column_stack([np.cos(angles), np.sin(angles)])
        return np.asarray(lengths * unit, dtype=np.float32)

    def knows(self, text: str) -> bool:
        return True


ANGLES = (0, 10, 20, 40, 80, 90)


def score(path: Path, encoder: object) -> Score:
    [row] = StsB(items=StsBenchmark(str(path))).score(encoder, seed=0)
    return row


def write(path: Path, scores: Sequence[float]) -> Path:
    rows = (f"a\tb\tc\t1\t{score}\t0\t{each}" for each, score in zip(ANGLES, scores, strict=True))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_rho_by_hand(tmp_path: Path) -> None:
    """Ranks of cosines fall with the angle: 6 5 4 3 2 1; ties of the scores get mean ranks."""
    scores = [4, 5, 3, 2, 1, 1]
    found = score(write(tmp_path / "sts-dev.csv", scores), Angles())
    expected = np.corrcoef([6, 5, 4, 3, 2, 1], rankdata(scores))[0, 1]
    assert found.value == pytest.approx(expected)
    assert (found.query, found.n_found) == ("sts_b_dev", 6)
    assert score(write(tmp_path / "sts-dev.csv", [1, 2, 3, 4, 5, 6]), Angles()).value == -1
    assert "0 / 0" in score(write(tmp_path / "sts-dev.csv", [3] * 6), Angles()).reason


def test_the_interval_covers(tmp_path: Path) -> None:
    """Bivariate normal, rho = 6 / pi asin(r / 2)."""
    rng, r, n = np.random.default_rng(0), 0.8, 100
    truth = 6 / np.pi * np.arcsin(r / 2)
    held = 0
    metric = StsB(items=StsBenchmark("none"))
    for number in range(400):
        x, y = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], size=n).T
        names = [f"{number} {each}" for each in range(n)]
        ranks = np.stack([rankdata(x), rankdata(y)], axis=1)
        seen = Observations(ranks, names, {"cluster": names})
        drawn = metric.summarise(seen, seen.resample_weights())[""]
        low, high = percentiles(drawn.tolist(), len(drawn))
        held += low <= truth <= high
    assert held / 400 >= 0.925


def test_quotation_marks_are_text(tmp_path: Path) -> None:
    path = tmp_path / "sts-test.csv"
    rows = ('a\tb\tc\t1\t2.500\t"Stop, he said\tHe said "stop"\tmore', "a\tb\tc\t2\t0\tOne\tTwo")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert read_sts(path) == [
        RatedPair('"Stop, he said', 'He said "stop"', 2.5),
        RatedPair("One", "Two", 0),
    ]
    path.write_text(f"a\tb\tc\t1\t1\t{'word ' * 40_000}\tTwo\n", encoding="utf-8")
    assert len(read_sts(path)) == 1
    for bad, number in (("a\tb\tc\t1\tx\tOne\tTwo", 1), (f"{rows[0]}\na\tb\tc\t1\t2\tOne", 2)):
        path.write_text(f"{bad}\n", encoding="utf-8")
        with pytest.raises(InputError, match=f"line {number} needs a number in column 5"):
            read_sts(path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(InputError):
        read_sts(path)


@pytest.mark.realdata
@pytest.mark.slow
def test_minilm_on_the_test_split(realdata: Path) -> None:
    """.8203, as its authors publish it (82.03)."""
    found = score(realdata / "models" / "sts_b" / "sts-test.csv", minilm())
    assert found.n_found == 1379
    assert found.value == pytest.approx(0.8203, abs=5e-5)
    assert found.low < 0.8203 < found.high
