"""The answer of a study as rows, the same on the terminal, on the page, in TeX and in Python: for
every declared test the gap before, its change over the range of the score, a verdict, and a row of
what it holds for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasbridge.analysis.frame import as_float, as_text, text_rows
from biasbridge.analysis.gap_directions import join_titles, own_metrics_first
from biasbridge.analysis.naming import REVERSED_SIGN, SLICE_COLUMNS, gap_titles, score_titles
from biasbridge.analysis.scopes import MINIMUM, RUNS, SCOPES
from biasbridge.analysis.verdict import AT_MOST, CANNOT_TELL, FALLS, RISES, TOO_FEW
from biasbridge.stats.formatting import NOTHING, format_estimate, format_number

if TYPE_CHECKING:
    from biasbridge.analysis.slice_results import SliceResult

TEST, SCORE, SCORE_RANGE = "gap, score", "score", "from, to"
ALL_TESTS = "all tests"
CHANGE, VERDICT = "change of the gap [95%]", "verdict"
NOT_SEEN = "Cannot tell: four of five such studies would have seen a change of about {change}."
WITHIN = "At most {x}: the 90% interval of the change lies within -{x} and +{x}."
RELIABILITY = "Reliability of the gap: {values}; 1 would be a gap without noise."
LEGEND = "n of m: only n tried, m needed"
VERDICT_PHRASES = {
    RISES: "rises with {scores}",
    FALLS: "falls with {scores}",
    AT_MOST: "changes by at most {x} with {scores}",
    CANNOT_TELL: "cannot tell with {scores}",
}
MAX_GAPS = 3  # named in the headline


def declared(results: Sequence[SliceResult]) -> list[SliceResult]:
    """Return the slices that were declared before the run."""
    return [result for result in own_metrics_first(results) if result.confirmatory]


def gap_and_score(results: Sequence[SliceResult]) -> list[tuple[str, str]]:
    """Return the titles of gap and score of each slice, with what differs between slices: ``cnn
    recall gap``, ``WEAT 6b``.
    """
    table = pd.DataFrame([result.names for result in results], columns=list(SLICE_COLUMNS))
    tasks, pairs = {*table["task"]}, {*text_rows(table, ("task", "classifier"))}
    varying = ["task"] * (len(tasks) > 1) + ["classifier"] * (len(pairs) > len(tasks))
    pooled = [name for name in ("embedding", "method") if len({*table[name]}) > 1]
    nothing: list[tuple[str, ...]] = [()] * len(table)
    prefixes, parts = (text_rows(table, names) if names else nothing for names in (varying, pooled))
    columns = prefixes, gap_titles(table), score_titles(table), parts
    return [
        (
            " ".join([*prefix, gap]),
            f"{score}{REVERSED_SIGN if result.reverse_scored else ''}"
            + (f" ({', '.join(part)})" if part else ""),
        )
        for prefix, gap, score, part, result in zip(*columns, results, strict=True)
    ]


def change_rows(
    results: Sequence[SliceResult],
    smallest_change: float,
    further: Callable[[SliceResult], dict[str, str]] = lambda _: {},
) -> dict[str, list[dict[str, str]]]:
    """Return a row per score, its range, the change and the verdict, by gap and its unmodified
    mean; ``further``: cells after these.
    """
    rows_by_gap: dict[str, list[dict[str, str]]] = {}
    for (gap, score), result in zip(gap_and_score(results), results, strict=True):
        heading = gap
        if isfinite(result.gap_unmodified):
            mean = format_number(result.gap_unmodified, _digits(result.gap_unmodified))
            heading += f", {mean} in the unmodified models"
        ends = sorted((result.sign * result.score_low, result.sign * result.score_high))
        rows_by_gap.setdefault(heading, []).append(
            {
                SCORE: score,
                SCORE_RANGE: " to ".join(map(format_number, ends)),
                CHANGE: format_change(result),
                VERDICT: name_verdict(result, smallest_change),
            }
            | further(result)
        )
    return rows_by_gap


def format_change(result: SliceResult) -> str:
    """Format the change with its interval: ``+.027 [.016,.040]``."""
    return format_estimate(*result.change, digits=_digits(result.change.value), sign="+")


def name_verdict(result: SliceResult, smallest_change: float) -> str:
    """Return the verdict in words: ``rises``, ``at most .02``."""
    size = f" {format_number(smallest_change, 3).rstrip('0')}" if result.verdict == AT_MOST else ""
    return result.verdict + size


def scope_rows(results: Sequence[SliceResult]) -> list[dict[str, str]]:
    """Return yes, no or ``1 of 4`` for every scope, a row for all tests that share them."""
    scopes = [scope for scope in SCOPES if any(scope in result.scopes for result in results)]
    scores_by_row: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for (gap, score), result in zip(gap_and_score(results), results, strict=True):
        cells = tuple(name_scope(result, scope) for scope in scopes)
        scores_by_row.setdefault(cells, {}).setdefault(gap, []).append(score)
    n_by_gap = Counter(gap for gap, _ in gap_and_score(results))
    return [
        {TEST: "; ".join(_name_tests(gaps, n_by_gap)) if len(scores_by_row) > 1 else ALL_TESTS}
        | dict(zip(scopes, cells, strict=True))
        for cells, gaps in scores_by_row.items()
    ]


def _name_tests(
    scores_by_gap: Mapping[str, Sequence[str]], n_by_gap: Mapping[str, int]
) -> list[str]:
    """Return ``recall gap, WEAT 6b, 7`` for each gap; without scores where they are all."""
    return [
        gap if len(scores) == n_by_gap[gap] > 1 else f"{gap}, {join_titles(scores)}"
        for gap, scores in scores_by_gap.items()
    ]


def name_scope(result: SliceResult, scope: str) -> str:
    """Return yes, no, or how many there are of how many needed."""
    word = result.holds.get(scope, NOTHING)
    if word != TOO_FEW:
        return word
    n = int(result.within.df) if scope == RUNS else result.scopes[scope].n
    return f"{n} of {MINIMUM[scope]}" if n < MINIMUM[scope] else TOO_FEW


def reasons(results: Sequence[SliceResult]) -> list[str]:
    """Return a sentence for each reason that limits verdicts, with the tests that share it."""
    scores_by_reason: dict[str, dict[str, list[str]]] = {}
    for (gap, score), result in zip(gap_and_score(results), results, strict=True):
        if result.why:
            scores_by_reason.setdefault(result.why, {}).setdefault(gap, []).append(score)
    n_by_gap, n = Counter(gap for gap, _ in gap_and_score(results)), len(results)
    sentences = []
    for reason, gaps in scores_by_reason.items():
        is_shared = sum(map(len, gaps.values())) == n
        tests = ALL_TESTS if is_shared else "; ".join(_name_tests(gaps, n_by_gap))
        sentences.append(f"{tests}: {reason}.")
    return sentences


def detectable(results: Sequence[SliceResult]) -> list[str]:
    """Return which change would have been seen where a test cannot tell."""
    changes = [
        result.detectable_change
        for result in results
        if result.verdict == CANNOT_TELL and isfinite(result.detectable_change)
    ]
    if not changes:
        return []
    ends = dict.fromkeys(format_number(end, _digits(end)) for end in (min(changes), max(changes)))
    return [NOT_SEEN.format(change=" to ".join(ends))]


def within(results: Sequence[SliceResult], smallest_change: float) -> list[str]:
    """Return what "at most" is judged on, where a test says it."""
    x = format_number(smallest_change, 3).rstrip("0")
    return [WITHIN.format(x=x)] if any(r.verdict == AT_MOST for r in results) else []


def reliability(results: Sequence[SliceResult]) -> list[str]:
    """Return the reliability of the gaps of all tests."""
    values = [result.reliability_y for result in results if isfinite(result.reliability_y)]
    ends = dict.fromkeys(format_number(end) for end in (min(values), max(values))) if values else ()
    return [RELIABILITY.format(values=" to ".join(ends))] if ends else []


def headline(results: Sequence[SliceResult], smallest_change: float) -> str:
    """Return the verdicts of the declared tests in a sentence a gap."""
    if not results:
        return "No test was declared before the run."
    scores_by_gap: dict[str, dict[str, list[str]]] = {}
    for (gap, score), result in zip(gap_and_score(results), results, strict=True):
        scores_by_gap.setdefault(gap, {}).setdefault(result.verdict, []).append(score)
    x = format_number(smallest_change, 3).rstrip("0")
    sentences = []
    for gap, scores_by_verdict in list(scores_by_gap.items())[:MAX_GAPS]:
        phrases = [
            phrase.format(scores=join_titles(scores_by_verdict[verdict]), x=x)
            for verdict, phrase in VERDICT_PHRASES.items()
            if verdict in scores_by_verdict
        ]
        sentences.append(f"{gap[:1].upper()}{gap[1:]}: {'; '.join(phrases)}.")
    if len(scores_by_gap) > MAX_GAPS:
        counts = Counter(result.verdict for result in results)
        names = {AT_MOST: f"{AT_MOST} {x}"}
        listed = ", ".join(
            f"{counts[word]} {names.get(word, word)}" for word in VERDICT_PHRASES if counts[word]
        )
        return f"{len(results)} tests declared before the run: {listed}."
    return " ".join(sentences)


def planted_line(points: pd.DataFrame, results: Sequence[SliceResult]) -> str:
    """Return what was planted in synthetic data, and whether the study found it; empty for real
    data.
    """
    points = points[points["status"] == "done"]
    if "True" not in as_text(points, "generated"):
        return ""
    n_claims = sum(result.verdict in (RISES, FALLS) for result in results)
    transmission = as_float(points, "transmission")
    if not np.isfinite(transmission).any():
        return "synthetic data: nothing here is evidence about the real world"
    if np.nanmax(transmission) == 0:
        made = f"{n_claims} of {len(results)} tests made one" if n_claims else "the study made none"
        return f"synthetic: nothing is planted: a claim here would be a false alarm; {made}"
    found = (
        "found it"
        if n_claims == len(results)
        else f"found it in {n_claims} of {len(results)} tests"
    )
    return f"synthetic: a link was planted; the study {found if n_claims else 'did not find it'}"


def _digits(value: float) -> int:
    """Return three digits for numbers below .1, else two."""
    return 3 if isfinite(value) and abs(value) < 0.0995 else 2
