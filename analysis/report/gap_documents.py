"""A table of gaps as rows for programs, as LaTeX tables, and as a section of a model card."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from biasbridge import __version__
from biasbridge.analysis.report.every_eval_ever import evaluation_log
from biasbridge.analysis.report.gap_blocks import LIMITS, GapBlock, read_blocks
from biasbridge.analysis.report.tex import escape
from biasbridge.files.printable import printable
from biasbridge.files.tables import csv_text, escape_control

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("group", "privileged", "unprivileged", "reason", "classifier", "earlier", "subset")
METHOD = (
    "In brackets: 95% intervals for the choice of items (Wilson's of proportions, Newcombe's of"
    " their gaps, Price and Bonett's of differences between versions); what differs from 0 does so"
    " after adjustment over all groups and measures."
)


class GapFacts(NamedTuple):
    """Where a table of gaps comes from; ``modified`` is the file's time in s since 1970."""

    file: str
    modified: int
    columns: Mapping[str, str | Sequence[str] | None]
    positive: list[str]
    n_rows: int
    notes: list[str]
    version: str = f"biasbridge {__version__}"


def _json(table: pd.DataFrame, facts: GapFacts) -> str:
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    about = {name: value for name, value in facts._asdict().items() if name != "modified"}
    return json.dumps({"metadata": about, "rows": rows}, indent=1, default=int) + "\n"


def _every_eval_ever(table: pd.DataFrame, facts: GapFacts) -> str:
    log = evaluation_log(table, facts.file, facts.modified, facts.columns)
    return json.dumps(log, indent=1) + "\n"


def _tex(table: pd.DataFrame, facts: GapFacts) -> str:
    """Format values and gaps as ``tabular`` (needs ``booktabs``)."""
    lines = [f"% {printable(facts.file)}, {facts.version}. {METHOD}"]
    for block in _blocks(table, facts, escape):
        for data in block.tables:
            heading = ": ".join(filter(None, (block.name, data.heading)))
            rows = [[row[0], *(cell.replace("-", "$-$") for cell in row[1:])] for row in data.rows]
            lines += [
                rf"\begin{{tabular}}{{l{'r' * (len(data.head) - 1)}}}",
                r"\toprule",
                rf"\multicolumn{{{len(data.head)}}}{{l}}{{\emph{{{heading}}}}} \\",
                *(" & ".join(row) + r" \\" for row in [data.head]),
                r"\midrule",
                *(" & ".join(row) + r" \\" for row in rows),
                *(r"\bottomrule", r"\end{tabular}", ""),
            ]
    return "\n".join(lines)


def _markdown(table: pd.DataFrame, facts: GapFacts) -> str:
    """Format a section of a model card: what was found, values, gaps, data, method and limits."""
    lines = ["## Performance by group", ""]
    for block in _blocks(table, facts, _escape_markdown):
        lines += [f"### {block.name}", ""] if block.name else []
        lines += [f"**{block.headline}**", ""] if block.headline else []
        for claim, rest in block.lines:
            lines.append(f"- **{claim}**{rest}" if claim else f"- {rest}")
        lines += ["", block.warning] if block.warning else []
        for part in block.tables:
            cells = [part.head, ["---", *["---:"] * (len(part.head) - 1)], *part.rows]
            lines += ["", f"{part.heading}:", "", *(f"| {' | '.join(row)} |" for row in cells)]
        lines.append("")
    named = {**facts.columns, "positive labels": facts.positive}.items()
    lists = {role: [name] if isinstance(name, str) else name for role, name in named if name}
    names = "; ".join(f"{role}: {', '.join(columns or ())}" for role, columns in lists.items())
    data = printable(f"Data: {facts.file}, {facts.n_rows:,} rows; {names}")
    method = f"{METHOD} Computed with {facts.version}."
    lines += ["### Data, method and limits", "", f"- {_escape_markdown(data)}.", f"- {method}"]
    lines += [f"- {_escape_markdown(printable(note))}." for note in facts.notes]
    text = "\n".join([*lines, *(f"- {limit}" for limit in LIMITS), ""])
    return re.sub(r"\n{3,}", "\n\n", text)


def _blocks(table: pd.DataFrame, facts: GapFacts, change: Callable[[str], str]) -> list[GapBlock]:
    """Describe the parts of a table whose names are escaped by ``change``."""
    table = escape_control(table)
    names = {name: table[name].map(change) for name in NAMES if name in table}
    return read_blocks(table.assign(**names), change(printable(" or ".join(facts.positive))))


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~$!&@])", r"\\\1", text)


WRITERS: Mapping[str, Callable[[pd.DataFrame, GapFacts], str]] = {
    "json": _json,
    "csv": lambda table, _: csv_text(table),
    "tex": _tex,
    "md": _markdown,
    "eee": _every_eval_ever,
}


def format_gaps(kind: str, table: pd.DataFrame, facts: GapFacts) -> str:
    """Return a table of gaps as the text of a document, a key of ``WRITERS``."""
    return WRITERS[kind](table, facts)
