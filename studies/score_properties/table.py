"""From searches to verdicts: table 1 of the study of score properties, and table 2."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf, isfinite, nan
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.frame import numbers, texts
from analysis.show import short
from studies.conclusion import row_dicts

TOLERANCE = 0.02  # of a score's scale: extremes nearer each other are the same
EXACT = 1e-6  # a score is at its unbiased value
UNBOUNDED = 100.0  # where no end is declared, scores beyond this are taken to have none
SCORE = ("metric", "convention", "part", "items")
NO_ROW = {"n": 0, **dict.fromkeys(("value", "low", "high", "p_value"), nan)}


class Ends(NamedTuple):
    """The extremes found for the attribute sets, and where they are most and least extreme."""

    found: list[float]
    sets: list[str]
    witnesses: list[str]

    @property
    def spread(self) -> float:
        """How far the extremes lie apart."""
        finite = [value for value in self.found if isfinite(value)]
        return max(finite) - min(finite) if finite else 0.0


def score_table(probes: pd.DataFrame) -> pd.DataFrame:
    """One row for each part of a score and number of items: the verdicts, what was found and the
    counterexamples.

    ``comparable`` is yes where the largest scores found for the attribute sets are the same, and
    the smallest too, up to 2% of the scale (the declared range, or else the largest score found).
    ``trustworthy`` is no where the score is within 1e-6 of its unbiased value and a word biased.
    ``fair`` is no where the score is off its unbiased value and no word biased.
    """
    searches = probes[probes["probe"] == "score_properties"]
    if searches.empty:
        return searches
    groups = searches.groupby(list(SCORE), sort=False, dropna=False)
    return pd.DataFrame([_row(key, part) for key, part in groups if isinstance(key, tuple)])


def _row(key: tuple[object, ...], part: pd.DataFrame) -> dict[str, object]:
    about: dict[str, object] = dict(zip(SCORE, key, strict=True))
    if reason := next((each for each in texts(part, "reason") if each), ""):
        return about | {"words": 0, "reason": reason}
    words, unbiased, declared_least, declared_most = (
        float(numbers(part, name)[0]) for name in ("words", "unbiased", "least", "most")
    )
    least, most = (_ends(part[part["search"] == end]) for end in ("least", "most"))
    scale = declared_most - declared_least
    if not isfinite(scale):
        scale = max(map(abs, [*least.found, *most.found, 1e-9]))
    comparable = _comparable(least, most, scale, (declared_least, declared_most))
    nearest, fair = (_single(part[part["search"] == name]) for name in ("unbiased", "fair"))
    off, farthest = abs(nearest.value - unbiased), abs(fair.value - unbiased)
    return about | {
        "words": int(words),
        "comparable": comparable,
        "most_low": min(most.found),
        "most_high": max(most.found),
        "least_low": min(least.found),
        "least_high": max(least.found),
        "declared_least": declared_least,
        "declared_most": declared_most,
        "trustworthy": _verdict(off, off > EXACT),
        "unbiased": unbiased,
        "nearest": nearest.value,
        "bias": nearest.bias,
        "fair": _verdict(farthest, farthest <= EXACT),
        "farthest": fair.value,
        "sets": len(most.found),
        "evaluations": int(numbers(part, "evaluations").sum()),
        "witness_comparable": _shortfall(least, most) if comparable == "no" else "",
        "witness_trustworthy": nearest.witness if off <= EXACT else "",
        "witness_fair": fair.witness if farthest > EXACT else "",
        "reason": "",
    }


class _Single(NamedTuple):
    value: float
    bias: float
    witness: str


def _ends(rows: pd.DataFrame) -> Ends:
    return Ends(numbers(rows, "value").tolist(), texts(rows, "attributes"), texts(rows, "witness"))


def _single(rows: pd.DataFrame) -> _Single:
    value, bias = (float(numbers(rows, name)[0]) for name in ("value", "bias"))
    return _Single(value, bias, spell_vectors(texts(rows, "witness")[0]))


def _comparable(least: Ends, most: Ends, scale: float, declared: tuple[float, float]) -> str:
    if not all(map(isfinite, [*least.found, *most.found])):
        return "undefined"
    found = max(map(abs, [*least.found, *most.found]))
    if found > UNBOUNDED and not all(map(isfinite, declared)):
        return "unbounded"
    return "no" if max(least.spread, most.spread) > TOLERANCE * scale else "yes"


def _verdict(off: float, holds: bool) -> str:
    return ("yes" if holds else "no") if isfinite(off) else "undefined"


def _shortfall(least: Ends, most: Ends) -> str:
    """The two attribute sets whose extremes differ most, with the targets that reach them."""
    ends, worse = (most, 1) if most.spread >= least.spread else (least, -1)
    order = sorted(range(len(ends.found)), key=lambda i: worse * ends.found[i])
    return "; ".join(
        f"{ends.sets[place]}: {short(ends.found[place], 3)} at"
        f" {spell_vectors(ends.witnesses[place])}"
        for place in (order[0], order[-1])
    )


def spell_vectors(witness: str, digits: int = 3) -> str:
    """Vectors by role in words: ``X (1, 0) (0, 1) A (.6, .8)``."""
    if not witness:
        return ""
    by_role: dict[str, list[list[float]]] = json.loads(witness)
    return " ".join(
        f"{role} " + " ".join(f"({', '.join(short(x, digits) for x in row)})" for row in rows)
        for role, rows in by_role.items()
    )


def difference_table(points: pd.DataFrame, probes: pd.DataFrame) -> pd.DataFrame:
    """Table 2: for each embedding and query the attribute difference with its interval, what chance
    gives, the difference of raw vectors, and the effect size with its p.
    """
    rows = _of_embeddings(points, probes)
    if rows.empty:
        return rows
    table: list[dict[str, object]] = []
    for (embedding, query), part in rows.groupby(["embedding", "query"], sort=False):
        single = part[part["kind"].isin(["difference", "effect"])]
        by = {row["panel"] or row["kind"]: row for row in row_dicts(single)}
        unit, raw, chance, effect = (
            by.get(name, NO_ROW) for name in ("unit", "raw", "chance", "effect")
        )
        row = {"embedding": embedding, "query": query, "n": int(unit["n"])}
        row |= {"difference": unit["value"], "low": unit["low"], "high": unit["high"]}
        row |= {"chance": chance["value"], "raw": raw["value"]}
        row |= {"raw_low": raw["low"], "raw_high": raw["high"], "targets": int(effect["n"])}
        row |= {"effect_size": effect["value"], "p_value": effect["p_value"]}
        table.append(row | {"reason": next(filter(None, texts(part, "reason")), "")})
    return pd.DataFrame(table)


def _of_embeddings(points: pd.DataFrame, probes: pd.DataFrame) -> pd.DataFrame:
    rows = probes[probes["probe"] == "attribute_groups"]
    if rows.empty:
        return rows
    called = points[["point"]].assign(embedding=embedding_names(points))
    return rows.merge(called, on="point", validate="many_to_one")


def embedding_rows(points: pd.DataFrame, probes: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The rows of one kind with a column ``embedding``."""
    rows = _of_embeddings(points, probes)
    return rows if rows.empty else rows[rows["kind"] == kind]


