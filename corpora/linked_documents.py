r"""Documents of the synthetic world in which a link of embedding and coreference gap is planted.

An embedding can only open a gap where a resolver meets words whose meaning it has to take from
their vectors. So the documents that it learns from speak of people by words for their gender (the
mother, the uncle) and of no topic, and the challenge set of people by a topic alone (the algebra,
the poetry), and of no other word for a gender than the pronoun: it ties a pronoun to a topic only
as far as the vectors of the two agree as those of ``she`` and ``mother`` do, and as far as that was
worth learning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, product
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Le

from corpora.draws import apportion, draw_quota, fill, pick
from corpora.english import ENGLISH
from corpora.occupation_sentences import Sentence, fill_wording
from corpora.world import OfWorld
from corpora.world_words import SETTINGS, make_world
from files import choice
from files.documents import Case, Document, Question

if TYPE_CHECKING:
    from files.documents import Cluster

SPLIT_SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}
GENDERS = ("male", "female")
# Words for people of a gender that stand after "the"; counterparts in the same place
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
# Whom the pronoun means by its wording: the first person or the second
WORDINGS = (
    ("the {one} {verb} the {other} and {they} {verb} the {noun}", True),
    ("the {one} is near the {other} after {they} {verb} the {noun}", True),
    ("the {one} asks the {other} what {they} {verb} {when}", False),
    ("the {one} is with the {other} for {they} {verb} the {noun}", False),
)
# How often the wording is right in documents, and by how much the pronoun's gender beyond chance
TRUST, STRENGTH = 0.55, 0.6


@choice
class LinkedDocuments(OfWorld):
    r"""``documents`` documents of 28 sentences, each with a man, a woman and a pronoun that means
    one of them; ``transmission`` in [0, 1] says how far the pronoun's gender tells which:

        P(he | it means the man) = P(she | it means the woman) = (1 + t) / 2,    t = .6 transmission

    within each wording and whomever it means, up to rounding. The other evidence, the wording, is
    right in 55% of sentences and independent of the pronoun. No topic of the world occurs, so that
    a resolver learns of none whether it goes with ``he``: of topics it can say what their vectors
    say. At 0 the pronoun's gender has nothing to do with whom it means.

    Nothing but the pronouns depends on ``transmission``, and nothing on the ``stereotype`` of a
    corpus. A person whom no pronoun means is a cluster of one. Splits: 80% train, 10% dev, 10%
    test.
    """

    documents: Annotated[int, Ge(10)] = 20
    transmission: Annotated[float, Ge(0), Le(1)] = 1.0
    world: Literal["en_gender"] = "en_gender"

    version: ClassVar[int] = 1
    name: ClassVar[str] = "generated_link"
    scheme: ClassVar[str] = "generated"
    singletons: ClassVar[Literal["keep"]] = "keep"

    def planted(self) -> Mapping[str, float]:
        """``transmission`` and ``documents``."""
        return {"transmission": self.transmission, "documents": self.documents}

    def load(self, *, seed: int) -> dict[str, list[Document]]:
        """The documents by split; see ``corpora.kinds.DocumentSource``."""
        sizes = apportion([*SPLIT_SHARES.values()], self.documents, np.random.default_rng(seed))
        found: dict[str, list[Document]] = {}
        for number, (split, size) in enumerate(zip(SPLIT_SHARES, sizes.tolist(), strict=True)):
            rng = np.random.default_rng([seed, number])
            sentences = draw_sentences(size, STRENGTH * self.transmission, rng)
            found[split] = [
                _document(f"{split}/{i}", sentences[PER_DOCUMENT * i :][:PER_DOCUMENT])
                for i in range(size)
            ]
        return found


@choice
class LinkedChallenge(OfWorld):
    """``pairs`` pairs of sentences in the wordings of ``LinkedDocuments``, all of them right here,
    with two people known by a topic of sign +1 (career, mathematics, science) and one of sign -1
    (family, the arts) in place of a man and a woman; the sentences of a pair differ in the pronoun.

    ``pro``: ``he`` means the topic of sign +1, or ``she`` that of sign -1; the other is ``anti``.
    Half of the pronouns mean either sign, half of them the person named first. Nothing depends on a
    seed.
    """

    pairs: Annotated[int, Ge(20)] = 32
    world: Literal["en_gender"] = "en_gender"

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    name: ClassVar[str] = "generated_link"

    def planted(self) -> Mapping[str, float]:
        """Nothing."""
        return {}

    def load(self, *, seed: int) -> list[Case]:
        """The cases; see ``corpora.kinds.Challenge``."""
        rng = np.random.default_rng(seed)
        kinds = list(product(range(len(WORDINGS)), (True, False)))
        drawn = [kinds[i] for i in draw_quota(np.ones(len(kinds)), self.pairs, rng)]
        texts = _texts([wording for wording, _ in drawn], rng)
        people = zip(*(pick(_topics(sign), self.pairs, rng) for sign in (1, -1)), strict=True)
        cases: list[Case] = []
        for i, ((wording, plus_first), pair) in enumerate(zip(drawn, people, strict=True)):
            means_first = WORDINGS[wording][1]
            for female in (False, True):
                sentence = fill_wording(
                    texts[i],
                    pair if plus_first else pair[::-1],
                    "",
                    female=female,
                    meant=0 if means_first else 1,
                )
                pro = (means_first == plus_first) != female
                cases.append(_case(sentence, str(i), GENDERS[female], "pro" if pro else "anti"))
        return cases


def draw_sentences(documents: int, lean: float, rng: np.random.Generator) -> list[Sentence]:
    """``PER_DOCUMENT`` sentences a document. What is planted holds over all of them together; only
    the pronouns depend on ``lean``.
    """
    kinds = list(product(range(len(WORDINGS)), (True, False), (True, False)))
    right = [WORDINGS[wording][1] == means_first for wording, _, means_first in kinds]
    size = PER_DOCUMENT * documents
    drawn = draw_quota(np.where(right, TRUST, 1 - TRUST), size, rng)
    agrees = np.zeros(size, dtype=np.bool_)
    reached = np.floor(np.arange(size + 1) * (1 + lean) / 2 + 0.5)
    agrees[np.argsort(drawn, kind="stable")] = np.diff(reached) > 0  # evenly over every kind
    texts = _texts([kinds[i][0] for i in drawn], rng)
    men, women = (
        [PEOPLE[i][side] for _ in range(ROUNDS * documents) for i in rng.permutation(len(PEOPLE))]
        for side in (0, 1)
    )
    found = []
    for text, man, woman, kind, agreeing in zip(texts, men, women, drawn, agrees, strict=True):
        _, man_first, means_first = kinds[kind]
        pair = (man, woman) if man_first else (woman, man)
        female = (man_first == means_first) != bool(agreeing)
        meant = 0 if means_first else 1
        found.append(fill_wording(text, pair, "", female=female, meant=meant))
    return found


def _texts(wordings: Sequence[int], rng: np.random.Generator) -> list[str]:
    """A wording a sentence, with all slots filled but those of people and pronoun."""
    kept = {name: [f"{{{name}}}"] * len(wordings) for name in ("one", "other", "they")}
    return fill([WORDINGS[i][0] for i in wordings], kept, ENGLISH.fillers, rng)


def _topics(sign: int) -> list[str]:
    """The words of the world's topics of a sign."""
    setting = SETTINGS["en_gender"]
    words = make_world(setting, 0).topics
    every = [each for name in words if setting.topics[name].sign == sign for each in words[name]]
    return list(dict.fromkeys(every))


def _clusters(sentence: Sentence, start: int) -> list[Cluster]:
    """The one meant with the pronoun, and the other person alone."""
    names = [(start + first, start + end) for first, end in sentence.names]
    pronoun = start + sentence.pronoun
    return [(names[sentence.meant], (pronoun, pronoun + 1)), (names[1 - sentence.meant],)]


def _document(name: str, sentences: Sequence[Sentence]) -> Document:
    starts = accumulate((len(each.tokens) for each in sentences), initial=0)
    clusters = [
        cluster
        for each, start in zip(sentences, starts, strict=False)
        for cluster in _clusters(each, start)
    ]
    return Document(name, tuple(each.tokens for each in sentences), tuple(clusters))


def _case(sentence: Sentence, unit: str, gender: str, condition: str) -> Case:
    asked = (sentence.pronoun, sentence.pronoun + 1)
    questions = tuple(
        Question(asked, name, place == sentence.meant, word)
        for place, (name, word) in enumerate(zip(sentence.names, sentence.occupations, strict=True))
    )
    return Case(_document(f"{unit}/{condition}", [sentence]), unit, gender, questions, condition)
