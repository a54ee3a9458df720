r"""Gaps of a coreference resolver on a challenge set (Zhao et al., 2018; Rudinger et al., 2018;
Webster et al., 2018): sentences with a pronoun whose antecedent is known.

    gap = measure(pro) - measure(anti)                    of pro- and anti-stereotypical documents
    gap = measure(privileged) - measure(unprivileged)                    of pronouns of two genders

Every gap is positive if the stereotype helps, or the unprivileged gender fares worse.

Intervals are by bootstrap over units: cases that differ only in the pronoun are drawn together. A
percentile interval of observed units has zero width if no error was observed. Therefore two
pseudo-units are added: one resolved perfectly in the first group and entirely wrong in the second,
and the reverse, as Agresti and Caffo (2000) add two right and two wrong answers to two proportions.
Then no interval has zero width; if n units do not differ, that of a gap is about -+ 3 / n.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import atanh, sqrt, tanh
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd
from annotated_types import Gt, Lt

from biasbridge.extrinsic.coreference.scorer import COUNTERS, METRICS, counts, rates
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless, Whole
from biasbridge.files.documents import DocumentCase
from biasbridge.intrinsic.resampling import resampled_means, times_drawn
from biasbridge.stats.arrays import Floats
from biasbridge.stats.intervals import UNDEFINED, Estimate, mean_estimate, quantile
from biasbridge.stats.proportions import share_estimate

if TYPE_CHECKING:
    from biasbridge.extrinsic.coreference.resolution import Resolution
    from biasbridge.files.documents import Cluster, Document, Question

_N_DRAWS = 2_000
_MIN_OCCUPATIONS = 4  # for the interval of a correlation
PRO, ANTI = "pro", "anti"
HELD_OUT, _ALL_DOCUMENTS = "held_out", "all"
RECALL, PRECISION, F1 = range(3)

# A tally is an array: what the scorer counts, then these numbers. Names asked about are true or
# false positives or negatives; ``correct`` cases have all names right; ``resolved`` ones a cluster;
# mentions, and names asked about that are no mentions, are ``kept`` if they were candidates.
_N_SCORED = 4 * len(COUNTERS)
_COLUMNS = {
    name: _N_SCORED + number
    for number, name in enumerate(
        (
            *("tn", "fp", "fn", "tp", "correct", "cases", "resolved"),
            *("kept_mentions", "mentions", "kept_other_names", "other_names"),
        )
    )
}
_WIDTH = _N_SCORED + len(_COLUMNS)

_Statistic = Callable[[Floats], Floats]
"""Statistic of the summed tallies of groups: (..., groups, WIDTH) to (...,)."""


class Answer(NamedTuple):
    """Case and the resolution of its document."""

    case: DocumentCase
    resolution: Resolution


class ChallengeMeasure(NamedTuple):
    """Measure of sums of tallies (..., WIDTH), in [0, 1], larger is better; undefined if the sum of
    its ``support`` columns, its number of ``items``, is 0.
    """

    compute: Callable[[Floats], Floats]
    support: tuple[str, ...]
    items: str

    def n_items(self, tallies: Floats) -> Floats:
        """Return the number of items, (...,)."""
        return _sum(tallies, *self.support)

    def values(self, tallies: Floats) -> Floats:
        """Return the measure, (...,); NaN where it is undefined."""
        return np.where(self.n_items(tallies) == 0, np.nan, self.compute(tallies))

    def first(self, groups: Floats) -> Floats:
        """Return the measure of the first group, (..., groups, WIDTH) to (...,)."""
        return self.values(groups[..., 0, :])

    def difference(self, groups: Floats) -> Floats:
        """Return the measure of the first group minus the second."""
        values = self.values(groups)
        return np.subtract(values[..., 0], values[..., 1])

    def quotient(self, groups: Floats) -> Floats:
        """Return the measure of the second group over the first; NaN if that is 0."""
        values = self.values(groups)
        first, second = values[..., 0], values[..., 1]
        return np.divide(second, first, out=np.full_like(second, np.nan), where=first > 0)


def _sum(tallies: Floats, *columns: str) -> Floats:
    total: Floats = np.sum(tallies[..., [_COLUMNS[name] for name in columns]], axis=-1)
    return total


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    zeros = np.zeros_like(numerator)
    return np.divide(numerator, denominator, out=zeros, where=denominator != 0)


def _conll(rate: int, tallies: Floats) -> Floats:
    """Compute the mean of MUC, B-cubed and CEAF-e, as used for WinoBias and in paper 001."""
    totals = tallies[..., :_N_SCORED].reshape(*tallies.shape[:-1], len(COUNTERS), 4)
    conll: Floats = rates(totals)[..., METRICS.index("conll"), rate]
    return conll


def _name_rate(weight: int, errors: tuple[str, ...], tallies: Floats) -> Floats:
    """Compute w tp / (w tp + errors) of names taken as the pronoun's referent, as GAP's scorer."""
    true_positives = weight * _sum(tallies, "tp")
    return _ratio(true_positives, true_positives + _sum(tallies, *errors))


def _share(numerator: str, denominator: str, items: str) -> ChallengeMeasure:
    return ChallengeMeasure(
        lambda tallies: _ratio(_sum(tallies, numerator), _sum(tallies, denominator)),
        (denominator,),
        items,
    )


_CLUSTER_MEASURES = {
    "precision": ChallengeMeasure(partial(_conll, PRECISION), ("resolved",), "cases with a link"),
    "recall": ChallengeMeasure(partial(_conll, RECALL), ("cases",), "cases"),
    "f1": ChallengeMeasure(partial(_conll, F1), ("cases",), "cases"),
}
_NAMES = {
    "precision": (1, ("fp",), "names linked"),
    "recall": (1, ("fn",), "names referred to"),
    "f1": (2, ("fp", "fn"), "names linked or referred to"),
}
_NAME_MEASURES = {
    name: ChallengeMeasure(partial(_name_rate, weight, errors), (*errors, "tp"), items)
    for name, (weight, errors, items) in _NAMES.items()
}
_ACCURACY = {"accuracy": _share("correct", "cases", "cases")}
# Values by group only, without gaps
_CANDIDATE_MEASURES = {
    "mention_recall": _share("kept_mentions", "mentions", "mentions"),
    "other_recall": _share("kept_other_names", "other_names", "other names"),
}
_HELD_OUT_MEASURES = {
    **{f"conll_{name}": measure for name, measure in _CLUSTER_MEASURES.items()},
    "mention_recall": _CANDIDATE_MEASURES["mention_recall"],
}


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
    def gap_measures(self) -> Mapping[str, ChallengeMeasure]:
        """Measures with gaps, by name."""
        return (_CLUSTER_MEASURES if self.scored == "clusters" else _NAME_MEASURES) | _ACCURACY

    @property
    def measures(self) -> Mapping[str, ChallengeMeasure]:
        """All measures, by name."""
        return {**self.gap_measures, **_CANDIDATE_MEASURES}


class ChallengeRow(NamedTuple):
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


def challenge_table(rows: Sequence[ChallengeRow]) -> pd.DataFrame:
    """Return a table of rows, with supports as nullable integers."""
    supports = ("support", "support_privileged", "support_unprivileged")
    table = pd.DataFrame(rows, columns=list(ChallengeRow._fields))
    return table.astype(dict.fromkeys(supports, "Int64"))


def challenge_rows(answers: Sequence[Answer], gaps: ChallengeGaps) -> list[ChallengeRow]:
    """Compute the measures of every group and the gaps between groups, with intervals, by subset.

    Parameters
    ----------
    answers : sequence of Answer
        Cases of a challenge set with their resolutions.
    gaps : ChallengeGaps
        Genders, measures, minimum support and confidence level.

    Returns
    -------
    list of ChallengeRow
        By ``kind``: ``value``, a measure of the cases that are ``pro`` and ``anti``, and of the
        pronouns of each gender, in [0, 1]. ``gap``, in [-1, 1]: pro minus anti in precision,
        recall, F1 and accuracy, and privileged minus unprivileged gender in F1 and accuracy.
        ``ratio``: F1 of the unprivileged over the privileged gender (GAP's bias factor).
        ``correlation``, if occupations have a percentage of women: of this with the excess of
        links to pronouns of the unprivileged gender (Rudinger et al., 2018).

        ``mention_recall``: share of true mentions that were candidates, for a gap the smaller of
        two; if it is low, or differs between groups, the gap may result from pruning.

        Of resolvers that tell the log odds of candidates also ``log_odds``, log p(right) - log
        p(wrong), of several wrong names the likeliest, over the units of which both are candidates;
        and ``free_links``, the share of pronouns whose likeliest candidate beats having none. Below
        ``min_support`` a measure is NaN, with its reason. Intervals are by bootstrap, Fisher's for
        correlations, of log odds Student's. ``resampled``: a gap in 200 resamples of the units.

    Raises
    ------
    InputError
        No case, or a pair of groups of which one is missing.
    """
    if not answers:
        raise InputError("the challenge set has no case")
    rows: list[ChallengeRow] = []
    for subset in sorted({answer.case.subset for answer in answers}):
        of_subset = [answer for answer in answers if answer.case.subset == subset]
        rows += [*_subset_rows(of_subset, gaps), *_log_odds_rows(of_subset, gaps)]
    return rows


def held_out_rows(
    documents: Sequence[Document], resolutions: Sequence[Resolution], level: float
) -> list[ChallengeRow]:
    """Compute values over all documents, in the subset ``held_out``: precision, recall and F1
    averaged over MUC, B-cubed and CEAF-e (``conll_f1`` is the CoNLL average), and the share of true
    mentions among the candidates, with intervals by bootstrap over documents.
    """
    names = [document.title for document in documents]
    tallies = [
        _tally(Answer(DocumentCase(document, document.title, "", ()), resolution))
        for document, resolution in zip(documents, resolutions, strict=True)
    ]
    units = Units(names, np.stack(tallies)[:, None], widened=False)
    recall = float(_CANDIDATE_MEASURES["mention_recall"].values(units.total)[0])
    rows = []
    for name, measure in _HELD_OUT_MEASURES.items():
        estimate = units.estimate(measure.first, level)
        support = int(measure.n_items(units.total)[0])
        row = ChallengeRow("value", name, HELD_OUT, _ALL_DOCUMENTS, "", "", *estimate, support)
        reason = f"no {measure.items}" if np.isnan(estimate.value) else ""
        rows.append(row._replace(mention_recall=recall, reason=reason))
    return rows


def _tally(answer: Answer) -> Floats:
    """Tally one document, shape (WIDTH,)."""
    case, candidates = answer.case, answer.resolution.mentions.keys()
    response = answer.resolution.document.clusters
    is_linked = [_is_linked(question, response) for question in case.questions]
    is_true = [question.answer for question in case.questions]
    mentions = {*case.document.mentions}
    other_names = {question.name for question in case.questions} - mentions
    values = {
        "correct": is_linked == is_true,
        "cases": 1,
        "resolved": len(response) > 0,
        "kept_mentions": len(mentions & candidates),
        "mentions": len(mentions),
        "kept_other_names": len(other_names & candidates),
        "other_names": len(other_names),
    }
    for truth, linked in zip(is_true, is_linked, strict=True):
        cell = ("tn", "fp", "fn", "tp")[2 * truth + linked]
        values[cell] = values.get(cell, 0) + 1
    return _as_tally(counts(case.document.clusters, response), values)


@dataclass(frozen=True)
class Units:
    """Units by name, with tallies of their cases by group, (units, groups, WIDTH): one group or
    two.

    A unit may be empty in one of two groups. ``widened``: with pseudo-units; not needed for long
    documents, which are never entirely right or wrong.
    """

    names: Sequence[str]
    tallies: Floats
    widened: bool = True

    @cached_property
    def total(self) -> Floats:
        """Sums over units, (groups, WIDTH)."""
        total: Floats = np.sum(self.tallies, axis=0)
        return total

    def estimate(self, statistic: _Statistic, level: float) -> Estimate:
        """Compute a statistic with its percentile interval, widened to include it."""
        value = float(statistic(self.total))
        if np.isnan(value):
            return Estimate(value, value, value)
        tail = (1 - level) / 2
        low, high = np.nanquantile(statistic(self._drawn), [tail, 1 - tail]).tolist()
        return Estimate(value, min(low, value), max(high, value))

    def resampled(self, statistic: _Statistic) -> list[float]:
        """Compute a statistic over 200 resamples of the units
        (``biasbridge.intrinsic.resampling``), the same for all resolvers of units of the same
        names.
        """
        values: list[float] = statistic(self._shared_resamples).tolist()
        return values

    @cached_property
    def _drawn(self) -> Floats:
        """Sums over resamples, (N_DRAWS, groups, WIDTH)."""
        tallies = self.tallies
        if self.widened:
            cases = tallies.reshape(-1, tallies.shape[-1])
            perfect, wrong = _extremes(cases[np.any(cases, axis=-1)])
            pseudo_units = np.stack([[perfect, wrong], [wrong, perfect]])[:, : tallies.shape[1]]
            tallies = np.concatenate([tallies, pseudo_units])
        n = len(tallies)
        times = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=_N_DRAWS)
        return _sums(np.asarray(times, dtype=np.float64), tallies)

    @cached_property
    def _shared_resamples(self) -> Floats:
        """Sums over resamples that all resolvers share, (200, groups, WIDTH)."""
        return _sums(times_drawn(self.names).T.astype(np.float64), self.tallies)


def _percentage_correlation(rows: Floats, level: float) -> Estimate:
    """Compute Pearson's r of two columns with Fisher's interval, tanh(atanh(r) -+ z / sqrt(n - 3));
    NaN if a column is constant or there are fewer than four rows.
    """
    if len(rows) < _MIN_OCCUPATIONS or not np.ptp(rows, axis=0).all():
        return UNDEFINED
    x, y = np.transpose(rows - np.mean(rows, axis=0))
    r = float(x @ y / np.sqrt((x @ x) * (y @ y)))
    if abs(r) >= 1:
        return Estimate(r, np.nan, np.nan)
    half = quantile(level) / sqrt(len(rows) - 3)
    return Estimate(r, tanh(atanh(r) - half), tanh(atanh(r) + half))


class _GroupTallies(NamedTuple):
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


def _subset_rows(answers: Sequence[Answer], gaps: ChallengeGaps) -> list[ChallengeRow]:
    tallies = [_tally(answer) for answer in answers]
    cases = [answer.case for answer in answers]
    rows: list[ChallengeRow] = []
    if any(conditions := [case.condition for case in cases]):
        by_condition = _tally_groups(cases, conditions, tallies)
        rows += _values_and_gaps(by_condition, (PRO, ANTI), gaps, list(gaps.gap_measures))
    by_gender = _tally_groups(cases, [case.gender for case in cases], tallies)
    genders = gaps.privileged, gaps.unprivileged
    rows += _values_and_gaps(by_gender, genders, gaps, ["f1", *_ACCURACY])
    rows.append(_ratio_row(by_gender, genders, gaps))
    if len(occupations := _percentages_and_leanings(answers, *genders)):
        rows.append(_correlation_row(cases[0].subset, occupations, gaps))
    return rows


def _tally_groups(
    cases: Sequence[DocumentCase], group_of: Sequence[str], tallies: Sequence[Floats]
) -> _GroupTallies:
    """Sum tallies by unit and group; cases without a group are left out."""
    groups = sorted({*group_of} - {""})
    units = sorted({case.unit for case in cases})
    unit_number = {unit: number for number, unit in enumerate(units)}
    table = np.zeros((len(units), len(groups), _WIDTH))
    for case, group, row in zip(cases, group_of, tallies, strict=True):
        if group:
            table[unit_number[case.unit], groups.index(group)] += row
    return _GroupTallies(cases[0].subset, units, groups, table)


def _values_and_gaps(
    tallies: _GroupTallies, pair: tuple[str, str], gaps: ChallengeGaps, compared: Sequence[str]
) -> list[ChallengeRow]:
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
    pair_gaps = [
        _gap_row(units, values[first, name], values[second, name], gaps) for name in compared
    ]
    return [*values.values(), *pair_gaps]


def _value(subset: str, group: str, units: Units, name: str, gaps: ChallengeGaps) -> ChallengeRow:
    measure = gaps.measures[name]
    support = int(measure.n_items(units.total)[0])
    reason = _low_support_reason(measure.items, group, support, gaps.min_support)
    estimate = UNDEFINED if reason else units.estimate(measure.first, gaps.level)
    recall = float(_CANDIDATE_MEASURES["mention_recall"].values(units.total)[0])
    row = ChallengeRow("value", name, subset, group, "", "", *estimate, support, reason=reason)
    return row._replace(mention_recall=recall)


def _low_support_reason(items: str, group: str, support: int, min_support: int) -> str:
    """Return why a measure is undefined; empty if it has enough items."""
    if not support:
        return f"no {items} of group {group}"
    reason = f"{support} {items} of group {group}, fewer than {min_support}"
    return reason if support < min_support else ""


def _gap_row(
    units: Units, first: ChallengeRow, second: ChallengeRow, gaps: ChallengeGaps
) -> ChallengeRow:
    reason = "; ".join(filter(None, (first.reason, second.reason)))
    statistic = gaps.measures[first.measure].difference
    estimate = UNDEFINED if reason else units.estimate(statistic, gaps.level)
    pair, supports = (first.group, second.group), (first.support, second.support)
    row = ChallengeRow(
        "gap", first.measure, first.subset, "", *pair, *estimate, min(supports), *supports
    )
    return row._replace(
        mention_recall=min(first.mention_recall, second.mention_recall),
        reason=reason,
        resampled=[] if reason else units.resampled(statistic),
    )


def _ratio_row(tallies: _GroupTallies, pair: tuple[str, str], gaps: ChallengeGaps) -> ChallengeRow:
    """Compute F1 of the unprivileged over the privileged gender; 1: equal."""
    f1, units = gaps.measures["f1"], tallies.select(*pair)
    first, second = (int(support) for support in f1.n_items(units.total))
    reasons = (
        _low_support_reason(f1.items, group, support, gaps.min_support)
        for group, support in zip(pair, (first, second), strict=True)
    )
    reason = "; ".join(filter(None, reasons))
    if not reason and not f1.values(units.total)[0]:
        reason = f"F1 of group {pair[0]} is 0"
    estimate = UNDEFINED if reason else units.estimate(f1.quotient, gaps.level)
    row = ChallengeRow(
        "ratio", "f1", tallies.subset, "", *pair, *estimate, min(first, second), first, second
    )
    return row._replace(reason=reason)


def _correlation_row(subset: str, occupations: Floats, gaps: ChallengeGaps) -> ChallengeRow:
    estimate, n = _percentage_correlation(occupations, gaps.level), len(occupations)
    reason = f"{n} occupations, or no difference among them" if np.isnan(estimate.value) else ""
    genders = gaps.privileged, gaps.unprivileged
    row = ChallengeRow("correlation", "percentage", subset, "", *genders, *estimate, n)
    return row._replace(reason=reason)


def _log_odds_rows(answers: Sequence[Answer], gaps: ChallengeGaps) -> list[ChallengeRow]:
    """Return what the log odds of candidates tell, over the units that are pro and anti."""
    odds: dict[str, dict[str, float]] = {PRO: {}, ANTI: {}}
    free: dict[str, dict[str, float]] = {PRO: {}, ANTI: {}}
    for case, resolution in answers:
        told = resolution.antecedents.get(case.questions[0].pronoun)
        if told and case.condition in odds:
            of_end = {end: value for (_, end), value in told.items()}
            named = [(each.answer, of_end.get(each.name[1], np.nan)) for each in case.questions]
            right, wrong = ([value for answer, value in named if answer == kind] for kind in (1, 0))
            lead = float(np.max(right or [np.nan]) - np.max(wrong or [np.nan]))
            free[case.condition][case.unit] = float(max(told.values()) > 0)
            odds[case.condition] |= {} if np.isnan(lead) else {case.unit: lead}
    rows: list[ChallengeRow] = []
    for measure, values in (("log_odds", odds), ("free_links", free)):
        units, subset = sorted(values[PRO].keys() & values[ANTI]), answers[0].case.subset
        pro, anti = (np.array([values[group][unit] for unit in units]) for group in values)
        estimate = share_estimate if measure == "free_links" else mean_estimate
        n, few = len(units), len(units) < max(2, gaps.min_support)
        reason = f"{n} units, fewer than {gaps.min_support}" if few else ""
        row = ChallengeRow("value", measure, subset, support=n, reason=reason)
        estimates = [UNDEFINED if few else estimate(each, gaps.level) for each in (pro, anti)]
        groups = zip((PRO, ANTI), estimates, strict=True) if units else ()
        rows += [row._replace(group=group, **found._asdict()) for group, found in groups]
        if units and measure == "log_odds":
            found = UNDEFINED if few else mean_estimate(pro - anti, gaps.level)
            row = ChallengeRow("gap", measure, subset, "", PRO, ANTI, *found, n, n, n)
            resampled = [] if few else resampled_means(pro - anti, times_drawn(units))
            equal = "no interval: all values are equal" if np.isnan(found.low) else ""
            rows.append(row._replace(reason=reason or equal, resampled=resampled))
    return rows


def _percentages_and_leanings(
    answers: Sequence[Answer], privileged: str, unprivileged: str
) -> Floats:
    """Return a row for each occupation with pronouns of both genders, (occupations, 2): its
    percentage, and the share of the unprivileged gender's pronouns linked to it minus that of the
    privileged gender's, in [-1, 1].
    """
    percentage: dict[str, float] = {}
    links: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for case, resolution in answers:
        for question in case.questions:
            if question.percentage is not None:
                percentage[question.occupation] = question.percentage
                answer = _is_linked(question, resolution.document.clusters)
                links[question.occupation, case.gender].append(answer)
    shares = {key: float(np.mean(answers)) for key, answers in links.items()}
    rows = [
        (percentage[name], shares[name, unprivileged] - shares[name, privileged])
        for name in percentage
        if (name, privileged) in shares and (name, unprivileged) in shares
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def _is_linked(question: Question, response: Sequence[Cluster]) -> bool:
    """Test whether a cluster has the pronoun and a mention that ends with the name's last word:
    ``the nurse`` matches ``nurse``, ``Mary Brown`` matches ``Brown``.
    """
    _, end = question.name
    return any(
        question.pronoun in cluster and end in (last for _, last in cluster) for cluster in response
    )


def _as_tally(scored: Floats, values: Mapping[str, float]) -> Floats:
    return np.concatenate([scored.ravel(), [float(values.get(name, 0)) for name in _COLUMNS]])


def _extremes(tallies: Floats) -> tuple[Floats, Floats]:
    """Return the tallies (WIDTH,) of a perfectly and of an entirely wrongly resolved document, both
    of the mean size of ``tallies``, (documents, WIDTH).
    """
    mean: Floats = tallies.mean(axis=0)
    scored = mean[:_N_SCORED].reshape(-1, 4)[:, 1]
    negative, positive = (float(_sum(mean, *cells)) for cells in (("tn", "fp"), ("fn", "tp")))
    mentions, other_names = (float(_sum(mean, name)) for name in ("mentions", "other_names"))
    both = {"cases": 1, "resolved": 1, "mentions": mentions, "other_names": other_names}
    candidates = {"kept_mentions": mentions, "kept_other_names": other_names}
    perfect = both | candidates | {"tn": negative, "tp": positive, "correct": 1}
    wrong = both | {"fp": negative, "fn": positive}
    return (
        _as_tally(np.repeat(scored, 4), perfect),
        _as_tally(np.outer(scored, [0, 1, 0, 1]), wrong),
    )


def _sums(times: Floats, tallies: Floats) -> Floats:
    """Sum (units, groups, WIDTH) by (samples, units) weights to (samples, groups, WIDTH)."""
    flat: Floats = times @ tallies.reshape(len(tallies), -1)
    return flat.reshape(len(times), *tallies.shape[1:])
