"""Tables and figures of the study of score properties."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import inf, isfinite, nan
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from biasbridge.analysis.charts import Drawing, colour, finish
from biasbridge.files.columns import as_float, as_text
from biasbridge.stats.formatting import format_number
from biasbridge.studies.conclusion import row_dicts

_TOLERANCE = 0.02  # of a score's scale: extremes nearer each other count as equal
_EXACT = 1e-6  # a score nearer its unbiased value counts as unbiased
_UNBOUNDED = 100.0  # without declared ends, scores beyond this count as unbounded
_SCORE = ("metric", "convention", "part", "items")
_NO_ROW = {"n": 0, **dict.fromkeys(("value", "low", "high", "p_value"), nan)}
_DIFFERING = ("stereotype", "contexts", "layer", "pooling", "sentences", "seed")
_PROPERTIES = ("comparable", "trustworthy", "fair")
_COLOURS = {"yes": "#4477aa", "no": "#cc6677", "undefined": "#bbbbbb", "unbounded": "#ddaa33"}


class _Extremes(NamedTuple):
    """Extreme scores of the attribute sets, with the sets' names and the vectors."""

    scores: list[float]
    sets: list[str]
    counterexamples: list[str]

    @classmethod
    def of(cls, rows: pd.DataFrame) -> _Extremes:
        """Read the extremes from rows of the probe."""
        scores = as_float(rows, "value").tolist()
        return cls(scores, as_text(rows, "attributes"), as_text(rows, "counterexample"))

    @property
    def spread(self) -> float:
        """Range of the extremes."""
        finite = [value for value in self.scores if isfinite(value)]
        return max(finite) - min(finite) if finite else 0.0


def score_table(probes: pd.DataFrame) -> pd.DataFrame:
    """Return verdicts, extremes and counterexamples, one row per part of a score and items."""
    searches = probes[probes["probe"] == "score_properties"]
    if searches.empty:
        return searches
    groups = searches.groupby(list(_SCORE), sort=False, dropna=False)
    return pd.DataFrame([_verdict_row(key, rows) for key, rows in groups if isinstance(key, tuple)])


def _verdict_row(key: tuple[object, ...], rows: pd.DataFrame) -> dict[str, object]:
    about: dict[str, object] = dict(zip(_SCORE, key, strict=True))
    if reason := next((reason for reason in as_text(rows, "reason") if reason), ""):
        return about | {"words": 0, "reason": reason}
    words, unbiased, scale_min, scale_max = (
        float(as_float(rows, name)[0]) for name in ("words", "unbiased", "scale_min", "scale_max")
    )
    smallest, largest = (_Extremes.of(rows[rows["search"] == end]) for end in ("min", "max"))
    [nearest], [fair] = (row_dicts(rows[rows["search"] == name]) for name in ("unbiased", "fair"))
    off, farthest = abs(nearest["value"] - unbiased), abs(fair["value"] - unbiased)
    values = [*smallest.scores, *largest.scores]
    is_bounded = isfinite(scale_max - scale_min)
    scale = scale_max - scale_min if is_bounded else max(map(abs, [*values, 1e-9]))
    if not all(map(isfinite, values)):
        comparable = "undefined"
    elif not is_bounded and max(map(abs, values)) > _UNBOUNDED:
        comparable = "unbounded"
    else:
        is_equal = max(smallest.spread, largest.spread) <= _TOLERANCE * scale
        comparable = "yes" if is_equal else "no"
    trustworthy = ("yes" if off > _EXACT else "no") if isfinite(off) else "undefined"
    is_fair = ("yes" if farthest <= _EXACT else "no") if isfinite(farthest) else "undefined"
    counterexamples = {
        "comparable": _describe_extremes(smallest, largest) if comparable == "no" else "",
        "trustworthy": _spell_vectors(nearest["counterexample"]) if off <= _EXACT else "",
        "fair": _spell_vectors(fair["counterexample"]) if farthest > _EXACT else "",
    }
    return about | {
        "words": int(words),
        "comparable": comparable,
        "max_low": min(largest.scores),
        "max_high": max(largest.scores),
        "min_low": min(smallest.scores),
        "min_high": max(smallest.scores),
        "scale_min": scale_min,
        "scale_max": scale_max,
        "trustworthy": trustworthy,
        "unbiased": unbiased,
        "nearest": nearest["value"],
        "bias": nearest["bias"],
        "fair": is_fair,
        "farthest": fair["value"],
        "sets": len(largest.scores),
        "evaluations": int(as_float(rows, "evaluations").sum()),
        **{f"counterexample_{name}": text for name, text in counterexamples.items()},
        "reason": "",
    }


