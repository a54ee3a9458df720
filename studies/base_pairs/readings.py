"""The scores that the probe ``base_pairs`` found, as tables of words by base pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from analysis.frame import numbers, texts
from files import InputError
from studies.conclusion import rows_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from analysis.arrays import Floats
    from analysis.results import Tables

Key = tuple[str, str, str]  # set, form, form of the pairs
WORDS: Key = ("words", "base", "base")


@dataclass(frozen=True)
class Scored:
    """Scores of items under base pairs. Shapes: scores (items, pairs); truth (items,), 1 where an
    item goes with the first words of the pairs, -1 with the second, 0 where nothing is known.
    """

    items: tuple[str, ...]
    pairs: tuple[str, ...]
    scores: Floats
    truth: Floats

    @cached_property
    def directions(self) -> NDArray[np.intp]:
        """2 towards the first word, 0 towards the second, 1 neither way. Shape (items, pairs)."""
        return np.asarray(np.sign(self.scores), dtype=np.intp) + 1

    def among(self, items: Mapping[str, int]) -> NDArray[np.intp]:
        """The places in ``items`` of those of this table."""
        return np.array([items[item] for item in self.items], dtype=np.intp)


def joined(tables: Sequence[Scored]) -> Scored:
    """Tables of the same base pairs as one."""
    items = tuple(item for each in tables for item in each.items)
    scores = np.concatenate([each.scores for each in tables])
    return Scored(items, tables[0].pairs, scores, np.concatenate([each.truth for each in tables]))


@dataclass(frozen=True)
class Readings:
    """What one metric gives on one query and one point.

    means, spreads, size: of the vocabulary under each pair, as far as it was measured.
    differences: the cosine of every two pairs' differences, (pairs, pairs), NaN on the diagonal.
    likeness: the mean cosine of the two words of each pair, by role. random: mean and standard
    deviation of cosines of random words and differences. lost: the items and pairs that are not in
    the vocabulary.
    """

    metric: str
    tables: Mapping[Key, Scored]
    means: Floats
    spreads: Floats
    size: int
    differences: Floats
    likeness: Mapping[str, tuple[float, float, int]]
    random: Mapping[str, tuple[float, float, int]]
    lost: Mapping[str, tuple[str, ...]]

    @property
    def pairs(self) -> tuple[str, ...]:
        """The base pairs."""
        return next(iter(self.tables.values())).pairs

    @property
    def spread(self) -> float:
        """The standard deviation over vocabulary and pairs together; NaN where there is none."""
        return float(np.sqrt(np.mean(self.spreads**2 + self.means**2) - self.means.mean() ** 2))


def read_probes(tables: Tables) -> Iterator[tuple[str, str, dict[str, Readings]]]:
    """For each point and query, the readings of every metric that asked it.

    Raises ``InputError`` where the probe ``base_pairs`` found nothing.
    """
    probes = tables.probes
    probes = probes[np.array(texts(probes, "probe")) == "base_pairs"]
    if not len(probes):
        raise InputError("no row of the probe base_pairs; add probe=base_pairs")
    for (point, query), part in probes.groupby(["point", "query"], sort=False):
        names = [texts(part, name) for name in ("metric", "convention")]
        several = len(set(zip(*names, strict=True))) > len(set(names[0]))
        called = [" ".join(each) if several else each[0] for each in zip(*names, strict=True)]
        found = {
            str(metric): _readings(str(metric), rows)
            for metric, rows in part.assign(called=called).groupby("called", sort=False)
        }
        yield str(point), str(query), found


def _readings(metric: str, rows: pd.DataFrame) -> Readings:
    kinds = {str(kind): part for kind, part in rows.groupby("kind", sort=False)}
    none = rows.iloc[:0]
    tables = _tables(kinds.get("score", none))
    pairs = next(iter(tables.values())).pairs
    frequent = kinds.get("vocabulary", none)
    lost = {
        str(role): tuple(texts(part, "word"))
        for role, part in kinds.get("lost", none).groupby("set", sort=False)
    }
    return Readings(
        metric=metric,
        tables=tables,
        means=numbers(frequent, "score"),
        spreads=numbers(frequent, "sd"),
        size=int(numbers(frequent, "n")[0]) if len(frequent) else 0,
        differences=_differences(kinds.get("difference", none), pairs),
        likeness=_likeness(kinds.get("likeness", none)),
        random={
            row["set"]: (row["score"], row["sd"], int(row["n"]))
            for row in rows_of(kinds.get("random", none))
        },
        lost=lost,
    )


def _tables(rows: pd.DataFrame) -> dict[Key, Scored]:
    found = {}
    for key, part in rows.groupby(["set", "form", "pair_form"], sort=False):
        words, pairs = texts(part, "word"), tuple(dict.fromkeys(texts(part, "pair")))
        items = tuple(words[:: len(pairs)])  # a row a pair, item by item
        scores = numbers(part, "score").reshape(len(items), len(pairs))
        truth = numbers(part, "truth")[:: len(pairs)]
        of, form, pair_form = map(str, key)
        found[of, form, pair_form] = Scored(items, pairs, scores, truth)
    return found


def _differences(rows: pd.DataFrame, pairs: tuple[str, ...]) -> Floats:
    cosines = np.full((len(pairs), len(pairs)), np.nan)
    place = {pair: i for i, pair in enumerate(pairs)}
    columns = zip(texts(rows, "pair"), texts(rows, "other"), numbers(rows, "score"), strict=True)
    for one, other, value in columns:
        i, j = place[one], place[other]
        cosines[i, j] = cosines[j, i] = value
    return cosines


def _likeness(rows: pd.DataFrame) -> dict[str, tuple[float, float, int]]:
    found = {}
    for role, part in rows.groupby("set", sort=False):
        values = numbers(part, "score")
        found[str(role)] = (float(values.mean()), float(values.std()), len(values))
    return found
