"""The words of a query in the plane, a panel for each file of vectors: do they change company?

After figure 1a of Goldfarb-Tarrant et al. (2021): t-SNE (van der Maaten and Hinton, 2008) with the
settings of its released code. Distances between far groups, and panels, do not compare.
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
USUAL = 40.0  # perplexity
MARGIN = 45  # pixels around the words, for the last of a label


def plane(
    found: FoundQuery, *, perplexity: float | None = None, iterations: int, seed: int
) -> Singles:
    """Places of the words of X, Y, A and B, (words, 2), by t-SNE from principal components.

    Of the vectors at unit length, whose Euclidean distances order pairs as cosines do.
    ``perplexity``: by default 40, of no more words than that a third of them. Raises
    ``InputError`` where there are not more words than it says, and for vectors on one line.
    """
    rows = np.concatenate([found[role].matrix for role in ROLES])
    if np.linalg.matrix_rank(rows - rows.mean(axis=0)) < 2:  # sklearn ends the process for a point
        raise InputError(
            "the vectors of these words lie on one line, which no plane shows; give others"
        )
    if perplexity is None:
        perplexity = USUAL if len(rows) > USUAL else len(rows) / 3
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
    """Write a drawing of a query's words, a panel for each file of vectors.

    Raises ``InputError`` for a query without X, Y, A and B, words that no file has, and a format
    that cannot be written.
    """
    require_output(out, FORMATS)
    if missing := [role for role in ROLES if role not in query.sets]:
        raise InputError(f"query {query.name!r} has no {', '.join(missing)}; take one of word sets")
    import altair as alt  # slow to import

    from files.vectors import read_vectors

    panels = []
    for path in paths:
        vectors = read_vectors(path, trusted=trusted)
        found = find_query(vectors, query, ROLES.__contains__, case=case)
        if lost := found.shortages(0, {}):
            raise InputError(f"{path}: {'; '.join(lost)}")
        places = plane(found, perplexity=perplexity, iterations=iterations, seed=seed)
        panels.append(_panel(query, found, places, path.name))
    chart = alt.hconcat(*panels, title=query.title)
    save_chart(chart.configure(font="sans-serif", background="white"), out)


def _panel(query: Query, found: FoundQuery, places: Singles, title: str) -> Any:
    """The words of one file's vectors, in the colours of their sets."""
    import altair as alt
    import pandas as pd

    names = {role: f"{role}: {query[role].name}" for role in ROLES}
    words = [(word, names[role]) for role in ROLES for word in found[role].words]
    table = pd.DataFrame(words, columns=["word", "set"]).assign(x=places[:, 0], y=places[:, 1])
    scale = alt.Scale(domain=[*names.values()], range=list(COLOURS))
    around = alt.Scale(zero=False, nice=False, padding=MARGIN)
    base = alt.Chart(table, title=title, width=520, height=420).encode(
        alt.X("x:Q", axis=None, scale=around),
        alt.Y("y:Q", axis=None, scale=around),
        alt.Color("set:N", title=None, scale=scale),
    )
    text = base.mark_text(align="left", dx=4, fontSize=8).encode(text="word:N")
    return alt.layer(base.mark_point(filled=True, size=25), text)
