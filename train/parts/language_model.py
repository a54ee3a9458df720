"""A language model: trained on a corpus or loaded, asked for likelihoods, for vectors of texts and
for vectors of words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from corpora.kinds import Corpus, PlantedCorpus
from corpora.recount import recount
from corpora.truths import read_truths, write_truths
from debias.base import Method, Words, applied
from files import InputError, choice
from files.choice import Fileless
from files.language import language_of, require_one_language
from files.models.encoder import ENCODING, MODEL, Pooling
from files.models.folder import link_files
from train.models import LoadedModel, TrainedModel
from train.parts.encodings import PLAIN
from train.parts.static import PLANTED, write_corpus
from train.transformer import ALONE, WordsInTemplates

if TYPE_CHECKING:
    from train.parts.part import Facts, Inputs, Stages
    from train.store import Stage


@choice
class Encoding(Fileless):
    """Which hidden states are a text's vector: see ``files.models.encoder.Encoder``."""

    layer: int = -1
    pooling: Pooling = "mean"

    name: ClassVar[str] = "encoding"
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False

    @property
    def suffix(self) -> str:
        """What follows a model's name in the tables, where this is not the usual encoding: layers
        are compared side by side, while the model is the one observation.
        """
        layer = "" if self.layer == -1 else f" layer {self.layer}"
        return layer + ("" if self.pooling == "mean" else f" {self.pooling}")


@choice
class LanguageModelSubject(Fileless):
    """A corpus and a model trained on it, or a model that is loaded; ``layer`` and ``pooling`` of
    the texts that it encodes; and the ``vectors`` of single words.

    A method on text (``debias``) changes the corpus before the training, and what is planted is
    then counted anew; one on states puts an eraser into the model. Both work on ``words``. Of a
    corpus with a planted strength the parent is the model trained on the same corpus with nothing
    planted: planting is a condition like any other, which a method replaces in the tables.
    """

    corpus: Corpus
    model: TrainedModel | LoadedModel
    debias: Method
    words: Words
    vectors: WordsInTemplates
    encoding: Encoding = Encoding()

    name: ClassVar[str] = "language_model"
    version: ClassVar[int] = 1
    gives: ClassVar[tuple[str, ...]] = ("model", "encoder", "vectors")
    unit: ClassVar[str] = "model"

    def __post_init__(self) -> None:
        if not self.modified:
            return
        self._require_fitting_method()
        if not self.debias.roles:
            return
        object.__setattr__(self, "words", self.words.in_language(self.language))
        self.words.require_roles(self.debias.roles)
        text = "model" if self.loaded else "corpus"
        name = self.model.name if self.loaded else self.corpus.name
        used = {f"{text}={name}": self, f"words={self.words.name}": self.words}
        require_one_language(used, "choose words of the text's language")

    def _require_fitting_method(self) -> None:
        """Raise ``InputError`` for a method that this model cannot have."""
        acts_on, method = self.debias.acts_on, self.debias.name
        if acts_on in ("states", "model"):
            return
        if acts_on != "text" or self.loaded:
            what = "is loaded" if acts_on == "text" else "has no word vectors of its own"
            raise InputError(
                f"debias={method} acts on {acts_on}, and the language model {what}; choose a method"
                " on its states, such as debias=leace, or one on text with a model that is trained,"
                " such as debias=balance model=tiny_bert"
            )

    @property
    def loaded(self) -> bool:
        """Whether the model is loaded and not trained."""
        return isinstance(self.model, LoadedModel)

    @property
    def language(self) -> str:
        """That of the corpus, or of the model where it is loaded."""
        return language_of(self.model if self.loaded else self.corpus)

    @property
    def modified(self) -> bool:
        """Whether a method changes anything."""
        return applied(self.debias).dose != 0

    @property
    def _planted(self) -> float:
        """The strength planted in the corpus that the model is trained on; 0: none."""
        if self.loaded or not isinstance(self.corpus, PlantedCorpus):
            return 0.0
        return self.corpus.stereotype

    @property
    def _of_words(self) -> str:
        """What follows the name where words are read from another layer than texts, or otherwise
        than as the mean of their tokens.
        """
        usual = (self.encoding.layer, "mean", ALONE)
        own = (self.vectors.layer, self.vectors.pooling, self.vectors.templates)
        named = (f"words layer {own[0]}", f"words {own[1]}", " | ".join(own[2]))
        changed = [name for name, one, other in zip(named, own, usual, strict=True) if one != other]
        return "".join(f" {name}" for name in changed)

    def facts(self) -> Facts:
        """The columns corpus, embedding (the model), method, direction, dose, wordset, layer,
        pooling, generated, what is planted in the corpus and the model's own.
        """
        own: Callable[[], Facts] = getattr(self.model, "facts", dict)
        condition = applied(self.debias)._asdict()
        if (strength := self._planted) and not self.modified:
            direction = "overbias" if strength > 0 else "debias"
            condition = {"method": "planting", "direction": direction, "dose": abs(strength)}
        return {
            "corpus": "none" if self.loaded else self.corpus.name,
            "embedding": f"{self.model.name}{self.encoding.suffix}{self._of_words}",
            **condition,
            "wordset": self.words.name,
            "layer": self.encoding.layer,
            "pooling": self.encoding.pooling,
            **({} if self.loaded else dict(self.corpus.planted())),
            **own(),
            "generated": not self.loaded and self.corpus.generated,
        }

    def build_steps(self, steps: Stages) -> Mapping[str, Stage]:
        """``model``, ``encoder``, ``vectors``, the unmodified ``base`` and, where the model is
        trained, the ``corpus``.
        """
        if isinstance(self.model, LoadedModel):
            made = {"model": steps("model", self.model, load_model)}
        else:
            made = self._trained(steps, steps("corpus", self.corpus, write_corpus))
        base = model = made["model"]
        if self.modified:
            model = self._modify(steps, made)
        if isinstance(self.corpus, PlantedCorpus) and self._planted:
            plain = steps("corpus", self.corpus.unplanted(), write_corpus)
            base = self._trained(steps, plain)["model"]
        erased = self.modified and self.debias.acts_on != "text"
        views = self._views(steps, model, plain=made["model"] if erased else None)
        return {**made, **views, "model": model, "base": base}

    def _trained(
        self, steps: Stages, corpus: Stage, original: Stage | None = None
    ) -> dict[str, Stage]:
        """The corpus and the model trained on it; ``original``: it before a method changed it, in
        which something was planted.
        """
        assert isinstance(self.model, TrainedModel)
        read = {"corpus": corpus, **({"original": original} if original else {})}
        return {"corpus": corpus, "model": steps("model", self.model, train_model, read)}

    def _modify(self, steps: Stages, made: Mapping[str, Stage]) -> Stage:
        """The model that is trained on a changed corpus, or has an eraser."""
        views = self._views(steps, made["model"])
        words = self.words.build_steps(steps, views["vectors"])
        if self.debias.acts_on != "text":
            given = {"model": made["model"], "encoder": views["encoder"], "words": words}
            return self.debias.build_steps(steps, given)
        changed = self.debias.build_steps(steps, {"text": made["corpus"], "words": words})
        original = made["corpus"] if isinstance(self.corpus, PlantedCorpus) else None
        return self._trained(steps, changed, original)["model"]

    def _views(self, steps: Stages, model: Stage, plain: Stage | None = None) -> dict[str, Stage]:
        """What is made of a model: the encoder, and the vectors of words. ``plain``: the same model
        without its eraser, which has encoded the texts already.
        """
        without = {PLAIN: self._views(steps, plain)["encoder"]} if plain else {}
        encoder = steps("encoder", self.encoding, write_encoder, {"model": model, **without})
        vectors = steps("vectors", self.vectors, write_vectors, {"model": model})
        return {"encoder": encoder, "vectors": vectors}


