"""Texts as a language model reads them: tokens, and the characters and word of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from files import InputError

if TYPE_CHECKING:
    from files.models.language_model import LanguageModel
    from intrinsic.item_metric import Settings

OWN, NONE = "own", "none"


class Text(NamedTuple):
    """A text in tokens.

    ids: special tokens included. spans: the characters of each token. own: the places of the tokens
    of the text itself. words: the number of the word that each token is of, -1 for a special one.
    unknown: how many tokens the vocabulary has not.
    """

    text: str
    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    own: tuple[int, ...]
    words: tuple[int, ...]
    unknown: int = 0

    def covering(self, start: int, end: int) -> tuple[int, ...]:
        """The places of the tokens with any of the characters ``text[start:end]``."""
        return tuple(
            place
            for place in self.own
            if max(start, self.spans[place][0]) < min(end, self.spans[place][1])
        )

    def pieces(self, places: Iterable[int]) -> list[int]:
        """How many of these places each word has that has any."""
        numbers = [self.words[place] for place in places]
        return [numbers.count(word) for word in dict.fromkeys(numbers)]


def read_texts(
    model: LanguageModel,
    texts: Sequence[str],
    *,
    lower: bool = False,
    first_token: str = "own",
) -> list[Text | None]:
    """The tokens of each text; None where the model takes no text so long, or it has no tokens.

    first_token: what stands before the text of a causal model: ``own``, what the tokenizer puts
    there; ``none``; its ``bos`` or ``eos``; or a token by itself, as ``<|endoftext|>``. Raises
    ``InputError`` where the tokenizer has no such token, and for a masked model, which has its
    tokenizer's own.
    """
    if model.kind != "causal" and first_token != "own":
        raise InputError(f"first_token={first_token!r} is for causal models, not {model.name}")
    given = [text.lower() if lower else text for text in texts]
    own = first_token == "own"
    before = () if own or first_token == "none" else (_special(model, first_token),)
    tokenizer: Any = model.tokenizer
    encoded = tokenizer(
        given,
        add_special_tokens=own,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
        verbose=False,
    )
    found: list[Text | None] = []
    for number, text in enumerate(given):
        ids = (*before, *encoded["input_ids"][number])
        special = encoded["special_tokens_mask"][number]
        places = tuple(n + len(before) for n, each in enumerate(special) if not each)
        if not places or len(ids) > model.longest:
            found.append(None)
            continue
        spans = (*((0, 0) for _ in before), *map(tuple, encoded["offset_mapping"][number]))
        words = (*(-1 for _ in before), *_words(encoded.word_ids(number), places, len(before)))
        unknown = sum(ids[place] == model.tokenizer.unk_token_id for place in places)
        found.append(Text(text, ids, spans, places, words, unknown))
    return found


def _words(numbers: Sequence[int | None], own: Sequence[int], shift: int) -> list[int]:
    """The word of each token; a token of no word is one of its own."""
    kept = {place - shift for place in own}
    return [
        -1 if place not in kept else number if number is not None else len(numbers) + place
        for place, number in enumerate(numbers)
    ]


def find_words(text: str, word: str) -> list[tuple[int, int]]:
    """The characters of every occurrence of a word or phrase as a whole, in any case."""
    pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
    return [each.span() for each in pattern.finditer(text)]


def describe_reading(
    model: LanguageModel, texts: Iterable[Text], *, lower: bool, first_token: str
) -> Settings:
    """How texts were read, as settings: kind of model, dtype, case, special tokens, first token,
    share of words with several tokens, unknown tokens.
    """
    read = list(texts)
    pieces = [number for text in read for number in text.pieces(text.own)]
    tokenizer: Any = model.tokenizer
    lowered = tokenizer.tokenize("A") == tokenizer.tokenize("a")
    settings: dict[str, str | int | float] = {
        "model": model.kind,
        "dtype": model.dtype,
        "case": "lower" if lower or lowered else "as given",
    }
    if model.kind == "causal":
        settings["first token"] = _first(model, read, first_token)
    else:
        added = any(len(text.own) < len(text.ids) for text in read)
        settings["special tokens"] = "yes" if added else "no"
    settings["words of several tokens"] = sum(n > 1 for n in pieces) / max(1, len(pieces))
    if unknown := sum(text.unknown for text in read):
        settings["unknown tokens"] = unknown
    return settings


def _first(model: LanguageModel, read: Sequence[Text], first_token: str) -> str:
    for text in read[:1]:
        if text.own[0]:
            return model.tokenizer.convert_ids_to_tokens([text.ids[0]])[0]
    return "none"


def _special(model: LanguageModel, name: str) -> int:
    token = getattr(model.tokenizer, f"{name}_token") if name in ("bos", "eos") else name
    tokenizer: Any = model.tokenizer
    number = tokenizer.get_vocab().get(token)
    if number is None:
        raise InputError(
            f"first_token={name!r}: the tokenizer of {model.name} has no such token; choose own,"
            " none, bos, eos or a token of its vocabulary"
        )
    return int(number)


def require_kind(model: LanguageModel, kind: str, instead: str = "") -> None:
    """Raise ``InputError`` for a model of another kind."""
    if model.kind != kind:
        remedy = f"; {instead}" if instead else ""
        raise InputError(f"{model.name} is no {kind} model, but {model.kind}{remedy}")


def mask_id(model: LanguageModel) -> int:
    """The number of the mask token. ``InputError`` where there is none."""
    tokenizer: Any = model.tokenizer
    return int(tokenizer.convert_tokens_to_ids(model.mask))
