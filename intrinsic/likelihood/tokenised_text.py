"""Tokenised texts of a language model: tokens, and the characters and word of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from biasbridge.files import InputError
from biasbridge.files.names import whole_word

if TYPE_CHECKING:
    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.intrinsic.item_metric import Settings


BOS_OR_EOS = "bos_or_eos"  # a first token, as of lm-evaluation-harness


class Text(NamedTuple):
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


def tokenise_texts(
    model: LanguageModel,
    texts: Sequence[str],
    *,
    lower: bool = False,
    first_token: str = "own",
) -> list[Text | None]:
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
    tokenised: list[Text | None] = []
    for n, text in enumerate(cased):
        ids = (*prefix, *encoded["input_ids"][n])
        special_mask = encoded["special_tokens_mask"][n]
        positions = tuple(k + len(prefix) for k, special in enumerate(special_mask) if not special)
        if not positions or len(ids) > model.longest:
            tokenised.append(None)
            continue
        spans = (*((0, 0) for _ in prefix), *map(tuple, encoded["offset_mapping"][n]))
        words = (*(-1 for _ in prefix), *_words(encoded.word_ids(n), positions, len(prefix)))
        unknown = sum(ids[position] == model.tokenizer.unk_token_id for position in positions)
        tokenised.append(Text(text, ids, spans, positions, words, unknown))
    return tokenised


def _words(word_ids: Sequence[int | None], positions: Sequence[int], shift: int) -> list[int]:
    """Return the word of each token; a token outside any word counts as a word."""
    text_positions = {position - shift for position in positions}
    return [
        -1 if k not in text_positions else word if word is not None else len(word_ids) + k
        for k, word in enumerate(word_ids)
    ]


def find_words(text: str, word: str) -> list[tuple[int, int]]:
    """Return the character spans of a whole word or phrase in a text, ignoring case."""
    return [match.span() for match in whole_word(word).finditer(text)]


def describe_reading(
    model: LanguageModel, texts: Iterable[Text], *, lower: bool, first_token: str
) -> Settings:
    """Return settings: kind of model, dtype, case, special tokens, first token, share of words with
    several tokens, number of unknown tokens.
    """
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


def _first_token(model: LanguageModel, texts: Sequence[Text]) -> str:
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


def require_kind(model: LanguageModel, kind: str, instead: str = "") -> None:
    """Raise ``InputError`` unless the model is of this kind."""
    if model.kind != kind:
        remedy = f"; {instead}" if instead else ""
        raise InputError(f"{model.name} is {model.kind}; the metric needs a {kind} model{remedy}")


def mask_id(model: LanguageModel) -> int:
    """Return the id of the mask token; raise ``InputError`` if there is none."""
    tokenizer: Any = model.tokenizer
    return int(tokenizer.convert_tokens_to_ids(model.mask))
