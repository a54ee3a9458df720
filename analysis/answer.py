"""The claims of a study in words and tables, the same on the terminal, on the page and in TeX: for
every declared gap what the modifications did to it, then what goes with a score; a sentence on what
it holds for, and what limits it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasbridge.analysis.claims import (
    AT_MOST,
    CANNOT_TELL,
    FALLS,
    MOVED,
    NO,
    RISES,
    TOO_FEW,
    UNTOLD,
    YES,
    declared,
    gap_and_score,
    study_claims,
)
from biasbridge.analysis.joined import describe_task
from biasbridge.analysis.naming import (
    ALL,
    CONTROL,
    FAMILY,
    GAP,
    REVERSED,
    SCORE,
    SLICE_COLUMNS,
    describe_taggers,
    gap_titles,
    group_mismatch_of,
    group_pairs,
    row_names,
    shown_columns,
    with_count,
)
from biasbridge.analysis.scopes import DOSES, MINIMUM, SEEDS
from biasbridge.analysis.slices import digits_of, pearson
from biasbridge.files.columns import as_float, as_text
from biasbridge.files.writers import (
    Document,
    TextTable,
    format_document,
    print_document,
    print_lines,
)
from biasbridge.stats.formatting import (
    NOTHING,
    capitalise,
    format_estimate,
    format_number,
    format_p,
)
from biasbridge.stats.intervals import ALPHA

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.claims import Claim, GapClaims
    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.analysis.tables import Tables


SCORE_HEADING, SCORE_RANGE = "full dose; score", "from, to"
CHANGE_HEADING, VERDICT_HEADING = "change [95%]", "verdict"
MODELS_HEADING, R_RM_HEADING = "models / parents / conditions", "r_rm [95%]"
PEARSON, HOLM = "Pearson's r", "p (adjusted)"
_R_RM = "r_rm, repeated-measures correlation within parents"
_ALL_TESTS = "all tests"
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
    notes = [*scope_lines(claims, tables.points), *reasons(claims), *detectable(tests)]
    notes += [*_exploratory_lines(results), *describe_task(tables, declaration.utility)]
    return Document(
        [*planted_lines(tables.points, tests), *headlines(claims)],
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
        if len(gap.overall.result.effects.conditions) > len(shown) > 0:
            shown.append(gap.overall)
        blank = dict.fromkeys(further(gap.overall.result), "")
        rows = [change_cells(claim) | blank for claim in shown]
        for titles, claim in _distinct_scores(gap.scores):
            name = _join_titles(titles) + " (one score)" * (len(titles) > 1)
            rows.append(change_cells(claim._replace(subject=name)) | further(claim.result))
        heading, before = gap.gap, gap.overall.result.gap_unmodified
        if isfinite(before) and not gap.modifications:
            heading += f", {format_number(before, digits_of(before))} in the unmodified models"
        tables.append(TextTable.of_rows(heading, rows, (SCORE_HEADING, VERDICT_HEADING)))
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


def format_change(result: SliceResult) -> str:
    """Format the change with its interval: ``+.027 [.016,.040]``."""
    return format_estimate(*result.change, digits=digits_of(result.change.value), sign="+")


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
        for claim in sorted(gap.scores, key=lambda claim: claim.rank):
            by_verdict.setdefault(claim.verdict, []).append(claim)
        phrases = [
            _VERDICT_PHRASES[verdict].format(
                scores=_join_titles([claim.subject for claim in found]),
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


def planted_lines(points: pd.DataFrame, results: Sequence[SliceResult]) -> list[str]:
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
    if len(tests_by_scopes) < 2:
        return [f"{'; '.join([first, *filter(None, tests_by_scopes)])}."]
    named = (f"{_name_tests(gaps, shown)}: {held}." for held, gaps in tests_by_scopes.items())
    return [f"{first}.", *named]


def _name_tests(scores_by_gap: Mapping[str, Sequence[str]], claims: Sequence[GapClaims]) -> str:
    """Return ``recall gap, WEAT 6b, 7`` for each gap; without scores where they are all."""
    n_by_gap = {gap.gap: len(gap.scores) for gap in claims}
    return "; ".join(
        gap if len(scores) == n_by_gap[gap] > 1 else f"{gap}, {_join_titles(scores)}"
        for gap, scores in scores_by_gap.items()
    )


def name_scope(result: SliceResult, scope: str) -> str:
    """Return shown, not shown, or how many there are of how many needed."""
    word = result.holds.get(scope, NOTHING)
    if word != TOO_FEW:
        return {YES: "shown", NO: "not shown"}.get(word, word)
    n = result.scopes[scope].n
    return f"not testable ({n} of {MINIMUM[scope]})" if n < MINIMUM[scope] else "not testable"


def reasons(claims: Sequence[GapClaims]) -> list[str]:
    """Return a sentence for each reason that limits verdicts, with the tests that share it."""
    scores_by_reason: dict[str, dict[str, list[str]]] = {}
    for gap in claims:
        for claim in gap.scores:
            if claim.reason:
                by_gap = scores_by_reason.setdefault(claim.reason, {})
                by_gap.setdefault(gap.gap, []).append(claim.subject)
    n = sum(len(gap.scores) for gap in claims)
    sentences = []
    for reason, gaps in scores_by_reason.items():
        is_shared = sum(map(len, gaps.values())) == n
        sentences.append(f"{_ALL_TESTS if is_shared else _name_tests(gaps, claims)}: {reason}.")
    return sentences


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


def _join_titles(names: Sequence[str]) -> str:
    """Join titles, a shared first word once: ``WEAT 6b, 7, 8``."""
    first, _, remainder = names[0].partition(" ")
    if remainder and all(name.startswith(f"{first} ") for name in names):
        return f"{first} {', '.join(name.removeprefix(f'{first} ') for name in names)}"
    return ", ".join(names)


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


# The slices of a study or a table: a line each, verdicts, and notes.


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
        tables.append(table._replace(notes=reasons(study_claims(family))))
    taggers = describe_taggers(result.group_by for result in confirmatory)
    return Document((), (), tables, taggers)


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
        MODELS_HEADING: " / ".join((count_models(result), *counts)),
        CHANGE_HEADING: format_change(result),
        VERDICT_HEADING: result.verdict,
        R_RM_HEADING: format_estimate(*within.interval),
        PEARSON: format_number(result.r_pearson),
        **({"p": format_p(within.p)} if alone else {}),
        HOLM: format_p(result.p_holm),
        "lost": str(result.lost),
    }
