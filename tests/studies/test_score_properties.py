"""The search finds the theorems of Schröder et al. (2024), and its counterexamples hold by the
literal equations.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from biasbridge.files import InputError, choice
from biasbridge.files.vectors import keyed
from biasbridge.intrinsic.metric import Metric, MetricInfo
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.intrinsic.registry import METRICS
from biasbridge.intrinsic.score import MetricResult
from biasbridge.intrinsic.words import load_query
from biasbridge.studies.score_properties import _COLUMNS, AttributeGroups, PropertySearches
from biasbridge.studies.score_property_tables import (
    _embedding_names,
    _selections,
    difference_table,
    score_table,
)
from biasbridge.studies.synthetic_words import (
    SyntheticWords,
    _to_unit,
    attribute_sets,
    lowest,
    target_starts,
)
from tests.tiny_models import save_model

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.lookup import ResolvedQuery
    from biasbridge.stats.arrays import Floats
    from tests.conftest import Train


NO_VECTORS = keyed(["none"], np.ones((1, 1), dtype=np.float32))
PROBE = PropertySearches(items=(1, 3), attributes=2, dim=3, sets=4, evaluations=60)


def examine(name: str, probe: PropertySearches = PROBE, **settings: Any) -> pd.DataFrame:
    rows = probe.rows(NO_VECTORS, METRICS[name].by_convention(**settings), seed=0)
    return rows.assign(probe="score_properties")


def verdicts(rows: pd.DataFrame) -> dict[int, tuple[str, str, str]]:
    table = score_table(rows)
    return {
        int(row["items"]): (row["comparable"], row["trustworthy"], row["fair"])
        for row in table.to_dict("records")
    }


def counterexample(rows: pd.DataFrame, search: str, items: int) -> tuple[float, dict[str, Floats]]:
    """The value of a search and its vectors by role, the last of several."""
    result = rows[(rows["search"] == search) & (rows["items"] == items)].iloc[-1]
    vectors = json.loads(str(result["counterexample"]))
    return float(result["value"]), {role: np.array(item) for role, item in vectors.items()}


def cos(u: Floats, v: Floats) -> float:
    return float(sum(u * v) / math.sqrt(sum(u * u) * sum(v * v)))


def s(word: Floats, first: Floats, second: Floats) -> float:
    one, other = ([cos(word, a) for a in rows] for rows in (first, second))
    return sum(one) / len(one) - sum(other) / len(other)


def test_weat_of_a_word_is_trustworthy_and_not_comparable() -> None:
    """Theorems 1 and 2: its extremes are +-|mean(A) - mean(B)|, and it is 0 for no biased word."""
    rows = examine("association")
    assert verdicts(rows)[1] == ("no", "yes", "yes")
    singles = rows[(rows["items"] == 1) & rows["search"].isin(["max", "min"])]
    assert len(singles) == 2 * PROBE.sets
    reaches = []
    for row in singles.to_dict("records"):
        result = {
            role: np.array(item) for role, item in json.loads(str(row["counterexample"])).items()
        }
        [word], groups = result["words"], (result["A"], result["B"])
        between = [sum(a / math.sqrt(sum(a * a)) for a in rows) / len(rows) for rows in groups]
        reach = math.sqrt(sum((between[0] - between[1]) ** 2))
        reaches.append(reach)
        assert row["value"] == pytest.approx(s(word, *groups), abs=1e-12)
        assert abs(row["value"]) == pytest.approx(reach, rel=1e-6)
    assert max(reaches) > 5 * min(reaches)
    # The mean of several words is 0 where they cancel
    assert verdicts(rows)[3] == ("no", "no", "yes")


def test_the_effect_size_is_comparable_and_not_trustworthy() -> None:
    """Theorems 3 and 4; and where no word is biased it is 0 / 0."""
    rows = examine("weat", p_value=False)
    assert verdicts(rows)[3] == ("yes", "no", "undefined")
    value, result = counterexample(rows, "unbiased", 3)
    of_x, of_y = ([s(word, result["A"], result["B"]) for word in result[role]] for role in "XY")
    spread = float(np.std([*of_x, *of_y]))
    assert value == pytest.approx((np.mean(of_x) - np.mean(of_y)) / spread, abs=1e-12)
    assert abs(value) < 1e-6
    assert max(map(abs, [*of_x, *of_y])) > 0.1
    for search, extreme in (("max", 2), ("min", -2)):
        values = rows.loc[rows["search"] == search, "value"]
        assert values.to_numpy() == pytest.approx(np.full(len(values), extreme), abs=1e-9)


def test_direct_bias_is_comparable_and_not_trustworthy() -> None:
    """Theorems 5 and 6, both ways: a biased word reads 0 and an unbiased one up to 1."""
    rows = examine("direct_bias")
    assert verdicts(rows) == dict.fromkeys((1, 3), ("yes", "no", "no"))
    for search, biased in (("unbiased", True), ("fair", False)):
        value, result = counterexample(rows, search, 1)
        first, second = result["pairs"][0::2], result["pairs"][1::2]
        halves = (first - second) / 2
        _, axes = np.linalg.eigh(sum(np.outer(half, half) for half in halves))
        [word] = result["words"]
        assert value == pytest.approx(abs(cos(word, axes[:, -1])), abs=1e-9)
        assert (abs(s(word, first, second)) > 0.1) == biased
        assert (value < 1e-6) == biased
        if not biased:
            assert abs(s(word, first, second)) < 1e-9
            assert value > 0.9


@pytest.mark.slow
def test_same_is_comparable_trustworthy_and_fair() -> None:
    assert verdicts(examine("same")) == dict.fromkeys((1, 3), ("yes", "yes", "yes"))


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("rnd", {}),
        ("ect", {}),
        ("sembias", {}),
        ("indirect_bias", {}),
        ("projection", {}),
        ("gipe", {"neighbours": 3}),
        ("factual_association", {}),
    ],
)
def test_every_kind_of_metric_is_searched(name: str, settings: dict[str, Any]) -> None:
    rows = examine(name, PropertySearches(items=(1,), sets=4, evaluations=3), **settings)
    assert set(rows["reason"]) == {""}
    parts = rows.groupby("part")["search"].value_counts()
    assert set(parts) == {1, 4}
    biased = rows[(rows["search"] == "unbiased") & rows["value"].notna()]
    assert (biased["bias"] >= PROBE.margin).all()
    fair = rows[(rows["search"] == "fair") & rows["value"].notna()]
    assert (fair["bias"] < 1e-9).all()


@pytest.mark.parametrize(
    ("name", "settings", "reason"),
    [
        ("analogies", {}, "does not measure bias"),
        ("ibt", {}, "compares no words with groups of attributes"),
        ("nbm", {"neighbours": 400}, "no score on any synthetic words"),
    ],
)
def test_where_properties_are_not_defined_the_row_says_why(
    name: str, settings: dict[str, Any], reason: str
) -> None:
    rows = examine(name, **settings)
    assert len(rows) == len(PROBE.items)
    assert all(reason in str(row) for row in rows["reason"])
    assert rows.columns.tolist() == [*_COLUMNS, "probe"]
    assert score_table(rows)["reason"].tolist() == rows["reason"].tolist()


@choice
class Undeclared(Metric):
    """A metric that does not say how large it can be."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="undeclared",
        title="",
        formula="",
        sign="",
        range=(math.nan, math.nan),
        source="",
        roles={"words": "words", "A": "attributes", "B": "attributes"},
        asks=("occupations",),
    )

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        return MetricResult(0.0)


