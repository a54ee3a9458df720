"""The tables of the pages in this folder, from the recorded tables of results.

``python docs/runs/pages.py`` writes them between ``<!-- NAME RUN -->`` and ``<!-- end -->``. After
``<!-- NAME RUN file -->`` the page has a link, and the table is ``RUN/NAME.csv`` or, where no such
folder is, ``NAME_RUN.csv``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import certificate_tables
import paper_tables
import slice_tables
from recorded_runs import HERE, STUDIES

BLOCK = re.compile(r"(<!-- (?P<name>[\w ./-]+) -->\n)(?P<body>.*?)(<!-- end -->)", re.DOTALL)
FILE = "file"
FILE_TITLES = {
    "settings": "Every setting",
    "claims": "Claims of the paper, and each run",
    "slices": "All declared tests",
    "breakouts": "By method and embedding, exploratory",
    "unmodified": "Scores and gaps of the unmodified models",
    "conditions": "Changes by each method at its largest dose",
    "methods": "Every method at its largest dose, on each score and gap",
    "methods_by_corpus": "The same with each corpus alone, exploratory",
    "tests": "All declared tests",
    "transfer_tests": "All declared tests",
    "by_method": "Planted and erased models alone, exploratory",
    "by_corpus": "Changes in each corpus alone",
    "limit": "All planted links",
    "visible": "Without the linear changes that can be undone, exploratory",
    "planted": "All tests of planted links",
    "certificate_scores": "Verdicts and properties in the default conventions",
    "certificate_agreement": "How many conventions agree",
    "certificate_text": "Verdicts in real text and in synthetic text",
    "certificate_words": "By the words that WEAT is asked with",
    "certificate_model": "Every convention, before and after planting",
    "planted_odds": "Log odds by what was planted",
    "certificate_rates": "How often simulated metrics pass",
}

TABLES: dict[str, Callable[[str], str]] = {
    **{
        name: partial(slice_tables.tabulate_tests, layout)
        for name, layout in slice_tables.LAYOUTS.items()
    },
    "slices": slice_tables.slices,
    "limit": slice_tables.limit,
    "unmodified": slice_tables.unmodified,
    "conditions": slice_tables.conditions,
    "groups": slice_tables.groups,
    "settings": paper_tables.settings,
    "claims": paper_tables.claims,
    "overview": paper_tables.overview,
    "debiasing": paper_tables.debiasing,
    "findings": paper_tables.findings,
    "methods": paper_tables.methods,
    "methods_by_corpus": paper_tables.methods_by_corpus,
    "certificate_scores": certificate_tables.certificate,
    "certificate_agreement": certificate_tables.text_agreement,
    "certificate_text": certificate_tables.real_text,
    "certificate_words": certificate_tables.word_lists,
    "certificate_model": certificate_tables.agreement,
    "planted_odds": certificate_tables.planted_odds,
    "certificate_rates": certificate_tables.rates,
}


def render(page: str, folder: Path = HERE) -> str:
    """Replace the tables of a page in a folder by those of the recorded runs."""

    def block(match: re.Match[str]) -> str:
        kind, run, *place = match["name"].split()
        table = TABLES[kind](run)
        if place == [FILE]:
            path, rows = table_file(kind, run, folder), as_csv(table).count("\n") - 1
            title = FILE_TITLES.get(kind, kind)
            table = f"[{title}, {rows} rows]({path.relative_to(folder).as_posix()})\n"
        return f"{match[1]}\n{table}\n{match[4]}"

    return BLOCK.sub(block, page)


def table_files(page: str, folder: Path = HERE) -> dict[Path, str]:
    """Return the tables that a page only links to, as CSV by their files."""
    blocks = (match["name"].split() for match in BLOCK.finditer(page))
    return {
        table_file(kind, run, folder): as_csv(TABLES[kind](run))
        for kind, run, *place in blocks
        if place == [FILE]
    }


def table_file(kind: str, run: str, folder: Path) -> Path:
    """Return the file of a table: in the folder of its run, else beside the page."""
    return folder / run / f"{kind}.csv" if (folder / run).is_dir() else folder / f"{kind}_{run}.csv"


def as_csv(table: str) -> str:
    """Return the first Markdown table as CSV, with the cells of merged columns filled in."""
    table = table[table.index("| ") :].split("\n\n")[0]
    lines = [line[2:-2].split(" | ") for line in table.splitlines()]
    rows = [lines[0], *lines[2:]]
    for above, row in pairwise(rows[1:]):
        for i in range(len(row)):
            if row[i]:
                break
            row[i] = above[i]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def pages() -> Iterator[Path]:
    """Yield the pages that have such tables."""
    for path in [*sorted(HERE.glob("*.md")), STUDIES / "certificate.md"]:
        if BLOCK.search(path.read_text(encoding="utf-8")):
            yield path


if __name__ == "__main__":
    for path in pages():
        text = path.read_text(encoding="utf-8")
        for file, table in table_files(text, path.parent).items():
            file.write_text(table, encoding="utf-8")
        path.write_text(render(text, path.parent), encoding="utf-8")
    slice_tables.draw_transfer()
    slice_tables.draw_answer()
    paper_tables.draw_figure3()
    for run in paper_tables.DRAWN:
        paper_tables.draw_changes(run)
