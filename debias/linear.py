"""Linear erasers: fitted on words, or on sentences that a model encodes, and applied to either."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from debias.axis import ONE_THREAD, SignedDose, restricted
from debias.base import WORDS, Axis, Direction, Inputs, S, Steps, require_sound
from debias.examples import Examples, of_items, of_templates, of_words
from files import InputError, choice
from files.choice import FieldError
from files.digest import digest_of
from files.eraser import ERASER, Eraser
from intrinsic.items.item import TERM, ItemSource
from intrinsic.wordsets import read_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from files.models.encoder import Encoder
    from intrinsic.wordsets import Query

Floats = NDArray[np.float64]

TEMPLATES = ("This is {}.", "That is {}.", "There is {}.", "{} is here.", "It was about {}.")


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
        return self._fitted(of_words(vectors, query, self.asks), seed)

    def fit_encoder(self, encoder: Encoder, query: Query | None, *, seed: int) -> Eraser:
        """The eraser of the items, or of the words of a query in templates, on the encoder's layer.
        Raises ``InputError`` where the model knows too few of the texts.
        """
        if not self.asks:
            none = encoder.encode([]).astype(np.float64)
            found = Examples(none, none, none.reshape(0, 2, none.shape[1]), "nothing")
        elif self.items:
            found = of_items(encoder, self.items.load(), self.asks)
        elif query:
            found = of_templates(encoder, query, self.asks, self.templates)
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
    require_sound(method, before, after)
    save_mapped(after, out / "vectors")


def erase_model(method: LinearEraser, out: Path, inputs: Inputs, seed: int) -> None:
    """``model/``: the untouched files, and the eraser by the dose."""
    from files.models.folder import write_erased

    eraser = Eraser.load(inputs["eraser"] / ERASER).at(method.dose)
    write_erased(inputs["model"] / "model", out / "model", eraser)


def _query(inputs: Inputs) -> Query:
    from intrinsic.wordsets import Query

    return read_query(inputs["words"] / WORDS) if "words" in inputs else Query("", {}, "und")