def _describe_extremes(smallest: _Extremes, largest: _Extremes) -> str:
    """Describe the two attribute sets whose extremes differ most, with the targets' vectors."""
    extremes, sign = (largest, 1) if largest.spread >= smallest.spread else (smallest, -1)
    order = sorted(range(len(extremes.scores)), key=lambda i: sign * extremes.scores[i])
    return "; ".join(
        f"{extremes.sets[i]}: {format_number(extremes.scores[i], 3)} at"
        f" {_spell_vectors(extremes.counterexamples[i])}"
        for i in (order[0], order[-1])
    )


def _spell_vectors(counterexample: str, digits: int = 3) -> str:
    """Format vectors by role: ``X (1, 0) (0, 1) A (.6, .8)``."""
    if not counterexample:
        return ""
    by_role: dict[str, list[list[float]]] = json.loads(counterexample)
    return " ".join(
        f"{role} "
        + " ".join(f"({', '.join(format_number(x, digits) for x in row)})" for row in rows)
        for role, rows in by_role.items()
    )


def difference_table(points: pd.DataFrame, probes: pd.DataFrame) -> pd.DataFrame:
    """Return table 2 by embedding and query: differences with interval, effect size and p."""
    rows = _attribute_group_rows(points, probes)
    if rows.empty:
        return rows
    table: list[dict[str, object]] = []
    for (embedding, query), group in rows.groupby(["embedding", "query"], sort=False):
        summary = group[group["kind"].isin(["difference", "effect"])]
        rows_by_name = {row["panel"] or row["kind"]: row for row in row_dicts(summary)}
        unit, raw, chance, effect = (
            rows_by_name.get(name, _NO_ROW) for name in ("unit", "raw", "chance", "effect")
        )
        row = {"embedding": embedding, "query": query, "n": int(unit["n"])}
        row |= {"difference": unit["value"], "low": unit["low"], "high": unit["high"]}
        row |= {"chance": chance["value"], "raw": raw["value"]}
        row |= {"raw_low": raw["low"], "raw_high": raw["high"], "targets": int(effect["n"])}
        row |= {"effect_size": effect["value"], "p_value": effect["p_value"]}
        table.append(row | {"reason": next(filter(None, as_text(group, "reason")), "")})
    return pd.DataFrame(table)


def _attribute_group_rows(points: pd.DataFrame, probes: pd.DataFrame, *kinds: str) -> pd.DataFrame:
    """Return the probe's rows, or those of some kinds, with a column ``embedding``."""
    rows = probes[probes["probe"] == "attribute_groups"]
    if rows.empty:
        return rows
    embeddings = points[["point"]].assign(embedding=_embedding_names(points))
    rows = rows.merge(embeddings, on="point", validate="many_to_one")
    return rows[rows["kind"].isin(kinds)] if kinds else rows


