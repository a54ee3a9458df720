"""Checks of a task's posts, groups and languages before a run, and warnings about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from biasbridge.corpora.protocols import CheckedSource
from biasbridge.extrinsic.protocols import LanguageTagger
from biasbridge.files import InputError, nearest
from biasbridge.files.language import (
    UNDETERMINED,
    guess_language,
    language_of,
    require_one_language,
)

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.corpora.protocols import PostChallenge, Source
    from biasbridge.extrinsic.gaps import Gaps
    from biasbridge.extrinsic.protocols import Tagger
    from biasbridge.train.engine.part import DataReport

MAX_NAMED = 10


def check_posts(source: Source, groups: Tagger | None, gaps: Gaps | None) -> None:
    """Read the posts as far as needed to find errors in file or options.

    ``groups``: None if no words mark groups; ``gaps``: None if they are not those of the source.
    Raises ``InputError`` as the source does, for a group without posts, and for posts that appear
    to be in another language than the group words.
    """
    if not isinstance(source, CheckedSource):
        return
    posts = source.check()
    if source.grouped:
        if gaps is not None:
            _require_groups(f"source={source.name}", gaps, sorted({*posts["group"].dropna()}))
        return
    words_language = language_of(groups)
    if groups is None or words_language == UNDETERMINED or language_of(source) != UNDETERMINED:
        return
    tokens = (token for text in posts["text"] for token in str(text).lower().split())
    guess = guess_language(tokens)
    if guess not in (UNDETERMINED, words_language):
        posts_are = f"the posts of source={source.name} appear to be in {guess!r}"
        words_are = f"groups={groups.name} are words of {words_language!r}"
        raise InputError(
            f"{posts_are}, and {words_are}; give language={guess}, or {words_language} if not"
        )


def check_challenge(challenge: PostChallenge, gaps: Gaps) -> None:
    """Read the challenge set. Raises ``InputError`` as it does, and for a group without posts."""
    groups = sorted({*challenge.posts(seed=0)["group"].dropna()})
    _require_groups(f"challenge={challenge.name}", gaps, groups)


def _require_groups(posts: str, gaps: Gaps, available: Sequence[str]) -> None:
    pair = zip(("privileged", "unprivileged"), gaps.named, strict=False)
    for name, group in (*pair, *(("groups", group) for group in gaps.groups)):
        if group not in available:
            problem = f"gaps.{name}={group}: no post of {posts} has that group"
            names = [*available[:MAX_NAMED], "..."] if len(available) > MAX_NAMED else available
            raise InputError(f"{problem}{nearest(group, available)}; there are {', '.join(names)}")


def require_language_of_source(source: Source, challenge: PostChallenge) -> None:
    """Raise ``InputError`` for a challenge set in another language than the posts."""
    posts = {f"source={source.name}": source, f"challenge={challenge.name}": challenge}
    require_one_language(posts, "choose a challenge set in the language of the posts")


def groups_in_language(groups: Tagger, source: Source) -> Tagger:
    """Return the tagger, with built-in words of the posts' language if it uses words.

    Raises ``InputError`` for words of another language.
    """
    tagger = groups
    if isinstance(groups, LanguageTagger):
        tagger = groups.in_language(language_of(source))
    languages = {f"source={source.name}": source, f"groups={tagger.name}": tagger}
    require_one_language(
        languages, "choose groups in the language of the posts, such as groups=gender_es"
    )
    return tagger


def describe_text_problems(posts: pd.DataFrame) -> list[str]:
    """Return warnings about posts without text and posts that repeat another's text.

    A text on both sides of a split gives its label away.
    """
    from biasbridge.analysis.naming import with_count  # slow to import
    from biasbridge.corpora.labelled import WITHOUT_TEXT

    lines = []
    if n_empty := int(posts.attrs.get(WITHOUT_TEXT, 0)):
        lines.append(f"{with_count(n_empty, 'post')} without text left out")
    if n_repeated := int(posts["text"].duplicated().sum()):
        is_test = posts["split"] == "test"
        n_on_both_sides = len({*posts.loc[is_test, "text"]} & {*posts.loc[~is_test, "text"]})
        texts = with_count(n_on_both_sides, "text") if n_on_both_sides else "no text"
        lines.append(
            f"{with_count(n_repeated, 'duplicate post')}, {texts} in both training and test"
        )
    return lines


def describe_groups(posts: pd.DataFrame, group_source: str, gaps: Gaps, report: DataReport) -> None:
    """Add the size of each group to a report, and groups too small for a gap.

    ``posts`` has the columns ``label`` and ``group``; ``group_source``: where the groups come from.
    """
    counts = posts["group"].value_counts()
    listed = ", ".join(f"{count} {name}" for name, count in counts.head(10).items())
    report.lines.append(f"groups by {group_source}: {listed}")
    positive = posts.loc[posts["label"] == 1, "group"].value_counts()
    min_support = gaps.min_support
    for name in gaps.named or map(str, counts.index):
        sizes = (
            f"group {name!r} has {counts.get(name, 0)} posts, {positive.get(name, 0)} labelled 1"
        )
        remedy = f"a gap needs {min_support} (gaps.min_support)"
        if counts.get(name, 0) < max(1, min_support) and gaps.named:
            report.problems.append(f"{sizes}; {remedy}")
        elif positive.get(name, 0) < min_support:
            report.warnings.append(f"{sizes}; {remedy}")
