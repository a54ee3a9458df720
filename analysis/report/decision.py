"""The decision that a table of gaps allows: release, do not release, or cannot tell, and why.

It rests on intervals that hold for all comparisons together:

* **A gate** (``--fail-above``). A gap surely above its bound: do not release. Every gap surely
  within: release. Between the two the rule decides. ``--fail-if possible`` fails, so do not
  release; ``--fail-if worse`` passes without proof, so cannot tell. Exit status 3 always means "do
  not release", and "release" always has status 0.
* **Two versions, no gate.** The last version does not replace the first where a group is surely
  treated worse, by Holm's adjustment over groups and measures. It does where moreover no harm
  above ``TOLERATED`` could have been missed, by simultaneous intervals. Else nobody can tell.
* **One version, no gate.** Only the reader can say how large a difference is too large, so nobody
  can tell. The largest sure difference is named, or else the largest that could have been missed.

Recall and the false positive rate decide, as each counts errors of one kind; another measure does
where these are missing. A group that could not be measured may have any gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isnan
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from biasbridge.analysis.naming import ALL, capitalise, measure_title
from biasbridge.analysis.report.counts import COUNTS, Chart, GapCounts, Row, Wording
from biasbridge.files.group_names import CROSSED_BY
from biasbridge.stats.formatting import IN_WORDS, format_number, harm_sign
from biasbridge.stats.intervals import ALPHA

if TYPE_CHECKING:
    import pandas as pd

RELEASE, REFUSE, UNDECIDED = "Release", "Do not release", "Cannot tell"
TOLERATED = 0.05  # harm of a later version, where no gate has a bound
_MAX_LISTED = 3
_Answer: TypeAlias = tuple[str, str, Sequence[str], Row]  # verdict, reason, counts, and their row


class Decision(NamedTuple):
    """What to do and why, the counts of 100 behind it, and what their words mean."""

    heading: str  # "Do not release v2"
    reason: str
    counts: Sequence[str]
    chart: Chart
    meanings: Sequence[tuple[str, str]]


def decide_release(
    table: pd.DataFrame, wording: Wording, gated: pd.DataFrame | None = None
) -> Decision:
    """Return the decision that a table of gaps allows, by the rules of this module.

    Parameters
    ----------
    table
        What :func:`biasbridge.gaps` returns.
    wording
        What items are called.
    gated
        The ``decisions`` of a gate; None without one.

    Returns
    -------
    Decision
        In sentences whose numbers are counts of 100.
    """
    facts = GapCounts(table, wording)
    if gated is not None:
        verdict, reason, counts, row = _by_gate(facts, gated.to_dict("records"))
    elif facts.changes:
        verdict, reason, counts, row = _by_versions(facts)
        verdict += f" {facts.last}" if verdict != UNDECIDED else ""
    else:
        verdict, reason, counts, row = _without_bound(facts)
    subset = row.get("subset", "")
    sentences = [f"{capitalise(sentence)}." for sentence in counts if sentence]
    return Decision(verdict, reason, sentences, facts.chart(subset), facts.meanings(subset))


def _by_gate(facts: GapCounts, rows: Sequence[Row]) -> _Answer:
    """Decide by the rows of a gate, each with its ``bound`` and whether it ``passed``."""

    def excess(row: Row, end: str) -> float:
        """Return how far an end of the interval lies above the bound."""
        distance = float(row[f"{end}_simultaneous"] - row["bound"])
        return -inf if isnan(distance) else distance

    failed = [row for row in rows if not row["passed"]]
    above = [row for row in failed if excess(row, "high") > 0]
    unmeasured = [row for row in rows if isnan(row["value"]) and _matters(row)]
    highest = max(above or rows, key=lambda row: (excess(row, "low"), excess(row, "high")))
    if excess(highest, "low") <= 0:
        highest = max(above or rows, key=lambda row: excess(row, "high"))
    is_sure, is_possible = excess(highest, "low") > 0, excess(highest, "high") > 0
    advice = facts.would_tell(
        highest, highest["unprivileged"], abs(highest["bound"] - highest["value"])
    )
    if above:
        others = [row for row in failed if row is not highest]
        claim = "above a bound too" if is_sure else "not surely within a bound either"
        counts = [_listed(facts, claim, others), "" if is_sure else advice]
        return REFUSE, _against_bound(facts, highest), counts, highest
    if failed:
        return REFUSE, _unmeasured(facts, failed[0]), [], highest
    if is_possible:
        reason = "the gate passes, but one difference may be above its bound"
        return UNDECIDED, reason, [_against_bound(facts, highest), advice], highest
    if unmeasured:
        return UNDECIDED, f"the gate passes, but {_unmeasured(facts, unmeasured[0])}", [], highest
    nearest = f"nearest to its bound: {_against_bound(facts, highest)}"
    return RELEASE, "every difference is surely within its bound", [nearest], highest


def _against_bound(facts: GapCounts, row: Row) -> str:
    """Format ``of 100 toxic comments about women v2 misses 38, about men 12; the difference, 20 to
    31, is surely above the bound, 10``.
    """
    bound, low, high = (
        float(row[name]) for name in ("bound", "low_simultaneous", "high_simultaneous")
    )
    limit, *ends = facts.size(row, bound, low, high)
    place = "surely above" if low > bound else "possibly above" if high > bound else "within"
    size, ending = " to ".join(ends), f"{place} the bound, {limit}"
    if not row.get("earlier"):
        return f"{facts.across_groups(row)}; the difference, {size}, is {ending}"
    others = IN_WORDS.get(row["privileged"], row["privileged"])
    later = str(row["classifier"]).removesuffix(f" - {row['earlier']}")
    worse = f"{size} of 100 worse" if row["measure"] in COUNTS else f"{size} worse"
    claim = f"{row['unprivileged']} fare {worse} in {measure_title(row['measure'])}"
    return f"compared with {others}, {claim} with {later} than {row['earlier']}, {ending}"


def _by_versions(facts: GapCounts) -> _Answer:
    """Decide whether the last version may replace the first."""

    def harm(row: Row) -> float:
        return float(harm_sign(row["measure"]) * row["value"])

    def possible_harm(row: Row) -> float:
        sign = harm_sign(row["measure"])
        return float(sign * row[f"{'high' if sign > 0 else 'low'}_simultaneous"])

    measured = [row for row in facts.changes if not isnan(row["value"])]
    unmeasured = [row for row in facts.changes if isnan(row["value"]) and _matters(row)]
    sure = sorted((row for row in measured if row["p_holm"] < ALPHA), key=harm)
    worse = [row for row in reversed(sure) if harm(row) > 0]
    better = _listed(facts, "surely better", [row for row in sure if harm(row) < 0])
    if worse:
        lists = [_listed(facts, "surely worse too", worse[1:]), better]
        return REFUSE, facts.across_versions(worse[0]), lists, worse[0]
    if not measured:
        return UNDECIDED, _unmeasured(facts, facts.changes[0]), [], facts.changes[0]
    row = max(measured, key=possible_harm)
    is_count = row["measure"] in COUNTS
    size = f"{100 * TOLERATED:.0f} in 100" if is_count else f"{format_number(TOLERATED)}"
    least_sure = f"least sure: {facts.across_versions(row)}"
    if possible_harm(row) > TOLERATED:
        advice = facts.would_tell(row, row["group"], max(harm(row), TOLERATED - harm(row)))
        reason = f"no group surely fares worse, but harm above {size} could have been missed"
        return UNDECIDED, reason, [least_sure, advice, better], row
    if unmeasured:
        reason = f"no group surely fares worse, but {_unmeasured(facts, unmeasured[0])}"
        return UNDECIDED, reason, [better], row
    reason = f"surely no group fares worse than with {facts.first} by more than {size}"
    return RELEASE, reason, [least_sure, better], row


def _without_bound(facts: GapCounts) -> _Answer:
    """Name the largest difference of one version; without a bound nothing is decided."""
    tested = [row for row in facts.gaps if not isnan(row["p"])]
    gaps = [
        row
        for row in tested
        if row["measure"] in facts.measures and row.get("subset", "") != "macro"
    ]
    unbounded = "you have not said how large a difference is too large"
    if not gaps and facts.largest:
        row = facts.largest[0]
        title, size = measure_title(row["measure"]), facts.size(row, row["value"])[0]
        sides = f"{row['unprivileged']} and {row['privileged']}"
        return UNDECIDED, unbounded, [f"{sides} differ in {title} by {size}"], {}
    if not gaps:
        reasons = [f": {row['reason']}" for row in facts.gaps if row["reason"]]
        return UNDECIDED, f"no groups could be compared{''.join(reasons[:1])}", [], {}
    advice = f"set a bound, such as --fail-above {gaps[0]['measure']}=.1"
    sure = [row for row in gaps if row["p"] * len(tested) < ALPHA]
    if sure:
        row = max(sure, key=lambda row: (row["value"] > 0, abs(row["value"])))
        largest = f"the largest sure difference: {facts.across_groups(row)}"
        return UNDECIDED, unbounded, [largest, advice], row
    row = max(gaps, key=lambda row: float(row["high_simultaneous"]))
    possible = f"the difference may be as large as {facts.size(row, row['high_simultaneous'])[0]}"
    least_sure = f"least sure: {facts.across_groups(row)}; {possible}"
    return UNDECIDED, f"no difference is sure, and {unbounded}", [least_sure, advice], row


def _matters(row: Row) -> bool:
    """Test whether a group without a value matters: a crossed one without items does not."""
    names = " ".join(str(row[side]) for side in ("group", "privileged", "unprivileged"))
    return bool(row["support"]) or CROSSED_BY not in names


def _unmeasured(facts: GapCounts, row: Row) -> str:
    about = facts.about(row["group"] or row["unprivileged"])
    return f"too little is known {about}: {row['reason']}"


def _listed(facts: GapCounts, claim: str, rows: Sequence[Row]) -> str:
    """Format ``surely worse too: women (missed), men (wrongly flagged) and 2 more``."""
    sides = [(row["group"] or row["unprivileged"], row) for row in rows[:_MAX_LISTED]]
    names = [
        f"{'all items' if group == ALL else group} ({facts.name_outcome(row)})"
        for group, row in sides
    ]
    more = f" and {len(rows) - _MAX_LISTED} more" if len(rows) > _MAX_LISTED else ""
    return f"{claim}: {', '.join(names)}{more}" if names else ""