def test_a_metric_without_a_declared_range_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"undeclared does not declare its range.*give MetricInfo\.range"
    ):
        PROBE.rows(NO_VECTORS, Undeclared(), seed=0)


def test_made_up_words_have_the_bias_that_the_paper_defines() -> None:
    rng = np.random.default_rng(0)
    for name in ("weat", "direct_bias", "sembias"):
        made_up = SyntheticWords(METRICS[name].by_convention(), 2, 3, 5)
        for matrix in attribute_sets(made_up, 4, 5, rng):
            first, second = (matrix[places] for places in made_up.grouped)
            expected = [s(word, first, second) for word in matrix[made_up.neutral]]
            np.testing.assert_allclose(made_up.biases(matrix), expected, atol=1e-12)
            for start in target_starts(made_up, matrix):
                unbiased = made_up.without_bias(start)
                assert np.abs(made_up.biases(unbiased)).max() < 1e-12
                for places in made_up.grouped:
                    assert np.array_equal(unbiased[places], start[places])


def test_the_search_finds_a_known_lowest_point() -> None:
    goal = _to_unit(np.array([[1.0, 2, 3], [3.0, -2, 1]]))

    def loss(matrix: Floats) -> float:
        return float(np.linalg.norm(matrix - goal))

    start = _to_unit(np.ones((2, 3)))
    rng = np.random.default_rng(0)
    result = lowest(loss, [start], np.arange(2), 600, enough=1e-6, rng=rng)
    assert result.loss == loss(result.matrix) <= 1e-6
    assert result.evaluations < 600
    np.testing.assert_allclose(np.linalg.norm(result.matrix, axis=1), 1)
    fixed = lowest(loss, [start], np.array([1]), 600, rng=rng)
    assert np.array_equal(fixed.matrix[0], start[0])


