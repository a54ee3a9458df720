r"""The synthetic world of coreference: documents with a planted skew of pronouns, a challenge set,
and a corpus with their words. Never evidence about the real world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, doc

from biasbridge.corpora import occupation_sentences as grammar
from biasbridge.corpora.draws import apportion, draw_quota, pick
from biasbridge.corpora.occupation_sentences import Sentence, draw_sentences, fill_wording
from biasbridge.corpora.people import load_percentages
from biasbridge.corpora.world import Bias, GeneratedCorpus
from biasbridge.files import atomic_path, choice, read_lines
from biasbridge.files.choice import Fileless
from biasbridge.files.digest import digest_of
from biasbridge.files.documents import Case, Document, Question

PER_DOCUMENT = 12  # sentences, no occupation twice
SPLIT_SHARES = {"train": 0.7, "dev": 0.1, "test": 0.2}
SUBSETS = ("type1", "type2")
PRONOUN_GENDERS = ("male", "female")


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
        """Write the corpus; counts: lines, tokens, types, unknown (0), dropped (0)."""
        rng = np.random.default_rng([seed, self.occupations])
        with TemporaryDirectory(dir=out.parent) as folder:
            world_text = Path(folder) / "world.txt"
            self._world.write(world_text, seed=seed)
            lines = list(read_lines(world_text))
        sentences = draw_sentences(_pairs(self.occupations, rng), self.stereotype, rng)
        lines += (" ".join(sentence.tokens) for sentence in sentences)
        with atomic_path(out) as work, open(work, "w", encoding="utf-8", newline="\n") as text:
            text.writelines(f"{lines[i]}\n" for i in rng.permutation(len(lines)))
        tokens = [token for line in lines for token in line.split(" ")]
        counts = {"lines": len(lines), "tokens": len(tokens), "types": len({*tokens})}
        return counts | {"unknown": 0, "dropped": 0}


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
    skew: Annotated[
        Bias, doc("in [-1, 1]; positive: pronouns have the majority gender of their occupation")
    ] = 0.5

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
        sizes = apportion([*SPLIT_SHARES.values()], self.documents, np.random.default_rng(seed))
        splits: dict[str, list[Document]] = {}
        for number, (split, size) in enumerate(zip(SPLIT_SHARES, sizes.tolist(), strict=True)):
            rng = np.random.default_rng([seed, number])
            sentences = draw_sentences(_pairs(PER_DOCUMENT * size, rng), self.skew, rng)
            splits[split] = [
                _document(f"{split}/{i}", sentences[PER_DOCUMENT * i :][:PER_DOCUMENT])
                for i in range(size)
            ]
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

    def load(self, *, seed: int) -> list[Case]:
        """Return the cases; see ``biasbridge.corpora.protocols.Challenge``."""
        return [case for subset in SUBSETS for case in self._load_subset(subset, seed)]

    def _load_subset(self, subset: str, seed: int) -> list[Case]:
        rng = np.random.default_rng([seed, SUBSETS.index(subset)])
        wordings = [w for w in grammar.list_wordings() if w.subset == subset]
        chosen = draw_quota(np.ones(len(wordings)), self.pairs, rng).tolist()
        meetings = pick(grammar.MEETINGS, self.pairs, rng)
        cases: list[Case] = []
        for number, pair in enumerate(_pairs(self.pairs, rng)):
            wording = wordings[chosen[number]]
            occupations = pair if number % 2 else pair[::-1]
            cases += (
                _case(
                    fill_wording(
                        wording.text,
                        occupations,
                        meetings[number],
                        female=gender == "female",
                        antecedent=0 if wording.means_first else 1,
                    ),
                    f"{subset}/{number}",
                    gender,
                    subset,
                )
                for gender in PRONOUN_GENDERS
            )
        return cases


def _pairs(size: int, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Draw male and female occupations, distinct within each block of ``PER_DOCUMENT``."""
    columns: list[list[str]] = []
    for words in (grammar.MALE, grammar.FEMALE):
        rounds = -(-size // len(words))
        columns.append([words[i] for _ in range(rounds) for i in rng.permutation(len(words))])
    return list(zip(*columns, strict=True))[:size]


def _document(name: str, sentences: Sequence[Sentence]) -> Document:
    starts = accumulate((len(sentence.tokens) for sentence in sentences), initial=0)
    clusters = []
    for start, sentence in zip(starts, sentences, strict=False):
        first, end = sentence.names[sentence.antecedent]
        pronoun = start + sentence.pronoun
        clusters.append(((start + first, start + end), (pronoun, pronoun + 1)))
    return Document(name, tuple(sentence.tokens for sentence in sentences), tuple(clusters))


def _case(sentence: Sentence, unit: str, gender: str, subset: str) -> Case:
    percentages = load_percentages()
    pronoun = (sentence.pronoun, sentence.pronoun + 1)
    names = zip(sentence.names, sentence.occupations, strict=True)
    questions = tuple(
        Question(pronoun, name, i == sentence.antecedent, occupation, percentages[occupation])
        for i, (name, occupation) in enumerate(names)
    )
    is_male = sentence.occupations[sentence.antecedent] in grammar.MALE
    condition = "pro" if is_male == (gender == "male") else "anti"
    document = _document(f"{unit}/{condition}", [sentence])
    return Case(document, unit, gender, questions, condition, subset)
