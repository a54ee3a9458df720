r"""Whether a language model has learned what was planted: its log odds against the true ones.

Of a masked model, the log odds of a slot are log p(first filler) - log p(second filler) at
``[MASK]``; of a causal one, those of the next word after the text before the slot. What follows the
slot is left out there: in the planted corpus it does not depend on the filler, so that the log odds
of the whole text are the same. Texts have the special tokens that the tokenizer adds. A term's log
odds are the mean over its texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from files import InputError
from intrinsic.items.item import SLOT

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from corpora.truths import PlantedTerm, Slots

Floats = NDArray[np.float64]

LEAST_R, LEAST_SLOPE, MOST_SLOPE = 0.98, 0.9, 1.1
NEAR_R, NEAR_SLOPE = 0.95, 0.8
KINDS = ("seen", "unseen", "controls")
DECISIVE = ("seen", "controls")
PADDING = 0  # the token that is none


class Fit(NamedTuple):
    """Measured log odds of some terms against the true ones: Pearson's ``r`` and the ``slope`` of
    measured on true (1: exact, 0: nothing learned), both NaN where the truth does not vary; and the
    mean ``magnitude`` of what was measured, which should then be 0.
    """

    r: float
    slope: float
    magnitude: float

    @property
    def near(self) -> bool:
        """Whether little is left to learn."""
        return not (self.r < NEAR_R or self.slope < NEAR_SLOPE)

    @property
    def learned(self) -> bool:
        """Whether the truth was learned; true where it does not vary."""
        return not (self.r < LEAST_R or self.slope < LEAST_SLOPE or self.slope > MOST_SLOPE)

    def rounded(self) -> dict[str, float | None]:
        """By name, in four digits; None for NaN."""
        return {name: None if isnan(x) else round(x, 4) for name, x in self._asdict().items()}


def fit(true: Floats, measured: Floats) -> Fit:
    """How well they agree. Shapes (terms,)."""
    magnitude = float(np.abs(measured).mean())
    if np.ptp(true) == 0:
        return Fit(nan, nan, magnitude)
    x, y = true - true.mean(), measured - measured.mean()
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return Fit(float(x @ y) / spread if spread else 0.0, float((x @ y) / (x @ x)), magnitude)


def fits(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    terms: Iterable[PlantedTerm],
    kinds: Sequence[str] = KINDS,
) -> dict[str, Fit]:
    """By kind of slot."""
    terms = list(terms)
    found = {}
    for kind in kinds:
        true = [each.control if kind == "controls" else each.log_odds for each in terms]
        slots: list[Slots] = [getattr(each, kind) for each in terms]
        found[kind] = fit(np.array(true), measure_log_odds(model, tokenizer, slots))
    return found


def measure_log_odds(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, slots: Sequence[Slots]
) -> Floats:
    """The mean log odds of each. Shape (slots,). All have as many texts."""
    import torch

    texts = [_asked(text, tokenizer.mask_token) for each in slots for text in each.texts]
    rows = pad_rows(tokenizer(texts)["input_ids"])
    read = rows != PADDING
    if tokenizer.mask_token:
        places = (rows == tokenizer.mask_token_id).int().argmax(dim=1)
    else:
        places = read.sum(dim=1) - 1
    with torch.no_grad():
        logits = model(input_ids=rows, attention_mask=read.long()).logits
    asked = logits[torch.arange(len(rows)), places].double().numpy()
    of_slot = asked.reshape(len(slots), -1, asked.shape[1])
    return np.array(
        [
            (found[:, first] - found[:, second]).mean()
            for found, each in zip(of_slot, slots, strict=True)
            for first, second in [fillers_of(tokenizer, each)]
        ]
    )


def fillers_of(tokenizer: PreTrainedTokenizerFast, slots: Slots) -> tuple[int, int]:
    """The tokens of the two fillers. Raises ``InputError`` for one that is no token."""
    first, second = tokenizer.convert_tokens_to_ids(list(slots.fillers))
    if tokenizer.unk_token_id in (first, second):
        words = " or ".join(slots.fillers)
        raise InputError(f"the corpus lacks {words}; give the corpus that the truths are of")
    return first, second


def pad_rows(rows: Sequence[Sequence[int]], end: Sequence[int] = ()) -> Tensor:
    """Lists of tokens, each with the same ``end``, padded. Shape (rows, longest)."""
    import torch

    longest = max(map(len, rows)) + len(end)
    padded = [[*row, *end] + [PADDING] * (longest - len(row) - len(end)) for row in rows]
    return torch.tensor(padded)


def _asked(text: str, mask: str | None) -> str:
    """A text with the mask token, or of a causal model what stands before the slot."""
    before, after = text.split(SLOT)
    return f"{before}{mask}{after}" if mask else before.rstrip()
