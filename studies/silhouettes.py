"""Study and probe of bias silhouettes (Spliethöver & Wachsmuth, 2021): how far scores depend on the
words that are in the vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, Fileless
from biasbridge.intrinsic.lookup import resolve_query

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors
    from rich.console import Console

    from biasbridge.analysis.tables import Tables
    from biasbridge.intrinsic.lookup import ResolvedQuery, ResolvedWords
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.score import Score

_NOTES = (
    "Robustness tells how little the choice of words matters: 1 means not at all. It is 1 minus the"
    " area between the lowest and the highest score over random subsets of the lists, as a share of"
    " the whole scale. Metrics that use little of their scale have a high robustness.",
    "Accuracy tells how well a metric separates the biased and the unbiased model: .5 means not at"
    " all. It is .5 plus half the area between their mean distances from no bias, as a share of the"
    " largest distance. accuracy released is that of the paper's code, which takes 0 as no bias and"
    " divides by the whole scale.",
    "Accuracy assumes that the models differ only in bias. Compare metrics on the same models and"
    " lists.",
    "Intervals are 95%, over pairs of models trained anew (seeds).",
)
_TARGETS, _ATTRIBUTES = "targets", "attributes"
_SilhouetteRow = dict[str, object]
_Indices = NDArray[np.intp]


@choice
class SilhouetteAnalysis(Fileless):
    """Bias Silhouette Analysis (Spliethöver & Wachsmuth, 2021), for ``probe=silhouettes``; accuracy
    needs the two models of ``subject=reference``.

    Prints table 1 (robustness) and 2 (accuracy) and the pilot study over the number of runs; writes
    ``silhouettes.csv``, ``silhouettes_curves.csv``, ``silhouettes_runs.csv``, figures and
    ``report.html``.
    """

    limits: Annotated[
        tuple[tuple[str, float, float], ...],
        doc("lowest and highest value of metrics that declare none"),
    ] = ()

    name: ClassVar[str] = "silhouettes"
    version: ClassVar[int] = 2
    writes: ClassVar[tuple[str, ...]] = (
        *("silhouettes.csv", "silhouettes_means.csv"),
        *("silhouettes_curves.csv", "silhouettes_runs.csv"),
        *("figures", "report.html"),
    )
    chosen_as: ClassVar[tuple[str, ...]] = ("study/silhouettes",)
    configuration: ClassVar[Mapping[str, object]] = {"limits": [["rnsb", 0, 1], ["rnd", -2, 2]]}

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw the study; return the paths written."""
        from biasbridge.studies.conclusion import Conclusion, conclude
        from biasbridge.studies.silhouette_results import (
            curves,
            fewer_runs,
            means,
            read_model_pairs,
            scores,
            silhouette_charts,
        )

        try:
            pairs = read_model_pairs(tables, {metric: ends for metric, *ends in self.limits})
        except InputError as refusal:
            console.print(f"no silhouettes: {refusal}")
            return []
        scored = scores(pairs)
        mean_scores, pilot = means(scored), fewer_runs(pairs)
        written = {
            "silhouettes": scored,
            "silhouettes_means": mean_scores,
            "silhouettes_curves": curves(pairs),
            "silhouettes_runs": pilot,
        }
        title = "How robust are the word lists, and how accurate are the metrics?"
        summary = mean_scores.dropna(axis="columns", how="all")
        shown = {"Tables 1 and 2: robustness and accuracy": summary, "Fewer runs": pilot}
        drawings = silhouette_charts(pairs, scored, pilot)
        conclusion = Conclusion(
            title, _silhouette_answer(mean_scores), written, shown, drawings, _NOTES
        )
        return conclude(conclusion, tables.points, folder, console)


def _silhouette_answer(mean_scores: pd.DataFrame) -> str:
    """Name in one sentence the most and the least accurate metric and the least robust list."""
    scored = mean_scores.dropna(subset=["accuracy"])
    if not len(scored):
        return _single_model_answer(mean_scores.dropna(subset=["robustness_biased"]))
    names = _metric_labels(scored)
    printed, released = (
        _name_extremes(scored[f"accuracy{end}"], names) for end in ("", "_released")
    )
    robust = scored[["robustness_biased", "robustness_unbiased"]].min(axis=1).to_numpy()
    least_robust = robust.argmin()
    return (
        f"The most accurate metric is {printed}. As the paper's code defines accuracy it is"
        f" {released}. The least robust lists are those of {names.iloc[least_robust]}"
        f" ({robust[least_robust]:.2f})."
    )


def _name_extremes(accuracy: pd.Series[float], names: pd.Series[str]) -> str:
    """Return ``the most accurate (.86), the least accurate (.53)``."""
    best, worst = accuracy.argmax(), accuracy.argmin()
    return (
        f"{names.iloc[best]} ({accuracy.iloc[best]:.2f}), the least accurate"
        f" {names.iloc[worst]} ({accuracy.iloc[worst]:.2f})"
    )


def _single_model_answer(scored: pd.DataFrame) -> str:
    """Name the most and the least robust lists."""
    if not len(scored):
        return "No metric has a score here; the table gives the reasons."
    names, robust = _metric_labels(scored), scored["robustness_biased"].to_numpy()
    best, worst = robust.argmax(), robust.argmin()
    return (
        f"The most robust lists are those of {names.iloc[best]} ({robust[best]:.2f}), the least"
        f" robust those of {names.iloc[worst]} ({robust[worst]:.2f}). Accuracy needs a second"
        " model: give subject=reference."
    )


