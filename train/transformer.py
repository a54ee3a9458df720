"""Word vectors from a Hugging Face model: of words alone, in templates, or in corpus sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from files import InputError, choice
from files.choice import Count, Fileless
from files.digest import digest_of
from files.models.encoder import Context, Encoder, WordPooling
from files.models.place import find_model
from intrinsic.wordsets import load_queries, read_wordsets
from train.word_states import in_lines, in_templates, word_vectors

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from train.parts.part import Facts

ALONE = ("{}",)


class _Listed:
    """Base of choices that name words: those of ``queries`` (built in, or of the file ``words``;
    none: all of that file) and of ``vocabulary``, a file of one word a line.
    """

    queries: tuple[str, ...]
    words: str | None
    vocabulary: str | None

    def __post_init__(self) -> None:
        if not (self.queries or self.words or self.vocabulary):
            raise InputError(
                "a model has no vocabulary of words; name queries, or give a file: words"
                " (queries), vocabulary (a word a line)"
            )

    def listed(self) -> list[str]:
        """The words asked for, each once, in the order of the queries and then of the file."""
        from files.text import read_lines

        names = self.queries or (list(read_wordsets(self.words).queries) if self.words else [])
        found = [
            word
            for query in load_queries(names, self.words)
            for wordset in query.sets.values()
            for word in wordset.words
        ]
        lines = read_lines(self.vocabulary) if self.vocabulary else ()
        return list(dict.fromkeys([*found, *(line.strip() for line in lines if line.strip())]))


@choice
class WordsInTemplates(_Listed, Fileless):
    """The vectors of words that a language model gives: every word averaged over ``templates``, a
    text with ``{}`` in its place; the template ``{}`` is the word alone. ``layer``, ``pooling``:
    see ``files.models.encoder.Encoder.vectors``.
    """

    queries: tuple[str, ...] = ()
    words: str | None = None
    vocabulary: str | None = None
    templates: tuple[str, ...] = ALONE
    layer: int = -1
    pooling: WordPooling = "mean"

    name: ClassVar[str] = "words"
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("queries", "words", "vocabulary")

    def keyed(self) -> Mapping[str, object]:
        """The words, wherever they are listed."""
        return {"listed": digest_of(self.listed())}

    def vectors_by(self, model: Path) -> KeyedVectors:
        """The vectors by the model of a folder. Raises ``InputError`` where it knows no word."""
        contexts = in_templates(self.listed(), self.templates)
        encoder = Encoder(model)
        return word_vectors(encoder, contexts, layer=self.layer, pooling=self.pooling)


@choice
class _Transformer(_Listed):
    """What both ways share: a model, the words, and which hidden states are the word's.

    ``model`` is a local folder, whose bytes are keyed, or a hub name with its ``revision``, a
    commit. Underscores in a word are spaces in its text. ``layer``, ``pooling``: see
    ``files.models.encoder.Encoder.vectors``. ``label`` stands for the model in the tables.
    """

    model: str
    revision: str | None = None
    queries: tuple[str, ...] = ()
    words: str | None = None
    vocabulary: str | None = None
    layer: int = -1
    pooling: WordPooling = "mean"
    batch_size: Count = 32
    device: str = "cpu"
    label: str | None = None

    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = (
        *("model", "queries", "words", "vocabulary"),
        *("device", "label"),
    )

    @property
    def name(self) -> str:
        """``label``, or the last part of ``model``."""
        return self.label or Path(self.model).name

    def files(self) -> list[Path]:
        """The files of a local model. Raises ``InputError`` for a path that leads to no model, and
        for a hub name without a commit.
        """
        return find_model(self.model, self.revision).files()

    def keyed(self) -> Mapping[str, object]:
        """The words, wherever they are listed, and the name of a model on a hub."""
        place = find_model(self.model, self.revision)
        model = "" if place.local else self.model
        return {"model": model, "listed": digest_of(self.listed())}

    def _vectors(self, encoder: Encoder, contexts: Mapping[str, Sequence[Context]]) -> KeyedVectors:
        how = {"layer": self.layer, "batch_size": self.batch_size}
        return word_vectors(encoder, contexts, pooling=self.pooling, **how)

    def _facts(self, contexts: str) -> Facts:
        return {"contexts": contexts, "layer": self.layer, "pooling": self.pooling}


@choice
class Transformer(_Transformer):
    """Every word alone, or averaged over ``templates``: a text with ``{}`` in the word's place.

    The template ``{}`` is the word alone; `` {}`` the same as a byte-level tokenizer (GPT-2,
    RoBERTa) knows it within a sentence. ``{mask}`` stands for the model's mask token.
    """

    templates: tuple[str, ...] = ALONE

    seeded: ClassVar[bool] = False

    def facts(self) -> Facts:
        """The columns contexts, layer and pooling."""
        return self._facts("alone" if self.templates == ALONE else " | ".join(self.templates))

    def load(self) -> KeyedVectors:
        """The vectors. Raises ``InputError`` for a template without ``{}``, and for ``{mask}``
        where the tokenizer has no mask token.
        """
        if not self.templates:
            raise InputError("templates is empty; give {} for words alone")
        contexts = in_templates(self.listed(), self.templates)  # before the model is loaded
        encoder = Encoder(self.model, self.revision, device=self.device)
        if any("{mask}" in template for template in self.templates):
            filled = [template.replace("{mask}", encoder.mask) for template in self.templates]
            contexts = in_templates(self.listed(), filled)
        return self._vectors(encoder, contexts)


@choice
class TransformerInCorpus(_Transformer):
    """Every word averaged over up to ``sentences`` lines of the corpus in which it stands, drawn at
    random. Words are looked for as they are written: a corpus in lower case has no ``John``.
    """

    sentences: Count = 20

    def facts(self) -> Facts:
        """The columns contexts, layer and pooling."""
        return self._facts(f"{self.sentences} sentences")

    def train(self, corpus: Path, *, seed: int) -> KeyedVectors:
        """The vectors of the words that stand in a file of one tokenised sentence a line."""
        from files.text import read_lines

        contexts = in_lines(self.listed(), read_lines(corpus), self.sentences, seed=seed)
        encoder = Encoder(self.model, self.revision, device=self.device)
        return self._vectors(encoder, contexts)
