"""The Word Embedding Association Test (Caliskan et al., 2017): its equations, and the metric built
on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from files import InputError
from intrinsic.lookup import Found, unit_rows
from intrinsic.metric import About, Convention, Measured, Metric, Words, percentiles
from intrinsic.permutation import MOST_VALUES, TAILS, permutation_p

Floats = NDArray[np.float64]

# Associations are differences of cosines: a spread below this is rounding, not data.
NO_SPREAD = 1e-12


def associations(w: ArrayLike, a: ArrayLike, b: ArrayLike) -> Floats:
    r"""The association s(w, A, B) of every word with the attributes A against B.

    s(w) = mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b)

    s > 0: w lies nearer A; s = 0: equally near both. Range [-2, 2], but the reach depends on how
    far A and B lie apart, so s is not comparable between embeddings (Schröder et al., 2024, theorem
    1).

    Shapes: w (nw, dim), a (na, dim), b (nb, dim) -> (nw,). Rows need not be unit length; a zero row
    raises ``InputError``.
    """
    words, first, second = unit_rows(w), unit_rows(a), unit_rows(b)
    for name, matrix in (("w", words), ("a", first), ("b", second)):
        if len(matrix) == 0:
            raise InputError(f"{name} has no vectors; every set needs at least one")
        if matrix.shape[1] != words.shape[1]:
            raise InputError(
                f"{name} has vectors of dimension {matrix.shape[1]}, w of {words.shape[1]}; they"
                " must agree"
            )
    return words @ (first.mean(axis=0) - second.mean(axis=0))


def effect_size(x: ArrayLike, y: ArrayLike, a: ArrayLike, b: ArrayLike, *, ddof: int = 0) -> float:
    r"""The WEAT effect size d (Caliskan et al., 2017).

    d = (mean_{w in X} s(w) - mean_{w in Y} s(w)) / sd_{w in X u Y} s(w),   s as in ``associations``

    d > 0: X lies nearer A, and Y nearer B. d = 0: no difference between X and Y on average, which
    says nothing about single words (Schröder et al., 2024, theorem 3). In units of standard
    deviations; range [-2, 2] for ``ddof=0`` and |X| = |Y|. ``ddof=1`` gives the effect sizes that
    Caliskan et al. published, smaller by the factor sqrt((n - 1) / n), n = |X| + |Y|.

    Shapes: x (nx, dim), y (ny, dim), a (na, dim), b (nb, dim). Rows need not be unit length. Raises
    ``InputError`` for a zero row, an empty set, and where all associations are equal, so that d is
    0 / 0.
    """
    return standardised_difference(associations(x, a, b), associations(y, a, b), ddof=ddof)


def statistic(x: ArrayLike, y: ArrayLike, a: ArrayLike, b: ArrayLike) -> float:
    r"""The WEAT test statistic S (Caliskan et al., 2017).

    S = sum_{w in X} s(w) - sum_{w in Y} s(w),   s as in ``associations``

    The sign is that of ``effect_size`` where |X| = |Y|; with unequal sets S mixes the difference
    with the sizes. Range [-2 (|X| + |Y|), 2 (|X| + |Y|)]. Shapes and errors as in ``effect_size``,
    but equal associations are allowed.
    """
    return float(associations(x, a, b).sum() - associations(y, a, b).sum())


def standardised_difference(x: ArrayLike, y: ArrayLike, *, ddof: int = 0) -> float:
    """(mean(x) - mean(y)) / sd(x u y), the last step of ``effect_size``. Shapes: x (nx,), y
    (ny,).
    """
    if ddof not in (0, 1):
        raise InputError(f"ddof is {ddof!r}; choose 0 (population) or 1 (sample)")
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    spread = np.concatenate([first, second]).std(ddof=ddof)
    if spread < NO_SPREAD:
        raise InputError(
            "all target words have the same association with the attributes, so the effect size is"
            " 0 / 0; use other words"
        )
    return float((first.mean() - second.mean()) / spread)


def word_bootstrap(
    x: Floats, y: Floats, a: Floats, b: Floats, *, ddof: int = 0, resamples: int, seed: int
) -> tuple[float, float]:
    """The 95% percentile interval of the effect size over resampled words, each of the four sets
    drawn anew with replacement.

    It answers how far the score depends on which words stand for the concepts; not on the corpus or
    the training. Rows at unit length. Shapes as in ``effect_size``. NaN where fewer than nine in
    ten resamples have an effect size.
    """
    rng = np.random.default_rng(seed)
    of_x, of_y, of_a, of_b = (
        rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=resamples) / len(rows)
        for rows in (x, y, a, b)
    )
    to_a, to_b = np.concatenate([x, y]) @ a.T, np.concatenate([x, y]) @ b.T
    s = of_a @ to_a.T - of_b @ to_b.T  # (resamples, words of X and Y)
    n = len(x) + len(y)
    mean_x, mean_y = (of_x * s[:, : len(x)]).sum(axis=1), (of_y * s[:, len(x) :]).sum(axis=1)
    shares = np.concatenate([of_x * len(x), of_y * len(y)], axis=1) / n
    mean = (shares * s).sum(axis=1)
    spread = np.sqrt((shares * (s - mean[:, None]) ** 2).sum(axis=1) * n / (n - ddof))
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(spread > NO_SPREAD, (mean_x - mean_y) / spread, np.nan)
    return percentiles(values.tolist(), resamples)


@dataclass(frozen=True)
class Weat(Metric):
    """WEAT over several queries: the metric ``weat``; ``value`` is the effect size.

    ddof: 0 divides by the population's standard deviation, 1 by the sample's. tail and strict:
    which partitions count as extreme. p_value: whether there is one. equal_sizes: words found are
    cut from the end of the longer of X and Y, and of A and B. exact_limit: up to this many target
    words p is exact (at most 50); beyond it p has guaranteed bounds, or is estimated from
    ``samples`` random partitions where that is above 0 or there are more than 120 target words.
    """

    about: ClassVar[About] = About(
        name="weat",
        title="Word Embedding Association Test, effect size",
        formula=(
            "(mean_{x in X} s(x) - mean_{y in Y} s(y)) / sd_{w in X u Y} s(w),  "
            "s(w) = mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b)"
        ),
        sign="> 0: X lies nearer A, and Y nearer B",
        low=-2,
        high=2,
        unbiased=0,
        source="Caliskan et al. (2017)",
        roles={"X": "targets", "Y": "targets", "A": "attributes", "B": "attributes"},
        asks=(
            "weat1",
            "weat2",
            "weat3",
            "weat4",
            "weat5",
            "weat6",
            "weat6b",
            "weat7",
            "weat8",
            "weat9",
            "weat10",
            "gender",
            "migrant",
        ),
    )
    options: ClassVar[dict[str, Any]] = {
        "ddof": 0,
        "p_value": True,
        "tail": "greater",
        "strict": False,
        "equal_sizes": False,
    }
    allowed: ClassVar[dict[str, Any]] = {"ddof": (0, 1), "tail": TAILS}
    default_source: ClassVar[str] = (
        "Ours: the effect size ranges over exactly [-2, 2], and p counts the observed partition, so"
        " it is never 0."
    )
    others: ClassVar[tuple[Convention, ...]] = (
        Convention(
            name="caliskan",
            source=(
                "Caliskan et al. (2017): ddof=1, which gives their published effect sizes; p counts"
                " larger statistics only."
            ),
            options={"ddof": 1, "strict": True},
        ),
        Convention(
            name="goldfarb_tarrant",
            source=(
                "Goldfarb-Tarrant et al. (2021) by their code (that of XWEAT): any loss of words is"
                " accepted, and the longer set of each pair is cut to the length of the shorter; p"
                " counts larger statistics only."
            ),
            options={"strict": True, "min_found": 0.0, "equal_sizes": True},
        ),
        Convention(
            name="wefe",
            source=(
                "WEFE 1.0 (Badilla et al., 2020), there WEAT-ES: a set that loses more than 20% of"
                " its words gives NaN. Its permutations are drawn with replacement and are no"
                " permutation test; this is the exact p that they aim at."
            ),
            options={"min_found": 0.8},
        ),
        Convention(
            name="bsa",
            source=(
                "Spliethöver & Wachsmuth (2021), Bias Silhouette Analysis: the effect size alone,"
                " on whatever words are found."
            ),
            options={"p_value": False, "min_found": 0.0},
        ),
        Convention(
            name="schroeder",
            source=(
                "Schröder et al. (2024): the effect size with the population's standard deviation,"
                " two-sided."
            ),
            options={"tail": "two-sided"},
        ),
    )
    version: ClassVar[int] = 2

    tail: str | None = None
    ddof: int | None = None
    exact_limit: int = 40
    samples: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.exact_limit, int) or not 0 <= self.exact_limit <= MOST_VALUES:
            raise InputError(
                f"exact_limit is {self.exact_limit!r}; choose from 0 to {MOST_VALUES} target words"
            )
        if not isinstance(self.samples, int) or self.samples < 0:
            raise InputError(
                f"samples is {self.samples!r}; it must be a whole number of at least 0"
            )
        super().__post_init__()

    def use(self, found: dict[str, Found], rules: SimpleNamespace) -> dict[str, Found]:
        """The words used: all found, unless the convention cuts sets to equal sizes."""
        if not rules.equal_sizes:
            return found
        used = dict(found)
        for one, other in (("X", "Y"), ("A", "B")):
            size = min(len(found[one].words), len(found[other].words))
            used |= {one: found[one].first(size), other: found[other].first(size)}
        return used

    def measure(self, words: Words, rules: SimpleNamespace, seed: int) -> Measured:
        """The effect size, the statistic, and the p-value of the statistic."""
        axis = words["A"].matrix.mean(axis=0) - words["B"].matrix.mean(axis=0)
        of_x, of_y = words["X"].matrix @ axis, words["Y"].matrix @ axis
        value = standardised_difference(of_x, of_y, ddof=rules.ddof)
        statistic = float(of_x.sum() - of_y.sum())
        each = dict(
            zip(
                (*words["X"].words, *words["Y"].words),
                [*of_x.tolist(), *of_y.tolist()],
                strict=True,
            )
        )
        if not rules.p_value:
            return Measured(
                value, statistic, reason=f"convention {rules.name!r} has no p-value", each=each
            )
        limits = {"exact_limit": self.exact_limit, "samples": self.samples}
        test = permutation_p(of_x, of_y, tail=rules.tail, strict=rules.strict, **limits, seed=seed)
        return Measured(value, statistic, test, each=each)

    def intervals(
        self, words: Words, rules: SimpleNamespace, seed: int
    ) -> dict[str, tuple[float, float]]:
        """As for every metric, all resamples at once."""
        sets = [words[role].matrix for role in "XYAB"]
        return {"": word_bootstrap(*sets, ddof=rules.ddof, resamples=self.resamples, seed=seed)}
