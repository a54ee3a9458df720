r"""Gaps of a coreference resolver on a challenge set (Zhao et al., 2018; Rudinger et al., 2018;
Webster et al., 2018).

    gap = measure(pro) - measure(anti)            of documents that a stereotype helps and hinders
    gap = measure(privileged) - measure(unprivileged)                    of pronouns of two genders

so that every gap is positive where the stereotype holds, or the unprivileged gender fares worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd
from annotated_types import Gt, Lt

from extrinsic.coreference.challenge.bootstrap import Units
from extrinsic.coreference.challenge.measures import (
    ACCURACY,
    CANDIDATES,
    CLUSTERS,
    NAMED,
    WIDTH,
    Answer,
    Floats,
    Measure,
    tally,
)
from extrinsic.coreference.challenge.percentages import correlation, percentages_and_leanings
from extrinsic.intervals import UNDEFINED
from files import InputError, choice
from files.choice import Fileless, Whole

if TYPE_CHECKING:
    from files.documents import Case

PRO, ANTI = "pro", "anti"


@choice
class ChallengeGaps(Fileless):
    """Which genders are compared, on how many items at least, at which level of confidence.

    ``scored``: precision, recall and F1 of ``clusters`` (the mean of MUC, B-cubed and CEAF-e, as
    for WinoBias) or of ``names`` that the pronoun refers to (as for GAP and Winogender).
    """

    scored: Literal["clusters", "names"] = "clusters"
    privileged: str = "male"
    unprivileged: str = "female"
    least_support: Whole = 10
    level: Annotated[float, Gt(0), Lt(1)] = 0.95

    name: ClassVar[str] = "challenge_gaps"
    version: ClassVar[int] = 2
    seeded: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.privileged == self.unprivileged:
            raise InputError(
                f"the privileged and the unprivileged gender are both {self.privileged!r}; name two"
            )

    @property
    def compared(self) -> Mapping[str, Measure]:
        """The measures of which gaps are made, by name."""
        return (CLUSTERS if self.scored == "clusters" else NAMED) | ACCURACY

    @property
    def measures(self) -> Mapping[str, Measure]:
        """All, by name."""
        return {**self.compared, **CANDIDATES}


class Row(NamedTuple):
    """A measure of a group, a gap, a ratio or a correlation; see ``challenge_rows``."""

    kind: Literal["value", "gap", "ratio", "correlation"]
    measure: str
    subset: str
    group: str = ""
    privileged: str = ""
    unprivileged: str = ""
    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
    support: int = 0
    support_privileged: int | None = None
    support_unprivileged: int | None = None
    mention_recall: float = np.nan
    reason: str = ""
    resampled: Sequence[float] = ()


def as_table(rows: Sequence[Row]) -> pd.DataFrame:
    """The rows as a table, supports as integers that may be missing."""
    supports = ("support", "support_privileged", "support_unprivileged")
    table = pd.DataFrame(rows, columns=list(Row._fields))
    return table.astype(dict.fromkeys(supports, "Int64"))


class Part(NamedTuple):
    """The tallies of the groups of one kind, (units, groups, WIDTH), 0 where a unit has no document
    of a group.
    """

    subset: str
    units: list[str]
    groups: list[str]
    tallies: Floats

    def of(self, *groups: str) -> Units:
        """The units that have any of the groups, and the tallies of these groups."""
        kept = self.tallies[:, [self.groups.index(group) for group in groups]]
        there = np.flatnonzero(np.any(kept, axis=(1, 2)))
        return Units([self.units[i] for i in there], kept[there])


def challenge_rows(answers: Sequence[Answer], gaps: ChallengeGaps) -> list[Row]:
    """Measures of every group, gaps between them, all with intervals, by subset.

    Kinds of rows: ``value``, a measure of a group: of the cases that are ``pro`` and ``anti``, and
    of the pronouns of each gender; ``gap``, pro minus anti in precision, recall, F1 and accuracy,
    and privileged minus unprivileged gender in F1 and accuracy; ``ratio``, F1 of the unprivileged
    over that of the privileged gender (GAP's bias factor); ``correlation``, where occupations have
    a percentage of women, of it with how much rather they are linked to pronouns of the
    unprivileged gender than of the privileged one (Rudinger et al., 2018).

    ``mention_recall`` is the share of the true mentions that were candidates: a gap whose sides
    differ in it, or are low in it, is one of pruning; for a gap it is the smaller of the two. Below
    ``least_support`` a measure is NaN, with its reason. ``low`` and ``high``: see
    ``extrinsic.coreference.challenge.bootstrap``; of a correlation by Fisher's z. ``resampled``:
    of a gap, over 200 resamples of the units.

    Raises ``InputError`` where there is no case, and for a pair of groups of which one is missing.
    """
    if not answers:
        raise InputError("the challenge set holds no case")
    rows: list[Row] = []
    for subset in sorted({each.case.subset for each in answers}):
        rows += _of_subset([each for each in answers if each.case.subset == subset], gaps)
    return rows


def _of_subset(answers: Sequence[Answer], gaps: ChallengeGaps) -> list[Row]:
    tallies = [tally(each) for each in answers]
    cases = [each.case for each in answers]
    rows: list[Row] = []
    if any(conditions := [case.condition for case in cases]):
        by_condition = _part(cases, conditions, tallies)
        rows += _compared(by_condition, (PRO, ANTI), gaps, list(gaps.compared))
    by_gender = _part(cases, [case.gender for case in cases], tallies)
    genders = gaps.privileged, gaps.unprivileged
    rows += _compared(by_gender, genders, gaps, ["f1", *ACCURACY])
    rows.append(_ratio(by_gender, genders, gaps))
    if len(occupations := percentages_and_leanings(answers, *genders)):
        rows.append(_correlation(cases[0].subset, occupations, gaps))
    return rows


def _part(cases: Sequence[Case], group_of: Sequence[str], tallies: Sequence[Floats]) -> Part:
    """The tallies by unit and group; cases without a group are left out."""
    groups = sorted({*group_of} - {""})
    units = sorted({case.unit for case in cases})
    place = {unit: number for number, unit in enumerate(units)}
    table = np.zeros((len(units), len(groups), WIDTH))
    for case, group, row in zip(cases, group_of, tallies, strict=True):
        if group:
            table[place[case.unit], groups.index(group)] += row
    return Part(cases[0].subset, units, groups, table)


def _compared(
    part: Part, pair: tuple[str, str], gaps: ChallengeGaps, compared: Sequence[str]
) -> list[Row]:
    """Values of all groups in all measures, then the gaps of two groups in some."""
    for group in pair:
        if group not in part.groups:
            where = f"subset {part.subset}" if part.subset else "the challenge set"
            there = ", ".join(part.groups) or "none"
            raise InputError(f"no case of group {group!r} in {where}; groups there: {there}")
    values = {
        (group, name): _value(part.subset, group, units, name, gaps)
        for group in part.groups
        for units in [part.of(group)]
        for name in gaps.measures
    }
    both = part.of(*pair)
    between = [_gap(both, values[pair[0], name], values[pair[1], name], gaps) for name in compared]
    return [*values.values(), *between]


def _value(subset: str, group: str, units: Units, name: str, gaps: ChallengeGaps) -> Row:
    measure = gaps.measures[name]
    support = int(measure.support(units.total)[0])
    reason = _lacks(measure.items, group, support, gaps.least_support)
    found = UNDEFINED if reason else units.estimate(measure.first, gaps.level)
    return Row(
        kind="value",
        measure=name,
        subset=subset,
        group=group,
        **found._asdict(),
        support=support,
        mention_recall=float(CANDIDATES["mention_recall"].values(units.total)[0]),
        reason=reason,
    )


def _lacks(items: str, group: str, support: int, least: int) -> str:
    """Why there is no value; empty where there is one."""
    if not support:
        return f"no {items} of group {group}"
    return f"{support} {items} of group {group}, fewer than {least}" if support < least else ""


def _gap(units: Units, first: Row, second: Row, gaps: ChallengeGaps) -> Row:
    reason = "; ".join(filter(None, (first.reason, second.reason)))
    statistic = gaps.measures[first.measure].difference
    found = UNDEFINED if reason else units.estimate(statistic, gaps.level)
    return Row(
        kind="gap",
        measure=first.measure,
        subset=first.subset,
        privileged=first.group,
        unprivileged=second.group,
        **found._asdict(),
        support=min(first.support, second.support),
        support_privileged=first.support,
        support_unprivileged=second.support,
        mention_recall=min(first.mention_recall, second.mention_recall),
        reason=reason,
        resampled=[] if reason else units.resampled(statistic),
    )


def _ratio(part: Part, pair: tuple[str, str], gaps: ChallengeGaps) -> Row:
    """F1 of the unprivileged gender over that of the privileged one; 1: none fares worse."""
    f1 = gaps.measures["f1"]
    units = part.of(*pair)
    supports = [int(each) for each in f1.support(units.total)]
    lacks = (_lacks(f1.items, *of, gaps.least_support) for of in zip(pair, supports, strict=True))
    reason = "; ".join(filter(None, lacks))
    if not reason and not f1.values(units.total)[0]:
        reason = f"F1 of group {pair[0]} is 0"
    found = UNDEFINED if reason else units.estimate(f1.quotient, gaps.level)
    return Row(
        kind="ratio",
        measure="f1",
        subset=part.subset,
        privileged=pair[0],
        unprivileged=pair[1],
        **found._asdict(),
        support=min(supports),
        support_privileged=supports[0],
        support_unprivileged=supports[1],
        reason=reason,
    )


def _correlation(subset: str, occupations: Floats, gaps: ChallengeGaps) -> Row:
    found = correlation(occupations, gaps.level)
    undefined = np.isnan(found.value)
    return Row(
        kind="correlation",
        measure="percentage",
        subset=subset,
        privileged=gaps.privileged,
        unprivileged=gaps.unprivileged,
        **found._asdict(),
        support=len(occupations),
        reason=f"{len(occupations)} occupations, or no difference among them" if undefined else "",
    )
