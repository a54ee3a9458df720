"""Linear erasers: their training vectors, how they are fitted and applied, and the methods."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np
from annotated_types import doc

from biasbridge.debias.base import (
    ONE_THREAD,
    WORDS,
    BothWays,
    DoseAxis,
    Inputs,
    S,
    StepBuilder,
    require_sound,
    restrict,
)
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, FieldError
from biasbridge.files.eraser import ERASER, Eraser
from biasbridge.files.paths import digest_of
from biasbridge.intrinsic.lookup import NO_LENGTH, find_set, unit_rows
from biasbridge.intrinsic.models.items import SLOT, TERM, Item, ItemSet, ItemSource, no_fillers
from biasbridge.intrinsic.words import Query, read_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.files.models.encoder import Encoder
    from biasbridge.stats.arrays import Floats


_GROUPS, PAIRS = ("X", "Y"), ("pairs",)
_ITEMS = {"X": "words", "Y": "words", "pairs": "pairs"}
_MIN_EXAMPLES = 2  # vectors of a group, or pairs
_TEMPLATES = ("This is {}.", "That is {}.", "There is {}.", "{} is here.", "It was about {}.")
_SINGULAR = 1e-10  # singular values below this share of the largest count as 0
_MIN_WEIGHT_NORM = 1e-10  # largest weight norm of a classifier that finds no direction


class Examples(NamedTuple):
    """Vectors of two groups, (n, dim) each, and of pairs, (m, 2, dim), the first of a pair of the
    first group; and a description of them in words.
    """

    first: Floats
    second: Floats
    pairs: Floats
    description: str

    @property
    def rows(self) -> Floats:
        """Vectors of both groups, (n, dim)."""
        return np.concatenate([self.first, self.second])

    @property
    def labels(self) -> Floats:
        """1 for rows of the first group, 0 for rows of the second, (n,)."""
        return np.repeat([1.0, 0.0], [len(self.first), len(self.second)])


@choice
class LinearEraser(BothWays):
    """Base of methods that fit an ``Eraser``; a subclass provides ``needed_roles`` and ``fit``.

    On word vectors it is fitted on the words of the query's ``needed_roles``: the groups X and Y,
    or ``pairs``. On a language model it is fitted on texts in the subject's encoding, and acts on
    that layer. The texts are the same words in ``templates``, or ``items`` of two groups, such as
    BEC-Pro; an item with a slot gives a pair of texts, one per filler.
    """

    items: Annotated[
        ItemSource | None,
        doc(
            "for a language model: sentences of two groups (+items@debias.items=bec_pro), not words"
        ),
    ] = None
    templates: Annotated[tuple[str, ...], doc("sentences for the query's words")] = _TEMPLATES

    version: ClassVar[int] = 2
    seeded: ClassVar[bool] = False
    acts_on: ClassVar[str] = "states"
    unkeyed: ClassVar[tuple[str, ...]] = ("items",)
    name: ClassVar[str]
    needed_roles: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        for template in self.templates:
            if TERM not in template:
                raise FieldError(f"templates={template!r}: mark the place of the word by {TERM}")

    @property
    def roles(self) -> tuple[str, ...]:
        """Word sets of the query that the method needs; none if it has items."""
        return () if self.items else self.needed_roles

    def files(self) -> list[Path]:
        """Return the files of the items."""
        return self.items.files() if self.items else []

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the items, whatever file lists them."""
        item_sets = self.items.load() if self.items else []
        return (
            {"items": digest_of([items.key_fields() for items in item_sets])} if item_sets else {}
        )

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit the eraser of dose 1.

        Parameters
        ----------
        examples : Examples
            Vectors of the two groups and of the pairs that ``needed_roles`` names.
        seed : int
            Seed of whatever is drawn at random.
        """
        raise NotImplementedError

    def fit_vectors(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Eraser:
        """Fit on the words of a query in the vocabulary. Raises ``InputError`` for too few."""
        if self.items:
            raise InputError(
                f"items={self.items.name} are texts for a language model; give the words of a query"
            )
        return self._fitted(_word_examples(vectors, query, self.needed_roles), seed)

    def fit_encoder(self, encoder: Encoder, query: Query | None, *, seed: int) -> Eraser:
        """Fit on the items, or a query's words in templates, as the model encodes them."""
        if encoder.pooling == "modules":  # an eraser is of states
            raise InputError("pooling='modules' can change states after pooling; give mean or cls")
        if not self.needed_roles:
            empty = encoder.encode([]).astype(np.float64)
            examples = Examples(empty, empty, empty.reshape(0, 2, empty.shape[1]), "nothing")
        elif self.items:
            examples = _item_examples(encoder, self.items.load(), self.needed_roles)
        elif query:
            examples = _template_examples(encoder, query, self.needed_roles, self.templates)
        else:
            raise InputError("give the words of a query, or items")
        return replace(self._fitted(examples, seed), layer=encoder.layer)

    def _fitted(self, examples: Examples, seed: int) -> Eraser:
        eraser = self.fit(examples, seed=seed)
        source = {"method": self.name, "on": examples.description}
        return replace(eraser, fitted={**source, **eraser.fitted})

    def dose_axis(self, vectors: KeyedVectors, query: Query, *, seed: int) -> DoseAxis:
        """Fit once and return the vectors at any dose."""
        eraser = self.fit_vectors(vectors, query, seed=seed)

        def at(dose: float, words: Collection[str] | None = None) -> KeyedVectors:
            return _erased(restrict(vectors, words), eraser.at(dose))

        return DoseAxis(at, eraser)

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        """Return a copy of ``vectors`` modified by the dose."""
        return _erased(vectors, self.fit_vectors(vectors, query, seed=seed).at(self.dose))

    def build_steps(self, steps: StepBuilder[S], inputs: Mapping[str, S]) -> S:
        """Return the step of the erased vectors or model; all doses share one fitted eraser."""
        fitted_on = "encoder" if "model" in inputs else "vectors"
        names = (fitted_on, *(["words"] if self.roles else []))
        fit_inputs = {name: inputs[name] for name in names}
        eraser = steps("eraser", replace(self, dose=1.0), _fit_eraser, fit_inputs)
        if "model" in inputs:
            return steps("erased", self, _erase_model, {"model": inputs["model"], "eraser": eraser})
        erase_inputs = {"vectors": inputs["vectors"], "eraser": eraser}
        return steps("modified", self, _erase_vectors, erase_inputs)


