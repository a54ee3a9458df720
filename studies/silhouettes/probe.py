"""Probe of bias silhouettes (Spliethöver & Wachsmuth, 2021): a metric on parts of its lists."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import doc

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, Fileless
from biasbridge.intrinsic.resolved_query import resolve_query

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.lookup import ResolvedWords
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.resolved_query import ResolvedQuery
    from biasbridge.intrinsic.score import Score

TARGETS, ATTRIBUTES = "targets", "attributes"
Row = dict[str, object]


@choice
class Silhouettes(Fileless):
    """Values of a metric on nested random subsets of its word lists; vectors do not change.

    One kind of list varies at a time, ``targets`` (X, Y, ..., or base pairs: the groups) or
    ``attributes`` (A, B, ..., or words: the concepts); the other is complete. In each of ``runs``
    random orders the lists of the kind grow together by about ``target_step`` or
    ``attribute_step`` words, until the longest is complete (``subsets.nested_subsets``).
    """

    runs: Annotated[Count, doc("random orders of the lists")] = 100
    target_step: Annotated[Count, doc("words added per step, over all lists of the groups")] = 2
    attribute_step: Annotated[
        Count, doc("words added per step, over all lists of the concepts")
    ] = 6

    name: ClassVar[str] = "silhouettes"
    version: ClassVar[int] = 3
    needs: ClassVar[str] = "vectors"
    per_metric: ClassVar[bool] = True
    chosen_as: ClassVar[tuple[str, ...]] = ("probe/silhouettes",)

    def rows(self, vectors: KeyedVectors, metric: Metric | None, *, seed: int) -> pd.DataFrame:
        """Return one row per query, kind of list (``list_kind``), part and ``size``.

        ``size`` counts the words in all lists of the kind; ``values`` has one value per run, NaN
        where a subset has no score. A query without a silhouette has one row of size 0 with the
        reason; if none has one, ``InputError`` is raised.
        """
        import pandas as pd

        assert metric is not None, "a probe of metrics"
        scores_by_query: dict[str, list[Score]] = {}
        for score in metric.score(vectors, seed=seed):
            scores_by_query.setdefault(score.query, []).append(score)
        rows: list[Row] = []
        for query in metric.loaded_queries:
            words = metric.select_words(
                resolve_query(vectors, query, metric.about.takes, case=metric.case)
            )
            scores = scores_by_query[query.name]
            for list_kind, lists in lists_by_kind(words).items():
                try:
                    rows += self._silhouettes(metric, words, list_kind, lists, scores, seed)
                except InputError as error:
                    row = _score_columns(scores[0], list_kind)
                    rows.append(row | {"size": 0, "values": [], "reason": str(error)})
        if not any(row["size"] for row in rows):
            raise InputError(str(rows[0]["reason"]))
        return pd.DataFrame(rows)

    def _silhouettes(
        self,
        metric: Metric,
        words: ResolvedQuery,
        list_kind: str,
        lists: Mapping[str, ResolvedWords],
        scores: list[Score],
        seed: int,
    ) -> list[Row]:
        from biasbridge.studies.silhouettes.subsets import nested_subsets, subset_values

        if not any(math.isfinite(score.value) for score in scores):
            raise InputError(scores[0].reason)
        step = self.target_step if list_kind == TARGETS else self.attribute_step
        subsets = nested_subsets(lists, step, self.runs, seed=seed)
        if len(subsets.sizes) < 2:
            raise InputError(
                f"query {words.query.name!r}: {subsets.sizes[-1]} words of {' and '.join(lists)}"
                f" are in the vocabulary, not more than one step of {step}; lower"
                f" probe.{list_kind[:-1]}_step, or give longer lists"
            )
        values = subset_values(metric, words, subsets, seed=seed)
        sizes: list[int] = subsets.sizes.tolist()
        return [
            _score_columns(score, list_kind) | {"size": size, "values": column, "reason": ""}
            for score in scores
            for size, column in zip(sizes, values[score.part].T, strict=True)
        ]


def _score_columns(score: Score, list_kind: str) -> Row:
    names = ("metric", "convention", "query", "part", "scale_min", "scale_max", "unbiased", "n_oov")
    columns = score._asdict()
    return {name: columns[name] for name in names} | {"list_kind": list_kind}


def lists_by_kind(words: ResolvedQuery) -> dict[str, dict[str, ResolvedWords]]:
    """Return the lists that vary together: those of the groups, and those of the concepts."""
    targets = {
        role: words_of_role
        for role, words_of_role in words.word_sets.items()
        if role[0] in "XY" or role == "pairs"
    }
    attributes = {
        role: words_of_role
        for role, words_of_role in words.word_sets.items()
        if role not in targets
    }
    kinds = {TARGETS: targets, ATTRIBUTES: attributes}
    return {kind: lists for kind, lists in kinds.items() if lists}
