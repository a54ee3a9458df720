"""Draws for the generated world: shuffled quotas, so that what is planted holds exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from corpora.grammar import FILLERS

Floats = NDArray[np.float64]


def quota(
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
    """How many of ``size`` fall to each weight: the counts of a ``quota``. Shape (weights,)."""
    return np.bincount(quota(weights, size, rng), minlength=len(weights))


def evenly_spaced(size: int) -> Floats:
    """``size`` values evenly spaced over [-1, 1]: symmetric around 0, their mean. Shape (size,)."""
    return np.linspace(-1, 1, size)


def share(rate: float, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """``size`` booleans in random order, ``rate * size`` true, up to rounding. Shape (size,)."""
    return quota([1 - rate, rate], size, rng).astype(bool)


def pick(words: Sequence[str], size: int, rng: np.random.Generator) -> list[str]:
    """``size`` of the words in random order, all equally often, up to rounding."""
    return [words[i] for i in quota(np.ones(len(words)), size, rng)]


def fill(
    templates: Sequence[str], slots: Mapping[str, Sequence[str]], rng: np.random.Generator
) -> list[str]:
    """One line a template, its slots filled from ``slots`` (one word a line) and ``FILLERS``."""
    distinct = set(templates)
    used = [name for name in FILLERS if any(f"{{{name}}}" in template for template in distinct)]
    columns = dict(slots) | {name: pick(FILLERS[name], len(templates), rng) for name in used}
    return [
        template.format(**{name: column[i] for name, column in columns.items()})
        for i, template in enumerate(templates)
    ]
