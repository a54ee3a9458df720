"""Groups by gender words."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from nltk.tokenize import TweetTokenizer

from biasbridge.extrinsic.tagger import MentionTagger
from biasbridge.files import InputError


def posts(*texts: str) -> pd.DataFrame:
    return pd.DataFrame({"text": texts})


def tagger(folder: Path, **words: list[str]) -> MentionTagger:
    """Of these words alone, in a file of one's own."""
    (folder / "mine.json").write_text(json.dumps({"q": words}), encoding="utf-8")
    return MentionTagger(None, str(folder / "mine.json"))


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("the man left", "male"),
        ("The WOMAN left", "female"),
        ("he and she left", "both"),
        ("they left", "neither"),
        ("", "neither"),
        ("she's here", "female"),
        ("the men's room", "male"),
        ("she\u2019ll come", "female"),
        ("the manual , theory and shed", "neither"),
        ("you guys should not miss it", "neither"),
        ("my mum , my grandmother and my aunt", "female"),
        ("his wife", "both"),
        ("<MENTION> himself !", "male"),
    ],
)
def test_groups_by_whole_words(text: str, group: str) -> None:
    assert list(MentionTagger().tag(posts(text))["group"]) == [group]


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("él se fue", "male"),
        ("el coche de ELLA", "female"),
        ("la mujer y su hermano", "both"),
        ("los padres y los niños", "neither"),
        ("unas mujeres , dos niñas", "female"),
        ("la señorita y su novia", "female"),
        ("ellas", "neither"),
    ],
)
def test_spanish_groups(text: str, group: str) -> None:
    assert list(MentionTagger("gender_mentions_es").tag(posts(text))["group"]) == [group]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"X": ["he"]}, "query 'q' has no Y; X are the words for the first group"),
        (
            {"X": ["he", "they"], "Y": ["she", "They"]},
            "words of both male and female: they; leave each in one",
        ),
        ({"X": ["he"], "Y": ["trans woman"]}, "group word 'trans woman' is no single token"),
        ({"X": ["o'neil"], "Y": ["she"]}, 'group word "o\'neil" is no single token'),
    ],
)
def test_unusable_word_sets_are_refused(
    words: dict[str, list[str]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        tagger(tmp_path, **words)


@pytest.mark.realdata
def test_counts_on_published_tweets_are_near_those_of_another_tagger(realdata: Path) -> None:
    """24,783 tweets of Davidson et al. (2017); counts per class by another list of gender words, so
    only nearly equal.
    """
    tweets = pd.read_csv(realdata / "hatespeech" / "davidson2017.csv")
    tokenise = TweetTokenizer(preserve_case=False).tokenize
    groups = list(
        MentionTagger().tag(posts(*(" ".join(tokenise(tweet)) for tweet in tweets["tweet"])))[
            "group"
        ]
    )
    counts = pd.crosstab(pd.Series(groups), tweets["class"])
    assert list(counts.loc["female"]) == pytest.approx([80, 2370, 217], rel=0.1)
    assert list(counts.loc["male"]) == pytest.approx([176, 1667, 493], rel=0.1)