@choice
class Bam(LinearEraser):
    """f(x) = (x + x M) / 2, M the orthogonal map that brings the first words of the pairs nearest
    to the second: M = U V' of the singular value decomposition A'B = U S V' of their unit vectors A
    and B (Lauscher et al., 2020; their code has V' in place of U V'). Dimensions that too few pairs
    leave undetermined are rotated as little as possible.
    """

    name: ClassVar[str] = "bam"
    needed_roles: ClassVar[tuple[str, ...]] = PAIRS

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit an eraser of norm at most 1; it changes nearly all dimensions."""
        first, second = (unit_rows(examples.pairs[:, side]) for side in (0, 1))
        change = np.eye(first.shape[1]) - _nearest_map(first.T @ second)
        zero = np.zeros(len(change))
        return Eraser(change / 2, np.eye(len(change)), zero, zero)


@choice
class Gbdd(LinearEraser):
    """f(x) = x - (x . b) b, b the first right singular vector of the unit differences x_i - y_j of
    every word of X and every word of Y, of unit length themselves (Lauscher et al., 2020).
    """

    name: ClassVar[str] = "gbdd"
    family: ClassVar[str] = "pair subspace"
    needed_roles: ClassVar[tuple[str, ...]] = _GROUPS

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit an eraser of norm 1 and rank 1. Raises ``InputError`` if all vectors are equal."""
        from scipy.spatial.distance import cdist  # slow to import

        first, second = unit_rows(examples.first), unit_rows(examples.second)
        squares = cdist(first, second, "sqeuclidean")
        if not squares.any():
            raise InputError("the two groups have the same vectors; no direction separates them")
        # Sum of w (x - y)(x - y)', w = 1 / |x - y|^2, without listing all differences
        weights = np.divide(1, squares, out=np.zeros_like(squares), where=squares > 0)
        cross = first.T @ weights @ second
        products = (first.T * weights.sum(axis=1)) @ first - cross
        products += (second.T * weights.sum(axis=0)) @ second - cross.T
        return Eraser.removing(np.linalg.eigh(products)[1].T[-1:])


