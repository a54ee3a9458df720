"""BAM: the orthogonal map that SciPy finds, and doses."""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import torch
from fairlearn.preprocessing import CorrelationRemover
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes
from sklearn.decomposition import PCA
from sklearn.svm import SVC

from biasbridge.corpora.items import BecPro
from biasbridge.debias.erasers import (
    Bam,
    Examples,
    Gbdd,
    Inlp,
    Leace,
    MeanDifference,
    RandomDirection,
    SentDebias,
)
from biasbridge.files import InputError
from biasbridge.intrinsic import effect_size
from tests.debias.planted import QUERY, planted_vectors, vectors_of
from tests.minilm import minilm

if TYPE_CHECKING:
    from biasbridge.files.eraser import Eraser
    from biasbridge.stats.arrays import Floats


def test_the_average_with_the_image_under_the_orthogonal_map() -> None:
    draw = np.random.default_rng(0)
    pairs, rows = draw.standard_normal((12, 2, 6)), draw.standard_normal((20, 6))
    units = pairs / np.linalg.norm(pairs, axis=2, keepdims=True)
    turn, _ = orthogonal_procrustes(units[:, 0], units[:, 1])
    none = np.empty((0, 6))
    eraser = Bam().fit(Examples(none, none, pairs, ""), seed=0)
    after = eraser.apply(rows)
    np.testing.assert_allclose(after, (rows + rows @ turn) / 2, atol=1e-12)
    result = 2 * eraser.apply(np.eye(6)) - np.eye(6)
    np.testing.assert_allclose(result @ result.T, np.eye(6), atol=1e-12)
    assert eraser.norm <= 1 + 1e-12


def test_a_mirror_brings_the_two_of_a_pair_together() -> None:
    """Pairs that differ in the sign of one dimension alone lose it."""
    draw = np.random.default_rng(0)
    one = draw.standard_normal((10, 4))
    pairs = np.stack([one, one * [-1, 1, 1, 1]], axis=1)
    none = np.empty((0, 4))
    after = Bam().fit(Examples(none, none, pairs, ""), seed=0).apply(one)
    np.testing.assert_allclose(after, one * [0, 1, 1, 1], atol=1e-12)


def test_what_few_pairs_leave_open_is_settled() -> None:
    """Neither the order of pairs nor rounding decides; what no pair concerns stays."""
    draw = np.random.default_rng(0)
    pairs, none = draw.standard_normal((3, 2, 8)), np.empty((0, 8))
    pairs[..., 6:] = 0
    first, second, third = (
        Bam().fit(Examples(none, none, item, ""), seed=0).apply(np.eye(8))
        for item in (pairs, pairs[::-1], pairs + 1e-12 * draw.standard_normal(pairs.shape))
    )
    np.testing.assert_allclose(first, second, atol=1e-9)
    np.testing.assert_allclose(first, third, atol=1e-6)
    np.testing.assert_allclose(first[6:], np.eye(8)[6:], atol=1e-9)


# GBDD: against a loop over all pairs, and doses.


def test_against_a_loop_over_all_pairs() -> None:
    draw = np.random.default_rng(0)
    x, y, rows = (draw.standard_normal((size, 8)) for size in (5, 7, 20))
    differences = []
    for one in x:
        for other in y:
            difference = one / np.linalg.norm(one) - other / np.linalg.norm(other)
            differences.append(difference / np.linalg.norm(difference))
    axis = np.linalg.svd(np.array(differences))[2][0]
    expected = [row - (row @ axis) * axis for row in rows]
    eraser = Gbdd().fit(Examples(x, y, np.empty((0, 2, 8)), ""), seed=0)
    np.testing.assert_allclose(eraser.apply(rows), expected, atol=1e-12)


def test_a_word_of_both_groups() -> None:
    rows = np.array([[1.0, 0, 0], [0, 1, 0]])
    eraser = Gbdd().fit(Examples(rows, rows, np.empty((0, 2, 3)), ""), seed=0)
    np.testing.assert_allclose(eraser.apply(rows), [[0.5, 0.5, 0], [0.5, 0.5, 0]], atol=1e-12)