def _embedding_names(points: pd.DataFrame) -> list[str]:
    """Name the embedding of each point, with the columns that differ between points of one name."""
    embeddings = as_text(points, "embedding")
    columns = {name: as_text(points, name) for name in _DIFFERING}
    differing = {
        name: values
        for name, values in columns.items()
        if len(set(zip(embeddings, values, strict=True))) > len({*embeddings})
    }
    return [
        ", ".join(
            [embedding, *(f"{name} {values[i]}" for name, values in differing.items() if values[i])]
        )
        for i, embedding in enumerate(embeddings)
    ]


class _WordSelection(NamedTuple):
    """Selection of target words: separation of their sets' associations (AUC), and effect size."""

    name: str
    words: frozenset[str]
    auc: float
    effect_size: float
    n: int


def _selections(associations: pd.DataFrame, fewest: int = 4) -> list[_WordSelection]:
    """Return all target words, and a perfectly separated selection with a small effect size, which
    leaves out one word after the other to lower it but keeps ``fewest`` in each set (figure 1 of
    the paper: sets that are easier to separate have the smaller effect size).
    """
    x, y = (
        dict(zip(as_text(part, "first"), as_float(part, "value").tolist(), strict=True))
        for part in (associations[associations["panel"] == role] for role in "XY")
    )
    all_targets = _selection("all targets", x, y)
    x_is_higher = all_targets.effect_size >= 0
    high, low = (x, y) if x_is_higher else (y, x)
    thresholds = sorted({*high.values(), *low.values()})
    n_separated = [
        sum(value > t for value in high.values()) + sum(value <= t for value in low.values())
        for t in thresholds
    ]
    threshold = thresholds[int(np.argmax(n_separated))] if thresholds else inf
    high = {word: value for word, value in high.items() if value > threshold}
    low = {word: value for word, value in low.items() if value <= threshold}
    if min(len(high), len(low)) < fewest:
        return [all_targets]
    while True:
        options = [
            (abs(_effect_size([*h.values()], [*lo.values()])), h, lo)
            for word in [*high, *low]
            for h, lo in [[{w: v[w] for w in v if w != word} for v in (high, low)]]
            if min(len(h), len(lo)) >= fewest
        ]
        best = min(options, key=lambda option: option[0], default=None)
        if best is None or best[0] >= abs(_effect_size([*high.values()], [*low.values()])):
            break
        _, high, low = best
    return [all_targets, _selection("a selection", *((high, low) if x_is_higher else (low, high)))]


def _effect_size(x: Sequence[float], y: Sequence[float]) -> float:
    spread = float(np.std([*x, *y]))
    return float(np.mean(x) - np.mean(y)) / spread if spread > 0 else nan


def _selection(name: str, x: dict[str, float], y: dict[str, float]) -> _WordSelection:
    x_values, y_values = np.array([*x.values()]), np.array([*y.values()])
    signs = np.sign(x_values[:, None] - y_values)
    auc = float((signs.mean() + 1) / 2)
    effect_size = _effect_size(x_values.tolist(), y_values.tolist())
    return _WordSelection(
        name, frozenset([*x, *y]), auc, effect_size, len(x_values) + len(y_values)
    )


def score_property_charts(
    table: pd.DataFrame, points: pd.DataFrame, probes: pd.DataFrame
) -> dict[str, Drawing]:
    """Draw ``table1``, ``figure1`` (and 2) by query, and ``figure3`` by embedding and query."""
    drawings: dict[str, Drawing] = {}
    if len(table) and "comparable" in table:
        drawings["table1"] = _property_chart(table)
    associations = _attribute_group_rows(points, probes, "association")
    if len(associations):
        for query, rows in associations.groupby("query", sort=False):
            drawings[f"figure1_{query}"] = _association_chart(rows)
    correlations = _attribute_group_rows(points, probes, "correlation")
    if len(correlations):
        for key, rows in correlations.groupby(["embedding", "query"], sort=False):
            embedding, query_name = map(str, key)
            stem = re.sub(r"\W+", "_", f"figure3_{embedding}_{query_name}").strip("_")
            drawings[stem] = _correlation_chart(rows, embedding)
    return drawings


