"""Dataset balancing: the worked example of METHODS section 10, a literal reading of its rule, and
what a dose promises.
"""

from __future__ import annotations

import gzip
import math
import random
from collections import Counter
from collections.abc import Mapping
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasbridge.corpora.planted_occupations import Language, PlantedOccupations
from biasbridge.corpora.truths import PlantedTerm, read_truths, recount_truths, write_truths
from biasbridge.debias.text import Balance, CounterfactualAugmentation
from biasbridge.debias.words import words_by_role
from biasbridge.files import InputError
from biasbridge.files.choice import Fileless, choice
from biasbridge.files.models.language_model import open_model
from biasbridge.intrinsic.word_forms import _stands_alone
from biasbridge.intrinsic.words import Query, WordSet, load_query
from biasbridge.train.subjects.language_model import _train_model
from biasbridge.train.subjects.tiny_model import Architecture, TinyModel, fits
from tests.debias.planted import make_query

if TYPE_CHECKING:
    from biasbridge.debias.base import Direction
    from biasbridge.train.subjects.language_model import TrainedModel


Order = Literal["seeded", "corpus"]
ONE = make_query("one", ["he"], ["she"], ["office"], ["home"])
TWO = make_query("two", ["he", "man"], ["she", "her"], ["office", "career"], ["home", "art"])
EXAMPLE = [
    *("he office", "he office", "she office", "she home", "he home", "the cat"),
    *("he she office home", "he office she"),
]


def run(
    folder: Path, lines: list[str], query: Query, choice: Balance, *, seed: int = 0
) -> tuple[list[str], Mapping[str, int | float | str]]:
    corpus, out = folder / "corpus.txt", folder / "out.txt"
    corpus.write_bytes("".join(f"{line}\n" for line in lines).encode())
    counts = choice.rewrite(corpus, out, query, seed=seed)
    return out.read_bytes().decode().split("\n")[:-1], counts


@pytest.mark.parametrize(
    ("direction", "max_bias", "kept"),
    [
        ("debias", False, [0, 1, 2, 3, 4, 5, 6]),
        ("debias", True, [2, 4, 5]),
        ("overbias", False, [0, 1, 3, 5]),
    ],
)
def test_worked_example(
    tmp_path: Path, direction: Direction, max_bias: bool, kept: list[int]
) -> None:
    lines = [f"{line} line{number}" for number, line in enumerate(EXAMPLE)]
    got, counts = run(
        tmp_path, lines, ONE, Balance(direction, cap=None, order="corpus", max_bias=max_bias)
    )
    assert got == [lines[number] for number in kept]
    assert [counts[name] for name in ("a_pro", "a_anti", "b_pro", "b_anti")] == [4, 3, 2, 2]
    assert counts["lines"] == 8
    assert counts["removed"] == counts["removable"] == 8 - len(kept)
    assert counts["share"] == (8 - len(kept)) / 8


def literal(
    lines: list[str], query: Query, direction: str, max_bias: bool
) -> tuple[list[bool], dict[str, int]]:
    """METHODS D.3 line by line: which lines stay, and the four counts."""

    def has(line: str, words: tuple[str, ...]) -> bool:
        return any(word in line.split() for word in words)

    kinds = {"a_pro": ("X", "A"), "a_anti": ("Y", "A"), "b_pro": ("Y", "B"), "b_anti": ("X", "B")}
    words = words_by_role(query)
    marks = {
        kind: [has(line, words[t]) and has(line, words[a]) for line in lines]
        for kind, (t, a) in kinds.items()
    }
    counts = {kind: sum(flags) for kind, flags in marks.items()}
    stays, running = [], {"a_pro": 0, "b_pro": 0}
    for number in range(len(lines)):
        if direction == "overbias":
            stays.append(not (marks["a_anti"][number] or marks["b_anti"][number]))
            continue
        pro = next((kind for kind in ("a_pro", "b_pro") if marks[kind][number]), None)
        if pro is None:
            stays.append(True)
            continue
        running[pro] += 1
        stays.append(not max_bias and running[pro] <= counts[pro.replace("pro", "anti")])
    return stays, counts


words = st.sampled_from(
    [
        *("he", "man", "she", "her", "office", "career", "home", "art", "cat", "He", "offices"),
        "officeman",
    ]
)
corpora = st.lists(st.lists(words, max_size=5).map(" ".join), min_size=1, max_size=60)


def with_every_role(lines: list[str]) -> list[str]:
    """The lines and one more that holds a word of every role, so that the corpus is not refused."""
    return [*lines, "her man art career"]


@given(corpora, st.sampled_from(["debias", "overbias"]), st.booleans())
@settings(deadline=None)
def test_corpus_order_is_the_literal_rule(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], direction: Direction, most: bool
) -> None:
    lines = with_every_role(lines)
    stays, expected = literal(lines, TWO, direction, most)
    got, counts = run(
        tmp_path_factory.mktemp("c"),
        lines,
        TWO,
        Balance(direction, cap=None, order="corpus", max_bias=most),
    )
    assert got == [line for line, stay in zip(lines, stays, strict=True) if stay]
    assert {name: counts[name] for name in expected} == expected


