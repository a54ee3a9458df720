"""SentDebias: the main directions in which pairs differ are projected out."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import doc

from debias.linear import PAIRS, Examples, LinearEraser, unit_differences
from files import InputError, choice
from files.choice import Count
from files.eraser import Eraser


@choice
class SentDebias(LinearEraser):
    """f(x) = x - sum_i (x . v_i) v_i, with v_1, ..., v_k the first principal components of the
    pair-centred unit vectors (Liang et al., 2020); on words the neutralising of Bolukbasi et al.
    (2016).
    """

    components: Annotated[Count, doc("k, the directions projected out")] = 1

    name: ClassVar[str] = "sent_debias"
    asks: ClassVar[tuple[str, ...]] = PAIRS

    def fit(self, found: Examples, *, seed: int) -> Eraser:
        """Norm 1, rank ``components``. Raises ``InputError`` for more of these than pairs."""
        differences = unit_differences(found.pairs)
        if self.components > min(differences.shape):
            raise InputError(
                f"components={self.components}: {len(differences)} pairs of {differences.shape[1]}"
                " dimensions have fewer; give at most that"
            )
        _, sizes, axes = np.linalg.svd(differences, full_matrices=False)
        shares = ", ".join(f"{size:.3f}" for size in (sizes**2 / (sizes**2).sum())[:3])
        return replace(Eraser.removing(axes[: self.components]), fitted={"explained": shares})
