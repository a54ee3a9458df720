"""The Word Embedding Association Test (Caliskan et al., 2017): its equations, and the metric built on them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from files import InputError, nearest
from intrinsic.conventions import CONVENTIONS, Convention
from intrinsic.lookup import Found, find, losses, shortage, unit_rows
from intrinsic.permutation import MOST_VALUES, permutation_p
from intrinsic.wordsets import Query, load_queries

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

Floats = NDArray[np.float64]

# Associations are differences of cosines: a spread below this is rounding, not data.
NO_SPREAD = 1e-12


def associations(w: ArrayLike, a: ArrayLike, b: ArrayLike) -> Floats:
    r"""The association s(w, A, B) of every word with the attributes A against B.

    s(w) = mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b)

    s > 0: w lies nearer A; s = 0: equally near both. Range [-2, 2], but the reach depends on how far A and B lie apart, so s is not
    comparable between embeddings (Schröder et al., 2024, theorem 1).

    Shapes: w (nw, dim), a (na, dim), b (nb, dim) -> (nw,). Rows need not be unit length; a zero row raises ``InputError``.
    """
    words, first, second = unit_rows(w), unit_rows(a), unit_rows(b)
    for name, matrix in (("w", words), ("a", first), ("b", second)):
        if len(matrix) == 0:
            raise InputError(f"{name} has no vectors; every set needs at least one")
        if matrix.shape[1] != words.shape[1]:
            raise InputError(f"{name} has vectors of dimension {matrix.shape[1]}, w of {words.shape[1]}; they must agree")
    return words @ (first.mean(axis=0) - second.mean(axis=0))


def effect_size(x: ArrayLike, y: ArrayLike, a: ArrayLike, b: ArrayLike, *, ddof: int = 0) -> float:
    r"""The WEAT effect size d (Caliskan et al., 2017).

    d = (mean_{w in X} s(w) - mean_{w in Y} s(w)) / sd_{w in X u Y} s(w),   s as in ``associations``

    d > 0: X lies nearer A, and Y nearer B. d = 0: no difference between X and Y on average, which says nothing about single words
    (Schröder et al., 2024, theorem 3). In units of standard deviations; range [-2, 2] for ``ddof=0`` and |X| = |Y|. ``ddof=1`` gives the
    effect sizes that Caliskan et al. published, smaller by the factor sqrt((n - 1) / n), n = |X| + |Y|.

    Shapes: x (nx, dim), y (ny, dim), a (na, dim), b (nb, dim). Rows need not be unit length. Raises ``InputError`` for a zero row, an
    empty set, and where all associations are equal, so that d is 0 / 0.
    """
    return standardised_difference(associations(x, a, b), associations(y, a, b), ddof=ddof)


def statistic(x: ArrayLike, y: ArrayLike, a: ArrayLike, b: ArrayLike) -> float:
    r"""The WEAT test statistic S (Caliskan et al., 2017).

    S = sum_{w in X} s(w) - sum_{w in Y} s(w),   s as in ``associations``

    The sign is that of ``effect_size`` where |X| = |Y|; with unequal sets S mixes the difference with the sizes. Range
    [-2 (|X| + |Y|), 2 (|X| + |Y|)]. Shapes and errors as in ``effect_size``, but equal associations are allowed.
    """
    return float(associations(x, a, b).sum() - associations(y, a, b).sum())


def standardised_difference(x: ArrayLike, y: ArrayLike, *, ddof: int = 0) -> float:
    """(mean(x) - mean(y)) / sd(x u y), the last step of ``effect_size``. Shapes: x (nx,), y (ny,)."""
    if ddof not in (0, 1):
        raise InputError(f"ddof is {ddof!r}; choose 0 (population) or 1 (sample)")
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    spread = np.concatenate([first, second]).std(ddof=ddof)
    if spread < NO_SPREAD:
        raise InputError("all target words have the same association with the attributes, so the effect size is 0 / 0; use other words")
    return float((first.mean() - second.mean()) / spread)


@dataclass(frozen=True)
class Weat:
    """WEAT over several queries: the metric ``weat``.

    queries: names of built-in queries, or of queries in the file ``words`` (YAML or JSON, see ``wordsets.read_wordsets``).
    convention: a name in ``conventions.CONVENTIONS``. case, tail, min_found: each takes the place of what the convention says; the row's
    ``convention`` then says so, for example ``default,case=lower``.
    exact_limit: up to this many target words p is exact (at most 50), beyond it ``samples`` random partitions estimate it.
    """

    version: ClassVar[int] = 1

    queries: tuple[str, ...] = ("weat6b", "weat7", "weat8")
    convention: str = "default"
    case: str | None = None
    tail: str | None = None
    min_found: float | None = None
    exact_limit: int = 40
    samples: int = 100_000
    words: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.queries, str) or not self.queries:
            raise InputError(f"queries is {self.queries!r}; give a list of one or more query names")
        object.__setattr__(self, "queries", tuple(self.queries))
        if self.convention not in CONVENTIONS:
            hint = nearest(self.convention, CONVENTIONS)
            raise InputError(f"unknown convention {self.convention!r}{hint}; there are {', '.join(CONVENTIONS)}")
        if not isinstance(self.exact_limit, int) or not 0 <= self.exact_limit <= MOST_VALUES:
            raise InputError(f"exact_limit is {self.exact_limit!r}; choose from 0 to {MOST_VALUES} target words")
        if not isinstance(self.samples, int) or self.samples < 1:
            raise InputError(f"samples is {self.samples!r}; it must be a whole number of at least 1")
        self.rules()
        load_queries(self.queries, self.words)

    def rules(self) -> Convention:
        """The convention with this metric's own settings in it, and with a name that shows them."""
        base = CONVENTIONS[self.convention]
        own = {"case": self.case, "tail": self.tail, "min_found": self.min_found}
        changed: dict[str, Any] = {key: value for key, value in own.items() if value not in (None, getattr(base, key))}
        name = ",".join([base.name, *(f"{key}={value}" for key, value in changed.items())])
        return replace(base, name=name, **changed)

    def files(self) -> list[Path]:
        """The files the score depends on."""
        return [Path(self.words)] if self.words else []

    def score(self, vectors: KeyedVectors, *, seed: int) -> list[dict[str, Any]]:
        """One row per query; ``value`` is the effect size.

        Where it or the p-value cannot be had it is NaN and ``reason`` says why. n_found and n_lost count the words of all four sets;
        ``lost`` names those outside the vocabulary and ``cut`` those found but cut by the convention, in the order X, Y, A, B. The seed
        matters to sampled p-values only.
        """
        rules = self.rules()
        return [self._row(query, vectors, rules, seed) for query in load_queries(self.queries, self.words)]

    def _row(self, query: Query, vectors: KeyedVectors, rules: Convention, seed: int) -> dict[str, Any]:
        """The row of one query."""
        sets = [query.X, query.Y, query.A, query.B]
        found = [find(vectors, each.words, case=rules.case) for each in sets]
        used = _equalise(found) if rules.equal_sizes else found
        reasons = [shortage(each, got, rules.min_found) for each, got in zip(sets, found, strict=True)]
        reason = "; ".join(filter(None, [*reasons, _overlap(query, used)]))
        numbers = {"reason": reason} if reason else self._numbers(used, rules, seed)
        return {
            "metric": "weat",
            "query": query.name,
            "value": numbers.get("value", math.nan),
            "statistic": numbers.get("statistic", math.nan),
            "p_value": numbers.get("p_value", math.nan),
            "p_method": numbers.get("p_method", "none"),
            "tail": rules.tail,
            **losses(found),
            "cut": ",".join(word for got, kept in zip(found, used, strict=True) for word in got.words[len(kept.words) :]),
            "convention": rules.name,
            "language": query.language,
            "reason": numbers.get("reason", ""),
        }

    def _numbers(self, used: list[Found], rules: Convention, seed: int) -> dict[str, Any]:
        """The columns that come from the vectors; those that cannot be had are left out, and ``reason`` says why."""
        x, y, a, b = (got.matrix for got in used)
        of_x, of_y = associations(x, a, b), associations(y, a, b)
        try:
            value = standardised_difference(of_x, of_y, ddof=rules.ddof)
        except InputError as error:
            return {"reason": str(error)}
        numbers = {"value": value, "statistic": float(of_x.sum() - of_y.sum())}
        if not rules.p_value:
            return numbers | {"reason": f"convention {rules.name!r} has no p-value"}
        limits = {"exact_limit": self.exact_limit, "samples": self.samples}
        test = permutation_p(of_x, of_y, tail=rules.tail, strict=rules.strict, **limits, seed=seed)
        return numbers | {"p_value": test.p, "p_method": test.method}


def _equalise(found: list[Found]) -> list[Found]:
    """The longer of X and Y, and of A and B, cut from its end to the length of the shorter."""
    x, y, a, b = (len(got.words) for got in found)
    sizes = (min(x, y), min(x, y), min(a, b), min(a, b))
    return [got._replace(words=got.words[:size], matrix=got.matrix[:size]) for got, size in zip(found, sizes, strict=True)]


def _overlap(query: Query, used: list[Found]) -> str:
    """Why X and Y cannot be compared, where they share words: a partition of X u Y needs each word on one side."""
    shared = [word for word in used[0].words if word in used[1].words]
    return f"X and Y of query {query.name!r} share {', '.join(shared)}; a word can be in one target set only" if shared else ""
