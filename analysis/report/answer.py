"""The card on top of a page: how large gaps are, whether they follow the score, and how sure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from analysis.frame import as_text, text_rows
from analysis.gap_directions import (
    DIRECTIONS,
    SIGNS,
    describe_verdicts,
    join_titles,
    results_by_gap,
    scores_by_direction,
)
from analysis.naming import (
    CONTROL,
    GROUPS,
    ORIGINAL,
    REVERSED,
    SLICE_COLUMNS,
    capitalise,
    gap_titles,
    query_titles,
)
from analysis.report.missing_results import verdict_takes
from analysis.utility import describe_task
from analysis.verdict import INCONCLUSIVE, NEGATIVE, NEGLIGIBLE, POSITIVE
from stats.formatting import format_estimate, format_number

if TYPE_CHECKING:
    from analysis.frame import Tables
    from analysis.slice_results import SliceResult

MODIFIED = "when a model is modified, "
VERDICT_WORDS = {
    POSITIVE: "Yes",
    NEGATIVE: "The other way round",
    NEGLIGIBLE: "No",
    INCONCLUSIVE: "Undecided",
}
VERDICT_PHRASES = {
    POSITIVE: "rises with the score",
    NEGATIVE: "falls as the score rises",
    NEGLIGIBLE: "hardly follows the score",
}
SIZES = "How large are the gaps without any modification?"
FOLLOWS = "Does the gap follow the score?"
TRUST = "How far can this be trusted?"
R_RM = (
    "the correlation of score and gap among models with the same unmodified parent, from -1 to 1;"
    " in brackets its 95% interval."
)
SYNTHETIC = "The data are synthetic: nothing here is evidence about the real world."
MAX_TESTS = 4  # named in one sentence
MAX_LINES = 8  # of one kind; the tables below the card have all
Line = tuple[str, str]  # subject, which may be empty, and sentence


class Card(NamedTuple):
    """The ``headline``, and the lines that answer each question."""

    headline: str
    parts: dict[str, Sequence[Line]]


def answer_card(slice_results: Sequence[SliceResult], tables: Tables, utility: str) -> Card:
    """Write the card of a study: the verdicts of confirmatory slices, and every measured gap.

    ``tables`` are typed.
    """
    confirmatory = [result for result in slice_results if result.confirmatory]
    headline = "Undecided: no test was declared before the run."
    if confirmatory:
        headline = _headline(confirmatory)
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    return Card(
        " ".join([headline, *_opposite_gaps(slice_results)]),
        {
            SIZES: unmodified_gaps(tables, utility),
            FOLLOWS: [*_truncate(_directions(slice_results)), *_terms(gaps, slice_results)],
            TRUST: _trust(confirmatory, tables),
        },
    )


def missing_results_card(
    missing_scores: Sequence[str], missing_gaps: Sequence[str], tables: Tables, utility: str
) -> Card:
    """Write the card of a study in which no model has a score and a gap.

    The reasons are those of ``scores_lacking`` and ``gaps_lacking``.
    """
    sentences = [
        f"No {side} is available: {'; '.join(reasons)}."
        for side, reasons in (("score", missing_scores), ("gap", missing_gaps))
        if reasons
    ]
    headline, *others = [*sentences, "There is nothing to compare."]
    lines = [("", sentence) for sentence in others]
    return Card(headline, {SIZES: unmodified_gaps(tables, utility), FOLLOWS: lines})


def unmodified_gaps(tables: Tables, utility: str) -> list[Line]:
    """Describe each gap over the unmodified models, and the performance on the task.

    ``precision gap``, ``worse for female by .09 on average, from .01 to .17 in 10 models``.
    """
    points = tables.points
    is_unmodified = (points["status"] == "done") & points["label_method"].isin(["", CONTROL])
    points = points[is_unmodified & (points["method"] == CONTROL)]
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"].dropna(subset="value")
    gaps = gaps.assign(title=gap_titles(gaps)).merge(points[["point", "unit_key"]], on="point")
    model = gaps["unit_key"].where(gaps["unit_key"] != "", gaps["point"])
    has_several_tasks = len({*gaps["task"]}) > 1
    lines = []
    for (task, title), part in gaps.groupby(["task", "title"], sort=False):
        means = part.groupby(model, sort=False)["value"].mean()
        name = f"{task} {title}" if has_several_tasks else str(title)
        lines.append((capitalise(name), _size(means.tolist(), *text_rows(part, GROUPS)[0])))
    gap_lines = _truncate(lines) or [("", "No unmodified model has a gap.")]
    return [*gap_lines, *(("", sentence) for sentence in describe_task(tables, utility))]


def _size(values: Sequence[float], privileged: str, unprivileged: str) -> str:
    """Format ``worse for female by .09 on average, from .01 to .17 in 10 models``."""

    def describe(value: float) -> str:
        size = format_number(abs(value))
        worse = unprivileged if value > 0 else privileged
        return f"worse for {worse} by {size}" if float(size) else "no difference"

    if len(values) == 1:
        return f"{describe(values[0])}, in 1 model"
    mean, low, high = sum(values) / len(values), min(values), max(values)
    if low < 0 < high:
        ends = f"{describe(low)} to {describe(high)}"
    else:
        ends = " to ".join(format_number(end) for end in sorted((abs(low), abs(high))))
    return f"{describe(mean)} on average, from {ends} in {len(values)} models"


def _directions(slice_results: Sequence[SliceResult]) -> list[Line]:
    """Say for each gap how it follows the scores.

    ``precision gap``, ``rises with WEAT 6b, 7: r_rm .94 to .96 [.89,.98] ...``.
    """
    lines = []
    for gap, scores in results_by_gap(slice_results).items():
        phrases = [
            f"{direction} {join_titles(names)}" + _r_rm([scores[name] for name in names])
            for direction, names in scores_by_direction(scores).items()
        ]
        verdicts = describe_verdicts(scores)
        declared = f"declared before the run: {verdicts}" if verdicts else "not declared"
        lines.append((capitalise(gap), f"{'; '.join(phrases)} ({declared})"))
    return lines


def _terms(gaps: pd.DataFrame, slice_results: Sequence[SliceResult]) -> list[Line]:
    """Explain r_rm and, for two groups, what a rising gap means."""
    lines = [("r_rm", R_RM)]
    pairs = set(text_rows(gaps, GROUPS))
    if len(pairs) == 1:
        privileged, unprivileged = pairs.pop()
        rises = f"the larger the score, the worse for {unprivileged} compared with {privileged}"
        lines.insert(0, ("Rises", f"{rises}; falls: the opposite."))
    if any(result.reverse_scored for result in slice_results):
        lines.append(("Sign reversed", f"of such a score {REVERSED}, so that -score is compared."))
    return lines


def _r_rm(slice_results: Sequence[SliceResult]) -> str:
    """Format r_rm and its interval; of several scores the range of r_rm and of the intervals."""
    correlations = [result.within for result in slice_results if isfinite(result.within.r)]
    if len(correlations) < 2:
        return f": r_rm {format_estimate(*correlations[0].interval)}" if correlations else ""
    smallest, largest = (format_number(end(r.r for r in correlations)) for end in (min, max))
    low, high = min(r.low for r in correlations), max(r.high for r in correlations)
    r_range = smallest if smallest == largest else f"{smallest} to {largest}"
    return f": r_rm {r_range}" + (
        f", intervals within [{format_number(low)},{format_number(high)}]"
        if isfinite(low + high)
        else ""
    )


def _trust(confirmatory: Sequence[SliceResult], tables: Tables) -> list[Line]:
    lines = [("", sentence) for sentence in _verdicts(confirmatory)]
    if any(result.n_conditions for result in confirmatory):
        lines.append(("Conditions", f"{'; '.join(_conditions(tables.points))}."))
    if confirmatory and (shortage := verdict_takes(confirmatory)):
        lines.append(("", shortage))
    lost = _names_by_text(confirmatory, [result.lost_models for result in confirmatory])
    lines += [
        ("Without a score or a gap", f"{models} ({names}).") for models, names in lost.items()
    ]
    if confirmatory and not lost:
        lines.append(("", "Every model has a score and a gap."))
    if "True" in as_text(tables.points, "generated"):
        lines.append(("", SYNTHETIC))
    return lines


def _conditions(points: pd.DataFrame) -> list[str]:
    done = points[points["status"] == "done"]
    rows = text_rows(done, ("method", "direction", "dose"))
    labels = [
        ORIGINAL if method == CONTROL else f"{method} {direction} {float(dose or 'nan'):g}"
        for method, direction, dose in rows
    ]
    conditions = list(dict.fromkeys(labels))
    n_hidden = len(conditions) - MAX_LINES
    word_lists = {
        name
        for (method, *_), name in zip(rows, as_text(done, "wordset"), strict=True)
        if method != CONTROL
    }
    return [
        *conditions[:MAX_LINES],
        *([f"and {n_hidden} more"] if n_hidden > 0 else []),
        *([f"with {len(word_lists)} lists of words"] if len(word_lists) > 1 else []),
    ]


def _opposite_gaps(slice_results: Sequence[SliceResult]) -> list[str]:
    """Name the undeclared gaps that go the opposite way, if all declared ones agree."""
    verdicts = {result.verdict for result in slice_results if result.confirmatory}
    sign = SIGNS.get(next(iter(verdicts), ""), 0)
    if len(verdicts) != 1 or not sign:
        return []
    declared, opposite = DIRECTIONS[sign], DIRECTIONS[-sign]
    gaps = [
        gap
        for gap, scores in results_by_gap(slice_results).items()
        if not describe_verdicts(scores)
        and opposite in (directions := scores_by_direction(scores))
        and declared not in directions
    ]
    verb = "goes" if len(gaps) == 1 else "go"
    return [f"The {' and the '.join(gaps)} {verb} the other way."] if gaps else []


def _headline(confirmatory: Sequence[SliceResult]) -> str:
    n_tests = len(confirmatory)
    when = MODIFIED if any(result.n_conditions for result in confirmatory) else ""
    verdicts = Counter(result.verdict for result in confirmatory)
    gap = _gap_of(confirmatory)
    tests = ("test" if n_tests == 1 else "tests") + " declared before the run"
    if len(verdicts) > 1:
        phrases = [
            f"{phrase} in {verdicts[name]}"
            for name, phrase in VERDICT_PHRASES.items()
            if verdicts[name]
        ]
        joined = " and ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1])))
        n_open = verdicts[INCONCLUSIVE]
        inconclusive = f"; {n_open} {'is' if n_open == 1 else 'are'} inconclusive" if n_open else ""
        return f"It depends: {when}{gap} {joined} of {n_tests} {tests}{inconclusive}."
    verdict = confirmatory[0].verdict
    scope = f"all {n_tests} {tests}" if n_tests > 1 else f"the {tests}"
    if verdict == INCONCLUSIVE:
        question = f"whether {gap} rises with the score {when.rstrip(', ')}".rstrip()
        scope = f"any of {n_tests} {tests}" if n_tests > 1 else scope
        return f"{VERDICT_WORDS[verdict]}: these models do not show {question}, in {scope}."
    return f"{VERDICT_WORDS[verdict]}: {when}{gap} {VERDICT_PHRASES[verdict]}, in {scope}."


def _gap_of(confirmatory: Sequence[SliceResult]) -> str:
    gaps = set(gap_titles(_slice_columns(confirmatory)))
    return f"the {gaps.pop()}" if len(gaps) == 1 else "the gap"


def _slice_columns(slice_results: Sequence[SliceResult]) -> pd.DataFrame:
    return pd.DataFrame([result.names for result in slice_results], columns=list(SLICE_COLUMNS))


def _verdicts(confirmatory: Sequence[SliceResult]) -> list[str]:
    reasons = _names_by_text(confirmatory, [result.why for result in confirmatory])
    if len(reasons) == 1:
        return [f"{capitalise(next(iter(reasons)))}."]
    lines = [f"{names}: {reason}." for reason, names in reasons.items()]
    ending = f"And {len(lines) - MAX_LINES} more, in the table below."
    return [*lines[:MAX_LINES], *([ending] if len(lines) > MAX_LINES else [])]


def _names_by_text(
    slice_results: Sequence[SliceResult], sentences: Sequence[str]
) -> dict[str, str]:
    """Join the names of the slices with the same sentence; leave out empty ones."""
    names_by_text: dict[str, list[str]] = {}
    for name, text in zip(_slice_names(slice_results), sentences, strict=True):
        names_by_text.setdefault(text, []).append(name)
    return {text: _first_tests(names) for text, names in names_by_text.items() if text}


def _first_tests(names: Sequence[str]) -> str:
    ending = f" and {len(names) - MAX_TESTS} more" if len(names) > MAX_TESTS else ""
    return "; ".join(names[:MAX_TESTS]) + ending


def _truncate(lines: Sequence[Line]) -> list[Line]:
    ending = ("", f"And {len(lines) - MAX_LINES} more, in the tables below.")
    return [*lines[:MAX_LINES], *([ending] if len(lines) > MAX_LINES else [])]


def _slice_names(slice_results: Sequence[SliceResult]) -> list[str]:
    """Name each slice by what differs between them: ``WEAT 6b, recall gap``."""
    table = _slice_columns(slice_results)
    keys = ("task", "embedding", "metric", "convention", "method")
    varying = [name for name in keys if len({*table[name]}) > 1]
    parts = zip(
        *(table[name] for name in varying), query_titles(table), gap_titles(table), strict=True
    )
    return [", ".join(filter(None, part)) for part in parts]
