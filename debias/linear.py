"""Linear erasers: fitted on words, or on sentences that a model encodes, and applied to either."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from debias.axis import ONE_THREAD, SignedDose, restricted
from debias.base import WORDS, Axis, Direction, Inputs, S, Steps, require_change
from files import InputError, choice
from files.choice import FieldError
from files.digest import digest_of
from files.eraser import ERASER, Eraser
from intrinsic.directions import NO_LENGTH
from intrinsic.items.item import SLOT, TERM, Item, ItemSet, ItemSource
from intrinsic.lookup import find_set, unit_rows
from intrinsic.wordsets import read_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from files.models.encoder import Encoder
    from intrinsic.wordsets import Query

Floats = NDArray[np.float64]
Texts = Sequence[str]

GROUPS, PAIRS = ("X", "Y"), ("pairs",)
ITEMS = {"X": "words", "Y": "words", "pairs": "pairs"}
LEAST_FOUND = 2  # of a group, or of pairs
TEMPLATES = ("This is {}.", "That is {}.", "There is {}.", "{} is here.", "It was about {}.")


class Examples(NamedTuple):
    """What an eraser is fitted on: vectors of two groups, (n, dim) each, and of pairs, (m, 2, dim),
    the first of a pair of the first group; and in words what they are of.
    """

    first: Floats
    second: Floats
    pairs: Floats
    what: str

    @property
    def rows(self) -> Floats:
        """Those of both groups, (n, dim)."""
        return np.concatenate([self.first, self.second])

    @property
    def labels(self) -> Floats:
        """1 for each row of the first group, 0 for the second, (n,)."""
        return np.repeat([1.0, 0.0], [len(self.first), len(self.second)])


@choice
class LinearEraser:
    """Base of a method that fits an ``Eraser``; a new one gives ``asks`` and ``fit``.

    On word vectors it is fitted on the words of the roles that it ``asks`` of a query: the groups X
    and Y, or ``pairs``. On a language model it is fitted on texts as the subject encodes them, and
    acts on that layer: the same words in ``templates``, or ``items`` of two groups, such as
    BEC-Pro; those with a slot have a text for either filler, which are pairs.
    """

    dose: SignedDose = 1.0
    items: ItemSource | None = None
    templates: tuple[str, ...] = TEMPLATES

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    acts_on: ClassVar[str] = "states"
    unkeyed: ClassVar[tuple[str, ...]] = ("items",)
    name: ClassVar[str]
    asks: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        for each in self.templates:
            if TERM not in each:
                raise FieldError(f"templates={each!r}: every one needs {TERM}, where the word goes")

    @property
    def roles(self) -> tuple[str, ...]:
        """The word sets that it needs of a query; none where it has items."""
        return () if self.items else self.asks

    @property
    def direction(self) -> Direction:
        """``overbias`` for a negative dose."""
        return "overbias" if self.dose < 0 else "debias"

    def files(self) -> list[Path]:
        """Those of the items."""
        return self.items.files() if self.items else []

    def keyed(self) -> Mapping[str, object]:
        """The items, wherever they are listed."""
        sets = self.items.load() if self.items else []
        return {"items": digest_of([each.decisive() for each in sets])} if sets else {}

    def fit(self, found: Examples, *, seed: int) -> Eraser:
        """The eraser, by dose 1."""
        raise NotImplementedError

    def fit_vectors(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Eraser:
        """The eraser of the words of a query that are in ``vectors``. Raises ``InputError`` where
        there are too few.
        """
        if self.items:
            raise InputError(f"items={self.items.name} are texts for a model; vectors have words")
        return self._fitted(_of_words(vectors, query, self.asks), seed)

    def fit_encoder(self, encoder: Encoder, query: Query | None, *, seed: int) -> Eraser:
        """The eraser of the items, or of the words of a query in templates, on the encoder's layer.
        Raises ``InputError`` where the model knows too few of the texts.
        """
        if not self.asks:
            none = encoder.encode([]).astype(np.float64)
            found = Examples(none, none, none.reshape(0, 2, none.shape[1]), "nothing")
        elif self.items:
            found = _of_items(encoder, self.items.load(), self.asks)
        elif query:
            found = _of_templates(encoder, query, self.asks, self.templates)
        else:
            raise InputError("give the words of a query, or items")
        return replace(self._fitted(found, seed), layer=encoder.layer)

    def _fitted(self, found: Examples, seed: int) -> Eraser:
        eraser = self.fit(found, seed=seed)
        return replace(eraser, fitted={"method": self.name, "on": found.what, **eraser.fitted})

    def by(self, dose: float) -> Self:
        """The same by another dose."""
        return replace(self, dose=dose)

    def along(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Axis:
        """What becomes of ``vectors`` by any dose, fitted once."""
        eraser = self.fit_vectors(vectors, query, seed=seed)

        def at(dose: float, words: Collection[str] | None = None) -> KeyedVectors:
            return erased(restricted(vectors, words), eraser.at(dose))

        return Axis(at, eraser)

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        """A copy of ``vectors`` by the dose; ``vectors`` is left as it is."""
        return erased(vectors, self.fit_vectors(vectors, query, seed=seed).at(self.dose))

    def build_steps(self, steps: Steps[S], given: Mapping[str, S]) -> S:
        """The vectors, or the model, with an eraser that is fitted once for all doses."""
        words = {"words": given["words"]} if self.roles else {}
        full = replace(self, dose=1.0)
        if "model" in given:
            read = {"encoder": given["encoder"], **words}
            eraser = steps("eraser", full, fit_on_encoder, read)
            return steps("erased", self, erase_model, {"model": given["model"], "eraser": eraser})
        read = {"vectors": given["vectors"], **words}
        eraser = steps("eraser", full, fit_on_vectors, read)
        changed = {"vectors": given["vectors"], "eraser": eraser}
        return steps("modified", self, erase_vectors, changed)


@ONE_THREAD
def erased(vectors: KeyedVectors, eraser: Eraser) -> KeyedVectors:
    """A copy of the vectors by the eraser's dose."""
    from files.vectors import with_matrix  # loads gensim

    return with_matrix(vectors, eraser.apply(vectors.vectors))


