"""Debiasing: why Attract-Repel is ours, in NumPy; what erasers take; and balancing."""

from __future__ import annotations

from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.row import Row, Work
from debias.attract_repel import AttractRepel
from debias.balance import Balance
from debias.bam import Bam
from debias.double_hard import DoubleHard
from debias.gbdd import Gbdd
from debias.hard import Hard
from debias.inlp import Inlp
from debias.leace import Leace
from debias.mean_difference import MeanDifference
from debias.oscar import Oscar
from debias.random_direction import RandomDirection
from debias.roles import words_by_role
from debias.sent_debias import SentDebias
from files.vectors import keyed, open_mapped, save_vectors
from intrinsic.wordsets import Query, WordSet, load_query
from intrinsic.wordsets.wordset import ROLES

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from debias.base import VectorsMethod

WORDS, DIM, LINES = 200_000, 300, 500_000


def mapped(folder: Path) -> KeyedVectors:
    """Random vectors, mapped from a file that is written if it is not there."""
    path = folder / "mapped"
    if not path.exists():
        matrix = np.random.default_rng(0).standard_normal((WORDS, DIM), dtype=np.float32)
        save_vectors(keyed([f"w{number}" for number in range(WORDS)], matrix), path)
    return open_mapped(path)


def attract_repel(folder: Path) -> Work:
    """5 epochs over 5,000 + 5,000 pairs, the copy of the mapped vectors included."""
    vectors = mapped(folder)
    m, f, a, b = (vectors.index_to_key[start : start + 50] for start in (0, 50, 100, 150))
    attract, repel = [*product(m, b), *product(f, a)], [*product(m, a), *product(f, b)]
    return partial(AttractRepel("debias").modify_pairs, vectors, attract, repel, seed=0)


def erase(folder: Path, method: VectorsMethod) -> Work:
    """Fitted on 25 words a role, and applied to the mapped vectors."""
    vectors = mapped(folder)
    words = iter(vectors.index_to_key)
    roles = ("X", "Y", "A", "B", "pairs", "equalise", "specific")
    sets = {
        role: WordSet(role, tuple(islice(words, 25 * width)), "en", "made up", width=width)
        for role, width in ((role, ROLES[role]) for role in roles)
    }
    return partial(method.modify, vectors, Query("made", sets, "en"), seed=0)


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


ERASERS: tuple[VectorsMethod, ...] = (
    *(Hard(), DoubleHard(), Oscar(), Inlp(), Leace(), SentDebias(), MeanDifference(), Gbdd()),
    *(Bam(), RandomDirection()),
)
ROWS = [
    Row("Attract-Repel, 10,000 pairs, 200,000 x 300", attract_repel, 1.5, 500),
    *(Row(f"{each.name}, 200,000 x 300", partial(erase, method=each), 5, 800) for each in ERASERS),
    Row("balance, 500,000 lines of 12 tokens", balance, 1),
]
