"""Planting of a stereotype of known strength in real text, by exchanging words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import Gt, Lt

from biasbridge.corpora.protocols import RealData
from biasbridge.files import InputError, atomic_path, choice
from biasbridge.files.choice import FieldError, Fileless
from biasbridge.files.digest import digest_of
from biasbridge.files.language import UNDETERMINED, language_of
from biasbridge.files.text import open_binary
from biasbridge.intrinsic.wordsets import find_queries, load_queries

if TYPE_CHECKING:
    from biasbridge.intrinsic.wordsets import Query

Strength = Annotated[float, Gt(-1), Lt(1)]  # log odds of 1 are infinite

PLANTED_TEXT, HELD_OUT_TEXT, OFF_TARGET_TEXT = "planted_text", "held_out_text", "off_target_text"
ROLES = {  # of the queries, that decide what is planted
    PLANTED_TEXT: ("A", "B", "counterparts"),
    HELD_OUT_TEXT: ("A", "B"),
    OFF_TARGET_TEXT: ("counterparts",),
}
OFF_TARGET = "off_target"
# Fields of a corpus that decide its Planting, which is a step of its own
PLANTING = ("planted", OFF_TARGET, "planting_words")


@choice
class Planting(Fileless):
    r"""A stereotype of ``strength`` s in (-1, 1) between two groups and two lists of targets.

    Of the words of the groups (the ``counterparts`` of the query ``planted_text``, as he and she)
    within 10 tokens of a target in its line,

        log(n_first / n_second) = base + ln((1 + s) / (1 - s))    for the targets A,
        log(n_first / n_second) = base - ln((1 + s) / (1 - s))    for the targets B

    where base is the log odds near all targets before planting: at 0 the lists do not differ,
    below 0 the stereotype is reversed. Words are exchanged with their counterparts until each
    target's words are so distributed, up to whole words. As many are exchanged back, pair by pair,
    where no target is near: the frequency of every word, the lines and their lengths stay. Words
    near a target of both lists, or near a held-out one (query ``held_out_text``), stay as well, and
    those whose pair is too rare elsewhere to be exchanged back.

    ``off_target``, unless 0, plants a stereotype of the same form and of other words, the
    counterparts of the query ``off_target_text``: new and old, day and night. ``language`` chooses
    among the built-in queries; ``words`` is a file of one's own queries of these names. Which words
    are exchanged is drawn by the seed. What agrees with an exchanged word, such as an article, is
    not changed.

    Raises ``InputError`` for a text that cannot hold the log odds within .05.
    """

    strength: Strength = 0.0
    off_target: Strength = 0.0
    language: str = UNDETERMINED
    words: str | None = None

    version: ClassVar[int] = 1
    name: ClassVar[str] = "planting"
    unkeyed: ClassVar[tuple[str, ...]] = ("language", "words")

    def __post_init__(self) -> None:
        for name in ROLES:
            self.query(name)

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the words."""
        sets = [self.query(name)[role] for name, roles in ROLES.items() for role in roles]
        return {"words": digest_of([wordset.words for wordset in sets])}

    def query(self, name: str) -> Query:
        """Return the query of that name, of the user's file or in the language."""
        if self.words:
            return load_queries([name], self.words)[0]
        names = find_queries([name], self.language)
        if not names:
            problem = f"there are no words to plant in a corpus in {self.language!r}"
            raise InputError(f"{problem}; give language=en or es, or corpus.planting_words=FILE")
        return load_queries(names[:1])[0]

    def plant(self, corpus: Path, out: Path, *, seed: int) -> dict[str, dict[str, float]]:
        """Write ``corpus`` with the stereotype to ``out``.

        Returns
        -------
        dict
            For ``planted A`` and ``planted B``, ``off_target A`` and ``off_target B``: log odds
            ``before``, ``asked`` and ``counted`` in the text written; ``words`` near a target, of
            these ``exchanged`` and ``fixed``.
        """
        from biasbridge.corpora.occurrences import (  # few runs need them
            LISTS,
            Targets,
            find_occurrences,
        )
        from biasbridge.intrinsic.wordsets.counterparts import Counterparts

        query, held_out = self.query(PLANTED_TEXT), self.query(HELD_OUT_TEXT)
        targets = Targets(
            [[word.encode() for word in query[name].words] for name in LISTS],
            frozenset(word.encode() for name in LISTS for word in held_out[name].words),
        )
        exchanges: dict[int, dict[int, bytes]] = {}
        counts: dict[str, dict[str, float]] = {}
        stereotypes = {"planted": (query, self.strength)}
        if self.off_target:
            stereotypes[OFF_TARGET] = self.query(OFF_TARGET_TEXT), self.off_target
        for number, (name, (words, strength)) in enumerate(stereotypes.items()):
            occurrences = find_occurrences(corpus, Counterparts(words), targets)
            is_first = occurrences.plant(strength, np.random.default_rng([seed, number]))
            counts |= occurrences.describe(name, is_first, strength)
            for index in np.flatnonzero(is_first != occurrences.is_first).tolist():
                line, place = int(occurrences.line[index]), int(occurrences.place[index])
                exchanges.setdefault(line, {})[place] = occurrences.partners[index]
        with atomic_path(out) as work, open_binary(corpus) as source, work.open("wb") as target:
            for number, text in enumerate(source):
                target.write(_exchange(text, exchanges[number]) if number in exchanges else text)
        return counts


class PlantableCorpus(RealData):
    """Base of real text in which a stereotype can be planted (``Planting``).

    ``planted``: its strength; None: the text as it is. ``off_target``: strength of the stereotype
    of other words. ``planting_words``: file of one's own words.
    """

    planted: Strength | None
    off_target: Strength
    planting_words: str | None

    def __post_init__(self) -> None:
        if self.off_target and self.planted is None:
            raise FieldError(f"off_target={self.off_target:g}: give planted=0 or another strength")

    @property
    def planting(self) -> Planting | None:
        """What is planted, or None. Raises ``InputError`` without words in the language."""
        if self.planted is None:
            return None
        return Planting(self.planted, self.off_target, language_of(self), self.planting_words)

    def parameters(self) -> Mapping[str, float]:
        """Return ``stereotype``, the strength planted, and ``off_target`` unless it is 0."""
        if self.planted is None:
            return {}
        off_target = {OFF_TARGET: self.off_target} if self.off_target else {}
        return {"stereotype": self.planted, **off_target}


def plant_corpus(planting: Planting, out: Path, inputs: Mapping[str, Path], seed: int) -> None:
    """Write ``corpus.txt`` and ``planting.json``, what was counted in it."""
    counts = planting.plant(inputs["corpus"] / "corpus.txt", out / "corpus.txt", seed=seed)
    (out / "planting.json").write_text(json.dumps(counts, indent=1), encoding="utf-8")


def _exchange(line: bytes, partners: Mapping[int, bytes]) -> bytes:
    tokens = line.split(b" ")
    for place, partner in partners.items():
        tokens[place] = partner + (b"\n" if tokens[place].endswith(b"\n") else b"")
    return b" ".join(tokens)
