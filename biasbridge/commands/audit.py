"""Every bias metric on word vectors or on a language model, in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from biasbridge.command_line import Command, refuse_options, returns, say
from biasbridge.files import InputError
from biasbridge.files.choice import Count, Whole, as_names, check_arguments
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.models.encoder import Pooling
from biasbridge.files.models.language_model import Dtype
from biasbridge.files.vector_files import require_there
from biasbridge.input_vectors import (
    OpenedModel,
    Vectors,
    as_vectors,
    embeddings_by_name,
    is_model,
    require_files,
)
from biasbridge.input_words import WordsInput, built_in, word_file
from biasbridge.intrinsic.lookup import LetterCase
from biasbridge.own_parts import as_metrics, use_folder

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from biasbridge.files.writers import Document
    from biasbridge.intrinsic.audit import AuditedScore
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.own_parts import OwnMetric


class _Audit(NamedTuple):
    """Scores with their lines of the certificate, and what a reader must know of them.

    headlines: the result of WEAT or SEAT. conclusions: what the scores of a language model mean.
    next_command: what to do about it, if anything.
    """

    scores: list[AuditedScore]
    notes: list[str]
    explanations: list[str]
    headlines: list[str]
    conclusions: list[str]
    next_command: str


def _as_document(audited: _Audit) -> Document:
    from biasbridge.files.writers import Document
    from biasbridge.intrinsic.audit import score_table
    from biasbridge.intrinsic.terminal import rank_document, summary_table

    scores, ranks = audited.scores, Document(())
    if len({row.vectors for row in scores}) > 1:
        ranks = rank_document(score_table(scores))
    means = ["", "What it means"] * bool(audited.conclusions)
    notes = [*ranks.notes, *audited.notes, *_missing_values(scores), *audited.explanations]
    notes += [*means, *audited.conclusions, *filter(None, [audited.next_command])]
    return Document(audited.headlines, (), [summary_table(scores), *ranks.tables], notes)


def _as_table(audited: _Audit) -> pd.DataFrame:
    from biasbridge.intrinsic.audit import score_table

    table = score_table(audited.scores)
    missing = _missing_values(audited.scores)
    first = [*audited.headlines, *filter(None, [audited.next_command])]
    table.attrs["notes"] = [*first, *audited.notes, *missing, *audited.conclusions]
    return table


@returns(_as_table)
@check_arguments(seed=Whole, layer=int, batch_size=Count | None, limit=Count | None)
def audit(
    vectors: Vectors | Mapping[str, Vectors] | Sequence[Vectors] | OpenedModel,
    words: WordsInput | None = None,
    *,
    metrics: OwnMetric | Sequence[OwnMetric] = (),
    queries: str | Sequence[str] = (),
    items: str | PathLike[str] | None = None,
    fillers: str | Sequence[str] = (),
    convention: str | None = None,
    language: str | None = None,
    case: LetterCase | None = None,
    min_found: float | None = None,
    similarity: str | Sequence[str] = (),
    resamples: int = 0,
    seed: int = 0,
    layer: int = -1,
    pooling: Pooling | None = None,
    random_weights: bool = False,
    dtype: Dtype = "float32",
    device: str = "cpu",
    batch_size: Count | None = None,
    limit: Count | None = None,
    apply_chat_template: bool = False,
    trusted: bool = False,
    config_dir: str | PathLike[str] | None = None,
) -> _Audit:
    """Measure every bias metric on word vectors or on a language model.

    Parameters
    ----------
    vectors : vectors, language model, or several
        Files of word vectors, names of biasbridge data, or language models (a folder, package:NAME,
        org/name or org/name@COMMIT on a hub). Vectors may also be ``KeyedVectors``, a table with a
        row per word, or an array by word; a model a tuple of model and tokenizer. A list or a
        mapping by name audits several, told apart in the column ``vectors``. The commit of a model
        is in the column ``settings``.
    words : path or mapping, optional
        Your own queries: a JSON or YAML file with X, Y, A and B. In Python also a mapping or the
        name of a built-in query, see :func:`query`.
    metrics : str, metric, or several
        Metrics to measure (default: all that apply). In Python also classes or objects of your own.
    queries : str or sequence of str
        Queries, or built-in sets of items, to measure (default: those of each metric).
    items : path, optional
        Your own items for a language model: a CSV with text, group, term, template, or with stereo,
        anti, cluster.
    fillers : str or sequence of str
        Words that fill the slots of your items, for the first and the second group, such as he/she.
    convention : str, optional
        Published way to compute the metrics, such as caliskan, wefe or nangia, or all.
    language : str, optional
        Language of the vectors or items (default: detected, else English). Evidence is the frequent
        words, the file name or ``words``; of ``items`` the texts or the file name.
    case : {"exact", "lower"}, optional
        How to look up words: lower also tries lower case for words not found as written.
    min_found : float, optional
        Share of each word set that must be in the vocabulary (default: 0.5).
    similarity : str or sequence of str
        Files of word similarity for the metric sq, with a word, a word and a number per line.
    resamples : int
        Number of bootstrap samples of the words, for 95% intervals (0: no intervals).
    seed : int
        Seed of random numbers (default: 0).
    layer : int
        Layer whose states encode a text (0: embeddings, -1: the last).
    pooling : {"mean", "words", "cls", "last", "modules"}
        How a model turns the states of a text into one vector (default: modules, as the
        modules.json of a sentence encoder says, else mean).
    random_weights : bool
        Replace the weights of a model by random ones, as a baseline.
    dtype : {"auto", "float32", "float16", "bfloat16"}
        Number format of a model's weights; auto takes that of its configuration.
    device : str
        Device that runs a model: cpu, cuda, cuda:1 or mps.
    batch_size : int, optional
        Texts that a model computes at a time (default: as many as fit 2,048 tokens).
    limit : int, optional
        Measure only N items of each set, from its groups in turn, to try a command. Do not report
        the numbers.
    apply_chat_template : bool
        Score texts as answers to an empty message, in the chat template of a causal model.
    trusted : bool
        Open gensim's own format, a pickle that can run any code; only for files you made.
    config_dir : path, optional
        Folder with modules of your own metrics and methods.

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
    names, own = as_metrics(metrics)
    embeddings, own_words = embeddings_by_name(cast("Any", vectors)), words
    queries, fillers, similarity = map(as_names, (queries, fillers, similarity))
    is_run_otherwise = (dtype, device) != ("float32", "cpu")
    is_of_model = items or fillers or limit or batch_size or apply_chat_template or is_run_otherwise
    if is_of_model or any(map(is_model, vectors if isinstance(vectors, list) else [vectors])):
        of_vectors: dict[str, object] = {"words": words, "similarity": similarity, "case": case}
        of_vectors |= {"min-found": min_found, "trusted": trusted}
        refuse_options(of_vectors, "word vectors; for a language model give --items, --query")
        from biasbridge.model_audit import ModelAudit

        scores, notes = ModelAudit(
            metrics=names,
            own_metrics=own,
            queries=queries,
            items=None if items is None else str(items),
            fillers=fillers,
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
        ).measure(vectors if isinstance(vectors, list) else [vectors])
    else:
        of_models = {
            "random-weights (random_weights=)": random_weights,
            "layer (layer=)": layer != -1,
            "pooling (pooling=)": pooling is not None,
        }
        refuse_options(of_models, "language models; leave it out")
        _refuse_model_metrics(names, embeddings)
        require_files(embeddings.values())
        from biasbridge.intrinsic.audit import choose_metrics

        if built_in(words):
            queries, words, own_words = [*queries, str(words)], None, None
        with word_file(words) as file:
            options: dict[str, Any] = {"convention": convention, "similarity": similarity}
            options |= {"case": case, "min_found": min_found, "resamples": resamples}
            choose = partial(choose_metrics, names, queries=queries, words=file, **options)
            scores, notes = _audit_vectors(
                embeddings, choose, own, language, seed=seed, trusted=trusted
            )
    from biasbridge.certificates import certified
    from biasbridge.conclusions import conclusions, headlines, next_command

    scores, warnings, explanations = certified(scores)
    return _Audit(
        scores,
        [*warnings, *notes],
        explanations,
        headlines(scores),
        conclusions(scores),
        next_command(scores, embeddings, own_words),
    )


