"""Conventions: published variants of a metric by name, each a set of options."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, ClassVar, Self, cast

from biasbridge.files import nearest
from biasbridge.files.choice import FieldError
from biasbridge.intrinsic.score import MetricInfo  # noqa: TC001 (read when a choice is made)

Option = bool | int | float | str
ALL_CONVENTIONS = "all"  # conventions of a metric, side by side


@dataclass(frozen=True)
class Convention:
    """A named way to compute a metric.

    options: those that differ from the default. is_reversed: whether the sign is the reverse of
    the metric's.
    """

    name: str
    source: str
    options: Mapping[str, Option] = field(default_factory=dict)
    is_reversed: bool = False


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
        """Create the metric by a convention; ``settings`` override its options.

        Raises ``FieldError`` for an unknown convention or field, with the nearest name.
        """
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
