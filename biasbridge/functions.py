"""Functions for notebooks and scripts, which return tidy tables with ``table.attrs["notes"]``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from biasbridge.certifying import certify as certify
from biasbridge.debiasing import debias as debias
from biasbridge.inputs import (
    KINDS,
    OpenedModel,
    Vectors,
    Words,
    as_vectors,
    built_in,
    is_model,
    word_file,
)
from biasbridge.inputs import query as query
from files import InputError
from files.choice import Whole, check_arguments

if TYPE_CHECKING:
    import pandas as pd

    from files.models.encoder import Pooling
    from intrinsic.audit import AuditedScore
    from intrinsic.metric import Metric

Predictions: TypeAlias = "pd.DataFrame | str | PathLike[str]"


@check_arguments(seed=Whole, layer=int)
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
    revision: str | None = None,
    items: str | PathLike[str] | None = None,
    fillers: str | Sequence[str] = (),
    layer: int = -1,
    pooling: Pooling = "mean",
    random_weights: bool = False,
) -> pd.DataFrame:
    """Measure every bias metric on word vectors or on a language model.

    Parameters
    ----------
    vectors
        Word vectors: ``KeyedVectors``, a path, a table with a row per word, or an array by word. A
        list or a mapping by name audits several, told apart in the column ``vectors``. Or a
        language model (a list for several): a folder, a hub name with its ``revision``,
        ``package:NAME``, or a tuple of model and tokenizer.
    words
        Your own queries or the name of a built-in one, see :func:`query`.
    metrics, queries
        Names; only these are measured. For a language model ``queries`` are sets of items.
    convention
        Name of one convention, such as ``"caliskan"``, or ``"all"``.
    language
        Of the vectors, by default detected from the file name, the frequent words or ``words``,
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

    Returns
    -------
    DataFrame
        One row per score, with the columns in ``docs/results.md``. ``value`` is in the unit of its
        metric, from ``least`` to ``most``, and equals ``unbiased`` without bias. A score that is
        not estimated is NaN, with its ``reason``. ``attrs["notes"]`` states the language and how it
        is known, and which scores are missing.

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
    from intrinsic.audit import choose_metrics, query_language

    if revision or items or fillers or _all_models(vectors):
        vector_options = {
            "words": words,
            "case": case,
            "min_found": min_found,
            "trusted": trusted,
        }
        if unused := [option for option, value in vector_options.items() if value]:
            raise InputError(
                f"{unused[0]} applies to word vectors; for a language model give items or queries"
            )
        scores = _audit_models(
            vectors,
            revision,
            metrics=_as_names(metrics),
            queries=_as_names(queries),
            items=None if items is None else str(items),
            fillers=_as_names(fillers),
            convention=convention,
            language=language,
            layer=layer,
            pooling=pooling,
            random_seed=seed if random_weights else None,
            resamples=resamples,
            seed=seed,
        )
        from biasbridge.model_audit import notes_on

        return _audit_table(scores, notes_on(scores, str(items) if items else None, language))
    embeddings = _embeddings_by_name(
        cast("Vectors | Mapping[str, Vectors] | Sequence[Vectors]", vectors)
    )
    metrics, queries = _as_names(metrics), _as_names(queries)
    if built_in(words):
        queries, words = [*queries, str(words)], None
    with word_file(words) as file:

        def choose(detected_language: str) -> list[Metric]:
            return choose_metrics(
                metrics,
                queries=queries,
                words=file,
                convention=convention,
                language=language or detected_language,
                case=case,
                min_found=min_found,
                resamples=resamples,
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


def _audit_table(scores: Sequence[AuditedScore], notes: Sequence[str]) -> pd.DataFrame:
    """Return the scores with their lines of the recorded certificate, and notes in ``attrs``."""
    from biasbridge.certificates import certified
    from intrinsic.audit import as_table

    rows, warnings = certified(scores)
    table = as_table(rows)
    table.attrs["notes"] = [*warnings, *notes, *_missing_values(rows)]
    return table


def _all_models(vectors: object) -> bool:
    if isinstance(vectors, list):
        return bool(vectors) and all(map(is_model, vectors))
    return is_model(vectors)


def _audit_models(models: object, revision: str | None, **options: Any) -> list[AuditedScore]:
    """Measure one language model, or each of a list; a path names its model."""
    from biasbridge.model_audit import audit_model

    model_list = models if isinstance(models, list) else [models]
    paths = [str(model) if isinstance(model, str | PathLike) else None for model in model_list]
    file_names = [path and Path(path).name for path in paths]
    names = file_names if len(set(file_names)) == len(file_names) else paths
    return [
        score
        for name, model in zip(names, model_list, strict=True)
        for score in audit_model(model, revision, name=name, **options)
    ]


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
    from intrinsic.audit import (
        AuditedScore,
        assume_language,
        missing_role_notes,
        suggest_lower_case,
    )
    from intrinsic.audit import audit as score_all
    from intrinsic.wordsets import read_wordsets

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
        notes += suggest_lower_case(name, vectors, metrics)
        notes += [warning for metric in metrics for warning in metric.remarks()]
        notes += missing_role_notes(metrics, own_queries)
    return scores, list(dict.fromkeys(notes))


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


def gaps(
    predictions: Predictions,
    *,
    privileged: str | None = None,
    unprivileged: str | None = None,
    gold: str = "label",
    pred: str | Sequence[str] = "prediction",
    group: str = "group",
    score: str | Sequence[str] = (),
    measures: str | Sequence[str] = (),
    compare: str | Sequence[str] = (),
    groups: str | Sequence[str] = (),
    positive: str | Sequence[str] = (),
    multiclass: bool = False,
    min_support: int = 10,
) -> pd.DataFrame:
    """Measure performance by group and the gaps between groups, with 95% intervals.

    Parameters
    ----------
    predictions
        A table, or its path, with a row per item.
    privileged, unprivileged
        The groups compared. Without ``unprivileged``: the privileged group and each other one;
        without both: each group and all other items.
    gold, pred, group
        Columns. Labels are 0 or 1 unless ``positive`` or ``multiclass`` is given. Several ``pred``
        are classifiers of the same items, compared item by item.
    score
        Columns of scores, one per ``pred``, larger for label 1: adds areas under the ROC curve.
    measures
        Names, by default precision, recall, F1 and false positive rate.
    compare
        Any of ``"pair"``, ``"pairwise"``, ``"one-vs-rest"``, ``"max-difference"``.
    groups
        Only these groups, by default all.
    positive
        Labels of the positive class.
    multiclass
        Take each class against the rest.
    min_support
        Fewest items behind a value; groups with fewer have none.

    Returns
    -------
    DataFrame
        One row per value and gap, with ``low`` and ``high``. A gap is in [-1, 1] and positive where
        the unprivileged group fares worse (formulas: ``extrinsic.gaps``). A value that is not
        estimated is NaN, with its ``reason``, which is a note in ``attrs["notes"]`` too.

    Raises
    ------
    InputError
        A column or group that does not exist, labels other than 0 and 1, or options that do not go
        together.

    Examples
    --------
    >>> import pandas as pd
    >>> labels, predictions = [1] * 20 + [0] * 20, [1] * 15 + [0] * 5 + [1] * 2 + [0] * 18
    >>> items = {"label": labels, "prediction": predictions, "group": ["male", "female"] * 20}
    >>> table = gaps(pd.DataFrame(items), privileged="male", measures="recall")
    >>> print(round(table.loc[table["kind"] == "gap", "value"].item(), 2))
    0.1
    """
    from extrinsic.gap_table import as_table
    from extrinsic.request import GapRequest

    request = GapRequest(
        gold=gold,
        pred=_as_names(pred),
        group=group,
        score=_as_names(score),
        privileged=privileged,
        unprivileged=unprivileged,
        groups=_as_names(groups),
        compare=_as_names(compare),
        measures=_as_names(measures),
        positive=_as_names(positive),
        multiclass=multiclass,
        min_support=min_support,
    )
    rows = as_table(request.find_rows(_table(predictions)))
    return _with_notes(rows.drop(columns="resampled", errors="ignore"), "reason")


def _as_names(names: str | Sequence[str]) -> list[str]:
    if not isinstance(names, str | Iterable):
        raise InputError(f"{names!r} is not a name; give a name, or a list of names")
    return [names] if isinstance(names, str) else list(names)


@check_arguments(utility=str)
def correlate(
    table: Predictions,
    x: str,
    y: str,
    *,
    by: str | Sequence[str] = (),
    observation: str | Sequence[str] = (),
    parent: str | Sequence[str] = (),
    condition: str | Sequence[str] = (),
    cluster: str | Sequence[str] = (),
    utility: str = "",
    confirmatory: str | Sequence[str] = (),
    sesoi: float = 0.3,
    scopes: bool = False,
) -> pd.DataFrame:
    """Correlate two columns, scores and gaps, within each slice of a table.

    Parameters
    ----------
    table
        A table with a row per model, or its path; what :func:`read_results` returns fits.
    x, y
        Columns of the scores and of the gaps.
    by
        Columns that define the slices.
    observation
        Columns that identify one model of a parent; by default each row is one.
    parent
        Columns that identify the unmodified model: r_rm is taken within these.
    condition
        Columns that identify the modification (method, words, dose).
    cluster
        Columns above parents (corpus, language): their parents are averaged for each condition.
    utility
        Column of the performance on the task.
    confirmatory
        Slices declared beforehand, by their values of ``by``, or ``"all"``: they get a verdict.
    sesoi
        Smallest correlation of interest, in (0, 1): below it, a correlation is negligible.
    scopes
        Return what r and slope are for these conditions, for other doses and words, for other
        methods, for other parents, within a condition and given utility.

    Returns
    -------
    DataFrame
        One row per slice (with ``scopes``: per slice and scope), with the columns in
        ``docs/results.md``; correlations are in [-1, 1], above 0 where larger scores go with larger
        gaps. ``docs/inference.md`` explains verdicts.

    Raises
    ------
    InputError
        A column that does not exist or holds no numbers, or levels that do not nest.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"weat": [0.1, 0.4, 0.7, 0.9], "gap": [0.02, 0.05, 0.04, 0.09]})
    >>> print(round(correlate(table, x="weat", y="gap")["r_rm"].item(), 2))
    0.84
    """
    from analysis.correlate import correlate as correlate_table
    from analysis.joined import WITHOUT_RESAMPLES, lacks_resamples
    from analysis.slice_results import RESULT_COLUMNS, correlation_table, scope_table
    from analysis.user_table import Levels

    by, table = _as_names(by), _table(table)
    slice_results = correlate_table(
        table,
        x=x,
        y=y,
        by=by,
        levels=Levels(
            _as_names(observation),
            _as_names(parent),
            _as_names(condition),
            _as_names(cluster),
            utility,
        ),
        confirmatory=_as_names(confirmatory),
        sesoi=sesoi,
    )
    if scopes:
        return _with_notes(scope_table(slice_results), "note")
    correlations = _with_notes(correlation_table(slice_results, [*by, *RESULT_COLUMNS]), "note")
    if lacks_resamples(table):
        correlations.attrs["notes"].append(
            f"{WITHOUT_RESAMPLES}: read_results(..., resamples=True) reads them"
        )
    return correlations


def read_results(folder: str | PathLike[str], *, resamples: bool = False) -> pd.DataFrame:
    """Read the joined table of the results folder of a sweep.

    Parameters
    ----------
    folder
        Results folder, with the three Parquet files that are joined.
    resamples
        Keep ``x_resampled`` and ``y_resampled``, 200 numbers per row, from which :func:`correlate`
        estimates the sampling error of words and items.

    Returns
    -------
    DataFrame
        One row per point, score (``x``) and gap (``y``); ``docs/results.md`` lists the columns.

    Raises
    ------
    InputError
        A table is missing or damaged.

    Examples
    --------
    >>> table = read_results("docs/runs/answer_en")
    >>> {"parent", "metric", "x", "measure", "y"} <= {*table.columns}
    True
    """
    from analysis.declaration import Declaration
    from analysis.joined import RESAMPLED, join_points
    from analysis.results import read_tables

    if not isinstance(folder, str | PathLike):
        raise InputError(f"{type(folder).__name__} is no folder; give the path of results")
    rows = join_points(read_tables(Path(folder)), Declaration.of(Path(folder)).utility)
    return rows if resamples else rows.drop(columns=[*RESAMPLED], errors="ignore")


def _embeddings_by_name(
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


def _table(table: Predictions) -> pd.DataFrame:
    from pandas import DataFrame

    from files.tables import read_table, require_unique_columns

    if isinstance(table, DataFrame):
        require_unique_columns(table.columns, "the table")
        return table
    if not isinstance(table, str | PathLike):
        raise InputError(f"{type(table).__name__} is no table; give a pandas table, or a path")
    return read_table(Path(table), lists="resampled")


def _with_notes(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the table with the distinct texts of a column as its notes."""
    texts = map(str, table.get(column, []))
    table.attrs["notes"] = [text for text in dict.fromkeys(texts) if text]
    return table
