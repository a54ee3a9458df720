"""Word sets and queries, with language and source, as data. Needs neither numpy nor gensim."""

from biasbridge.intrinsic.wordsets.library import (
    find_queries,
    load_queries,
    load_query,
    load_wordset,
    query_names,
    read_query,
    read_wordsets,
    require_queries,
    write_query,
)
from biasbridge.intrinsic.wordsets.parse import WordFile
from biasbridge.intrinsic.wordsets.wordset import Query, WordSet

__all__ = [
    "Query",
    "WordFile",
    "WordSet",
    "find_queries",
    "load_queries",
    "load_query",
    "load_wordset",
    "query_names",
    "read_query",
    "read_wordsets",
    "require_queries",
    "write_query",
]
