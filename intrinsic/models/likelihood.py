"""Tokenised texts, and log-likelihoods of their tokens under a language model.

Each distinct context is computed once. Batches have similar lengths and limited size, so memory
does not grow with the number of texts; the head sees only the states of the queried positions.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from biasbridge.files import InputError
from biasbridge.files.language import SIGNS, UNSPACED, whole_word
from biasbridge.files.models.model_trial import restrict_head

if TYPE_CHECKING:
    import torch

    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.intrinsic.models.item_metric import ScoreSettings
    from biasbridge.stats.arrays import Floats


BOS_OR_EOS = "bos_or_eos"  # a first token, as of lm-evaluation-harness
Ids = tuple[int, ...]
_TokenContext = tuple[Ids, int]  # a text and the position to predict from
_BATCH_TOKENS = 2048  # in a batch, padding included
_BATCH_LOGITS = 1 << 24  # in a batch: queried positions x vocabulary, 64 MiB
_WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
_TREE_NODES = 160  # in a tree of texts with a common prefix
# Architectures that take a 4D attention mask and explicit position ids
_SHOWN_BY_MASK = ("gpt2", "llama", "mistral", "qwen2", "qwen3", "gpt_neox", "phi")


class TokenisedText(NamedTuple):
    """A tokenised text.

    ids: token ids, special tokens included. spans: the characters of each token. positions: of the
    tokens that are not special. words: index of each token's word, -1 for special tokens. unknown:
    number of unknown tokens.
    """

    text: str
    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    positions: tuple[int, ...]
    words: tuple[int, ...]
    unknown: int = 0

    def positions_of(self, start: int, end: int) -> tuple[int, ...]:
        """Return the positions of the tokens that overlap ``text[start:end]``."""
        return tuple(
            position
            for position in self.positions
            if max(start, self.spans[position][0]) < min(end, self.spans[position][1])
        )

    def tokens_per_word(self, positions: Iterable[int]) -> list[int]:
        """Count the tokens at these positions by word."""
        words = [self.words[position] for position in positions]
        return [words.count(word) for word in dict.fromkeys(words)]


class TokenQuery(NamedTuple):
    """A text, masks included, and the (position, token id) pairs to compute log p of."""

    ids: Ids
    targets: tuple[tuple[int, int], ...]


def tokenise_texts(
    model: LanguageModel, texts: Sequence[str], *, lower: bool = False, first_token: str = "own"
) -> list[TokenisedText | None]:
    """Tokenise texts; None for a text without tokens or longer than the model allows.

    first_token: the token before the text of a causal model: ``own``, the tokenizer's default;
    ``none``; its ``bos`` or ``eos``, or ``bos_or_eos``, the first it has; or a token of the
    vocabulary, such as ``<|endoftext|>``. In a chat the template precedes the text. Raises
    ``InputError`` if the tokenizer has no such token, or for another choice than ``own`` with a
    masked model or in a chat.
    """
    if model.kind != "causal" and first_token != "own":
        raise InputError(f"first_token={first_token!r} is for causal models, not {model.name}")
    cased = [text.lower() if lower else text for text in texts]
    if model.in_chat and first_token != "own":
        raise InputError(
            f"first_token={first_token!r}: the chat template precedes the text; leave one out"
        )
    is_default = first_token == "own" and not model.in_chat
    prefix = model.chat_prefix
    if first_token not in ("own", "none"):
        prefix = (_token_id(model, first_token),)
    tokenizer: Any = model.tokenizer
    encoded = tokenizer(
        cased,
        add_special_tokens=is_default,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
        verbose=False,
    )
    tokenised: list[TokenisedText | None] = []
    for n, text in enumerate(cased):
        ids = (*prefix, *encoded["input_ids"][n])
        special_mask = encoded["special_tokens_mask"][n]
        positions = tuple(k + len(prefix) for k, special in enumerate(special_mask) if not special)
        if not positions or len(ids) > model.longest:
            tokenised.append(None)
            continue
        spans = (*((0, 0) for _ in prefix), *map(tuple, encoded["offset_mapping"][n]))
        words = _words(encoded.word_ids(n), spans, positions, text)
        unknown = sum(ids[position] == model.tokenizer.unk_token_id for position in positions)
        tokenised.append(TokenisedText(text, ids, spans, positions, words, unknown))
    return tokenised


def find_words(text: str, word: str) -> list[tuple[int, int]]:
    """Return the spans of a whole word or phrase, or of the word before an ending (``nurses``)."""
    whole = [match.span() for match in whole_word(word).finditer(text)]
    pattern = rf"(?<![\w{SIGNS}\u200c\u200d]){re.escape(word)}(?![{SIGNS}\u200c\u200d])"
    return whole or [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]


def describe_reading(
    model: LanguageModel,
    texts: Iterable[TokenisedText],
    *,
    lower: bool = False,
    first_token: str = "own",
) -> ScoreSettings:
    """Return the settings with which texts were read, and how many words or tokens were split."""
    tokenised = list(texts)
    counts = [count for text in tokenised for count in text.tokens_per_word(text.positions)]
    tokenizer: Any = model.tokenizer
    is_uncased = tokenizer.tokenize("A") == tokenizer.tokenize("a")
    settings: dict[str, str | int | float] = {
        "model": model.kind,
        "dtype": model.dtype,
        "case": "lower" if lower or is_uncased else "as given",
    }
    if model.kind == "causal":
        settings["first token"] = _first_token(model, tokenised)
        settings |= {"before the text": "chat template"} if model.in_chat else {}
    else:
        has_special = any(len(text.positions) < len(text.ids) for text in tokenised)
        settings["special tokens"] = "yes" if has_special else "no"
    settings["words of several tokens"] = sum(n > 1 for n in counts) / max(1, len(counts))
    if unknown := sum(text.unknown for text in tokenised):
        settings["unknown tokens"] = unknown
    return settings


def require_model_kind(model: LanguageModel, kind: str, instead: str = "") -> None:
    """Raise ``InputError`` unless the model is of this kind."""
    if model.kind != kind:
        remedy = f"; {instead}" if instead else ""
        raise InputError(f"{model.name} is {model.kind}; the metric needs a {kind} model{remedy}")


def mask_id(model: LanguageModel) -> int:
    """Return the id of the mask token; raise ``InputError`` if there is none."""
    tokenizer: Any = model.tokenizer
    return int(tokenizer.convert_tokens_to_ids(model.mask))


def sentence_log_likelihoods(
    model: LanguageModel, texts: Sequence[TokenisedText], *, within_word_l2r: bool = False
) -> list[list[float]]:
    """Compute log p (nats) of the tokens of each sentence.

    Masked models: log p(x_t | x without t). Causal models: log p(x_t | x before t). The sum is the
    (pseudo-)log-likelihood.
    """
    if model.kind == "causal":
        return log_likelihoods(model, [preceded_tokens(text) for text in texts])
    mask = mask_id(model)
    return log_likelihoods(
        model,
        [
            masked_one_by_one(text, text.positions, mask, within_word_l2r=within_word_l2r)
            for text in texts
        ],
    )


def unmasked_log_likelihoods(
    model: LanguageModel, texts: Sequence[TokenisedText], *, attention: bool
) -> list[Floats]:
    """Compute log p of each sentence's tokens, nothing masked (AUL), by attention (AULA)."""
    targets = [tuple((n, text.ids[n]) for n in text.positions) for text in texts]
    queries = [[TokenQuery(text.ids, of)] for text, of in zip(texts, targets, strict=True)]
    scores = [np.array(logs) for logs in log_likelihoods(model, queries)]
    if attention:
        weights = _attention_received(model, [text.ids for text in texts])
        for score, text_weights, text in zip(scores, weights, texts, strict=True):
            score *= text_weights[list(text.positions)]
    return scores