@choice
class Inlp(LinearEraser):
    r"""INLP (Ravfogel et al., 2020): f(x) = x - x B' B, B an orthonormal basis of the weights of
    ``rounds`` linear support vector machines, each fitted after the
    projections of the rounds before it. It stops early if a classifier finds no direction.
    """

    rounds: Annotated[Count, doc("largest number of rounds; each removes a dimension")] = 8

    name: ClassVar[str] = "inlp"
    family: ClassVar[str] = "label direction"
    needed_roles: ClassVar[tuple[str, ...]] = _GROUPS

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit an eraser of norm 1 and rank at most ``rounds``."""
        from sklearn.svm import SVC

        rows, labels = examples.rows, 1 - examples.labels
        basis = np.empty((0, rows.shape[1]))
        for _ in range(self.rounds):
            projected = rows - (rows @ basis.T) @ basis
            [weights] = SVC(kernel="linear").fit(projected, labels).coef_
            weights = weights - (weights @ basis.T) @ basis
            length = float(np.linalg.norm(weights))
            if not length > _MIN_WEIGHT_NORM:
                break
            basis = np.vstack([basis, weights / length])
        return Eraser.removing(basis)


@choice
class Leace(LinearEraser):
    r"""Least-squares concept erasure (Belrose et al., 2023) of two groups, z in {0, 1}:

        f(x) = x - W^+ u u' W (x - mean),    u = unit(W cov(x, z)),    W = cov(x)^(-1/2)

    cov(f(x), z) = 0 on the training vectors. W uses eigenvalues above dim * eps * largest. cov(x)
    is first shrunk towards a multiple of the identity (Bodnar, Gupta & Parolya, 2014); without
    shrinkage an f fitted on few texts stretches vectors without limit.
    """

    shrinkage: Annotated[bool, doc("shrink cov(x) towards a multiple of the identity")] = True

    name: ClassVar[str] = "leace"
    family: ClassVar[str] = "label direction"
    needed_roles: ClassVar[tuple[str, ...]] = _GROUPS

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit an eraser of rank 1 and norm at least 1 (not orthogonal). Raises ``InputError``."""
        rows, labels = examples.rows, examples.labels
        mean = rows.mean(axis=0)
        centred = rows - mean
        label_products = centred.T @ (labels - labels.mean())
        covariance = centred.T @ centred / len(rows)
        if self.shrinkage:
            covariance = _shrunk(covariance, len(rows))
        values, vectors = np.linalg.eigh(covariance)
        is_positive = values > values[-1] * len(values) * np.finfo(np.float64).eps
        values, vectors = values[is_positive], vectors[:, is_positive]
        whitened = unit((vectors.T @ label_products) / np.sqrt(values))
        left = vectors @ (whitened / np.sqrt(values))  # W u
        right = vectors @ (whitened * np.sqrt(values))  # W^+ u
        return Eraser(left[:, None], right[None], mean, np.zeros(len(mean)))


