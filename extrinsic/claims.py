"""The decision on a release: release, do not release, or cannot tell, and the claims it rests on.

A claim compares what is known of a group with the most that is allowed:

* **harm**, where an earlier version is given: how many more errors the last version makes for a
  group, at most ``harm``. The interval is that of the paired change.
* **gap**, where bounds are given: how much worse the last version is for a group than for what it
  is compared with, at most the measure's bound.

Each is shown to be *above* what is allowed where the interval lies wholly above, adjusted over all
claims of its kind (Bonferroni's, which decides whether any is, as Holm's does). It is shown to be
*within* where the 95% interval ends at or below. So with n claims at what is allowed, .025 are
called above by chance, or within.

    do not release    some claim is above
    release           every claim is within (an intersection-union test: no adjustment)
    cannot tell       else, and where nothing is compared

A claim more can so never turn another decision into a release. Only the last version is judged; an
earlier one is what it is compared with. Errors are counted by recall (or the false negative rate)
and the false positive rate; of scores a lower AUC and a larger calibration error count too. A group
that could not be measured may have any; an empty crossed group is none. Nothing is released that
flags none of the items, or all, or calls all one class: it makes no difference between groups, nor
any other. Nor is anything where more of a group's items of one label than ``harm`` are left out,
because a version has no prediction or score for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isnan, log10, nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from biasbridge.extrinsic.gap_table import (
    MACRO,
    WITHOUT_GAP,
    GapRow,
    Part,
    change_rows,
    narrow,
    part_rows,
)
from biasbridge.extrinsic.gaps import ALL_MEASURES, CRITERIA, Gaps
from biasbridge.extrinsic.grouped_predictions import ALL, REST, GroupOrRest, Predictions
from biasbridge.extrinsic.measures import MEASURES, SCORED
from biasbridge.files import InputError, nearest
from biasbridge.files.errors import printable
from biasbridge.files.group_names import AS_THEY_ARE, CROSSED_BY, GroupNames
from biasbridge.stats.formatting import (
    IN_WORDS,
    capitalise,
    detectable_change,
    format_estimate,
    format_trimmed,
)
from biasbridge.stats.measure_facts import (
    FLAGGED,
    MEASURE_FACTS,
    MISSED,
    error_rate,
    less_is_better,
    measure_name,
)

if TYPE_CHECKING:
    from biasbridge.extrinsic.predictions import Unanswered

Verdict = Literal["release", "do not release", "cannot tell"]
RELEASE: Verdict = "release"
REFUSE: Verdict = "do not release"
UNDECIDED: Verdict = "cannot tell"
_STATUS = {RELEASE: 0, REFUSE: 3, UNDECIDED: 4}
_MEASURES_WITH_GAP = tuple(name for name in ALL_MEASURES if name not in (*CRITERIA, *WITHOUT_GAP))
_MAX_LISTED = 3
_MOST_TIMES = 100  # the present number of items: more is no advice


def decided_measures(
    measures: Sequence[str], n_versions: int, bounds: Iterable[str]
) -> tuple[str, ...]:
    """Return the measures of a table that is decided on: those asked for, those with bounds, and of
    several versions both kinds of errors, unless only scores are measured.
    """
    wanted = [*measures, *bounds]
    if n_versions > 1 and any(name in MEASURES for name in wanted):
        wanted += [kind[0] for kind in (MISSED, FLAGGED) if not {*kind} & {*wanted}]
    return tuple(dict.fromkeys(wanted))


class Claim(NamedTuple):
    """What is known of one group in one measure, against ``limit``, the most that is allowed.

    ``kind``: "harm", a row of changes, or "gap", a row of gaps. ``rates``: the measure before and
    after, or of what the group is compared with and of the group.
    """

    kind: Literal["harm", "gap"]
    row: GapRow
    limit: float
    rates: tuple[float, float]

    @property
    def group(self) -> str:
        """The group that may fare worse."""
        return self.row.group or self.row.unprivileged

    @property
    def against(self) -> str:
        """The earlier version, or the group compared with."""
        return self.row.earlier or self.row.privileged

    @property
    def n(self) -> int | None:
        """Items of the group in the measure's denominator."""
        return self.row.support if self.kind == "harm" else self.row.support_unprivileged

    @property
    def outcome(self) -> _Outcome | None:
        """What the measure counts; None for one that counts nothing."""
        return find_outcome(self.row.measure, self.row.subset)

    @property
    def interval(self) -> tuple[float, float, float]:
        """How much worse the group fares, with the 95% interval; NaN where it is not known."""
        return self._worse(self.row.low, self.row.high)

    @property
    def joint(self) -> tuple[float, float, float]:
        """The same with the interval that is adjusted over all claims of its kind."""
        return self._worse(self.row.low_simultaneous, self.row.high_simultaneous)

    def _worse(self, low: float, high: float) -> tuple[float, float, float]:
        """Return the value and an interval, signed so that worse is positive; their size where no
        side is worse.
        """
        row = self.row
        if not MEASURE_FACTS[row.measure].has_worse_side:
            return abs(row.value), max(low, -high, 0), max(abs(low), abs(high))
        if self.kind == "gap" or less_is_better(row.measure):
            return row.value, low, high
        return -row.value, -high, -low

    @property
    def verdict(self) -> Literal["above", "within", "cannot tell"]:
        """Whether the limit is shown to be passed, or kept to."""
        if self.joint[1] > self.limit:
            return "above"
        return "within" if self.interval[2] <= self.limit else "cannot tell"

    @property
    def is_improvement(self) -> bool:
        """Whether the group is shown to fare better than before."""
        return self.joint[2] < 0

    @property
    def rank(self) -> tuple[int, float]:
        """Order of claims: the one that decides comes first, the largest that is above or the
        likeliest that may be.
        """
        value, low, high = self.interval
        order = ("above", "cannot tell", "within").index(self.verdict)
        distance = self.limit - (high if self.verdict == "within" else value)
        if self.verdict == "cannot tell":
            distance /= (high - low) or 1
        return order, inf if isnan(distance) else distance

    def facts(self) -> dict[str, Any]:
        """Return the claim as a record of JSON."""
        row = self.row
        value, low, high = (None if isnan(end) else end for end in self.interval)
        record = {
            "kind": self.kind,
            "group": self.group,
            "against": self.against,
            "measure": row.measure,
            "worse_by": value,
            "low": low,
            "high": high,
            "limit": None if isnan(self.limit) else self.limit,
            "verdict": self.verdict,
            "n": self.n,
            "reason": row.reason,
        }
        return record | ({"class": row.subset} if row.subset else {})


