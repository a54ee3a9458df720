"""Results of the probe ``base_pairs``, as tables of words by base pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.analysis.frame import as_float, as_text
from biasbridge.files import InputError
from biasbridge.studies.conclusion import row_dicts

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from biasbridge.analysis.results import Tables
    from biasbridge.stats.arrays import Floats

Key = tuple[str, str, str]  # set, form, form of the pairs
WORDS: Key = ("words", "base", "base")


@dataclass(frozen=True)
class PairScoreTable:
    """Scores of items under base pairs, (items, pairs). ``truth``, (items,): 1 where an item goes
    with the first words of the pairs, -1 with the second, 0 if unknown.
    """

    items: tuple[str, ...]
    pairs: tuple[str, ...]
    scores: Floats
    truth: Floats

    @cached_property
    def directions(self) -> NDArray[np.intp]:
        """2 towards the first word, 0 towards the second, 1 neither way. Shape (items, pairs)."""
        return np.asarray(np.sign(self.scores), dtype=np.intp) + 1

    def item_indices(self, index_of_item: Mapping[str, int]) -> NDArray[np.intp]:
        """Return the index of every item of this table in another one."""
        return np.array([index_of_item[item] for item in self.items], dtype=np.intp)


def concatenate_scores(tables: Sequence[PairScoreTable]) -> PairScoreTable:
    """Concatenate the items of tables that have the same base pairs."""
    items = tuple(item for table in tables for item in table.items)
    scores = np.concatenate([table.scores for table in tables])
    truth = np.concatenate([table.truth for table in tables])
    return PairScoreTable(items, tables[0].pairs, scores, truth)


@dataclass(frozen=True)
class ProbeResult:
    """Result of one metric with one query on one point.

    ``tables``: scores by set, form of the words and form of the pairs. ``means``, ``spreads``
    (pairs,): mean and standard deviation over the ``size`` words of the vocabulary; empty if not
    measured. ``differences`` (pairs, pairs): cosines of the pairs' differences, NaN on the
    diagonal. By role, ``likeness``: mean, standard deviation and number of the cosines of pairs'
    two words, and ``oov``: what is out of vocabulary. ``random``: moments of random cosines.
    """

    metric: str
    tables: Mapping[Key, PairScoreTable]
    means: Floats
    spreads: Floats
    size: int
    differences: Floats
    likeness: Mapping[str, tuple[float, float, int]]
    random: Mapping[str, tuple[float, float, int]]
    oov: Mapping[str, tuple[str, ...]]

    @property
    def pairs(self) -> tuple[str, ...]:
        """The base pairs."""
        return next(iter(self.tables.values())).pairs

    @property
    def spread(self) -> float:
        """Standard deviation over vocabulary and pairs together; NaN if not measured."""
        return float(np.sqrt(np.mean(self.spreads**2 + self.means**2) - self.means.mean() ** 2))


QueryResults = tuple[str, str, Mapping[str, ProbeResult]]  # point, query, results by metric


def read_probes(tables: Tables) -> Iterator[QueryResults]:
    """Yield the results by point and query; raise ``InputError`` without rows of the probe."""
    probes = tables.probes
    probes = probes[np.array(as_text(probes, "probe")) == "base_pairs"]
    if not len(probes):
        raise InputError("no row of the probe base_pairs; add probe=base_pairs")
    for (point, query), rows in probes.groupby(["point", "query"], sort=False):
        names = list(zip(*(as_text(rows, name) for name in ("metric", "convention")), strict=True))
        has_conventions = len(set(names)) > len({metric for metric, _ in names})
        labels = [" ".join(name) if has_conventions else name[0] for name in names]
        results = {
            str(label): _probe_result(str(label), rows_of_metric)
            for label, rows_of_metric in rows.assign(label=labels).groupby("label", sort=False)
        }
        yield str(point), str(query), results


def _probe_result(metric: str, rows: pd.DataFrame) -> ProbeResult:
    rows_by_kind = {str(kind): part for kind, part in rows.groupby("kind", sort=False)}
    no_rows = rows.iloc[:0]
    tables = _score_tables(rows_by_kind.get("score", no_rows))
    pairs = next(iter(tables.values())).pairs
    vocabulary = rows_by_kind.get("vocabulary", no_rows)
    oov = {
        str(role): tuple(as_text(part, "word"))
        for role, part in rows_by_kind.get("oov", no_rows).groupby("set", sort=False)
    }
    return ProbeResult(
        metric=metric,
        tables=tables,
        means=as_float(vocabulary, "score"),
        spreads=as_float(vocabulary, "sd"),
        size=int(as_float(vocabulary, "n")[0]) if len(vocabulary) else 0,
        differences=_difference_cosines(rows_by_kind.get("difference", no_rows), pairs),
        likeness=_likeness_by_role(rows_by_kind.get("likeness", no_rows)),
        random={
            row["set"]: (row["score"], row["sd"], int(row["n"]))
            for row in row_dicts(rows_by_kind.get("random", no_rows))
        },
        oov=oov,
    )


def _score_tables(rows: pd.DataFrame) -> dict[Key, PairScoreTable]:
    tables = {}
    for key, part in rows.groupby(["set", "form", "pair_form"], sort=False):
        words, pairs = as_text(part, "word"), tuple(dict.fromkeys(as_text(part, "pair")))
        items = tuple(words[:: len(pairs)])  # a row a pair, item by item
        scores = as_float(part, "score").reshape(len(items), len(pairs))
        truth = as_float(part, "truth")[:: len(pairs)]
        role, form, pair_form = map(str, key)
        tables[role, form, pair_form] = PairScoreTable(items, pairs, scores, truth)
    return tables


def _difference_cosines(rows: pd.DataFrame, pairs: tuple[str, ...]) -> Floats:
    cosines = np.full((len(pairs), len(pairs)), np.nan)
    index_of_pair = {pair: i for i, pair in enumerate(pairs)}
    columns = zip(
        as_text(rows, "pair"), as_text(rows, "compared_with"), as_float(rows, "score"), strict=True
    )
    for first, second, cosine in columns:
        i, j = index_of_pair[first], index_of_pair[second]
        cosines[i, j] = cosines[j, i] = cosine
    return cosines


def _likeness_by_role(rows: pd.DataFrame) -> dict[str, tuple[float, float, int]]:
    likeness = {}
    for role, part in rows.groupby("set", sort=False):
        cosines = as_float(part, "score")
        likeness[str(role)] = (float(cosines.mean()), float(cosines.std()), len(cosines))
    return likeness
