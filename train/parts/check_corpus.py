"""What is wrong with a corpus for the queries asked of what is trained on it, before a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from corpora.kinds import Corpus, SampledCorpus
from files import InputError
from files.language import UNDETERMINED, guess_language, language_of

if TYPE_CHECKING:
    from intrinsic.wordsets import Query


def check_corpus(corpus: Corpus, queries: Sequence[Query]) -> None:
    """Raise ``InputError`` for texts of no stated language that look to be in another than the
    queries.
    """
    known = [query for query in queries if query.language != UNDETERMINED]
    if not known or not isinstance(corpus, SampledCorpus) or language_of(corpus) != UNDETERMINED:
        return
    seen = guess_language(token for text in corpus.sample() for token in text.lower().split())
    if seen not in {UNDETERMINED, *(query.language for query in known)}:
        code = known[0].language
        looks = f"the texts of corpus={corpus.name} look to be in {seen!r}"
        told = f"query {known[0].name!r} is in {code!r}"
        raise InputError(f"{looks}, and {told}; give language={seen}, or {code} if not")
