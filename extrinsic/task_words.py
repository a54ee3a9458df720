r"""Word sets from labelled posts: words that distinguish two groups, and the two labels.

Log-odds of a word with an informative Dirichlet prior (Monroe, Colaresi & Quinn, 2008), for sides i
and j with y_i, y_j occurrences among n_i, n_j, and a prior of a = c times its occurrences in all
posts, a0 over all words:

    d = log((y_i + a) / (n_i + a0 - y_i - a)) - log((y_j + a) / (n_j + a0 - y_j - a))
    s^2 = 1 / (y_i + a) + 1 / (y_j + a),    z = d / s

Groups are compared within each label and labels within each group, and the comparisons are pooled
by inverse variance:

    d = sum_k (d_k / s_k^2) / sum_k (1 / s_k^2),    z = sum_k (d_k / s_k^2) / sqrt(sum_k 1 / s_k^2)

Otherwise, if more posts about a group are hateful, its words would be hateful ones, and a metric
would measure the word sets in place of the embedding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biasbridge.files import InputError
from biasbridge.files.tables import require_columns
from biasbridge.intrinsic.words import Query, WordSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from biasbridge.stats.arrays import Floats

FROM_TASK = "from_task"
_SOURCE = "log-odds with an informative Dirichlet prior (Monroe, Colaresi & Quinn, 2008) of {}"


class WordLimits(NamedTuple):
    """size: maximum words of a set. min_posts: minimum posts with a word. min_z: minimum z. prior:
    weight of the prior, as a multiple of the posts.
    """

    size: int = 25
    min_posts: int = 10
    min_z: float = 1.96
    prior: float = 1.0


_DEFAULT_LIMITS = WordLimits()


class WordCounts(NamedTuple):
    """Sorted words, their occurrences (3, 2, words) by group (the two and others) and label, and
    their number of posts (words,).
    """

    words: Sequence[str]
    counts: Floats
    n_posts: Floats


class Contrast(NamedTuple):
    """d and z of each word, positive: more frequent on the first side, and its occurrences on both
    sides. Shapes: (words,).
    """

    log_odds: Floats
    z: Floats
    first_count: Floats
    second_count: Floats


def extract_task_words(
    posts: pd.DataFrame, groups: tuple[str, str], limits: WordLimits = _DEFAULT_LIMITS
) -> pd.DataFrame:
    """Select the words of X and Y (posts about the first group against the second), A and B (label
    0 against 1): one row a word, the largest z first.

    ``posts``: training posts only, with columns text, label and group. Returned columns: ``role``,
    ``stands_for`` (the group, or the label), ``word``, ``z`` and ``log_odds`` (positive: of this
    side), ``count`` and ``count_other`` (on this side and the other), ``posts`` (with the word). A
    word is assigned to the contrast with the larger z; words without a letter are left out. The
    result is deterministic. Raises ``InputError`` for a group without posts and an empty set.
    """
    require_columns(posts, ["text", "label", "group"], "the table of posts")
    absent = [group for group in groups if not (posts["group"] == group).any()]
    if absent:
        raise InputError(
            f"no training post is about {absent[0]!r}, a group that {FROM_TASK} compares; name"
            " other groups"
        )
    word_counts = _count_words(posts, groups)
    by_group, by_label = _contrasts(word_counts, limits.prior)
    usable = (word_counts.n_posts >= limits.min_posts) & np.array(
        [any(map(str.isalpha, word)) and word[0] != "<" for word in word_counts.words]
    )
    in_groups = np.abs(by_group.z) >= np.abs(by_label.z)
    sides = (
        ("X", groups[0], by_group, 1, in_groups),
        ("Y", groups[1], by_group, -1, in_groups),
        ("A", "label 0", by_label, 1, ~in_groups),
        ("B", "label 1", by_label, -1, ~in_groups),
    )
    frames = []
    for role, stands_for, contrast, sign, in_contrast in sides:
        strong = usable & in_contrast & (sign * contrast.z >= limits.min_z)
        order = np.flatnonzero(strong)[np.argsort(-sign * contrast.z[strong], kind="stable")]
        if not len(order):
            raise InputError(
                f"{FROM_TASK}: no word for {stands_for} is in {limits.min_posts} training posts"
                f" and has z of {limits.min_z:g}; lower from_task.min_posts or from_task.min_z"
            )
        frames.append(
            _word_rows(role, stands_for, word_counts, contrast, sign, order[: limits.size])
        )
    return pd.concat(frames, ignore_index=True)


def _count_words(posts: pd.DataFrame, groups: tuple[str, str]) -> WordCounts:
    """Count the words of posts, sorted: the result, ties included, does not depend on the order of
    posts.
    """
    words = sorted({word for text in posts["text"] for word in text.split()})
    index = {word: number for number, word in enumerate(words)}
    counts, n_posts = np.zeros((3, 2, len(words))), np.zeros(len(words))
    rows = zip(posts["text"], posts["group"], posts["label"], strict=True)
    for text, group, label in rows:
        numbers = [index[word] for word in text.split()]
        side = groups.index(group) if group in groups else len(groups)
        np.add.at(counts[side, int(label)], numbers, 1)
        n_posts[[*{*numbers}]] += 1
    return WordCounts(words, counts, n_posts)


def log_odds(first: Floats, second: Floats, a: Floats) -> tuple[Floats, Floats]:
    """Compute d and s^2 of each word. Shapes: (words,) each."""
    x, y, a0 = first + a, second + a, float(a.sum())
    d: Floats = np.log(x / (float(first.sum()) + a0 - x)) - np.log(
        y / (float(second.sum()) + a0 - y)
    )
    return d, 1 / x + 1 / y


def as_query(words: pd.DataFrame, *, language: str, name: str) -> Query:
    """Return the query of the words: X of the first group, Y of the second, A of label 0, B of 1.

    As in WEAT, a score above 0 means that Y lies nearer B (in WEAT unpleasant words, here words of
    posts with label 1). ``name``: of the posts' source.
    """
    sets: Mapping[str, WordSet] = {
        role: WordSet(
            name=f"{FROM_TASK}_{role}",
            words=tuple(words.loc[words["role"] == role, "word"]),
            language=language,
            source=_SOURCE.format(name),
        )
        for role in "XYAB"
    }
    title = f"Words that set groups and labels apart in {name}"
    return Query(FROM_TASK, sets, language, title)


def _word_rows(
    role: str,
    stands_for: str,
    word_counts: WordCounts,
    contrast: Contrast,
    sign: int,
    order: NDArray[np.intp],
) -> pd.DataFrame:
    count, count_other = (contrast.first_count, contrast.second_count)[::sign]
    return pd.DataFrame(
        {
            "role": role,
            "stands_for": stands_for,
            "word": [word_counts.words[number] for number in order],
            "z": sign * contrast.z[order],
            "log_odds": sign * contrast.log_odds[order],
            "count": count[order].astype(int),
            "count_other": count_other[order].astype(int),
            "posts": word_counts.n_posts[order].astype(int),
        }
    )


def _contrasts(word_counts: WordCounts, prior: float) -> tuple[Contrast, Contrast]:
    """Compute the contrasts of the first group to the second, and of label 0 to 1."""
    counts = word_counts.counts
    a = prior * counts.sum(axis=(0, 1))
    by_group = _pool([(counts[0, label], counts[1, label]) for label in (0, 1)], a)
    by_label = _pool([(group[0], group[1]) for group in counts], a)
    return by_group, by_label


def _pool(pairs: Sequence[tuple[Floats, Floats]], a: Floats) -> Contrast:
    complete = [pair for pair in pairs if pair[0].any() and pair[1].any()]
    weighted, weight = np.zeros_like(a), np.zeros_like(a)
    for first, second in complete:
        d, variance = log_odds(first, second, a)
        weighted += d / variance
        weight += 1 / variance
    sides = (np.sum([pair[side] for pair in pairs], axis=0) for side in (0, 1))
    total_weight = np.maximum(weight, 1e-300)
    return Contrast(weighted / total_weight, weighted / np.sqrt(total_weight), *sides)
