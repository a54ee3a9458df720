"""Results of the probe of base pairs as tables of words by base pairs, and the report on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from biasbridge.analysis.charts import GREY, PALETTE, Drawing, colour, finish, intervals
from biasbridge.files import InputError
from biasbridge.files.columns import as_float, as_labels, as_text
from biasbridge.stats.formatting import format_estimate
from biasbridge.studies.conclusion import row_dicts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from biasbridge.analysis.tables import Tables
    from biasbridge.stats.arrays import Floats

_Key = tuple[str, str, str]  # set, form, form of the pairs
WORDS: _Key = ("words", "base", "base")
_NAMING = ("method", "direction", "dose", "stereotype", "sentences", "changed", "dim", "seed")
_TITLES = {
    "fleiss": "Fleiss kappa of the pairs",
    "unanimous": "one direction for all pairs",
    "magnitude": "changes of magnitude",
    "cosine_r": "r of cosine and kappa of two pairs",
    "pair_form": "pairs in {}",
    "word_form": "words in {}",
    "truth": "known: {}",
    "measures": "with {}",
}
# Tables of the page with one column per base pair
_BY_PAIR = {
    "Pairs against their other forms, Cohen's kappa (table 3)": "pair_form",
    "Words against their other forms, Cohen's kappa (table 4)": "word_form",
    "Directions against those known, Cohen's kappa (table 5)": "truth",
    "Measures against each other, Cohen's kappa (table 6)": "measures",
    "r of the cosine of two pairs' differences and their kappa (figure 2)": "cosine_r",
    "Unrelated analogies that each pair solves": "solved",
}
_SHOWN = (
    *("vectors", "query", "statistic", "metric", "compared_with", "pair"),
    *("value", "low", "high", "pairs_low", "pairs_high", "agreement", "published"),
    *("words", "pairs", "reason"),
)
_FORMS = ("base", "plural", "capital", "upper")
_KAPPAS = ("fleiss", "pair_form", "word_form", "truth", "measures")
_AGREEMENT = {0.2: "slight", 0.4: "fair", 0.6: "moderate", 0.8: "substantial", 1: "almost perfect"}
_ENDS = ["value", "low", "high", "pairs_low", "pairs_high", "published"]


@dataclass(frozen=True)
class PairScoreTable:
    """Scores of items under base pairs, (items, pairs). ``truth``, (items,): 1 where an item goes
    with the first words of the pairs, -1 with the second, 0 if unknown.
    """

    items: tuple[str, ...]
    pairs: tuple[str, ...]
    scores: Floats
    truth: Floats

    @cached_property
    def directions(self) -> NDArray[np.intp]:
        """2 towards the first word, 0 towards the second, 1 neither way. Shape (items, pairs)."""
        return np.asarray(np.sign(self.scores), dtype=np.intp) + 1


def concatenate_scores(tables: Sequence[PairScoreTable]) -> PairScoreTable:
    """Concatenate the items of tables that have the same base pairs."""
    items = tuple(item for table in tables for item in table.items)
    scores = np.concatenate([table.scores for table in tables])
    truth = np.concatenate([table.truth for table in tables])
    return PairScoreTable(items, tables[0].pairs, scores, truth)


@dataclass(frozen=True)
class ProbeResult:
    """Result of one metric with one query on one point.

    ``tables``: scores by set, form of the words and form of the pairs. ``means``, ``spreads``
    (pairs,): mean and standard deviation over the ``size`` words of the vocabulary; empty if not
    measured. ``differences`` (pairs, pairs): cosines of the pairs' differences, NaN on the
    diagonal. By role, ``likeness``: mean, standard deviation and number of the cosines of pairs'
    two words, and ``oov``: what is out of vocabulary. ``random``: moments of random cosines.
    """

    metric: str
    tables: Mapping[_Key, PairScoreTable]
    means: Floats
    spreads: Floats
    size: int
    differences: Floats
    likeness: Mapping[str, tuple[float, float, int]]
    random: Mapping[str, tuple[float, float, int]]
    oov: Mapping[str, tuple[str, ...]]

    @property
    def pairs(self) -> tuple[str, ...]:
        """The base pairs."""
        return next(iter(self.tables.values())).pairs

    @property
    def spread(self) -> float:
        """Standard deviation over vocabulary and pairs together; NaN if not measured."""
        return float(np.sqrt(np.mean(self.spreads**2 + self.means**2) - self.means.mean() ** 2))


QueryResults = tuple[str, str, Mapping[str, ProbeResult]]  # point, query, results by metric


def read_probes(tables: Tables) -> Iterator[QueryResults]:
    """Yield the results by point and query; raise ``InputError`` without rows of the probe."""
    probes = tables.probes
    probes = probes[np.array(as_text(probes, "probe")) == "base_pairs"]
    if not len(probes):
        raise InputError("no row of the probe base_pairs; add probe=base_pairs")
    for (point, query), rows in probes.groupby(["point", "query"], sort=False):
        names = list(zip(*(as_text(rows, name) for name in ("metric", "convention")), strict=True))
        has_conventions = len(set(names)) > len({metric for metric, _ in names})
        labels = [" ".join(name) if has_conventions else name[0] for name in names]
        results = {
            str(label): _probe_result(str(label), rows_of_metric)
            for label, rows_of_metric in rows.assign(label=labels).groupby("label", sort=False)
        }
        yield str(point), str(query), results


def _probe_result(metric: str, rows: pd.DataFrame) -> ProbeResult:
    rows_by_kind = {str(kind): part for kind, part in rows.groupby("kind", sort=False)}
    no_rows = rows.iloc[:0]
    tables = _score_tables(rows_by_kind.get("score", no_rows))
    pairs = next(iter(tables.values())).pairs
    vocabulary = rows_by_kind.get("vocabulary", no_rows)
    return ProbeResult(
        metric=metric,
        tables=tables,
        means=as_float(vocabulary, "score"),
        spreads=as_float(vocabulary, "sd"),
        size=int(as_float(vocabulary, "n")[0]) if len(vocabulary) else 0,
        differences=_difference_cosines(rows_by_kind.get("difference", no_rows), pairs),
        likeness={
            str(role): (float(cosines.mean()), float(cosines.std()), len(cosines))
            for role, part in rows_by_kind.get("likeness", no_rows).groupby("set", sort=False)
            for cosines in [as_float(part, "score")]
        },
        random={
            row["set"]: (row["score"], row["sd"], int(row["n"]))
            for row in row_dicts(rows_by_kind.get("random", no_rows))
        },
        oov={
            str(role): tuple(as_text(part, "word"))
            for role, part in rows_by_kind.get("oov", no_rows).groupby("set", sort=False)
        },
    )


def _score_tables(rows: pd.DataFrame) -> dict[_Key, PairScoreTable]:
    tables = {}
    for key, part in rows.groupby(["set", "form", "pair_form"], sort=False):
        words, pairs = as_text(part, "word"), tuple(dict.fromkeys(as_text(part, "pair")))
        items = tuple(words[:: len(pairs)])  # a row a pair, item by item
        scores = as_float(part, "score").reshape(len(items), len(pairs))
        truth = as_float(part, "truth")[:: len(pairs)]
        role, form, pair_form = map(str, key)
        tables[role, form, pair_form] = PairScoreTable(items, pairs, scores, truth)
    return tables


def _difference_cosines(rows: pd.DataFrame, pairs: tuple[str, ...]) -> Floats:
    cosines = np.full((len(pairs), len(pairs)), np.nan)
    index_of_pair = {pair: i for i, pair in enumerate(pairs)}
    columns = zip(
        as_text(rows, "pair"), as_text(rows, "compared_with"), as_float(rows, "score"), strict=True
    )
    for first, second, cosine in columns:
        i, j = index_of_pair[first], index_of_pair[second]
        cosines[i, j] = cosines[j, i] = cosine
    return cosines


def point_names(points: pd.DataFrame) -> dict[str, str]:
    """Name each point: its embedding, the columns that vary, and a stamp for generated data."""
    columns = {name: as_labels(points, name) for name in _NAMING if name in points}
    varying = [
        [f"{name} {value}" for value in values]
        for name, values in columns.items()
        if len({*values}) > 1
    ]
    stamps = ["synthetic data" * (flag == "True") for flag in as_text(points, "generated")]
    rows = zip(
        as_text(points, "point"), as_text(points, "embedding"), *varying, stamps, strict=True
    )
    return {point: ", ".join(filter(None, parts)) for point, *parts in rows}


def agreement_in_words(kappa: float) -> str:
    """Return Landis and Koch's (1977) word for a kappa; empty where it is undefined."""
    words = (word for most, word in _AGREEMENT.items() if kappa <= most)
    return "poor" if kappa < 0 else next(words, "")


