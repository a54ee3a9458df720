"""Attract-repel as a choice: identity, doses, lengths, what is left alone, and what is refused."""

from __future__ import annotations

import math
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from torch.nn import functional

from biasbridge.debias.attract_repel import (
    ATTRACT,
    REPEL,
    AttractRepel,
    Norms,
    _attract_repel,
    _batch_gradient,
    _choose_negatives,
    _interpolate,
    _stereotype_pairs,
    mean_cosine,
    usable_pairs,
)
from biasbridge.files import InputError
from biasbridge.intrinsic.words import load_query
from tests.debias.planted import make_query

if TYPE_CHECKING:
    from biasbridge.debias.base import Direction
    from biasbridge.stats.arrays import Floats, Singles


ROLES = [tuple(f"{role}{number}" for number in range(8)) for role in ("m", "f", "c", "h")]
EIGHTS = make_query("eights", *ROLES)
OTHERS = [f"other{number}" for number in range(40)]


@pytest.fixture
def vectors() -> KeyedVectors:
    """Vectors of very different lengths in which a word leans to the attributes of its own group,
    and 40 words of no pair.
    """
    rng = np.random.default_rng(0)
    dim = 24
    axis = rng.standard_normal(dim)
    words = [word for role in ROLES for word in role]
    lean = np.repeat([1, -1, 1, -1], 8)[:, None] * axis
    rows = np.concatenate(
        [rng.standard_normal((32, dim)) + 0.5 * lean + 0.3, rng.standard_normal((40, dim))]
    )
    output = KeyedVectors(dim)
    output.add_vectors(
        words + OTHERS, (rows * rng.uniform(0.1, 3, size=(72, 1))).astype(np.float32)
    )
    output.expandos["count"] = np.arange(72, 0, -1)
    return output


def lean(vectors: KeyedVectors) -> float:
    """Mean pro- minus mean anti-stereotypical cosine."""
    pro, anti = _stereotype_pairs(EIGHTS)
    return mean_cosine(vectors, pro) - mean_cosine(vectors, anti)


@pytest.mark.parametrize("norms", ["keep", "unit"])
@pytest.mark.parametrize(("direction", "sign"), [("debias", -1), ("overbias", 1)])
def test_the_lean_moves_with_the_dose(
    vectors: KeyedVectors, direction: Direction, sign: int, norms: Norms
) -> None:
    leans = [
        lean(AttractRepel(direction, dose, norms=norms).modify(vectors, EIGHTS, seed=0))
        for dose in (0, 0.2, 0.4, 0.6, 0.8, 1)
    ]
    assert leans[0] == lean(vectors)
    assert all(sign * (later - earlier) > 0.01 for earlier, later in pairwise(leans))
    assert sign * (leans[-1] - leans[0]) > 0.2


@pytest.mark.parametrize("norms", ["keep", "unit"])
def test_dose_0_is_the_identity(vectors: KeyedVectors, norms: Norms) -> None:
    same = AttractRepel("debias", 0, norms=norms).modify(vectors, EIGHTS, seed=0)
    assert same.vectors.tobytes() == vectors.vectors.tobytes()
    assert same.index_to_key == vectors.index_to_key
    assert same.key_to_index == vectors.key_to_index
    assert same.expandos["count"].tolist() == vectors.expandos["count"].tolist()


@pytest.mark.parametrize("dose", [0.3, 1])
def test_lengths_and_untouched_words_are_kept(vectors: KeyedVectors, dose: float) -> None:
    before = vectors.vectors.copy()
    moved = AttractRepel("debias", dose).modify(vectors, EIGHTS, seed=0)
    assert vectors.vectors.tobytes() == before.tobytes()
    assert moved.vectors[32:].tobytes() == before[32:].tobytes()
    assert (moved.vectors[:32] != before[:32]).any(axis=1).all()
    np.testing.assert_allclose(
        np.linalg.norm(moved.vectors, axis=1), np.linalg.norm(before, axis=1), rtol=1e-6
    )
    assert moved.vectors.dtype == np.float32


