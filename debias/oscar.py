"""OSCaR: vectors rotate in the plane of two concepts until these are orthogonal."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasbridge.debias.axis import OnAxis, map_blocks
from biasbridge.debias.directions import unit
from biasbridge.debias.examples import require_enough
from biasbridge.debias.roles import TARGETS_AND_ATTRIBUTES, require_roles
from biasbridge.files import InputError, choice
from biasbridge.intrinsic.lookup import find_set

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.wordsets import Query
    from biasbridge.stats.arrays import Floats, Singles

PARALLEL = 1e-6  # largest sine of the angle between two directions that span no plane


@choice
class Oscar(OnAxis):
    """OSCaR (Dev et al., 2021): f(x) is x rotated in the plane of two directions, b1 the unit
    difference of the means of X and Y and b2 that of A and B, by an angle that depends on where x
    lies in it: see ``rotate``. b1 stays, b2 becomes orthogonal to it; the length of x and its
    component outside the plane stay. (The paper has one list of occupations in place of A and B,
    and its first principal component as b2.)
    """

    name: ClassVar[str] = "oscar"
    roles: ClassVar[tuple[str, ...]] = TARGETS_AND_ATTRIBUTES

    def erase(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Singles:
        """Compute f of every vector. Raises ``InputError`` if too few words of a role are in the
        vocabulary, or if the directions span no plane.
        """
        require_roles(query, self.roles)
        found_sets = {role: find_set(vectors, query[role], case="lower") for role in self.roles}
        for role, found_set in found_sets.items():
            require_enough(len(found_set.items), query[role].name, "the vectors")
        x, y, a, b = (found_set.raw.mean(axis=0) for found_set in found_sets.values())
        first, second = unit(x - y), unit(a - b)
        return map_blocks(partial(rotate, first=first, second=second), vectors.vectors)


def rotate(rows: Floats, first: Floats, second: Floats) -> Floats:
    r"""Rotate rows in the plane of two unit vectors by

        (pi/2 - t) min(a / t, (pi - a) / (pi - t))

    t is the angle from the first to the second vector, in (0, pi), and a the angle from the
    first to the row's projection on the plane, modulo pi. So the first vector stays, the second
    comes to pi/2, and the angles between are stretched evenly. The sign of either vector has no
    effect.

    Shapes: rows (n, dim), vectors (dim,) -> (n, dim). Raises ``InputError`` for parallel vectors.
    """
    cosine = float(first @ second)
    orthogonal = second - cosine * first
    sine = float(np.linalg.norm(orthogonal))
    if not sine > PARALLEL:
        raise InputError("the two directions are parallel; change the words of one of them")
    angle = np.arctan2(sine, cosine)
    plane = np.stack([first, orthogonal / sine])
    projected = rows @ plane.T
    row_angles = np.arctan2(projected[:, 1], projected[:, 0]) % np.pi
    turn = (np.pi / 2 - angle) * np.minimum(
        row_angles / angle, (np.pi - row_angles) / (np.pi - angle)
    )
    rotated = (projected[:, 0] + 1j * projected[:, 1]) * np.exp(1j * turn)
    return np.asarray(rows + (np.stack([rotated.real, rotated.imag], axis=1) - projected) @ plane)
