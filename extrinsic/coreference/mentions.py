"""Candidate mentions of English documents, found without a parser, without vectors and without the
gender of a pronoun: documents that differ only in it have the same candidates.

Tokens are read in lower case, with ``he`` and ``she`` as ``<he>``, and ``him``, ``his``, ``her`` as
``<acc>`` or ``<poss>``: one logistic model of the words around tells which, learned from ``him``
against ``his`` and applied to all. Another finds the heads of mentions. Names begin with capitals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from biasbridge.files.documents import Document
    from biasbridge.stats.arrays import Floats


def _words(text: str) -> set[str]:
    return {*text.split()}


# Pronouns by kind; those of both genders are one
_KINDS = {
    "he": "he him his himself she her hers herself",
    "it": "it its itself",
    "they": "they them their theirs themselves",
    "i": "i me my mine myself",
    "we": "we us our ours ourselves",
    "you": "you your yours yourself thou thee thy",
}
KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
SIGNS = dict.fromkeys(_words("he him his himself"), 1)
SIGNS |= dict.fromkeys(_words("she her hers herself"), -1)
_MERGED = {"he": "<he>", "she": "<he>", "himself": "<self>", "herself": "<self>"}
_MERGED |= dict.fromkeys(("him", "his", "her", "hers"), "<him>")
_ARTICLES = _words("a an some any no every each another")
_DETERMINERS = _ARTICLES | _words(
    "the this that these those all both such what which either neither"
)
_OWNERS = _words("<poss> its their my our your thy whose")
_PREPOSITIONS = _words(
    "of in on at to for with by from about into over after before under against between through"
    " during without within upon among toward towards behind beside near like than off out up down"
    " around across along until onto as"
)
_AUXILIARIES = _words(
    "is are was were be been being am has have had do does did will would shall should can could"
    " may might must ought not n't 's 're 've 'll 'd 'm"
)
_ADVERBS = _words(
    "very too also then there here now never always ever just only even still again well more most"
    " much many quite rather almost already soon once"
)
_RELATIVES = _words("who whom whose which that where when why")
_COORDINATORS = _words("and or but")
_LINKERS = _words("nor so yet because if while although though since unless whereas whether how")
_PRONOUNS = {*KIND_OF, "<he>", "<him>", "<acc>", "<poss>", "<self>"}
_FUNCTION_WORDS = _PRONOUNS.union(
    *(_DETERMINERS, _OWNERS, _PREPOSITIONS, _AUXILIARIES, _ADVERBS),
    *(_RELATIVES, _COORDINATORS, _LINKERS),
)
_AFTER_HEADS = _PREPOSITIONS | _RELATIVES | _COORDINATORS | _AUXILIARIES - {"'s"}
CONNECTIVES = _words(
    "because when if that and but so while after before since as who whom which whose or although"
    " though to until for"
)
CLAUSE_OPENERS = CONNECTIVES - _PREPOSITIONS
SUBJECT_OPENERS = (_DETERMINERS | _OWNERS) - _words("that which what whose")
SUBJECT_OPENERS |= _words("<he> they i we you it there")
_NOMINATIVES, _ALONE = _words("<he> they i we"), _words("theirs mine ours yours")
_MARK = re.compile(r"\W+")
_LONGEST_NAME = 4  # words before a head
_FREQUENT = 100
_N_HASHES = 1 << 18
_HEAD_PENALTY, _CASE_PENALTY = 2.0, 1.0
_MOST_STEPS = 120
START, END = "^", "$"

Indices = NDArray[np.int64]
Vector = np.ndarray[tuple[int], np.dtype[np.float64]]


def is_word(token: str) -> bool:
    """Test whether a token is neither punctuation nor a function word."""
    return token not in _FUNCTION_WORDS and not _MARK.fullmatch(token)


def is_mark(token: str) -> bool:
    """Test whether a token is punctuation, or the beginning or end of a sentence."""
    return bool(_MARK.fullmatch(token))


class Mention(NamedTuple):
    """Half-open span of a document and what is seen of it.

    ``head``: position of its head; ``sentence`` and ``order``: number of the sentence, and its own
    in it. ``kind``: of pronouns that of ``KIND_OF``, else ``proper``, ``definite``, ``indefinite``,
    ``possessive`` or ``bare``. ``sign``: +1 of he, -1 of she. ``words``: content words; none of
    pronouns. ``score``: log odds of being a mention.
    """

    first: int
    end: int
    head: int
    sentence: int
    order: int
    score: float
    kind: str
    sign: int
    words: tuple[str, ...]
    case: str
    slot: str
    before: str
    after: str


def as_matrix(columns: Indices, ends: Indices, width: int) -> csr_array:
    """Return a matrix of ones in ``columns``, of which row i has those up to ``ends[i + 1]``."""
    from scipy.sparse import csr_array  # slow to import

    return csr_array((np.ones(len(columns)), columns, ends), shape=(len(ends) - 1, width))


def flatten(rows: Sequence[Sequence[int]]) -> tuple[Indices, Indices]:
    """Return the columns of all rows, and 0 and where each row ends."""
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=ends[-1]), ends


def hash_features(features: Iterable[str], width: int) -> list[int]:
    """Return the column of each feature."""
    return [crc32(feature.encode("utf-8", "surrogatepass")) % width for feature in features]


def fit_logistic(rows: Sequence[Sequence[int]], labels: Sequence[bool], penalty: float) -> Floats:
    """Fit weights of binary features with loss sum log(1 + exp(-+ w x)) + penalty / 2 |w|^2."""
    from scipy.optimize import minimize
    from scipy.special import expit

    matrix, sign = as_matrix(*flatten(rows), _N_HASHES), 2.0 * np.array(labels, dtype=bool) - 1
    transposed = matrix.T.tocsr()

    def loss(weights: Vector) -> tuple[float, Vector]:
        margins = sign * (matrix @ weights)
        gradient = penalty * weights - transposed @ (sign * expit(-margins))
        return float(np.logaddexp(0, -margins).sum() + penalty / 2 * weights @ weights), gradient

    fitted: Floats = minimize(
        loss, np.zeros(_N_HASHES), jac=True, method="L-BFGS-B", options={"maxiter": _MOST_STEPS}
    ).x
    return fitted


def _merge(sentence: Sequence[str]) -> list[str]:
    """Return the tokens in lower case, without the gender of pronouns."""
    return [_MERGED.get(lowered := token.lower(), lowered) for token in sentence]


def _around(tokens: Sequence[str], i: int) -> tuple[str, ...]:
    """Return the two tokens before, nearest first, and the two after."""
    padded = [START, START, *tokens[max(0, i - 2) : i], *tokens[i : i + 3], END, END]
    at = 2 + min(i, 2)
    return padded[at - 1], padded[at - 2], padded[at + 1], padded[at + 2]


def _case_features(tokens: Sequence[str], i: int) -> list[int]:
    p, pp, q, qq = _around(tokens, i)
    is_function = "".join(str(int(word in _FUNCTION_WORDS)) for word in (p, q, qq))
    features = ["bias", f"p {p}", f"q {q}", f"pq {p} {q}", f"pp {pp}", f"qq {qq}"]
    features += [f"q{n} {q[-n:]}" for n in (1, 2, 3)] + [f"p{n} {p[-n:]}" for n in (2, 3)]
    features += [f"qqq {q[-3:]} {qq[-2:]}", f"f {is_function}", f"pf {p} {is_function}"]
    return hash_features(features, _N_HASHES)


class MentionFinder:
    """Finder of candidates, learned from documents with mentions and from raw text."""

    def __init__(
        self,
        documents: Sequence[tuple[Document, bool]],
        sentences: Iterable[Sequence[str]],
        threshold: float,
    ) -> None:
        """Learn from documents, and whether mentions without another are marked in each; and from
        tokenised sentences what tells ``him`` from ``his``.
        """
        self.threshold = threshold
        own = (sentence for document, _ in documents for sentence in document.sentences)
        rows, is_possessive = [], []
        for sentence in chain(own, sentences):
            merged = _merge(sentence)
            for i, token in enumerate(sentence):
                if (word := token.lower()) in ("him", "his"):
                    rows.append(_case_features(merged, i))
                    is_possessive.append(word == "his")
        self._case_weights = fit_logistic(rows, is_possessive, _CASE_PENALTY)
        texts = [[*map(self.read, document.sentences)] for document, _ in documents]
        counts = Counter(token for text in texts for tokens in text for token in tokens)
        self._identified = {word for word, n in counts.items() if n >= _FREQUENT} | _FUNCTION_WORDS
        self._head_weights = self._fit_heads(documents, texts)

    def read(self, sentence: Sequence[str]) -> list[str]:
        """Return the tokens in lower case, with the case of pronouns in place of their gender."""
        tokens = _merge(sentence)
        merged = tuple(tokens)
        for i in (i for i, token in enumerate(merged) if token == "<him>"):
            is_possessive = self._case_weights[_case_features(merged, i)].sum() > 0
            tokens[i] = "<poss>" if is_possessive else "<acc>"
        return tokens

    def find(self, document: Document) -> list[Mention]:
        """Return the candidates of a document in order."""
        mentions: list[Mention] = []
        start = 0
        for number, sentence in enumerate(document.sentences):
            tokens = self.read(sentence)
            for order, (first, head, score) in enumerate(self._find_spans(sentence, tokens)):
                place = (start, number, order, score)
                mentions.append(_describe(sentence, tokens, first, head, place))
            start += len(sentence)
        return mentions

    def _find_spans(
        self, sentence: Sequence[str], tokens: Sequence[str]
    ) -> Iterator[tuple[int, int, float]]:
        """Yield first token, head and log odds of the mentions of a sentence."""
        rows = self._head_features(sentence, tokens)
        scores = [float(self._head_weights[row].sum()) if row else -np.inf for row in rows]
        above = [score > self.threshold for score in scores] + [False]
        for i, token in enumerate(tokens):
            if token in _PRONOUNS:
                yield i, i, np.inf
            elif above[i] and not (above[i + 1] and _is_name(sentence[i : i + 2])):
                yield _first_token(sentence, tokens, i), i, scores[i]

    def _head_features(self, sentence: Sequence[str], tokens: Sequence[str]) -> Iterator[list[int]]:
        """Yield the features of each token; none of function words and punctuation."""
        known = [token if token in self._identified else f"*{token[-3:]}" for token in tokens]
        for i, token in enumerate(tokens):
            if not is_word(token):
                yield []
                continue
            p, pp, q, qq = _around(known, i)
            next_is_capital = i + 1 < len(sentence) and sentence[i + 1][:1].isupper()
            shape = f"{sentence[i][:1].isupper()}{i == 0}{next_is_capital}"
            end = token[-3:]
            features = ["bias", f"w {token}", f"2 {token[-2:]}", f"3 {end}", f"4 {token[-4:]}"]
            features += [f"s {shape}", f"p {p}", f"q {q}", f"pp {pp}", f"qq {qq}", f"pq {p} {q}"]
            features += [f"p3 {p} {end}", f"q3 {q} {end}", f"ps {p} {shape}", f"ppp {pp} {p}"]
            yield hash_features(features, _N_HASHES)

    def _fit_heads(
        self, documents: Sequence[tuple[Document, bool]], texts: Sequence[Sequence[list[str]]]
    ) -> Floats:
        """Fit the log odds that a token is the head of a mention. Documents without mentions that
        stand alone have an intercept of their own, which is left out later.
        """
        unmarked = hash_features(["mentions that stand alone are not marked"], _N_HASHES)
        rows, labels = [], []
        for (document, has_singletons), text in zip(documents, texts, strict=True):
            heads, start = {*heads_of(document, text)}, 0
            for sentence, tokens in zip(document.sentences, text, strict=True):
                for i, row in enumerate(self._head_features(sentence, tokens)):
                    if row:
                        rows.append(row if has_singletons else row + unmarked)
                        labels.append(start + i in heads)
                start += len(sentence)
        return fit_logistic(rows, labels, _HEAD_PENALTY)


def heads_of(document: Document, text: Sequence[Sequence[str]]) -> dict[int, int]:
    """Return the cluster of each head, the last word of a mention before the first preposition,
    relative word, auxiliary or mark. Of several mentions with one head the longest counts.
    """
    tokens = [*chain.from_iterable(text)]
    spans = [(span, n) for n, cluster in enumerate(document.clusters) for span in cluster]
    return {
        _head(tokens, *span): number
        for span, number in sorted(spans, key=lambda each: each[0][1] - each[0][0])
    }


def _head(tokens: Sequence[str], first: int, end: int) -> int:
    begun = False
    for i in range(first, end):
        token = tokens[i]
        if begun and (token in _AFTER_HEADS or is_mark(token)):
            return i - 1
        begun = begun or not (token in _DETERMINERS or token in _OWNERS or is_mark(token))
    return end - 1


def _is_name(tokens: Sequence[str]) -> bool:
    return all(token[:1].isupper() for token in tokens)


def _first_token(sentence: Sequence[str], tokens: Sequence[str], head: int) -> int:
    """Return where the mention of a head begins: at a determiner or an owner before its words; of
    others at the first capital, or at the head.
    """
    for i in range(head - 1, max(-1, head - 1 - _LONGEST_NAME), -1):
        token = tokens[i]
        if token in _DETERMINERS or token in _OWNERS:
            return i
        if token == "'s":
            return _first_token(sentence, tokens, i - 1) if i else i
        if not is_word(token):
            break
    first = head
    while first and _is_name(sentence[first - 1 : head + 1]) and is_word(tokens[first - 1]):
        first -= 1
    return first


def _describe(
    sentence: Sequence[str],
    tokens: Sequence[str],
    first: int,
    head: int,
    place: tuple[int, int, int, float],
) -> Mention:
    """Return a mention; ``place``: the start of the sentence, and the fields after ``head``."""
    p, q, word = _around(tokens, first)[0], _around(tokens, head)[2], sentence[head].lower()
    opens = p in (START, *CLAUSE_OPENERS) or is_mark(p)
    slot, case, words = _slot(p, q, opens=opens), "", tuple[str, ...]()
    if word in KIND_OF:
        kind, case = KIND_OF[word], _case(tokens[head])
        if case in ("nom", "poss"):
            slot = "subject" if case == "nom" else case
        elif slot == "subject" or (case == "any" and opens):
            slot = "subject" if case == "any" and opens else "other"
    else:
        kind = _nominal_kind(sentence, tokens, first, head)
        words = tuple(sentence[i] for i in range(first, head + 1) if is_word(tokens[i]))
    before, after = ("*" if is_word(token) else token for token in (p, q))
    start, number, order, score = place
    span, sign = (start + first, start + head + 1, start + head), SIGNS.get(word, 0)
    seen = (case, slot, before, after)
    return Mention(*span, number, order, score, kind, sign, words, *seen)


def _slot(p: str, q: str, *, opens: bool) -> str:
    """Return the place of a mention in its clause, by the tokens before and after."""
    if q == "'s":
        return "owner"
    if opens and (q in _AUXILIARIES or q in _ADVERBS or is_word(q)):
        return "subject"
    if p in _PREPOSITIONS or is_word(p):
        return "object" if is_word(p) else "preposition"
    return "coordinated" if p in ("and", "or") else "clause" if opens else "other"


def _case(token: str) -> str:
    if token in _OWNERS or token in _ALONE:
        return "poss"
    if token == "<self>" or token.endswith(("self", "selves")):
        return "self"
    return "any" if token in ("it", "you") else "nom" if token in _NOMINATIVES else "acc"


def _nominal_kind(sentence: Sequence[str], tokens: Sequence[str], first: int, head: int) -> str:
    opener = tokens[first]
    if sentence[head][:1].isupper() and head and opener not in _DETERMINERS:
        return "proper"
    if opener in _ARTICLES:
        return "indefinite"
    if opener in _DETERMINERS or "'s" in tokens[first : head + 1]:
        return "definite"
    return "possessive" if opener in _OWNERS else "bare"
