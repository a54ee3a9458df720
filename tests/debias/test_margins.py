"""ATTRACT-REPEL against the facts of METHODS D.1 written out again, slowly, with torch's
gradients.
"""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from torch.nn import functional

from biasbridge.debias.constraints import read_pairs, usable_pairs
from biasbridge.debias.margins import (
    ATTRACT,
    REPEL,
    attract_repel,
    batch_gradient,
    choose_negatives,
)

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats, Singles

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


def directions(rows: Singles | Floats) -> Floats:
    lengths: Floats = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths


def mean_cosine(rows: Singles, pairs: Pairs) -> float:
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
        choose_negatives(units[places] @ units[places].T, kind, np.random.default_rng(7))
    ]
    _, expected = reference.gradient(
        batch, list(map(tuple, negatives.reshape(-1, 2).tolist())), name
    )
    got = batch_gradient(
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
    draws = np.array([choose_negatives(cosines.copy(), kind, rng) for _ in range(6000)])
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
    got = attract_repel(rows, np.array(attract), np.array(repel), seed=0, drop_last=drop_last)
    expected = Reference(rows, np.random.default_rng(0), HYPER).run(
        attract, repel, drop_last=drop_last
    )
    assert mean_cosine(expected, attract) - mean_cosine(rows, attract) > 0.3
    assert mean_cosine(expected, repel) < mean_cosine(rows, repel) - 0.01
    for pairs in (attract, repel):
        assert mean_cosine(got, pairs) == pytest.approx(mean_cosine(expected, pairs), abs=0.001)


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
    kept = usable_pairs(read_pairs(files[0]), read_pairs(files[1]), vectors.key_to_index)
    words = sorted({word for pair in kept.attract + kept.repel for word in pair})
    attract, repel = (
        [(words.index(left), words.index(right)) for left, right in pairs]
        for pairs in (kept.attract, kept.repel)
    )
    check_against_reference(vectors[words], attract, repel)


def test_fewer_pairs_than_a_batch_and_drop_last_change_nothing() -> None:
    """METHODS D.1: n < 50 -> no update at all."""
    rows, attract, repel = world(3)
    after = attract_repel(
        rows, np.array(attract[:49]), np.array(repel[:49]), seed=0, drop_last=True
    )
    assert after.tobytes() == rows.tobytes()
    assert (
        attract_repel(
            rows, np.array(attract[:50]), np.array(repel[:49]), seed=0, drop_last=True
        ).tobytes()
        != rows.tobytes()
    )


def test_the_same_seed_gives_the_same_bytes_and_the_input_is_left_alone() -> None:
    rows, attract, repel = world(5)
    before = rows.copy()
    first, again, other = (
        attract_repel(rows, np.array(attract), np.array(repel), seed=seed) for seed in (1, 1, 2)
    )
    assert first.tobytes() == again.tobytes() != other.tobytes()
    assert rows.tobytes() == before.tobytes()
