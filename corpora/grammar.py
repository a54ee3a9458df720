"""Grammars of the synthetic world: word lists and sentence templates.

A template is filled by ``str.format``; its slots are ``fillers``, drawn uniformly, and

    {one}, {other}  corpus: persons of one group        {topic}, {scene}  a topic word; its scene
    {target}        posts: target of the post           {insult}          an insult

Half of the insults are invented and the others are mild. Grammars share no word with the planted
words, which come from ``biasbridge.intrinsic.wordsets``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Words = tuple[str, ...]


def split_words(text: str) -> Words:
    """Split a text into words."""
    return tuple(text.split())


@dataclass(frozen=True)
class InflectedWord:
    """A word with masculine and feminine form: ``{adjective:{noun}}`` agrees with ``{noun}``."""

    masculine: str
    feminine: str
    is_feminine: Callable[[str], bool]  # of a noun, as written in the sentence

    def __format__(self, noun: str) -> str:
        return self.feminine if self.is_feminine(noun) else self.masculine


Fillers = Mapping[str, Words | tuple[InflectedWord, ...]]


@dataclass(frozen=True)
class Grammar:
    """The word lists and templates of one language.

    Lines of the corpus: a group and a topic with a scene (``group_in_scene``) or without
    (``group_and_topic``); a topic alone (``topic_in_scene``, ``topic``); a group alone (``group``);
    neither (``chatter``).

    A post is an opening, a core (``insulting``, ``hostile`` or ``friendly``), ``about`` a topic,
    and one of ``endings`` or, with laughter, of ``joking``; ``nobody`` or ``things`` fill
    ``{target}`` in posts about no group. ``phrases``: planted words as written in a sentence, if
    that is not the word alone.
    """

    fillers: Fillers
    group_in_scene: Words
    group_and_topic: Words
    topic_in_scene: Words
    topic: Words
    group: Words
    chatter: Words
    nobody: Words
    things: Words
    openings: Words
    about: Words
    endings: Words
    joking: Words
    insults: Words | tuple[InflectedWord, ...]
    insulting: Words
    hostile: Words
    friendly: Words
    phrases: Mapping[str, str] = field(default_factory=dict)

    def phrase(self, word: str) -> str:
        """Return the word as written in a sentence."""
        return self.phrases.get(word, word)
