"""Groups by gender words."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from nltk.tokenize import TweetTokenizer

from extrinsic.tagger import FEMALE, MALE, PAIRS, GenderTagger
from files import InputError
from intrinsic.wordsets import load_wordset


def posts(*texts: str) -> pd.DataFrame:
    return pd.DataFrame({"text": texts})


def tagger(male: list[str], female: list[str]) -> GenderTagger:
    """Of these words alone, in lists, as YAML gives them."""
    return GenderTagger(male_sets=(), female_sets=(), male_words=male, female_words=female)  # type: ignore[arg-type]


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
    assert list(GenderTagger().tag(posts(text))["group"]) == [group]


def test_other_columns_stay_and_an_old_group_goes() -> None:
    before = posts("a b", "c").assign(label=[0, 1], group=["x", "y"])
    tagged = tagger(["A"], ["c"]).tag(before)
    assert tagged.to_dict("list") == {
        "text": ["a b", "c"],
        "label": [0, 1],
        "group": ["male", "female"],
    }
    assert list(before["group"]) == ["x", "y"]


def test_the_defaults_hold_weats_terms_and_do_not_overlap() -> None:
    gender = GenderTagger()
    for name in ("male_terms", "male_terms_2"):
        assert {word.lower() for word in load_wordset(name).words} <= gender.male
    for name in ("female_terms", "female_terms_2"):
        assert {word.lower() for word in load_wordset(name).words} <= gender.female
    assert {"father", "gentleman", "himself", "husband"} <= gender.male
    assert {"mother", "lady", "herself", "wife", "mum"} <= gender.female
    assert not gender.male & gender.female


def test_every_listed_word_occurs_once_and_has_its_counterpart() -> None:
    assert len(set(MALE)) == len(MALE) == len(PAIRS)
    assert len(set(FEMALE)) == len(FEMALE)
    assert set(MALE + FEMALE) == {word.lower() for word in MALE + FEMALE}


def test_the_description_counts_the_words() -> None:
    made = tagger(["he", "him"], ["she"])
    assert "2 male, 1 female" in made.description
    assert "whomever they are about; not annotated" in made.description
    assert hash(made) == hash(GenderTagger((), (), ("he", "him"), ("she",)))


@pytest.mark.parametrize(
    ("male", "female", "message"),
    [
        (["he"], [], "1 male and 0 female"),
        (["he", "they"], ["she", "They"], "stand in both the male and the female set: they"),
    ],
)
def test_unusable_word_sets_are_refused(male: list[str], female: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tagger(male, female)


def test_posts_without_text_are_refused() -> None:
    with pytest.raises(InputError, match=r"no column 'text'; did you mean 'texts'\?"):
        GenderTagger().tag(pd.DataFrame({"texts": ["a"]}))


def test_one_string_is_no_list_of_words() -> None:
    with pytest.raises(InputError, match="male_words='he': give a list, each item a text"):
        GenderTagger(male_words="he")  # type: ignore[arg-type]


@pytest.mark.realdata
def test_counts_on_published_tweets_are_near_those_of_another_tagger(realdata: Path) -> None:
    """24,783 tweets of Davidson et al. (2017); counts per class by another list of gender words, so
    only nearly equal.
    """
    tweets = pd.read_csv(realdata / "hatespeech" / "davidson2017.csv")
    tokenise = TweetTokenizer(preserve_case=False).tokenize
    groups = list(
        GenderTagger().tag(posts(*(" ".join(tokenise(tweet)) for tweet in tweets["tweet"])))[
            "group"
        ]
    )
    counts = pd.crosstab(pd.Series(groups), tweets["class"])
    assert list(counts.loc["female"]) == pytest.approx([80, 2370, 217], rel=0.1)
    assert list(counts.loc["male"]) == pytest.approx([176, 1667, 493], rel=0.1)
