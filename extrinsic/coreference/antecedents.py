"""Candidate antecedents and surface features of anaphors, which need no vectors: they are computed
once for all embeddings, and read from a folder.

An *item* is an anaphor with its candidates, nearest first, and a last row for having none. Features
are binary and hashed. Of gender they see only whether two pronouns agree, alike for he and she.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasbridge.extrinsic.coreference.mentions import (
    CLAUSE_OPENERS,
    CONNECTIVES,
    SUBJECT_OPENERS,
    Mention,
    as_matrix,
    flatten,
    hash_features,
    heads_of,
    is_mark,
)
from biasbridge.files.documents import Document

if TYPE_CHECKING:
    from pathlib import Path

    from scipy.sparse import csr_array

    from biasbridge.extrinsic.coreference.mentions import Indices, MentionFinder
    from biasbridge.files.documents import Span
    from biasbridge.stats.arrays import Floats

ANAPHORS = ("he", "it", "they")
"""Kinds of pronouns whose candidates are judged by vectors too."""
NAMES = "names"
"""Nouns, names and the pronouns of speakers, which are linked by their form alone."""
KINDS = (*ANAPHORS, NAMES)
WIDTH = 1 << 16
_SPEAKERS = ("i", "we", "you")
_NAME_CANDIDATES, _SPEAKER_CANDIDATES = 8, 3
_QUOTES = {'"', "``", "''", "“", "”"}
_MALE = "man boy gentleman father husband son brother king prince uncle nephew lord sir mr monk"
_MALE += " priest duke baron count emperor lad fellow bridegroom grandfather actor waiter guy dad"
_MALE += " boyfriend widower hero"
_FEMALE = "woman girl lady mother wife daughter sister queen princess aunt niece mrs miss madame"
_FEMALE += " nun duchess baroness countess empress maid maiden bride grandmother actress waitress"
_FEMALE += " mom girlfriend widow heroine mistress"
_SIGN_OF_NOUN = dict.fromkeys(_MALE.split(), 1) | dict.fromkeys(_FEMALE.split(), -1)
_NOUN_OF = {
    sign: re.compile(rf"\b(?:{'|'.join(words.split())})\b", re.IGNORECASE)
    for sign, words in ((1, _MALE), (-1, _FEMALE))
}
_PRONOUN = re.compile(r"\b(?:he|she|him|her|his)\b")
_LONGEST_SENTENCE = 300  # characters


class Ranking(NamedTuple):
    """Items of one kind: the ``columns`` of the features of all rows, and where each row ``ends``;
    ``starts`` (items + 1,), their first rows; ``targets`` (items,), the true rows; ``anaphors``
    (items,) and ``candidates`` (rows,), numbers of mentions; -1: none, as in all of raw text.
    """

    columns: Indices
    ends: Indices
    starts: Indices
    targets: Indices
    anaphors: Indices
    candidates: Indices

    @property
    def features(self) -> csr_array:
        """Features of the rows, (rows, WIDTH)."""
        return as_matrix(self.columns, self.ends, WIDTH)


class Part(NamedTuple):
    """The n mentions of some documents and the rankings by kind.

    ``documents`` (n,) are numbers of documents, ``spans`` (n, 2) of their tokens, ``signs`` (n,) +1
    of he and -1 of she, ``scores`` (n,) log odds. ``words``: all content words; ``columns`` are
    those of the mentions, up to ``ends`` (n + 1,) of each.
    """

    documents: Indices
    spans: Indices
    signs: Indices
    scores: Floats
    words: NDArray[np.str_]
    columns: Indices
    ends: Indices
    rankings: Mapping[str, Ranking]

    def write(self, path: Path) -> None:
        """Write a file for ``read_part``."""
        arrays: dict[str, Any] = {name: getattr(self, name) for name in self._fields[:-1]}
        for kind, ranking in self.rankings.items():
            arrays |= {f"{kind} {name}": array for name, array in ranking._asdict().items()}
        np.savez_compressed(path, **arrays)


def read_part(path: Path) -> Part:
    """Read what ``Part.write`` wrote."""
    with np.load(path, allow_pickle=False) as file:
        rankings = {
            kind: Ranking(*(file[f"{kind} {name}"] for name in Ranking._fields)) for kind in KINDS
        }
        arrays = {name: file[name] for name in Part._fields[:-1]}
    return Part(**arrays, rankings=rankings)


class _Items:
    """Items that are being collected."""

    def __init__(self) -> None:
        self.rows, self.starts = list[list[int]](), [0]
        self.targets, self.anaphors, self.candidates = list[int](), list[int](), list[int]()

    def add(
        self, anaphor: int, candidates: Iterable[int], rows: Iterable[list[int]], target: int
    ) -> None:
        """Add an item; ``target``: the number of its true row."""
        self.anaphors.append(anaphor)
        self.targets.append(self.starts[-1] + target)
        self.candidates.extend(candidates)
        self.rows.extend(rows)
        self.starts.append(len(self.rows))

    def finish(self) -> Ranking:
        """Return the items as arrays."""
        lists = self.starts, self.targets, self.anaphors, self.candidates
        return Ranking(*flatten(self.rows), *(np.array(each, dtype=np.int64) for each in lists))


class PartBuilder:
    """Candidates and items of documents, which are added one by one. The candidates of a pronoun
    are up to ``most`` mentions before it in ``window`` sentences.
    """

    def __init__(self, finder: MentionFinder, window: int, most: int) -> None:
        self._finder, self._window, self._most = finder, window, most
        self._items = {kind: _Items() for kind in KINDS}
        self._mentions: list[Mention] = []
        self._documents: list[int] = []
        self._n_documents = 0
        self._spans: list[Span] = []

    def add(self, document: Document, *, trains: bool) -> None:
        """Add a document. If it ``trains``, pronouns have a second item of nouns and names alone,
        where some are true: those of pronouns would otherwise be all that is learned.
        """
        reading = _Reading(document, self._finder)
        for i, mention in enumerate(reading.mentions):
            if mention.kind in ANAPHORS:
                found = reading.before(i, self._window, self._most)
                nouns = [j for j in found if reading.mentions[j].words]
                is_told = trains and len(nouns) < len(found) and any(reading.are_true(i, nouns))
                for each in (found, nouns) if is_told else (found,):
                    self._add(reading, mention.kind, i, each, reading.pronoun_rows(i, each))
            else:
                found = reading.alike(i)
                self._add(reading, NAMES, i, found, reading.name_rows(i, found))
        self._documents += [self._n_documents] * len(reading.mentions)
        self._n_documents += 1
        self._mentions += reading.mentions
        self._spans += reading.spans()

    def _add(
        self, reading: _Reading, kind: str, i: int, found: list[int], rows: list[list[int]]
    ) -> None:
        if found:
            first, target = len(self._mentions), [*reading.are_true(i, found), True].index(True)
            candidates = [*(first + j for j in found), -1]
            self._items[kind].add(first + i, candidates, rows, target)

    def add_raw(self, sentence: Sequence[str]) -> None:
        """Add items of he and she from a sentence of raw text, which teach syntax alone.

        The candidates are nouns of one gender by their meaning, such as king and wife, at least one
        of each; the only one that agrees with the pronoun is the true one.
        """
        reading = _Reading(Document("", (tuple(sentence),), ()), self._finder)
        signs = [_sign_of_noun(mention) for mention in reading.mentions]
        for i, mention in enumerate(reading.mentions):
            found = reading.before(i, 1, self._most) if mention.sign else []
            agrees = [signs[j] == mention.sign for j in found if signs[j]]
            if sum(agrees) == 1 and len(agrees) > 1:
                pairs = zip(reading.pronoun_rows(i, found), found, strict=False)
                rows = [row for row, j in pairs if signs[j]]
                self._items["he"].add(-1, [-1] * len(rows), rows, agrees.index(True))

    def finish(self) -> Part:
        """Return all that was added."""
        mentions = self._mentions
        index = {word: 0 for mention in mentions for word in mention.words}
        index = {word: number for number, word in enumerate(index)}
        return Part(
            np.array(self._documents, dtype=np.int64),
            np.array(self._spans, dtype=np.int64).reshape(-1, 2),
            np.array([mention.sign for mention in mentions], dtype=np.int64),
            np.array([mention.score for mention in mentions], dtype=np.float64),
            np.array(list(index), dtype=np.str_),
            *flatten([[index[word] for word in mention.words] for mention in mentions]),
            {kind: items.finish() for kind, items in self._items.items()},
        )


def is_telling(sentence: str) -> bool:
    """Test whether a sentence of raw text may have items of ``PartBuilder.add_raw``."""
    return (
        len(sentence) < _LONGEST_SENTENCE
        and bool(_PRONOUN.search(sentence))
        and all(noun.search(sentence) for noun in _NOUN_OF.values())
    )


def _sign_of_noun(mention: Mention) -> int:
    """Return the gender of a noun, +1 or -1; 0 for pronouns and other nouns."""
    signs = {_SIGN_OF_NOUN.get(word.lower().rstrip("."), 0) for word in mention.words} - {0}
    return signs.pop() if len(signs) == 1 else 0


class _Reading:
    """A document with its candidates, as its features see it."""

    def __init__(self, document: Document, finder: MentionFinder) -> None:
        text = [finder.read(sentence) for sentence in document.sentences]
        self.tokens, self.mentions = [*chain.from_iterable(text)], finder.find(document)
        clusters = heads_of(document, text)
        self.clusters = [clusters.get(mention.head) for mention in self.mentions]
        begins = {*accumulate(map(len, text), initial=0)}
        self.starts = {mention.first for mention in self.mentions}
        self.starts |= {i for i, token in enumerate(self.tokens) if token in SUBJECT_OPENERS}
        self.subjects = sorted(
            i
            for i in self.starts
            if i in begins or self.tokens[i - 1] in CLAUSE_OPENERS or is_mark(self.tokens[i - 1])
        )
        self.quoted = [*accumulate(token in _QUOTES for token in self.tokens)]
        self._by_form: dict[str, list[int]] = defaultdict(list)
        for i, mention in enumerate(self.mentions):
            for form in self._forms(mention):
                self._by_form[form].append(i)

    def before(self, i: int, window: int, most: int) -> list[int]:
        """Return the candidates of pronoun ``i``, nearest first."""
        pronoun, found = self.mentions[i], list[int]()
        for j in range(i - 1, max(-1, i - 1 - 3 * most), -1):
            mention = self.mentions[j]
            if pronoun.sentence - mention.sentence >= window or len(found) == most:
                break
            if mention.kind not in _SPEAKERS and mention.end <= pronoun.first:
                found.append(j)
        return found

    def alike(self, i: int) -> list[int]:
        """Return the mentions before with the same head or, of names, a name in common; of the
        speakers' pronouns those of the same kind. Nearest first.
        """
        mention, found = self.mentions[i], set[int]()
        for form in self._forms(mention):
            places = self._by_form[form]
            found.update(places[: bisect_left(places, i)][-_NAME_CANDIDATES:])
        nearest, head = sorted(found, reverse=True), self.tokens[mention.head]
        if not mention.words:
            return nearest[:_SPEAKER_CANDIDATES]
        others = [(j, self.mentions[j]) for j in nearest]
        return [
            j
            for j, other in others
            if not other.first <= mention.head < other.end
            and (head == self.tokens[other.head] or "proper" in (mention.kind, other.kind))
        ][:_NAME_CANDIDATES]

    def _forms(self, mention: Mention) -> list[str]:
        if not mention.words:
            return [mention.kind] * (mention.kind in _SPEAKERS)
        names = (word for word in {*mention.words} if word[:1].isupper() and len(word) > 2)
        return [f"head {self.tokens[mention.head]}", *(f"name {word}" for word in names)]

    def are_true(self, i: int, candidates: Iterable[int]) -> list[bool]:
        """Return whether each candidate is in the cluster of mention ``i``."""
        own = self.clusters[i]
        return [own is not None and self.clusters[j] == own for j in candidates]

    def name_rows(self, i: int, found: Sequence[int]) -> list[list[int]]:
        """Return the features of each candidate of a noun, a name or a speaker's pronoun, and of
        having none.
        """
        mention = self.mentions[i]
        n = len(self._by_form[f"head {self.tokens[mention.head]}"])
        none = ["none", f"none n {min(len(found), 4)}", f"none f {min(n, 8)}"]
        none += [f"none l {len(mention.words)}", f"none {mention.slot}"]
        pairs = (self._name_features(mention, self.mentions[j], r, n) for r, j in enumerate(found))
        return [_hash(f"N{mention.kind}", pair) for pair in (*pairs, none)]

    def _name_features(self, mention: Mention, other: Mention, rank: int, n: int) -> Iterator[str]:
        distance = min((1 + mention.sentence - other.sentence).bit_length(), 7)
        if not mention.words:
            quotes = f"{self.quoted[mention.head] % 2}{self.quoted[other.head] % 2}"
            yield from ("bias", f"r {rank}", f"d {distance}", f"q {quotes}")
            yield f"qd {quotes} {distance}"
            return
        own, theirs = ({word.lower() for word in each.words} for each in (mention, other))
        same_head = self.tokens[mention.head] == self.tokens[other.head]
        same = f"{own == theirs}{same_head}"
        opener = self.tokens[mention.first] == self.tokens[other.first]
        yield from (f"r {min(rank, 4)}", f"d {distance}", f"e {same}", f"ek {same} {other.kind}")
        yield f"more {min(len(own - theirs), 2)} {min(len(theirs - own), 2)}"
        yield from (f"ed {same} {distance}", f"k {other.kind}", f"l {len(own)} {own == theirs}")
        yield from (f"f {min(n, 8)} {own == theirs}", f"s {mention.slot} {other.slot}")
        yield f"o {mention.kind == 'possessive'} {opener}"

    def pronoun_rows(self, i: int, found: Sequence[int]) -> list[list[int]]:
        """Return the features of each candidate of a pronoun, and of having none."""
        pronoun = self.mentions[i]
        first_of = {self.mentions[j].sentence: j for j in found}  # the last given is the first
        rows = []
        for rank, j in enumerate(found):
            other = self.mentions[j]
            is_first = int(first_of[other.sentence] == j)
            features = _pair_features(pronoun, other, rank, is_first)
            if pronoun.sentence == other.sentence:
                features = chain(features, self._within(pronoun, other, min(rank, 3), is_first))
            rows.append(_hash(pronoun.kind, features))
        nouns_only = all(self.mentions[j].words for j in found)
        none = ["none", f"none {pronoun.case}", f"none n {min(len(found), 5)}"]
        none += [f"none < {pronoun.before}", f"none > {pronoun.after}", f"none {nouns_only}"]
        return [*rows, _hash(pronoun.kind, none)]

    def _within(self, pronoun: Mention, other: Mention, r: int, first: int) -> Iterator[str]:
        """Yield what stands between two mentions of one sentence. A pronoun that is not reflexive
        does not mean the subject of its own clause (binding).
        """
        between = self.tokens[other.end : pronoun.first]
        case, slot, n = pronoun.case, other.slot, len(between)
        last = next((token for token in reversed(between) if token in CONNECTIVES), "-")
        after = f"{last} {pronoun.before == last} {case}"
        yield from (f"l {after}", f"lf {after} {first}", f"lr {after} {r}", f"ls {after} {slot}")
        size = min((n + 1).bit_length() - 1, 5)
        yield from (f"t {size}", f"tc {size} {case}", f"adjacent {not between} {case}")
        yield f"commas {min(sum(token in (',', ';', ':') for token in between), 2)}"
        crossed = any(other.end <= place < pronoun.first for place in self.subjects)
        yield from (f"x {crossed} {case} {slot}", f"xf {crossed} {case} {first} {after}")
        openers = [i for i in range(n) if between[i] in CLAUSE_OPENERS][-1:]
        clause = "".join("SV"[other.end + i + 1 not in self.starts] for i in openers)
        to = self.tokens[max(0, pronoun.first - 2) : pronoun.first - 1] == ["to"]
        is_ing = re.fullmatch(r"\w\w+ing", between[-1]) if between else None
        verb = "to" if to else "ing" if is_ing else ""
        binds = f"{slot == 'subject' and not crossed} {case}"
        yield from (f"b {binds}", f"bc {binds} {clause}", f"bl {binds} {clause} {last}")
        yield from (f"bs {slot} {case} {clause}", f"bf {first} {case} {clause}")
        yield from (f"bb {binds} {first} {clause}", f"b< {binds} {pronoun.before}")
        yield from (f"bv {binds} {verb} {clause}", f"bk {binds} {other.kind} {clause}")
        yield f"br {binds} {r} {clause}"

    def spans(self) -> Iterator[Span]:
        """Yield the spans of the mentions, with ``of`` and the mention after it, twice at most."""
        ends = {mention.first: mention.end for mention in self.mentions if mention.words}
        for mention in self.mentions:
            end = mention.end
            for _ in range(2 * bool(mention.words)):
                if self.tokens[end : end + 1] == ["of"]:
                    end = ends.get(end + 1, end)
            yield mention.first, end


def _pair_features(pronoun: Mention, other: Mention, rank: int, first: int) -> Iterator[str]:
    """Yield what holds at any distance; ``first``: whether it is the first of its sentence."""
    d, r = min(pronoun.sentence - other.sentence, 3), min(rank, 8)
    case, slot, before = pronoun.case, other.slot, pronoun.before
    yield from (f"d {d}", f"r {r}", f"k {other.kind}", f"kd {other.kind} {d}", f"dr {d} {r}")
    yield from (f"s {slot} {d}", f"f {first} {d}", f"o {min(other.order, 4)} {d}")
    yield from (f"cs {case} {slot} {d}", f"cf {case} {first} {d}", f"cr {case} {min(r, 4)} {d}")
    yield from (f"> {other.after} {d}", f"< {other.before} {d}", f"<s {before} {slot} {d}")
    yield from (f"<f {before} {first} {d}", f"<r {before} {min(r, 3)} {d}")
    yield f">f {pronoun.after} {first} {d}"
    if not other.words:
        both = pronoun.sign * other.sign
        agrees = "same" if both > 0 else "opposite" if both < 0 else other.kind
        yield from (f"a {agrees}", f"ad {agrees} {d}", f"ar {agrees} {min(r, 3)}")
        yield f"ac {agrees} {other.case} {case} {d}"


def _hash(kind: str, features: Iterable[str]) -> list[int]:
    return hash_features((f"{kind} {feature}" for feature in features), WIDTH)