# The study of score properties: verdicts from searches, table 2, selections, figures, page.

WITNESS = json.dumps({"X": [[1.0, 0.0]], "A": [[0.6, -0.8]], "B": [[0.0, 1.0]]})
Value = str | int | float


def search(name: str, value: float, attributes: str = "", **change: Any) -> dict[str, Value]:
    row: dict[str, Value] = {
        "point": "p1",
        "probe": "score_properties",
        "metric": "toy",
        "convention": "default",
        "items": 1,
        "scale_min": -2.0,
        "scale_max": 2.0,
        "words": 2,
        "dim": 2,
        "part": "",
        "unbiased": 0.0,
        "search": name,
        "attributes": attributes,
        "value": value,
        "bias": 0.5,
        "evaluations": 10,
        "counterexample": WITNESS if math.isfinite(value) else "",
        "reason": "",
    }
    return row | change


def searched(
    high: tuple[float, float] = (2.0, 2.0),
    low: tuple[float, float] = (-2.0, -2.0),
    unbiased: float = 0.3,
    fair: float = 0.0,
    **change: Any,
) -> pd.DataFrame:
    ends = [("max", high), ("min", low)]
    rows = [
        search(end, value, f"near {i + 1}", **change)
        for end, values in ends
        for i, value in enumerate(values)
    ]
    rows += [search("unbiased", unbiased, **change), search("fair", fair, **change)]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("probes", "expected"),
    [
        (searched(), ("yes", "yes", "yes")),
        (searched(high=(2.0, 1.93)), ("yes", "yes", "yes")),  # 2% of 4 is .08
        (searched(high=(2.0, 1.91)), ("no", "yes", "yes")),
        (searched(low=(-2.0, -0.5)), ("no", "yes", "yes")),
        (searched(unbiased=1e-7), ("yes", "no", "yes")),
        (searched(fair=-0.4), ("yes", "yes", "no")),
        (searched(fair=math.nan), ("yes", "yes", "undefined")),
        (searched(unbiased=math.nan, high=(2.0, math.nan)), ("undefined", "undefined", "yes")),
    ],
)
def test_verdicts(probes: pd.DataFrame, expected: tuple[str, str, str]) -> None:
    [row] = score_table(probes).to_dict("records")
    assert (row["comparable"], row["trustworthy"], row["fair"]) == expected
    for verdict, counterexample in (
        ("comparable", "counterexample_comparable"),
        ("trustworthy", "counterexample_trustworthy"),
        ("fair", "counterexample_fair"),
    ):
        assert bool(row[counterexample]) == (row[verdict] == "no")
    assert row["evaluations"] == 60
    assert row["sets"] == 2


def test_without_a_bound_the_scale_is_what_was_found_unless_that_is_boundless() -> None:

    def verdict(*high: float) -> object:
        rows = searched((high[0], high[1]), (-1.0, -1.0)).assign(
            scale_min=-math.inf, scale_max=math.inf
        )
        return score_table(rows)["comparable"].tolist()[0]

    assert verdict(1.0, 0.5) == "no"
    assert verdict(1.0, 0.99) == "yes"
    assert verdict(1e4, 2e6) == "unbounded"


def associations(x: dict[str, float], y: dict[str, float]) -> pd.DataFrame:
    rows = [("X", *item) for item in x.items()] + [("Y", *item) for item in y.items()]
    return pd.DataFrame(rows, columns=["panel", "first", "value"])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_selection_is_separated_better_and_has_a_smaller_effect_size(sign: int) -> None:
    """Two words lie amid the others: without them the sets are apart, and d can be smaller."""
    x = {f"x{i}": sign * value for i, value in enumerate([3, 2.9, 3.1, 3, 0.6, 0.4, -0.2])}
    y = {f"y{i}": sign * value for i, value in enumerate([-3, -2.9, -3.1, -3, -0.6, -0.4, 0.2])}
    whole, fewer = _selections(associations(x, y))
    assert whole.n == 14
    apart = np.mean([a > b for a in x.values() for b in y.values()])
    assert whole.auc == pytest.approx(apart)
    assert fewer.auc == (1 if sign > 0 else 0)
    assert abs(fewer.effect_size) < abs(whole.effect_size)
    assert len({"x6", "y6"} & fewer.words) <= 1
    both = [[values[name] for name in values if name in fewer.words] for values in (x, y)]
    expected = (np.mean(both[0]) - np.mean(both[1])) / np.std(np.concatenate(both))
    assert fewer.effect_size == pytest.approx(expected)