def fit_on_vectors(method: LinearEraser, out: Path, inputs: Inputs, seed: int) -> None:
    """``eraser.safetensors``, of words."""
    from files.vectors import open_mapped

    vectors = open_mapped(inputs["vectors"] / "vectors")
    method.fit_vectors(vectors, _query(inputs), seed=seed).save(out / ERASER)


def fit_on_encoder(method: LinearEraser, out: Path, inputs: Inputs, seed: int) -> None:
    """``eraser.safetensors``, of the states of texts."""
    from files.models.encoder import open_encoder

    query = _query(inputs) if "words" in inputs else None
    encoder = open_encoder(inputs["encoder"])
    method.fit_encoder(encoder, query, seed=seed).save(out / ERASER)


def erase_vectors(method: LinearEraser, out: Path, inputs: Inputs, seed: int) -> None:
    """``vectors/`` by the dose."""
    from files.vectors import open_mapped, save_mapped

    eraser = Eraser.load(inputs["eraser"] / ERASER).at(method.dose)
    before = open_mapped(inputs["vectors"] / "vectors")
    after = erased(before, eraser)
    require_change(method, np.array_equal(before.vectors, after.vectors))
    save_mapped(after, out / "vectors")


def erase_model(method: LinearEraser, out: Path, inputs: Inputs, seed: int) -> None:
    """``model/``: the untouched files, and the eraser by the dose."""
    from files.models.folder import write_erased

    eraser = Eraser.load(inputs["eraser"] / ERASER).at(method.dose)
    write_erased(inputs["model"] / "model", out / "model", eraser)


def _query(inputs: Inputs) -> Query:
    from intrinsic.wordsets import Query

    return read_query(inputs["words"] / WORDS) if "words" in inputs else Query("", {}, "und")


def _of_words(vectors: KeyedVectors, query: Query, asks: Sequence[str]) -> Examples:
    """The vectors of the words of each role that is asked."""
    dim = vectors.vector_size
    found = {role: find_set(vectors, query[role], case="lower") for role in asks}
    for role, each in found.items():
        require_some(len(each.items), query[role].name, "the vectors")
    first, second = (found[role].raw if role in found else np.empty((0, dim)) for role in GROUPS)
    pairs = found["pairs"].raw if "pairs" in found else np.empty((0, 2, dim))
    counts = ", ".join(
        f"{len(each.items)} of {len(query[role].items)} {ITEMS[role]} of {query[role].name}"
        for role, each in found.items()
    )
    return Examples(first, second, pairs, counts or "nothing")


