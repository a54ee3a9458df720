"""What metrics on language models share: items, options by convention, resamples, a row a score.

Each adds what it observes of an item and how observations are summarised.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from files import InputError, choice
from files.digest import digest_of
from intrinsic.conventions import ByConvention
from intrinsic.items.item import ItemSet, ItemSource
from intrinsic.resampling import RESAMPLES, times_drawn
from intrinsic.score import UNTESTED, Score, percentiles
from intrinsic.wordsets import Query

if TYPE_CHECKING:
    from intrinsic.permutation import PValue

Floats = NDArray[np.float64]
CLUSTER = "cluster"  # the factor of pairs, whose groups are parts of one score
Settings = Mapping[str, str | int | float]


@dataclass(frozen=True)
class Observed:
    """What a model says of n items.

    values: an array of n rows. names: of the items, for their single scores. factors: what items
    share, by name (``term``, ``template``, ``cluster``), one label an item: a resample draws whole
    labels, of all factors independently. groups: one label an item. settings: how it was measured.
    lost: a name or term for each item that could not be measured. seed: of what is drawn;
    ``detailed`` sets it. unbiased: the value without the bias, where it is not what the metric
    says.
    """

    values: Floats
    names: Sequence[str]
    factors: Mapping[str, Sequence[str]]
    groups: Sequence[str] = ()
    settings: Settings = field(default_factory=dict)
    lost: Sequence[str] = ()
    seed: int = 0
    unbiased: float | None = None

    def count(self, part: str) -> int:
        """The items behind a part: those of the group that it names, else all."""
        return self.groups.count(part) if part in self.groups else len(self.names)

    def resample_weights(self) -> Floats:
        """How often each item is drawn into each resample, (n, 200): the product over the factors
        of what ``intrinsic.resampling`` draws of their labels. The only word, or template, of a
        group is kept.
        """
        groups = self.groups or [""] * len(self.names)
        weights: Floats = np.ones((len(self.names), RESAMPLES))
        for factor, labels in self.factors.items():
            known = list(dict.fromkeys(labels))
            of_group = Counter(group for group, _ in {*zip(groups, labels, strict=True)})
            drawn = times_drawn(f"{factor} {label}" for label in known)
            several = np.asarray([of_group[group] > 1 or factor == CLUSTER for group in groups])
            places = [known.index(label) for label in labels]
            weights *= np.where(several[:, None], drawn[places], 1)
        return weights


@choice
class ItemMetric(ByConvention):
    """A metric of a language model over sets of items.

    A new metric gives ``about``, ``takes``, ``observe`` and ``summarise``, and where it has a test
    ``test``; its further fields are options, each annotated with ``doc``.
    """

    needs: ClassVar[str] = "model"
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    unlabelled: ClassVar[tuple[str, ...]] = ("items", "convention", "intervals")
    unkeyed: ClassVar[tuple[str, ...]] = ("items",)
    # Metrics on words have queries; these have items
    asked: ClassVar[Sequence[Query]] = ()
    open: ClassVar[Sequence[str]] = ()

    items: Annotated[ItemSource, doc("where the items come from")]
    convention: str = field(default="default", init=False)
    intervals: Annotated[
        bool, doc("whether there are intervals, over resampled words, templates or clusters")
    ] = True

    @classmethod
    def configured(cls, *, convention: str | None = None, **values: Any) -> Self:
        """As ``by``, from the flat keys of a configuration: null leaves the convention's value."""
        given = {name: value for name, value in values.items() if value is not None}
        return cls.by(convention or "default", **given)

    def given(self, words: Mapping[str, Query]) -> Self:
        """Itself: it has no open query."""
        return self

    def files(self) -> list[Path]:
        """Those of the items."""
        return self.items.files()

    def keyed(self) -> Mapping[str, object]:
        """The items, wherever they are listed."""
        return {"asked": digest_of([each.decisive() for each in self.items.load()])}

    @classmethod
    def takes(cls, items: ItemSet) -> str:
        """Why it cannot ask these items; empty where it can."""
        raise NotImplementedError

    def observe(self, given: Any, items: ItemSet) -> Observed:
        """What the model says of each item. ``InputError``: NaN, with the reason."""
        raise NotImplementedError

    def summarise(self, seen: Observed, weights: Floats) -> Mapping[str, Floats]:
        """The score of each part with every item counted as often as ``weights`` (n, R) says,
        (R,); NaN where it has none.
        """
        raise NotImplementedError

    def test(self, seen: Observed) -> Mapping[str, PValue]:
        """The p-value of each part that has one, over words, templates or clusters."""
        return {}

    def unbiased_at(self, part: str) -> float | None:
        """The value of a part without the bias, None where it has none: what ``about`` says."""
        return self.about.unbiased

    def singles(self, seen: Observed) -> Mapping[str, float]:
        """The single scores that the value summarises, by word, item or pair."""
        values = seen.values if seen.values.ndim == 1 else np.empty(0)
        return dict(zip(seen.names, values.tolist(), strict=False))

    def score(self, given: Any, *, seed: int) -> list[Score]:
        """One row a score: of each set of items, or of each of its parts."""
        return [row for row, _ in self.detailed(given, seed=seed)]

    def detailed(self, given: Any, *, seed: int) -> list[tuple[Score, Mapping[str, float]]]:
        """As ``score``, with the single scores that each summarises."""
        rows: list[tuple[Score, Mapping[str, float]]] = []
        for items in self.items.load():
            try:
                if reason := self.takes(items):
                    raise InputError(reason)
                seen = dataclasses.replace(self.observe(given, items), seed=seed)
                rows += list(self._rows(items, seen))
            except InputError as error:
                rows.append((self._row(items, "", None, math.nan, reason=str(error)), {}))
        return rows

    def _rows(self, items: ItemSet, seen: Observed) -> Iterable[tuple[Score, Mapping[str, float]]]:
        values = self.summarise(seen, np.ones((len(seen.names), 1)))
        resampled = self.summarise(seen, seen.resample_weights()) if self.intervals else {}
        tests, each = self.test(seen), self.singles(seen)
        for part, value in values.items():
            drawn: list[float] = resampled[part].tolist() if part in resampled else []
            row = self._row(
                items,
                part,
                seen,
                float(value[0]),
                drawn=drawn,
                test=tests.get(part, UNTESTED),
                reason="" if math.isfinite(value[0]) else "the score is 0 / 0 on this model",
            )
            yield row, each if part in ("", next(iter(values))) else {}

    def _row(
        self,
        items: ItemSet,
        part: str,
        seen: Observed | None,
        value: float,
        *,
        drawn: Sequence[float] = (),
        test: PValue = UNTESTED,
        reason: str = "",
    ) -> Score:
        low, high = percentiles(drawn, RESAMPLES) if drawn else (math.nan, math.nan)
        least, most = self.about.range
        unbiased = self.unbiased_at(part)
        if seen and seen.unbiased is not None:
            unbiased = seen.unbiased
        settings = seen.settings if seen else {}
        return Score(
            metric=self.name,
            convention=self.label,
            query=items.name,
            part=part,
            value=value if math.isfinite(value) else math.nan,
            low=low,
            high=high,
            unbiased=math.nan if unbiased is None else unbiased,
            least=least,
            most=most,
            statistic=math.nan,
            p_value=test.p,
            p_low=test.low,
            p_high=test.high,
            p_method=test.method,
            tail=test.tail,
            strict=test.strict,
            n_found=seen.count(part) if seen else 0,
            n_lost=len(seen.lost) if seen else 0,
            lost=",".join(dict.fromkeys(seen.lost)) if seen else "",
            cut="",
            language=items.language,
            dim=0,
            reason=reason,
            resampled=tuple(drawn),
            settings=spell(settings),
        )


def spell(settings: Settings) -> str:
    """``dtype=float32; first token=none; tokens=512``."""
    return "; ".join(
        f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in settings.items()
    )


def sizes(factors: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How many labels each factor has, as settings: ``terms``, ``templates``, ``clusters``."""
    return {f"{name}s": len({*labels}) for name, labels in factors.items()}
