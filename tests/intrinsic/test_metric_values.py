"""Every metric equals a literal loop over its equation."""

from __future__ import annotations

import doctest
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.decomposition import PCA

from biasbridge.files import InputError
from biasbridge.intrinsic import METRICS, Metric, Weat, direct_bias
from biasbridge.intrinsic.lookup import direction, subspace
from biasbridge.intrinsic.metrics.direct import DirectBias
from biasbridge.intrinsic.resampling import RESAMPLES
from tests.intrinsic.metric_world import (
    BEST,
    EDGES,
    EXTREMES,
    FACTS,
    FARTHEST,
    NEIGHBOURS,
    PAIRS,
    PARTNERS,
    ROLES,
    ROWS,
    SETS,
    SIMILARITIES,
    VOCABULARY,
    Vector,
    axis,
    cos,
    dot,
    make_metric,
    make_vectors,
    words_of,
    write_words,
)

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


Lookup = Callable[[str], Vector]


def unit(u: Vector) -> Vector:
    return u / math.sqrt(dot(u, u))


def mean(values: Iterable[float]) -> float:
    result = list(values)
    return sum(result) / len(result)


def sd(values: Iterable[float]) -> float:
    result = list(values)
    return math.sqrt(mean((value - mean(result)) ** 2 for value in result))


def middle(rows: Sequence[Vector]) -> Vector:
    return np.asarray(sum(rows) / len(rows))


def centre(v: Lookup, role: str) -> Vector:
    return middle([v(word) for word in SETS[role]])


def unit_centre(v: Lookup, role: str) -> Vector:
    return middle([unit(v(word)) for word in SETS[role]])


def association(v: Lookup, word: str) -> float:
    return mean(cos(v(word), v(a)) for a in SETS["A"]) - mean(cos(v(word), v(b)) for b in SETS["B"])


WORDS = list(FACTS)
VALUES = list(FACTS.values())


def weat(v: Lookup) -> float:
    x, y = ([association(v, word) for word in SETS[role]] for role in "XY")
    return (mean(x) - mean(y)) / sd(x + y)


def factual(v: Lookup) -> float:
    scores = [
        association(v, word) / sd(cos(v(word), v(c)) for c in [*SETS["A"], *SETS["B"]])
        for word in WORDS
    ]
    mx, my = mean(VALUES), mean(scores)
    return mean((a - mx) * (b - my) for a, b in zip(VALUES, scores, strict=True)) / (
        sd(VALUES) * sd(scores)
    )


def generalised(v: Lookup) -> float:
    means = [unit_centre(v, role) for role in "XYAB"]
    middle = (means[0] + means[1]) / 2
    return dot(means[0] - middle, means[2]) + dot(means[1] - middle, means[3])


def rnd(v: Lookup) -> float:
    x, y = (unit_centre(v, role) for role in "XY")
    return mean(math.dist(x, unit(v(a))) - math.dist(y, unit(v(a))) for a in SETS["A"])


def margin(x: Vector, at: Vector) -> float:
    return dot(x, at[:-1]) + at.item(-1)


def rnsb(v: Lookup) -> float:
    train = [(v(word), -1) for word in SETS["A"]] + [(v(word), 1) for word in SETS["B"]]

    def loss(at: Vector) -> float:
        losses = (math.log1p(math.exp(-y * margin(x, at))) for x, y in train)
        return dot(at[:-1], at[:-1]) / 2 + sum(losses)

    at = optimize.minimize(
        loss, np.zeros(len(train[0][0]) + 1), method="BFGS", options={"gtol": 1e-9}
    ).x
    likely = [1 / (1 + math.exp(-margin(v(word), at))) for role in "XY" for word in SETS[role]]
    shares = [value / sum(likely) for value in likely]
    return sum(share * math.log(share * len(shares)) for share in shares)


def mac(v: Lookup) -> float:
    targets = [*SETS["X"], *SETS["Y"]]
    return mean(mean(1 - cos(v(t), v(a)) for a in SETS[role]) for t in targets for role in "AB")


def ect(v: Lookup) -> float:
    x, y = ([cos(centre(v, role), v(a)) for a in SETS["A"]] for role in "XY")
    return float(stats.spearmanr(x, y).statistic)


