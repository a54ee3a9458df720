"""What metrics, options, conventions and queries there are: for a terminal, and written from the
root of the repository by ``python -m intrinsic.describe`` into docs/metrics.md and conf/intrinsic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from files import run_cli
from intrinsic.metric_yaml import metric_yaml, option_facts, spell_value
from intrinsic.metrics.every import METRICS
from intrinsic.wordsets import load_queries, query_names

if TYPE_CHECKING:
    from rich.console import Console

    from intrinsic.metric import Metric

PAGE = Path("docs", "metrics.md")
CONF = Path("conf", "intrinsic")
MARK = "<!-- From here on written by python -m intrinsic.describe -->\n"


def print_metrics(console: Console) -> None:
    """Metrics, with what they ask about and their conventions; then the queries."""
    metrics = (
        (name, kind.about.title, spell_roles(kind), ", ".join(kind.conventions()))
        for name, kind in METRICS.items()
    )
    queries = (
        (query.name, query.language, query.title, " ".join(query.sets))
        for query in load_queries(query_names())
    )
    for title, header, rows in (
        ("Metrics", ("metric", "what", "asks about", "conventions"), metrics),
        ("Queries", ("query", "language", "title", "roles"), queries),
    ):
        shown = Table(*header, title=title, title_justify="left", box=box.SIMPLE, show_edge=False)
        for row in rows:
            shown.add_row(*row)
        console.print(shown)


def written(root: Path) -> Iterator[tuple[Path, str]]:
    """Every file that is made of the metrics, and its text; of the page all but its beginning."""
    head, mark, _ = (root / PAGE).read_text(encoding="utf-8").partition(MARK)
    yield root / PAGE, head + mark + markdown()
    for name, kind in METRICS.items():
        yield root / CONF / f"{name}.yaml", metric_yaml(kind)


def markdown() -> str:
    """The tables of metrics, options, conventions and queries of the page."""
    tables = (metric_table(), option_table(), convention_table(), query_table())
    return "\n".join(["", *("\n".join(table) + "\n" for table in tables)])


def metric_table() -> list[str]:
    """One row for each metric."""
    header = "metric | what | formula | meaning | range | unbiased | asks about | source"
    rows = [
        (
            f"`{name}`",
            kind.about.title,
            f"`{kind.about.formula}`",
            kind.about.sign,
            spell_range(*kind.about.range),
            "(utility)" if kind.about.unbiased is None else f"{kind.about.unbiased:g}",
            spell_roles(kind),
            kind.about.source,
        )
        for name, kind in METRICS.items()
    ]
    return _table("Metrics", header, rows)


def option_table() -> list[str]:
    """One row for each option, with its default in the metrics that have it."""
    defaults: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for name, kind in METRICS.items():
        for option in option_facts(kind):
            of_option = defaults.setdefault((option.name, option.allowed, option.meaning), {})
            of_option.setdefault(spell_value(option.default), []).append(f"`{name}`")
    rows = [
        (f"`{name}`", allowed, meaning, "; ".join(map(_spell_default, of.items())))
        for (name, allowed, meaning), of in defaults.items()
    ]
    return _table("Options", "option | allowed | what it is | default", rows)


def _spell_default(default: tuple[str, list[str]]) -> str:
    value, names = default
    of_most = len(names) > len(METRICS) / 2
    return value if of_most else f"{value} ({', '.join(names)})"


def convention_table() -> list[str]:
    """One row a convention of each metric; none for a default of which its source says all."""
    rows = [
        (
            f"`{name}`",
            f"`{convention.name}`",
            ", ".join(f"{key}={spell_value(value)}" for key, value in convention.options.items()),
            convention.source,
        )
        for name, kind in METRICS.items()
        for convention in kind.conventions().values()
        if convention.source != kind.about.source
    ]
    return _table("Conventions", "metric | convention | changed options | what it is", rows)


def query_table() -> list[str]:
    """One row for each built-in query."""
    rows = [
        (
            f"`{query.name}`",
            query.language,
            query.title,
            ", ".join(f"{role}: {of.name} ({len(of.items)})" for role, of in query.sets.items()),
        )
        for query in load_queries(query_names())
    ]
    return _table("Queries", "query | language | title | word sets", rows)


def spell_roles(kind: type[Metric]) -> str:
    """The word sets that a metric asks about, with what they stand for."""
    return ", ".join(
        role if role == what else f"{role.rstrip('?')} ({what})"
        for role, what in kind.about.roles.items()
        if not role.endswith("3?")
    )


def spell_range(low: float, high: float) -> str:
    """``[-1, 1]``, or with an open end where there is none."""
    return f"{'(' if math.isinf(low) else '['}{low:g}, {high:g}{')' if math.isinf(high) else ']'}"


def _table(title: str, header: str, rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    rule = "---|" * (header.count("|") + 1)
    return [f"## {title}", "", f"| {header} |", f"|{rule}", *(f"| {line} |" for line in lines)]


def main() -> None:
    """Write every file anew."""
    for path, text in list(written(Path())):
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_cli(main)
