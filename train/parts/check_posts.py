"""What is wrong with the posts of a task, their groups and their languages, found before a run; and
what deserves to be said of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from corpora.kinds import CheckedSource
from extrinsic.kinds import LanguageTagger
from files import InputError, nearest
from files.language import UNDETERMINED, guess_language, language_of, require_one_language

if TYPE_CHECKING:
    import pandas as pd

    from corpora.kinds import PostChallenge, Source
    from extrinsic.gaps import Gaps
    from extrinsic.kinds import Tagger
    from train.parts.part import Findings

MOST_NAMED = 10


def check_posts(source: Source, groups: Tagger | None, gaps: Gaps | None) -> None:
    """Read the posts as far as it takes to find what is wrong with the file or the options.

    Raises ``InputError`` as the source does, for a group that no post belongs to, and for posts
    that look to be in another language than the words that mark their groups. ``groups``: None
    where no words do; ``gaps``: None where they are not those of the source.
    """
    if not isinstance(source, CheckedSource):
        return
    posts = source.check()
    if source.grouped:
        if gaps is not None:
            _require_groups(f"source={source.name}", gaps, sorted(set(posts["group"])))
        return
    words = language_of(groups)
    if groups is None or words == UNDETERMINED or language_of(source) != UNDETERMINED:
        return
    tokens = (token for text in posts["text"] for token in str(text).lower().split())
    seen = guess_language(tokens)
    if seen not in (UNDETERMINED, words):
        looks = f"the posts of source={source.name} look to be in {seen!r}"
        tagged = f"groups={groups.name} are words of {words!r}"
        raise InputError(f"{looks}, and {tagged}; give language={seen}, or {words} if not")


def check_challenge(challenge: PostChallenge, gaps: Gaps) -> None:
    """Read the challenge set. Raises ``InputError`` as it does, and for a group that no post of it
    belongs to.
    """
    there = sorted(set(challenge.posts(seed=0)["group"]))
    _require_groups(f"challenge={challenge.name}", gaps, there)


def _require_groups(posts: str, gaps: Gaps, there: Sequence[str]) -> None:
    pair = zip(("privileged", "unprivileged"), gaps.named, strict=False)
    for name, group in (*pair, *(("groups", each) for each in gaps.groups)):
        if group not in there:
            lacks = f"gaps.{name}={group}: no post of {posts} has that group"
            some = [*there[:MOST_NAMED], "..."] if len(there) > MOST_NAMED else there
            raise InputError(f"{lacks}{nearest(group, there)}; there are {', '.join(some)}")


def require_language_of_source(source: Source, challenge: PostChallenge) -> None:
    """``InputError`` for a challenge set in another language than the posts."""
    posts = {f"source={source.name}": source, f"challenge={challenge.name}": challenge}
    require_one_language(posts, "take a challenge set of the posts' language")


def groups_in_language(groups: Tagger, source: Source) -> Tagger:
    """The tagger; by the built-in words of the posts' language where it is one by such words.

    Raises ``InputError`` for one by words of another language.
    """
    found = groups
    if isinstance(groups, LanguageTagger):
        found = groups.in_language(language_of(source))
    used = {f"source={source.name}": source, f"groups={found.name}": found}
    require_one_language(used, "take groups of the posts' language, such as groups=gender_es")
    return found


def describe_oddities(posts: pd.DataFrame) -> list[str]:
    """What deserves to be said of the posts of a source: how many had no text, and how many repeat
    another's (all but the first of each text); a text on both sides of a split teaches its answer.
    """
    from analysis.naming import counted  # what is said of posts loads where there are some
    from corpora.labelled import WITHOUT_TEXT

    lines = []
    if empty := int(posts.attrs.get(WITHOUT_TEXT, 0)):
        lines.append(f"{counted(empty, 'post')} without text left out")
    if repeated := int(posts["text"].duplicated().sum()):
        tested = posts["split"] == "test"
        both = len({*posts.loc[tested, "text"]} & {*posts.loc[~tested, "text"]})
        sides = f"{counted(both, 'text') if both else 'no text'} both learned from and tested on"
        lines.append(f"{counted(repeated, 'post')} with the text of another, {sides}")
    return lines


def describe_agreement(posts: pd.DataFrame, tagger: Tagger) -> list[str]:
    """How often the words of a tagger find the group that is annotated in the column ``group``,
    among the posts where that is not missing: for each group that both name, of the posts with its
    words, and of those annotated, the share that are both, with Wilson's intervals.
    """
    from analysis.groups import alike  # what is said of posts loads where there are some
    from analysis.show import estimate
    from extrinsic.measures import MEASURES

    posts = posts[posts["group"].notna()]
    annotated, tagged = posts["group"].astype(str), tagger.tag(posts)["group"].astype(str)
    lines = []
    for group in sorted({*annotated}):
        names = [name for name in sorted({*tagged}) if alike(name, group)]
        gold, found = (annotated == group).to_numpy(), tagged.isin(names).to_numpy()
        cells = np.bincount(2 * gold + found, minlength=4)
        if not names or not gold.any() or not found.any():
            continue
        right, had = (
            estimate(*MEASURES[name].estimate(cells, 0.95)) for name in ("precision", "recall")
        )
        lines.append(
            f"of {found.sum():,} posts that words call {' or '.join(names)} {right} are annotated"
            f" {group}; of {gold.sum():,} annotated so words find {had}"
        )
    return lines


def describe_groups(posts: pd.DataFrame, how: str, gaps: Gaps, found: Findings) -> None:
    """Add how many posts each group has, and which groups have too few for a gap.

    ``posts`` has the columns ``label`` and ``group``; ``how``: by what their groups are known.
    """
    counts = posts["group"].value_counts()
    listed = ", ".join(f"{count} {name}" for name, count in counts.head(10).items())
    found.lines.append(f"groups by {how}: {listed}")
    positive = posts.loc[posts["label"] == 1, "group"].value_counts()
    fewest = gaps.least_support
    for name in gaps.named or map(str, counts.index):
        few = f"group {name!r} has {counts.get(name, 0)} posts, {positive.get(name, 0)} labelled 1"
        remedy = f"a gap needs {fewest} (gaps.least_support)"
        if counts.get(name, 0) < max(1, fewest) and gaps.named:
            found.problems.append(f"{few}; {remedy}")
        elif positive.get(name, 0) < fewest:
            found.warnings.append(f"{few}; {remedy}")
