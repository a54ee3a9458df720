"""The audit of language models: on likelihoods, encoded texts, and vectors of words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from biasbridge.certificates import gender_words
from biasbridge.conclusions import meaning_above
from biasbridge.corpora.items import (
    FirstItems,
    UserItems,
    how_to_get_items,
    named_items,
    user_items,
)
from biasbridge.files import InputError, nearest
from biasbridge.files.models.encoder import Encoder, Pooling, template_contexts, word_vectors
from biasbridge.files.models.language_model import (
    AnyModel,
    head_problem,
    missing_architectures,
    open_model,
    outline_model,
)
from biasbridge.files.places import PACKAGE, HubModel, find_commit, is_folder
from biasbridge.files.progress import forecast
from biasbridge.intrinsic.audit import AuditedScore, choose_metrics, select_conventions
from biasbridge.intrinsic.audit import score_metrics as audit_vectors
from biasbridge.intrinsic.models.items import no_fillers
from biasbridge.intrinsic.models.slots import BETWEEN, COMPARED, LOST_PREFIX, TermMetric
from biasbridge.intrinsic.registry import METRICS, MODEL_METRICS

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.files.models.language_model import Dtype
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.models.item_metric import ItemMetric
    from biasbridge.intrinsic.models.items import ItemSource
    from biasbridge.intrinsic.score import Score


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
    pooling: Pooling | None
    random_seed: int | None
    dtype: Dtype
    device: str
    batch_size: int | None
    limit: int | None
    in_chat: bool
    resamples: int
    seed: int

    def measure(self, models: Sequence[Any]) -> tuple[list[AuditedScore], list[str]]:
        """Measure the metrics of language models; by default those of ``by_default``.

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
        # Everything that can be refused is, before the weights of the first model are read
        plans = [self._plan(*row) for row in zip(models, names, on_hub, strict=True)]
        scores: list[AuditedScore] = []
        with forecast([part for plan in plans for part in plan.parts()]):
            for plan in plans:
                scores += self._measure_plan(plan)
        notes = []
        if self.limit:
            measured = f"only {self.limit} items of each set were measured"
            notes.append(f"limit={self.limit}: {measured}; do not report the numbers")
        for hub in filter(None, on_hub):
            cached = " (the hub did not answer; the copy in the cache was measured)"
            notes.append(f"{hub.name}: commit {hub.commit}{cached if hub.snapshot else ''}")
        notes += _item_notes(scores, self.items if not self.language else None)
        return scores, [*notes, *_left_out_notes(plans)]

    def _plan(self, model: Any, name: str | None, hub: HubModel | None) -> _Plan:
        """Choose what is measured on a model, from its configuration and the data that are there.

        Raises ``InputError`` as ``measure`` does, and for a model without a head for the metrics.
        """
        of_items, own_items = self._item_metric_names(), self._own_items()
        if own_items:
            _require_fillers(own_items, self.metrics or list(MODEL_METRICS))
        source = named_items(self.queries) if self.queries else own_items
        of_words = [name for name in self.metrics if name not in MODEL_METRICS]
        if self.limit and of_words:
            raise InputError(
                f"limit={self.limit} limits items, but {of_words[0]} measures words; leave it out"
            )
        if isinstance(model, str | PathLike):
            model = hub.snapshot or f"{hub.name}@{hub.commit}" if hub else fspath(model)
            _, config, kind, problem = outline_model(model)
        else:
            model = open_model(model, device=self.device, dtype=self.dtype)
            config, kind = model.model.config, model.kind
            problem = head_problem(config, model.name) if config.is_encoder_decoder else ""
        by_default = [name for name, metric in MODEL_METRICS.items() if metric.by_default]
        names = by_default if self._takes_all else of_items
        needs = {MODEL_METRICS[name].needs for name in names}
        # Without a list of architectures a head may be there, but is not known
        is_unknown = bool(missing_architectures(config, "MASKED_LM", "CAUSAL_LM"))
        is_refused = needs == {"model"} or (self._takes_all and is_unknown)
        if problem and is_refused and not self.own_metrics and not of_words:
            raise InputError(problem)
        left_out: dict[str, list[str]] = {}
        metrics = [*self._metrics(names, source, kind, left_out), *self.own_metrics]
        if not metrics and not of_words:
            raise InputError(self._no_scores_message(left_out))
        return _Plan(model, name, hub.commit if hub else "", kind, metrics, left_out)

    def _measure_plan(self, plan: _Plan) -> list[AuditedScore]:
        opened = open_model(
            plan.model,
            device=self.device if isinstance(plan.model, str) else "cpu",
            dtype=self.dtype if isinstance(plan.model, str) else "float32",
            random_seed=self.random_seed,
        )
        opened = opened.with_options(batch_size=self.batch_size, in_chat=self.in_chat)
        opened = replace(opened, name=plan.name or opened.name)
        encoder = Encoder(opened, layer=self.layer, pooling=self.pooling)
        model_kind = opened.kind if self.random_seed is None else "random"
        audited = _item_scores(encoder, model_kind, plan.metrics, seed=self.seed)
        if word_metric_names := [name for name in self.metrics if name in METRICS]:
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
        facts = {"commit": plan.commit, "limit": self.limit, "weights": opened.weights}
        facts |= {"device": opened.device.replace("cpu", ""), "trial": opened.trial.differences}
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
            raise InputError(f"fillers {', '.join(fillers)} fill the slots of items; give --items")
        return user_items(items, self.language, fillers) if items else None

    def _metrics(
        self,
        names: Sequence[str],
        items: ItemSource | None,
        kind: str,
        left_out: dict[str, list[str]],
    ) -> Iterable[ItemMetric]:
        """Yield each metric by convention, on ``items`` or on its default ones, the first
        ``limit``. One that the user named is not skipped for items of another form or a model of
        another kind. ``left_out``: gets the metrics that are not measured, by reason.
        """
        for name in names:
            metric = MODEL_METRICS[name]
            is_listed = self._takes_all or len(self.metrics) + len(self.own_metrics) > 1
            source = items or named_items(metric.about.asks, available_only=is_listed)
            if not metric.about.asks and not items:
                if not self._takes_all:
                    left_out.setdefault("it has no items of its own", []).append(name)
                continue
            if self._takes_all and (reason := metric.reason_against_model(kind)):
                left_out.setdefault(reason.partition(";")[0], []).append(name)
                continue
            if not source.load() and metric.about.asks:
                left_out.setdefault(how_to_get_items(metric.about.asks[0]), []).append(name)
            is_unfit = items and self._takes_all and not _takes_any(metric, items)
            if not source.load() or is_unfit:
                continue
            source = FirstItems(source, self.limit) if self.limit else source
            for convention_name in select_conventions(metric, self.convention, kind):
                yield metric.by_convention(convention_name, items=source)

    def _no_scores_message(self, left_out: Mapping[str, Sequence[str]]) -> str:
        names = ", ".join(self.metrics) or "any metric of a language model"
        if not self.convention:
            reasons = "".join(f"; {', '.join(left_out[reason])}: {reason}" for reason in left_out)
            return f"no items for {names}; give --items FILE.csv, or --query NAME{reasons}"
        classes = [MODEL_METRICS[name] for name in self.metrics if name in MODEL_METRICS]
        conventions = dict.fromkeys(
            name for metric in classes or MODEL_METRICS.values() for name in metric.conventions()
        )
        choices = f"{nearest(self.convention, conventions)}; there are {', '.join(conventions)}"
        return f"{names} has no convention {self.convention!r}{choices}"


