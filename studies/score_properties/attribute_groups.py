"""How far two attribute groups lie apart, what single words make of it, and whether the base pairs
between them agree on a direction: what scores on these vectors rest on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from files import InputError, choice
from files.choice import Count
from files.digest import digest_of
from intrinsic.directions import NO_LENGTH, direction
from intrinsic.found_query import find_query
from intrinsic.lookup import Case, Floats, unit_rows
from intrinsic.metrics.weat import associations, standardised_difference
from intrinsic.permutation import permutation_p
from intrinsic.wordsets import load_queries, read_wordsets

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from intrinsic.found_query import FoundQuery
    from intrinsic.metric import Metric
    from intrinsic.wordsets import Query

Row = dict[str, str | int | float]
NEEDED = ("X", "Y", "A", "B", "pairs")
Z = 1.96
LEAST_PAIRS = 4  # two are left out, and two more make a direction
PRINCIPAL = "first component"
EMPTY: Row = dict.fromkeys(("query", "kind", "panel", "first", "second", "reason"), "")
EMPTY |= dict.fromkeys(("value", "low", "high", "p_value"), math.nan)
EMPTY["n"] = 0


@choice
class AttributeGroups:
    """Of queries with targets X and Y, attributes A and B, and base pairs, in rows by ``kind``:

    * ``difference``: |mean(A) - mean(B)|, the largest association s(w, A, B) that any word can
      have (Schröder et al., 2024, theorem 1): ``panel`` ``unit`` with attributes at unit length;
      ``raw`` as they are; ``chance``, at unit length, the mean over ``halves`` random halves of
      A u B. The 95% interval is by the delta method, the words of A and of B being drawn.
    * ``association``: s(w, A, B) of every target, ``first`` its word and ``panel`` its set.
    * ``effect``: the WEAT effect size of X and Y, and its p (one-sided, exact where it can be).
    * ``correlation``: cosines between the differences ``first`` and ``second`` of base pairs, and
      with their first principal component; ``panel``: ``all``, and ``less two``, without the two
      pairs nearest the component.
    """

    queries: tuple[str, ...]
    words: str | None = None
    case: Case = "lower"
    halves: Count = 500

    name: ClassVar[str] = "attribute_groups"
    version: ClassVar[int] = 1
    needs: ClassVar[str] = "vectors"
    of_metrics: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("words",)

    def __post_init__(self) -> None:
        for query in self.asked():
            if lacking := [role for role in NEEDED if role not in query.sets]:
                needs = f"{self.name} asks about {', '.join(NEEDED)}"
                raise InputError(f"query {query.name!r} has no {', '.join(lacking)}; {needs}")

    def asked(self) -> list[Query]:
        """The queries."""
        return load_queries(self.queries, self.words)

    def files(self) -> list[Path]:
        """The files the queries come from."""
        return [Path(self.words), *read_wordsets(self.words).files] if self.words else []

    def keyed(self) -> Mapping[str, object]:
        """The words asked about, wherever they are listed."""
        return {"asked": digest_of([query.decisive() for query in self.asked()])}

    def rows(self, vectors: KeyedVectors, metric: Metric | None, *, seed: int) -> pd.DataFrame:
        """The rows of every query; of one that the vectors do not have, one with the reason."""
        import pandas as pd

        every: list[Row] = []
        for query in self.asked():
            found = find_query(vectors, query, NEEDED.__contains__, case=self.case)
            about: Row = EMPTY | {"query": query.name}
            short = found.shortages(0, {"X": 2, "Y": 2, "A": 2, "B": 2, "pairs": LEAST_PAIRS})
            try:
                if short:
                    raise InputError("; ".join(short))
                found.require_directions()
                every += [about | row for row in self._of(found, seed)]
            except InputError as reason:
                every.append(about | {"kind": "difference", "reason": str(reason)})
        return pd.DataFrame(every)

    def _of(self, found: FoundQuery, seed: int) -> Iterator[Row]:
        rng = np.random.default_rng(seed)
        yield from self._differences(found, rng)
        of_sets = {
            role: associations(found[role].matrix, found["A"].matrix, found["B"].matrix)
            for role in "XY"
        }
        for role, values in of_sets.items():
            for word, value in zip(found[role].words, values.tolist(), strict=True):
                yield {"kind": "association", "panel": role, "first": word, "value": value}
        effect = standardised_difference(of_sets["X"], of_sets["Y"])
        p = permutation_p(of_sets["X"], of_sets["Y"], seed=seed).p
        n = sum(len(values) for values in of_sets.values())
        yield {"kind": "effect", "value": effect, "p_value": p, "n": n}
        yield from _correlations(found)

    def _differences(self, found: FoundQuery, rng: np.random.Generator) -> Iterator[Row]:
        n = len(found["A"].words) + len(found["B"].words)
        about: Row = {"kind": "difference", "n": n}
        for panel, sets in (
            ("unit", (found["A"].matrix, found["B"].matrix)),
            ("raw", (found["A"].raw, found["B"].raw)),
        ):
            value, error = _apart(*sets)
            low, high = max(0.0, value - Z * error), value + Z * error
            yield about | {"panel": panel, "value": value, "low": low, "high": high}
        every = np.concatenate([found["A"].matrix, found["B"].matrix])
        size = len(found["A"].words)
        halves = (np.split(rng.permutation(every), [size]) for _ in range(self.halves))
        chance = float(np.mean([_apart(one, other)[0] for one, other in halves]))
        yield about | {"panel": "chance", "value": chance}


def _apart(one: Floats, other: Floats) -> tuple[float, float]:
    """The distance of the means, and its standard error: of the words along the difference."""
    between = one.mean(axis=0) - other.mean(axis=0)
    length = float(np.linalg.norm(between))
    if length < NO_LENGTH:
        return length, math.nan
    spread = [(rows @ between / length).var(ddof=1) / len(rows) for rows in (one, other)]
    return length, math.sqrt(sum(spread))


def _correlations(found: FoundQuery) -> Iterator[Row]:
    pairs, names = found["pairs"].matrix, list(found["pairs"].words)
    component = direction(pairs)
    near = np.abs(unit_rows(pairs[:, 0] - pairs[:, 1]) @ component)
    kept = np.sort(np.argsort(near, kind="stable")[:-2])
    for panel, places in (("all", np.arange(len(names))), ("less two", kept)):
        chosen = pairs[places]
        axes = np.vstack([unit_rows(chosen[:, 0] - chosen[:, 1]), direction(chosen)])
        labels = [*(names[place] for place in places), PRINCIPAL]
        cosines: list[list[float]] = (axes @ axes.T).tolist()
        for first, row in zip(labels, cosines, strict=True):
            for second, value in zip(labels, row, strict=True):
                about: Row = {"kind": "correlation", "panel": panel, "n": len(places)}
                yield about | {"first": first, "second": second, "value": value}
