"""Robustness and accuracy from silhouettes: the paper's definitions, by hand and by a loop."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from biasbridge.analysis.tables import Tables
from biasbridge.files import InputError
from biasbridge.files.columns import as_float
from biasbridge.files.vectors import keyed, save_vectors
from biasbridge.intrinsic import METRICS, effect_size, negative_sentiment
from biasbridge.intrinsic.lookup import ResolvedQuery, resolve_query
from biasbridge.intrinsic.metrics.sentiment import _divergence_from_uniform
from biasbridge.intrinsic.words import load_query
from biasbridge.studies.silhouette_results import (
    Scale,
    _robustness,
    accuracy,
    fewer_runs,
    read_model_pairs,
    scores,
)
from biasbridge.studies.silhouettes import SilhouetteAnalysis, Silhouettes, _nested_subsets
from tests.intrinsic.metric_world import ROLES, SMALL, make_vectors

if TYPE_CHECKING:
    from biasbridge.intrinsic.metric import Metric
    from tests.conftest import Train


# Worked by hand: three runs of a model, and another model's means
SIZES = np.array([2.0, 4.0, 6.0])
RUNS = np.array([[0.2, 0.4, 0.6], [0.1, 0.5, 0.6], [0.3, 0.3, 0.6]])
OTHER = np.array([[0.1, 0.2, 0.2]])
WEAT = Scale(-2, 2, 0)
ECT = Scale(-1, 1, 1)


def test_the_toy_example() -> None:
    assert _robustness(SIZES, RUNS, WEAT) == pytest.approx(0.975)
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
    assert _robustness(x, whole, WEAT) == 0
    assert _robustness(x, whole[:1], WEAT) == 1
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
    assert _robustness(sizes, biased, WEAT) == pytest.approx(1 - silhouette / (4 * sizes[-1]))
    expected = 0.5 + 0.5 * between / (2 * sizes[-1])
    assert accuracy(sizes, biased, unbiased, WEAT) == pytest.approx(expected)


def test_a_scale_without_ends_has_no_score() -> None:
    endless = Scale(-np.inf, np.inf, 0)
    assert np.isnan(_robustness(SIZES, RUNS, endless))
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
        shared | {"unbiased": unbiased, "n_oov": 0, "size": size, "values": item, "reason": ""}
        for size, item in zip((2, 4, 6), values, strict=True)
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
    table = scores(read_model_pairs(make_tables(1), {}))
    assert dict(zip(table["metric"], table["reason"], strict=True)) == {
        "weat": "",
        "ripa": "its scale has no ends; give them in study.limits",
        "sq": "it has no unbiased value",
    }
    assert np.isfinite(as_float(table, "robustness_biased")).tolist() == [True, False, True]
    given = scores(read_model_pairs(make_tables(1), {"ripa": (-2, 2)}))
    assert np.isfinite(as_float(given, "accuracy")).tolist() == [True, True, False]
    values = np.array([*make_tables(1).probes["values"][3:6]]).T
    expected = _robustness(SIZES, values, WEAT)
    assert as_float(given, "robustness_biased")[1] == pytest.approx(expected)


def test_both_definitions_of_accuracy_stand_side_by_side(tmp_path: Path) -> None:
    pair, *_ = pairs = read_model_pairs(make_tables(1), {})
    table = scores(pairs)
    printed, released = (as_float(table, f"accuracy{end}")[0] for end in ("", "_released"))
    measured = pair.sizes, pair.biased, pair.unbiased, pair.scale
    assert printed == accuracy(*measured)
    assert released == accuracy(*measured, "released")
    assert printed > released > 0.5
    out = io.StringIO()
    SilhouetteAnalysis().conclude(make_tables(1), tmp_path, Console(file=out, width=400))
    text = " ".join(out.getvalue().split())
    assert "The most accurate metric is weat" in text
    assert "As the paper's code defines accuracy it is weat" in text


def test_fewer_runs_come_nearer_to_all(tmp_path: Path) -> None:
    table = fewer_runs(read_model_pairs(make_tables(), {}))
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
    alone, both = scores(pairs), scores(read_model_pairs(two, {}))
    assert alone["robustness_biased"].equals(both["robustness_biased"])
    assert alone["accuracy"].isna().all()
    assert alone["reason"].tolist() == ["", "its scale has no ends; give them in study.limits", ""]
    assert set(fewer_runs(pairs)["score"]) == {"robustness_biased"}
    out = io.StringIO()
    written = SilhouetteAnalysis().conclude(one, tmp_path, Console(file=out, width=200))
    assert "The most robust lists are those of weat (q, targets) (" in out.getvalue()
    figures = {path.stem for path in written if path.suffix == ".svg"}
    assert figures == {"silhouettes_q", "silhouettes_runs"}


@pytest.mark.slow
def test_any_vectors_with_one_command(tmp_path: Path, train: Train) -> None:
    requested = ("gender_bsa", "ethnicity_bsa", "religion_bsa")
    sets = [item for name in requested for item in load_query(name).sets.values()]
    words = list(dict.fromkeys(word for item in sets for word in item.words))
    rng = np.random.default_rng(0)
    save_vectors(
        keyed(words, rng.normal(size=(len(words), 5)).astype(np.float32)), tmp_path / "v.vec"
    )
    ended = train("+experiment=silhouettes_real", "vectors=[v.vec]", "probe.runs=2")
    assert ended.status == 0, ended
    table = pd.read_csv(tmp_path / "results" / "silhouettes_real" / "silhouettes.csv")
    assert len(table) == 18
    assert set(table["query"].str.removesuffix("_one_list")) == {*requested}
    assert table["robustness_biased"].between(0, 1).all()
    assert table["reason"].isna().all()


@pytest.mark.slow
def test_words_that_either_model_lacks_leave_both(tmp_path: Path, train: Train) -> None:
    sets = [*load_query("gender_bsa").sets.values(), *load_query("religion_bsa").sets.values()]
    words = list(dict.fromkeys(word for item in sets for word in item.words))
    rng = np.random.default_rng(0)
    for name, missing in (("a", {"aunt", "priest"}), ("b", {"boys", "mosque"})):
        kept = [word for word in words if word not in missing]
        rows = rng.normal(size=(len(kept), 5)).astype(np.float32)
        save_vectors(keyed(kept, rows), tmp_path / f"{name}.vec")
    models = ["biased=a.vec", "unbiased=b.vec", "intrinsic.weat.queries=[gender_bsa]"]
    ended = train("+experiment=silhouettes_pair", *models, "intrinsic=weat", "probe.runs=2")
    assert ended.status == 0, ended
    table = pd.read_csv(tmp_path / "results" / "silhouettes_pair" / "silhouettes.csv")
    gender = load_query("gender_bsa").sets
    roles = {"targets": "XY", "attributes": "AB"}
    lacking = {"aunt", "priest", "boys", "mosque"}
    n_words = {
        kind: sum(len({*gender[role].words} - lacking) for role in both)
        for kind, both in roles.items()
    }
    found = dict(zip(table["list_kind"], table["words"], strict=True))
    assert found == n_words
    assert table["accuracy_released"].between(0, 1).all()


def test_one_reference_model_is_refused() -> None:
    tables = make_tables(1)
    one = tables.points[tables.points["reference"] == "biased"]
    with pytest.raises(InputError, match=r"subject\.which=biased,unbiased"):
        read_model_pairs(tables._replace(points=one), {})


# Nested subsets of word lists: how they are drawn, and what metrics read on them.

VECTORS = make_vectors()


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("words") / "mine.json"
    path.write_text(json.dumps({"mine": ROLES}), encoding="utf-8")
    return path


def metric_of(name: str, words: Path, **options: object) -> Metric:
    given: dict[str, Any] = {**SMALL.get(name, {}), **options}
    return METRICS[name].by_convention("default", queries=("mine",), words=str(words), **given)


def found_by(metric: Metric) -> ResolvedQuery:
    return resolve_query(VECTORS, metric.loaded_queries[0], metric.about.takes, case=metric.case)


def test_any_metric_has_silhouettes(words: Path) -> None:
    for name in METRICS:
        lists = METRICS[name].about.roles.keys() & {"X", "words", "partners", "rows"}
        if not lists or name == "sq":  # which asks a file of word similarities
            continue
        metric = metric_of(name, words)
        rows = Silhouettes(runs=2, target_step=2, attribute_step=2).rows(VECTORS, metric, seed=0)
        whole = {score.part: score.value for score in metric.score(VECTORS, seed=0)}
        grown = rows[rows["size"] > 0]  # not lists of a single pair
        last = grown.drop_duplicates(["part", "list_kind"], keep="last")
        assert len(last), name
        for part, values in zip(last["part"], last["values"], strict=True):
            assert values == pytest.approx(whole[part], abs=1e-6), name


def test_weat_ect_and_rnsb_by_their_equations(words: Path) -> None:
    """A literal loop: the words of every subset looked up by name."""
    rng = np.random.default_rng
    lists = {role: list(ROLES[role]) for role in "XYAB"}
    orders = [
        [
            [lists[role][i] for i in rng((5, run, place)).permutation(len(lists[role]))]
            for place, role in enumerate("AB")
        ]
        for run in range(4)
    ]
    sets = {role: np.array([VECTORS[word] for word in lists[role]], float) for role in "XYAB"}
    expected: dict[str, list[float]] = {"weat": [], "rnsb": []}
    for order in orders:
        for step in range(1, 5):
            a, b = (np.array([VECTORS[word] for word in item[:step]], float) for item in order)
            expected["weat"].append(effect_size(sets["X"], sets["Y"], a, b))
            means = np.array([sets["X"].mean(axis=0), sets["Y"].mean(axis=0)])
            likely = negative_sentiment(a, b, means)
            expected["rnsb"].append(_divergence_from_uniform(likely))
    for name, options in (("weat", {"p_value": False}), ("rnsb", {"unit": "group"})):
        probe = Silhouettes(runs=4, attribute_step=2)
        rows = probe.rows(VECTORS, metric_of(name, words, **options), seed=5)
        rows = rows[rows["list_kind"] == "attributes"]
        assert rows["size"].tolist() == [2, 4, 6, 7, 8]
        result = np.array([*rows["values"]])[:4]
        assert result.T.ravel() == pytest.approx(expected[name], abs=1e-6), name


def test_lists_grow_together_and_end_whole(words: Path) -> None:
    result = found_by(metric_of("weat", words))
    subsets = _nested_subsets({"A": result["A"], "B": result["B"]}, 2, 5, seed=1)
    assert subsets.counts["A"].tolist() == [1, 2, 3, 4, 5]
    assert subsets.counts["B"].tolist() == [1, 2, 3, 3, 3], "the shorter list is whole before"
    assert subsets.sizes.tolist() == [2, 4, 6, 7, 8]
    for role, order in subsets.orders.items():
        assert np.sort(order, axis=1).tolist() == [list(range(len(result[role].items)))] * 5
    more = _nested_subsets({"A": result["A"], "B": result["B"]}, 2, 9, seed=1)
    assert (more.orders["A"][:5] == subsets.orders["A"]).all(), "more runs change none"


def test_a_step_has_at_least_one_word_and_a_base_pair_is_two(words: Path) -> None:
    result = found_by(metric_of("ripa", words))
    assert _nested_subsets({"pairs": result["pairs"]}, 1, 1, seed=0).sizes.tolist() == [2, 4, 6]
    assert _nested_subsets({"pairs": result["pairs"]}, 4, 1, seed=0).sizes.tolist() == [4, 6]


def test_lists_shorter_than_the_step_are_refused(words: Path) -> None:
    metric = metric_of("weat", words)
    with pytest.raises(InputError, match=r"8 words of X and Y .* not more than one step of 20"):
        Silhouettes(target_step=20, attribute_step=20).rows(VECTORS, metric, seed=0)
    rows = Silhouettes(runs=2, target_step=20).rows(VECTORS, metric, seed=0)
    short = rows[rows["size"] == 0]
    assert short["list_kind"].tolist() == ["targets"]
    assert "lower probe.target_step" in short["reason"].iloc[0]
    assert set(rows[rows["size"] > 0]["list_kind"]) == {"attributes"}


def test_words_in_both_lists_are_refused_as_by_the_metric(tmp_path: Path) -> None:
    path = tmp_path / "both.json"
    sets = {**{role: ROLES[role] for role in "XYA"}, "B": ["aa", "ba", "bb"]}
    path.write_text(json.dumps({"mine": sets}), encoding="utf-8")
    with pytest.raises(InputError, match="A and B of query 'mine' share aa"):
        Silhouettes(runs=2).rows(VECTORS, metric_of("weat", path), seed=0)
