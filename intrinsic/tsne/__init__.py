"""t-SNE plot of the words of a query, a panel per file of vectors: do words change neighbours?

After figure 1a of Goldfarb-Tarrant et al. (2021): t-SNE (van der Maaten and Hinton, 2008) with the
settings of its released code. Distances between far groups, and between panels, do not compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from files import InputError
from files.atomic import require_output
from files.charts import FORMATS, save_chart
from intrinsic.found_query import FoundQuery, find_query

if TYPE_CHECKING:
    from intrinsic.frequent_words import Singles
    from intrinsic.lookup import Case
    from intrinsic.wordsets import Query

ROLES = ("X", "Y", "A", "B")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
DEFAULT_PERPLEXITY = 40.0
MARGIN = 45  # pixels around the words, for labels at the edge


def plane(
    words: FoundQuery, *, perplexity: float | None = None, iterations: int, seed: int
) -> Singles:
    """Compute positions of the words of X, Y, A and B by t-SNE from principal components, (n, 2).

    Vectors have unit length, so their Euclidean distances order pairs as cosines do.
    ``perplexity``: by default 40, or a third of the words if there are no more than 40. Raises
    ``InputError`` for a perplexity not below the number of words, and for vectors on one line.
    """
    rows = np.concatenate([words[role].matrix for role in ROLES])
    if np.linalg.matrix_rank(rows - rows.mean(axis=0)) < 2:  # sklearn ends the process for a point
        raise InputError(
            "the vectors of these words lie on one line and cannot be plotted; give other words"
        )
    if perplexity is None:
        perplexity = DEFAULT_PERPLEXITY if len(rows) > DEFAULT_PERPLEXITY else len(rows) / 3
    if not 0 < perplexity < len(rows):
        raise InputError(
            f"perplexity={perplexity:g} must lie above 0 and below the number of words found,"
            f" {len(rows)}; give another, or a query of more words"
        )
    from sklearn.manifold import TSNE  # slow to import

    tsne = TSNE(perplexity=perplexity, max_iter=iterations, init="pca", random_state=seed)
    try:
        return tsne.fit_transform(rows)
    except ValueError as error:
        raise InputError(f"t-SNE cannot be drawn: {error}") from error


def draw(
    query: Query,
    paths: Sequence[Path],
    out: Path,
    *,
    case: Case = "lower",
    perplexity: float | None = None,
    iterations: int = 2500,
    seed: int = 23,
    trusted: bool = False,
) -> None:
    """Write a plot of a query's words, a panel per file of vectors.

    Raises ``InputError`` for a query without X, Y, A and B, a file without the words, and an output
    format that cannot be written.
    """
    require_output(out, FORMATS)
    if missing := [role for role in ROLES if role not in query.sets]:
        raise InputError(f"query {query.name!r} has no {', '.join(missing)}; choose one with all")
    import altair as alt  # slow to import

    from files.vectors import read_vectors

    panels = []
    for path in paths:
        vectors = read_vectors(path, trusted=trusted)
        words = find_query(vectors, query, ROLES.__contains__, case=case)
        if shortages := words.shortages(0, {}):
            raise InputError(f"{path}: {'; '.join(shortages)}")
        coordinates = plane(words, perplexity=perplexity, iterations=iterations, seed=seed)
        panels.append(_panel(query, words, coordinates, path.name))
    chart = alt.hconcat(*panels, title=query.title)
    save_chart(chart.configure(font="sans-serif", background="white"), out)


def _panel(query: Query, word_sets: FoundQuery, coordinates: Singles, title: str) -> Any:
    """Draw the words of one file's vectors, coloured by word set."""
    import altair as alt
    import pandas as pd

    names = {role: f"{role}: {query[role].name}" for role in ROLES}
    words = [(word, names[role]) for role in ROLES for word in word_sets[role].words]
    table = pd.DataFrame(words, columns=["word", "set"])
    table = table.assign(x=coordinates[:, 0], y=coordinates[:, 1])
    scale = alt.Scale(domain=[*names.values()], range=list(COLOURS))
    axis_scale = alt.Scale(zero=False, nice=False, padding=MARGIN)
    base = alt.Chart(table, title=title, width=520, height=420).encode(
        alt.X("x:Q", axis=None, scale=axis_scale),
        alt.Y("y:Q", axis=None, scale=axis_scale),
        alt.Color("set:N", title=None, scale=scale),
    )
    text = base.mark_text(align="left", dx=4, fontSize=8).encode(text="word:N")
    return alt.layer(base.mark_point(filled=True, size=25), text)
