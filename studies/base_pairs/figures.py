"""Figures 1 and 2 of the study of base pairs, and its agreements at a glance."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd

from analysis.charts import GREY, PALETTE, Drawing, colour, finish, intervals
from analysis.show import estimate
from studies.base_pairs.readings import WORDS
from studies.base_pairs.shown import estimate_title
from studies.conclusion import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from studies.base_pairs.readings import Readings

FORMS = ("base", "plural", "capital", "upper")
KAPPAS = ("fleiss", "pair_form", "word_form", "truth", "measures")
ENDS = ["value", "low", "high", "pairs_low", "pairs_high", "published"]


def charts(
    found: pd.DataFrame,
    every: Sequence[tuple[str, str, dict[str, Readings]]],
    names: Mapping[str, str],
    shown: str | None,
) -> dict[str, tuple[Drawing, pd.DataFrame]]:
    """The figures of the first point and query with scores of words, each with its numbers."""
    with_words = (
        (point, query, {name: each for name, each in readings.items() if WORDS in each.tables})
        for point, query, readings in every
    )
    first = next((each for each in with_words if each[2]), None)
    if first is None:
        return {}
    point, query, readings = first
    rows = found[found["point"].eq(point) & found["query"].eq(query)]
    where = f"{names[point]}, {query}"
    word, scores = word_scores(readings, shown)
    cosines, kappas = two_pairs(rows, readings), overall_kappas(rows)
    return {
        "base_pairs_word": (word_chart(scores, readings, f"Scores of {word}: {where}"), scores),
        "base_pairs_cosine": (cosine_chart(cosines, where), cosines),
        "base_pairs_agreement": (agreement_chart(kappas, where), kappas),
    }


def word_scores(readings: Mapping[str, Readings], shown: str | None) -> tuple[str, pd.DataFrame]:
    """A word's scores by metric, form and base pair (figure 1): the word ``shown``, or else the
    first with most forms.
    """
    first = next(iter(readings.values()))
    of_words = [each for key, each in first.tables.items() if key[::2] == WORDS[::2]]
    forms = {
        item: sum(item in each.items for each in of_words) for item in first.tables[WORDS].items
    }
    word = shown if shown in forms else max(forms, key=lambda item: forms[item])
    rows = [
        {"metric": metric, "word": word, "form": form, "pair": pair, "score": score}
        for metric, reading in readings.items()
        for (role, form, pair_form), table in reading.tables.items()
        if (role, pair_form) == ("words", "base") and word in table.items
        for pair, score in zip(
            table.pairs, table.scores[table.items.index(word)].tolist(), strict=True
        )
    ]
    return word, pd.DataFrame(rows)


def word_chart(scores: pd.DataFrame, readings: Mapping[str, Readings], title: str) -> Drawing:
    """A panel a metric: scores by base pair, a line a form; the vocabulary's mean and the bounds of
    one standard deviation are dashed.
    """
    pairs = list(next(iter(readings.values())).pairs)
    levels = [
        {"metric": metric, "level": float(reading.means.mean()) + times * reading.spread}
        for metric, reading in readings.items()
        if isfinite(reading.spread)
        for times in (-1, 0, 1)
    ]
    x = alt.X("pair:N", title=None, sort=pairs, scale=alt.Scale(domain=pairs))
    name = "score (> 0: first word)"
    forms = [form for form in FORMS if form in set(scores["form"])]
    lines = alt.Chart().transform_filter("isValid(datum.score)").mark_line(point={"size": 30})
    dashed = alt.Chart().transform_filter("isValid(datum.level)")
    panel = alt.layer(
        dashed.mark_rule(strokeDash=[4, 3], color=GREY).encode(alt.Y("level:Q", title=name)),
        lines.encode(
            x.axis(labelAngle=-45, labelOverlap=False),
            alt.Y("score:Q", title=name),
            colour("form", forms),
        ),
    )
    rows = pd.concat([scores, pd.DataFrame(levels)], ignore_index=True)
    return finish(_by_metric(panel, rows, list(readings)).resolve_scale(y="independent"), title)


def _by_metric(panel: Any, rows: pd.DataFrame, metrics: Sequence[str]) -> Any:
    facet = alt.Facet("metric:N", title=None, sort=list(metrics))
    return panel.properties(width=220, height=180).facet(facet, data=rows, columns=3)


def two_pairs(found: pd.DataFrame, readings: Mapping[str, Readings]) -> pd.DataFrame:
    """The kappa of every two base pairs and the cosine of their differences, by metric with the r
    of the two.
    """
    overall = found[found["statistic"].eq("cosine_r") & found["pair"].eq("")]
    r = {row["metric"]: estimate(row["value"], row["low"], row["high"]) for row in rows_of(overall)}
    rows = []
    for row in rows_of(found[found["statistic"].eq("two_pairs") & found["value"].notna()]):
        metric, one, other = row["metric"], row["pair"], row["other"]
        reading = readings[metric]
        places = reading.pairs.index(one), reading.pairs.index(other)
        named = f"{metric}: r {r[metric]}" if metric in r else metric
        cosine = float(reading.differences[places])
        rows.append({"metric": named, "pair": one, "other": other, "cosine": cosine})
        rows[-1] |= {"kappa": row["value"]}
    return pd.DataFrame(rows, columns=["metric", "pair", "other", "cosine", "kappa"])


def cosine_chart(cosines: pd.DataFrame, where: str) -> Drawing:
    """A panel a metric: kappa against cosine of every two base pairs (figure 2)."""
    points = alt.Chart().mark_point(filled=True, size=28, opacity=0.8, color=PALETTE[0])
    panel = points.encode(
        alt.X("cosine:Q", title="cosine of the differences"),
        alt.Y("kappa:Q", title="Cohen's kappa of the two pairs"),
    )
    chart = _by_metric(panel, cosines, list(dict.fromkeys(cosines["metric"])))
    return finish(chart, f"Pairs with like differences agree: {where}")


def overall_kappas(found: pd.DataFrame) -> pd.DataFrame:
    """The kappas over all pairs, with their intervals and what is published."""
    kept = found[found["statistic"].isin(KAPPAS) & found["pair"].eq("") & found["value"].notna()]
    what = [estimate_title(*each) for each in zip(kept["statistic"], kept["other"], strict=True)]
    return kept.assign(what=what).reindex(columns=["what", "metric", *ENDS])


def agreement_chart(kappas: pd.DataFrame, where: str) -> Drawing:
    """Every kappa over all pairs with its two intervals, and the published number where there is
    one.
    """
    metrics = list(dict.fromkeys(kappas["metric"]))
    title = "kappa; thick: 95% over words, thin: over base pairs"
    places = alt.Chart().encode(
        alt.Y("what:N", title=None, sort=None), alt.YOffset("metric:N", sort=metrics)
    )
    base = places.encode(colour("metric", metrics))
    of_pairs, _ = intervals(base, ends=("pairs_low", "pairs_high"), opacity=0.6, title=title)
    layers = [of_pairs, *intervals(base, size=40, opacity=0.6, width=3, title=title)]
    if kappas["published"].notna().any():
        where = f"{where}; diamonds: as published"
        mark = places.mark_point(shape="diamond", size=50, color="black")
        layers.append(mark.encode(alt.X("published:Q", title=title), color=alt.value("black")))
    chart = alt.layer(*layers, data=kappas).properties(width=420, height=alt.Step(12))
    return finish(chart, f"Agreement of directions: {where}")