def test_groups_that_are_alike() -> None:
    rows = np.ones((3, 4))
    with pytest.raises(InputError, match="same vectors"):
        Gbdd().fit(Examples(rows, rows, np.empty((0, 2, 4)), ""), seed=0)


def test_the_differences_are_not_all_held_at_once() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 1000, 16))
    tracemalloc.start()
    Gbdd().fit(Examples(x, y, np.empty((0, 2, 16)), ""), seed=0)
    assert tracemalloc.get_traced_memory()[1] < 1000 * 1000 * 16 * 4  # bytes, half of all pairs
    tracemalloc.stop()


# INLP: allennlp's vectors, what a classifier finds afterwards, and doses.

MALE = "man he his boy grandpa uncle jack"
FEMALE = "woman she hers girl grandma aunt jill"


@pytest.mark.realdata
def test_the_allennlp_fixture(realdata: Path) -> None:
    """Of 35 rounds two are needed. The published vectors depend on the solver's tolerance."""
    table: dict[str, list[float]] = json.loads(
        (realdata / "vectors" / "verb50_bias_embeddings.json").read_text(encoding="utf-8")
    )
    first, second = (np.array([table[word] for word in item.split()]) for item in (MALE, FEMALE))
    eraser = Inlp(rounds=35).fit(Examples(first, second, np.empty((0, 2, 50)), ""), seed=0)
    words = ("engineer", "homemaker")
    output = eraser.apply(np.array([table[word] for word in words]))
    assert eraser.rank == 2
    np.testing.assert_allclose(output, [table[f"inlp_{w}"] for w in words], rtol=0, atol=3.1e-5)


def test_nothing_is_left_for_a_linear_classifier() -> None:
    """Two directions hold the groups: after two rounds a classifier has chance, after one not."""
    draw = np.random.default_rng(0)
    side = np.repeat([1.0, -1.0], 200)
    rows = draw.standard_normal((400, 10))
    rows[:, 0] += 6 * side
    rows[:, 1] = 6 * side * (draw.random(400) < 0.7) + draw.standard_normal(400)
    result = Examples(rows[:200], rows[200:], np.empty((0, 2, 10)), "")
    fresh = rows + 0.1 * draw.standard_normal(rows.shape)

    def accuracy(rounds: int) -> float:
        eraser = Inlp(rounds=rounds).fit(result, seed=0)
        assert eraser.rank == rounds
        assert eraser.norm == pytest.approx(1)
        classifier = SVC(kernel="linear").fit(eraser.apply(rows), side)
        return float(classifier.score(eraser.apply(fresh), side))

    assert accuracy(1) > 0.75
    assert accuracy(8) < 0.65


# LEACE against the package of its authors, and what it promises.


def examples(rows: Floats, labels: NDArray[np.bool_]) -> Examples:
    return Examples(rows[labels], rows[~labels], np.empty((0, 2, rows.shape[1])), "")


def drawn(n: int, dim: int, seed: int = 0) -> Examples:
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.4
    rows = rng.standard_normal((n, dim)) @ rng.standard_normal((dim, dim))
    return examples(rows + labels[:, None] * rng.standard_normal(dim), labels)


def covariance_with_labels(eraser: Eraser, found: Examples) -> Floats:
    after = eraser.apply(found.rows)
    centred = after - after.mean(axis=0)
    with_labels: Floats = centred.T @ (found.labels - found.labels.mean()) / len(after)
    return np.abs(with_labels)


def agrees_with_its_authors(found: Examples, *, shrinkage: bool = True) -> Eraser:
    leace = pytest.importorskip("concept_erasure").LeaceFitter
    eraser = Leace(shrinkage=shrinkage).fit(found, seed=0)
    # Its shrinkage adds 2e-16 to products that are as small for short vectors
    rows, labels = torch.tensor(found.rows) * 100, torch.tensor(found.labels)[:, None]
    peer = leace.fit(rows, labels, shrinkage=shrinkage).eraser
    np.testing.assert_allclose(eraser.apply(found.rows), peer(rows).numpy() / 100, atol=1e-10)
    return eraser


@pytest.mark.parametrize("shrinkage", [True, False])
def test_its_authors_package(shrinkage: bool) -> None:
    eraser = agrees_with_its_authors(drawn(400, 12), shrinkage=shrinkage)
    assert eraser.rank == 1