def add_agreement(estimates: pd.DataFrame) -> None:
    """Add the column ``agreement``: kappas in words."""
    is_kappa = estimates["statistic"].isin([*_KAPPAS, "two_pairs"])
    words = [agreement_in_words(kappa) for kappa in estimates["value"].where(is_kappa).tolist()]
    estimates.insert(list(estimates).index("words"), "agreement", words)


def report_tables(estimates: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables of the page by heading; like the paper's, with one column per base pair."""
    overall = estimates[estimates["pair"].eq("")]
    names = [name for name in _SHOWN if name in overall and any(as_text(overall, name))]
    overall = _drop_constant_names(overall[names])
    if "pairs_low" in overall:
        overall.insert(list(overall).index("pairs_low"), "over_pairs", overall["value"])
    over_pairs = {f"pairs_{end}": f"over_pairs_{end}" for end in ("low", "high")}
    tables = {"Every estimate over all pairs (tables 1 and 2)": overall.rename(columns=over_pairs)}
    for heading, statistic in _BY_PAIR.items():
        rows = estimates[estimates["statistic"].eq(statistic)]
        by_pair = rows.assign(pair=rows["pair"].replace("", "all"))
        wide = by_pair.pivot_table(
            index=["vectors", "query", "metric", "compared_with"],
            columns="pair",
            values="value",
            sort=False,
            dropna=False,
        )
        tables[heading] = _drop_constant_names(wide.dropna(how="all").reset_index())
    return tables


def _drop_constant_names(table: pd.DataFrame) -> pd.DataFrame:
    names = [name for name in ("vectors", "compared_with") if name in table]
    return table.drop(columns=[name for name in names if len(set(table[name])) == 1])


def base_pair_charts(
    estimates: pd.DataFrame, query_results: Sequence[QueryResults], names: Mapping[str, str]
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
    word, scores = _word_scores(results)
    cosines, kappas = _two_pairs(rows, results), _overall_kappas(rows)
    return {
        "base_pairs_word": (_word_chart(scores, results, f"Scores of {word}: {title}"), scores),
        "base_pairs_cosine": (_cosine_chart(cosines, title), cosines),
        "base_pairs_agreement": (_agreement_chart(kappas, title), kappas),
    }


def _word_scores(results: Mapping[str, ProbeResult]) -> tuple[str, pd.DataFrame]:
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


def _word_chart(scores: pd.DataFrame, results: Mapping[str, ProbeResult], title: str) -> Drawing:
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
    forms = [form for form in _FORMS if form in set(scores["form"])]
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


def _two_pairs(estimates: pd.DataFrame, results: Mapping[str, ProbeResult]) -> pd.DataFrame:
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


def _cosine_chart(cosines: pd.DataFrame, title: str) -> Drawing:
    """Draw kappa against cosine of every two base pairs, one panel per metric (figure 2)."""
    points = alt.Chart().mark_point(filled=True, size=28, opacity=0.8, color=PALETTE[0])
    panel = points.encode(
        alt.X("cosine:Q", title="cosine of the differences"),
        alt.Y("kappa:Q", title="Cohen's kappa of the two pairs"),
    )
    chart = _by_metric(panel, cosines, list(dict.fromkeys(cosines["metric"])))
    return finish(chart, f"Agreement of two pairs by the cosine of their differences: {title}")


def _overall_kappas(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the kappas over all pairs, with their intervals and the published numbers."""
    is_kappa = estimates["statistic"].isin(_KAPPAS) & estimates["pair"].eq("")
    kappas = estimates[is_kappa & estimates["value"].notna()]
    titles = [
        _TITLES[statistic].format(other.replace("_", " "))
        for statistic, other in zip(kappas["statistic"], kappas["compared_with"], strict=True)
    ]
    return kappas.assign(estimate=titles).reindex(columns=["estimate", "metric", *_ENDS])


def _agreement_chart(kappas: pd.DataFrame, title: str) -> Drawing:
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