def check_bounds(bounds: Mapping[str, float], harm: float) -> None:
    """Raise ``InputError`` for a measure without a gap, and a number outside [0, 1)."""
    require_gap(bounds, _MEASURES_WITH_GAP)
    for name, bound in {**bounds, "harm": harm}.items():
        what = "the smallest harm" if name == "harm" else f"the bound of {name}"
        is_number = isinstance(bound, int | float) and not isinstance(bound, bool)
        if not is_number or not 0 <= bound < 1:
            raise InputError(f"{what} is {bound!r}; give a number in [0, 1)")


def require_gap(measures: Iterable[str], allowed: Sequence[str]) -> None:
    """Raise ``InputError`` for a measure that is not allowed."""
    listed = f"give any of {', '.join(allowed)}"
    for name in measures:
        if name not in allowed:
            raise InputError(f"{name!r} has no gap here{nearest(name, allowed)}; {listed}")


def release_claims(
    parts: Sequence[Part], gaps: Gaps, bounds: Mapping[str, float], harm: float
) -> list[Claim]:
    """Return the claims on the last version, the one that decides first.

    ``bounds``: the largest gap by measure; may be empty. ``harm`` is used where there are several
    versions. Raises ``InputError`` for bounds where no group is compared with another.
    """
    versions = list(dict.fromkeys(part.version for part in parts if not part.earlier))
    pair = f"{versions[-1]} - {versions[0]}"
    changed = [part for part in parts if part.earlier and part.version == pair]
    claims = [
        _claim("harm", row, harm, parts)
        for row in change_rows(narrow(changed, _decisive(changed)), gaps)
        if not gaps.groups or row.group in (*gaps.groups, ALL)
    ]
    limits = bounds if bounds or changed else dict.fromkeys(_decisive(_last(parts)), nan)
    claims += _gap_claims(parts, gaps, limits)
    if bounds and not any(each.kind == "gap" for each in claims):
        raise InputError("no group is compared with another; name a further group")
    return sorted(filter(_matters, claims), key=lambda each: each.rank)


