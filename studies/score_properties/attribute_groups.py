"""Probe of vectors: difference of attribute groups, associations, and agreement of base pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import doc

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count
from biasbridge.files.digest import digest_of
from biasbridge.intrinsic.directions import NO_LENGTH, direction
from biasbridge.intrinsic.lookup import Case, unit_rows
from biasbridge.intrinsic.metrics.weat import associations, standardised_difference
from biasbridge.intrinsic.permutation import permutation_p
from biasbridge.intrinsic.resolved_query import resolve_query
from biasbridge.intrinsic.wordsets import load_queries, read_wordsets

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.resolved_query import ResolvedQuery
    from biasbridge.intrinsic.wordsets import Query
    from biasbridge.stats.arrays import Floats

Row = dict[str, str | int | float]
REQUIRED_ROLES = ("X", "Y", "A", "B", "pairs")
Z = 1.96
MIN_PAIRS = 4  # two are left out, and two more are needed for a direction
PRINCIPAL = "first component"
EMPTY: Row = dict.fromkeys(("query", "kind", "panel", "first", "second", "reason"), "")
EMPTY |= dict.fromkeys(("value", "low", "high", "p_value"), math.nan)
EMPTY["n"] = 0


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
    case: Annotated[Case, doc("look up a word as written, then in lower case")] = "lower"
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
            if missing_roles := [role for role in REQUIRED_ROLES if role not in query.sets]:
                required = f"{self.name} needs {', '.join(REQUIRED_ROLES)}"
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

        rows: list[Row] = []
        for query in self.loaded_queries():
            words = resolve_query(vectors, query, REQUIRED_ROLES.__contains__, case=self.case)
            about: Row = EMPTY | {"query": query.name}
            shortages = words.shortages(0, {"X": 2, "Y": 2, "A": 2, "B": 2, "pairs": MIN_PAIRS})
            try:
                if shortages:
                    raise InputError("; ".join(shortages))
                words.require_directions()
                rows += [about | row for row in self._query_rows(words, seed)]
            except InputError as error:
                rows.append(about | {"kind": "difference", "reason": str(error)})
        return pd.DataFrame(rows)

    def _query_rows(self, words: ResolvedQuery, seed: int) -> Iterator[Row]:
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

    def _differences(self, words: ResolvedQuery, rng: np.random.Generator) -> Iterator[Row]:
        n = len(words["A"].words) + len(words["B"].words)
        about: Row = {"kind": "difference", "n": n}
        for panel, sets in (
            ("unit", (words["A"].matrix, words["B"].matrix)),
            ("raw", (words["A"].raw, words["B"].raw)),
        ):
            distance, error = _mean_distance(*sets)
            low, high = max(0.0, distance - Z * error), distance + Z * error
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


def _correlations(words: ResolvedQuery) -> Iterator[Row]:
    pairs, names = words["pairs"].matrix, list(words["pairs"].words)
    component = direction(pairs)
    similarity = np.abs(unit_rows(pairs[:, 0] - pairs[:, 1]) @ component)
    without_nearest = np.sort(np.argsort(similarity, kind="stable")[:-2])
    panels = (("all", np.arange(len(names))), ("less two", without_nearest))
    for panel, pair_indices in panels:
        selected = pairs[pair_indices]
        axes = np.vstack([unit_rows(selected[:, 0] - selected[:, 1]), direction(selected)])
        labels = [*(names[i] for i in pair_indices), PRINCIPAL]
        cosines: list[list[float]] = (axes @ axes.T).tolist()
        for first, row in zip(labels, cosines, strict=True):
            for second, cosine in zip(labels, row, strict=True):
                about: Row = {"kind": "correlation", "panel": panel, "n": len(pair_indices)}
                yield about | {"first": first, "second": second, "value": cosine}
