"""Dataset balancing: the worked example of METHODS section 10, a literal reading of its rule, and
what a dose promises.
"""

from __future__ import annotations

import gzip
import math
import random
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasbridge.debias.balance import Balance
from biasbridge.debias.roles import words_by_role
from biasbridge.files import InputError
from tests.debias.make_query import make_query

if TYPE_CHECKING:
    from biasbridge.debias.base import Direction
    from biasbridge.intrinsic.wordsets import Query

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
    ("text", "role"), [("He She\n", "X"), ("he she office\n", "B"), ("he the office home\n", "Y")]
)
def test_a_corpus_without_a_role_is_refused_and_nothing_is_written(
    tmp_path: Path, text: str, role: str
) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.txt"
    corpus.write_text(text)
    with pytest.raises(InputError, match=f"no word of {role} of the query 'one'"):
        Balance("debias").balance(corpus, out, ONE, seed=0)
    assert list(tmp_path.iterdir()) == [corpus]
