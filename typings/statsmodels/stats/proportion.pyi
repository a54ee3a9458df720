from typing import Literal

def proportion_confint(
    count: int, nobs: int, alpha: float = 0.05, method: Literal["wilson"] = ...
) -> tuple[float, float]: ...
def confint_proportions_2indep(
    count1: int,
    nobs1: int,
    count2: int,
    nobs2: int,
    method: Literal["newcomb", "agresti-caffo"],
    compare: Literal["diff"] = "diff",
    alpha: float = 0.05,
) -> tuple[float, float]: ...
