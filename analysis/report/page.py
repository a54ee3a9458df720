"""The page of a study and its LaTeX table, from the tables of results."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import metadata
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import vl_convert
from markupsafe import Markup

from biasbridge.analysis.answer import correlations_tex, describe_task, study_answer
from biasbridge.analysis.change_chart import change_picture
from biasbridge.analysis.claims import declared as declared_tests
from biasbridge.analysis.correlate import DECLARED
from biasbridge.analysis.effects import saturation
from biasbridge.analysis.naming import (
    ALL,
    ANNOTATION,
    CONTROL,
    GAP,
    GROUPS,
    MIN_COVERAGE,
    SCORE,
    gap_titles,
    label_sentences,
    measure_title,
    metric_title,
    positive_class,
    present_confirmatory,
    query_titles,
    row_names,
    with_count,
)
from biasbridge.analysis.printing import word_lists
from biasbridge.analysis.report.page_data import Json, has_further, page_data
from biasbridge.analysis.report.templates import count_points, render
from biasbridge.analysis.result_folder import describe_provenance, read_provenance
from biasbridge.analysis.tables import typed
from biasbridge.analysis.verdicts import RULES
from biasbridge.files import InputError, atomic_path
from biasbridge.files.charts import make_spec
from biasbridge.files.columns import as_float, as_text, text_rows
from biasbridge.files.writers import Document
from biasbridge.stats.formatting import capitalise, format_number
from biasbridge.stats.measure_facts import less_is_better

if TYPE_CHECKING:
    from biasbridge.analysis.change_chart import ChangePicture
    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.analysis.tables import Tables


_MOST_BYTES = 5_000_000
_MOST_ROWS = 50_000
_FEW_ROWS = 6_000
_LEFT_OUT = "undeclared gaps, to keep the page small: see exploratory.csv"
_POINTS_LEFT_OUT = "undeclared gaps, and points of all but the first tests, to keep the page small"
_TOOLTIP_COLUMNS = ("by_group", "groups", "n_found", "n_oov", "support", "reason")
# What reading a damaged JSON file, or a number in it, can raise
_DAMAGED = (OSError, ValueError, TypeError, AttributeError, OverflowError, RecursionError)
_LIBRARIES = ("numpy", "pandas", "scipy", "vl-convert-python")
_MAX_GAPS_DESCRIBED = 8  # gaps described; the table of gaps has all
_MOST_QUERIES = 8
_MAX_WORDS = 6


def build_report(
    folder: Path,
    tables: Tables,
    joined: pd.DataFrame,
    slice_results: Sequence[SliceResult],
    *,
    declared: Declaration = DECLARED,
    change: ChangePicture | None = None,
    out: Path | None = None,
) -> list[Path]:
    """Write the page (``out``, by default ``report.html`` in the folder) and ``correlations.tex``
    beside it; return their paths.

    The records of points in the folder tell the computing time. A page over 5 MB shows the declared
    gaps only, or the points of the first declared tests, and says so. Raises ``InputError`` where
    it is over 5 MB with these alone.
    """
    change = change or change_picture(joined, slice_results)
    spec = make_spec(change.chart) if change else None
    problem = InputError("")
    for rows, results, left_out in _page_parts(joined, slice_results, declared):
        try:
            page = _page(rows, results, tables, folder, declared, spec, left_out)
            break
        except InputError as error:
            problem = error
    else:
        raise problem
    target = out or folder / "report.html"
    tex = target.with_name("correlations.tex")
    table = correlations_tex(slice_results, tables.points)
    for path, text in ((target, page), (tex, table)):
        with atomic_path(path) as work:
            work.write_text(text, encoding="utf-8")
    return [target, tex]


def _page_parts(
    joined: pd.DataFrame, results: Sequence[SliceResult], declaration: Declaration
) -> Iterator[tuple[pd.DataFrame, Sequence[SliceResult], str]]:
    """Yield pairs and slices for a page, ever fewer, and what is left out of them."""
    yield joined, results, ""
    tests = declared_tests(results)
    measures = present_confirmatory(as_text(joined, "measure"), declaration.confirmatory)
    rows = joined[joined["measure"].isin(measures)]
    if len(rows) < len(joined):
        yield rows, [result for result in results if result.names["measure"] in measures], _LEFT_OUT
    pairs = pd.Series(text_rows(joined, (*SCORE, *GAP)), index=joined.index)
    sizes = pairs.value_counts()
    names = (tuple(result.names[name] for name in (*SCORE, *GAP)) for result in tests)
    first = sizes.reindex([*dict.fromkeys(names)]).dropna().cumsum()
    is_shown = pairs.isin(first.index[first <= _FEW_ROWS])
    if is_shown.any():
        yield joined[is_shown], tests, _POINTS_LEFT_OUT


def _page(
    joined: pd.DataFrame,
    slice_results: Sequence[SliceResult],
    tables: Tables,
    folder: Path,
    declared: Declaration,
    change: Json,
    left_out: str = "",
) -> str:
    """Build the page. Raise ``InputError`` if it is too large."""
    if len(joined) > _MOST_ROWS:  # checked before writing, which takes several times the memory
        raise InputError(
            f"the page would have {len(joined):,} pairs of score and gap, more than fit into 5 MB;"
            " give the results of fewer points"
        )
    shown = tables
    if left_out:
        gaps = {("gap", *gap) for gap in text_rows(joined, GAP)}
        kinds = text_rows(tables.extrinsic, ("kind", *GAP))
        is_shown = [row[0] != "gap" or row in gaps for row in kinds]
        shown = tables._replace(extrinsic=tables.extrinsic[is_shown])
    data = page_data(shown, joined, slice_results, declared, change)
    tables = typed(tables)
    has_pairs = bool(np.isfinite(as_float(joined, "x") + as_float(joined, "y")).any())
    facts = _describe_compared(tables, declared.confirmatory)
    experiments = filter(None, dict.fromkeys(tables.points["experiment"]))
    method = _method(
        tables,
        _cost(folder, as_text(tables.points, "point")),
        describe_provenance(read_provenance(folder)),
    )
    return _within_size(
        data,
        title=f"{', '.join(experiments) or folder.name}: intrinsic and application bias",
        answer=_answer(slice_results, tables, declared, has_pairs=has_pairs),
        unmodified_gaps=_unmodified_gaps(tables),
        facts=facts | ({"Left out": left_out} if left_out else {}),
        label_sentences=label_sentences(tables.points),
        rules=RULES,
        word_lists=word_lists(tables.words),
        saturation=saturation(tables),
        method=method,
        synthetic=data["synthetic"],
        has_pairs=has_pairs,
        has_further=has_further(tables),
        bundle=_bundle(),
    )


def _within_size(data: Mapping[str, Json], **values: object) -> str:
    """Render the page; leave out tooltip data if it would be too large."""
    page = render("page.html", data=data, **values)
    if len(page.encode()) > _MOST_BYTES:
        smaller = {
            key: {name: columns[name] for name in columns if name not in tooltips}
            for key, tooltips in (("rows", _TOOLTIP_COLUMNS), ("gaps", ("by_group",)))
            if isinstance(columns := data[key], Mapping)
        }
        page = render("page.html", data={**data, **smaller}, **values)
    if len(page.encode()) > _MOST_BYTES:
        raise InputError(
            f"the page would have {len(page.encode()) / 1e6:.1f} MB, more than 5; give the results"
            " of fewer points"
        )
    return page


@cache
def _bundle() -> Markup:
    """Return Vega, Vega-Lite and Vega-Embed, a megabyte of JavaScript built in a second."""
    bundle = vl_convert.javascript_bundle("window.vegaEmbed=vegaEmbed;")
    return Markup(bundle.replace("</script", "<\\/script"))


def _cost(folder: Path, points: Iterable[str]) -> str:
    seconds = []
    for path in [folder / "points" / f"{point}.json" for point in points]:
        with suppress(*_DAMAGED):
            seconds.append(float(json.loads(path.read_text(encoding="utf-8")).get("seconds", 0)))
    if not seconds:
        return "not recorded"
    minutes = f"{sum(seconds) / 60:.1f} minutes"
    return f"{minutes} of computing in the last attempts at {len(seconds)} points"


def _method(tables: Tables, cost: str, libraries: str) -> dict[str, str]:
    points = tables.points
    done = points[points["status"] == "done"]
    models = set(as_text(done, "unit_key")) - {""} or set(as_text(done, "point"))
    versions = [f"{name} {metadata.version(name)}" for name in _LIBRARIES]
    return {
        "points": count_points(points),
        "models": with_count(len(models), "different embedding"),
        "embeddings": _values(points, "embedding"),
        "methods": _values(points[points["method"] != CONTROL], "method"),
        "corpora": _values(points, "corpus"),
        "labelled posts": _values(points, "source"),
        "groups": _values(tables.extrinsic, "group_by"),
        "classifiers": _values(points, "classifier"),
        "word sets": _values(points, "wordset"),
        "conventions": _values(tables.intrinsic, "convention"),
        "seeds": _values(points, "seed"),
        "cost": cost,
        "results made with": libraries,
        "analysed with": ", ".join([f"Python {platform.python_version()}", *versions]),
    }


def _values(table: pd.DataFrame, column: str) -> str:
    values = list(dict.fromkeys(filter(None, as_text(table, column))))
    ending = f" and {len(values) - 12} more" if len(values) > 12 else ""
    return ", ".join(values[:12]) + ending or "none"


def _answer(
    results: Sequence[SliceResult], tables: Tables, declared: Declaration, *, has_pairs: bool
) -> Document:
    """Return what the study says, and what it lacks. ``tables`` are typed."""
    done = tables.points.loc[tables.points["status"] == "done", "point"]
    scores = _scores_lacking(tables.intrinsic[tables.intrinsic["point"].isin(done)])
    if has_pairs:
        answer = study_answer(tables, results, declared)
        missing = [f"No score is available: {reason}." for reason in scores]
        return answer._replace(notes=[*answer.notes, *missing])
    gaps = _gaps_lacking(tables.extrinsic[tables.extrinsic["kind"] == "gap"])
    sentences = [
        f"No {side} is available: {'; '.join(reasons)}."
        for side, reasons in (("score", scores), ("gap", gaps))
        if reasons
    ]
    first, *others = [*sentences, "There is nothing to compare."]
    return Document([first], others, notes=describe_task(tables, declared.utility))


def _unmodified_gaps(tables: Tables) -> list[tuple[str, str]]:
    """Describe each gap over the unmodified models, by its name.

    ``precision gap``, ``worse for female by .09 on average, from .01 to .17 in 10 models``.
    """
    points = tables.points
    is_unmodified = (points["status"] == "done") & points["label_method"].isin(["", CONTROL])
    points = points[is_unmodified & (points["method"] == CONTROL)]
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"].dropna(subset="value")
    gaps = gaps.assign(title=gap_titles(gaps)).merge(points[["point", "unit_key"]], on="point")
    model = gaps["unit_key"].where(gaps["unit_key"] != "", gaps["point"])
    has_several_tasks = len({*gaps["task"]}) > 1
    lines = []
    for (task, title), part in gaps.groupby(["task", "title"], sort=False):
        means = part.groupby(model, sort=False)["value"].mean()
        name = f"{task} {title}" if has_several_tasks else str(title)
        lines.append((capitalise(name), _size(means.tolist(), *text_rows(part, GROUPS)[0])))
    more = [("More", f"{len(lines) - _MAX_GAPS_DESCRIBED} in the table of gaps")]
    return [*lines[:_MAX_GAPS_DESCRIBED], *(more if len(lines) > _MAX_GAPS_DESCRIBED else [])]


def _size(values: Sequence[float], privileged: str, unprivileged: str) -> str:
    """Format ``worse for female by .09 on average, from .01 to .17 in 10 models``."""

    def describe(value: float) -> str:
        size = format_number(abs(value))
        worse = unprivileged if value > 0 else privileged
        return f"worse for {worse} by {size}" if float(size) else "no difference"

    if len(values) == 1:
        return f"{describe(values[0])}, in 1 model"
    mean, low, high = sum(values) / len(values), min(values), max(values)
    if low < 0 < high:
        ends = f"{describe(low)} to {describe(high)}"
    else:
        ends = " to ".join(format_number(end) for end in sorted((abs(low), abs(high))))
    return f"{describe(mean)} on average, from {ends} in {len(values)} models"


# The facts that a page states before any number: scores, groups, gaps, labels, items, coverage.


def _describe_compared(tables: Tables, confirmatory: Sequence[str]) -> dict[str, str]:
    """Describe what a study compares, by name; facts that the tables lack are left out."""
    tables = typed(tables)
    extrinsic = tables.extrinsic[tables.extrinsic["point"].isin(tables.points["point"])]
    gaps = extrinsic[extrinsic["kind"] == "gap"]
    facts = {
        "a score": _scores(tables.intrinsic),
        "groups": _groups(gaps),
        "a gap": _direction(gaps),
        "label 1": _label(tables.points, gaps),
        "test items": _items(extrinsic),
        "behind a gap": _support(gaps, confirmatory),
        "tokens with a vector": _coverage(extrinsic),
    }
    return {name: text for name, text in facts.items() if text}


def _scores(intrinsic: pd.DataFrame) -> str:
    """Format each metric: ``WEAT effect size (d) of WEAT 6b, WEAT 7: -2 to 2, 0 without bias``."""
    descriptions = []
    for metric, rows in intrinsic.groupby("metric", sort=False):
        queries = list(dict.fromkeys(query_titles(rows)))[:_MOST_QUERIES]
        scales = dict.fromkeys(
            rows[["scale_min", "scale_max", "unbiased"]].itertuples(index=False, name=None)
        )
        texts = [f"{_ends(low, high)}, {unbiased:g} without bias" for low, high, unbiased in scales]
        scale = f": {texts[0]}" if len(texts) == 1 and "nan" not in texts[0] else ""
        descriptions.append(f"{metric_title(str(metric))} of {', '.join(queries)}{scale}")
    return "; ".join(descriptions)


def _groups(gaps: pd.DataFrame) -> str:
    pairs = [
        f"{privileged} (privileged) against {unprivileged} (unprivileged)"
        for privileged, unprivileged in dict.fromkeys(text_rows(gaps, GROUPS))
    ]
    titles = {ANNOTATION: "as the data are annotated"}
    sources = [titles.get(name, name) for name in dict.fromkeys(gaps["group_by"]) if name]
    source = f". Which group an item is about: {'; '.join(sources)}" if sources else ""
    return "; ".join(pairs) + source


def _direction(gaps: pd.DataFrame) -> str:
    measures = dict.fromkeys(gaps["measure"])
    rates = [measure_title(measure) for measure in measures if less_is_better(measure)]
    reversed_rates = f" ({' and '.join(rates)}: the other way round)" if rates else ""
    pairs = list(dict.fromkeys(text_rows(gaps, GROUPS)))
    default = ("the privileged group", "the unprivileged")
    privileged, unprivileged = pairs[0] if len(pairs) == 1 else default
    return (
        f"the value of {privileged} minus that of {unprivileged}{reversed_rates}. Above 0: worse"
        f" for {unprivileged}"
    )


def _ends(low: float, high: float) -> str:
    return "without bounds" if isinf(low) and isinf(high) else f"{low:g} to {high:g}"


def _label(points: pd.DataFrame, gaps: pd.DataFrame) -> str:
    of_classifier = "classifier" in points and "scheme" not in points
    if gaps.empty or not points["source"].any() or not of_classifier:
        return ""
    role = "the positive class, which precision, recall and the other measures are about"
    positive = positive_class(points)
    return f"{positive}: {role}" if positive else role


def _items(extrinsic: pd.DataFrame) -> str:
    values = extrinsic[(extrinsic["kind"] == "value") & (extrinsic["subset"] == "")]
    positives, negatives = (
        values[values["measure"] == measure].set_index(["point", "task", "group"])["support"]
        for measure in ("recall", "fpr")
    )
    if positives.empty or negatives.empty:
        return ""
    n_items = positives.add(negatives).dropna()
    if n_items.empty:
        return ""
    n_positives = positives.groupby(level="group", sort=False)
    texts = {
        str(group): f"{_range(counts)} (label 1: {_range(n_positives.get_group(group))})"
        for group, counts in n_items.groupby(level="group", sort=False)
    }
    overall = f"{texts.pop(ALL)}; " if ALL in texts else ""
    return overall + ", ".join(f"{group} {text}" for group, text in texts.items())


def _support(gaps: pd.DataFrame, confirmatory: Sequence[str]) -> str:
    rows = gaps.dropna(subset="support")
    rows = rows[rows["measure"].isin(present_confirmatory(rows["measure"], confirmatory))]
    supports = rows.assign(title=gap_titles(rows)).groupby("title", sort=False)["support"]
    texts = [f"{title} {_range(support)}" for title, support in supports]
    return f"items in the smaller group: {', '.join(texts)}" if texts else ""


def _coverage(extrinsic: pd.DataFrame) -> str:
    coverage = extrinsic["coverage"].dropna()
    if coverage.empty:
        return ""
    ends = dict.fromkeys(f"{100 * float(end):.0f}%" for end in (coverage.min(), coverage.max()))
    text = f"{' to '.join(ends)} of the items' tokens"
    if coverage.min() >= MIN_COVERAGE:
        return text
    return f"{text}. Warning: low coverage; use vectors, or a corpus, of similar texts"


def _range(values: Iterable[float]) -> str:
    counts = sorted({int(value) for value in values})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


# What a study lacks: scores and gaps.


def _scores_lacking(intrinsic: pd.DataFrame) -> list[str]:
    """Explain for each query why it has no score at some points.

    ``weat7, at 2 of 9 points: 20 of its 32 words have no vector (math, algebra)``.
    """
    has_several_metrics = len({*intrinsic["metric"]}) > 1
    titles = row_names(intrinsic, SCORE if has_several_metrics else SCORE[2:], ", ")
    n_points = Counter(titles)
    missing = intrinsic.assign(title=titles)
    missing = missing[~np.isfinite(missing["value"])]
    lines = []
    for title, oov in dict.fromkeys(text_rows(missing, ("title", "oov"))):
        rows = missing[(missing["title"] == title) & (missing["oov"] == oov)]
        points = f", at {len(rows)} of {with_count(n_points[title], 'point')}"
        lines.append(f"{title}{points if len(rows) < n_points[title] else ''}: {_reason(rows)}")
    return lines


def _reason(rows: pd.DataFrame) -> str:
    words = list(filter(None, rows["oov"].iloc[0].split(",")))
    if not words:
        return "; ".join(dict.fromkeys(filter(None, rows["reason"]))) or "reason unknown"
    n_oov, n_found = (int(rows[name].iloc[0]) for name in ("n_oov", "n_found"))
    verb = "has" if n_oov == 1 else "have"
    ending = f" and {len(words) - _MAX_WORDS} more" if len(words) > _MAX_WORDS else ""
    listed = ", ".join(words[:_MAX_WORDS]) + ending
    return f"{n_oov} of its {with_count(n_oov + n_found, 'word')} {verb} no vector ({listed})"


def _gaps_lacking(gaps: pd.DataFrame) -> list[str]:
    """Explain for each gap without any value why it has none."""
    return [
        f"{title}: {'; '.join(dict.fromkeys(filter(None, rows['reason'])))}"
        for title, rows in gaps.assign(title=gap_titles(gaps)).groupby("title", sort=False)
        if not np.isfinite(rows["value"]).any()
    ]
