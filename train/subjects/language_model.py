"""Language models, trained or loaded: likelihoods, vectors of texts, and vectors of words, alone or
in templates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Protocol, runtime_checkable

from annotated_types import doc

from biasbridge.corpora.protocols import Corpus, PlantedCorpus
from biasbridge.corpora.truths import read_truths, recount_truths, write_truths
from biasbridge.debias.base import Method, Words, method_family, method_label
from biasbridge.files import Choice, InputError, choice, read_lines
from biasbridge.files.choice import Count, Fileless
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.models.encoder import (
    ENCODING,
    MODEL,
    Encoder,
    Pooling,
    WordPooling,
    template_contexts,
    word_vectors,
)
from biasbridge.files.models.language_model import link_files, open_model, save_model
from biasbridge.files.paths import digest_of
from biasbridge.files.places import Place, find_model, without_commit
from biasbridge.intrinsic.words import load_queries, read_wordsets
from biasbridge.train.engine.device import one_thread, step_device
from biasbridge.train.engine.scores import PLAIN
from biasbridge.train.subjects.static import PLANTED, ModifiedSubject, build_corpus, write_corpus

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.corpora.truths import PlantedTerm
    from biasbridge.train.engine.steps import Facts, Inputs, StepBuilder
    from biasbridge.train.engine.store import Step


_ALONE = ("{}",)


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

    Random weights are drawn by the run's seed.
    """

    model: Annotated[str, doc("a folder, org/name@COMMIT, or package:NAME")]
    random_weights: Annotated[bool, doc("true: the same configuration with random weights")] = False
    label: Annotated[str | None, doc("name of the model in the tables")] = None
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
        """Write the model's own files, or its weights as safetensors in float32."""
        random_seed = seed if self.random_weights else None
        language_model = open_model(self.model, random_seed=random_seed)
        save_model(language_model, None if self.random_weights else self._place, out)


class _WordList:
    """Base of choices with a list of words.

    ``queries``: words of these queries, built in or of the file ``words`` (default: all of that
    file). ``vocabulary``: a file of one word per line.
    """

    queries: tuple[str, ...]
    words: str | None
    vocabulary: str | None

    def __post_init__(self) -> None:
        if not (self.queries or self.words or self.vocabulary):
            raise InputError(
                "a model has no list of words; name queries, or give a file: words"
                " (queries) or vocabulary (one word per line)"
            )

    def listed(self) -> list[str]:
        """Return the distinct words, in the order of the queries and then of the file."""
        names = self.queries or (list(read_wordsets(self.words).queries) if self.words else [])
        query_words = [
            word
            for query in load_queries(names, self.words)
            for wordset in query.sets.values()
            for word in wordset.words
        ]
        lines = read_lines(self.vocabulary) if self.vocabulary else ()
        return list(
            dict.fromkeys([*query_words, *(line.strip() for line in lines if line.strip())])
        )


@choice
class WordsInTemplates(_WordList, Fileless):
    """Word vectors of a language model, averaged over ``templates`` with ``{}`` for the word.

    The template ``{}`` is the word alone. ``layer``, ``pooling``: see
    ``biasbridge.files.models.encoder.Encoder.vectors``.
    """

    queries: tuple[str, ...] = ()
    words: str | None = None
    vocabulary: str | None = None
    templates: tuple[str, ...] = _ALONE
    layer: int = -1
    pooling: WordPooling = "mean"

    name: ClassVar[str] = "words"
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("queries", "words", "vocabulary")

    def keyed(self) -> Mapping[str, object]:
        """Return the digest of the words, wherever they are listed."""
        return {"listed": digest_of(self.listed())}


