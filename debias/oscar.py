"""OSCaR: the plane of two concepts is bent until they are orthogonal."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from debias.axis import Floats, OnAxis, Singles, in_blocks
from debias.directions import unit
from debias.examples import require_some
from debias.roles import TARGETS_AND_ATTRIBUTES, require_roles
from files import InputError, choice
from intrinsic.lookup import find_set

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from intrinsic.wordsets import Query

PARALLEL = 1e-6  # sine of the angle between two directions that span no plane


@choice
class Oscar(OnAxis):
    """OSCaR (Dev et al., 2021): f(x) is x rotated in the plane of two directions, b1 the unit
    difference of the means of X and Y and b2 that of A and B, by an angle that depends on where x
    lies in it: see ``rotate``. b1 stays, b2 becomes orthogonal to it, and what x has outside of the
    plane and its length are kept. (The paper has one list of occupations in the place of A and B,
    and its first principal component for b2.)
    """

    name: ClassVar[str] = "oscar"
    roles: ClassVar[tuple[str, ...]] = TARGETS_AND_ATTRIBUTES

    def erase(self, vectors: KeyedVectors, query: Query, *, seed: int) -> Singles:
        """f of every vector. Raises ``InputError`` where too few words of a role are in
        ``vectors``, and where the directions span no plane.
        """
        require_roles(query, self.roles)
        found = {role: find_set(vectors, query[role], case="lower") for role in self.roles}
        for role, each in found.items():
            require_some(len(each.items), query[role].name, "the vectors")
        x, y, a, b = (each.raw.mean(axis=0) for each in found.values())
        first, second = unit(x - y), unit(a - b)
        return in_blocks(partial(rotate, first=first, second=second), vectors.vectors)


def rotate(rows: Floats, first: Floats, second: Floats) -> Floats:
    r"""Rows rotated in the plane of two unit vectors by

        (pi/2 - t) min(a / t, (pi - a) / (pi - t))

    t is the angle from the first to the second vector, in (0, pi), and a that from the first to a
    row's part in the plane, modulo pi. So the first stays, the second comes to pi/2, and the angles
    between are stretched evenly. The sign of either vector does not matter.

    Shapes: rows (n, dim), vectors (dim,) -> (n, dim). Raises ``InputError`` for parallel vectors.
    """
    cosine = float(first @ second)
    across = second - cosine * first
    sine = float(np.linalg.norm(across))
    if not sine > PARALLEL:
        raise InputError("the two directions are the same; give other words to one of them")
    angle = np.arctan2(sine, cosine)
    plane = np.stack([first, across / sine])
    inside = rows @ plane.T
    found = np.arctan2(inside[:, 1], inside[:, 0]) % np.pi
    turn = (np.pi / 2 - angle) * np.minimum(found / angle, (np.pi - found) / (np.pi - angle))
    turned = (inside[:, 0] + 1j * inside[:, 1]) * np.exp(1j * turn)
    return np.asarray(rows + (np.stack([turned.real, turned.imag], axis=1) - inside) @ plane)