def log_likelihoods(
    model: LanguageModel, queries: Sequence[Sequence[TokenQuery]]
) -> list[list[float]]:
    """Compute log p of all targets of each sentence's queries, all sentences in one run."""
    arrays = iter(_log_p(model, [query for group in queries for query in group]))
    return [[value for _ in group for value in next(arrays).tolist()] for group in queries]


def masked_one_by_one(
    text: TokenisedText, positions: Iterable[int], mask: int, *, within_word_l2r: bool = False
) -> list[TokenQuery]:
    """Query each token, masked; ``within_word_l2r`` masks later tokens of its word too."""
    queries = []
    for position in positions:
        hidden = [position]
        if within_word_l2r:
            word = text.words[position]
            hidden = [n for n in text.positions if n >= position and text.words[n] == word]
        target = (position, text.ids[position])
        queries.append(TokenQuery(_masked(text, hidden, mask), (target,)))
    return queries


def masked_together(text: TokenisedText, positions: Sequence[int], mask: int) -> list[TokenQuery]:
    """Query the tokens at these positions, all masked at once."""
    targets = tuple((position, text.ids[position]) for position in positions)
    return [TokenQuery(_masked(text, positions, mask), targets)]


def preceded_tokens(text: TokenisedText) -> list[TokenQuery]:
    """Query every token of the text that has a token before it."""
    return [TokenQuery(text.ids, tuple((n, text.ids[n]) for n in text.positions if n))]


def _log_p(model: LanguageModel, queries: Sequence[TokenQuery]) -> list[Floats]:
    """Compute log p (nats) of each target token, given all others or those before it."""
    causal = _require_head(model)
    targets_of: dict[_TokenContext, list[tuple[int, int, int]]] = {}
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
    tokens_of: dict[_TokenContext, list[int]] = {}
    for batch, logs in _distributions(model, list(dict.fromkeys(contexts))):
        excluded = torch.tensor([n for n in special if n < logs.shape[1]], device=logs.device)
        best = logs.index_fill(1, excluded, -torch.inf).topk(k).indices
        tokens_of |= zip(batch, best.tolist(), strict=True)
    return [tokens_of[context] for context in contexts]


