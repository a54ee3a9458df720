from typing import Literal

from numpy.typing import ArrayLike

class CombineResults:
    tau2: float
    i2: float
    q: float
    mean_effect_re: float
    sd_eff_w_re_hksj: float

def combine_effects(
    effect: ArrayLike, variance: ArrayLike, method_re: Literal["iterated", "chi2"] = "iterated"
) -> CombineResults: ...
