"""Debiasing: why Attract-Repel is ours, in NumPy; and balancing."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.row import Row, Work
from debias.attract_repel import AttractRepel
from debias.balance import Balance
from debias.roles import words_by_role
from files.vectors import keyed, open_mapped, save_vectors
from intrinsic.wordsets import load_query

WORDS, DIM, LINES = 200_000, 300, 500_000


def attract_repel(folder: Path) -> Work:
    """5 epochs over 5,000 + 5,000 pairs, the copy of the mapped vectors included."""
    matrix = np.random.default_rng(0).standard_normal((WORDS, DIM), dtype=np.float32)
    save_vectors(keyed([f"w{number}" for number in range(WORDS)], matrix), folder / "mapped")
    vectors = open_mapped(folder / "mapped")
    m, f, a, b = (vectors.index_to_key[start : start + 50] for start in (0, 50, 100, 150))
    attract, repel = [*product(m, b), *product(f, a)], [*product(m, a), *product(f, b)]
    return partial(AttractRepel("debias").modify_pairs, vectors, attract, repel, seed=0)


def balance(folder: Path) -> Work:
    """Lines of 12 tokens, of which one in 12 holds an attribute and one in 4 a target, as in
    tweets.
    """
    draw = np.random.default_rng(0)
    query = load_query("gender_union")
    words = words_by_role(query)
    filler = np.array([f"token{number}" for number in range(5000)])
    tokens = filler[draw.integers(len(filler), size=(LINES, 12))].astype(object)
    for position, listed, share in (
        (3, words["X"] + words["Y"], 1 / 4),
        (7, words["A"] + words["B"], 1 / 12),
    ):
        chosen = np.flatnonzero(draw.random(LINES) < share)
        tokens[chosen, position] = draw.choice(np.array(listed), size=len(chosen))
    lines: list[list[str]] = tokens.tolist()
    text, out = folder / "corpus.txt", folder / "balanced.txt"
    text.write_text("".join(f"{' '.join(line)}\n" for line in lines), encoding="utf-8")
    return partial(Balance("debias").balance, text, out, query, seed=0)


ROWS = [
    Row("Attract-Repel, 10,000 pairs, 200,000 x 300", attract_repel, 1.5, 500),
    Row("balance, 500,000 lines of 12 tokens", balance, 1),
]
