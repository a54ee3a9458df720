"""Words that a debiasing method works on: their roles, expansion, and the choice of a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasbridge.debias.base import WORDS, Inputs, S, StepBuilder
from biasbridge.files import InputError, choice, read_lines
from biasbridge.files.choice import FieldError, Whole
from biasbridge.files.language import UNDETERMINED, normalise_text
from biasbridge.files.paths import digest_of
from biasbridge.files.vector_files import find_registered, vector_files
from biasbridge.intrinsic.words import (
    Query,
    load_query,
    read_query,
    read_wordsets,
    require_queries,
    write_query,
)

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.stats.arrays import Singles

# Pro-stereotypical: (X, A) and (Y, B); anti-stereotypical: (X, B) and (Y, A).
TARGETS_AND_ATTRIBUTES = ("X", "Y", "A", "B")
_COMPARED_ROWS = 8192  # vocabulary rows compared at a time

_prepared_queries: dict[tuple[str, bool, bool], tuple[Query, Query]] = {}


@choice
class WordChoice:
    """Words of a query.

    query: name of a built-in query, or of a query in ``file``, a user's word file (see
    ``biasbridge.intrinsic.words.read_wordsets``); None: the only query of ``file``. swap:
    exchange targets and attributes (``biasbridge.debias.text`` says what that changes).
    lowercase: for text and vectors in lower case. expand: number of nearest neighbours to add to
    each role, see ``biasbridge.debias.words``. neighbours: file of vectors to search for them;
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
        """Return the counterpart of a built-in query in a language. Raises ``InputError``."""
        if self.file or not self.query or UNDETERMINED in (language, self.language):
            return self
        [query] = require_queries([self.query], language)
        return self if query == self.query else replace(self, query=query)

    def require_roles(self, roles: Sequence[str]) -> None:
        """Raise ``InputError`` if the query lacks roles, and name them."""
        require_roles(self.seed_words(), roles)

    @property
    def needs_vectors(self) -> bool:
        """True if ``words`` needs the ``vectors`` argument."""
        return bool(self.expand) and not self.neighbours

    def build_steps(self, steps: StepBuilder[S], vectors: S) -> S:
        """Return the step of ``words.yaml``, with neighbours in ``vectors`` or their own file."""
        inputs = {"vectors": vectors} if self.needs_vectors else {}
        return steps("words", self, _write_words, inputs)

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
            return _prepared(read_query(self.file, self.query), self.swap, self.lowercase)
        if self.query:
            return _built_in(self.query, self.swap, self.lowercase)
        raise FieldError("query=None without a file; name a built-in query, or give a file")

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


def _built_in(name: str, swap: bool, lowercase: bool) -> Query:
    """Return a built-in query as a choice has it, prepared once."""
    query, key = load_query(name), (name, swap, lowercase)
    if key not in _prepared_queries or _prepared_queries[key][0] is not query:
        _prepared_queries[key] = query, _prepared(query, swap, lowercase)
    return _prepared_queries[key][1]


def _prepared(query: Query, swap: bool, lowercase: bool) -> Query:
    query = query.swapped() if swap else query
    return query.lowered() if lowercase else query


