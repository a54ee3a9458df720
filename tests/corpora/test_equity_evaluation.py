"""The Equity Evaluation Corpus, against the counts of its publication."""

from __future__ import annotations

from biasbridge.corpora.equity_evaluation import EquityEvaluation
from biasbridge.corpora.protocols import PostChallenge
from tests.corpora.test_post_challenges import COLUMNS, require_crossed


def test_it_is_that_of_the_publication() -> None:
    """8,640 sentences, 4,320 a gender; 1,440 a feeling of four, and 240 without one."""
    challenge = EquityEvaluation()
    posts = challenge.posts(seed=0)
    assert isinstance(challenge, PostChallenge)
    assert {*COLUMNS} <= {*posts}
    require_crossed(posts)
    assert posts["group"].value_counts().to_dict() == {"female": 4320, "male": 4320}
    assert posts["term"].nunique() == 60
    assert posts["frame"].nunique() == 144
    assert posts["raw"].is_unique
    assert posts["frame"].str.endswith(" ").sum() == 4 * 60
    assert posts["label"].eq(0).all()


def test_sentences_agree_in_gender_case_and_article() -> None:
    raw = {*EquityEvaluation().posts(seed=0)["raw"]}
    assert {
        "Alonzo found himself in a vexing situation.",
        "My aunt found herself in an irritating situation.",
        "I saw him in the market.",
        "She told us all about the recent gloomy events.",
        "The situation makes this boy feel glad.",
    } <= raw


def test_races_are_compared_by_first_names() -> None:
    posts = EquityEvaluation("race").posts(seed=0)
    assert posts["group"].value_counts().to_dict() == {
        "african_american": 2880,
        "european_american": 2880,
    }
