"""Counts of 100: a table of gaps in words and marks for somebody who does not know statistics."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import accumulate
from math import ceil, isfinite, log10
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from biasbridge.analysis.naming import ALL, capitalise, measure_title
from biasbridge.stats.formatting import (
    IN_WORDS,
    detectable_change,
    format_number,
    harm_sign,
    order_groups,
)

if TYPE_CHECKING:
    import pandas as pd

Row: TypeAlias = "Mapping[Hashable, Any]"
MAX_CHARTED = 8  # groups on the first screen
_MOST_TIMES = 100  # the present number of items: more is no advice
_PREPOSITIONS = ("about", "among", "by", "for", "from", "in", "of")
_MAX_NAME_WORDS = 25  # of these groups, so that the screen has fewer than 120
_AXIS_ENDS = (2, 5, 10, 20, 30, 40, 50, 60, 80, 100)


class Wording(NamedTuple):
    """What items are called: "toxic comments", "other comments", "comments", and "about"."""

    positives: str
    others: str
    items: str = "items"
    preposition: str = "about"
    flagged: str = "flagged"  # predicted positive


def read_wording(called: str = "", label: str = "") -> Wording:
    """Read what positive items are called, ``toxic comments`` or ``able applicants among``.

    Its last noun is that of all items, and a preposition at its end replaces "about". Empty: they
    are called after ``label``, that of the positive class.
    """
    words, preposition = called.split(), "about"
    if len(words) > 1 and words[-1] in _PREPOSITIONS:
        preposition = words.pop()
    if not words and not label:
        return Wording("positive items", "negative items")
    noun = words[-1] if len(words) > 1 else "items"
    return Wording(" ".join(words) or f"{label} items", f"other {noun}", noun, preposition)


class Count(NamedTuple):
    """An outcome that is counted in 100 items of a kind, a field of ``Wording``."""

    kind: str
    title: str
    present: str
    past: str
    meaning: str
    is_complement: bool = False  # of the measure


_MISSED = "missed", "misses {}", "missed {}", "{positives} that are not {flagged}"
COUNTS = {
    "recall": Count("positives", *_MISSED, is_complement=True),
    "fnr": Count("positives", *_MISSED),
    "fpr": Count(
        *("others", "wrongly flagged", "wrongly flags {}", "wrongly flagged {}"),
        "{others} that are {flagged}",
    ),
    "accuracy": Count(
        *("items", "wrong", "gets {} wrong", "got {} wrong", "{items} with a wrong prediction"),
        is_complement=True,
    ),
    "selection_rate": Count(
        *("items", "flagged", "flags {}", "flagged {}", "{items} that are predicted positive")
    ),
}


class Mark(NamedTuple):
    """A count with its interval, in percent of the axis, and in words."""

    value: float
    low: float
    width: float
    count: str
    text: str


class Chart(NamedTuple):
    """Counts of 100 by group: a column for each title, in a cell a mark for each version."""

    titles: Sequence[str]
    versions: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Sequence[Mark]]]]
    end: int  # of the axis
    n_hidden: int  # groups that fare better than those shown


class GapCounts:
    """A table of gaps whose values are said as counts of 100.

    ``measures`` are those that decide: recall and error rates, or the first other one. ``changes``
    are those of the ``last`` version against the ``first``; names are empty for one version.
    ``largest`` are the largest differences, which may lack gaps.
    """

    def __init__(self, table: pd.DataFrame, wording: Wording) -> None:
        rows: list[Row] = table.to_dict("records")
        values = [row for row in rows if row["kind"] == "value"]
        present = dict.fromkeys(row["measure"] for row in values if row["measure"] != "base_rate")
        rates = [name for name in ("recall", "fnr", "fpr") if name in present]
        rates = [name for name in rates if name != "fnr" or "recall" not in rates]
        others = [name for name in (*COUNTS, *present) if name in present]
        single = [row for row in values if not row.get("earlier")]
        versions = list(dict.fromkeys(row.get("classifier", "") for row in single))
        self.measures = rates or others[:1]
        self.groups = order_groups(rows)
        self.first, self.last = (versions[0], versions[-1]) if versions[1:] else ("", "")
        self.gaps = [row for row in rows if row["kind"] == "gap" and not row.get("earlier")]
        self.largest = [
            row for row in rows if row["kind"] == "max_difference" and isfinite(row["value"])
        ]
        self.changes = [
            row
            for row in values
            if self.last and row["classifier"] == f"{self.last} - {self.first}"
            if row["measure"] in self.measures
        ]
        self._wording = wording
        self._values = {self._key(row, row["group"]): row for row in single}

    def _key(self, row: Row, group: str, version: str = "") -> tuple[str, ...]:
        return version or row.get("classifier", ""), row.get("subset", ""), row["measure"], group

    def name_outcome(self, row: Row) -> str:
        """Return ``missed``, or the title of a measure that is not counted."""
        measure = row["measure"]
        return COUNTS[measure].title if measure in COUNTS else measure_title(measure)

    def about(self, group: str) -> str:
        """Return ``about women``; empty for all items."""
        name = {**IN_WORDS, "none": "no group"}.get(group, group)
        return "" if group == ALL else f"{self._wording.preposition} {name}"

    def items(self, row: Row, group: str) -> str:
        """Return ``toxic comments about women``."""
        count = COUNTS.get(row["measure"])
        kind = getattr(self._of_class(row.get("subset", "")), count.kind if count else "items")
        return f"{kind} {self.about(group)}".strip()

    def _of_class(self, subset: str) -> Wording:
        if subset in ("", "macro"):
            return self._wording
        noun = self._wording.items
        return Wording(
            *(f"{subset} {noun}", f"other {noun}", noun),
            self._wording.preposition,
            f"called {subset}",
        )

    def across_versions(self, row: Row) -> str:
        """Format ``of 100 toxic comments about women v1 missed 6, v2 misses 38 (33 to 43)``."""
        before, after = (
            self._values[self._key(row, row["group"], version)]
            for version in (self.first, self.last)
        )
        old, new, interval = _numbers(row["measure"], before["value"], after)
        if count := COUNTS.get(row["measure"]):
            verbs = count.past.format(old), count.present.format(new)
            start = f"of 100 {self.items(row, row['group'])}"
            return f"{start} {self.first} {verbs[0]}, {self.last} {verbs[1]}{interval}"
        start = f"{measure_title(row['measure'])} {self.about(row['group'])}".strip()
        return f"{start} was {old} with {self.first}, is {new}{interval} with {self.last}"

    def across_groups(self, row: Row) -> str:
        """Format ``of 100 toxic comments about women v1 misses 38 (33 to 43), about men 12``."""
        value = self._values[self._key(row, row["unprivileged"])]
        # Of all other items there is a gap only
        rest = {"value": value["value"] - harm_sign(row["measure"]) * row["value"]}
        compared = self._values.get(self._key(row, row["privileged"]), rest)["value"]
        other, own, interval = _numbers(row["measure"], compared, value)
        ending = f"{interval}, {self.about(row['privileged'])} {other}"
        if count := COUNTS.get(row["measure"]):
            verb = count.present.format(own)
            subject = row.get("classifier", "") or "the classifier"
            return f"of 100 {self.items(row, row['unprivileged'])} {subject} {verb}{ending}"
        return f"{measure_title(row['measure'])} {self.about(row['unprivileged'])} is {own}{ending}"

    def would_tell(self, row: Row, group: str, margin: float) -> str:
        """Say how many items tell a margin from 0 in four of five samples; empty for too many."""
        n = int(row["support"] if row["kind"] == "value" else row["support_unprivileged"])
        times = (detectable_change(row) / margin) ** 2 if margin else _MOST_TIMES
        if times >= _MOST_TIMES:
            return ""
        unit = 10 ** max(0, int(log10(n * times)) - 1)
        needed = ceil(n * times / unit) * unit
        return f"some {needed:,} {self.items(row, group)} would probably tell; there are {n:,}"

    def size(self, row: Row, *numbers: float) -> list[str]:
        """Format differences of a measure, in counts of 100 if it is counted, with digits that tell
        the first from the others.
        """
        scale, fewest = (100, 0) if row["measure"] in COUNTS else (1, 2)
        digits = fewest + digits_between(*(100 * number for number in numbers))
        return [format_number(scale * number, digits) for number in numbers]

    def chart(self, subset: str) -> Chart:
        """Return the chart of a class, or of all items: the groups that fare worst, then all."""
        measures = [name for name in self.measures if name in COUNTS]
        versions = [self.first, self.last] if self.last else [self._only_version()]
        cells = {
            (group, measure): [
                self._values.get((version, subset, measure, group)) for version in versions
            ]
            for group in (*self.groups, ALL)
            for measure in measures
        }
        n_words = list(accumulate(len(group.split()) for group in self.groups))
        n_groups = sum(number <= _MAX_NAME_WORDS for number in n_words[:MAX_CHARTED])
        shown = [*self.groups[: max(n_groups, 2)], ALL]
        counts = {
            key: [_counts(key[1], row) for row in rows if row and isfinite(row["value"])]
            for key, rows in cells.items()
            if key[0] in shown
        }
        largest = max((max(count) for marks in counts.values() for count in marks), default=100)
        end = next((size for size in _AXIS_ENDS if size >= largest), 100)
        rows = [
            (
                "all" if group == ALL else group,
                [
                    [_mark(*count, end=end) for count in counts[group, measure]]
                    for measure in measures
                ],
            )
            for group in shown
        ]
        titles = [capitalise(COUNTS[name].title) for name in measures]
        hidden = len(self.groups) - len(shown) + 1
        return Chart(titles, [*filter(None, versions)], rows, end, max(0, hidden))

    def _only_version(self) -> str:
        return next((key[0] for key in self._values), "")

    def meanings(self, subset: str) -> list[tuple[str, str]]:
        """Return what each count means, in a line."""
        wording = self._of_class(subset)._asdict()
        counts = [COUNTS[name] for name in self.measures if name in COUNTS]
        return [(capitalise(count.title), count.meaning.format(**wording)) for count in counts]


def _counts(measure: str, row: Row) -> tuple[float, float, float]:
    """Return a value, and the ends of its interval, as counts of 100."""
    count = COUNTS.get(measure)
    value, low, high = (100 * float(row[name]) for name in ("value", "low", "high"))
    if count and count.is_complement:
        return 100 - value, 100 - high, 100 - low
    return value, low, high


def _mark(value: float, low: float, high: float, *, end: int) -> Mark:
    scale = 100 / end
    count = f"{value:.0f}"
    text = f"{count} ({low:.0f} to {high:.0f})"
    return Mark(value * scale, low * scale, (high - low) * scale, count, text)


def _numbers(measure: str, other: float, row: Row) -> tuple[str, str, str]:
    """Format another value, that of a row, and its interval, with digits that tell the two apart;
    the interval follows a blank.
    """
    scale, fewest = (1.0, 0) if measure in COUNTS else (0.01, 2)
    value, low, high = _counts(measure, row)
    compared = _counts(measure, {"value": other, "low": other, "high": other})[0]
    digits = fewest + digits_between(value, compared)
    texts = [format_number(number * scale, digits) for number in (compared, value, low, high)]
    interval = f" ({texts[2]} to {texts[3]})" if isfinite(low + high) else ""
    return texts[0], texts[1], interval


def digits_between(*numbers: float) -> int:
    """Return the decimals, at most two, by which a first number differs from the others."""
    first, *others = numbers
    for digits in (0, 1):
        if all(
            number == first or round(number, digits) != round(first, digits) for number in others
        ):
            return digits
    return 2
