"""Figures 1 and 2 of the study of base pairs, and a figure of all its kappas."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd

from biasbridge.analysis.charts import GREY, PALETTE, Drawing, colour, finish, intervals
from biasbridge.stats.formatting import format_estimate
from biasbridge.studies.base_pairs.probe_results import WORDS
from biasbridge.studies.base_pairs.report_tables import estimate_title
from biasbridge.studies.conclusion import row_dicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from biasbridge.studies.base_pairs.probe_results import ProbeResult, QueryResults

FORMS = ("base", "plural", "capital", "upper")
KAPPAS = ("fleiss", "pair_form", "word_form", "truth", "measures")
ENDS = ["value", "low", "high", "pairs_low", "pairs_high", "published"]


def charts(
    estimates: pd.DataFrame,
    query_results: Sequence[QueryResults],
    names: Mapping[str, str],
) -> dict[str, tuple[Drawing, pd.DataFrame]]:
    """Draw, with their numbers, the figures of the first point and query with scores of words."""
    with_words = (
        (
            point,
            query,
            {metric: result for metric, result in results.items() if WORDS in result.tables},
        )
        for point, query, results in query_results
    )
    first = next((query_result for query_result in with_words if query_result[2]), None)
    if first is None:
        return {}
    point, query, results = first
    rows = estimates[estimates["point"].eq(point) & estimates["query"].eq(query)]
    title = f"{names[point]}, {query}"
    word, scores = word_scores(results)
    cosines, kappas = two_pairs(rows, results), overall_kappas(rows)
    return {
        "base_pairs_word": (word_chart(scores, results, f"Scores of {word}: {title}"), scores),
        "base_pairs_cosine": (cosine_chart(cosines, title), cosines),
        "base_pairs_agreement": (agreement_chart(kappas, title), kappas),
    }


def word_scores(results: Mapping[str, ProbeResult]) -> tuple[str, pd.DataFrame]:
    """Return the first word with most forms, and its scores by metric, form and pair."""
    first = next(iter(results.values()))
    form_tables = [table for key, table in first.tables.items() if key[::2] == WORDS[::2]]
    n_forms = {
        item: sum(item in table.items for table in form_tables)
        for item in first.tables[WORDS].items
    }
    chosen = max(n_forms, key=lambda item: n_forms[item])
    rows = [
        {"metric": metric, "word": chosen, "form": form, "pair": pair, "score": score}
        for metric, result in results.items()
        for (role, form, pair_form), table in result.tables.items()
        if (role, pair_form) == ("words", "base") and chosen in table.items
        for pair, score in zip(
            table.pairs, table.scores[table.items.index(chosen)].tolist(), strict=True
        )
    ]
    return chosen, pd.DataFrame(rows)


def word_chart(scores: pd.DataFrame, results: Mapping[str, ProbeResult], title: str) -> Drawing:
    """Draw scores by base pair, a line per form; dashed: vocabulary mean +- standard deviation."""
    pairs = list(next(iter(results.values())).pairs)
    levels = [
        {"metric": metric, "level": float(result.means.mean()) + n_sd * result.spread}
        for metric, result in results.items()
        if isfinite(result.spread)
        for n_sd in (-1, 0, 1)
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
    return finish(_by_metric(panel, rows, list(results)).resolve_scale(y="independent"), title)


def _by_metric(panel: Any, rows: pd.DataFrame, metrics: Sequence[str]) -> Any:
    facet = alt.Facet("metric:N", title=None, sort=list(metrics))
    return panel.properties(width=220, height=180).facet(facet, data=rows, columns=3)


def two_pairs(estimates: pd.DataFrame, results: Mapping[str, ProbeResult]) -> pd.DataFrame:
    """Return kappa and cosine of every two base pairs by metric, whose label has their r."""
    is_overall_r = estimates["statistic"].eq("cosine_r") & estimates["pair"].eq("")
    r = {
        row["metric"]: format_estimate(row["value"], row["low"], row["high"])
        for row in row_dicts(estimates[is_overall_r])
    }
    is_kappa = estimates["statistic"].eq("two_pairs") & estimates["value"].notna()
    rows = []
    for row in row_dicts(estimates[is_kappa]):
        metric, first, second = row["metric"], row["pair"], row["compared_with"]
        result = results[metric]
        cell = result.pairs.index(first), result.pairs.index(second)
        label = f"{metric}: r {r[metric]}" if metric in r else metric
        cosine = float(result.differences[cell])
        rows.append({"metric": label, "pair": first, "compared_with": second, "cosine": cosine})
        rows[-1] |= {"kappa": row["value"]}
    return pd.DataFrame(rows, columns=["metric", "pair", "compared_with", "cosine", "kappa"])


def cosine_chart(cosines: pd.DataFrame, title: str) -> Drawing:
    """Draw kappa against cosine of every two base pairs, one panel per metric (figure 2)."""
    points = alt.Chart().mark_point(filled=True, size=28, opacity=0.8, color=PALETTE[0])
    panel = points.encode(
        alt.X("cosine:Q", title="cosine of the differences"),
        alt.Y("kappa:Q", title="Cohen's kappa of the two pairs"),
    )
    chart = _by_metric(panel, cosines, list(dict.fromkeys(cosines["metric"])))
    return finish(chart, f"Agreement of two pairs by the cosine of their differences: {title}")


def overall_kappas(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the kappas over all pairs, with their intervals and the published numbers."""
    is_kappa = estimates["statistic"].isin(KAPPAS) & estimates["pair"].eq("")
    kappas = estimates[is_kappa & estimates["value"].notna()]
    titles = [
        estimate_title(statistic, other)
        for statistic, other in zip(kappas["statistic"], kappas["compared_with"], strict=True)
    ]
    return kappas.assign(estimate=titles).reindex(columns=["estimate", "metric", *ENDS])


def agreement_chart(kappas: pd.DataFrame, title: str) -> Drawing:
    """Draw every kappa over all pairs with its two intervals and the published number, if any."""
    metrics = list(dict.fromkeys(kappas["metric"]))
    axis_title = "kappa; thick: 95% over words, thin: over base pairs"
    rows = alt.Chart().encode(
        alt.Y("estimate:N", title=None, sort=None), alt.YOffset("metric:N", sort=metrics)
    )
    base = rows.encode(colour("metric", metrics))
    pair_intervals, _ = intervals(
        base, ends=("pairs_low", "pairs_high"), opacity=0.6, title=axis_title
    )
    layers = [pair_intervals, *intervals(base, size=40, opacity=0.6, width=3, title=axis_title)]
    if kappas["published"].notna().any():
        title = f"{title}; diamonds: as published"
        mark = rows.mark_point(shape="diamond", size=50, color="black")
        layers.append(mark.encode(alt.X("published:Q", title=axis_title), color=alt.value("black")))
    chart = alt.layer(*layers, data=kappas).properties(width=420, height=alt.Step(12))
    return finish(chart, f"Agreement of directions: {title}")
