"""The tables of the pages in this folder, from the recorded tables of results.

``python docs/runs/pages.py`` writes them between ``<!-- NAME RUN -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import certificate_tables
import slice_tables
from recorded_runs import HERE, STUDIES

BLOCK = re.compile(r"(<!-- (?P<name>[\w ./-]+) -->\n)(?P<body>.*?)(<!-- end -->)", re.DOTALL)

TABLES: dict[str, Callable[[str], str]] = {
    **{
        name: partial(slice_tables.tabulate_tests, layout)
        for name, layout in slice_tables.LAYOUTS.items()
    },
    "slices": slice_tables.slices,
    "applications": slice_tables.applications,
    "limit": slice_tables.limit,
    "unmodified": slice_tables.unmodified,
    "conditions": slice_tables.conditions,
    "groups": slice_tables.groups,
    "worth": certificate_tables.certificate,
    "agreement": certificate_tables.agreement,
    "real_text": certificate_tables.real_text,
    "word_lists": certificate_tables.word_lists,
    "planted_odds": certificate_tables.planted_odds,
    "rates": certificate_tables.rates,
}


def render(page: str) -> str:
    """Replace the tables of a page by those of the recorded runs."""

    def block(match: re.Match[str]) -> str:
        kind, run = match["name"].split()
        return f"{match[1]}\n{TABLES[kind](run)}\n{match[4]}"

    return BLOCK.sub(block, page)


def pages() -> Iterator[Path]:
    """Yield the pages that have such tables."""
    for path in [*sorted(HERE.glob("*.md")), STUDIES / "certificate.md"]:
        if BLOCK.search(path.read_text(encoding="utf-8")):
            yield path


if __name__ == "__main__":
    for path in pages():
        path.write_text(render(path.read_text(encoding="utf-8")), encoding="utf-8")
    slice_tables.draw_changes()
