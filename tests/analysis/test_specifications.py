"""The specification curve, and how often its p is right."""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.naming import SLICE_COLUMNS, STAMP
from biasbridge.analysis.specifications import _CHOICES, Curve, _curve_chart, specification_curves
from biasbridge.analysis.tables import Tables
from biasbridge.stats.formatting import format_number

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats, Ints

stress = pytest.mark.stress
QUERIES = ("weat6b", "weat7", "weat8")
MEASURES = ("precision", "recall")


class Measured(NamedTuple):
    """Scores of every query (3, n), gaps of every measure (2, n), the parent of each model (n,)."""

    x: Floats
    y: Floats
    parent: Ints


def measured(
    parents: int, models: int, r: float, seed: int = 0, *, growing: bool = False
) -> Measured:
    """Models on a ladder of doses; the gaps follow the score of the first query by a correlation of
    about r within parents, other queries share two thirds of their variance with it. Every parent
    moves scores and gaps; noise of gaps may be ``growing`` with the score.
    """
    rng = np.random.default_rng(seed)
    parent = np.repeat(np.arange(parents), models)
    doses = np.linspace(-1, 1, models)
    first = (np.tile(doses / doses.std(), parents) + 0.4 * rng.normal(size=len(parent))) / 1.077
    others = sqrt(2 / 3) * first + sqrt(1 / 3) * rng.normal(size=(2, len(parent)))
    noise = rng.normal(size=(2, len(parent)))
    if growing:
        noise = noise * (0.3 + np.abs(first) ** 1.5) / 1.4
    gaps = r * first + sqrt(1 - r * r) * noise
    of_x, of_y = rng.normal(0, 2, size=(2, parents))[:, parent]
    return Measured(np.vstack([first, others]) + of_x, gaps + of_y, parent)


def tables_of(of: Measured, metrics: int = 1, reverse: bool = False) -> Tables:
    """A study as a sweep's tables: two training algorithms, whose parents are those of the study,
    queries and gaps, further metrics that are copies of the first with noise of their own; less is
    more biased where scores are to ``reverse``.
    """
    rng = np.random.default_rng(0)
    names = [f"p{i}" for i in range(len(of.parent))]
    points = pd.DataFrame(
        {
            "point": names,
            "embedding": np.where(of.parent % 2, "fasttext", "word2vec"),
            "method": "balance",
            "status": "done",
            "generated": False,
            "classifier": "cnn",
            "unit_key": names,
            "parent_key": of.parent.astype(str),
        }
    )
    intrinsic, extrinsic = [], []
    for query, x in zip(QUERIES, of.x, strict=True):
        for metric in range(metrics):
            value = x if not metric else x + rng.normal(size=len(x))
            row = {"point": names, "metric": f"m{metric}", "query": query, "value": value}
            ends = {"unbiased": 0.0, "scale_max": 9.0}
            if reverse:
                row["value"], ends = -value, {"unbiased": 1.0, "scale_max": 1.0}
            intrinsic.append(pd.DataFrame(row | ends))
    for measure, y in zip(MEASURES, of.y, strict=True):
        row = {"point": names, "task": "t", "kind": "gap", "measure": measure, "value": y}
        row |= {"group": "", "group_by": "annotation"}
        extrinsic.append(pd.DataFrame(row))
    return Tables(points, pd.concat(intrinsic), pd.concat(extrinsic))


def curve_of(tables: Tables, permutations: int = 199) -> Curve:
    (curve,) = specification_curves(join_points(tables), permutations=permutations)
    return curve


@cache
def p_under_null(parents: int, models: int, count: int, growing: bool) -> Floats:
    """p of the curve in so many studies in which no gap follows any score."""
    studies = (measured(parents, models, 0, seed, growing=growing) for seed in range(count))
    return np.array([curve_of(tables_of(item)).p for item in studies])


