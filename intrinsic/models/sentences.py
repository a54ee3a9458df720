"""Encoded items of four groups, for SEAT and CEAT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from biasbridge.intrinsic.models.item_metric import ItemMetric, Observations, sizes
from biasbridge.intrinsic.models.likelihood import find_words
from biasbridge.intrinsic.permutation import PValue, Tail, permutation_p
from biasbridge.intrinsic.score import Convention, MetricInfo

if TYPE_CHECKING:
    from biasbridge.files.models.encoder import Encoder
    from biasbridge.intrinsic.models.item_metric import ScoreSettings
    from biasbridge.intrinsic.models.items import Item, ItemSet
    from biasbridge.stats.arrays import Floats


GROUP_ROLES = "XYAB"
DDof = Literal[0, 1]


@dataclass(frozen=True)
class Group:
    """The encodings of a group, raw and of unit length, (n, dim); their indices among all items;
    its words; membership of items in words, (words, n) of 0 and 1.
    """

    vectors: Floats
    rows: Floats
    indices: NDArray[np.intp]
    words: Sequence[str]
    member: Floats


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
        DDof, doc("the standard deviation is the population's (0) or the sample's (1)")
    ] = 1

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return which group the items lack; empty if none."""
        missing = [role for role in GROUP_ROLES if role not in items.groups]
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

    def observe(self, encoder: Encoder, items: ItemSet) -> Observations:
        """Return the vectors of the items of X, Y, A and B without unknown tokens, (n, dim)."""
        candidates = [item for item in items.items if item.group in GROUP_ROLES]
        readable = [item for item in candidates if encoder.knows(item.sentence)]
        _require_groups([item.group for item in readable], items)
        vectors = self.encode(encoder, readable)
        is_finite = np.asarray(np.isfinite(vectors).all(axis=1))
        encoded = [item for item, finite in zip(readable, is_finite, strict=True) if finite]
        lost = {item.sentence for item in candidates} - {item.sentence for item in encoded}
        groups = [item.group for item in encoded]
        _require_groups(groups, items)
        labels = {"term": [i.term for i in encoded], "template": [i.template for i in encoded]}
        words = {item.word for item in encoded}
        return Observations(
            values=np.asarray(vectors[is_finite], dtype=np.float64),
            names=[item.sentence for item in encoded],
            factors={name: labels[name] for name in self.shared},
            groups=groups,
            settings={
                **self.averaged(encoder),
                "layer": (encoder.layer if self.layer is None else self.layer)
                % (encoder.layers + 1),
                "dtype": encoder.opened.dtype,
                **sizes(labels),
                "ddof": self.ddof,
                "multi-piece words": sum(encoder.opened.pieces(word) > 1 for word in words)
                / len(words),
            },
            lost=sorted(lost),
        )


def _require_groups(groups: Sequence[str], items: ItemSet) -> None:
    for role in GROUP_ROLES:
        if role not in groups:
            raise InputError(f"the model knows no sentence of group {role} of {items.name}")


def groups_of(observed: Observations, order: str = GROUP_ROLES) -> dict[str, Group]:
    """Return the groups by role; ``order`` names the groups that act as X, Y, A and B."""
    rows = unit_rows(observed.values, tuple(observed.names))
    terms = np.asarray(observed.factors["term"])
    groups = {}
    for role, group in zip(GROUP_ROLES, order, strict=True):
        indices = np.flatnonzero(np.asarray(observed.groups) == group)
        words = list(dict.fromkeys(terms[indices].tolist()))
        member = (terms[indices] == np.asarray(words)[:, None]).astype(np.float64)
        groups[role] = Group(observed.values[indices], rows[indices], indices, words, member)
    return groups


def group_weights(groups: Mapping[str, Group], weights: Floats) -> dict[str, Floats]:
    """Return the weights (n, R) of each group's items."""
    return {role: weights[group.indices] for role, group in groups.items()}


def word_weights(group: Group, weights: Floats) -> Floats:
    """Return each word's weight, (words, R): the mean of its sentences' weights."""
    return np.asarray((group.member @ weights) / group.member.sum(axis=1)[:, None])


# Random-effects combination of effect sizes (DerSimonian and Laird, 1986).


class CombinedEffect(NamedTuple):
    """A combined effect (...): value, standard error, variance between effects, Cochran's Q, and
    the weights (N, ...).
    """

    value: Floats
    error: Floats
    between: Floats
    q: Floats
    weights: Floats


