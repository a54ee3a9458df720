"""Which properties a score has (Schröder et al., 2024), by search: are its extremes within reach
for every attribute set, and does its unbiased value mean that no word is biased?
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from files import InputError, choice
from files.choice import Count, Fileless, Positive
from studies.score_properties.made_up_words import (
    KINDS,
    MadeUp,
    attribute_sets,
    carried_over,
    target_starts,
)
from studies.score_properties.search import Lowest, lowest, unchanged

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from intrinsic.lookup import Floats
    from intrinsic.metric import Metric

Row = dict[str, str | int | float]
EXACT = 1e-7
SHORT = 0.01  # of the best extreme: an attribute set with less falls short
AGAIN, FINISH = 5, 40  # times the evaluations: of a set that falls short; to the unbiased value


@choice
class ScoreProperties(Fileless):
    """Searches over the vectors of made-up words, for each metric and number of target words.

    * ``extremes``: for each attribute set the largest and the smallest score of any target words.
      A score is magnitude-comparable where these are the same for all attribute sets.
    * ``unbiased``: the score nearest its unbiased value while a target word has a bias |s(t, A) -
      s(t, B)| of at least ``margin``. A score is unbiased-trustworthy where none comes near.
    * ``fair``: the score farthest from its unbiased value while no word has a bias: the converse.

    All vectors have unit length and ``dim`` dimensions. ``items``: target words in each role, once
    for each number; ``attributes``: words in each group, or base pairs; ``vocabulary``: words of
    the vocabulary of metrics that search one; ``sets``: attribute sets; ``evaluations``: places
    that each search looks at after its starts. ``studies/score_properties/search.py`` says how. The
    vectors of the subject play no part.
    """

    items: tuple[Count, ...] = (1, 4)
    attributes: Count = 3
    dim: Annotated[int, Ge(3)] = 4
    vocabulary: Count = 12
    sets: Annotated[int, Ge(len(KINDS))] = 8
    evaluations: Count = 300
    margin: Positive = 0.1

    name: ClassVar[str] = "score_properties"
    version: ClassVar[int] = 1
    needs: ClassVar[str] = "vectors"
    of_metrics: ClassVar[bool] = True

    def rows(self, vectors: KeyedVectors, metric: Metric | None, *, seed: int) -> pd.DataFrame:
        """One row a search; a row with the reason where the properties are not defined.

        Raises ``InputError`` for a metric that does not declare its range.
        """
        import pandas as pd

        assert metric is not None
        least, most = metric.about.range
        if math.isnan(least) or math.isnan(most):
            raise InputError(
                f"{metric.name} does not declare its range, so its extremes are not known; give"
                " About.range, with infinity at an end that has no bound"
            )
        found = [row for items in self.items for row in self._rows(metric, items, seed)]
        return pd.DataFrame(found, columns=list(COLUMNS))

    def _rows(self, metric: Metric, items: int, seed: int) -> Iterator[Row]:
        about: Row = _NOTHING | {"metric": metric.name, "convention": metric.label, "items": items}
        least, most = metric.about.range
        about |= {"least": float(least), "most": float(most)}
        try:
            if metric.about.unbiased is None:
                raise InputError(f"{metric.name} measures something else than bias")
            made_up = MadeUp(metric, items, self.attributes, self.vocabulary)
            rng = np.random.default_rng([seed, items])
            sets = attribute_sets(made_up, self.sets, self.dim, rng)
            unbiased = _unbiased(made_up, sets, seed)
        except InputError as reason:
            yield about | {"reason": str(reason)}
            return
        about |= {"words": len(made_up.neutral), "dim": self.dim}
        for part, value in unbiased.items():
            searched = Searched(made_up, part, value, sets, self, seed, rng)
            for row in searched.rows():
                yield about | {"part": part, "unbiased": value} | row


TEXTS = ("metric", "convention", "part", "search", "attributes", "witness", "reason")
COUNTS = ("items", "words", "dim", "evaluations")
VALUES = ("least", "most", "unbiased", "value", "bias")
COLUMNS = (*TEXTS, *COUNTS, *VALUES)
_NOTHING: Row = dict.fromkeys(TEXTS, "")
_NOTHING |= dict.fromkeys(COUNTS, 0)
_NOTHING |= dict.fromkeys(VALUES, math.nan)


def _unbiased(made_up: MadeUp, sets: list[Floats], seed: int) -> dict[str, float]:
    """The unbiased value by part, from the first vectors at which the metric has a score."""
    for start in [start for each in sets for start in [each, *target_starts(made_up, each)]]:
        if made_up.scores(start, seed):
            return dict(made_up.unbiased(start, seed))
    raise InputError(
        "the metric has no score on any of the words made up; give more of them (items, attributes,"
        " vocabulary), or the metric smaller settings"
    )


@dataclass(frozen=True)
class Searched:
    """The searches of one part of a score."""

    made_up: MadeUp
    part: str
    unbiased: float
    sets: list[Floats]
    probe: ScoreProperties
    seed: int
    rng: np.random.Generator

    def rows(self) -> Iterator[Row]:
        """A row a search."""
        for sign, end in ((-1, "most"), (1, "least")):
            yield from self._extremes(sign, end)
        yield self._row("unbiased", "", self._unbiased())
        yield self._row("fair", "", self._fair())

    def _score(self, matrix: Floats) -> float:
        return self.made_up.scores(matrix, self.seed).get(self.part, math.nan)

    def _extremes(self, sign: int, end: str) -> Iterator[Row]:
        """For each attribute set; one that falls short of the best is searched again with more
        evaluations, also from where the others reach theirs.
        """

        def loss(matrix: Floats) -> float:
            return sign * self._score(matrix)

        def search(starts: list[Floats], evaluations: int) -> Lowest:
            return lowest(loss, starts, self.made_up.free, evaluations, rng=self.rng)

        starts = [target_starts(self.made_up, each) for each in self.sets]
        found = [search(each, self.probe.evaluations) for each in starts]
        best = min(each.loss for each in found)
        reached = [each.matrix for each in found]
        for number, (each, before) in enumerate(zip(self.sets, found, strict=True)):
            if before.loss > best + SHORT * abs(best) + EXACT:
                others = carried_over(self.made_up, reached, each)
                again = search([before.matrix, *others], AGAIN * self.probe.evaluations)
                found[number] = again._replace(evaluations=before.evaluations + again.evaluations)
        for number, result in enumerate(found):
            kind = KINDS[number % len(KINDS)]
            yield self._row(end, f"{kind} {number // len(KINDS) + 1}", result)

    def _unbiased(self) -> Lowest:
        """Over targets and attributes, from each attribute set and on from the nearest; then with
        all targets alike, so that there is little to vary. Ends at the first counterexample.
        """
        margin = self.probe.margin

        def loss(matrix: Floats) -> float:
            bias = float(np.abs(self.made_up.biases(matrix)).max())
            # By the bias, so that the search does not end at words that are hardly biased
            return abs(self._score(matrix) - self.unbiased) / bias if bias >= margin else np.inf

        rows, evaluations = np.arange(self.made_up.words), self.probe.evaluations
        found: list[Lowest] = []
        for repair, each in product((unchanged, self.made_up.alike), self.sets):
            near = partial(lowest, loss, free=rows, enough=EXACT, rng=self.rng, repair=repair)
            found.append(near(target_starts(self.made_up, each), evaluations=evaluations))
            if found[-1].loss > EXACT:
                further = FINISH * evaluations // len(self.sets)
                found.append(near([found[-1].matrix], evaluations=further))
            if found[-1].loss <= EXACT:
                break
        count = sum(each.evaluations for each in found)
        return min(found, key=lambda each: each.loss)._replace(evaluations=count)

    def _fair(self) -> Lowest:
        starts = [start for each in self.sets for start in target_starts(self.made_up, each)]

        def loss(matrix: Floats) -> float:
            return -abs(self._score(matrix) - self.unbiased)

        return lowest(
            loss,
            starts,
            np.arange(self.made_up.words),
            2 * self.probe.evaluations,
            rng=self.rng,
            repair=self.made_up.without_bias,
        )

    def _row(self, search: str, attributes: str, found: Lowest) -> Row:
        defined = math.isfinite(found.loss)
        bias = float(np.abs(self.made_up.biases(found.matrix)).max())
        witness = json.dumps(self.made_up.described(found.matrix)) if defined else ""
        return {
            "search": search,
            "attributes": attributes,
            "value": self._score(found.matrix) if defined else math.nan,
            "bias": bias if defined else math.nan,
            "evaluations": found.evaluations,
            "witness": witness,
        }
