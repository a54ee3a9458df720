"""Vectors, models, words, tables and classes of a user, in the forms that functions accept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from biasbridge.files import InputError
from biasbridge.stats.formatting import MAX_NAMED

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.models.item_metric import ItemMetric
    from biasbridge.intrinsic.words import Query

# gensim's vectors, a path of a file, a table with a row per word, a vector by word
Vectors: TypeAlias = "KeyedVectors | str | PathLike[str] | pd.DataFrame | Mapping[str, ArrayLike]"
# An opened language model
OpenedModel: TypeAlias = "tuple[PreTrainedModel, PreTrainedTokenizerFast] | LanguageModel"
InputTable: TypeAlias = "pd.DataFrame | str | PathLike[str]"
OwnMetric: TypeAlias = "str | type[Metric] | type[ItemMetric] | Metric | ItemMetric"
WordsInput: TypeAlias = "Query | str | PathLike[str] | Mapping[str, object]"

KINDS = (
    "give KeyedVectors, a path, a table with a row per word, or an array by word; or several of"
    " these in a list, or by name"
)
_WORD_FILES = (".yaml", ".yml", ".json", ".csv", ".tsv")


def is_model(subject: object) -> bool:
    """Test whether this is a language model: opened, a folder, or inside a package.

    Also a network without its tokenizer, which is refused where models are opened.
    """
    from biasbridge.files.places import is_model_path

    if isinstance(subject, str | PathLike):
        return is_model_path(str(subject))
    if isinstance(subject, tuple):
        return len(subject) == 2 and not isinstance(subject[0], str | PathLike)
    return hasattr(subject, "state_dict") or (
        hasattr(subject, "model") and hasattr(subject, "tokenizer")  # a pipeline
    )


def refuse_options(options: Mapping[str, object], applies_to: str) -> None:
    """Raise ``InputError`` for the first option that is set; they apply to something else."""
    for option in filter(options.get, options):
        raise InputError(f"--{option} applies to {applies_to}")


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


def as_vectors(vectors: Vectors, *, trusted: bool = False) -> KeyedVectors:
    """Convert vectors to gensim's ``KeyedVectors``. Raise ``InputError`` for other values."""
    from gensim.models import KeyedVectors

    from biasbridge.files.vectors import checked, keyed, read_vectors

    if isinstance(vectors, KeyedVectors):
        return checked(vectors, "vectors")
    if isinstance(vectors, str | PathLike):
        return read_vectors(Path(vectors), trusted=trusted)
    from pandas import DataFrame

    if not isinstance(vectors, DataFrame | Mapping):
        raise InputError(f"vectors is {type(vectors).__name__}; {KINDS}")
    words = list(map(str, vectors.index if isinstance(vectors, DataFrame) else vectors))
    rows = vectors if isinstance(vectors, DataFrame) else list(vectors.values())
    try:
        matrix = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"vectors are not numbers of one length ({error})") from None
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(f"vectors have the shape {matrix.shape}; give a row of numbers per word")
    return checked(keyed(words, matrix), "vectors")


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


def as_names(names: str | Sequence[str]) -> list[str]:
    """Return one name or several as a list. Raise ``InputError`` for another value."""
    if not isinstance(names, str | Iterable):
        raise InputError(f"{names!r} is not a name; give a name, or a list of names")
    return [names] if isinstance(names, str) else list(names)


def as_metrics(metrics: OwnMetric | Sequence[OwnMetric]) -> tuple[list[str], list[Any]]:
    """Return the names of metrics, those of classes included, and the objects that are metrics."""
    is_one = isinstance(metrics, str | type) or hasattr(metrics, "about")
    names: list[str] = []
    objects: list[Any] = []
    for metric in cast("list[OwnMetric]", [metrics] if is_one else as_names(cast("Any", metrics))):
        if isinstance(metric, str):
            names.append(metric)
        elif isinstance(metric, type):
            names.append(register(metric))
        else:
            objects.append(metric)
    return names, objects


