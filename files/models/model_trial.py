"""A trial of an opened model on three texts of its own vocabulary.

Padding may reach real tokens (convolutions, Fourier transforms). A causal model may see the token
that it predicts. A head may use other states than those of its base.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    import torch

TOLERANCE, HALF_TOLERANCE = 1e-3, 5e-2  # relative to the largest value; of weights in 16 bits
# Architectures in which token states do not mix after the last attention
_LIKE_BERT = ("bert", "roberta", "electra", "xlm-roberta", "camembert")
_REMEDY = (
    'set "is_decoder": true in its config.json if it was trained so, or name metrics of encoded'
    " texts (seat)"
)


class TrialResult(NamedTuple):
    """What a model does with texts.

    takes_padding: values of a text do not depend on its padding. follows_base: the head uses the
    states of the base. problem: why the model's likelihoods mean nothing; empty if they do.
    """

    takes_padding: bool = True
    follows_base: bool = True
    problem: str = ""


def try_model(opened: Any) -> TrialResult:
    """Compare padded with unpadded texts, the head on some states with the head on all, and a
    prefix with its text.
    """
    import torch

    special = {*opened.tokenizer.all_special_ids}
    tokens = sorted({*opened.tokenizer.get_vocab().values()} - special) or [0]
    rows = [[tokens[n * k % len(tokens)] for k in range(n)][: opened.longest] for n in (7, 5, 3)]
    n_tokens = len(rows[0])
    with torch.inference_mode():
        alone = [_run(opened, [row])[0] for row in rows]
        pairs = zip(alone, _run(opened, rows), strict=True)
        takes_padding = all(_is_close(padded[: len(one)], one) for one, padded in pairs)
        if opened.kind == "encoder":
            return TrialResult(takes_padding)
        index = torch.tensor([[0, 0], [0, n_tokens - 1]], device=opened.device)
        follows_base = False
        with suppress(IndexError, RuntimeError, TypeError, AttributeError):  # other states
            with restrict_head(opened, (index[0], index[1])) as is_restricted:
                logits = _run(opened, rows[:1])
            follows_base = not is_restricted or _is_close(logits[0], alone[0][index[1]])
        prefix = rows[0][: (n_tokens + 1) // 2]
        before, within = _run(opened, [prefix])[0, -1], alone[0][len(prefix) - 1]
    sees_ahead = opened.kind == "causal" and not _is_close(before, within)
    kind = type(opened.model).__name__
    problem = f"{opened.name} ({kind}) sees the tokens that it predicts; {_REMEDY}"
    return TrialResult(takes_padding, follows_base, problem * sees_ahead)


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
def restrict_head(opened: Any, index: tuple[torch.Tensor, torch.Tensor]) -> Iterator[bool]:
    """Restrict the head to the states at (rows, positions), as one text; yield whether it is.

    Only heads that follow a base model are restricted; in ``LIKE_BERT`` also the layers after the
    last attention.
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

    if base.config.model_type in _LIKE_BERT:
        hook = base.encoder.layer[-1].attention.output.register_forward_pre_hook(select_inputs)
    else:
        hook = base.register_forward_hook(select_states)
    try:
        yield True
    finally:
        hook.remove()
