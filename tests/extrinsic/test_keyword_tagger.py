"""Groups by the keywords that posts were collected by."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from biasbridge.extrinsic.keywords import KeywordTagger
from biasbridge.files import InputError

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
