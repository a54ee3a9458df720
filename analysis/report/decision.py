"""The decision that a table of gaps allows: release, do not release, or cannot tell, and why.

It rests on intervals that hold for all comparisons together:

* **A gate** (``--fail-above``). A gap shown to be above its bound: do not release. Every gap shown
  to be within: release. Between the two the rule decides. ``--fail-if possible`` fails, so do not
  release; ``--fail-if worse`` passes without proof, so cannot tell. Exit status 3 always means "do
  not release", and "release" always has status 0.
* **Two versions, no gate.** The last version does not replace the first where a group is shown to
  be treated worse, by Holm's adjustment over groups and measures. It does where moreover no harm
  above ``TOLERATED`` could have been missed, by simultaneous intervals. Else nobody can tell.
* **One version, no gate.** Only the reader can say how large a difference is too large, so nobody
  can tell. The largest difference that is shown is named, or else the largest that could have been
  missed.

Recall and the false positive rate decide, as each counts errors of one kind; another measure does
where these are missing. A group that could not be measured may have any gap. All numbers are counts
of 100, for somebody who does not know statistics.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import accumulate
from math import ceil, inf, isnan, log10
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from biasbridge.analysis.naming import ALL, capitalise, measure_title
from biasbridge.files.errors import printable
from biasbridge.files.group_names import CROSSED_BY
from biasbridge.files.tables import escape_control
from biasbridge.stats.formatting import (
    IN_WORDS,
    detectable_change,
    format_estimate,
    harm_sign,
    order_groups,
)
from biasbridge.stats.intervals import ALPHA

if TYPE_CHECKING:
    import pandas as pd

Row: TypeAlias = "Mapping[Hashable, Any]"
RELEASE, REFUSE, UNDECIDED = "Release", "Do not release", "Cannot tell"
TOLERATED = 0.05  # harm of a later version, where no gate has a bound
_UNBOUNDED = "you have not said how large a difference is too large"
_MAX_LISTED = 3
_MAX_CHARTED, _MAX_NAME_WORDS = 8, 25  # groups, and words of their names: the screen has < 120
_AXIS_ENDS = (2, 5, 10, 20, 30, 40, 50, 60, 80, 100)
_MOST_TIMES = 100  # the present number of items: more is no advice


class _Outcome(NamedTuple):
    """An outcome counted in 100 items of a kind: of ``positives``, ``others`` or all ``items``."""

    kind: str
    title: str
    present: str
    past: str
    meaning: str


_MISSED = _Outcome(*("positives", "missed", "misses {}", "missed {}", "{positives} not {flagged}"))
_FLAGGED = _Outcome(
    *("others", "wrongly flagged", "wrongly flags {}", "wrongly flagged {}"), "{others} {flagged}"
)
_WRONG = _Outcome("items", "wrong", "gets {} wrong", "got {} wrong", "{items} predicted wrongly")
_OUTCOMES = {"recall": _MISSED, "fnr": _MISSED, "fpr": _FLAGGED, "accuracy": _WRONG}
_Answer: TypeAlias = tuple[str, str, Sequence[str], Row]  # verdict, reason, counts, and their row
_Count: TypeAlias = tuple[float, float, float]  # of 100, and the ends of its interval


class Chart(NamedTuple):
    """Counts of 100 by group: a column for each title, in a cell a count for each version."""

    titles: Sequence[str]
    versions: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Sequence[_Count]]]]
    end: int  # of the axis
    n_hidden: int  # groups that fare better than those shown


class Decision(NamedTuple):
    """What to do and why, the counts of 100 behind it, and what their words mean."""

    heading: str  # "Do not release v2"
    reason: str
    counts: Sequence[str]
    chart: Chart
    meanings: Sequence[tuple[str, str]]


def decide_release(
    table: pd.DataFrame, *, items: str = "", label: str = "", gated: pd.DataFrame | None = None
) -> Decision:
    """Return the decision that a table of gaps allows, with the ``decisions`` of a gate if given.

    ``items``: what positive items are called, "toxic comments". Without it they are called after
    the label of the positive class.
    """
    facts = _Facts(escape_control(table), printable(items), printable(label))
    if gated is not None:
        verdict, reason, counts, row = _by_gate(facts, escape_control(gated).to_dict("records"))
    elif facts.changes:
        verdict, reason, counts, row = _by_versions(facts)
        verdict += f" {facts.last}" if verdict != UNDECIDED else ""
    else:
        verdict, reason, counts, row = _without_bound(facts)
    sentences = [f"{capitalise(sentence)}." for sentence in counts if sentence]
    subset = row.get("subset", "")
    return Decision(verdict, reason, sentences, facts.chart(subset), facts.meanings(subset))


def _by_gate(facts: _Facts, rows: Sequence[Row]) -> _Answer:
    """Decide by the rows of a gate, each with its ``bound`` and whether it ``passed``."""

    def excess(row: Row, end: str) -> float:
        """Return how far an end of the interval lies above the bound."""
        distance = float(row[f"{end}_simultaneous"] - row["bound"])
        return -inf if isnan(distance) else distance

    failed = [row for row in rows if not row["passed"]]
    above = [row for row in failed if excess(row, "high") > 0]
    highest = max(above or rows, key=lambda row: (max(excess(row, "low"), 0), excess(row, "high")))
    is_sure, is_possible = (excess(highest, end) > 0 for end in ("low", "high"))
    sentence = facts.against_bound(highest)
    margin = abs(highest["bound"] - highest["value"])
    advice = "" if is_sure else facts.would_tell(highest, highest["unprivileged"], margin)
    unmeasured = [row for row in rows if isnan(row["value"]) and _matters(row)]
    if above:
        claim = "also above a bound" if is_sure else "also not shown to be within a bound"
        others = facts.list_groups(claim, [row for row in failed if row is not highest])
        return REFUSE, sentence, [others, advice], highest
    if failed:
        return REFUSE, facts.unmeasured(failed[0]), [], highest
    if is_possible:
        reason = "the gate passes, but one difference may be above its bound"
        return UNDECIDED, reason, [sentence, advice], highest
    if unmeasured:
        return UNDECIDED, f"the gate passes, but {facts.unmeasured(unmeasured[0])}", [], highest
    nearest = f"nearest to its bound: {sentence}"
    return RELEASE, "every difference is shown to be within its bound", [nearest], highest


def _by_versions(facts: _Facts) -> _Answer:
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
    better = facts.list_groups("shown to be better", [row for row in sure if harm(row) < 0])
    if worse:
        also = facts.list_groups("also shown to be worse", worse[1:])
        return REFUSE, facts.across_versions(worse[0]), [also, better], worse[0]
    if not measured:
        return UNDECIDED, facts.unmeasured(facts.changes[0]), [], facts.changes[0]
    row = max(measured, key=possible_harm)
    size = f"{100 * TOLERATED:.0f} {'in 100' if row['measure'] in _OUTCOMES else 'points'}"
    least_sure = f"least sure: {facts.across_versions(row)}"
    if possible_harm(row) > TOLERATED:
        advice = facts.would_tell(row, row["group"], max(harm(row), TOLERATED - harm(row)))
        reason = f"no group is shown to fare worse, but harm above {size} could have been missed"
        return UNDECIDED, reason, [least_sure, advice, better], row
    if unmeasured:
        reason = f"no group is shown to fare worse, but {facts.unmeasured(unmeasured[0])}"
        return UNDECIDED, reason, [better], row
    reason = f"every group is shown to fare at most {size} worse than with {facts.first}"
    return RELEASE, reason, [least_sure, better], row


def _without_bound(facts: _Facts) -> _Answer:
    """Name the largest difference of one version; without a bound nothing is decided."""
    tested = [row for row in facts.gaps if not isnan(row["p"])]
    gaps = [row for row in tested if row["measure"] in facts.measures]
    gaps = [row for row in gaps if row.get("subset", "") != "macro"]
    if not gaps:
        reasons = [f"no groups could be compared: {row['reason']}" for row in facts.gaps]
        return UNDECIDED, (reasons or [_UNBOUNDED])[0], [], {}
    advice = f"set a bound, such as --fail-above {gaps[0]['measure']}=.1"
    if sure := [row for row in gaps if row["p"] * len(tested) < ALPHA]:
        row = max(sure, key=lambda row: (row["value"] > 0, abs(row["value"])))
        largest = f"the largest difference that is shown: {facts.across_groups(row)}"
        return UNDECIDED, _UNBOUNDED, [largest, advice], row
    row = max(gaps, key=lambda row: float(row["high_simultaneous"]))
    largest = f"The difference may be as large as {100 * row['high_simultaneous']:.0f}"
    least_sure = f"least sure: {facts.across_groups(row)}. {largest}"
    return UNDECIDED, f"no difference is shown, and {_UNBOUNDED}", [least_sure, advice], row


def _matters(row: Row) -> bool:
    """Test whether a group without a value matters: a crossed one with too few items does not."""
    return not any(CROSSED_BY in str(row[side]) for side in ("group", "privileged", "unprivileged"))


class _Facts:
    """A table of gaps in words and counts of 100.

    ``measures`` are those that decide. ``changes`` are those of the ``last`` version against the
    ``first``; their names are empty for one version.
    """

    def __init__(self, table: pd.DataFrame, items: str, label: str) -> None:
        rows: Sequence[Row] = table.to_dict("records")
        values = [row for row in rows if row["kind"] == "value"]
        single = [row for row in values if not row.get("earlier")]
        present = dict.fromkeys(row["measure"] for row in single if row["measure"] != "base_rate")
        rates = [name for name in ("recall", "fnr", "fpr") if name in present]
        others = [name for name in (*_OUTCOMES, *present) if name in present]
        self.measures = [x for x in rates if x != "fnr" or "recall" not in rates] or others[:1]
        versions: list[str] = list(dict.fromkeys(row.get("classifier", "") for row in single))
        self._versions = [*versions[:1], *versions[1:][-1:]]
        self.first, self.last = (versions[0], versions[-1]) if versions[1:] else ("", "")
        self.gaps = [row for row in rows if row["kind"] == "gap" and not row.get("earlier")]
        pair = f"{self.last} - {self.first}"
        changes = [row for row in values if row.get("earlier") and row["classifier"] == pair]
        self.changes = [row for row in changes if row["measure"] in self.measures]
        self._groups = order_groups(rows)
        self._values = {self._key(row, row["group"]): row for row in single}
        words = items.split()
        self._positives = " ".join(words) or (f"{label} items" if label else "positive items")
        self._items = words[-1] if len(words) > 1 else "items"
        self._others = "other" if words or label else "negative"

    def _key(self, row: Row, group: str, version: str = "") -> tuple[str, ...]:
        return version or row.get("classifier", ""), row.get("subset", ""), row["measure"], group

    def _kinds(self, subset: str) -> dict[str, str]:
        is_class = subset not in ("", "macro")
        return {
            "positives": f"{subset} {self._items}" if is_class else self._positives,
            "others": f"{'other' if is_class else self._others} {self._items}",
            "items": self._items,
            "flagged": f"called {subset}" if is_class else "flagged",
        }

    def _about(self, group: str) -> str:
        names = {**IN_WORDS, "none": "no group"}
        return "" if group == ALL else f" about {names.get(group, group)}"

    def _of_100(self, row: Row, group: str) -> str:
        kind = _OUTCOMES[row["measure"]].kind if row["measure"] in _OUTCOMES else "items"
        return f"{self._kinds(row.get('subset', ''))[kind]}{self._about(group)}"

    def across_versions(self, row: Row) -> str:
        """Format ``of 100 toxic comments about women v1 missed 6, v2 misses 38 (33 to 43)``."""
        group, outcome = row["group"], _OUTCOMES.get(row["measure"])
        if outcome is None:
            return self._difference(row, group)
        keys = (self._key(row, group, version) for version in (self.first, self.last))
        old, new = (self._values[key] for key in keys)
        before, after, interval = _numbers(_count(old), _count(new))
        verbs = f"{outcome.past.format(before)}, {self.last} {outcome.present.format(after)}"
        return f"of 100 {self._of_100(row, group)} {self.first} {verbs}{interval}"

    def across_groups(self, row: Row) -> str:
        """Format ``of 100 toxic comments about women v1 misses 38 (33 to 43), about men 12``."""
        group, others = row["unprivileged"], self._about(row["privileged"]).strip()
        outcome = _OUTCOMES.get(row["measure"])
        if outcome is None:
            return self._difference(row, group)
        count = _count(self._values[self._key(row, group)])
        # Of all other items the table has the gap alone
        other, own, interval = _numbers((count[0] - 100 * row["value"],), count)
        subject = row.get("classifier", "") or "the classifier"
        verb = outcome.present.format(own)
        return f"of 100 {self._of_100(row, group)} {subject} {verb}{interval}, {others} {other}"

    def _difference(self, row: Row, group: str) -> str:
        """Format the change or gap of a measure that is not counted."""
        estimate = format_estimate(float(row["value"]), float(row["low"]), float(row["high"]))
        noun = "change" if row["kind"] == "value" else "gap"
        return f"the {noun} of {measure_title(row['measure'])}{self._about(group)} is {estimate}"

    def against_bound(self, row: Row) -> str:
        """Format ``of 100 toxic comments about women v2 misses 38 (33 to 43), about men 12. The
        difference, 20 to 31, is shown to be above the bound, 10``.
        """
        names = ("bound", "low_simultaneous", "high_simultaneous")
        bound, low, high = (100 * float(row[name]) for name in names)
        digits = _digits(bound, low, high)
        place = "possibly above" if high > bound else "within"
        place = "shown to be above" if low > bound else place
        unit = "" if row["measure"] in _OUTCOMES else " points"
        size = f"{low:.{digits}f} to {high:.{digits}f}{unit}"
        ending = f"{place} the bound, {bound:.3g}"
        if not row.get("earlier"):
            return f"{self.across_groups(row)}. The difference, {size}, is {ending}"
        others = IN_WORDS.get(row["privileged"], row["privileged"])
        later = str(row["classifier"]).removesuffix(f" - {row['earlier']}")
        worse = f"{row['unprivileged']} fare {size} points worse in {measure_title(row['measure'])}"
        versions = f"with {later} than {row['earlier']}"
        return f"compared with {others}, {worse} {versions}. This is {ending}"

    def would_tell(self, row: Row, group: str, margin: float) -> str:
        """Say how many items tell a margin from 0 in four of five samples; empty for too many."""
        n = int(row["support"] if row["kind"] == "value" else row["support_unprivileged"])
        times = (detectable_change(row) / margin) ** 2 if margin else inf
        if not times < _MOST_TIMES:
            return ""
        unit = 10 ** max(0, int(log10(n * times)) - 1)
        needed = f"{ceil(n * times / unit) * unit:,}"
        return f"some {needed} {self._of_100(row, group)} instead of {n:,} would probably tell"

    def unmeasured(self, row: Row) -> str:
        """Say why nothing is known of a group."""
        about = self._about(row["group"] or row["unprivileged"])
        return f"too little is known{about}: {row['reason']}"

    def list_groups(self, claim: str, rows: Sequence[Row]) -> str:
        """Format ``also shown to be worse: women (missed), men (wrongly flagged) and 2 more``."""
        names = []
        for row in rows[:_MAX_LISTED]:
            group, outcome = row["group"] or row["unprivileged"], _OUTCOMES.get(row["measure"])
            title = outcome.title if outcome else measure_title(row["measure"])
            names.append(f"{'all items' if group == ALL else group} ({title})")
        more = f" and {len(rows) - _MAX_LISTED} more" if len(rows) > _MAX_LISTED else ""
        return f"{claim}: {', '.join(names)}{more}" if names else ""

    def chart(self, subset: str) -> Chart:
        """Return the chart of a class, or of all items: the groups that fare worst, then all."""
        measures = [name for name in self.measures if name in _OUTCOMES]
        n_words = accumulate(len(group.split()) for group in self._groups[:_MAX_CHARTED])
        n_shown = max(2, sum(number <= _MAX_NAME_WORDS for number in n_words))

        def cell(group: str, measure: str) -> list[_Count]:
            rows = (self._values.get((name, subset, measure, group)) for name in self._versions)
            return [_count(row) for row in rows if row and not isnan(row["value"])]

        shown = [*self._groups[:n_shown], ALL]
        rows = [(group, [cell(group, measure) for measure in measures]) for group in shown]
        largest = max(
            (count[2] for _, cells in rows for marks in cells for count in marks), default=0
        )
        end = next(size for size in _AXIS_ENDS if size >= min(largest, 100))
        titles = [capitalise(_OUTCOMES[name].title) for name in measures]
        return Chart(titles, self._versions, rows, end, max(0, len(self._groups) - n_shown))

    def meanings(self, subset: str) -> list[tuple[str, str]]:
        """Return what each count means, in a line."""
        outcomes = [_OUTCOMES[name] for name in self.measures if name in _OUTCOMES]
        kinds = self._kinds(subset)
        return [(capitalise(each.title), each.meaning.format(**kinds)) for each in outcomes]


def _count(row: Row) -> _Count:
    """Return the count of 100 of a value, with the ends of its interval."""
    value, low, high = (100 * float(row[name]) for name in ("value", "low", "high"))
    is_error = harm_sign(row["measure"]) > 0
    return (value, low, high) if is_error else (100 - value, 100 - high, 100 - low)


def _numbers(other: Sequence[float], count: _Count) -> tuple[str, str, str]:
    """Format another count, a count and its interval, with digits that tell the two apart."""
    digits = _digits(other[0], count[0])
    texts = [f"{abs(number):.{digits}f}" for number in (other[0], *count)]
    return texts[0], texts[1], f" ({texts[2]} to {texts[3]})"


def _digits(first: float, *others: float) -> int:
    """Return the decimals, at most two, by which the first number differs from the others."""
    apart = [
        all(number == first or round(number, digits) != round(first, digits) for number in others)
        for digits in (0, 1)
    ]
    return [*apart, True].index(True)
