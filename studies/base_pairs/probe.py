"""How far a word's score depends on the base pair it is asked with, and on the word's form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np
from annotated_types import doc

from files import InputError, choice
from files.choice import Count, Fileless, Whole
from files.digest import digest_of
from intrinsic.frequent_words import most_frequent
from intrinsic.lookup import find, unit_rows
from intrinsic.pair_scores import Item, PairScores
from intrinsic.word_forms import Form, word_form
from intrinsic.wordsets import load_queries, query_names

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from intrinsic.lookup import Floats
    from intrinsic.metric import Metric

Row = dict[str, str | float]
TEXTS = (*("metric", "convention", "query", "kind", "set", "word", "form"), "pair", "pair_form")
NUMBERS = ("truth", "score", "sd", "n")
EMPTY: Row = {**dict.fromkeys((*TEXTS, "other"), ""), **dict.fromkeys(NUMBERS, np.nan)}
BLOCK = 5_000


@choice
class BasePairs(Fileless):
    """The score of every word under every base pair, by a metric that has them
    (``intrinsic.pair_scores.ByPair``), after Zhang, Sneyd & Stevenson (2020). Rows by ``kind``:

    * ``score``: of a ``word`` in a ``form`` under a ``pair`` in a ``pair_form``; ``set``: the role
      of the query's own words, or the query of ``truths`` whose X (``truth`` 1) or Y (-1) it is of
    * ``vocabulary``: mean and ``sd`` under a pair of the ``vocabulary`` most frequent words
    * ``difference``: the cosine of the differences a - b of ``pair`` and ``other``
    * ``likeness``: the cosine of the two words of a pair, also of pairs that are scored themselves
    * ``random``: mean and ``sd`` of ``samples`` cosines of random words, and of their differences
    * ``lost``: a word or pair that the vocabulary lacks

    The words and base pairs are those of each query that the metric asks. Raises ``InputError`` for
    a metric without such scores, fewer than two base pairs and a pair of one word.
    """

    truths: Annotated[
        tuple[str, ...], doc("queries whose X goes with the pairs' first words, and Y with second")
    ] = ("trait_forms", "animal_names")
    forms: tuple[Form, ...] = ("plural", "capital", "upper")
    pair_forms: tuple[Form, ...] = ("capital",)
    vocabulary: Annotated[Whole, doc("frequent words for mean and sd; 0: none")] = 50_000
    samples: Annotated[Count, doc("random pairs of words, and of differences")] = 100_000

    name: ClassVar[str] = "base_pairs"
    version: ClassVar[int] = 1
    needs: ClassVar[str] = "vectors"
    of_metrics: ClassVar[bool] = True

    def keyed(self) -> Mapping[str, object]:
        """The built-in words of ``truths``; those of a metric's own file are keyed with it."""
        built_in = load_queries([name for name in self.truths if name in query_names()])
        return {"truths": digest_of([query.decisive() for query in built_in])}

    def rows(self, vectors: KeyedVectors, metric: Metric | None, *, seed: int) -> pd.DataFrame:
        """What is found for each query that the metric asks."""
        import pandas as pd

        if metric is None:
            raise InputError("the probe base_pairs examines metrics; name some in intrinsic=[...]")
        rows: list[Row] = []
        for query in metric.asked:
            about: Row = {"metric": metric.name, "convention": metric.label, "query": query.name}
            scores = PairScores.of(metric, vectors, query)
            frequent = most_frequent(vectors, self.vocabulary or len(vectors))
            kinds = [
                _lost(scores),
                _cosines(scores),
                _random(vectors, frequent, self.samples, seed),
            ]
            kinds.append(_scores(scores, self._entries(scores, metric), self.pair_forms))
            if scores.metric.items == "words" and self.vocabulary:
                kinds.append(_vocabulary(scores, frequent))
            rows += [EMPTY | about | row for kind in kinds for row in kind]
        return pd.DataFrame(rows)

    def _entries(self, scores: PairScores, metric: Metric) -> list[Entry]:
        """The query's own items, its words in every form, and words of which the truth is known."""
        role, language = scores.metric.items, scores.found.query.language
        own = [Entry(role, 0, item, "base", item) for item in scores.found[role].items]
        if role != "words":
            return own
        entries = own[:]
        for form in self.forms:
            for entry in own:
                other = word_form(entry.item[0], form, language)
                if other and scores.has(other):
                    entries.append(Entry(role, 0, entry.item, form, (other,)))
        for query in load_queries(self.truths, metric.words):
            for side, truth in (("X", 1), ("Y", -1)):
                if side not in query.sets:
                    raise InputError(f"truths: query {query.name!r} has no {side}; name another")
                found = find(scores.found.vectors, query[side].words, case=metric.case)
                entries += [Entry(query.name, truth, item, "base", item) for item in found.items]
        return entries