def _write_words(words: WordChoice, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``words.yaml``, the query that a method works on."""
    from biasbridge.files.vectors import open_mapped  # loads gensim

    vectors = open_mapped(inputs["vectors"] / "vectors") if "vectors" in inputs else None
    write_query(words.words(vectors), out / WORDS)


def require_roles(query: Query, roles: Sequence[str]) -> None:
    """Raise ``InputError`` if ``query`` lacks roles, and name them."""
    if missing := [role for role in roles if role not in query.sets]:
        needed = f"the method needs {', '.join(roles)}"
        raise InputError(f"query {query.name!r} has no {', '.join(missing)}; {needed}")


def words_by_role(
    query: Query, roles: Sequence[str] = TARGETS_AND_ATTRIBUTES
) -> dict[str, tuple[str, ...]]:
    """Return the words of each role. Raises ``InputError`` unless all are distinct single words."""
    require_roles(query, roles)
    role_of_word: dict[str, str] = {}
    name = f"query {query.name!r}"
    for role in roles:
        if not query[role].words:
            raise InputError(f"{name}: {role} is empty; it needs at least one word")
        for word in query[role].words:
            if word.split() != [word] or not word.isprintable():
                raise InputError(f"{name}: {role} holds {word!r}; every entry must be one word")
            if word in role_of_word:
                problem = f"{word!r} is in {role_of_word[word]} and in {role}"
                raise InputError(f"{name}: {problem}; keep it in one role, once")
            role_of_word[word] = role
    return {role: query[role].words for role in roles}


def expand(
    query: Query,
    vectors: KeyedVectors,
    *,
    k: int = 100,
    stop: Iterable[str] = (),
    lowercase: bool = False,
) -> Query:
    """Add the ``k`` nearest neighbours of each of X, Y, A and B to ``query``, nearest first.

    A word's nearness to a role is its highest cosine with any seed word of that role. A role
    receives the ``k`` nearest words that are no seed of any role, that are nearest to this role,
    that are words (``is_word``) and that are not in ``stop`` (case is ignored); fewer if the
    vocabulary is short. So every word is added once, as Goldfarb-Tarrant et al. (2021, section 4.1)
    expand to "unique" neighbours after Lauscher et al. (2020); their manual selection is the
    built-in query ``gender_authors``. With any vectors, write the result out (``write_query``),
    read it, and remove what does not belong.

    Case is kept: in cased vectors "She" is a neighbour of "she", and balancing, which compares
    exactly, needs both. ``lowercase``, for a text in lower case, adds only words in lower case.
    Seeds out of vocabulary stay in the query. Time: one pass over the vocabulary; memory: a few
    numbers per word.

    Raises ``InputError`` for k < 1, for a role with no seed in the vectors, and as
    ``words_by_role`` does.
    """
    if k < 1:
        raise InputError(f"k={k}: give a whole number of at least 1")
    roles = [role for role in TARGETS_AND_ATTRIBUTES if role in query.sets]
    seeds = words_by_role(query, roles or TARGETS_AND_ATTRIBUTES)
    nearness = _nearness(seeds, vectors)
    nearest_role = nearness.argmax(axis=1)
    stop_words = {normalise_text(word).casefold() for word in stop}
    all_seeds = {word for words in seeds.values() for word in words}
    sets = dict(query.sets)
    for column, role in enumerate(seeds):
        candidates = np.flatnonzero(nearest_role == column)
        order = np.argsort(-nearness[candidates, column], kind="stable")
        tokens = (normalise_text(vectors.index_to_key[row]) for row in candidates[order].tolist())
        neighbours = (
            token
            for token in tokens
            if token not in all_seeds
            and token.casefold() not in stop_words
            and _is_word(token)
            and not (lowercase and token != token.lower())
        )
        sets[role] = replace(
            query[role],
            name=f"{query[role].name}_{k}nn",
            words=(*query[role].words, *islice(neighbours, k)),
            source=f"{query[role].source}; expanded to {k} nearest neighbours",
        )
    return replace(query, name=f"{query.name}_{k}nn", sets=sets)


def _is_word(token: str) -> bool:
    """Test whether a token is no number, address or mark such as <UNK> or 4th."""
    return (
        token[:1].isalpha()
        and token.split() == [token]
        and token.isprintable()  # no invisible mark inside
        and "://" not in token
        and not any(sign.isdigit() for sign in token)
    )


def _nearness(seeds: Mapping[str, tuple[str, ...]], vectors: KeyedVectors) -> Singles:
    """Compute each word's highest cosine with each role's seeds, (vocabulary, roles); NaN: -1."""
    rows = [
        [vectors.key_to_index[word] for word in words if word in vectors.key_to_index]
        for words in seeds.values()
    ]
    for (role, words), seed_rows in zip(seeds.items(), rows, strict=True):
        if not seed_rows:
            problem = f"none of the words of {role} ({', '.join(words[:8])}) is in the vectors"
            raise InputError(f"{problem}; give words in their language and case")
    role_starts = np.cumsum([0, *map(len, rows[:-1])])
    units = _unit(vectors.vectors[np.concatenate(rows)])
    nearness = np.empty((len(vectors), len(seeds)), dtype=np.float32)
    for start in range(0, len(vectors), _COMPARED_ROWS):
        cosines = _unit(vectors.vectors[start : start + _COMPARED_ROWS]) @ units.T
        nearness[start : start + _COMPARED_ROWS] = np.fmax.reduceat(cosines, role_starts, axis=1)
    return np.nan_to_num(nearness, nan=-1.0)


def _unit(rows: Singles) -> Singles:
    """Scale rows to length 1 in float32; a zero row becomes NaN."""
    rows = np.asarray(rows, dtype=np.float32)
    lengths: Singles = np.linalg.norm(rows, axis=1, keepdims=True)
    units = np.full_like(rows, np.nan)
    np.divide(rows, lengths, out=units, where=lengths > 0)
    return units
