"""Bias silhouettes (Spliethöver & Wachsmuth, 2021): what a metric reads on parts of its lists."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from files import InputError, choice
from files.choice import Count, Fileless
from intrinsic.found_query import find_query

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from intrinsic.found_query import FoundQuery
    from intrinsic.lookup import Found
    from intrinsic.metric import Metric
    from intrinsic.score import Score

TARGETS, ATTRIBUTES = "targets", "attributes"
Row = dict[str, object]


@choice
class Silhouettes(Fileless):
    """A metric on nested random subsets of its word lists, with vectors as they are.

    One kind of list varies at a time, ``targets`` (X, Y, ..., or base pairs: the groups) or
    ``attributes`` (A, B, ..., or words: the concepts), the other is whole. In each of ``runs``
    random orders the lists of the kind grow together by about ``target_step`` or
    ``attribute_step`` words, until the longest is whole (``subsets.nested_subsets``).
    """

    runs: Count = 100
    target_step: Count = 2
    attribute_step: Count = 6

    name: ClassVar[str] = "silhouettes"
    version: ClassVar[int] = 2
    needs: ClassVar[str] = "vectors"
    of_metrics: ClassVar[bool] = True

    def rows(self, vectors: KeyedVectors, metric: Metric | None, *, seed: int) -> pd.DataFrame:
        """One row a query, kind of list (``varied``), part and ``size`` (words in all lists of the
        kind): ``values``, one of each run, NaN where a subset has no score. What has no silhouette
        has one row of size 0 that says why; ``InputError`` where nothing has one.
        """
        import pandas as pd

        assert metric is not None, "a probe of metrics"
        whole: dict[str, list[Score]] = {}
        for score in metric.score(vectors, seed=seed):
            whole.setdefault(score.query, []).append(score)
        found: list[Row] = []
        for query in metric.asked:
            words = metric.use(find_query(vectors, query, metric.about.takes, case=metric.case))
            for varied, lists in kinds_of_list(words).items():
                try:
                    found += self._silhouettes(
                        metric, words, varied, lists, whole[query.name], seed
                    )
                except InputError as refusal:
                    row = _row_of(whole[query.name][0], varied)
                    found.append(row | {"size": 0, "values": [], "reason": str(refusal)})
        if not any(row["size"] for row in found):
            raise InputError(str(found[0]["reason"]))
        return pd.DataFrame(found)

    def _silhouettes(
        self,
        metric: Metric,
        words: FoundQuery,
        varied: str,
        lists: Mapping[str, Found],
        whole: list[Score],
        seed: int,
    ) -> list[Row]:
        from studies.silhouettes.subsets import nested_subsets, values_on

        if not any(math.isfinite(score.value) for score in whole):
            raise InputError(whole[0].reason)
        step = self.target_step if varied == TARGETS else self.attribute_step
        subsets = nested_subsets(lists, step, self.runs, seed=seed)
        if len(subsets.sizes) < 2:
            raise InputError(
                f"query {words.query.name!r}: {metric.name} finds {subsets.sizes[-1]} words in"
                f" {' and '.join(lists)}, no more than one step of {step}; lower"
                f" probe.{varied[:-1]}_step, or give longer lists"
            )
        values = values_on(metric, words, subsets, seed=seed)
        sizes: list[int] = subsets.sizes.tolist()
        return [
            _row_of(score, varied) | {"size": size, "values": column, "reason": ""}
            for score in whole
            for size, column in zip(sizes, values[score.part].T, strict=True)
        ]


def _row_of(score: Score, varied: str) -> Row:
    kept = ("metric", "convention", "query", "part", "least", "most", "unbiased", "n_lost")
    columns = score._asdict()
    return {name: columns[name] for name in kept} | {"varied": varied}


def kinds_of_list(words: FoundQuery) -> dict[str, dict[str, Found]]:
    """The lists that vary together: those of the groups, and those of the concepts."""
    groups = {r: each for r, each in words.measured.items() if r[0] in "XY" or r == "pairs"}
    rest = {role: each for role, each in words.measured.items() if role not in groups}
    return {kind: each for kind, each in ((TARGETS, groups), (ATTRIBUTES, rest)) if each}
