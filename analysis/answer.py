"""The claims of a study in words and tables, the same on the terminal, on the page and in TeX: for
every declared gap what the modifications did to it, then what goes with a score; a sentence on what
it holds for, and what limits it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasbridge.analysis.claims import declared, study_claims
from biasbridge.analysis.joined import TASK_SETTINGS, TRAINING_DRAWS, keep_varying_options
from biasbridge.analysis.naming import (
    ALL,
    CONTROL,
    GAP,
    ORIGINAL,
    REVERSED,
    describe_taggers,
    gap_titles,
    group_mismatch_of,
    group_pairs,
    measure_title,
    with_count,
)
from biasbridge.analysis.scopes import DOSES, MINIMUM, SEEDS
from biasbridge.analysis.slice_documents import (
    CHANGE_HEADING,
    HOLM,
    MODELS_HEADING,
    PEARSON,
    R_RM_HEADING,
    VERDICT_HEADING,
    describe_slice,
    format_change,
    join_titles,
    name_tests,
    reasons,
)
from biasbridge.analysis.slices import digits_of, gap_and_score, pearson
from biasbridge.analysis.tables import typed
from biasbridge.analysis.verdicts import (
    AT_MOST,
    CANNOT_TELL,
    FALLS,
    MOVED,
    NO,
    RISES,
    TOO_FEW,
    UNTOLD,
    VERDICTS,
    YES,
)
from biasbridge.files.columns import as_float, as_text
from biasbridge.files.writers import (
    Document,
    TextTable,
    format_document,
    print_document,
    print_lines,
)
from biasbridge.stats.formatting import NOTHING, capitalise, format_estimate, format_number
from biasbridge.stats.intervals import ALPHA

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.claims import Claim, GapClaims
    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.analysis.tables import Tables

SCORE_HEADING, SCORE_RANGE = "largest dose; score", "from, to"
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
_MODIFICATIONS_SHOWN = 4  # of a gap; effects.csv has all
_ONE_SCORE = 0.95  # r over conditions beyond which scores count as one
_MAX_GAPS = 4  # named in the headline
_LINE_WIDTH = 80
TESTS, GAPS = 12, 4  # shown; the tables hold all
_READ = (
    "Change of the gap over the range of the score. r_rm: repeated-measures correlation within"
    " parents. p: adjusted over these tests."
)
_SYNTHETIC = " Synthetic data: no evidence about the world."


def study_answer(
    tables: Tables, results: Sequence[SliceResult], declaration: Declaration
) -> Document:
    """Put the claims on the declared slices into words, and what must be known beside them."""
    tests = declared(results)
    claims = study_claims(tests)
    mismatch = group_mismatch_of(tables.points, tables.extrinsic)
    notes = [*scope_lines(claims, tables.points), *reasons(tests), *detectable(tests)]
    notes += [*_exploratory_lines(results), *describe_task(tables, declaration.utility)]
    return Document(
        [*_planted_lines(tables.points, tests), *headlines(claims)],
        [*_run_line(tables, results), *filter(None, [mismatch]), *_sign_line(tables)],
        change_tables(claims),
        [*notes, *_missing_values(tables)],
    )


def print_answer(
    tables: Tables, results: Sequence[SliceResult], declaration: Declaration, console: Console
) -> None:
    """Print an answer in 25 lines of 80 columns: the changes of the first tests."""
    answer, tests = study_answer(tables, results, declaration), declared(results)
    shown = change_tables(study_claims(tests[:TESTS]))
    more = _more_line(len(tests) - TESTS, "test", "correlations.csv")
    print_lines(_wrap_all([*answer.first, *answer.lines]), console)
    print_document(Document([""] * bool(tests), (), shown, more), console, ruled=False)
    print_lines([*[""] * bool(tests), *_wrap_all(answer.notes)], console)


def correlations_tex(results: Sequence[SliceResult], points: pd.DataFrame | None = None) -> str:
    """Format the declared tests as a LaTeX ``table`` for each gap (needs ``booktabs``); ``points``:
    as in ``scope_lines``.
    """
    tests = declared(results)
    claims = study_claims(tests)
    reverse_scored = dict.fromkeys(x.names["metric"] for x in tests if x.reverse_scored)
    lines = [*describe_taggers(result.group_by for result in tests)]
    lines += [f"{metric}: reverse-scored, {REVERSED}" for metric in reverse_scored]
    read = _READ + _SYNTHETIC * any(result.synthetic for result in tests)
    tables = change_tables(claims, _further_cells)
    tables = [table._replace(heading=f"{table.heading}: {read}") for table in tables]
    return format_document(
        "tex", Document([*lines, *scope_lines(claims, points)], (), tables), "correlations"
    )


def _further_cells(result: SliceResult) -> dict[str, str]:
    cells = describe_slice(result)
    return {name: cells[name] for name in (MODELS_HEADING, R_RM_HEADING, PEARSON, HOLM)}


# Claims as rows.


def change_tables(
    claims: Sequence[GapClaims],
    further: Callable[[SliceResult], dict[str, str]] = lambda _: {},
) -> list[TextTable]:
    """Return for each gap the rows of what modifications did to it, then a row per score, its range
    and the verdict; ``further``: cells of a score after these.

    Of the modifications the largest bounds are shown, and one of all. Scores that are one over the
    conditions share a row.
    """
    tables = []
    for gap in claims:
        shown = sorted(gap.modifications, key=lambda x: -np.nan_to_num(x.bound, nan=np.inf))
        shown = [x for x in gap.modifications if x in shown[:_MODIFICATIONS_SHOWN]]
        n_hidden = len(gap.modifications) - len(shown)
        notes = [f"effects.csv has {n_hidden} further rows of methods"] if n_hidden else []
        if len(gap.overall.result.effects.conditions) > len(shown) > 0:
            shown.append(gap.overall)
        blank = dict.fromkeys(further(gap.overall.result), "")
        rows = [change_cells(claim) | blank for claim in shown]
        for titles, claim in _distinct_scores(gap.scores):
            name = join_titles(titles) + " (one score)" * (len(titles) > 1)
            rows.append(change_cells(claim._replace(subject=name)) | further(claim.result))
        heading, before = gap.gap, gap.overall.result.gap_unmodified
        if isfinite(before) and not gap.modifications:
            heading += f", {format_number(before, digits_of(before))} in the unmodified models"
        table = TextTable.of_rows(heading, rows, (SCORE_HEADING, VERDICT_HEADING))
        tables.append(table._replace(notes=notes))
    return tables


def change_cells(claim: Claim) -> dict[str, str]:
    """Return the cells of a claim: what changes the gap, from where to where, by how much."""
    ends = [format_number(end, 2 if claim.kind == "score" else 3) for end in claim.ends]
    change = format_estimate(*claim.change, digits=3, sign="+")
    if claim.kind == "all":
        ends = []
        change = f"up to {format_number(claim.bound, 3)}" if isfinite(claim.bound) else NOTHING
    return {
        SCORE_HEADING: claim.subject,
        SCORE_RANGE: " to ".join(ends),
        CHANGE_HEADING: format_change(claim.result) if claim.kind == "score" else change,
        VERDICT_HEADING: name_verdict(claim.verdict, claim.x),
    }


def _distinct_scores(claims: Sequence[Claim]) -> list[tuple[list[str], Claim]]:
    """Return claims with their titles; those with one verdict whose scores are one, once."""
    distinct: list[tuple[list[str], Claim]] = []
    for claim in claims:
        for titles, other in distinct:
            if claim.verdict == other.verdict and _are_one_score(claim.result, other.result):
                titles.append(claim.subject)
                break
        else:
            distinct.append(([claim.subject], claim))
    return distinct


def _are_one_score(a: SliceResult, b: SliceResult) -> bool:
    shared = [name for name in a.condition_scores if name in b.condition_scores]
    x, y = (
        np.array([scores[name] for name in shared])
        for scores in (a.condition_scores, b.condition_scores)
    )
    return len(shared) >= MINIMUM[DOSES] and pearson(x, y) > _ONE_SCORE


def name_verdict(verdict: str, smallest_change: float) -> str:
    """Return the verdict in words: ``rises``, ``at most .02``, ``does not tell``."""
    return f"{verdict} {name_size(smallest_change)}" if verdict == AT_MOST else verdict


def name_size(x: float) -> str:
    """Return a smallest change of interest as it is written: ``.02``."""
    return format_number(x, 3).rstrip("0")


# Claims as sentences.


def headlines(claims: Sequence[GapClaims]) -> list[str]:
    """Return a line a gap: what the modifications did to it, and what goes with the scores."""
    if not claims:
        return ["No test was declared before the run."]
    lines = []
    for gap in claims:
        by_verdict: dict[str, list[Claim]] = {}
        for claim in sorted(gap.scores, key=lambda x: VERDICTS.index(x.verdict)):
            by_verdict.setdefault(claim.verdict, []).append(claim)
        phrases = [
            _VERDICT_PHRASES[verdict].format(
                scores=join_titles([claim.subject for claim in found]),
                x=name_size(found[0].x),
                verb="do" if len(found) > 1 else "does",
                side=_side_of_0(found[0]),
            )
            for verdict, found in by_verdict.items()
        ]
        lines.append(
            f"{capitalise(gap.gap)}: {'; '.join([*_effect_phrase(gap.overall), *phrases])}."
        )
    return [*lines[:_MAX_GAPS], *_more_line(len(lines) - _MAX_GAPS, "gap", "gaps.csv")]


def _side_of_0(claim: Claim) -> str:
    """Return whether the gap goes away from 0 or towards it as the score rises."""
    line = claim.result.line
    low, high = (line.y + line.slope * (end - line.x) for end in claim.ends)
    if not low * high > 0:
        return ""
    return ", away from 0" if abs(high) > abs(low) else ", towards 0"


def _effect_phrase(claim: Claim) -> Iterable[str]:
    """Yield what the modifications did to the gap."""
    effects = claim.result.effects
    n_conditions = len(effects.conditions)
    n = with_count(n_conditions, "modification")
    if claim.verdict == AT_MOST:
        yield f"no modification of {n_conditions} changes it by more than {name_size(claim.x)}"
    elif claim.verdict == MOVED and (effect := effects.named):
        n_moved = sum(effect.p_holm < ALPHA for effect in effects.conditions)
        change = format_estimate(*effect.change.interval, digits=3, sign="+")
        yield f"{n_moved} of {n} move it, {effect.condition} by {change}"
    elif claim.reason:
        yield claim.reason
    elif claim.verdict == CANNOT_TELL:
        yield f"{n} may change it by up to {format_number(claim.bound, 3)}"


def _planted_lines(points: pd.DataFrame, results: Sequence[SliceResult]) -> list[str]:
    """Return what was planted in synthetic data, and whether the study found it; none for real
    data.
    """
    points = points[points["status"] == "done"]
    if "True" not in as_text(points, "generated"):
        return []
    n_claims = sum(result.verdict in (RISES, FALLS) for result in results)
    share = f"in {n_claims} of {len(results)} tests"
    transmission = as_float(points, "transmission")
    if not np.isfinite(transmission).any():
        return ["Synthetic data: nothing here is evidence about the real world."]
    if np.nanmax(transmission) == 0:
        made = share.removeprefix("in ") if n_claims else "No test"
        start = "Synthetic data, no link planted: a claim here would be a false alarm."
        return [f"{start} {made} made a claim."]
    found = "found it" + f" {share}" * (n_claims < len(results)) if n_claims else "did not find it"
    return [f"Synthetic data with a planted link: the study {found}."]


def scope_lines(claims: Sequence[GapClaims], points: pd.DataFrame | None = None) -> list[str]:
    """Return for what the verdicts hold, a sentence for all tests that share it.

    Models that a run of ``points`` found ready have no seed: they are called models.
    """
    if not claims:
        return []
    are_given = points is not None and not any(as_text(points, "corpus_key"))
    titles = {SEEDS: "other models"} if are_given else {}
    tests_by_scopes: dict[str, dict[str, list[str]]] = {}
    shown = [
        x._replace(scores=[y for y in x.scores if y.verdict in (RISES, FALLS)]) for x in claims
    ]
    for gap in shown:
        for names, claim in _distinct_scores(gap.scores):
            held = "; ".join(
                f"{titles.get(scope, scope)}: {name_scope(claim.result, scope)}"
                for scope in _SHOWN_SCOPES
                if scope in claim.result.scopes
            )
            tests_by_scopes.setdefault(held, {}).setdefault(gap.gap, []).extend(names)
    documents = points is not None and any(as_text(points, "scheme"))  # with coreference
    last = "corpora and training documents" if documents else "and corpora"
    first = f"For these methods, lists{',' * documents} {last}"
    n_by_gap = {gap.gap: len(gap.scores) for gap in shown}
    if len(tests_by_scopes) < 2:
        return [f"{'; '.join([first, *filter(None, tests_by_scopes)])}."]
    named = (f"{name_tests(gaps, n_by_gap)}: {held}." for held, gaps in tests_by_scopes.items())
    return [f"{first}.", *named]


def name_scope(result: SliceResult, scope: str) -> str:
    """Return shown, not shown, or how many there are of how many needed."""
    word = result.holds.get(scope, NOTHING)
    if word != TOO_FEW:
        return {YES: "shown", NO: "not shown"}.get(word, word)
    n = result.scopes[scope].n
    return f"not testable ({n} of {MINIMUM[scope]})" if n < MINIMUM[scope] else "not testable"


def detectable(results: Sequence[SliceResult]) -> list[str]:
    """Return which change would have been seen where a test cannot tell."""
    changes = [
        result.detectable_change
        for result in results
        if result.verdict == CANNOT_TELL
        and isfinite(result.detectable_change)
        and not result.nonlinear.change > result.x  # more data would not change that
    ]
    if not changes:
        return []
    ends = dict.fromkeys(format_number(end, digits_of(end)) for end in (min(changes), max(changes)))
    change = " to ".join(ends) + ", depending on the test" * (len(ends) > 1)
    return [_NOT_SEEN.format(change=change)]


# What must be known beside the claims.


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
    return list(filter(None, ["; ".join(filter(None, [models, ", ".join(methods)]))]))


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
    values: dict[str, list[float]] = {}
    for (gap, _), result in zip(gap_and_score(pooled), pooled, strict=True):
        values.setdefault(gap, []).append(result.within.r)
    parts = []
    for gap, found in values.items():
        ends = dict.fromkeys(map(format_number, (min(found), max(found))))
        parts.append(f"{gap} {' to '.join(ends)}")
    more = f" and {with_count(len(parts) - GAPS, 'gap')} more" if len(parts) > GAPS else ""
    return [f"Exploratory, r_rm with the scores: {', '.join(parts[:GAPS])}{more}."] if parts else []


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


def _more_line(hidden: int, noun: str, table: str) -> list[str]:
    return [f"and {with_count(hidden, noun)} more in {table}"] if hidden > 0 else []


def _wrap_all(lines: Iterable[str]) -> list[str]:
    return [part for line in lines for part in wrap(line, _LINE_WIDTH, subsequent_indent="  ")]


# How well the tasks are done, and what base rates alone would make of their gaps.


def describe_task(tables: Tables, utility: str) -> list[str]:
    """Return a line per task, over the unmodified models (over all where there is none): its
    utility and majority baseline, the base rates and false positive rates of the compared groups,
    and for each gap the value expected from base rates alone. A further line names the settings,
    such as classifiers, over whose means the gaps of a model are taken.
    """
    tables = typed(tables)
    points = tables.points[tables.points["status"] == "done"]
    unmodified = points[(points["method"] == CONTROL) & points["label_method"].isin(["", CONTROL])]
    name = f"{ORIGINAL} " if len(unmodified) else ""
    described = unmodified if len(unmodified) else points
    rows = tables.extrinsic[tables.extrinsic["point"].isin(described["point"])]
    tasks = list(dict.fromkeys(rows["task"]))
    lines = []
    for task in tasks:
        task_rows = rows[rows["task"] == task]
        prefix = f"{task}, {name}models: " if len(tasks) > 1 else f"{capitalise(name)}models: "
        if parts := [*_level(task_rows, utility), *_from_base_rates(task_rows)]:
            lines.append(f"{prefix}{'. '.join([parts[0], *map(capitalise, parts[1:])])}.")
        if settings := [*_averaged_settings(points[points["point"].isin(task_rows["point"])])]:
            lines.append(
                f"The gap of a model in {task} is the mean over {'; '.join(settings)}. To tell them"
                " apart, give each a task.name of its own."
            )
    return lines


def _averaged_settings(points: pd.DataFrame) -> Iterator[str]:
    """Yield what differs between the settings of a model: ``classifier cnn, linear``."""
    models = as_text(points, "unit_key")
    draws = [name for name in (*TASK_SETTINGS, *TRAINING_DRAWS) if name in points]
    varying = keep_varying_options(points, ("unit_key", *draws))
    for name in (*TASK_SETTINGS[1:], "task_options"):
        values = pd.Series(as_text(varying, name))
        if values.groupby(models).nunique().max() > 1:
            title = "" if name == "task_options" else f"{name.replace('_', ' ')} "
            yield title + ", ".join(value or "default" for value in dict.fromkeys(values))


def _level(rows: pd.DataFrame, utility: str) -> Iterator[str]:
    values = rows[rows["kind"] == "value"]
    is_utility = (values["group"] == ALL) & (values["measure"] == utility)
    # On a challenge set these are of the task's own test items
    utilities = values[is_utility].drop_duplicates("point")
    value, baseline = (float(utilities[name].mean()) for name in ("value", "majority_baseline"))
    if not isfinite(baseline):
        return
    title = measure_title(utility)
    if isfinite(value):
        yield f"{title} {format_number(value)} (majority baseline {format_number(baseline)})"
    gaps = rows[rows["kind"] == "gap"]
    groups = dict.fromkeys([*gaps["privileged"], *gaps["unprivileged"]])
    for measure, title in (("base_rate", "base rate"), ("fpr", "false positive rate")):
        measure_rows = values[(values["measure"] == measure) & (values["subset"] == "")]
        means = measure_rows.groupby("group")["value"].mean().dropna()
        group_values = [
            f"{group} {format_number(means[group])}" for group in groups if group in means
        ]
        if 0 < len(group_values) <= 2:
            yield f"{title}: {', '.join(group_values)}"


def _from_base_rates(rows: pd.DataFrame) -> Iterator[str]:
    gaps = rows[(rows["kind"] == "gap") & rows["expected_from_base_rates"].abs().gt(0)]
    if gaps.duplicated(["point", *GAP[:2]]).any():
        return  # several pairs of groups
    for title, gap_rows in gaps.assign(title=gap_titles(gaps)).groupby("title", sort=False):
        if gap_rows["measure"].iloc[0] == "f1" or gap_rows["value"].isna().all():
            continue  # the precision gap shows that of F1
        mean, expected = (
            format_number(float(gap_rows["value"].mean()), 3),
            format_number(float(gap_rows["expected_from_base_rates"].mean()), 3),
        )
        yield f"{title}: {mean}; base rates alone would give {expected}"
