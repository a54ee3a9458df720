"""Log-likelihoods of tokens under a language model.

Each distinct context is computed once. Batches have similar lengths and limited size, so memory
does not grow with the number of texts; the head sees only the states of the queried positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from biasbridge.files import InputError
from biasbridge.files.models.language_model import batches_by_length

if TYPE_CHECKING:
    import torch

    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.stats.arrays import Floats

Ids = tuple[int, ...]
Context = tuple[Ids, int]  # a text and the position to predict from

TOKENS = 2048  # in a batch, padding included
LOGITS = 1 << 24  # in a batch: queried positions x vocabulary, 64 MiB
NODES = 160  # in a tree of texts with a common prefix
# Architectures that take a 4D attention mask and explicit position ids
SHOWN_BY_MASK = ("gpt2", "llama", "mistral", "qwen2", "qwen3", "gpt_neox", "phi")
# Architectures in which token states do not mix after the last attention
LIKE_BERT = ("bert", "roberta", "electra", "xlm-roberta", "camembert")


class TokenQuery(NamedTuple):
    """A text, masks included, and the (position, token id) pairs to compute log p of."""

    ids: Ids
    targets: tuple[tuple[int, int], ...]


class _Row(NamedTuple):
    """A row of a batch: tokens and, if these form a tree, the parent of each."""

    ids: Sequence[int]
    positions: Sequence[int]  # whose states are needed
    parents: Sequence[int] | None = None


def log_p(model: LanguageModel, queries: Sequence[TokenQuery]) -> list[Floats]:
    """Compute log p (nats) of each target token at its position.

    Masked models condition on all tokens of the text, causal models on the preceding tokens. Raises
    ``InputError`` for position 0 of a causal model and for a model without a head.
    """
    causal = _require_head(model)
    targets_of: dict[Context, list[tuple[int, int, int]]] = {}
    log_likelihoods: list[Floats] = [np.full(len(query.targets), np.nan) for query in queries]
    for n, query in enumerate(queries):
        for k, (position, token) in enumerate(query.targets):
            if causal and not position:
                raise InputError(
                    "the first token of a text has no likelihood: no token precedes it"
                )
            # A causal model's prediction at a position depends on the preceding tokens only
            context = (query.ids[:position], position - 1) if causal else (query.ids, position)
            targets_of.setdefault(context, []).append((n, k, token))
    for contexts, logs in _distributions(model, list(targets_of)):
        targets = [
            (row, *target) for row, context in enumerate(contexts) for target in targets_of[context]
        ]
        rows, query_indices, target_indices, tokens = zip(*targets, strict=True)
        values = logs[list(rows), list(tokens)].tolist()
        for n, k, value in zip(query_indices, target_indices, values, strict=True):
            log_likelihoods[n][k] = value
    return log_likelihoods


def top_tokens(
    model: LanguageModel, contexts: Sequence[tuple[Ids, int]], k: int
) -> list[list[int]]:
    """Return the k likeliest tokens at a position of each text, without special tokens."""
    import torch

    _require_head(model)
    tokenizer: Any = model.tokenizer
    special = list(tokenizer.all_special_ids)
    tokens_of: dict[Context, list[int]] = {}
    for batch, logs in _distributions(model, list(dict.fromkeys(contexts))):
        excluded = torch.tensor([n for n in special if n < logs.shape[1]], device=logs.device)
        best = logs.index_fill(1, excluded, -torch.inf).topk(k).indices
        tokens_of |= zip(batch, best.tolist(), strict=True)
    return [tokens_of[context] for context in contexts]


def attention_received(model: LanguageModel, texts: Sequence[Ids]) -> list[Floats]:
    """Compute the mean attention each token receives, over layers, heads and attending tokens.

    Raises ``InputError`` for a model that does not return attentions.
    """
    import torch

    attention_of: dict[int, Floats] = {}
    for indices in batches_by_length([len(ids) for ids in texts], TOKENS, model.batch_size):
        ids, attention_mask = model.pad([texts[n] for n in indices])
        with torch.inference_mode():
            base: Any = model.base
            output = base(input_ids=ids, attention_mask=attention_mask, output_attentions=True)
        if not output.attentions:
            raise InputError(f'{model.name}: load it with attn_implementation="eager" for AULA')
        mean = torch.stack([layer.mean(dim=1) for layer in output.attentions]).mean(dim=0)
        for n, attention in zip(indices, mean, strict=True):
            size = len(texts[n])
            attention_of[n] = attention[:size, :size].mean(dim=0).cpu().double().numpy()
    return [attention_of[n] for n in range(len(texts))]


def _require_head(model: LanguageModel) -> bool:
    """Return whether the model is causal; raise ``InputError`` if it predicts no tokens."""
    if model.kind == "encoder":
        raise InputError(
            f"{model.name} has no head that predicts tokens; choose a masked or causal model"
        )
    return model.kind == "causal"


def _distributions(
    model: LanguageModel, contexts: Sequence[Context]
) -> Iterator[tuple[list[Context], torch.Tensor]]:
    """Yield batches of contexts with log p over the vocabulary, (contexts, vocabulary)."""
    import torch

    if _takes_trees(model, max((len(ids) for ids, _ in contexts), default=0)):
        rows, contexts_of = _trees(contexts)
    else:
        rows, contexts_of = _plain_rows(contexts, causal=model.kind == "causal")
    config: Any = model.model.config
    size = config.vocab_size
    queried_share = max(len(row.positions) / len(row.ids) for row in rows) if rows else 1
    max_tokens = max(1, min(TOKENS, int(LOGITS / size / queried_share)))
    lengths = [len(row.ids) for row in rows]
    for indices in batches_by_length(lengths, max_tokens, model.batch_size):
        batch = [rows[n] for n in indices]
        with torch.inference_mode():
            logs = _logits(model, batch).float().log_softmax(dim=-1)
        yield [context for n in indices for context in contexts_of[n]], logs


def _plain_rows(
    contexts: Sequence[Context], *, causal: bool
) -> tuple[list[_Row], list[list[Context]]]:
    """Return one row per text, and its contexts; prefixes share the row of a causal model."""
    contexts_of: list[list[Context]] = []
    for ids, position in sorted(contexts, reverse=True):
        last: Ids = contexts_of[-1][0][0] if contexts_of else ()
        if contexts_of and (last[: len(ids)] == ids if causal else last == ids):
            contexts_of[-1].append((ids, position))
        else:
            contexts_of.append([(ids, position)])
    rows = [_Row(group[0][0], [position for _, position in group]) for group in contexts_of]
    return rows, contexts_of


def _takes_trees(model: LanguageModel, longest: int) -> bool:
    """Test whether a mask of ours shows a model what it sees of texts of up to ``longest`` tokens:
    the library leaves such a mask alone, without the sliding window of the configuration.
    """
    config: Any = model.model.config
    eager = getattr(config, "_attn_implementation", "") == "eager"
    window = getattr(config, "sliding_window", None) or longest
    is_shown = model.kind == "causal" and config.model_type in SHOWN_BY_MASK
    return eager and is_shown and longest <= window


def _trees(contexts: Sequence[Context]) -> tuple[list[_Row], list[list[Context]]]:
    """Return prefixes of texts as tree rows, in which each token sees its ancestors only.

    Every context queries the end of its text. Sorted, prefixes of one text are adjacent; a row ends
    with a text.
    """
    last: Ids = ()
    rows: list[_Row] = []
    contexts_of: list[list[Context]] = []
    nodes: dict[Ids, int] = {}
    tokens: list[int] = []
    positions: list[int] = []
    parents: list[int] = []
    for ids, position in sorted(contexts):
        n_shared = next((n for n in range(len(ids), 0, -1) if ids[:n] in nodes), 0)
        is_full = len(tokens) + len(ids) - n_shared > NODES and ids[: len(last)] != last
        if not rows or is_full:
            nodes, tokens, positions, parents, n_shared = {}, [], [], [], 0
            rows.append(_Row(tokens, positions, parents))
            contexts_of.append([])
        for n in range(n_shared, len(ids)):
            nodes[ids[: n + 1]] = len(tokens)
            parents.append(nodes[ids[:n]] if n else -1)
            tokens.append(ids[n])
        positions.append(nodes[ids])
        contexts_of[-1].append((ids, position))
        last = ids
    return rows, contexts_of


def _logits(model: LanguageModel, batch: Sequence[_Row]) -> torch.Tensor:
    """Compute the logits at the positions of all rows, row by row, (positions, vocabulary)."""
    import torch

    network: Any = model.model
    ids, attention_mask = model.pad([row.ids for row in batch])
    row_indices = [n for n, row in enumerate(batch) for _ in row.positions]
    positions = [position for row in batch for position in row.positions]
    index = (
        torch.tensor(row_indices, device=ids.device),
        torch.tensor(positions, device=ids.device),
    )
    inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": attention_mask}
    if batch[0].parents is not None:
        inputs |= _tree_inputs([row.parents or () for row in batch], ids, network.dtype)
    with _head_restricted_to(model, index) as is_restricted:
        logits: torch.Tensor = network(**inputs).logits
    return logits[0] if is_restricted else logits[index]


def _tree_inputs(
    rows: Sequence[Sequence[int]], ids: torch.Tensor, dtype: torch.dtype
) -> dict[str, Any]:
    """Return each token's position id, and the attention mask that shows it its ancestors."""
    import torch

    is_visible = np.zeros((*ids.shape, ids.shape[1]), dtype=bool)
    depths = np.zeros(ids.shape, dtype=np.int64)
    for n, parents in enumerate(rows):
        for node, parent in enumerate(parents):
            if parent >= 0:
                is_visible[n, node] = is_visible[n, parent]
                depths[n, node] = depths[n, parent] + 1
            is_visible[n, node, node] = True
        for node in range(len(parents), ids.shape[1]):  # padding that sees nothing would be NaN
            is_visible[n, node, node] = True
    mask = np.where(is_visible, 0, torch.finfo(dtype).min).astype(np.float32)[:, None]
    return {
        "attention_mask": torch.from_numpy(mask).to(ids.device, dtype),
        "position_ids": torch.from_numpy(depths).to(ids.device),
        "use_cache": False,
    }


@contextmanager
def _head_restricted_to(
    model: LanguageModel, index: tuple[torch.Tensor, torch.Tensor]
) -> Iterator[bool]:
    """Restrict the head to the states at (rows, positions), as one text; yield whether it is.

    Only models of transformers with a head on a base model are restricted; in ``LIKE_BERT`` also
    the layers after the last attention.
    """
    base: Any = getattr(model.model, "base_model", model.model)
    config: Any = model.model.config
    if base is model.model:
        yield False
        return

    def select_states(module: object, inputs: object, output: Any) -> Any:
        output.last_hidden_state = output.last_hidden_state[index][None]
        return output

    def select_inputs(module: object, inputs: tuple[torch.Tensor, ...]) -> Any:
        return tuple(states[index][None] for states in inputs)

    if config.model_type in LIKE_BERT:
        hook = base.encoder.layer[-1].attention.output.register_forward_pre_hook(select_inputs)
    else:
        hook = base.register_forward_hook(select_states)
    try:
        yield True
    finally:
        hook.remove()
