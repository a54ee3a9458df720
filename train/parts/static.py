"""Static word vectors: trained on a corpus or loaded, and changed by a debiasing method."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from corpora.kinds import Corpus
from debias.kinds import Method, TextMethod, VectorsMethod, direction_of, dose_of
from debias.roles import require_roles
from debias.word_choice import WordChoice
from files import InputError, choice
from files.choice import Fileless
from files.language import language_of, require_one_language
from intrinsic.wordsets import read_query
from train.embed import Described, Loaded, Trained
from train.parts.part import Facts, Inputs, Stages, write_json
from train.parts.task_words import WORDS, TaskWords

if TYPE_CHECKING:
    from train.store import Stage


@choice
class StaticVectors(Fileless):
    """A corpus, an embedding trained on it (or loaded from a file), and a method that changes the
    corpus before the training or the vectors after it, working on ``words``.

    At dose 0 the method is left out: the unmodified embedding is the dose 0 of every method.
    """

    corpus: Corpus
    embedding: Trained | Loaded
    debias: Method
    words: WordChoice | TaskWords

    name: ClassVar[str] = "static"
    version: ClassVar[int] = 1
    gives: ClassVar[tuple[str, ...]] = ("vectors",)

    def __post_init__(self) -> None:
        acts_on, method = self.debias.acts_on, self.debias.name
        if acts_on not in ("none", "text", "vectors"):
            raise InputError(
                f"debias={method} acts on the {acts_on}, and subject={self.name} has none; choose"
                " a method on text or vectors"
            )
        if isinstance(self.words, WordChoice):
            if self.modified:
                object.__setattr__(self, "words", self.words.in_language(self.language))
            require_roles(self.words.seed_words(), self.debias.roles)
        if self.modified:
            text = "embedding" if self.loaded else "corpus"
            name = self.embedding.name if self.loaded else self.corpus.name
            used = {f"{text}={name}": self, f"words={self.words.name}": self.words}
            require_one_language(used, "choose words of the text's language")
        if self.loaded and acts_on == "text" and self.modified:
            raise InputError(
                f"debias={method} changes the text before training; with embedding=pretrained use"
                " a method on vectors, such as debias=attract_repel"
            )

    @property
    def loaded(self) -> bool:
        """Whether the vectors are loaded and not trained."""
        return isinstance(self.embedding, Loaded)

    @property
    def language(self) -> str:
        """That of the corpus, or of the vectors where they are loaded."""
        return language_of(self.embedding if self.loaded else self.corpus)

    @property
    def modified(self) -> bool:
        """Whether a method changes anything."""
        return self.debias.acts_on != "none" and dose_of(self.debias) > 0

    def facts(self) -> Facts:
        """The columns corpus, embedding, method, direction, dose, wordset, generated, what is
        planted in the corpus and what the embedding tells of itself.
        """
        planted = {} if self.loaded else dict(self.corpus.planted())
        return {
            "corpus": "none" if self.loaded else self.corpus.name,
            "embedding": self.embedding.name,
            "method": self.debias.name if self.modified else "none",
            "direction": direction_of(self.debias) if self.modified else "",
            "dose": dose_of(self.debias) if self.modified else 0.0,
            "wordset": self.words.name,
            **planted,
            **(self.embedding.facts() if isinstance(self.embedding, Described) else {}),
            "generated": not self.loaded and self.corpus.generated,
        }

    def lay(self, stages: Stages) -> Mapping[str, Stage]:
        """``vectors``, the unmodified ``base`` and, where they are trained, the ``corpus``."""
        if isinstance(self.embedding, Loaded):
            base = stages("vectors", self.embedding, load)
            shared = {"base": base}
        else:
            corpus = stages("corpus", self.corpus, write_corpus)
            base = stages("vectors", self.embedding, train, {"corpus": corpus})
            shared = {"base": base, "corpus": corpus}
        if not self.modified:
            return {"vectors": base, **shared}
        words = self._lay_words(stages, base)
        if self.debias.acts_on == "vectors":
            method = cast("VectorsMethod", self.debias)
            modified = stages("modified", method, modify, {"vectors": base, "words": words})
            return {"vectors": modified, **shared}
        on_text, embedding = cast("TextMethod", self.debias), cast("Trained", self.embedding)
        read = {"corpus": shared["corpus"], "words": words}
        balanced = stages("balanced", on_text, balance, read)
        return {"vectors": stages("vectors", embedding, train, {"corpus": balanced}), **shared}

    def _lay_words(self, stages: Stages, base: Stage) -> Stage:
        if isinstance(self.words, TaskWords):
            return self.words.lay(stages)
        searched = {"vectors": base} if self.words.asks_vectors else {}
        return stages("words", self.words, write_words, searched)


def write_corpus(corpus: Corpus, out: Path, inputs: Inputs, seed: int) -> None:
    """``corpus.txt``, one tokenised sentence a line, and its counts."""
    write_json(out / "counts.json", corpus.write(out / "corpus.txt", seed=seed))


def train(embedding: Trained, out: Path, inputs: Inputs, seed: int) -> None:
    """``vectors/``. Raises ``InputError`` where the training diverged."""
    from files.vectors import save_mapped

    trained = embedding.train(inputs["corpus"] / "corpus.txt", seed=seed)
    if lost := int((~np.isfinite(trained.vectors).all(axis=1)).sum()):
        raise InputError(
            f"the training diverged: {lost} of {len(trained)} vectors are not finite; lower"
            " embedding.learning_rate"
        )
    save_mapped(trained, out / "vectors")


def load(embedding: Loaded, out: Path, inputs: Inputs, seed: int) -> None:
    """``vectors/``, converted once from a file so that every later run maps the same memory."""
    from files.vectors import save_mapped

    save_mapped(embedding.load(), out / "vectors")


def write_words(words: WordChoice, out: Path, inputs: Inputs, seed: int) -> None:
    """``words.yaml``, the query that a method works on; its neighbours come from the unmodified
    vectors of the same run unless a file of vectors is named.
    """
    from files.vectors import open_mapped

    vectors = open_mapped(inputs["vectors"] / "vectors") if "vectors" in inputs else None
    words.write(out / WORDS, vectors)


def balance(method: TextMethod, out: Path, inputs: Inputs, seed: int) -> None:
    """``corpus.txt`` with lines removed, and the counts behind it."""
    corpus, query = inputs["corpus"] / "corpus.txt", read_query(inputs["words"] / WORDS)
    counts = method.balance(corpus, out / "corpus.txt", query, seed=seed)
    write_json(out / "counts.json", counts)


def modify(method: VectorsMethod, out: Path, inputs: Inputs, seed: int) -> None:
    """``vectors/``, debiased or overbiased."""
    from files.vectors import open_mapped, save_mapped

    vectors, query = open_mapped(inputs["vectors"] / "vectors"), read_query(inputs["words"] / WORDS)
    save_mapped(method.modify(vectors, query, seed=seed), out / "vectors")