def _attention_received(model: LanguageModel, texts: Sequence[Ids]) -> list[Floats]:
    """Compute the mean attention each token receives, over layers, heads and attending tokens."""
    import torch

    attention_of: dict[int, Floats] = {}
    for indices in model.batches([len(ids) for ids in texts], _BATCH_TOKENS):
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


class _Row(NamedTuple):
    """A row of a batch: tokens and, if these form a tree, the parent of each."""

    ids: Sequence[int]
    positions: Sequence[int]  # whose states are needed
    parents: Sequence[int] | None = None


def _words(
    word_ids: Sequence[int | None],
    spans: Sequence[tuple[int, int]],
    positions: Sequence[int],
    text: str,
) -> tuple[int, ...]:
    """Return the word of each token: that of the tokenizer, of which some take a text for one, cut
    at white space and letters of scripts without it. A token outside any word counts as a word.
    """
    starts = [match.start() for match in _WORD.finditer(text)]
    shift = len(spans) - len(word_ids)
    words, numbers = [-1] * len(spans), dict[tuple[int | None, int], int]()
    for k in positions:
        start = spans[k][0]
        start += len(text[start:]) - len(text[start:].lstrip())  # "▁he" begins with a space
        word = word_ids[k - shift]
        key = (word, bisect(starts, start)) if word is not None else (None, k)
        words[k] = numbers.setdefault(key, len(numbers))
    return tuple(words)


def _first_token(model: LanguageModel, texts: Sequence[TokenisedText]) -> str:
    for text in texts[:1]:
        if text.positions[0]:
            return model.tokenizer.convert_ids_to_tokens([text.ids[0]])[0]
    return "none"


def _token_id(model: LanguageModel, name: str) -> int:
    tokenizer: Any = model.tokenizer
    own = {"bos": tokenizer.bos_token, "eos": tokenizer.eos_token}
    own[BOS_OR_EOS] = own["bos"] or own["eos"]
    token_id = tokenizer.get_vocab().get(own.get(name, name))
    if token_id is None:
        raise InputError(
            f"first_token={name!r}: the tokenizer of {model.name} has no such token; choose own,"
            " none, bos, eos or a token of its vocabulary"
        )
    return int(token_id)


def _require_head(model: LanguageModel) -> bool:
    """Return whether the model is causal; raise ``InputError`` if it predicts no tokens."""
    if model.kind == "encoder":
        raise InputError(
            f"{model.name} has no head that predicts tokens; choose a masked or causal model"
        )
    if model.trial.problem:
        raise InputError(model.trial.problem)
    return model.kind == "causal"


def _distributions(
    model: LanguageModel, contexts: Sequence[_TokenContext]
) -> Iterator[tuple[list[_TokenContext], torch.Tensor]]:
    """Yield batches of contexts with log p over the vocabulary, (contexts, vocabulary)."""
    import torch

    if _takes_trees(model, max((len(ids) for ids, _ in contexts), default=0)):
        rows, contexts_of = _trees(contexts)
    else:
        rows, contexts_of = _plain_rows(contexts, causal=model.kind == "causal")
    config: Any = model.base.config
    size = config.vocab_size
    queried_share = max(len(row.positions) / len(row.ids) for row in rows) if rows else 1
    max_tokens = max(1, min(_BATCH_TOKENS, int(_BATCH_LOGITS / size / queried_share)))
    lengths = [len(row.ids) for row in rows]
    for indices in model.batches(lengths, max_tokens):
        batch = [rows[n] for n in indices]
        with torch.inference_mode():
            logs = _logits(model, batch).float().log_softmax(dim=-1)
        yield [context for n in indices for context in contexts_of[n]], logs


def _plain_rows(
    contexts: Sequence[_TokenContext], *, causal: bool
) -> tuple[list[_Row], list[list[_TokenContext]]]:
    """Return one row per text, and its contexts; prefixes share the row of a causal model."""
    contexts_of: list[list[_TokenContext]] = []
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
    is_shown = model.kind == "causal" and config.model_type in _SHOWN_BY_MASK
    return eager and is_shown and longest <= window


def _trees(contexts: Sequence[_TokenContext]) -> tuple[list[_Row], list[list[_TokenContext]]]:
    """Return prefixes as tree rows: sorted, so that a token sees its ancestors only."""
    last: Ids = ()
    rows: list[_Row] = []
    contexts_of: list[list[_TokenContext]] = []
    nodes: dict[Ids, int] = {}
    tokens: list[int] = []
    positions: list[int] = []
    parents: list[int] = []
    for ids, position in sorted(contexts):
        n_shared = next((n for n in range(len(ids), 0, -1) if ids[:n] in nodes), 0)
        is_full = len(tokens) + len(ids) - n_shared > _TREE_NODES and ids[: len(last)] != last
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
    with restrict_head(model, index) as is_restricted:
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


def _masked(text: TokenisedText, positions: Iterable[int], mask: int) -> tuple[int, ...]:
    ids = list(text.ids)
    for position in positions:
        ids[position] = mask
    return tuple(ids)
