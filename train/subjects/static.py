"""Static word vectors, trained or loaded, and modified by a debiasing method."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasbridge.corpora.planting import PlantableCorpus, plant_corpus
from biasbridge.corpora.protocols import Corpus, LimitedCorpus, PlantedCorpus, SampledCorpus
from biasbridge.corpora.truths import write_truths
from biasbridge.corpora.tweets import UNKNOWN
from biasbridge.debias.base import Method, Words, method_family, method_label
from biasbridge.files import InputError, choice, read_lines
from biasbridge.files.choice import Fileless
from biasbridge.files.language import (
    UNDETERMINED,
    guess_language,
    language_of,
    require_one_language,
)
from biasbridge.train.subjects.embed import LoadedEmbedding, TrainedEmbedding

if TYPE_CHECKING:
    from biasbridge.intrinsic.wordsets import Query
    from biasbridge.train.engine.part import Facts, Inputs, StepBuilder
    from biasbridge.train.engine.store import Step

PLANTED = "planted.json"


@choice
class StaticVectors(Fileless):
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
            object.__setattr__(self, "words", self.words.in_language(self.language))
        self.words.require_roles(self.debias.roles)
        if self.modified:
            text = "embedding" if self.loaded else "corpus"
            name = self.embedding.name if self.loaded else self.corpus.name
            languages = {f"{text}={name}": self, f"words={self.words.name}": self.words}
            require_one_language(languages, "choose words of the text's language")
        if self.loaded and acts_on == "text" and self.modified:
            raise InputError(
                f"debias={method} changes the text before training; with embedding=pretrained use"
                " a method on vectors, such as debias=attract_repel"
            )

    @property
    def loaded(self) -> bool:
        """Whether the vectors are loaded, not trained."""
        return isinstance(self.embedding, LoadedEmbedding)

    @property
    def language(self) -> str:
        """Language of the corpus, or of loaded vectors."""
        return language_of(self.embedding if self.loaded else self.corpus)

    @property
    def modified(self) -> bool:
        """Whether a method changes anything."""
        return method_label(self.debias).dose != 0

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
            base = steps("vectors", self.embedding, load)
            return {"vectors": self._modify(steps, {"vectors": base}), "base": base}
        corpus = build_corpus(steps, self.corpus)
        base = steps("vectors", self.embedding, train, {"corpus": corpus})
        changed = self._modify(steps, {"text": corpus, "vectors": base})
        if self.modified and self.debias.acts_on == "text":
            changed = steps("vectors", self.embedding, train, {"corpus": changed})
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
        """Return words frequent enough in the first lines. Raises ``InputError`` if none."""
        assert isinstance(self.corpus, LimitedCorpus)
        counts: Counter[str] = Counter()
        with TemporaryDirectory() as folder:
            out = Path(folder) / "corpus.txt"
            replace(self.corpus, limit=lines).write(out, seed=0)  # type: ignore[type-var]
            for line in read_lines(out):
                counts.update(line.split())
        min_count = getattr(self.embedding, "min_count", 1)
        words = [word for word, count in counts.items() if count >= min_count]
        if not {*words} - {UNKNOWN}:
            names = " and ".join(map(str, self.corpus.files()))
            reason = f"no word of {names} occurs {self.corpus.min_count} times"
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


def train(embedding: TrainedEmbedding, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``vectors/``. Raises ``InputError`` if the training diverged."""
    from biasbridge.files.vectors import save_mapped

    vectors = embedding.train(inputs["corpus"] / "corpus.txt", seed=seed)
    if n_invalid := int((~np.isfinite(vectors.vectors).all(axis=1)).sum()):
        raise InputError(
            f"the training diverged: {n_invalid} of {len(vectors)} vectors are not finite; lower"
            " embedding.learning_rate"
        )
    save_mapped(vectors, out / "vectors")


def load(embedding: LoadedEmbedding, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``vectors/``, so that every later run maps the same memory."""
    from biasbridge.files.vectors import save_mapped

    save_mapped(embedding.load(), out / "vectors")