def test_unit_norms_are_the_references_output(vectors: KeyedVectors) -> None:
    vectors.vectors[-1] = 0
    unit = AttractRepel("debias", norms="unit").modify(vectors, EIGHTS, seed=0).vectors
    keep = AttractRepel("debias").modify(vectors, EIGHTS, seed=0).vectors
    np.testing.assert_allclose(
        unit[:-1], keep[:-1] / np.linalg.norm(keep[:-1], axis=1, keepdims=True), atol=1e-6
    )
    assert not unit[-1].any()


@pytest.mark.parametrize("value", [0, np.nan, np.inf])
def test_a_vector_without_direction_is_refused(vectors: KeyedVectors, value: float) -> None:
    vectors.vectors[vectors.key_to_index["f3"]] = value
    with pytest.raises(InputError, match="the vector of 'f3' is zero or not finite"):
        AttractRepel("debias").modify(vectors, EIGHTS, seed=0)


rows = arrays.arrays(np.float64, (3, 4), elements=st.floats(-5, 5)).filter(
    lambda row: bool((np.linalg.norm(row, axis=1) > 1e-3).all())
)


def directions(rows: Singles | Floats) -> Floats:
    lengths: Floats = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths


def angle(left: Floats, right: Floats) -> Floats:
    apart: Floats = np.linalg.norm(left - right, axis=1)
    together: Floats = np.linalg.norm(left + right, axis=1)
    return np.arctan2(apart, together) * 2


