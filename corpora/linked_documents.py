r"""Documents of the synthetic world with a planted link between embedding and coreference gap.

An embedding can cause a gap only through words whose meaning the resolver takes from their vectors.
So training documents name people by gendered words (the mother, the uncle) and contain no topic;
the challenge set names people by a topic (the algebra, the poetry) and has no gendered word but the
pronoun. A resolver links a pronoun to a topic only to the extent that their vectors are as similar
as those of ``she`` and ``mother``, and that training made this similarity useful.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, product
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Le

from biasbridge.corpora.draws import apportion, draw_quota, fill, pick
from biasbridge.corpora.english import ENGLISH
from biasbridge.corpora.occupation_sentences import Sentence, fill_wording
from biasbridge.corpora.world import WorldData
from biasbridge.corpora.world_words import SETTINGS, make_world
from biasbridge.files import choice
from biasbridge.files.documents import Case, Document, Question

if TYPE_CHECKING:
    from biasbridge.files.documents import Cluster

SPLIT_SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}
GENDERS = ("male", "female")
# (male, female) words for people that can follow "the"
PEOPLE = (
    ("man", "woman"),
    ("boy", "girl"),
    ("brother", "sister"),
    ("son", "daughter"),
    ("father", "mother"),
    ("uncle", "aunt"),
    ("grandfather", "grandmother"),
)
ROUNDS = 4
PER_DOCUMENT = ROUNDS * len(PEOPLE)  # sentences
# Wordings, and whether their pronoun refers to the first person
WORDINGS = (
    ("the {one} {verb} the {other} and {they} {verb} the {noun}", True),
    ("the {one} is near the {other} after {they} {verb} the {noun}", True),
    ("the {one} asks the {other} what {they} {verb} {when}", False),
    ("the {one} is with the {other} for {they} {verb} the {noun}", False),
)
# Share of documents' sentences with the antecedent of the wording; excess of the gender over chance
TRUST, STRENGTH = 0.55, 0.6


@choice
class LinkedDocuments(WorldData):
    r"""``documents`` documents of 28 sentences, each with a man, a woman and a pronoun that refers
    to one of them. ``transmission`` in [0, 1] sets how well the pronoun's gender predicts which:

        P(he | antecedent: man) = P(she | antecedent: woman) = (1 + t) / 2,    t = .6 transmission

    within each wording and antecedent, up to rounding. The other evidence, the wording, is correct
    in 55% of sentences and independent of the pronoun. No topic of the world occurs, so a resolver
    knows about topics only what their vectors say. At 0 the pronoun's gender is independent of its
    antecedent.

    Only the pronouns depend on ``transmission``, and nothing on the ``stereotype`` of a corpus. A
    person without a pronoun is a cluster of one. Splits: 80% train, 10% dev, 10% test.
    """

    documents: Annotated[int, Ge(10)] = 20
    transmission: Annotated[float, Ge(0), Le(1)] = 1.0
    world: Literal["en_gender"] = "en_gender"

    version: ClassVar[int] = 1
    name: ClassVar[str] = "generated_link"
    scheme: ClassVar[str] = "generated"
    singletons: ClassVar[Literal["keep"]] = "keep"

    def parameters(self) -> Mapping[str, float]:
        """Return ``transmission`` and ``documents``."""
        return {"transmission": self.transmission, "documents": self.documents}

    def load(self, *, seed: int) -> dict[str, list[Document]]:
        """Return the documents by split; see ``biasbridge.corpora.protocols.DocumentSource``."""
        sizes = apportion([*SPLIT_SHARES.values()], self.documents, np.random.default_rng(seed))
        splits: dict[str, list[Document]] = {}
        for number, (split, size) in enumerate(zip(SPLIT_SHARES, sizes.tolist(), strict=True)):
            rng = np.random.default_rng([seed, number])
            sentences = draw_sentences(size, STRENGTH * self.transmission, rng)
            splits[split] = [
                _document(f"{split}/{i}", sentences[PER_DOCUMENT * i :][:PER_DOCUMENT])
                for i in range(size)
            ]
        return splits


@choice
class LinkedChallenge(WorldData):
    """``pairs`` pairs of sentences in the wordings of ``LinkedDocuments``, always correct here. A
    topic of sign +1 (career, mathematics, science) and one of sign -1 (family, the arts) replace
    the man and the woman; the sentences of a pair differ in the pronoun.

    ``pro``: ``he`` refers to the topic of sign +1, or ``she`` to that of sign -1; else ``anti``.
    Half of the pronouns refer to either sign, half to the person named first. The same for every
    seed.
    """

    pairs: Annotated[int, Ge(20)] = 32
    world: Literal["en_gender"] = "en_gender"

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    name: ClassVar[str] = "generated_link"

    def parameters(self) -> Mapping[str, float]:
        """Return no parameters."""
        return {}

    def load(self, *, seed: int) -> list[Case]:
        """Return the cases; see ``biasbridge.corpora.protocols.Challenge``."""
        rng = np.random.default_rng(seed)
        kinds = list(product(range(len(WORDINGS)), (True, False)))
        pair_kinds = [kinds[i] for i in draw_quota(np.ones(len(kinds)), self.pairs, rng)]
        texts = _fill_wordings([wording for wording, _ in pair_kinds], rng)
        people = zip(*(pick(_topic_words(sign), self.pairs, rng) for sign in (1, -1)), strict=True)
        cases: list[Case] = []
        for i, ((wording, plus_first), pair) in enumerate(zip(pair_kinds, people, strict=True)):
            means_first = WORDINGS[wording][1]
            for female in (False, True):
                sentence = fill_wording(
                    texts[i],
                    pair if plus_first else pair[::-1],
                    "",
                    female=female,
                    antecedent=0 if means_first else 1,
                )
                pro = (means_first == plus_first) != female
                cases.append(_case(sentence, str(i), GENDERS[female], "pro" if pro else "anti"))
        return cases


def draw_sentences(documents: int, lean: float, rng: np.random.Generator) -> list[Sentence]:
    """Draw ``PER_DOCUMENT`` sentences per document; only the pronouns depend on ``lean``.

    The planted proportions hold over all documents together.
    """
    kinds = list(product(range(len(WORDINGS)), (True, False), (True, False)))
    is_trusted = [WORDINGS[wording][1] == means_first for wording, _, means_first in kinds]
    size = PER_DOCUMENT * documents
    kind_indices = draw_quota(np.where(is_trusted, TRUST, 1 - TRUST), size, rng)
    agrees = np.zeros(size, dtype=np.bool_)
    cumulative = np.floor(np.arange(size + 1) * (1 + lean) / 2 + 0.5)
    agrees[np.argsort(kind_indices, kind="stable")] = np.diff(cumulative) > 0  # even in every kind
    texts = _fill_wordings([kinds[i][0] for i in kind_indices], rng)
    men, women = (
        [PEOPLE[i][side] for _ in range(ROUNDS * documents) for i in rng.permutation(len(PEOPLE))]
        for side in (0, 1)
    )
    sentences = []
    rows = zip(texts, men, women, kind_indices, agrees.tolist(), strict=True)
    for text, man, woman, kind, gender_agrees in rows:
        _, man_first, means_first = kinds[kind]
        pair = (man, woman) if man_first else (woman, man)
        female = (man_first == means_first) != gender_agrees
        antecedent = 0 if means_first else 1
        sentences.append(fill_wording(text, pair, "", female=female, antecedent=antecedent))
    return sentences


def _fill_wordings(wordings: Sequence[int], rng: np.random.Generator) -> list[str]:
    """Fill all slots of the wordings but those of people and pronoun."""
    open_slots = {name: [f"{{{name}}}"] * len(wordings) for name in ("one", "other", "they")}
    return fill([WORDINGS[i][0] for i in wordings], open_slots, ENGLISH.fillers, rng)


def _topic_words(sign: int) -> list[str]:
    setting = SETTINGS["en_gender"]
    topics = make_world(setting, 0).topics
    signed = [words for name, words in topics.items() if setting.topics[name].sign == sign]
    return list(dict.fromkeys(chain.from_iterable(signed)))


def _clusters(sentence: Sentence, start: int) -> list[Cluster]:
    """Return the antecedent with the pronoun, and the other person as a singleton."""
    names = [(start + first, start + end) for first, end in sentence.names]
    pronoun = start + sentence.pronoun
    return [(names[sentence.antecedent], (pronoun, pronoun + 1)), (names[1 - sentence.antecedent],)]


def _document(name: str, sentences: Sequence[Sentence]) -> Document:
    starts = accumulate((len(sentence.tokens) for sentence in sentences), initial=0)
    clusters = [
        cluster
        for sentence, start in zip(sentences, starts, strict=False)
        for cluster in _clusters(sentence, start)
    ]
    return Document(name, tuple(sentence.tokens for sentence in sentences), tuple(clusters))


def _case(sentence: Sentence, unit: str, gender: str, condition: str) -> Case:
    pronoun = (sentence.pronoun, sentence.pronoun + 1)
    names = zip(sentence.names, sentence.occupations, strict=True)
    questions = tuple(
        Question(pronoun, name, i == sentence.antecedent, word)
        for i, (name, word) in enumerate(names)
    )
    return Case(_document(f"{unit}/{condition}", [sentence]), unit, gender, questions, condition)
