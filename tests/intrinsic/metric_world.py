"""A small world of random vectors and a query with every role, for tests that loop over all
metrics.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from gensim.models import KeyedVectors

from intrinsic import METRICS

if TYPE_CHECKING:
    from intrinsic.metric import Metric

DIM = 7
ROLES: dict[str, Any] = {
    "X": ["xa", "xb", "xc", "xd"],
    "Y": ["ya", "yb", "yc", "yd"],
    "A": ["aa", "ab", "ac", "ad", "ae"],
    "B": ["ba", "bb", "bc"],
    "words": {"values": {"wa": 3, "wb": 1, "wc": 4, "wd": 1.5, "we": 9}},
    "pairs": [["pa", "qa"], ["pb", "qb"], ["pc", "qc"]],
    "partners": [["ra", "sa"], ["rb", "sb"], ["rc", "sc"], ["rd", "sd"]],
    "rows": [
        ["da", "db", "na", "nb", "nc", "nd", "ta", "tb"],
        ["dc", "dd", "nc", "na", "nb", "nd", "tb", "tc"],
        ["dd", "da", "na", "nd", "nb", "nc", "tc", "ta"],
    ],
}
SIMILARITIES = [("ra", "sa", 8.5), ("rb", "sb", 2.0), ("rc", "sc", 5.5), ("rd", "sd", 3.0)]
VOCABULARY = [f"v{a}{b}" for a in "abcdefghij" for b in "abcdefgh"]
# Settings small enough for this vocabulary.
SMALL: dict[str, dict[str, Any]] = {
    "nbm": {"neighbours": 6},
    "male_neighbours": {"neighbours": 6},
    "profession_correlation": {"neighbours": 6},
    "prox_bias": {"neighbours": 6},
    "gipe": {"neighbours": 30},
    "kmeans": {"most": 10},
    "svm": {"most": 20, "train": 20},
    "ibt": {"starts": 3},
    "generated_analogies": {"most": 5, "farthest": 1.3},
    "generalised_weat": {"samples": 200},
}


def words_of(roles: dict[str, Any]) -> list[str]:
    """Every word of a query's roles, once, in order."""
    flat: list[str] = []
    for entry in roles.values():
        items = list(entry["values"]) if isinstance(entry, dict) else entry
        flat += [word for item in items for word in ([item] if isinstance(item, str) else item)]
    return list(dict.fromkeys(flat))


def make_vectors(
    change: dict[str, Any] | None = None, *, seed: int = 3, matrix: np.ndarray | None = None
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


def write_words(folder: Path, **change: Any) -> str:
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
    settings = {**SMALL.get(name, {}), **settings}
    if name == "sq":
        return METRICS[name].by(file=write_similarities(Path(words).parent), **settings)
    return METRICS[name].by(words=words, **settings)
