"""Probe of the properties of a score (Schröder et al., 2024), by search: are its extremes reached
with every attribute set, and does its unbiased value mean that no word is biased?
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import Ge, doc

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, Fileless, Positive
from biasbridge.studies.score_properties.search import Lowest, lowest, unchanged
from biasbridge.studies.score_properties.synthetic_words import (
    KINDS,
    SyntheticWords,
    attribute_sets,
    target_starts,
    transferred_targets,
)

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.metric import Metric
    from biasbridge.stats.arrays import Floats

Row = dict[str, str | int | float]
EXACT = 1e-7
SHORTFALL = 0.01  # of the best extreme: an attribute set below it is searched again
REPEAT, FINISH = 5, 40  # times the evaluations: of a set searched again; to the unbiased value


@choice
class ScoreProperties(Fileless):
    """Searches over the vectors of synthetic words, for each metric and number of target words.

    * ``extremes``: for each attribute set the largest and the smallest score of any target words.
      A score is magnitude-comparable if these are the same for all attribute sets.
    * ``unbiased``: the score nearest its unbiased value while a target word has a bias |s(t, A) -
      s(t, B)| of at least ``margin``. A score is unbiased-trustworthy if none comes near.
    * ``fair``: the score farthest from its unbiased value while no word has a bias (the converse).

    All vectors have unit length and ``dim`` dimensions; those of the subject are not used. There is
    a search for each of ``items``, the target words in each role, with ``attributes`` words or base
    pairs in each group, ``vocabulary`` words for metrics that search one, ``sets`` attribute sets,
    and ``evaluations`` after its starts (``studies/score_properties/search.py``).
    """

    items: Annotated[tuple[Count, ...], doc("target words in each role")] = (1, 4)
    attributes: Annotated[Count, doc("words in each group, or base pairs")] = 3
    dim: Annotated[int, Ge(3), doc("dimensions of the vectors")] = 4
    vocabulary: Annotated[Count, doc("words in the vocabulary, for metrics that search one")] = 12
    sets: Annotated[int, Ge(len(KINDS)), doc("attribute sets, of four kinds in turn")] = 8
    evaluations: Annotated[Count, doc("evaluations of each search, after its starts")] = 300
    margin: Annotated[
        Positive, doc("bias |s(t, A) - s(t, B)| from which a word counts as biased")
    ] = 0.1

    name: ClassVar[str] = "score_properties"
    version: ClassVar[int] = 2
    needs: ClassVar[str] = "vectors"
    per_metric: ClassVar[bool] = True
    chosen_as: ClassVar[tuple[str, ...]] = ("probe/score_properties",)
    configuration: ClassVar[Mapping[str, object]] = {"evaluations": 120}

    def rows(self, vectors: KeyedVectors, metric: Metric | None, *, seed: int) -> pd.DataFrame:
        """Return a row per search, or one with a reason; raise ``InputError`` without a range."""
        import pandas as pd

        assert metric is not None
        scale_min, scale_max = metric.about.range
        if math.isnan(scale_min) or math.isnan(scale_max):
            raise InputError(
                f"{metric.name} does not declare its range, so its extremes are unknown; give"
                " MetricInfo.range, with infinity at an end that has no bound"
            )
        rows = [row for items in self.items for row in self._search_rows(metric, items, seed)]
        return pd.DataFrame(rows, columns=list(COLUMNS))

    def _search_rows(self, metric: Metric, items: int, seed: int) -> Iterator[Row]:
        about: Row = _EMPTY | {"metric": metric.name, "convention": metric.label, "items": items}
        scale_min, scale_max = metric.about.range
        about |= {"scale_min": float(scale_min), "scale_max": float(scale_max)}
        try:
            if metric.about.unbiased is None:
                raise InputError(f"{metric.name} does not measure bias")
            words = SyntheticWords(metric, items, self.attributes, self.vocabulary)
            rng = np.random.default_rng([seed, items])
            sets = attribute_sets(words, self.sets, self.dim, rng)
            unbiased_by_part = _unbiased_values(words, sets, seed)
        except InputError as error:
            yield about | {"reason": str(error)}
            return
        about |= {"words": len(words.neutral), "dim": self.dim}
        for part, unbiased in unbiased_by_part.items():
            search = PropertySearch(words, part, unbiased, sets, self, seed, rng)
            for row in search.rows():
                yield about | {"part": part, "unbiased": unbiased} | row


TEXTS = ("metric", "convention", "part", "search", "attributes", "counterexample", "reason")
COUNTS = ("items", "words", "dim", "evaluations")
VALUES = ("scale_min", "scale_max", "unbiased", "value", "bias")
COLUMNS = (*TEXTS, *COUNTS, *VALUES)
_EMPTY: Row = dict.fromkeys(TEXTS, "")
_EMPTY |= dict.fromkeys(COUNTS, 0)
_EMPTY |= dict.fromkeys(VALUES, math.nan)


def _unbiased_values(words: SyntheticWords, sets: list[Floats], seed: int) -> dict[str, float]:
    """Return the unbiased value by part, from the first vectors at which the metric has a score."""
    starts = [start for matrix in sets for start in [matrix, *target_starts(words, matrix)]]
    for start in starts:
        if words.scores(start, seed):
            return dict(words.unbiased(start, seed))
    raise InputError(
        "the metric has no score on any synthetic words; give more words (items, attributes,"
        " vocabulary), or the metric smaller settings"
    )


@dataclass(frozen=True)
class PropertySearch:
    """Searches of one part of a score."""

    words: SyntheticWords
    part: str
    unbiased: float
    sets: list[Floats]
    probe: ScoreProperties
    seed: int
    rng: np.random.Generator

    def rows(self) -> Iterator[Row]:
        """Yield one row per search."""
        for sign, end in ((-1, "max"), (1, "min")):
            yield from self._extremes(sign, end)
        yield self._row("unbiased", "", self._nearest_unbiased())
        yield self._row("fair", "", self._farthest_fair())

    def _score(self, matrix: Floats) -> float:
        return self.words.scores(matrix, self.seed).get(self.part, math.nan)

    def _extremes(self, sign: int, end: str) -> Iterator[Row]:
        """Yield the extreme of each attribute set.

        A set that falls short of the best is searched again with more evaluations, and also from
        the vectors of the other sets' extremes.
        """

        def loss(matrix: Floats) -> float:
            return sign * self._score(matrix)

        def search(starts: list[Floats], evaluations: int) -> Lowest:
            return lowest(loss, starts, self.words.free, evaluations, rng=self.rng)

        starts_by_set = [target_starts(self.words, attribute_set) for attribute_set in self.sets]
        results = [search(starts, self.probe.evaluations) for starts in starts_by_set]
        best = min(result.loss for result in results)
        matrices = [result.matrix for result in results]
        for number, (attribute_set, result) in enumerate(zip(self.sets, results, strict=True)):
            if result.loss > best + SHORTFALL * abs(best) + EXACT:
                starts = transferred_targets(self.words, matrices, attribute_set)
                repeat = search([result.matrix, *starts], REPEAT * self.probe.evaluations)
                evaluations = result.evaluations + repeat.evaluations
                results[number] = repeat._replace(evaluations=evaluations)
        for number, result in enumerate(results):
            kind = KINDS[number % len(KINDS)]
            yield self._row(end, f"{kind} {number // len(KINDS) + 1}", result)

    def _nearest_unbiased(self) -> Lowest:
        """Search targets and attributes for the score nearest its unbiased value.

        It starts from each attribute set and continues from the nearest, then with identical
        targets, so that there is little to vary. It ends at the first counterexample.
        """
        margin = self.probe.margin

        def loss(matrix: Floats) -> float:
            bias = float(np.abs(self.words.biases(matrix)).max())
            # Divided by the bias, so that the search does not end at words that are hardly biased
            return abs(self._score(matrix) - self.unbiased) / bias if bias >= margin else np.inf

        rows, evaluations = np.arange(self.words.words), self.probe.evaluations
        results: list[Lowest] = []
        for repair, matrix in product((unchanged, self.words.identical_targets), self.sets):
            search = partial(lowest, loss, free=rows, enough=EXACT, rng=self.rng, repair=repair)
            results.append(search(target_starts(self.words, matrix), evaluations=evaluations))
            if results[-1].loss > EXACT:
                n_steps = FINISH * evaluations // len(self.sets)
                results.append(search([results[-1].matrix], evaluations=n_steps))
            if results[-1].loss <= EXACT:
                break
        count = sum(result.evaluations for result in results)
        return min(results, key=lambda result: result.loss)._replace(evaluations=count)

    def _farthest_fair(self) -> Lowest:
        starts = [start for matrix in self.sets for start in target_starts(self.words, matrix)]

        def loss(matrix: Floats) -> float:
            return -abs(self._score(matrix) - self.unbiased)

        return lowest(
            loss,
            starts,
            np.arange(self.words.words),
            2 * self.probe.evaluations,
            rng=self.rng,
            repair=self.words.without_bias,
        )

    def _row(self, search: str, attributes: str, result: Lowest) -> Row:
        is_defined = math.isfinite(result.loss)
        bias = float(np.abs(self.words.biases(result.matrix)).max())
        counterexample = json.dumps(self.words.vectors_by_role(result.matrix)) if is_defined else ""
        return {
            "search": search,
            "attributes": attributes,
            "value": self._score(result.matrix) if is_defined else math.nan,
            "bias": bias if is_defined else math.nan,
            "evaluations": result.evaluations,
            "counterexample": counterexample,
        }
