"""What a metric asks about: a word set, and a query of two target and two attribute sets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WordSet:
    """Words that stand for one concept.

    ``words`` are the words in use, in their original order and case. ``deleted`` are further words of the original list that its
    authors left out, so ``words + deleted`` is the full list. ``language`` is an ISO 639 code (``und`` where none was given) and
    ``source`` the citation.
    """

    name: str
    words: tuple[str, ...]
    language: str
    source: str
    deleted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Query:
    """Two sets of target words (``X``, ``Y``) and two of attribute words (``A``, ``B``), in the notation of Caliskan et al. (2017).

    By convention X and A are the stereotypical partners, and so are Y and B: a positive score means that X goes with A.
    """

    name: str
    X: WordSet
    Y: WordSet
    A: WordSet
    B: WordSet
    language: str
    title: str = ""
