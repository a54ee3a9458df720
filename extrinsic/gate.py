"""A gate: whether the gaps between groups keep to bounds, decided on their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import inf, isnan
from typing import TYPE_CHECKING, Any, Literal, get_args

import pandas as pd

from biasbridge.extrinsic.gap_table import WITHOUT_GAP, as_table, measure_gaps
from biasbridge.extrinsic.gaps import ALL_MEASURES, CRITERIA
from biasbridge.files import InputError, nearest
from biasbridge.files.errors import printable
from biasbridge.files.group_names import AS_THEY_ARE, CROSSED_BY, GroupNames
from biasbridge.stats.formatting import IN_WORDS, Sign, format_number
from biasbridge.stats.intervals import ALPHA, MAX_GAPS
from biasbridge.stats.measure_facts import measure_heading

if TYPE_CHECKING:
    from biasbridge.extrinsic.predictions import GapRequest

FailIf = Literal["worse", "possible"]
FailOn = Literal["gaps", "changes"]
ONE_VERSION = "a change needs two versions; give a --pred for each, the earlier first"
DECISIVE = {"worse": "low_simultaneous", "possible": "high_simultaneous"}
_MEASURES_WITH_GAP = tuple(name for name in ALL_MEASURES if name not in (*CRITERIA, *WITHOUT_GAP))


@dataclass(frozen=True)
class GateResult:
    """Decision of a gate, true where it passes, with a ``sentence`` why.

    ``decisions``: the tested gaps, with the ``bound`` and whether each ``passed``.
    """

    passed: bool
    sentence: str
    decisions: pd.DataFrame

    def __bool__(self) -> bool:
        return self.passed


def check_gate(
    bounds: Mapping[str, float], fail_if: str, fail_on: str, compare: Sequence[str]
) -> None:
    """Raise ``InputError`` for a measure without a gap, a bound outside [0, 1), an unknown rule,
    and comparisons that have no gap.
    """
    require_gap(bounds, compare, _MEASURES_WITH_GAP)
    for measure, bound in bounds.items():
        if not isinstance(bound, int | float) or not 0 <= bound < 1:
            raise InputError(f"the bound of {measure} is {bound!r}; give a number in [0, 1)")
    if fail_if not in DECISIVE:
        raise InputError(f"the gate fails if {fail_if!r}; give {' or '.join(DECISIVE)}")
    if fail_on not in get_args(FailOn):
        raise InputError(f"the gate fails on {fail_on!r}; give {' or '.join(get_args(FailOn))}")


def require_gap(
    measures: Mapping[str, Any] | Sequence[str], compare: Sequence[str], allowed: Sequence[str]
) -> None:
    """Raise ``InputError`` for no measure, one that is not allowed, comparisons without gaps."""
    listed = f"give any of {', '.join(allowed)}"
    if not measures:
        raise InputError(f"the gate has no bound; give one such as recall=.1; {listed}")
    for name in measures:
        if name not in allowed:
            raise InputError(f"{name!r} has no gap here{nearest(name, allowed)}; {listed}")
    if compare and {*compare} == {"max-difference"}:
        raise InputError("--compare max-difference gives no gap of one group; add one-vs-rest")


def find_gated_gaps(
    request: GapRequest, table: pd.DataFrame, bounds: Mapping[str, float], fail_on: FailOn
) -> pd.DataFrame:
    """Compute the gaps of the bounded measures in a table of predictions, or their changes from
    each classifier to each later one.

    ``low_simultaneous`` and ``high_simultaneous`` are adjusted over all of them: groups, measures,
    classifiers and classes.
    """

    def find_gaps(level: float) -> pd.DataFrame:
        rows, _ = measure_gaps(replace(narrow, level=level), table)
        is_tested = [row.kind == "gap" and bool(row.earlier) == is_change for row in rows]
        return as_table(list(compress(rows, is_tested))).drop(columns="resampled")

    is_change = fail_on == "changes"
    if is_change and len(request.pred) < 2:
        raise InputError(ONE_VERSION)
    compare = tuple(name for name in request.compare if name != "max-difference")
    narrow = replace(request, measures=tuple(bounds), compare=compare)
    gaps = find_gaps(request.level)  # one classifier and class have simultaneous intervals
    if {"classifier", "subset"} & {*gaps} and (n := gaps["value"].count()):
        wider = find_gaps(1 - ALPHA / n)
        return gaps.assign(low_simultaneous=wider["low"], high_simultaneous=wider["high"])
    return gaps


def select_gated_gaps(
    table: pd.DataFrame, bounds: Mapping[str, float], fail_on: FailOn
) -> pd.DataFrame:
    """Return the gaps of the bounded measures in a table of gaps, or their changes, with its
    simultaneous intervals; ``InputError`` for a measure without any.
    """
    gaps = table[table["kind"].eq("gap") & table["measure"].isin([*bounds])]
    earlier = gaps["earlier"].fillna("") if "earlier" in gaps else pd.Series("", gaps.index)
    is_change = earlier.ne("")
    gaps = gaps[is_change == (fail_on == "changes")]
    noun = "change of a gap" if fail_on == "changes" else "gap"
    for measure in bounds:
        if measure not in {*gaps["measure"]}:
            raise InputError(f"the table has no {noun} of {measure}; make it with this measure")
    numbers = ("value", *DECISIVE.values())
    return gaps.assign(**{name: gaps[name].replace("", None).astype(float) for name in numbers})


def decide(
    gaps: pd.DataFrame,
    bounds: Mapping[str, float],
    fail_if: FailIf,
    names: GroupNames = AS_THEY_ARE,
) -> GateResult:
    """Decide on gaps by their simultaneous intervals; ``names`` are those of the sentence.

    "worse" fails where an interval lies wholly above the bound; "possible" fails unless every
    interval lies wholly at or below it, and so for a gap without a value. Both fail for a group,
    unless it is crossed, of which nothing could be measured. A gap that favours the group is
    negative and below every bound.
    """
    if gaps.empty:
        raise InputError("no group is compared with another; name a further group")
    bound = gaps["measure"].map(dict(bounds)).astype(float)
    excess = (gaps[DECISIVE[fail_if]] - bound).fillna(-inf if fail_if == "worse" else inf)
    for side in ("privileged", "unprivileged"):
        support = pd.to_numeric(gaps[f"support_{side}"]).groupby(gaps[side])
        is_named = ~gaps[side].str.contains(CROSSED_BY, regex=False) & ~gaps[side].isin([*IN_WORDS])
        excess = excess.mask((support.transform("max") == 0) & is_named, inf)
    decisions = gaps.assign(bound=bound, passed=excess <= 0)
    shown = names.in_table(decisions)
    sentence = _sentence(shown, shown.iloc[int(excess.argmax())], fail_if)
    return GateResult(bool(decisions["passed"].all()), printable(sentence), decisions)


def format_trimmed(number: float, sign: Sign = "") -> str:
    """Format with up to three decimals: ``-.05``."""
    return format_number(number, 3, sign=sign).rstrip("0").rstrip(".") or "0"


def _sentence(decisions: pd.DataFrame, extreme: pd.Series, fail_if: FailIf) -> str:
    """Say what was decided, and which gap is the furthest above its bound, or the nearest to it."""
    n, n_passed = len(decisions), int(decisions["passed"].sum())
    noun = "changes" if extreme.get("earlier") else "gaps"
    gap, bound = _describe_gap(extreme), format_trimmed(extreme["bound"])
    if n_passed < n:
        verb = "is shown to be" if extreme[DECISIVE["worse"]] > extreme["bound"] else "may be"
        count = f"{n - n_passed} of {n} {noun} fail"
        others = decisions[~decisions["passed"]].drop(index=extreme.name)
        names = [
            f"{row['unprivileged']}, {measure_heading(row['measure'])}"
            for row in others.head(MAX_GAPS).to_dict("records")
        ]
        listed = f" Others: {'; '.join(dict.fromkeys(names))}." if names else ""
        return f"The gate fails: {gap} {verb} above {bound}. {count}.{listed}"
    n_undefined = int(decisions["value"].isna().sum())
    without = f" ({n_undefined} without a value)" if n_undefined else ""
    is_worse = fail_if == "worse"
    verb = "is shown to be above" if is_worse else "is shown to be within"
    decision = f"The gate passes: {'none' if is_worse else 'each'} of {n} {noun}{without} {verb}"
    return f"{decision} its bound. Nearest to its bound, {bound}: {gap.rstrip(',')}."


def _describe_gap(row: pd.Series) -> str:
    """Format ``the recall gap of women to all others, +.15 [.021,.28],``."""
    reference = IN_WORDS.get(row["privileged"], row["privileged"])
    subset = f"class {row['subset']}" if row.get("subset") else ""
    where = "".join(f" ({name})" for name in (row.get("classifier"), subset) if name)
    name = (
        f"the {measure_heading(row['measure'])} gap of {row['unprivileged']} to {reference}{where}"
    )
    name = f"the change of {name}" if row.get("earlier") else name
    if isnan(row["value"]):
        return f"{name}, no value ({row['reason']}),"
    low, high = (format_trimmed(row[end]) for end in DECISIVE.values())
    return f"{name}, {format_trimmed(row['value'], '+')} [{low},{high}],"