@choice
class MeanDifference(LinearEraser):
    """f(x) = x - (x . u) u, u = unit(mean(X) - mean(Y)) (Dev & Phillips, 2019, "linear projection",
    with two means).
    """

    name: ClassVar[str] = "mean_difference"
    family: ClassVar[str] = "label direction"
    needed_roles: ClassVar[tuple[str, ...]] = _GROUPS

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit an eraser of norm 1 and rank 1."""
        direction = unit(examples.first.mean(axis=0) - examples.second.mean(axis=0))
        return Eraser.removing(direction[None])


@choice
class RandomDirection(LinearEraser):
    """f(x) = x - (x . u) u, u drawn uniformly from all directions by the seed."""

    name: ClassVar[str] = "random_direction"
    seeded: ClassVar[bool] = True
    needed_roles: ClassVar[tuple[str, ...]] = ()

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Draw an eraser of norm 1 and rank 1."""
        row: Floats = np.random.default_rng(seed).standard_normal((examples.rows.shape[1],))
        return Eraser.removing(unit(row)[None])


@choice
class SentDebias(LinearEraser):
    """f(x) = x - sum_i (x . v_i) v_i, with v_1, ..., v_k the first principal components of the
    pair-centred unit vectors (Liang et al., 2020); on words the neutralising of Bolukbasi et al.
    (2016).
    """

    components: Annotated[Count, doc("k, number of directions projected out")] = 1

    name: ClassVar[str] = "sent_debias"
    family: ClassVar[str] = "pair subspace"
    needed_roles: ClassVar[tuple[str, ...]] = PAIRS

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit an eraser of norm 1 and rank k. Raises ``InputError`` if pairs span fewer axes."""
        axes, explained = main_axes(unit_differences(examples.pairs), self.components)
        shares = ", ".join(f"{share:.3f}" for share in explained[:3])
        return replace(Eraser.removing(axes), fitted={"explained": shares})


@choice
class Steering(LinearEraser):
    """f(x) = x - u, u = mean(X) - mean(Y) of the states of a layer: a positive dose shifts every
    state from X towards Y, a negative one from Y towards X (activation addition; Turner et al.,
    2023). The shift is the same for all words and brings no two of them nearer.
    """

    name: ClassVar[str] = "steering"
    acts_on: ClassVar[str] = "model"
    needed_roles: ClassVar[tuple[str, ...]] = _GROUPS

    def fit_encoder(self, encoder: Encoder, query: Query | None, *, seed: int) -> Eraser:
        """Fit as every eraser does. Raises ``InputError`` for a model that is not causal."""
        if encoder.opened.kind != "causal":
            raise InputError(
                f"{self.name} needs a causal language model, and {encoder.name} is none; use an"
                " eraser, such as leace"
            )
        return super().fit_encoder(encoder, query, seed=seed)

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit a shift: norm 1, rank 0."""
        dim = examples.rows.shape[1]
        shift = examples.first.mean(axis=0) - examples.second.mean(axis=0)
        return Eraser(np.zeros((dim, 0)), np.zeros((0, dim)), np.zeros(dim), shift)


def _word_examples(vectors: KeyedVectors, query: Query, roles: Sequence[str]) -> Examples:
    """Look up the vectors of the words of the roles in ``roles``."""
    dim = vectors.vector_size
    found_sets = {role: find_set(vectors, query[role], case="lower") for role in roles}
    for role, found_set in found_sets.items():
        require_enough(len(found_set.items), query[role].name, "the vectors")
    first, second = (
        found_sets[role].raw if role in found_sets else np.empty((0, dim)) for role in _GROUPS
    )
    pairs = found_sets["pairs"].raw if "pairs" in found_sets else np.empty((0, 2, dim))
    counts = ", ".join(
        f"{len(found_set.items)} of {len(query[role].items)} {_ITEMS[role]} of {query[role].name}"
        for role, found_set in found_sets.items()
    )
    return Examples(first, second, pairs, counts or "nothing")


