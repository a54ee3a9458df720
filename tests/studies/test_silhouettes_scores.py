"""Robustness and accuracy from silhouettes: the paper's definitions, by hand and by a loop."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from biasbridge.analysis.frame import as_float
from biasbridge.analysis.results import Tables
from biasbridge.files import InputError
from biasbridge.files.vectors import keyed, save_vectors
from biasbridge.intrinsic.wordsets import load_query
from biasbridge.studies.silhouettes.pairs import read_model_pairs
from biasbridge.studies.silhouettes.scores import Scale, accuracy, robustness
from biasbridge.studies.silhouettes.study import SilhouetteAnalysis
from biasbridge.studies.silhouettes.table import fewer_runs, scores

if TYPE_CHECKING:
    from tests.conftest import Train

# Worked by hand: three runs of a model, and another model's means
SIZES = np.array([2.0, 4.0, 6.0])
RUNS = np.array([[0.2, 0.4, 0.6], [0.1, 0.5, 0.6], [0.3, 0.3, 0.6]])
OTHER = np.array([[0.1, 0.2, 0.2]])
WEAT = Scale(-2, 2, 0)
ECT = Scale(-1, 1, 1)


def test_the_toy_example() -> None:
    assert robustness(SIZES, RUNS, WEAT) == pytest.approx(0.975)
    assert accuracy(SIZES, RUNS, OTHER, WEAT) == pytest.approx(0.5375)
    assert accuracy(SIZES, RUNS, OTHER, WEAT, "released") == pytest.approx(0.51875)


def test_bias_is_the_distance_from_what_is_unbiased() -> None:
    """ECT of 1 is unbiased: the model with the lower rho has more bias. The code takes it for 0."""
    coherent, split = np.full((1, 3), 0.9), np.full((1, 3), -0.5)
    share = (1.5 - 0.1) * 4 / (2 * 6)
    assert accuracy(SIZES, split, coherent, ECT) == pytest.approx(0.5 + 0.5 * share)
    slip = (0.5 - 0.9) * 4 / (2 * 6)
    assert accuracy(SIZES, split, coherent, ECT, "released") == pytest.approx(0.5 + 0.5 * slip)


def test_extremes() -> None:
    x = np.array([0.0, 10.0])
    whole = np.array([[-2.0, -2.0], [2.0, 2.0]])
    assert robustness(x, whole, WEAT) == 0
    assert robustness(x, whole[:1], WEAT) == 1
    assert accuracy(x, whole[:1], np.zeros((1, 2)), WEAT) == 1
    assert accuracy(x, np.zeros((1, 2)), whole[1:], WEAT) == 0
    assert accuracy(x, whole[:1], np.zeros((1, 2)), WEAT, "released") == 0.75


@pytest.mark.parametrize("seed", range(5))
def test_scores_by_a_literal_loop(seed: int) -> None:
    """Step by step over the definitions, without an array operation."""
    rng = np.random.default_rng(seed)
    sizes = np.cumsum(rng.integers(1, 7, size=12)).astype(float)
    biased, unbiased = rng.uniform(-2, 2, (2, 7, 12))
    silhouette, between = 0.0, 0.0
    for i in range(11):
        step = sizes[i + 1] - sizes[i]
        heights = [
            max(run[j] for run in biased) - min(run[j] for run in biased) for j in (i, i + 1)
        ]
        silhouette += step * sum(heights) / 2
        apart = [
            abs(sum(run[j] for run in biased) / 7) - abs(sum(run[j] for run in unbiased) / 7)
            for j in (i, i + 1)
        ]
        between += step * sum(apart) / 2
    assert robustness(sizes, biased, WEAT) == pytest.approx(1 - silhouette / (4 * sizes[-1]))
    expected = 0.5 + 0.5 * between / (2 * sizes[-1])
    assert accuracy(sizes, biased, unbiased, WEAT) == pytest.approx(expected)


def test_a_scale_without_ends_has_no_score() -> None:
    endless = Scale(-np.inf, np.inf, 0)
    assert np.isnan(robustness(SIZES, RUNS, endless))
    assert np.isnan(accuracy(SIZES, RUNS, OTHER, endless))
    assert np.isnan(accuracy(SIZES, RUNS, OTHER, Scale(-2, 2, np.nan)))


def probe_rows(
    point: str, metric: str, values: Sequence[Sequence[float]]
) -> list[dict[str, object]]:
    """``values``: by size."""
    about = {"weat": (-2.0, 2.0, 0.0), "ripa": (-np.inf, np.inf, 0.0), "sq": (0.0, 1.0, np.nan)}
    scale_min, scale_max, unbiased = about[metric]
    shared: dict[str, object] = {
        "point": point,
        "probe": "silhouettes",
        "metric": metric,
        "convention": "default",
    }
    shared |= {
        "query": "q",
        "part": "",
        "list_kind": "targets",
        "scale_min": scale_min,
        "scale_max": scale_max,
    }
    return [
        shared | {"unbiased": unbiased, "n_oov": 0, "size": size, "values": each, "reason": ""}
        for size, each in zip((2, 4, 6), values, strict=True)
    ]


def make_tables(seeds: int = 3) -> Tables:
    points, probes = [], []
    rng = np.random.default_rng(0)
    for seed in range(seeds):
        for which, level in (("biased", 1.5), ("unbiased", 0.1)):
            point = f"{which} {seed}"
            facts: dict[str, object] = {
                "reference": which,
                "embedding": "word2vec",
                "method": "none",
                "dose": 0.0,
            }
            facts |= {"stereotype": 0.8 if which == "biased" else 0.0, "seed": seed}
            keys = {"biased_key": f"b{seed}", "unbiased_key": f"u{seed}"}
            points.append({"point": point, "status": "done", "generated": True, **facts, **keys})
            for metric in ("weat", "ripa", "sq"):
                noise = rng.uniform(-0.2, 0.2, (3, 25)) * np.array([[1], [0.5], [0]])
                probes += probe_rows(point, metric, (level + noise).tolist())
    empty = pd.DataFrame({"point": []})
    return Tables(pd.DataFrame(points), empty, empty, pd.DataFrame(probes))


def test_models_are_paired_and_named_by_what_differs() -> None:
    pairs = read_model_pairs(make_tables(), {})
    assert len(pairs) == 9
    assert {pair.models for pair in pairs} == {"word2vec, stereotype 0.8 against 0"}
    assert pairs[0].biased.shape == (25, 3)
    assert pairs[0].biased.mean() > 1 > pairs[0].unbiased.mean()


def test_an_undefined_score_says_why() -> None:
    table = scores(read_model_pairs(make_tables(1), {}), "printed")
    assert dict(zip(table["metric"], table["reason"], strict=True)) == {
        "weat": "",
        "ripa": "its scale has no ends; give them in study.limits",
        "sq": "it has no unbiased value",
    }
    assert np.isfinite(as_float(table, "robustness_biased")).tolist() == [True, False, True]
    given = scores(read_model_pairs(make_tables(1), {"ripa": (-2, 2)}), "printed")
    assert np.isfinite(as_float(given, "accuracy")).tolist() == [True, True, False]
    values = np.array([*make_tables(1).probes["values"][3:6]]).T
    expected = robustness(SIZES, values, WEAT)
    assert as_float(given, "robustness_biased")[1] == pytest.approx(expected)


def test_fewer_runs_come_nearer_to_all(tmp_path: Path) -> None:
    table = fewer_runs(read_model_pairs(make_tables(), {}), "printed")
    assert sorted(set(table["runs"])) == [10, 20]
    ten, twenty = as_float(table[table["score"] == "robustness_biased"], "mean")
    assert twenty <= ten
    assert (as_float(table, "largest") >= as_float(table, "mean")).all()


def test_a_model_without_a_counterpart_has_robustness_alone(tmp_path: Path) -> None:
    two = make_tables(1)
    points = two.points[two.points["reference"] == "biased"].drop(columns="reference")
    one = two._replace(points=points.assign(embedding="mine.vec"))
    pairs = read_model_pairs(one, {})
    assert {(pair.models, len(pair.unbiased)) for pair in pairs} == {
        ("mine.vec, stereotype 0.8", 0)
    }
    alone, both = scores(pairs, "printed"), scores(read_model_pairs(two, {}), "printed")
    assert alone["robustness_biased"].equals(both["robustness_biased"])
    assert alone["accuracy"].isna().all()
    assert alone["reason"].tolist() == ["", "its scale has no ends; give them in study.limits", ""]
    assert set(fewer_runs(pairs, "printed")["score"]) == {"robustness_biased"}
    out = io.StringIO()
    written = SilhouetteAnalysis().conclude(one, tmp_path, Console(file=out, width=200))
    assert "The most robust lists are those of weat (q, targets), with" in out.getvalue()
    drawn = {path.stem for path in written if path.suffix == ".svg"}
    assert drawn == {"silhouettes_q", "silhouettes_runs"}


@pytest.mark.slow
def test_any_vectors_with_one_command(tmp_path: Path, train: Train) -> None:
    asked = ("gender_bsa", "ethnicity_bsa", "religion_bsa")
    sets = [each for name in asked for each in load_query(name).sets.values()]
    words = list(dict.fromkeys(word for each in sets for word in each.words))
    rng = np.random.default_rng(0)
    save_vectors(
        keyed(words, rng.normal(size=(len(words), 5)).astype(np.float32)), tmp_path / "v.vec"
    )
    ended = train("+experiment=silhouettes_real", "vectors=[v.vec]", "probe.runs=2")
    assert ended.status == 0, ended
    table = pd.read_csv(tmp_path / "results" / "silhouettes_real" / "silhouettes.csv")
    assert len(table) == 18
    assert set(table["query"].str.removesuffix("_one_list")) == {*asked}
    assert table["robustness_biased"].between(0, 1).all()
    assert table["reason"].isna().all()


def test_one_reference_model_is_refused() -> None:
    tables = make_tables(1)
    one = tables.points[tables.points["reference"] == "biased"]
    with pytest.raises(InputError, match=r"subject\.which=biased,unbiased"):
        read_model_pairs(tables._replace(points=one), {})
