r"""Word sets from labelled posts: what sets two groups apart in them, and what the two labels.

The log-odds of a word with an informative Dirichlet prior (Monroe, Colaresi & Quinn, 2008): of
sides i and j with y_i, y_j occurrences of it among n_i, n_j, and a prior of a = c times its
occurrences in all posts, a0 over all words,

    d = log((y_i + a) / (n_i + a0 - y_i - a)) - log((y_j + a) / (n_j + a0 - y_j - a))
    s^2 = 1 / (y_i + a) + 1 / (y_j + a),    z = d / s

The groups are compared within each label and the labels within each group, and the comparisons are
joined by the inverse of their variance:

    d = sum_k (d_k / s_k^2) / sum_k (1 / s_k^2),    z = sum_k (d_k / s_k^2) / sqrt(sum_k 1 / s_k^2)

Else the words of a group would be those of hatred where more of the posts about it are hateful, and
a metric would find in the word sets what it should find in the embedding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from files import InputError
from files.tables import require_columns
from intrinsic.wordsets import Query, WordSet

if TYPE_CHECKING:
    from collections.abc import Mapping

Floats = NDArray[np.float64]
FROM_TASK = "from_task"
SOURCE = "log-odds with an informative Dirichlet prior (Monroe, Colaresi & Quinn, 2008) of {}"


class Limits(NamedTuple):
    """size: the most words of a set. min_posts: the fewest posts that hold a word. min_z: the least
    z. prior: what the prior counts for, as a multiple of the posts.
    """

    size: int = 25
    min_posts: int = 10
    min_z: float = 1.96
    prior: float = 1.0


DEFAULT = Limits()


class Counted(NamedTuple):
    """Words in order, how often each occurs, (3, 2, words), by group (the two and others) and
    label; and in how many posts (words,).
    """

    words: Sequence[str]
    counts: Floats
    posts: Floats


class Contrast(NamedTuple):
    """Of each word d and z, positive: the first side's, and how often it occurs on either side.
    Shapes: (words,).
    """

    log_odds: Floats
    z: Floats
    first: Floats
    second: Floats


def words_of_task(
    posts: pd.DataFrame, groups: tuple[str, str], limits: Limits = DEFAULT
) -> pd.DataFrame:
    """The words of X and Y (posts about the first group against the second), A and B (label 0
    against 1): one row a word, the largest z first.

    ``posts`` has the columns text, label and group: those to learn from, no others. Columns:
    ``role``, ``stands_for`` (the group, or the label), ``word``, ``z`` and ``log_odds`` (positive:
    of this side), ``count`` and ``count_other`` (on this side and the other), ``posts`` (that hold
    it). A word that could be of a group and of a label is of where its z is larger; one without a
    letter is of neither. Nothing is drawn at random.

    Raises ``InputError`` for a group without posts, and for a set without a word.
    """
    require_columns(posts, ["text", "label", "group"], "the table of posts")
    absent = [group for group in groups if not (posts["group"] == group).any()]
    if absent:
        raise InputError(
            f"no training post is about {absent[0]!r}: {FROM_TASK} has nothing to compare; name"
            " other groups"
        )
    counted = count_words(posts, groups)
    by_group, by_label = contrasts(counted, limits.prior)
    usable = (counted.posts >= limits.min_posts) & np.array(
        [any(map(str.isalpha, word)) and word[0] != "<" for word in counted.words]
    )
    of_group = np.abs(by_group.z) >= np.abs(by_label.z)
    sides = (
        ("X", groups[0], by_group, 1, of_group),
        ("Y", groups[1], by_group, -1, of_group),
        ("A", "label 0", by_label, 1, ~of_group),
        ("B", "label 1", by_label, -1, ~of_group),
    )
    frames = []
    for role, stands_for, contrast, sign, own in sides:
        strong = usable & own & (sign * contrast.z >= limits.min_z)
        order = np.flatnonzero(strong)[np.argsort(-sign * contrast.z[strong], kind="stable")]
        if not len(order):
            raise InputError(
                f"{FROM_TASK}: no word for {stands_for} is in {limits.min_posts} training posts"
                f" and has z of {limits.min_z:g}; lower from_task.min_posts or from_task.min_z"
            )
        frames.append(_side(role, stands_for, counted, contrast, sign, order[: limits.size]))
    return pd.concat(frames, ignore_index=True)


def _side(
    role: str,
    stands_for: str,
    counted: Counted,
    contrast: Contrast,
    sign: int,
    order: NDArray[np.intp],
) -> pd.DataFrame:
    this, other = (contrast.first, contrast.second)[::sign]
    return pd.DataFrame(
        {
            "role": role,
            "stands_for": stands_for,
            "word": [counted.words[place] for place in order],
            "z": sign * contrast.z[order],
            "log_odds": sign * contrast.log_odds[order],
            "count": this[order].astype(int),
            "count_other": other[order].astype(int),
            "posts": counted.posts[order].astype(int),
        }
    )


def count_words(posts: pd.DataFrame, groups: tuple[str, str]) -> Counted:
    """The words of posts in the order of the alphabet, counted: the order of posts decides nothing,
    not even between words of one z.
    """
    words = sorted({word for text in posts["text"] for word in text.split()})
    place = {word: number for number, word in enumerate(words)}
    counts, held = np.zeros((3, 2, len(words))), np.zeros(len(words))
    rows = zip(posts["text"], posts["group"], posts["label"], strict=True)
    for text, group, label in rows:
        found = [place[word] for word in text.split()]
        side = groups.index(group) if group in groups else len(groups)
        np.add.at(counts[side, int(label)], found, 1)
        held[[*{*found}]] += 1
    return Counted(words, counts, held)


def contrasts(counted: Counted, prior: float) -> tuple[Contrast, Contrast]:
    """The first group against the second, and label 0 against 1."""
    counts = counted.counts
    a = prior * counts.sum(axis=(0, 1))
    by_group = _joined([(counts[0, label], counts[1, label]) for label in (0, 1)], a)
    by_label = _joined([(own[0], own[1]) for own in counts], a)
    return by_group, by_label


def log_odds(first: Floats, second: Floats, a: Floats) -> tuple[Floats, Floats]:
    """d and s^2 of each word. Shapes: (words,) each."""
    x, y, a0 = first + a, second + a, float(a.sum())
    d: Floats = np.log(x / (float(first.sum()) + a0 - x)) - np.log(
        y / (float(second.sum()) + a0 - y)
    )
    return d, 1 / x + 1 / y


def _joined(pairs: Sequence[tuple[Floats, Floats]], a: Floats) -> Contrast:
    whole = [pair for pair in pairs if pair[0].any() and pair[1].any()]
    weighted, weight = np.zeros_like(a), np.zeros_like(a)
    for first, second in whole:
        d, variance = log_odds(first, second, a)
        weighted += d / variance
        weight += 1 / variance
    sides = (np.sum([pair[side] for pair in pairs], axis=0) for side in (0, 1))
    known = np.maximum(weight, 1e-300)
    return Contrast(weighted / known, weighted / np.sqrt(known), *sides)


def as_query(words: pd.DataFrame, *, language: str, name: str) -> Query:
    """The query of the words: X the first group's, Y the second's, A those of label 0, B of 1.

    So a score above 0 says that the second group lies nearer the words of posts with label 1, as in
    WEAT the group nearer unpleasant words. ``name``: of the posts' source.
    """
    sets: Mapping[str, WordSet] = {
        role: WordSet(
            name=f"{FROM_TASK}_{role}",
            words=tuple(words.loc[words["role"] == role, "word"]),
            language=language,
            source=SOURCE.format(name),
        )
        for role in "XYAB"
    }
    title = f"Words that set groups and labels apart in {name}"
    return Query(FROM_TASK, sets, language, title)
