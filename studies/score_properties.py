"""Study of the properties of bias scores (Schröder et al., 2024), and its two probes: a search on
synthetic words, and the vectors that scores depend on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import Ge, doc

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, Fileless, Positive
from biasbridge.files.paths import digest_of
from biasbridge.intrinsic.lookup import NO_LENGTH, LetterCase, direction, resolve_query, unit_rows
from biasbridge.intrinsic.metrics.weat import associations, standardised_difference
from biasbridge.intrinsic.permutation import permutation_p
from biasbridge.intrinsic.words import load_queries, read_wordsets
from biasbridge.studies.synthetic_words import (
    ATTRIBUTE_SETS,
    Lowest,
    SyntheticWords,
    attribute_sets,
    lowest,
    target_starts,
    transferred_targets,
)

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors
    from rich.console import Console

    from biasbridge.analysis.tables import Tables
    from biasbridge.intrinsic.lookup import ResolvedQuery
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.words import Query
    from biasbridge.stats.arrays import Floats

_NOTES = (
    "yes: the search found no counterexample in these dimensions and evaluations. no: there is a"
    " counterexample (score_properties.csv). A score is fair if it is at its unbiased value"
    " whenever no word is biased.",
    "With a difference of 0 no word would have an association. Random halves of a group (chance)"
    " show the difference between words of one kind.",
)
_SHOWN = (
    *("metric", "part", "items", "words", "comparable", "trustworthy", "fair"),
    *("nearest", "farthest", "reason"),
)
_Row = dict[str, str | int | float]
_EXACT = 1e-7
_SHORTFALL = 0.01  # of the best extreme: an attribute set below it is searched again
_REPEAT, _FINISH = 5, 40  # times the evaluations: of a set searched again; to the unbiased value
_TEXTS = ("metric", "convention", "part", "search", "attributes", "counterexample", "reason")
_COUNTS = ("items", "words", "dim", "evaluations")
_VALUES = ("scale_min", "scale_max", "unbiased", "value", "bias")
_COLUMNS = (*_TEXTS, *_COUNTS, *_VALUES)
_EMPTY: _Row = dict.fromkeys(_TEXTS, "")
_EMPTY |= dict.fromkeys(_COUNTS, 0)
_EMPTY |= dict.fromkeys(_VALUES, math.nan)
_REQUIRED_ROLES = ("X", "Y", "A", "B", "pairs")
_NORMAL_QUANTILE = 1.96
_MIN_PAIRS = 4  # two are left out, and two more are needed for a direction
_PRINCIPAL = "first component"
_EMPTY_GROUP_ROW: _Row = dict.fromkeys(("query", "kind", "panel", "first", "second", "reason"), "")
_EMPTY_GROUP_ROW |= dict.fromkeys(("value", "low", "high", "p_value"), math.nan)
_EMPTY_GROUP_ROW["n"] = 0


@choice
class ScoreProperties(Fileless):
    """Tables 1 and 2 and figures 1 to 3 of Schröder et al. (2024), from the probes
    ``score_properties`` (any metrics) and ``attribute_groups`` (any vectors). Prints both tables
    and writes ``score_properties.csv``, ``attribute_differences.csv``, figures and ``report.html``.
    """

    name: ClassVar[str] = "score_properties"
    version: ClassVar[int] = 2
    writes: ClassVar[tuple[str, ...]] = (
        *("score_properties.csv", "attribute_differences.csv"),
        *("figures", "report.html"),
    )
    chosen_as: ClassVar[tuple[str, ...]] = ("study/score_properties",)

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw the study; return the paths written."""
        from biasbridge.studies.conclusion import Conclusion, conclude
        from biasbridge.studies.score_property_tables import (
            difference_table,
            score_property_charts,
            score_table,
        )

        scores = score_table(tables.probes)
        differences = difference_table(tables.points, tables.probes)
        all_tables = {"score_properties": scores, "attribute_differences": differences}
        written = {name: table for name, table in all_tables.items() if len(table)}
        if not written:
            remedy = "choose probe=score_properties or probe=attribute_groups"
            console.print(f"no score was examined: {remedy}")
            return []
        shown = {
            "Table 1: properties of scores": scores.reindex(columns=_SHOWN)
            if len(scores)
            else scores,
            "Table 2: differences of attribute groups": differences,
        }
        drawings = score_property_charts(scores, tables.points, tables.probes)
        title = "Properties of scores"
        conclusion = Conclusion(title, _answer(scores), written, shown, drawings, _NOTES)
        return conclude(conclusion, tables.points, folder, console)


