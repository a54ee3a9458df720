"""Skip-gram embeddings by gensim; the defaults are those of Goldfarb-Tarrant et al. (2021)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Protocol, runtime_checkable

from annotated_types import doc

from biasbridge.files import Choice, InputError, choice
from biasbridge.files.choice import Count, Fileless, NotNegative, Positive, Whole
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.vector_files import find_registered, vector_files

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from gensim.models import Word2Vec as GensimWord2Vec

log = logging.getLogger(__name__)


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

    ``workers=1`` gives the same vectors for the same seed on the same machine; more workers train
    faster and are not reproducible. ``sample``: threshold of frequent-word subsampling.
    ``epochs=0`` gives random vectors, as before training.
    """

    dim: Count = 300
    window: Count = 5
    min_count: Count = 5
    epochs: Annotated[Whole, doc("0: random vectors")] = 5
    negative: Count = 5
    sample: NotNegative = 1e-3
    learning_rate: Positive = 0.025
    workers: Annotated[
        Count, doc("1: the same vectors for the same seed; more: faster, not reproducible")
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
        """Return vectors of the words that occur ``min_count`` times, most frequent first.

        ``corpus``: a file of one tokenised sentence per line.
        """
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
    """Return plain vectors of the words with their counts."""
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(wv.vector_size)
    vectors.add_vectors(wv.index_to_key, wv.vectors)
    for word in wv.index_to_key:
        vectors.set_vecattr(word, "count", wv.get_vecattr(word, "count"))
    return vectors


@choice
class Pretrained:
    """Pretrained vectors, from a file of any format that ``biasbridge.files.vectors.read_vectors``
    reads or by their registered name.

    ``trusted`` allows gensim's native format, a pickle that can run code. ``language``: of the
    words (see ``biasbridge.files.language``).
    """

    path: str
    trusted: Annotated[
        bool, doc("true allows gensim's native format, a pickle: only for files you made")
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
