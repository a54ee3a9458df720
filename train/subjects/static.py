"""Static word vectors: skip-gram embeddings by gensim or loaded ones, modified by a debiasing
method; and reference models, biased and unbiased, on their common vocabulary.

The defaults of the embeddings are those of Goldfarb-Tarrant et al. (2021).
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from annotated_types import doc

from biasbridge.corpora.planting import PlantableCorpus, plant_corpus
from biasbridge.corpora.protocols import Corpus, LimitedCorpus, PlantedCorpus, SampledCorpus
from biasbridge.corpora.tokens import UNKNOWN
from biasbridge.corpora.truths import write_truths
from biasbridge.debias.base import Method, Words, method_family, method_label
from biasbridge.files import Choice, InputError, choice, read_lines
from biasbridge.files.choice import Count, Fileless, NotNegative, Positive, Whole
from biasbridge.files.language import (
    UNDETERMINED,
    guess_language,
    language_of,
    require_one_language,
)
from biasbridge.files.vector_files import find_registered, vector_files
from biasbridge.train.engine.steps import Subject

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from gensim.models import Word2Vec as GensimWord2Vec

    from biasbridge.intrinsic.words import Query
    from biasbridge.train.engine.steps import Facts, Inputs, StepBuilder
    from biasbridge.train.engine.store import Step


log = logging.getLogger(__name__)

PLANTED = "planted.json"


@runtime_checkable
class TrainedEmbedding(Choice, Protocol):
    """An embedding that is trained on a corpus."""

    def train(self, corpus: Path, *, seed: int) -> KeyedVectors:
        """Train on a file of one tokenised sentence per line; return the word vectors."""


@runtime_checkable
class LoadedEmbedding(Choice, Protocol):
    """An existing embedding."""

    def load(self) -> KeyedVectors:
        """Read and check the vectors."""


@choice
class Word2Vec(Fileless):
    """Skip-gram with negative sampling (Mikolov et al., 2013).

    ``sample``: threshold of frequent-word subsampling.
    """

    dim: Count = 300
    window: Count = 5
    min_count: Count = 5
    epochs: Annotated[Whole, doc("passes over the corpus; 0: random vectors")] = 5
    negative: Count = 5
    sample: NotNegative = 1e-3
    learning_rate: Positive = 0.025
    workers: Annotated[
        Count, doc("threads; 1: same vectors for the same seed; more: faster, not reproducible")
    ] = 1

    version: ClassVar[int] = 1
    name: ClassVar[str] = "word2vec"
    chosen_as: ClassVar[tuple[str, ...]] = ("embedding/word2vec",)
    configuration: ClassVar[Mapping[str, object]] = {
        "dim": "${size.dim}",
        "min_count": "${size.min_count}",
        "epochs": "${size.epochs}",
        "workers": "${size.workers}",
    }

    def facts(self) -> dict[str, object]:
        """Return the column ``training_steps``: 0 for random vectors."""
        return {} if self.epochs else {"training_steps": 0}

    def train(self, corpus: Path, *, seed: int) -> KeyedVectors:
        """Return vectors of the words that occur ``min_count`` times, most frequent first."""
        from gensim.models import Word2Vec as GensimWord2Vec  # slow to import

        return self._train(GensimWord2Vec, corpus, seed)

    def _train(
        self, model_class: Callable[..., GensimWord2Vec], corpus: Path, seed: int, **extra: int
    ) -> KeyedVectors:
        model = model_class(
            sg=1,
            vector_size=self.dim,
            window=self.window,
            min_count=self.min_count,
            epochs=self.epochs,
            negative=self.negative,
            sample=self.sample,
            alpha=self.learning_rate,
            workers=self.workers,
            seed=seed,
            **extra,
        )
        model.build_vocab(corpus_file=str(corpus))
        if not len(model.wv):
            raise InputError(
                f"no word of {corpus} occurs {self.min_count} times; lower embedding.min_count or"
                " give a larger corpus"
            )
        if self.epochs:
            words = model.corpus_total_words
            model.train(corpus_file=str(corpus), total_words=words, epochs=self.epochs)
        return _whole_words(model.wv)


@choice
class FastText(Word2Vec):
    """Skip-gram whose word vectors are averages over character n-grams (Bojanowski et al., 2017).

    Only vectors of whole words are kept, as in the study: words unseen in training are out of
    vocabulary. ``bucket`` hashed n-grams of ``min_n`` to ``max_n`` characters cost ``bucket * dim *
    4`` bytes during training.
    """

    min_n: Count = 3
    max_n: Count = 6
    bucket: Count = 2_000_000

    name: ClassVar[str] = "fasttext"
    chosen_as: ClassVar[tuple[str, ...]] = ("embedding/fasttext",)
    configuration: ClassVar[Mapping[str, object]] = {
        "dim": "${size.dim}",
        "min_count": "${size.min_count}",
        "epochs": "${size.epochs}",
        "workers": "${size.workers}",
        "bucket": "${size.bucket}",
    }

    def train(self, corpus: Path, *, seed: int) -> KeyedVectors:
        """Train as ``Word2Vec.train`` does."""
        from gensim.models import FastText as GensimFastText  # slow to import

        ngrams = {"min_n": self.min_n, "max_n": self.max_n, "bucket": self.bucket}
        return self._train(GensimFastText, corpus, seed, **ngrams)


def _whole_words(wv: KeyedVectors) -> KeyedVectors:
    """Return plain vectors of the words with their counts, without a copy of the matrix."""
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(wv.vector_size)
    vectors.vectors = wv.vectors
    vectors.index_to_key, vectors.key_to_index = wv.index_to_key, wv.key_to_index
    for word in wv.index_to_key:
        vectors.set_vecattr(word, "count", wv.get_vecattr(word, "count"))
    return vectors


@choice
class Pretrained:
    """Pretrained vectors, from a file of any format that ``biasbridge.files.vectors.read_vectors``
    reads or by their registered name.
    """

    path: str
    trusted: Annotated[
        bool,
        doc(
            "true opens gensim's native format, a pickle that can run code; only for files you made"
        ),
    ] = False
    language: Annotated[
        str,
        doc("an ISO 639 code such as es: words and queries in another language are then refused"),
    ] = UNDETERMINED

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("path", "trusted", "language")
    chosen_as: ClassVar[tuple[str, ...]] = ("embedding/pretrained",)
    configuration: ClassVar[Mapping[str, object]] = {"language": "${language}"}

    def __post_init__(self) -> None:
        """Raise ``InputError`` for registered vectors that are not in the data folder."""
        find_registered(self.path)

    @property
    def name(self) -> str:
        """The file's name, which is the embedding's name in the tables."""
        return Path(self.path).name

    def files(self) -> list[Path]:
        """Return the files whose bytes decide the result."""
        return vector_files(self.path)

    def load(self) -> KeyedVectors:
        """Read and check the vectors."""
        from biasbridge.files.vectors import read_vectors, reading_notes  # gensim is slow to import

        vectors = read_vectors(self.path, trusted=self.trusted)
        for note in reading_notes(vectors):
            log.warning(note)
        return vectors


class ModifiedSubject:
    """Base of subjects made by a method from ``part``, the field of what is trained or loaded."""

    corpus: Corpus
    debias: Method
    words: Words
    part: ClassVar[str]
    loaded_kind: ClassVar[type]

    @cached_property
    def loaded(self) -> bool:
        """Whether the part is loaded, not trained."""
        return isinstance(getattr(self, self.part), self.loaded_kind)

    @property
    def language(self) -> str:
        """Language of the corpus, or of a loaded part."""
        return language_of(getattr(self, self.part) if self.loaded else self.corpus)

    @property
    def modified(self) -> bool:
        """Whether a method changes anything."""
        return method_label(self.debias).dose != 0

    def _fit_words(self) -> None:
        """Take the words in the language of the text. Raises ``InputError``."""
        object.__setattr__(self, "words", self.words.in_language(self.language))
        self.words.require_roles(self.debias.roles)
        text = self.part if self.loaded else "corpus"
        languages = {
            f"{text}={getattr(self, text).name}": self,
            f"words={self.words.name}": self.words,
        }
        require_one_language(languages, "choose words of the text's language")


@choice
class StaticVectors(ModifiedSubject, Fileless):
    """An embedding, trained on a corpus or loaded, and a method that modifies corpus or vectors.

    The method works on ``words``. At dose 0 it is left out: the unmodified embedding is the dose 0
    of every method.
    """

    corpus: Corpus
    embedding: TrainedEmbedding | LoadedEmbedding
    debias: Method
    words: Words

    name: ClassVar[str] = "static"
    version: ClassVar[int] = 1
    part: ClassVar[str] = "embedding"
    loaded_kind: ClassVar[type] = LoadedEmbedding
    gives: ClassVar[tuple[str, ...]] = ("vectors",)
    unit: ClassVar[str] = "vectors"
    chosen_as: ClassVar[tuple[str, ...]] = ("subject/static",)
    configuration: ClassVar[Mapping[str, object]] = {
        "corpus": "${corpus}",
        "embedding": "${embedding}",
        "debias": "${debias}",
        "words": "${words}",
    }

    def __post_init__(self) -> None:
        acts_on, method = self.debias.acts_on, self.debias.name
        if acts_on not in ("none", "text", "vectors", "states"):
            raise InputError(
                f"debias={method} acts on the {acts_on}, and subject={self.name} has none; choose"
                " a method on text or vectors"
            )
        if self.modified:
            self._fit_words()
        else:
            self.words.require_roles(self.debias.roles)
        if self.loaded and acts_on == "text" and self.modified:
            raise InputError(
                f"debias={method} changes the text before training; with embedding=pretrained use"
                " a method on vectors, such as debias=attract_repel"
            )

    def facts(self) -> Facts:
        """Return corpus, embedding, condition, wordset, generated and further columns."""
        planted = {} if self.loaded else dict(self.corpus.parameters())
        embedding_facts: Callable[[], Facts] = getattr(self.embedding, "facts", dict)
        return {
            "corpus": "none" if self.loaded else self.corpus.name,
            "embedding": self.embedding.name,
            **method_label(self.debias)._asdict(),
            "method_family": method_family(self.debias),
            "wordset": self.words.name,
            **planted,
            **embedding_facts(),
            "generated": not self.loaded and self.corpus.generated,
        }

    def build_steps(self, steps: StepBuilder) -> Mapping[str, Step]:
        """Return ``vectors``, the unmodified ``base`` and, if trained, the ``corpus``."""
        if isinstance(self.embedding, LoadedEmbedding):
            base = steps("vectors", self.embedding, _load_embedding)
            return {"vectors": self._modify(steps, {"vectors": base}), "base": base}
        corpus = build_corpus(steps, self.corpus)
        base = steps("vectors", self.embedding, _train_embedding, {"corpus": corpus})
        changed = self._modify(steps, {"text": corpus, "vectors": base})
        if self.modified and self.debias.acts_on == "text":
            changed = steps("vectors", self.embedding, _train_embedding, {"corpus": changed})
        return {"vectors": changed, "base": base, "corpus": corpus}

    def _modify(self, steps: StepBuilder, inputs: Mapping[str, Step]) -> Step:
        """Return the method's result; the vectors themselves if nothing is modified."""
        if not self.modified:
            return inputs["vectors"]
        words = self.words.build_steps(steps, inputs["vectors"])
        return self.debias.build_steps(steps, {**inputs, "words": words})

    @property
    def checked(self) -> tuple[Corpus, bool]:
        """Identity of ``check``: a corpus is read once for all models trained on it."""
        return self.corpus, self.loaded

    def check(self, queries: Sequence[Query]) -> None:
        """Raise ``InputError`` if texts appear to be in another language than the queries."""
        queries_with_language = [query for query in queries if query.language != UNDETERMINED]
        corpus = self.corpus
        stated = language_of(corpus) != UNDETERMINED
        if (
            self.loaded
            or stated
            or not queries_with_language
            or not isinstance(corpus, SampledCorpus)
        ):
            return
        guess = guess_language(token for text in corpus.sample() for token in text.lower().split())
        if guess not in {UNDETERMINED, *(query.language for query in queries_with_language)}:
            code = queries_with_language[0].language
            texts = f"the texts of corpus={corpus.name} appear to be in {guess!r}"
            query = f"query {queries_with_language[0].name!r} is in {code!r}"
            raise InputError(f"{texts}, and {query}; give language={guess}, or {code} if not")

    def predict_vocabulary(self, lines: int) -> list[str]:
        """Return words frequent enough in the first lines, of a synthetic corpus in all."""
        corpus: Corpus = self.corpus
        if isinstance(corpus, LimitedCorpus):
            corpus = replace(corpus, limit=lines)  # type: ignore[type-var]
        counts: Counter[str] = Counter()
        with TemporaryDirectory() as folder:
            out = Path(folder) / "corpus.txt"
            corpus.write(out, seed=0)
            for line in read_lines(out):
                counts.update(line.split())
        min_count = getattr(self.embedding, "min_count", 1)
        words = [word for word, count in counts.items() if count >= min_count]
        if not {*words} - {UNKNOWN}:
            names = " and ".join(map(str, corpus.files()))
            reason = f"no word of {names} occurs {getattr(corpus, 'min_count', 1)} times"
            raise InputError(f"{reason}: the corpus is too small to train on; give a larger one")
        return words


