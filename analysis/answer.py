"""The answer of a study as rows, the same on the terminal, on the page and in TeX: for every
declared gap what the modifications did to it, then what goes with a score, each with a verdict; and
a sentence on what it holds for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasbridge.analysis.joined import describe_task
from biasbridge.analysis.naming import (
    ALL,
    CONTROL,
    FAMILY,
    GAP,
    REVERSED_SIGN,
    SCORE,
    SLICE_COLUMNS,
    describe_taggers,
    gap_titles,
    group_mismatch_of,
    group_pairs,
    row_names,
    score_titles,
    shown_columns,
    with_count,
)
from biasbridge.analysis.printing import p_value, print_lines, print_table
from biasbridge.analysis.scopes import DOSES, MINIMUM, SEEDS
from biasbridge.analysis.slices import digits_of, pearson
from biasbridge.analysis.verdict import (
    AT_MOST,
    CANNOT_TELL,
    FALLS,
    MOVED,
    NO,
    RISES,
    TOO_FEW,
    UNTOLD,
    YES,
    judge_change,
    judge_gap,
)
from biasbridge.files.choice import METRICS, choice_classes
from biasbridge.files.columns import as_float, as_text, text_rows
from biasbridge.files.paths import HOME
from biasbridge.stats.formatting import NOTHING, capitalise, format_estimate, format_number
from biasbridge.stats.intervals import ALPHA

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.condition_effects import GapEffects
    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.analysis.tables import Tables


SCORE_HEADING, SCORE_RANGE = "full dose; score", "from, to"
_ALL_TESTS = "all tests"
CHANGE_HEADING, VERDICT_HEADING = "change [95%]", "verdict"
_NOT_SEEN = (
    "Where a test cannot tell, four of five studies like this one would detect a change of about"
    " {change}."
)
_SHOWN_SCOPES = (DOSES, SEEDS)  # scopes.csv has all
_VERDICT_PHRASES = {
    RISES: "it rises with {scores}{side}",
    FALLS: "it falls with {scores}{side}",
    UNTOLD: "{scores} {verb} not tell it",
    AT_MOST: "what goes with {scores} is at most {x}",
    CANNOT_TELL: "{scores} cannot be judged",
}
_DIRECTION_NAMES = {"debias": "debiasing", "overbias": "overbiasing"}
_MODIFICATIONS_SHOWN = 4  # of a gap; effects.csv has all
_ONE_SCORE = 0.95  # r over conditions beyond which scores count as one
_MAX_GAPS = 4  # named in the headline
PEARSON = "Pearson's r"
R_RM = "r_rm, repeated-measures correlation within parents"
HOLM = "p (adjusted)"
_LINE_WIDTH = 80
TESTS, GAPS = 12, 4  # shown; the tables hold all


def declared(results: Sequence[SliceResult]) -> list[SliceResult]:
    """Return the slices that were declared before the run, those of a user's own metrics first:
    where few are shown, these are.
    """
    known = {each.name for each in choice_classes(HOME, METRICS)}
    tests = [result for result in results if result.confirmatory]
    return sorted(tests, key=lambda result: result.names["metric"] in known)


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
    """Return by gap the rows of what modifications did to it, from the gap before to that after,
    then a row per score: its range, the change and the verdict; ``further``: cells after these.

    Scores that are one over the conditions share a row.
    """
    rows_by_gap: dict[str, list[dict[str, str]]] = {}
    for gap, titled in _by_gap(results).items():
        first = max((result for _, result in titled), key=lambda result: result.n)
        rows = [
            row | dict.fromkeys(further(first), "")
            for row in effect_rows(first.effects, first.gap_unmodified, smallest_change)
        ]
        for titles, result in _distinct_scores(titled):
            ends = sorted((result.sign * result.score_low, result.sign * result.score_high))
            cells = {
                SCORE_HEADING: _join_titles(titles) + " (one score)" * (len(titles) > 1),
                SCORE_RANGE: " to ".join(map(format_number, ends)),
                CHANGE_HEADING: format_change(result),
                VERDICT_HEADING: name_verdict(result, smallest_change),
            }
            rows.append(cells | further(result))
        before = first.gap_unmodified
        heading = gap
        if isfinite(before) and not first.effects.full:
            heading += f", {format_number(before, digits_of(before))} in the unmodified models"
        rows_by_gap[heading] = rows
    return rows_by_gap


def effect_rows(
    effects: GapEffects, unmodified: float, smallest_change: float
) -> list[dict[str, str]]:
    """Return a row per method and direction at its full dose, those of the largest bounds, and one
    for all modifications.
    """
    by_bound = sorted(effects.full, key=lambda x: -np.nan_to_num(x.change.bound, nan=np.inf))
    shown = by_bound[:_MODIFICATIONS_SHOWN]
    rows = []
    for effect in (effect for effect in effects.full if effect in shown):
        value, low, high = effect.change.interval
        ends = (unmodified, unmodified + value)
        direction = _DIRECTION_NAMES.get(effect.direction, effect.direction or "modification")
        word = judge_change(effect.change, effect.p_holm, smallest_change)
        rows.append(
            {
                SCORE_HEADING: f"{direction} ({effect.method})",
                SCORE_RANGE: " to ".join(format_number(end, 3) for end in ends),
                CHANGE_HEADING: format_estimate(value, low, high, digits=3, sign="+"),
                VERDICT_HEADING: _with_size(word, smallest_change),
            }
        )
    if len(effects.conditions) > len(rows) > 0:
        word, _ = judge_gap(effects, smallest_change)
        bound = f"up to {format_number(effects.bound, 3)}" if isfinite(effects.bound) else NOTHING
        rows.append(
            {
                SCORE_HEADING: f"all {len(effects.conditions)} modifications",
                SCORE_RANGE: "",
                CHANGE_HEADING: bound,
                VERDICT_HEADING: _with_size(word, smallest_change),
            }
        )
    return rows


def _by_gap(results: Sequence[SliceResult]) -> dict[str, list[tuple[str, SliceResult]]]:
    """Return the titles of scores and the results of each gap."""
    titled: dict[str, list[tuple[str, SliceResult]]] = {}
    for (gap, score), result in zip(gap_and_score(results), results, strict=True):
        titled.setdefault(gap, []).append((score, result))
    return titled


def _distinct_scores(
    titled: Sequence[tuple[str, SliceResult]],
) -> list[tuple[list[str], SliceResult]]:
    """Return the results with their titles; those with one verdict whose scores are one, once."""
    distinct: list[tuple[list[str], SliceResult]] = []
    for title, result in titled:
        for titles, other in distinct:
            if result.verdict == other.verdict and _are_one_score(result, other):
                titles.append(title)
                break
        else:
            distinct.append(([title], result))
    return distinct


def _are_one_score(a: SliceResult, b: SliceResult) -> bool:
    shared = [name for name in a.condition_scores if name in b.condition_scores]
    x, y = (
        np.array([scores[name] for name in shared])
        for scores in (a.condition_scores, b.condition_scores)
    )
    return len(shared) >= MINIMUM[DOSES] and pearson(x, y) > _ONE_SCORE


def format_change(result: SliceResult) -> str:
    """Format the change with its interval: ``+.027 [.016,.040]``."""
    return format_estimate(*result.change, digits=digits_of(result.change.value), sign="+")


def name_verdict(result: SliceResult, smallest_change: float) -> str:
    """Return the verdict in words: ``rises``, ``at most .02``, ``does not tell``."""
    return _with_size(result.verdict, smallest_change)


def _with_size(word: str, smallest_change: float) -> str:
    return f"{word} {format_number(smallest_change, 3).rstrip('0')}" if word == AT_MOST else word


def scope_lines(results: Sequence[SliceResult], points: pd.DataFrame | None = None) -> list[str]:
    """Return for what the verdicts hold, a sentence for all tests that share it.

    Models that a run of ``points`` found ready have no seed: they are called models.
    """
    if not results:
        return []
    are_given = points is not None and not any(as_text(points, "corpus_key"))
    titles = {SEEDS: "other models"} if are_given else {}
    claims = [result for result in results if result.verdict in (RISES, FALLS)]
    tests_by_scopes: dict[str, dict[str, list[str]]] = {}
    for gap, titled in _by_gap(claims).items():
        for names, result in _distinct_scores(titled):
            held = "; ".join(
                f"{titles.get(scope, scope)}: {name_scope(result, scope)}"
                for scope in _SHOWN_SCOPES
                if scope in result.scopes
            )
            tests_by_scopes.setdefault(held, {}).setdefault(gap, []).extend(names)
    n_by_gap = Counter(gap for gap, _ in gap_and_score(claims))
    first = "For these methods, lists and corpora"
    if len(tests_by_scopes) < 2:
        return [f"{'; '.join([first, *filter(None, tests_by_scopes)])}."]
    named = (
        f"{'; '.join(_name_tests(gaps, n_by_gap))}: {held}."
        for held, gaps in tests_by_scopes.items()
    )
    return [f"{first}.", *named]


def _name_tests(
    scores_by_gap: Mapping[str, Sequence[str]], n_by_gap: Mapping[str, int]
) -> list[str]:
    """Return ``recall gap, WEAT 6b, 7`` for each gap; without scores where they are all."""
    return [
        gap if len(scores) == n_by_gap[gap] > 1 else f"{gap}, {_join_titles(scores)}"
        for gap, scores in scores_by_gap.items()
    ]


def name_scope(result: SliceResult, scope: str) -> str:
    """Return shown, not shown, or how many there are of how many needed."""
    word = result.holds.get(scope, NOTHING)
    if word != TOO_FEW:
        return {YES: "shown", NO: "not shown"}.get(word, word)
    n = result.scopes[scope].n
    return f"not testable ({n} of {MINIMUM[scope]})" if n < MINIMUM[scope] else "not testable"


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
        tests = _ALL_TESTS if is_shared else "; ".join(_name_tests(gaps, n_by_gap))
        sentences.append(f"{tests}: {reason}.")
    return sentences


def detectable(results: Sequence[SliceResult], smallest_change: float) -> list[str]:
    """Return which change would have been seen where a test cannot tell."""
    changes = [
        result.detectable_change
        for result in results
        if result.verdict == CANNOT_TELL
        and isfinite(result.detectable_change)
        and not result.nonlinear.change > smallest_change  # more data would not change that
    ]
    if not changes:
        return []
    ends = dict.fromkeys(format_number(end, digits_of(end)) for end in (min(changes), max(changes)))
    change = " to ".join(ends) + ", depending on the test" * (len(ends) > 1)
    return [_NOT_SEEN.format(change=change)]


def _headline(results: Sequence[SliceResult], smallest_change: float) -> list[str]:
    """Return a line a gap: what the modifications did to it, and what goes with the scores."""
    if not results:
        return ["No test was declared before the run."]
    lines = []
    x = format_number(smallest_change, 3).rstrip("0")
    for gap, titled in _by_gap(results).items():
        by_verdict: dict[str, dict[str, SliceResult]] = {}
        for score, result in titled:
            by_verdict.setdefault(result.verdict, {})[score] = result
        first = max((result for _, result in titled), key=lambda result: result.n)
        phrases = [
            phrase.format(
                scores=_join_titles([*found]),
                x=x,
                verb="do" if len(found) > 1 else "does",
                side=_side_of_0(next(iter(found.values()))),
            )
            for verdict, phrase in _VERDICT_PHRASES.items()
            if (found := by_verdict.get(verdict))
        ]
        lines.append(f"{capitalise(gap)}: {'; '.join([*_effect_phrase(first, x), *phrases])}.")
    more = _more_line(len(lines) - _MAX_GAPS, "gap", "gaps.csv")
    return [*lines[:_MAX_GAPS], *more]


def _side_of_0(result: SliceResult) -> str:
    """Return whether the gap goes away from 0 or towards it as the score rises."""
    line = result.line
    ends = sorted((result.sign * result.score_low, result.sign * result.score_high))
    low, high = (line.y + line.slope * (end - line.x) for end in ends)
    if not low * high > 0:
        return ""
    return ", away from 0" if abs(high) > abs(low) else ", towards 0"


def _effect_phrase(result: SliceResult, x: str) -> Iterable[str]:
    """Yield what the modifications did to the gap."""
    effects = result.effects
    n = with_count(len(effects.conditions), "modification")
    if result.gap_verdict == AT_MOST:
        yield f"no modification of {len(effects.conditions)} changes it by more than {x}"
    elif result.gap_verdict == MOVED and (effect := effects.named):
        n_moved = sum(effect.p_holm < ALPHA for effect in effects.conditions)
        change = format_estimate(*effect.change.interval, digits=3, sign="+")
        yield f"{n_moved} of {n} move it, {effect.condition} by {change}"
    elif result.gap_why:
        yield result.gap_why
    elif result.gap_verdict == CANNOT_TELL:
        yield f"{n} may change it by up to {format_number(effects.bound, 3)}"


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
        return "Synthetic data: nothing here is evidence about the real world."
    if np.nanmax(transmission) == 0:
        made = f"{n_claims} of {len(results)} tests" if n_claims else "No test"
        return (
            "Synthetic data, no link planted: a claim here would be a false alarm."
            f" {made} made a claim."
        )
    found = (
        "found it"
        if n_claims == len(results)
        else f"found it in {n_claims} of {len(results)} tests"
    )
    return (
        f"Synthetic data with a planted link: the study {found if n_claims else 'did not find it'}."
    )


def _join_titles(names: Sequence[str]) -> str:
    """Join titles, a shared first word once: ``WEAT 6b, 7, 8``."""
    first, _, remainder = names[0].partition(" ")
    if remainder and all(name.startswith(f"{first} ") for name in names):
        return f"{first} {', '.join(name.removeprefix(f'{first} ') for name in names)}"
    return ", ".join(names)


# The slices of a study or a table on the terminal: a line each, verdicts, and a line a gap.


def print_slices(results: Sequence[SliceResult], title: str, console: Console) -> None:
    """Print the slices of ``correlate``, one line each, then verdicts and notes."""
    names, is_mixed = list(results[0].names), not all(result.confirmatory for result in results)
    rows = [result.names | describe_slice(result, alone=is_mixed) for result in results]
    if not any(result.confirmatory for result in results):
        rows = [{name: cell for name, cell in row.items() if name != HOLM} for row in rows]
    shared_names = [name for name in names if len({row[name] for row in rows}) == 1 < len(rows)]
    shared = [f"{name} {rows[0][name]}" for name in shared_names if rows[0][name]]
    rows = [{name: row[name] for name in row if name not in shared_names} for row in rows]
    heading = "; ".join(
        [f"{title}: {R_RM}", *([f"of all rows: {', '.join(shared)}"] * bool(shared))]
    )
    print_table(heading, rows, console, left_aligned=names)
    why = [result.why if result.confirmatory else "" for result in results]
    _print_grouped(results, names, why, console)
    _print_grouped(results, names, [result.note for result in results], console, note=True)


def print_correlations(results: Sequence[SliceResult], console: Console) -> None:
    """Print r_rm of the confirmatory slices of ``correlate_slices``, one table per task,
    classifier, metric and convention.
    """
    confirmatory = [result for result in results if result.confirmatory]
    names = pd.DataFrame([result.names for result in confirmatory], columns=list(SLICE_COLUMNS))
    headings = row_names(names, FAMILY, ", ") if confirmatory else []
    varying_names = [name for name in ("embedding", "method") if len(set(names[name])) > 1]
    columns = [*varying_names, *shown_columns(names, (*SCORE[2:], *GAP))]
    for heading in dict.fromkeys(headings):
        family = [
            result
            for result, row_heading in zip(confirmatory, headings, strict=True)
            if row_heading == heading
        ]
        rows = [
            {name: result.names[name] for name in columns} | describe_slice(result)
            for result in family
        ]
        synthetic = ", synthetic data" if any(result.synthetic for result in family) else ""
        print_table(f"{heading}: {R_RM}{synthetic}", rows, console)
        print_lines(reasons(family), console)
    print_lines(describe_taggers(result.group_by for result in confirmatory), console)


def count_models(result: SliceResult) -> str:
    """Return the number of models; ``44 as 22`` where seeds of a corpus are averaged."""
    averaged = f" as {result.within.n}" if result.within.n < result.n else ""
    return f"{result.n}{averaged}"


def describe_slice(result: SliceResult, *, alone: bool = False) -> dict[str, str]:
    """Return the cells of a slice; ``alone``: with its unadjusted p."""
    within = result.within
    counts = (
        str(number) if number else NOTHING for number in (result.n_parents, result.n_conditions)
    )
    return {
        "models / parents / conditions": " / ".join((count_models(result), *counts)),
        CHANGE_HEADING: format_change(result),
        VERDICT_HEADING: result.verdict,
        "r_rm [95%]": format_estimate(*within.interval),
        PEARSON: format_number(result.r_pearson),
        **({"p": p_value(within.p)} if alone else {}),
        HOLM: p_value(result.p_holm),
        "lost": str(result.lost),
    }


def _print_grouped(
    results: Sequence[SliceResult],
    columns: Sequence[str],
    texts: Sequence[str],
    console: Console,
    *,
    note: bool = False,
) -> None:
    """Print one line per distinct text, with the names of all slices that share it."""
    names_by_text: dict[str, list[str]] = {}
    for result, text in zip(results, texts, strict=True):
        if text:
            name = " ".join(filter(None, (result.names[name] for name in columns))) or "all"
            names_by_text.setdefault(text, []).append(name)
    lines = (f"{', '.join(slice_names)}: {text}" for text, slice_names in names_by_text.items())
    print_lines(lines, console)


# The answer of a study on the terminal, in 25 lines of 80 columns.


def print_answer(
    tables: Tables, results: Sequence[SliceResult], declaration: Declaration, console: Console
) -> None:
    """Print what was found, for what it holds, and what limits it."""
    tests = declared(results)
    opening = [*headlines(tables, results, declaration), *opening_lines(tables, results)]
    print_lines(_wrap_all(opening), console)
    if tests:
        print_lines([""], console)
        shown = tests[:TESTS]
        for gap, rows in change_rows(shown, declaration.smallest_change).items():
            print_table(gap, rows, console, left_aligned=(SCORE_HEADING, VERDICT_HEADING))
        print_lines(_more_line(len(tests) - TESTS, "test", "correlations.csv"), console)
        print_lines([""], console)
    print_lines(_wrap_all(closing_lines(tables, results, declaration)), console)


def headlines(
    tables: Tables, results: Sequence[SliceResult], declaration: Declaration
) -> list[str]:
    """Return what was planted, and a line a gap: what changed it, and what goes with scores."""
    tests = declared(results)
    planted = planted_line(tables.points, tests)
    return [*([planted] if planted else []), *_headline(tests, declaration.smallest_change)]


def opening_lines(tables: Tables, results: Sequence[SliceResult]) -> list[str]:
    """Return the models, and the sign of a gap."""
    mismatch = group_mismatch_of(tables.points, tables.extrinsic)
    return list(filter(None, [*_run_line(tables, results), mismatch, *_sign_line(tables)]))


def closing_lines(
    tables: Tables, results: Sequence[SliceResult], declaration: Declaration
) -> list[str]:
    """Return what comes after the tables: what limits the verdicts, and what was not declared."""
    tests = declared(results)
    lines = [*scope_lines(tests, tables.points), *reasons(tests)]
    lines += [*detectable(tests, declaration.smallest_change), *_exploratory_lines(results)]
    return [*lines, *describe_task(tables, declaration.utility), *_missing_values(tables)]


def _sign_line(tables: Tables) -> Iterable[str]:
    pairs = dict.fromkeys(group_pairs(tables.extrinsic[tables.extrinsic["kind"] == "gap"]))
    for pair in list(pairs)[:1]:
        minuend, _, subtrahend = pair.partition(" - ")
        errors = f", for error rates {subtrahend} - {minuend}" if subtrahend else ""
        yield f"gap: {pair}{errors}. Above 0: worse for {subtrahend or pair}."


def _exploratory_lines(results: Sequence[SliceResult]) -> list[str]:
    """Return r_rm of the gaps that were not declared, with scores over all embeddings and methods:
    no verdict.
    """
    pooled = [
        result
        for result in results
        if not result.confirmatory
        and result.names["embedding"] == result.names["method"] == ALL
        and result.names["query"] != ALL
        and isfinite(result.within.r)
    ]
    parts = []
    for gap, titled in _by_gap(pooled).items():
        values = [result.within.r for _, result in titled]
        ends = dict.fromkeys(map(format_number, (min(values), max(values))))
        parts.append(f"{gap} {' to '.join(ends)}")
    more = f" and {with_count(len(parts) - GAPS, 'gap')} more" if len(parts) > GAPS else ""
    return [f"Exploratory, r_rm with the scores: {', '.join(parts[:GAPS])}{more}."] if parts else []


def _wrap_all(lines: Iterable[str]) -> list[str]:
    """Wrap lines at ``WIDTH``."""
    return [part for line in lines for part in wrap(line, _LINE_WIDTH, subsequent_indent="  ")]


def _missing_values(tables: Tables) -> Iterable[str]:
    """Yield each gap with missing values: at how many points, and the first reason."""
    gaps = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    titled = gaps.assign(title=gap_titles(gaps))
    for (_, title), rows in titled.groupby(["task", "title"], sort=False):
        missing = rows[rows["value"].isna()]
        if len(missing):
            n_missing = f"{len(missing)} of {len(rows)}"
            reason = missing["reason"].iloc[0]
            yield f"{capitalise(str(title))}: no value at {n_missing} points. Example: {reason}."


def _run_line(tables: Tables, results: Sequence[SliceResult]) -> list[str]:
    points = tables.points[tables.points["status"] == "done"]
    largest = max(results, key=lambda result: result.n, default=None)
    methods = [name for name in dict.fromkeys(as_text(points, "method")) if name != CONTROL]
    done_note = f" of {len(tables.points)} points done" if len(points) < len(tables.points) else ""
    models = f"{len(points)}{done_note}, " if done_note else ""
    models += with_count(len({*as_text(points, "unit_key")}), "model")
    embeddings = ", ".join(dict.fromkeys(as_text(points, "embedding")))
    models += f" ({embeddings})" if embeddings else ""
    if largest is not None and largest.n_parents > 0:
        parents = f"parent{'s' * (largest.n_parents > 1)}"
        models += f": {largest.n_parents} unmodified ({parents})"
        return [f"{models}, others by {', '.join(methods)}" if methods else models]
    return ["; ".join(filter(None, [models, ", ".join(methods)]))]


def _more_line(hidden: int, noun: str, table: str) -> Iterable[str]:
    return [f"and {with_count(hidden, noun)} more in {table}"] if hidden > 0 else []
