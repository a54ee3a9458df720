"""The language of texts; words and names as they are compared, and slurs masked for readers."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Annotated, Protocol, runtime_checkable

from annotated_types import doc

from biasbridge.files.errors import InputError

UNDETERMINED = "und"  # ISO 639 for an unknown language
LanguageCode = Annotated[str, doc("ISO 639 code such as es; words in another language are refused")]
# Frequent function words of the languages of built-in queries
GRAMMAR = {
    "de": "der die und das ist nicht ein eine zu den mit sie auf für im von dem sich auch es",
    "en": "the of and to is that it for you was with as are this be at by not they have",
    "es": "de la que el en y los se del las por un con una su para es al lo como",
    "hr": "je se na da za su od što ne koji kako ali bi sam to kao ili iz sve nije",
    "it": "di che è la il un non per sono una si con del ho gli della le ma anche più",
    "tr": "ve bir bu da de için ile çok ne daha olarak gibi ama var kadar değil o mi ben en",
    "ru": "и в не на я что он с как это по но она к так его из за все у",
}
_CODE_IN_NAME = re.compile(rf"(?:^|[._-])({'|'.join(sorted(GRAMMAR))})(?=[._-]|$)", re.IGNORECASE)
_DEBIASED = re.compile(r"de[-_]bias", re.IGNORECASE)  # is not German
MIN_SHARE, MIN_RATIO = 0.08, 1.5
# Characters of no width, which editors and spreadsheets leave at the ends of cells
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
_DOTTED = "i\u0307"  # the lower case of a Turkish "İ" in Unicode
# First digits of the SHA-256 of each slur in lower case. The words come from HateCheck's templates,
# HatEval's keywords and tokens of Davidson et al.'s tweets, with their plurals.
_SLURS = """
00940d98 022a8753 038c9ccd 044eb98b 045c89d1 086bc1cc 08a841e9 09231e07 0ce875d6 0dcc4d33
0ea1bedb 11cf8376 120f6e5b 1290d04b 12e6274e 158869a9 16ea09fc 17a110e5 17bde8b4 1c86838f
1db64d8c 1e02eec4 1f5758ae 1f6ea1fd 206d6599 22fc75e6 262f86db 268651b3 27a62b68 328d721e
32c2aaad 33740da8 33b9a12f 341d5638 3b1e0d7c 3dc769bb 3eed6d8f 3ff99471 402f7ebd 448b303c
44f8202e 45cd3e1b 470dd245 489a8455 4bfae123 4cc34eab 4d4a5cbe 50465236 517ae3f7 544fc854
566f532d 58d5ed00 5a9d9dce 5af82665 5b3ae48b 5cb6af43 619bc82e 6422a9a5 64dd7c4e 67bfe059
6ada028b 6db5f27a 6dbe0f85 70a4ce37 7122c9a1 7145d43d 74006ca1 7665769c 784b36e2 7d1300df
7f4d74d5 82159dd0 86c434a1 87d1690e 886d51e9 8a161949 8d5506af 8dd8c052 8f5083e3 92a9bf81
937d56e4 940cd091 98b52c4b 9915ba2d 994c293a 99a25944 9ae315a9 a2bd9297 a40ccba8 b0105c79
b3bf874e bb209d50 bbcd2f1e bd331fb1 be00f1af c0d07de7 c0f42ff5 c1cabb6f c2c3b68b c3de533e
c74677ab cc020323 ced52bdc d4f68464 d6320c80 d75a838d d7cc7ecc d873147a da474c1d daec0c23
dc50e12f e0cb2381 e10c5b19 e7b98c6a eef3bd09 efe29369 f07a64bb f1b9c63b f3cf22cc f49305ac
f6d76e10 f9d0d9b1 fa38a8d3 fd3d4829 ff454a87
"""
HASHES = frozenset(_SLURS.split())


def guess_language(tokens: Iterable[str]) -> str:
    """Guess the language from the function words among lower-case tokens; ``und`` if they are fewer
    than ``MIN_SHARE``, or not ``MIN_RATIO`` times as many as those of another language.
    """
    counts = Counter(map(normalise_text, tokens))
    ranking = sorted(
        (sum(counts[word] for word in words.split()), code) for code, words in GRAMMAR.items()
    )
    (second, _), (first, code) = ranking[-2:]
    is_frequent = first >= MIN_SHARE * max(1, counts.total())
    return code if is_frequent and first >= MIN_RATIO * second else UNDETERMINED


def language_in_name(path: str | Path) -> str:
    """Return the language code in the name of a file, as in ``cc.es.300.vec``; ``und`` for none."""
    code = _CODE_IN_NAME.search(_DEBIASED.sub("debias", Path(path).name))
    return code.group(1).lower() if code else UNDETERMINED


def language_of_texts(texts: Iterable[str], path: str | Path, stated: str) -> str:
    """Return the language ``stated``, or guessed from the texts, or in their file's name."""
    if stated != UNDETERMINED:
        return stated
    words = re.findall(r"[^\W\d_]+", normalise_text(" ".join(texts)).lower())
    guess = guess_language(words)
    return guess if guess != UNDETERMINED else language_in_name(path)


