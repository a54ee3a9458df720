"""What metrics, options, conventions and queries there are: for a terminal, and as the tables of
docs/metrics.md, which ``python -m intrinsic.describe`` writes from the root of the repository.
"""

from __future__ import annotations

import dataclasses
import json
import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from annotated_types import DocInfo
from rich import box
from rich.table import Table

from files import run_cli
from files.choice import hints_of, spell
from intrinsic.item_metric import ItemMetric
from intrinsic.items.library import library
from intrinsic.likelihood.every import FAMILIES as OF_MODELS
from intrinsic.likelihood.every import MODEL_METRICS
from intrinsic.metric import Metric
from intrinsic.metrics.every import FAMILIES, METRICS
from intrinsic.wordsets import load_queries, query_names

if TYPE_CHECKING:
    from rich.console import Console

    from intrinsic.conventions import ByConvention
    from intrinsic.items.item import ItemSet
    from intrinsic.wordsets import Query

PAGE = Path("docs", "metrics.md")
OF_STUDIES = ("planted", "control_", "unrelated_")  # what the names of their queries begin with
REST = "`planted...`, `control_...`, `unrelated_...`: of studies; `biasbridge audit --list` has all"
MARK = "<!-- From here on written by python -m intrinsic.describe -->\n"


def print_metrics(console: Console) -> None:
    """Metrics, with what they ask about and their conventions; then queries and sets of items."""
    metrics = (
        (name, kind.about.title, format_roles(kind), ", ".join(kind.conventions()))
        for name, kind in METRICS.items()
    )
    of_models = (
        (name, kind.about.title, kind.needs, ", ".join(kind.conventions()))
        for name, kind in MODEL_METRICS.items()
    )
    queries = (
        (query.name, query.language, query.title, " ".join(query.sets))
        for query in load_queries(query_names())
    )
    for title, header, rows in (
        ("Metrics", ("metric", "what", "asks about", "conventions"), metrics),
        ("Queries", ("query", "language", "title", "roles"), queries),
        ("Metrics of language models", ("metric", "what", "of", "conventions"), of_models),
        (
            "Sets of items",
            ("set", "language", "title", "groups"),
            (
                (each.name, each.language, each.title, " ".join(each.groups))
                for each in library().values()
            ),
        ),
    ):
        shown = Table(*header, title=title, title_justify="left", box=box.SIMPLE, show_edge=False)
        for row in rows:
            shown.add_row(*row)
        console.print(shown)


def write_page(root: Path) -> str:
    """The text of the page: its beginning as it is, then a table for each family of metrics, their
    options and conventions, and the built-in queries.
    """
    head, mark, _ = (root / PAGE).read_text(encoding="utf-8").partition(MARK)
    lines = [head + mark]
    for family, kinds in FAMILIES.items():
        lines += [f"## {family}", "", *format_metrics(kinds), "", *format_conventions(kinds), ""]
    lines += ["## Options", "", *format_options(Metric, METRICS.values()), ""]
    queries = [each for each in load_queries(query_names()) if not each.name.startswith(OF_STUDIES)]
    lines += ["## Queries", "", *format_queries(queries), f"- {REST}", ""]
    lines += ["# Metrics of language models", ""]
    for family, of_models in OF_MODELS.items():
        lines += [f"## {family}", "", *format_model_metrics(of_models), ""]
        lines += [*format_conventions(of_models), ""]
    own = format_options(ItemMetric, MODEL_METRICS.values())
    lines += ["## Options of these", "", *own, ""]
    lines += ["## Sets of items", "", *format_sets(library().values()), ""]
    return "\n".join(_wrap(line) if line.startswith("- ") else line for line in lines)


def format_metrics(kinds: Iterable[type[Metric]]) -> Iterator[str]:
    """One row for each metric."""
    rows = [
        (
            f"`{kind.about.name}`: {kind.about.title}",
            f"`{kind.about.formula}`",
            kind.about.sign,
            format_range(kind),
            format_roles(kind),
            kind.about.source,
        )
        for kind in kinds
    ]
    return _format_table("metric | formula | meaning | range; unbiased | asks about | source", rows)


