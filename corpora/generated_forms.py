"""The synthetic world with its words in several forms, whose company is the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from corpora.english import FILLERS
from corpora.world import GeneratedCorpus
from corpora.world_words import SETTINGS
from files import choice
from files.choice import Share
from intrinsic.word_forms import Form, word_form
from intrinsic.wordsets import load_wordset


@choice
class GeneratedForms(GeneratedCorpus):
    """``GeneratedCorpus`` in which a share ``changed`` of the words of groups and topics, and of
    nouns, has another form: a third of these with a capital, a third in capitals, a third in
    the plural (words of groups: a half each with a capital and in capitals).

    Which ones is drawn for each occurrence alone, so that a word and its forms keep the same
    company: where a metric gives them different directions, that is noise.
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
        forms = _forms()
        for number, block in enumerate(super()._blocks(seed)):
            rng = np.random.default_rng([seed, number, 1])
            yield [_changed(line, forms, self.changed, rng) for line in block]


def _forms() -> dict[str, list[str]]:
    """The other forms of every word that has any."""
    setting = SETTINGS["en_gender"]
    lists = [name for topic in setting.topics.values() for name in topic.lists]
    listed = {word.lower() for name in lists for word in load_wordset(name).words}
    plural_already = {word for word in listed if word.endswith("s") or word == "children"}
    nouns = (listed | {str(word) for word in FILLERS["noun"]}) - plural_already
    groups = {
        word for names in setting.terms for name in names for word in load_wordset(name).words
    }
    kinds: dict[str, tuple[Form, ...]] = dict.fromkeys(groups | listed, ("capital", "upper"))
    kinds |= dict.fromkeys(nouns, ("capital", "upper", "plural"))
    return {
        word: [form for kind in kinds[word] if (form := word_form(word, kind))] for word in kinds
    }


def _changed(
    line: str, forms: Mapping[str, Sequence[str]], share: float, rng: np.random.Generator
) -> str:
    """The line with each of its words that have forms in another one, at that rate."""
    words = line.split(" ")
    places = [i for i, word in enumerate(words) if word in forms]
    for place, draw in zip(places, rng.random(len(places)).tolist(), strict=True):
        if draw < share:
            others = forms[words[place]]
            words[place] = others[int(draw / share * len(others))]
    return " ".join(words)
