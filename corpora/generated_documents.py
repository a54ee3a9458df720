r"""The synthetic world of coreference: documents with a planted skew of pronouns, a challenge set,
and a corpus that knows their words. Never evidence about the real world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from corpora import occupation_sentences as grammar
from corpora.draws import apportion, draw_quota, pick
from corpora.occupation_sentences import Sentence, draw_sentences, fill_wording
from corpora.people import load_percentages
from corpora.world import Bias, GeneratedCorpus
from files import atomic_path, choice, read_lines
from files.choice import Fileless
from files.documents import Case, Document, Question

PER_DOCUMENT = 12  # sentences, no occupation twice
SPLIT_SHARES = {"train": 0.7, "dev": 0.1, "test": 0.2}
SUBSETS = ("type1", "type2")
PRONOUN_GENDERS = ("male", "female")


class _Generated(Fileless):
    generated: ClassVar[bool] = True
    language: ClassVar[str] = "en"

    def planted(self) -> Mapping[str, float]:
        """Nothing, but where a class says otherwise."""
        return {}


@choice
class GeneratedOccupations(_Generated):
    r"""The corpus of ``corpora.world.GeneratedCorpus`` and ``occupations`` further lines, in which
    a pronoun means one of two occupations o, with the same ``stereotype``:

        P(male pronoun | o) = (1 + stereotype * strength_o) / 2

    strength_o from .5 to 1 for occupations of men, the negative for those of women. Pronouns of
    either gender are equally frequent at any stereotype.
    """

    sentences: Annotated[int, Ge(1_000)] = 30_000
    occupations: Annotated[int, Ge(1_000)] = 10_000
    stereotype: Bias = 0.5

    version: ClassVar[int] = 1
    name: ClassVar[str] = "generated_occupations"

    def planted(self) -> Mapping[str, float]:
        """``stereotype``."""
        return {"stereotype": self.stereotype}

    def write(self, out: Path, *, seed: int) -> dict[str, int]:
        """Write the corpus; its counts: lines, tokens, types, unknown (0), dropped (0)."""
        rng = np.random.default_rng([seed, self.occupations])
        with TemporaryDirectory(dir=out.parent) as folder:
            world = Path(folder) / "world.txt"
            GeneratedCorpus(self.sentences, self.stereotype).write(world, seed=seed)
            lines = list(read_lines(world))
        drawn = draw_sentences(_pairs(self.occupations, rng), self.stereotype, rng)
        lines += (" ".join(sentence.tokens) for sentence in drawn)
        with atomic_path(out) as work, open(work, "w", encoding="utf-8", newline="\n") as text:
            text.writelines(f"{lines[i]}\n" for i in rng.permutation(len(lines)))
        words = [token for line in lines for token in line.split(" ")]
        counts = {"lines": len(lines), "tokens": len(words), "types": len({*words})}
        return counts | {"unknown": 0, "dropped": 0}


@choice
class GeneratedDocuments(_Generated):
    r"""``documents`` documents of twelve sentences with two occupations and a pronoun each, with a
    planted ``skew`` in [-1, 1] of pronouns:

        P(male pronoun | it means o) = (1 + skew * strength_o) / 2

    Splits: 70% train, 10% dev, 20% test. The other evidence of which occupation is meant, sense or
    syntax, can be trusted by 65% to 97%, and is independent of the pronoun: a resolver that weighs
    all evidence follows the pronoun where the rest is weak, the more the larger the skew. At 0 the
    pronoun is no evidence.
    """

    documents: Annotated[int, Ge(20)] = 150
    skew: Bias = 0.5

    version: ClassVar[int] = 1
    name: ClassVar[str] = "generated"
    scheme: ClassVar[str] = "generated"
    singletons: ClassVar[Literal["drop"]] = "drop"

    def planted(self) -> Mapping[str, float]:
        """``skew``."""
        return {"skew": self.skew}

    def load(self, *, seed: int) -> dict[str, list[Document]]:
        """The documents by split; see ``corpora.kinds.DocumentSource``."""
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
    """``pairs`` pairs of sentences of either type, as WinoBias has them: in one the pronoun has the
    gender of the occupation it means (``pro``), in the other not (``anti``).

    The wordings are those of ``GeneratedDocuments``, all of them right here; half of the pronouns
    mean the occupation named first. Nothing depends on a seed.
    """

    pairs: Annotated[int, Ge(20)] = 200

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    name: ClassVar[str] = "generated"

    def load(self, *, seed: int) -> list[Case]:
        """The cases; see ``corpora.kinds.Challenge``."""
        return [case for subset in SUBSETS for case in self._of_subset(subset, seed)]

    def _of_subset(self, subset: str, seed: int) -> list[Case]:
        rng = np.random.default_rng([seed, SUBSETS.index(subset)])
        wordings = [each for each in grammar.list_wordings() if each.subset == subset]
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
                        meant=0 if wording.first else 1,
                    ),
                    f"{subset}/{number}",
                    gender,
                    subset,
                )
                for gender in PRONOUN_GENDERS
            )
        return cases


def _pairs(size: int, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Male and female occupations; none twice within ``PER_DOCUMENT`` pairs that begin at a
    multiple of it.
    """
    columns: list[list[str]] = []
    for words in (grammar.MALE, grammar.FEMALE):
        rounds = -(-size // len(words))
        columns.append([words[i] for _ in range(rounds) for i in rng.permutation(len(words))])
    return list(zip(*columns, strict=True))[:size]


def _document(name: str, sentences: Sequence[Sentence]) -> Document:
    starts = accumulate((len(sentence.tokens) for sentence in sentences), initial=0)
    clusters = []
    for start, sentence in zip(starts, sentences, strict=False):
        first, end = sentence.names[sentence.meant]
        pronoun = start + sentence.pronoun
        clusters.append(((start + first, start + end), (pronoun, pronoun + 1)))
    return Document(name, tuple(sentence.tokens for sentence in sentences), tuple(clusters))


def _case(sentence: Sentence, unit: str, gender: str, subset: str) -> Case:
    known = load_percentages()
    asked = (sentence.pronoun, sentence.pronoun + 1)
    questions = tuple(
        Question(asked, name, place == sentence.meant, occupation, known[occupation])
        for place, (name, occupation) in enumerate(
            zip(sentence.names, sentence.occupations, strict=True)
        )
    )
    of_men = sentence.occupations[sentence.meant] in grammar.MALE
    condition = "pro" if of_men == (gender == "male") else "anti"
    document = _document(f"{unit}/{condition}", [sentence])
    return Case(document, unit, gender, questions, condition, subset)
