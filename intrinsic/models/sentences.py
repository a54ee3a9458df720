"""Association tests on encodings of sentences, and of words in sentences: SEAT and CEAT."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from annotated_types import Le, doc
from numpy.typing import NDArray

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count
from biasbridge.files.models.encoder import Context, Pooling, WordPooling
from biasbridge.intrinsic.lookup import unit_rows
from biasbridge.intrinsic.metrics.weat import (
    NO_SPREAD,
    weighted_associations,
    weighted_differences,
    weighted_effect_sizes,
)
from biasbridge.intrinsic.models.item_metric import ItemMetric, ItemObservations, items_from, sizes
from biasbridge.intrinsic.models.likelihood import find_words
from biasbridge.intrinsic.permutation import PValue, Tail, permutation_p
from biasbridge.intrinsic.score import Convention, MetricInfo

if TYPE_CHECKING:
    from biasbridge.files.models.encoder import Encoder
    from biasbridge.intrinsic.models.item_metric import ScoreSettings
    from biasbridge.intrinsic.models.items import Item, ItemSet
    from biasbridge.stats.arrays import Floats


_GROUP_ROLES = "XYAB"
TARGETS, ATTRIBUTES = "XY", "AB"
_SENTENCE_SHUFFLES = 99_999
_MOST_DRAWS = 100_000
_ASSOCIATION_CELLS = 4_000_000  # in an array of associations: 32 megabytes


@dataclass(frozen=True)
class EncodedGroup:
    """The encoded items of a group.

    vectors, rows: the encodings, raw and of unit length, (n, dim). words: the different words.
    member: 1 where a sentence contains a word, else 0, (words, n). weights: how often each sentence
    counts in each resample, (n, R).
    """

    vectors: Floats
    rows: Floats
    words: Sequence[str]
    member: Floats
    weights: Floats

    @cached_property
    def word_weights(self) -> Floats:
        """Weight of each word, (words, R): the mean of its sentences' weights."""
        return np.asarray((self.member @ self.weights) / self.member.sum(axis=1)[:, None])


