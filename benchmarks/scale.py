"""Scale: ``python -m benchmarks scale``, hours and 2.5 GB on disk; not run unless it is named.

Tokenising, balancing and training on as much text as the paper's corpus for coreference has, 440
million tokens, and on a sixteenth and a quarter of it; beside gensim alone. The text is generated:
Zipf's law over the vocabulary of an encyclopedia, with the words of WEAT 6 among the frequent ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from gensim.models import Word2Vec as GensimWord2Vec

from benchmarks.row import Row, Work
from biasbridge.corpora.corpus import TextCorpus
from biasbridge.debias.text import Balance
from biasbridge.intrinsic.words import load_query
from biasbridge.train.subjects.static import Word2Vec

TOKENS = 440_000_000
TYPES = 4_000_000  # that may occur; about 2.6 million of them do
SENTENCE, DOCUMENT = 22, 10  # tokens, sentences
_SHIFT = 2.7  # of Zipf's law, after Mandelbrot
_FIRST_QUERY_WORD, _BETWEEN_QUERY_WORDS = 100, 60  # ranks


def scale(step: str, tokens: int, folder: Path) -> Work:
    """Time one step on the text of so many tokens, made by the steps before it."""
    raw, text, balanced = (folder / f"{tokens}.{end}" for end in ("txt", "tokens", "balanced"))
    write_text(raw, tokens)
    if step == "tokenise":
        corpus = TextCorpus(path=str(raw), tokeniser="sentences", language="en")
        return partial(corpus.write, text, seed=0)
    if step == "balance":
        rewrite = Balance(direction="debias").rewrite
        return partial(rewrite, text, balanced, load_query("weat6b"), seed=0)
    if step == "an epoch":
        return partial(Word2Vec(epochs=1).train, balanced, seed=0)
    train = partial(GensimWord2Vec, corpus_file=str(balanced), vector_size=300, sg=1)
    return partial(train, workers=1, epochs=1, seed=0)


def write_text(path: Path, tokens: int) -> None:
    """Write documents of capitalised sentences with full stops, one document a line."""
    if path.exists():
        return
    rng = np.random.default_rng(0)
    words = np.array(list(_vocabulary()), dtype=object)
    share = 1 / (np.arange(TYPES) + _SHIFT)
    cumulative = np.cumsum(share / share.sum())
    n_words = SENTENCE - 1  # and the full stop
    with path.open("w", encoding="ascii") as text:
        for _ in range(0, tokens, 1000 * SENTENCE * DOCUMENT):
            draws = cumulative.searchsorted(rng.random((1000, DOCUMENT, n_words)))
            for document in words[draws.clip(max=TYPES - 1)]:
                sentences = (" ".join(sentence).capitalize() for sentence in document)
                text.write(". ".join(sentences) + ".\n")


def _vocabulary() -> Iterator[str]:
    """Yield made-up words by rank, the words of WEAT 6b at regular ranks among them."""
    query = load_query("weat6b")
    known = [word.lower() for role in "XYAB" for word in query[role].words]
    ranks = range(_FIRST_QUERY_WORD, TYPES, _BETWEEN_QUERY_WORDS)
    placed = dict(zip(ranks, known, strict=False))
    for rank in range(TYPES):
        yield placed.get(rank) or _spell(rank)


def _spell(number: int) -> str:
    """Return a pronounceable word for a number: alternating consonants and vowels."""
    letters: list[str] = []
    while number or len(letters) < 2:
        number, consonant = divmod(number, 20)
        number, vowel = divmod(number, 5)
        letters.append("bcdfghjklmnpqrstvwxz"[consonant] + "aeiou"[vowel])
    return "".join(letters)


# Of 440 million tokens: 14 minutes, 37 s; of a sixteenth 320 s an epoch, beside 324 in gensim alone
SECONDS = {
    "tokenise": 14 * 60,
    "balance": 60,
    "an epoch": 90 * 60,
    "an epoch, gensim alone": 90 * 60,
}
ROWS = [
    Row(f"{step}, {n:,} tokens", partial(scale, step, n), most * n / TOKENS, 10_000)
    for n in (TOKENS // 16, TOKENS // 4, TOKENS)
    for step, most in SECONDS.items()
]