def format_model_metrics(kinds: Iterable[type[ItemMetric]]) -> Iterator[str]:
    """One row for each metric of language models."""
    rows = [
        (
            f"`{kind.about.name}`: {kind.about.title}",
            f"`{kind.about.formula}`",
            kind.about.sign,
            format_range(kind),
            kind.about.source,
        )
        for kind in kinds
    ]
    return _format_table("metric | formula | meaning | range; unbiased | source", rows)


def format_sets(sets: Iterable[ItemSet]) -> Iterator[str]:
    """One line for each set of items."""
    for each in sets:
        title = f": {each.title}" if each.title else ""
        yield f"- `{each.name}` ({each.language}){title}"


def format_conventions(kinds: Iterable[type[ByConvention]]) -> Iterator[str]:
    """One line a convention of each metric; none for a default of which its source says all."""
    for kind in kinds:
        for convention in kind.conventions().values():
            if convention.source != kind.about.source:
                options = ", ".join(
                    f"{key}={_spell(value)}" for key, value in convention.options.items()
                )
                changed = f" ({options})" if options else ""
                yield f"- `{kind.about.name}`, `{convention.name}`{changed}: {convention.source}"


def format_options(base: type[ByConvention], kinds: Iterable[type[ByConvention]]) -> Iterator[str]:
    """One line for each option, with its default in each metric; first those of every metric."""
    found: dict[str, dict[str, list[str]]] = {}
    every: list[type[ByConvention]] = [base, *kinds]
    for kind in every:
        defaults = {each.name: each.default for each in dataclasses.fields(kind)}  # type: ignore[arg-type]
        for option, hint in hints_of(kind).items():
            (note,) = [each for each in get_args(hint) if isinstance(each, DocInfo)]
            allowed = spell(hint)
            values = f" ({allowed})" if allowed.startswith("one of") else ""
            usual = defaults[option]
            default = f"`{option}`" if usual is MISSING else f"`{option}={_spell(usual)}`"
            metrics = found.setdefault(f"{note.documentation}{values}", {})
            if not metrics.keys() & {default} or metrics[default]:
                names = metrics.setdefault(default, [])
                names += [] if kind is base else [kind.about.name]
    for meaning, metrics in found.items():
        given = (f"{one} ({', '.join(names)})" if names else one for one, names in metrics.items())
        yield f"- {', '.join(given)}: {meaning}"


def format_queries(queries: Iterable[Query]) -> Iterator[str]:
    """One line for each query; the languages that it is translated to stand beside its name."""
    by_name = {query.name: query for query in queries}
    translated: dict[str, list[str]] = {}
    for name, query in by_name.items():
        original = name.removesuffix(f"_{query.language}")
        translated.setdefault(original if original in by_name else name, []).append(query.language)
    for name, codes in translated.items():
        named = f"`{name}`" if codes == ["en"] else f"`{name}` ({', '.join(codes)})"
        yield f"- {named}: {by_name[name].title}"


def format_roles(kind: type[Metric]) -> str:
    """The word sets that a metric asks about, with what they stand for."""
    found: dict[str, list[str]] = {}
    for role, what in kind.about.roles.items():
        if not role.endswith("3?"):
            found.setdefault(what, []).append(role.rstrip("?"))
    named = ((" ".join(roles), what) for what, roles in found.items())
    return ", ".join(roles if roles == what else f"{roles}: {what}" for roles, what in named)


def format_range(kind: type[ByConvention]) -> str:
    """``[-1, 1]; 0``, with an open end where there is no bound, then the unbiased value."""
    low, high = kind.about.range
    ends = f"{'(' if math.isinf(low) else '['}{low:g}, {high:g}{')' if math.isinf(high) else ']'}"
    return ends if kind.about.unbiased is None else f"{ends}; {kind.about.unbiased:g}"


def _wrap(line: str) -> str:
    return textwrap.fill(line, 120, subsequent_indent="  ", break_on_hyphens=False)


def _spell(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _format_table(header: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {header} |"
    yield "|" + "---|" * (header.count("|") + 1)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def main() -> None:
    """Write the page."""
    PAGE.write_text(write_page(Path()), encoding="utf-8")


if __name__ == "__main__":
    run_cli(main)