def _refuse_model_metrics(names: Sequence[str], embeddings: Mapping[str, Vectors]) -> None:
    """Raise ``InputError`` for metrics of language models, which vectors are not."""
    if not names:
        return
    from biasbridge.intrinsic.registry import MODEL_METRICS

    for metric_name in filter(MODEL_METRICS.__contains__, names):
        name, given = next(iter(embeddings.items()))
        if isinstance(given, str | PathLike):
            require_there(fspath(given))
        raise InputError(
            f"{metric_name} measures language models, unlike {name}: give a"
            " folder with config.json, package:NAME, or org/name@COMMIT on a hub"
        )


def _audit_vectors(
    embeddings: Mapping[str, Vectors],
    choose: partial[list[Metric]],
    own: Sequence[Metric],
    language: str | None,
    *,
    seed: int,
    trusted: bool,
) -> tuple[list[AuditedScore], list[str]]:
    """Measure embeddings by name; ``choose`` returns the metrics of the project for a language.

    Notes name the language and how it is known, words that exist in lower case only, groups that a
    metric does not compare, and queries of the file of words that lack a role.
    """
    from biasbridge.certificates import gender_words
    from biasbridge.files.vectors import reading_notes
    from biasbridge.intrinsic.audit import (
        AuditedScore,
        assume_language,
        doubt_order,
        missing_role_notes,
        name_affix,
        query_language,
        suggest_lower_case,
    )
    from biasbridge.intrinsic.audit import score_metrics as score_all
    from biasbridge.intrinsic.words import read_wordsets

    [names], queries, words = choose.args, choose.keywords["queries"], choose.keywords["words"]

    def metrics_in(language: str) -> list[Metric]:
        return [*(choose(language=language) if names or not own else ()), *own]

    of_queries = query_language(queries, words)
    if any(isinstance(x, str | PathLike) for x in embeddings.values()):  # before a file is read
        metrics_in(language or ("en" if of_queries == UNDETERMINED else of_queries))
    own_queries = list(read_wordsets(words).queries.values()) if words else []
    scores: list[AuditedScore] = []
    notes: list[str] = []
    for name, embedding in embeddings.items():
        vectors = as_vectors(embedding, trusted=trusted)
        detected, note = assume_language(name, vectors.index_to_key, of_queries)
        spoken = language or detected
        metrics = metrics_in(spoken)
        notes.append(f"{name}: language {language!r}, as given" if language else note)
        loaded = [query for metric in metrics for query in metric.loaded_queries]
        facts: dict[str, dict[str, Any]] = {
            x.name: {"gender_words": gender_words(x, spoken), "title": x.title} for x in loaded
        }
        scores += [
            AuditedScore(name, *row, **facts.get(row[0].query, {}))
            for row in score_all(vectors, metrics, seed=seed)
        ]
        by_order = (metric.name for metric in metrics if hasattr(metric, "vocabulary"))
        notes += [
            *reading_notes(vectors),
            *suggest_lower_case(name, vectors, metrics),
            *name_affix(name, vectors, metrics),
            *doubt_order(name, vectors, by_order),
            *(warning for metric in metrics for warning in metric.remarks()),
            *missing_role_notes(metrics, own_queries),
        ]
    return scores, list(dict.fromkeys(notes))


