"""Planting of a stereotype of known strength in real text, by exchanging words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np
from annotated_types import Gt, Lt, doc
from numpy.typing import NDArray

from biasbridge.corpora.protocols import RealData
from biasbridge.files import InputError, atomic_path, choice
from biasbridge.files.choice import FieldError, Fileless
from biasbridge.files.language import UNDETERMINED, language_of
from biasbridge.files.paths import digest_of
from biasbridge.files.text import open_binary
from biasbridge.intrinsic.words import find_queries, load_queries

if TYPE_CHECKING:
    from biasbridge.intrinsic.word_forms import Counterparts
    from biasbridge.intrinsic.words import Query

Strength = Annotated[float, Gt(-1), Lt(1)]  # log odds of 1 are infinite
# Fields of a corpus
PlantedStrength = Annotated[
    Strength | None,
    doc("strength in (-1, 1) of a stereotype that is planted in the text; null: none"),
]
OffTargetStrength = Annotated[Strength, doc("strength of a planted stereotype of other words")]
PlantingWords = Annotated[
    str | None, doc("file with your own queries planted_text, held_out_text and off_target_text")
]
_PLANTED_TEXT, _HELD_OUT_TEXT, _OFF_TARGET_TEXT = "planted_text", "held_out_text", "off_target_text"
_ROLES = {  # of the queries, that decide what is planted
    _PLANTED_TEXT: ("A", "B", "counterparts"),
    _HELD_OUT_TEXT: ("A", "B"),
    _OFF_TARGET_TEXT: ("counterparts",),
}
_OFF_TARGET = "off_target"
# Fields of a corpus that decide its Planting, which is a step of its own
PLANTING = ("planted", _OFF_TARGET, "planting_words")
Booleans = NDArray[np.bool_]
Ints = NDArray[np.int64]
_LISTS = ("A", "B")  # targets that go with the first and the second group
_REACH = 10  # tokens on either side of a target within which words are exchanged and counted
_MAX_DEVIATION = 0.05  # of log odds counted in the text from those asked for


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
        for name in _ROLES:
            self.query(name)

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the words."""
        sets = [self.query(name)[role] for name, roles in _ROLES.items() for role in roles]
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
        from biasbridge.intrinsic.word_forms import Counterparts

        query, held_out = self.query(_PLANTED_TEXT), self.query(_HELD_OUT_TEXT)
        targets = PlantedTargets(
            [[word.encode() for word in query[name].words] for name in _LISTS],
            frozenset(word.encode() for name in _LISTS for word in held_out[name].words),
        )
        exchanges: dict[int, dict[int, bytes]] = {}
        counts: dict[str, dict[str, float]] = {}
        stereotypes = {"planted": (query, self.strength)}
        if self.off_target:
            stereotypes[_OFF_TARGET] = self.query(_OFF_TARGET_TEXT), self.off_target
        for number, (name, (words, strength)) in enumerate(stereotypes.items()):
            occurrences = _find_occurrences(corpus, Counterparts(words), targets)
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
        off_target = {_OFF_TARGET: self.off_target} if self.off_target else {}
        return {"stereotype": self.planted, **off_target}


def plant_corpus(planting: Planting, out: Path, inputs: Mapping[str, Path], seed: int) -> None:
    """Write ``corpus.txt`` and ``planting.json``, what was counted in it."""
    counts = planting.plant(inputs["corpus"] / "corpus.txt", out / "corpus.txt", seed=seed)
    (out / "planting.json").write_text(json.dumps(counts, indent=1), encoding="utf-8")


class PlantedTargets(NamedTuple):
    """Words of A and of B, and those held out."""

    lists: list[list[bytes]]
    held_out: frozenset[bytes]