def _answer(scores: pd.DataFrame) -> str:
    if not len(scores) or "comparable" not in scores:
        return "No score was examined; the differences of attribute groups are below."
    is_yes = scores[["comparable", "trustworthy", "fair"]] == "yes"
    counts = ", ".join(
        f"{is_yes[name].sum()} of {scores[name].isin(('yes', 'no')).sum()} are {name}"
        for name in is_yes
    )
    n_comparable_and_trustworthy = (is_yes["comparable"] & is_yes["trustworthy"]).sum()
    return (
        f"Of the scores examined, {counts}. Both comparable and trustworthy:"
        f" {n_comparable_and_trustworthy}."
    )


@choice
class PropertySearches(Fileless):
    """Searches over the vectors of synthetic words, for each metric and number of target words.

    * ``extremes``: for each attribute set the largest and the smallest score of any target words.
      A score is magnitude-comparable if these are the same for all attribute sets.
    * ``unbiased``: the score nearest its unbiased value while a target word has a bias |s(t, A) -
      s(t, B)| of at least ``margin``. A score is unbiased-trustworthy if none comes near.
    * ``fair``: the score farthest from its unbiased value while no word has a bias (the converse).

    All vectors have unit length and ``dim`` dimensions; those of the subject are not used. There is
    a search for each of ``items``, the target words in each role, with ``attributes`` words or base
    pairs in each group, ``vocabulary`` words for metrics that search one, ``sets`` attribute sets,
    and ``evaluations`` after its starts (``studies/synthetic_words.py``).
    """

    items: Annotated[tuple[Count, ...], doc("target words in each role")] = (1, 4)
    attributes: Annotated[Count, doc("words in each group, or base pairs")] = 3
    dim: Annotated[int, Ge(3), doc("dimensions of the vectors")] = 4
    vocabulary: Annotated[Count, doc("words in the vocabulary, for metrics that search one")] = 12
    sets: Annotated[int, Ge(len(ATTRIBUTE_SETS)), doc("attribute sets, of four kinds in turn")] = 8
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
        return pd.DataFrame(rows, columns=list(_COLUMNS))

    def _search_rows(self, metric: Metric, items: int, seed: int) -> Iterator[_Row]:
        about: _Row = _EMPTY | {"metric": metric.name, "convention": metric.label, "items": items}
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
            search = _PropertySearch(words, part, unbiased, sets, self, seed, rng)
            for row in search.rows():
                yield about | {"part": part, "unbiased": unbiased} | row


