"""Scores under single base pairs, and the probe that keeps them."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gensim.models import KeyedVectors

from biasbridge.analysis.frame import as_float, as_text
from biasbridge.files import InputError
from biasbridge.intrinsic import METRICS, find
from biasbridge.intrinsic.metrics.weat import associations
from biasbridge.intrinsic.pair_scores import PairScores
from biasbridge.studies.base_pairs.probe import BasePairs
from tests.intrinsic.metric_world import VOCABULARY

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.intrinsic import Metric

WORDS = ["baker", "judge", "nurse", "cook"]
FORMS = ["bakers", "Baker", "JUDGE", "nurses", "Nurse", "NURSE"]
PAIRS = [["she", "he"], ["woman", "man"], ["girl", "boy"]]
KNOWN = ["kind", "warm", "bold", "loud"]
EVERY = [*WORDS, *FORMS, *(w for pair in PAIRS for w in pair), "She", "He", "Woman", *KNOWN]
ASKED: dict[str, object] = {
    "words": [*WORDS, "unheard"],
    "pairs": [*PAIRS, ["mary", "john"]],
    "language": "en",
}
QUERIES: dict[str, object] = {
    "mine": ASKED,
    "known": {"X": ["kind", "warm", "gone"], "Y": ["bold", "loud"]},
    "half": {"X": ["kind"]},
    "alike": {"partners": [["kind", "warm"], ["bold", "loud"]], "pairs": PAIRS},
}
SCORED = ["pair_bias", "ripa", "nbm", "direct_bias"]


def vectors(**change: list[float]) -> KeyedVectors:
    words = [*EVERY, *VOCABULARY]
    rows = np.random.default_rng(5).normal(size=(len(words), 6)).astype(np.float32)
    for word, row in change.items():
        rows[words.index(word)] = row
    found = KeyedVectors(6)
    found.add_vectors(words, rows)
    return found


def metric(folder: Path, name: str, query: str = "mine", **changed: Any) -> Metric:
    path = folder / "words.json"
    path.write_text(json.dumps({"queries": {**QUERIES, **changed}}), encoding="utf-8")
    own: dict[str, Any] = {"neighbours": 7} if name == "nbm" else {}
    return METRICS[name].by_convention(queries=(query,), words=str(path), min_found=0.0, **own)


def probed(folder: Path, name: str, query: str = "mine", **changed: Any) -> pd.DataFrame:
    probe = BasePairs(truths=("known",), samples=300)
    return probe.rows(vectors(), metric(folder, name, query, **changed), seed=0)


@pytest.mark.parametrize("name", SCORED)
def test_every_score_is_that_of_the_metric_with_one_word_and_one_pair(
    name: str, tmp_path: Path
) -> None:
    """The rows against the metric asked about each word and pair alone, in all forms."""
    rows = probed(tmp_path, name)
    scores = rows[rows["kind"].eq("score")]
    own = scores[scores["set"].eq("words")]
    assert set(own["form"]) == {"base", "plural", "capital", "upper"}
    some = own.sample(25, random_state=1)
    columns = (as_text(some, each) for each in ("word", "form", "pair", "pair_form"))
    for word, form, pair, pair_form, score in zip(*columns, as_float(some, "score"), strict=True):
        named = {"base": word, "plural": f"{word}s", "capital": word.title(), "upper": word.upper()}
        asked = [each.title() if pair_form == "capital" else each for each in pair.split(":")]
        # The words left out of neighbours are those of the query's own pairs
        left = [each for two in (*PAIRS, ["mary", "john"]) for each in two]
        alone = {"words": [named[form]], "pairs": [asked], "excluded": left}
        value = metric(tmp_path, name, "alone", alone=alone).score(vectors(), seed=0)[0].value
        expected = abs(score) if name == "direct_bias" else score
        assert value == pytest.approx(expected, abs=1e-6)


def test_pairs_and_words_in_all_forms_that_the_vocabulary_has(tmp_path: Path) -> None:
    rows = probed(tmp_path, "pair_bias")
    scores = rows[rows["kind"].eq("score")]
    forms = scores.groupby(["set", "form", "pair_form"])["word"].unique().map(sorted).to_dict()
    assert forms == {
        ("words", "base", "base"): sorted(WORDS),
        ("words", "base", "capital"): sorted(WORDS),
        ("words", "plural", "base"): ["baker", "nurse"],
        ("words", "capital", "base"): ["baker", "nurse"],
        ("words", "upper", "base"): ["judge", "nurse"],
        ("known", "base", "base"): sorted(KNOWN),
    }
    assert set(scores[scores["pair_form"].eq("capital")]["pair"]) == {"she:he"}, "no Man, no Girl"
    truths = scores[scores["set"].eq("known")].groupby("word")["truth"].first().to_dict()
    assert truths == {"kind": 1, "warm": 1, "bold": -1, "loud": -1}
    lost = rows[rows["kind"].eq("oov")]
    assert lost[["set", "word"]].to_numpy().tolist() == [
        ["words", "unheard"],
        ["pairs", "mary:john"],
    ]


def test_the_vocabulary_and_the_cosines_by_literal_loops(tmp_path: Path) -> None:
    rows = probed(tmp_path, "ripa")
    v = vectors()
    frequent = [word for word in v.index_to_key if word.isalpha()]
    part = rows[rows["kind"].eq("vocabulary")]
    columns = zip(*(as_float(part, each) for each in ("score", "sd", "n")), strict=True)
    for pair, (mean, sd, n) in zip(as_text(part, "pair"), columns, strict=True):
        a, b = (v[word].astype(float) for word in pair.split(":"))
        scores = [v[word].astype(float) @ (a - b) / np.linalg.norm(a - b) for word in frequent]
        assert n == len(frequent)
        assert (mean, sd) == pytest.approx((np.mean(scores), np.std(scores)), abs=1e-6)
    found = rows[rows["kind"].eq("difference")]
    expected = []
    for first, second in combinations(PAIRS, 2):
        one, other = v[first[0]] - v[first[1]], v[second[0]] - v[second[1]]
        expected.append(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
    assert found["score"].tolist() == pytest.approx(expected, abs=1e-6)
    likeness = rows[rows["kind"].eq("likeness")]
    assert likeness["word"].tolist() == [":".join(pair) for pair in PAIRS]
    assert likeness["score"].tolist() == pytest.approx([v.similarity(*p) for p in PAIRS], abs=1e-6)
    random = rows[rows["kind"].eq("random")]
    assert as_text(random, "set") == ["differences", "words"]
    mean, sd = as_float(random, "score"), as_float(random, "sd")
    assert (np.abs(mean) < 4 * sd / math.sqrt(300)).all(), "vectors drawn at random"


def test_direct_bias_is_word_association_with_one_pair(tmp_path: Path) -> None:
    """Zhang et al. (2020), section 2: DB without rescaling and WA are the same number."""
    found = metric(tmp_path, "pair_bias")
    scores = PairScores.resolve(found, vectors(), found.loaded_queries[0])
    values = scores([(word,) for word in WORDS], scores.pairs)
    w = find(vectors(), WORDS).matrix
    for column, (a, b) in zip(values.T, scores.pairs, strict=True):
        first, second = find(vectors(), [a]).matrix, find(vectors(), [b]).matrix
        assert column == pytest.approx(associations(w, first, second), abs=1e-12)


def test_analogies_are_scored_by_pair_too(tmp_path: Path) -> None:
    rows = probed(tmp_path, "unrelated_analogies", "alike")
    scores = rows[rows["kind"].eq("score") & rows["pair_form"].eq("base")]
    assert len(scores) == 2 * len(PAIRS)
    assert set(scores["score"]) <= {0.0, 1.0}
    found = metric(tmp_path, "unrelated_analogies", "alike").score(vectors(), seed=0)[0]
    assert scores["score"].mean() == pytest.approx(found.value)
    assert set(rows[rows["kind"].eq("likeness")]["set"]) == {"pairs", "partners"}


@pytest.mark.parametrize(
    ("pairs", "match"),
    [
        ([["she", "he"]], r"has 1 of 1 pairs \(needs at least 2\)"),
        ([["she", "he"], ["mary", "john"]], r"has 1 of 2 pairs .*missing mary:john"),
        ([["she", "he"], ["girl", "girl"]], "base pair girl:girl is one word twice"),
    ],
)
def test_too_few_pairs_and_a_pair_of_one_word_are_refused(
    pairs: list[list[str]], match: str, tmp_path: Path
) -> None:
    for name in SCORED:
        with pytest.raises(InputError, match=match):
            probed(tmp_path, name, "few", few={"words": WORDS, "pairs": pairs})


def test_words_outside_the_vocabulary_are_refused_where_none_is_left(tmp_path: Path) -> None:
    query = {"words": ["unheard", "unseen"], "pairs": PAIRS}
    with pytest.raises(InputError, match=r"has 0 of 2 words .*missing unheard, unseen"):
        probed(tmp_path, "ripa", "gone", gone=query)


def test_a_pair_of_one_vector_is_refused(tmp_path: Path) -> None:
    same = vectors(girl=[1, 0, 0, 0, 0, 0], boy=[1, 0, 0, 0, 0, 0])
    with pytest.raises(InputError, match="girl:boy has two words with the same vector"):
        BasePairs().rows(same, metric(tmp_path, "pair_bias"), seed=0)


def test_metrics_and_truths_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"weat has no score of a single word .* use pair_bias"):
        BasePairs().rows(vectors(), METRICS["weat"].by_convention(), seed=0)
    with pytest.raises(InputError, match="examines metrics"):
        BasePairs().rows(vectors(), None, seed=0)
    with pytest.raises(InputError, match="'half' has no Y"):
        BasePairs(truths=("half",)).rows(vectors(), metric(tmp_path, "ripa"), seed=0)
    with pytest.raises(InputError, match="unknown query 'knwon'"):
        BasePairs(truths=("knwon",)).rows(vectors(), metric(tmp_path, "ripa"), seed=0)