@choice
class EncodedItems(ItemMetric):
    """A metric on encodings of items of the groups X, Y, A and B.

    A new metric defines ``encode`` and ``averaged``, and the methods of ``ItemMetric``.
    """

    needs: ClassVar[str] = "encoder"
    seeded: ClassVar[bool] = True
    shared: ClassVar[tuple[str, ...]] = ("term", "template")

    layer: Annotated[
        int | None, doc("hidden layer: 0 the embeddings, -1 the last; null: the encoder's")
    ] = None
    ddof: Annotated[
        Literal[0, 1], doc("the standard deviation is the population's (0) or the sample's (1)")
    ] = 1

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return which group the items lack; empty if none."""
        missing = [role for role in _GROUP_ROLES if role not in items.groups]
        if not missing:
            return ""
        has = f"it has {', '.join(items.groups)}" if items.items else "it has pairs of sentences"
        return f"{items.name} has no group {missing[0]}; {has}; {cls.about.name} needs X, Y, A, B"

    def encode(self, encoder: Encoder, items: Sequence[Item]) -> NDArray[np.float32]:
        """Return the vector of each item, (n, dim); NaN where there is none."""
        raise NotImplementedError

    def averaged(self, encoder: Encoder) -> ScoreSettings:
        """Return, as settings, which hidden states are averaged into a vector."""
        raise NotImplementedError

    def observe(self, encoder: Encoder, items: ItemSet) -> ItemObservations:
        """Return the vectors of the items of X, Y, A and B without unknown tokens, (n, dim)."""
        candidates = [item for item in items.items if item.group in _GROUP_ROLES]
        readable = [item for item in candidates if encoder.knows(item.sentence)]
        _require_groups(readable, items)
        vectors = self.encode(encoder, readable)
        is_finite = np.asarray(np.isfinite(vectors).all(axis=1))
        encoded = list(compress(readable, is_finite))
        _require_groups(encoded, items)
        layer = encoder.layer if self.layer is None else self.layer
        labels = {"term": [i.term for i in encoded], "template": [i.template for i in encoded]}
        words = {item.word for item in encoded}
        return ItemObservations(
            values=np.asarray(vectors[is_finite], dtype=np.float64),
            names=[item.sentence for item in encoded],
            factors={name: labels[name] for name in self.shared},
            groups=[item.group for item in encoded],
            settings={
                **self.averaged(encoder),
                "layer": layer % (encoder.layers + 1),
                "dtype": encoder.opened.dtype,
                **sizes(labels),
                "ddof": self.ddof,
                "multi-piece words": sum(encoder.opened.pieces(word) > 1 for word in words)
                / len(words),
            },
            lost=sorted({i.sentence for i in candidates} - {i.sentence for i in encoded}),
        )


def _require_groups(scored: Sequence[Item], items: ItemSet) -> None:
    for role in _GROUP_ROLES:
        if all(item.group != role for item in scored):
            raise InputError(f"the model knows no sentence of group {role} of {items.name}")


def _groups_of(
    observed: ItemObservations, weights: Floats | None = None, order: str = _GROUP_ROLES
) -> dict[str, EncodedGroup]:
    """Return the groups by role; ``order`` names those that act as X, Y, A and B."""
    weights = np.ones((len(observed.names), 1)) if weights is None else weights
    rows = unit_rows(observed.values, tuple(observed.names))
    terms, labels = np.asarray(observed.factors["term"]), np.asarray(observed.groups)
    groups = {}
    for role, group in zip(_GROUP_ROLES, order, strict=True):
        indices = np.flatnonzero(labels == group)
        words = list(dict.fromkeys(terms[indices].tolist()))
        member = (terms[indices] == np.asarray(words)[:, None]).astype(np.float64)
        vectors = observed.values[indices]
        groups[role] = EncodedGroup(vectors, rows[indices], words, member, weights[indices])
    return groups


def _by_target(groups: Mapping[str, EncodedGroup], s: Floats) -> dict[str, float]:
    words = [word for role in TARGETS for word in groups[role].words]
    return dict(zip(words, s.tolist(), strict=True))


@choice
class Seat(EncodedItems):
    """WEAT over the encodings of sentences, with p over words rather than sentences."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="seat",
        title="Sentence Encoder Association Test, effect size",
        formula=(
            "(mean_{x in X} s(x) - mean_{y in Y} s(y)) / sd_{w in X u Y} s(w),  "
            "s(w) = mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b);  w, a, b: sentences"
        ),
        sign="> 0: X lies nearer A, and Y nearer B",
        range=(-2, 2),
        source="May et al. (2019)",
        roles={"X": "targets", "Y": "targets", "A": "attributes", "B": "attributes"},
        asks=("seat6", "seat6b", "seat7", "seat7b", "seat8", "seat8b"),
        default=(
            "Ours: d over sentences as published (ddof=1); p of s averaged by word, over exact"
            " permutations of words."
        ),
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "may",
            "May et al. (2019): p over sentences, 99,999 shuffles, as if those of one word were"
            " independent.",
            {"permuted": "sentences"},
        ),
        Convention(
            "sent_debias",
            "Liang et al. (2020), SentDebias: the first token of the last layer, p over sentences;"
            " their unit length changes no cosine.",
            {"pooling": "cls", "layer": -1, "permuted": "sentences"},
            kinds=("masked", "encoder"),
        ),
        Convention(
            "bias_bench",
            "Meade et al. (2022), bias-bench: the mean of the last layer, special tokens included,"
            " p over sentences.",
            {"pooling": "mean", "layer": -1, "permuted": "sentences"},
        ),
        Convention(
            "biased_rulers",
            "Delobelle et al. (2022) by their code: targets and attributes are swapped. The vector"
            " is that of the first token, one of their six representations. There is no p. In their"
            " own words daughter and son are entered twice and count once.",
            {"pooling": "cls", "layer": -1, "swapped": True, "permuted": "nothing"},
            kinds=("masked", "encoder"),
        ),
        Convention(
            "fairllms",
            "fairllms 0.2: the mean of the last layer, averaged over the sentences of a word, then"
            " WEAT over words; theirs takes other templates. Exact where they shuffle.",
            {"pooling": "mean", "layer": -1, "unit": "vector"},
        ),
    )

    version: ClassVar[int] = 3
    configuration: ClassVar[Mapping[str, object]] = items_from(
        "BuiltInItems", sets=["seat6", "seat6b", "seat7", "seat7b", "seat8", "seat8b"]
    )

    pooling: Annotated[
        Pooling | None, doc("pooling of tokens into a vector; null: the encoder's")
    ] = None
    unit: Annotated[
        Literal["sentence", "word", "vector"],
        doc("unit of d: sentences; words (mean of s); or words by the mean of their vectors"),
    ] = "sentence"
    permuted: Annotated[Literal["words", "sentences", "nothing"], doc("units permuted for p")] = (
        "words"
    )
    tail: Annotated[Tail, doc("which partitions of the targets count as extreme")] = "greater"
    swapped: Annotated[bool, doc("swap targets and attributes")] = False

    def encode(self, encoder: Encoder, items: Sequence[Item]) -> NDArray[np.float32]:
        """Encode the sentences; NaN for one longer than the model allows."""
        texts = [item.sentence for item in items]
        vectors = encoder.encode(texts, layer=self.layer, pooling=self.pooling)
        is_complete = np.array([encoder.fits(text) for text in texts])
        return np.where(is_complete[:, None], vectors, np.float32(np.nan))

    def averaged(self, encoder: Encoder) -> ScoreSettings:
        """Return the pooling and whether it includes special tokens."""
        pooling = self.pooling or encoder.pooling
        special = "left out" if pooling == "words" else "included"
        return {"pooling": pooling, "special tokens": special if encoder.special_tokens else "none"}

    def summarise(self, observed: ItemObservations, weights: Floats) -> Mapping[str, Floats]:
        """Return the effect size."""
        with np.errstate(divide="ignore", invalid="ignore"):
            s, *target_weights = _associations_of(self._groups(observed, weights), self.unit)
            return {"": weighted_effect_sizes(s, *target_weights, ddof=self.ddof)}

    def test(self, observed: ItemObservations) -> Mapping[str, PValue]:
        """Return p of the difference of means over permutations of words or sentences."""
        if self.permuted == "nothing":
            return {}
        by_sentence = self.permuted == "sentences"
        s, size = self._unweighted(observed, "sentence" if by_sentence else "word")
        of_x, of_y, samples = s[:size], s[size:], _SENTENCE_SHUFFLES if by_sentence else 0
        p = permutation_p(of_x, of_y, tail=self.tail, samples=samples, seed=observed.seed)
        return {"": p}

    def singles(self, observed: ItemObservations) -> Mapping[str, float]:
        """Return s of each target word."""
        return _by_target(self._groups(observed), self._unweighted(observed, "word")[0])

    def _groups(
        self, observed: ItemObservations, weights: Floats | None = None
    ) -> dict[str, EncodedGroup]:
        return _groups_of(observed, weights, "ABXY" if self.swapped else _GROUP_ROLES)

    def _unweighted(self, observed: ItemObservations, over: str) -> tuple[Floats, int]:
        """Return s of each target and the number of targets in X."""
        by_vector = over == "word" and self.unit == "vector"
        s, x_weights, _ = _associations_of(self._groups(observed), "vector" if by_vector else over)
        return s[0], len(x_weights)


