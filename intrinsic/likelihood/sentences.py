"""(Pseudo-)log-likelihood and unmasked likelihood of sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from biasbridge.intrinsic.likelihood.token_likelihoods import TokenQuery, attention_received, log_p
from biasbridge.intrinsic.likelihood.tokenised_text import Text, mask_id

if TYPE_CHECKING:
    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.stats.arrays import Floats


def masked_one_by_one(
    text: Text, positions: Iterable[int], mask: int, *, within_word_l2r: bool = False
) -> list[TokenQuery]:
    """Query each token, masked, given all others.

    ``within_word_l2r`` also masks the later tokens of its word (Kauf & Ivanova, 2023).
    """
    queries = []
    for position in positions:
        hidden = [position]
        if within_word_l2r:
            word = text.words[position]
            hidden = [n for n in text.positions if n >= position and text.words[n] == word]
        target = (position, text.ids[position])
        queries.append(TokenQuery(_masked(text, hidden, mask), (target,)))
    return queries


def masked_together(text: Text, positions: Sequence[int], mask: int) -> list[TokenQuery]:
    """Query the tokens at these positions, all masked at once."""
    targets = tuple((position, text.ids[position]) for position in positions)
    return [TokenQuery(_masked(text, positions, mask), targets)]


def all_tokens(text: Text) -> list[TokenQuery]:
    """Query every token of the text, nothing masked."""
    return [TokenQuery(text.ids, tuple((n, text.ids[n]) for n in text.positions))]


def preceded_tokens(text: Text) -> list[TokenQuery]:
    """Query every token of the text that has a token before it."""
    return [TokenQuery(text.ids, tuple((n, text.ids[n]) for n in text.positions if n))]


def _masked(text: Text, positions: Iterable[int], mask: int) -> tuple[int, ...]:
    ids = list(text.ids)
    for position in positions:
        ids[position] = mask
    return tuple(ids)


def log_likelihoods(
    model: LanguageModel, queries: Sequence[Sequence[TokenQuery]]
) -> list[list[float]]:
    """Compute log p of all targets of each sentence's queries, all sentences in one run."""
    arrays = iter(log_p(model, [query for group in queries for query in group]))
    return [[value for _ in group for value in next(arrays).tolist()] for group in queries]


def sentence_log_likelihoods(
    model: LanguageModel, texts: Sequence[Text], *, within_word_l2r: bool = False
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
    model: LanguageModel, texts: Sequence[Text], *, attention: bool
) -> list[Floats]:
    """Compute log p of the tokens of each sentence, nothing masked (AUL).

    ``attention`` multiplies each by the attention that the token receives (AULA).
    """
    import numpy as np

    token_logs = log_likelihoods(model, [all_tokens(text) for text in texts])
    scores = [np.array(logs) for logs in token_logs]
    if attention:
        weights = attention_received(model, [text.ids for text in texts])
        for score, text_weights, text in zip(scores, weights, texts, strict=True):
            score *= text_weights[list(text.positions)]
    return scores
