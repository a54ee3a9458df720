"""What is wrong with the posts of a task, their groups and their languages, found before a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from corpora.kinds import CheckedSource, PostChallenge, Source
from extrinsic.tagger import MentionTagger
from files import InputError, nearest
from files.language import UNDETERMINED, guess_language, language_of, require_one_language
from intrinsic.wordsets import in_language

if TYPE_CHECKING:
    from extrinsic.gaps import Gaps
    from extrinsic.kinds import Tagger

MOST_NAMED = 10


def check_posts(source: Source, groups: Tagger | None, gaps: Gaps | None) -> None:
    """Read the posts as far as it takes to find what is wrong with the file or the options.

    Raises ``InputError`` as the source does, for a group that no post belongs to, and for posts
    that look to be in another language than the words by which their groups are told. ``groups``:
    None where none are told by words; ``gaps``: None where they are not those of the source.
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
        told = f"groups={groups.name} are words of {words!r}"
        raise InputError(f"{looks}, and {told}; give language={seen}, or {words} if not")


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
            raise InputError(f"{lacks}{nearest(group, there)}; there are {_some(there)}")


def _some(names: Sequence[str]) -> str:
    return ", ".join([*names[:MOST_NAMED], "..."] if len(names) > MOST_NAMED else names)


def require_language_of_source(source: Source, challenge: PostChallenge) -> None:
    """``InputError`` for a challenge set in another language than the posts."""
    posts = {f"source={source.name}": source, f"challenge={challenge.name}": challenge}
    require_one_language(posts, "take a challenge set of the posts' language")


def groups_in_language(groups: Tagger, source: Source) -> Tagger:
    """The tagger; by the built-in words of the posts' language where it is one by such words.

    Raises ``InputError`` for one by words of another language.
    """
    found = _following(groups, language_of(source))
    told = {f"source={source.name}": source, f"groups={found.name}": found}
    require_one_language(told, "take groups of the posts' language, such as groups=gender_es")
    return found


def _following(groups: Tagger, language: str) -> Tagger:
    if not isinstance(groups, MentionTagger) or groups.file or not groups.query:
        return groups
    if UNDETERMINED in (language, groups.language):
        return groups
    return replace(groups, query=in_language([groups.query], language)[0])
