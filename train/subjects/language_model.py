"""Language models, trained or loaded: likelihoods, vectors of texts and vectors of words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from biasbridge.corpora.protocols import Corpus, PlantedCorpus
from biasbridge.corpora.recount import recount_truths
from biasbridge.corpora.truths import read_truths, write_truths
from biasbridge.debias.base import Method, Words, method_family, method_label
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.files.language import language_of, require_one_language
from biasbridge.files.models.encoder import ENCODING, MODEL, Pooling
from biasbridge.files.models.folder import link_files
from biasbridge.train.engine.encodings import PLAIN
from biasbridge.train.subjects.models import AdaptedModel, LoadedModel, TrainedModel
from biasbridge.train.subjects.static import PLANTED, build_corpus, write_corpus
from biasbridge.train.subjects.transformer import ALONE, WordsInTemplates

if TYPE_CHECKING:
    from biasbridge.train.engine.part import Facts, Inputs, StepBuilder
    from biasbridge.train.engine.store import Step


@choice
class Encoding(Fileless):
    """Hidden states that are a text's vector: see ``biasbridge.files.models.encoder.Encoder``."""

    layer: int = -1
    pooling: Pooling = "mean"

    name: ClassVar[str] = "encoding"
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False

    @property
    def suffix(self) -> str:
        """Suffix of a model's name in the tables for other than the default encoding."""
        layer = "" if self.layer == -1 else f" layer {self.layer}"
        return layer + ("" if self.pooling == "mean" else f" {self.pooling}")