def as_dataframe(
    table: InputTable, *, filter: str = "", labels: Sequence[str] = (), quoted: bool = True
) -> pd.DataFrame:
    """Read a table, or the result file of a harness (``read_answers``), from its path.

    A result file must have the columns ``labels``. Named levels of an index become columns.
    ``quoted``: as in ``read_table``. Raises ``InputError`` for another value or repeated columns.
    """
    from pandas import DataFrame

    from biasbridge.extrinsic.logs import JSON_OBJECTS, detect_format, read_answers
    from biasbridge.files.tables import index_as_columns, read_table, require_unique_columns

    if isinstance(table, DataFrame):
        table = index_as_columns(table)
        require_unique_columns(map(str, table.columns), "the table")
        return table if all(isinstance(x, str) for x in table) else table.rename(columns=str)
    if not isinstance(table, str | PathLike):
        raise InputError(f"{type(table).__name__} is not a table; give a pandas table, or a path")
    path = Path(table)
    if filter or detect_format(path) not in ("", JSON_OBJECTS):
        return _with_labels(read_answers(path, filter=filter), labels, str(path))
    return read_table(path, lists="resampled", quoted=quoted)


def _with_labels(table: pd.DataFrame, labels: Sequence[str], path: str) -> pd.DataFrame:
    if (absent := [name for name in labels if name not in table]) and "expected" in table:
        problem = f"{path} has no column {absent[0]!r}: its answers are not of a few classes"
        remedy = "for the share of right answers give --gold expected --pred correct --measures"
        raise InputError(f"{problem}; {remedy} accuracy; columns: {', '.join(map(str, table))}")
    if "task" in table and (n_tasks := table["task"].nunique()) > 1:
        note = (
            f"the items of {n_tasks} tasks together: {', '.join(map(str, table['task'].unique()))}"
        )
        table.attrs["notes"] = [*table.attrs["notes"], note]
    return table


def with_notes(table: pd.DataFrame, column: str, names: Sequence[str] = ()) -> pd.DataFrame:
    """Return the table with the distinct texts of a column as its notes, each after the names of
    its rows where these are given and few.
    """
    texts = list(map(str, table.get(column, [])))
    named: dict[str, list[str]] = {text: [] for text in texts if text}
    for text, name in zip(texts, names, strict=False):
        if text and name:
            named[text].append(name)
    table.attrs["notes"] = [
        f"{', '.join(rows)}: {text}" if 0 < len(rows) <= MAX_NAMED else text
        for text, rows in named.items()
    ]
    return table


def use_folder(folder: str | PathLike[str] | None) -> None:
    """Add the metrics and methods in the modules of a folder to those of this process.

    Raises ``InputError`` for a folder that is missing, a module that cannot be imported, and a name
    that the project has.
    """
    if folder is None:
        return
    if not Path(folder).is_dir():
        raise InputError(f"no such folder: {folder}; give the one with your own modules")
    from biasbridge.files.choice import METHODS, METRICS, choice_classes
    from biasbridge.train.cli.choices import search_modules

    search_modules([Path(folder)])
    for group in (METRICS, METHODS):
        for found in choice_classes(Path(folder), group):
            register(found.load(), found.target)


def register(cls: Any, target: str = "") -> str:
    """Add a metric or a method to those of this process, and return its name."""
    from biasbridge.debias.methods import METHODS as DEBIAS_METHODS
    from biasbridge.files.choice import METHODS, METRICS, find_choice
    from biasbridge.files.paths import HOME
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.models.item_metric import ItemMetric
    from biasbridge.intrinsic.registry import METRICS as VECTOR_METRICS
    from biasbridge.intrinsic.registry import MODEL_METRICS

    about = getattr(cls, "about", None)
    name, group = (about.name, METRICS) if about else (getattr(cls, "name", ""), METHODS)
    target = target or f"{cls.__module__}.{cls.__qualname__}"
    if not about and not hasattr(cls, "acts_on"):
        raise InputError(f"{target} is neither a metric nor a method; see docs/extending.md")
    taken = find_choice([HOME], group, name)
    if taken and taken.load() is not cls:
        raise InputError(f"{target}: {name!r} is taken; choose another name")
    if not about:
        DEBIAS_METHODS.get(cls.acts_on, {})[name] = cls
    elif issubclass(cls, Metric):
        VECTOR_METRICS[name] = cls
    elif issubclass(cls, ItemMetric):
        MODEL_METRICS[name] = cls
    return str(name)
