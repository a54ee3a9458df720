"""A challenge set of the synthetic world: all words for both groups in the same frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import pandas as pd
from annotated_types import Ge

from biasbridge.corpora.draws import pick
from biasbridge.corpora.protocols import HATE_SPEECH
from biasbridge.corpora.world import WorldData, WorldName
from biasbridge.corpora.world_words import SETTINGS, make_world
from biasbridge.files import choice

if TYPE_CHECKING:
    from biasbridge.corpora.grammar import Grammar


@choice
class GeneratedTemplates(WorldData):
    """``frames`` sentences with a slot for a word for people, each filled with every word for the
    groups of ``world``: predictions within a frame differ by this word only. A quarter are insults,
    a quarter are hostile without an insult, half are friendly. The same for every seed.
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

    def parameters(self) -> Mapping[str, float]:
        """Return no parameters: labels are correct and independent of the group."""
        return {}

    def posts(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.PostChallenge``."""
        setting = SETTINGS[self.world]
        grammar, rng = setting.grammar, np.random.default_rng(0)
        frames = _frames(grammar, self.frames, rng)
        pairs = make_world(setting, 0).pairs
        terms = [
            (group, term)
            for i, group in enumerate(setting.groups)
            for term in dict.fromkeys(pair[i] for pair in pairs)
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
    """Draw wordings with their labels and the fillers of their other slots."""
    quarter = size // 4
    wordings = [
        *pick(grammar.insulting, quarter, rng),
        *pick(grammar.hostile, quarter, rng),
        *pick(grammar.friendly, size - 2 * quarter, rng),
    ]
    labels = [1] * (2 * quarter) + [0] * (size - 2 * quarter)
    fillers: dict[str, list[object]] = {"insult": [*pick(grammar.insults, size, rng)]}
    for name, words in grammar.fillers.items():
        fillers[name] = [*pick([*words], size, rng)]
    slots = [{name: words[i] for name, words in fillers.items()} for i in range(size)]
    return list(zip(wordings, labels, slots, strict=True))
