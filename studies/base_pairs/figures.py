"""Figures 1 and 2 of the study of base pairs, and its agreements at a glance."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import pandas as pd

from analysis.columns import numbers, text_rows, texts
from analysis.look import PALETTE, chart
from analysis.show import estimate
from files import atomic_path
from files.charts import Spec, save_charts
from files.tables import write_csv
from studies.base_pairs.readings import WORDS
from studies.base_pairs.show import TITLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from studies.base_pairs.readings import Readings

FORMATS = (".svg", ".png", ".pdf")
Rows = list[dict[str, object]]
FORMS = ("base", "plural", "capital", "upper")
KAPPAS = ("fleiss", "pair_form", "word_form", "truth", "measures")


def draw_base_pairs(
    found: pd.DataFrame,
    every: Sequence[tuple[str, str, dict[str, Readings]]],
    names: Mapping[str, str],
    shown: str | None,
    folder: Path,
) -> list[Path]:
    """The figures of the first point and query with scores of words, in every format and each with
    the CSV of its numbers; the paths.
    """
    asked = [
        (point, query, {name: each for name, each in readings.items() if WORDS in each.tables})
        for point, query, readings in every
    ]
    asked = [each for each in asked if each[2]]
    if not asked:
        return []
    point, query, readings = asked[0]
    rows = found[found["point"].eq(point) & found["query"].eq(query)]
    told = f"{names[point]}, {query}"
    word, scores = word_scores(readings, shown)
    charts = {
        "base_pairs_word": (word_chart(scores, readings, f"Scores of {word}: {told}"), scores),
        "base_pairs_cosine": cosine_chart(rows, readings, told),
        "base_pairs_agreement": agreement_chart(rows, told),
    }
    written = []
    for name, (drawn, numbers_of) in charts.items():
        stem = folder / name
        written += [*save_charts(drawn, stem, FORMATS), stem.with_suffix(".csv")]
        with atomic_path(written[-1]) as path:
            write_csv(pd.DataFrame(numbers_of), path)
    return written


def word_scores(readings: Mapping[str, Readings], shown: str | None) -> tuple[str, Rows]:
    """A word's scores by metric, form and base pair (figure 1): the word ``shown``, or else the
    first with most forms.
    """
    first = next(iter(readings.values()))
    of_words = {key[1]: each for key, each in first.tables.items() if key[::2] == WORDS[::2]}
    forms = {
        item: sum(item in each.items for each in of_words.values())
        for item in first.tables[WORDS].items
    }
    word = shown if shown in forms else max(forms, key=lambda item: forms[item])
    rows: Rows = []
    for metric, reading in readings.items():
        for (role, form, pair_form), table in reading.tables.items():
            if (role, pair_form) == ("words", "base") and word in table.items:
                scores = table.scores[table.items.index(word)].tolist()
                told = {"metric": metric, "word": word, "form": form}
                rows += [
                    told | {"pair": pair, "score": score}
                    for pair, score in zip(table.pairs, scores, strict=True)
                ]
    return word, rows


def word_chart(rows: Rows, readings: Mapping[str, Readings], title: str) -> Spec:
    """A panel a metric: scores by base pair, a line a form; the vocabulary's mean and the bounds of
    one standard deviation are dashed.
    """
    pairs = list(next(iter(readings.values())).pairs)
    levels: Rows = []
    for metric, reading in readings.items():
        if isfinite(reading.spread):
            mean = float(reading.means.mean())
            heights = (mean - reading.spread, mean, mean + reading.spread)
            levels += [{"metric": metric, "level": height} for height in heights]
    y: Spec = {"type": "quantitative", "title": "score (> 0: first word)"}
    lines: Spec = {
        "transform": [{"filter": "isValid(datum.score)"}],
        "mark": {"type": "line", "point": {"size": 30}},
        "encoding": {
            "x": {"field": "pair", "type": "nominal", "sort": pairs, "title": None}
            | {"axis": {"labelAngle": -45, "labelOverlap": False}, "scale": {"domain": pairs}},
            "y": y | {"field": "score"},
            "color": _colour(
                "form", [form for form in FORMS if any(r["form"] == form for r in rows)]
            ),
        },
    }
    dashed: Spec = {
        "transform": [{"filter": "isValid(datum.level)"}],
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": "#888888"},
        "encoding": {"y": y | {"field": "level"}},
    }
    body: Spec = {
        "facet": {"field": "metric", "type": "nominal", "title": None, "sort": list(readings)},
        "columns": 3,
        "resolve": {"scale": {"y": "independent"}},
        "spec": {"width": 220, "height": 180, "layer": [dashed, lines]},
    }
    return chart(title, body, [*rows, *levels])


def cosine_chart(
    found: pd.DataFrame, readings: Mapping[str, Readings], told: str
) -> tuple[Spec, Rows]:
    """A panel a metric: the kappa of every two base pairs against the cosine of their differences
    (figure 2).
    """
    two = found[found["statistic"].eq("two_pairs")]
    r = found[found["statistic"].eq("cosine_r") & found["pair"].eq("")]
    bounds = (numbers(r, name).tolist() for name in ("value", "low", "high"))
    titles = {
        metric: f"{metric}: r {estimate(*each)}"
        for metric, *each in zip(texts(r, "metric"), *bounds, strict=True)
    }
    rows: Rows = []
    told_rows = zip(text_rows(two, ("metric", "pair", "other")), numbers(two, "value"), strict=True)
    for (metric, one, other), kappa in told_rows:
        reading = readings[metric]
        i, j = reading.pairs.index(one), reading.pairs.index(other)
        if isfinite(kappa):
            row = {"metric": titles.get(metric, metric), "pair": one, "other": other}
            rows.append(row | {"cosine": float(reading.differences[i, j]), "kappa": float(kappa)})
    x: Spec = {"field": "cosine", "type": "quantitative", "title": "cosine of the differences"}
    y: Spec = {"field": "kappa", "type": "quantitative", "title": "Cohen's kappa of the two pairs"}
    spec: Spec = {
        "width": 220,
        "height": 180,
        "mark": {"type": "point", "filled": True, "size": 28, "opacity": 0.8, "color": PALETTE[0]},
        "encoding": {"x": x, "y": y},
    }
    facet = {"field": "metric", "type": "nominal", "title": None, "sort": list(titles.values())}
    body: Spec = {"facet": facet, "columns": 3, "spec": spec}
    return chart(f"Pairs with like differences agree: {told}", body, rows), rows


def agreement_chart(found: pd.DataFrame, told: str) -> tuple[Spec, Rows]:
    """Every kappa over all pairs with its two intervals, and the published number where there is
    one.
    """
    rows = _kappas(found)
    metrics = list(dict.fromkeys(str(row["metric"]) for row in rows))
    x: Spec = {
        "type": "quantitative",
        "title": "kappa; thick: 95% over words, thin: over base pairs",
    }
    shared: Spec = {
        "y": {"field": "what", "type": "nominal", "title": None, "sort": None},
        "yOffset": {"field": "metric", "sort": metrics},
        "color": _colour("metric", metrics),
    }
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": width, "opacity": 0.6},
            "encoding": shared | {"x": x | {"field": low}, "x2": {"field": high}},
        }
        for low, high, width in (("pairs_low", "pairs_high", 1), ("low", "high", 3))
    ]
    layers.append(
        {
            "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
            "encoding": shared | {"x": x | {"field": "value"}},
        }
    )
    if any(row["published"] is not None for row in rows):
        layers.append(
            {
                "mark": {"type": "point", "shape": "diamond", "size": 50, "color": "black"},
                "encoding": {
                    **shared,
                    "x": x | {"field": "published"},
                    "color": {"value": "black"},
                },
            }
        )
        told = f"{told}; diamonds: as published"
    body: Spec = {"width": 420, "height": {"step": 12}, "layer": layers}
    return chart(f"Agreement of directions: {told}", body, rows), rows


def _kappas(found: pd.DataFrame) -> Rows:
    """The kappas over all pairs, with their intervals and what is published."""
    kept = found[found["statistic"].isin(KAPPAS) & found["pair"].eq("") & found["value"].notna()]
    columns = ("value", "low", "high", "pairs_low", "pairs_high", "published")
    rows: Rows = []
    for (statistic, other, metric), *values in zip(
        text_rows(kept, ("statistic", "other", "metric")),
        *(numbers(kept, name).tolist() for name in columns),
        strict=True,
    ):
        name = TITLES[statistic].format(other.replace("_", " "))
        finite = [value if isfinite(value) else None for value in values]
        rows.append({"what": name, "metric": metric, **dict(zip(columns, finite, strict=True))})
    return rows


def _colour(field: str, names: Sequence[str]) -> Spec:
    scale = {"domain": list(names), "range": list(PALETTE)}
    return {"field": field, "type": "nominal", "title": None, "scale": scale}