@dataclass(frozen=True)
class _PropertySearch:
    """Searches of one part of a score."""

    words: SyntheticWords
    part: str
    unbiased: float
    sets: list[Floats]
    probe: PropertySearches
    seed: int
    rng: np.random.Generator

    def rows(self) -> Iterator[_Row]:
        """Yield one row per search."""
        for sign, end in ((-1, "max"), (1, "min")):
            yield from self._extremes(sign, end)
        yield self._row("unbiased", "", self._nearest_unbiased())
        yield self._row("fair", "", self._farthest_fair())

    def _score(self, matrix: Floats) -> float:
        return self.words.scores(matrix, self.seed).get(self.part, math.nan)

    def _extremes(self, sign: int, end: str) -> Iterator[_Row]:
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
            if result.loss > best + _SHORTFALL * abs(best) + _EXACT:
                starts = transferred_targets(self.words, matrices, attribute_set)
                repeat = search([result.matrix, *starts], _REPEAT * self.probe.evaluations)
                evaluations = result.evaluations + repeat.evaluations
                results[number] = repeat._replace(evaluations=evaluations)
        for number, result in enumerate(results):
            kind = ATTRIBUTE_SETS[number % len(ATTRIBUTE_SETS)]
            yield self._row(end, f"{kind} {number // len(ATTRIBUTE_SETS) + 1}", result)

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
        for repair, matrix in product((np.asarray, self.words.identical_targets), self.sets):
            search = partial(lowest, loss, free=rows, enough=_EXACT, rng=self.rng, repair=repair)
            results.append(search(target_starts(self.words, matrix), evaluations=evaluations))
            if results[-1].loss > _EXACT:
                n_steps = _FINISH * evaluations // len(self.sets)
                results.append(search([results[-1].matrix], evaluations=n_steps))
            if results[-1].loss <= _EXACT:
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

    def _row(self, search: str, attributes: str, result: Lowest) -> _Row:
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


