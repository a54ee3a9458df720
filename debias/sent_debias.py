"""SentDebias: the principal directions of the pairs' differences are projected out."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar

from annotated_types import doc

from biasbridge.debias.directions import main_axes, unit_differences
from biasbridge.debias.examples import PAIRS, Examples
from biasbridge.debias.linear import LinearEraser
from biasbridge.files import choice
from biasbridge.files.choice import Count
from biasbridge.files.eraser import Eraser


@choice
class SentDebias(LinearEraser):
    """f(x) = x - sum_i (x . v_i) v_i, with v_1, ..., v_k the first principal components of the
    pair-centred unit vectors (Liang et al., 2020); on words the neutralising of Bolukbasi et al.
    (2016).
    """

    components: Annotated[Count, doc("k, number of directions projected out")] = 1

    name: ClassVar[str] = "sent_debias"
    family: ClassVar[str] = "pair subspace"
    needed_roles: ClassVar[tuple[str, ...]] = PAIRS

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit an eraser of norm 1 and rank k. Raises ``InputError`` if pairs span fewer axes."""
        axes, explained = main_axes(unit_differences(examples.pairs), self.components)
        shares = ", ".join(f"{share:.3f}" for share in explained[:3])
        return replace(Eraser.removing(axes), fitted={"explained": shares})
