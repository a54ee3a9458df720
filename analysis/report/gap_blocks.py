"""What a table of gaps says of each classifier and class, for pages and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from biasbridge.analysis.gap_charts import order_groups
from biasbridge.analysis.naming import measure_title
from biasbridge.analysis.report.gap_sentences import (
    Line,
    base_rate_warning,
    many_sentences,
    pair_sentence,
)
from biasbridge.analysis.report.gap_tables import TextTable, gap_matrices, value_table
from biasbridge.stats.changes import describe_changes
from biasbridge.stats.clusters import describe_clusters

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

LIMITS = (
    "No detected gap does not mean no gap: its interval says which gaps remain possible.",
    "The intervals cover other items of the same kind. They do not cover another training of the"
    " classifier, wrong labels, or people missing from the data.",
    "Which gap matters depends on what the classifier is used for. Equal precision and equal recall"
    " cannot both hold where base rates differ, unless the classifier makes no errors.",
)


class GapBlock(NamedTuple):
    """Rows of one classifier and class, or of a later version minus an earlier one, in words.

    ``is_pair``: two groups are compared; ``is_change``: two versions are.
    """

    name: str
    table: pd.DataFrame
    groups: Sequence[str]
    is_pair: bool
    is_change: bool
    headline: str
    lines: Sequence[Line]
    warning: str

    @property
    def tables(self) -> list[TextTable]:
        """Tables of values and of gaps, groups by measures."""
        values = value_table(self.table, self.groups, plus=self.is_change)
        gaps = gap_matrices(self.table, self.groups)
        return [values._replace(heading="Values by group"), *gaps]


def read_blocks(table: pd.DataFrame, label: str = "") -> list[GapBlock]:
    """Split a table of gaps by classifier and class, and describe each part.

    ``label`` names the positive class; empty for label 1. The name of a block is empty if it is the
    only one.
    """
    columns = [name for name in ("classifier", "subset") if name in table]
    if not columns:
        return [_describe("", table, label)]
    prefix = {"classifier": "", "subset": "class "}
    parts = [prefix[name] + table[name].where(table[name].ne(""), "") for name in columns]
    names = parts[0] if len(parts) == 1 else parts[0] + ", " + parts[1]
    return [_describe(str(name), rows, label) for name, rows in table.groupby(names, sort=False)]


def _describe(name: str, block: pd.DataFrame, label: str) -> GapBlock:
    gaps = block[block["kind"] == "gap"]
    is_pair = len(gaps[["privileged", "unprivileged"]].drop_duplicates()) == 1
    is_change = "earlier" in block and bool(block["earlier"].iloc[0])
    warning = base_rate_warning(block, label or "of label 1")
    headline: str
    lines: Sequence[Line]
    if is_change:
        [first, *lines] = describe_changes(block.to_dict("records"), measure_title, label)
        headline = "".join(first)
    elif is_pair:
        headline, lines = "", [pair_sentence(row) for row in gaps.to_dict("records")]
    else:
        headline, lines = many_sentences(block, gaps, base_rates_differ=bool(warning))
    if "n_clusters" in block:
        counts, widths = block["n_clusters"].dropna(), gaps["widening"].dropna()
        clusters = describe_clusters(counts.tolist(), widths.tolist())
        lines = [*lines, *([("", clusters)] if clusters else [])]
    groups = order_groups(block)
    return GapBlock(name, block, groups, is_pair, is_change, headline, lines, warning)
