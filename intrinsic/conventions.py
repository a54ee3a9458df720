"""A metric's published variants by name: each sets options of the metric."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, ClassVar, Self, cast

from files import nearest
from files.choice import FieldError
from intrinsic.score import About  # noqa: TC001 (read when a choice is made)

Option = bool | int | float | str
EVERY = "all"  # conventions of a metric, side by side


@dataclass(frozen=True)
class Convention:
    """One way to compute a metric, by name; ``options`` are those that differ from the default;
    ``turned``: whether its sign is the reverse of the metric's.
    """

    name: str
    source: str
    options: Mapping[str, Option] = field(default_factory=dict)
    turned: bool = False


class ByConvention:
    """Base of a metric whose fields are its options, with the values of the default convention.

    ``others`` lists its conventions but for the default. ``unlabelled``: the fields that are not
    options in this sense.
    """

    about: ClassVar[About]
    others: ClassVar[tuple[Convention, ...]] = ()
    unlabelled: ClassVar[tuple[str, ...]] = ()
    convention: str

    @property
    def name(self) -> str:
        """What stands for the metric in the tables."""
        return self.about.name

    @classmethod
    def by(cls, convention: str = "default", **settings: Any) -> Self:
        """The metric by a convention, with these fields set in its place.

        Raises ``FieldError`` for an unknown convention or field, naming the nearest one.
        """
        conventions = cls.conventions()
        if convention not in conventions:
            known = f"{', '.join(conventions)}{nearest(convention, conventions)}"
            raise FieldError(f"convention={convention!r}: {cls.about.name} has {known}")
        fields = [each.name for each in dataclasses.fields(cls) if each.init]  # type: ignore[arg-type]
        for name, value in settings.items():
            if name not in fields:
                known = f"no such option, but {', '.join(fields)}{nearest(name, fields)}"
                raise FieldError(f"{name}={value!r}: {cls.about.name} has {known}")
        metric = cls(**{**conventions[convention].options, **settings})
        # No argument of the constructor: a name there would not bring the convention's options
        object.__setattr__(metric, "convention", convention)
        return metric

    @classmethod
    @cache
    def conventions(cls) -> dict[str, Convention]:
        """Every convention of the metric by name."""
        default = Convention("default", cls.about.default or cls.about.source)
        return {each.name: each for each in (default, *cls.others)}

    @classmethod
    @cache
    def options(cls) -> dict[str, Option]:
        """The options that a convention may set, with the values of the default one."""
        return {
            each.name: cast("Option", each.default)
            for each in dataclasses.fields(cls)  # type: ignore[arg-type]
            if each.name not in cls.unlabelled
        }

    @cached_property
    def label(self) -> str:
        """The convention and the options that differ from it."""
        usual = {**self.options(), **self.conventions()[self.convention].options}
        own = {name: vars(self)[name] for name in usual}
        changed = [f"{name}={value}" for name, value in own.items() if value != usual[name]]
        return ",".join([self.convention, *changed])
