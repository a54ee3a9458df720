"""A trial of an opened model on three texts of its own vocabulary.

Padding may reach real tokens (convolutions, Fourier transforms). A causal model may see the token
that it predicts. A head may use other states than those of its base.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import torch

    from biasbridge.files.models.language_model import LanguageModel

_LENGTHS = (7, 5, 3)  # of the texts, in tokens
TOLERANCE, HALF_TOLERANCE = 1e-3, 5e-2  # relative to the largest value; of weights in 16 bits
# Architectures in which token states do not mix after the last attention
_LIKE_BERT = ("bert", "roberta", "electra", "xlm-roberta", "camembert")


class TrialResult(NamedTuple):
    """What a model does with texts.

    takes_padding: values of a text do not depend on its padding. follows_base: the head uses the
    states of the base. problem: why the model's likelihoods mean nothing; empty if they do.
    """

    takes_padding: bool = True
    follows_base: bool = True
    problem: str = ""


def try_model(opened: LanguageModel) -> TrialResult:
    """Compare padded with unpadded texts, a prefix with its text, and the head on some states with
    the head on all.
    """
    import torch

    special = {*opened.tokenizer.all_special_ids}
    tokens = sorted({*opened.tokenizer.get_vocab().values()} - special) or [0]
    drawn = iter([tokens[n * len(tokens) // sum(_LENGTHS)] for n in range(sum(_LENGTHS))])
    rows = [[next(drawn) for _ in range(n)][: opened.longest] for n in _LENGTHS]
    with torch.inference_mode():
        alone = [_run(opened, [row])[0] for row in rows]
        together = _run(opened, rows)
        takes_padding = all(
            _is_close(one, padded[: len(one)]) for one, padded in zip(alone, together, strict=True)
        )
        if opened.kind == "encoder":
            return TrialResult(takes_padding)
        index = (torch.tensor([0, 0]), torch.tensor([0, len(rows[0]) - 1]))
        index = tuple(part.to(opened.device) for part in index)  # type: ignore[assignment]
        try:
            with restrict_head(opened, index) as is_restricted:
                logits = _run(opened, rows[:1])
            follows_base = not is_restricted or _is_close(logits[0], alone[0][index[1]])
        except (IndexError, RuntimeError, TypeError, AttributeError):  # another form of states
            follows_base = False
        prefix = rows[0][: (len(rows[0]) + 1) // 2]
        problem = ""
        if opened.kind == "causal" and not _is_close(
            _run(opened, [prefix])[0][-1], alone[0][len(prefix) - 1]
        ):
            kind = type(opened.model).__name__
            problem = (
                f"{opened.name} ({kind}) sees the tokens that it predicts; set"
                ' "is_decoder": true in its config.json if it was trained so, or name metrics of'
                " encoded texts (seat)"
            )
    return TrialResult(takes_padding, follows_base, problem)


def _run(opened: LanguageModel, rows: list[list[int]]) -> torch.Tensor:
    """Return the logits of rows, or without a head the last states."""
    ids, mask = opened.pad(rows)
    network: Any = opened.base if opened.kind == "encoder" else opened.model
    out = network(input_ids=ids, attention_mask=mask)
    result: torch.Tensor = out.last_hidden_state if opened.kind == "encoder" else out.logits
    return result


def _is_close(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    import torch

    if actual.shape != expected.shape:
        return False
    tolerance = TOLERANCE if expected.dtype == torch.float32 else HALF_TOLERANCE
    actual, expected = (x.float().nan_to_num() for x in (actual, expected))
    return bool((actual - expected).abs().max() <= tolerance * expected.abs().max())


@contextmanager
def restrict_head(
    opened: LanguageModel, index: tuple[torch.Tensor, torch.Tensor]
) -> Iterator[bool]:
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
