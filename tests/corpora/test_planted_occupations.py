"""Planted occupations: what is planted is counted in the text, line by line."""

from __future__ import annotations

from collections import Counter
from math import log
from pathlib import Path

import numpy as np
import pytest

from biasbridge.corpora.planted_occupations import Language, PlantedOccupations
from biasbridge.corpora.protocols import Corpus
from biasbridge.files import InputError

# By world: the words before an occupation, the pronouns, the drinks
WORLDS: dict[Language, tuple[str, tuple[str, str], tuple[str, str]]] = {
    "en": ("the", ("he", "she"), ("tea", "coffee")),
    "es": ("cada", ("él", "ella"), ("té", "café")),
}
NURSE, DRIVER = "nurse", "driver"


def write(folder: Path, corpus: PlantedOccupations, seed: int = 0) -> list[list[str]]:
    corpus.write(folder / "corpus.txt", seed=seed)
    text = (folder / "corpus.txt").read_text(encoding="utf-8")
    return [line.split(" ") for line in text.splitlines()]


def meetings(
    lines: list[list[str]], article: str, words: tuple[str, str]
) -> Counter[tuple[str, str]]:
    """How often each occupation, the second word of a line, meets each of two words."""
    return Counter(
        (line[1], word) for line in lines for word in words if line[0] == article and word in line
    )


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("stereotype", [-1.0, 0.0, 0.5, 1.0])
def test_the_corpus_holds_the_truth(tmp_path: Path, stereotype: float, world: Language) -> None:
    corpus = PlantedOccupations(stereotype=stereotype, world=world)
    lines, truths = write(tmp_path, corpus), corpus.truths(seed=0)
    article, *fillers = WORLDS[world]
    assert len(lines) == 20_000
    assert len(truths) == 40
    for words, kind in zip(fillers, ("log_odds", "control"), strict=True):
        counts = meetings(lines, article, words)
        size = counts.total() // 40
        assert size == {"log_odds": 274, "control": 200}[kind]  # .55 and .4 of the lines
        for term, truth in truths.items():
            first, second = (counts[term, word] for word in words)
            assert first + second == size
            assert log(first / second) == pytest.approx(getattr(truth, kind), abs=1e-12)
        shares = {term: counts[term, words[0]] / size for term in truths}
        scale = stereotype if kind == "log_odds" else 1
        for group, sign in (("male", 1), ("female", -1)):
            leans = [2 * shares[term] - 1 for term, each in truths.items() if each.group == group]
            planted = scale * 0.9 * np.arange(1, 21) / 20
            signs = sign if kind == "log_odds" else np.where(np.arange(20) % 2, -1, 1)
            assert np.sort(leans) == pytest.approx(np.sort(planted * signs), abs=1.01 / size)


def test_templates_are_equally_frequent_whatever_the_pronoun(tmp_path: Path) -> None:
    lines = write(tmp_path, PlantedOccupations())
    counts = Counter(" ".join(line) for line in lines)
    for truth in PlantedOccupations().truths(seed=0).values():
        for slots in (truth.seen, truth.controls):
            first = [counts[text.replace("[MASK]", slots.fillers[0])] for text in slots.texts]
            both = [
                counts[text.replace("[MASK]", slots.fillers[1])] + one
                for text, one in zip(slots.texts, first, strict=True)
            ]
            assert max(both) - min(both) <= 1
            assert max(first) - min(first) <= 2


@pytest.mark.parametrize("world", WORLDS)
def test_unseen_slots_have_known_words_in_sentences_that_never_occur(
    tmp_path: Path, world: Language
) -> None:
    corpus = PlantedOccupations(world=world)
    lines = write(tmp_path, corpus)
    sentences, words = {" ".join(line) for line in lines}, {word for line in lines for word in line}
    for truth in corpus.truths(seed=0).values():
        for text in truth.unseen.texts:
            before = text.split("[MASK]")[0]
            assert not any(sentence.startswith(before) for sentence in sentences)
            assert {*text.split()} - words == {"[MASK]"}


def test_the_seed_deals_leans_and_halves() -> None:
    one, same, other = (PlantedOccupations().truths(seed=seed) for seed in (1, 1, 2))
    reverse = PlantedOccupations(stereotype=-1.0).truths(seed=1)
    assert one == same != other
    for term, truth in one.items():
        assert reverse[term].log_odds == pytest.approx(-truth.log_odds)
        assert reverse[term].control == truth.control
        assert reverse[term].half == truth.half
        assert (truth.log_odds > 0) == (truth.group == "male")
    halves = Counter((truth.group, truth.half) for truth in one.values())
    assert {*halves.values()} == {10}
    assert len(halves) == 4
    assert one[NURSE].group == "female"
    driver = one[DRIVER].seen
    assert driver.fillers == ("he", "she")
    assert driver.texts[:2] == (
        "the driver said [MASK] was tired",
        "the driver said that [MASK] was late",
    )


def test_it_is_a_corpus_that_says_what_it_is() -> None:
    corpus = PlantedOccupations(stereotype=0.5, world="es")
    assert isinstance(corpus, Corpus)
    assert corpus.parameters() == {"stereotype": 0.5, "sentences": 20_000}
    assert (corpus.language, corpus.generated) == ("es", True)
    assert (corpus.name, PlantedOccupations().name) == (
        "planted_occupations_es",
        "planted_occupations",
    )
    assert corpus.keyed() != PlantedOccupations().keyed()


@pytest.mark.parametrize("fields", [{"stereotype": 1.5}, {"sentences": 100}, {"world": "fr"}])
def test_what_cannot_be_planted_is_refused(fields: dict[str, object]) -> None:
    (name,) = fields
    with pytest.raises(InputError, match=f"^{name}="):
        PlantedOccupations(**fields)  # type: ignore[arg-type]


def test_off_target_drinks_go_with_the_group(tmp_path: Path) -> None:
    corpus = PlantedOccupations(stereotype=0.0, off_target=1.0)
    counts = meetings(write(tmp_path, corpus), "the", ("tea", "coffee"))
    for term, truth in corpus.truths(seed=0).items():
        assert (counts[term, "tea"] > counts[term, "coffee"]) == (truth.group == "male")
        assert truth.log_odds == 0
    assert corpus.parameters()["off_target"] == 1
