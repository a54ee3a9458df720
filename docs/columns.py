"""Show ``columns.csv`` at the mark of ``results.md``: a hook of mkdocs."""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return the page with a heading, a note and a table of columns for each result table."""
    with Path(__file__).with_name("columns.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    lines = []
    for table, members in groupby(rows, key=lambda row: row[0]):
        lines += ["", f"### {table}", ""]
        for _table, columns, kind, meaning in members:
            if not columns:
                lines += [meaning, "", "| columns | type | meaning |", "|---|---|---|"]
                continue
            names = ", ".join(f"`{name}`" for name in columns.split(", "))
            lines.append(f"| {names} | {kind} | {meaning.replace('|', '&#124;')} |")
    return markdown.replace("<!-- columns -->", "\n".join(lines))
