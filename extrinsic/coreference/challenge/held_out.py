"""Accuracy of a resolver on held-out documents, for comparison with its gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.extrinsic.coreference.challenge.bootstrap import Units
from biasbridge.extrinsic.coreference.challenge.gaps import Row
from biasbridge.extrinsic.coreference.challenge.measures import (
    CANDIDATE_MEASURES,
    CLUSTER_MEASURES,
    Answer,
    tally,
)
from biasbridge.files.documents import Case

if TYPE_CHECKING:
    from biasbridge.extrinsic.coreference.resolution import Resolution
    from biasbridge.files.documents import Document

HELD_OUT, ALL = "held_out", "all"
MEASURES = {f"conll_{name}": measure for name, measure in CLUSTER_MEASURES.items()}
MEASURES["mention_recall"] = CANDIDATE_MEASURES["mention_recall"]


def held_out_rows(
    documents: Sequence[Document], resolutions: Sequence[Resolution], level: float
) -> list[Row]:
    """Compute values over all documents, in the subset ``held_out``: precision, recall and F1
    averaged over MUC, B-cubed and CEAF-e (``conll_f1`` is the CoNLL average), and the share of true
    mentions among the candidates, with intervals by bootstrap over documents.
    """
    names = [document.title for document in documents]
    tallies = [
        tally(Answer(Case(document, document.title, "", ()), resolution))
        for document, resolution in zip(documents, resolutions, strict=True)
    ]
    units = Units(names, np.stack(tallies)[:, None], widened=False)
    recall = float(CANDIDATE_MEASURES["mention_recall"].values(units.total)[0])
    rows = []
    for name, measure in MEASURES.items():
        estimate = units.estimate(measure.first, level)
        rows.append(
            Row(
                kind="value",
                measure=name,
                subset=HELD_OUT,
                group=ALL,
                **estimate._asdict(),
                support=int(measure.support(units.total)[0]),
                mention_recall=recall,
                reason="" if estimate.value == estimate.value else f"no {measure.items}",
            )
        )
    return rows