def group_rows() -> pd.DataFrame:
    base: dict[str, Value] = dict.fromkeys(("reason", "second", "first"), "")
    base |= {"probe": "attribute_groups", "query": "q"}
    rows: list[dict[str, Value]] = []
    rng = np.random.default_rng(0)
    for point, shift in (("p1", 0.2), ("p2", 0.9)):
        about = base | {"point": point}
        for panel, value in (("unit", shift), ("raw", 3 * shift), ("chance", 0.1)):
            row = about | {"kind": "difference", "panel": panel, "n": 16, "value": value}
            rows.append(row | {"low": value - 0.05, "high": value + 0.05})
        for role, sign in (("X", 1), ("Y", -1)):
            for i in range(8):
                value = sign * shift + float(rng.normal())
                row = about | {"kind": "association", "panel": role, "value": value}
                rows.append(row | {"first": f"{role}{i}"})
        rows.append(about | {"kind": "effect", "value": 1.2, "p_value": 0.03, "n": 16, "panel": ""})
        names = ["man:woman", "he:she", "king:queen", "first component"]
        for panel in ("all", "less two"):
            for one in names:
                for other in names:
                    row = about | {"kind": "correlation", "panel": panel, "n": 3, "first": one}
                    rows.append(row | {"second": other, "value": float(one == other)})
    return pd.DataFrame(rows)


POINTS = pd.DataFrame(
    {
        "point": ["p1", "p2"],
        "status": "done",
        "embedding": "bert",
        "layer": [0, 6],
        "pooling": "mean",
        "generated": False,
    }
)


def test_embeddings_are_named_by_what_differs() -> None:
    assert _embedding_names(POINTS) == ["bert, layer 0", "bert, layer 6"]
    assert _embedding_names(POINTS.assign(embedding=["a", "b"])) == ["a", "b"]


def test_table_2_has_a_row_for_each_embedding_and_query() -> None:
    table = difference_table(POINTS, group_rows())
    assert table["embedding"].tolist() == ["bert, layer 0", "bert, layer 6"]
    row = table.iloc[1]
    assert (row["difference"], row["low"], row["high"]) == pytest.approx((0.9, 0.85, 0.95))
    assert (row["raw"], row["chance"], row["n"]) == pytest.approx((2.7, 0.1, 16))
    assert (row["effect_size"], row["p_value"], row["targets"]) == pytest.approx((1.2, 0.03, 16))


# Attribute differences, associations and bias directions, by literal loops.

Vector = NDArray[np.float64]
QUERY = "gender_topics"


@pytest.fixture(scope="module")
def vectors() -> KeyedVectors:
    """Random vectors of the query's words but one, of unequal lengths."""
    query = load_query(QUERY)
    words = [word for role in "XYAB" for word in query[role].words if word != "poetry"]
    words = list(dict.fromkeys([*words, *query["pairs"].words]))
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(len(words), 6)) * rng.uniform(0.5, 3, size=(len(words), 1))
    matrix[: len(query["X"].words), 0] += 2
    return keyed(words, matrix.astype(np.float32))


@pytest.fixture(scope="module")
def rows(vectors: KeyedVectors) -> pd.DataFrame:
    return AttributeGroups(queries=(QUERY,)).rows(vectors, None, seed=0)


def vector(vectors: KeyedVectors, word: str) -> Vector:
    return np.asarray(vectors[word], dtype=np.float64)


def unit(row: Vector) -> Vector:
    return row / math.sqrt(sum(row * row))


def kind(rows: pd.DataFrame, name: str, panel: str = "") -> pd.DataFrame:
    return rows[(rows["kind"] == name) & ((rows["panel"] == panel) | (panel == ""))]