def test_its_authors_package_where_the_covariance_is_singular() -> None:
    """Fewer rows than dimensions."""
    agrees_with_its_authors(drawn(30, 60))


def test_no_covariance_with_the_groups_is_left() -> None:
    result = drawn(400, 12)
    assert covariance_with_labels(Leace().fit(result, seed=0), result).max() < 1e-12


def test_it_changes_more_than_what_knows_the_group_of_each_row() -> None:
    """Fairlearn's baseline on labelled rows takes away each group's mean, and needs it at use."""
    result = drawn(400, 12)
    table = pd.DataFrame(result.rows, columns=[f"x{number}" for number in range(12)])
    table["group"] = result.labels
    baseline = CorrelationRemover(sensitive_feature_ids=["group"]).fit_transform(table)
    left = baseline.astype(np.float64) - result.rows.mean(axis=0)
    assert np.abs(left.T @ (result.labels - result.labels.mean())).max() < 1e-9
    changed = Leace(shrinkage=False).fit(result, seed=0).apply(result.rows) - result.rows
    assert (changed**2).sum() > ((baseline - result.rows) ** 2).sum()


def test_groups_without_a_difference_are_refused() -> None:
    same = np.tile(np.arange(6.0).reshape(3, 2), (2, 1))
    with pytest.raises(InputError, match="no direction separates them"):
        Leace().fit(Examples(same, same, np.empty((0, 2, 2)), ""), seed=0)


@pytest.mark.realdata
def test_bert_encodings(realdata: Path) -> None:
    folder = realdata / "contextual"
    rows = np.load(folder / "bert_seat_sentences.npy").astype(np.float64)
    about = json.loads((folder / "bert_seat_sentences.json").read_text(encoding="utf-8"))
    male = {"he", "him", "his", "man", "boy", "brother", "son", "father", "uncle", "male"}
    female = {
        *("she", "her", "hers", "woman", "girl", "sister", "daughter", "mother", "aunt", "female")
    }
    words = [{*text.lower().rstrip(".").split()} for text in about["sentences"]]
    is_gendered = np.array([bool(word & (male | female)) for word in words])
    labels = np.array([bool(word & male) for word in words])
    result = examples(rows[is_gendered], labels[is_gendered])
    eraser = agrees_with_its_authors(result)
    assert covariance_with_labels(eraser, result).max() < 1e-12


@pytest.mark.slow
@pytest.mark.realdata
def test_bec_pro_in_minilm(realdata: Path) -> None:
    """1,000 sentences drawn at random: norm 3.3 with shrinkage, about 11 without."""
    encoder = minilm()
    sets = BecPro(str(realdata / "models/bec_pro/BEC-Pro_EN.tsv")).load()
    items = [item for element in sets for item in element.items]
    some = [items[i] for i in np.random.default_rng(0).permutation(len(items))[:1000]]
    rows = encoder.encode([item.sentence for item in some]).astype(np.float64)
    result = examples(rows, np.array([item.group == "male" for item in some]))
    eraser = agrees_with_its_authors(result)
    assert eraser.norm == pytest.approx(3.3, abs=0.1)
    assert covariance_with_labels(eraser, result).max() < 1e-12
    assert Leace(shrinkage=False).fit(result, seed=0).norm == pytest.approx(11, abs=1)


# Mean difference: allennlp's vectors, and doses.

NONE = np.empty((0, 2, 50))


@pytest.mark.realdata
def test_the_allennlp_fixture_mean_difference(realdata: Path) -> None:
    table: dict[str, list[float]] = json.loads(
        (realdata / "vectors" / "verb50_bias_embeddings.json").read_text(encoding="utf-8")
    )
    prefix = "linear_two_means_"
    expected = {key.removeprefix(prefix): row for key, row in table.items() if prefix in key}
    first, second = (
        np.array([table[word] for word in pair]) for pair in (("he", "him"), ("she", "her"))
    )
    eraser = MeanDifference().fit(Examples(first, second, NONE, ""), seed=0)
    output = eraser.apply(np.array([table[word] for word in expected]))
    assert len(expected) == 8
    np.testing.assert_allclose(output, list(expected.values()), rtol=0, atol=1e-15)


