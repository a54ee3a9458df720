"""Tallies of the documents of a challenge set, and measures of their sums (..., WIDTH), in [0, 1],
larger is better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasbridge.extrinsic.coreference.scorer import COUNTERS, METRICS, counts, rates
from biasbridge.extrinsic.measures import FN, FP, TP

if TYPE_CHECKING:
    from biasbridge.extrinsic.coreference.resolution import Resolution
    from biasbridge.files.documents import Case, Cluster, Question
    from biasbridge.stats.arrays import Floats


N_SCORED = 4 * len(COUNTERS)
# Columns of a tally, after those of the scorer: names asked about by truth and answer (in the order
# of ``biasbridge.extrinsic.measures``), correctly resolved pronouns, documents, documents with a
# link, mentions among the candidates, all mentions, other names among the candidates, all other
# names.
NAME_CELLS = slice(N_SCORED, N_SCORED + 4)
CORRECT, DOCUMENTS, RESOLVED = range(N_SCORED + 4, N_SCORED + 7)
KEPT_MENTIONS, MENTIONS, KEPT_OTHER_NAMES, OTHER_NAMES = range(N_SCORED + 7, N_SCORED + 11)
WIDTH = N_SCORED + 11


class Answer(NamedTuple):
    """Case and the resolution of its document."""

    case: Case
    resolution: Resolution


def is_linked(question: Question, response: Sequence[Cluster]) -> bool:
    """Test whether a cluster has the pronoun and a mention that ends with the name's last word:
    ``the nurse`` matches ``nurse``, ``Mary Brown`` matches ``Brown``.
    """
    _, end = question.name
    return any(
        question.pronoun in cluster and end in (last for _, last in cluster) for cluster in response
    )


def tally(answer: Answer) -> Floats:
    """Tally one document, shape (WIDTH,)."""
    case, candidates = answer.case, answer.resolution.mentions.keys()
    response = answer.resolution.document.clusters
    row = np.zeros(WIDTH)
    row[:N_SCORED] = counts(case.document.clusters, response).ravel()
    answers = [is_linked(question, response) for question in case.questions]
    for question, yes in zip(case.questions, answers, strict=True):
        row[NAME_CELLS.start + 2 * question.answer + yes] += 1
    mentions = {*case.document.mentions}
    other_names = {question.name for question in case.questions} - mentions
    row[CORRECT] = answers == [question.answer for question in case.questions]
    row[DOCUMENTS] = 1
    row[RESOLVED] = len(response) > 0
    row[KEPT_MENTIONS], row[MENTIONS] = len(mentions & candidates), len(mentions)
    row[KEPT_OTHER_NAMES] = len(other_names & candidates)
    row[OTHER_NAMES] = len(other_names)
    return row


def extremes(tallies: Floats) -> tuple[Floats, Floats]:
    """Return the tallies (WIDTH,) of a perfectly and of an entirely wrongly resolved document, both
    of the mean size of ``tallies``, (documents, WIDTH).
    """
    mean: Floats = tallies.mean(axis=0)
    scored = mean[:N_SCORED].reshape(-1, 4)[:, 1]
    negative, positive = mean[NAME_CELLS][:2].sum(), mean[NAME_CELLS][2:].sum()
    perfect, wrong = np.zeros(WIDTH), np.zeros(WIDTH)
    perfect[:N_SCORED] = np.repeat(scored, 4)
    wrong[:N_SCORED] = np.outer(scored, [0, 1, 0, 1]).ravel()
    perfect[NAME_CELLS] = negative, 0, 0, positive
    wrong[NAME_CELLS] = 0, negative, positive, 0
    for row in (perfect, wrong):
        row[[DOCUMENTS, RESOLVED]] = 1
        row[[MENTIONS, OTHER_NAMES]] = mean[[MENTIONS, OTHER_NAMES]]
    perfect[[CORRECT, KEPT_MENTIONS]] = 1, mean[MENTIONS]
    perfect[KEPT_OTHER_NAMES] = mean[OTHER_NAMES]
    return perfect, wrong


RECALL, PRECISION, F1 = range(3)


class Measure(NamedTuple):
    """Measure of sums of tallies, by ``compute``; undefined if ``support``, its number of
    ``items``, is 0.
    """

    compute: Callable[[Floats], Floats]
    support: Callable[[Floats], Floats]
    items: str

    def values(self, tallies: Floats) -> Floats:
        """Return the measure, shape (...,); NaN where it is undefined."""
        undefined = self.support(tallies) == 0
        return np.where(undefined, np.nan, self.compute(tallies))

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


def _conll(rate: int) -> Callable[[Floats], Floats]:
    def compute(tallies: Floats) -> Floats:
        totals = tallies[..., :N_SCORED].reshape(*tallies.shape[:-1], len(COUNTERS), 4)
        conll: Floats = rates(totals)[..., METRICS.index("conll"), rate]
        return conll

    return compute


def _share(numerator: int, denominator: int) -> Callable[[Floats], Floats]:
    return lambda tallies: _ratio(tallies[..., numerator], tallies[..., denominator])


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    zeros = np.zeros_like(numerator)
    return np.divide(numerator, denominator, out=zeros, where=denominator != 0)


def _names(*cells: int) -> Callable[[Floats], Floats]:
    columns = [NAME_CELLS.start + cell for cell in cells]
    return lambda tallies: np.sum(tallies[..., columns], axis=-1)


def _name_rate(weight: int, *errors: int) -> Callable[[Floats], Floats]:
    def compute(tallies: Floats) -> Floats:
        true_positives = weight * _names(TP)(tallies)
        return _ratio(true_positives, true_positives + _names(*errors)(tallies))

    return compute


def _column(column: int) -> Callable[[Floats], Floats]:
    return lambda tallies: tallies[..., column]


CASES = "cases"
# Mean of MUC, B-cubed and CEAF-e, as used for WinoBias and in paper 001
CLUSTER_MEASURES = {
    "precision": Measure(_conll(PRECISION), _column(RESOLVED), f"{CASES} with a link"),
    "recall": Measure(_conll(RECALL), _column(DOCUMENTS), CASES),
    "f1": Measure(_conll(F1), _column(DOCUMENTS), CASES),
}
# Names predicted as the referent of the pronoun, as in the scorer of GAP
NAME_MEASURES = {
    "precision": Measure(_name_rate(1, FP), _names(FP, TP), "names linked"),
    "recall": Measure(_name_rate(1, FN), _names(FN, TP), "names referred to"),
    "f1": Measure(_name_rate(2, FP, FN), _names(FP, FN, TP), "names linked or referred to"),
}
ACCURACY = {"accuracy": Measure(_share(CORRECT, DOCUMENTS), _column(DOCUMENTS), CASES)}
# Values by group only, without gaps
CANDIDATE_MEASURES = {
    "mention_recall": Measure(_share(KEPT_MENTIONS, MENTIONS), _column(MENTIONS), "mentions"),
    "other_recall": Measure(
        _share(KEPT_OTHER_NAMES, OTHER_NAMES), _column(OTHER_NAMES), "other names"
    ),
}
