"""What must hold of each metric on any vectors: rotation, scaling, exchange of roles, bad input."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasbridge.files import InputError
from biasbridge.intrinsic import METRICS, Score
from biasbridge.intrinsic.audit import score_metrics
from biasbridge.intrinsic.metrics.utility import SemanticQuality, _read_similarities
from tests.intrinsic.metric_world import (
    DIM,
    FACTS,
    PAIRS,
    ROLES,
    SETS,
    Items,
    Values,
    Vector,
    axis,
    make_metric,
    make_vectors,
    words_of,
    write_words,
)

FEW = settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SEEDS = st.integers(0, 10_000)
# Vectors enter these as they are, so lengths matter: RIPA and the means of ECT, distances of BAT,
# the classifier of RNSB.
BY_LENGTH = {"ripa", "ect", "bat", "rnsb"}
# What comes out when X and Y change places, A and B, or the words of every base pair: -v, v, 1 - v.
SWAPS: dict[str, dict[str, int]] = {
    "weat": {"XY": -1, "AB": -1},
    "association": {"AB": -1},
    "factual_association": {"AB": -1},
    "rnd": {"XY": -1},
    "mac": {"XY": 1, "AB": 1},
    "ect": {"XY": 1},
    "same": {"XY": 1, "AB": 1},
    "pair_bias": {"pairs": -1},
    "ripa": {"pairs": -1},
    "direct_bias": {"pairs": 1},
    "projection": {"pairs": 1},
    "indirect_bias": {"pairs": 1},
    "profession_correlation": {"pairs": 1},
    "prox_bias": {"pairs": 1},
    "gipe": {"pairs": 1},
    "generalised_weat": {"XY and AB": 1},
    "analogies": {"pairs": 1},
}


def value(name: str, words: str, rows: Vector) -> float:
    return make_metric(name, words).score(make_vectors(matrix=rows), seed=0)[0].value


@FEW
@given(seed=SEEDS)
def test_rotation_changes_nothing(seed: int, tmp_path: Path) -> None:
    words, rng = write_words(tmp_path), np.random.default_rng(seed)
    rows = make_vectors(seed=seed).vectors.astype(np.float64)
    rotation = np.linalg.qr(rng.normal(size=(DIM, DIM)))[0]
    for name in METRICS:
        assert value(name, words, rows @ rotation) == pytest.approx(
            value(name, words, rows), abs=1e-4, rel=1e-3, nan_ok=True
        ), name


@FEW
@given(seed=SEEDS)
def test_lengths_change_nothing_where_directions_are_asked(seed: int, tmp_path: Path) -> None:
    words, rng = write_words(tmp_path), np.random.default_rng(seed)
    rows = make_vectors(seed=seed).vectors.astype(np.float64)
    scaled = rows * rng.uniform(0.2, 5, size=(len(rows), 1))
    for name in METRICS.keys() - BY_LENGTH:
        assert value(name, words, scaled) == pytest.approx(
            value(name, words, rows), abs=1e-4, rel=1e-3, nan_ok=True
        ), name


@FEW
@given(seed=SEEDS)
def test_exchange_of_roles(seed: int, tmp_path: Path) -> None:
    rows = make_vectors(seed=seed).vectors.astype(np.float64)
    for name, swaps in SWAPS.items():
        before = value(name, write_words(tmp_path), rows)
        for roles, factor in swaps.items():
            change: dict[str, Items] = {}
            if "XY" in roles:
                change |= {"X": SETS["Y"], "Y": SETS["X"]}
            if "AB" in roles:
                change |= {"A": SETS["B"], "B": SETS["A"]}
            if roles == "pairs":
                change = {"pairs": [pair[::-1] for pair in PAIRS]}
            assert value(name, write_words(tmp_path, **change), rows) == pytest.approx(
                factor * before, abs=1e-5, nan_ok=True
            ), (name, roles)


@FEW
@given(seed=SEEDS)
def test_order_of_words_changes_nothing(seed: int, tmp_path: Path) -> None:
    rows, rng = make_vectors(seed=seed).vectors.astype(np.float64), np.random.default_rng(seed)
    mixed = {role: [words[i] for i in rng.permutation(len(words))] for role, words in SETS.items()}
    for name, kind in METRICS.items():
        if set(kind.about.required) <= {"X", "Y", "A", "B", "words"} and name != "ibt":
            before = value(name, write_words(tmp_path), rows)
            assert value(name, write_words(tmp_path, **mixed), rows) == pytest.approx(
                before, abs=1e-6, nan_ok=True
            ), name


def test_vectors_changed_in_place_are_scored_as_they_are(tmp_path: Path) -> None:
    words = write_words(tmp_path)
    metrics = [make_metric(name, words) for name in METRICS]
    changed, other = make_vectors(), make_vectors(seed=4)
    score_metrics(changed, metrics)
    changed.vectors[:] = other.vectors
    for (after, _), (fresh, _) in zip(
        score_metrics(changed, metrics), score_metrics(other, metrics), strict=True
    ):
        assert after.value == pytest.approx(fresh.value, nan_ok=True), after.metric
    changed.vectors[:] = make_vectors().vectors
    for metric in metrics:
        (after, *_), (fresh, *_) = (metric.score(v, seed=0) for v in (changed, make_vectors()))
        assert after.value == pytest.approx(fresh.value, nan_ok=True), after.metric


def test_order_of_roles_in_a_file_changes_nothing(tmp_path: Path) -> None:
    """X goes with A and Y with B, wherever in the file they stand."""
    path = Path(write_words(tmp_path))
    vectors = make_vectors()
    content = json.loads(path.read_text(encoding="utf-8"))
    scores = {name: make_metric(name, str(path)).score(vectors, seed=0) for name in METRICS}
    for query, roles in content.items():
        content[query] = dict(reversed(roles.items()))
    path.write_text(json.dumps(content), encoding="utf-8")
    for name, before in scores.items():
        after = make_metric(name, str(path)).score(vectors, seed=0)
        for one, other in zip(before, after, strict=True):
            expected = pytest.approx((one.value, one.statistic, one.p_value), nan_ok=True)
            assert (other.value, other.statistic, other.p_value) == expected, name


# Every metric on every kind of bad input: a clear refusal, or NaN with its reason in the row;
# never a silent number.

ALL = list(METRICS)
# Which role a test spoils: one that the metric needs.


def spoiled(name: str) -> str:
    """The first role that a metric needs."""
    return METRICS[name].about.required[0]


def first_word(name: str) -> str:
    return words_of({"role": ROLES[spoiled(name)]})[0]


def rows_of(
    name: str, words: str, change: Mapping[str, Vector] | None = None, **settings: Any
) -> list[Score]:
    return make_metric(name, words, **settings).score(make_vectors(change), seed=0)


def assert_nan_with_reason(rows: list[Score], *texts: str) -> None:
    for row in rows:
        assert math.isnan(row.value), row
        assert all(text in row.reason for text in texts), row.reason


@pytest.mark.parametrize("name", ALL)
def test_all_words_lost(name: str, tmp_path: Path) -> None:
    role = spoiled(name)
    entry = ROLES[role]
    gone: Items | Values = ["gone1", "gone2"]
    if isinstance(entry, Mapping):
        gone = {"values": {"gone1": 1, "gone2": 1}}
    elif not isinstance(entry[0], str):
        gone = [[f"gone{i}{j}" for j in range(len(entry[0]))] for i in range(2)]
    words = write_words(tmp_path, **{role: gone})
    if name == "sq":
        (tmp_path / "similar.tsv").write_text(
            "gone1\tgone2\t1\ngone3\tgone4\t2\ngone5\tgone6\t3\n", encoding="utf-8"
        )
        rows = SemanticQuality(file=str(tmp_path / "similar.tsv")).score(make_vectors(), seed=0)
    else:
        rows = rows_of(name, words)
    assert_nan_with_reason(rows, "needs at least", "missing gone")


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("row", "says"), [(np.zeros(DIM), "is zero"), (np.full(DIM, np.nan), "is not finite")]
)
def test_a_vector_that_has_no_direction(name: str, row: Vector, says: str, tmp_path: Path) -> None:
    rows = rows_of(name, write_words(tmp_path), {first_word(name): row})
    assert_nan_with_reason(rows, first_word(name), says)


@pytest.mark.parametrize("name", ALL)
def test_words_that_repeat_count_once(name: str, tmp_path: Path) -> None:
    role = spoiled(name)
    entry = ROLES[role]
    if isinstance(entry, Mapping) or name == "sq":
        pytest.skip("a mapping or file of values has no repeated words")
    twice = rows_of(name, write_words(tmp_path, **{role: [*entry, *entry[:1]]}))
    once = rows_of(name, write_words(tmp_path))
    assert [row.value for row in twice] == pytest.approx([row.value for row in once], nan_ok=True)
    assert [row.n_found for row in twice] == [row.n_found for row in once]


@pytest.mark.parametrize(("one", "other"), [("X", "Y"), ("A", "B")])
@pytest.mark.parametrize(
    "name", [name for name in ALL if {"X", "Y"} <= set(METRICS[name].about.required)]
)
def test_identical_or_overlapping_sets(name: str, one: str, other: str, tmp_path: Path) -> None:
    if other == "B" and "B" not in METRICS[name].about.required:
        pytest.skip("the metric does not compare A with B")
    for words in (SETS[one], [*SETS[other], SETS[one][0]]):
        assert_nan_with_reason(
            rows_of(name, write_words(tmp_path, **{other: words})),
            f"{one} and {other} of query 'mine' share",
            "one of them only",
        )


def test_facts_that_are_all_the_same(tmp_path: Path) -> None:
    words = write_words(tmp_path, words={"values": dict.fromkeys(FACTS, 2)})
    assert_nan_with_reason(rows_of("factual_association", words), "the values are all the same")
    words = write_words(tmp_path, words=list(FACTS))
    assert_nan_with_reason(rows_of("factual_association", words), "have no values")


def test_base_pairs_that_span_nothing(tmp_path: Path) -> None:
    same = {word: np.ones(DIM) for pair in PAIRS for word in pair}
    for name in ALL:
        if "pairs" in METRICS[name].about.required:
            for row in rows_of(name, write_words(tmp_path), same):
                assert math.isnan(row.value), (name, row)
                assert row.reason


def test_two_words_that_are_orthogonal_have_no_indirect_bias(tmp_path: Path) -> None:
    change = {word: axis(place) for place, word in enumerate(("ra", "sa", "pa", "qa"))}
    assert_nan_with_reason(rows_of("indirect_bias", write_words(tmp_path), change), "0 / 0")


@pytest.mark.parametrize("name", ALL)
def test_another_language_is_refused(name: str, tmp_path: Path) -> None:
    words = tmp_path / "mine.yaml"
    content = {"language": "es", "queries": {"mine": ROLES}}
    words.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    if name == "sq":
        pytest.skip("a word similarity file has no language")
    with pytest.raises(InputError, match="is in 'es' and the vectors are in 'en'"):
        METRICS[name](queries=("mine",), words=str(words), language="en")


@pytest.mark.parametrize("name", ALL)
def test_unknown_settings_are_refused(name: str, tmp_path: Path) -> None:
    words = write_words(tmp_path)
    with pytest.raises(InputError, match=r"convention='defualt': .*; did you mean 'default'"):
        make_metric(name, words, convention="defualt")
    with pytest.raises(InputError, match=r"cases='lower': .*; did you mean 'case'"):
        make_metric(name, words, cases="lower")
    for option in METRICS[name].options():
        with pytest.raises(InputError, match=f"^{option}='nonsense': give "):
            make_metric(name, words, **{option: "nonsense"})


@pytest.mark.parametrize("name", [name for name in ALL if name != "sq"])
def test_a_query_without_a_role_is_refused(name: str) -> None:
    role = spoiled(name)
    lacking = {"pairs": "weat7", "partners": "weat7", "rows": "weat7", "words": "weat7"}.get(
        role, "sembias"
    )
    with pytest.raises(InputError, match=f"query '{lacking}' has no .*{role}"):
        METRICS[name](queries=(lacking,))


def test_a_pair_that_comes_again_counts_once(tmp_path: Path) -> None:
    """In either order, as "money bank" in WordSim-353."""
    path = tmp_path / "pairs.tsv"
    path.write_text("bank\tmoney\t8\na\tb\t1\nmoney\tbank\t9\nb\tb\t3\n", encoding="utf-8")
    partners = _read_similarities(path)["partners"]
    assert partners.items == [("bank", "money"), ("a", "b"), ("b", "b")]
    assert partners.values == (8.5, 1, 3)


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "pairs"), [("wordsim353.tsv", 351), ("SimLex-999.tsv", 998)])
def test_the_pairs_of_published_files(realdata: Path, name: str, pairs: int) -> None:
    partners = _read_similarities(realdata / "words" / "similarity" / name)["partners"]
    assert len({frozenset(pair) for pair in partners.items}) == len(partners.items) == pairs


def test_similarity_files(tmp_path: Path) -> None:
    path = tmp_path / "similar.csv"
    for content, says in [
        ("word1;word2;score\n", "has no pair"),
        ("a b 1\nc d\n", "line 2 is not 'word word number': 'c d'"),
        ("a b 1\nc d high\n", "line 2"),
    ]:
        path.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=says):
            SemanticQuality(file=str(path))
    rows = "ra;sa;3\n\nrb,sb,2\nrc\tsc\t\t1\n"
    for head in ("word1;word2;score\n# note\n", "# note\nword1;word2;score\n"):
        path.write_text(head + rows, encoding="utf-8")
        (row,) = SemanticQuality(file=str(path)).score(make_vectors(), seed=0)
        assert row.n_found == 3
    path.write_text("ra;sa;3\nword1;word2;score\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2"):  # a header stands first or not at all
        SemanticQuality(file=str(path))
    published = "word1\tword2\tPOS\tSimLex999\nra\tsa\tA\t3\nrb\tsb\tN\t2\nrc\tsc\tV\t1\n"
    path.write_text(published, encoding="utf-8")
    assert SemanticQuality(file=str(path)).score(make_vectors(), seed=0)[0].value == row.value
    with pytest.raises(InputError, match="sq has no default query"):
        SemanticQuality()
