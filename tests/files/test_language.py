"""Names are compared in one form; what is printed is the file's own spelling."""

from __future__ import annotations

from hashlib import sha256

import pandas as pd
import pytest

from biasbridge.analysis.printing import word_lists
from biasbridge.analysis.result_folder import without_local_details
from biasbridge.analysis.tables import Tables
from biasbridge.files import language as masking
from biasbridge.files.language import normalise_text


def test_words_keep_their_digits() -> None:
    assert normalise_text("1.0") == "1.0"


# Slurs are masked by hashes; the test has a made-up word for one.

MADE_UP = "zwkqpl"
HASHES = masking.HASHES


@pytest.fixture(autouse=True)
def _made_up_slur(monkeypatch: pytest.MonkeyPatch) -> None:
    start = sha256(MADE_UP.encode()).hexdigest()[:8]
    monkeypatch.setattr(masking, "HASHES", frozenset({start}))


def test_all_but_the_first_letter_is_masked() -> None:
    assert masking.mask_slurs("a Zwkqpl, #zwkqpl zwkqplish") == "a Z*****, #z***** zwkqplish"


def test_the_list_is_of_hashes_alone() -> None:
    assert all(len(digest) == 8 and int(digest, 16) >= 0 for digest in HASHES)


def test_words_drawn_from_posts_are_masked_where_they_are_shown() -> None:
    drawn = {"point": "p", "query": "from_task", "role": "B", "stands_for": "label 1"}
    words = pd.DataFrame([{**drawn, "word": MADE_UP}, {**drawn, "word": "other"}])
    assert word_lists(words) == ["from_task, B (label 1), 1 point: z*****, other"]
    reason = f"missing {MADE_UP}"
    scores = pd.DataFrame({"query": ["from_task", "mine"], "oov": MADE_UP, "reason": reason})
    shared = without_local_details(Tables(pd.DataFrame({"point": ["p"]}), scores, pd.DataFrame()))
    assert shared.intrinsic["oov"].tolist() == ["z*****", MADE_UP]
    assert shared.intrinsic["reason"].tolist() == ["missing z*****", reason]