def test_groups_that_are_the_same() -> None:
    rows = np.ones((3, 50))
    with pytest.raises(InputError, match="the two groups have the same mean"):
        MeanDifference().fit(Examples(rows, rows, NONE, ""), seed=0)


def test_the_means_are_equal_afterwards() -> None:
    after = MeanDifference().modify(planted_vectors(), QUERY, seed=0)
    first, second = (after[list(QUERY[role].words)].mean(axis=0) for role in "XY")
    before = planted_vectors()
    axis = before[list(QUERY["X"].words)].mean(axis=0) - before[list(QUERY["Y"].words)].mean(axis=0)
    assert abs((first - second) @ axis) < 1e-5


# A random direction: drawn by the seed, and of no effect on average.


def test_the_seed_decides_the_direction() -> None:
    before, method = planted_vectors(), RandomDirection()
    one, again, other = (method.modify(before, QUERY, seed=seed).vectors for seed in (1, 1, 2))
    assert one.tobytes() == again.tobytes()
    removed = [np.linalg.svd(before.vectors - item)[1] for item in (one, other)]
    assert all(sizes[0] > 1 > 1e-4 > sizes[1] for sizes in removed), "of one dimension each"
    assert not np.allclose(one, other, atol=1e-3)


def test_dose_0_changes_no_bit() -> None:
    before = planted_vectors()
    after = RandomDirection(dose=0).modify(before, QUERY, seed=0)
    assert after.vectors.tobytes() == before.vectors.tobytes()


def test_weat_of_random_vectors_hardly_moves() -> None:
    """A dimension of 200 holds 1/200 of what WEAT sees: the mean of 50 changes is within its error
    of none, and none is large.
    """
    changes = []
    for seed in range(50):
        rows = np.random.default_rng(seed).standard_normal((32, 200))
        before = vectors_of([f"w{number}" for number in range(32)], rows)
        after = RandomDirection().modify(before, QUERY, seed=1000 + seed)
        changes.append(
            effect_size(*np.split(after.vectors, 4)) - effect_size(*np.split(before.vectors, 4))
        )
    error = np.std(changes) / np.sqrt(len(changes))
    assert np.mean(changes) == pytest.approx(0, abs=4 * error)
    assert np.abs(changes).max() < 0.3


# SentDebias: scikit-learn's principal components of BERT's sentences, and doses.

PAIRS = ("man woman", "boy girl", "brother sister", "father mother", "son daughter", "uncle aunt")


@pytest.mark.realdata
@pytest.mark.parametrize("components", [1, 3])
def test_the_components_of_encodings_of_bert(realdata: Path, components: int) -> None:
    folder = realdata / "contextual"
    texts = json.loads((folder / "bert_seat_sentences.json").read_text("utf-8"))["sentences"]
    rows = np.load(folder / "bert_seat_sentences.npy", allow_pickle=False)[: len(texts)]
    place = {text: number for number, text in enumerate(texts)}
    both = []
    for male, female in map(str.split, PAIRS):
        for text in filter(re.compile(rf"\b{male}\b").search, texts):
            other = re.sub(rf"\b{male}\b", female, text)
            both.append([rows[place[text]], rows[place[other]]])
    pairs = np.array(both, dtype=np.float64)
    assert pairs.shape == (42, 2, 768)

    centred = []
    for one, other in pairs:
        one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
        centred += [one - (one + other) / 2, other - (one + other) / 2]
    expected = rows.astype(np.float64)
    for axis in PCA(components).fit(centred).components_:
        expected = expected - np.outer(expected @ axis, axis)
    none = np.empty((0, 768))
    eraser = SentDebias(components=components).fit(Examples(none, none, pairs, ""), seed=0)
    np.testing.assert_allclose(eraser.apply(rows.astype(np.float64)), expected, atol=1e-9)
    assert eraser.rank == components


def test_more_components_than_pairs_span() -> None:
    one = np.eye(4)[:2]
    pairs, none = np.stack([one, -one], axis=1), np.empty((0, 4))
    with pytest.raises(InputError, match=r"components=3: .* span 2 dimensions; give fewer"):
        SentDebias(components=3).fit(Examples(none, none, pairs, ""), seed=0)