def _metric_labels(scored: pd.DataFrame) -> pd.Series[str]:
    return scored["metric"] + " (" + scored["query"] + ", " + scored["list_kind"] + ")"


@choice
class Silhouettes(Fileless):
    """Values of a metric on nested random subsets of its word lists; vectors do not change.

    One kind of list varies at a time, ``targets`` (X, Y, ..., or base pairs: the groups) or
    ``attributes`` (A, B, ..., or words: the concepts); the other is complete. In each of ``runs``
    random orders the lists of the kind grow together by about ``target_step`` or
    ``attribute_step`` words, until the longest is complete (``_nested_subsets``).
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
        rows: list[_SilhouetteRow] = []
        for query in metric.loaded_queries:
            words = metric.select_words(
                resolve_query(vectors, query, metric.about.takes, case=metric.case)
            )
            scores = scores_by_query[query.name]
            for list_kind, lists in _lists_by_kind(words).items():
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
    ) -> list[_SilhouetteRow]:

        if not any(math.isfinite(score.value) for score in scores):
            raise InputError(scores[0].reason)
        step = self.target_step if list_kind == _TARGETS else self.attribute_step
        subsets = _nested_subsets(lists, step, self.runs, seed=seed)
        if len(subsets.sizes) < 2:
            raise InputError(
                f"query {words.query.name!r}: {subsets.sizes[-1]} words of {' and '.join(lists)}"
                f" are in the vocabulary, not more than one step of {step}; lower"
                f" probe.{list_kind[:-1]}_step, or give longer lists"
            )
        words.require_directions()
        values = metric.values_on(subsets.queries(words), seed)
        sizes: list[int] = subsets.sizes.tolist()
        return [
            _score_columns(score, list_kind) | {"size": size, "values": column, "reason": ""}
            for score in scores
            for size, column in zip(
                sizes, np.array(values[score.part]).reshape(subsets.shape).T, strict=True
            )
        ]


def _lists_by_kind(words: ResolvedQuery) -> dict[str, dict[str, ResolvedWords]]:
    """Return the lists that vary together: those of the groups, and those of the concepts."""
    kinds: dict[str, dict[str, ResolvedWords]] = {_TARGETS: {}, _ATTRIBUTES: {}}
    for role, words_of_role in words.word_sets.items():
        is_target = role[0] in "XY" or role == "pairs"
        kinds[_TARGETS if is_target else _ATTRIBUTES][role] = words_of_role
    return {kind: lists for kind, lists in kinds.items() if lists}


def _score_columns(score: Score, list_kind: str) -> _SilhouetteRow:
    names = ("metric", "convention", "query", "part", "scale_min", "scale_max", "unbiased", "n_oov")
    columns = score._asdict()
    return {name: columns[name] for name in names} | {"list_kind": list_kind}


class _Subsets(NamedTuple):
    """Subsets of the items of several roles, in several random orders. ``orders``: by role, indices
    of items in each run, (runs, items); ``counts``: by role, items in each step, (steps,), never
    falling; ``sizes``: words of all roles in each step.
    """

    orders: Mapping[str, _Indices]
    counts: Mapping[str, _Indices]
    sizes: _Indices

    @property
    def shape(self) -> tuple[int, int]:
        """Number of runs and of steps."""
        return len(next(iter(self.orders.values()))), len(self.sizes)

    def queries(self, words: ResolvedQuery) -> Iterator[ResolvedQuery]:
        """Yield the query with every subset, run by run; its items keep their order."""
        runs, steps = self.shape
        for run in range(runs):
            for step in range(steps):
                yield words.take(
                    {
                        role: np.sort(orders[run, : self.counts[role][step]])
                        for role, orders in self.orders.items()
                    }
                )


def _nested_subsets(
    lists: Mapping[str, ResolvedWords], step: int, runs: int, *, seed: int
) -> _Subsets:
    """Draw nested subsets as Spliethöver & Wachsmuth (2021) do.

    All lists grow together by about ``step`` words until the longest is complete; a shorter one
    stays complete. A list grows by step / lists words, rounded down, but at least one item (a base
    pair is one item of two words). The last step has all words. A run's order depends only on the
    seed and on the numbers of the run and the list: the first ones are the same for any number.
    """
    widths = {
        role: words.raw.shape[1] if words.raw.ndim > 2 else 1 for role, words in lists.items()
    }
    growth = {role: max(1, step // len(lists) // width) for role, width in widths.items()}
    steps = max(-(-len(words.items) // growth[role]) for role, words in lists.items())
    counts = {
        role: np.minimum(np.arange(1, steps + 1) * growth[role], len(words.items))
        for role, words in lists.items()
    }
    orders = {
        role: np.array(
            [
                np.random.default_rng((seed, run, list_number)).permutation(len(words.items))
                for run in range(runs)
            ]
        )
        for list_number, (role, words) in enumerate(lists.items())
    }
    sizes = sum((counts[role] * width for role, width in widths.items()), np.zeros(steps, np.intp))
    return _Subsets(orders, counts, sizes)