def _of_templates(
    encoder: Encoder, query: Query, asks: Sequence[str], templates: Sequence[str]
) -> Examples:
    """The encodings of the words of each role in every template."""
    texts: dict[str, Any] = {"X": [], "Y": [], "pairs": []}
    for role in asks:
        for item in query[role].items:
            filled = [
                [each.replace(TERM, word.replace("_", " ")) for word in item] for each in templates
            ]
            texts[role] += filled if role == "pairs" else [text for [text] in filled]
    where = f"words of {query.name} in {len(templates)} templates"
    return _encoded(encoder, texts["X"], texts["Y"], texts["pairs"], where, asks)


def _of_items(encoder: Encoder, sets: Sequence[ItemSet], asks: Sequence[str]) -> Examples:
    """The encodings of texts of two groups; of those with a slot, of either filler in it."""
    first: list[str] = []
    second: list[str] = []
    pairs: list[list[str]] = []
    for each in sets:
        whole = []
        for item in each.items:
            if item.fills or SLOT not in item.text:
                whole.append(item)
            else:
                pairs += [[item.text.replace(SLOT, one) for one in both] for both in each.fillers]
        texts = two_groups(each.name, whole)
        first += texts[0]
        second += texts[1]
    first += [one for one, _ in pairs]
    second += [other for _, other in pairs]
    names = ", ".join(each.name for each in sets)
    return _encoded(encoder, first, second, pairs, names, asks)


def two_groups(name: str, items: Sequence[Item]) -> tuple[list[str], list[str]]:
    """The sentences of X and of Y, or of the two groups that there are; none of no items. Raises
    ``InputError`` for another number of groups.
    """
    groups = list(dict.fromkeys(item.group for item in items))
    if {*GROUPS} <= {*groups}:
        groups = [*GROUPS]
    if len(groups) not in (0, 2):
        raise InputError(
            f"{name} has sentences of {len(groups)} groups ({', '.join(groups)}), and an eraser is"
            " of two; give items of two groups, or call them X and Y"
        )
    first, second = (
        [item.sentence for item in items if item.group == group] for group in (groups or GROUPS)
    )
    return first, second


def _encoded(
    encoder: Encoder,
    first: Texts,
    second: Texts,
    pairs: Sequence[Texts],
    what: str,
    asks: Sequence[str],
) -> Examples:
    known = [[text for text in texts if encoder.knows(text)] for texts in (first, second)]
    both = [pair for pair in pairs if all(map(encoder.knows, pair))]
    for role, number in zip((*GROUPS, *PAIRS), (*map(len, known), len(both)), strict=True):
        if role in asks:
            require_some(number, f"texts of {role} ({what})", "what the model knows")
    rows = [
        encoder.encode(texts).astype(np.float64) for texts in (*known, [t for p in both for t in p])
    ]
    dim = rows[0].shape[1]
    counts = (
        f"{len(both)} of {len(pairs)} pairs"
        if asks == PAIRS
        else f"{len(known[0])} of {len(first)} and {len(known[1])} of {len(second)} texts"
    )
    return Examples(rows[0], rows[1], rows[2].reshape(-1, 2, dim), f"{counts}, {what}")


def require_some(number: int, what: str, where: str) -> None:
    """Raise ``InputError`` where there are fewer than an eraser needs."""
    if number < LEAST_FOUND:
        raise InputError(
            f"{number} of {what} in {where}; an eraser needs {LEAST_FOUND}: give other words"
        )


def unit_differences(pairs: Floats) -> Floats:
    """First minus second unit vector of each pair: (m, 2, dim) -> (m, dim)."""
    rows = unit_rows(pairs.reshape(-1, pairs.shape[-1])).reshape(pairs.shape)
    return rows[:, 0] - rows[:, 1]


def main_axes(rows: Floats, components: int) -> tuple[Floats, Floats]:
    """The first principal axes of centred rows (n, dim), and the share of their variance that each
    of all axes explains: (components, dim), (min(n, dim),). Raises ``InputError`` where the rows
    span fewer dimensions.
    """
    _, sizes, axes = np.linalg.svd(rows, full_matrices=False)
    spanned = int((sizes > NO_LENGTH).sum())
    if components > spanned:
        raise InputError(
            f"components={components}: the words or texts span {spanned} dimensions; give fewer"
            " components, or more words"
        )
    return axes[:components], sizes**2 / (sizes**2).sum()


def unit(row: Floats) -> Floats:
    """The direction of a row. Raises ``InputError`` where it is zero."""
    length = float(np.linalg.norm(row))
    if not length > 0:
        raise InputError("the two groups have the same mean, so nothing sets them apart")
    return row / length