def _property_chart(table: pd.DataFrame) -> Drawing:
    """Draw table 1: rows are scores, columns properties, panels numbers of target words."""
    rows = [
        {
            "score": f"{row['metric']} {row['part']}".strip(),
            "property": name,
            "items": f"{row['items']} a role",
        }
        | {"verdict": row[name]}
        for row in row_dicts(table[table["reason"].eq("")])
        for name in _PROPERTIES
    ]
    scale = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
    panel = alt.Chart().mark_rect(stroke="white").properties(width=210, height=alt.Step(14))
    x = alt.X("property:N", title=None, sort=list(_PROPERTIES)).axis(labelAngle=0, grid=False)
    chart = panel.encode(
        x,
        alt.Y("score:N", title=None, sort=None).axis(grid=False),
        alt.Color("verdict:N", title=None, scale=scale),
    ).facet(alt.Facet("items:N", title=None, sort=None), data=pd.DataFrame(rows), columns=2)
    return finish(chart, "Which scores are comparable, trustworthy and fair, by search")


def _association_chart(associations: pd.DataFrame) -> Drawing:
    """Draw every word's association, X above Y, one panel per embedding and target selection."""
    rows: list[pd.DataFrame] = []
    panels: list[str] = []
    for embedding, part in associations.groupby("embedding", sort=False):
        words = part[["panel", "first", "value"]].set_axis(["set", "word", "s"], axis=1)
        for selection in _selections(part):
            effect, auc = format_number(selection.effect_size), format_number(selection.auc)
            effect = f"d = {effect}, AUC {auc}, n = {selection.n}"
            panels.append(f"{embedding}: {selection.name}; " + effect.replace("-", "\u2212"))
            rows.append(words[words["word"].isin(selection.words)].assign(panel=panels[-1]))
    ticks = alt.Chart().mark_tick(thickness=2, size=28, opacity=0.7)
    panel = ticks.properties(width=300, height=80).encode(
        alt.X("s:Q", title="s(w, A, B)", scale=alt.Scale(zero=False)),
        alt.Y("set:N", title=None, sort=None),
        colour("set", ["X", "Y"], legend=None),
    )
    header = alt.Header(labelExpr="split(datum.label, '; ')", labelLimit=420, labelPadding=4)
    facet = alt.Facet("panel:N", title=None, sort=panels, header=header)
    chart = panel.facet(facet, data=pd.concat(rows, ignore_index=True), columns=2)
    title = "Associations of single words, and the effect size of their sets"
    return finish(chart.resolve_scale(x="independent"), title)


def _correlation_chart(correlations: pd.DataFrame, embedding: str) -> Drawing:
    """Draw cosines of pairs' differences and component, of all pairs and less the two nearest."""
    size = 15 if correlations["first"].nunique() > 12 else 22
    panels = [
        _heat_map(part, str(panel), size)
        for panel, part in correlations.groupby("panel", sort=False)
    ]
    return finish(alt.hconcat(*panels), f"Cosines of bias directions, {embedding}")


def _heat_map(rows: pd.DataFrame, panel: str, size: int) -> Any:
    order = list(dict.fromkeys(rows["first"]))
    axis = alt.Axis(labelLimit=200, labelOverlap=False, grid=False)
    scale = alt.Scale(domain=[-1, 1], scheme="blueorange")
    pairs = f"{len(order) - 1} pairs ({panel})"
    cosines = rows[["first", "second", "value"]].rename(columns={"value": "cosine"})
    title = alt.TitleParams(pairs, fontSize=12, anchor="start")
    cells = alt.Chart(cosines, title=title, width=alt.Step(size), height=alt.Step(size))
    return cells.mark_rect().encode(
        alt.X("second:N", title=None, sort=order, axis=axis),
        alt.Y("first:N", title=None, sort=order, axis=axis),
        alt.Color("cosine:Q", scale=scale),
    )