@runtime_checkable
class InLanguage(Protocol):
    """A choice that knows its language."""

    @property
    def language(self) -> str:
        """An ISO 639 code such as ``es``; ``und`` if unknown."""


def language_of(value: object) -> str:
    """Return the language of a choice; ``und`` if it has none."""
    return value.language if isinstance(value, InLanguage) else UNDETERMINED


def require_one_language(choices: Mapping[str, object], remedy: str) -> None:
    """Raise ``InputError`` if choices, given by their names in the message, have different
    languages.
    """
    languages = {name: language_of(value) for name, value in choices.items()}
    determined = {name: code for name, code in languages.items() if code != UNDETERMINED}
    if len({*determined.values()}) > 1:
        different = " and ".join(f"{name} is in {code!r}" for name, code in determined.items())
        raise InputError(f"{different}; {remedy}")


def _combining_signs() -> str:
    """Return a regular expression's ranges of the signs that belong to the letter before them."""
    codes = [code for code in range(0x300, 0xAC00) if unicodedata.category(chr(code))[0] == "M"]
    codes = [code for code in codes if not 0x20D0 <= code <= 0x20F0]  # around symbols
    runs = [[*run] for _, run in groupby(enumerate(codes), lambda pair: pair[1] - pair[0])]
    return "".join(f"{chr(run[0][1])}-{chr(run[-1][1])}" for run in runs)


# Accents and the vowel signs of Hindi, which ``\w`` does not match
SIGNS = _combining_signs()
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff"


def normalise_text(text: str) -> str:
    """Return text as it is compared: in Unicode's form NFC, with plain spaces, none at its ends.

    >>> normalise_text("Espan\u0303a\u00a0")
    'España'
    """
    if text.isprintable() and text.strip() == text and unicodedata.is_normalized("NFC", text):
        return text  # most words of a vocabulary
    composed = unicodedata.normalize("NFC", text)
    plain = "".join(" " if character.isspace() else character for character in composed)
    return plain.strip(f" {_INVISIBLE}")


def whole_word(text: str) -> re.Pattern[str]:
    """Return the pattern of a word or phrase, in any case, that is not a part of a longer word.

    Letters of scripts without spaces between words (Chinese, Japanese, Thai) bound words too.
    """
    part = rf"(?:[{SIGNS}\u200c\u200d]|(?![{UNSPACED}])\w)"  # joiners stand inside words
    return re.compile(rf"(?<!{part}){re.escape(text)}(?!{part})", re.IGNORECASE)


def lower_forms(word: str) -> tuple[str, ...]:
    """Return a word in lower case; of one with a Turkish "İ" or "I" each form in use.

    >>> lower_forms("İZMİR"), lower_forms("IŞIK")
    (('izmir', 'i̇zmi̇r'), ('işik', 'ışık'))
    """
    lower, turkish = word.lower(), word.replace("I", "ı").lower()
    forms = (lower.replace(_DOTTED, "i"), lower, turkish.replace(_DOTTED, "i"))
    return tuple(dict.fromkeys(forms))


def known_form(word: str, vocabulary: Container[str]) -> str:
    """Return the word if the vocabulary has it, else its form in lower case that it has, if any."""
    return next((form for form in (word, *lower_forms(word)) if form in vocabulary), word)


def mask_slurs(text: str) -> str:
    """Replace all but the first letter of each slur in a user's post by asterisks: ``b****``. New
    spellings are not masked.
    """

    def mask(match: re.Match[str]) -> str:
        is_slur = sha256(match[0].lower().encode()).hexdigest()[:8] in HASHES
        return match[0][0] + "*" * (len(match[0]) - 1) if is_slur else match[0]

    return re.sub(r"\w+", mask, text)
