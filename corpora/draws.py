"""Draws for the synthetic world: shuffled quotas, so that what is planted holds exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Floats = NDArray[np.float64]


def draw_quota(
    weights: Sequence[float] | Floats, size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """``size`` indices into ``weights``, in random order, each ``size * weight / sum`` times.

    The rounding never strays by one whole occurrence. Shape (size,).
    """
    edges = np.cumsum(np.asarray(weights, dtype=float))
    points = (np.arange(size) + 0.5) / size * edges[-1] if size else np.empty(0)
    return rng.permutation(np.searchsorted(edges, points))


def apportion(
    weights: Sequence[float] | Floats, size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """How many of ``size`` fall to each weight: the counts of ``draw_quota``. Shape (weights,)."""
    return np.bincount(draw_quota(weights, size, rng), minlength=len(weights))


def space_evenly(size: int) -> Floats:
    """``size`` values evenly spaced over [-1, 1]: symmetric around 0, their mean. Shape (size,)."""
    return np.linspace(-1, 1, size)


def draw_share(rate: float, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """``size`` booleans in random order, ``rate * size`` true, up to rounding. Shape (size,)."""
    return draw_quota([1 - rate, rate], size, rng).astype(bool)


def pick(words: Sequence[T], size: int, rng: np.random.Generator) -> list[T]:
    """``size`` of the words in random order, all equally often, up to rounding."""
    return [words[i] for i in draw_quota(np.ones(len(words)), size, rng)]


def fill(
    templates: Sequence[str],
    slots: Mapping[str, Sequence[object]],
    fillers: Mapping[str, Sequence[object]],
    rng: np.random.Generator,
) -> list[str]:
    """One line a template, its slots filled from ``slots`` (one word a line) and ``fillers``."""
    asked = {name for template in set(templates) for name in _slots(template)}
    drawn = {name: pick(fillers[name], len(templates), rng) for name in fillers if name in asked}
    columns = {**slots, **drawn}
    return [
        template.format(**{name: column[i] for name, column in columns.items()})
        for i, template in enumerate(templates)
    ]


def _slots(template: str) -> set[str]:
    """The names of a template's slots, those that a slot agrees with included."""
    parts = [(name, spec or "") for _, name, spec, _ in Formatter().parse(template) if name]
    return {name for name, _ in parts} | {name for _, spec in parts for name in _slots(spec)}
