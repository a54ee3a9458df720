"""The synthetic world of coreference: documents with a planted skew of pronouns, a challenge set,
and a corpus with their words. Never evidence about the real world.

A sentence has two occupations and a pronoun that refers to one of them. The occupations are some of
the forty with a percentage of women in ``intrinsic/wordsets/occupations.yaml``, twelve on either
side of 50.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from annotated_types import Ge, doc
from numpy.typing import NDArray

from biasbridge.corpora.coreference_challenges import load_percentages
from biasbridge.corpora.grammar import split_words
from biasbridge.corpora.world import Bias, GeneratedCorpus, write_lines
from biasbridge.corpora.world_words import draw_quota, draw_share, pick, split_sizes
from biasbridge.files import choice, read_lines
from biasbridge.files.choice import Fileless
from biasbridge.files.documents import Document, DocumentCase, Question
from biasbridge.files.paths import digest_of

if TYPE_CHECKING:
    from biasbridge.files.documents import Cluster, Span
    from biasbridge.stats.arrays import Floats

_MALE = split_words(
    "carpenter driver sheriff mover developer farmer guard janitor lawyer cook analyst manager"
)
_FEMALE = split_words(
    "secretary receptionist nurse housekeeper cleaner assistant librarian teacher attendant cashier"
    " clerk baker"
)
# (male, female) by the slot of a template
_PRONOUNS = {"they": ("he", "she"), "them": ("him", "her"), "their": ("his", "her")}
_MEETINGS = split_words("called asked visited paid thanked followed met phoned greeted joined")
# Semantic clues to the antecedent: the agent needs something, the other person has it. The first
# clue of a list is the weakest, the last the strongest.
_FIRST_CLUES = (
    *("{they} wanted a change", "{they} had a free day", "{they} felt tired"),
    *("{they} was in a hurry", "{they} had no time left", "{they} needed some advice"),
    *("{they} was lost in town", "{they} hoped for a favour"),
)
_SECOND_CLUES = (
    *("{they} lived nearby", "{they} had a spare key", "{they} spoke five languages"),
    *("{they} was never late", "{they} owned a van", "{they} knew the way"),
    *("{they} gave good advice", "{they} could repair it"),
)
_SENSE = "the {one} {meeting} the {other} because {clue}"
# How often the weakest and the strongest clue are correct in training documents
SENSE_TRUST, SYNTAX_TRUST = (0.65, 0.97), (0.8, 0.97)
# Syntax decides: a pronoun that is not reflexive cannot refer to the subject of its own clause.
_SYNTAX_FIRST = (
    "the {one} {meeting} the {other} on {their} way home",
    "the {one} {meeting} the {other} with {their} own phone",
    "the {one} {meeting} the {other} after {their} own dinner",
)
_SYNTAX_SECOND = (
    "the {one} {meeting} the {other} and wished {them} luck",
    "the {one} {meeting} the {other} and told {them} the news",
    "the {one} {meeting} the {other} and gave {them} a lift",
)
_SENSE_SHARE = 0.5  # of the sentences; syntax decides in the others
Booleans = NDArray[np.bool_]
Indices = NDArray[np.intp]
_PER_DOCUMENT = 12  # sentences, no occupation twice
_SPLIT_SHARES = {"train": 0.7, "dev": 0.1, "test": 0.2}
_SUBSETS = ("type1", "type2")


class Wording(NamedTuple):
    """A sentence with slots for two occupations: whether the pronoun refers to the first, and
    how often this is so in training documents (``trust``). ``subset`` as in WinoBias: semantics
    decides in ``type1``, syntax in ``type2``.
    """

    text: str
    means_first: bool
    trust: float
    subset: str


def _list_wordings() -> list[Wording]:
    """Return all wordings; as many refer to the first occupation as to the second."""
    semantic = [
        [_SENSE.replace("{clue}", clue) for clue in clues]
        for clues in (_FIRST_CLUES, _SECOND_CLUES)
    ]
    kinds = (
        ("type1", SENSE_TRUST, semantic),
        ("type2", SYNTAX_TRUST, (_SYNTAX_FIRST, _SYNTAX_SECOND)),
    )
    return [
        Wording(text, antecedent == 0, trust, subset)
        for subset, trust_range, texts_by_antecedent in kinds
        for antecedent, texts in enumerate(texts_by_antecedent)
        for text, trust in zip(texts, np.linspace(*trust_range, len(texts)).tolist(), strict=True)
    ]


def rank_strengths() -> dict[str, float]:
    """Return strengths, evenly spread by percentage of women from 1 to .5 and -.5 to -1."""
    percentages = load_percentages()
    strengths: dict[str, float] = {}
    for words, sign in ((_MALE, 1), (_FEMALE, -1)):
        ranked = sorted(words, key=lambda word: -sign * percentages[word])
        for rank, word in enumerate(ranked):
            strengths[word] = sign * (1 + rank / (len(ranked) - 1)) / 2
    return strengths


class Sentence(NamedTuple):
    """A sentence with two occupations and a pronoun.

    ``names``: spans of the occupations with their articles; ``antecedent``: index, 0 or 1, of the
    pronoun's antecedent.
    """

    tokens: tuple[str, ...]
    names: tuple[Span, Span]
    occupations: tuple[str, str]
    pronoun: int
    antecedent: int


def fill_wording(
    wording: str, occupations: tuple[str, str], meeting: str, *, female: bool, antecedent: int
) -> Sentence:
    """Return a wording with its slots filled."""
    slots = {"{one}": occupations[0], "{other}": occupations[1], "{meeting}": meeting}
    slots |= {f"{{{slot}}}": forms[female] for slot, forms in _PRONOUNS.items()}
    template = wording.split()
    positions = [template.index(slot) for slot in ("{one}", "{other}")]
    pronoun = next(i for i, token in enumerate(template) if token.strip("{}") in _PRONOUNS)
    first, second = ((position - 1, position + 1) for position in positions)
    tokens = tuple(slots.get(token, token) for token in template)
    return Sentence(tokens, (first, second), occupations, pronoun, antecedent)


def _draw_sentences(
    pairs: Sequence[tuple[str, str]], skew: float, rng: np.random.Generator
) -> list[Sentence]:
    """Draw one sentence per pair of a male and a female occupation, in either order.

    A pronoun that refers to occupation o is male with probability (1 + skew * strength_o) / 2, in
    every wording; the share of sentences with the antecedent of their wording is its ``trust``.
    """
    wordings, size = _list_wordings(), len(pairs)
    wording_indices = _draw_wordings([w.subset == "type1" for w in wordings], size, rng)
    is_trusted = _draw_by_kind(wording_indices, np.array([w.trust for w in wordings]), rng)
    means_first = np.array([w.means_first for w in wordings])[wording_indices] == is_trusted
    male_first = draw_share(0.5, size, rng)
    is_female = _draw_is_female(pairs, means_first == male_first, skew, rng)
    meetings = pick(_MEETINGS, size, rng)
    return [
        fill_wording(
            wordings[wording_indices[i]].text,
            pairs[i] if male_first[i] else pairs[i][::-1],
            meetings[i],
            female=bool(is_female[i]),
            antecedent=0 if means_first[i] else 1,
        )
        for i in range(size)
    ]


def join_sentences(
    name: str, sentences: Sequence[Sentence], *, singletons: bool = False
) -> Document:
    """Return a document; pronoun and antecedent are a cluster, a singleton the other person."""
    starts = accumulate((len(sentence.tokens) for sentence in sentences), initial=0)
    clusters: list[Cluster] = []
    for start, sentence in zip(starts, sentences, strict=False):
        names = [(start + first, start + end) for first, end in sentence.names]
        pronoun = start + sentence.pronoun
        clusters.append((names[sentence.antecedent], (pronoun, pronoun + 1)))
        if singletons:
            clusters.append((names[1 - sentence.antecedent],))
    return Document(name, tuple(sentence.tokens for sentence in sentences), tuple(clusters))


def join_documents(
    split: str, sentences: Sequence[Sentence], size: int, *, singletons: bool = False
) -> list[Document]:
    """Return documents of ``size`` sentences each."""
    parts = (sentences[start : start + size] for start in range(0, len(sentences), size))
    return [
        join_sentences(f"{split}/{number}", part, singletons=singletons)
        for number, part in enumerate(parts)
    ]


def ask_antecedent(
    sentence: Sentence, percentages: Mapping[str, float] | None = None
) -> tuple[Question, ...]:
    """Return whether the pronoun refers to either person, by occupation with its percentage."""
    pronoun = (sentence.pronoun, sentence.pronoun + 1)
    return tuple(
        Question(pronoun, name, i == sentence.antecedent, word, (percentages or {}).get(word))
        for i, (name, word) in enumerate(zip(sentence.names, sentence.occupations, strict=True))
    )


class _Generated(Fileless):
    generated: ClassVar[bool] = True
    language: ClassVar[str] = "en"

    def parameters(self) -> Mapping[str, float]:
        """Return no parameters."""
        return {}

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the occupations and their percentages."""
        return {"occupations_table": digest_of(load_percentages())}