class _Plan(NamedTuple):
    """What is measured on a model; ``left_out``: the metrics that are not, by reason."""

    model: AnyModel
    name: str | None
    commit: str
    kind: str
    metrics: Sequence[Any]
    left_out: Mapping[str, Sequence[str]]

    def parts(self) -> list[tuple[str, float]]:
        """Return the parts of the work, by label and cost."""
        with_parts = (metric for metric in self.metrics if hasattr(metric, "parts"))
        return [part for metric in with_parts for part in metric.parts(self.kind)]


def _item_scores(
    encoder: Encoder, model_kind: str, metrics: Sequence[Any], *, seed: int
) -> list[AuditedScore]:
    """Measure metrics on items."""
    item_sets = [items for source in {m.items for m in metrics} for items in source.load()]
    by_name = {items.name: items for items in item_sets}
    audited: list[AuditedScore] = []
    for metric in metrics:
        model = encoder if metric.needs == "encoder" else encoder.opened
        for score, singles in metric.score_with_singles(model, seed=seed):
            # The certificate is of two groups; parts of such a metric compare more
            is_of_two = not (score.part and isinstance(metric, TermMetric))
            items = by_name[score.query]
            language = gender_words(items) if is_of_two else ""
            above = meaning_above(metric.about, items) if is_of_two else ""
            facts = {"gender_words": language, "above": above, "title": items.title}
            audited.append(AuditedScore(encoder.name, score, singles, model_kind, **facts))
    return audited


def _left_out_notes(plans: Sequence[_Plan]) -> list[str]:
    """Return a line for each reason why metrics were not measured."""
    names: dict[str, list[str]] = {}
    for plan in plans:
        for reason, metrics in plan.left_out.items():
            title = f" ({plan.name or 'model'})" * (len(plans) > 1)
            names.setdefault(reason, []).append(", ".join(metrics) + title)
    return [f"not measured: {'; '.join(metrics)}: {reason}" for reason, metrics in names.items()]


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
                f"{items}: assuming language {score.language!r}; give the language if it is another"
            )
        title, total = f"{score.metric} {score.query}", score.n_found + score.n_oov
        for setting in score.settings.split("; "):
            name, _, value = setting.partition("=")
            if setting == f"{COMPARED}={BETWEEN}":
                notes.append(f"{title} compares different texts: each has terms of one group only")
            elif name.startswith(LOST_PREFIX):
                notes.append(f"{title}: {value} of {total} items {name}")
    return list(dict.fromkeys(notes))


def _takes_any(metric: type[ItemMetric], source: ItemSource) -> bool:
    return any(not metric.reason_against(items) for items in source.load())


def _word_vectors_of(encoder: Encoder, metrics: Sequence[Metric]) -> KeyedVectors:
    """Encode each word of the metrics' queries alone."""
    words = {
        spelling: None
        for metric in metrics
        for query in metric.loaded_queries
        for wordset in query.sets.values()
        for word in wordset.words
        for spelling in ((word, word.lower()) if metric.case == "lower" else (word,))
    }
    return word_vectors(encoder, template_contexts([*words], ["{}"]), layer=encoder.layer)