class Occurrences(NamedTuple):
    """Words that have a counterpart, in the order of the text; arrays of shape (words,).

    ``line``, ``place``: where a word stands, from 0; ``is_first``: whether it is of the first
    group; ``pair``: number of its pair; ``partners``: its counterparts; ``is_fixed``: must
    stay, near a held-out target or targets of both lists, or of a pair too rare elsewhere.
    ``near``: of each list, the indices of the words near each of its targets.
    """

    line: Ints
    place: Ints
    is_first: Booleans
    pair: Ints
    partners: list[bytes]
    is_fixed: Booleans
    near: list[list[Ints]]

    def near_list(self, number: int) -> Ints:
        """Return the indices of the words near a target of a list."""
        return np.unique(np.concatenate(self.near[number]))

    @property
    def near_any(self) -> Ints:
        """Indices of the words near a target of either list."""
        return np.union1d(self.near_list(0), self.near_list(1))

    def without_rare_pairs(self) -> Occurrences:
        """Return the same words; those whose pair is too rare to be exchanged back are fixed."""
        n_pairs = int(self.pair.max()) + 1
        is_near = np.zeros(len(self.pair), dtype=np.bool_)
        is_near[self.near_any] = True
        is_free = ~is_near & ~self.is_fixed
        n_first, n_second, n_near = (
            np.bincount(self.pair[chosen], minlength=n_pairs)
            for chosen in (is_free & self.is_first, is_free & ~self.is_first, is_near)
        )
        is_rare = np.minimum(n_first, n_second) < n_near
        return self._replace(is_fixed=self.is_fixed | is_rare[self.pair])

    def asked(self, strength: float) -> list[float]:
        """Return the log odds asked for near A and near B. Raises ``InputError`` without words."""
        base = _log_odds(self.is_first[self.near_any])
        lean = log((1 + strength) / (1 - strength))
        return [base + lean, base - lean]

    def plant(self, strength: float, rng: np.random.Generator) -> Booleans:
        """Return ``is_first`` of the words after planting, shape (words,)."""
        is_first, is_open = self.is_first.copy(), ~self.is_fixed
        order = rng.permutation(int(self.line.max(initial=-1)) + 1)[self.line]  # lines together
        for log_odds, targets in zip(self.asked(strength), self.near, strict=True):
            share, missing = 1 / (1 + np.exp(-log_odds)), 0.0
            # A common target has more words left than those that it shares with rarer ones
            for near in sorted(targets, key=lambda near: int(is_open[near].sum())):
                left = near[is_open[near]]
                settled = int(is_first[near[~is_open[near]]].sum())
                wanted = share * len(near) + missing  # what rarer targets could not take, too
                _set_number(is_first, left, round(wanted) - settled, order)
                is_open[left] = False
                missing = wanted - int(is_first[near].sum())
        is_free = ~self.is_fixed
        is_free[self.near_any] = False
        for pair in np.unique(self.pair[is_first != self.is_first]):
            of_pair = self.pair == pair
            gained = int(is_first[of_pair].sum()) - int(self.is_first[of_pair].sum())
            free = np.flatnonzero(of_pair & is_free)
            _set_number(is_first, free, int(is_first[free].sum()) - gained, order)
        return is_first

    def describe(
        self, name: str, is_first: Booleans, strength: float
    ) -> dict[str, dict[str, float]]:
        """Return counts by list; raise ``InputError`` if the log odds are not as asked for."""
        counts = {}
        for number, (list_name, asked) in enumerate(zip(_LISTS, self.asked(strength), strict=True)):
            near = self.near_list(number)
            counted, n_fixed = _log_odds(is_first[near]), int(self.is_fixed[near].sum())
            if not abs(counted - asked) <= _MAX_DEVIATION:
                raise InputError(
                    f"corpus.{name}={strength:g}: log odds near the targets {list_name} are"
                    f" {counted:.2f} instead of {asked:.2f}. {n_fixed} of {len(near)} words there"
                    " cannot be exchanged: they are near a held-out target or one of the other"
                    " list, or too rare elsewhere. Plant less, or in a larger corpus"
                )
            counts[f"{name} {list_name}"] = {
                "before": _log_odds(self.is_first[near]),
                "asked": asked,
                "counted": counted,
                "words": len(near),
                "exchanged": int((is_first[near] != self.is_first[near]).sum()),
                "fixed": n_fixed,
            }
        return counts


def _find_occurrences(
    corpus: Path, counterparts: Counterparts, targets: PlantedTargets
) -> Occurrences:
    """Find every word that has a counterpart, and the targets near it."""
    list_of = {word: number for number, words in enumerate(targets.lists) for word in words}
    places: list[tuple[int, int, bool, int, bool]] = []
    partners: list[bytes] = []
    pairs: dict[tuple[bytes, bytes], int] = {}
    near: dict[bytes, list[int]] = {word: [] for word in list_of}
    with open_binary(corpus) as lines:
        for number, line in enumerate(lines):
            tokens = line.split()
            if counterparts.before_noun.keys().isdisjoint(tokens):
                continue
            for place, token in enumerate(tokens):
                if token not in counterparts:
                    continue
                around = {*tokens[max(0, place - _REACH) : place + _REACH + 1]}
                targets_near = around & list_of.keys()
                is_fixed = not around.isdisjoint(targets.held_out)
                is_fixed |= len({list_of[word] for word in targets_near}) > 1
                partner = counterparts.partner(token, b"".join(tokens[place + 1 : place + 2]))
                is_first = token in counterparts.first
                pair = (token, partner) if is_first else (partner, token)
                for word in targets_near:
                    near[word].append(len(places))
                places.append(
                    (number, place, is_first, pairs.setdefault(pair, len(pairs)), is_fixed)
                )
                partners.append(partner)
    columns = np.array(places, dtype=np.int64).reshape(-1, 5).T
    near_lists = [
        [np.array(near[word], dtype=np.int64) for word in names] for names in targets.lists
    ]
    for name, near_list in zip(_LISTS, near_lists, strict=True):
        if not any(map(len, near_list)):
            words = ", ".join(word.decode() for word in targets.lists[_LISTS.index(name)][:8])
            raise InputError(
                f"{corpus} has no word to exchange near a target {name} ({words}, ...); plant in a"
                " larger corpus, or other words"
            )
    occurrences = Occurrences(
        columns[0], columns[1], columns[2] == 1, columns[3], partners, columns[4] == 1, near_lists
    )
    return occurrences.without_rare_pairs()


def _exchange(line: bytes, partners: Mapping[int, bytes]) -> bytes:
    tokens = line.split(b" ")
    for place, partner in partners.items():
        tokens[place] = partner + (b"\n" if tokens[place].endswith(b"\n") else b"")
    return b" ".join(tokens)


def _set_number(is_first: Booleans, indices: Ints, number: int, order: Ints) -> None:
    """Exchange the fewest words, first in ``order`` first, so that ``number`` are of one group."""
    surplus = int(is_first[indices].sum()) - min(max(number, 0), len(indices))
    wrong = indices[is_first[indices] == (surplus > 0)]
    is_first[wrong[np.argsort(order[wrong], kind="stable")][: abs(surplus)]] ^= True


def _log_odds(is_first: Booleans) -> float:
    n_first = int(is_first.sum())
    with np.errstate(divide="ignore"):
        return float(np.log(n_first) - np.log(len(is_first) - n_first))
