"""What is asked about sentences: (pseudo-)log-likelihood and unmasked likelihood."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from intrinsic.likelihood.asking import Ask, Floats, attention_received, log_p
from intrinsic.likelihood.reading import Text, mask_id

if TYPE_CHECKING:
    from files.models.language_model import LanguageModel


def masked_one_by_one(
    text: Text, places: Iterable[int], mask: int, *, within_word_l2r: bool = False
) -> list[Ask]:
    """For each place: the token there, masked, given all the others. ``within_word_l2r``: the later
    tokens of its word masked as well, which would give it away (Kauf & Ivanova, 2023).
    """
    asks = []
    for place in places:
        hidden = [place]
        if within_word_l2r:
            word = text.words[place]
            hidden = [n for n in text.own if n >= place and text.words[n] == word]
        asks.append(Ask(_masked(text, hidden, mask), ((place, text.ids[place]),)))
    return asks


def masked_together(text: Text, places: Sequence[int], mask: int) -> list[Ask]:
    """The tokens at all of these places, all masked at once."""
    wanted = tuple((place, text.ids[place]) for place in places)
    return [Ask(_masked(text, places, mask), wanted)]


def as_it_stands(text: Text) -> list[Ask]:
    """Every token of the text: of a masked model unmasked, of a causal one given those before; the
    first of all has none before.
    """
    return [Ask(text.ids, tuple((place, text.ids[place]) for place in text.own))]


def after_the_first(text: Text) -> list[Ask]:
    """Every token of the text that has one before it."""
    return [Ask(text.ids, tuple((place, text.ids[place]) for place in text.own if place))]


def _masked(text: Text, places: Iterable[int], mask: int) -> tuple[int, ...]:
    ids = list(text.ids)
    for place in places:
        ids[place] = mask
    return tuple(ids)


def answers(model: LanguageModel, asked: Sequence[Sequence[Ask]]) -> list[list[float]]:
    """log p of all that is asked of each sentence, all sentences in one go."""
    flat = iter(log_p(model, [ask for asks in asked for ask in asks]))
    return [[value for _ in asks for value in next(flat).tolist()] for asks in asked]


def likelihoods(
    model: LanguageModel, texts: Sequence[Text], *, within_word_l2r: bool = False
) -> list[list[float]]:
    """log p of the tokens of each sentence (nats): given all others, of a masked model; given those
    before, of a causal one. Their sum is the (pseudo-)log-likelihood.
    """
    if model.kind == "causal":
        return answers(model, [after_the_first(text) for text in texts])
    mask = mask_id(model)
    return answers(
        model,
        [
            masked_one_by_one(text, text.own, mask, within_word_l2r=within_word_l2r)
            for text in texts
        ],
    )


def unmasked(model: LanguageModel, texts: Sequence[Text], *, attention: bool) -> list[Floats]:
    """log p of the tokens of each sentence with none masked (AUL); ``attention``: each times the
    attention that it receives (AULA).
    """
    import numpy as np

    found = [np.array(each) for each in answers(model, [as_it_stands(text) for text in texts])]
    if attention:
        received = attention_received(model, [text.ids for text in texts])
        for number, text in enumerate(texts):
            found[number] *= received[number][list(text.own)]
    return found