def test_r_of_a_specification_is_that_of_its_slice() -> None:
    joined = join_points(tables_of(measured(4, 9, 0.5), metrics=2))
    slices = correlate_slices(joined)
    (curve,) = specification_curves(joined, slices)
    (alone,) = specification_curves(joined)
    assert len(curve.specifications) == 2 * 3 * 2 * 3, "metrics, queries, gaps, embeddings"
    actual = {tuple(item.names[name] for name in SLICE_COLUMNS): item.within for item in slices}
    r = []
    for one, other in zip(curve.specifications, alone.specifications, strict=True):
        names = dict(zip(_CHOICES, one.levels, strict=True)) | {"task": "t"}
        assert names["classifier"] == "cnn"
        of = actual[tuple(names[name] for name in SLICE_COLUMNS)]
        assert (one.n, one.r_rm, one.low, one.high) == (of.n, of.r, of.low, of.high)
        assert (other.levels, other.n) == (one.levels, of.n)
        assert other.r_rm == pytest.approx(of.r)
        r.append(of.r)
    assert r == sorted(r)
    assert curve.median == alone.median == pytest.approx(np.median(r))


def test_the_curve_and_its_null_by_a_literal_loop() -> None:
    """All gaps of a model change places together within parents; p is of the median of z / s, s by
    leaving out each model.
    """
    of = measured(2, 9, 0.4, seed=16, growing=True)
    curve = curve_of(tables_of(of), permutations=1_999)

    def r_of(x: Floats, y: Floats, parent: Ints) -> float:
        n = np.bincount(parent)
        u, v = (side - (np.bincount(parent, side) / n)[parent] for side in (x, y))
        return float(u @ v / sqrt(float((u @ u) * (v @ v))))

    def medians(y: Floats) -> tuple[float, float]:
        r, t = [], []
        for x in of.x:
            for gap in y:
                selected = (np.delete(np.arange(18), out) for out in range(18))
                without = [np.arctanh(r_of(x[k], gap[k], of.parent[k])) for k in selected]
                s = sqrt((18 - 2) / 18 * float(((without - np.mean(without)) ** 2).sum()))
                r.append(r_of(x, gap, of.parent))
                t.append(float(np.arctanh(r[-1])) / s)
        return float(np.median(r)), float(np.median(t))

    assert len(curve.specifications) == 6, "of one parent of nine only seven degrees are left"
    r, t = medians(of.y)
    assert curve.median == pytest.approx(r)
    rng, count, beyond, middles = np.random.default_rng(5), 200, 0, []
    for _ in range(count):
        order = np.concatenate([rng.permutation(9), 9 + rng.permutation(9)])
        moved = medians(of.y[:, order])
        beyond += abs(moved[1]) >= abs(t)
        middles.append(moved[0])
    p = (1 + beyond) / (1 + count)
    assert curve.p == pytest.approx(p, abs=3 * sqrt(p * (1 - p) / count))
    ends = np.mean([(item.null_low, item.null_high) for item in curve.specifications[2:4]], axis=0)
    assert ends == pytest.approx(np.quantile(middles, [0.025, 0.975]), abs=0.1)


def test_specifications_share_each_permutation() -> None:
    """Of a gap and its opposite the median r is 0 in every permutation, and of copies the curve is
    flat; were each permuted by itself neither would be so.
    """
    of = measured(4, 9, 0.5)
    copies = of._replace(x=of.x[[0, 0, 0]], y=np.stack([of.y[0], -of.y[0]]))
    curve = curve_of(tables_of(copies))
    assert curve.median == pytest.approx(0, abs=1e-12)
    assert curve.p == 1
    alike = of._replace(x=of.x[[0, 0, 0]], y=of.y[[0, 0]])
    joined = join_points(tables_of(alike)).query("embedding == 'word2vec'")
    (curve,) = specification_curves(joined, permutations=199)
    assert len(curve.specifications) == 6
    for name in ("r_rm", "null_low", "null_high"):
        values = [getattr(item, name) for item in curve.specifications]
        assert values == pytest.approx([values[0]] * 6), name
    assert curve.specifications[0].null_low < 0 < curve.specifications[0].null_high


def test_a_method_takes_its_share_of_the_permutation_of_all() -> None:
    """Of two methods with as many models r of both is about the mean of theirs, in permutations
    too: so it is the median, whose null is that of a single r of all models.
    """
    tables = tables_of(measured(1, 400, 0))
    method = np.where(np.arange(400) % 2, "balance", "attract_repel")
    points = tables.points.assign(method=method, wordset=[f"list {i}" for i in range(400)])
    joined = join_points(tables._replace(points=points))
    joined = joined[(joined["query"] == "weat7") & (joined["measure"] == "recall")]
    (curve,) = specification_curves(joined, permutations=1_999)
    assert len(curve.specifications) == 3
    median = curve.specifications[1]
    assert median.null_high - median.null_low == pytest.approx(2 * 1.96 / sqrt(399), rel=0.08)


