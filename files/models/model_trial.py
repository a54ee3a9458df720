"""A trial of an opened model on three texts of its own vocabulary.

Padding may reach real tokens (convolutions, Fourier transforms). A causal model may see the token
that it predicts. A head may use other states than those of its base.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    import torch

TOLERANCE, HALF_TOLERANCE = 1e-3, 5e-2  # relative to the largest value; of weights in 16 bits
_DECODER = 'set "is_decoder": true in its config.json if it was trained so, or '


class TrialResult(NamedTuple):
    """What a model does with texts.

    takes_padding: values of a text do not depend on its padding. follows_base: the head uses the
    states of the base. follows_attention: nor do these mix after the last attention. problem: why
    the model's likelihoods mean nothing; empty if they do.
    """

    takes_padding: bool = True
    follows_base: bool = True
    follows_attention: bool = False
    problem: str = ""

    @property
    def differences(self) -> str:
        """What the model does unlike most, as a setting of its scores; empty if nothing."""
        told = {"padding changes its values": self.takes_padding}
        told["its head reads other states than the last"] = self.follows_base
        return ", ".join(text for text, is_usual in told.items() if not is_usual)


def try_model(opened: Any) -> TrialResult:
    """Compare padded with unpadded texts, the head on some states with the head on all, and a
    prefix with its text.
    """
    import torch

    special = {*opened.tokenizer.all_special_ids}
    tokens = sorted({*opened.tokenizer.get_vocab().values()} - special) or [0]
    rows = [[tokens[n * k % len(tokens)] for k in range(n)][: opened.longest] for n in (7, 5)]
    rows.append(rows[0][:3])  # a prefix
    with torch.inference_mode():
        alone, padded = [_run(opened, [row])[0] for row in rows], _run(opened, rows)
        pairs = zip(alone, padded, strict=True)
        takes_padding = all(_is_close(values[: len(one)], one) for one, values in pairs)
        if opened.kind == "encoder":
            return TrialResult(takes_padding)
        places = [(n, k) for n, row in enumerate(rows) for k in range(len(row))]
        index = torch.tensor(places, device=opened.device).unbind(1)
        follows = dict.fromkeys((False, True), False)  # by whether the last attention is followed
        for attention in follows:
            tried = replace(opened, trial=TrialResult(follows_attention=attention))
            with suppress(IndexError, RuntimeError, TypeError, AttributeError):  # other states
                with restrict_head(tried, index) as is_restricted:
                    logits = _run(tried, rows)
                follows[attention] = not is_restricted or _is_close(logits[0], padded[index])
    prefix = alone[2]
    sees_ahead = opened.kind == "causal" and not _is_close(prefix, alone[0][: len(prefix)])
    remedy = _DECODER * (getattr(opened.model.config, "is_decoder", None) is False)
    problem = (
        f"{opened.name} ({type(opened.model).__name__}) sees the tokens that it predicts; {remedy}"
        "name metrics of encoded texts (seat)"
    )
    return TrialResult(takes_padding, follows[False], follows[True], problem * sees_ahead)


def _run(opened: Any, rows: list[list[int]]) -> torch.Tensor:
    """Return the logits of rows, or without a head the last states."""
    ids, mask = opened.pad(rows)
    has_head = opened.kind != "encoder"
    out: Any = (opened.model if has_head else opened.base)(input_ids=ids, attention_mask=mask)
    return cast("torch.Tensor", out.logits if has_head else out.last_hidden_state)


def _is_close(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    if actual.shape != expected.shape:
        return False
    tolerance = TOLERANCE if expected.element_size() > 2 else HALF_TOLERANCE
    actual, expected = actual.float().nan_to_num(), expected.float().nan_to_num()
    return bool((actual - expected).abs().max() <= tolerance * expected.abs().max())


@contextmanager
def restrict_head(opened: Any, index: tuple[torch.Tensor, ...]) -> Iterator[bool]:
    """Restrict the head to the states at (rows, positions), as one text; yield whether it is.

    Only heads that follow a base model are restricted; where its states allow it also the layers
    after the last attention.
    """
    base: Any = opened.base
    if base is opened.model or not opened.trial.follows_base:
        yield False
        return

    def select_states(module: object, inputs: object, output: Any) -> Any:
        output.last_hidden_state = output.last_hidden_state[index][None]
        return output

    def select_inputs(module: object, inputs: tuple[torch.Tensor, ...]) -> Any:
        return tuple(states[index][None] for states in inputs)

    if opened.trial.follows_attention:
        hook = base.encoder.layer[-1].attention.output.register_forward_pre_hook(select_inputs)
    else:
        hook = base.register_forward_hook(select_states)
    try:
        yield True
    finally:
        hook.remove()
