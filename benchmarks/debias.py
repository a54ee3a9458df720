"""Debiasing: our Attract-Repel in NumPy, erasers and balancing."""

from __future__ import annotations

from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.row import Row, Work
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.erasers import (
    Bam,
    Gbdd,
    Inlp,
    Leace,
    MeanDifference,
    RandomDirection,
    SentDebias,
)
from biasbridge.debias.hard import DoubleHard, Hard, Oscar
from biasbridge.debias.text import Balance
from biasbridge.debias.words import words_by_role
from biasbridge.files.vectors import keyed, open_mapped, save_vectors
from biasbridge.intrinsic.words import ROLES, Query, WordSet, load_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.debias.base import VectorsMethod

WORDS, DIM, LINES = 200_000, 300, 500_000


def mapped(folder: Path) -> KeyedVectors:
    """Return memory-mapped random vectors; write the file if it is missing."""
    path = folder / "mapped"
    if not path.exists():
        matrix = np.random.default_rng(0).standard_normal((WORDS, DIM), dtype=np.float32)
        save_vectors(keyed([f"w{number}" for number in range(WORDS)], matrix), path)
    return open_mapped(path)


def attract_repel(folder: Path) -> Work:
    """Time 5 epochs over 5,000 + 5,000 pairs, including the copy of the mapped vectors."""
    vectors = mapped(folder)
    m, f, a, b = (vectors.index_to_key[start : start + 50] for start in (0, 50, 100, 150))
    attract, repel = [*product(m, b), *product(f, a)], [*product(m, a), *product(f, b)]
    return partial(AttractRepel("debias").modify_pairs, vectors, attract, repel, seed=0)


def erase(folder: Path, method: VectorsMethod) -> Work:
    """Time fitting on 25 words per role and applying to the mapped vectors."""
    vectors = mapped(folder)
    words = iter(vectors.index_to_key)
    roles = ("X", "Y", "A", "B", "pairs", "equalise", "specific")
    sets = {
        role: WordSet(role, tuple(islice(words, 25 * width)), "en", "made up", width=width)
        for role, width in ((role, ROLES[role]) for role in roles)
    }
    return partial(method.modify, vectors, Query("made", sets, "en"), seed=0)


def balance(folder: Path) -> Work:
    """Time lines of 12 tokens; as in tweets, 1 in 12 has an attribute and 1 in 4 a target."""
    rng = np.random.default_rng(0)
    query = load_query("gender_union")
    words = words_by_role(query)
    filler_tokens = np.array([f"token{number}" for number in range(5000)])
    token_ids = rng.integers(len(filler_tokens), size=(LINES, 12))
    tokens = filler_tokens[token_ids].astype(object)
    for position, role_words, share in (
        (3, words["X"] + words["Y"], 1 / 4),
        (7, words["A"] + words["B"], 1 / 12),
    ):
        selected = np.flatnonzero(rng.random(LINES) < share)
        tokens[selected, position] = rng.choice(np.array(role_words), size=len(selected))
    lines: list[list[str]] = tokens.tolist()
    text, out = folder / "corpus.txt", folder / "balanced.txt"
    text.write_text("".join(f"{' '.join(line)}\n" for line in lines), encoding="utf-8")
    return partial(Balance("debias").rewrite, text, out, query, seed=0)


ERASERS: tuple[VectorsMethod, ...] = (
    *(Hard(), DoubleHard(), Oscar(), Inlp(), Leace(), SentDebias(), MeanDifference(), Gbdd()),
    *(Bam(), RandomDirection()),
)
ROWS = [
    Row("Attract-Repel, 10,000 pairs, 200,000 x 300", attract_repel, 1.5, 500),
    *(Row(f"{m.name}, 200,000 x 300", partial(erase, method=m), 5, 800) for m in ERASERS),
    Row("balance, 500,000 lines of 12 tokens", balance, 1),
]
