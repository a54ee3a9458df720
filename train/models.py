"""Where a language model comes from: trained on a corpus, or loaded."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from files import Choice, choice
from files.language import UNDETERMINED
from files.models.place import Place, find_model

if TYPE_CHECKING:
    from corpora.truths import PlantedTerm
    from files.models.language_model import LanguageModel
    from train.parts.part import Facts


@runtime_checkable
class TrainedModel(Choice, Protocol):
    """A language model that is trained on a corpus."""

    def train(
        self, corpus: Path, out: Path, *, seed: int, truths: Mapping[str, PlantedTerm] | None
    ) -> Mapping[str, object]:
        """Write a folder with model and tokenizer, from a file of one tokenised sentence a line;
        how the training went. ``truths``: what is planted in the corpus, by term.
        """


@runtime_checkable
class LoadedModel(Choice, Protocol):
    """A language model that exists already."""

    def save(self, out: Path, *, seed: int) -> None:
        """Write a folder with model and tokenizer, whole."""


@choice
class PretrainedModel:
    """A local folder, a hub name with its ``revision``, or ``package:NAME``, the model inside an
    installed package.

    ``random_weights``: the same configuration with random weights, drawn by the run's seed: what a
    metric says of a model that has learned nothing. ``label`` stands for the model in the tables;
    ``language`` is that of its texts.
    """

    model: str
    revision: str | None = None
    random_weights: bool = False
    label: str | None = None
    language: str = UNDETERMINED

    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("model", "label", "language")

    @property
    def name(self) -> str:
        """``label``, or the last part of ``model``; ``_random`` where the weights are."""
        own = self.label or Path(self.model).name.removeprefix("package:")
        return f"{own}_random" if self.random_weights else own

    @property
    def seeded(self) -> bool:
        """Whether the run's seed matters: of random weights."""
        return self.random_weights

    @property
    def _place(self) -> Place:
        return find_model(self.model, self.revision)

    def files(self) -> list[Path]:
        """The files of a local model. Raises ``InputError`` for a name that leads to no model."""
        return self._place.files()

    def keyed(self) -> Mapping[str, object]:
        """The name of a model on a hub."""
        return {"model": "" if self._place.local else self.model}

    def facts(self) -> Facts:
        """The column ``random_weights``, where they are."""
        return {"random_weights": True} if self.random_weights else {}

    def save(self, out: Path, *, seed: int) -> None:
        """The model's own files, or what they are in safetensors and float32. Raises ``InputError``
        for a model that does not load whole.
        """
        from files.models.language_model import open_model

        drawn = seed if self.random_weights else None
        opened = open_model(self.model, self.revision, random_seed=drawn)
        save_model(opened, None if self.random_weights else self._place, out)


def save_model(opened: LanguageModel, place: Place | None, out: Path) -> None:
    """A folder with the model's own files where it was loaded from such, and with what they are in
    safetensors and float32 where it was not.
    """
    if place and place.local and not place.gguf:
        out.mkdir()
        for path in place.files():
            shutil.copyfile(path, out / path.name)
    else:
        save_whole(opened, out)


def save_whole(opened: LanguageModel, out: Path) -> None:
    """Model and tokenizer in a folder, as safetensors."""
    from transformers.utils.logging import disable_progress_bar

    from files.models.load import without_quantisation

    disable_progress_bar()
    without_quantisation(opened.model).save_pretrained(out)
    opened.tokenizer.save_pretrained(out)
