"""The audit of word vectors and language models, as a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any, cast

from biasbridge.files import InputError
from biasbridge.files.choice import Count, Whole, check_arguments
from biasbridge.input_tables import as_names
from biasbridge.inputs import OpenedModel, Vectors, Words, built_in, is_model, word_file
from biasbridge.own_classes import use_folder
from biasbridge.vector_audit import (
    audit_embeddings,
    embeddings_by_name,
    require_vector_options,
)

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

    from biasbridge.files.models.encoder import Pooling
    from biasbridge.files.models.language_model import Dtype
    from biasbridge.intrinsic.audit import AuditedScore
    from biasbridge.intrinsic.metric import Metric


@check_arguments(seed=Whole, layer=int, batch_size=Count | None, limit=Count | None)
def audit(
    vectors: Vectors | Mapping[str, Vectors] | Sequence[Vectors] | OpenedModel,
    words: Words | None = None,
    *,
    metrics: str | Sequence[str] = (),
    queries: str | Sequence[str] = (),
    convention: str | None = None,
    language: str | None = None,
    case: str | None = None,
    min_found: float | None = None,
    resamples: int = 0,
    seed: int = 0,
    trusted: bool = False,
    items: str | PathLike[str] | None = None,
    fillers: str | Sequence[str] = (),
    layer: int = -1,
    pooling: Pooling = "mean",
    random_weights: bool = False,
    dtype: Dtype = "float32",
    device: str = "cpu",
    batch_size: int | None = None,
    limit: int | None = None,
    apply_chat_template: bool = False,
    config_dir: str | PathLike[str] | None = None,
) -> pd.DataFrame:
    """Measure every bias metric on word vectors or on a language model.

    Parameters
    ----------
    vectors
        Word vectors: ``KeyedVectors``, a path, a table with a row per word, or an array by word. A
        list or a mapping by name audits several, told apart in the column ``vectors``. Or a
        language model (a list for several): a folder, ``package:NAME``, a tuple of model and
        tokenizer, or a hub name, ``"org/name"`` or ``"org/name@COMMIT"``; the commit is in the
        column ``settings``.
    words
        Your own queries or the name of a built-in one, see :func:`query`.
    metrics, queries
        Names; only these are measured. For a language model ``queries`` are sets of items.
    convention
        Name of one convention, such as ``"caliskan"``, or ``"all"``.
    language
        Of the vectors, by default detected from the frequent words, the file name or ``words``,
        else English. Of ``items``, by default detected from the texts or the file name.
    case
        ``"lower"`` also looks up words in lower case.
    min_found
        Proportion of each word set that must be in the vocabulary, in [0, 1].
    resamples, seed
        Bootstrap samples of the words, for the 95% interval ``low`` to ``high``; and their seed.
    trusted
        Open gensim's own files, which are pickles and can run any code.
    items, fillers
        For a language model: a file of your own items, and what fills its slots (``"he/she"``).
    layer, pooling
        For a language model: which hidden layer encodes a text (-1: the last), and how.
    random_weights
        For a language model: replace its weights by random ones, as a baseline.
    dtype, device
        For a language model: ``"auto"`` (that of its configuration), ``"float32"``, ``"float16"``
        or ``"bfloat16"``; ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"mps"``.
    batch_size
        For a language model: texts computed at a time; by default as many as fit 2,048 tokens.
    limit
        For a language model: measure this many items of each set, from its groups in turn, to try
        a command; no result to report.
    apply_chat_template
        For a causal language model: texts are answers to an empty message in its chat template.
    config_dir
        Folder with modules of your own metrics, which are then known by their names.

    Returns
    -------
    DataFrame
        One row per score, with the columns in ``docs/results.md``. ``value`` is in the unit of its
        metric, from ``scale_min`` to ``scale_max``, and equals ``unbiased`` without bias. A score
        that is not estimated is NaN, with its ``reason``. ``attrs["notes"]`` states the language
        and how it is known, and which scores are missing.

    Raises
    ------
    InputError
        An unknown name, an unreadable file, or options that do not apply to these vectors.

    Examples
    --------
    >>> vectors = {"he": [1, 0], "she": [0, 1], "doctor": [0.9, 0.1], "nurse": [0.2, 0.8]}
    >>> words = {"X": ["doctor"], "Y": ["nurse"], "A": ["he"], "B": ["she"]}
    >>> print(audit(vectors, words, metrics="weat")["value"].item())
    2.0
    """
    use_folder(config_dir)
    metrics, queries = as_names(metrics), as_names(queries)
    are_models = items or fillers or limit or batch_size or apply_chat_template
    if not (are_models or (dtype, device) != ("float32", "cpu") or _all_models(vectors)):
        require_vector_options(random_weights, layer, pooling)
        embeddings = cast("Vectors | Mapping[str, Vectors] | Sequence[Vectors]", vectors)
        return _audit_vectors(
            embeddings_by_name(embeddings),
            words,
            metrics,
            queries,
            language,
            {
                "convention": convention,
                "case": case,
                "min_found": min_found,
                "resamples": resamples,
            },
            seed=seed,
            trusted=trusted,
        )
    vector_options = {"words": words, "case": case, "min_found": min_found, "trusted": trusted}
    if unused := [option for option, value in vector_options.items() if value]:
        raise InputError(
            f"{unused[0]} applies to word vectors; for a language model give items or queries"
        )
    from biasbridge.model_audit import audit_models

    scores, notes = audit_models(
        vectors if isinstance(vectors, list) else [vectors],
        metrics=metrics,
        queries=queries,
        items=None if items is None else str(items),
        fillers=as_names(fillers),
        convention=convention,
        language=language,
        layer=layer,
        pooling=pooling,
        random_seed=seed if random_weights else None,
        dtype=dtype,
        device=device,
        batch_size=batch_size,
        limit=limit,
        in_chat=apply_chat_template,
        resamples=resamples,
        seed=seed,
    )
    return _audit_table(scores, notes)


def _audit_vectors(
    embeddings: Mapping[str, Vectors],
    words: Words | None,
    metrics: Sequence[str],
    queries: Sequence[str],
    language: str | None,
    options: Mapping[str, Any],
    *,
    seed: int,
    trusted: bool,
) -> pd.DataFrame:
    from biasbridge.intrinsic.audit import choose_metrics, query_language

    if built_in(words):
        queries, words = [*queries, str(words)], None
    with word_file(words) as file:

        def choose(detected_language: str) -> list[Metric]:
            return choose_metrics(
                metrics,
                queries=queries,
                words=file,
                language=language or detected_language,
                **options,
            )

        scores, notes = audit_embeddings(
            embeddings,
            choose,
            query_language=query_language(queries, file),
            words=file,
            stated_language=language,
            seed=seed,
            trusted=trusted,
        )
    return _audit_table(scores, notes)


def _all_models(vectors: object) -> bool:
    if isinstance(vectors, list):
        return bool(vectors) and all(map(is_model, vectors))
    return is_model(vectors)


def _audit_table(scores: Sequence[AuditedScore], notes: Sequence[str]) -> pd.DataFrame:
    """Return the scores with their lines of the recorded certificate, and notes in ``attrs``."""
    from biasbridge.certificates import certified
    from biasbridge.intrinsic.audit import score_table

    rows, warnings, _ = certified(scores)
    table = score_table(rows)
    table.attrs["notes"] = [*warnings, *notes, *_missing_values(rows)]
    return table


def _missing_values(scores: Sequence[AuditedScore]) -> list[str]:
    """Count the scores without a value; list vectors, metrics and queries by reason."""
    has_several = len({row.vectors for row in scores}) > 1
    titles_by_reason: dict[str, list[str]] = {}
    for row in scores:
        if isnan(row.score.value):
            title = f"{row.score.metric} {row.score.query} {row.score.part}".rstrip()
            title = f"{row.vectors}: {title}" if has_several else title
            titles_by_reason.setdefault(row.score.reason, []).append(title)
    if not titles_by_reason:
        return []
    n_missing = sum(map(len, titles_by_reason.values()))
    return [
        f"{n_missing} of {len(scores)} scores have no value",
        *(f"{', '.join(titles)}: {reason}" for reason, titles in titles_by_reason.items()),
    ]