def _associations_of(
    groups: Mapping[str, EncodedGroup], unit: str
) -> tuple[Floats, Floats, Floats]:
    """Compute s(w) = mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b) of all targets.

    Targets are sentences; words, with the mean of s over their sentences; or words (``vector``)
    with the mean of their sentences' vectors, attributes likewise. Returns s (R, targets), in
    [-2, 2], and how often each target counts in X and in Y, (targets, R).
    """
    x, y, a, b = (groups[role] for role in _GROUP_ROLES)
    if unit == "vector":
        axis = _mean_direction(a) - _mean_direction(b)
        vectors = [*_directions(x), *_directions(y)]
        s = np.stack([np.einsum("rd,rd->r", row, axis) for row in vectors], axis=1)
        return s, x.word_weights, y.word_weights
    targets = np.concatenate([x.rows, y.rows])
    s = weighted_associations(targets, a.rows, b.rows, a.weights, b.weights)
    if unit == "sentence":
        return s, x.weights, y.weights
    by_word = [_word_means(x, s[:, : len(x.rows)]), _word_means(y, s[:, len(x.rows) :])]
    return np.concatenate(by_word, axis=1), x.word_weights, y.word_weights


def _word_means(group: EncodedGroup, s: Floats) -> Floats:
    """Average s (R, n) over the sentences of each word, (R, words); 0 for a word not drawn."""
    weights = group.weights.T
    total = weights @ group.member.T
    return np.where(total > 0, (s * weights) @ group.member.T / total, 0.0)


def _directions(group: EncodedGroup) -> list[Floats]:
    """Return the direction of each word's mean vector, (R, dim); 0 for a word not drawn."""
    directions = []
    for member in group.member.astype(bool):
        total = group.weights[member].T @ group.vectors[member]
        length = np.linalg.norm(total, axis=1, keepdims=True)
        directions.append(np.where(length > 0, total / length, 0.0))
    return directions


def _mean_direction(group: EncodedGroup) -> Floats:
    """Average the words' directions with the words' weights, (R, dim)."""
    w = group.word_weights
    total = sum(w_i[:, None] * v_i for w_i, v_i in zip(w, _directions(group), strict=True))
    return np.asarray(total / w.sum(axis=0)[:, None])


