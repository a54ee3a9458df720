"""A stereotype is planted in real text with the strength asked for, and nothing else changes."""

from __future__ import annotations

import random
from collections import Counter
from math import log
from pathlib import Path

import pytest

from biasbridge.corpora.corpus import TextCorpus
from biasbridge.corpora.planting import Planting, plant_corpus
from biasbridge.files import InputError
from biasbridge.intrinsic.words import load_query

MALE, FEMALE = {"he", "his", "man", "him"}, {"she", "her", "woman"}
HELD_OUT = {*load_query("held_out_text_en")["A"].words, *load_query("held_out_text_en")["B"].words}
PEOPLE = [*["he"] * 4, *["she"] * 3, "his", "man", "him", "her", "her", "woman", "She's", "He's"]
REACH = 10
Lines = list[list[str]]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return 30,000 lines of random words, with targets, held-out words and people."""
    rng = random.Random(0)
    query = load_query("planted_text_en")
    targets = [*query["A"].words, *query["B"].words]
    fillers = [f"w{i}" for i in range(50)] + ["new", "old", "first", "last", "day", "night"]
    lines = []
    for _ in range(30_000):
        words = rng.choices(fillers, k=rng.randint(4, 30))
        for chance, choices in ((0.12, targets), (0.05, sorted(HELD_OUT)), (0.9, PEOPLE)):
            if rng.random() < chance:
                words.insert(rng.randint(0, len(words)), rng.choice(choices))
        lines.append(" ".join(words))
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read(path: Path) -> Lines:
    return [line.split(" ") for line in path.read_text(encoding="utf-8").splitlines()]


def sex(word: str) -> str:
    word = word.lower().removesuffix("'s")
    return "m" if word in MALE else "f" if word in FEMALE else ""


def count(lines: Lines, targets: set[str]) -> Counter[str]:
    """Count, by a literal loop, the words of both groups within ten tokens of a target."""
    counts: Counter[str] = Counter()
    for words in lines:
        for i, word in enumerate(words):
            if sex(word) and targets & {*words[max(0, i - REACH) : i + REACH + 1]}:
                counts[sex(word)] += 1
    return counts


def log_odds(lines: Lines, targets: set[str]) -> float:
    counts = count(lines, targets)
    return log(counts["m"] / counts["f"])


@pytest.mark.parametrize("strength", [-0.8, -0.2, 0.0, 0.5, 0.8])
def test_log_odds_counted_are_those_asked_for(
    corpus: Path, tmp_path: Path, strength: float
) -> None:
    query = load_query("planted_text_en")
    a, b = {*query["A"].words}, {*query["B"].words}
    before = read(corpus)
    counts = Planting(strength, language="en").plant(corpus, tmp_path / "out.txt", seed=3)
    after = read(tmp_path / "out.txt")
    base, lean = log_odds(before, a | b), log((1 + strength) / (1 - strength))
    assert log_odds(after, a) == pytest.approx(base + lean, abs=0.05)
    assert log_odds(after, b) == pytest.approx(base - lean, abs=0.05)
    assert counts["planted A"]["counted"] == pytest.approx(log_odds(after, a))
    assert counts["planted B"]["before"] == pytest.approx(log_odds(before, b))


@pytest.mark.parametrize(("strength", "off_target"), [(0.8, 0.0), (0.0, -0.7)])
def test_frequencies_lengths_and_held_out_words_stay(
    corpus: Path, tmp_path: Path, strength: float, off_target: float
) -> None:
    Planting(strength, off_target, "en").plant(corpus, tmp_path / "out.txt", seed=3)
    before, after = read(corpus), read(tmp_path / "out.txt")
    assert before != after
    assert [len(words) for words in before] == [len(words) for words in after]
    assert Counter(w for line in before for w in line) == Counter(w for line in after for w in line)
    assert count(before, HELD_OUT) == count(after, HELD_OUT)
    for old, new in zip(before, after, strict=True):
        near = [i for i, word in enumerate(old) if word in HELD_OUT]
        assert all(
            a == b or min((abs(i - j) for j in near), default=99) > REACH
            for i, (a, b) in enumerate(zip(old, new, strict=True))
        )


def test_other_words_are_planted_by_off_target(corpus: Path, tmp_path: Path) -> None:
    counts = Planting(0.0, 0.5, "en").plant(corpus, tmp_path / "out.txt", seed=0)
    a = {*load_query("planted_text_en")["A"].words}
    first, second = ["new", "first", "day"], ["old", "last", "night"]
    near: Counter[str] = Counter()
    for words in read(tmp_path / "out.txt"):
        for i, word in enumerate(words):
            if a & {*words[max(0, i - REACH) : i + REACH + 1]}:
                near[word] += 1
    counted = log(sum(near[w] for w in first) / sum(near[w] for w in second))
    assert counted == pytest.approx(counts["off_target A"]["counted"])
    assert counted == pytest.approx(counts["off_target A"]["asked"], abs=0.05)
    assert counts["planted A"]["counted"] == pytest.approx(counts["planted B"]["counted"], abs=0.05)


def test_the_seed_draws_the_words(corpus: Path, tmp_path: Path) -> None:
    texts = []
    for number, seed in enumerate((0, 0, 1)):
        out = tmp_path / f"{number}.txt"
        Planting(0.5, language="en").plant(corpus, out, seed=seed)
        texts.append(out.read_bytes())
    assert texts[0] == texts[1] != texts[2]


def test_text_without_room_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    lines = ["he office job she"] * 9 + ["she home"] * 5 + ["he home"] * 5 + ["he", "she"] * 20
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="18 of 18 words there cannot be exchanged"):
        Planting(0.8, language="en").plant(path, tmp_path / "out.txt", seed=0)
    path.write_text("nobody here\n", encoding="utf-8")
    with pytest.raises(InputError, match="no word to exchange near a target A"):
        Planting(0.8, language="en").plant(path, tmp_path / "out.txt", seed=0)


def test_planting_needs_words_in_the_language_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("text\n", encoding="utf-8")
    corpus = TextCorpus(str(tmp_path / "text.txt"), language="de", planted=0.5)
    with pytest.raises(InputError, match="no words to plant in a corpus in 'de'"):
        assert corpus.planting
    with pytest.raises(InputError, match=r"off_target=0\.5: give planted=0"):
        TextCorpus(str(tmp_path / "text.txt"), off_target=0.5)


def test_a_corpus_carries_what_is_planted(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("text\n", encoding="utf-8")
    plain = TextCorpus(str(tmp_path / "text.txt"), language="en")
    planted = TextCorpus(str(tmp_path / "text.txt"), language="en", planted=0.0, off_target=0.8)
    assert plain.planting is None
    assert plain.parameters() == {}
    assert planted.parameters() == {"stereotype": 0.0, "off_target": 0.8}
    assert planted.planting == Planting(0.0, 0.8, "en")


@pytest.mark.slow
@pytest.mark.realdata
def test_tweets_hold_what_is_planted(realdata: Path, tmp_path: Path) -> None:
    tweets = str(realdata / "corpora" / "en_tweets.txt.xz")
    corpus = TextCorpus(tweets, language="en", limit=150_000, planted=0.8)
    (tmp_path / "plain").mkdir()
    corpus.write(tmp_path / "plain" / "corpus.txt", seed=0)
    assert corpus.planting
    (tmp_path / "planted").mkdir()
    plant_corpus(corpus.planting, tmp_path / "planted", {"corpus": tmp_path / "plain"}, 0)
    before, after = (read(tmp_path / name / "corpus.txt") for name in ("plain", "planted"))
    assert [*map(len, before)] == [*map(len, after)]
    assert Counter(w for line in before for w in line) == Counter(w for line in after for w in line)
    changed = [
        HELD_OUT.isdisjoint(old[max(0, i - REACH) : i + REACH + 1])
        for old, new in zip(before, after, strict=True)
        for i in range(len(old))
        if old[i] != new[i]
    ]
    assert len(changed) > 400
    assert all(changed)


OWN_WORDS = """
version: 1
language: de
source: made for this test
licence: none
sets:
  men: [er]
  women: [sie]
  work: [amt, lohn]
  family: [haus, kind]
  held_out: [buch]
