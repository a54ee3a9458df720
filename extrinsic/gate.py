"""A gate: whether the gaps between groups keep to bounds, decided on their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import inf, isnan
from typing import TYPE_CHECKING, Any, Literal, get_args

from extrinsic.gap_table import WITHOUT_GAP, Row, as_table
from extrinsic.gaps import ALL_MEASURES, CRITERIA
from extrinsic.terminal import name_measure
from files import InputError, nearest
from files.printable import printable
from stats.changes import IN_WORDS
from stats.multiple_testing import LEVEL

if TYPE_CHECKING:
    import pandas as pd

    from extrinsic.request import GapRequest

FailIf = Literal["worse", "possible"]
MEASURES_WITH_GAP = tuple(name for name in ALL_MEASURES if name not in (*CRITERIA, *WITHOUT_GAP))
DECISION_COLUMNS = (
    *("classifier", "subset", "measure", "privileged", "unprivileged", "value"),
    *("low_simultaneous", "high_simultaneous", "bound", "passed", "reason"),
)


@dataclass(frozen=True)
class GateResult:
    """Decision of a gate, true where it passes, with a ``sentence`` why.

    ``decisions`` has a row for each tested gap: its value, its simultaneous interval, the ``bound``
    and whether it ``passed``.
    """

    passed: bool
    sentence: str
    decisions: pd.DataFrame

    def __bool__(self) -> bool:
        return self.passed


def check_gate(bounds: Mapping[str, float], fail_if: str, compare: Sequence[str]) -> None:
    """Raise ``InputError`` for a measure without a gap, a bound outside [0, 1), an unknown rule,
    and comparisons that have no gap.
    """
    listed = f"measures with a gap: {', '.join(MEASURES_WITH_GAP)}"
    if not bounds:
        raise InputError(f"the gate has no bound; give one such as recall=.1; {listed}")
    for measure, bound in bounds.items():
        if measure not in ALL_MEASURES:
            near = nearest(measure, ALL_MEASURES)
            raise InputError(f"unknown measure {measure!r}{near}; {listed}")
        if measure not in MEASURES_WITH_GAP:
            raise InputError(f"{measure} has no gap of one group to another; {listed}")
        if not isinstance(bound, int | float) or not 0 <= bound < 1:
            raise InputError(f"the bound of {measure} is {bound!r}; give a number in [0, 1)")
    if fail_if not in get_args(FailIf):
        raise InputError(f"the gate fails if {fail_if!r}; give {' or '.join(get_args(FailIf))}")
    require_gap(compare)


def require_gap(compare: Sequence[str]) -> None:
    """Raise ``InputError`` for comparisons that have no gap of one group to another."""
    if compare and {*compare} == {"max-difference"}:
        raise InputError("--compare max-difference has no gap of one group; add one-vs-rest")


def find_gated_gaps(
    request: GapRequest, table: pd.DataFrame, bounds: Mapping[str, float]
) -> pd.DataFrame:
    """Compute the gaps of the bounded measures in a table of predictions.

    ``low_simultaneous`` and ``high_simultaneous`` are adjusted over all of them: groups, measures,
    classifiers and classes. Differences between classifiers are left out.
    """
    compare = tuple(name for name in request.compare if name != "max-difference")
    request = replace(request, measures=tuple(bounds), compare=compare)
    rows = _gaps_of(request.find_rows(table))
    n = sum(not isnan(row.value) for row in rows)
    if n and len({(row.classifier, row.subset) for row in rows}) > 1:
        wider = _gaps_of(replace(request, level=1 - LEVEL / n).find_rows(table))
        rows = [
            row._replace(low_simultaneous=wide.low, high_simultaneous=wide.high)
            for row, wide in zip(rows, wider, strict=True)
        ]
    return as_table(rows)


def _gaps_of(rows: Sequence[Row]) -> list[Row]:
    contrasts = _contrasts({row.classifier for row in rows})
    return [row for row in rows if row.kind == "gap" and row.classifier not in contrasts]


def _contrasts(classifiers: set[str]) -> set[str]:
    """Return the names of differences between two classifiers."""
    return {f"{first} - {second}" for first, second in permutations(classifiers, 2)}


def select_gated_gaps(table: pd.DataFrame, bounds: Mapping[str, float]) -> pd.DataFrame:
    """Return the gaps of the bounded measures in a table of gaps, with its simultaneous intervals;
    ``InputError`` for a measure without any.
    """
    gaps = table[table["kind"].eq("gap") & table["measure"].isin([*bounds])]
    if "classifier" in table:
        gaps = gaps[~gaps["classifier"].isin(_contrasts({*table["classifier"]}))]
    for measure in bounds:
        if measure not in {*gaps["measure"]}:
            raise InputError(f"the table has no gap of {measure}; make it with this measure")
    numbers = ("value", "low_simultaneous", "high_simultaneous")
    cells = {name: gaps[name].replace("", None).astype(float) for name in numbers}
    return gaps.assign(**cells)


def decide(gaps: pd.DataFrame, bounds: Mapping[str, float], fail_if: FailIf) -> GateResult:
    """Decide on gaps by their simultaneous intervals.

    "worse" fails where an interval lies wholly above the bound; "possible" fails unless every
    interval lies wholly at or below it, and so for a gap without a value. A gap that favours the
    group is negative and below every bound.
    """
    bound = gaps["measure"].map(dict(bounds)).astype(float)
    end = gaps["low_simultaneous" if fail_if == "worse" else "high_simultaneous"]
    excess = (end - bound).fillna(-inf if fail_if == "worse" else inf)
    decided = gaps.assign(bound=bound, passed=excess <= 0).loc[excess.sort_values().index[::-1]]
    decisions = decided[[name for name in DECISION_COLUMNS if name in decided]]
    passed = bool(decisions["passed"].all())
    sentence = _sentence(decisions.to_dict("records"), passed=passed, fail_if=fail_if)
    return GateResult(passed, printable(sentence), decisions.sort_index())


def _sentence(rows: Sequence[Mapping[Any, Any]], *, passed: bool, fail_if: FailIf) -> str:
    """Say what was decided, with the gap that is furthest above its bound, or nearest to it."""
    first, n = rows[0], len(rows)
    gap, bound = _describe(first), format_number(first["bound"])
    if not passed:
        n_failed = sum(not row["passed"] for row in rows)
        verb = "is surely" if fail_if == "worse" else "may be"
        return f"The gate fails: {gap} {verb} above {bound}; {n_failed} of {n} gaps fail."
    n_undefined = sum(isnan(row["value"]) for row in rows)
    without = f" ({n_undefined} without a value)" if n_undefined else ""
    if fail_if == "worse":
        said = f"none of {n} gaps{without} is surely above its bound"
    else:
        said = f"each of {n} gaps is surely at most its bound"
    return f"The gate passes: {said}; the nearest: {gap}, bound {bound}."


def _describe(row: Mapping[Any, Any]) -> str:
    """Format ``the recall gap of women to all others, +.150 [.021,.280],``."""
    reference = IN_WORDS.get(row["privileged"], row["privileged"])
    subset = f"class {row['subset']}" if row.get("subset") else ""
    where = "".join(f" ({name})" for name in (row.get("classifier"), subset) if name)
    name = f"the {name_measure(row['measure'])} gap of {row['unprivileged']} to {reference}{where}"
    if isnan(row["value"]):
        return f"{name} has no value ({row['reason']}) and"
    low, high = (format_number(row[f"{end}_simultaneous"]) for end in ("low", "high"))
    return f"{name}, {format_number(row['value'], '+')} [{low},{high}],"


def format_number(number: float, sign: str = "") -> str:
    """Format with up to three digits, without the zero before the point: ``-.05``."""
    rounded = round(number, 3) + 0.0  # no minus before a zero
    return f"{rounded:{sign if rounded else ''}g}".replace("0.", ".", 1)