def test_the_difference_is_that_of_the_means(vectors: KeyedVectors, rows: pd.DataFrame) -> None:
    query = load_query(QUERY)
    for panel, scale in (("unit", unit), ("raw", np.array)):
        means = [
            np.mean([scale(vector(vectors, word)) for word in query[role].words], axis=0)
            for role in "AB"
        ]
        [result] = kind(rows, "difference", panel).to_dict("records")
        assert result["value"] == pytest.approx(math.sqrt(sum((means[0] - means[1]) ** 2)))
        assert result["low"] < result["high"]
        assert result["n"] == 16
    [chance] = kind(rows, "difference", "chance")["value"]
    assert 0 < chance < 2


def test_no_association_exceeds_the_difference(vectors: KeyedVectors, rows: pd.DataFrame) -> None:
    """Theorem 1, on vectors of a vocabulary."""
    query = load_query(QUERY)
    result = kind(rows, "association")
    words = [word for role in "XY" for word in query[role].words if word != "poetry"]
    assert result["first"].tolist() == words
    for word, value in zip(words, result["value"], strict=True):
        sides = [
            sum(unit(vector(vectors, word)) @ unit(vector(vectors, a)) for a in query[role].words)
            / len(query[role].words)
            for role in "AB"
        ]
        assert value == pytest.approx(sides[0] - sides[1])
    [most] = kind(rows, "difference", "unit")["value"]
    assert result["value"].abs().max() <= most


def test_the_effect_size_is_weat_s(vectors: KeyedVectors, rows: pd.DataFrame) -> None:
    [score] = Weat(queries=(QUERY,), case="lower").score(vectors, seed=0)
    [result] = kind(rows, "effect").to_dict("records")
    assert (result["value"], result["p_value"]) == pytest.approx((score.value, score.p_value))


def test_directions_are_those_of_the_pairs(vectors: KeyedVectors, rows: pd.DataFrame) -> None:
    pairs = load_query(QUERY)["pairs"].items
    apart = {
        f"{a}:{b}": unit(unit(vector(vectors, a)) - unit(vector(vectors, b))) for a, b in pairs
    }
    whole = kind(rows, "correlation", "all")
    for one, other in [("male:female", "he:she"), ("boy:girl", "boy:girl")]:
        [value] = whole[(whole["first"] == one) & (whole["second"] == other)]["value"]
        assert value == pytest.approx(float(apart[one] @ apart[other]))
    halves = np.array([unit(vector(vectors, a)) - unit(vector(vectors, b)) for a, b in pairs])
    first = np.linalg.eigh(halves.T @ halves)[1][:, -1]
    near = {name: abs(float(row @ first)) for name, row in apart.items()}
    to_first = whole[whole["second"] == "first component"].set_index("first")["value"].abs()
    assert to_first.drop("first component").to_dict() == pytest.approx(near)
    # Without the two pairs nearest the component
    less = set(kind(rows, "correlation", "less two")["first"])
    nearest = sorted(near, key=lambda name: -near[name])[:2]
    assert less == {*near, "first component"} - {*nearest}


def test_words_that_are_not_there_are_named(vectors: KeyedVectors) -> None:
    few = keyed(["he", "she", "man"], np.eye(3, dtype=np.float32))
    result = AttributeGroups(queries=(QUERY,)).rows(few, None, seed=0)
    assert len(result) == 1
    assert "has 0 of" in result["reason"][0]
    assert "needs at least 4" in result["reason"][0]
    same = vectors.vectors.copy()
    same[vectors.key_to_index["he"]] = same[vectors.key_to_index["she"]]
    cancelled = keyed(vectors.index_to_key, same)
    result = AttributeGroups(queries=(QUERY,)).rows(cancelled, None, seed=0)
    assert "base pair have the same vector" in result["reason"][0]


def test_a_query_without_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"query 'weat7' has no pairs; attribute_groups needs"):
        AttributeGroups(queries=("weat7",))


def test_models_side_by_side(tmp_path: Path, train: Train) -> None:
    """From the command line to tables and figures."""
    for name in ("bert", "gpt2"):
        save_model(tmp_path / name, name)
    experiment = ["+experiment=score_properties_models", "models=[bert,gpt2]"]
    status, out, err = train(*experiment, "hydra/launcher=basic")
    assert status == 0, out + err
    assert "Table 2" in out
    results = tmp_path / "results" / "score_properties_models"
    table = pd.read_csv(results / "attribute_differences.csv")
    assert table["embedding"].tolist() == ["bert", "gpt2"]
    assert table["difference"].between(0, 2).all()
    points = pd.read_parquet(results / "points.parquet")
    assert points["contexts"].tolist() == ["alone", "alone"]
    assert (results / "report.html").is_file()
