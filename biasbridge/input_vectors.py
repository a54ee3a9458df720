"""Vectors and models of a user, in the forms that functions accept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from biasbridge.files import InputError
from biasbridge.files.text import open_plain
from biasbridge.files.vector_files import locate_vectors

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from biasbridge.files.models.language_model import LanguageModel

# gensim's vectors, a path of a file, a table with a row per word, a vector by word
Vectors: TypeAlias = "KeyedVectors | str | PathLike[str] | pd.DataFrame | Mapping[str, ArrayLike]"
# An opened language model
OpenedModel: TypeAlias = "tuple[PreTrainedModel, PreTrainedTokenizerFast] | LanguageModel"

_KINDS = (
    "give KeyedVectors, a path, a table with a row per word, or an array by word; or several of"
    " these in a list, or by name"
)


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
        raise InputError(f"vectors is {type(vectors).__name__}; {_KINDS}")
    words = list(vectors.index if isinstance(vectors, DataFrame) else vectors)
    rows = vectors if isinstance(vectors, DataFrame) else list(vectors.values())
    try:
        matrix = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"vectors are not numbers of one length ({error})") from None
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(f"vectors have the shape {matrix.shape}; give a row of numbers per word")
    return checked(keyed(words, matrix), "vectors")


def require_files(embeddings: Iterable[Vectors]) -> None:
    """Raise ``InputError`` for the path of nothing, before anything slow is imported."""
    paths = (fspath(each) for each in embeddings if isinstance(each, str | PathLike))
    for file in map(locate_vectors, paths):
        if not file.exists():
            open_plain(file)


def embeddings_by_name(
    vectors: Vectors | Mapping[str, Vectors] | Sequence[Vectors],
) -> dict[str, Vectors]:
    """Name one or several embeddings; a mapping of words to arrays is one embedding.

    In a list a file has its name, other embeddings are numbered.
    """
    if isinstance(vectors, str | PathLike):
        return {Path(vectors).name: vectors}
    if isinstance(vectors, Mapping):
        from gensim.models import KeyedVectors
        from pandas import DataFrame

        kinds = (KeyedVectors, DataFrame, Mapping, str, PathLike)
        embeddings = list(vectors.values())
        if embeddings and all(isinstance(embedding, kinds) for embedding in embeddings):
            return {str(name): cast("Vectors", value) for name, value in vectors.items()}
    if not isinstance(vectors, list | tuple):
        return {"vectors": cast("Vectors", vectors)}
    by_name: dict[str, Vectors] = {}
    for number, embedding in enumerate(vectors, start=1):
        file_name = Path(embedding).name if isinstance(embedding, str | PathLike) else ""
        is_free = file_name and file_name not in by_name
        by_name[file_name if is_free else f"vectors {number}"] = embedding
    if not by_name:
        raise InputError(f"vectors is an empty list; {_KINDS}")
    return by_name
