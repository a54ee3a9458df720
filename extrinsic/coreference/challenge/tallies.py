"""What is counted in one document of a challenge set; counts add up over documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from extrinsic.coreference.scorer import COUNTED, counts

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
