"""Text: why synthetic posts are drawn and tweets tokenised anew instead of being stored."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.row import Row, Work
from biasbridge.corpora.tokens import tokenise_tweet
from biasbridge.corpora.world import GeneratedCorpus, GeneratedPosts

SIZE = 100_000


def posts(folder: Path) -> Work:
    """Time drawing labelled posts."""
    return partial(GeneratedPosts(posts=SIZE).load, seed=0)


def sentences(folder: Path) -> Work:
    """Time writing an unlabelled corpus."""
    return partial(GeneratedCorpus(sentences=SIZE).write, folder / "corpus.txt", seed=0)


def tweets(folder: Path) -> Work:
    """Time tokenising tweets of a dozen tokens."""
    tokenise_tweet("NLTK is imported")
    texts = [f"RT @a{i}: well it's #nice :-) 3.5 http://a.b/{i} isn't it?" for i in range(10_000)]
    return lambda: [tokenise_tweet(text) for text in texts]


ROWS = [
    Row("100,000 synthetic posts", posts, 30, 500),
    Row("100,000 synthetic sentences", sentences, 30, 200),
    Row("10,000 tweets tokenised", tweets, 5),
]
