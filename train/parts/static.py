"""Static word vectors: trained on a corpus or loaded, and changed by a debiasing method."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from corpora.kinds import Corpus, LimitedCorpus, PlantedCorpus, SampledCorpus
from corpora.truths import write_truths
from corpora.tweets import UNKNOWN
from debias.base import Method, Words, applied
from files import InputError, choice, read_lines
from files.choice import Fileless
from files.language import UNDETERMINED, guess_language, language_of, require_one_language
from train.embed import Loaded, Trained

if TYPE_CHECKING:
    from intrinsic.wordsets import Query
    from train.parts.part import Facts, Inputs, Stages
    from train.store import Stage

PLANTED = "planted.json"


@choice
class StaticVectors(Fileless):
    """A corpus, an embedding trained on it (or loaded from a file), and a method that changes the
    corpus before the training or the vectors after it, working on ``words``.

    At dose 0 the method is left out: the unmodified embedding is the dose 0 of every method.
    """

    corpus: Corpus
    embedding: Trained | Loaded
    debias: Method
    words: Words

    name: ClassVar[str] = "static"
    version: ClassVar[int] = 1
    gives: ClassVar[tuple[str, ...]] = ("vectors",)
    unit: ClassVar[str] = "vectors"

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
        return applied(self.debias).dose != 0

    def facts(self) -> Facts:
        """The columns corpus, embedding, method, direction, dose, wordset, generated, what is
        planted in the corpus and the embedding's own.
        """
        planted = {} if self.loaded else dict(self.corpus.planted())
        own: Callable[[], Facts] = getattr(self.embedding, "facts", dict)
        return {
            "corpus": "none" if self.loaded else self.corpus.name,
            "embedding": self.embedding.name,
            **applied(self.debias)._asdict(),
            "wordset": self.words.name,
            **planted,
            **own(),
            "generated": not self.loaded and self.corpus.generated,
        }

    def build_steps(self, steps: Stages) -> Mapping[str, Stage]:
        """``vectors``, the unmodified ``base`` and, where they are trained, the ``corpus``."""
        if isinstance(self.embedding, Loaded):
            base = steps("vectors", self.embedding, load)
            return {"vectors": self._modify(steps, {"vectors": base}), "base": base}
        corpus = steps("corpus", self.corpus, write_corpus)
        base = steps("vectors", self.embedding, train, {"corpus": corpus})
        changed = self._modify(steps, {"text": corpus, "vectors": base})
        if self.modified and self.debias.acts_on == "text":
            changed = steps("vectors", self.embedding, train, {"corpus": changed})
        return {"vectors": changed, "base": base, "corpus": corpus}

    def _modify(self, steps: Stages, given: Mapping[str, Stage]) -> Stage:
        """What the method makes of what is given; the vectors where nothing changes."""
        if not self.modified:
            return given["vectors"]
        words = self.words.build_steps(steps, given["vectors"])
        return self.debias.build_steps(steps, {**given, "words": words})

    @property
    def checked(self) -> tuple[Corpus, bool]:
        """What ``check`` looks at: a corpus is read once for all that is trained on it."""
        return self.corpus, self.loaded

    def check(self, queries: Sequence[Query]) -> None:
        """Raise ``InputError`` for texts of no stated language that look to be in another than the
        queries.
        """
        known = [query for query in queries if query.language != UNDETERMINED]
        corpus = self.corpus
        stated = language_of(corpus) != UNDETERMINED
        if self.loaded or stated or not known or not isinstance(corpus, SampledCorpus):
            return
        seen = guess_language(token for text in corpus.sample() for token in text.lower().split())
        if seen not in {UNDETERMINED, *(query.language for query in known)}:
            code = known[0].language
            looks = f"the texts of corpus={corpus.name} look to be in {seen!r}"
            asked = f"query {known[0].name!r} is in {code!r}"
            raise InputError(f"{looks}, and {asked}; give language={seen}, or {code} if not")

    def foresee_words(self, lines: int) -> list[str]:
        """The words that occur often enough in the first lines of the corpus. Raises ``InputError``
        where there are none.
        """
        assert isinstance(self.corpus, LimitedCorpus)
        counts: Counter[str] = Counter()
        with TemporaryDirectory() as folder:
            out = Path(folder) / "corpus.txt"
            replace(self.corpus, limit=lines).write(out, seed=0)  # type: ignore[type-var]
            for line in read_lines(out):
                counts.update(line.split())
        least = getattr(self.embedding, "min_count", 1)
        words = [word for word, count in counts.items() if count >= least]
        if not {*words} - {UNKNOWN}:
            names = " and ".join(map(str, self.corpus.files()))
            few = f"no word of {names} occurs {self.corpus.min_count} times"
            raise InputError(f"{few}: the corpus is too small to train on; give a larger one")
        return words


def write_corpus(corpus: Corpus, out: Path, inputs: Inputs, seed: int) -> None:
    """``corpus.txt``, one tokenised sentence a line, its counts in ``counts.json`` and, where it is
    known for each term, what is planted in ``planted.json``.
    """
    counts = corpus.write(out / "corpus.txt", seed=seed)
    if isinstance(corpus, PlantedCorpus):
        write_truths(corpus.truths(seed=seed), out / PLANTED)
    (out / "counts.json").write_text(json.dumps(counts, indent=1), encoding="utf-8")


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