def _template_examples(
    encoder: Encoder, query: Query, roles: Sequence[str], templates: Sequence[str]
) -> Examples:
    """Encode the words of the roles in ``roles`` in every template."""
    texts: dict[str, Any] = {"X": [], "Y": [], "pairs": []}
    for role in roles:
        for item in query[role].items:
            filled = [
                [template.replace(TERM, word.replace("_", " ")) for word in item]
                for template in templates
            ]
            texts[role] += filled if role == "pairs" else [text for [text] in filled]
    description = f"words of {query.name} in {len(templates)} templates"
    return _encoded(encoder, texts["X"], texts["Y"], texts["pairs"], description, roles)


def _item_examples(encoder: Encoder, sets: Sequence[ItemSet], roles: Sequence[str]) -> Examples:
    """Encode the texts of two groups; a text with a slot is encoded with both fillers."""
    pairs: list[list[str]] = []
    complete_items: list[Item] = []
    names = ", ".join(item_set.name for item_set in sets)
    for item_set in sets:
        if problem := no_fillers(item_set):
            raise InputError(problem)
        for item in item_set.items:
            if item.fills or SLOT not in item.text:
                complete_items.append(item)
            else:
                pairs += [
                    [item.text.replace(SLOT, filler) for filler in filler_pair]
                    for filler_pair in item_set.fillers_of(item)
                ]
    first, second = _two_groups(names, complete_items)
    if len(first) + len(second) < len(complete_items) and len(sets) > 1:
        raise InputError(f"{names} name their groups differently; name them alike in all sets")
    if any(len(texts) > 2 for texts in pairs):
        raise InputError(f"fillers of {sets[0].name} are of more than two groups; give he/she")
    first += [first_text for first_text, _ in pairs]
    second += [second_text for _, second_text in pairs]
    return _encoded(encoder, first, second, pairs, names, roles)


def _two_groups(name: str, items: Sequence[Item]) -> tuple[list[str], list[str]]:
    """Return the sentences of X and Y, or of the only two groups; none for no items."""
    groups = list(dict.fromkeys(item.group for item in items))
    if {*_GROUPS} <= {*groups}:
        groups = [*_GROUPS]
    if len(groups) not in (0, 2):
        raise InputError(
            f"{name} has sentences of {len(groups)} groups ({', '.join(groups)}), and an eraser"
            " needs two; give items of two groups, or name two groups X and Y"
        )
    first, second = (
        [item.sentence for item in items if item.group == group] for group in (groups or _GROUPS)
    )
    return first, second


def _encoded(
    encoder: Encoder,
    first: Sequence[str],
    second: Sequence[str],
    pairs: Sequence[Sequence[str]],
    description: str,
    roles: Sequence[str],
) -> Examples:
    known_first, known_second = (list(filter(encoder.knows, texts)) for texts in (first, second))
    known_pairs = [pair for pair in pairs if all(map(encoder.knows, pair))]
    numbers = (len(known_first), len(known_second), len(known_pairs))
    for role, number in zip((*_GROUPS, *PAIRS), numbers, strict=True):
        if role in roles:
            require_enough(number, f"texts of {role} ({description})", "the model's vocabulary")
    pair_texts = [text for pair in known_pairs for text in pair]
    rows = [
        encoder.encode(texts).astype(np.float64)
        for texts in (known_first, known_second, pair_texts)
    ]
    dim = rows[0].shape[1]
    counts = (
        f"{len(known_pairs)} of {len(pairs)} pairs"
        if roles == PAIRS
        else f"{len(known_first)} of {len(first)} and {len(known_second)} of {len(second)} texts"
    )
    return Examples(rows[0], rows[1], rows[2].reshape(-1, 2, dim), f"{counts}, {description}")


def require_enough(number: int, examples: str, place: str) -> None:
    """Raise ``InputError`` if there are fewer examples than an eraser needs."""
    if number < _MIN_EXAMPLES:
        raise InputError(
            f"{number} of {examples} in {place}; an eraser needs {_MIN_EXAMPLES}: give other words"
        )