def bat(v: Lookup) -> float:
    hits = total = 0
    for x, y, a, b in itertools.product(*(SETS[role] for role in "XYAB")):
        one, two = v(x) - v(y) + v(b), v(a) - v(x) + v(y)
        for other in SETS["B"]:
            if other != b:
                hits += math.dist(one, v(a)) < math.dist(one, v(other))
                total += 1
        for other in SETS["A"]:
            if other != a:
                hits += math.dist(two, v(b)) < math.dist(two, v(other))
                total += 1
    return hits / total


def principal(v: Lookup) -> Vector:
    rows = []
    for a, b in PAIRS:
        one, other = unit(v(a)), unit(v(b))
        rows += [(one - other) / 2, (other - one) / 2]
    vectors: Vector = np.linalg.eigh(sum(np.outer(row, row) for row in rows)).eigenvectors
    return vectors[:, -1]


def she_he(v: Lookup) -> Vector:
    a, b = PAIRS[0]
    return unit(unit(v(a)) - unit(v(b)))


def direct(v: Lookup) -> float:
    return mean(abs(cos(v(word), principal(v))) for word in WORDS)


def pair_bias(v: Lookup) -> float:
    return mean(dot(unit(v(w)), unit(v(a)) - unit(v(b))) for w in WORDS for a, b in PAIRS)


def neutral(v: Lookup) -> list[str]:
    gone = {word for pair in PAIRS for word in pair}
    return [word for word in [*words_of(ROLES), *VOCABULARY] if word not in gone]


def projection(v: Lookup) -> float:
    return mean(abs(cos(v(word), she_he(v))) for word in neutral(v))


def ripa(v: Lookup) -> float:
    return mean(dot(v(w), unit(v(a) - v(b))) for w in WORDS for a, b in PAIRS)


def same(v: Lookup) -> float:
    a, b = (unit_centre(v, role) for role in "AB")
    return mean(abs(cos(v(word), a - b)) for role in "XY" for word in SETS[role])


def beta(w: Vector, u: Vector, g: Vector) -> float:
    w, u = unit(w), unit(u)
    rest_w, rest_u = w - dot(w, g) * g, u - dot(u, g) * g
    return (dot(w, u) - cos(rest_w, rest_u)) / dot(w, u)


def indirect(v: Lookup) -> float:
    return mean(beta(v(a), v(b), she_he(v)) for a, b in PARTNERS)


def sembias(v: Lookup) -> float:
    # The base pair is female first, rows are male first.
    a, b = PAIRS[0]
    axis = unit(v(b)) - unit(v(a))
    first = 0
    for row in ROWS:
        cosines = [cos(unit(v(row[i])) - unit(v(row[i + 1])), axis) for i in (0, 2, 4, 6)]
        first += max(range(4), key=cosines.__getitem__) == 0
    return first / len(ROWS)


def nearest(v: Lookup, word: str, k: int) -> list[str]:
    return sorted(
        (other for other in neutral(v) if other != word), key=lambda other: -cos(v(word), v(other))
    )[:k]


def nbm(v: Lookup) -> float:
    scores = []
    for word in WORDS:
        for a, b in PAIRS:
            signs = [cos(v(n), v(a)) - cos(v(n), v(b)) > 0 for n in nearest(v, word, NEIGHBOURS)]
            scores.append((sum(signs) - (len(signs) - sum(signs))) / len(signs))
    return mean(scores)


def males(v: Lookup) -> list[float]:
    return [
        mean(float(dot(v(n), she_he(v)) < 0) for n in nearest(v, word, NEIGHBOURS))
        for word in WORDS
    ]


def profession_correlation(v: Lookup) -> float:
    return float(np.corrcoef([-cos(v(word), she_he(v)) for word in WORDS], males(v))[0, 1])


def prox_bias(v: Lookup) -> float:
    return mean(
        mean(float(beta(v(w), v(n), she_he(v)) > 0.05) for n in nearest(v, w, NEIGHBOURS))
        for w in WORDS
    )


def gipe(v: Lookup) -> float:
    edges = {
        w: {n: beta(v(w), v(n), she_he(v)) > 0.05 for n in nearest(v, w, EDGES)} for w in WORDS
    }
    gammas, etas = [], []
    for w in WORDS:
        incoming = [float(edges[other][w]) for other in WORDS if w in edges[other]]
        gammas.append(1 + (mean(incoming) if incoming else 0))
        etas.append(mean(map(float, edges[w].values())))
    return sum(g * e for g, e in zip(gammas, etas, strict=True)) / sum(gammas)


