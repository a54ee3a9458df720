"""The synthetic worlds: what is planted is counted in the text, and words agree."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasbridge.corpora.world import GeneratedCorpus, GeneratedPosts, WorldName
from biasbridge.corpora.world_words import SETTINGS
from tests.corpora import weat_words as english
from tests.corpora.spanish_words import (
    ARTS,
    FEMALE,
    LOCAL,
    MALE,
    MIGRANT,
    PLEASANT,
    SCIENCE,
    UNPLEASANT,
    listed,
)

if TYPE_CHECKING:
    import pandas as pd

GROUPS: dict[WorldName, tuple[frozenset[str], frozenset[str]]] = {
    "en_gender": (english.MALE, english.FEMALE),
    "es_gender": (MALE, FEMALE),
    "es_migrants": (LOCAL, MIGRANT),
}
SIGNS: dict[WorldName, dict[int, frozenset[str]]] = {
    "en_gender": {+1: english.STEREOTYPICALLY_MALE, -1: english.STEREOTYPICALLY_FEMALE},
    "es_gender": {+1: SCIENCE | PLEASANT, -1: ARTS | UNPLEASANT},
    "es_migrants": {+1: PLEASANT, -1: UNPLEASANT},
}
IN_SPANISH: tuple[WorldName, ...] = ("es_gender", "es_migrants")
WORLDS: tuple[WorldName, ...] = ("en_gender", *IN_SPANISH)


@cache
def lines(world: WorldName, stereotype: float = 0.5) -> list[str]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.txt"
        GeneratedCorpus(stereotype=stereotype, world=world).write(path, seed=0)
        return path.read_text(encoding="utf-8").splitlines()


@cache
def posts(world: WorldName, label_bias: float = 0.0) -> pd.DataFrame:
    return GeneratedPosts(label_bias=label_bias, world=world).load(seed=0)


@pytest.mark.parametrize("stereotype", [-1.0, 0.5])
@pytest.mark.parametrize("world", WORLDS)
def test_every_topic_word_keeps_the_planted_company(world: WorldName, stereotype: float) -> None:
    planted = GeneratedCorpus(stereotype=stereotype, world=world).leans(seed=0)
    assert set(planted) == SIGNS[world][+1] | SIGNS[world][-1]
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    for line in lines(world, stereotype):
        words = set(line.split(" "))
        assert not (words & GROUPS[world][0] and words & GROUPS[world][1]), line
        for topic in words & planted.keys():
            first[topic] += bool(words & GROUPS[world][0])
            second[topic] += bool(words & GROUPS[world][1])
    for word, lean in planted.items():
        meetings = first[word] + second[word]
        assert meetings > 20
        assert abs(first[word] - meetings * (1 + lean) / 2) <= 1, word
    shares = {
        sign: sum(first[word] for word in words) / sum(first[w] + second[w] for w in words)
        for sign, words in SIGNS[world].items()
    }
    assert shares[+1] - shares[-1] == pytest.approx(stereotype / 2, abs=0.005)


@pytest.mark.parametrize("stereotype", [-1.0, 0.5])
@pytest.mark.parametrize("world", WORLDS)
def test_both_groups_are_equally_frequent_and_so_are_the_words_of_each(
    world: WorldName, stereotype: float
) -> None:
    counts = Counter(word for line in lines(world, stereotype) for word in line.split(" "))
    first, second = (sum(counts[word] for word in words) for words in GROUPS[world])
    assert abs(first / second - 1) < 0.01
    for words in GROUPS[world]:
        mean = np.mean([counts[word] for word in words])
        assert all(abs(counts[word] / mean - 1) < 0.35 for word in words)


@pytest.mark.parametrize("world", WORLDS)
def test_the_text_reveals_the_group(world: WorldName) -> None:
    table, names = posts(world), SETTINGS[world].groups
    assert {*table["group"]} == {*names, "none"}
    for text, group in zip(table["text"].astype(str), table["group"].astype(str), strict=True):
        words = set(text.split(" "))
        found = tuple(bool(words & group_words) for group_words in GROUPS[world])
        assert found == (group == names[0], group == names[1]), text


FEMININE_NOUNS = listed(
    "mujer niña hermana hija madre mamá tía abuela mesa puerta plaza calle biblioteca fiesta"
    " tormenta gente multitud afición clase caricia libertad maldad guerra bióloga poetisa"
)
MASCULINE_NOUNS = listed(
    "hombre niño hermano hijo padre papá tío abuelo reloj coche parque tren paseo juicio público"
    " equipo grupo amor cielo arcoiris abuso cáncer biólogo poeta actor"
)


@pytest.mark.parametrize("world", IN_SPANISH)
def test_articles_agree(world: WorldName) -> None:
    text = "\n".join([*lines(world), *posts(world)["text"].astype(str)])
    assert {*re.findall(r"\bla (\w+)", text)}.isdisjoint(MASCULINE_NOUNS)
    assert {*re.findall(r"\bel (\w+)", text)}.isdisjoint(FEMININE_NOUNS)
    assert {*re.findall(r"\bla (\w+)", text)} & FEMININE_NOUNS
    assert not re.search(r"\b(a|de|y|o) el\b|\b(a|de) (él|ella)\b", text)


def test_adjectives_and_insults_agree_with_whom_they_are_said_of() -> None:
    sayings = re.findall(r"(\S+) (?:es|eres) (un|una) (\S+)", "\n".join(posts("es_gender")["text"]))
    assert len(sayings) > 100
    for who, article, insult in sayings:
        if who in FEMALE - {"femenino"}:
            assert (article, insult[-1] == "o") == ("una", False), (who, article, insult)
        elif who in MALE:
            assert (article, insult[-1] == "a") == ("un", False), (who, article, insult)
    moods = re.findall(r"(\w+) está (\w+[oa])\b (?:por|en)", "\n".join(lines("es_migrants")))
    feminine = {"sofía", "matilde", "sharon", "yaritza"}
    masculine = {"alonso", "león", "byron", "yastin"}
    assert {mood[-1] for who, mood in moods if who in feminine} == {"a"}
    assert {mood[-1] for who, mood in moods if who in masculine} == {"o"}
