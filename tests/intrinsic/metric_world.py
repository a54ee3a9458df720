"""A small world of random vectors and a query with every role, for tests that loop over all
metrics.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from gensim.models import KeyedVectors
from numpy.typing import NDArray

from biasbridge.intrinsic import METRICS

if TYPE_CHECKING:
    from biasbridge.intrinsic.metric import Metric

DIM = 7
Values = Mapping[str, Mapping[str, float]]
Items = Sequence[str] | Sequence[Sequence[str]]
Vector = NDArray[np.float64]
SETS = {
    "X": ["xa", "xb", "xc", "xd"],
    "Y": ["ya", "yb", "yc", "yd"],
    "A": ["aa", "ab", "ac", "ad", "ae"],
    "B": ["ba", "bb", "bc"],
}
FACTS = {"wa": 3, "wb": 1, "wc": 4, "wd": 1.5, "we": 9}
PAIRS = [("pa", "qa"), ("pb", "qb"), ("pc", "qc")]
PARTNERS = [("ra", "sa"), ("rb", "sb"), ("rc", "sc"), ("rd", "sd")]
ROWS = [
    ["da", "db", "na", "nb", "nc", "nd", "ta", "tb"],
    ["dc", "dd", "nc", "na", "nb", "nd", "tb", "tc"],
    ["dd", "da", "na", "nd", "nb", "nc", "tc", "ta"],
]
ROLES: dict[str, Items | Values] = {
    **SETS,
    "words": {"values": FACTS},
    "pairs": PAIRS,
    "partners": PARTNERS,
    "rows": ROWS,
}
SIMILARITIES = [("ra", "sa", 8.5), ("rb", "sb", 2.0), ("rc", "sc", 5.5), ("rd", "sd", 3.0)]
VOCABULARY = [f"v{a}{b}" for a in "abcdefghij" for b in "abcdefgh"]
# Settings small enough for this vocabulary.
NEIGHBOURS, EDGES, EXTREMES, BEST, FARTHEST = 6, 30, 10, 5, 1.3
SMALL: dict[str, dict[str, float]] = {
    "nbm": {"neighbours": NEIGHBOURS},
    "male_neighbours": {"neighbours": NEIGHBOURS},
    "profession_correlation": {"neighbours": NEIGHBOURS},
    "prox_bias": {"neighbours": NEIGHBOURS},
    "gipe": {"neighbours": EDGES},
    "kmeans": {"most": EXTREMES},
    "svm": {"most": 20, "train": 20},
    "ibt": {"starts": 3},
    "generated_analogies": {"most": BEST, "farthest": FARTHEST},
    "generalised_weat": {"samples": 200},
}


def words_of(roles: Mapping[str, Items | Values]) -> list[str]:
    """Every word of a query's roles, once, in order."""
    flat: list[str] = []
    for entry in roles.values():
        items = list(entry["values"]) if isinstance(entry, Mapping) else entry
        for item in items:
            flat += [item] if isinstance(item, str) else item
    return list(dict.fromkeys(flat))


def make_vectors(
    change: Mapping[str, Vector] | None = None, *, seed: int = 3, matrix: Vector | None = None
) -> KeyedVectors:
    """Random vectors of all words of the query and of a vocabulary; ``change`` replaces rows."""
    words = [*words_of(ROLES), *VOCABULARY]
    rows = (
        np.random.default_rng(seed).normal(size=(len(words), DIM))
        if matrix is None
        else np.array(matrix)
    )
    for word, row in (change or {}).items():
        rows[words.index(word)] = row
    vectors = KeyedVectors(vector_size=rows.shape[1])
    vectors.add_vectors(words, rows.astype(np.float32))
    return vectors


def dot(u: Vector, v: Vector) -> float:
    """The literal inner product."""
    return sum(float(a * b) for a, b in zip(u.flat, v.flat, strict=True))


def cos(u: Vector, v: Vector) -> float:
    """The literal cosine."""
    return dot(u, v) / math.sqrt(dot(u, u) * dot(v, v))


def axis(place: int) -> Vector:
    """The unit vector along one dimension."""
    return np.eye(1, DIM, place).ravel()


def write_words(folder: Path, **change: Items | Values) -> str:
    """A file with the query ``mine``; ``change`` replaces roles."""
    path = folder / "mine.json"
    path.write_text(json.dumps({"mine": {**ROLES, **change}}), encoding="utf-8")
    return str(path)


def write_similarities(folder: Path) -> str:
    """A word similarity file."""
    path = folder / "similar.tsv"
    path.write_text(
        "".join(f"{a}\t{b}\t{value}\n" for a, b, value in SIMILARITIES), encoding="utf-8"
    )
    return str(path)


def make_metric(name: str, words: str, **settings: Any) -> Metric:
    """The metric on the query of ``words``; word similarity on the file beside it."""
    own = {"file": write_similarities(Path(words).parent)} if name == "sq" else {"words": words}
    return METRICS[name].by_convention(**(own | SMALL.get(name, {}) | settings))
