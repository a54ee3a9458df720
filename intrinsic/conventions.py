"""How WEAT is computed, by name: the literature differs in every detail, so a score names the convention it follows."""

from __future__ import annotations

from dataclasses import dataclass

from files import InputError
from intrinsic.lookup import CASES
from intrinsic.permutation import TAILS


@dataclass(frozen=True)
class Convention:
    """One way to compute a WEAT score.

    ddof: 0 divides the effect size by the population's standard deviation, 1 by the sample's.
    p_value: whether a p-value is computed; tail and strict: which partitions count as extreme, see ``permutation.exact_p``.
    case: how words are looked up, see ``lookup.find``; min_found: the share of each set that must be found.
    equal_sizes: words found are cut from the end of the longer of X and Y, and of A and B, until the two are equally long.
    """

    name: str
    source: str
    ddof: int = 0
    p_value: bool = True
    tail: str = "greater"
    strict: bool = False
    case: str = "exact"
    min_found: float = 0.5
    equal_sizes: bool = False

    def __post_init__(self) -> None:
        if self.ddof not in (0, 1):
            raise InputError(f"ddof is {self.ddof!r}; choose 0 (population) or 1 (sample)")
        if self.tail not in TAILS:
            raise InputError(f"unknown tail {self.tail!r}; choose from {', '.join(TAILS)}")
        if self.case not in CASES:
            raise InputError(f"unknown case {self.case!r}; choose from {', '.join(CASES)}")
        if not isinstance(self.min_found, int | float) or not 0 <= self.min_found <= 1:
            raise InputError(f"min_found is {self.min_found!r}; give a share of the words between 0 and 1")


CONVENTIONS: dict[str, Convention] = {
    convention.name: convention
    for convention in (
        Convention(
            name="default",
            source="Ours: the effect size ranges over exactly [-2, 2], and p counts the observed partition, so it is never 0.",
        ),
        Convention(
            name="caliskan",
            source="Caliskan et al. (2017): ddof=1, which gives their published effect sizes; p counts larger statistics only.",
            ddof=1,
            strict=True,
        ),
        Convention(
            name="goldfarb_tarrant",
            source="Goldfarb-Tarrant et al. (2021) by their code (that of XWEAT): any loss of words is accepted, and the longer set of "
            "each pair is cut to the length of the shorter; p counts larger statistics only.",
            strict=True,
            min_found=0.0,
            equal_sizes=True,
        ),
        Convention(
            name="wefe",
            source="WEFE 1.0 (Badilla et al., 2020): a set that loses more than 20% of its words gives NaN. Its permutations are drawn "
            "with replacement and are no permutation test; this is the exact p that its (count + 1) / (runs + 1) aims at.",
            min_found=0.8,
        ),
        Convention(
            name="bsa",
            source="Spliethöver & Wachsmuth (2021), Bias Silhouette Analysis: the effect size alone, on whatever words are found.",
            p_value=False,
            min_found=0.0,
        ),
    )
}
