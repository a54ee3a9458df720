"""Log-likelihoods of tokens: the one place that asks a model for them.

Contexts are computed once each, in batches of like lengths and limited size, so that memory does
not grow with their number; the head sees only the states of the places asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from files import InputError
from files.models.language_model import by_length

if TYPE_CHECKING:
    import torch

    from files.models.language_model import LanguageModel

Floats = NDArray[np.float64]
Ids = tuple[int, ...]

TOKENS = 2048  # of a batch, padding included
LOGITS = 1 << 24  # of a batch: places asked about x vocabulary, 64 MiB
NODES = 160  # of a tree of texts with a common beginning
# Architectures in which a token sees what the mask shows it and where its position says it stands
SHOWN_BY_MASK = ("gpt2", "llama", "mistral", "qwen2", "qwen3", "gpt_neox", "phi")
# Those in which a token's state depends on no other token after the last attention
LIKE_BERT = ("bert", "roberta", "electra", "xlm-roberta", "camembert")


class Ask(NamedTuple):
    """What is asked of one text: ``ids`` as the model reads them, masks included, and the places
    and tokens whose log-likelihood is ``wanted``.
    """

    ids: Ids
    wanted: tuple[tuple[int, int], ...]


class _Row(NamedTuple):
    """A row of a batch: tokens, and where these form a tree, the parent of each."""

    ids: Sequence[int]
    places: Sequence[int]  # whose states are needed
    parents: Sequence[int] | None = None


def log_p(model: LanguageModel, asks: Sequence[Ask]) -> list[Floats]:
    """log p (nats) of each wanted token at its place.

    A masked model: given all tokens of the text, masks where they stand. A causal one: given the
    tokens before; a place 0 has none and raises ``InputError``, as does a model without a head.
    """
    causal = _require_head(model)
    keys: dict[tuple[Ids, int], list[tuple[int, int, int]]] = {}
    found: list[Floats] = [np.full(len(ask.wanted), np.nan) for ask in asks]
    for number, ask in enumerate(asks):
        for order, (place, token) in enumerate(ask.wanted):
            if causal and not place:
                raise InputError("the first token of a text has no likelihood without one before")
            # A causal model's likelihoods at a place follow from the tokens before it
            key = (ask.ids[:place], place - 1) if causal else (ask.ids, place)
            keys.setdefault(key, []).append((number, order, token))
    for asked, logs in _distributions(model, list(keys)):
        waiting = [(row, *each) for row, key in enumerate(asked) for each in keys[key]]
        rows, numbers, orders, tokens = zip(*waiting, strict=True)
        values = logs[list(rows), list(tokens)].tolist()
        for number, order, value in zip(numbers, orders, values, strict=True):
            found[number][order] = value
    return found


def likeliest(model: LanguageModel, places: Sequence[tuple[Ids, int]], k: int) -> list[list[int]]:
    """The k tokens with the highest likelihood at a place of each text, special ones left out."""
    import torch

    _require_head(model)
    tokenizer: Any = model.tokenizer
    special = list(tokenizer.all_special_ids)
    found: dict[tuple[Ids, int], list[int]] = {}
    for asked, logs in _distributions(model, list(dict.fromkeys(places))):
        hidden = torch.tensor([n for n in special if n < logs.shape[1]], device=logs.device)
        best = logs.index_fill(1, hidden, -torch.inf).topk(k).indices
        found |= zip(asked, best.tolist(), strict=True)
    return [found[place] for place in places]


def attention_received(model: LanguageModel, texts: Sequence[Ids]) -> list[Floats]:
    """The mean attention that each token of a text receives, over layers, heads and the tokens it
    comes from. Raises ``InputError`` for a model that does not say.
    """
    import torch

    found: dict[int, Floats] = {}
    for numbers in by_length([len(ids) for ids in texts], TOKENS):
        ids, real = model.pad([texts[number] for number in numbers])
        with torch.inference_mode():
            base: Any = model.base
            layers = base(input_ids=ids, attention_mask=real, output_attentions=True)
        if not layers.attentions:
            raise InputError(f'{model.name}: load it with attn_implementation="eager" for AULA')
        mean = torch.stack([layer.mean(dim=1) for layer in layers.attentions]).mean(dim=0)
        for number, received in zip(numbers, mean, strict=True):
            size = len(texts[number])
            found[number] = received[:size, :size].mean(dim=0).double().cpu().numpy()
    return [found[number] for number in range(len(texts))]


def _require_head(model: LanguageModel) -> bool:
    """Whether the model is causal."""
    if model.kind == "encoder":
        raise InputError(
            f"{model.name} has no head that predicts tokens; choose a masked or causal model"
        )
    return model.kind == "causal"


Key = tuple[Ids, int]


def _distributions(
    model: LanguageModel, keys: Sequence[Key]
) -> Iterator[tuple[list[Key], torch.Tensor]]:
    """log p over the vocabulary for texts and places, (places, vocabulary) a batch."""
    import torch

    if _takes_trees(model):
        rows, keys_of = _trees(keys)
    else:
        rows, keys_of = _plain(keys, causal=model.kind == "causal")
    config: Any = model.model.config
    size = config.vocab_size
    share = max(len(row.places) / len(row.ids) for row in rows) if rows else 1
    tokens = max(1, min(TOKENS, int(LOGITS / size / share)))
    for numbers in by_length([len(row.ids) for row in rows], tokens):
        batch = [rows[number] for number in numbers]
        with torch.inference_mode():
            logs = _logits(model, batch).float().log_softmax(dim=-1)
        yield [key for number in numbers for key in keys_of[number]], logs


def _plain(keys: Sequence[Key], *, causal: bool) -> tuple[list[_Row], list[list[Key]]]:
    """A row a text. To a causal model the beginning of a text is part of it."""
    keys_of: list[list[Key]] = []
    for key in sorted(keys, reverse=True):
        last: Ids = keys_of[-1][0][0] if keys_of else ()
        if keys_of and (last[: len(key[0])] == key[0] if causal else last == key[0]):
            keys_of[-1].append(key)
        else:
            keys_of.append([key])
    return [_Row(asked[0][0], [place for _, place in asked]) for asked in keys_of], keys_of


def _takes_trees(model: LanguageModel) -> bool:
    config: Any = model.model.config
    eager = getattr(config, "_attn_implementation", "") == "eager"
    return eager and model.kind == "causal" and config.model_type in SHOWN_BY_MASK


def _trees(keys: Sequence[Key]) -> tuple[list[_Row], list[list[Key]]]:
    """Beginnings of texts as rows of trees, in which each token sees those on its way to the root.

    Every key asks about the end of its text. Sorted, beginnings of one text follow one another; a
    row ends with one.
    """
    last: Ids = ()
    rows: list[_Row] = []
    keys_of: list[list[Key]] = []
    nodes: dict[Ids, int] = {}
    tokens: list[int] = []
    places: list[int] = []
    parents: list[int] = []
    for key in sorted(keys):
        ids = key[0]
        known = next((n for n in range(len(ids), 0, -1) if ids[:n] in nodes), 0)
        full = len(tokens) + len(ids) - known > NODES and ids[: len(last)] != last
        if not rows or full:
            nodes, tokens, places, parents, known = {}, [], [], [], 0
            rows.append(_Row(tokens, places, parents))
            keys_of.append([])
        for n in range(known, len(ids)):
            nodes[ids[: n + 1]] = len(tokens)
            parents.append(nodes[ids[:n]] if n else -1)
            tokens.append(ids[n])
        places.append(nodes[ids])
        keys_of[-1].append(key)
        last = ids
    return rows, keys_of


def _logits(model: LanguageModel, batch: Sequence[_Row]) -> torch.Tensor:
    """The logits at the places of all rows, one after the other, (places, vocabulary)."""
    import torch

    ids, real = model.pad([row.ids for row in batch])
    of_row = [number for number, row in enumerate(batch) for _ in row.places]
    places = [place for row in batch for place in row.places]
    at = (torch.tensor(of_row, device=ids.device), torch.tensor(places, device=ids.device))
    given: dict[str, Any] = {"input_ids": ids, "attention_mask": real}
    if batch[0].parents is not None:
        given |= _tree_inputs([row.parents or () for row in batch], ids)
    answered: Any = model.model
    with _head_sees(model, at) as chosen:
        logits: torch.Tensor = answered(**given).logits
    return logits[0] if chosen else logits[at]


def _tree_inputs(rows: Sequence[Sequence[int]], ids: torch.Tensor) -> dict[str, Any]:
    """The position of each token in its text, and the mask that shows it those on its way."""
    import torch

    seen = np.zeros((*ids.shape, ids.shape[1]), dtype=bool)
    depths = np.zeros(ids.shape, dtype=np.int64)
    for number, parents in enumerate(rows):
        for node, parent in enumerate(parents):
            if parent >= 0:
                seen[number, node] = seen[number, parent]
                depths[number, node] = depths[number, parent] + 1
            seen[number, node, node] = True
        for node in range(len(parents), ids.shape[1]):  # one that sees nothing would be NaN
            seen[number, node, node] = True
    hidden = np.where(seen, 0, np.finfo(np.float32).min).astype(np.float32)[:, None]
    return {
        "attention_mask": torch.from_numpy(hidden).to(ids.device),
        "position_ids": torch.from_numpy(depths).to(ids.device),
        "use_cache": False,
    }


@contextmanager
def _head_sees(model: LanguageModel, at: tuple[torch.Tensor, torch.Tensor]) -> Iterator[bool]:
    """Let the head see the states of these places alone, as one text, if it is a model with a head
    on states, as those of transformers are; of BERT's kind what follows the last attention too.
    """
    base: Any = getattr(model.model, "base_model", model.model)
    config: Any = model.model.config
    if base is model.model:
        yield False
        return

    def choose(module: object, given: object, output: Any) -> Any:
        output.last_hidden_state = output.last_hidden_state[at][None]
        return output

    def choose_early(module: object, given: tuple[torch.Tensor, ...]) -> Any:
        return tuple(states[at][None] for states in given)

    if config.model_type in LIKE_BERT:
        hook = base.encoder.layer[-1].attention.output.register_forward_pre_hook(choose_early)
    else:
        hook = base.register_forward_hook(choose)
    try:
        yield True
    finally:
        hook.remove()