def combine_effects(effects: Floats, variances: Floats) -> CombinedEffect:
    r"""Combine N effects e with variances v along the first axis (DerSimonian and Laird, 1986).

    w = 1 / v,  Q = sum w (e - e_w)^2  with e_w = sum w e / sum w,
    tau^2 = max(0, (Q - (N - 1)) / (sum w - sum w^2 / sum w)),
    value = sum w* e / sum w*,  error = (sum w*)^-1/2  with w* = 1 / (v + tau^2)

    Parameters
    ----------
    effects, variances : array of shape (N, ...)
        Effects and their variances, above 0.

    Returns
    -------
    CombinedEffect
        Value and error in the units of the effects, shape (...).
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


# The Sentence Encoder Association Test (May et al., 2019).

SENTENCE_SHUFFLES = 99_999
TARGETS = ("X", "Y")


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
        ),
        Convention(
            "bias_bench",
            "Meade et al. (2022), bias-bench: the mean of the last layer, special tokens included,"
            " p over sentences.",
            {"pooling": "mean", "layer": -1, "permuted": "sentences"},
        ),
        Convention(
            "biased_rulers",
            "Delobelle et al. (2022) by their code: targets and attributes are swapped; the first"
            " token, one of their six representations; no p. On their own words daughter and son"
            " are entered twice and count once.",
            {"pooling": "cls", "layer": -1, "swapped": True, "permuted": "nothing"},
        ),
        Convention(
            "fairllms",
            "fairllms 0.2: the mean of the last layer, averaged over the sentences of a word, then"
            " WEAT over words; theirs takes other templates. Exact where they shuffle.",
            {"pooling": "mean", "layer": -1, "unit": "vector"},
        ),
    )

    version: ClassVar[int] = 2
    configuration: ClassVar[Mapping[str, object]] = {
        "items": {
            "_target_": "biasbridge.corpora.items.BuiltInItems",
            "sets": ["seat6", "seat6b", "seat7", "seat7b", "seat8", "seat8b"],
        }
    }

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

    def summarise(self, observed: Observations, weights: Floats) -> Mapping[str, Floats]:
        """Return the effect size."""
        groups = self._groups(observed)
        with np.errstate(divide="ignore", invalid="ignore"):
            s, targets = associations_of(groups, group_weights(groups, weights), self.unit)
            return {"": weighted_effect_sizes(s, *targets, ddof=self.ddof)}

    def test(self, observed: Observations) -> Mapping[str, PValue]:
        """Return p of the difference of means over permutations of words or sentences."""
        if self.permuted == "nothing":
            return {}
        by_sentence = self.permuted == "sentences"
        s, size = self._unweighted(observed, "sentence" if by_sentence else "word")
        of_x, of_y, samples = s[:size], s[size:], SENTENCE_SHUFFLES if by_sentence else 0
        p = permutation_p(of_x, of_y, tail=self.tail, samples=samples, seed=observed.seed)
        return {"": p}

    def singles(self, observed: Observations) -> Mapping[str, float]:
        """Return s of each target word."""
        s, _ = self._unweighted(observed, "word")
        groups = self._groups(observed)
        words = [word for role in TARGETS for word in groups[role].words]
        return dict(zip(words, s.tolist(), strict=True))

    def _groups(self, observed: Observations) -> dict[str, Group]:
        return groups_of(observed, "ABXY" if self.swapped else GROUP_ROLES)

    def _unweighted(self, observed: Observations, over: str) -> tuple[Floats, int]:
        """Return s of each target and the number of targets in X."""
        groups = self._groups(observed)
        weights = group_weights(groups, np.ones((len(observed.names), 1)))
        by_vector = over == "word" and self.unit == "vector"
        s, (x_weights, _) = associations_of(groups, weights, "vector" if by_vector else over)
        return s[0], len(x_weights)


def associations_of(
    groups: Mapping[str, Group], weights: Mapping[str, Floats], unit: str
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Compute the association s of every target with A rather than B (May et al., 2019).

    s(w) = mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b)

    Parameters
    ----------
    groups : mapping of str to Group
        The groups X, Y, A and B.
    weights : mapping of str to array of shape (sentences, R)
        Number of times each sentence of a group counts in each resample.
    unit : {"sentence", "word", "vector"}
        Targets are sentences; words, with the mean of s over their sentences; or words, with the
        mean of their sentences' vectors (attributes likewise).

    Returns
    -------
    s : array of shape (R, targets)
        In [-2, 2]. Above 0: nearer A.
    target_weights : pair of arrays of shape (targets, R)
        Number of times each target counts in X and in Y.
    """
    if unit == "vector":
        return _of_mean_vectors(groups, weights)
    x, y, a, b = (groups[role] for role in GROUP_ROLES)
    targets = np.concatenate([x.rows, y.rows])
    s = weighted_associations(targets, a.rows, b.rows, weights["A"], weights["B"])
    if unit == "sentence":
        return s, (weights["X"], weights["Y"])
    split = {"X": s[:, : len(x.rows)], "Y": s[:, len(x.rows) :]}
    by_word = [_weighted_means(groups[role], weights[role], split[role]) for role in TARGETS]
    return np.concatenate(by_word, axis=1), _target_weights(groups, weights)


