"""Named numbers of the room, each by what it decides: on either side of it, or counted in what is
drawn with it. Numbers are written out here, so that another value fails.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from biasbridge.corpora.coreference_challenges import _winogender_condition
from biasbridge.corpora.corpus import TextCorpus
from biasbridge.corpora.tokens import split_sentences, tokenise_treebank, tokenise_tweet
from biasbridge.corpora.world import GeneratedCorpus, draw_posts
from biasbridge.corpora.world_documents import GeneratedDocuments, _list_wordings
from biasbridge.corpora.world_words import SETTINGS, make_world
from tests.thresholds import Refused, decides

WORLD = make_world(SETTINGS["en_gender"], 0)


@decides((4_999, 4_999), (5_000, 5_000), (5_001, 5_000))
def test_a_language_is_told_from_the_first_5000_texts(size: int, tmp_path: Path) -> object:
    (tmp_path / "a.txt").write_text("text\n" * size, encoding="utf-8")
    return len(TextCorpus(str(tmp_path / "a.txt")).sample())


@decides(("ab " * 16_666 + "cc", True), ("ab " * 16_667, Refused("is not a tweet")))
def test_a_tweet_has_at_most_50000_characters(text: str) -> object:
    return bool(tokenise_tweet(text))


@decides(("a" * 10_000, True), ("a" * 10_001, Refused("is not a tweet")))
def test_a_tweet_has_at_most_10000_characters_without_a_break(text: str) -> object:
    return bool(tokenise_tweet(text))


@decides(("A Prof. Lee came. He left.", (2, 2)), ("A Profs. Lee came. He left.", (3, 3)))
def test_the_longest_abbreviation_ends_no_sentence(text: str) -> object:
    return len(tokenise_treebank(text)), len(split_sentences(text))


@decides((49.9, "anti"), (50, ""), (50.1, "pro"), (None, ""))
def test_an_occupation_of_half_women_has_no_stereotype(percentage: float | None) -> object:
    return _winogender_condition("female", "0", percentage)


def test_generated_documents_have_12_sentences_half_of_them_decided_by_sense() -> None:
    documents = [each for split in GeneratedDocuments(100).load(seed=0).values() for each in split]
    assert {len(document.sentences) for document in documents} == {12}
    sentences = [sentence for document in documents for sentence in document.sentences]
    assert np.mean(["because" in sentence for sentence in sentences]) == pytest.approx(
        0.5, abs=0.01
    )


@decides(("type1", pytest.approx((0.65, 0.97))), ("type2", pytest.approx((0.8, 0.97))))
def test_wordings_are_right_from_the_weakest_to_the_strongest(subset: str) -> object:
    trusts = [wording.trust for wording in _list_wordings() if wording.subset == subset]
    return min(trusts), max(trusts)


def _topics(text: str) -> set[int]:
    """The signs of the topics that a text is about."""
    words = text.split()
    return {
        about.sign
        for name, about in WORLD.setting.topics.items()
        for phrase in WORLD.topic_phrases(name)
        if phrase.split()[-1] in words
    }


def test_generated_posts_have_the_planted_shares() -> None:
    posts = draw_posts(WORLD, 20_000, np.random.default_rng(0), topics=True)
    shares = posts["group"].value_counts(normalize=True)
    assert shares[["male", "female", "none"]].tolist() == pytest.approx([0.4, 0.4, 0.2], abs=0.001)
    openings = tuple(f"{opening} " for opening in WORLD.setting.grammar.openings)
    opened = posts["text"].str.startswith(openings)
    assert opened.mean() == pytest.approx(0.5, abs=0.01)
    about = posts["text"].map(lambda text: bool(_topics(text)))
    assert about.mean() == pytest.approx(0.3, abs=0.01)


def test_quotas_of_the_generated_corpus_hold_in_every_30000_lines(tmp_path: Path) -> None:
    """So that what follows 30,000 lines changes none of them, and what follows fewer does."""
    written = []
    for size in (20_000, 30_000, 30_001):
        GeneratedCorpus(size).write(tmp_path / "corpus.txt", seed=0)
        written.append((tmp_path / "corpus.txt").read_text(encoding="utf-8").splitlines())
    less, block, more = written
    assert block == more[:30_000]
    assert block[:1_000] != less[:1_000]


def test_pairs_lean_at_most_three_quarters_as_far_as_a_topic() -> None:
    leans = WORLD.pair_leans / 0.75
    further = len({*map(float, leans)})
    assert np.abs(leans).max() == pytest.approx(1.0)
    assert further > 2
