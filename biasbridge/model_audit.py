"""The audit of language models: on likelihoods, encoded texts, and vectors of words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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

_MANY = 5  # tests of a metric, from which a sentence sums them up


@dataclass(frozen=True)
class ModelAudit:
    """What is measured on language models: see :func:`biasbridge.audit`.

    ``own_metrics``: objects of the user. ``random_seed``: of random weights. ``in_chat``: texts are
    answers in a chat template.
    """

    metrics: Sequence[str]
    own_metrics: Sequence[Any]
    queries: Sequence[str]
    items: str | None
    fillers: Sequence[str]
    convention: str | None
    language: str | None
    layer: int
    pooling: Pooling
    random_seed: int | None
    dtype: Dtype
    device: str
    batch_size: int | None
    limit: int | None
    in_chat: bool
    resamples: int
    seed: int

    def measure(self, models: Sequence[Any]) -> tuple[list[AuditedScore], list[str]]:
        """Measure the metrics of language models; by default all for models of their kind.

        A model is called by the name of its folder, or by its path if two have the same name; one
        on a hub as it was given. Return a score per model, metric, convention and item set, or part
        of it, and notes. Raises ``InputError`` for an unknown name, a convention that no metric
        has, unreadable items, slots without fillers, or a model that cannot be opened whole.
        """
        paths = [str(model) if isinstance(model, str | PathLike) else None for model in models]
        on_hub = [_find_on_hub(path) if path else None for path in paths]
        short_names = [
            Path(path).name if path and not hub else path
            for path, hub in zip(paths, on_hub, strict=True)
        ]
        names = short_names if len(set(short_names)) == len(short_names) else paths
        scores: list[AuditedScore] = []
        for name, model, hub in zip(names, models, on_hub, strict=True):
            if hub:
                place = hub.snapshot or f"{hub.name}@{hub.commit}"
                scores += self._measure_model(place, name, hub.commit)
            else:
                scores += self._measure_model(model, name)
        notes = []
        if self.limit:
            numbers = f"the numbers are of {self.limit} items of each set, no result to report"
            notes.append(f"limit={self.limit}: {numbers}")
        for hub in filter(None, on_hub):
            cached = "; the hub did not answer, its copy in the cache was measured"
            notes.append(f"{hub.name}: commit {hub.commit}{cached if hub.snapshot else ''}")
        notes += _item_notes(scores, self.items if not self.language else None)
        return scores, [*notes, *_adjusted_notes(scores)]

    def _measure_model(
        self, model: AnyModel, name: str | None, commit: str = ""
    ) -> list[AuditedScore]:
        metrics, limit, of_items = self.metrics, self.limit, self._item_metric_names()
        own_items = self._own_items()
        if own_items:  # fails early, before a model is opened
            _require_fillers(own_items, metrics or list(MODEL_METRICS))
        source = named_items(self.queries) if self.queries else own_items
        if limit and (of_words := [name for name in metrics if name not in MODEL_METRICS]):
            raise InputError(
                f"limit={limit} is of items; {of_words[0]} measures words: leave it out"
            )
        must_predict = self._takes_all or any(
            MODEL_METRICS[name].needs == "model" for name in of_items
        )
        opened = open_model(
            model,
            device=self.device,
            dtype=self.dtype,
            random_seed=self.random_seed,
            must_predict=must_predict,
        )
        opened = opened.with_options(batch_size=self.batch_size, in_chat=self.in_chat)
        opened = replace(opened, name=name or opened.name)
        encoder = Encoder(opened, layer=self.layer, pooling=self.pooling)
        model_kind = opened.kind if self.random_seed is None else "random"
        audited: list[AuditedScore] = []
        if of_items or self.own_metrics or self._takes_all:
            audited += self._item_scores(encoder, model_kind, of_items, source)
        if word_metric_names := [name for name in metrics if name in METRICS]:
            word_metrics = choose_metrics(
                word_metric_names,
                queries=self.queries,
                convention=self.convention,
                language=self.language or "en",
                resamples=self.resamples,
            )
            vectors = _word_vectors_of(encoder, word_metrics)
            word_scores = audit_vectors(vectors, word_metrics, seed=self.seed)
            audited += [AuditedScore(opened.name, *row, model_kind) for row in word_scores]
        if not audited:
            raise InputError(self._no_scores_message())
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

    @property
    def _takes_all(self) -> bool:
        """Whether the user named no metric."""
        return not self.metrics and not self.own_metrics

    def _item_metric_names(self) -> list[str]:
        every_metric = {**MODEL_METRICS, **METRICS}
        for name in self.metrics:
            if name not in every_metric:
                choices = f"{nearest(name, every_metric)}; there are {', '.join(every_metric)}"
                raise InputError(f"unknown metric {name!r}{choices}")
        return [name for name in self.metrics if name in MODEL_METRICS]

    def _own_items(self) -> ItemSource | None:
        items, fillers = self.items, self.fillers
        if items and self.queries:
            listed = ", ".join(self.queries)
            raise InputError(f"give items={items!r} or queries ({listed}), not both")
        if fillers and not items:
            raise InputError(
                f"fillers {', '.join(fillers)} are for the slots of items: give --items"
            )
        return user_items(items, self.language, fillers) if items else None

    def _item_scores(
        self, encoder: Encoder, model_kind: str, names: Sequence[str], source: ItemSource | None
    ) -> list[AuditedScore]:
        """Measure the metrics on items; all those that apply to the model if none is named."""
        opened, takes_all = encoder.opened, self._takes_all
        metrics = [*self._metrics(list(MODEL_METRICS) if takes_all else names, source)]
        metrics += self.own_metrics
        item_sets = [items for source in {m.items for m in metrics} for items in source.load()]
        languages = {items.name: gender_words(items) for items in item_sets}
        audited: list[AuditedScore] = []
        for metric in metrics:
            if metric.needs == "model" and opened.kind == "encoder" and takes_all:
                continue  # an encoder has no likelihoods
            model = encoder if metric.needs == "encoder" else opened
            for row in metric.score_with_singles(model, seed=self.seed):
                # The certificate is of two groups; parts of such a metric compare more
                is_of_two = not (row[0].part and isinstance(metric, TermMetric))
                language = languages[row[0].query] if is_of_two else ""
                audited.append(AuditedScore(opened.name, *row, model_kind, language))
        return audited

    def _metrics(self, names: Sequence[str], items: ItemSource | None) -> Iterable[ItemMetric]:
        """Yield each metric by convention, on ``items`` or on its default ones, the first
        ``limit``. One that the user named is not skipped for items of another form.
        """
        for name in names:
            metric = MODEL_METRICS[name]
            source = items or named_items(metric.about.asks, available_only=self._takes_all)
            is_unfit = items and self._takes_all and not _takes_any(metric, items)
            if not source.load() or is_unfit:
                continue
            source = FirstItems(source, self.limit) if self.limit else source
            for convention_name in select_conventions(metric, self.convention):
                yield metric.by_convention(convention_name, items=source)

    def _no_scores_message(self) -> str:
        names = ", ".join(self.metrics) or "any metric of a language model"
        if not self.convention:
            return f"no items for {names}; give --items FILE.csv, or --query NAME"
        classes = [MODEL_METRICS[name] for name in self.metrics if name in MODEL_METRICS]
        conventions = dict.fromkeys(
            name for metric in classes or MODEL_METRICS.values() for name in metric.conventions()
        )
        choices = f"{nearest(self.convention, conventions)}; there are {', '.join(conventions)}"
        return f"{names} has no convention {self.convention!r}{choices}"


def _find_on_hub(path: str) -> HubModel | None:
    is_local = path.startswith(PACKAGE) or is_folder(path)
    return None if is_local else find_commit(path)


def _require_fillers(source: ItemSource, metrics: Sequence[str]) -> None:
    """Raise ``InputError`` if a metric fills slots of your own items without fillers."""
    metric_classes = [MODEL_METRICS[name] for name in metrics if name in MODEL_METRICS]
    needs_fillers = any("fillers" in metric.about.roles for metric in metric_classes)
    for items in source.load():
        if needs_fillers and isinstance(source, UserItems) and (problem := no_fillers(items)):
            raise InputError(problem)


def _item_notes(audited: Sequence[AuditedScore], items: str | None) -> list[str]:
    """Return the language assumed for ``items``, comparisons between texts, and lost items."""
    notes = []
    first_parts: dict[tuple[str, ...], Score] = {}
    for row in audited:
        key = (row.vectors, row.score.metric, row.score.convention, row.score.query)
        first_parts.setdefault(key, row.score)
    for score in first_parts.values():
        if items:
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


def _adjusted_notes(audited: Sequence[AuditedScore]) -> list[str]:
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
        notes += [note] if len(rows) >= _MANY else []
    return notes


def _takes_any(metric: type[ItemMetric], source: ItemSource) -> bool:
    return any(not metric.reason_against(items) for items in source.load())


def _word_vectors_of(encoder: Encoder, metrics: Sequence[Metric]) -> KeyedVectors:
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
