"""The gaps of predictions as files: Markdown and LaTeX."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from biasbridge import __version__
from biasbridge.analysis.report.decision import Decision, decide_release
from biasbridge.analysis.report.gap_facts import (
    LIMITS,
    GapBlock,
    TextTable,
    read_blocks,
    value_table,
)
from biasbridge.files.errors import printable
from biasbridge.files.tables import csv_text, escape_control, escape_tex

if TYPE_CHECKING:
    import pandas as pd


_ESCAPED_COLUMNS = (
    *("group", "privileged", "unprivileged", "reason", "classifier", "earlier", "subset"),
)
METHOD = (
    "Brackets hold 95% intervals for the choice of items: Wilson's for proportions, Newcombe's for"
    " their gaps, Price and Bonett's for differences between versions. A difference from 0 is"
    " claimed after adjustment over all groups and measures: Bonferroni's for gaps, Holm's for"
    " changes."
)


class GapFacts(NamedTuple):
    """Source of a table of gaps; of a model card also the decision, and the sentence of a gate."""

    file: str
    columns: Mapping[str, Any]  # by role: a name, names or None
    positive: list[str]
    n_rows: int
    notes: list[str]
    version: str = f"biasbridge {__version__}"
    decision: Decision | None = None
    verdict: str = ""


def _json(table: pd.DataFrame, facts: GapFacts) -> str:
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    names = ("file", "columns", "positive", "n_rows", "notes", "version")
    about = {name: getattr(facts, name) for name in names}
    return json.dumps({"metadata": about, "rows": rows}, indent=1, default=int) + "\n"


def _tex(table: pd.DataFrame, facts: GapFacts) -> str:
    """Format values and gaps as ``tabular`` (needs ``booktabs``)."""
    lines = [f"% {printable(facts.file)}, {facts.version}. {METHOD}"]
    for block in _blocks(table, facts, escape_tex):
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
    """Format a section of a model card: the decision, values, gaps, data, method and limits.

    Versions have one table, that of their change, with the values of both.
    """
    decision = facts.decision or decide_release(table, label=" or ".join(facts.positive))
    meanings = [f"{word}: {meaning}." for word, meaning in decision.meanings]
    sentences = [*decision.counts, *meanings, *filter(None, [printable(facts.verdict)])]
    heading, reason = map(_escape_markdown, (decision.heading, decision.reason))
    lines = ["## Performance by group", "", f"**{heading}**: {reason}.", ""]
    lines += [f"- {_escape_markdown(sentence)}" for sentence in sentences]
    blocks = _blocks(table, facts, _escape_markdown)
    has_versions = any(block.is_change for block in blocks)
    for block in blocks:
        shown = [block.headline] if has_versions else [block.headline, *map("".join, block.lines)]
        name = f"{block.name}: " if block.name else ""
        shown += [block.warning] if not has_versions or block is blocks[0] else []
        lines += [f"- {name}{sentence}" for sentence in shown if sentence]
    for block in blocks:
        for part in block.tables if not has_versions else _change_tables(block, blocks):
            name = "" if has_versions else block.name
            heading = ": ".join(filter(None, (name, part.heading)))
            cells = [part.head, ["---", *["---:"] * (len(part.head) - 1)], *part.rows]
            lines += ["", f"{heading}:", "", *(f"| {' | '.join(row)} |" for row in cells)]
    named = {**facts.columns, "positive labels": facts.positive}.items()
    lists = {role: [name] if isinstance(name, str) else name for role, name in named if name}
    names = "; ".join(f"{role}: {', '.join(columns or ())}" for role, columns in lists.items())
    data = printable(f"Data: {facts.file}, {facts.n_rows:,} rows; {names}")
    method = f"{METHOD} Computed with {facts.version}."
    lines += ["", "### Data, method and limits", ""]
    lines += [f"- {_escape_markdown(data)}.", f"- {method}"]
    lines += [f"- {_escape_markdown(printable(note))}." for note in facts.notes]
    return "\n".join([*lines, *(f"- {limit}" for limit in LIMITS), ""])


def _change_tables(block: GapBlock, blocks: Sequence[GapBlock]) -> list[TextTable]:
    """Return the table of a change, with the values of both versions; none for one version."""
    if not block.is_change:
        return []
    earlier = str(block.table["earlier"].iloc[0])
    sides = [earlier, block.name.removesuffix(f" - {earlier}")]
    change, old, new = (
        value_table(part.table, part.groups, plus=part.is_change)
        for part in (block, *(part for side in sides for part in blocks if part.name == side))
    )
    columns = [[part.head.index(name) for name in change.head[2:]] for part in (old, new)]

    def values(row: Sequence[str], numbers: Sequence[int]) -> list[str]:
        return [row[number].split()[0] for number in numbers]

    rows = []
    for row, before, after in zip(change.rows, old.rows, new.rows, strict=True):
        cells = zip(values(before, columns[0]), values(after, columns[1]), row[2:], strict=True)
        rows.append([*row[:2], *(f"{first} to {last}: {cell}" for first, last, cell in cells)])
    return [TextTable(f"{sides[0]} to {sides[1]}, and the change", change.head, rows)]


def _blocks(table: pd.DataFrame, facts: GapFacts, change: Callable[[str], str]) -> list[GapBlock]:
    """Describe the parts of a table whose names are escaped by ``change``."""
    table = escape_control(table)
    names = {name: table[name].map(change) for name in _ESCAPED_COLUMNS if name in table}
    return read_blocks(table.assign(**names), change(printable(" or ".join(facts.positive))))


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~$!&@])", r"\\\1", text)


_WRITERS: Mapping[str, Callable[[pd.DataFrame, GapFacts], str]] = {
    "json": _json,
    "csv": lambda table, _: csv_text(table),
    "tex": _tex,
    "md": _markdown,
}


def format_gaps(kind: str, table: pd.DataFrame, facts: GapFacts) -> str:
    """Return a table of gaps as the text of a document, a key of ``WRITERS``."""
    return _WRITERS[kind](table, facts)
