"""Scores of BBQ for a terminal: a table, and a sentence on each context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from extrinsic.bbq.scores import CONTEXTS
from extrinsic.terminal import format_estimate
from files.printable import printable

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

MEANINGS = ("where only the unknown answer is right", "where the context names the answer")
SOURCE = (
    "BBQ: Parrish et al. (2022), BBQ: A hand-built bias benchmark for question answering, Findings"
    " of ACL, https://aclanthology.org/2022.findings-acl.165; its items are CC BY 4.0"
)


def print_scores(rows: pd.DataFrame, console: Console) -> None:
    """Print the table of ``biasbridge.bbq``, a sentence on each context of the first convention,
    the notes, and whose the items are.
    """
    console.print(_table(rows))
    first = rows[rows["convention"] == rows["convention"].iloc[0]]
    for sentence in (*describe_contexts(first), *rows.attrs.get("notes", ()), SOURCE):
        console.print(Text(printable(sentence)), soft_wrap=True)


def _table(rows: pd.DataFrame) -> Table:
    names = ["category", "context", "convention", "n", "templates", "unmatched"]
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for place, name in enumerate((*names, "accuracy", "score")):
        table.add_column(name, justify="right" if place > 2 else "left", no_wrap=True)
    for row in rows.itertuples():
        counts = (f"{count:,}" for count in (row.n, row.n_templates, row.n_unmatched))
        accuracy = format_estimate(row.accuracy, row.accuracy_low, row.accuracy_high)
        score = format_estimate(row.score, row.low, row.high, "+")
        cells = printable(row.category), row.context, row.convention
        table.add_row(*cells, *counts, accuracy, score)
    return table


def describe_contexts(rows: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence for each context: in which categories answers follow the stereotype."""
    for context, meaning in zip(CONTEXTS, MEANINGS, strict=True):
        part = rows[rows["context"] == context]
        if part.empty:
            continue
        by_finding = {
            "follow the stereotype": part["low"] > 0,
            "go against it": part["high"] < 0,
            "lean neither way beyond chance": (part["low"] <= 0) & (part["high"] >= 0),
            "give no interval": part["low"].isna(),
        }
        findings = [
            f"{finding} in {', '.join(part.loc[mask, 'category'])}"
            for finding, mask in by_finding.items()
            if mask.any()
        ]
        yield f"{context.capitalize()} contexts, {meaning}: answers {'; '.join(findings)}."
