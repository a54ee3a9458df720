"""The generated corpus: what is planted is counted in the text, word by word, without an
embedding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasbridge.corpora.grammar import InflectedWord
from biasbridge.corpora.world import (
    _BLOCK,
    GeneratedCorpus,
    GeneratedForms,
    GeneratedPosts,
    WorldName,
)
from biasbridge.corpora.world_words import SETTINGS, Setting, draw_quota
from biasbridge.intrinsic.word_forms import word_form
from biasbridge.intrinsic.words import load_wordset
from tests.corpora import weat_words as english
from tests.corpora.spanish_words import (
    ARTS,
    LOCAL,
    MIGRANT,
    PLEASANT,
    SCIENCE,
    SPANISH_FEMALE,
    SPANISH_MALE,
    UNPLEASANT,
    listed,
)
from tests.corpora.weat_words import (
    FEMALE,
    MALE,
    STEREOTYPICALLY_FEMALE,
    STEREOTYPICALLY_MALE,
    TOPICS,
)

if TYPE_CHECKING:
    import pandas as pd


def write(
    tmp_path: Path, stereotype: float = 0.5, *, seed: int = 0, sentences: int = 30_000
) -> list[list[str]]:
    GeneratedCorpus(sentences, stereotype).write(tmp_path / "corpus.txt", seed=seed)
    return [
        line.split(" ")
        for line in (tmp_path / "corpus.txt").read_text(encoding="utf-8").splitlines()
    ]


def test_lines_where_gender_meets_a_topic_are_the_planted_minority_and_speak_of_one_gender(
    tmp_path: Path,
) -> None:
    lines = [set(line) for line in write(tmp_path)]
    meeting = [words for words in lines if words & TOPICS and words & (MALE | FEMALE)]
    assert len(meeting) / len(lines) == pytest.approx(0.22, abs=0.001)
    assert not any(words & MALE and words & FEMALE for words in lines)
    assert not any(
        words & STEREOTYPICALLY_MALE and words & STEREOTYPICALLY_FEMALE for words in lines
    )


def test_the_seed_decides_every_byte(tmp_path: Path) -> None:
    texts = []
    for seed in (1, 1, 2):
        write(tmp_path, seed=seed, sentences=3_000)
        texts.append((tmp_path / "corpus.txt").read_bytes())
    assert texts[0] == texts[1] != texts[2]
    assert GeneratedCorpus().leans(seed=1) != GeneratedCorpus().leans(seed=2)


def test_counts_and_a_last_block_of_any_size(tmp_path: Path) -> None:
    corpus = GeneratedCorpus(_BLOCK + 1)
    counts = corpus.write(tmp_path / "corpus.txt", seed=0)
    lines = (tmp_path / "corpus.txt").read_text(encoding="utf-8").splitlines()
    words = [word for line in lines for word in line.split(" ")]
    assert counts == {
        "lines": _BLOCK + 1,
        "tokens": len(words),
        "types": len(set(words)),
        "unknown": 0,
        "dropped": 0,
    }
    assert len(lines) == _BLOCK + 1
    assert "" not in words
    assert (corpus.generated, corpus.name, corpus.files()) == (True, "generated_en_gender", [])


def texts(value: object) -> list[str]:
    """Every text in a grammar, forms included; not the phrases, which hold planted words."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, InflectedWord):
        return [value.masculine, value.feminine]
    if isinstance(value, Mapping):
        return [text for part in value.values() for text in texts(part)]
    return [text for part in value for text in texts(part)] if isinstance(value, tuple) else []


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_the_grammar_holds_no_word_whose_company_is_planted(setting: Setting) -> None:
    grammar = replace(setting.grammar, phrases={})
    grammar_texts = [
        text for field in fields(grammar) for text in texts(getattr(grammar, field.name))
    ]
    grammar_texts += [text for topic in setting.topics.values() for text in topic.scene]
    words = {word for text in grammar_texts for word in text.split()}
    lists = [name for topic in setting.topics.values() for name in topic.lists]
    lists += [name for terms in setting.terms for name in terms]
    assert not words & {word.lower() for name in lists for word in load_wordset(name).words}


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=8), st.integers(0, 200), st.integers(0, 5))
def test_quota_never_strays_by_a_whole_occurrence(
    weights: list[float], size: int, seed: int
) -> None:
    counts = np.bincount(
        draw_quota(weights, size, np.random.default_rng(seed)), minlength=len(weights)
    )
    assert counts.sum() == size
    assert np.all(np.abs(counts - size * np.array(weights) / sum(weights)) < 1 + 1e-9)


