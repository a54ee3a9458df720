"""Draws for the synthetic world: shuffled quotas, so that planted proportions hold exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

T = TypeVar("T")


def draw_quota(
    weights: Sequence[float] | Floats, size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw ``size`` indices into ``weights``, in random order, each ``size * weight / sum`` times.

    Counts differ from this by less than 1. Shape (size,).
    """
    edges = np.cumsum(np.asarray(weights, dtype=float))
    points = (np.arange(size) + 0.5) / size * edges[-1] if size else np.empty(0)
    return rng.permutation(np.searchsorted(edges, points))


def apportion(
    weights: Sequence[float] | Floats, size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Divide ``size`` by weights: the counts of ``draw_quota``. Shape (weights,)."""
    return np.bincount(draw_quota(weights, size, rng), minlength=len(weights))


def space_evenly(size: int) -> Floats:
    """Return ``size`` values evenly spaced over [-1, 1], with mean 0. Shape (size,)."""
    return np.linspace(-1, 1, size)


def draw_share(rate: float, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw booleans in random order, ``rate * size`` of them true, rounded. Shape (size,)."""
    return draw_quota([1 - rate, rate], size, rng).astype(bool)


def pick(words: Sequence[T], size: int, rng: np.random.Generator) -> list[T]:
    """Draw ``size`` words in random order, all equally often, up to rounding."""
    return [words[i] for i in draw_quota(np.ones(len(words)), size, rng)]


def fill(
    templates: Sequence[str],
    slots: Mapping[str, Sequence[object]],
    fillers: Mapping[str, Sequence[object]],
    rng: np.random.Generator,
) -> list[str]:
    """Fill each template from ``slots`` (one word per template), else by draws from ``fillers``."""
    names = {name for template in set(templates) for name in _slots(template)} - {*slots}
    draws = {name: pick(fillers[name], len(templates), rng) for name in fillers if name in names}
    columns = {**slots, **draws}
    return [
        template.format(**{name: column[i] for name, column in columns.items()})
        for i, template in enumerate(templates)
    ]


def _slots(template: str) -> set[str]:
    """Return the names of a template's slots, including those in format specifications."""
    parts = [(name, spec or "") for _, name, spec, _ in Formatter().parse(template) if name]
    return {name for name, _ in parts} | {name for _, spec in parts for name in _slots(spec)}
