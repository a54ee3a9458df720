"""The choice of the words that a debiasing method works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from biasbridge.debias.base import WORDS, Inputs, S, StepBuilder
from biasbridge.debias.expand import expand
from biasbridge.debias.roles import require_roles
from biasbridge.files import InputError, choice, read_lines
from biasbridge.files.choice import FieldError, Whole
from biasbridge.files.digest import digest_of
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.vector_files import find_registered, vector_files
from biasbridge.intrinsic.wordsets import (
    Query,
    load_query,
    read_query,
    read_wordsets,
    require_queries,
    write_query,
)

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


@choice
class WordChoice:
    """Words of a query.

    query: name of a built-in query, or of a query in ``file``, a user's word file (see
    ``biasbridge.intrinsic.wordsets.read_wordsets``); None: the only query of ``file``. swap:
    exchange targets and attributes (``biasbridge.debias.balance`` says what that changes).
    lowercase: for text and vectors in lower case. expand: number of nearest neighbours to add to
    each role, see ``biasbridge.debias.expand``. neighbours: file of vectors to search for them;
    None: the given vectors, in a run the unmodified ones. trusted: that file may be in gensim's own
    format, a pickle, which can run code. stop: file of words that expansion excludes, one a line.

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

    version: ClassVar[int] = 3
    seeded: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("file", "neighbours", "stop", "trusted")

    def __post_init__(self) -> None:
        self.seed_words()
        if self.neighbours and not self.expand:
            raise FieldError(
                f"neighbours={self.neighbours!r} has no effect without expand; give expand too, for"
                " example expand=100"
            )
        if self.stop and not self.expand:
            raise FieldError(f"stop={self.stop!r} has no effect without expand; give expand too")
        if self.neighbours:
            find_registered(self.neighbours)

    @property
    def name(self) -> str:
        """``weat7``, or with its file ``mine.weat7``, then ``_swapped``; ``+100`` if so many
        neighbours were added, ``+100@FILE`` if those of a file.
        """
        file = Path(self.file).stem if self.file else None
        base = ".".join(part for part in (file, self.query) if part) + "_swapped" * self.swap
        source = f"@{Path(self.neighbours).name}" if self.neighbours else ""
        return f"{base}+{self.expand}{source}" if self.expand else base

    @property
    def language(self) -> str:
        """Language of the query."""
        return self.seed_words().language

    def in_language(self, language: str) -> WordChoice:
        """Return the counterpart of a built-in query in a language.

        Raises ``InputError`` with the language's queries if there is no counterpart.
        """
        if self.file or not self.query or UNDETERMINED in (language, self.language):
            return self
        return replace(self, query=require_queries([self.query], language)[0])

    def require_roles(self, roles: Sequence[str]) -> None:
        """Raise ``InputError`` if the query lacks roles, and name them."""
        require_roles(self.seed_words(), roles)

    @property
    def needs_vectors(self) -> bool:
        """True if ``words`` needs the ``vectors`` argument."""
        return bool(self.expand) and not self.neighbours

    def build_steps(self, steps: StepBuilder[S], vectors: S) -> S:
        """Return the step that writes ``words.yaml``; neighbours are those in ``vectors`` or of
        the file ``neighbours``.
        """
        inputs = {"vectors": vectors} if self.needs_vectors else {}
        return steps("words", self, write_words, inputs)

    def files(self) -> list[Path]:
        """Return the word file and its lists, the file of neighbours, and the stop words."""
        word_files = [Path(self.file), *read_wordsets(self.file).files] if self.file else []
        neighbours = vector_files(self.neighbours) if self.neighbours else []
        return [*word_files, *neighbours, *([Path(self.stop)] if self.stop and self.expand else [])]

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the words before expansion, whatever file lists them."""
        return {"words": digest_of(asdict(self.seed_words()))}

    def seed_words(self) -> Query:
        """Load the query before expansion."""
        if self.file:
            query = read_query(self.file, self.query)
        elif self.query:
            query = load_query(self.query)
        else:
            raise FieldError("query=None without a file; name a built-in query, or give a file")
        query = query.swapped() if self.swap else query
        return query.lowered() if self.lowercase else query

    def words(self, vectors: KeyedVectors | None = None) -> Query:
        """Load the query and expand it, in ``vectors`` if ``needs_vectors``."""
        query = self.seed_words()
        if not self.expand:
            return query
        if self.neighbours:
            from biasbridge.files.vectors import read_vectors  # loads gensim

            vectors = read_vectors(self.neighbours, trusted=self.trusted)
        if vectors is None:
            raise InputError(f"expand={self.expand}: give the vectors whose neighbours are added")
        stop = [line.strip() for line in read_lines(self.stop)] if self.stop else []
        return expand(query, vectors, k=self.expand, stop=stop, lowercase=self.lowercase)


def write_words(words: WordChoice, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``words.yaml``, the query that a method works on."""
    from biasbridge.files.vectors import open_mapped  # loads gensim

    vectors = open_mapped(inputs["vectors"] / "vectors") if "vectors" in inputs else None
    write_query(words.words(vectors), out / WORDS)
