"""The audit of embeddings by name: the scores, and what a reader must know of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, cast

from biasbridge.files import InputError
from biasbridge.inputs import KINDS, Vectors, as_vectors

if TYPE_CHECKING:
    from biasbridge.intrinsic.audit import AuditedScore
    from biasbridge.intrinsic.metric import Metric


def audit_embeddings(
    embeddings: Mapping[str, Vectors],
    choose: Callable[[str], list[Metric]],
    *,
    query_language: str,
    words: str | None,
    stated_language: str | None,
    seed: int,
    trusted: bool,
) -> tuple[list[AuditedScore], list[str]]:
    """Measure embeddings by name. Return the scores and notes.

    Notes name the language and how it is known, words that exist in lower case only, groups that a
    metric does not compare, and queries of the file ``words`` that lack a role.

    Parameters
    ----------
    choose
        Returns the metrics for a language.
    query_language, stated_language
        Of the queries; of the vectors, where it is given.
    """
    from biasbridge.certificates import gender_words
    from biasbridge.files.vectors import reading_notes
    from biasbridge.intrinsic.audit import (
        AuditedScore,
        assume_language,
        doubt_order,
        missing_role_notes,
        name_affix,
        suggest_lower_case,
    )
    from biasbridge.intrinsic.audit import score_metrics as score_all
    from biasbridge.intrinsic.words import read_wordsets

    own_queries = list(read_wordsets(words).queries.values()) if words else []
    scores: list[AuditedScore] = []
    notes: list[str] = []
    for name, embedding in embeddings.items():
        vectors = as_vectors(embedding, trusted=trusted)
        detected, detection_note = assume_language(name, vectors.index_to_key, query_language)
        metrics = choose(detected)
        language = stated_language or detected
        notes.append(
            f"{name}: language {language!r}, as given" if stated_language else detection_note
        )
        queries = [query for metric in metrics for query in metric.loaded_queries]
        gendered = {query.name: gender_words(query, language) for query in queries}
        scores += [
            AuditedScore(name, *row, gender_words=gendered.get(row[0].query, ""))
            for row in score_all(vectors, metrics, seed=seed)
        ]
        notes += [*reading_notes(vectors), *suggest_lower_case(name, vectors, metrics)]
        notes += name_affix(name, vectors, metrics)
        by_order = (metric.name for metric in metrics if hasattr(metric, "vocabulary"))
        notes += doubt_order(name, vectors, by_order)
        notes += [warning for metric in metrics for warning in metric.remarks()]
        notes += missing_role_notes(metrics, own_queries)
    return scores, list(dict.fromkeys(notes))


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

        embeddings = list(vectors.values())
        if embeddings and all(
            isinstance(embedding, KeyedVectors | DataFrame | Mapping | str | PathLike)
            for embedding in embeddings
        ):
            return {str(name): cast("Vectors", value) for name, value in vectors.items()}
    if isinstance(vectors, list | tuple):
        return _named_list(vectors)
    return {"vectors": cast("Vectors", vectors)}


def _named_list(embeddings: Sequence[Vectors]) -> dict[str, Vectors]:
    by_name: dict[str, Vectors] = {}
    for number, embedding in enumerate(embeddings, start=1):
        file_name = Path(embedding).name if isinstance(embedding, str | PathLike) else ""
        is_free = file_name and file_name not in by_name
        by_name[file_name if is_free else f"vectors {number}"] = embedding
    if not by_name:
        raise InputError(f"vectors is an empty list; {KINDS}")
    return by_name


def require_vector_options(random_weights: bool, layer: int, pooling: str) -> None:
    """Raise ``InputError`` for options of language models."""
    given = {"random-weights": random_weights, "layer": layer != -1, "pooling": pooling != "mean"}
    for option in filter(given.get, given):
        name = option.replace("-", "_")
        raise InputError(f"--{option} ({name}=) applies to language models; leave it out")
