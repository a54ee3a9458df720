"""What metrics, conventions and queries there are, as tables for a terminal and for the
documentation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table

from intrinsic.metrics import METRICS
from intrinsic.wordsets import load_queries, query_names

HEADER = (
    "metric",
    "what",
    "formula",
    "meaning",
    "range",
    "unbiased",
    "asks about",
    "conventions",
    "source",
)


def rows() -> Iterator[tuple[str, ...]]:
    """One row for each metric."""
    for name, kind in METRICS.items():
        about = kind.about
        unbiased = "(utility)" if about.unbiased is None else f"{about.unbiased:g}"
        roles = ", ".join(
            f"{role.rstrip('?')} ({what})" if role.rstrip("?") != what else role
            for role, what in about.roles.items()
            if not role.endswith("3?")
        )
        yield (
            name,
            about.title,
            about.formula,
            about.sign,
            spell_range(about.low, about.high),
            unbiased,
            roles,
            ", ".join(kind.conventions()),
            about.source,
        )


def spell_range(low: float, high: float) -> str:
    """``[-1, 1]``, or with an open end where there is none."""
    left = "(-inf" if math.isinf(low) else f"[{low:g}"
    right = "inf)" if math.isinf(high) else f"{high:g}]"
    return f"{left}, {right}"


def markdown() -> str:
    """The table of metrics and the list of conventions and queries for ``docs/metrics.md``."""
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    for row in rows():
        cells = list(row)
        cells[0], cells[2] = f"`{row[0]}`", f"`{row[2]}`".replace("|", "\\|")
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "## Conventions",
        "",
        "| metric | convention | options | what it is |",
        "|---|---|---|---|",
    ]
    for name, kind in METRICS.items():
        for convention in kind.conventions().values():
            options = (
                {"min_found": 0.5, **kind.options}
                if convention.name == "default"
                else convention.options
            )
            spelled = ", ".join(f"{key}={value}" for key, value in options.items())
            lines.append(f"| `{name}` | `{convention.name}` | {spelled} | {convention.source} |")
    lines += ["", "## Queries", "", "| query | language | title | word sets |", "|---|---|---|---|"]
    for query in load_queries(query_names()):
        sets = ", ".join(
            f"{role}: {wordset.name} ({len(wordset.items)})" for role, wordset in query.sets.items()
        )
        lines.append(f"| `{query.name}` | {query.language} | {query.title} | {sets} |")
    return "\n".join(lines) + "\n"


def print_metrics(console: Console) -> None:
    """Metrics, with what they ask about and their conventions; then the queries."""
    shown = Table(
        "metric",
        "what",
        "asks about",
        "conventions",
        title="Metrics",
        title_justify="left",
        box=box.SIMPLE,
        show_edge=False,
    )
    for row in rows():
        shown.add_row(row[0], row[1], row[6], row[7])
    console.print(shown)
    shown = Table(
        "query",
        "language",
        "title",
        "roles",
        title="Queries",
        title_justify="left",
        box=box.SIMPLE,
        show_edge=False,
    )
    for query in load_queries(query_names()):
        shown.add_row(query.name, query.language, query.title, " ".join(query.sets))
    console.print(shown)
