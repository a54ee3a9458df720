"""Bias metrics on language models: on likelihoods, encoded texts, and vectors of words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasbridge.certificates import gender_words
from corpora.items import UserItems, named_items, user_items
from files import InputError, nearest
from files.models.encoder import Encoder, Pooling
from files.models.language_model import AnyModel, open_model
from intrinsic.audit import AuditedScore, choose_metrics, select_conventions
from intrinsic.audit import audit as audit_vectors
from intrinsic.items.read import no_fillers
from intrinsic.likelihood.model_metrics import MODEL_METRICS
from intrinsic.likelihood.slots import BETWEEN, COMPARED, LOST_PREFIX
from intrinsic.metrics.vector_metrics import METRICS

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from intrinsic.item_metric import ItemMetric
    from intrinsic.items.item import ItemSource
    from intrinsic.metric import Metric


def audit_models(
    models: Sequence[Any],
    revision: str | None,
    *,
    items: str | None,
    language: str | None,
    **options: Any,
) -> tuple[list[AuditedScore], list[str]]:
    """Measure language models by :func:`audit_model`. Return the scores and notes.

    A model is called by the name of its folder, or by its path if two have the same name.
    """
    paths = [str(model) if isinstance(model, str | PathLike) else None for model in models]
    folder_names = [path and Path(path).name for path in paths]
    names = folder_names if len(set(folder_names)) == len(folder_names) else paths
    options |= {"items": items, "language": language}
    scores = [
        score
        for name, model in zip(names, models, strict=True)
        for score in audit_model(model, revision, name=name, **options)
    ]
    return scores, notes_on(scores, items, language)


def audit_model(
    model: AnyModel,
    revision: str | None = None,
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
    resamples: int = 0,
    seed: int = 0,
) -> list[AuditedScore]:
    """Measure the metrics of a language model.

    Parameters
    ----------
    model, revision, random_seed, device
        See ``open_model``.
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
    opened = open_model(model, revision, device=device, random_seed=random_seed)
    opened = replace(opened, name=name or opened.name)
    encoder = Encoder(opened, layer=layer, pooling=pooling)
    model_kind = opened.kind if random_seed is None else "random"
    audited: list[AuditedScore] = []
    item_metrics = [name for name in metrics if name in MODEL_METRICS]
    if item_metrics or not metrics:
        audited += _item_scores(encoder, model_kind, item_metrics, source, convention, seed)
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
    return audited


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
    seed: int,
) -> list[AuditedScore]:
    """Measure the metrics on items; all those that apply to the model if none is named."""
    opened = encoder.opened
    are_requested = bool(names)
    metrics = list(
        _metrics(names or list(MODEL_METRICS), source, convention, are_requested=are_requested)
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
        audited += [
            AuditedScore(opened.name, *row, model_kind, languages[row[0].query]) for row in rows
        ]
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
    for score in (row.score for row in audited if not row.score.part):
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


def _metrics(
    names: Sequence[str], items: ItemSource | None, convention: str | None, *, are_requested: bool
) -> Iterable[ItemMetric]:
    """Yield each metric by convention, on ``items`` or on its default ones.

    ``are_requested``: the user named the metrics, so none is skipped for items of another form.
    """
    for name in names:
        metric = MODEL_METRICS[name]
        source = items or named_items(metric.about.asks, available_only=not are_requested)
        if not source.load() or (items and not are_requested and not _takes_any(metric, items)):
            continue
        for convention_name in select_conventions(metric, convention):
            yield metric.by_convention(convention_name, items=source)


def _takes_any(metric: type[ItemMetric], source: ItemSource) -> bool:
    return any(not metric.reason_against(items) for items in source.load())


def word_vectors_of(encoder: Encoder, metrics: Sequence[Metric]) -> KeyedVectors:
    """Encode each word of the metrics' queries alone."""
    from train.subjects.word_states import template_contexts, word_vectors

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
