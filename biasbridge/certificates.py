"""Lines of the recorded certificate for the scores of an audit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from math import isnan
from typing import TYPE_CHECKING

from biasbridge.files.language import UNDETERMINED
from biasbridge.intrinsic.models.items import ItemSet
from biasbridge.intrinsic.words import find_queries, load_query
from biasbridge.studies.certificate_verdicts import (
    RecordedVerdict,
    not_called_bias,
    recorded_verdict,
)

if TYPE_CHECKING:
    from biasbridge.intrinsic.audit import AuditedScore
    from biasbridge.intrinsic.words import Query

GENDERED = 0.5  # above this proportion of words, or pairs, a set is about women or men
TRAINED_HERE = "trained in this language with a planted gender stereotype, not on your model"


def certified(audited: Sequence[AuditedScore]) -> tuple[list[AuditedScore], list[str], list[str]]:
    """Return every score with its line of the certificate, a warning and an explanation.

    The line is empty unless such a score was certified. The warning names the scores that may not
    be called bias, because they do not detect a planted one; the explanation names the models that
    were measured.
    """
    rows: list[AuditedScore] = []
    verdicts: dict[str, RecordedVerdict] = {}
    measured: dict[str, None] = {}
    for row in audited:
        verdict = verdict_of(row)
        if row.gender_words and not isnan(row.score.value):
            verdicts[row.score.metric] = verdict
            measured |= {f"{verdict.model} ({verdict.likeness})": None} if verdict.model else {}
        rows.append(row._replace(certificate=verdict.line, called_bias=verdict.may_be_called_bias))
    warning = not_called_bias(verdicts)
    explanation = f"Certificate: measured on {', '.join(measured)}, {TRAINED_HERE}"
    return rows, [warning] if warning else [], [explanation] if measured else []


def verdict_of(row: AuditedScore) -> RecordedVerdict:
    """Return the verdict on such a score; an empty one if none was recorded."""
    score = row.score
    if not row.gender_words or isnan(score.value):
        return RecordedVerdict()
    kind = (row.kind, row.gender_words, row.architecture)
    return recorded_verdict(score.metric, score.convention, *kind)


def gender_words(query: Query | ItemSet, language: str = UNDETERMINED) -> str:
    """Return the language of the words for women and men that are compared.

    Empty if other groups are compared. ``language`` is assumed if the query states none.
    """
    query_language = language if query.language == UNDETERMINED else query.language
    men, women = _words(query_language)
    pairs = query.pairs if isinstance(query, ItemSet) else ()
    differing_words = [_differing_words(pair.stereo, pair.anti) for pair in pairs]
    n_gender_pairs = sum(bool(words & men and words & women) for words in differing_words)
    is_opposed = any(
        any(_mostly(words, men) for words in groups)
        and any(_mostly(words, women) for words in groups)
        for groups in _compared_groups(query)
    )
    return query_language if is_opposed or n_gender_pairs > GENDERED * len(pairs) else ""


def _compared_groups(query: Query | ItemSet) -> Sequence[Sequence[Sequence[str]]]:
    """Return the groups of words that are compared: terms, fillers, word sets, columns of pairs."""
    if isinstance(query, ItemSet):
        terms = [[item.term for item in items] for items in query.by_group().values()]
        return [[*terms], [*zip(*query.fillers, strict=True)]]
    word_sets = query.sets.values()
    pairs = [[*zip(*word_set.items, strict=True)] for word_set in word_sets if word_set.width == 2]
    return [[word_set.words for word_set in word_sets if word_set.width == 1], *pairs]


def _differing_words(text: str, other_text: str) -> set[str]:
    first, second = ({*re.findall(r"\w+", text.lower())} for text in (text, other_text))
    return first ^ second


def _mostly(words: Iterable[str], gendered: frozenset[str]) -> bool:
    hits = [bool(gendered & {*word.lower().replace("_", " ").split()}) for word in words]
    return sum(hits) > GENDERED * len(hits)


@cache
def _words(language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return words for men and for women; none in a language without a list."""
    names = find_queries(["gender_mentions"], language)
    sets = [load_query(names[0])[role].words for role in ("X", "Y")] if names else [(), ()]
    men, women = (frozenset(word.lower() for word in words) for words in sets)
    return men, women
