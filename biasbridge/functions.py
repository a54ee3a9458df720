"""The project in functions, for notebooks and scripts. Tables come back tidy, with what is to
be said about them in ``table.attrs["notes"]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from biasbridge.certifying import certify as certify
from biasbridge.debiasing import debias as debias
from biasbridge.given import (
    KINDS,
    Opened,
    Vectors,
    Words,
    as_vectors,
    built_in,
    is_model,
    word_file,
)
from biasbridge.given import query as query
from files import InputError
from files.choice import Whole, checks

if TYPE_CHECKING:
    import pandas as pd

    from files.models.encoder import Pooling
    from intrinsic.audit import Audited
    from intrinsic.metric import Metric

Predictions: TypeAlias = "pd.DataFrame | str | PathLike[str]"


@checks(seed=Whole, layer=int)
def audit(
    vectors: Vectors | Mapping[str, Vectors] | Sequence[Vectors] | Opened,
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
    """Every bias metric on any vectors, or on a language model: one row a score, columns as
    ``docs/results.md`` has them.

    ``vectors``: gensim's, a path, a table with a row a word, an array by word; or several of these
    in a list, or by name, which come in the column ``vectors``. Or a language model: a folder, a
    hub name with its ``revision``, ``package:NAME``, or a model with its tokenizer; then ``items``
    is one's own file of items, ``fillers`` (``he/she``) what its slots are filled with, and
    ``layer`` and ``pooling`` say what a text's vector is; ``random_weights`` takes the same
    configuration with random weights; several are a list.

    ``words``: queries of one's own or the name of a built-in one (see ``query``). ``metrics``,
    ``queries``: these only, of a model also sets of items. ``language``: of the vectors, by default
    that of the file's name, of their frequent words or of ``words``, else English; of ``items``, by
    default that of their texts or of the file's name. ``resamples``: of the words, for ``low`` and
    ``high``. ``trusted``: open gensim's own files, pickles, which can run any code. A score that
    cannot be had is NaN with its ``reason``; ``attrs["notes"]`` says which language was taken and
    how it is known, and what was left out and why.

    Raises ``InputError`` as ``biasbridge audit`` does.
    """
    from intrinsic.audit import choose_metrics, language_asked

    if revision or items or fillers or _of_models(vectors):
        unused = {"words": words, "case": case, "min_found": min_found, "trusted": trusted}
        if given := [option for option, value in unused.items() if value]:
            raise InputError(f"{given[0]} is about word vectors; of a model give items or queries")
        rows = _audit_models(
            vectors,
            revision,
            metrics=_names(metrics),
            queries=_names(queries),
            items=None if items is None else str(items),
            fillers=_names(fillers),
            convention=convention,
            language=language,
            layer=layer,
            pooling=pooling,
            random_seed=seed if random_weights else None,
            resamples=resamples,
            seed=seed,
        )
        from biasbridge.model_audit import notes_on

        return _audited(rows, notes_on(rows, str(items) if items else None, language))
    several = cast("Vectors | Mapping[str, Vectors] | Sequence[Vectors]", vectors)
    named, metrics, queries = _several(several), _names(metrics), _names(queries)
    if built_in(words):
        queries, words = [*queries, str(words)], None
    with word_file(words) as file:

        def choose(seen: str) -> list[Metric]:
            return choose_metrics(
                metrics,
                queries=queries,
                words=file,
                convention=convention,
                language=language or seen,
                case=case,
                min_found=min_found,
                resamples=resamples,
            )

        audited, notes = audit_each(
            named,
            choose,
            asked=language_asked(queries, file),
            words=file,
            given=language,
            seed=seed,
            trusted=trusted,
        )
    return _audited(audited, notes)


def _audited(audited: Sequence[Audited], notes: Sequence[str]) -> pd.DataFrame:
    """The table with what the certificate says of each score, and its notes."""
    from biasbridge.certificates import certified
    from intrinsic.audit import as_table

    rows, refused = certified(audited)
    table = as_table(rows)
    table.attrs["notes"] = [*refused, *notes, *_left_out(rows)]
    return table


def _of_models(given: object) -> bool:
    """Whether these are language models."""
    return bool(given) and all(map(is_model, given)) if isinstance(given, list) else is_model(given)


def _audit_models(models: object, revision: str | None, **asked: Any) -> list[Audited]:
    """The scores of one model, or of each of a list, by name."""
    from biasbridge.model_audit import audit_model

    several = models if isinstance(models, list) else [models]
    paths = [str(each) if isinstance(each, str | PathLike) else None for each in several]
    names = [path and Path(path).name for path in paths]
    named = names if len(set(names)) == len(names) else paths
    return [
        row
        for name, model in zip(named, several, strict=True)
        for row in audit_model(model, revision, name=name, **asked)
    ]


def audit_each(
    vectors: Mapping[str, Vectors],
    choose: Callable[[str], list[Metric]],
    *,
    asked: str,
    words: str | None,
    given: str | None,
    seed: int,
    trusted: bool,
) -> tuple[list[Audited], list[str]]:
    """The scores of several vectors by name, and remarks: the language taken and how it is known,
    words that are there in lower case only, groups that a metric does not compare, queries of the
    file ``words`` that lack a role.

    ``choose``: the metrics in a language. ``asked``: the language of the queries; ``given``: that
    of the vectors, where it is stated.
    """
    from biasbridge.certificates import gender_words
    from intrinsic.audit import Audited, language_of, not_asked, suggest_lower_case
    from intrinsic.audit import audit as score_all
    from intrinsic.wordsets import read_wordsets

    own = list(read_wordsets(words).queries.values()) if words else []
    audited: list[Audited] = []
    remarks: list[str] = []
    for name, each in vectors.items():
        read = as_vectors(each, trusted=trusted)
        language, known = language_of(name, read.index_to_key, asked)
        chosen = choose(language)
        remarks.append(f"{name} is taken to be in {given!r}, as stated" if given else known)
        spoken = given or language
        queries = [query for metric in chosen for query in metric.asked]
        languages = {query.name: gender_words(query, spoken) for query in queries}
        audited += [
            Audited(name, *row, gender_words=languages.get(row[0].query, ""))
            for row in score_all(read, chosen, seed=seed)
        ]
        remarks += suggest_lower_case(name, read, chosen)
        remarks += [line for metric in chosen for line in metric.remarks()]
        remarks += not_asked(chosen, own)
    return audited, list(dict.fromkeys(remarks))


def _left_out(audited: Sequence[Audited]) -> list[str]:
    """How many scores have no value; and of which vectors, metrics and queries, by reason."""
    several = len({one.vectors for one in audited}) > 1
    without: dict[str, list[str]] = {}
    for one in audited:
        if isnan(one.score.value):
            of = f"{one.score.metric} {one.score.query} {one.score.part}".rstrip()
            of = f"{one.vectors}: {of}" if several else of
            without.setdefault(one.score.reason, []).append(of)
    if not without:
        return []
    total = f"{sum(map(len, without.values()))} of {len(audited)} scores have no value"
    return [total, *(f"{', '.join(names)}: {reason}" for reason, names in without.items())]


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
    least_support: int = 10,
) -> pd.DataFrame:
    """Measures of each group and the gaps between groups, with intervals: one row each.

    ``predictions``: a table or the path of one, with columns ``gold`` and ``pred`` (0 or 1; labels
    of any names with ``positive``, those that count as 1, or with ``multiclass``, each against the
    rest) and ``group``; several ``pred`` are classifiers of the same items, compared item by item;
    ``score``: their columns of scores, for areas under the ROC curve. A gap is positive where the
    unprivileged group fares worse. Compared are the privileged and the unprivileged group; of more
    groups the privileged and each other, or where none is privileged each with the rest; and the
    two furthest apart; or what ``compare`` says (each, rest, largest).
    ``extrinsic.gaps`` has the formulas; a value that cannot be had is NaN with its ``reason``, and
    a note.

    Raises ``InputError`` for a column or group that is not there, labels other than 0 and 1, and
    options that do not go together.
    """
    from extrinsic.gap_table import as_table
    from extrinsic.request import Request

    request = Request(
        gold=gold,
        pred=_names(pred),
        group=group,
        score=_names(score),
        privileged=privileged,
        unprivileged=unprivileged,
        groups=_names(groups),
        compare=_names(compare),
        measures=_names(measures),
        positive=_names(positive),
        multiclass=multiclass,
        least_support=least_support,
    )
    rows = as_table(request.find_rows(_table(predictions)))
    return _with_notes(rows.drop(columns="resampled", errors="ignore"), "reason")


def _names(given: str | Sequence[str]) -> list[str]:
    if not isinstance(given, str | Iterable):
        raise InputError(f"{given!r} names nothing; give a name, or a list of names")
    return [given] if isinstance(given, str) else list(given)


@checks(utility=str)
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
) -> pd.DataFrame:
    """How the columns ``x`` (scores) and ``y`` (gaps) go together: one row a slice of ``by``.

    ``observation``: the columns that name one model of a parent; without them each row is one.
    ``parent``: those that name what it was made from; ``condition``: what was done to it;
    ``cluster``: what lies above parents (corpus, language), whose parents are averaged for each
    condition; ``utility``: how well the task is done. ``confirmatory``: the slices declared
    beforehand, by their values of ``by``, or ``"all"``: they get a verdict, for which ``sesoi`` is
    the smallest correlation of interest.
    ``docs/results.md`` has the columns, ``docs/inference.md`` what a verdict means.

    Raises ``InputError`` for a column that is not there or holds no numbers, and for levels that do
    not nest.
    """
    from analysis.correlate import correlate as findings
    from analysis.findings import RESULT_COLUMNS, correlation_table
    from analysis.foreign import Levels
    from analysis.joined import WITHOUT_RESAMPLES, lacks_resamples

    by, table = _names(by), _table(table)
    found = findings(
        table,
        x=x,
        y=y,
        by=by,
        levels=Levels(
            _names(observation), _names(parent), _names(condition), _names(cluster), utility
        ),
        confirmatory=_names(confirmatory),
        sesoi=sesoi,
    )
    result = _with_notes(correlation_table(found, [*by, *RESULT_COLUMNS]), "note")
    if lacks_resamples(table):
        result.attrs["notes"].append(
            f"{WITHOUT_RESAMPLES}: read_results(..., resamples=True) reads them"
        )
    return result


def read_results(folder: str | PathLike[str], *, resamples: bool = False) -> pd.DataFrame:
    """Read the joined table of the results folder of a sweep: one row a point, score and gap.

    ``x`` is the score and ``y`` the gap; ``docs/results.md`` has the columns. The three tables
    that it is made from are Parquet files in the folder. ``resamples``: with ``x_resampled`` and
    ``y_resampled``, 200 numbers a row, by which ``correlate`` counts the sampling error of words
    and items.

    Raises ``InputError`` where a table is absent or damaged.
    """
    from analysis.declaration import Declaration
    from analysis.joined import RESAMPLED, join_points
    from analysis.results import read_tables

    if not isinstance(folder, str | PathLike):
        raise InputError(f"{type(folder).__name__} is no folder; give the path of results")
    rows = join_points(read_tables(Path(folder)), Declaration.of(Path(folder)).utility)
    return rows if resamples else rows.drop(columns=[*RESAMPLED], errors="ignore")


def _several(vectors: Vectors | Mapping[str, Vectors] | Sequence[Vectors]) -> dict[str, Vectors]:
    """Vectors by name: a mapping to arrays is one embedding, a mapping to others is several; in a
    list a file is called by its name, others by their place.
    """
    if isinstance(vectors, str | PathLike):
        return {Path(vectors).name: vectors}
    if isinstance(vectors, Mapping):
        from gensim.models import KeyedVectors
        from pandas import DataFrame

        values = list(vectors.values())
        if values and all(
            isinstance(each, KeyedVectors | DataFrame | Mapping | str | PathLike) for each in values
        ):
            return {str(name): cast("Vectors", each) for name, each in vectors.items()}
    if isinstance(vectors, list | tuple):
        return _listed(vectors)
    return {"vectors": cast("Vectors", vectors)}


def _listed(several: Sequence[Vectors]) -> dict[str, Vectors]:
    named: dict[str, Vectors] = {}
    for place, each in enumerate(several, start=1):
        file = Path(each).name if isinstance(each, str | PathLike) else ""
        named[file if file and file not in named else f"vectors {place}"] = each
    if not named:
        raise InputError(f"vectors is an empty list; {KINDS}")
    return named


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
    """The table with the different texts of a column as its notes."""
    texts = map(str, table.get(column, []))
    table.attrs["notes"] = [text for text in dict.fromkeys(texts) if text]
    return table
