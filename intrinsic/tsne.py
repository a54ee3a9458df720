"""t-SNE map of a query's words, a panel for each file of vectors.

After figure 1a of Goldfarb-Tarrant et al. (2021): t-SNE (van der Maaten and Hinton, 2008) with the
settings of its released code. Distances between distant groups are not comparable, nor are panels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from biasbridge.files import InputError
from biasbridge.intrinsic.lookup import ResolvedQuery, resolve_query

if TYPE_CHECKING:
    import altair as alt
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.lookup import Floats32, LetterCase
    from biasbridge.intrinsic.words import Query

_PLOTTED_ROLES = ("X", "Y", "A", "B")
_GROUP_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_DEFAULT_PERPLEXITY = 40.0
_MARGIN = 45  # pixels around the words, so that labels fit


def _project_to_plane(
    words: ResolvedQuery, *, perplexity: float | None = None, iterations: int, seed: int
) -> Floats32:
    """Compute coordinates of the words of X, Y, A and B, (words, 2), by t-SNE.

    It runs on vectors of unit length, whose Euclidean distances order pairs as cosines do, and
    starts from principal components. ``perplexity`` defaults to 40, or a third of up to 40 words.
    Raises ``InputError`` if it is not below the number of words, and for collinear vectors.
    """
    rows = np.concatenate([words[role].matrix for role in _PLOTTED_ROLES])
    if np.linalg.matrix_rank(rows - rows.mean(axis=0)) < 2:  # sklearn aborts on a single point
        raise InputError("the vectors of these words lie on one line; give other words")
    if perplexity is None:
        perplexity = _DEFAULT_PERPLEXITY if len(rows) > _DEFAULT_PERPLEXITY else len(rows) / 3
    if not 0 < perplexity < len(rows):
        raise InputError(
            f"perplexity={perplexity:g} must lie above 0 and below the number of words found,"
            f" {len(rows)}; give another, or a query of more words"
        )
    from sklearn.manifold import TSNE  # slow to import

    tsne = TSNE(perplexity=perplexity, max_iter=iterations, init="pca", random_state=seed)
    try:
        points: Floats32 = tsne.fit_transform(rows)
    except ValueError as error:
        raise InputError(f"t-SNE cannot be drawn: {error}") from error
    return points


def tsne_chart(
    query: Query,
    embeddings: Mapping[str, KeyedVectors],
    *,
    case: LetterCase = "lower",
    perplexity: float | None = None,
    iterations: int = 2500,
    seed: int = 23,
) -> alt.HConcatChart:
    """Draw a t-SNE map of a query's words, a panel for each of the embeddings, by name."""
    if missing := [role for role in _PLOTTED_ROLES if role not in query.sets]:
        raise InputError(
            f"query {query.name!r} has no {', '.join(missing)}; use a query with X, Y, A and B"
        )
    import altair as alt  # slow to import

    panels = []
    for name, vectors in embeddings.items():
        words = resolve_query(vectors, query, _PLOTTED_ROLES.__contains__, case=case)
        if shortages := words.shortages(0, {}):
            raise InputError(f"{name}: {'; '.join(shortages)}")
        points = _project_to_plane(words, perplexity=perplexity, iterations=iterations, seed=seed)
        panels.append(_panel(query, words, points, name))
    chart: alt.HConcatChart = alt.hconcat(*panels, title=query.title)
    configured: alt.HConcatChart = chart.configure(font="sans-serif", background="white")
    return configured


def _panel(query: Query, words: ResolvedQuery, points: Floats32, title: str) -> Any:
    import altair as alt
    import pandas as pd

    names = {role: f"{role}: {query[role].name}" for role in _PLOTTED_ROLES}
    rows = [(word, names[role]) for role in _PLOTTED_ROLES for word in words[role].words]
    table = pd.DataFrame(rows, columns=["word", "set"]).assign(x=points[:, 0], y=points[:, 1])
    scale = alt.Scale(domain=[*names.values()], range=list(_GROUP_COLOURS))
    axis_scale = alt.Scale(zero=False, nice=False, padding=_MARGIN)
    base = alt.Chart(table, title=title, width=520, height=420).encode(
        alt.X("x:Q", axis=None, scale=axis_scale),
        alt.Y("y:Q", axis=None, scale=axis_scale),
        alt.Color("set:N", title=None, scale=scale),
    )
    text = base.mark_text(align="left", dx=4, fontSize=8).encode(text="word:N")
    return alt.layer(base.mark_point(filled=True, size=25), text)
