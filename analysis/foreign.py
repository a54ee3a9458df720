"""The rows of anybody's table, by the levels that are named (observation, parent, condition and
clusters), and which of them cannot be models of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.frame import labels, numbers, require_columns
from analysis.observations import widest
from analysis.rows import Resampled, Rows
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Labels

TIED = 3  # times as many ties as chance makes


@dataclass(frozen=True)
class Levels:
    """The columns of a table that name what its rows are of.

    ``observation``: one model of a parent; without it each row is one. ``parent``: what it was made
    from. ``condition``: what was done to it; without it the observation's own name, where it recurs
    under several parents. ``cluster``: what lies above parents, such as corpus and language, in any
    order. ``utility``: how well the task is done.
    """

    observation: Sequence[str] = ()
    parent: Sequence[str] = ()
    condition: Sequence[str] = ()
    cluster: Sequence[str] = ()
    utility: str = ""

    @property
    def named(self) -> bool:
        """Whether any level is."""
        return bool(self.observation or self.parent or self.condition or self.cluster)

    def rows(self, table: pd.DataFrame, x: str, y: str, sign: float = 1.0) -> Rows:
        """The rows, scores times ``sign``. The key of an observation is observation and parent.

        Raises ``InputError`` for an unknown column, levels that do not nest, an observation in two
        conditions, and clusters of several parents whose conditions are not named.
        """
        asked = (*self.observation, *self.parent, *self.condition, *self.cluster)
        require_columns(table, [*asked, *([self.utility] if self.utility else [])], "the table")
        nothing = np.full(len(table), "")
        parent = _names(table, self.parent)
        own = _names(table, self.observation) if self.observation else _numbered(table)
        model = np.char.add(np.char.add(own, " of "), parent) if self.parent else own
        condition = self._condition(table, own, model, parent)
        if self.cluster and not self.parent:
            raise InputError("clusters lie above parents; name the column of parents with --parent")
        clusters = {name: labels(table, name) for name in self.cluster}
        cluster = widest(clusters, parent.tolist()) if clusters else parent
        if not self.condition and not condition.any() and _shared(parent, cluster):
            raise InputError(
                "parents of one cluster are averaged for each condition; name the column of"
                " conditions with --condition"
            )
        unknown = Resampled.of(np.zeros((len(table), 0)))
        return Rows(
            sign * numbers(table, x),
            numbers(table, y),
            *(model, parent, cluster, condition, condition),
            *(nothing, nothing, nothing),
            numbers(table, self.utility) if self.utility else np.full(len(table), np.nan),
            *(unknown, unknown),
        )

    def _condition(self, table: pd.DataFrame, own: Labels, model: Labels, parent: Labels) -> Labels:
        if not self.condition:
            recurs = len(set(own.tolist())) < len(set(model.tolist()))
            return own if recurs and self.observation else np.full(len(table), "")
        condition = _names(table, self.condition)
        of: dict[str, str] = {}
        for one, other in zip(model.tolist(), condition.tolist(), strict=True):
            if of.setdefault(one, other) != other:
                raise InputError(
                    f"observation {one!r} is in the conditions {of[one]!r} and {other!r}; name what"
                    " differs between them with --observation"
                )
        return condition


def _shared(parent: Labels, cluster: Labels) -> bool:
    clusters = len(set(cluster.tolist()))
    return 1 < clusters < len(set(parent.tolist()))


def _names(table: pd.DataFrame, columns: Sequence[str]) -> Labels:
    """A name for each row, the same where all its labels are: ``a b`` and ``c`` are not ``a`` and
    ``b c``.
    """
    if not columns:
        return np.full(len(table), "")
    rows = list(zip(*(labels(table, name) for name in columns), strict=True))
    names = [" ".join(row) for row in rows]
    if len(set(names)) < len(set(rows)):
        names = [", ".join(map(repr, row)) for row in rows]
    return np.array(names, dtype=str)


def _numbered(table: pd.DataFrame) -> Labels:
    return np.char.add("row ", np.arange(1, len(table) + 1).astype(str))


def repeats(rows: Rows) -> str:
    """Why rows taken as models cannot be independent; empty where nothing speaks against it.

    The rows of one embedding share its gap beside several scores (then more than a fifth of all
    share their y with another x), or its score beside several gaps (then nearly all share their x).
    Gaps of few items have ties too, which are left where they may be by chance (``_by_chance``).
    """
    known = rows.at(np.flatnonzero(rows.known))
    x, y = known.x.tolist(), known.y.tolist()
    for name, other, side, least in (
        ("y", "x", list(zip(y, x, strict=True)), 0.2),
        ("x", "y", list(zip(x, y, strict=True)), 0.8),
    ):
        values = Counter(value for value, _ in set(side))
        times = sum(values[value] > 1 for value, _ in side)
        if times > least * len(side) and not _by_chance([value for value, _ in set(side)]):
            return (
                f"{times} of {len(side)} rows share their {name} with another {other}, as the rows"
                " of one embedding do; name what is one model with --observation (if each row is"
                " one, a column that numbers them)"
            )
    return ""


def _by_chance(values: Sequence[float]) -> bool:
    """Whether values may have their ties by chance, as differences of shares of few items do.

    Not where the times that values occur have a common divisor, as in a table that has every
    embedding three times, nor of fewer than three values; nor where, without the most frequent
    value, the share with ties is more than three times that of as many values drawn from a grid of
    their smallest step, 1 - (1 - 1 / g)^(n - 1), g = (largest - smallest) / step + 1.
    """
    scale = max(map(abs, values)) or 1.0
    different, times = np.unique(np.round(np.array(values) / scale, 9), return_counts=True)
    if np.gcd.reduce(times) > 1 or len(different) < 3:
        return False
    rest = np.delete(times, times.argmax())
    tied = float(rest[rest > 1].sum() / rest.sum())
    grid = float(np.ptp(different) / np.diff(different).min()) + 1
    return tied <= TIED * (1 - (1 - 1 / grid) ** (int(rest.sum()) - 1))
