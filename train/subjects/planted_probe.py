r"""Probe of planted bias: log odds of a language model against the true ones.

Masked models: the log odds of a slot are log p(first filler) - log p(second filler) at ``[MASK]``.
Causal models: the same for the next word after the text before the slot. The text after the slot is
left out: in the planted corpus it does not depend on the filler, so the log odds of the whole text
are the same. Texts have the special tokens that the tokenizer adds. A term's log odds are the mean
over its texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasbridge.files import InputError
from biasbridge.intrinsic.items.item import SLOT

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from biasbridge.corpora.truths import PlantedTerm, Slots
    from biasbridge.stats.arrays import Floats


MIN_R, MIN_SLOPE, MAX_SLOPE = 0.98, 0.9, 1.1
NEAR_R, NEAR_SLOPE = 0.95, 0.8
KINDS = ("seen", "unseen", "controls")
DECISIVE = ("seen", "controls")
PADDING = 0  # id of the padding token


class Fit(NamedTuple):
    """Fit of measured to true log odds.

    ``r``: Pearson correlation. ``slope``: of measured on true (1: exact, 0: nothing learned). Both
    are NaN if the true log odds are constant. ``magnitude``: mean absolute measured log odds, 0 for
    an unbiased model.
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
        """Whether the planted bias was learned; true if the true log odds are constant."""
        return not (self.r < MIN_R or self.slope < MIN_SLOPE or self.slope > MAX_SLOPE)

    def rounded(self) -> dict[str, float | None]:
        """Return the values by name in four digits; None for NaN."""
        return {name: None if isnan(x) else round(x, 4) for name, x in self._asdict().items()}


def fit(true: Floats, measured: Floats) -> Fit:
    """Compute how well measured log odds agree with the true ones. Shapes (terms,)."""
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
    """Compute the fit for each kind of slot."""
    terms = list(terms)
    fit_by_kind = {}
    for kind in kinds:
        true = [term.control if kind == "controls" else term.log_odds for term in terms]
        slots: list[Slots] = [getattr(term, kind) for term in terms]
        fit_by_kind[kind] = fit(np.array(true), measure_log_odds(model, tokenizer, slots))
    return fit_by_kind


def measure_log_odds(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, slots: Sequence[Slots]
) -> Floats:
    """Compute the mean log odds of each slot. Shape (slots,). All need as many texts."""
    import torch

    texts = [_prompt(text, tokenizer.mask_token) for slot in slots for text in slot.texts]
    rows = pad_rows(tokenizer(texts)["input_ids"])
    is_token = rows != PADDING
    if tokenizer.mask_token:
        positions = (rows == tokenizer.mask_token_id).int().argmax(dim=1)
    else:
        positions = is_token.sum(dim=1) - 1
    with torch.no_grad():
        logits = model(input_ids=rows, attention_mask=is_token.long()).logits
    slot_logits = logits[torch.arange(len(rows)), positions].double().numpy()
    logits_by_slot = slot_logits.reshape(len(slots), -1, slot_logits.shape[1])
    return np.array(
        [
            (text_logits[:, first] - text_logits[:, second]).mean()
            for text_logits, slot in zip(logits_by_slot, slots, strict=True)
            for first, second in [fillers_of(tokenizer, slot)]
        ]
    )


def fillers_of(tokenizer: PreTrainedTokenizerFast, slots: Slots) -> tuple[int, int]:
    """Return the token ids of both fillers. Raises ``InputError`` for a filler that is no token."""
    first, second = tokenizer.convert_tokens_to_ids(list(slots.fillers))
    if tokenizer.unk_token_id in (first, second):
        words = " or ".join(slots.fillers)
        raise InputError(f"the corpus lacks {words}; give the corpus in which they were planted")
    return first, second


def pad_rows(rows: Sequence[Sequence[int]], end: Sequence[int] = ()) -> Tensor:
    """Return rows of token ids, each followed by ``end``, padded. Shape (rows, longest)."""
    import torch

    longest = max(map(len, rows)) + len(end)
    padded = [[*row, *end] + [PADDING] * (longest - len(row) - len(end)) for row in rows]
    return torch.tensor(padded)


def _prompt(text: str, mask: str | None) -> str:
    """Return the text with the mask token; for a causal model the text before the slot."""
    before, after = text.split(SLOT)
    return f"{before}{mask}{after}" if mask else before.rstrip()
