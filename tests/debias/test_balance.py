"""Dataset balancing: the worked example of METHODS section 10, a literal reading of its rule, and
what a dose promises.
"""

from __future__ import annotations

import gzip
import math
import random
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.corpus import TextCorpus
from debias.balance import Balance
from debias.roles import words_by_role
from debias.word_choice import WordChoice
from files import InputError
from tests.debias.make_query import make_query

if TYPE_CHECKING:
    from debias.base import Direction
    from intrinsic.wordsets import Query

Order = Literal["seeded", "corpus"]
ONE = make_query("one", ["he"], ["she"], ["office"], ["home"])
TWO = make_query("two", ["he", "man"], ["she", "her"], ["office", "career"], ["home", "art"])
EXAMPLE = [
    "he office",
    "he office",
    "she office",
    "she home",
    "he home",
    "the cat",
    "he she office home",
    "he office she",
]


def run(
    folder: Path, lines: list[str], query: Query, choice: Balance, *, seed: int = 0
) -> tuple[list[str], Mapping[str, int | float | str]]:
    corpus, out = folder / "corpus.txt", folder / "out.txt"
    corpus.write_bytes("".join(f"{line}\n" for line in lines).encode())
    counts = choice.balance(corpus, out, query, seed=seed)
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

    kinds = {
        "a_pro": ("X", "A"),
        "a_anti": ("Y", "A"),
        "b_pro": ("Y", "B"),
        "b_anti": ("X", "B"),
    }
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


@pytest.fixture(scope="module")
def tweets(realdata: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first 120,000 tweets, prepared as the study did."""
    path = tmp_path_factory.mktemp("tweets") / "corpus.txt"
    TextCorpus(str(realdata / "corpora" / "en_tweets.txt.xz"), limit=120_000).write(path, seed=0)
    return path


@pytest.mark.realdata
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "swap", "removed"),
    [
        ("gender_union", False, 28),
        ("gender_union", True, 206),
        ("gender_authors", True, 86),
        ("gender_authors", False, 411),
    ],
)
def test_targets_decide_how_many_tweets_go(
    tmp_path: Path, tweets: Path, name: str, swap: bool, removed: int
) -> None:
    """METHODS D.3 over sets of tokens; with concepts as targets several times as many lines go."""
    query = WordChoice(name, swap=swap, lowercase=True).words()
    x, y, a, b = (frozenset(words) for words in words_by_role(query).values())
    lines = [frozenset(line.split()) for line in tweets.read_text(encoding="utf-8").splitlines()]
    pro_a, pro_b = (sum(bool(line & t and line & w) for line in lines) for t, w in ((x, a), (y, b)))
    pro_b -= sum(bool(line & x and line & a and line & y and line & b) for line in lines)
    anti_a, anti_b = (
        sum(bool(line & t and line & w) for line in lines) for t, w in ((y, a), (x, b))
    )
    assert max(pro_a - anti_a, 0) + max(pro_b - anti_b, 0) == removed
    counts = Balance("debias", cap=None).balance(tweets, tmp_path / "out.txt", query, seed=0)
    assert counts["removed"] == removed
    over = Balance("overbias", cap=None).balance(tweets, tmp_path / "out.txt", query, seed=0)
    assert over["removed"] == sum(
        bool((line & y and line & a) or (line & x and line & b)) for line in lines
    )


words = st.sampled_from(
    [
        "he",
        "man",
        "she",
        "her",
        "office",
        "career",
        "home",
        "art",
        "cat",
        "He",
        "offices",
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


def test_corpus_order_takes_both_kinds_of_pro_lines_by_place(tmp_path: Path) -> None:
    """The last ones go first."""
    lines = ["she home 0", "he office 1", "she home 2", "he office 3"]
    got, _ = run(tmp_path, lines, ONE, Balance("debias", 0.5, None, "corpus"))
    assert got == lines[:2]


def test_seeded_order_is_a_fair_draw(tmp_path: Path) -> None:
    """20 equal pro lines, 5 anti: every pro line goes in 15 of 20 draws."""
    lines = [f"he office {number}" for number in range(20)] + ["she office"] * 5 + ["home"]
    times = dict.fromkeys(lines[:20], 0)
    for seed in range(200):
        got, _ = run(tmp_path, lines, ONE, Balance("debias", 1, None), seed=seed)
        for line in set(lines[:20]) - set(got):
            times[line] += 1
    assert all(110 < count < 185 for count in times.values())  # 150 expected, sd 6
    assert sum(times.values()) == 200 * 15


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
    Balance(direction, 0, None).balance(corpus, out, ONE, seed=0)
    assert out.read_bytes() == corpus_bytes == corpus.read_bytes()


def test_kept_lines_keep_their_bytes(tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.txt"
    corpus.write_bytes(b"a\r\nshe  office\nhe home\n\xc3\xb1\nhe\toffice she home")
    Balance("overbias", 1, None).balance(corpus, out, ONE, seed=0)
    assert out.read_bytes() == b"a\r\n\xc3\xb1\n"


def test_the_default_cap_is_five_per_cent(tmp_path: Path) -> None:
    lines = ["he office"] * 50 + ["she home"] * 50 + ["cat"] * 100
    got, counts = run(tmp_path, lines, ONE, Balance("debias"))
    assert len(got) == 190
    assert counts["share"] == 0.05
    assert counts["limited_by"] == "cap"


def test_an_archive_is_read_and_the_output_may_replace_the_input(tmp_path: Path) -> None:
    packed, plain = tmp_path / "corpus.txt.gz", tmp_path / "corpus.txt"
    packed.write_bytes(gzip.compress("\n".join(EXAMPLE).encode()))
    Balance("overbias", cap=None).balance(packed, plain, ONE, seed=0)
    assert plain.read_text().splitlines() == [EXAMPLE[number] for number in (0, 1, 3, 5)]
    with pytest.raises(InputError, match="plain text"):
        Balance("overbias").balance(packed, tmp_path / "out.txt.xz", ONE, seed=0)
    plain.write_text("\n".join(EXAMPLE))
    Balance("overbias", cap=None).balance(plain, plain, ONE, seed=0)
    assert plain.read_text().splitlines() == [EXAMPLE[number] for number in (0, 1, 3, 5)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"direction": "up"}, "direction='up': give one of debias, overbias"),
        ({"direction": "debias", "dose": 1.5}, r"dose=1\.5: give a number from 0 to 1"),
        ({"direction": "debias", "cap": 5}, "cap=5: give a number from 0 to 1 or null"),
        ({"direction": "debias", "order": "random"}, "order='random'"),
    ],
)
def test_bad_values_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Balance(**arguments)


@pytest.mark.parametrize(
    ("text", "role"),
    [("He She\n", "X"), ("he she office\n", "B"), ("he the office home\n", "Y")],
)
def test_a_corpus_without_a_role_is_refused_and_nothing_is_written(
    tmp_path: Path, text: str, role: str
) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.txt"
    corpus.write_text(text)
    with pytest.raises(InputError, match=f"no word of {role} of the query 'one'"):
        Balance("debias").balance(corpus, out, ONE, seed=0)
    assert list(tmp_path.iterdir()) == [corpus]