def _missing_values(scores: Sequence[AuditedScore]) -> list[str]:
    """Count the scores without a value; list what lacks a value or a p by reason."""
    has_several = len({row.vectors for row in scores}) > 1
    titles_by_reason: dict[str, list[str]] = {}
    for row in scores:
        if row.score.reason:
            title = f"{row.score.metric} {row.score.query} {row.score.part}".rstrip()
            title = f"{row.vectors}: {title}" if has_several else title
            titles_by_reason.setdefault(row.score.reason, []).append(title)
    n_missing = sum(isnan(row.score.value) for row in scores)
    count = [f"{n_missing} of {len(scores)} scores have no value"] if n_missing else []
    return count + [f"{', '.join(titles)}: {reason}" for reason, titles in titles_by_reason.items()]


def _run(vectors: Sequence[str] = (), *, listing: bool = False, **options: Any) -> _Audit | None:
    """Audit files, which are called by their names, or by their paths if two have the same name.

    Parameters
    ----------
    listing : bool
        List the metrics, conventions and queries, and measure nothing.
    """
    if listing:
        return None
    if not vectors:
        raise InputError("give one or more files of word vectors, a language model, or --list")
    names = [Path(path).name for path in vectors]
    is_vectors = not any(map(is_model, vectors))
    if len(set(names)) < len(names) and is_vectors:
        options["vectors"] = {path: path for path in vectors}
    else:
        options["vectors"] = [*vectors]
    if "words" in options:
        options["words"] = Path(options["words"])
    return audit.raw(**options)  # type: ignore[attr-defined, no-any-return]


def _show(
    audited: _Audit | None,
    console: Console,
    *,
    verbose: bool = False,
    single_scores: bool = False,
) -> None:
    """Print a line per score, notes, and ranks of several files.

    Parameters
    ----------
    verbose : bool
        Explain each metric.
    single_scores : bool
        Print the score of every word as well.
    """
    from biasbridge.files.writers import print_document, print_lines
    from biasbridge.intrinsic.terminal import print_scores

    if audited is None:
        from biasbridge.intrinsic.describe import print_metrics

        print_metrics(console)
        return
    document = _as_document(audited)
    if verbose or single_scores:
        print_lines(document.first, console)
        print_scores(audited.scores, console, singles=single_scores)
        document = document._replace(first=(), tables=document.tables[1:])
    print_document(document, console)


def _end(
    audited: _Audit | None, console: Console, *, limit: int | None = None, is_printed: bool
) -> int:
    """Return 1 if no score has a value."""
    if audited is None:
        return 0
    for note in audited.notes:
        if is_printed and note.startswith(f"limit={limit}:"):
            say(console, f"warning: {note}")
    return int(all(isnan(row.score.value) for row in audited.scores))


def _format_json(audited: _Audit) -> str:
    from biasbridge.files.writers import format_json

    singles: Any = [dict(row.single_scores) for row in audited.scores]
    return format_json(_as_table(audited).assign(single_scores=singles))


main = Command(
    audit,
    _show,
    run=_run,
    end=_end,
    table=_as_table,
    document=_as_document,
    documents={"json": _format_json},
    spelling="vectors VECTORS*; words FILE; metrics --metric NAME+,; queries --query NAME+,; "
    "items FILE; fillers A/B+; convention NAME; language CODE; min_found SHARE; "
    "similarity FILE+; resamples N; batch_size N; limit N; config_dir FOLDER; listing --list",
)