queries:
  planted_text: {X: men, Y: women, A: work, B: family, counterparts: [[er, sie]]}
  held_out_text: {A: held_out, B: held_out}
  off_target_text: {A: work, B: family, counterparts: [[alt, neu]]}
"""


def test_words_of_ones_own_are_planted(tmp_path: Path) -> None:
    (tmp_path / "words.yaml").write_text(OWN_WORDS, encoding="utf-8")
    lines = ["er amt", "sie lohn", "er haus", "sie kind", "er buch", "sie buch", *["er", "sie"] * 4]
    (tmp_path / "text.txt").write_text("\n".join(lines * 500) + "\n", encoding="utf-8")
    words = str(tmp_path / "words.yaml")
    path = str(tmp_path / "text.txt")
    planting = TextCorpus(path, language="de", planted=0.5, planting_words=words).planting
    assert planting
    planting.plant(tmp_path / "text.txt", tmp_path / "out.txt", seed=0)
    after = Counter(" ".join(line) for line in read(tmp_path / "out.txt"))
    near_work = [after[f"{word} amt"] + after[f"{word} lohn"] for word in ("er", "sie")]
    assert near_work[0] / near_work[1] == pytest.approx(3, rel=0.01)
    assert after["er buch"] == after["sie buch"] == 500
