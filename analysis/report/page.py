"""From the tables of a study to its page and its table for a paper."""

from __future__ import annotations

import html
import json
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import vl_convert

from analysis.columns import texts
from analysis.figures import STAMP
from analysis.made import read_made, spell_made
from analysis.naming import PRIMARY, SMALLEST, UNMODIFIED, UTILITY, taggers
from analysis.report.answer import answer
from analysis.report.page_data import Json, page_data
from analysis.report.tex import correlations_tex
from analysis.saturation import saturation
from analysis.show import word_lists
from analysis.verdict import RULES
from files import InputError, atomic_path

if TYPE_CHECKING:
    import pandas as pd

    from analysis.findings import Finding
    from analysis.results import Tables
    from analysis.specifications import Curve

HERE = Path(__file__).parent
MOST_BYTES = 5_000_000
TOLD_TO_THE_POINTER = ("by_group", "groups", "n_found", "n_lost", "support", "reason")
LIBRARIES = ("numpy", "pandas", "scipy", "vl-convert-python")


def build_report(
    folder: Path,
    tables: Tables,
    joined: pd.DataFrame,
    found: Sequence[Finding],
    *,
    primary: Sequence[str] = PRIMARY,
    utility: str = UTILITY,
    smallest: float = SMALLEST,
    curves: Sequence[Curve] = (),
    out: Path | None = None,
) -> list[Path]:
    """Write the page, ``report.html`` of the folder or ``out``, and ``correlations.tex`` beside it;
    the paths.

    ``joined`` comes from ``join_points``, ``found`` from ``correlate_slices``; the answer on top
    is about the primary slices; ``curves`` are its specification curves. What the computing cost is
    read from the records in the folder. Raises ``InputError`` for a page larger than 5 MB.
    """
    data = page_data(
        tables,
        joined,
        found,
        primary=primary,
        utility=utility,
        smallest=smallest,
        curves=curves,
    )
    first, *further = answer(found)
    words = {
        "title": html.escape(_title(tables, folder)),
        "banner": _banner() if data["generated"] else "",
        "headline": html.escape(first),
        "further": html.escape(" ".join(further)),
        "groups": html.escape("; ".join(taggers(texts(tables.extrinsic, "group_by")))),
        "words": _word_lists(tables),
        "saturation": html.escape(saturation(tables)),
        "curves": _part("specifications.html") if curves else "",
        "rules": html.escape(RULES),
        "method": _method(tables, _cost(folder), spell_made(read_made(folder))),
    }
    page = _render(data, words)
    if len(page.encode()) > MOST_BYTES and isinstance(rows := data["rows"], Mapping):
        kept = {name: rows[name] for name in rows if name not in TOLD_TO_THE_POINTER}
        page = _render(data | {"rows": kept}, words)
    if len(page.encode()) > MOST_BYTES:
        raise InputError(
            f"the page would have {len(page.encode()) / 1e6:.1f} MB, more than 5: give the results"
            " of fewer points"
        )
    target = out or folder / "report.html"
    tex = target.with_name("correlations.tex")
    for path, text in ((target, page), (tex, correlations_tex(found))):
        with atomic_path(path) as work:
            work.write_text(text, encoding="utf-8")
    return [target, tex]


def _render(data: Mapping[str, Json], words: Mapping[str, str]) -> str:
    """The page as one text."""
    # In a script element only these characters could end it.
    told = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return Template(_part("page.html")).substitute(
        words,
        style=_part("style.css"),
        data=told,
        bundle=_bundle(),
        app=_part("figures.js") + _part("app.js"),
    )


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed, a megabyte of JavaScript that takes a second to make."""
    bundle = vl_convert.javascript_bundle("window.vegaEmbed=vegaEmbed;")
    return bundle.replace("</script", "<\\/script")


def _part(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _word_lists(tables: Tables) -> str:
    """The words drawn from the task's posts, folded away; nothing where there are none."""
    if not (lines := word_lists(tables.words)):
        return ""
    told = html.escape("\n".join(lines))
    return f"<details><summary>The words drawn from the task</summary><pre>{told}</pre></details>"


def _banner() -> str:
    return f'<p class="banner" role="note">{html.escape(STAMP)}</p>'


def _title(tables: Tables, folder: Path) -> str:
    names = list(dict.fromkeys(texts(tables.points, "experiment")))
    return f"{', '.join(filter(None, names)) or folder.name}: intrinsic and application bias"


def _cost(folder: Path) -> str:
    """The computing time that the points' records in the folder add up to."""
    took = []
    for path in sorted((folder / "points").glob("*.json")):
        with suppress(OSError, ValueError, TypeError, AttributeError):  # damaged: none is known
            took.append(float(json.loads(path.read_text(encoding="utf-8")).get("seconds", 0)))
    return (
        f"{sum(took) / 60:.1f} minutes of computing in the last attempts at {len(took)} points"
        if took
        else "not recorded"
    )


def _method(tables: Tables, cost: str, made: str) -> str:
    """What was run on what, with which versions, and what it does not say."""
    points = tables.points
    done = points[points["status"] == "done"]
    failed = len(points) - len(done)
    runs = set(texts(done, "vectors_key" if "vectors_key" in done else "point"))
    versions = [f"{name} {metadata.version(name)}" for name in LIBRARIES]
    facts = {
        "points": f"{len(done)} of {len(points)} done" + (f", {failed} failed" if failed else ""),
        "embedding runs": f"{len(runs)} different embeddings",
        "embeddings": _told(points, "embedding"),
        "methods": _told(points[points["method"] != UNMODIFIED], "method"),
        "corpora": _told(points, "corpus"),
        "labelled posts": _told(points, "source"),
        "groups": _told(tables.extrinsic, "group_by"),
        "classifiers": _told(points, "classifier"),
        "word sets": _told(points, "wordset"),
        "conventions": _told(tables.intrinsic, "convention"),
        "seeds": _told(points, "seed"),
        "cost": cost,
        "results made with": made,
        "analysed with": ", ".join([f"Python {platform.python_version()}", *versions]),
    }
    listed = "".join(
        f"<tr><th scope='row' class='text'>{html.escape(name)}</th><td class='text"
        f" long'>{html.escape(told)}</td></tr>"
        for name, told in facts.items()
    )
    return f'<div class="wide"><table>{listed}</table></div>{_part("method.html")}'


def _told(table: pd.DataFrame, column: str) -> str:
    values = list(dict.fromkeys(filter(None, texts(table, column))))
    more = f" and {len(values) - 12} more" if len(values) > 12 else ""
    return ", ".join(values[:12]) + more or "none"
