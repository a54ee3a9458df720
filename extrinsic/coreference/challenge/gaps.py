r"""Gaps of a coreference resolver on a challenge set (Zhao et al., 2018; Rudinger et al., 2018;
Webster et al., 2018).

    gap = measure(pro) - measure(anti)            of documents that a stereotype helps and hinders
    gap = measure(privileged) - measure(unprivileged)                    of pronouns of two genders

so that every gap is positive where the stereotype holds, or the unprivileged gender fares worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd
from annotated_types import Gt, Lt

from extrinsic.coreference.challenge.bootstrap import estimate, resampled
from extrinsic.coreference.challenge.measures import ALWAYS, CLUSTERS, NAMED, Measure
from extrinsic.coreference.challenge.percentages import correlation, percentages_and_leanings
from extrinsic.coreference.challenge.tallies import WIDTH, Answered, Floats, tally
from extrinsic.measures import Estimate
from files import InputError, choice
from files.choice import Fileless, Whole

PRO, ANTI = "pro", "anti"
CONDITION, GENDER = "condition", "gender"
UNDEFINED = Estimate(np.nan, np.nan, np.nan)


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
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.privileged == self.unprivileged:
            raise InputError(
                f"the privileged and the unprivileged gender are both {self.privileged!r}; name two"
            )

    @property
    def measures(self) -> Mapping[str, Measure]:
        """By name."""
        return (CLUSTERS if self.scored == "clusters" else NAMED) | ALWAYS


class Row(NamedTuple):
    """A measure of a group, a gap, a ratio or a correlation; see ``challenge_table``."""

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
    mention_recall_privileged: float | None = None
    mention_recall_unprivileged: float | None = None
    reason: str = ""
    resampled: Sequence[float] = ()


class Part(NamedTuple):
    """The documents of one subset: units by name, and the tallies of the groups of one kind.

    ``tallies``: (units, groups, WIDTH), 0 where a unit has no document of a group.
    """

    subset: str
    units: list[str]
    groups: list[str]
    tallies: Floats

    def of(self, *groups: str) -> Floats:
        """The tallies of some groups, of the units that have any of them."""
        kept = self.tallies[:, [self.groups.index(group) for group in groups]]
        return kept[kept.any(axis=(1, 2))]

    def names(self, *groups: str) -> list[str]:
        """The names of the units of these tallies."""
        places = [self.groups.index(group) for group in groups]
        there = self.tallies[:, places].any(axis=(1, 2))
        return [name for name, kept in zip(self.units, there, strict=True) if kept]


def challenge_table(answered: Sequence[Answered], gaps: ChallengeGaps) -> pd.DataFrame:
    """Measures of every group, gaps between them, all with intervals, by subset.

    Kinds of rows: ``value``, a measure of a group: of documents that are ``pro`` and ``anti``, and
    of the pronouns of each gender; ``gap``, pro minus anti in every measure, and privileged minus
    unprivileged gender in F1, accuracy and mention recall; ``ratio``, F1 of the unprivileged over
    that of the privileged gender (GAP's bias factor); ``correlation``, where names have a
    percentage of women, of it with how much rather an occupation is linked to a pronoun of the
    unprivileged gender than of the privileged one (Rudinger et al., 2018).

    ``mention_recall`` is the share of the true mentions that were candidates: a gap whose sides
    differ in it, or are low in it, is one of pruning; for a gap it is the smaller of the two. Below
    ``least_support`` a measure is NaN, with its reason. ``low`` and ``high``: see
    ``extrinsic.coreference.challenge.bootstrap``; of a correlation by Fisher's z. ``resampled``:
    of a gap, over 200 resamples of the units.

    Raises ``InputError`` where there is no document, and for a pair of groups of which one is
    missing.
    """
    if not answered:
        raise InputError("the challenge set holds no document")
    rows: list[Row] = []
    for subset in sorted({each.subset for each in answered}):
        documents = [each for each in answered if each.subset == subset]
        rows += _of_subset(subset, documents, gaps)
    supports = ("support", "support_privileged", "support_unprivileged")
    table = pd.DataFrame(rows, columns=list(Row._fields)).astype(dict.fromkeys(supports, "Int64"))
    recalls = ("mention_recall_privileged", "mention_recall_unprivileged")
    return table.astype(dict.fromkeys(recalls, "float64"))


def _of_subset(subset: str, documents: Sequence[Answered], gaps: ChallengeGaps) -> list[Row]:
    rows: list[Row] = []
    tallies = [tally(each) for each in documents]
    by_condition = _part(subset, documents, tallies, CONDITION)
    if by_condition.groups:
        rows += _compared(by_condition, PRO, ANTI, gaps, list(gaps.measures))
    by_gender = _part(subset, documents, tallies, GENDER)
    genders = gaps.privileged, gaps.unprivileged
    rows += _compared(by_gender, *genders, gaps, ["f1", *ALWAYS])
    rows.append(_ratio(by_gender, gaps))
    return rows + _correlation(subset, documents, gaps)


def _part(
    subset: str, documents: Sequence[Answered], tallies: Sequence[Floats], kind: str
) -> Part:
    """The tallies by unit and group; documents without a group of the kind are left out."""
    told = [each.groups.get(kind, "") for each in documents]
    groups = sorted({*told} - {""})
    units = sorted({each.unit for each in documents})
    place = {unit: number for number, unit in enumerate(units)}
    table = np.zeros((len(units), len(groups), WIDTH))
    for document, group, row in zip(documents, told, tallies, strict=True):
        if group:
            table[place[document.unit], groups.index(group)] += row
    return Part(subset, units, groups, table)


def _compared(
    part: Part, privileged: str, unprivileged: str, gaps: ChallengeGaps, compared: Iterable[str]
) -> list[Row]:
    """Values of all groups in all measures, then the gaps of two groups in some."""
    for group in (privileged, unprivileged):
        if group not in part.groups:
            there = ", ".join(part.groups) or "none"
            where = f"subset {part.subset}" if part.subset else "the challenge set"
            raise InputError(f"no document of group {group!r} in {where}; groups there: {there}")
    values = {
        (group, name): _value(part, group, name, measure, gaps)
        for group in part.groups
        for name, measure in gaps.measures.items()
    }
    return [*values.values()] + [
        _gap(part, values[privileged, name], values[unprivileged, name], gaps) for name in compared
    ]


def _value(part: Part, group: str, name: str, measure: Measure, gaps: ChallengeGaps) -> Row:
    units = part.of(group)
    total = units.sum(axis=(0, 1))
    support = int(measure.support(total))
    reason = _lacks(measure.item, group, support, gaps.least_support)
    found = (
        UNDEFINED
        if reason
        else estimate(units, lambda sums: measure.values(sums[..., 0, :]), gaps.level, seed=0)
    )
    row = Row("value", name, part.subset, group, "", "", *found, support, reason=reason)
    return row._replace(mention_recall=float(ALWAYS["mention_recall"].values(total)))


def _lacks(item: str, group: str, support: int, least: int) -> str:
    """Why there is no value; empty where there is one."""
    if not support:
        return f"no {item} of group {group}"
    return f"{support} {item} of group {group}, fewer than {least}" if support < least else ""


def _difference(measure: Measure, sums: Floats) -> Floats:
    values = measure.values(sums)
    return values[..., 0] - values[..., 1]


def _gap(part: Part, first: Row, second: Row, gaps: ChallengeGaps) -> Row:
    pair = first.group, second.group
    units, measure = part.of(*pair), gaps.measures[first.measure]
    reason = "; ".join(filter(None, (first.reason, second.reason)))
    statistic = partial(_difference, measure)
    found = UNDEFINED if reason else estimate(units, statistic, gaps.level, seed=0)
    supports, recalls = zip(
        *((each.support, each.mention_recall) for each in (first, second)), strict=True
    )
    return Row(
        "gap",
        first.measure,
        part.subset,
        "",
        *pair,
        *found,
        min(supports),
        *supports,
        min(recalls),
        *recalls,
        reason,
        [] if reason else resampled(units, part.names(*pair), statistic),
    )


def _ratio(part: Part, gaps: ChallengeGaps) -> Row:
    """F1 of the unprivileged gender over that of the privileged one; 1: none fares worse."""
    pair, f1 = (gaps.privileged, gaps.unprivileged), gaps.measures["f1"]
    units = part.of(*pair)

    def statistic(sums: Floats) -> Floats:
        values = f1.values(sums)
        return np.divide(
            values[..., 1], values[..., 0], out=np.full(values.shape[:-1], np.nan), where=values[..., 0] > 0
        )

    supports = [int(each) for each in f1.support(units.sum(axis=0))]
    reasons = (
        _lacks(f1.item, *each, gaps.least_support) for each in zip(pair, supports, strict=True)
    )
    reason = "; ".join(filter(None, reasons))
    found = UNDEFINED if reason else estimate(units, statistic, gaps.level, seed=0)
    if not reason and np.isnan(found.value):
        reason = f"F1 of group {gaps.privileged} is 0"
    return Row("ratio", "f1", part.subset, "", *pair, *found, min(supports), *supports, reason=reason)


def _correlation(subset: str, documents: Sequence[Answered], gaps: ChallengeGaps) -> list[Row]:
    pair = gaps.privileged, gaps.unprivileged
    told = percentages_and_leanings(documents, *pair)
    if not told.size:
        return []
    n = len(told)
    found = correlation(told, gaps.level)
    reason = f"{n} occupations, or none that differs" if np.isnan(found.value) else ""
    return [Row("correlation", "percentage", subset, "", *pair, *found, n, reason=reason)]