@given(rows, rows, st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_the_angle_moved_grows_with_the_dose(
    before: Floats, after: Floats, doses: list[float]
) -> None:
    start, end = directions(before), directions(after)
    moved = [angle(start, _interpolate(before, after, dose)) for dose in sorted(doses)]
    assert all((later >= earlier - 1e-6).all() for earlier, later in pairwise(moved))
    np.testing.assert_allclose(_interpolate(before, after, 0), start, atol=1e-9)
    np.testing.assert_allclose(_interpolate(before, after, 1), end, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(_interpolate(before, after, doses[0]), axis=1), 1)


def test_an_opposite_word_stays_until_one_half_and_then_turns() -> None:
    start, end = np.array([[0.0, 2.0]]), np.array([[0.0, -1.0]])
    turned = [_interpolate(start, end, dose)[0].tolist() for dose in (0, 0.3, 0.5, 0.7, 1)]
    assert turned == [[0, 1], [0, 1], [0, 1], [0, -1], [0, -1]]


# ATTRACT-REPEL against the facts of METHODS D.1 written out again, slowly, with torch's
# gradients.

Pairs = list[tuple[int, int]]
HYPER = {
    "batch_size": 50,
    "attract_margin": 0.6,
    "repel_margin": 0.0,
    "regularisation": 1e-9,
    "learning_rate": 0.05,
}


class Reference:
    """The facts of METHODS D.1, pair by pair and look-up by look-up.

    It takes its random numbers from the same generator in the same order as the code under test, so
    that both see the same batches and negatives and what is left between them is arithmetic: over
    seeds the mean cosines after five epochs vary by 0.015.
    """

    def __init__(self, rows: Singles, draw: np.random.Generator, hyper: dict[str, float]) -> None:
        self.start = torch.tensor(rows, dtype=torch.float32)
        self.now = self.start.clone()
        self.squares = {
            "attract": torch.full_like(self.start, 0.1),
            "repel": torch.full_like(self.start, 0.1),
        }
        self.draw, self.hyper = draw, hyper

    def negatives(self, batch: Pairs, kind: str) -> Pairs:
        """Nearest or farthest place of another pair, or with probability one half any word of
        another pair.
        """
        flat = [word for pair in batch for word in pair]
        units = functional.normalize(self.now[flat], dim=1)
        distance: list[list[float]] = (1 - units @ units.T).tolist()
        pair_drawn: list[int] = self.draw.integers(len(batch) - 1, size=len(flat)).tolist()
        side_drawn: list[int] = self.draw.integers(2, size=len(flat)).tolist()
        coin: list[float] = self.draw.random(len(flat)).tolist()
        chosen = []
        for place in range(len(flat)):
            others = [other for other in range(len(flat)) if other // 2 != place // 2]
            order = sorted(others, key=distance[place].__getitem__)
            other_pairs = [pair for number, pair in enumerate(batch) if number != place // 2]
            at_random = other_pairs[pair_drawn[place]][side_drawn[place]]
            chosen.append(
                at_random if coin[place] < 0.5 else flat[order[0 if kind == "attract" else -1]]
            )
        return list(zip(chosen[::2], chosen[1::2], strict=True))

    def gradient(
        self, batch: Pairs, negatives: Pairs, kind: str
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The batch's cost and its gradient, every look-up's share clipped before they are
        summed.
        """
        looked_up = [
            (word, self.now[word].clone().requires_grad_())
            for both in zip(batch, negatives, strict=True)
            for pair in both
            for word in pair
        ]
        cost, regulariser = torch.zeros(()), torch.zeros(())
        for number in range(len(batch)):
            left, right, left_negative, right_negative = (
                functional.normalize(row, dim=0)
                for _, row in looked_up[4 * number : 4 * number + 4]
            )
            together = left @ right
            if kind == "attract":
                margin = self.hyper["attract_margin"]
                cost = (
                    cost
                    + functional.relu(margin + left @ left_negative - together)
                    + functional.relu(margin + right @ right_negative - together)
                )
            else:
                margin = self.hyper["repel_margin"]
                cost = (
                    cost
                    + functional.relu(margin - left @ left_negative + together)
                    + functional.relu(margin - right @ right_negative + together)
                )
            for unit, word in zip((left, right), batch[number], strict=True):
                regulariser = regulariser + ((self.start[word] - unit) ** 2).sum() / 2
        cost = cost + len(batch) * self.hyper["regularisation"] * regulariser
        rows = torch.autograd.grad(cost, [row for _, row in looked_up])
        total = torch.zeros_like(self.now)
        for (word, _), gradient in zip(looked_up, rows, strict=True):
            total[word] += torch.clip(gradient, -2, 2)
        return cost.detach(), total

    def step(self, batch: Pairs, kind: str) -> None:
        _, gradient = self.gradient(batch, self.negatives(batch, kind), kind)
        self.squares[kind] += gradient**2
        self.now -= self.hyper["learning_rate"] * gradient / self.squares[kind].sqrt()

    def run(
        self, attract: Pairs, repel: Pairs, *, epochs: int = 5, drop_last: bool = False
    ) -> Singles:
        size = int(self.hyper["batch_size"])
        for _ in range(epochs):
            batches: list[tuple[Pairs, str]] = []
            for kind, pairs in (("attract", attract), ("repel", repel)):
                shuffled: Pairs = list(map(tuple, self.draw.permutation(pairs).tolist()))
                cut = [shuffled[start : start + size] for start in range(0, len(shuffled), size)]
                batches += [(batch, kind) for batch in cut if len(batch) == size or not drop_last]
            for number in self.draw.permutation(len(batches)).flat:
                self.step(*batches[number])
        return self.now.numpy()


def mean_row_cosine(rows: Singles, pairs: Pairs) -> float:
    units = directions(rows)
    return float(np.mean([np.vdot(units[left], units[right]) for left, right in pairs]))


def world(
    seed: int, *, words: int = 48, dim: int = 50, length: float = 2.0
) -> tuple[Singles, Pairs, Pairs]:
    """Random vectors around a common mean and the four products of four groups of words."""
    rng = np.random.default_rng(seed)
    rows = length * (rng.standard_normal((words, dim)) + 0.5) / math.sqrt(dim)
    t1, t2, a1, a2 = (range(start, start + words // 4) for start in range(0, words, words // 4))
    attract, repel = [*product(t1, a2), *product(t2, a1)], [*product(t1, a1), *product(t2, a2)]
    return rows.astype(np.float32), attract, repel


@pytest.mark.parametrize("length", [0.3, 2.0])
@pytest.mark.parametrize("kind", [ATTRACT, REPEL])
def test_the_gradient_of_a_batch_is_that_of_torch(kind: int, length: float) -> None:
    """Length 0.3 makes gradients of up to 10, so that clipping matters."""
    rows, attract, repel = world(1, words=16, length=length)
    batch = (attract if kind == ATTRACT else repel)[::3]
    hyper = HYPER | {"regularisation": 0.01, "attract_margin": 0.3, "repel_margin": 0.2}
    places = np.array(batch).ravel()
    name = "attract" if kind == ATTRACT else "repel"
    reference = Reference(rows, np.random.default_rng(0), hyper)
    reference.now += torch.tensor(
        np.random.default_rng(8).normal(0, 0.1 * length, rows.shape), dtype=torch.float32
    )
    units = functional.normalize(reference.now, dim=1).numpy()
    negatives = places[
        _choose_negatives(units[places] @ units[places].T, kind, np.random.default_rng(7))
    ]
    _, expected = reference.gradient(
        batch, list(map(tuple, negatives.reshape(-1, 2).tolist())), name
    )
    got = _batch_gradient(
        reference.now.numpy(),
        rows,
        places,
        kind,
        np.random.default_rng(7),
        margin=hyper[f"{name}_margin"],
        regularisation=0.01,
    )
    used = np.unique(places)
    assert len(used) == 16
    assert expected.abs().max().item() > (2 if length < 1 else 0.2)
    np.testing.assert_allclose(got, expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", [ATTRACT, REPEL])
def test_negatives_are_half_the_extreme_and_half_any_other_pair(kind: int) -> None:
    rng = np.random.default_rng(3)
    units = directions(rng.standard_normal((8, 5)))
    cosines = (units @ units.T).astype(np.float32)
    draws = np.array([_choose_negatives(cosines.copy(), kind, rng) for _ in range(6000)])
    for place in range(8):
        others = [other for other in range(8) if other // 2 != place // 2]
        toward: list[float] = (kind * cosines[place]).tolist()
        extreme = max(others, key=toward.__getitem__)
        share = np.bincount(draws[:, place], minlength=8) / len(draws)
        expected = [(0.5 * (other == extreme) + 0.5 / 6) * (other in others) for other in range(8)]
        np.testing.assert_allclose(share, expected, atol=0.025)


def check_against_reference(
    rows: Singles, attract: Pairs, repel: Pairs, *, drop_last: bool = False
) -> None:
    """After five epochs the mean cosines of both kinds of pairs are the reference's, and have
    moved.
    """
    got = _attract_repel(rows, np.array(attract), np.array(repel), seed=0, drop_last=drop_last)
    expected = Reference(rows, np.random.default_rng(0), HYPER).run(
        attract, repel, drop_last=drop_last
    )
    assert mean_row_cosine(expected, attract) - mean_row_cosine(rows, attract) > 0.3
    assert mean_row_cosine(expected, repel) < mean_row_cosine(rows, repel) - 0.01
    for pairs in (attract, repel):
        assert mean_row_cosine(got, pairs) == pytest.approx(
            mean_row_cosine(expected, pairs), abs=0.001
        )


@pytest.mark.parametrize("drop_last", [False, True])
def test_five_epochs_end_where_the_reference_does(drop_last: bool) -> None:
    check_against_reference(*world(2, words=44), drop_last=drop_last)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("attract_file", "repel_file"),
    [
        ("weat6b_syn_debias", "weat6b_ant_debias"),
        ("weat6b_syn_overbias", "weat6b_ant_overbias"),
        ("weat7_syn_t3", "weat7_ant_t3"),
        pytest.param("math_sci_exp_syn", "math_sci_exp_ant", marks=pytest.mark.stress),
    ],
)
def test_real_constraints_end_where_the_reference_does(
    realdata: Path, attract_file: str, repel_file: str
) -> None:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors.load_word2vec_format(
        str(realdata / "vectors" / "googlenews_13k.bin"), binary=True
    )
    files = [realdata / "words" / "goldfarb" / f"{name}.txt" for name in (attract_file, repel_file)]
    pairs = [[(a, b) for a, b in map(str.split, path.read_text().splitlines())] for path in files]
    selected = usable_pairs(*pairs, vectors.key_to_index)
    words = sorted({word for pair in selected.attract + selected.repel for word in pair})
    attract, repel = (
        [(words.index(left), words.index(right)) for left, right in pairs]
        for pairs in (selected.attract, selected.repel)
    )
    check_against_reference(vectors[words], attract, repel)


def test_fewer_pairs_than_a_batch_and_drop_last_change_nothing() -> None:
    """METHODS D.1: n < 50 -> no update at all."""
    rows, attract, repel = world(3)
    after = _attract_repel(
        rows, np.array(attract[:49]), np.array(repel[:49]), seed=0, drop_last=True
    )
    assert after.tobytes() == rows.tobytes()
    assert (
        _attract_repel(
            rows, np.array(attract[:50]), np.array(repel[:49]), seed=0, drop_last=True
        ).tobytes()
        != rows.tobytes()
    )


def test_the_same_seed_gives_the_same_bytes_and_the_input_is_left_alone() -> None:
    rows, attract, repel = world(5)
    before = rows.copy()
    first, again, other = (
        _attract_repel(rows, np.array(attract), np.array(repel), seed=seed) for seed in (1, 1, 2)
    )
    assert first.tobytes() == again.tobytes() != other.tobytes()
    assert rows.tobytes() == before.tobytes()


# Which pairs can be used.


def test_pairs_are_the_products_of_the_paper() -> None:
    small = make_query("small", ["he", "him"], ["she"], ["office"], ["home", "family"])
    pro, anti = _stereotype_pairs(small)
    assert anti == [
        ("he", "home"),
        ("he", "family"),
        ("him", "home"),
        ("him", "family"),
        ("she", "office"),
    ]
    assert pro == [("he", "office"), ("him", "office"), ("she", "home"), ("she", "family")]


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "attract", "repel"),
    [
        ("weat6b", "weat6b_syn_debias", "weat6b_ant_debias"),
        ("weat7", "weat7_syn_t3", "weat7_ant_t3"),
        ("gender_authors", "math_sci_exp_syn", "math_sci_exp_ant"),
    ],
)
def test_pairs_are_the_constraint_files_of_the_paper(
    realdata: Path, name: str, attract: str, repel: str
) -> None:
    """Their files write tests 7 and 8 attribute first; as sets of words the pairs are the same."""
    query = load_query(name)
    every = [word for wordset in query.sets.values() for word in wordset.words]
    assert len(set(every)) == len(every)
    for ours, theirs in zip(_stereotype_pairs(query), (repel, attract), strict=True):
        lines = (realdata / "words" / "goldfarb" / f"{theirs}.txt").read_text().splitlines()
        assert {frozenset(pair) for pair in ours} == {frozenset(line.split()) for line in lines}


def test_which_pairs_are_kept() -> None:
    """METHODS D.1: both words known and different, duplicates vanish, a pair in both lists is only
    repelled, pairs are ordered.
    """
    attract = [("b", "c"), ("a", "b"), ("a", "b"), ("a", "a"), ("a", "x"), ("c", "d")]
    repel = [("c", "d"), ("b", "a"), ("y", "a")]
    selected = usable_pairs(attract, repel, {"a", "b", "c", "d"})
    assert selected.attract == [("a", "b"), ("b", "c")]
    assert selected.repel == [("b", "a"), ("c", "d")]
    assert selected.missing == ["x", "y"]


def test_a_word_that_is_not_there_is_looked_up_in_lower_case() -> None:
    selected = usable_pairs(
        [("Einstein", "He"), ("He", "NASA")], [], {"einstein", "He", "he", "nasa"}
    )
    assert selected.attract == [("He", "nasa"), ("einstein", "He")]
    assert selected.missing == []


def test_no_pair_left_names_the_missing_words() -> None:
    with pytest.raises(InputError, match="2 of 3 words are out of vocabulary: x, y;"):
        usable_pairs([("a", "x")], [("a", "y")], {"a"})


def test_mean_cosine() -> None:
    vectors = KeyedVectors(2)
    vectors.add_vectors(
        ["east", "north", "northeast"], np.array([[2, 0], [0, 3], [1, 1]], dtype=np.float32)
    )
    assert mean_cosine(
        vectors, [("east", "north"), ("east", "northeast"), ("north", "east")]
    ) == pytest.approx(np.sqrt(0.5) / 3)
    assert np.isnan(mean_cosine(vectors, []))
