"""Reference models, biased and unbiased, on their common vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.files.language import language_of, require_one_language
from biasbridge.train.engine.part import Subject

if TYPE_CHECKING:
    from biasbridge.train.engine.part import Facts, Inputs, StepBuilder
    from biasbridge.train.engine.store import Step


@choice
class Reference(Fileless):
    """One of two models with known or assumed bias; ``which`` says which one is measured.

    The vectors are restricted to the common vocabulary, so every metric finds the same words in
    both.
    """

    biased: Subject
    unbiased: Subject
    which: Literal["biased", "unbiased"] = "biased"

    name: ClassVar[str] = "reference"
    version: ClassVar[int] = 1
    gives: ClassVar[tuple[str, ...]] = ("vectors",)
    unit: ClassVar[str] = "vectors"

    def __post_init__(self) -> None:
        subjects = {"the biased model": self.biased, "the unbiased model": self.unbiased}
        require_one_language(subjects, "choose models of one language")
        for name, subject in subjects.items():
            if "vectors" not in subject.gives:
                gives = ", ".join(subject.gives)
                raise InputError(
                    f"{name} {subject.name} gives {gives}; choose one that gives vectors"
                )

    @property
    def language(self) -> str:
        """Language of the models."""
        return language_of(self.biased)

    @property
    def _measured(self) -> Subject:
        return self.biased if self.which == "biased" else self.unbiased

    def facts(self) -> Facts:
        """Return the columns of the measured model and ``reference``, which of the two it is."""
        generated = bool(self.biased.facts()["generated"] or self.unbiased.facts()["generated"])
        return {**self._measured.facts(), "reference": self.which, "generated": generated}

    def build_steps(self, steps: StepBuilder) -> Mapping[str, Step]:
        """Return ``vectors`` (common words), full ``biased`` and ``unbiased`` ones, and other
        steps.
        """
        models = {
            "biased": self.biased.build_steps(steps),
            "unbiased": self.unbiased.build_steps(steps),
        }
        full_vectors = {name: model_steps["vectors"] for name, model_steps in models.items()}
        opposite = "unbiased" if self.which == "biased" else "biased"
        inputs = {"vectors": full_vectors[self.which], "other": full_vectors[opposite]}
        shared = steps("shared", Shared(), keep_shared, inputs)
        return {**models[self.which], **full_vectors, "vectors": shared}


@choice
class Shared(Fileless):
    """Common vocabulary of two models."""

    name: ClassVar[str] = "shared"
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False


def keep_shared(shared: Shared, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``vectors/`` of the common words. Raises ``InputError`` if there are none."""
    from biasbridge.files.vectors import keyed, open_mapped, save_mapped

    measured, opposite = (open_mapped(inputs[name] / "vectors") for name in ("vectors", "other"))
    indices = [i for i, word in enumerate(measured.index_to_key) if word in opposite]
    if not indices:
        raise InputError(
            f"the reference models share no word: one has {_examples(measured.index_to_key)}, the"
            f" other {_examples(opposite.index_to_key)}; choose models of one language and spelling"
        )
    words = [measured.index_to_key[i] for i in indices]
    save_mapped(keyed(words, measured.vectors[indices]), out / "vectors")


def _examples(words: list[str]) -> str:
    return ", ".join(words[:3]) + ", ..."
