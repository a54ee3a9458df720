"""What the recorded certificate says of the scores of an audit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from math import isnan
from typing import TYPE_CHECKING

from files.language import UNDETERMINED
from intrinsic.items.item import ItemSet
from intrinsic.wordsets import load_query, queries_with
from studies.certificate.recorded import Worth, refused, worth

if TYPE_CHECKING:
    from intrinsic.audit import Audited
    from intrinsic.wordsets import Query

GENDERED = 0.5  # the share of words, or pairs, beyond which a set is one of women or men
NOTE = "Certificate: of small models with a planted gender bias; same kind, convention and language"


def certified(audited: Sequence[Audited]) -> tuple[list[Audited], list[str]]:
    """Return every score with its line of the certificate where that was measured on such a score,
    and the remark that names those that are not called bias: a planted one hardly moves them.
    """
    rows: list[Audited] = []
    known: dict[str, Worth] = {}
    for one in audited:
        score, measured = one.score, Worth()
        if one.gender_words and not isnan(score.value):
            measured = worth(score.metric, score.convention, one.kind, one.gender_words)
            known[score.metric] = measured
        rows.append(one._replace(certificate=measured.line, called_bias=measured.called_bias))
    remark = refused(known)
    return rows, [remark] if remark else []


def gender_words(asked: Query | ItemSet, language: str = UNDETERMINED) -> str:
    """Return the language of the words for women and men that are compared, which is ``language``
    where their own is not stated; empty where others are compared.
    """
    stated = language if asked.language == UNDETERMINED else asked.language
    men, women = _words(stated)
    pairs = asked.pairs if isinstance(asked, ItemSet) else ()
    differing = [_differing(pair.stereo, pair.anti) for pair in pairs]
    of_gender = sum(bool(words & men and words & women) for words in differing)
    opposed = any(
        any(_mostly(words, men) for words in groups)
        and any(_mostly(words, women) for words in groups)
        for groups in _compared(asked)
    )
    return stated if opposed or of_gender > GENDERED * len(pairs) else ""


def _compared(asked: Query | ItemSet) -> Sequence[Sequence[Sequence[str]]]:
    """Return the groups of words that are compared: terms, fillers, word sets, columns of pairs."""
    if isinstance(asked, ItemSet):
        terms = [[item.term for item in items] for items in asked.by_group().values()]
        return [[*terms], [*zip(*asked.fillers, strict=True)]]
    sets = asked.sets.values()
    pairs = [[*zip(*each.items, strict=True)] for each in sets if each.width == 2]
    return [[each.words for each in sets if each.width == 1], *pairs]


def _differing(one: str, other: str) -> set[str]:
    first, second = ({*re.findall(r"\w+", text.lower())} for text in (one, other))
    return first ^ second


def _mostly(words: Iterable[str], gendered: frozenset[str]) -> bool:
    hits = [bool(gendered & {*word.lower().replace("_", " ").split()}) for word in words]
    return sum(hits) > GENDERED * len(hits)


@cache
def _words(language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return words for men and for women; none in a language without a list."""
    names = queries_with(["gender_mentions"], language)
    sets = [load_query(names[0])[role].words for role in ("X", "Y")] if names else [(), ()]
    men, women = (frozenset(word.lower() for word in words) for words in sets)
    return men, women
