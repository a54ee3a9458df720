"""Slices of a study or of a table as people read them: a line each, verdicts, and notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from biasbridge.analysis.naming import (
    FAMILY,
    GAP,
    SCORE,
    SLICE_COLUMNS,
    describe_taggers,
    row_names,
    shown_columns,
)
from biasbridge.analysis.slices import digits_of, gap_and_score
from biasbridge.files.writers import Document, TextTable
from biasbridge.stats.formatting import NOTHING, format_estimate, format_number, format_p

if TYPE_CHECKING:
    from biasbridge.analysis.slices import SliceResult

CHANGE_HEADING, VERDICT_HEADING = "change [95%]", "verdict"
MODELS_HEADING, R_RM_HEADING = "models / parents / conditions", "r_rm [95%]"
PEARSON, HOLM = "Pearson's r", "p (adjusted)"
_R_RM = "r_rm, repeated-measures correlation within parents"


def format_change(result: SliceResult) -> str:
    """Format the change with its interval: ``+.027 [.016,.040]``."""
    return format_estimate(*result.change, digits=digits_of(result.change.value), sign="+")


def name_tests(scores_by_gap: Mapping[str, Sequence[str]], n_by_gap: Mapping[str, int]) -> str:
    """Return ``recall gap, WEAT 6b, 7`` for each gap; without scores where they are all."""
    return "; ".join(
        gap if len(scores) == n_by_gap[gap] > 1 else f"{gap}, {join_titles(scores)}"
        for gap, scores in scores_by_gap.items()
    )


def reasons(results: Sequence[SliceResult]) -> list[str]:
    """Return a sentence for each reason that limits verdicts, with the tests that share it."""
    by_gap: dict[str, list[tuple[str, str]]] = {}
    for (gap, score), result in zip(gap_and_score(results), results, strict=True):
        by_gap.setdefault(gap, []).append((score, result.why))
    scores_by_reason: dict[str, dict[str, list[str]]] = {}
    for gap, tests in by_gap.items():
        for score, why in tests:
            if why:
                scores_by_reason.setdefault(why, {}).setdefault(gap, []).append(score)
    n_by_gap = {gap: len(tests) for gap, tests in by_gap.items()}
    sentences = []
    for reason, gaps in scores_by_reason.items():
        is_shared = sum(map(len, gaps.values())) == len(results)
        sentences.append(f"{'all tests' if is_shared else name_tests(gaps, n_by_gap)}: {reason}.")
    return sentences


def join_titles(names: Sequence[str]) -> str:
    """Join titles, a shared first word once: ``WEAT 6b, 7, 8``."""
    first, _, remainder = names[0].partition(" ")
    if remainder and all(name.startswith(f"{first} ") for name in names):
        return f"{first} {', '.join(name.removeprefix(f'{first} ') for name in names)}"
    return ", ".join(names)


def slices_document(results: Sequence[SliceResult], title: str) -> Document:
    """Return the slices of ``correlate``, one line each, then verdicts and notes."""
    names, is_mixed = list(results[0].names), not all(result.confirmatory for result in results)
    rows = [result.names | describe_slice(result, alone=is_mixed) for result in results]
    shared = [name for name in names if len({row[name] for row in rows}) == 1 < len(rows)]
    hidden = [*shared, *([] if any(result.confirmatory for result in results) else [HOLM])]
    of_all = ", ".join(f"{name} {rows[0][name]}" for name in shared if rows[0][name])
    heading = f"{title}: {_R_RM}{'; of all rows: ' * bool(of_all)}{of_all}"
    rows = [{name: row[name] for name in row if name not in hidden} for row in rows]
    by_text: dict[tuple[bool, str], list[str]] = {}
    for result in results:
        name = " ".join(filter(None, result.names.values())) or "all"
        for is_note, text in enumerate((result.why * result.confirmatory, result.note)):
            by_text.setdefault((bool(is_note), text), []).append(name)
    texts = sorted((key for key in by_text if key[1]), key=lambda key: key[0])
    notes = [f"{', '.join(by_text[key])}: {key[1]}" for key in texts]
    return Document((), (), [TextTable.of_rows(heading, rows, names)], notes)


def correlations_document(results: Sequence[SliceResult]) -> Document:
    """Return r_rm of the confirmatory slices of ``correlate_slices``, one table per task,
    classifier, metric and convention, with what limits its verdicts.
    """
    confirmatory = [result for result in results if result.confirmatory]
    names = pd.DataFrame([result.names for result in confirmatory], columns=list(SLICE_COLUMNS))
    headings = row_names(names, FAMILY, ", ") if confirmatory else []
    varying_names = [name for name in ("embedding", "method") if len(set(names[name])) > 1]
    columns = [*varying_names, *shown_columns(names, (*SCORE[2:], *GAP))]
    families: dict[str, list[SliceResult]] = {}
    for heading, result in zip(headings, confirmatory, strict=True):
        families.setdefault(heading, []).append(result)
    tables = []
    for heading, family in families.items():
        rows = [
            {name: result.names[name] for name in columns} | describe_slice(result)
            for result in family
        ]
        synthetic = ", synthetic data" if any(result.synthetic for result in family) else ""
        table = TextTable.of_rows(f"{heading}: {_R_RM}{synthetic}", rows, columns)
        tables.append(table._replace(notes=reasons(family)))
    taggers = describe_taggers(result.group_by for result in confirmatory)
    return Document((), (), tables, taggers)


def count_models(result: SliceResult, unit: str = "") -> str:
    """Return the number of models; ``44 as 22`` where seeds of a corpus are averaged."""
    averaged = f" as {result.within.n}" if result.within.n < result.n else ""
    return f"{result.n}{unit}{averaged}"


def describe_slice(result: SliceResult, *, alone: bool = False) -> dict[str, str]:
    """Return the cells of a slice; ``alone``: with its unadjusted p."""
    within = result.within
    counts = (
        str(number) if number else NOTHING for number in (result.n_parents, result.n_conditions)
    )
    return {
        MODELS_HEADING: " / ".join((count_models(result), *counts)),
        CHANGE_HEADING: format_change(result),
        VERDICT_HEADING: result.verdict,
        R_RM_HEADING: format_estimate(*within.interval),
        PEARSON: format_number(result.r_pearson),
        **({"p": format_p(within.p)} if alone else {}),
        HOLM: format_p(result.p_holm),
        "lost": str(result.n_lost),
    }