@choice
class AttributeGroups:
    """Properties of queries with targets X and Y, attributes A and B, and base pairs. Rows by
    ``kind``:

    * ``difference``: |mean(A) - mean(B)|, the largest association s(w, A, B) that any word can
      have (Schröder et al., 2024, theorem 1): ``panel`` ``unit`` with attributes at unit length;
      ``raw`` with unchanged attributes; ``chance``, at unit length, the mean over ``halves`` random
      halves of A u B. The 95% interval is by the delta method, for words of A and of B as samples.
    * ``association``: s(w, A, B) of every target; ``first`` is its word and ``panel`` its set.
    * ``effect``: the WEAT effect size of X and Y, and its p (one-sided, exact if feasible).
    * ``correlation``: cosines between the differences ``first`` and ``second`` of base pairs, and
      with their first principal component; ``panel``: ``all``, and ``less two``, without the two
      pairs nearest the component.
    """

    queries: Annotated[
        tuple[str, ...],
        doc("queries with X, Y, A, B and pairs; built in, or from the file in words"),
    ]
    words: Annotated[str | None, doc("file of your own queries, YAML or JSON")] = None
    case: Annotated[LetterCase, doc("look up a word as written, then in lower case")] = "lower"
    halves: Annotated[
        Count, doc("random halves of the attributes, for the difference expected by chance")
    ] = 500

    name: ClassVar[str] = "attribute_groups"
    version: ClassVar[int] = 1
    needs: ClassVar[str] = "vectors"
    per_metric: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("words",)
    chosen_as: ClassVar[tuple[str, ...]] = ("probe/attribute_groups",)
    configuration: ClassVar[Mapping[str, object]] = {"queries": ["gender_topics"]}

    def __post_init__(self) -> None:
        for query in self.loaded_queries():
            if missing_roles := [role for role in _REQUIRED_ROLES if role not in query.sets]:
                required = f"{self.name} needs {', '.join(_REQUIRED_ROLES)}"
                raise InputError(
                    f"query {query.name!r} has no {', '.join(missing_roles)}; {required}"
                )

    def loaded_queries(self) -> list[Query]:
        """Load the queries."""
        return load_queries(self.queries, self.words)

    def files(self) -> list[Path]:
        """List the files of the queries."""
        return [Path(self.words), *read_wordsets(self.words).files] if self.words else []

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the words, wherever they are listed."""
        return {"queries": digest_of([query.key_fields() for query in self.loaded_queries()])}

    def rows(self, vectors: KeyedVectors, metric: Metric | None, *, seed: int) -> pd.DataFrame:
        """Return the rows of every query, or one with the reason if words are out of vocabulary."""
        import pandas as pd

        rows: list[_Row] = []
        for query in self.loaded_queries():
            words = resolve_query(vectors, query, _REQUIRED_ROLES.__contains__, case=self.case)
            about: _Row = _EMPTY_GROUP_ROW | {"query": query.name}
            shortages = words.shortages(0, {"X": 2, "Y": 2, "A": 2, "B": 2, "pairs": _MIN_PAIRS})
            try:
                if shortages:
                    raise InputError("; ".join(shortages))
                words.require_directions()
                rows += [about | row for row in self._query_rows(words, seed)]
            except InputError as error:
                rows.append(about | {"kind": "difference", "reason": str(error)})
        return pd.DataFrame(rows)

    def _query_rows(self, words: ResolvedQuery, seed: int) -> Iterator[_Row]:
        rng = np.random.default_rng(seed)
        yield from self._differences(words, rng)
        associations_by_role = {
            role: associations(words[role].matrix, words["A"].matrix, words["B"].matrix)
            for role in "XY"
        }
        for role, values in associations_by_role.items():
            for word, value in zip(words[role].words, values.tolist(), strict=True):
                yield {"kind": "association", "panel": role, "first": word, "value": value}
        effect = standardised_difference(associations_by_role["X"], associations_by_role["Y"])
        p = permutation_p(associations_by_role["X"], associations_by_role["Y"], seed=seed).p
        n = sum(len(values) for values in associations_by_role.values())
        yield {"kind": "effect", "value": effect, "p_value": p, "n": n}
        yield from _correlations(words)

    def _differences(self, words: ResolvedQuery, rng: np.random.Generator) -> Iterator[_Row]:
        n = len(words["A"].words) + len(words["B"].words)
        about: _Row = {"kind": "difference", "n": n}
        for panel, sets in (
            ("unit", (words["A"].matrix, words["B"].matrix)),
            ("raw", (words["A"].raw, words["B"].raw)),
        ):
            distance, error = _mean_distance(*sets)
            low, high = (
                max(0.0, distance - _NORMAL_QUANTILE * error),
                distance + _NORMAL_QUANTILE * error,
            )
            yield about | {"panel": panel, "value": distance, "low": low, "high": high}
        attributes = np.concatenate([words["A"].matrix, words["B"].matrix])
        size = len(words["A"].words)
        halves = (np.split(rng.permutation(attributes), [size]) for _ in range(self.halves))
        chance = float(np.mean([_mean_distance(first, second)[0] for first, second in halves]))
        yield about | {"panel": "chance", "value": chance}


def _mean_distance(first: Floats, second: Floats) -> tuple[float, float]:
    """Compute the distance of two means and its standard error along their difference."""
    difference = first.mean(axis=0) - second.mean(axis=0)
    length = float(np.linalg.norm(difference))
    if length < NO_LENGTH:
        return length, math.nan
    variances = [(rows @ difference / length).var(ddof=1) / len(rows) for rows in (first, second)]
    return length, math.sqrt(sum(variances))


def _correlations(words: ResolvedQuery) -> Iterator[_Row]:
    pairs, names = words["pairs"].matrix, list(words["pairs"].words)
    component = direction(pairs)
    similarity = np.abs(unit_rows(pairs[:, 0] - pairs[:, 1]) @ component)
    without_nearest = np.sort(np.argsort(similarity, kind="stable")[:-2])
    panels = (("all", np.arange(len(names))), ("less two", without_nearest))
    for panel, pair_indices in panels:
        selected = pairs[pair_indices]
        axes = np.vstack([unit_rows(selected[:, 0] - selected[:, 1]), direction(selected)])
        labels = [*(names[i] for i in pair_indices), _PRINCIPAL]
        cosines: list[list[float]] = (axes @ axes.T).tolist()
        for first, row in zip(labels, cosines, strict=True):
            for second, cosine in zip(labels, row, strict=True):
                about: _Row = {"kind": "correlation", "panel": panel, "n": len(pair_indices)}
                yield about | {"first": first, "second": second, "value": cosine}