def train_model(model: TrainedModel, out: Path, inputs: Inputs, seed: int) -> None:
    """``model/``, with how the training went and what is planted in its corpus; ``original``: the
    corpus before a method changed it, if something is planted there.
    """
    from train.device import one_thread

    corpus = inputs["corpus"] / "corpus.txt"
    planted = inputs.get("original", inputs["corpus"]) / PLANTED
    truths = read_truths(planted) if planted.is_file() else None
    if truths is not None and "original" in inputs:
        truths = recount(truths, corpus)
    with one_thread():
        model.train(corpus, out / MODEL, seed=seed, truths=truths)
    if truths is not None:
        write_truths(truths, out / MODEL / PLANTED)


def load_model(model: LoadedModel, out: Path, inputs: Inputs, seed: int) -> None:
    """``model/``: a copy, so that a folder that changes later changes no result."""
    model.save(out / MODEL, seed=seed)


def write_encoder(encoding: Encoding, out: Path, inputs: Inputs, seed: int) -> None:
    """``encoding.json`` beside the model's files, which are the same on the disk."""
    link_files(inputs["model"] / MODEL, out / MODEL)
    chosen = {"layer": encoding.layer, "pooling": encoding.pooling}
    (out / ENCODING).write_text(json.dumps(chosen), encoding="utf-8")


def write_vectors(words: WordsInTemplates, out: Path, inputs: Inputs, seed: int) -> None:
    """``vectors/`` of the words."""
    from files.vectors import save_mapped
    from train.device import one_thread

    with one_thread():
        save_mapped(words.vectors_by(inputs["model"] / MODEL), out / "vectors")
