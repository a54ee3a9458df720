"""Bias metrics on language models: on likelihoods, encoded texts, and vectors of words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasbridge.certificates import gender_words
from biasbridge.corpora.items import FirstItems, UserItems, named_items, user_items
from biasbridge.files import InputError, nearest
from biasbridge.files.models.encoder import Encoder, Pooling
from biasbridge.files.models.language_model import AnyModel, open_model
from biasbridge.files.places import PACKAGE, HubModel, find_commit, is_folder
from biasbridge.intrinsic.audit import AuditedScore, choose_metrics, select_conventions
from biasbridge.intrinsic.audit import score_metrics as audit_vectors
from biasbridge.intrinsic.models.items import no_fillers
from biasbridge.intrinsic.models.slots import BETWEEN, COMPARED, LOST_PREFIX, TermMetric
from biasbridge.intrinsic.registry import METRICS, MODEL_METRICS
from biasbridge.stats.intervals import ALPHA, holm

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.files.models.language_model import Dtype
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.models.item_metric import ItemMetric
    from biasbridge.intrinsic.models.items import ItemSource
    from biasbridge.intrinsic.score import Score

MANY = 5  # tests of a metric, from which a sentence sums them up


def audit_models(
    models: Sequence[Any],
    *,
    items: str | None,
    language: str | None,
    limit: int | None,
    **options: Any,
) -> tuple[list[AuditedScore], list[str]]:
    """Measure language models by :func:`audit_model`. Return the scores and notes.

    A model is called by the name of its folder, or by its path if two have the same name; one on a
    hub as it was given.
    """
    paths = [str(model) if isinstance(model, str | PathLike) else None for model in models]
    on_hub = [_find_on_hub(path) if path else None for path in paths]
    short_names = [
        Path(path).name if path and not hub else path
        for path, hub in zip(paths, on_hub, strict=True)
    ]
    names = short_names if len(set(short_names)) == len(short_names) else paths
    options |= {"items": items, "language": language, "limit": limit}
    scores: list[AuditedScore] = []
    for name, model, hub in zip(names, models, on_hub, strict=True):
        if hub:
            place = hub.snapshot or f"{hub.name}@{hub.commit}"
            scores += audit_model(place, name=name, commit=hub.commit, **options)
        else:
            scores += audit_model(model, name=name, **options)
    warning = f"limit={limit}: the numbers are of {limit} items of each set, no result to report"
    notes = [warning] if limit else []
    for hub in filter(None, on_hub):
        cached = "; the hub did not answer, its copy in the cache was measured"
        notes.append(f"{hub.name}: commit {hub.commit}{cached if hub.snapshot else ''}")
    return scores, [*notes, *notes_on(scores, items, language), *adjusted_notes(scores)]


def _find_on_hub(path: str) -> HubModel | None:
    is_local = path.startswith(PACKAGE) or is_folder(path)
    return None if is_local else find_commit(path)


def audit_model(
    model: AnyModel,
    *,
    metrics: Sequence[str] = (),
    queries: Sequence[str] = (),
    items: str | None = None,
    fillers: Sequence[str] = (),
    convention: str | None = None,
    language: str | None = None,
    layer: int = -1,
    pooling: Pooling = "mean",
    random_seed: int | None = None,
    name: str | None = None,
    device: str = "cpu",
    dtype: Dtype = "float32",
    batch_size: int | None = None,
    limit: int | None = None,
    in_chat: bool = False,
    commit: str = "",
    resamples: int = 0,
    seed: int = 0,
) -> list[AuditedScore]:
    """Measure the metrics of a language model.

    Parameters
    ----------
    model, random_seed, device, dtype
        See ``open_model``.
    batch_size, in_chat
        See ``LanguageModel``.
    limit, commit
        Items of each set that are measured (None: all); of a model on a hub. Settings name both.
    metrics
        Names; by default all that measure models of this kind.
    queries
        Names of item sets; for metrics on word vectors, of queries.
    items, fillers
        A file of your own items, and what fills its slots (``["he/she"]``) instead of the default
        of its language.
    convention
        Name, or ``"all"``.
    layer, pooling
        Of the encoder, if the convention does not set them; a word is the mean of its tokens.
    name
        Of the model in the table.
    resamples
        Of words, for metrics on word vectors; metrics on items always have intervals.

    Returns
    -------
    list of AuditedScore
        One per metric, convention and item set, or part of it.

    Raises
    ------
    InputError
        An unknown name, a convention that no metric has, unreadable items, slots without fillers,
        or a model that cannot be opened whole.
    """
    _require_known(metrics)
    own_items = _own_items(items, queries, fillers, language)
    if own_items:  # fails early, before a model is opened
        _require_fillers(own_items, metrics or list(MODEL_METRICS))
    source = named_items(queries) if queries else own_items
    of_items = [name for name in metrics if name in MODEL_METRICS]
    if limit and (of_words := [name for name in metrics if name not in MODEL_METRICS]):
        raise InputError(f"limit={limit} is of items; {of_words[0]} measures words: leave it out")
    opened = open_model(
        model,
        device=device,
        dtype=dtype,
        random_seed=random_seed,
        must_predict=not metrics or any(MODEL_METRICS[name].needs == "model" for name in of_items),
    )
    opened = opened.with_options(batch_size=batch_size, in_chat=in_chat)
    opened = replace(opened, name=name or opened.name)
    encoder = Encoder(opened, layer=layer, pooling=pooling)
    model_kind = opened.kind if random_seed is None else "random"
    audited: list[AuditedScore] = []
    if of_items or not metrics:
        audited += _item_scores(encoder, model_kind, of_items, source, convention, limit, seed)
    if word_metric_names := [name for name in metrics if name in METRICS]:
        word_metrics = choose_metrics(
            word_metric_names,
            queries=queries,
            convention=convention,
            language=language or "en",
            resamples=resamples,
        )
        vectors = word_vectors_of(encoder, word_metrics)
        word_scores = audit_vectors(vectors, word_metrics, seed=seed)
        audited += [AuditedScore(opened.name, *row, model_kind) for row in word_scores]
    if not audited:
        raise InputError(_no_scores_message(metrics, convention))
    facts = {"commit": commit, "limit": limit, "device": opened.device.replace("cpu", "")}
    texts = [f"{name}={value}" for name, value in facts.items() if value]
    numbers = "" if opened.dtype == "float32" else f"dtype={opened.dtype}"
    return [
        row._replace(
            score=row.score._replace(settings="; ".join(filter(None, settings))),
            architecture=opened.architecture,
        )
        for row in audited
        for settings in [(row.score.settings or numbers, *texts)]
    ]


def _require_known(metrics: Sequence[str]) -> None:
    every_metric = {**MODEL_METRICS, **METRICS}
    for metric_name in metrics:
        if metric_name not in every_metric:
            choices = f"{nearest(metric_name, every_metric)}; there are {', '.join(every_metric)}"
            raise InputError(f"unknown metric {metric_name!r}{choices}")


def _own_items(
    items: str | None, queries: Sequence[str], fillers: Sequence[str], language: str | None
) -> ItemSource | None:
    if items and queries:
        raise InputError(f"give items={items!r} or queries ({', '.join(queries)}), not both")
    if fillers and not items:
        raise InputError(f"fillers {', '.join(fillers)} are for the slots of items: give --items")
    return user_items(items, language, fillers) if items else None


def _item_scores(
    encoder: Encoder,
    model_kind: str,
    names: Sequence[str],
    source: ItemSource | None,
    convention: str | None,
    limit: int | None,
    seed: int,
) -> list[AuditedScore]:
    """Measure the metrics on items; all those that apply to the model if none is named."""
    opened = encoder.opened
    are_requested = bool(names)
    metrics = list(
        _metrics(
            names or list(MODEL_METRICS), source, convention, limit, are_requested=are_requested
        )
    )
    item_sets = [items for source in {m.items for m in metrics} for items in source.load()]
    languages = {items.name: gender_words(items) for items in item_sets}
    audited: list[AuditedScore] = []
    for metric in metrics:
        if metric.needs == "model" and opened.kind == "encoder" and not are_requested:
            continue  # an encoder has no likelihoods
        rows = metric.score_with_singles(
            encoder if metric.needs == "encoder" else opened, seed=seed
        )
        for row in rows:
            # The certificate is of two groups; parts of such a metric compare more
            is_of_two = not (row[0].part and isinstance(metric, TermMetric))
            language = languages[row[0].query] if is_of_two else ""
            audited.append(AuditedScore(opened.name, *row, model_kind, language))
    return audited


def _require_fillers(source: ItemSource, metrics: Sequence[str]) -> None:
    """Raise ``InputError`` if a metric fills slots of your own items without fillers."""
    metric_classes = [MODEL_METRICS[name] for name in metrics if name in MODEL_METRICS]
    needs_fillers = any("fillers" in metric.about.roles for metric in metric_classes)
    for items in source.load():
        if needs_fillers and isinstance(source, UserItems) and (problem := no_fillers(items)):
            raise InputError(problem)


def notes_on(audited: Sequence[AuditedScore], items: str | None, language: str | None) -> list[str]:
    """Return the language assumed for ``items``, comparisons between texts, and lost items."""
    notes = []
    first_parts: dict[tuple[str, ...], Score] = {}
    for row in audited:
        key = (row.vectors, row.score.metric, row.score.convention, row.score.query)
        first_parts.setdefault(key, row.score)
    for score in first_parts.values():
        if items and not language:
            notes.append(
                f"{items}: assuming language {score.language!r}; give another if it is not"
            )
        title, total = f"{score.metric} {score.query}", score.n_found + score.n_oov
        for setting in score.settings.split("; "):
            name, _, value = setting.partition("=")
            if setting == f"{COMPARED}={BETWEEN}":
                notes.append(f"{title} compares between texts, which have terms of one group each")
            elif name.startswith(LOST_PREFIX):
                notes.append(f"{title}: {value} of {total} items {name}")
    return list(dict.fromkeys(notes))


def adjusted_notes(audited: Sequence[AuditedScore]) -> list[str]:
    """Return a sentence for each metric with many tests: how many remain after Holm's adjustment,
    and which score is furthest from the unbiased value.

    A query is tested once, by the default convention or else the first: others score it again.
    """
    conventions: dict[tuple[str, str], str] = {}
    for row in sorted(audited, key=lambda row: not row.score.convention.startswith("default")):
        conventions.setdefault((row.score.metric, row.score.query), row.score.convention)
    tested: dict[str, list[AuditedScore]] = {}
    for row in audited:
        score = row.score
        is_first = score.convention == conventions[score.metric, score.query]
        if is_first and not math.isnan(score.p_value) and not math.isnan(score.unbiased):
            tested.setdefault(score.metric, []).append(row)
    notes = []
    for metric, rows in tested.items():
        adjusted = zip(holm([row.score.p_value for row in rows]), rows, strict=True)
        differing = [row for p, row in adjusted if p < ALPHA]
        note = f"{metric}: after Holm's adjustment {len(differing) or 'none'} of {len(rows)} scores"
        note += f" {'differs' if len(differing) == 1 else 'differ'} from {rows[0].score.unbiased:g}"
        if differing:
            furthest = max(differing, key=lambda row: abs(row.score.value - row.score.unbiased))
            _, convention, query, part, value, *_ = furthest.score
            labels = (furthest.vectors, query, part, convention.replace("default", ""))
            note += f"; the furthest: {' '.join(filter(None, labels))}, {value:.3g}"
        notes += [note] if len(rows) >= MANY else []
    return notes


def _metrics(
    names: Sequence[str],
    items: ItemSource | None,
    convention: str | None,
    limit: int | None,
    *,
    are_requested: bool,
) -> Iterable[ItemMetric]:
    """Yield each metric by convention, on ``items`` or on its default ones, the first ``limit``.

    ``are_requested``: the user named the metrics, so none is skipped for items of another form.
    """
    for name in names:
        metric = MODEL_METRICS[name]
        source = items or named_items(metric.about.asks, available_only=not are_requested)
        if not source.load() or (items and not are_requested and not _takes_any(metric, items)):
            continue
        source = FirstItems(source, limit) if limit else source
        for convention_name in select_conventions(metric, convention):
            yield metric.by_convention(convention_name, items=source)


def _takes_any(metric: type[ItemMetric], source: ItemSource) -> bool:
    return any(not metric.reason_against(items) for items in source.load())


def word_vectors_of(encoder: Encoder, metrics: Sequence[Metric]) -> KeyedVectors:
    """Encode each word of the metrics' queries alone."""
    from biasbridge.train.subjects.language_model import template_contexts, word_vectors

    words = {
        spelling: None
        for metric in metrics
        for query in metric.loaded_queries
        for wordset in query.sets.values()
        for word in wordset.words
        for spelling in ((word, word.lower()) if metric.case == "lower" else (word,))
    }
    return word_vectors(encoder, template_contexts([*words], ["{}"]), layer=encoder.layer)


def _no_scores_message(metrics: Sequence[str], convention: str | None) -> str:
    names = ", ".join(metrics) or "any metric of a language model"
    if not convention:
        return f"no items for {names}; give --items FILE.csv, or --query NAME"
    metric_classes = [MODEL_METRICS[name] for name in metrics if name in MODEL_METRICS]
    conventions = dict.fromkeys(
        name for metric in metric_classes or MODEL_METRICS.values() for name in metric.conventions()
    )
    choices = f"{nearest(convention, conventions)}; there are {', '.join(conventions)}"
    return f"{names} has no convention {convention!r}{choices}"