class Entry(NamedTuple):
    """An item to score: what it is a form of, and as what it is in the vocabulary."""

    set: str
    truth: int
    item: Item
    form: Form
    asked: Item


def _lost(scores: PairScores) -> Iterator[Row]:
    for role in (scores.metric.items, "pairs"):
        for word in scores.found[role].lost:
            yield {"kind": "lost", "set": role, "word": word}


def _scores(
    scores: PairScores, entries: Sequence[Entry], pair_forms: Sequence[Form]
) -> Iterator[Row]:
    """Every entry under every base pair; those of the query itself also under the pairs' forms."""
    own = [entry for entry in entries if not entry.truth and entry.form == "base"]
    asked: list[tuple[Form, Sequence[Entry], list[tuple[Item, Item]]]] = [
        ("base", entries, [(pair, pair) for pair in scores.pairs])
    ]
    for form in pair_forms:
        changed = [tuple(word_form(word, form) or word for word in pair) for pair in scores.pairs]
        there = zip(scores.pairs, changed, strict=True)
        asked.append((form, own, [(a, b) for a, b in there if a != b and scores.has(*b)]))
    for pair_form, items, pairs in asked:
        if not pairs:
            continue
        values = scores([entry.asked for entry in items], [pair for _, pair in pairs])
        for entry, row in zip(items, values.tolist(), strict=True):
            about: Row = {"kind": "score", "set": entry.set, "truth": entry.truth}
            about |= {"word": ":".join(entry.item), "form": entry.form, "pair_form": pair_form}
            for (pair, _), score in zip(pairs, row, strict=True):
                yield about | {"pair": ":".join(pair), "score": score}


def _vocabulary(scores: PairScores, words: Sequence[str]) -> Iterator[Row]:
    sums = np.zeros((2, len(scores.pairs)))
    for start in range(0, len(words), BLOCK):
        values = scores([(word,) for word in words[start : start + BLOCK]], scores.pairs)
        sums += values.sum(axis=0), (values**2).sum(axis=0)
    means, squares = sums / len(words)
    spreads = np.sqrt(np.maximum(squares - means**2, 0))
    for pair, mean, sd in zip(scores.pairs, means.tolist(), spreads.tolist(), strict=True):
        about: Row = {"kind": "vocabulary", "pair": ":".join(pair), "n": len(words)}
        yield about | {"score": mean, "sd": sd}


def _cosines(scores: PairScores) -> Iterator[Row]:
    """Of the differences of every two base pairs, and of the two words of every pair."""
    found = scores.found
    pairs = found["pairs"].raw
    differences = unit_rows(pairs[:, 0] - pairs[:, 1])
    names = found["pairs"].words
    for i, j in combinations(range(len(names)), 2):
        about: Row = {"kind": "difference", "pair": names[i], "other": names[j]}
        yield about | {"score": float(differences[i] @ differences[j])}
    for role in ("pairs", scores.metric.items):
        if found.query[role].width == 2:
            likeness = np.einsum("ij,ij->i", *found[role].matrix.swapaxes(0, 1))
            for name, value in zip(found[role].words, likeness.tolist(), strict=True):
                yield {"kind": "likeness", "set": role, "word": name, "score": value}


def _random(vectors: KeyedVectors, words: Sequence[str], samples: int, seed: int) -> Iterator[Row]:
    """Cosines of differences a - b and c - d of random words, and of random words a and c."""
    rng = np.random.default_rng(seed)
    places = np.array([vectors.key_to_index[word] for word in words], dtype=np.intp)
    cosines: list[list[Floats]] = []
    for start in range(0, samples, BLOCK):
        drawn = rng.choice(places, size=(4, min(BLOCK, samples - start)))
        a, b, c, d = np.asarray(vectors.vectors[drawn], dtype=np.float64)
        cosines.append([_row_cosines(a - b, c - d), _row_cosines(a, c)])
    for name, parts in zip(("differences", "words"), zip(*cosines, strict=True), strict=True):
        values = np.concatenate(parts)
        finite = values[np.isfinite(values)]  # a word may be drawn against itself
        about: Row = {"kind": "random", "set": name, "n": len(finite)}
        yield about | {"score": float(finite.mean()), "sd": float(finite.std())}


def _row_cosines(x: Floats, y: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
        return np.asarray(np.einsum("ij,ij->i", x, y) / lengths)
