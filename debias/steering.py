"""Steering: hidden states of a causal language model are shifted between two groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasbridge.debias.examples import GROUPS, Examples
from biasbridge.debias.linear import LinearEraser
from biasbridge.files import InputError, choice
from biasbridge.files.eraser import Eraser

if TYPE_CHECKING:
    from biasbridge.files.models.encoder import Encoder
    from biasbridge.intrinsic.wordsets import Query


@choice
class Steering(LinearEraser):
    """f(x) = x - u, u = mean(X) - mean(Y) of the states of a layer: a positive dose shifts every
    state from X towards Y, a negative one from Y towards X (activation addition; Turner et al.,
    2023). The shift is the same for all words and brings no two of them nearer.
    """

    name: ClassVar[str] = "steering"
    acts_on: ClassVar[str] = "model"
    needed_roles: ClassVar[tuple[str, ...]] = GROUPS

    def fit_encoder(self, encoder: Encoder, query: Query | None, *, seed: int) -> Eraser:
        """Fit as every eraser does. Raises ``InputError`` for a model that is not causal."""
        if encoder.opened.kind != "causal":
            raise InputError(
                f"{self.name} needs a causal language model, and {encoder.name} is none; use an"
                " eraser, such as leace"
            )
        return super().fit_encoder(encoder, query, seed=seed)

    def fit(self, examples: Examples, *, seed: int) -> Eraser:
        """Fit a shift: norm 1, rank 0."""
        dim = examples.rows.shape[1]
        shift = examples.first.mean(axis=0) - examples.second.mean(axis=0)
        return Eraser(np.zeros((dim, 0)), np.zeros((0, dim)), np.zeros(dim), shift)
