"""Scores over nested subsets by running sums: the equations of ``intrinsic.metrics`` once more.

All take the vectors of the metric's roles as the metric itself does and give (runs, steps), NaN
where a subset has no score.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from intrinsic.lookup import Floats, means, unit_means, unit_rows
from intrinsic.metrics.set_distances import relative_norm_distances
from intrinsic.metrics.weat import NO_SPREAD
from studies.silhouettes.subsets import Subsets, running_sums

if TYPE_CHECKING:
    from collections.abc import Iterator


def mean_of_single(scores: Floats, subsets: Subsets, role: str, *, total: bool = False) -> Floats:
    """The mean, or the sum, of what every item of a role contributes, (items,)."""
    sums = np.array([each[:, 0] for (each,) in running_sums({role: scores[:, None]}, subsets)])
    return sums if total else sums / subsets.counts[role]


def weat_of_targets(
    x: Floats, y: Floats, a: Floats, b: Floats, subsets: Subsets, *, ddof: int
) -> Floats:
    """Effect sizes of subsets of X and Y."""
    axis: Floats = a.mean(axis=0) - b.mean(axis=0)
    of_x, of_y = x @ axis, y @ axis
    middle = float(np.concatenate([of_x, of_y]).mean())  # less is lost where squares are subtracted
    powers = {
        role: np.column_stack([s - middle, (s - middle) ** 2])
        for role, s in (("X", of_x), ("Y", of_y))
    }
    n_x, n_y = (subsets.counts[role] for role in "XY")
    n = n_x + n_y
    found = np.empty(subsets.shape)
    for row, (sums_x, sums_y) in zip(found, running_sums(powers, subsets), strict=True):
        mean, square = ((sums_x + sums_y) / n[:, None]).T
        spread = np.sqrt(np.maximum(square - mean**2, 0) * n / (n - ddof))
        row[:] = _standardised(sums_x[:, 0] / n_x - sums_y[:, 0] / n_y, spread)
    return found


def weat_of_attributes(
    x: Floats, y: Floats, a: Floats, b: Floats, subsets: Subsets, *, ddof: int
) -> Floats:
    """Effect sizes of subsets of A and B."""
    targets = np.concatenate([x, y])
    cosines = {"A": a @ targets.T, "B": b @ targets.T}
    n_a, n_b = (subsets.counts[role][:, None] for role in "AB")
    found = np.empty(subsets.shape)
    for row, (sums_a, sums_b) in zip(found, running_sums(cosines, subsets), strict=True):
        s = sums_a / n_a - sums_b / n_b  # (steps, targets)
        difference: Floats = s[:, : len(x)].mean(axis=1) - s[:, len(x) :].mean(axis=1)
        row[:] = _standardised(difference, s.std(axis=1, ddof=ddof))
    return found


def _standardised(difference: Floats, spread: Floats) -> Floats:
    defined = spread >= NO_SPREAD
    return np.where(defined, difference / np.where(defined, spread, 1), np.nan)


def rnd_of_attributes(
    x: Floats, y: Floats, a: Floats, subsets: Subsets, *, distance: str, total: bool
) -> Floats:
    """Relative norm distances of subsets of A."""
    each = relative_norm_distances(x, y, a, distance=distance)
    return mean_of_single(each, subsets, "A", total=total)


def rnd_of_targets(
    x: Floats, y: Floats, a: Floats, subsets: Subsets, *, distance: str, total: bool
) -> Floats:
    """Relative norm distances of subsets of X and Y: |m - a|^2 = |m|^2 - 2 m . a + |a|^2."""
    far = unit_rows(a) if distance == "cos" else a
    found = np.empty(subsets.shape)
    for row, (to_x, to_y) in zip(found, _to_means(x, y, far, subsets), strict=True):
        (lengths_x, dots_x), (lengths_y, dots_y) = to_x, to_y
        if distance == "cos":
            each = dots_x / np.sqrt(lengths_x) - dots_y / np.sqrt(lengths_y)
        else:
            sized: Floats = (far**2).sum(axis=1)
            squared_x, squared_y = lengths_x - 2 * dots_x + sized, lengths_y - 2 * dots_y + sized
            each = np.sqrt(np.maximum(squared_x, 0)) - np.sqrt(np.maximum(squared_y, 0))
        row[:] = each.sum(axis=1) if total else each.mean(axis=1)
    return found


def _to_means(
    x: Floats, y: Floats, a: Floats, subsets: Subsets
) -> Iterator[list[tuple[Floats, Floats]]]:
    """Run by run, of the means of X and of Y their squared lengths, (steps, 1), and their inner
    products with A, (steps, na).
    """
    rows = {role: np.column_stack([each, each @ a.T]) for role, each in (("X", x), ("Y", y))}
    for sums in running_sums(rows, subsets):
        centres = [
            each / subsets.counts[role][:, None] for role, each in zip("XY", sums, strict=True)
        ]
        dim = a.shape[1]
        yield [
            (np.einsum("ij,ij->i", each[:, :dim], each[:, :dim])[:, None], each[:, dim:])
            for each in centres
        ]


def mac_of_targets(
    targets: Mapping[str, Floats], attributes: Mapping[str, Floats], subsets: Subsets
) -> Floats:
    """Mean cosines of subsets of the targets, which count equally."""
    centre: Floats = unit_means(attributes.values()).mean(axis=0)
    cosines = {role: (each @ centre)[:, None] for role, each in targets.items()}
    n = np.sum([subsets.counts[role] for role in targets], axis=0)
    return np.array([np.sum(sums, axis=0)[:, 0] / n for sums in running_sums(cosines, subsets)])


def mac_of_attributes(
    targets: Mapping[str, Floats], attributes: Mapping[str, Floats], subsets: Subsets
) -> Floats:
    """Mean cosines of subsets of the attributes, whose sets count equally."""
    centre: Floats = means([np.concatenate([*targets.values()])])[0]
    of_sets = [
        mean_of_single(each @ centre, _of_role(subsets, role), role)
        for role, each in attributes.items()
    ]
    return np.asarray(np.mean(of_sets, axis=0))


def _of_role(subsets: Subsets, role: str) -> Subsets:
    return subsets._replace(orders={role: subsets.orders[role]})
