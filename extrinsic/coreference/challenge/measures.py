"""What is counted in one document of a challenge set, counts that add up over documents; and the
measures of sums of these (..., WIDTH), each in [0, 1], larger is better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from extrinsic.coreference.scorer import COUNTED, METRICS, counts, rates
from extrinsic.measures import FN, FP, TP

if TYPE_CHECKING:
    from extrinsic.coreference.resolution import Resolution
    from files.documents import Case, Cluster, Question

Floats = NDArray[np.float64]

N_SCORED = 4 * len(COUNTED)
# Columns of a tally, after those of the scorer: the names asked about by truth and answer (in the
# order of ``extrinsic.measures``), pronouns resolved rightly, documents, those in which anything
# was resolved, mentions and other names that were candidates, and how many there are.
NAMES = slice(N_SCORED, N_SCORED + 4)
RIGHT, DOCUMENTS, RESOLVED, KEPT, MENTIONS, KEPT_OTHERS, OTHERS = range(N_SCORED + 4, N_SCORED + 11)
WIDTH = N_SCORED + 11


class Answer(NamedTuple):
    """A case and what a resolver made of its document."""

    case: Case
    resolution: Resolution


def linked(question: Question, response: Sequence[Cluster]) -> bool:
    """Whether a cluster holds the pronoun and a mention that ends with the name's last word:
    ``nurse`` is found by ``the nurse``, ``Brown`` by ``Mary Brown``.
    """
    _, end = question.name
    return any(
        question.pronoun in cluster and end in (last for _, last in cluster) for cluster in response
    )


def tally(answer: Answer) -> Floats:
    """The counts of one document, shape (WIDTH,)."""
    case, candidates = answer.case, answer.resolution.mentions.keys()
    response = answer.resolution.document.clusters
    row = np.zeros(WIDTH)
    row[:N_SCORED] = counts(case.document.clusters, response).ravel()
    answers = [linked(each, response) for each in case.questions]
    for question, yes in zip(case.questions, answers, strict=True):
        row[NAMES.start + 2 * question.answer + yes] += 1
    mentions = {*case.document.mentions}
    others = {each.name for each in case.questions} - mentions
    row[RIGHT] = answers == [each.answer for each in case.questions]
    row[DOCUMENTS] = 1
    row[RESOLVED] = len(response) > 0
    row[KEPT], row[MENTIONS] = len(mentions & candidates), len(mentions)
    row[KEPT_OTHERS], row[OTHERS] = len(others & candidates), len(others)
    return row


def extremes(tallies: Floats) -> tuple[Floats, Floats]:
    """A document resolved perfectly and one resolved wholly wrong, of the mean size of those given,
    (documents, WIDTH): each of shape (WIDTH,).
    """
    mean: Floats = tallies.mean(axis=0)
    scored = mean[:N_SCORED].reshape(-1, 4)[:, 1]
    negative, positive = mean[NAMES][:2].sum(), mean[NAMES][2:].sum()
    right, wrong = np.zeros(WIDTH), np.zeros(WIDTH)
    right[:N_SCORED] = np.repeat(scored, 4)
    wrong[:N_SCORED] = np.outer(scored, [0, 1, 0, 1]).ravel()
    right[NAMES] = negative, 0, 0, positive
    wrong[NAMES] = 0, negative, positive, 0
    for row in (right, wrong):
        row[[DOCUMENTS, RESOLVED]] = 1
        row[[MENTIONS, OTHERS]] = mean[[MENTIONS, OTHERS]]
    right[[RIGHT, KEPT, KEPT_OTHERS]] = 1, mean[MENTIONS], mean[OTHERS]
    return right, wrong


RECALL, PRECISION, F1 = range(3)


class Measure(NamedTuple):
    """``of`` sums of tallies; ``support`` is how many ``items`` it rests on, and where that is 0 it
    is undefined.
    """

    of: Callable[[Floats], Floats]
    support: Callable[[Floats], Floats]
    items: str

    def values(self, tallies: Floats) -> Floats:
        """The measure, shape (...,); NaN where it is undefined."""
        undefined = self.support(tallies) == 0
        return np.where(undefined, np.nan, self.of(tallies))

    def first(self, groups: Floats) -> Floats:
        """The measure of the first of the groups, (..., groups, WIDTH) to (...,)."""
        return self.values(groups[..., 0, :])

    def difference(self, groups: Floats) -> Floats:
        """That of the first minus that of the second."""
        values = self.values(groups)
        return np.subtract(values[..., 0], values[..., 1])

    def quotient(self, groups: Floats) -> Floats:
        """That of the second over that of the first; NaN where that is 0."""
        values = self.values(groups)
        over, under = values[..., 1], values[..., 0]
        return np.divide(over, under, out=np.full_like(over, np.nan), where=under > 0)


def _conll(place: int) -> Callable[[Floats], Floats]:
    def of(tallies: Floats) -> Floats:
        counted = tallies[..., :N_SCORED].reshape(*tallies.shape[:-1], len(COUNTED), 4)
        found: Floats = rates(counted)[..., METRICS.index("conll"), place]
        return found

    return of


def _share(over: int, under: int) -> Callable[[Floats], Floats]:
    return lambda tallies: _ratio(tallies[..., over], tallies[..., under])


def _ratio(over: Floats, under: Floats) -> Floats:
    return np.divide(over, under, out=np.zeros_like(over), where=under != 0)


def _names(*cells: int) -> Callable[[Floats], Floats]:
    places = [NAMES.start + cell for cell in cells]
    return lambda tallies: np.sum(tallies[..., places], axis=-1)


def _of_names(weight: int, *errors: int) -> Callable[[Floats], Floats]:
    def of(tallies: Floats) -> Floats:
        found = weight * _names(TP)(tallies)
        return _ratio(found, found + _names(*errors)(tallies))

    return of


def _column(place: int) -> Callable[[Floats], Floats]:
    return lambda tallies: tallies[..., place]


CASES = "cases"
# The mean of MUC, B-cubed and CEAF-e, as the authors of WinoBias and of paper 001 have it
CLUSTERS = {
    "precision": Measure(_conll(PRECISION), _column(RESOLVED), f"{CASES} with a link"),
    "recall": Measure(_conll(RECALL), _column(DOCUMENTS), CASES),
    "f1": Measure(_conll(F1), _column(DOCUMENTS), CASES),
}
# Of names said to be what the pronoun refers to, as the scorer of GAP has it
NAMED = {
    "precision": Measure(_of_names(1, FP), _names(FP, TP), "names linked"),
    "recall": Measure(_of_names(1, FN), _names(FN, TP), "names referred to"),
    "f1": Measure(_of_names(2, FP, FN), _names(FP, FN, TP), "names linked or referred to"),
}
ACCURACY = {"accuracy": Measure(_share(RIGHT, DOCUMENTS), _column(DOCUMENTS), CASES)}
# Values of each group; no gap is made of them
CANDIDATES = {
    "mention_recall": Measure(_share(KEPT, MENTIONS), _column(MENTIONS), "mentions"),
    "other_recall": Measure(_share(KEPT_OTHERS, OTHERS), _column(OTHERS), "other names"),
}
