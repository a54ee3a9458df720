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
from typing import TYPE_CHECKING

import numpy as np
import vl_convert

from analysis.correlate import DECLARED
from analysis.effects_table import saturation
from analysis.frame import numbers, texts, typed
from analysis.groups import doubt_of
from analysis.made import describe_made, read_made
from analysis.naming import CONTROL, confirmatory_of, counted, label_sentences
from analysis.report.answer import (
    TRUST,
    Card,
    Line,
    answer,
    gaps_lacking,
    no_answer,
    scores_lacking,
)
from analysis.report.compared import describe_compared, facts_list
from analysis.report.frame import banner, build_page, count_points, fill, read_part
from analysis.report.page_data import Json, has_further, page_data
from analysis.report.tex import correlations_tex
from analysis.show import word_lists
from analysis.verdict import RULES
from files import InputError, atomic_path

if TYPE_CHECKING:
    import pandas as pd

    from analysis.declaration import Declaration
    from analysis.findings import Finding
    from analysis.frame import Tables
    from analysis.specifications import Curve

POLICY = "script-src 'unsafe-inline' 'unsafe-eval'; img-src data: blob:"
MOST_BYTES = 5_000_000
MOST_ROWS = 50_000
LEFT_OUT = "gaps that were not declared, for which the page has no room: see correlations.csv"
SHOWN_AT_THE_POINTER = ("by_group", "groups", "n_found", "n_lost", "support", "reason")
# What reading a damaged JSON file, or a number in it, can raise
DAMAGED = (OSError, ValueError, TypeError, AttributeError, OverflowError, RecursionError)
LIBRARIES = ("numpy", "pandas", "scipy", "vl-convert-python")


def build_report(
    folder: Path,
    tables: Tables,
    joined: pd.DataFrame,
    found: Sequence[Finding],
    *,
    declared: Declaration = DECLARED,
    curves: Sequence[Curve] = (),
    out: Path | None = None,
) -> list[Path]:
    """Write the page, ``report.html`` of the folder or ``out``, and ``correlations.tex`` beside it;
    the paths.

    ``joined`` comes from ``join_points``, ``found`` from ``correlate_slices``; the answer on top
    is about the confirmatory slices and every gap; ``curves`` are its specification curves,
    ``aligned`` what scores gain that ask about the task's words. What the computing cost is read
    from the records in the folder. A page larger than 5 MB shows the declared gaps only, and says
    so. Raises ``InputError`` where that is too large too.
    """
    data = tables, folder, declared, curves
    try:
        page = _page(joined, found, *data)
    except InputError:
        kept = confirmatory_of(texts(joined, "measure"), declared.confirmatory)
        fewer = joined[joined["measure"].isin(kept)]
        if len(fewer) == len(joined):
            raise
        of_them = [each for each in found if each.names["measure"] in kept]
        page = _page(fewer, of_them, *data, left_out=LEFT_OUT)
    target = out or folder / "report.html"
    tex = target.with_name("correlations.tex")
    for path, text in ((target, page), (tex, correlations_tex(found))):
        with atomic_path(path) as work:
            work.write_text(text, encoding="utf-8")
    return [target, tex]


def _page(
    joined: pd.DataFrame,
    found: Sequence[Finding],
    tables: Tables,
    folder: Path,
    declared: Declaration,
    curves: Sequence[Curve],
    left_out: str = "",
) -> str:
    """The page. Raises ``InputError`` where it is too large."""
    if len(joined) > MOST_ROWS:  # known before they are written, which takes a multiple in memory
        raise InputError(
            f"the page would have {len(joined):,} pairs of score and gap, far more than fit into 5"
            " MB: give the results of fewer points"
        )
    data = page_data(tables, joined, found, declared, curves)
    tables = typed(tables)
    pairs = bool(np.isfinite(numbers(joined, "x") + numbers(joined, "y")).any())
    words = _about(tables, folder) | _answer(found, tables, pairs)
    label = {"label": _label(tables), "sesoi": f"{declared.sesoi:g}", "rules": html.escape(RULES)}
    words |= {
        "facts": facts_list(
            describe_compared(tables, declared.confirmatory)
            | ({"Left out": left_out} if left_out else {})
        ),
        "verdicts": fill("verdicts.html", label) if pairs else "",
        "gaps": "" if pairs else fill("gaps.html", label),
        "scored": fill("scored.html", label) if pairs else "",
        "tables": read_part("tables.html") if pairs else "",
        "further_measures": read_part("further.html") if has_further(tables) else "",
        "banner": banner(bool(data["synthetic"])),
        "curves": read_part("specifications.html") if curves else "",
    }
    return _within_size(data, words)


