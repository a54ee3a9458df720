"""Projection of a random direction: a control that should change no score."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasbridge.debias.directions import unit
from biasbridge.debias.linear import LinearEraser
from biasbridge.files import choice
from biasbridge.files.eraser import Eraser

if TYPE_CHECKING:
    from biasbridge.debias.examples import Examples
    from biasbridge.stats.arrays import Floats


@choice
class RandomDirection(LinearEraser):
    """f(x) = x - (x . u) u, u drawn uniformly from all directions by the seed."""

    name: ClassVar[str] = "random_direction"
    seeded: ClassVar[bool] = True
    needed_roles: ClassVar[tuple[str, ...]] = ()

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Draw an eraser of norm 1 and rank 1."""
        drawn: Floats = np.random.default_rng(seed).standard_normal((examples.rows.shape[1],))
        return Eraser.removing(unit(drawn)[None])
