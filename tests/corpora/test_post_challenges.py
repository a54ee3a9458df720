"""Challenge sets of posts: what they hold, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from biasbridge.corpora.post_challenges import (
    EquityEvaluation,
    HateCheck,
    IdentityTemplates,
    TableChallenge,
    TaggedFounta,
)
from biasbridge.corpora.protocols import Challenge, PostChallenge
from biasbridge.corpora.world import GeneratedTemplates
from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.corpora.world import WorldName


COLUMNS = ["id", "text", "label", "group", "term", "frame"]


def require_crossed(posts: pd.DataFrame) -> None:
    """Every term of a frame is in it once, with the label of the frame."""
    framed = posts[posts["frame"] != ""]
    by_frame = framed.groupby("frame")
    assert (by_frame["term"].nunique() == by_frame.size()).all()
    assert (by_frame["label"].min() == by_frame["label"].max()).all()


@pytest.mark.parametrize("world", ["en_gender", "es_gender", "es_migrants"])
def test_generated_templates_hold_every_word_in_every_frame(world: WorldName) -> None:
    challenge = GeneratedTemplates(frames=40, world=world)
    posts = challenge.posts(seed=0)
    assert {*COLUMNS} <= {*posts}
    assert not isinstance(challenge, Challenge)
    assert isinstance(challenge, PostChallenge)
    require_crossed(posts)
    terms = posts["term"].nunique()
    assert len(posts) == 40 * terms
    assert posts["label"].mean() == 0.5
    assert posts["group"].nunique() == 2
    assert posts["id"].is_unique
    pd.testing.assert_frame_equal(posts, challenge.posts(seed=1))


TEMPLATES = [
    ("verb_adj", "nontoxic", "hug green"),
    ("verb_adj", "nontoxic", "hug middle sized"),
    ("being_adj", "toxic", "Being green is bad"),
    ("being_adj", "toxic", "Being middle sized is bad"),
    ("name_adj", "nontoxic", "Zoe is a nice green"),
    ("name_adj", "nontoxic", "Zoe is a nice middle sized"),
    ("you_occupation", "nontoxic", "You are a nice coal miner"),
]


def test_identity_templates_are_cut_into_frame_and_term(tmp_path: Path) -> None:
    path = tmp_path / "en.csv"
    pd.DataFrame(TEMPLATES, columns=["template", "toxicity", "phrase"]).to_csv(path, index=False)
    posts = IdentityTemplates(str(path)).posts(seed=0)
    require_crossed(posts)
    assert set(posts["term"]) == {"green", "middle sized", "coal miner"}
    assert set(posts["group"]) == {"green", "middle sized", "occupation"}
    assert posts["frame"].nunique() == 4
    assert posts.loc[posts["raw"].str.startswith("Being"), "label"].tolist() == [1, 1]
    bad = [*TEMPLATES, ("verb_adj", "toxic", "hug")]
    pd.DataFrame(bad, columns=["template", "toxicity", "phrase"]).to_csv(path, index=False)
    with pytest.raises(InputError, match="'hug' matches none of the templates"):
        IdentityTemplates(str(path)).posts(seed=0)


def test_hatecheck_exchanges_targets_in_its_templates(tmp_path: Path) -> None:
    rows = [
        ("I dislike tall people.", "hateful", "tall people", 1, "I dislike [IDENTITY_P]."),
        ("I dislike short people.", "hateful", "short people", 1, "I dislike [IDENTITY_P]."),
        ("Tall ones!", "non-hateful", "tall people", 2, "Tall ones!"),
        ("I dislike rain.", "non-hateful", "", 3, "I dislike rain."),
    ]
    names = ["test_case", "label_gold", "target_ident", "templ_id", "case_templ"]
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "cases.csv", index=False)
    posts = HateCheck(str(tmp_path / "cases.csv")).posts(seed=0).set_index("raw")
    require_crossed(posts)
    assert posts["group"].fillna("").to_dict() == {
        "I dislike tall people.": "tall people",
        "I dislike short people.": "short people",
        "Tall ones!": "tall people",
        "I dislike rain.": "",
    }
    assert (posts["frame"] != "").to_dict() == {text: "[I" in slot for text, *_, slot in rows}
    assert (posts["term"] != "").tolist() == (posts["frame"] != "").tolist()


def test_ones_own_table(tmp_path: Path) -> None:
    pd.DataFrame(
        {
            "phrase": ["a x", "a y", "b x", "b y"],
            "bad": [1, 1, 0, 0],
            "word": ["x", "y", "x", "y"],
            "where": ["a", "a", "b", "b"],
        }
    ).to_csv(tmp_path / "mine.csv", index=False)
    mine = TableChallenge(str(tmp_path / "mine.csv"), "phrase", "bad", None, "word", "where")
    posts = mine.posts(seed=0)
    assert mine.name == "mine"
    require_crossed(posts)
    assert posts["group"].tolist() == posts["term"].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "a challenge set needs groups to compare: name the column of groups or of terms"),
        ({"group": "g", "frame": "f"}, "challenge.frame is the text around a term"),
    ],
)
def test_a_table_without_groups_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TableChallenge("mine.csv", **options)


@pytest.mark.slow
@pytest.mark.realdata
def test_the_published_sets(realdata: Path) -> None:
    """The counts that their releases state."""
    cases = HateCheck(str(realdata / "hatespeech/hatecheck_en/test_suite_cases.csv"))
    posts = cases.posts(seed=0)
    assert (len(posts), posts["label"].sum()) == (3728, 2563)
    require_crossed(posts)
    assert posts.loc[posts["frame"] != "", "frame"].nunique() == 421
    phrases = IdentityTemplates(str(realdata / "hatespeech/identity_templates/en.csv.xz"))
    posts = phrases.posts(seed=0)
    assert (len(posts), posts["label"].mean()) == (76_564, 0.5)
    require_crossed(posts)
    identities = posts[posts["group"] != "occupation"]
    assert (identities.groupby("term").size() == 1514).all()
    assert identities["term"].nunique() == 50


# The Equity Evaluation Corpus, against the counts of its publication.


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


TAGGED = (
    "id,tag,{label},tweet\n1,Male,{bad},you stupid man\n"
    "2,female ,{good},good morning to all women\n3,neutral,{bad},awful day\n"
)


@pytest.mark.parametrize(
    ("label", "bad", "good"), [("class", "Abusive", "normal"), ("label", "1", "0")]
)
def test_tags_and_labels_are_found_by_what_columns_hold(
    label: str, bad: str, good: str, tmp_path: Path
) -> None:
    path = tmp_path / "posts.csv"
    path.write_text(TAGGED.format(label=label, bad=bad, good=good))
    posts = TaggedFounta(str(path)).posts(seed=0).set_index("raw")
    assert posts["group"].to_dict() == {
        "you stupid man": "male",
        "good morning to all women": "female",
        "awful day": "neutral",
    }
    assert posts["label"].to_dict() == {
        "you stupid man": 1,
        "good morning to all women": 0,
        "awful day": 1,
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("text,label\na man,abusive\n", "no column holds only male, female, neutral"),
        ("text,tag\na man,male\n", "no column holds only abusive, hateful, normal, spam or 0, 1"),
        ("a man,abusive,male\na b,normal,female\n", "its first line is a post"),
    ],
)
def test_other_files_than_tagged_posts_are_refused(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text(text)
    with pytest.raises(InputError, match=reason):
        TaggedFounta(str(tmp_path / "posts.csv")).posts(seed=0)
