"""Words from labelled posts: log-odds by a literal loop, and what is planted found."""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasbridge.corpora.world import GeneratedPosts
from biasbridge.corpora.world_words import SETTINGS, make_world
from biasbridge.extrinsic.task_words import WordLimits, as_query, extract_task_words, log_odds
from biasbridge.files import InputError
from biasbridge.intrinsic.wordsets import read_query, write_query

if TYPE_CHECKING:
    from pathlib import Path

    from biasbridge.corpora.world import WorldName

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
    found = (log(first) - log(second)) / sqrt(1 / (6 + a) + 1 / (0 + a))
    assert float(table["z"].loc["she"]) == pytest.approx(found)
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
        found = set(table.loc[table["role"] == role, "word"])
        assert found - articles <= planted
        assert len(found - articles) >= min(len(planted), 10)


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