def build_corpus(steps: StepBuilder, corpus: Corpus) -> Step:
    """Return the corpus, with the stereotype that is planted in it if it is real text."""
    text = steps("corpus", corpus, write_corpus)
    planting = corpus.planting if isinstance(corpus, PlantableCorpus) else None
    return steps("planted", planting, plant_corpus, {"corpus": text}) if planting else text


def write_corpus(corpus: Corpus, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``corpus.txt``, ``counts.json`` and, for planted terms, ``planted.json``."""
    counts = corpus.write(out / "corpus.txt", seed=seed)
    if isinstance(corpus, PlantedCorpus):
        write_truths(corpus.truths(seed=seed), out / PLANTED)
    (out / "counts.json").write_text(json.dumps(counts, indent=1), encoding="utf-8")


def _train_embedding(embedding: TrainedEmbedding, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``vectors/``. Raises ``InputError`` if the training diverged."""
    from biasbridge.files.vectors import save_mapped

    vectors = embedding.train(inputs["corpus"] / "corpus.txt", seed=seed)
    if n_invalid := int((~np.isfinite(vectors.vectors).all(axis=1)).sum()):
        raise InputError(
            f"the training diverged: {n_invalid} of {len(vectors)} vectors are not finite; lower"
            " embedding.learning_rate"
        )
    save_mapped(vectors, out / "vectors")


def _load_embedding(embedding: LoadedEmbedding, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``vectors/``, so that every later run maps the same memory."""
    from biasbridge.files.vectors import save_mapped

    save_mapped(embedding.load(), out / "vectors")


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
        """Return common ``vectors``, full ``biased`` and ``unbiased`` ones, and other steps."""
        models = {
            "biased": self.biased.build_steps(steps),
            "unbiased": self.unbiased.build_steps(steps),
        }
        full_vectors = {name: model_steps["vectors"] for name, model_steps in models.items()}
        opposite = "unbiased" if self.which == "biased" else "biased"
        inputs = {"vectors": full_vectors[self.which], "other": full_vectors[opposite]}
        shared = steps("shared", Shared(), _keep_shared, inputs)
        return {**models[self.which], **full_vectors, "vectors": shared}


@choice
class Shared(Fileless):
    """Common vocabulary of two models."""

    name: ClassVar[str] = "shared"
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False


def _keep_shared(shared: Shared, out: Path, inputs: Inputs, seed: int) -> None:
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
