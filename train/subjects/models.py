"""Language models: trained on a corpus, or loaded."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Protocol, runtime_checkable

from annotated_types import doc

from biasbridge.files import Choice, choice
from biasbridge.files.hub import without_commit
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.models.place import Place, find_model

if TYPE_CHECKING:
    from biasbridge.corpora.truths import PlantedTerm
    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.train.engine.part import Facts


@runtime_checkable
class TrainedModel(Choice, Protocol):
    """A language model that is trained on a corpus."""

    def train(
        self, corpus: Path, out: Path, *, seed: int, truths: Mapping[str, PlantedTerm] | None
    ) -> Mapping[str, object]:
        """Write a folder with model and tokenizer; return how the training went.

        ``corpus``: a file of one tokenised sentence per line. ``truths``: the planted bias, by
        term.
        """


@runtime_checkable
class LoadedModel(Choice, Protocol):
    """An existing language model."""

    def save(self, out: Path, *, seed: int) -> None:
        """Write a folder with the whole model and its tokenizer."""


@runtime_checkable
class AdaptedModel(TrainedModel, Protocol):
    """A model that is trained from another: ``train`` is given a folder that holds it."""

    @property
    def base(self) -> LoadedModel:
        """The model that it is trained from."""


@choice
class PretrainedModel:
    """A local folder, ``org/name@COMMIT`` on a hub, or ``package:NAME``.

    ``random_weights``: the same configuration with weights drawn by the run's seed, a model that
    has learned nothing. ``label``: name in the tables. ``language``: of the model's texts.
    """

    model: Annotated[str, doc("a folder, org/name@COMMIT, or package:NAME")]
    random_weights: Annotated[bool, doc("true: the same configuration with random weights")] = False
    label: Annotated[str | None, doc("stands for the model in the tables")] = None
    language: str = UNDETERMINED

    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("model", "label", "language")
    chosen_as: ClassVar[tuple[str, ...]] = ("model/loaded",)
    configuration: ClassVar[Mapping[str, object]] = {"language": "${language}"}

    @property
    def name(self) -> str:
        """``label`` or the last part of ``model``, with ``_random`` for random weights."""
        name = self.label or Path(without_commit(self.model)).name.removeprefix("package:")
        return f"{name}_random" if self.random_weights else name

    @property
    def seeded(self) -> bool:
        """Whether the run's seed matters: only for random weights."""
        return self.random_weights

    @property
    def _place(self) -> Place:
        return find_model(self.model)

    def files(self) -> list[Path]:
        """Return the files of a local model. Raises ``InputError`` if there is no such model."""
        return self._place.files()

    def keyed(self) -> Mapping[str, object]:
        """Return the name and commit of a model on a hub."""
        place = self._place
        return {"model": "" if place.local else place.source, "revision": place.revision}

    def facts(self) -> Facts:
        """Return the column ``random_weights`` if the weights are random."""
        return {"random_weights": True} if self.random_weights else {}

    def save(self, out: Path, *, seed: int) -> None:
        """Write the model's own files, or its weights as safetensors in float32.

        Raises ``InputError`` for a model that does not load completely.
        """
        from biasbridge.files.models.language_model import open_model

        random_seed = seed if self.random_weights else None
        language_model = open_model(self.model, random_seed=random_seed)
        save_model(language_model, None if self.random_weights else self._place, out)


def save_model(language_model: LanguageModel, place: Place | None, out: Path) -> None:
    """Copy a local model's own files; write any other model as safetensors in float32."""
    if place and place.local and not place.gguf:
        out.mkdir()
        for path in place.files():
            copy = out / path.relative_to(place.source)
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, copy)
    else:
        save_whole(language_model, out)


def save_whole(language_model: LanguageModel, out: Path) -> None:
    """Write model and tokenizer to a folder, as safetensors."""
    from transformers.utils.logging import disable_progress_bar

    from biasbridge.files.models.load import without_quantisation

    disable_progress_bar()
    without_quantisation(language_model.model).save_pretrained(out)
    language_model.tokenizer.save_pretrained(out)
