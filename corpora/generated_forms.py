"""The synthetic world with several forms of its words, all in the same contexts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from biasbridge.corpora.english import FILLERS
from biasbridge.corpora.world import GeneratedCorpus
from biasbridge.corpora.world_words import SETTINGS
from biasbridge.files import choice
from biasbridge.files.choice import Share
from biasbridge.intrinsic.word_forms import Form, word_form
from biasbridge.intrinsic.wordsets import load_wordset


@choice
class GeneratedForms(GeneratedCorpus):
    """``GeneratedCorpus`` in which a share ``changed`` of the occurrences of group words, topic
    words and nouns has another form: a third each capitalised, upper-case and plural (group words:
    a half each capitalised and upper-case).

    Forms are drawn independently for each occurrence, so all forms of a word have the same
    contexts: differences of a metric between them are noise.
    """

    changed: Share = 0.6
    world: Literal["en_gender"] = "en_gender"

    @property
    def name(self) -> str:
        """``generated``, the world and ``forms``."""
        return f"{super().name}_forms"

    def parameters(self) -> Mapping[str, float]:
        """Return ``stereotype``, ``sentences`` and ``changed``."""
        return {**super().parameters(), "changed": self.changed}

    def _blocks(self, seed: int) -> Iterator[list[str]]:
        forms = _other_forms_by_word()
        for number, block in enumerate(super()._blocks(seed)):
            rng = np.random.default_rng([seed, number, 1])
            yield [_change_forms(line, forms, self.changed, rng) for line in block]


def _other_forms_by_word() -> dict[str, list[str]]:
    setting = SETTINGS["en_gender"]
    topic_sets = [name for topic in setting.topics.values() for name in topic.lists]
    topic_words = {word.lower() for name in topic_sets for word in load_wordset(name).words}
    plurals = {word for word in topic_words if word.endswith("s") or word == "children"}
    nouns = (topic_words | {str(word) for word in FILLERS["noun"]}) - plurals
    group_words = {
        word for names in setting.terms for name in names for word in load_wordset(name).words
    }
    planted_words = group_words | topic_words
    kinds: dict[str, tuple[Form, ...]] = dict.fromkeys(planted_words, ("capital", "upper"))
    kinds |= dict.fromkeys(nouns, ("capital", "upper", "plural"))
    return {
        word: [form for kind in kinds[word] if (form := word_form(word, kind))] for word in kinds
    }


def _change_forms(
    line: str, forms: Mapping[str, Sequence[str]], share: float, rng: np.random.Generator
) -> str:
    """Replace words that have other forms by one of them, at the rate ``share``."""
    words = line.split(" ")
    positions = [i for i, word in enumerate(words) if word in forms]
    for i, u in zip(positions, rng.random(len(positions)).tolist(), strict=True):
        if u < share:
            word_forms = forms[words[i]]
            words[i] = word_forms[int(u / share * len(word_forms))]
    return " ".join(words)