def sq(v: Lookup) -> float:
    return float(
        stats.spearmanr(
            [cos(v(a), v(b)) for a, b, _ in SIMILARITIES], [value for *_, value in SIMILARITIES]
        ).statistic
    )


def analogies(v: Lookup) -> float:
    hits = []
    pool = list(dict.fromkeys([*neutral(v), *(word for pair in PAIRS for word in pair)]))
    for turn in (1, -1):
        for one, other in itertools.permutations(PAIRS, 2):
            (a, b), (c, d) = one[::turn], other[::turn]
            goal = unit(v(b)) - unit(v(a)) + unit(v(c))
            hits.append(
                max((w for w in pool if w not in (a, b, c)), key=lambda w: cos(v(w), goal)) == d
            )
    return mean(map(float, hits))


def unrelated(v: Lookup) -> float:
    hits = []
    pool = [*words_of(ROLES), *VOCABULARY]
    for a, b in PAIRS:
        for x, y in PARTNERS:
            goal = unit(v(x)) - unit(v(b)) + unit(v(a))
            hits.append(max(set(pool) - {a, b, x}, key=lambda w: cos(v(w), goal)) == y)
    return mean(map(float, hits))


def generated(v: Lookup) -> float:
    best = {}
    names = neutral(v)
    for x in names:
        near = [y for y in names if y != x and math.dist(unit(v(x)), unit(v(y))) <= FARTHEST]
        if near:
            best[x] = max(cos(she_he(v), unit(v(x)) - unit(v(y))) for y in near)
    return mean(sorted(best.values(), reverse=True)[:BEST])


def extremes(v: Lookup, most: int) -> tuple[list[str], list[str]]:
    order = sorted(neutral(v), key=lambda word: cos(v(word), she_he(v)))
    return order[:most], order[-most:]


def kmeans(v: Lookup) -> float:
    """The best split of few points by Lloyd's algorithm from every pair of starting points."""
    low, high = extremes(v, EXTREMES)
    rows = [unit(v(word)) for word in [*low, *high]]
    least, best = math.inf, [False] * len(rows)
    for start in itertools.combinations(rows, 2):
        centres = list(start)
        for _ in range(50):
            side = [math.dist(row, centres[0]) > math.dist(row, centres[1]) for row in rows]
            if len(set(side)) == 1:
                break
            other = [not far for far in side]
            centres = [middle([*itertools.compress(rows, selected)]) for selected in (other, side)]
        inertia = sum(min(math.dist(row, centre) ** 2 for centre in centres) for row in rows)
        if inertia < least - 1e-9:
            least, best = inertia, side
    agree = mean(float(far == (i >= len(low))) for i, far in enumerate(best))
    return max(agree, 1 - agree)


LITERAL: dict[str, Callable[[Lookup], float]] = {
    "weat": weat,
    "association": lambda v: mean(association(v, word) for word in WORDS),
    "factual_association": factual,
    "generalised_weat": generalised,
    "rnd": rnd,
    "rnsb": rnsb,
    "mac": mac,
    "ect": ect,
    "bat": bat,
    "direct_bias": direct,
    "pair_bias": pair_bias,
    "projection": projection,
    "ripa": ripa,
    "same": same,
    "indirect_bias": indirect,
    "sembias": sembias,
    "nbm": nbm,
    "male_neighbours": lambda v: mean(males(v)),
    "profession_correlation": profession_correlation,
    "prox_bias": prox_bias,
    "gipe": gipe,
    "kmeans": kmeans,
    "sq": sq,
    "analogies": analogies,
    "unrelated_analogies": unrelated,
    "generated_analogies": generated,
}
# These call scikit-learn on data drawn or split at random: what they must find is known on data
# made for it, below.
BY_CONSTRUCTION = {"svm", "ibt"}


def look_up(vectors: KeyedVectors) -> Lookup:
    return lambda word: np.asarray(vectors[word], dtype=np.float64)


def test_every_metric_has_an_expected_value() -> None:
    assert LITERAL.keys() | BY_CONSTRUCTION == METRICS.keys()


