"""Documents with a planted link: what they plant, and what they leave out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from biasbridge.corpora.coreference_challenges import _find_gender
from biasbridge.corpora.linked_world import (
    _PEOPLE,
    _WORDINGS,
    LinkedChallenge,
    LinkedDocuments,
    LinkedPosts,
)
from biasbridge.corpora.world import GeneratedCorpus
from biasbridge.corpora.world_words import SETTINGS, make_world

if TYPE_CHECKING:
    from biasbridge.corpora.world import WorldName
    from biasbridge.files.documents import Document


MEN, WOMEN = ({pair[side] for pair in _PEOPLE} for side in (0, 1))
WORLD = make_world(SETTINGS["en_gender"], 0)
SIGNS = {
    word: about.sign
    for topic, about in WORLD.setting.topics.items()
    for word in WORLD.topics[topic]
}


def sentences(document: Document) -> list[tuple[bool, bool, bool, str, str]]:
    """Of every sentence: whether the pronoun has the gender of the one it means, whether that one
    is named first and is a man, and the words for the two.
    """
    tokens, rows = document.tokens, []
    for (name, pronoun), (other,) in zip(
        document.clusters[::2], document.clusters[1::2], strict=True
    ):
        meant, not_meant = tokens[name[0] + 1], tokens[other[0] + 1]
        male = _find_gender(tokens[pronoun[0]]) == "male"
        rows.append((male == (meant in MEN), name < other, meant in MEN, meant, not_meant))
    return rows


def drawn(transmission: float) -> list[tuple[bool, bool, bool, str, str]]:
    documents = LinkedDocuments(100, transmission).load(seed=3)
    assert {len(document.sentences) for document in documents["train"]} == {28}
    return [sentence for document in documents["train"] for sentence in sentences(document)]


@pytest.mark.parametrize("transmission", [0.0, 0.5, 1.0])
def test_pronouns_follow_the_gender_of_whom_they_mean_as_far_as_planted(
    transmission: float,
) -> None:
    rows = drawn(transmission)
    agree, every = Counter[tuple[bool, bool]](), Counter[tuple[bool, bool]]()
    for agrees, first, man, _, _ in rows:
        agree[first, man] += agrees
        every[first, man] += 1
    assert len(every) == 4, "either person is meant, men and women alike"
    for kind, n in every.items():
        assert n == pytest.approx(len(rows) / 4, abs=3)
        planted = (1 + 0.6 * transmission) / 2
        assert agree[kind] / n == pytest.approx(planted, abs=3 / n)


def test_a_sentence_has_a_man_and_a_woman_and_words_are_equally_frequent() -> None:
    rows = drawn(1.0)
    assert all((meant in MEN) != (other in MEN) for *_, meant, other in rows)
    counts = Counter(word for *_, meant, other in rows for word in (meant, other))
    assert counts.keys() == MEN | WOMEN
    assert {*counts.values()} == {len(rows) / len(_PEOPLE)}


def test_the_wording_is_right_as_often_as_planted_whatever_the_pronoun() -> None:
    marks = {"and": True, "after": True, "what": False, "for": False}
    assert sorted(marks.values()) == sorted(first for _, first in _WORDINGS)
    right = Counter[bool]()
    every = Counter[bool]()
    for document in LinkedDocuments(100, 0.5).load(seed=0)["train"]:
        for tokens, (agrees, first, *_) in zip(
            document.sentences, sentences(document), strict=True
        ):
            [mark] = {*tokens} & marks.keys()
            right[agrees] += marks[mark] == first
            every[agrees] += 1
    for agrees, n in every.items():
        assert right[agrees] / n == pytest.approx(0.55, abs=0.01)


def test_documents_hold_no_topic_and_the_challenge_no_other_gender_than_the_pronoun() -> None:
    documents = [each for split in LinkedDocuments().load(seed=1).values() for each in split]
    learned = {token for document in documents for token in document.tokens}
    assert learned.isdisjoint(SIGNS)
    people = {word for pair in WORLD.pairs for word in pair}
    assert people > MEN | WOMEN
    tested = {token for case in LinkedChallenge().load(seed=0) for token in case.document.tokens}
    assert tested & people == {"he", "she"}
    assert tested >= SIGNS.keys()


def test_the_challenge_is_balanced_and_its_pairs_differ_in_the_pronoun_alone() -> None:
    cases = LinkedChallenge(pairs=32).load(seed=0)
    kinds = Counter[tuple[str, str, bool]]()
    for he, she in zip(cases[::2], cases[1::2], strict=True):
        assert he.unit == she.unit
        differing = [
            pair
            for pair in zip(he.document.tokens, she.document.tokens, strict=True)
            if pair[0] != pair[1]
        ]
        assert differing == [("he", "she")]
        for case in (he, she):
            right, wrong = sorted(case.questions, key=lambda question: not question.answer)
            assert SIGNS[right.occupation] == -SIGNS[wrong.occupation]
            pro = (SIGNS[right.occupation] == 1) == (case.gender == "male")
            assert case.condition == ("pro" if pro else "anti")
            assert case.document.clusters == ((right.name, right.pronoun), (wrong.name,))
            kinds[case.condition, case.gender, right.name < wrong.name] += 1
    assert {*kinds.values()} == {8}
    assert len(kinds) == 8


def test_nothing_but_pronouns_depends_on_transmission() -> None:
    without = [
        [
            ["_" if _find_gender(token) else token for token in each.tokens]
            for split in LinkedDocuments(20, transmission).load(seed=5).values()
            for each in split
        ]
        for transmission in (0.0, 1.0)
    ]
    assert without[0] == without[1]


def test_the_corpus_has_the_words_of_documents_and_challenge(tmp_path: Path) -> None:
    GeneratedCorpus(10_000).write(tmp_path / "corpus.txt", seed=0)
    known = set((tmp_path / "corpus.txt").read_text(encoding="utf-8").split())
    documents = [each for split in LinkedDocuments().load(seed=0).values() for each in split]
    documents += [case.document for case in LinkedChallenge().load(seed=0)]
    assert {token for document in documents for token in document.tokens} <= known


# Posts with a planted link: what they plant, and what they leave out.


def words_of(world: WorldName, sign: int) -> set[str]:
    setting = SETTINGS[world]
    made = make_world(setting, 0)
    return {
        word
        for topic, about in setting.topics.items()
        if about.sign == sign
        for phrase in made.topic_phrases(topic)
        for word in [phrase.split()[-1]]
    }


def holding(posts: pd.DataFrame, words: set[str]) -> pd.Series[bool]:
    return posts["text"].map(lambda text: not words.isdisjoint(text.split()))


def shares(transmission: float) -> tuple[float, float]:
    """The share of sign -1 among topical training posts, of the hateful and of the benign."""
    posts = LinkedPosts(8_000, transmission).load(seed=0).query("split == 'train'")
    first, second = (holding(posts, words_of("en_gender", sign)) for sign in (1, -1))
    assert (first | second).mean() == pytest.approx(0.5, abs=0.01)
    counts = [second[posts["label"] == label].sum() for label in (1, 0)]
    every = [(first | second)[posts["label"] == label].sum() for label in (1, 0)]
    return counts[0] / every[0], counts[1] / every[1]


@pytest.mark.parametrize("transmission", [0.0, 0.5, 1.0])
def test_labels_follow_topics_as_far_as_planted(transmission: float) -> None:
    lean = 0.7 * transmission
    assert shares(transmission) == pytest.approx(((1 + lean) / 2, (1 - lean) / 2), abs=0.01)


@pytest.mark.parametrize("world", ["en_gender", "es_gender", "es_migrants"])
def test_groups_and_topics_never_meet(world: WorldName) -> None:
    posts = LinkedPosts(2_000, world=world).load(seed=1)
    setting = SETTINGS[world]
    people = {
        word.split()[-1]
        for pair in make_world(setting, 1).pairs
        for word in map(setting.grammar.phrase, pair)
    }
    learned, tested = (posts[(posts["split"] == "test") == is_test] for is_test in (False, True))
    assert not holding(learned, people).any()
    assert set(learned["group"]) == {"none"}
    topics = words_of(world, 1) | words_of(world, -1)
    assert not holding(tested, topics - people).any()
    assert holding(tested, people).mean() == pytest.approx(0.8, abs=0.01)
    assert set(tested["group"]) == {*setting.groups, "none"}


def test_test_posts_do_not_depend_on_transmission() -> None:
    none, full = (LinkedPosts(1_000, t).load(seed=3).query("split == 'test'") for t in (0.0, 1.0))
    pd.testing.assert_frame_equal(none, full)


def test_posts_about_the_groups_are_the_share_asked_for_and_change_no_test_post() -> None:
    plain, mixed = (LinkedPosts(2_000, addressed=share).load(seed=1) for share in (0.0, 0.25))
    tested = "split == 'test'"
    pd.testing.assert_frame_equal(plain.query(tested), mixed.query(tested))
    learned = mixed.query("split == 'train'")
    about = learned["group"] != "none"
    assert about.mean() == pytest.approx(0.25 * 0.8, abs=0.01)
    assert learned[about].groupby("group")["label"].mean().tolist() == pytest.approx(
        [0.4, 0.4], abs=0.03
    )
    assert LinkedPosts().keyed() == {}
    assert LinkedPosts(addressed=0.25).keyed() == {"addressed": 0.25}
