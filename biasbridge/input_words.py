"""Word sets of a user: a built-in name, a file, or a mapping of roles to words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.intrinsic.words import Query

WordsInput: TypeAlias = "Query | str | PathLike[str] | Mapping[str, object]"

_WORD_FILES = (".yaml", ".yml", ".json", ".csv", ".tsv")


def query(words: WordsInput, name: str | None = None, *, language: str = "und") -> Query:
    """Read the word sets that metrics compare and debiasing methods move.

    Parameters
    ----------
    words
        The name of a built-in query (``"weat7"``), your own file (YAML, JSON or CSV), or a mapping
        of roles to words, ``{"X": [...], "Y": [...], "A": [...], "B": [...]}``, or of names to
        such mappings.
    name
        Which one, if there are several queries.
    language
        Of a mapping: a code such as ``"en"``; ``"und"`` if undetermined.

    Returns
    -------
    Query
        Word sets by role: targets X and Y, attributes A and B; ``name`` and ``language``.

    Raises
    ------
    InputError
        An unknown name, an unreadable file, or a value of another form.

    Examples
    --------
    >>> weat7 = query("weat7")
    >>> weat7.language, weat7["A"].words[:2]
    ('en', ('male', 'man'))
    """
    from biasbridge.intrinsic.words import Query, load_query, read_query

    if isinstance(words, Query):
        return words
    if built_in(words):
        return load_query(str(words))
    with word_file(words, language) as file:
        return read_query(file or "", name)


def built_in(words: WordsInput | None) -> bool:
    """Test whether this is the name of a built-in query, not a path."""
    return isinstance(words, str) and Path(words).suffix not in _WORD_FILES


@contextmanager
def word_file(words: WordsInput | None, language: str = "und") -> Iterator[str | None]:
    """Yield the path of a word file; write a mapping or a query to a temporary one.

    Raise ``InputError`` for other values; errors in a mapping do not name the temporary file.
    """
    if words is None or isinstance(words, str | PathLike):
        yield None if words is None else str(words)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "words.json"
        _write_words(words, path, language)
        try:
            yield str(path)
        except InputError as error:
            if str(path) not in str(error):
                raise
            raise InputError(str(error).replace(str(path), "words")) from None


def _write_words(words: Query | Mapping[str, object], path: Path, language: str) -> None:
    from biasbridge.intrinsic.words import Query, write_query

    if isinstance(words, Query):
        write_query(words, path)
        return
    if not isinstance(words, Mapping):
        raise InputError(f"words is {type(words).__name__}; give a name, a file or roles")
    content = dict(words)
    if not content.keys() & {"sets", "queries"}:
        is_one_query = any(not isinstance(value, Mapping) for value in content.values())
        content = {"queries": {"mine": content} if is_one_query else content}
    content = {"language": language, "source": "given in Python"} | content
    try:
        path.write_text(json.dumps(content, default=list), encoding="utf-8")
    except TypeError as error:
        raise InputError(f"words cannot be read ({error}); give lists of words") from None