@pytest.mark.parametrize("name", LITERAL)
@pytest.mark.parametrize("seed", [3, 4])
def test_a_literal_loop_agrees(name: str, seed: int, tmp_path: Path) -> None:
    vectors = make_vectors(seed=seed)
    row = make_metric(name, write_words(tmp_path)).score(vectors, seed=0)[0]
    assert row.reason == ""
    assert row.value == pytest.approx(LITERAL[name](look_up(vectors)), abs=2e-6)


def test_like_words_solve_unrelated_analogies_with_and_without_a_base_pair(tmp_path: Path) -> None:
    """y lies near x, and the words of the first pair nearly together, those of the third far."""
    near = 0.05 * np.random.default_rng(1).normal(size=(4, 7))
    like = {y: axis(i) + near[i] for i, (_, y) in enumerate(PARTNERS)}
    like |= {x: axis(i) for i, (x, _) in enumerate(PARTNERS)}
    like |= {"pa": axis(5) + 0.01 * axis(6), "qa": axis(5)} | {"pc": axis(6), "qc": -axis(6)}
    like |= dict.fromkeys(VOCABULARY[:5], axis(6) + 0.5 * axis(0))
    vectors = make_vectors(like)
    metric = make_metric("unrelated_analogies", write_words(tmp_path))
    ((row, singles),) = metric.score_with_singles(vectors, seed=0)
    assert row.value == pytest.approx(unrelated(look_up(vectors)))
    assert 0 < row.value < 1
    assert row.statistic == 1, "x alone finds y"
    assert singles.keys() == {f"{x}:{y}" for x, y in PARTNERS}


