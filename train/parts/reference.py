"""One of two reference models, on the words that both know: biased, or unbiased."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from files import InputError, choice
from files.choice import Fileless
from files.language import language_of, require_one_language
from train.parts.part import Subject

if TYPE_CHECKING:
    from train.parts.part import Facts, Inputs, Stages
    from train.store import Stage


@choice
class Reference(Fileless):
    """A model whose bias is known, or assumed, beside its opposite: ``which`` of the two is
    measured.

    Words that one of the models lacks are taken from the other as well, so that every metric finds
    the same words in both.
    """

    biased: Subject
    unbiased: Subject
    which: Literal["biased", "unbiased"] = "biased"

    name: ClassVar[str] = "reference"
    version: ClassVar[int] = 1
    gives: ClassVar[tuple[str, ...]] = ("vectors",)
    unit: ClassVar[str] = "vectors"

    def __post_init__(self) -> None:
        both = {"the biased model": self.biased, "the unbiased model": self.unbiased}
        require_one_language(both, "choose models of one language")
        for name, subject in both.items():
            if "vectors" not in subject.gives:
                gives = ", ".join(subject.gives)
                raise InputError(f"{name} is {subject.name}, which gives {gives}, not vectors")

    @property
    def language(self) -> str:
        """That of the models."""
        return language_of(self.biased)

    @property
    def _measured(self) -> Subject:
        return self.biased if self.which == "biased" else self.unbiased

    def facts(self) -> Facts:
        """Those of the model measured, and ``reference``: which of the two it is."""
        generated = bool(self.biased.facts()["generated"] or self.unbiased.facts()["generated"])
        return {**self._measured.facts(), "reference": self.which, "generated": generated}

    def build_steps(self, steps: Stages) -> Mapping[str, Stage]:
        """``vectors`` of the words that both know, the whole ``biased`` and ``unbiased`` ones, and
        the other steps of the model measured.
        """
        models = {
            "biased": self.biased.build_steps(steps),
            "unbiased": self.unbiased.build_steps(steps),
        }
        whole = {name: each["vectors"] for name, each in models.items()}
        other = "unbiased" if self.which == "biased" else "biased"
        inputs = {"vectors": whole[self.which], "other": whole[other]}
        shared = steps("shared", Shared(), keep_shared, inputs)
        return {**models[self.which], **whole, "vectors": shared}


@choice
class Shared(Fileless):
    """The words that two models know."""

    name: ClassVar[str] = "shared"
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False


def keep_shared(shared: Shared, out: Path, inputs: Inputs, seed: int) -> None:
    """``vectors/`` of the words that ``other`` knows too. ``InputError`` where there are none."""
    from files.vectors import keyed, open_mapped, save_mapped

    own, other = (open_mapped(inputs[name] / "vectors") for name in ("vectors", "other"))
    places = [place for place, word in enumerate(own.index_to_key) if word in other]
    if not places:
        raise InputError(
            f"the reference models share no word: one knows {_few(own.index_to_key)}, the other"
            f" {_few(other.index_to_key)}; choose models of one language and spelling"
        )
    words = [own.index_to_key[place] for place in places]
    save_mapped(keyed(words, own.vectors[places]), out / "vectors")


def _few(words: list[str]) -> str:
    return ", ".join(words[:3]) + ", ..."
