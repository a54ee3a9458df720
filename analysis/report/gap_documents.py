"""The gaps of predictions as files: Markdown, LaTeX, and the exchange format of Every Eval Ever."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from biasbridge import __version__
from biasbridge.analysis.naming import measure_title
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
from biasbridge.stats.measure_facts import less_is_better

if TYPE_CHECKING:
    import pandas as pd


_ESCAPED_COLUMNS = (
    "group",
    "privileged",
    "unprivileged",
    "reason",
    "classifier",
    "earlier",
    "subset",
)
METHOD = (
    "Brackets hold 95% intervals for the choice of items: Wilson's for proportions, Newcombe's for"
    " their gaps, Price and Bonett's for differences between versions. A difference from 0 is"
    " claimed after adjustment over all groups and measures: Bonferroni's for gaps, Holm's for"
    " changes."
)
_KIND_SUFFIXES = {"value": "", "gap": " gap", "max_difference": " largest difference"}


class GapFacts(NamedTuple):
    """Where a table of gaps comes from; ``modified`` is the file's time in s since 1970. Of a model
    card also the decision, and the sentence of a gate.
    """

    file: str
    modified: int
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
    "eee": lambda table, facts: json.dumps(_evaluation_log(table, facts), indent=1) + "\n",
}


def format_gaps(kind: str, table: pd.DataFrame, facts: GapFacts) -> str:
    """Return a table of gaps as the text of a document, a key of ``WRITERS``."""
    return _WRITERS[kind](table, facts)


# A table of gaps in the exchange format of Every Eval Ever, schema 0.3.0.


def _evaluation_log(table: pd.DataFrame, facts: GapFacts) -> dict[str, Any]:
    """Return the values and gaps of one classifier as an evaluation log.

    The schema has no field for groups, an unbiased value and clusters: they are in
    ``metric_parameters``. ``evaluation_id`` holds a digest of the results in place of the time.
    """
    file, columns = facts.file, facts.columns
    rows = table[table["kind"].isin([*_KIND_SUFFIXES]) & table["value"].notna()].to_dict("records")
    results = [_result(row, file, columns["cluster"]) for row in rows]
    digest = sha256(json.dumps([columns, results]).encode()).hexdigest()[:16]
    model = str(columns["pred"][0])
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    return {
        "schema_version": "0.3.0",
        "evaluation_id": f"{file}/unknown/{model}/{digest}",
        "retrieved_timestamp": str(facts.modified),
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "biasbridge", "version": __version__},
        "model_info": {"name": model, "id": f"unknown/{model}", "additional_details": unknown},
        "evaluation_results": results,
    }


def _result(row: Mapping[Hashable, Any], file: str, cluster: str | None) -> dict[str, Any]:
    measure, is_value = str(row["measure"]), row["kind"] == "value"
    names = {
        "class": row.get("subset"),
        "measure": measure,
        "cluster_column": cluster,
        "group": row["group"] or row["unprivileged"],
        "privileged_group": row["privileged"],
        "unbiased_value": None if is_value else 0,
    }
    parameters = {name: value for name, value in names.items() if value not in ("", None)}
    labels = [str(value) for name, value in parameters.items() if name != "unbiased_value"]
    interval = {"lower": row["low"], "upper": row["high"], "confidence_level": 0.95}
    return {
        "evaluation_result_id": "/".join([row["kind"], *labels]),
        "evaluation_name": file,
        "source_data": {"dataset_name": file, "source_type": "other"},
        "metric_config": {
            "metric_id": f"biasbridge.{measure}{'' if is_value else '_' + row['kind']}",
            "metric_name": measure_title(measure) + _KIND_SUFFIXES[row["kind"]],
            "metric_unit": "proportion",
            "metric_parameters": parameters,
            "lower_is_better": not is_value or less_is_better(measure),
            "score_type": "continuous",
            "min_score": -1 if row["kind"] == "gap" else 0,
            "max_score": 1,
        },
        "score_details": {
            "score": row["value"],
            "uncertainty": {"confidence_interval": interval, "num_samples": int(row["support"])},
        },
    }