class _DrawnAssociations(NamedTuple):
    """Associations of target words in draws of contexts: s (draws, R, words), differences of means
    and spreads (draws, R).
    """

    s: Floats
    difference: Floats
    spread: Floats


@choice
class Ceat(EncodedItems):
    """WEAT over words in context, combined over random draws of one context per word."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="ceat",
        title="Contextualized Embedding Association Test, combined effect size",
        formula=(
            "sum_i v_i e_i / sum_i v_i,  v_i = 1 / (variance_i + tau^2);  e_i: WEAT's effect size"
            " with every word in one context, drawn anew"
        ),
        sign="> 0: X lies nearer A, and Y nearer B",
        range=(-2, 2),
        source="Guo & Caliskan (2021)",
        roles={"X": "targets", "Y": "targets", "A": "attributes", "B": "attributes"},
        asks=("seat6", "seat6b", "seat7", "seat7b", "seat8", "seat8b"),
        default=(
            "Ours: draws weighted by the variance of d; interval over words; p over exact"
            " permutations of words, the weights of the draws kept."
        ),
    )
    by_default: ClassVar[bool] = False
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "guo_caliskan",
            "Guo & Caliskan (2021): the last piece of the word, and 10,000 draws, weighted by the"
            " variance of s rather than of d. p is one-sided, of the combined effect over its"
            " standard error, which shrinks with the number of draws. Their code gives BERT no"
            " special tokens.",
            {
                "pooling": "last",
                "layer": -1,
                "draws": 10_000,
                "variance": "associations",
                "permuted": "nothing",
            },
        ),
    )
    shared: ClassVar[tuple[str, ...]] = ("term",)
    version: ClassVar[int] = 3
    texts_per_item: ClassVar[int] = 4  # a word in its contexts is computed alone
    configuration: ClassVar[Mapping[str, object]] = items_from(
        "BuiltInItems", sets=["seat6", "seat6b", "seat7", "seat7b", "seat8", "seat8b"]
    )

    pooling: Annotated[
        WordPooling, doc("tokens averaged into the vector of the word in its context")
    ] = "mean"
    draws: Annotated[Count, Le(_MOST_DRAWS), doc("number of draws of a context of every word")] = (
        1000
    )
    variance: Annotated[
        Literal["effect", "associations"],
        doc("variance that weights a draw: that of d, or that of s over all targets"),
    ] = "effect"
    permuted: Annotated[
        Literal["words", "nothing"],
        doc("units permuted for p; nothing: one-sided p of the normal distribution"),
    ] = "words"

    def encode(self, encoder: Encoder, items: Sequence[Item]) -> NDArray[np.float32]:
        """Return the vector of each item's word in its sentence."""
        layer = encoder.layer if self.layer is None else self.layer
        return encoder.vectors(
            [_context_of(item) for item in items], layer=layer, pooling=self.pooling
        )

    def averaged(self, encoder: Encoder) -> ScoreSettings:
        """Return pooling, number of draws and use of special tokens."""
        special = "in the text" if encoder.special_tokens else "none"
        return {"pooling": self.pooling, "draws": self.draws, "special tokens": special}

    def summarise(self, observed: ItemObservations, weights: Floats) -> Mapping[str, Floats]:
        """Return the combined effect size."""
        return {"": _combine_effects(*self._effects(observed, weights)).value}

    def test(self, observed: ItemObservations) -> Mapping[str, PValue]:
        """Return p over permutations of words, or p as published."""
        if self.permuted == "words":
            s, size = self._standardised(observed)
            return {"": permutation_p(s[:size], s[size:], seed=observed.seed)}
        from scipy.stats import norm  # slow to import

        combined = _combine_effects(*self._effects(observed))
        z = float(combined.value[0] / combined.error[0])
        p, two_sided = float(norm.sf(z)), 2 * float(norm.sf(-z)) if z < 0 else math.nan
        return {"": PValue(p, "normal", 0, self.draws, "greater", False, p, p, two_sided)}

    def singles(self, observed: ItemObservations) -> Mapping[str, float]:
        """Return s of each target word, standardised within draws and averaged over them."""
        return _by_target(_groups_of(observed), self._standardised(observed)[0])

    def _standardised(self, observed: ItemObservations) -> tuple[Floats, int]:
        """Return each target word's (s - mean) / spread over the draws, and the words in X."""
        weights = _combine_effects(*self._effects(observed)).weights[:, 0]
        if not np.isfinite(weights).all():
            raise InputError("all targets have the same association in a draw; use other words")
        groups = _groups_of(observed)
        batches = list(self._draw(groups, observed.seed))
        s: Floats = np.concatenate([batch.s[:, 0] for batch in batches])
        spread: Floats = np.concatenate([batch.spread for batch in batches])
        z: Floats = (s - s.mean(axis=1, keepdims=True)) / spread
        return weights @ z / weights.sum(), len(groups["X"].words)

    def _effects(
        self, observed: ItemObservations, weights: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return the effect size of each draw and its variance, (draws, R)."""
        groups = _groups_of(observed, weights)
        nx, ny = (groups[role].word_weights.sum(axis=0) for role in TARGETS)
        with np.errstate(divide="ignore", invalid="ignore"):
            draws = self._draw(groups, observed.seed)
            batches = [(batch.difference, batch.spread) for batch in draws]
            difference, spread = (np.concatenate(x) for x in zip(*batches, strict=True))
            spread = np.where(spread > NO_SPREAD, spread, np.nan)
            effects: Floats = difference / spread
            if self.variance == "associations":
                return effects, spread**2
            return effects, (nx + ny) / (nx * ny) + effects**2 / (2 * (nx + ny))

    def _draw(self, groups: Mapping[str, EncodedGroup], seed: int) -> Iterator[_DrawnAssociations]:
        """Yield batches of draws of one context per word, the same for all weights."""
        rng = np.random.default_rng(seed)
        contexts = {role: _draw_contexts(group, self.draws, rng) for role, group in groups.items()}
        of_x, of_y = (groups[role].word_weights for role in TARGETS)
        for s in _associations_in(groups, contexts):
            yield _DrawnAssociations(s, *weighted_differences(s, of_x, of_y, ddof=self.ddof))


class CombinedEffect(NamedTuple):
    """A combined effect (...): value, standard error, variance between effects, Cochran's Q, and
    the weights (N, ...).
    """

    value: Floats
    error: Floats
    between: Floats
    q: Floats
    weights: Floats


def _combine_effects(effects: Floats, variances: Floats) -> CombinedEffect:
    """Combine N effects e with variances v along the first axis (DerSimonian and Laird, 1986).

    w = 1 / v,  Q = sum w (e - e_w)^2  with e_w = sum w e / sum w,
    tau^2 = max(0, (Q - (N - 1)) / (sum w - sum w^2 / sum w)),
    value = sum w* e / sum w*,  error = (sum w*)^-1/2  with w* = 1 / (v + tau^2)
    """
    w = 1 / variances
    total: Floats = w.sum(axis=0)
    q: Floats = (w * (effects - (w * effects).sum(axis=0) / total) ** 2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # of a single effect
        excess = (q - (len(effects) - 1)) / (total - (w**2).sum(axis=0) / total)
    between: Floats = np.where(excess > 0, excess, 0.0)
    w = 1 / (variances + between)
    total = w.sum(axis=0)
    return CombinedEffect((w * effects).sum(axis=0) / total, total**-0.5, between, q, w)


def _draw_contexts(group: EncodedGroup, draws: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw one sentence of each word, as indices in the group, (draws, words)."""
    sentences_of = [np.flatnonzero(member) for member in group.member]
    return np.stack([rng.choice(sentences, draws) for sentences in sentences_of], axis=1)


def _associations_in(
    groups: Mapping[str, EncodedGroup], contexts: Mapping[str, NDArray[np.intp]]
) -> Iterator[Floats]:
    """Yield s of the target words in [-2, 2], (batch of draws, R, words); above 0: nearer A."""
    targets = np.concatenate([groups[role].rows for role in TARGETS])
    sentences = np.concatenate([contexts["X"], contexts["Y"] + len(groups["X"].rows)], axis=1)
    cosines = {role: groups[role].rows @ targets.T for role in ATTRIBUTES}
    weights = {role: groups[role].word_weights for role in ATTRIBUTES}
    shares = {role: w.T / w.sum(axis=0)[:, None] for role, w in weights.items()}
    widest = max(groups["X"].weights.shape[1], *map(len, weights.values()))
    step = max(1, _ASSOCIATION_CELLS // (widest * sentences.shape[1]))
    for start in range(0, len(sentences), step):
        batch = slice(start, start + step)
        means = [
            shares[role] @ cosines[role][contexts[role][batch, :, None], sentences[batch, None, :]]
            for role in ATTRIBUTES
        ]
        yield means[0] - means[1]


def _context_of(item: Item) -> Context:
    """Return the sentence of an item with the span of its word, or of all of it."""
    text = item.sentence
    spans = find_words(text, item.word)
    exact = [(start, end) for start, end in spans if text[start:end] == item.word]
    start, end = next(iter([*exact, *spans]), (0, len(text)))
    return Context(text, start, end)
