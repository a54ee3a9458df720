"""Counterfactual data augmentation: sentences by hand, a literal reading of its rule, what a dose
promises, and what it leaves of a bias that is planted.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Mapping
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasbridge.corpora.planted_occupations import Language, PlantedOccupations
from biasbridge.corpora.recount import recount_truths
from biasbridge.corpora.truths import PlantedTerm, read_truths, write_truths
from biasbridge.debias.cda import CounterfactualAugmentation
from biasbridge.files import InputError
from biasbridge.files.choice import Fileless, choice
from biasbridge.files.models.language_model import open_model
from biasbridge.intrinsic.wordsets import Query, WordSet, load_query
from biasbridge.intrinsic.wordsets.counterparts import stands_alone
from biasbridge.train.subjects.language_model import train_model
from biasbridge.train.subjects.planted_probe import fits
from biasbridge.train.subjects.tiny_model import Architecture, TinyModel

if TYPE_CHECKING:
    from biasbridge.train.subjects.models import TrainedModel

ENGLISH = load_query("gender_union")


def pairs(*both: tuple[str, str], name: str = "mine") -> Query:
    words = tuple(word for pair in both for word in pair)
    counterparts = WordSet(f"{name}.counterparts", words, "en", "made up", width=2)
    return Query(name, {"counterparts": counterparts}, "en")


PLAIN = pairs(("he", "she"), ("man", "woman"), ("Mary", "John"), ("sir", "madam"), ("sir", "miss"))


def run(
    folder: Path, text: str, query: Query = ENGLISH, dose: float = 1.0, seed: int = 0
) -> tuple[str, dict[str, int]]:
    corpus, out = folder / "corpus.txt", folder / "out.txt"
    corpus.write_bytes(text.encode())
    counts = CounterfactualAugmentation(dose).augment(corpus, out, query, seed=seed)
    return out.read_bytes().decode(), counts


def counterfactual(folder: Path, line: str, query: Query = ENGLISH) -> str:
    first, second = run(folder, f"{line}\n", query)[0].splitlines()
    assert first == line
    return second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the carpenter said he was tired", "the carpenter said she was tired"),
        ("his brother saw her .", "her sister saw him ."),
        ("she gave her father her book", "he gave his mother his book"),
        ("they told her that he was late", "they told him that she was late"),
        ("we went with her to his uncle", "we went with him to her aunt"),
        ("I know her", "I know him"),
        ("the book is his , not hers", "the book is hers , not his"),
        ("a friend of his in town", "a friend of hers in town"),
        ("Her wife left him yesterday", "His husband left her yesterday"),
        ("HE LOVES HER MOTHER", "SHE LOVES HIS FATHER"),
        ("She's sure he'll see the man's car", "He's sure she'll see the woman's car"),
        ("SHE’S here and he’d go", "HE’S here and she’d go"),
        ("kings and queens and Grandsons", "queens and kings and Granddaughters"),
    ],
)
def test_sentences_by_hand_there_and_back(tmp_path: Path, one: str, other: str) -> None:
    assert counterfactual(tmp_path, one) == other
    assert counterfactual(tmp_path, other) == one


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("she gave her money", "he gave his money"),
        ("we saw her leave", "we saw his leave"),
        ("a friend of his called", "a friend of her called"),
        ("her once famous name", "him once famous name"),
        ("her and his friends", "him and her friends"),
    ],
)
def test_what_one_word_ahead_cannot_decide(tmp_path: Path, line: str, wrong: str) -> None:
    assert counterfactual(tmp_path, line) == wrong


def test_her_and_his_have_the_partners_that_the_query_gives(tmp_path: Path) -> None:
    assert counterfactual(tmp_path, "her . his .", pairs(("her", "his"))) == "his . her ."
    assert counterfactual(tmp_path, "her cat .", pairs(("him", "her"))) == "him cat ."


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("Él dijo a su hijo que ella vino", "Ella dijo a su hija que él vino"),
        ("ÉL y los niños", "ELLA y los niñas"),  # what agrees with the words stays
    ],
)
def test_spanish(tmp_path: Path, line: str, other: str) -> None:
    assert counterfactual(tmp_path, line, load_query("gender_union_es")) == other


def test_case_white_space_and_counts(tmp_path: Path) -> None:
    text = "  he \t she\u2028she\r\n\nMary met MARY\nsHe and Woman\nman-made\nmiss sir"
    got, counts = run(tmp_path, text, PLAIN)
    assert got == (
        "  he \t she\u2028she\r\n  she \t she\u2028she\r\n\nMary met MARY\nJohn met JOHN\n"
        "sHe and Woman\nsHe and Man\nman-made\nmiss sir\nsir madam"
    )
    assert counts == {
        "lines": 6,
        "with_words": 4,
        "added": 4,
        "exchanged": 6,
        "by_next_word": 0,
        "other_case": 1,
    }
    assert run(tmp_path, "her her cat\n")[1]["by_next_word"] == 2


tokens = st.sampled_from(["he", "She", "MAN", "woman", "cat", "sHe", "hers", "madam", "Miss"])
corpora = st.lists(st.lists(tokens, max_size=5).map(" ".join), min_size=1, max_size=40)
SWAPPED = {"he": "she", "She": "He", "MAN": "WOMAN", "woman": "man", "madam": "sir", "Miss": "Sir"}


@given(corpora, st.lists(st.floats(0, 1), min_size=2, max_size=3), st.integers(0, 99))
@settings(deadline=None)
def test_doses_are_nested_and_no_line_is_lost(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], doses: list[float], seed: int
) -> None:
    folder = tmp_path_factory.mktemp("d")
    lines = [f"{number} {line}" for number, line in enumerate([*lines, "he"])]
    other = {
        line: " ".join(SWAPPED.get(word, word) for word in line.split(" "))
        for line in lines
        if not SWAPPED.keys().isdisjoint(line.split(" "))
    }
    added_before: set[int] = set()
    for dose in sorted(doses):
        text, counts = run(folder, "".join(f"{line}\n" for line in lines), PLAIN, dose, seed)
        got, added = text.split("\n")[:-1], set()
        for number, line in enumerate(lines):
            assert got.pop(0) == line
            if got and line in other and got[0] == other[line]:
                got.pop(0)
                added.add(number)
        assert not got
        assert counts["lines"] == len(lines)
        assert counts["with_words"] == len(other)
        assert counts["added"] == len(added) == round(dose * len(other))
        assert added_before <= added
        added_before = added


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    text = "".join(f"he {number}\n" for number in range(200))
    first, again, another = (run(tmp_path, text, PLAIN, 0.5, seed)[0] for seed in (1, 1, 2))
    assert first == again != another


def test_dose_0_gives_the_same_bytes_and_an_archive_is_read(tmp_path: Path) -> None:
    text = "he office\r\n\n  she  home\tniño\u2028\nhe home"
    assert run(tmp_path, text, PLAIN, 0.0)[0] == text
    packed, out = tmp_path / "corpus.txt.gz", tmp_path / "plain.txt"
    packed.write_bytes(gzip.compress(b"he sat\n"))
    CounterfactualAugmentation().augment(packed, out, PLAIN, seed=0)
    assert out.read_text() == "he sat\nshe sat\n"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (PLAIN, r"no word of the counterparts of the query 'mine' \(he, she, man, .*language"),
        (pairs(("he", "she"), ("police man", "policewoman")), "'police man'; every .* one word"),
        (load_query("weat7"), "'weat7' has no counterparts"),
    ],
)
def test_what_cannot_be_augmented_is_one_line_and_nothing_is_written(
    tmp_path: Path, query: Query, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        run(tmp_path, "él y ella sHe\n", query)
    assert [each.name for each in tmp_path.iterdir()] == ["corpus.txt"]


@pytest.mark.parametrize("name", ["gender_union", "gender_union_es"])
def test_built_in_pairs_are_in_lower_case_and_no_word_is_on_both_sides(name: str) -> None:
    query = load_query(name)
    male, female = ({*side} for side in zip(*query["counterparts"].items, strict=True))
    assert not male & female
    assert query["counterparts"].lowered() == query["counterparts"]
    assert query.swapped()["counterparts"] == query["counterparts"]


@choice
class Untrained(Fileless):
    """A model that learns nothing."""

    version: ClassVar[int] = 1
    name: ClassVar[str] = "untrained"

    def train(
        self, corpus: Path, out: Path, *, seed: int, truths: Mapping[str, PlantedTerm] | None
    ) -> dict[str, object]:
        out.mkdir()
        return {}


UNTRAINED = Untrained()


def augmented(
    folder: Path, world: Language, dose: float, model: TrainedModel = UNTRAINED
) -> dict[str, PlantedTerm]:
    """What ``planted.json`` of a model says that is trained on an augmented corpus."""
    corpus = PlantedOccupations(stereotype=1.0, world=world)
    original, changed, out = (folder / name for name in ("original", "changed", "out"))
    for each in (original, changed, out):
        each.mkdir()
    corpus.write(original / "corpus.txt", seed=0)
    write_truths(corpus.truths(seed=0), original / "planted.json")
    query = load_query("gender_union" if world == "en" else "gender_union_es")
    method = CounterfactualAugmentation(dose)
    method.augment(original / "corpus.txt", changed / "corpus.txt", query, seed=0)
    train_model(model, out, {"corpus": changed, "original": original}, 0)
    return read_truths(out / "model" / "planted.json")


@pytest.mark.parametrize("world", ["en", "es"])
def test_with_dose_1_nothing_is_left_of_what_is_planted(tmp_path: Path, world: Language) -> None:
    before = PlantedOccupations(stereotype=1.0, world=world).truths(seed=0)
    for term, after in augmented(tmp_path, world, 1.0).items():
        assert after.log_odds == 0
        assert after.original == before[term].log_odds != 0
        assert after.control == before[term].control


def test_what_a_dose_leaves_of_what_is_planted(tmp_path: Path) -> None:
    """Of o lines with the first pronoun and n in all, (o + d (n - o)) / (n + d n) in expectation;
    exactly what is counted in the text.
    """
    dose = 0.5
    found = augmented(tmp_path, "en", dose)
    lines = (tmp_path / "changed" / "corpus.txt").read_text().splitlines()
    counts = Counter((line.split()[1], word) for line in lines for word in line.split()[2:])
    off = []
    for term, each in found.items():
        he, she = counts[term, "he"], counts[term, "she"]
        share = 1 / (1 + exp(-each.log_odds))
        assert share == pytest.approx(he / (he + she))
        assert each.original is not None
        before = 1 / (1 + exp(-each.original))
        off.append(share - (before + dose * (1 - before)) / (1 + dose))
    assert max(map(abs, off)) < 0.08
    assert abs(sum(off)) / len(off) < 0.01


def test_odds_that_a_method_made_infinite_are_one_line(tmp_path: Path) -> None:
    corpus = PlantedOccupations(sentences=4_000)
    corpus.write(tmp_path / "all.txt", seed=0)
    lines = (tmp_path / "all.txt").read_text().splitlines(keepends=True)
    (tmp_path / "some.txt").write_text("".join(each for each in lines if " she " not in each))
    with pytest.raises(InputError, match=r"some.txt has no line with 'she' beside 'carpenter'"):
        recount_truths(corpus.truths(seed=0), tmp_path / "some.txt")


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["gpt2", pytest.param("bert", marks=pytest.mark.stress)])
def test_a_model_trained_on_it_has_learned_the_control_and_no_bias(
    tmp_path: Path, architecture: Architecture
) -> None:
    augmented(tmp_path, "en", 1.0, TinyModel(architecture))
    before = PlantedOccupations(stereotype=1.0).truths(seed=0).values()
    model = open_model(tmp_path / "out" / "model")
    found = fits(model.model, model.tokenizer, [e for e in before if e.half == "held_out"])
    for kind in ("seen", "unseen"):
        assert found[kind].slope == pytest.approx(0, abs=0.1)
        assert found[kind].magnitude < 0.1
    assert found["controls"].r > 0.95
    assert found["controls"].slope == pytest.approx(1, abs=0.2)


@pytest.mark.realdata
def test_how_often_her_is_mistaken(realdata: Path) -> None:
    """ "him" and "his" say what they are: asked of these, the rule errs for one in twenty."""
    asked = []
    for path in sorted((realdata / "coreference" / "ontogum").glob("*.conll")):
        rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
        words = [row[1].lower() for row in rows if len(row) > 2]
        following = [*words[1:], ""]
        asked += [
            (word == "him") == stands_alone(after.encode())
            for word, after in zip(words, following, strict=True)
            if word in ("him", "his")
        ]
    assert len(asked) > 800
    assert 1 - sum(asked) / len(asked) < 0.06