@given(
    corpora,
    st.sampled_from(["debias", "overbias"]),
    st.sampled_from(["seeded", "corpus"]),
    st.lists(st.floats(0, 1), min_size=2, max_size=3),
    st.sampled_from([None, 0.0, 0.05, 0.3, 1.0]),
    st.booleans(),
    st.integers(0, 99),
)
@settings(deadline=None)
def test_doses_are_nested_and_as_large_as_promised(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    direction: Direction,
    order: Order,
    doses: list[float],
    cap: float | None,
    most: bool,
    seed: int,
) -> None:
    lines = [f"{line} number{number}" for number, line in enumerate(with_every_role(lines))]
    stays, _ = literal(lines, TWO, direction, most)
    removable = stays.count(False)
    limit = removable if cap is None else min(removable, math.floor(cap * len(lines)))
    folder = tmp_path_factory.mktemp("d")
    removed_before: set[str] = set()
    for dose in sorted(doses):
        got, counts = run(folder, lines, TWO, Balance(direction, dose, cap, order, most), seed=seed)
        assert got == [line for line in lines if line in set(got)]  # order unchanged
        removed = set(lines) - set(got)
        assert counts["removable"] == removable
        assert counts["removed"] == len(removed) == round(dose * limit)
        assert counts["limited_by"] == ("cap" if limit < removable else "removable")
        assert removed_before <= removed
        for line in removed:
            alone, _ = literal([line], TWO, direction, True)
            assert alone == [False]  # every removed line is of the kind that may go
        removed_before = removed


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    draw = random.Random(0)
    lines = [
        " ".join(draw.choices(["he", "she", "office", "home", "cat"], k=4)) + f" {n}"
        for n in range(300)
    ]
    first, again, other = (
        run(tmp_path, lines, ONE, Balance("debias", 0.5, None, max_bias=True), seed=seed)[0]
        for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("direction", ["debias", "overbias"])
def test_dose_0_gives_the_same_bytes(tmp_path: Path, direction: Direction, end: bytes) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.txt"
    corpus.write_bytes("he office\r\n\n  she  home\tniño\u2028\nhe home".encode() + end)
    corpus_bytes = corpus.read_bytes()
    Balance(direction, 0, None).rewrite(corpus, out, ONE, seed=0)
    assert out.read_bytes() == corpus_bytes == corpus.read_bytes()


def test_the_default_cap_is_five_per_cent(tmp_path: Path) -> None:
    lines = ["he office"] * 50 + ["she home"] * 50 + ["cat"] * 100
    got, counts = run(tmp_path, lines, ONE, Balance("debias"))
    assert len(got) == 190
    assert counts["share"] == 0.05
    assert counts["limited_by"] == "cap"


def test_an_archive_is_read_and_the_output_may_replace_the_input(tmp_path: Path) -> None:
    packed, plain = tmp_path / "corpus.txt.gz", tmp_path / "corpus.txt"
    packed.write_bytes(gzip.compress("\n".join(EXAMPLE).encode()))
    Balance("overbias", cap=None).rewrite(packed, plain, ONE, seed=0)
    assert plain.read_text().splitlines() == [EXAMPLE[number] for number in (0, 1, 3, 5)]
    with pytest.raises(InputError, match="plain text"):
        Balance("overbias").rewrite(packed, tmp_path / "out.txt.xz", ONE, seed=0)
    plain.write_text("\n".join(EXAMPLE))
    Balance("overbias", cap=None).rewrite(plain, plain, ONE, seed=0)
    assert plain.read_text().splitlines() == [EXAMPLE[number] for number in (0, 1, 3, 5)]


@pytest.mark.parametrize(
    ("text", "role"), [("He She\n", "X"), ("he she office\n", "B"), ("he the office home\n", "Y")]
)
def test_a_corpus_without_a_role_is_refused_and_nothing_is_written(
    tmp_path: Path, text: str, role: str
) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.txt"
    corpus.write_text(text)
    with pytest.raises(InputError, match=f"no word of {role} of the query 'one'"):
        Balance("debias").rewrite(corpus, out, ONE, seed=0)
    assert list(tmp_path.iterdir()) == [corpus]


# Counterfactual data augmentation: sentences by hand, a literal reading of its rule, what a dose
# promises, and what it leaves of a bias that is planted.

ENGLISH = load_query("gender_union")


def pairs(*both: tuple[str, str], name: str = "mine") -> Query:
    words = tuple(word for pair in both for word in pair)
    counterparts = WordSet(f"{name}.counterparts", words, "en", "made up", width=2)
    return Query(name, {"counterparts": counterparts}, "en")


PLAIN = pairs(("he", "she"), ("man", "woman"), ("Mary", "John"), ("sir", "madam"), ("sir", "miss"))


def run_cda(
    folder: Path, text: str, query: Query = ENGLISH, dose: float = 1.0, seed: int = 0
) -> tuple[str, dict[str, Any]]:
    corpus, out = folder / "corpus.txt", folder / "out.txt"
    corpus.write_bytes(text.encode())
    counts = CounterfactualAugmentation(dose).rewrite(corpus, out, query, seed=seed)
    return out.read_bytes().decode(), counts


def counterfactual(folder: Path, line: str, query: Query = ENGLISH) -> str:
    first, second = run_cda(folder, f"{line}\n", query)[0].splitlines()
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
    got, counts = run_cda(tmp_path, text, PLAIN)
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
    assert run_cda(tmp_path, "her her cat\n")[1]["by_next_word"] == 2


tokens = st.sampled_from(["he", "She", "MAN", "woman", "cat", "sHe", "hers", "madam", "Miss"])
corpora_cda = st.lists(st.lists(tokens, max_size=5).map(" ".join), min_size=1, max_size=40)
SWAPPED = {"he": "she", "She": "He", "MAN": "WOMAN", "woman": "man", "madam": "sir", "Miss": "Sir"}


@given(corpora_cda, st.lists(st.floats(0, 1), min_size=2, max_size=3), st.integers(0, 99))
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
        text, counts = run_cda(folder, "".join(f"{line}\n" for line in lines), PLAIN, dose, seed)
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


def test_same_seed_same_bytes_cda(tmp_path: Path) -> None:
    text = "".join(f"he {number}\n" for number in range(200))
    first, again, another = (run_cda(tmp_path, text, PLAIN, 0.5, seed)[0] for seed in (1, 1, 2))
    assert first == again != another


def test_dose_0_gives_the_same_bytes_and_an_archive_is_read(tmp_path: Path) -> None:
    text = "he office\r\n\n  she  home\tniño\u2028\nhe home"
    assert run_cda(tmp_path, text, PLAIN, 0.0)[0] == text
    packed, out = tmp_path / "corpus.txt.gz", tmp_path / "plain.txt"
    packed.write_bytes(gzip.compress(b"he sat\n"))
    CounterfactualAugmentation().rewrite(packed, out, PLAIN, seed=0)
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
        run_cda(tmp_path, "él y ella sHe\n", query)
    assert [item.name for item in tmp_path.iterdir()] == ["corpus.txt"]


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
    for item in (original, changed, out):
        item.mkdir()
    corpus.write(original / "corpus.txt", seed=0)
    write_truths(corpus.truths(seed=0), original / "planted.json")
    query = load_query("gender_union" if world == "en" else "gender_union_es")
    method = CounterfactualAugmentation(dose)
    method.rewrite(original / "corpus.txt", changed / "corpus.txt", query, seed=0)
    _train_model(model, out, {"corpus": changed, "original": original}, 0)
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
    result = augmented(tmp_path, "en", dose)
    lines = (tmp_path / "changed" / "corpus.txt").read_text().splitlines()
    counts = Counter((line.split()[1], word) for line in lines for word in line.split()[2:])
    off = []
    for term, item in result.items():
        he, she = counts[term, "he"], counts[term, "she"]
        share = 1 / (1 + exp(-item.log_odds))
        assert share == pytest.approx(he / (he + she))
        assert item.original is not None
        before = 1 / (1 + exp(-item.original))
        off.append(share - (before + dose * (1 - before)) / (1 + dose))
    assert max(map(abs, off)) < 0.08
    assert abs(sum(off)) / len(off) < 0.01


def test_odds_that_a_method_made_infinite_are_one_line(tmp_path: Path) -> None:
    corpus = PlantedOccupations(sentences=4_000)
    corpus.write(tmp_path / "all.txt", seed=0)
    lines = (tmp_path / "all.txt").read_text().splitlines(keepends=True)
    (tmp_path / "some.txt").write_text("".join(line for line in lines if " she " not in line))
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
    result = fits(model.model, model.tokenizer, [e for e in before if e.half == "held_out"])
    for kind in ("seen", "unseen"):
        assert result[kind].slope == pytest.approx(0, abs=0.1)
        assert result[kind].magnitude < 0.1
    assert result["controls"].r > 0.95
    assert result["controls"].slope == pytest.approx(1, abs=0.2)


@pytest.mark.realdata
def test_how_often_her_is_mistaken(realdata: Path) -> None:
    """ "him" and "his" say what they are: asked of these, the rule errs for one in twenty."""
    requested = []
    for path in sorted((realdata / "coreference" / "ontogum").glob("*.conll")):
        rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
        words = [row[1].lower() for row in rows if len(row) > 2]
        following = [*words[1:], ""]
        requested += [
            (word == "him") == _stands_alone(after.encode())
            for word, after in zip(words, following, strict=True)
            if word in ("him", "his")
        ]
    assert len(requested) > 800
    assert 1 - sum(requested) / len(requested) < 0.06