@choice
class LanguageModelSubject(Fileless):
    """A language model, trained on a corpus or loaded.

    ``encoding``: of texts; ``vectors``: of single words. A method on text changes the corpus before
    training, and the planted bias is counted again; a method on states puts an eraser into the
    model. Both work on ``words``. With planted bias the parent is the model trained on the same
    corpus without it: planting is a condition, which a method replaces in the tables.
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
        languages = {f"{text}={name}": self, f"words={self.words.name}": self.words}
        require_one_language(languages, "choose words of the text's language")

    def _require_fitting_method(self) -> None:
        """Raise ``InputError`` for a method that does not fit the model."""
        acts_on, method = self.debias.acts_on, self.debias.name
        if acts_on in ("states", "model"):
            return
        if acts_on != "text" or self.loaded:
            reason = "is loaded" if acts_on == "text" else "has no word vectors of its own"
            raise InputError(
                f"debias={method} acts on {acts_on}, and the language model {reason}; choose a"
                " method on its states, such as debias=leace, or one on text with a model that is"
                " trained, such as debias=balance model=tiny_bert"
            )

    @property
    def loaded(self) -> bool:
        """Whether the model is loaded, not trained."""
        return isinstance(self.model, LoadedModel)

    @property
    def language(self) -> str:
        """Language of the corpus, or of a loaded model."""
        return language_of(self.model if self.loaded else self.corpus)

    @property
    def modified(self) -> bool:
        """Whether a method changes anything."""
        return method_label(self.debias).dose != 0

    @property
    def _planted(self) -> tuple[str, float]:
        """Name and strength of what is planted in the training corpus; 0: nothing."""
        if self.loaded or not isinstance(self.corpus, PlantedCorpus):
            return "", 0.0
        if self.corpus.stereotype:
            return "planting", self.corpus.stereotype
        return "planting_other_words", self.corpus.off_target

    @property
    def _word_suffix(self) -> str:
        """Suffix of the name for word vectors of another layer, pooling or template than texts."""
        defaults = (self.encoding.layer, "mean", ALONE)
        options = (self.vectors.layer, self.vectors.pooling, self.vectors.templates)
        labels = (f"words layer {options[0]}", f"words {options[1]}", " | ".join(options[2]))
        triples = zip(labels, options, defaults, strict=True)
        return "".join(f" {label}" for label, option, default in triples if option != default)

    def facts(self) -> Facts:
        """Return corpus, embedding (the model), condition, layer, pooling and further columns."""
        model_facts: Callable[[], Facts] = getattr(self.model, "facts", dict)
        condition = method_label(self.debias)._asdict()
        family = method_family(self.debias)
        method, strength = self._planted
        if strength and not self.modified:
            direction = "overbias" if strength > 0 else "debias"
            condition = {"method": method, "direction": direction, "dose": abs(strength)}
            family = "planting"
        return {
            "corpus": "none" if self.loaded else self.corpus.name,
            "embedding": f"{self.model.name}{self.encoding.suffix}{self._word_suffix}",
            **condition,
            "method_family": family,
            "wordset": self.words.name,
            "layer": self.encoding.layer,
            "pooling": self.encoding.pooling,
            **({} if self.loaded else dict(self.corpus.parameters())),
            **model_facts(),
            "generated": not self.loaded and self.corpus.generated,
        }

    def build_steps(self, steps: StepBuilder) -> Mapping[str, Step]:
        """Return ``model``, ``encoder``, ``vectors``, ``base`` and, if trained, ``corpus``."""
        if isinstance(self.model, LoadedModel):
            model_steps = {"model": steps("model", self.model, load_model)}
        else:
            model_steps = self._trained(steps, build_corpus(steps, self.corpus))
        base = model = model_steps["model"]
        if self.modified:
            model = self._modify(steps, model_steps)
        if isinstance(self.corpus, PlantedCorpus) and self._planted[1]:
            unplanted = steps("corpus", self.corpus.unplanted(), write_corpus)
            base = self._trained(steps, unplanted)["model"]
        has_eraser = self.modified and self.debias.acts_on != "text"
        views = self._views(steps, model, plain=model_steps["model"] if has_eraser else None)
        return {**model_steps, **views, "model": model, "base": base}

    def _trained(
        self, steps: StepBuilder, corpus: Step, original: Step | None = None
    ) -> dict[str, Step]:
        """Return corpus and trained model; ``original``: the planted corpus before a method."""
        assert isinstance(self.model, TrainedModel)
        inputs = {"corpus": corpus, **({"original": original} if original else {})}
        if isinstance(self.model, AdaptedModel):
            inputs["base"] = steps("model", self.model.base, load_model)
        return {"corpus": corpus, "model": steps("model", self.model, train_model, inputs)}

    def _modify(self, steps: StepBuilder, model_steps: Mapping[str, Step]) -> Step:
        """Return the model with an eraser, or trained on a changed corpus."""
        views = self._views(steps, model_steps["model"])
        words = self.words.build_steps(steps, views["vectors"])
        if self.debias.acts_on != "text":
            inputs = {"model": model_steps["model"], "encoder": views["encoder"], "words": words}
            return self.debias.build_steps(steps, inputs)
        changed = self.debias.build_steps(steps, {"text": model_steps["corpus"], "words": words})
        original = model_steps["corpus"] if isinstance(self.corpus, PlantedCorpus) else None
        return self._trained(steps, changed, original)["model"]

    def _views(self, steps: StepBuilder, model: Step, plain: Step | None = None) -> dict[str, Step]:
        """Return encoder and word vectors of a model; ``plain``: the model without its eraser."""
        plain_inputs = {PLAIN: self._views(steps, plain)["encoder"]} if plain else {}
        encoder = steps("encoder", self.encoding, write_encoder, {"model": model, **plain_inputs})
        vectors = steps("vectors", self.vectors, write_vectors, {"model": model})
        return {"encoder": encoder, "vectors": vectors}


def train_model(model: TrainedModel, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``model/`` with the course of training and the planted bias.

    ``original``: the planted corpus before a method changed it; ``base``: the model trained on.
    """
    from biasbridge.train.engine.device import one_thread

    corpus = inputs["corpus"] / "corpus.txt"
    planted = inputs.get("original", inputs["corpus"]) / PLANTED
    truths = read_truths(planted) if planted.is_file() else None
    if truths is not None and "original" in inputs:
        truths = recount_truths(truths, corpus)
    if "base" in inputs:
        link_files(inputs["base"] / MODEL, out / MODEL)
    with one_thread():
        model.train(corpus, out / MODEL, seed=seed, truths=truths)
    if truths is not None:
        (out / MODEL / PLANTED).unlink(missing_ok=True)  # it may be a link to the base's own
        write_truths(truths, out / MODEL / PLANTED)


def load_model(model: LoadedModel, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``model/``: a copy, so that later changes of the folder change no result."""
    model.save(out / MODEL, seed=seed)


def write_encoder(encoding: Encoding, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``encoding.json`` next to links to the model's files."""
    link_files(inputs["model"] / MODEL, out / MODEL)
    options = {"layer": encoding.layer, "pooling": encoding.pooling}
    (out / ENCODING).write_text(json.dumps(options), encoding="utf-8")


def write_vectors(words: WordsInTemplates, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``vectors/`` of the words."""
    from biasbridge.files.vectors import save_mapped
    from biasbridge.train.engine.device import one_thread

    with one_thread():
        save_mapped(words.vectors_by(inputs["model"] / MODEL), out / "vectors")