def _target_weights(
    groups: Mapping[str, Group], weights: Mapping[str, Floats]
) -> tuple[Floats, Floats]:
    return word_weights(groups["X"], weights["X"]), word_weights(groups["Y"], weights["Y"])


def _weighted_means(group: Group, weights: Floats, s: Floats) -> Floats:
    """Average s (R, n) over the sentences of each word, (R, words); 0 for a word not drawn."""
    total = weights.T @ group.member.T
    return np.where(total > 0, (s * weights.T) @ group.member.T / total, 0.0)


def _of_mean_vectors(
    groups: Mapping[str, Group], weights: Mapping[str, Floats]
) -> tuple[Floats, tuple[Floats, Floats]]:
    axis = _mean_direction(groups["A"], weights["A"]) - _mean_direction(groups["B"], weights["B"])
    s = [
        np.einsum("rd,rd->r", vectors, axis)
        for role in TARGETS
        for vectors in _directions(groups[role], weights[role])
    ]
    return np.stack(s, axis=1), _target_weights(groups, weights)


def _directions(group: Group, weights: Floats) -> Sequence[Floats]:
    """Return the direction of each word's mean vector, (R, dim); 0 for a word not drawn."""
    directions = []
    for member in group.member.astype(bool):
        total = weights[member].T @ group.vectors[member]
        length = np.linalg.norm(total, axis=1, keepdims=True)
        directions.append(np.where(length > 0, total / length, 0.0))
    return directions


def _mean_direction(group: Group, weights: Floats) -> Floats:
    """Average the words' directions with the words' weights, (R, dim)."""
    w = word_weights(group, weights)
    total = sum(w_i[:, None] * v_i for w_i, v_i in zip(w, _directions(group, weights), strict=True))
    return np.asarray(total / w.sum(axis=0)[:, None])


# The Contextualized Embedding Association Test (Guo & Caliskan, 2021).

MOST_DRAWS = 100_000
ASSOCIATION_CELLS = 4_000_000  # in an array of associations: 32 megabytes
CEAT_TARGETS, ATTRIBUTES = ("X", "Y"), ("A", "B")


