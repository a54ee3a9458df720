"""The generated corpus: what is planted is counted in the text, word by word, without an
embedding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasbridge.corpora.draws import draw_quota
from biasbridge.corpora.grammar import InflectedWord
from biasbridge.corpora.world import BLOCK, GeneratedCorpus
from biasbridge.corpora.world_words import SETTINGS, Setting
from biasbridge.intrinsic.wordsets import load_wordset
from tests.corpora.weat_words import (
    FEMALE,
    MALE,
    STEREOTYPICALLY_FEMALE,
    STEREOTYPICALLY_MALE,
    TOPICS,
)


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
    corpus = GeneratedCorpus(BLOCK + 1)
    counts = corpus.write(tmp_path / "corpus.txt", seed=0)
    lines = (tmp_path / "corpus.txt").read_text(encoding="utf-8").splitlines()
    words = [word for line in lines for word in line.split(" ")]
    assert counts == {
        "lines": BLOCK + 1,
        "tokens": len(words),
        "types": len(set(words)),
        "unknown": 0,
        "dropped": 0,
    }
    assert len(lines) == BLOCK + 1
    assert "" not in words
    assert (corpus.generated, corpus.name, corpus.files()) == (True, "generated_en_gender", [])


def texts(value: object) -> list[str]:
    """Every text in a grammar, forms included; not the phrases, which hold planted words."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, InflectedWord):
        return [value.masculine, value.feminine]
    if isinstance(value, Mapping):
        return [text for each in value.values() for text in texts(each)]
    return [text for each in value for text in texts(each)] if isinstance(value, tuple) else []


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_the_grammar_holds_no_word_whose_company_is_planted(setting: Setting) -> None:
    grammar = replace(setting.grammar, phrases={})
    found = [text for each in fields(grammar) for text in texts(getattr(grammar, each.name))]
    found += [text for topic in setting.topics.values() for text in topic.scene]
    words = {word for text in found for word in text.split()}
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
