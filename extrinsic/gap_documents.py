"""The gaps of predictions as files: JSON, CSV, a section of a model card, and LaTeX."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from biasbridge import __version__
from biasbridge.extrinsic.gap_table import as_table
from biasbridge.extrinsic.gap_tables import LIMITS, METHOD, read_blocks
from biasbridge.files.errors import printable
from biasbridge.files.tables import csv_text
from biasbridge.files.writers import escape_markdown, markdown_table, tex_table
from biasbridge.stats.formatting import capitalise

if TYPE_CHECKING:
    from biasbridge.extrinsic.claims import Decision
    from biasbridge.extrinsic.gap_table import GapRow


class GapFacts(NamedTuple):
    """A table of gaps: its decision, source, and notes. ``columns`` by role: a name, names or
    None.
    """

    decision: Decision
    file: str
    columns: Mapping[str, Any]
    positive: Sequence[str]
    n_rows: int
    notes: Sequence[str]
    version: str = f"biasbridge {__version__}"


def _json(rows: Sequence[GapRow], facts: GapFacts) -> str:
    table = as_table(rows).drop(columns="resampled")
    records = table.astype(object).where(table.notna(), None).to_dict("records")
    about = {name: value for name, value in facts._asdict().items() if name != "decision"}
    content = {"decision": facts.decision.facts(), "metadata": about, "rows": records}
    return json.dumps(content, indent=1, default=int) + "\n"


def _tex(rows: Sequence[GapRow], facts: GapFacts) -> str:
    """Format values and gaps as ``table``s (need ``booktabs``)."""
    lines = [f"% {printable(facts.file)}, {facts.version}. Needs booktabs. {METHOD}"]
    for block in read_blocks(rows, _label(facts)):
        for number, table in enumerate(block.tables):
            title = ": ".join(filter(None, (block.name, capitalise(table.heading))))
            name = "-".join(filter(None, ("gaps", _slug(block.name), str(number or ""))))
            caption = f"{title}. Brackets: 95% intervals."
            lines += [*tex_table(table, caption, name), ""]
    return "\n".join(lines)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _markdown(rows: Sequence[GapRow], facts: GapFacts) -> str:
    """Format a section of a model card: the decision, values, gaps, data, method and limits."""
    decision = facts.decision
    meanings = [f"{word}: {meaning}." for word, meaning in decision.meanings]
    heading, reason = map(escape_markdown, (decision.heading, decision.reason))
    lines = ["## Performance by group", "", f"**{heading}**: {reason}.", ""]
    lines += [f"- {escape_markdown(sentence)}" for sentence in (*decision.lines, *meanings)]
    blocks = read_blocks(rows, _label(facts))
    for block in blocks:
        name = f"{block.name}: " if block.name else ""
        lines += [f"- {escape_markdown(name + line)}" for line in block.lines]
    for block in blocks:
        for table in block.tables:
            title = ": ".join(filter(None, (block.name, capitalise(table.heading))))
            lines += ["", *markdown_table(table._replace(heading=title))]
    named = {**facts.columns, "positive labels": facts.positive}.items()
    lists = {role: [name] if isinstance(name, str) else name for role, name in named if name}
    names = "; ".join(f"{role}: {', '.join(columns or ())}" for role, columns in lists.items())
    data = f"Data: {facts.file}, {facts.n_rows:,} rows; {names}"
    lines += ["", "### Data, method and limits", ""]
    lines += [f"- {escape_markdown(data)}.", f"- {METHOD} Computed with {facts.version}."]
    lines += [f"- {escape_markdown(note)}." for note in facts.notes]
    return "\n".join([*lines, *(f"- {limit}" for limit in LIMITS), ""])


def _label(facts: GapFacts) -> str:
    return " or ".join(facts.positive)


_WRITERS: Mapping[str, Callable[[Sequence[GapRow], GapFacts], str]] = {
    "json": _json,
    "csv": lambda rows, _: csv_text(as_table(rows).drop(columns="resampled")),
    "tex": _tex,
    "md": _markdown,
}


def format_gaps(kind: str, rows: Sequence[GapRow], facts: GapFacts) -> str:
    """Return the rows of a table of gaps as the text of a document."""
    return _WRITERS[kind](rows, facts)
