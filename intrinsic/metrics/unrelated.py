"""Do analogies with a base pair show a relation, or only that like words lie near one another?"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from files import choice
from intrinsic.frequent_words import BATCH, Searched, Singles
from intrinsic.metric import About, FoundQuery, Metric
from intrinsic.score import Measured, by_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from intrinsic.lookup import Floats


@choice
class UnrelatedAnalogies(Metric):
    """3CosAdd with base pairs on pairs of words that have nothing to do with them.

    "man is to apple as woman is to ?" is solved by apples wherever man and woman are alike enough.
    ``statistic``: the share solved without a base pair, y being the word nearest to x; ``each``: by
    pair of words.
    """

    about: ClassVar[About] = About(
        name="unrelated_analogies",
        title="Unrelated analogies that base pairs solve, 3CosAdd accuracy",
        formula=(
            "share of ((a, b) in pairs, (x, y) in partners) with y = argmax_{w not in {a, b, x}}"
            " cos(w, unit(x) - unit(b) + unit(a))"
        ),
        sign="larger: analogies with the base pairs return what is like x, whatever they stand for",
        range=(0, 1),
        unbiased=None,
        source="Zhang, Sneyd & Stevenson (2020)",
        roles={"pairs": "pairs", "partners": "pairs of words unrelated to them"},
        asks=("unrelated_plurals",),
    )
    items: ClassVar[str] = "partners"

    vocabulary: Searched = 50_000

    def by_pair(self, words: FoundQuery) -> Floats:
        """1 where the base pair solves the partner's analogy, else 0. Shape (partners, pairs)."""
        pool, place = self._pool(words)
        pairs = words["pairs"]
        columns = [
            _solved(words, pool, place, first - second, names)
            for names, (first, second) in zip(pairs.items, pairs.matrix, strict=True)
        ]
        return np.stack(columns, axis=1).astype(np.float64)

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The mean over base pairs and partners."""
        pool, place = self._pool(words)
        nothing: Floats = np.zeros(words.vectors.vector_size)
        without = float(_solved(words, pool, place, nothing, ()).mean())
        solved = self.by_pair(words)
        each = by_name(words["partners"].words, solved.mean(axis=1))
        return Measured(float(solved.mean()), statistic=without, each=each)

    def _pool(self, words: FoundQuery) -> tuple[Singles, Mapping[str, int]]:
        """The frequent words and all words asked about, at unit length, and their places."""
        asked = [
            word for role in ("partners", "pairs") for item in words[role].items for word in item
        ]
        names = list(dict.fromkeys([*words.vectors.index_to_key[: self.vocabulary], *asked]))
        rows: Singles = np.array(
            words.vectors.vectors[[words.vectors.key_to_index[name] for name in names]]
        )
        norms: Singles = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.where(norms > 0, norms, 1)[:, None]
        return rows, {name: i for i, name in enumerate(names)}


def _solved(
    words: FoundQuery, pool: Singles, place: Mapping[str, int], offset: Floats, base: Sequence[str]
) -> NDArray[np.bool_]:
    """Whether the word of the pool nearest to x + offset, other than x and the base pair's, is y.

    Shape (partners,).
    """
    partners = words["partners"]
    asked: Singles = (partners.matrix[:, 0] + offset).astype(np.float32)
    x, y = (np.array([place[item[i]] for item in partners.items]) for i in (0, 1))
    found = np.empty(len(asked), dtype=np.intp)
    for start in range(0, len(asked), BATCH):
        rows = slice(start, start + BATCH)
        cosines: Singles = asked[rows] @ pool.T
        cosines[np.arange(len(cosines)), x[rows]] = -np.inf
        cosines[:, [place[word] for word in base]] = -np.inf
        found[rows] = cosines.argmax(axis=1)
    solved: NDArray[np.bool_] = found == y
    return solved