@pytest.mark.parametrize("name", ["svm", "ibt"])
def test_groups_that_lie_apart_are_separated(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = make_vectors().vectors.astype(np.float64)
    words = [*words_of(ROLES), *VOCABULARY]
    far = {
        word: 0.1 * rng.normal(size=7) + side * axis(0)
        for role, side in (("X", 9), ("Y", -9))
        for word in SETS[role]
    }
    far |= {
        word: 0.1 * rng.normal(size=7) + (9 if i % 2 else -9) * axis(0)
        for i, word in enumerate(VOCABULARY)
    }
    far |= {"pa": axis(0), "qa": -axis(0)}
    assert set(far) <= set(words)
    metric = make_metric(name, write_words(tmp_path))
    assert [
        row.value for row in metric.score(make_vectors(far, matrix=rows), seed=0)
    ] == pytest.approx([1.0] * (2 if name == "ibt" else 1))
    # The words of the SVM are chosen by where they lie, so they lie apart in any vectors
    if name == "ibt":
        assert all(row.value < 1 for row in metric.score(make_vectors(seed=5), seed=0))


def test_every_score_lies_in_its_range(tmp_path: Path) -> None:
    words = write_words(tmp_path)
    for name, kind in METRICS.items():
        low, high = kind.about.range
        for seed in range(5):
            for row in make_metric(name, words).score(make_vectors(seed=seed), seed=0):
                assert low - 1e-9 <= row.value <= high + 1e-9, (name, row)


def test_generalised_weat_of_two_groups_is_the_statistic_of_weat(tmp_path: Path) -> None:
    words, vectors = write_words(tmp_path), make_vectors()
    (g,), (w,) = (
        make_metric(name, words).score(vectors, seed=0) for name in ("generalised_weat", "weat")
    )
    assert g.value == pytest.approx(w.statistic / (2 * len(SETS["X"])))


def test_more_groups_than_two(tmp_path: Path) -> None:
    words = write_words(tmp_path, X3=["vaa", "vab"], A3=["vba", "vbb"])
    vectors = make_vectors()
    for name in ("generalised_weat", "same", "mac", "rnsb"):
        (row,) = make_metric(name, words).score(vectors, seed=0)
        assert row.reason == ""
        assert math.isfinite(row.value)
        assert (
            row.n_found > make_metric(name, write_words(tmp_path)).score(vectors, seed=0)[0].n_found
        )
        words = write_words(tmp_path, X3=["vaa", "vab"], A3=["vba", "vbb"])


# K-means starts threads, which wait for one another for minutes where many processes run.
@pytest.mark.parametrize("name", [name for name in METRICS if name not in ("kmeans", "ibt")])
def test_words_drawn_anew_give_an_interval_and_joint_resamples(name: str, tmp_path: Path) -> None:
    words, vectors = write_words(tmp_path), make_vectors()
    rows = make_metric(name, words, resamples=1 if name == "svm" else 60).score(vectors, seed=1)
    plain = make_metric(name, words).score(vectors, seed=1)
    for row, bare in zip(rows, plain, strict=True):
        assert row.value == bare.value
        assert len(row.resampled) == RESAMPLES
        assert np.isfinite(row.resampled).mean() > 0.5
        assert math.isnan(bare.low)
        assert bare.resampled == ()
    # Few words drawn anew are often too few for a ranking or a correlation, or have one score:
    # then there is no interval rather than a wrong one.
    few = {"ect", "factual_association", "profession_correlation", "sq"}
    fixed = {"projection", "generated_analogies"}  # of the first pair alone: nothing is drawn
    if name not in few | fixed | {"analogies", "unrelated_analogies", "svm"}:
        assert rows[0].low < rows[0].high, rows[0]


def test_the_words_of_all_base_pairs_stay_out_of_the_vocabulary_of_every_resample(
    tmp_path: Path,
) -> None:
    rows = make_vectors().vectors.astype(np.float64)
    rows[:, 0] = 0  # no word lies along the first axis but those of the base pairs
    change = {
        word: axis(0) * sign for pair in PAIRS for word, sign in zip(pair, (1, -1), strict=True)
    }
    vectors = make_vectors(change, matrix=rows)
    (row,) = make_metric("projection", write_words(tmp_path), resamples=40).score(vectors, seed=0)
    assert row.value == 0
    assert {value for value in row.resampled if math.isfinite(value)} == {0}


def test_the_interval_of_weat_is_that_of_single_resamples(tmp_path: Path) -> None:
    words, vectors = write_words(tmp_path), make_vectors()
    metric = make_metric("weat", words, resamples=4_000)
    (fast,) = metric.score(vectors, seed=0)

    class Slow(Weat):
        intervals = Metric.intervals

    (slow,) = Slow(words=words, resamples=4_000, p_value=False).score(vectors, seed=0)
    # Four words a set: few values
    assert (fast.low, fast.high) == pytest.approx((slow.low, slow.high), abs=0.15)


# The examples in docstrings of equations give the values they print.

MODULES = (
    "biasbridge.intrinsic.lookup",
    "biasbridge.intrinsic.metrics.weat",
    "biasbridge.intrinsic.metrics.direct",
    "biasbridge.intrinsic.metrics.neighbours",
    "biasbridge.intrinsic.metrics.set_distances",
    "biasbridge.intrinsic.metrics.weat",
    "biasbridge.intrinsic.permutation",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("k", [2, 3])
def test_direct_bias_of_a_subspace_is_the_length_in_pcas_components(k: int) -> None:
    """Of the pair-centred vectors a - m and b - m, as Bolukbasi et al. (2016) define the space."""
    rng = np.random.default_rng(k)
    pairs, words = rng.normal(size=(6, 2, 5)), rng.normal(size=(7, 5))
    units = pairs / np.linalg.norm(pairs, axis=2, keepdims=True)
    centred = (units - units.mean(axis=1, keepdims=True)).reshape(12, 5)
    basis = PCA(k).fit(centred).components_
    lengths = [math.sqrt(sum(cos(word, component) ** 2 for component in basis)) for word in words]
    assert direct_bias(words, subspace(pairs, k)) == pytest.approx(mean(lengths))
    assert direct_bias(words, 3 * basis) == pytest.approx(mean(lengths))  # of any length
    assert direct_bias(words, basis[:1]) == pytest.approx(direct_bias(words, direction(pairs)))
    assert direct_bias(words, subspace(pairs, 5)) == pytest.approx(1)
    with pytest.raises(InputError, match="span 1 directions, not 2"):
        subspace(pairs[:1], 2)


def test_direct_bias_of_two_directions_by_its_option(tmp_path: Path) -> None:
    one, two = (
        make_metric("direct_bias", write_words(tmp_path), k=k).score(make_vectors(), seed=0)
        for k in (1, 2)
    )
    assert two[0].value > one[0].value
    assert (one[0].convention, two[0].convention) == ("default", "default,k=2")
    with pytest.raises(InputError, match="k=2 needs along=pca"):
        DirectBias(queries=("professions",), k=2, along="first")
