"""A challenge set of the synthetic world: every word for either group in the same frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import pandas as pd
from annotated_types import Ge

from corpora.draws import pick
from corpora.kinds import HATE_SPEECH
from corpora.world import OfWorld, WorldName
from corpora.world_words import SETTINGS, make_world
from files import choice

if TYPE_CHECKING:
    from corpora.grammar import Grammar


@choice
class GeneratedTemplates(OfWorld):
    """``frames`` sentences with a place for a word for people, half of them hateful, and in each
    every word for the groups of ``world``: what a classifier says of them differs by the word
    alone. A quarter insults, a quarter is hostile without an insult. The same for every seed.
    """

    frames: Annotated[int, Ge(8)] = 200
    world: WorldName = "en_gender"

    version: ClassVar[int] = 1
    positive_class: ClassVar[str] = HATE_SPEECH
    seeded: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """``generated_templates`` and the world."""
        return f"generated_templates_{self.world}"

    def planted(self) -> Mapping[str, float]:
        """Nothing: the labels are right and the groups treated alike."""
        return {}

    def posts(self, *, seed: int) -> pd.DataFrame:
        """The posts; see ``corpora.kinds.PostChallenge``."""
        setting = SETTINGS[self.world]
        grammar, rng = setting.grammar, np.random.default_rng(0)
        frames = _frames(grammar, self.frames, rng)
        pairs = make_world(setting, 0).pairs
        terms = [
            (group, term)
            for side, group in enumerate(setting.groups)
            for term in dict.fromkeys(pair[side] for pair in pairs)
        ]
        rows = [
            (wording.format(target=grammar.phrase(term), **slots), label, group, term, str(number))
            for number, (wording, label, slots) in enumerate(frames)
            for group, term in terms
        ]
        posts = pd.DataFrame(rows, columns=["text", "label", "group", "term", "frame"])
        return posts.assign(id=[f"c{number}" for number in range(len(posts))])


def _frames(
    grammar: Grammar, size: int, rng: np.random.Generator
) -> list[tuple[str, int, dict[str, object]]]:
    """Wordings with their labels and what fills their other slots."""
    quarter = size // 4
    wordings = [
        *pick(grammar.insulting, quarter, rng),
        *pick(grammar.hostile, quarter, rng),
        *pick(grammar.friendly, size - 2 * quarter, rng),
    ]
    labels = [1] * (2 * quarter) + [0] * (size - 2 * quarter)
    drawn: dict[str, list[object]] = {"insult": [*pick(grammar.insults, size, rng)]}
    for name, words in grammar.fillers.items():
        drawn[name] = [*pick([*words], size, rng)]
    slots = [{name: words[i] for name, words in drawn.items()} for i in range(size)]
    return list(zip(wordings, labels, slots, strict=True))
