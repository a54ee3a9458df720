"""The tables of the pages in this folder, from the recorded tables of results.

``python docs/runs/pages.py`` writes them between ``<!-- NAME RUN -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from certificate_tables import (
    agreement,
    certificate,
    planted_odds,
    rates,
    real_text,
    word_lists,
)
from recorded_runs import HERE, STUDIES
from study_tables import (
    applications,
    breakouts,
    by_corpus,
    by_method,
    conditions,
    groups,
    irreversible,
    limit,
    slices,
    unmodified,
)
from transfer_tables import draw_changes, planted, transfer

BLOCK = re.compile(r"(<!-- (?P<name>[\w ./-]+) -->\n)(?P<body>.*?)(<!-- end -->)", re.DOTALL)

TABLES: dict[str, Callable[[str], str]] = {
    "groups": groups,
    "transfer": transfer,
    "planted": planted,
    "worth": certificate,
    "agreement": agreement,
    "planted_odds": planted_odds,
    "real_text": real_text,
    "word_lists": word_lists,
    "rates": rates,
    "applications": applications,
    "slices": slices,
    "unmodified": unmodified,
    "conditions": conditions,
    "by_corpus": by_corpus,
    "by_method": by_method,
    "breakouts": breakouts,
    "visible": irreversible,
    "limit": limit,
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
    draw_changes()
