"""Which words a debiasing method works on, as a choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from debias.base import WORDS, Inputs, S, Steps
from debias.expand import expand
from debias.roles import require_roles
from files import InputError, choice, read_lines
from files.choice import FieldError, Whole
from files.digest import digest_of
from files.language import UNDETERMINED
from files.vector_files import vector_files
from intrinsic.wordsets import (
    Query,
    in_language,
    load_query,
    read_query,
    read_wordsets,
    write_query,
)

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


@choice
class WordChoice:
    """The words of a query.

    query: the name of a built-in query, or of one in ``file``, a word file of one's own (see
    ``intrinsic.wordsets.read_wordsets``), which needs no name if it holds one query. swap: targets
    and attributes change places (``debias.balance`` says what that changes). lowercase: for text
    and vectors in lower case. expand: so many nearest neighbours are added to each role, see
    ``debias.expand``; 0: none. neighbours: the file of vectors in which they are sought; none: the
    vectors given, in a run the unmodified ones; ``trusted``: that file may be in gensim's own
    format, a pickle, which can run code. stop: a file of words that expansion leaves out,
    one a line.

    Raises ``InputError`` for an unknown query, for a word file that cannot be read, and for
    ``neighbours`` without ``expand``.
    """

    query: str | None = "gender_union"
    file: str | None = None
    swap: bool = False
    lowercase: bool = False
    expand: Whole = 0
    neighbours: str | None = None
    stop: str | None = None
    trusted: bool = False

    version: ClassVar[int] = 2
    seeded: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("file", "neighbours", "stop", "trusted")

    def __post_init__(self) -> None:
        self.seed_words()
        if self.neighbours and not self.expand:
            raise FieldError(
                f"neighbours={self.neighbours!r}: nothing is sought there; give expand too, for"
                " example expand=100"
            )

    @property
    def name(self) -> str:
        """The query, after the name of its file: ``weat7``, ``mine.weat7``; ``_swapped`` if so;
        ``+100`` where so many neighbours were added, ``+100@FILE`` where those of a file.
        """
        file = Path(self.file).stem if self.file else None
        base = ".".join(part for part in (file, self.query) if part) + "_swapped" * self.swap
        source = f"@{Path(self.neighbours).name}" if self.neighbours else ""
        return f"{base}+{self.expand}{source}" if self.expand else base

    @property
    def language(self) -> str:
        """That of the query."""
        return self.seed_words().language

    def in_language(self, language: str) -> WordChoice:
        """The same words in a language: of a built-in query its counterpart there.

        Raises ``InputError`` with what the language has, where it has none.
        """
        if self.file or not self.query or UNDETERMINED in (language, self.language):
            return self
        return replace(self, query=in_language([self.query], language)[0])

    def require_roles(self, roles: Sequence[str]) -> None:
        """Raise ``InputError`` naming the roles that the query lacks."""
        require_roles(self.seed_words(), roles)

    @property
    def asks_vectors(self) -> bool:
        """Whether ``words`` needs vectors to be given."""
        return bool(self.expand) and not self.neighbours

    def build_steps(self, steps: Steps[S], vectors: S) -> S:
        """``words.yaml``; neighbours are sought in ``vectors`` unless a file of them is named."""
        searched = {"vectors": vectors} if self.asks_vectors else {}
        return steps("words", self, write_words, searched)

    def files(self) -> list[Path]:
        """The word file, the lists it names, the vectors searched, and the stop words."""
        of_words = [Path(self.file), *read_wordsets(self.file).files] if self.file else []
        searched = vector_files(self.neighbours) if self.neighbours else []
        return [*of_words, *searched, *([Path(self.stop)] if self.stop and self.expand else [])]

    def keyed(self) -> Mapping[str, object]:
        """The words before expansion, wherever they are listed."""
        return {"words": digest_of(asdict(self.seed_words()))}

    def seed_words(self) -> Query:
        """The query before expansion."""
        if self.file:
            query = read_query(self.file, self.query)
        elif self.query:
            query = load_query(self.query)
        else:
            raise FieldError("query=None without a file; name a built-in query, or give a file")
        query = query.swapped() if self.swap else query
        return query.lowered() if self.lowercase else query

    def words(self, vectors: KeyedVectors | None = None) -> Query:
        """The query, expanded; in ``vectors``, where ``asks_vectors``."""
        query = self.seed_words()
        if not self.expand:
            return query
        if self.neighbours:
            from files.vectors import read_vectors  # loads gensim

            vectors = read_vectors(self.neighbours, trusted=self.trusted)
        if vectors is None:
            raise InputError(f"expand={self.expand}: give the vectors whose neighbours are added")
        stop = [line.strip() for line in read_lines(self.stop)] if self.stop else []
        return expand(query, vectors, k=self.expand, stop=stop, lowercase=self.lowercase)


def write_words(words: WordChoice, out: Path, inputs: Inputs, seed: int) -> None:
    """``words.yaml``, the query that a method works on."""
    from files.vectors import open_mapped  # loads gensim

    vectors = open_mapped(inputs["vectors"] / "vectors") if "vectors" in inputs else None
    write_query(words.words(vectors), out / WORDS)
