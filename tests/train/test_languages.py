"""Texts, words and groups that are known to be in different languages are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from biasbridge.corpora.corpus import TextCorpus
from biasbridge.corpora.hatespeech import HatEval
from biasbridge.corpora.labelled import TableSource
from biasbridge.corpora.world import GeneratedCorpus, GeneratedPosts
from biasbridge.debias.balance import Balance
from biasbridge.debias.word_choice import WordChoice
from biasbridge.extrinsic.keywords import KeywordTagger
from biasbridge.extrinsic.tagger import MentionTagger
from biasbridge.files import InputError
from biasbridge.files.language import language_of
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.intrinsic.wordsets import load_query, write_query
from biasbridge.train.engine.point import Point
from biasbridge.train.subjects.embed import Pretrained
from tests.points import SUBJECT, TASK, WEAT

SPANISH = replace(SUBJECT, corpus=GeneratedCorpus(world="es_gender"))
POSTS = replace(TASK, source=GeneratedPosts(world="es_gender"))
QUERY = Weat(queries=("gender_es",), case="lower")


def test_who_has_a_language() -> None:
    languages = {
        language_of(each)
        for each in (
            SPANISH,
            POSTS,
            HatEval("folder", "es"),
            TextCorpus("a.txt", language="es"),
            TableSource("a.csv", language="es"),
            WordChoice("migrant_es"),
            MentionTagger("gender_mentions_es"),
            KeywordTagger("migrants", keywords=("inmigra",), language="es"),
        )
    }
    assert languages == {"es"}
    unknown = (
        TextCorpus("a.txt"),
        TableSource("a.csv"),
        replace(SUBJECT, embedding=Pretrained("a")),
    )
    assert {language_of(each) for each in (*unknown, None)} == {"und"}


def test_one_language_is_fine_and_so_is_an_unknown_one() -> None:
    Point(experiment="e", seed=0, subject=SPANISH, metrics=(QUERY,), task=POSTS)
    unknown = replace(SUBJECT, corpus=TextCorpus("a.txt"))
    for metric in (QUERY, WEAT):
        Point(experiment="e", seed=0, subject=unknown, metrics=(metric,))


def test_queries_posts_and_vectors_in_two_languages_are_refused() -> None:
    with pytest.raises(InputError, match=r"the subject is in 'es' and query 'weat6b' is in 'en'"):
        Point(experiment="e", seed=0, subject=SPANISH, metrics=(WEAT,))
    with pytest.raises(
        InputError, match=r"subject is in 'en' and the task is in 'es'; choose data"
    ):
        Point(experiment="e", seed=0, subject=SUBJECT, metrics=(), task=POSTS)


def test_built_in_words_follow_the_text_and_those_of_a_file_are_refused(tmp_path: Path) -> None:
    followed, unused = replace(SPANISH, debias=Balance("debias")).words, SPANISH.words
    assert isinstance(followed, WordChoice)
    assert isinstance(unused, WordChoice)
    assert followed.query == "gender_union_es"
    assert unused.query == "gender_union", "not used: nothing is modified"
    write_query(load_query("gender_union"), tmp_path / "english.yaml")
    words = WordChoice(None, file=str(tmp_path / "english.yaml"))
    with pytest.raises(
        InputError, match=r"=generated_es_gender is in 'es' and words=english is in"
    ):
        replace(SPANISH, debias=Balance("debias"), words=words)
    with pytest.raises(InputError, match=r"sembias: not in 'es', which has .*, gender_es, "):
        WordChoice("sembias").in_language("es")


def test_a_built_in_tagger_follows_the_posts_and_another_is_refused() -> None:
    followed = replace(TASK, source=HatEval("folder", "es"))
    assert followed.groups.name == "gender_mentions_es"
    keywords = KeywordTagger("migrants", keywords=("migrant",), language="en")
    with pytest.raises(InputError, match=r"hateval_es is in 'es' and groups=keywords is in"):
        replace(TASK, source=HatEval("folder", "es"), groups=keywords)
    assert POSTS.groups.name == "gender_mentions", "not used: the posts come with their groups"
