"""Nats a token on plain lines, and cosines of sentences against what people say."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest
from scipy.stats import rankdata

from biasbridge.corpora.items import StsBenchmark
from biasbridge.corpora.planted_occupations import PlantedOccupations
from biasbridge.files import InputError
from biasbridge.intrinsic.models.item_metric import ItemObservations
from biasbridge.intrinsic.models.items import ItemSet, _plain_line, library
from biasbridge.intrinsic.models.utility import NeutralLoss, RatedPair, StsB, read_sts
from biasbridge.intrinsic.score import Score, percentiles
from biasbridge.intrinsic.words import load_queries
from tests.intrinsic.models.tables import Table, given, table_model
from tests.minilm import minilm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from biasbridge.corpora.planted_occupations import Language


KNOWN = ("it", "rains", "today", "here")
TABLE: Table = {
    # of a masked model
    ("_", "rains"): {"it": 0.5},
    ("it", "_"): {"rains": 0.2},
    ("_", "rains", "today"): {"it": 0.4},
    ("it", "_", "today"): {"rains": 0.1},
    ("it", "rains", "_"): {"today": 0.5},
    ("_",): {"here": 0.25},
    # of a causal one, with nothing before the first token
    ("it",): {"rains": 0.3},
    ("it", "rains"): {"today": 0.6},
}
LINES = ("it rains", "it rains today", "it snows", "here")
SET = ItemSet("lines", "en", items=tuple(map(_plain_line, LINES)))
WORDS_OF_BIAS = ("weat6", "weat6b", "weat7", "weat8", "professions", "gender_occupations")
GENDERED = {"man", "men", "woman", "women", "boy", "girl", "he", "she", "him", "her", "his"}


def test_a_masked_model_by_hand() -> None:
    """Two, three and one tokens; the third line has an unknown one."""
    metric = NeutralLoss.by_convention(items=given(SET))
    [(row, singles)] = metric.score_with_singles(table_model(KNOWN, TABLE), seed=0)
    first, second, last = 0.5 * 0.2, 0.4 * 0.1 * 0.5, 0.25
    assert row.value == pytest.approx(-math.log(first * second * last) / 6, abs=1e-6)
    expected = {
        "it rains": -math.log(first) / 2,
        "it rains today": -math.log(second) / 3,
        "here": -math.log(last),
    }
    assert singles == pytest.approx(expected, abs=1e-6)
    assert (row.n_found, row.oov) == (3, "it snows")
    assert math.isnan(row.unbiased)
    assert "masked at a time=one token; tokens scored=6; lines=3" in row.settings
    assert row.low < row.value < row.high


def test_a_causal_model_by_hand() -> None:
    """The first token has none before it, so that a line of one token says nothing."""
    [row] = NeutralLoss.by_convention(items=given(SET)).score(
        table_model(KNOWN, TABLE, causal=True), seed=0
    )
    assert row.value == pytest.approx(-math.log(0.3 * 0.3 * 0.6) / 3, abs=1e-6)
    assert row.oov == "it snows,here"
    assert "first token=none" in row.settings


def test_no_line_says_why() -> None:
    unknown = ItemSet("unknown", "en", items=(_plain_line("snow"),))
    [row] = NeutralLoss.by_convention(items=given(unknown)).score(table_model(KNOWN, {}), seed=0)
    assert "has a token unknown to table" in row.reason
    assert "has no plain lines" in NeutralLoss.reason_against(library()["occupations"])


def test_neutral_sentences_hold_no_word_of_a_query() -> None:
    """No word of WEAT 6 to 8, no occupation, none with a gender."""
    queries = load_queries(WORDS_OF_BIAS)
    names = {
        word.lower()
        for query in queries
        for wordset in query.sets.values()
        for word in wordset.words
    }
    lines = library()["neutral_sentences"].lines
    assert len({*lines}) == len(lines) == 60
    for line in lines:
        words = {*re.findall(r"[\w']+", line.lower())}
        forms = words | {word.removesuffix("s") for word in words}
        assert not forms & (names | GENDERED), line
        assert "," not in line  # so that a list of lost lines can be read


@pytest.mark.parametrize(
    ("world", "name"), [("en", "occupations_neutral"), ("es", "occupations_es_neutral")]
)
def test_planted_lines_are_new_and_their_pairs_of_words_are_not(
    tmp_path: Path, world: Language, name: str
) -> None:
    PlantedOccupations(4_000, world=world).write(tmp_path / "corpus.txt", seed=0)
    corpus = {*(tmp_path / "corpus.txt").read_text(encoding="utf-8").splitlines()}
    seen = {pair for line in corpus for pair in pairs_of_words(line)}
    lines = library()[name].lines
    assert len({*lines}) == len(lines)
    assert not corpus & {*lines}
    for line in lines:
        assert pairs_of_words(line) <= seen


def pairs_of_words(line: str) -> set[tuple[str, str]]:
    """Those that follow one another, beginning and end included."""
    words = ["", *line.split(" "), ""]
    return {*pairwise(words)}


# Similarity of sentences: cosines against what people say.


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
    rows = (f"a\tb\tc\t1\t{score}\t0\t{angle}" for angle, score in zip(ANGLES, scores, strict=True))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_rho_by_hand(tmp_path: Path) -> None:
    """Ranks of cosines fall with the angle: 6 5 4 3 2 1; ties of the scores get mean ranks."""
    scores = [4, 5, 3, 2, 1, 1]
    result = score(write(tmp_path / "sts-dev.csv", scores), Angles())
    expected = np.corrcoef([6, 5, 4, 3, 2, 1], rankdata(scores))[0, 1]
    assert result.value == pytest.approx(expected)
    assert (result.query, result.n_found) == ("sts_b_dev", 6)
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
        names = [f"{number} {index}" for index in range(n)]
        ranks = np.stack([rankdata(x), rankdata(y)], axis=1)
        seen = ItemObservations(ranks, names, {"cluster": names})
        draws = metric.summarise(seen, seen.resample_weights())[""]
        low, high = percentiles(draws.tolist(), len(draws))
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
    result = score(realdata / "models" / "sts_b" / "sts-test.csv", minilm())
    assert result.n_found == 1379
    assert result.value == pytest.approx(0.8203, abs=5e-5)
    assert result.low < 0.8203 < result.high