def _answer(found: Sequence[Finding], tables: Tables, pairs: bool) -> dict[str, str]:
    done = tables.points.loc[tables.points["status"] == "done", "point"]
    scores = scores_lacking(tables.intrinsic[tables.intrinsic["point"].isin(done)])
    of_gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    unlike = doubt_of(tables.points, tables.extrinsic)
    if not pairs:
        return {"card": _card(no_answer(scores, gaps_lacking(of_gaps), tables))}
    said = answer(found, tables)
    said = said._replace(headline=f"{unlike} {said.headline}".strip())
    lacking = [("No score", f"{each}.") for each in scores]
    return {
        "card": _card(said._replace(parts={**said.parts, TRUST: [*said.parts[TRUST], *lacking]}))
    }


def _card(said: Card) -> str:
    parts = [
        f"<h3>{html.escape(heading)}</h3><ul>{''.join(map(_item, lines))}</ul>"
        for heading, lines in said.parts.items()
        if lines
    ]
    first = f'<p class="first">{html.escape(said.headline)}</p>'
    return f'<div class="card">{first}{"".join(parts)}</div>'


def _item(line: Line) -> str:
    name, said = map(html.escape, line)
    return f"<li><b>{name}</b>: {said}</li>" if name else f"<li>{said}</li>"


def _label(tables: Tables) -> str:
    return "".join(f" {html.escape(each)}" for each in label_sentences(tables.points))


def _about(tables: Tables, folder: Path) -> dict[str, str]:
    return {
        "title": html.escape(_title(tables, folder)),
        "words": _word_lists(tables),
        "saturation": html.escape(saturation(tables)),
        "method": _method(tables, _cost(folder), describe_made(read_made(folder))),
    }


def _within_size(data: Mapping[str, Json], words: Mapping[str, str]) -> str:
    """The page, without what only the pointer shows where it would be too large with it."""
    page = _render(data, words)
    if len(page.encode()) > MOST_BYTES:
        page = _render({**data, **_without_pointer(data)}, words)
    if len(page.encode()) > MOST_BYTES:
        raise InputError(
            f"the page would have {len(page.encode()) / 1e6:.1f} MB, more than 5: give the results"
            " of fewer points"
        )
    return page


def _without_pointer(data: Mapping[str, Json]) -> dict[str, Json]:
    return {
        of: {name: rows[name] for name in rows if name not in left_out}
        for of, left_out in (("rows", SHOWN_AT_THE_POINTER), ("gaps", ("by group",)))
        if isinstance(rows := data[of], Mapping)
    }


def _render(data: Mapping[str, Json], words: Mapping[str, str]) -> str:
    # In a script element only these characters could end it.
    values = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    scripts = {
        "data": values,
        "bundle": _bundle(),
        "app": read_part("figures.js") + read_part("app.js"),
    }
    return build_page(words["title"], fill("page.html", {**words, **scripts}), POLICY)


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed, a megabyte of JavaScript that takes a second to make."""
    bundle = vl_convert.javascript_bundle("window.vegaEmbed=vegaEmbed;")
    return bundle.replace("</script", "<\\/script")


def _word_lists(tables: Tables) -> str:
    if not (lines := word_lists(tables.words)):
        return ""
    words = html.escape("\n".join(lines))
    return f"<details><summary>The words drawn from the task</summary><pre>{words}</pre></details>"


def _title(tables: Tables, folder: Path) -> str:
    names = list(dict.fromkeys(texts(tables.points, "experiment")))
    return f"{', '.join(filter(None, names)) or folder.name}: intrinsic and application bias"


def _cost(folder: Path) -> str:
    took = []
    for path in sorted((folder / "points").glob("*.json")):
        with suppress(*DAMAGED):  # none is known
            took.append(float(json.loads(path.read_text(encoding="utf-8")).get("seconds", 0)))
    return (
        f"{sum(took) / 60:.1f} minutes of computing in the last attempts at {len(took)} points"
        if took
        else "not recorded"
    )


def _method(tables: Tables, cost: str, made: str) -> str:
    points = tables.points
    done = points[points["status"] == "done"]
    models = set(texts(done, "unit_key")) - {""} or set(texts(done, "point"))
    versions = [f"{name} {metadata.version(name)}" for name in LIBRARIES]
    facts = {
        "points": count_points(points),
        "models": counted(len(models), "different embedding"),
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
        "results made with": made,
        "analysed with": ", ".join([f"Python {platform.python_version()}", *versions]),
    }
    listed = "".join(
        f"<tr><th scope='row' class='text'>{html.escape(name)}</th><td class='text"
        f" long'>{html.escape(text)}</td></tr>"
        for name, text in facts.items()
    )
    wide = '<div class="wide" tabindex="0" role="region" aria-label="Method">'
    return f"{wide}<table>{listed}</table></div>{read_part('method.html')}"


def _values(table: pd.DataFrame, column: str) -> str:
    values = list(dict.fromkeys(filter(None, texts(table, column))))
    more = f" and {len(values) - 12} more" if len(values) > 12 else ""
    return ", ".join(values[:12]) + more or "none"
