r"""Gaps of a coreference resolver on a challenge set (Zhao et al., 2018; Rudinger et al., 2018;
Webster et al., 2018).

    gap = measure(pro) - measure(anti)                    of pro- and anti-stereotypical documents
    gap = measure(privileged) - measure(unprivileged)                    of pronouns of two genders

Every gap is positive if the stereotype helps, or the unprivileged gender fares worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd
from annotated_types import Gt, Lt

from biasbridge.extrinsic.coreference.challenge.bootstrap import Units
from biasbridge.extrinsic.coreference.challenge.measures import (
    ACCURACY,
    CANDIDATE_MEASURES,
    CLUSTER_MEASURES,
    NAME_MEASURES,
    WIDTH,
    Answer,
    Measure,
    tally,
)
from biasbridge.extrinsic.coreference.challenge.percentages import (
    correlation,
    percentages_and_leanings,
)
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless, Whole
from biasbridge.stats.intervals import UNDEFINED

if TYPE_CHECKING:
    from biasbridge.files.documents import Case
    from biasbridge.stats.arrays import Floats

PRO, ANTI = "pro", "anti"


@choice
class ChallengeGaps(Fileless):
    """Compared genders, minimum number of items, and confidence level.

    ``scored``: precision, recall and F1 of ``clusters`` (the mean of MUC, B-cubed and CEAF-e, as
    for WinoBias) or of ``names`` that the pronoun refers to (as for GAP and Winogender).
    """

    scored: Literal["clusters", "names"] = "clusters"
    privileged: str = "male"
    unprivileged: str = "female"
    min_support: Whole = 10
    level: Annotated[float, Gt(0), Lt(1)] = 0.95

    name: ClassVar[str] = "challenge_gaps"
    version: ClassVar[int] = 3
    seeded: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.privileged == self.unprivileged:
            raise InputError(
                f"the privileged and the unprivileged gender are both {self.privileged!r}; name two"
            )

    @property
    def gap_measures(self) -> Mapping[str, Measure]:
        """Measures with gaps, by name."""
        return (CLUSTER_MEASURES if self.scored == "clusters" else NAME_MEASURES) | ACCURACY

    @property
    def measures(self) -> Mapping[str, Measure]:
        """All measures, by name."""
        return {**self.gap_measures, **CANDIDATE_MEASURES}


class Row(NamedTuple):
    """Measure of a group, gap, ratio or correlation; see ``challenge_rows``."""

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
    """Return a table of rows, with supports as nullable integers."""
    supports = ("support", "support_privileged", "support_unprivileged")
    table = pd.DataFrame(rows, columns=list(Row._fields))
    return table.astype(dict.fromkeys(supports, "Int64"))


class GroupTallies(NamedTuple):
    """Tallies of groups of one kind, (units, groups, WIDTH), 0 where a unit has no document of a
    group.
    """

    subset: str
    units: list[str]
    groups: list[str]
    tallies: Floats

    def select(self, *groups: str) -> Units:
        """Return the units that have any of the groups, with the tallies of these groups."""
        tallies = self.tallies[:, [self.groups.index(group) for group in groups]]
        non_empty = np.flatnonzero(np.any(tallies, axis=(1, 2)))
        return Units([self.units[i] for i in non_empty], tallies[non_empty])


def challenge_rows(answers: Sequence[Answer], gaps: ChallengeGaps) -> list[Row]:
    """Compute the measures of every group and the gaps between groups, with intervals, by subset.

    Parameters
    ----------
    answers : sequence of Answer
        Cases of a challenge set with their resolutions.
    gaps : ChallengeGaps
        Genders, measures, minimum support and confidence level.

    Returns
    -------
    list of Row
        By ``kind``: ``value``, a measure of the cases that are ``pro`` and ``anti``, and of the
        pronouns of each gender, in [0, 1]. ``gap``, in [-1, 1]: pro minus anti in precision,
        recall, F1 and accuracy, and privileged minus unprivileged gender in F1 and accuracy.
        ``ratio``: F1 of the unprivileged over the privileged gender (GAP's bias factor).
        ``correlation``, if occupations have a percentage of women: of this with the excess of
        links to pronouns of the unprivileged gender (Rudinger et al., 2018).

        ``mention_recall``: share of true mentions that were candidates, for a gap the smaller of
        two; if it is low, or differs between groups, the gap may result from pruning. Below
        ``min_support`` a measure is NaN, with its reason. Intervals: see
        ``biasbridge.extrinsic.coreference.challenge.bootstrap``; Fisher's for correlations.
        ``resampled``: a gap in 200 resamples of the units.

    Raises
    ------
    InputError
        No case, or a pair of groups of which one is missing.
    """
    if not answers:
        raise InputError("the challenge set has no case")
    rows: list[Row] = []
    for subset in sorted({answer.case.subset for answer in answers}):
        rows += _subset_rows([answer for answer in answers if answer.case.subset == subset], gaps)
    return rows


def _subset_rows(answers: Sequence[Answer], gaps: ChallengeGaps) -> list[Row]:
    tallies = [tally(answer) for answer in answers]
    cases = [answer.case for answer in answers]
    rows: list[Row] = []
    if any(conditions := [case.condition for case in cases]):
        by_condition = _tally_groups(cases, conditions, tallies)
        rows += _values_and_gaps(by_condition, (PRO, ANTI), gaps, list(gaps.gap_measures))
    by_gender = _tally_groups(cases, [case.gender for case in cases], tallies)
    genders = gaps.privileged, gaps.unprivileged
    rows += _values_and_gaps(by_gender, genders, gaps, ["f1", *ACCURACY])
    rows.append(_ratio(by_gender, genders, gaps))
    if len(occupations := percentages_and_leanings(answers, *genders)):
        rows.append(_correlation(cases[0].subset, occupations, gaps))
    return rows


def _tally_groups(
    cases: Sequence[Case], group_of: Sequence[str], tallies: Sequence[Floats]
) -> GroupTallies:
    """Sum tallies by unit and group; cases without a group are left out."""
    groups = sorted({*group_of} - {""})
    units = sorted({case.unit for case in cases})
    unit_number = {unit: number for number, unit in enumerate(units)}
    table = np.zeros((len(units), len(groups), WIDTH))
    for case, group, row in zip(cases, group_of, tallies, strict=True):
        if group:
            table[unit_number[case.unit], groups.index(group)] += row
    return GroupTallies(cases[0].subset, units, groups, table)


def _values_and_gaps(
    tallies: GroupTallies, pair: tuple[str, str], gaps: ChallengeGaps, compared: Sequence[str]
) -> list[Row]:
    """Return values of all groups in all measures, then gaps of a pair in ``compared``."""
    for group in pair:
        if group not in tallies.groups:
            where = f"subset {tallies.subset}" if tallies.subset else "the challenge set"
            present = ", ".join(tallies.groups) or "none"
            raise InputError(f"no case of group {group!r} in {where}; groups present: {present}")
    values = {
        (group, name): _value(tallies.subset, group, units, name, gaps)
        for group in tallies.groups
        for units in [tallies.select(group)]
        for name in gaps.measures
    }
    units = tallies.select(*pair)
    first, second = pair
    pair_gaps = [_gap(units, values[first, name], values[second, name], gaps) for name in compared]
    return [*values.values(), *pair_gaps]


def _value(subset: str, group: str, units: Units, name: str, gaps: ChallengeGaps) -> Row:
    measure = gaps.measures[name]
    support = int(measure.support(units.total)[0])
    reason = _low_support_reason(measure.items, group, support, gaps.min_support)
    estimate = UNDEFINED if reason else units.estimate(measure.first, gaps.level)
    return Row(
        kind="value",
        measure=name,
        subset=subset,
        group=group,
        **estimate._asdict(),
        support=support,
        mention_recall=float(CANDIDATE_MEASURES["mention_recall"].values(units.total)[0]),
        reason=reason,
    )


def _low_support_reason(items: str, group: str, support: int, min_support: int) -> str:
    """Return why a measure is undefined; empty if it has enough items."""
    if not support:
        return f"no {items} of group {group}"
    reason = f"{support} {items} of group {group}, fewer than {min_support}"
    return reason if support < min_support else ""


def _gap(units: Units, first: Row, second: Row, gaps: ChallengeGaps) -> Row:
    reason = "; ".join(filter(None, (first.reason, second.reason)))
    statistic = gaps.measures[first.measure].difference
    estimate = UNDEFINED if reason else units.estimate(statistic, gaps.level)
    return Row(
        kind="gap",
        measure=first.measure,
        subset=first.subset,
        privileged=first.group,
        unprivileged=second.group,
        **estimate._asdict(),
        support=min(first.support, second.support),
        support_privileged=first.support,
        support_unprivileged=second.support,
        mention_recall=min(first.mention_recall, second.mention_recall),
        reason=reason,
        resampled=[] if reason else units.resampled(statistic),
    )


def _ratio(tallies: GroupTallies, pair: tuple[str, str], gaps: ChallengeGaps) -> Row:
    """Compute F1 of the unprivileged over the privileged gender; 1: equal."""
    f1 = gaps.measures["f1"]
    units = tallies.select(*pair)
    supports = [int(support) for support in f1.support(units.total)]
    reasons = (
        _low_support_reason(f1.items, group, support, gaps.min_support)
        for group, support in zip(pair, supports, strict=True)
    )
    reason = "; ".join(filter(None, reasons))
    if not reason and not f1.values(units.total)[0]:
        reason = f"F1 of group {pair[0]} is 0"
    estimate = UNDEFINED if reason else units.estimate(f1.quotient, gaps.level)
    return Row(
        kind="ratio",
        measure="f1",
        subset=tallies.subset,
        privileged=pair[0],
        unprivileged=pair[1],
        **estimate._asdict(),
        support=min(supports),
        support_privileged=supports[0],
        support_unprivileged=supports[1],
        reason=reason,
    )


def _correlation(subset: str, occupations: Floats, gaps: ChallengeGaps) -> Row:
    estimate = correlation(occupations, gaps.level)
    undefined = np.isnan(estimate.value)
    return Row(
        kind="correlation",
        measure="percentage",
        subset=subset,
        privileged=gaps.privileged,
        unprivileged=gaps.unprivileged,
        **estimate._asdict(),
        support=len(occupations),
        reason=f"{len(occupations)} occupations, or no difference among them" if undefined else "",
    )
