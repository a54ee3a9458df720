"""Posts with a planted link: what they plant, and what they leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from biasbridge.corpora.linked_posts import LinkedPosts
from biasbridge.corpora.world_words import SETTINGS, make_world

if TYPE_CHECKING:
    from biasbridge.corpora.world import WorldName


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
    found = [second[posts["label"] == label].sum() for label in (1, 0)]
    every = [(first | second)[posts["label"] == label].sum() for label in (1, 0)]
    return found[0] / every[0], found[1] / every[1]


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
