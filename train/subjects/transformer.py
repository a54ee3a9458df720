"""Word vectors of a Hugging Face model: for words alone or in templates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import doc

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, Fileless
from biasbridge.files.digest import digest_of
from biasbridge.files.hub import without_commit
from biasbridge.files.models.encoder import Encoder, WordPooling
from biasbridge.files.models.place import find_model
from biasbridge.intrinsic.wordsets import load_queries, read_wordsets
from biasbridge.train.engine.device import step_device
from biasbridge.train.subjects.word_states import template_contexts, word_vectors

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.train.engine.part import Facts

ALONE = ("{}",)


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
        from biasbridge.files.text import read_lines

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
    templates: tuple[str, ...] = ALONE
    layer: int = -1
    pooling: WordPooling = "mean"

    name: ClassVar[str] = "words"
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("queries", "words", "vocabulary")

    def keyed(self) -> Mapping[str, object]:
        """Return the digest of the words, wherever they are listed."""
        return {"listed": digest_of(self.listed())}

    def vectors_by(self, model: Path) -> KeyedVectors:
        """Return vectors by a model's folder. Raises ``InputError`` if it knows no word."""
        contexts = template_contexts(self.listed(), self.templates)
        encoder = Encoder(model, device=step_device())
        return word_vectors(encoder, contexts, layer=self.layer, pooling=self.pooling)


@choice
class Transformer(_WordList):
    """Each word alone, or averaged over ``templates``: texts with ``{}`` for the word.

    The template ``{}`` is the word alone; `` {}`` is its form within a sentence for byte-level
    tokenizers (GPT-2, RoBERTa). ``{mask}`` stands for the model's mask token. Underscores in a word
    are spaces in its text. ``model``: a local folder, keyed by its bytes, or
    ``org/name@COMMIT`` on a hub. ``layer``, ``pooling``: see
    ``biasbridge.files.models.encoder.Encoder.vectors``. ``label``: name in the tables.
    """

    model: Annotated[str, doc("a local folder with tokenizer and safetensors, or org/name@COMMIT")]
    queries: Annotated[
        tuple[str, ...], doc("whose words have vectors; of the file words all where there are none")
    ] = ()
    words: Annotated[str | None, doc("file of one's own queries, YAML or JSON")] = None
    vocabulary: Annotated[str | None, doc("further words, a file of one word a line")] = None
    layer: Annotated[int, doc("of the hidden states: 0 embeddings, -1 the last")] = -1
    pooling: Annotated[
        WordPooling,
        doc("of the word's tokens; first or last of them; cls, text: of the whole text"),
    ] = "mean"
    batch_size: Count = 32
    device: str = "cpu"
    label: Annotated[str | None, doc("stands for the model in the tables")] = None
    templates: Annotated[
        tuple[str, ...], doc("texts with {} in the word's place, averaged; {mask}: the mask token")
    ] = ALONE

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
        """Return the files of a local model.

        Raises ``InputError`` for a path without a model and a hub name without a commit.
        """
        return find_model(self.model).files()

    def keyed(self) -> Mapping[str, object]:
        """Return the digest of the words, and the name and commit of a model on a hub."""
        place = find_model(self.model)
        model = {"model": "" if place.local else place.source, "revision": place.revision}
        return {**model, "listed": digest_of(self.listed())}

    def facts(self) -> Facts:
        """Return the columns contexts, layer and pooling."""
        contexts = "alone" if self.templates == ALONE else " | ".join(self.templates)
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