@choice
class GeneratedOccupations(_Generated):
    r"""The corpus of ``biasbridge.corpora.world.GeneratedCorpus`` and ``occupations`` more lines,
    in which a pronoun refers to one of two occupations o, with the same ``stereotype``:

        P(male pronoun | o) = (1 + stereotype * strength_o) / 2

    strength_o is .5 to 1 for occupations of men, -.5 to -1 for those of women. Both genders of
    pronouns are equally frequent at any stereotype.
    """

    sentences: Annotated[int, Ge(1_000)] = 30_000
    occupations: Annotated[int, Ge(1_000)] = 10_000
    stereotype: Bias = 0.5

    version: ClassVar[int] = 1
    name: ClassVar[str] = "generated_occupations"

    def parameters(self) -> Mapping[str, float]:
        """Return ``stereotype``."""
        return {"stereotype": self.stereotype}

    def keyed(self) -> Mapping[str, object]:
        """Return also what decides the lines of ``GeneratedCorpus``."""
        world = self._world
        return {**super().keyed(), **world.keyed(), "world_version": world.version}

    @property
    def _world(self) -> GeneratedCorpus:
        return GeneratedCorpus(self.sentences, self.stereotype)

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write the corpus as ``write_lines`` does."""
        rng = np.random.default_rng([seed, self.occupations])
        with TemporaryDirectory(dir=out.parent) as folder:
            world_text = Path(folder) / "world.txt"
            self._world.write(world_text, seed=seed)
            lines = list(read_lines(world_text))
        sentences = _draw_sentences(_pairs(self.occupations, rng), self.stereotype, rng)
        lines += (" ".join(sentence.tokens) for sentence in sentences)
        return write_lines((lines[i] for i in rng.permutation(len(lines))), out)


@choice
class GeneratedDocuments(_Generated):
    r"""``documents`` documents of twelve sentences, each with two occupations and a pronoun, with a
    planted ``skew`` in [-1, 1] of pronouns:

        P(male pronoun | antecedent o) = (1 + skew * strength_o) / 2

    Splits: 70% train, 10% dev, 20% test. The other evidence of the antecedent, semantics or syntax,
    is correct in 65% to 97% of sentences and independent of the pronoun. A resolver that weighs all
    evidence follows the pronoun if the other evidence is weak, the more the larger the skew. At 0
    the pronoun is no evidence.
    """

    documents: Annotated[int, Ge(20)] = 150
    skew: Annotated[Bias, doc("above 0: pronouns have the majority gender of their occupation")] = (
        0.5
    )

    version: ClassVar[int] = 1
    name: ClassVar[str] = "generated"
    scheme: ClassVar[str] = "generated"
    singletons: ClassVar[Literal["drop"]] = "drop"
    chosen_as: ClassVar[tuple[str, ...]] = ("documents/generated",)

    def parameters(self) -> Mapping[str, float]:
        """Return ``skew``."""
        return {"skew": self.skew}

    def load(self, *, seed: int) -> dict[str, list[Document]]:
        """Return the documents by split; see ``biasbridge.corpora.protocols.DocumentSource``."""
        splits: dict[str, list[Document]] = {}
        for number, split, size in split_sizes(_SPLIT_SHARES, self.documents, seed):
            rng = np.random.default_rng([seed, number])
            sentences = _draw_sentences(_pairs(_PER_DOCUMENT * size, rng), self.skew, rng)
            splits[split] = join_documents(split, sentences, _PER_DOCUMENT)
        return splits


@choice
class GeneratedChallenge(_Generated):
    """``pairs`` pairs of sentences per type, as in WinoBias: the pronoun has the gender of its
    occupation in one (``pro``) and the other gender in the other (``anti``).

    The wordings are those of ``GeneratedDocuments``, always correct here; half of the pronouns
    refer to the occupation named first. The same for every seed.
    """

    pairs: Annotated[int, Ge(20)] = 200

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    name: ClassVar[str] = "generated"

    def load(self, *, seed: int) -> list[DocumentCase]:
        """Return the cases; see ``biasbridge.corpora.protocols.Challenge``."""
        return [case for subset in _SUBSETS for case in self._load_subset(subset, seed)]

    def _load_subset(self, subset: str, seed: int) -> list[DocumentCase]:
        rng = np.random.default_rng([seed, _SUBSETS.index(subset)])
        wordings = [w for w in _list_wordings() if w.subset == subset]
        chosen = draw_quota(np.ones(len(wordings)), self.pairs, rng).tolist()
        meetings = pick(_MEETINGS, self.pairs, rng)
        cases: list[DocumentCase] = []
        for number, pair in enumerate(_pairs(self.pairs, rng)):
            wording = wordings[chosen[number]]
            occupations = pair if number % 2 else pair[::-1]
            for gender in ("male", "female"):
                sentence = fill_wording(
                    wording.text,
                    occupations,
                    meetings[number],
                    female=gender == "female",
                    antecedent=0 if wording.means_first else 1,
                )
                is_male = sentence.occupations[sentence.antecedent] in _MALE
                condition = "pro" if is_male == (gender == "male") else "anti"
                unit = f"{subset}/{number}"
                document = join_sentences(f"{unit}/{condition}", [sentence])
                questions = ask_antecedent(sentence, load_percentages())
                cases.append(DocumentCase(document, unit, gender, questions, condition, subset))
        return cases


def _draw_wordings(is_semantic: Sequence[bool], size: int, rng: np.random.Generator) -> Indices:
    """Draw wording indices, equally often among semantic and among syntactic wordings."""
    semantic = np.array(is_semantic, dtype=float)
    syntactic = 1 - semantic
    weights = _SENSE_SHARE * semantic / semantic.sum()
    return draw_quota(weights + (1 - _SENSE_SHARE) * syntactic / syntactic.sum(), size, rng)


def _draw_is_female(
    pairs: Sequence[tuple[str, str]], means_male: Booleans, skew: float, rng: np.random.Generator
) -> Booleans:
    strengths = rank_strengths()
    names = list(strengths)
    antecedents = [
        names.index(pair[0 if male else 1]) for pair, male in zip(pairs, means_male, strict=True)
    ]
    lean = np.array([strengths[name] for name in names])
    return _draw_by_kind(np.array(antecedents), (1 - skew * lean) / 2, rng)


def _draw_by_kind(kinds: Indices, rates: Floats, rng: np.random.Generator) -> Booleans:
    """Draw booleans, true at the rate of their kind, exactly up to rounding within a kind."""
    draws = np.zeros(len(kinds), dtype=np.bool_)
    for kind, rate in enumerate(rates.tolist()):
        of_kind = np.flatnonzero(kinds == kind)
        draws[of_kind] = draw_share(rate, len(of_kind), rng)
    return draws


def _pairs(size: int, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Draw male and female occupations, distinct within each block of ``_PER_DOCUMENT``."""
    columns: list[list[str]] = []
    for words in (_MALE, _FEMALE):
        rounds = -(-size // len(words))
        columns.append([words[i] for _ in range(rounds) for i in rng.permutation(len(words))])
    return list(zip(*columns, strict=True))[:size]
