"""The generated world with its words in several forms, whose company is the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from corpora.draws import quota
from corpora.english import FILLERS
from corpora.world import GeneratedCorpus
from corpora.world_words import SETTINGS, make_world
from files import choice
from files.choice import Share
from intrinsic.word_forms import english_plural, word_form

if TYPE_CHECKING:
    from collections.abc import Set


@choice
class GeneratedForms(GeneratedCorpus):
    """``GeneratedCorpus`` with a share ``changed`` of its lines written in another form: a third of
    these with a capital to every word, a third in capitals, a third with topic words and nouns in
    the plural.

    Which lines is drawn at random, so that a word and its forms keep the same company: where a
    metric gives them different directions, that is noise.
    """

    changed: Share = 0.6
    world: Literal["en_gender"] = "en_gender"

    @property
    def name(self) -> str:
        """``generated``, the world, and that there are forms."""
        return f"{super().name}_forms"

    def planted(self) -> Mapping[str, float]:
        """``stereotype``, ``sentences`` and ``changed``."""
        return {**super().planted(), "changed": self.changed}

    def _blocks(self, seed: int) -> Iterator[list[str]]:
        topics = make_world(SETTINGS[self.world], seed).topics.values()
        listed = {word for words in (*topics, FILLERS["noun"]) for word in words}
        nouns = {word for word in listed if not word.endswith("s") and word != "children"}
        for number, block in enumerate(super()._blocks(seed)):
            rng = np.random.default_rng([seed, number, 1])
            shares = [1 - self.changed, *[self.changed / 3] * 3]
            forms = quota(shares, len(block), rng).tolist()
            yield [_changed(line, form, nouns) for line, form in zip(block, forms, strict=True)]


def _changed(line: str, form: int, nouns: Set[str]) -> str:
    """The line as it is, with capitals, in capitals, or with its nouns in the plural."""
    words = line.split(" ")
    if form == 1:
        words = [word_form(word, "capital") or word for word in words]
    elif form == 2:
        words = [word_form(word, "upper") or word for word in words]
    elif form == 3:
        words = [english_plural(word) if word in nouns else word for word in words]
    return " ".join(words)
