"""Linear erasers, fitted on and applied to word vectors or hidden states of language models."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from annotated_types import doc

from biasbridge.debias.axis import ONE_THREAD, SignedDose
from biasbridge.debias.base import (
    WORDS,
    Direction,
    DoseAxis,
    Inputs,
    S,
    StepBuilder,
    require_sound,
    restrict,
)
from biasbridge.debias.examples import Examples, item_examples, template_examples, word_examples
from biasbridge.files import InputError, choice
from biasbridge.files.choice import FieldError
from biasbridge.files.digest import digest_of
from biasbridge.files.eraser import ERASER, Eraser
from biasbridge.intrinsic.items.item import TERM, ItemSource
from biasbridge.intrinsic.wordsets import read_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.files.models.encoder import Encoder
    from biasbridge.intrinsic.wordsets import Query


TEMPLATES = ("This is {}.", "That is {}.", "There is {}.", "{} is here.", "It was about {}.")


@choice
class LinearEraser:
    """Base of methods that fit an ``Eraser``; a subclass provides ``needed_roles`` and ``fit``.

    On word vectors it is fitted on the words of the query's ``needed_roles``: the groups X and Y,
    or ``pairs``. On a language model it is fitted on texts in the subject's encoding, and acts on
    that layer. The texts are the same words in ``templates``, or ``items`` of two groups, such as
    BEC-Pro; an item with a slot gives a pair of texts, one per filler.
    """

    dose: Annotated[SignedDose, doc("from -1 (overbias) over 0 (unmodified) to 1 (debias)")] = 1
    items: Annotated[
        ItemSource | None,
        doc(
            "of a language model: sentences of two groups (+items@debias.items=bec_pro), not words"
        ),
    ] = None
    templates: Annotated[tuple[str, ...], doc("sentences for the query's words")] = TEMPLATES

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

    @property
    def direction(self) -> Direction:
        """``overbias`` for a negative dose."""
        return "overbias" if self.dose < 0 else "debias"

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
        return self._fitted(word_examples(vectors, query, self.needed_roles), seed)

    def fit_encoder(self, encoder: Encoder, query: Query | None, *, seed: int) -> Eraser:
        """Fit on the encodings of the items, or of a query's words in templates. Raises
        ``InputError`` if the model knows too few of the texts.
        """
        if not self.needed_roles:
            empty = encoder.encode([]).astype(np.float64)
            examples = Examples(empty, empty, empty.reshape(0, 2, empty.shape[1]), "nothing")
        elif self.items:
            examples = item_examples(encoder, self.items.load(), self.needed_roles)
        elif query:
            examples = template_examples(encoder, query, self.needed_roles, self.templates)
        else:
            raise InputError("give the words of a query, or items")
        return replace(self._fitted(examples, seed), layer=encoder.layer)

    def _fitted(self, examples: Examples, seed: int) -> Eraser:
        eraser = self.fit(examples, seed=seed)
        source = {"method": self.name, "on": examples.description}
        return replace(eraser, fitted={**source, **eraser.fitted})

    def with_dose(self, dose: float) -> Self:
        """Return the method at another dose."""
        return replace(self, dose=dose)

    def dose_axis(self, vectors: KeyedVectors, query: Query, *, seed: int) -> DoseAxis:
        """Fit once and return the vectors at any dose."""
        eraser = self.fit_vectors(vectors, query, seed=seed)

        def at(dose: float, words: Collection[str] | None = None) -> KeyedVectors:
            return erased(restrict(vectors, words), eraser.at(dose))

        return DoseAxis(at, eraser)

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        """Return a copy of ``vectors`` modified by the dose."""
        return erased(vectors, self.fit_vectors(vectors, query, seed=seed).at(self.dose))

    def build_steps(self, steps: StepBuilder[S], inputs: Mapping[str, S]) -> S:
        """Return the step of the erased vectors or model; all doses share one fitted eraser."""
        words = {"words": inputs["words"]} if self.roles else {}
        full = replace(self, dose=1.0)
        if "model" in inputs:
            fit_inputs = {"encoder": inputs["encoder"], **words}
            eraser = steps("eraser", full, fit_on_encoder, fit_inputs)
            return steps("erased", self, erase_model, {"model": inputs["model"], "eraser": eraser})
        fit_inputs = {"vectors": inputs["vectors"], **words}
        eraser = steps("eraser", full, fit_on_vectors, fit_inputs)
        erase_inputs = {"vectors": inputs["vectors"], "eraser": eraser}
        return steps("modified", self, erase_vectors, erase_inputs)


@ONE_THREAD
def erased(vectors: KeyedVectors, eraser: Eraser) -> KeyedVectors:
    """Return a copy of the vectors with the eraser applied."""
    from biasbridge.files.vectors import with_matrix  # loads gensim

    return with_matrix(vectors, eraser.apply(vectors.vectors))


def fit_on_vectors(method: LinearEraser, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``eraser.safetensors``, fitted on word vectors."""
    from biasbridge.files.vectors import open_mapped

    vectors = open_mapped(inputs["vectors"] / "vectors")
    method.fit_vectors(vectors, _query(inputs), seed=seed).save(out / ERASER)


def fit_on_encoder(method: LinearEraser, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``eraser.safetensors``, fitted on hidden states of texts."""
    from biasbridge.files.models.encoder import open_encoder

    query = _query(inputs) if "words" in inputs else None
    encoder = open_encoder(inputs["encoder"])
    method.fit_encoder(encoder, query, seed=seed).save(out / ERASER)


def erase_vectors(method: LinearEraser, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``vectors/``, erased by the dose."""
    from biasbridge.files.vectors import open_mapped, save_mapped

    eraser = Eraser.load(inputs["eraser"] / ERASER).at(method.dose)
    before = open_mapped(inputs["vectors"] / "vectors")
    after = erased(before, eraser)
    require_sound(method, before, after)
    save_mapped(after, out / "vectors")


def erase_model(method: LinearEraser, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``model/``: links to the unmodified files, and the eraser at the dose."""
    from biasbridge.files.models.folder import write_erased

    eraser = Eraser.load(inputs["eraser"] / ERASER).at(method.dose)
    write_erased(inputs["model"] / "model", out / "model", eraser)


def _query(inputs: Inputs) -> Query:
    from biasbridge.intrinsic.wordsets import Query

    return read_query(inputs["words"] / WORDS) if "words" in inputs else Query("", {}, "und")