def unbounded_gaps(parts: Sequence[Part], gaps: Gaps, bounds: Mapping[str, float]) -> list[Claim]:
    """Return the gaps that are shown in measures of errors without a bound, the largest first: they
    decide nothing.
    """
    others = [name for name in _decisive(_last(parts)) if name not in bounds]
    claims = _gap_claims(parts, gaps, dict.fromkeys(others, nan))
    shown = (claim for claim in claims if claim.row.low_simultaneous > 0)
    return sorted(shown, key=lambda claim: -claim.row.value)


def _last(parts: Sequence[Part]) -> list[Part]:
    """Return the parts of the last version, by class."""
    last = [part for part in parts if not part.earlier][-1].version
    return [part for part in parts if part.version == last]


def _gap_claims(parts: Sequence[Part], gaps: Gaps, limits: Mapping[str, float]) -> list[Claim]:
    """Return the claims on gaps of the last version, adjusted over all of them."""
    single = tuple(name for name in gaps.compare if name != "max-difference")
    if not limits or not single:
        return []
    compared = replace(gaps, compare=single, measures=tuple(limits))
    rows = part_rows(narrow(_last(parts), [*limits]), compared)
    return [_claim("gap", row, limits[row.measure], parts) for row in rows if row.kind == "gap"]


def _claim(kind: Literal["harm", "gap"], row: GapRow, limit: float, parts: Sequence[Part]) -> Claim:
    last, samples = _last(parts), {(part.subset, part.version): part.sample for part in parts}
    name = last[0].version
    if kind == "harm":
        sides = [(row.earlier, row.group), (name, row.group)]
    else:
        sides = [(name, row.privileged), (name, row.unprivileged)]
    of = row.unprivileged or last[0].sample.groups[0]
    before, after = (_rate(samples[row.subset, v], row.measure, side, of) for v, side in sides)
    return Claim(kind, row, limit, (before, after))


def describe_constant(parts: Sequence[Part]) -> str:
    """Return that the last version flags none of items with both labels, or all, or gives items of
    several classes one class; else nothing.
    """
    last = [part for part in _last(parts) if part.subset != MACRO]
    classes = [part for part in last if part.subset]
    samples = [part.sample for part in classes or last]
    shares = {
        name: [sample.group_measure(name, GroupOrRest(ALL)) for sample in samples]
        for name in ("selection_rate", "base_rate")
    }
    flagged, positive = ([share.estimate.value for share in shares[name]] for name in shares)
    if not {*flagged} <= {0, 1} or {*positive} <= {0, 1}:
        return ""
    n = shares["selection_rate"][0].support
    if classes:
        return f"gives all {n:,} items one class, so a column may be wrong"
    how_many = f"all {n:,}" if flagged[0] else f"none of {n:,}"
    return f"flags {how_many} items, so a column or a threshold may be wrong"


def describe_unanswered(unanswered: Unanswered, harm: float) -> str:
    """Return that so many items of a group, of one label, are left out without a prediction or
    score that their errors may be worse by more than ``harm``; else nothing.
    """
    if not unanswered.share > harm:
        return ""
    group, label, n, n_items = unanswered
    of_group = "" if group == ALL else f", of group {group}"
    items = f"{n:,} of {n_items:,} items with label {label!r}{of_group}"
    return f"cannot be judged: predictions or scores are missing for {items}"


def _decisive(parts: Sequence[Part]) -> list[str]:
    """Return the measures that count errors, and those of scores; all with gaps if there are
    none.
    """
    present = [name for part in parts for name in part.measures if name in _MEASURES_WITH_GAP]
    errors = [name for name in present if name in (*MISSED, *FLAGGED, *SCORED)]
    return list(dict.fromkeys(errors or present))


def _rate(sample: Predictions, measure: str, name: str, of: str) -> float:
    """Return the measure of a group, or of the rest of the group ``of``."""
    side = GroupOrRest(of, rest=True) if name == REST else GroupOrRest(name)
    return sample.group_measure(measure, side).estimate.value


def _matters(claim: Claim) -> bool:
    """Test whether a claim matters: an unknown one on a crossed group with too few items does
    not.
    """
    row = claim.row
    return not isnan(row.value) or not any(
        CROSSED_BY in side for side in (row.group, row.privileged, row.unprivileged)
    )


