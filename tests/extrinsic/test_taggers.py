"""Groups by gender words."""

from __future__ import annotations

import csv
import json
from math import isnan, log, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from nltk.tokenize import TweetTokenizer
from statsmodels.stats.proportion import proportion_confint

from biasbridge.commands.agreement import main
from biasbridge.corpora.world import GeneratedPosts
from biasbridge.corpora.world_words import SETTINGS, make_world
from biasbridge.extrinsic.taggers import (
    KeywordTagger,
    MentionTagger,
    _cross_table,
    count_tags,
    tag_precision,
)
from biasbridge.extrinsic.task_words import WordLimits, as_query, extract_task_words, log_odds
from biasbridge.files import InputError
from biasbridge.intrinsic.words import read_query, write_query

if TYPE_CHECKING:
    from biasbridge.corpora.world import WorldName


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
        *(("él se fue", "male"), ("el coche de ELLA", "female"), ("la mujer y su hermano", "both")),
        *(("los padres y los niños", "neither"), ("unas mujeres , dos niñas", "female")),
        *(("la señorita y su novia", "female"), ("ellas", "neither")),
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
        ({"X": ["he"], "Y": ["trans woman"]}, "group word 'trans woman' is not a single token"),
        ({"X": ["o'neil"], "Y": ["she"]}, 'group word "o\'neil" is not a single token'),
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


# Groups by the keywords that posts were collected by.