def test_parents_of_one_corpus_are_permuted_alike() -> None:
    """Two algorithms on two corpora that have the same scores and gaps condition by condition."""
    of = measured(2, 9, 0.5)
    twice = Measured(np.tile(of.x, 2), np.tile(of.y, 2), np.repeat([0, 2, 1, 3], 9))
    tables = tables_of(twice)
    condition = [f"list {i % 9}" for i in range(36)]
    corpus = np.tile(np.repeat(["a", "b"], 9), 2)
    points = tables.points.assign(wordset=condition, corpus_key=corpus)
    joined = join_points(tables._replace(points=points))
    joined = joined[(joined["query"] == "weat7") & (joined["measure"] == "recall")]
    (curve,) = specification_curves(joined, permutations=199)
    levels = {item.levels[0] for item in curve.specifications}
    assert levels == {"word2vec", "fasttext", "all"}
    for name in ("r_rm", "null_low", "null_high"):
        values = [getattr(item, name) for item in curve.specifications]
        assert values == pytest.approx([values[0]] * 3), name


def test_the_choice_that_the_sign_depends_on_is_named() -> None:
    """Of two gaps one follows the score and the other runs against it."""
    of = measured(4, 9, 0.9)
    curve = curve_of(tables_of(of._replace(y=np.stack([of.y[0], -of.y[0]]))))
    shares = {level.choice: level.epsilon_squared for level in curve.levels}
    assert shares["measure"] == pytest.approx(1)
    assert max(shares["query"], shares["embedding"]) <= 0
    assert curve.sentence() == (
        "t: r_rm is above 0 in 9 of 18 ways to analyse it."
        f" Its median is {format_number(curve.median)} (p 1)."
        " The sign depends mostly on the measure: above 0 for precision, not for recall."
    )
    mixed = curve._replace(levels=[level._replace(above=0.8) for level in curve.levels])
    assert "depends" not in mixed.sentence(), "above 0 for most of either"
    same = curve_of(tables_of(of)).sentence()
    assert "above 0 in 18 of 18 ways" in same
    assert "depends" not in same


def test_the_figure_says_what_is_seen_and_of_what_data() -> None:
    joined = join_points(tables_of(measured(4, 12, 0.7)))
    for synthetic in (True, False):
        (curve,) = specification_curves(joined.assign(generated=synthetic), permutations=99)
        title = _curve_chart(curve).to_dict()["title"]
        above = sum(item.r_rm > 0 for item in curve.specifications)
        number = len(curve.specifications)
        assert title["text"].endswith(f"r_rm is above 0 in {above} of {number} ways to analyse it")
        assert (STAMP in title["subtitle"]) is synthetic


def test_a_model_without_a_gap_is_in_no_specification_of_that_gap() -> None:
    tables = tables_of(measured(2, 12, 0))
    value = tables.extrinsic["value"].to_numpy(copy=True)
    value[3] = np.nan  # of precision
    curve = curve_of(tables._replace(extrinsic=tables.extrinsic.assign(value=value)))
    whole = [item for item in curve.specifications if item.levels[0] == "all"]
    n = {(item.levels[_CHOICES.index("measure")], item.n) for item in whole}
    assert n == {("precision", 23), ("recall", 24)}


def test_utility_and_small_studies_make_no_curve() -> None:
    tables = tables_of(measured(2, 12, 0))
    blank = tables.intrinsic.assign(unbiased=np.nan)
    assert specification_curves(join_points(tables._replace(intrinsic=blank))) == []
    assert specification_curves(join_points(tables_of(measured(2, 4, 0)))) == []


@pytest.mark.slow
@pytest.mark.parametrize("growing", [False, True])
def test_p_is_uniform_where_no_gap_follows_a_score(growing: bool) -> None:
    """Parents that move both sides, queries that share gaps, noise that grows with the score."""
    p = p_under_null(2, 9, 60, growing)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert (p < 0.05).mean() <= 0.05 + 3 * sqrt(0.05 * 0.95 / 60)


def test_a_relation_is_seen() -> None:
    p = [curve_of(tables_of(measured(4, 9, 0.5, seed))).p for seed in range(20)]
    assert np.mean(np.array(p) < 0.05) >= 0.8