DIFFERING = ("stereotype", "contexts", "layer", "pooling", "sentences", "seed")


def embedding_names(points: pd.DataFrame) -> list[str]:
    """The embedding of each point, with what else differs between points of the same name."""
    named = texts(points, "embedding")
    differing = [
        (name, texts(points, name))
        for name in DIFFERING
        if name in points and len(set(zip(named, texts(points, name), strict=True))) > len({*named})
    ]
    return [
        ", ".join([each, *(f"{name} {values[i]}" for name, values in differing if values[i])])
        for i, each in enumerate(named)
    ]


class Selection(NamedTuple):
    """Target words: how well the associations of their sets are separated, and the effect size."""

    name: str
    words: frozenset[str]
    auc: float
    effect_size: float
    n: int


def selections(associations: pd.DataFrame, fewest: int = 4) -> list[Selection]:
    """All target words of an embedding and query, and fewer that are separated perfectly with as
    small an effect size as can be had by leaving out words one after the other: figure 1 of the
    paper, in which groups that are easier to separate have the smaller effect size.
    """
    first, second = (
        dict(zip(texts(part, "first"), numbers(part, "value").tolist(), strict=True))
        for part in (associations[associations["panel"] == role] for role in "XY")
    )
    whole = _selection("all targets", first, second)
    up = whole.effect_size >= 0
    high, low = (first, second) if up else (second, first)
    # The threshold that keeps most words on their own side
    every = sorted({*high.values(), *low.values()})
    cut = max(every, key=lambda at: _kept(high, low, at)) if every else inf
    high = {word: value for word, value in high.items() if value > cut}
    low = {word: value for word, value in low.items() if value <= cut}
    if min(len(high), len(low)) < fewest:
        return [whole]
    while True:
        options = [
            (abs(_effect([*h.values()], [*lo.values()])), h, lo)
            for word in [*high, *low]
            for h, lo in [(_without(high, word), _without(low, word))]
            if min(len(h), len(lo)) >= fewest
        ]
        best = min(options, key=lambda option: option[0], default=None)
        if best is None or best[0] >= abs(_effect([*high.values()], [*low.values()])):
            break
        _, high, low = best
    return [whole, _selection("a selection", *((high, low) if up else (low, high)))]


def _kept(high: dict[str, float], low: dict[str, float], cut: float) -> int:
    return sum(value > cut for value in high.values()) + sum(v <= cut for v in low.values())


def _without(values: dict[str, float], word: str) -> dict[str, float]:
    return {name: value for name, value in values.items() if name != word}


def _effect(x: Sequence[float], y: Sequence[float]) -> float:
    spread = float(np.std([*x, *y]))
    return float(np.mean(x) - np.mean(y)) / spread if spread > 0 else nan


def _selection(name: str, x: dict[str, float], y: dict[str, float]) -> Selection:
    one, other = np.array([*x.values()]), np.array([*y.values()])
    apart = np.sign(one[:, None] - other)
    auc = float((apart.mean() + 1) / 2)
    effect = _effect(one.tolist(), other.tolist())
    return Selection(name, frozenset([*x, *y]), auc, effect, len(one) + len(other))
