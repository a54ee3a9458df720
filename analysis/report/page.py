"""The page of a study and its LaTeX table, from the tables of results."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import vl_convert
from markupsafe import Markup

from biasbridge.analysis.answer import LEGEND
from biasbridge.analysis.correlate import DECLARED
from biasbridge.analysis.effects_table import saturation
from biasbridge.analysis.frame import as_float, as_text, typed
from biasbridge.analysis.naming import CONTROL, label_sentences, present_confirmatory, with_count
from biasbridge.analysis.provenance import describe_provenance, read_provenance
from biasbridge.analysis.report.answer import (
    Card,
    answer_card,
    missing_results_card,
    unmodified_gaps,
)
from biasbridge.analysis.report.comparison_facts import describe_compared
from biasbridge.analysis.report.frame import count_points, render
from biasbridge.analysis.report.missing_results import gaps_lacking, scores_lacking
from biasbridge.analysis.report.page_data import Json, has_further, page_data
from biasbridge.analysis.report.tex import correlations_tex
from biasbridge.analysis.terminal import word_lists
from biasbridge.analysis.verdict import RULES
from biasbridge.files import InputError, atomic_path

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.frame import Tables
    from biasbridge.analysis.slice_results import SliceResult
    from biasbridge.analysis.specifications import Curve

MOST_BYTES = 5_000_000
MOST_ROWS = 50_000
LEFT_OUT = "undeclared gaps, to keep the page small: see exploratory.csv"
TOOLTIP_COLUMNS = ("by_group", "groups", "n_found", "n_oov", "support", "reason")
# What reading a damaged JSON file, or a number in it, can raise
DAMAGED = (OSError, ValueError, TypeError, AttributeError, OverflowError, RecursionError)
LIBRARIES = ("numpy", "pandas", "scipy", "vl-convert-python")


def build_report(
    folder: Path,
    tables: Tables,
    joined: pd.DataFrame,
    slice_results: Sequence[SliceResult],
    *,
    declared: Declaration = DECLARED,
    curves: Sequence[Curve] = (),
    out: Path | None = None,
) -> list[Path]:
    """Write the page and ``correlations.tex`` beside it.

    Parameters
    ----------
    folder
        Results folder; the records of its points tell the computing time.
    tables, joined, slice_results, curves
        The tables, and what ``join_points``, ``correlate_slices`` and ``specification_curves``
        made of them. A page over 5 MB shows the declared gaps only, and says so.
    declared
        The declaration of the study.
    out
        Page to write; by default ``report.html`` in the folder.

    Returns
    -------
    list of Path
        The page and the LaTeX table.

    Raises
    ------
    InputError
        The page is over 5 MB with the declared gaps alone.
    """
    data = tables, folder, declared, curves
    try:
        page = _page(joined, slice_results, *data)
    except InputError:
        measures = present_confirmatory(as_text(joined, "measure"), declared.confirmatory)
        rows = joined[joined["measure"].isin(measures)]
        if len(rows) == len(joined):
            raise
        results = [result for result in slice_results if result.names["measure"] in measures]
        page = _page(rows, results, *data, left_out=LEFT_OUT)
    target = out or folder / "report.html"
    tex = target.with_name("correlations.tex")
    table = correlations_tex(slice_results, declared.smallest_change)
    for path, text in ((target, page), (tex, table)):
        with atomic_path(path) as work:
            work.write_text(text, encoding="utf-8")
    return [target, tex]


def _page(
    joined: pd.DataFrame,
    slice_results: Sequence[SliceResult],
    tables: Tables,
    folder: Path,
    declared: Declaration,
    curves: Sequence[Curve],
    left_out: str = "",
) -> str:
    """Build the page. Raise ``InputError`` if it is too large."""
    if len(joined) > MOST_ROWS:  # checked before writing, which takes several times the memory
        raise InputError(
            f"the page would have {len(joined):,} pairs of score and gap, more than fit into 5 MB:"
            " give the results of fewer points"
        )
    data = page_data(tables, joined, slice_results, declared, curves)
    tables = typed(tables)
    has_pairs = bool(np.isfinite(as_float(joined, "x") + as_float(joined, "y")).any())
    facts = describe_compared(tables, declared.confirmatory)
    method = _method(
        tables,
        _cost(folder, as_text(tables.points, "point")),
        describe_provenance(read_provenance(folder)),
    )
    return _within_size(
        data,
        title=_title(tables, folder),
        card=_card(slice_results, tables, declared, has_pairs=has_pairs),
        legend=LEGEND,
        unmodified_gaps=unmodified_gaps(tables),
        facts=facts | ({"Left out": left_out} if left_out else {}),
        label_sentences=label_sentences(tables.points),
        rules=RULES,
        word_lists=word_lists(tables.words),
        saturation=saturation(tables),
        method=method,
        synthetic=data["synthetic"],
        has_pairs=has_pairs,
        has_further=has_further(tables),
        has_curves=bool(curves),
        bundle=_bundle(),
    )


def _card(
    slice_results: Sequence[SliceResult],
    tables: Tables,
    declared: Declaration,
    *,
    has_pairs: bool,
) -> Card:
    done = tables.points.loc[tables.points["status"] == "done", "point"]
    missing_scores = scores_lacking(tables.intrinsic[tables.intrinsic["point"].isin(done)])
    if has_pairs:
        return answer_card(slice_results, tables, declared, missing_scores)
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    return missing_results_card(missing_scores, gaps_lacking(gaps), tables, declared.utility)


def _within_size(data: Mapping[str, Json], **values: object) -> str:
    """Render the page; leave out tooltip data if it would be too large."""
    page = render("page.html", data=data, **values)
    if len(page.encode()) > MOST_BYTES:
        page = render("page.html", data={**data, **_without_tooltips(data)}, **values)
    if len(page.encode()) > MOST_BYTES:
        raise InputError(
            f"the page would have {len(page.encode()) / 1e6:.1f} MB, more than 5: give the results"
            " of fewer points"
        )
    return page


def _without_tooltips(data: Mapping[str, Json]) -> dict[str, Json]:
    return {
        key: {name: columns[name] for name in columns if name not in tooltips}
        for key, tooltips in (("rows", TOOLTIP_COLUMNS), ("gaps", ("by_group",)))
        if isinstance(columns := data[key], Mapping)
    }


@cache
def _bundle() -> Markup:
    """Return Vega, Vega-Lite and Vega-Embed, a megabyte of JavaScript built in a second."""
    bundle = vl_convert.javascript_bundle("window.vegaEmbed=vegaEmbed;")
    return Markup(bundle.replace("</script", "<\\/script"))


def _title(tables: Tables, folder: Path) -> str:
    names = list(dict.fromkeys(as_text(tables.points, "experiment")))
    return f"{', '.join(filter(None, names)) or folder.name}: intrinsic and application bias"


def _cost(folder: Path, points: Iterable[str]) -> str:
    seconds = []
    for path in [folder / "points" / f"{point}.json" for point in points]:
        with suppress(*DAMAGED):
            seconds.append(float(json.loads(path.read_text(encoding="utf-8")).get("seconds", 0)))
    if not seconds:
        return "not recorded"
    minutes = f"{sum(seconds) / 60:.1f} minutes"
    return f"{minutes} of computing in the last attempts at {len(seconds)} points"


def _method(tables: Tables, cost: str, libraries: str) -> dict[str, str]:
    points = tables.points
    done = points[points["status"] == "done"]
    models = set(as_text(done, "unit_key")) - {""} or set(as_text(done, "point"))
    versions = [f"{name} {metadata.version(name)}" for name in LIBRARIES]
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
