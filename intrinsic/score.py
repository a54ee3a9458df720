"""Meaning of a metric's scores, its conventions, its result, and the row of the table of scores."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from biasbridge.files import nearest
from biasbridge.files.choice import FieldError
from biasbridge.intrinsic.permutation import PValue
from biasbridge.intrinsic.words import MORE_GROUPS

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

Option = bool | int | float | str
ALL_CONVENTIONS = "all"  # conventions of a metric, side by side
UNTESTED = PValue(math.nan, "none", 0, 0, "", False, math.nan, math.nan)


@dataclass(frozen=True)
class MetricInfo:
    """Description of a metric's scores.

    roles: meaning of each word set; a role that ends in ``?`` is optional. range: smallest and
    largest value, infinite if unbounded, NaN if unknown. unbiased: value of an embedding without
    the bias; None if the score measures something else. fewest: items a role needs, 1 by default.
    asks: built-in English queries of an audit, used in other languages under the same name.
    default: description of the default convention, beyond ``source``. falls: whether, by its
    ``sign``, the score is lower if X goes with A, or words with the first words of pairs.
    is_utility: a score of use, not of bias. less_is_better: of ``unbiased`` None, such as a loss.
    """

    name: str
    title: str
    formula: str
    sign: str
    range: tuple[float, float]
    source: str
    roles: Mapping[str, str]
    unbiased: float | None = 0
    fewest: Mapping[str, int] = field(default_factory=dict)
    asks: tuple[str, ...] = ()
    default: str = ""
    falls: bool = False
    is_utility: bool = False
    less_is_better: bool = False

    @property
    def required(self) -> list[str]:
        """Roles that a query must have."""
        return [role for role in self.roles if not role.endswith("?")]

    def takes(self, role: str) -> bool:
        """Test whether a word set in this role is used."""
        further_group = f"{role[0]}3?" if MORE_GROUPS.fullmatch(role) else role
        return not self.roles.keys().isdisjoint((role, f"{role}?", further_group))


@dataclass(frozen=True)
class Convention:
    """A named way to compute a metric.

    options: those that differ from the default. is_reversed: whether the sign is the reverse of
    the metric's. kinds: of language models that it applies to; none: of any.
    """

    name: str
    source: str
    options: Mapping[str, Option] = field(default_factory=dict)
    is_reversed: bool = False
    kinds: tuple[str, ...] = ()


class ByConvention:
    """Base of a metric whose fields are its options, with the values of the default convention.

    further_conventions: those except the default one. unlabelled: fields left out of ``label``.
    """

    about: ClassVar[MetricInfo]
    further_conventions: ClassVar[tuple[Convention, ...]] = ()
    unlabelled: ClassVar[tuple[str, ...]] = ()
    convention: str

    @property
    def name(self) -> str:
        """Name of the metric in tables."""
        return self.about.name

    @classmethod
    def by_convention(cls, convention: str = "default", **settings: Any) -> Self:
        """Create the metric by a convention; ``settings`` override its options."""
        conventions = cls.conventions()
        if convention not in conventions:
            allowed = f"{', '.join(conventions)}{nearest(convention, conventions)}"
            raise FieldError(f"convention={convention!r}: {cls.about.name} has {allowed}")
        fields = [f.name for f in dataclasses.fields(cls) if f.init]  # type: ignore[arg-type]
        for name, value in settings.items():
            if name not in fields:
                allowed = f"{', '.join(fields)}{nearest(name, fields)}"
                raise FieldError(
                    f"{name}={value!r}: no such option; {cls.about.name} has {allowed}"
                )
        metric = cls(**{**conventions[convention].options, **settings})
        # Not an argument of the constructor: that would not set the convention's options
        object.__setattr__(metric, "convention", convention)
        return metric

    @classmethod
    def configured(cls, *, convention: str | None = None, **values: Any) -> Self:
        """Create the metric from the flat keys of a configuration; None: the convention's value."""
        options = {name: value for name, value in values.items() if value is not None}
        return cls.by_convention(convention or "default", **options)

    @classmethod
    @cache
    def conventions(cls) -> dict[str, Convention]:
        """Return every convention of the metric by name."""
        default = Convention("default", cls.about.default or cls.about.source)
        return {convention.name: convention for convention in (default, *cls.further_conventions)}

    @classmethod
    @cache
    def options(cls) -> dict[str, Option]:
        """Return the options that a convention may set, with their default values."""
        return {
            f.name: cast("Option", f.default)
            for f in dataclasses.fields(cls)  # type: ignore[arg-type]
            if f.name not in cls.unlabelled
        }

    @cached_property
    def label(self) -> str:
        """The convention and the options that differ from it, as ``wefe,case=lower``."""
        defaults = {**self.options(), **self.conventions()[self.convention].options}
        values = {name: vars(self)[name] for name in defaults}
        changed = [f"{name}={value}" for name, value in values.items() if value != defaults[name]]
        return ",".join([self.convention, *changed])