@ONE_THREAD
def _erased(vectors: KeyedVectors, eraser: Eraser) -> KeyedVectors:
    """Return a copy of the vectors with the eraser applied."""
    from biasbridge.files.vectors import with_matrix  # loads gensim

    return with_matrix(vectors, eraser.apply(vectors.vectors))


def _fit_eraser(method: LinearEraser, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``eraser.safetensors``, fitted on word vectors or on hidden states of texts."""
    query = read_query(inputs["words"] / WORDS) if "words" in inputs else None
    if "encoder" in inputs:
        from biasbridge.files.models.encoder import open_encoder  # loads torch

        eraser = method.fit_encoder(open_encoder(inputs["encoder"]), query, seed=seed)
    else:
        from biasbridge.files.vectors import open_mapped  # loads gensim

        vectors = open_mapped(inputs["vectors"] / "vectors")
        eraser = method.fit_vectors(vectors, query or Query("", {}, "und"), seed=seed)
    eraser.save(out / ERASER)


def _erase_vectors(method: LinearEraser, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``vectors/``, erased by the dose."""
    from biasbridge.files.vectors import open_mapped, save_mapped

    eraser = Eraser.load(inputs["eraser"] / ERASER).at(method.dose)
    before = open_mapped(inputs["vectors"] / "vectors")
    after = _erased(before, eraser)
    require_sound(method, before, after)
    save_mapped(after, out / "vectors")


def _erase_model(method: LinearEraser, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``model/``: links to the unmodified files, and the eraser at the dose."""
    from biasbridge.files.models.language_model import write_erased

    eraser = Eraser.load(inputs["eraser"] / ERASER).at(method.dose)
    write_erased(inputs["model"] / "model", out / "model", eraser)


def unit_differences(pairs: Floats) -> Floats:
    """Subtract the second from the first unit vector of each pair: (m, 2, dim) -> (m, dim)."""
    rows = unit_rows(pairs.reshape(-1, pairs.shape[-1])).reshape(pairs.shape)
    return rows[:, 0] - rows[:, 1]


def main_axes(rows: Floats, components: int) -> tuple[Floats, Floats]:
    """Compute the first principal axes of centred rows, and all shares of variance explained."""
    _, sizes, axes = np.linalg.svd(rows, full_matrices=False)
    rank = int((sizes > NO_LENGTH).sum())
    if components > rank:
        raise InputError(
            f"components={components}: the words or texts span {rank} dimensions; give fewer"
            " components, or more words"
        )
    return axes[:components], sizes**2 / (sizes**2).sum()


def unit(row: Floats) -> Floats:
    """Scale a row to length 1. Raises ``InputError`` if it is zero."""
    length = float(np.linalg.norm(row))
    if not length > 0:
        raise InputError("the two groups have the same mean; no direction separates them")
    return row / length


def _nearest_map(products: Floats) -> Floats:
    """Compute the orthogonal M = U V' of U S V'; of several, the nearest the identity."""
    u, sizes, vt = np.linalg.svd(products)
    rank = int((sizes > sizes[0] * _SINGULAR).sum())
    null_u, _, null_vt = np.linalg.svd(u[:, rank:].T @ vt[rank:].T)
    return np.asarray(u[:, :rank] @ vt[:rank] + u[:, rank:] @ null_u @ null_vt @ vt[rank:])


def _shrunk(covariance: Floats, n: int) -> Floats:
    r"""Shrink a covariance S of n rows and p dimensions to a S + (1 - a) tr(S)/p I, with

    a = 1 - (tr(S)^2 t / n) / (|S|^2 t - (tr(S)^2 / p)^2),    t = tr(S)^2 / p
    """
    p = len(covariance)
    trace = float(np.trace(covariance))
    target = trace**2 / p  # the squared norm of tr(S)/p I, and its product with S
    spread = float((covariance**2).sum()) * target - target**2
    if not spread > 0:
        return covariance
    weight = 1 - trace**2 * target / n / spread
    shrunken: Floats = weight * covariance + (1 - weight) * trace / p * np.eye(p)
    return shrunken