class DrawnAssociations(NamedTuple):
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
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "guo_caliskan",
            "Guo & Caliskan (2021): the last piece of the word; draws weighted by the variance of s"
            " rather than of d; 10,000 draws; one-sided p of the combined effect over its"
            " standard error, which shrinks with the number of draws. Theirs gives BERT no special"
            " tokens.",
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
    version: ClassVar[int] = 2
    configuration: ClassVar[Mapping[str, object]] = {
        "items": {
            "_target_": "biasbridge.corpora.items.BuiltInItems",
            "sets": ["seat6", "seat6b", "seat7", "seat7b", "seat8", "seat8b"],
        }
    }

    pooling: Annotated[
        WordPooling, doc("tokens averaged into the vector of the word in its context")
    ] = "mean"
    draws: Annotated[Count, Le(MOST_DRAWS), doc("number of draws of a context of every word")] = (
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
            [context_of(item) for item in items], layer=layer, pooling=self.pooling
        )

    def averaged(self, encoder: Encoder) -> ScoreSettings:
        """Return pooling, number of draws and use of special tokens."""
        special = "in the text" if encoder.special_tokens else "none"
        return {"pooling": self.pooling, "draws": self.draws, "special tokens": special}

    def summarise(self, observed: Observations, weights: Floats) -> Mapping[str, Floats]:
        """Return the combined effect size."""
        effects, variances = self._effects(observed, weights)
        return {"": combine_effects(effects, variances).value}

    def test(self, observed: Observations) -> Mapping[str, PValue]:
        """Return p over permutations of words, or p as published."""
        if self.permuted == "nothing":
            return {"": self._published_p(observed)}
        s, size = self._standardised(observed)
        return {"": permutation_p(s[:size], s[size:], seed=observed.seed)}

    def singles(self, observed: Observations) -> Mapping[str, float]:
        """Return s of each target word, standardised within draws and averaged over them."""
        s, _ = self._standardised(observed)
        groups = groups_of(observed)
        words = [word for role in CEAT_TARGETS for word in groups[role].words]
        return dict(zip(words, s.tolist(), strict=True))

    def _published_p(self, observed: Observations) -> PValue:
        effects, variances = self._effects(observed, np.ones((len(observed.names), 1)))
        combined = combine_effects(effects, variances)
        from scipy.stats import norm

        p = float(norm.sf(combined.value[0] / combined.error[0]))
        return PValue(p, "normal", 0, self.draws, "greater", False, p, p)

    def _standardised(self, observed: Observations) -> tuple[Floats, int]:
        """Return (s - mean) / spread of each target word, averaged with the weights of the draws,
        and the number of words in X. The difference of its means is the combined effect size.
        """
        unweighted = np.ones((len(observed.names), 1))
        weights = combine_effects(*self._effects(observed, unweighted)).weights[:, 0]
        if not np.isfinite(weights).all():
            raise InputError("all targets have the same association in a draw; use other words")
        batches = list(self._draw(observed, unweighted))
        s: Floats = np.concatenate([batch.s[:, 0] for batch in batches])
        spread: Floats = np.concatenate([batch.spread for batch in batches])
        z: Floats = (s - s.mean(axis=1, keepdims=True)) / spread
        return weights @ z / weights.sum(), len(groups_of(observed)["X"].words)

    def _effects(self, observed: Observations, weights: Floats) -> tuple[Floats, Floats]:
        """Return the effect size of each draw and its variance, (draws, R)."""
        groups = groups_of(observed)
        item_weights = group_weights(groups, weights)
        nx, ny = (
            word_weights(groups[role], item_weights[role]).sum(axis=0) for role in CEAT_TARGETS
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            batches = [(batch.difference, batch.spread) for batch in self._draw(observed, weights)]
            difference, spread = (np.concatenate(x) for x in zip(*batches, strict=True))
            spread = np.where(spread > NO_SPREAD, spread, np.nan)
            effects: Floats = difference / spread
            if self.variance == "associations":
                return effects, spread**2
            return effects, (nx + ny) / (nx * ny) + effects**2 / (2 * (nx + ny))

    def _draw(self, observed: Observations, weights: Floats) -> Iterator[DrawnAssociations]:
        """Yield batches of draws of one context per word, the same for all weights."""
        groups = groups_of(observed)
        item_weights = group_weights(groups, weights)
        counts = {role: word_weights(group, item_weights[role]) for role, group in groups.items()}
        rng = np.random.default_rng(observed.seed)
        contexts = {role: draw_contexts(group, self.draws, rng) for role, group in groups.items()}
        for s in associations_in(groups, contexts, counts):
            yield DrawnAssociations(
                s, *weighted_differences(s, counts["X"], counts["Y"], ddof=self.ddof)
            )


def draw_contexts(group: Group, draws: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw one sentence of each word, as indices in the group, (draws, words)."""
    sentences_of = [np.flatnonzero(member) for member in group.member]
    return np.stack([rng.choice(sentences, draws) for sentences in sentences_of], axis=1)


def associations_in(
    groups: Mapping[str, Group],
    contexts: Mapping[str, NDArray[np.intp]],
    weights: Mapping[str, Floats],
) -> Iterator[Floats]:
    """Yield s of the target words in [-2, 2], (batch of draws, R, words); above 0: nearer A."""
    targets = np.concatenate([groups[role].rows for role in CEAT_TARGETS])
    sentences = np.concatenate([contexts["X"], contexts["Y"] + len(groups["X"].rows)], axis=1)
    cosines = {role: groups[role].rows @ targets.T for role in ATTRIBUTES}
    shares = {role: weights[role].T / weights[role].sum(axis=0)[:, None] for role in ATTRIBUTES}
    widest = max(len(weights["X"].T), *(len(weights[role]) for role in ATTRIBUTES))
    step = max(1, ASSOCIATION_CELLS // (widest * sentences.shape[1]))
    for start in range(0, len(sentences), step):
        batch = slice(start, start + step)
        means = [
            shares[role] @ cosines[role][contexts[role][batch, :, None], sentences[batch, None, :]]
            for role in ATTRIBUTES
        ]
        yield means[0] - means[1]


def context_of(item: Item) -> Context:
    """Return the sentence of an item with the span of its word, or of all of it."""
    text = item.sentence
    spans = find_words(text, item.word)
    exact = [(start, end) for start, end in spans if text[start:end] == item.word]
    start, end = next(iter([*exact, *spans]), (0, len(text)))
    return Context(text, start, end)