LIST = """# Keyword set

What the streams were searched for.

## 1. Spanish language against immigrants
---

- valla Ceuta
- inmigra
- árabe

## 2. Spanish language against women
---
- a fregar
- cállate

"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "keyword_set.md").write_text(LIST, encoding="utf-8")
    return str(tmp_path / "keyword_set.md")


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("los INMIGRANTES vienen", "migrants"),
        ("#StopInmigracion ya", "migrants"),
        ("en ceuta han saltado la Valla", "migrants"),
        ("la valla de mi casa", "others"),
        ("un pais arabe", "migrants"),
        ("Árabes", "migrants"),
        ("callate y a fregar", "others"),
        ("", "others"),
    ],
)
def test_a_keyword_occurs_anywhere_whatever_its_case_and_accents(
    text: str, group: str, path: str
) -> None:
    tagger = KeywordTagger("migrants", file=path, heading="Spanish language against immigrants")
    assert list(tagger.tag(pd.DataFrame({"text": [text]}))["group"]) == [group]


def test_the_text_as_published_is_read_where_there_is_one() -> None:
    posts = pd.DataFrame({"text": ["vienen <HASH>"], "raw": ["vienen #refugiados"], "label": [0]})
    tagged = KeywordTagger("migrants", keywords=("refugiad",)).tag(posts)
    assert tagged["group"].tolist() == ["migrants"]
    assert tagged.drop(columns="group").equals(posts)


def test_a_plain_list_has_a_keyword_a_line(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("refugiad\n\nsin papeles\n", encoding="utf-8")
    tagger = KeywordTagger("m", "rest", keywords=("asilo",), file=str(tmp_path / "mine.txt"))
    posts = pd.DataFrame({"text": ["papeles , no , sin ellos", "papeles", "refugiada", "ASILO"]})
    assert tagger.tag(posts)["group"].tolist() == ["m", "rest", "m", "m"]
    assert "one of the keywords: asilo, mine.txt" in tagger.description


def test_a_hashtag_is_a_keyword_and_no_heading(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("#fuera\nasilo\n\u0301\n", encoding="utf-8")
    tagger = KeywordTagger("m", "rest", file=str(tmp_path / "mine.txt"))
    posts = pd.DataFrame({"raw": ["#Fuera ya", "fuera", "Asilo"]})
    assert tagger.tag(posts)["group"].tolist() == ["m", "rest", "m"]
    (tmp_path / "mine.txt").write_text("fuera\n", encoding="utf-8")
    assert tagger.tag(posts)["group"].tolist() == ["m", "m", "rest"], "the list as it is now"


def test_what_gives_no_keyword_is_refused(path: str) -> None:
    posts = pd.DataFrame({"text": ["a"]})
    for keywords in ((), ("a", " "), ("\u0301",)):
        with pytest.raises(InputError, match="needs keywords, none of them empty, or a file"):
            KeywordTagger("women", keywords=keywords)
    with pytest.raises(InputError, match="lists no keyword under a heading with 'against men'"):
        KeywordTagger("men", file=path, heading="against men").tag(posts)
    with pytest.raises(InputError, match="group and other_group are both 'women'"):
        KeywordTagger("women", "women", keywords=("a",))
    with pytest.raises(InputError, match="no such file"):
        KeywordTagger("women", file=f"{path}x").tag(posts)
    with pytest.raises(InputError, match="no column 'text'"):
        KeywordTagger("women", keywords=("a",)).tag(pd.DataFrame({"texts": ["a"]}))


@pytest.mark.realdata
def test_hatevals_keywords_find_the_target_that_the_order_of_the_file_gives_away(
    realdata: Path,
) -> None:
    folder = realdata / "hatespeech" / "hateval2019"
    table = pd.read_csv(folder / "train_en.tsv", sep="\t", quoting=csv.QUOTE_NONE)
    migrants, women = (
        KeywordTagger(
            "yes", file=str(folder / "keyword_set.md"), heading=f"English language {head}"
        )
        .tag(table)["group"]
        .eq("yes")
        for head in ("against immigrants", "against women")
    )
    decided = migrants != women
    assert (migrants == (table["id"] < 4_700))[decided].mean() > 0.99
    assert decided.mean() > 0.6


# Tags against an annotation: counts by hand, the interval of statsmodels, the command.

POSTS = pd.DataFrame(
    {
        "post": ["She left!", "#she @he they", "his (wife)", "the Lady's", "her", "a man"],
        "about": ["women", "", "men", "men", "women", "none"],
    }
)


@pytest.fixture
def post_file(tmp_path: Path) -> str:
    POSTS.to_csv(tmp_path / "posts.csv", index=False)
    return str(tmp_path / "posts.csv")


def test_the_command_counts_what_is_tagged_and_what_is_annotated(
    post_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main([post_file, "--text", "post", "--group", "about", "--female", "women", "--male", "men"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "annotation male female both neither" in printed
    assert "women 0 2 0 0" in printed
    assert "men 0 1 1 0" in printed
    assert "none 1 0 0 0" in printed
    assert "note: 1 of 6 posts have an empty 'about'; they are left out" in printed
    assert "tagged male: 0 of 1 are annotated men (precision 0.00 [0.00, 0.79])" in printed
    assert "tagged female: 2 of 3 are annotated women (precision 0.67 [0.21, 0.94])" in printed


def test_a_missing_annotation_is_an_empty_one() -> None:
    """Parquet keeps cells without an annotation as missing, CSV as empty."""
    posts = POSTS.assign(about=POSTS["about"].replace("", None))
    assert count_tags(posts, "post", "about").equals(count_tags(POSTS, "post", "about"))


def test_quotes_and_addresses_are_no_words_of_groups() -> None:
    posts = pd.DataFrame({"post": ["'she is mad'", "see https://x.com/her-story"], "about": "w"})
    counts = count_tags(posts, "post", "about")
    assert counts[["female", "neither"]].to_numpy().tolist() == [[1, 1]]


@pytest.mark.parametrize(("k", "n"), [(49, 197), (2, 247), (0, 5), (5, 5), (1, 1)])
def test_the_interval_is_wilsons(k: int, n: int) -> None:
    """The first two are HateXplain's women and men."""
    tags, annotation = ["female"] * n + ["both"], ["women"] * k + ["men"] * (n - k) + ["women"]
    counts = _cross_table(pd.Series(tags), pd.Series(annotation))
    result = tag_precision(counts, "female", "women")
    assert (result.tagged, result.agree, result.value) == (n, k, k / n)
    assert (result.low, result.high) == pytest.approx(proportion_confint(k, n, method="wilson"))
    assert isnan(tag_precision(counts, "male", "women").low)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", "post", "--group", "abuot"], r"no column 'abuot'; did you mean 'about'\?"),
        (["--text", "post", "--group", "about"], "with --male or --female: 'men', 'women', 'none'"),
        (
            ["--text", "post", "--group", "about", "--female", "woman"],
            r"no post is annotated 'woman'; did you mean 'women'\?",
        ),
    ],
)
def test_what_is_missing_is_named(post_file: str, options: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        main([post_file, *options])


# Words from labelled posts: log-odds by a literal loop, and what is planted found.

GROUPS = ("male", "female")
LOOSE = WordLimits(min_posts=1, min_z=0)


def training(world: WorldName = "en_gender", seed: int = 0) -> pd.DataFrame:
    return GeneratedPosts(world=world).load(seed=seed).query("split != 'test'")


def test_log_odds_are_those_of_the_paper() -> None:
    """Equations 16, 19 and 22 of Monroe et al., word by word."""
    rng = np.random.default_rng(0)
    y_i, y_j = rng.poisson(5, 30).astype(float), rng.poisson(8, 30).astype(float)
    a = rng.uniform(0.1, 4, 30)
    delta, variance = log_odds(y_i, y_j, a)
    n_i, n_j, a0 = sum(y_i), sum(y_j), sum(a)
    for w in range(30):
        i, j = y_i[w] + a[w], y_j[w] + a[w]
        expected = log(i / (n_i + a0 - i)) - log(j / (n_j + a0 - j))
        assert delta[w] == pytest.approx(expected)
        assert variance[w] == pytest.approx(1 / i + 1 / j)


def test_z_of_a_word_by_hand() -> None:
    """One label in a group alone leaves one comparison of groups: the plain log-odds of it."""
    rows = [("she", "female", 1)] * 6 + [("he", "male", 1)] * 4 + [("it", "male", 1)] * 2
    rows += [("none", "other", 0)] * 3 + [("bad", "other", 1)] * 3
    posts = pd.DataFrame(rows, columns=["text", "group", "label"])
    table = extract_task_words(posts, GROUPS, LOOSE).set_index("word")
    a, a0 = 6.0, 18.0
    first, second = (6 + a) / (6 + a0 - 6 - a), (0 + a) / (6 + a0 - a)
    result = (log(first) - log(second)) / sqrt(1 / (6 + a) + 1 / (0 + a))
    assert float(table["z"].loc["she"]) == pytest.approx(result)
    she = table.loc["she", ["role", "stands_for", "count", "count_other", "posts"]]
    assert list(she) == ["Y", "female", 6, 0, 6]


@pytest.mark.parametrize("world", ["en_gender", "es_gender", "es_migrants"])
def test_the_planted_words_of_the_groups_are_found(world: WorldName) -> None:
    """All of them or as many as a set holds, and none besides but the articles that agree."""
    table = extract_task_words(training(world), SETTINGS[world].groups)
    pairs = make_world(SETTINGS[world], 0).pairs
    articles = {"el", "un", "la", "una"} if world == "es_gender" else set()
    for role, side in (("X", 0), ("Y", 1)):
        planted = {pair[side] for pair in pairs}
        result = set(table.loc[table["role"] == role, "word"])
        assert result - articles <= planted
        assert len(result - articles) >= min(len(planted), 10)


def test_groups_with_more_hate_lend_it_no_words() -> None:
    """Hatred of one group alone: plain log-odds of the groups would take its words for theirs."""
    rng = np.random.default_rng(0)
    rows = []
    for group, person, rate in (("male", "he", 0.1), ("female", "she", 0.9)):
        for _ in range(400):
            label = int(rng.random() < rate)
            words = [
                person,
                *(f"w{n}" for n in rng.integers(0, 30, 5)),
                "vile" if label else "nice",
            ]
            rows.append((" ".join(words), group, label))
    table = extract_task_words(pd.DataFrame(rows, columns=["text", "group", "label"]), GROUPS)
    assert {role: part.iloc[0]["word"] for role, part in table.groupby("role")} == {
        "X": "he", "Y": "she", "A": "nice", "B": "vile"
    }  # fmt: skip
    assert not set(table.query("role in ('X', 'Y')")["word"]) & {"vile", "nice"}


def test_limits_hold_and_no_mark_is_a_word() -> None:
    posts = training()
    marks = [" <URL> ..." if group == "male" else "" for group in posts["group"]]
    posts = posts.assign(text=posts["text"] + marks)
    table = extract_task_words(posts, GROUPS, WordLimits(size=3, min_posts=20, min_z=3))
    assert table.groupby("role").size().to_dict() == dict.fromkeys("ABXY", 3)
    assert (table["z"] >= 3).all()
    assert (table["posts"] >= 20).all()
    assert table.groupby("role")["z"].is_monotonic_decreasing.all()
    assert table["word"].is_unique
    assert not set(table["word"]) & {"<URL>", "..."}


def test_the_query_is_a_word_file_as_any_other(tmp_path: Path) -> None:
    query = as_query(extract_task_words(training(), GROUPS), language="en", name="posts")
    write_query(query, tmp_path / "words.yaml")
    assert read_query(tmp_path / "words.yaml") == query
    assert query.name == "from_task"
    assert set(query.sets) == set("XYAB")


def test_posts_that_cannot_tell_are_refused() -> None:
    with pytest.raises(InputError, match="no training post is about 'men'"):
        extract_task_words(training(), ("men", "female"))
    with pytest.raises(InputError, match="no word for male is in 10000 training posts"):
        extract_task_words(training(), GROUPS, WordLimits(min_posts=10_000))
