"""Nats a token on plain lines: by hand, and what the built-in lines are."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from biasbridge.corpora.planted_occupations import PlantedOccupations
from biasbridge.intrinsic.items.item import ItemSet, plain_line
from biasbridge.intrinsic.items.library import library
from biasbridge.intrinsic.likelihood.neutral_loss import NeutralLoss
from biasbridge.intrinsic.wordsets import load_queries
from tests.intrinsic.likelihood.tables import Table, given, table_model

if TYPE_CHECKING:
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
SET = ItemSet("lines", "en", items=tuple(map(plain_line, LINES)))
WORDS_OF_BIAS = ("weat6", "weat6b", "weat7", "weat8", "professions", "gender_occupations")
GENDERED = {"man", "men", "woman", "women", "boy", "girl", "he", "she", "him", "her", "his"}


def test_a_masked_model_by_hand() -> None:
    """Two, three and one tokens; the third line has an unknown one."""
    metric = NeutralLoss.by_convention(items=given(SET))
    [(row, each)] = metric.score_with_singles(table_model(KNOWN, TABLE), seed=0)
    first, second, last = 0.5 * 0.2, 0.4 * 0.1 * 0.5, 0.25
    assert row.value == pytest.approx(-math.log(first * second * last) / 6, abs=1e-6)
    expected = {
        "it rains": -math.log(first) / 2,
        "it rains today": -math.log(second) / 3,
        "here": -math.log(last),
    }
    assert each == pytest.approx(expected, abs=1e-6)
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
    unknown = ItemSet("unknown", "en", items=(plain_line("snow"),))
    [row] = NeutralLoss.by_convention(items=given(unknown)).score(table_model(KNOWN, {}), seed=0)
    assert "has a token unknown to table" in row.reason
    assert "has no plain lines" in NeutralLoss.reason_against(library()["occupations"])


def test_neutral_sentences_hold_no_word_of_a_query() -> None:
    """No word of WEAT 6 to 8, no occupation, none with a gender."""
    queries = load_queries(WORDS_OF_BIAS)
    named = {
        word.lower() for query in queries for each in query.sets.values() for word in each.words
    }
    lines = library()["neutral_sentences"].lines
    assert len({*lines}) == len(lines) == 60
    for line in lines:
        words = {*re.findall(r"[\w']+", line.lower())}
        forms = words | {word.removesuffix("s") for word in words}
        assert not forms & (named | GENDERED), line
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
