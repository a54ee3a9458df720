"""Numbers that others computed or published, on real vectors: WEFE's documentation, Zhang et al.,
the AllenNLP fixture.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from numpy.typing import NDArray

from biasbridge.intrinsic import (
    METRICS,
    Score,
    coherence,
    direct_bias,
    direction,
    effect_size,
    find,
    mean_cosines,
    ripa,
    statistic,
)
from biasbridge.intrinsic.wordsets import load_wordset

pytestmark = pytest.mark.realdata

# The example of WEFE's documentation, words in its order.
FEMALE = ["female", "woman", "girl", "sister", "she", "her", "hers", "daughter"]
MALE = ["male", "man", "boy", "brother", "he", "him", "his", "son"]
FAMILY = ["home", "parents", "children", "family", "cousins", "marriage", "wedding", "relatives"]
CAREER = [
    "executive",
    "management",
    "professional",
    "corporation",
    "salary",
    "office",
    "business",
    "career",
]
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
RIPA_MEANS = dict(
    zip(
        FAMILY,
        [
            0.02451692,
            0.21938745,
            0.31501731,
            0.07498150,
            -0.04140919,
            0.42168824,
            0.41979153,
            0.16356482,
        ],
        strict=True,
    )
)
RIPA_SPREADS = [
    0.08250333,
    0.29104929,
    0.26244409,
    0.19473140,
    0.26114585,
    0.31483697,
    0.27349600,
    0.19693396,
]


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
    _, each = detailed(vectors, "ripa", "wefe_family", words)
    assert each == pytest.approx(RIPA_MEANS, abs=1e-7)
    pairs = np.array([[vectors[a], vectors[b]] for a, b in PAIRS])
    assert ripa(find(vectors, FAMILY).raw, pairs).std(axis=1) == pytest.approx(
        RIPA_SPREADS, abs=1e-7
    )


def test_rnd_and_mac_of_single_words(vectors: KeyedVectors, words: str) -> None:
    _, each = detailed(vectors, "rnd", "wefe", words, convention="wefe")
    assert [
        each[word]
        for word in (
            "wedding",
            "marriage",
            "children",
            "parents",
            "relatives",
            "family",
            "cousins",
            "home",
        )
    ] == pytest.approx(
        [
            -0.1056304,
            -0.10163283,
            -0.068374634,
            0.00097084045,
            0.0483346,
            0.12408042,
            0.17195654,
            0.1733501,
        ],
        abs=1e-6,
    )
    x, y, family, career = (find(vectors, each).matrix for each in (FEMALE, MALE, FAMILY, CAREER))
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
    assert direct_bias(professions, direction(pairs[:1], "first")) == pytest.approx(
        0.0781, abs=5e-5
    )
    assert direct_bias(professions, direction(pairs[:1], "first", unit=False)) == pytest.approx(
        0.0796, abs=5e-5
    )
    assert direct_bias(professions, direction(pairs, "pca")) == pytest.approx(0.0813, abs=5e-5)


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
    path.write_text(
        json.dumps({"mine": {"words": ["management"], "pairs": [pair.split()]}}), encoding="utf-8"
    )
    assert detailed(vectors, "pair_bias", "mine", str(path))[0].value == pytest.approx(
        difference, abs=1e-6
    )
    assert detailed(vectors, "ripa", "mine", str(path))[0].value == pytest.approx(
        relation, abs=1e-6
    )


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