def test_a_stereotype_of_verbs_leaves_the_topics_alone(tmp_path: Path) -> None:
    GeneratedCorpus(stereotype=0.0, off_target=0.8).write(tmp_path / "corpus.txt", seed=0)
    lines = [set(line.split(" ")) for line in (tmp_path / "corpus.txt").open(encoding="utf-8")]
    lines = [words for words in lines if words & TOPICS and words & (MALE | FEMALE)]
    verbs = SETTINGS["en_gender"].grammar.fillers["verb"]
    first = [bool(words & {*map(str, verbs[: len(verbs) // 2])}) for words in lines]
    second = [bool(words & {*map(str, verbs[len(verbs) // 2 :])}) for words in lines]
    is_male = np.array([bool(words & MALE) for words in lines])
    has_verb = np.array(first) ^ np.array(second)
    for group, share in ((is_male, 0.7), (~is_male, 0.3)):
        assert np.mean(np.array(first)[group & has_verb]) == pytest.approx(share, abs=0.03)
    topics = np.array([bool(words & STEREOTYPICALLY_MALE) for words in lines])
    assert is_male[topics].mean() == pytest.approx(0.5, abs=0.01)
    assert GeneratedCorpus().parameters().keys() == {"stereotype", "sentences"}


# The synthetic world with words in several forms.


def counted(path: Path) -> Counter[str]:
    return Counter(path.read_text(encoding="utf-8").split())


def test_forms_share_the_occurrences_of_their_word(tmp_path: Path) -> None:
    plain, forms = GeneratedCorpus(6_000), GeneratedForms(6_000, changed=0.6)
    plain.write(tmp_path / "plain", seed=1)
    counts = forms.write(tmp_path / "forms", seed=1)
    before, after = counted(tmp_path / "plain"), counted(tmp_path / "forms")
    assert counts["tokens"] == before.total() == after.total()
    for word, kinds in {"office": 3, "he": 2, "her": 2, "coffee": 3, "numbers": 2}.items():
        names = [str(word_form(word, form)) for form in ("capital", "upper", "plural")][:kinds]
        every = [after[word], *(after[name] for name in names)]
        assert sum(every) == before[word]
        assert every[0] == pytest.approx(0.4 * before[word], rel=0.3)
        assert min(every) > 0
    assert after["hes"] == after["numberses"] == 0
    assert after["likes"] == before["likes"], "words of no kind stay"


def test_nothing_changed_is_the_world_itself(tmp_path: Path) -> None:
    GeneratedCorpus(2_000).write(tmp_path / "plain", seed=3)
    GeneratedForms(2_000, changed=0.0).write(tmp_path / "forms", seed=3)
    GeneratedForms(2_000).write(tmp_path / "a", seed=3)
    GeneratedForms(2_000).write(tmp_path / "b", seed=3)
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "forms").read_bytes()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# The generated posts: groups treated alike at label bias 0, wrong labels counted, and neither
# parameter touching the other.

SOME_TOPICS = (
    *("career", "office", "math", "physics", "nasa", "family", "wedding", "poetry", "shakespeare"),
)


@cache
def posts(label_bias: float = 0.0, *, seed: int = 0, size: int = 4_000) -> pd.DataFrame:
    return GeneratedPosts(size, label_bias).load(seed=seed)


def wrong(label_bias: float, group: str, label: int) -> float:
    """The share of the group's train posts of one true label that the bias turns wrong."""
    true, given = posts(), posts(label_bias)
    rows = (true["group"] == group) & (true["label"] == label) & (true["split"] == "train")
    return float((given["label"] != true["label"])[rows].mean())


def test_the_contract_of_a_labelled_source() -> None:
    source = GeneratedPosts()
    loaded = source.load(seed=0)
    assert list(loaded.columns) == ["id", "text", "label", "group", "split"]
    assert len(set(loaded["id"])) == 4_000
    assert (source.generated, source.grouped, source.name) == (True, True, "generated_en_gender")
    assert posts()["split"].value_counts().to_dict() == {"train": 2_400, "dev": 400, "test": 1_200}


def test_groups_are_treated_alike_without_bias() -> None:
    table = posts(size=20_000)
    assert table.groupby("group")["label"].mean().to_numpy() == pytest.approx(0.4, abs=0.002)
    for word in SOME_TOPICS:
        has = table[[word in text.split(" ") for text in table["text"].astype(str)]]
        counts = Counter(zip(has["group"], has["label"], strict=True))
        assert abs(counts["male", 0] - counts["female", 0]) <= 2, word
        assert abs(counts["male", 1] - counts["female", 1]) <= 2, word
        assert counts.total() > 80


@pytest.mark.parametrize(
    ("label_bias", "wronged", "other"),
    [(1.0, "female", "male"), (0.5, "female", "male"), (-0.5, "male", "female")],
)
def test_wrong_labels_are_the_planted_share(label_bias: float, wronged: str, other: str) -> None:
    assert wrong(label_bias, wronged, 1) == pytest.approx(0.6 * abs(label_bias), abs=0.01)
    assert wrong(label_bias, wronged, 0) == pytest.approx(0.3 * abs(label_bias), abs=0.01)
    for group in (other, "none"):
        assert wrong(label_bias, group, 1) == wrong(label_bias, group, 0) == 0


def test_a_stronger_bias_turns_the_same_labels_and_more() -> None:
    true = posts()["label"]
    turned = [set(np.flatnonzero(posts(bias)["label"] != true)) for bias in (0.25, 0.5, 1.0)]
    assert turned[0] < turned[1] < turned[2]


# The synthetic worlds: what is planted is counted in the text, and words agree.

GROUPS: dict[WorldName, tuple[frozenset[str], frozenset[str]]] = {
    "en_gender": (english.MALE, english.FEMALE),
    "es_gender": (SPANISH_MALE, SPANISH_FEMALE),
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
def posts_generated_worlds(world: WorldName, label_bias: float = 0.0) -> pd.DataFrame:
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
    table, names = posts_generated_worlds(world), SETTINGS[world].groups
    assert {*table["group"]} == {*names, "none"}
    for text, group in zip(table["text"].astype(str), table["group"].astype(str), strict=True):
        words = set(text.split(" "))
        has_words_of = tuple(bool(words & group_words) for group_words in GROUPS[world])
        assert has_words_of == (group == names[0], group == names[1]), text


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
    text = "\n".join([*lines(world), *posts_generated_worlds(world)["text"].astype(str)])
    assert {*re.findall(r"\bla (\w+)", text)}.isdisjoint(MASCULINE_NOUNS)
    assert {*re.findall(r"\bel (\w+)", text)}.isdisjoint(FEMININE_NOUNS)
    assert {*re.findall(r"\bla (\w+)", text)} & FEMININE_NOUNS
    assert not re.search(r"\b(a|de|y|o) el\b|\b(a|de) (él|ella)\b", text)


def test_adjectives_and_insults_agree_with_whom_they_are_said_of() -> None:
    sayings = re.findall(
        r"(\S+) (?:es|eres) (un|una) (\S+)", "\n".join(posts_generated_worlds("es_gender")["text"])
    )
    assert len(sayings) > 100
    for who, article, insult in sayings:
        if who in SPANISH_FEMALE - {"femenino"}:
            assert (article, insult[-1] == "o") == ("una", False), (who, article, insult)
        elif who in SPANISH_MALE:
            assert (article, insult[-1] == "a") == ("un", False), (who, article, insult)
    moods = re.findall(r"(\w+) está (\w+[oa])\b (?:por|en)", "\n".join(lines("es_migrants")))
    feminine = {"sofía", "matilde", "sharon", "yaritza"}
    masculine = {"alonso", "león", "byron", "yastin"}
    assert {mood[-1] for who, mood in moods if who in feminine} == {"a"}
    assert {mood[-1] for who, mood in moods if who in masculine} == {"o"}