@choice
class Transformer(_WordList):
    """Each word alone, or averaged over ``templates``: texts with ``{}`` for the word.

    The template ``{}`` is the word alone; `` {}`` is its form within a sentence for byte-level
    tokenizers (GPT-2, RoBERTa). Underscores in a word are spaces in its text.
    """

    model: Annotated[str, doc("a local folder with tokenizer and safetensors, or org/name@COMMIT")]
    queries: Annotated[
        tuple[str, ...], doc("queries whose words get vectors; none: all queries of the file words")
    ] = ()
    words: Annotated[str | None, doc("file of one's own queries, YAML or JSON")] = None
    vocabulary: Annotated[str | None, doc("further words, a file of one word a line")] = None
    layer: Annotated[int, doc("layer of the hidden states (0: embeddings, -1: the last)")] = -1
    pooling: Annotated[
        WordPooling,
        doc("tokens of the word, or its first or last one; cls, text: of the whole text"),
    ] = "mean"
    batch_size: Count = 32
    device: str = "cpu"
    label: Annotated[str | None, doc("name of the model in the tables")] = None
    templates: Annotated[
        tuple[str, ...], doc("texts with {} in the word's place, averaged; {mask}: the mask token")
    ] = _ALONE

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = (
        *("model", "queries", "words", "vocabulary"),
        *("device", "label"),
    )
    chosen_as: ClassVar[tuple[str, ...]] = ("embedding/transformers",)
    configuration: ClassVar[Mapping[str, object]] = {
        "queries": ["gender_authors", "weat6b", "weat7", "weat8"],
        "device": "${device}",
    }

    @property
    def name(self) -> str:
        """``label``, or the last part of ``model``."""
        return self.label or Path(without_commit(self.model)).name

    def files(self) -> list[Path]:
        """Return the files of a local model."""
        return find_model(self.model).files()

    def keyed(self) -> Mapping[str, object]:
        """Return the digest of the words, and the name and commit of a model on a hub."""
        place = find_model(self.model)
        model = {"model": "" if place.local else place.source, "revision": place.revision}
        return {**model, "listed": digest_of(self.listed())}

    def facts(self) -> Facts:
        """Return the columns contexts, layer and pooling."""
        contexts = "alone" if self.templates == _ALONE else " | ".join(self.templates)
        return {"contexts": contexts, "layer": self.layer, "pooling": self.pooling}

    def load(self) -> KeyedVectors:
        """Return the vectors.

        Raises ``InputError`` for a template without ``{}``, and for ``{mask}`` if the tokenizer has
        no mask token.
        """
        if not self.templates:
            raise InputError("templates is empty; give {} for words alone")
        contexts = template_contexts(self.listed(), self.templates)  # before the model is loaded
        encoder = Encoder(self.model, device=self.device)
        if any("{mask}" in template for template in self.templates):
            filled = [template.replace("{mask}", encoder.mask) for template in self.templates]
            contexts = template_contexts(self.listed(), filled)
        options = {"layer": self.layer, "batch_size": self.batch_size}
        return word_vectors(encoder, contexts, pooling=self.pooling, **options)


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
class LanguageModelSubject(ModifiedSubject, Fileless):
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
    part: ClassVar[str] = "model"
    loaded_kind: ClassVar[type] = LoadedModel
    gives: ClassVar[tuple[str, ...]] = ("model", "encoder", "vectors")
    unit: ClassVar[str] = "model"

    def __post_init__(self) -> None:
        if not self.modified:
            return
        acts_on, method = self.debias.acts_on, self.debias.name
        if acts_on not in ("states", "model", "text") or (acts_on == "text" and self.loaded):
            reason = "is loaded" if acts_on == "text" else "has no word vectors of its own"
            raise InputError(
                f"debias={method} acts on {acts_on}, and the language model {reason}. Choose a"
                " method on its states, such as debias=leace. A method on text needs a model that"
                " is trained, such as debias=balance model=tiny_bert"
            )
        if self.debias.roles:
            self._fit_words()

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
        defaults = (self.encoding.layer, "mean", _ALONE)
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
            model_steps = {"model": steps("model", self.model, _load_model)}
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
            inputs["base"] = steps("model", self.model.base, _load_model)
        return {"corpus": corpus, "model": steps("model", self.model, _train_model, inputs)}

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
        encoder = steps("encoder", self.encoding, _write_encoder, {"model": model, **plain_inputs})
        vectors = steps("vectors", self.vectors, _write_vectors, {"model": model})
        return {"encoder": encoder, "vectors": vectors}


def _train_model(model: TrainedModel, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``model/`` with the course of training and the planted bias.

    ``original``: the planted corpus before a method changed it; ``base``: the model trained on.
    """
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


def _load_model(model: LoadedModel, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``model/``: a copy, so that later changes of the folder change no result."""
    model.save(out / MODEL, seed=seed)


def _write_encoder(encoding: Encoding, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``encoding.json`` next to links to the model's files."""
    link_files(inputs["model"] / MODEL, out / MODEL)
    options = {"layer": encoding.layer, "pooling": encoding.pooling}
    (out / ENCODING).write_text(json.dumps(options), encoding="utf-8")


def _write_vectors(words: WordsInTemplates, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``vectors/`` of the words."""
    from biasbridge.files.vectors import save_mapped

    with one_thread():
        contexts = template_contexts(words.listed(), words.templates)
        encoder = Encoder(inputs["model"] / MODEL, device=step_device())
        vectors = word_vectors(encoder, contexts, layer=words.layer, pooling=words.pooling)
        save_mapped(vectors, out / "vectors")