@dataclass(frozen=True)
class MetricResult:
    """Result of a metric on a query; ``single_scores``: those of words, pairs or groups."""

    value: float
    statistic: float = math.nan
    test: PValue = UNTESTED
    reason: str = ""
    single_scores: Mapping[str, float] = field(default_factory=dict)
    unbiased: float | None = None  # if it is not that of ``MetricInfo``
    interval: tuple[float, float] = (math.nan, math.nan)  # 95%, over resampled words
    resampled: tuple[float, ...] = ()


class Score(NamedTuple):
    """A row of the table of scores; docs/results.md describes its columns.

    Values not estimated are NaN, with the ``reason``.
    """

    metric: str
    convention: str
    query: str
    part: str
    value: float
    low: float
    high: float
    unbiased: float
    scale_min: float
    scale_max: float
    statistic: float
    p_value: float
    p_low: float
    p_high: float
    p_method: str
    tail: str
    strict: bool
    n_found: int
    n_oov: int
    oov: str
    truncated: str
    language: str
    dim: int
    reason: str
    resampled: tuple[float, ...]
    settings: str = ""
    p_two_sided: float = math.nan

    @property
    def p_of_side(self) -> float:
        """p of the side of the score: two-sided where a one-sided test does not cover it."""
        distance = self.value - self.unbiased
        is_covered = {"greater": distance >= 0, "less": distance <= 0}.get(self.tail, True)
        return self.p_value if is_covered else self.p_two_sided


def make_row(
    about: MetricInfo,
    convention: str,
    part: str,
    result: MetricResult,
    *,
    query: str,
    language: str,
    n_found: int,
    n_oov: int,
    oov: Iterable[str],
    truncated: Iterable[str] = (),
    dim: int = 0,
    settings: str = "",
    measured: str = "these vectors",
) -> Score:
    """Create the row of a score, or of one of its parts."""
    unbiased = about.unbiased if result.unbiased is None else result.unbiased
    is_finite = math.isfinite(result.value)
    return Score(
        metric=about.name,
        convention=convention,
        query=query,
        part=part,
        value=result.value if is_finite else math.nan,
        low=result.interval[0],
        high=result.interval[1],
        unbiased=math.nan if unbiased is None else unbiased,
        scale_min=about.range[0],
        scale_max=about.range[1],
        statistic=result.statistic,
        p_value=result.test.p,
        p_low=result.test.low,
        p_high=result.test.high,
        p_method=result.test.method,
        tail=result.test.tail,
        strict=result.test.strict,
        n_found=n_found,
        n_oov=n_oov,
        oov=",".join(oov),
        truncated=",".join(truncated),
        language=language,
        dim=dim,
        reason=result.reason or ("" if is_finite else f"the score is 0 / 0 on {measured}"),
        resampled=result.resampled,
        settings=settings,
        p_two_sided=result.test.two_sided,
    )


def mean_score(names: Sequence[str], scores: Floats) -> MetricResult:
    """Average the scores, (names,) or (names, n); ``single_scores``: the mean of each name."""
    single: Floats = scores if scores.ndim == 1 else scores.mean(axis=1)
    return MetricResult(float(scores.mean()), single_scores=by_name(names, single))


def by_name(names: Sequence[str], scores: Floats) -> dict[str, float]:
    """Return the scores as floats by name."""
    values: list[float] = scores.tolist()
    return dict(zip(names, values, strict=True))


def percentiles(values: Sequence[float], resamples: int) -> tuple[float, float]:
    """Compute the 2.5% and 97.5% quantiles of the finite values.

    NaN if fewer than nine tenths of ``resamples`` are finite, or if all values are the same: a set
    of a single word shows no error.
    """
    finite = [value for value in values if math.isfinite(value)]
    if len(finite) < 0.9 * resamples:
        return math.nan, math.nan
    low, high = (float(np.quantile(finite, share)) for share in (0.025, 0.975))
    return (low, high) if low < high else (math.nan, math.nan)
