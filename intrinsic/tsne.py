"""The words of a query in the plane, a panel for each file of vectors: do they change company?

After figure 1a of Goldfarb-Tarrant et al. (2021): t-SNE (van der Maaten and Hinton, 2008) with the
settings of its released code. Distances between far groups, and panels, do not compare.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np

from files import InputError, run_cli
from files.charts import FORMATS, SCHEMA, Spec, require_format, save_chart
from files.options import Parser
from intrinsic.found_query import FoundQuery, find_query
from intrinsic.lookup import Case
from intrinsic.wordsets import load_queries

if TYPE_CHECKING:
    from intrinsic.frequent_words import Singles
    from intrinsic.wordsets import Query

ROLES = ("X", "Y", "A", "B")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
USUAL = 40.0  # perplexity


class Options(argparse.Namespace):
    """What the command line says."""

    vectors: list[Path]
    query: str
    words: str | None
    out: Path
    case: Case
    perplexity: float | None
    iterations: int
    seed: int
    trusted: bool


def plane(
    found: FoundQuery, *, perplexity: float | None = None, iterations: int, seed: int
) -> Singles:
    """Places of the words of X, Y, A and B, (words, 2), by t-SNE from principal components.

    Of the vectors at unit length, whose Euclidean distances order pairs as cosines do.
    ``perplexity``: by default 40, of no more words than that a third of them. Raises
    ``InputError`` where there are not more words than it says.
    """
    rows = np.concatenate([found[role].matrix for role in ROLES])
    if perplexity is None:
        perplexity = USUAL if len(rows) > USUAL else len(rows) / 3
    if not 0 < perplexity < len(rows):
        raise InputError(
            f"perplexity={perplexity:g} must lie above 0 and below the number of words found,"
            f" {len(rows)}; give another, or a query of more words"
        )
    from sklearn.manifold import TSNE  # slow to import

    tsne = TSNE(perplexity=perplexity, max_iter=iterations, init="pca", random_state=seed)
    return tsne.fit_transform(rows)


def panel(query: Query, path: Path, given: Options) -> Spec:
    """The words of one file's vectors, in the colours of their sets."""
    from files.vectors import read_vectors

    found = find_query(
        read_vectors(path, trusted=given.trusted), query, ROLES.__contains__, case=given.case
    )
    if lost := found.shortages(0, {}):
        raise InputError(f"{path}: {'; '.join(lost)}")
    settings = {"iterations": given.iterations, "seed": given.seed}
    places = plane(found, perplexity=given.perplexity, **settings).astype(float).tolist()
    names = {role: f"{role}: {query[role].name}" for role in ROLES}
    words = [(word, names[role]) for role in ROLES for word in found[role].words]
    rows = [
        {"x": x, "y": y, "word": word, "set": name}
        for (x, y), (word, name) in zip(places, words, strict=True)
    ]
    scale = {"domain": [*names.values()], "range": COLOURS}
    return {
        "title": path.name,
        "width": 520,
        "height": 420,
        "data": {"values": rows},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "axis": None},
            "y": {"field": "y", "type": "quantitative", "axis": None},
            "color": {"field": "set", "type": "nominal", "title": None, "scale": scale},
        },
        "layer": [
            {"mark": {"type": "point", "filled": True, "size": 25}},
            {
                "mark": {"type": "text", "align": "left", "dx": 4, "fontSize": 8},
                "encoding": {"text": {"field": "word", "type": "nominal"}},
            },
        ],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Lay out each file and write the drawing."""
    given = _parser().parse_args(arguments, Options())
    require_format(given.out)
    (query,) = load_queries([given.query], given.words)
    if missing := [role for role in ROLES if role not in query.sets]:
        raise InputError(f"query {query.name!r} has no {', '.join(missing)}; take one of word sets")
    chart: Spec = {
        "$schema": SCHEMA,
        "config": {"font": "sans-serif", "background": "white"},
        "title": query.title,
        "hconcat": [panel(query, path, given) for path in given.vectors],
    }
    save_chart(chart, given.out)
    print(given.out)


def _parser() -> argparse.ArgumentParser:
    description = "The words of a query by t-SNE, a panel for each file of vectors."
    parser = Parser(prog="python -m intrinsic.tsne", description=description)
    add = parser.add_argument
    add("vectors", nargs="+", type=Path, help="files of vectors, for example before and after")
    drawing = f"the drawing ({', '.join(FORMATS)})"
    add("--out", type=Path, required=True, metavar="FILE", help=drawing)
    query = "a query of X, Y, A and B (default gender_authors)"
    add("--query", default="gender_authors", metavar="NAME", help=query)
    add("--words", metavar="FILE", help="your own queries, JSON or YAML")
    lower = "lower (default): words not found as written are tried in lower case"
    add("--case", choices=get_args(Case), default="lower", help=lower)
    perplexity = (
        "about how many neighbours count for a word (default 40, of few words a third of them)"
    )
    add("--perplexity", type=float, metavar="P", help=perplexity)
    add("--iterations", type=int, default=2500, metavar="N", help="steps (default 2500)")
    add("--seed", type=int, default=23, help="of the order of ties (default 23)")
    trusted = "open gensim's own format, a pickle, which can run any code: only of files you made"
    add("--trusted", action="store_true", help=trusted)
    return parser


if __name__ == "__main__":
    run_cli(lambda: main())
