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
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasbridge.extrinsic.coreference.mentions import (
    CLAUSE_OPENERS,
    CONNECTIVES,
    SUBJECT_OPENERS,
    Mention,
    as_matrix,
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


@dataclass(frozen=True)
class Ranking:
    """Items of one kind. ``starts`` (items + 1,) are their first rows, ``targets`` (items,) the true
    rows, ``anaphors`` (items,) and ``candidates`` (rows,) numbers of mentions; -1: none.
    """

    features: csr_array
    starts: Indices
    targets: Indices
    anaphors: Indices
    candidates: Indices

    def joined(self, other: Ranking) -> Ranking:
        """Return the items of both; those of the other have no mention."""
        from scipy.sparse import vstack

        n = self.starts[-1]
        return Ranking(
            vstack([self.features, other.features]).tocsr(),
            np.append(self.starts, other.starts[1:] + n),
            np.append(self.targets, other.targets + n),
            np.append(self.anaphors, other.anaphors),
            np.append(self.candidates, other.candidates),
        )

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return what decides the ranking, by name."""
        ends, columns = self.features.indptr, self.features.indices
        names = ("starts", "targets", "anaphors", "candidates")
        return {"ends": ends, "columns": columns} | {name: getattr(self, name) for name in names}


@dataclass
class _Items:
    """Items that are being collected."""

    rows: list[list[int]] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    targets: list[int] = field(default_factory=list)
    anaphors: list[int] = field(default_factory=list)
    candidates: list[int] = field(default_factory=list)

    def add(
        self, anaphor: int, candidates: Sequence[int], rows: Iterable[list[int]], target: int
    ) -> None:
        """Add an item; ``target``: the number of its true row."""
        self.anaphors.append(anaphor)
        self.targets.append(self.starts[-1] + target)
        self.candidates.extend(candidates)
        self.rows.extend(rows)
        self.starts.append(len(self.rows))

    def finish(self) -> Ranking:
        """Return the items as arrays."""
        names = ("starts", "targets", "anaphors", "candidates")
        arrays = (np.array(getattr(self, name), dtype=np.int64) for name in names)
        return Ranking(as_matrix(self.rows, WIDTH), *arrays)


@dataclass(frozen=True)
class Part:
    """The mentions and rankings of a split of n mentions.

    ``documents`` (n,) are numbers of documents, ``spans`` (n, 2) of their tokens, ``signs`` (n,) +1
    of he and -1 of she, ``scores`` (n,) log odds. ``contents`` (n, words): the mean of a mention's
    ``words``.
    """

    documents: Indices
    spans: Indices
    signs: Indices
    scores: Floats
    words: Sequence[str]
    contents: csr_array
    rankings: Mapping[str, Ranking]

    def write(self, path: Path) -> None:
        """Write a file for ``read_part``."""
        names = ("documents", "spans", "signs", "scores")
        arrays = {name: getattr(self, name) for name in names}
        arrays |= {"words": np.array(self.words, dtype=np.str_)}
        arrays |= {f"contents_{name}": getattr(self.contents, name) for name in _SPARSE}
        for kind, ranking in self.rankings.items():
            arrays |= {f"{kind}_{name}": array for name, array in ranking.arrays().items()}
        np.savez(path, **arrays)


_SPARSE = ("data", "indices", "indptr")


def read_part(path: Path) -> Part:
    """Read what ``Part.write`` wrote."""
    from scipy.sparse import csr_array  # slow to import

    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    words = arrays["words"].tolist()
    shape = (len(arrays["spans"]), len(words))
    contents = csr_array(tuple(arrays[f"contents_{name}"] for name in _SPARSE), shape=shape)
    rankings = {}
    for kind in (*ANAPHORS, NAMES):
        columns, ends = (arrays[f"{kind}_{name}"] for name in ("columns", "ends"))
        rows = csr_array((np.ones(len(columns)), columns, ends), shape=(len(ends) - 1, WIDTH))
        names = ("starts", "targets", "anaphors", "candidates")
        rankings[kind] = Ranking(rows, *(arrays[f"{kind}_{name}"] for name in names))
    names = ("documents", "spans", "signs", "scores")
    return Part(*(arrays[name] for name in names), words, contents, rankings)


def read_splits(
    documents: Sequence[Document],
    finder: MentionFinder,
    *,
    window: int,
    most: int,
    trains: bool = False,
) -> Part:
    """Return the candidates and items of a split: of pronouns up to ``most`` mentions before them in
    ``window`` sentences. If it ``trains``, he and she have a second item of nouns and names alone,
    where both kinds are candidates: those of pronouns would otherwise be all that is learned.
    """
    items = {kind: _Items() for kind in (*ANAPHORS, NAMES)}
    mentions: list[Mention] = []
    of_document: list[int] = []
    spans: list[Span] = []
    for number, document in enumerate(documents):
        reading = _Reading(document, finder)
        first = len(mentions)
        for i, mention in enumerate(reading.mentions):
            if mention.kind in ANAPHORS:
                found = reading.before(i, window, most)
                for candidates in reading.choices(i, found, trains=trains):
                    reading.add_pronoun(items[mention.kind], i, candidates, first)
            elif candidates := reading.alike(i):
                reading.add_name(items[NAMES], i, candidates, first)
        mentions += reading.mentions
        of_document += [number] * len(reading.mentions)
        spans += reading.spans()
    return _make_part(mentions, of_document, spans, items)


def read_raw(sentences: Iterable[Sequence[str]], finder: MentionFinder, *, most: int) -> Part:
    """Return items of he and she from raw text, which teach syntax alone.

    The candidates are nouns of one gender by their meaning, such as king and wife, at least one of
    each; the only one that agrees with the pronoun is the true one. They have no vector.
    """
    items = {kind: _Items() for kind in (*ANAPHORS, NAMES)}
    for sentence in sentences:
        reading = _Reading(Document("", (tuple(sentence),), ()), finder)
        signs = [_sign_of_noun(mention) for mention in reading.mentions]
        for i, mention in enumerate(reading.mentions):
            if not mention.sign:
                continue
            found = reading.before(i, 1, most)
            agrees = [signs[j] == mention.sign for j in found if signs[j]]
            if sum(agrees) != 1 or all(agrees):
                continue
            rows = reading.pair_rows(i, found)
            known = [row for row, j in zip(rows, found, strict=True) if signs[j]]
            items["he"].add(-1, [-1] * len(known), known, agrees.index(True))
    return _make_part([], [], [], items)


def is_telling(sentence: str) -> bool:
    """Test whether a sentence of raw text may have items of ``read_raw``."""
    return (
        len(sentence) < _LONGEST_SENTENCE
        and bool(_PRONOUN.search(sentence))
        and all(noun.search(sentence) for noun in _NOUN_OF.values())
    )


def _sign_of_noun(mention: Mention) -> int:
    """Return the gender of a noun, +1 or -1; 0 for pronouns and other nouns."""
    signs = {_SIGN_OF_NOUN.get(word.lower().rstrip("."), 0) for word in mention.words} - {0}
    return signs.pop() if len(signs) == 1 else 0


def _make_part(
    mentions: Sequence[Mention],
    documents: Sequence[int],
    spans: Sequence[Span],
    items: Mapping[str, _Items],
) -> Part:
    from scipy.sparse import csr_array  # slow to import

    index = {word: 0 for mention in mentions for word in mention.words}
    index = {word: number for number, word in enumerate(index)}
    lengths = np.array([len(mention.words) for mention in mentions], dtype=np.int64)
    columns = np.array([index[word] for each in mentions for word in each.words], dtype=np.int32)
    shares = np.repeat(1 / np.maximum(lengths, 1), lengths)
    ends = np.cumsum([0, *lengths], dtype=np.int32)
    return Part(
        np.array(documents, dtype=np.int64),
        np.array(spans, dtype=np.int64).reshape(-1, 2),
        np.array([mention.sign for mention in mentions], dtype=np.int64),
        np.array([mention.score for mention in mentions], dtype=np.float64),
        list(index),
        csr_array((shares, columns, ends), shape=(len(mentions), len(index))),
        {kind: collected.finish() for kind, collected in items.items()},
    )


class _Reading:
    """A document with its candidates, as its features see it."""

    def __init__(self, document: Document, finder: MentionFinder) -> None:
        text = [finder.read(sentence) for sentence in document.sentences]
        self.tokens = [*chain.from_iterable(text)]
        self.mentions = finder.find(document)
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

    def choices(self, i: int, found: list[int], *, trains: bool) -> Iterator[list[int]]:
        """Yield the candidates of each item of a pronoun."""
        if found:
            yield found
        nouns = [j for j in found if not self.mentions[j].is_pronoun]
        if trains and len(nouns) < len(found) and any(self._are_true(i, nouns)):
            yield nouns

    def alike(self, i: int) -> list[int]:
        """Return the mentions before with the same head or, of names, a name in common; of the
        speakers' pronouns those of the same kind. Nearest first.
        """
        mention, found = self.mentions[i], set[int]()
        for form in self._forms(mention):
            places = self._by_form[form]
            found.update(places[: bisect_left(places, i)][-_NAME_CANDIDATES:])
        most = _SPEAKER_CANDIDATES if mention.kind in _SPEAKERS else _NAME_CANDIDATES
        possible = (j for j in sorted(found, reverse=True) if self._may_be_alike(mention, j))
        return [*possible][:most]

    def _forms(self, mention: Mention) -> list[str]:
        if mention.is_pronoun:
            return [f"speaker {mention.kind}"] * (mention.kind in _SPEAKERS)
        names = [f"name {word}" for word in {*mention.words} if _is_name(word)]
        return [f"head {self.tokens[mention.head]}", *names]

    def _may_be_alike(self, mention: Mention, j: int) -> bool:
        other = self.mentions[j]
        if mention.is_pronoun:
            return True
        same_head = self.tokens[mention.head] == self.tokens[other.head]
        return not other.first <= mention.head < other.end and (
            same_head or "proper" in (mention.kind, other.kind)
        )

    def _are_true(self, i: int, candidates: Iterable[int]) -> list[bool]:
        own = self.clusters[i]
        return [own is not None and self.clusters[j] == own for j in candidates]

    def add_pronoun(self, items: _Items, i: int, found: Sequence[int], first: int) -> None:
        """Add an item of a pronoun; ``first``: the number of the document's first mention."""
        pronoun = self.mentions[i]
        nouns_only = all(not self.mentions[j].is_pronoun for j in found)
        none = ["none", f"none {pronoun.case}", f"none n {min(len(found), 5)}"]
        none += [f"none < {pronoun.before}", f"none > {pronoun.after}", f"none {nouns_only}"]
        rows = [*self.pair_rows(i, found), _columns(pronoun.kind, none)]
        self._add(items, i, found, rows, first)

    def add_name(self, items: _Items, i: int, found: Sequence[int], first: int) -> None:
        """Add an item of a noun, a name or a speaker's pronoun."""
        mention = self.mentions[i]
        n = len(self._by_form[f"head {self.tokens[mention.head]}"])
        none = ["none", f"none n {min(len(found), 4)}", f"none f {min(n, 8)}"]
        none += [f"none l {len(mention.words)}", f"none {mention.slot}"]
        pairs = (self._name_features(mention, self.mentions[j], r, n) for r, j in enumerate(found))
        rows = [_columns(f"N{mention.kind}", pair) for pair in (*pairs, none)]
        self._add(items, i, found, rows, first)

    def _add(
        self, items: _Items, i: int, found: Sequence[int], rows: list[list[int]], first: int
    ) -> None:
        target = [*self._are_true(i, found), True].index(True)
        items.add(first + i, [*(first + j for j in found), -1], rows, target)

    def _name_features(self, mention: Mention, other: Mention, rank: int, n: int) -> Iterator[str]:
        distance = min((1 + mention.sentence - other.sentence).bit_length(), 7)
        if mention.is_pronoun:
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

    def pair_rows(self, i: int, found: Sequence[int]) -> list[list[int]]:
        """Return the features of each candidate of a pronoun."""
        pronoun = self.mentions[i]
        first_of = {self.mentions[j].sentence: j for j in found}  # the last given is the first
        rows = []
        for rank, j in enumerate(found):
            is_first = first_of[self.mentions[j].sentence] == j
            pair = _Pair(pronoun, self.mentions[j], rank, int(is_first))
            features = chain(pair.features(), self._within(pair), pair.agreement())
            rows.append(_columns(pronoun.kind, features))
        return rows

    def _within(self, pair: _Pair) -> Iterator[str]:
        """Yield what stands between two mentions of one sentence. A pronoun that is not reflexive
        does not mean the subject of its own clause (binding).
        """
        pronoun, other, rank, first = pair
        if pronoun.sentence != other.sentence:
            return
        between = self.tokens[other.end : pronoun.first]
        case, r, slot = pronoun.case, min(rank, 3), other.slot
        last = next((token for token in reversed(between) if token in CONNECTIVES), "-")
        after = f"{last} {pronoun.before == last} {case}"
        yield from (f"l {after}", f"lf {after} {first}", f"lr {after} {r}", f"ls {after} {slot}")
        size = min((len(between) + 1).bit_length() - 1, 5)
        yield from (f"t {size}", f"tc {size} {case}", f"adjacent {not between} {case}")
        yield f"commas {min(sum(token in (',', ';', ':') for token in between), 2)}"
        n = bisect_left(self.subjects, other.end)
        crossed = n < len(self.subjects) and self.subjects[n] < pronoun.first
        yield from (f"x {crossed} {case} {slot}", f"xf {crossed} {case} {first} {after}")
        binds = f"{slot == 'subject' and not crossed} {case}"
        clause = self._clause_after(other.end, pronoun.first)
        yield from (f"b {binds}", f"bc {binds} {clause}", f"bl {binds} {clause} {last}")
        yield from (f"bs {slot} {case} {clause}", f"bf {first} {case} {clause}")
        yield from (f"bb {binds} {first} {clause}", f"b< {binds} {pronoun.before}")
        yield from (f"bv {binds} {self._verb_form(pronoun)} {clause}",)
        yield from (f"bk {binds} {other.kind} {clause}", f"br {binds} {r} {clause}")

    def _clause_after(self, end: int, first: int) -> str:
        """Return whether the last clause begins with a new subject, or goes on with a verb."""
        for i in range(first - 1, end - 1, -1):
            if self.tokens[i] in CLAUSE_OPENERS:
                return "subject" if i + 1 in self.starts else "verb"
        return "none"

    def _verb_form(self, pronoun: Mention) -> str:
        before = self.tokens[max(0, pronoun.first - 2) : pronoun.first]
        if before[:1] == ["to"] and len(before) == 2:
            return "to"
        return "ing" if before and re.fullmatch(r"\w\w+ing", before[-1]) else "other"

    def spans(self) -> list[Span]:
        """Return the spans of the mentions, with ``of`` and the mention after it."""
        at = {mention.first: mention for mention in self.mentions if not mention.is_pronoun}
        return [self._span(mention, at) for mention in self.mentions]

    def _span(self, mention: Mention, at: Mapping[int, Mention]) -> Span:
        end = mention.end
        for _ in range(2 * (not mention.is_pronoun)):
            if self.tokens[end : end + 1] == ["of"] and end + 1 in at:
                end = at[end + 1].end
        return mention.first, end


class _Pair(NamedTuple):
    """A pronoun and a candidate, its ``rank`` from 0, and whether it is ``first`` among those of
    its sentence.
    """

    pronoun: Mention
    other: Mention
    rank: int
    first: int

    def features(self) -> Iterator[str]:
        """Yield what holds at any distance."""
        pronoun, other = self.pronoun, self.other
        d, r = min(pronoun.sentence - other.sentence, 3), min(self.rank, 8)
        case, slot, first, before = pronoun.case, other.slot, self.first, pronoun.before
        yield from (f"d {d}", f"r {r}", f"k {other.kind}", f"kd {other.kind} {d}", f"dr {d} {r}")
        yield from (f"s {slot} {d}", f"f {first} {d}", f"o {min(other.order, 4)} {d}")
        yield from (f"cs {case} {slot} {d}", f"cf {case} {first} {d}", f"cr {case} {min(r, 4)} {d}")
        yield from (f"> {other.after} {d}", f"< {other.before} {d}", f"<s {before} {slot} {d}")
        yield from (f"<f {before} {first} {d}", f"<r {before} {min(r, 3)} {d}")
        yield f">f {pronoun.after} {first} {d}"

    def agreement(self) -> Iterator[str]:
        """Yield how two pronouns agree."""
        pronoun, other = self.pronoun, self.other
        if not other.is_pronoun:
            return
        agrees = other.kind
        if pronoun.sign and other.sign:
            agrees = "same" if pronoun.sign == other.sign else "opposite"
        d = min(pronoun.sentence - other.sentence, 3)
        yield from (f"a {agrees}", f"ad {agrees} {d}", f"ar {agrees} {min(self.rank, 3)}")
        yield f"ac {agrees} {other.case} {pronoun.case} {d}"


def _columns(kind: str, features: Iterable[str]) -> list[int]:
    return hash_features((f"{kind} {feature}" for feature in features), WIDTH)


def _is_name(word: str) -> bool:
    return word[:1].isupper() and len(word) > 2
