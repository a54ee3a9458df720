"""Scores of BBQ for a terminal: a table, and a sentence on each context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from biasbridge.files.printable import printable
from biasbridge.files.terminal import print_columns
from biasbridge.stats.formatting import format_estimate

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

MEANINGS = {"ambiguous": "only the unknown answer is right", "disambiguated": "one name is right"}
SOURCE = (
    "BBQ: Parrish et al. (2022), BBQ: A hand-built bias benchmark for question answering, Findings"
    " of ACL, https://aclanthology.org/2022.findings-acl.165; its items are CC BY 4.0"
)


def print_scores(rows: pd.DataFrame, console: Console) -> None:
    """Print the table of ``biasbridge.bbq``, a sentence on each context of the first convention,
    the notes, and whose the items are.
    """
    names = ["category", "context", "convention", "n", "n_templates", "n_unmatched"]
    table = Table(*names[:3], box=box.SIMPLE_HEAD, show_edge=False)
    for name in (*names[3:], "accuracy", "score"):
        table.add_column(name, justify="right")
    for row in rows.to_dict("records"):
        accuracy = (row[f"accuracy{end}"] for end in ("", "_low", "_high"))
        score = format_estimate(row["score"], row["low"], row["high"], 3, sign="+")
        cells = (printable(str(row[name])) for name in names)
        table.add_row(*cells, format_estimate(*accuracy), score)
    print_columns(table, console, names=3)
    first = rows[rows["convention"] == rows["convention"].iloc[0]]
    for sentence in (*describe_contexts(first), *rows.attrs["notes"], SOURCE):
        console.print(printable(sentence), soft_wrap=True)


def describe_contexts(rows: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence for each context: in which categories answers follow the stereotype."""
    for context, part in rows.groupby("context"):
        findings = {
            "follow the stereotype": part["low"] > 0,
            "go against it": part["high"] < 0,
            "lean neither way beyond chance": (part["low"] <= 0) & (part["high"] >= 0),
        }
        texts = {f"answers {finding} in": mask for finding, mask in findings.items()}
        texts["there is no interval for"] = part["low"].isna()
        listed = "; ".join(
            f"{text} {', '.join(part.loc[mask, 'category'])}"
            for text, mask in texts.items()
            if mask.any()
        )
        where = f"{context} contexts, where {MEANINGS[str(context)]}".capitalize()
        yield f"{where}: {listed}."