@dataclass(frozen=True)
class Decision:
    """What to do and why: true only for a release.

    ``verdict``: "release", "do not release" or "cannot tell", with the exit ``status`` 0, 3 and 4.
    ``version``: the one that is judged, empty if it is the only one. ``lines``: what else is known.
    ``claims``: all that was compared, the one that decides first. ``meanings``: of the words.
    """

    verdict: Verdict
    version: str
    reason: str
    lines: Sequence[str]
    claims: Sequence[Claim]
    meanings: Sequence[tuple[str, str]]

    def __bool__(self) -> bool:
        return self.verdict == RELEASE

    @property
    def status(self) -> int:
        """Exit status of the command."""
        return _STATUS[self.verdict]

    @property
    def heading(self) -> str:
        """``Do not release v2``."""
        named = f" {self.version}" if self.version and self.verdict != UNDECIDED else ""
        return f"{capitalise(self.verdict)}{named}"

    @property
    def sentence(self) -> str:
        """The decision and its reason: the same on every medium."""
        return f"{self.heading}: {self.reason}."

    def facts(self) -> dict[str, Any]:
        """Return the decision as a record of JSON."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "sentence": self.sentence,
            "version": self.version,
            "lines": list(self.lines),
            "claims": [claim.facts() for claim in self.claims],
        }


def decide(
    claims: Sequence[Claim],
    version: str = "",
    *,
    label: str = "",
    names: GroupNames = AS_THEY_ARE,
    doubt: str = "",
    unbounded: Sequence[Claim] = (),
) -> Decision:
    """Decide by claims as :func:`release_claims` returns them, of which the first decides.

    ``version``: the one that is judged; empty if it is the only one. ``label``: name of the
    positive class; empty for 1. ``names``: those that people read. ``doubt``: why there is no
    release whatever the claims are. ``unbounded``: as :func:`unbounded_gaps` returns them.
    """
    shown = [claim._replace(row=names.in_row(claim.row)) for claim in claims]
    version = names.versions.get(version, version)
    words = _Words(shown, names.items, label, version)
    verdict, reason, lines = _judge(shown, words)
    if doubt and verdict == RELEASE:
        verdict, reason, lines = UNDECIDED, f"{words.version} {names.in_text(doubt)}", []
    if unbounded:
        worst = unbounded[0]._replace(row=names.in_row(unbounded[0].row))
        lines = [*lines, f"without a bound: {words.describe(worst)}"]
    sentences = [f"{capitalise(line)}." for line in lines if line]
    meanings = words.meanings(shown)
    return Decision(
        verdict,
        printable(version),
        printable(reason),
        list(map(printable, sentences)),
        claims,
        meanings,
    )


def _judge(claims: Sequence[Claim], words: _Words) -> tuple[Verdict, str, list[str]]:
    """Return the verdict on claims, its reason, and what else is known."""
    known = [claim for claim in claims if not isnan(claim.row.value)]
    if not known:
        unknown = [
            f"too little is known{words.about(claim.group)}: {claim.row.reason}" for claim in claims
        ]
        return UNDECIDED, (unknown or ["no groups are compared in a measure of errors"])[0], []
    first, limited = claims[0], not isnan(claims[0].limit)
    better = [claim for claim in known if claim.kind == "harm" and claim.is_improvement]
    lines = [words.listed("shown to be better", better)]
    if not limited:
        first = max(known, key=lambda claim: (claim.row.low_simultaneous > 0, claim.row.value))
        is_shown = first.row.low_simultaneous > 0
        largest = f"the largest difference{' that is shown' * is_shown}: {words.describe(first)}"
        reason = f"no bound is given. {capitalise(largest)}"
        return UNDECIDED, reason, [f"set a bound, such as --fail-above {first.row.measure}=.1"]
    if first.verdict == "above":
        above = [claim for claim in claims[1:] if claim.verdict == "above"]
        return (
            REFUSE,
            words.describe(first),
            [words.listed(f"also above what is allowed{words.limits(above)}", above), *lines],
        )
    if isnan(first.row.value):
        reason = f"too little is known{words.about(first.group)}: {first.row.reason}"
        return UNDECIDED, reason, [words.nearest(known[0]), *lines]
    if first.verdict == "cannot tell":
        possible = [claim for claim in claims[1:] if claim.verdict == "cannot tell"]
        allowed = words.limits(possible)
        more = words.listed(f"also possibly above what is allowed{allowed}", possible)
        joint = words.adjusted(first, len([each for each in claims if each.kind == first.kind]))
        is_measured = len(known) == len(claims)  # else more items of this group settle nothing
        needed = words.would_tell(first) if is_measured else ""
        return UNDECIDED, words.describe(first), [joint, more, needed, *lines]
    n = f"all {len(claims)} comparisons are" if len(claims) > 1 else "the only comparison is"
    return RELEASE, f"{n} within what is allowed. {capitalise(words.nearest(first))}", lines


class _Outcome(NamedTuple):
    """An outcome counted in 100 items of a kind: of ``positives``, ``others`` or all ``items``."""

    kind: str
    title: str
    present: str
    past: str
    meaning: str


_MISSES = _Outcome(*("positives", "missed", "misses {}", "missed {}", "{positives} not {flagged}"))
_FLAGS = _Outcome(
    *("others", "wrongly flagged", "wrongly flags {}", "wrongly flagged {}", "{others} {flagged}")
)
_ERRS = _Outcome("items", "wrong", "gets {} wrong", "got {} wrong", "{items} predicted wrongly")
_BY_ERROR = {"missed": _MISSES, "flagged": _FLAGS, "wrong": _ERRS}
OUTCOMES = {name: _BY_ERROR[facts.error] for name, facts in MEASURE_FACTS.items() if facts.error}


def find_outcome(measure: str, subset: str) -> _Outcome | None:
    """Return the outcome that a measure counts, of a class by its name; None for another."""
    outcome, name = OUTCOMES.get(measure), _class_name(subset)
    if outcome is None or not name:
        return outcome
    if outcome is _FLAGS:
        verbs = f"wrongly calls {{}} {name}", f"wrongly called {{}} {name}"
        return outcome._replace(title=f"wrongly called {name}", present=verbs[0], past=verbs[1])
    return outcome._replace(title=f"{name} {outcome.title}")


class _Words:
    """Claims in words, and in counts of 100, for somebody who does not know statistics."""

    def __init__(self, claims: Sequence[Claim], items: str, label: str, version: str) -> None:
        self._has_both = len({claim.kind for claim in claims}) > 1
        words = items.split()
        self.version = version or "the classifier"
        self._positives = " ".join(words) or (f"{label} items" if label else "positive items")
        self._items = words[-1] if len(words) > 1 else "items"
        quality = " ".join(words[:-1]) or items or label
        self._others = f"{f'not {quality}' if quality else 'negative'} {self._items}"

    def _kinds(self, subset: str) -> dict[str, str]:
        name = _class_name(subset)
        of_class = f"{subset} {self._items}" if name == subset else f"{self._items} of {name}"
        return {
            "positives": of_class if subset else self._positives,
            "others": f"{self._items} of other classes" if subset else self._others,
            "items": self._items,
            "flagged": f"called {name}" if subset else "flagged",
        }

    def about(self, group: str) -> str:
        """Return `` about women``; nothing for all items."""
        return "" if group == ALL else f" about {self._side(group)}"

    def _side(self, group: str) -> str:
        return {**IN_WORDS, "none": "no group"}.get(group, group)

    def _of_100(self, claim: Claim) -> str:
        kind = self._kinds(claim.row.subset)[claim.outcome.kind if claim.outcome else "items"]
        return f"{kind}{self.about(claim.group)}"

    def describe(self, claim: Claim) -> str:
        """Format ``of 100 toxic comments about women v1 missed 6, v2 misses 38: 32 more (27 to
        37), where 2 are allowed``.
        """
        measure, limit, outcome = claim.row.measure, claim.limit, claim.outcome
        if outcome is None:
            noun = "change" if claim.kind == "harm" else "gap"
            size = format_estimate(claim.row.value, claim.row.low, claim.row.high)
            allowed = "" if isnan(limit) else f", where {format_trimmed(limit)} is allowed"
            return (
                f"the {noun} of {measure_name(measure)}{self.about(claim.group)} is {size}{allowed}"
            )
        rates = [100 * error_rate(measure, rate) for rate in claim.rates]
        worse, low, high = (100 * end for end in claim.interval)
        ends = [] if isnan(limit) else [(100 * limit, end) for end in (worse, low, high)]
        digits = max(_digits(*pair) for pair in [(rates[0], rates[1]), *ends])
        is_sum = abs(round(rates[1]) - round(rates[0])) == abs(round(worse))
        digits = digits if is_sum else max(digits, 1)
        before, after, *sizes = (_fixed(number, digits) for number in (*rates, worse, low, high))
        if claim.kind == "harm":
            old, new = outcome.past.format(before), outcome.present.format(after)
            pair = f"{claim.against} {old}, {self.version} {new}"
        else:
            own, reference = outcome.present.format(after), self.about(claim.against).strip()
            pair = f"{self.version} {own}, {reference} {before}"
        noun = "change" if claim.kind == "harm" else "difference"
        count = f"{sizes[0]} more" if low >= 0 < worse else f"a {noun} of {sizes[0]}"
        allowed = "" if isnan(limit) else f", where {100 * limit:.3g} are allowed"
        return f"of 100 {self._of_100(claim)} {pair}: {count} ({sizes[1]} to {sizes[2]}){allowed}"

    def adjusted(self, claim: Claim, n: int) -> str:
        """Format the range adjusted over n claims, where the single one is above what is allowed;
        else nothing.
        """
        if not claim.interval[1] > claim.limit:
            return ""
        low, high = (f"{100 * end:.1f}" for end in claim.joint[1:])
        return f"over all {n} comparisons together the range is {low} to {high} in 100"

    def nearest(self, claim: Claim) -> str:
        """Describe the claim that is nearest to its limit."""
        return f"nearest to the limit: {self.describe(claim)}"

    def would_tell(self, claim: Claim) -> str:
        """Say how many items tell the value from the limit in four of five samples; empty for too
        many.
        """
        n = claim.n or 0
        margin = abs(claim.limit - claim.interval[0])
        times = (detectable_change(claim.row._asdict()) / margin) ** 2 if margin else inf
        if not times < _MOST_TIMES:
            return ""
        unit = 10 ** max(0, int(log10(n * times)) - 1)
        needed = f"{ceil(n * times / unit) * unit:,}"
        return f"some {needed} {self._of_100(claim)} instead of {n:,} would probably settle this"

    def listed(self, what: str, claims: Sequence[Claim]) -> str:
        """Format ``also above: women (missed), men (wrongly flagged) and 2 more``; with what each
        is compared where both changes and gaps are claimed.
        """
        names = []
        for claim in claims[:_MAX_LISTED]:
            title = claim.outcome.title if claim.outcome else measure_name(claim.row.measure)
            title += f", compared with {self._side(claim.against)}" if self._has_both else ""
            group = "all items" if claim.group == ALL else IN_WORDS.get(claim.group, claim.group)
            names.append(f"{group} ({title})")
        more = f" and {len(claims) - _MAX_LISTED} more" if len(claims) > _MAX_LISTED else ""
        return f"{what}: {', '.join(names)}{more}" if names else ""

    def limits(self, claims: Sequence[Claim]) -> str:
        """Format `` (2 in 100 compared with v1, 10 with all others)`` where both are claimed."""
        allowed = {self._side(claim.against): 100 * claim.limit for claim in claims}
        parts = [f"{limit:.3g} with {side}" for side, limit in allowed.items()]
        if not (parts and self._has_both):
            return ""
        return (
            f" ({', '.join([parts[0].replace(' with', ' in 100 compared with', 1), *parts[1:]])})"
        )

    def meanings(self, claims: Sequence[Claim]) -> list[tuple[str, str]]:
        """Return what each count means, in a line."""
        found: dict[str, str] = {}
        rows = [claim.row for claim in claims if claim.row.measure in OUTCOMES]
        counted = [(row.measure, row.subset) for row in rows]
        for row in rows[:1]:  # both kinds of errors are drawn
            counted += [(measure, row.subset) for measure in (MISSED[0], FLAGGED[0])]
        for measure, subset in counted:
            if outcome := find_outcome(measure, subset):
                meaning = outcome.meaning.format(**self._kinds(subset))
                found.setdefault(capitalise(outcome.title), meaning)
        return list(found.items())


def _class_name(subset: str) -> str:
    return f"class {subset}" if subset.isdecimal() else subset


def _digits(first: float, second: float) -> int:
    """Return the decimals, at most two, by which two numbers differ if they do."""
    if abs(first - second) < 1e-9:
        return 0
    return next((n for n in (0, 1) if round(first, n) != round(second, n)), 2)


def _fixed(number: float, digits: int) -> str:
    """Format with so many decimals; zero has no sign."""
    text = f"{number:.{digits}f}"
    return text if float(text) else text.removeprefix("-")
