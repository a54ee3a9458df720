"""Scores to clusters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from extrinsic.coreference.resolution import Resolution

if TYPE_CHECKING:
    from extrinsic.coreference.model.encode import Integers
    from extrinsic.coreference.model.network import Scores
    from files.documents import Document


def decode(document: Document, scores: Scores, reach: int) -> Resolution:
    """Spans joined with their likeliest antecedents, where any is likelier than none."""
    places = scores.spans.cpu().numpy()
    first, width = np.divmod(places, reach)
    spans = list(zip(first.tolist(), (first + width + 1).tolist(), strict=True))
    choice = scores.antecedents.argmax(1).cpu().numpy()
    linked = np.flatnonzero(choice)
    to = linked - scores.antecedents.shape[1] + choice[linked]
    clusters: dict[int, list[tuple[int, int]]] = {}
    for span, number in zip(spans, _components(linked, to, len(spans)), strict=True):
        clusters.setdefault(number, []).append(span)
    found = tuple(tuple(cluster) for cluster in clusters.values() if len(cluster) > 1)
    mentions = dict(zip(spans, scores.mentions.tolist(), strict=True))
    return Resolution(replace(document, clusters=found), mentions)


def _components(one: Integers, other: Integers, count: int) -> list[int]:
    """The number of the component of each of ``count`` nodes."""
    links = coo_array((np.ones(len(one), dtype=bool), (one, other)), shape=(count, count))
    numbers: list[int] = connected_components(links, directed=False)[1].tolist()
    return numbers
