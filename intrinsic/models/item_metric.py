"""Base of metrics on language models: sets of items, options by convention, resamples, rows.

A subclass adds what it observes of an item and how observations are summarised.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from annotated_types import doc

from biasbridge.files import InputError, choice
from biasbridge.files.paths import digest_of
from biasbridge.files.progress import begin_part
from biasbridge.intrinsic.models.items import ItemSet, ItemSource
from biasbridge.intrinsic.resampling import RESAMPLES, times_drawn
from biasbridge.intrinsic.score import (
    UNTESTED,
    ByConvention,
    MetricResult,
    Score,
    make_row,
    percentiles,
)
from biasbridge.intrinsic.words import Query

if TYPE_CHECKING:
    from biasbridge.intrinsic.permutation import PValue
    from biasbridge.stats.arrays import Floats


_TOKENS = 10  # that a masked model predicts of a text, about
_CLUSTER = "cluster"  # the factor of pairs; its groups are parts of one score
ScoreSettings = Mapping[str, str | int | float]


@dataclass(frozen=True)
class ItemObservations:
    """Observations of a model on n items.

    values: array of n rows. names: names of the items, for single scores. factors: what items
    share, by name (``term``, ``template``, ``cluster``), a label per item; a resample draws labels,
    of all factors independently. groups: a label per item. settings: how it was measured. lost:
    name or term of each item not measured. seed: of random draws. unbiased: the value
    without the bias, if it is not that of the metric.
    """

    values: Floats
    names: Sequence[str]
    factors: Mapping[str, Sequence[str]]
    groups: Sequence[str] = ()
    settings: ScoreSettings = field(default_factory=dict)
    lost: Sequence[str] = ()
    seed: int = 0
    unbiased: float | None = None

    def count(self, part: str) -> int:
        """Count the items of a part: those of the group of this name, else all."""
        return self.groups.count(part) if part and part in self.groups else len(self.names)

    def resample_weights(self) -> Floats:
        """Return how often each item is drawn into each resample, (n, 200).

        The product over the factors of the counts of their labels, see
        :mod:`biasbridge.intrinsic.resampling`. The only word, or template, of a group is kept.
        """
        groups = self.groups or [""] * len(self.names)
        weights: Floats = np.ones((len(self.names), RESAMPLES))
        for factor, labels in self.factors.items():
            levels = list(dict.fromkeys(labels))
            n_levels = Counter(group for group, _ in {*zip(groups, labels, strict=True)})
            times = times_drawn(f"{factor} {level}" for level in levels)
            is_drawn = np.asarray([n_levels[group] > 1 or factor == _CLUSTER for group in groups])
            indices = [levels.index(label) for label in labels]
            weights *= np.where(is_drawn[:, None], times[indices], 1)
        return weights


@choice
class ItemMetric(ByConvention):
    """Base of a metric of a language model over sets of items.

    A subclass defines ``about``, ``reason_against`` and ``observe``; ``summarise`` if its score is
    no mean, ``test`` if it has a test. Further fields are options, each annotated with ``doc``.
    """

    needs: ClassVar[str] = "model"
    kinds: ClassVar[tuple[str, ...]] = ("masked", "causal")  # of models, where it needs one
    by_default: ClassVar[bool] = True  # measured where no metric is named
    instead: ClassVar[str] = ""  # remedy for another kind
    texts_per_item: ClassVar[int] = 1  # that a model computes, about
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    unlabelled: ClassVar[tuple[str, ...]] = ("items", "convention", "intervals")
    unkeyed: ClassVar[tuple[str, ...]] = ("items",)
    # Metrics on words have queries; these have items
    loaded_queries: ClassVar[Sequence[Query]] = ()
    open_queries: ClassVar[Sequence[str]] = ()

    items: Annotated[ItemSource, doc("source of the items")]
    convention: str = field(default="default", init=False)
    intervals: Annotated[
        bool, doc("whether to compute intervals, over resampled words, templates or clusters")
    ] = True

    def with_queries(self, words: Mapping[str, Query]) -> Self:
        """Return the metric itself: it has no open query."""
        return self

    def files(self) -> list[Path]:
        """Return the files of the items."""
        return self.items.files()

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the items, wherever they are listed."""
        return {"items": digest_of([items.key_fields() for items in self.items.load()])}

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return why the metric cannot use these items; empty if it can."""
        raise NotImplementedError

    @classmethod
    def reason_against_model(cls, kind: str) -> str:
        """Return why the metric cannot use a model of this kind; empty if it can."""
        if cls.needs != "model" or kind in cls.kinds:
            return ""
        if kind == "encoder":
            return "measured as an encoder, the model has no head that predicts tokens"
        return f"the metric needs a {cls.kinds[0]} model, this is {kind}{cls.instead}"

    def observe(self, model: Any, items: ItemSet) -> ItemObservations:
        """Observe the model on each item; an ``InputError`` becomes NaN with its reason.

        Parameters
        ----------
        model : LanguageModel or Encodes
            What the metric ``needs``, opened.
        items : ItemSet
            Items that ``reason_against`` has no objection to.
        """
        raise NotImplementedError

    def summarise(self, observed: ItemObservations, weights: Floats) -> Mapping[str, Floats]:
        """Compute the score of each part with weighted items.

        Parameters
        ----------
        observed : Observations
            Observations of n items.
        weights : array of shape (n, R)
            How often each item counts: 1 for the score itself, counts of resamples.

        Returns
        -------
        mapping of str to array of shape (R,)
            Scores by part; NaN: no score. Here the weighted mean of the values, without parts.
        """
        with np.errstate(invalid="ignore"):
            return {"": observed.values @ weights / weights.sum(axis=0)}

    def test(self, observed: ItemObservations) -> Mapping[str, PValue]:
        """Compute the p-value of each part that has one, over words, templates or clusters."""
        return {}

    def unbiased_at(self, part: str) -> float | None:
        """Return the value of a part without the bias, that of ``about``; None: not about bias."""
        return self.about.unbiased

    def singles(self, observed: ItemObservations) -> Mapping[str, float]:
        """Return the single scores that the value summarises, by word, item or pair."""
        values = observed.values if observed.values.ndim == 1 else np.empty(0)
        return dict(zip(observed.names, values.tolist(), strict=False))

    def parts(self, kind: str) -> list[tuple[str, float]]:
        """Return each set by label, with the texts that a model of the kind computes."""
        per_item = self.texts_per_item
        per_item *= _TOKENS if self.needs == "model" and kind == "masked" else 1
        return [
            (
                f"{self.about.name} {items.name}",
                per_item * (len(items.items) + 2 * len(items.pairs)),
            )
            for items in self.items.load()
        ]

    def score(self, model: Any, *, seed: int) -> list[Score]:
        """Return a row per set of items, or per part of a set."""
        return [row for row, _ in self.score_with_singles(model, seed=seed)]

    def score_with_singles(
        self, model: Any, *, seed: int
    ) -> list[tuple[Score, Mapping[str, float]]]:
        """Return each row with the single scores that it summarises."""
        rows: list[tuple[Score, Mapping[str, float]]] = []
        for items in self.items.load():
            begin_part(f"{self.about.name} {items.name}")
            try:
                kind = getattr(model, "kind", self.kinds[0])
                if reason := self.reason_against_model(kind) or self.reason_against(items):
                    raise InputError(reason)
                observed = dataclasses.replace(self.observe(model, items), seed=seed)
                results = self._results(observed)
                singles = self.singles(observed)
            except InputError as error:
                observed, results, singles = (
                    None,
                    {"": MetricResult(math.nan, reason=str(error))},
                    {},
                )
            for part, result in results.items():
                row = self._row(items, part, result, observed)
                rows.append((row, singles if part in ("", next(iter(results))) else {}))
        return rows

    def _results(self, observed: ItemObservations) -> dict[str, MetricResult]:
        """Return the result of each part, with its test and its interval."""
        values = self.summarise(observed, np.ones((len(observed.names), 1)))
        resampled = self.summarise(observed, observed.resample_weights()) if self.intervals else {}
        tests = self.test(observed)
        results = {}
        for part, value in values.items():
            unbiased = self.unbiased_at(part) if observed.unbiased is None else observed.unbiased
            resamples: list[float] = resampled[part].tolist() if part in resampled else []
            results[part] = MetricResult(
                float(value[0]),
                test=tests.get(part, UNTESTED),
                unbiased=math.nan if unbiased is None else unbiased,
                interval=percentiles(resamples, RESAMPLES) if resamples else (math.nan, math.nan),
                resampled=tuple(resamples),
            )
        return results

    def _row(
        self, items: ItemSet, part: str, result: MetricResult, observed: ItemObservations | None
    ) -> Score:
        lost = observed.lost if observed else ()
        return make_row(
            self.about,
            self.label,
            part,
            result,
            query=items.name,
            language=items.language,
            n_found=observed.count(part) if observed else 0,
            n_oov=len(lost),
            oov=dict.fromkeys(lost),
            settings=_format_settings(observed.settings) if observed else "",
            measured="this model",
        )


def items_from(source: str, **options: object) -> Mapping[str, object]:
    """Return the configuration of a metric on the items of a class of ``corpora/items.py``."""
    return {"items": {"_target_": f"biasbridge.corpora.items.{source}", **options}}


def _format_settings(settings: ScoreSettings) -> str:
    """Format settings as ``dtype=float32; first token=none; tokens=512``."""
    return "; ".join(
        f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in settings.items()
    )


def sizes(factors: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Count the labels of each factor, as settings: ``terms``, ``templates``, ``clusters``."""
    return {f"{name}s": len({*labels}) for name, labels in factors.items()}
