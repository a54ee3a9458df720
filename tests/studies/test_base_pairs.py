"""A study of base pairs on scores that are made up, against literal loops and peer libraries."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from rich.console import Console
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as peer_fleiss

from biasbridge.analysis.tables import Tables
from biasbridge.files import InputError
from biasbridge.files.columns import as_float, as_text
from biasbridge.intrinsic import METRICS, find
from biasbridge.intrinsic.metric import PairScores
from biasbridge.intrinsic.metrics.weat import associations
from biasbridge.studies.base_pair_estimates import (
    Bootstrap,
    _jackknife_interval,
    cohen_kappa,
    estimate_all,
    fleiss_kappa,
)
from biasbridge.studies.base_pair_tables import agreement_in_words, read_probes
from biasbridge.studies.base_pairs import _PUBLISHED, BasePairScores, BasePairStudy, _with_published
from tests.intrinsic.metric_world import VOCABULARY

if TYPE_CHECKING:
    from biasbridge.intrinsic import Metric
    from biasbridge.stats.arrays import Truths


PAIRS = ["she:he", "woman:man", "girl:boy", "gal:guy", "female:male"]
WORDS = [f"w{i}" for i in range(24)]
TRUE = {f"f{i}": 1 for i in range(7)} | {f"m{i}": -1 for i in range(6)}
PAIR_METRICS = ("pair_bias", "ripa")
SPREAD, MEAN = 0.8, 0.1


def made_scores(seed: int, words: list[str]) -> pd.DataFrame:
    """Words with a lean of their own, pairs with noise; words by pairs."""
    rng = np.random.default_rng(seed)
    lean = rng.normal(size=(len(words), 1))
    return pd.DataFrame(lean + 0.7 * rng.normal(size=(len(words), len(PAIRS))), words, PAIRS)


def score_rows(table: pd.DataFrame, **change: object) -> list[dict[str, object]]:
    shared = {"kind": "score", "set": "words", "form": "base", "pair_form": "base", "truth": 0}
    return [
        shared | {"word": word, "pair": pair, "score": table.loc[word, pair]} | change
        for word in table.index
        for pair in table.columns
    ]


SCORES = {name: made_scores(i, WORDS) for i, name in enumerate(PAIR_METRICS)}
CAPITALS = {name: made_scores(10 + i, WORDS).iloc[:, :4] for i, name in enumerate(PAIR_METRICS)}
PLURALS = {name: made_scores(20 + i, WORDS[4:18]) for i, name in enumerate(PAIR_METRICS)}
UPPER = {name: made_scores(30 + i, WORDS[:3]) for i, name in enumerate(PAIR_METRICS)}
KNOWN = {name: made_scores(40 + i, list(TRUE)) for i, name in enumerate(PAIR_METRICS)}
SOLVED = {
    query: (made_scores(50 + i, [f"x{i}{j}:y" for j in range(11 + i)]) > 0).astype(float)
    for i, query in enumerate(("unrelated_a", "unrelated_b"))
}
UNAIDED = {"unrelated_a": 0.5, "unrelated_b": 0.25}


def probe_rows() -> pd.DataFrame:
    rows: list[dict[str, object]] = []
    for name in PAIR_METRICS:
        own = score_rows(SCORES[name]) + score_rows(PLURALS[name], form="plural")
        own += score_rows(CAPITALS[name], pair_form="capital")
        own += score_rows(UPPER[name], form="upper")
        for word, truth in TRUE.items():
            own += score_rows(KNOWN[name].loc[[word]], set="known", truth=truth)
        rng = np.random.default_rng(7)
        for one, other in combinations(PAIRS, 2):
            cosine = rng.uniform(0.2, 0.9)
            own.append({"kind": "difference", "pair": one, "compared_with": other, "score": cosine})
        for pair in PAIRS:
            of_pair: dict[str, object] = {"kind": "vocabulary", "pair": pair, "n": 500}
            own.append(of_pair | {"score": MEAN, "sd": SPREAD})
        own.append({"kind": "oov", "set": "pairs", "word": "mary:john"})
        rows += [{"metric": name, "query": "mine"} | row for row in own]
    for query, table in SOLVED.items():
        about = {"metric": "unrelated_analogies", "query": query}
        rows += [about | row for row in score_rows(table, set="partners")]
        for item in table.index:
            likeness = {"kind": "likeness", "set": "partners", "word": item, "score": 0.5}
            rows.append(about | likeness)
    texts = ["set", "word", "form", "pair", "pair_form", "compared_with"]
    table = pd.DataFrame(rows).assign(point="p", probe="base_pairs", convention="sneyd")
    return table.fillna(dict.fromkeys(texts, ""))


def tables() -> Tables:
    point = {"point": "p", "status": "done", "embedding": "toy", "seed": 0, "generated": False}
    intrinsic = [
        {"point": "p", "metric": "unrelated_analogies", "query": query, "statistic": value}
        for query, value in UNAIDED.items()
    ]
    return Tables(pd.DataFrame([point]), pd.DataFrame(intrinsic), pd.DataFrame(), probe_rows())


@pytest.fixture(scope="module")
def concluded(tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, str, Path]:
    folder, out = tmp_path_factory.mktemp("study"), io.StringIO()
    study = BasePairStudy(resamples=200)
    written = study.conclude(tables(), folder, Console(file=out, width=120))
    assert all(path.exists() for path in written)
    found = pd.read_csv(folder / "base_pairs.csv", keep_default_na=False, na_values=[""])
    found = found.fillna({"compared_with": "", "pair": "", "reason": ""})
    return found, out.getvalue(), folder


def value(
    found: pd.DataFrame, statistic: str, metric: str, other: str = "", pair: str = ""
) -> pd.Series:
    """The one row of an estimate."""
    wanted = {"statistic": statistic, "metric": metric, "compared_with": other, "pair": pair}
    for name, text in wanted.items():
        found = found[found[name].eq(text)]
    assert len(found) == 1, wanted
    return found.iloc[0]


@pytest.mark.parametrize("metric", PAIR_METRICS)
def test_agreement_of_the_pairs(concluded: tuple[pd.DataFrame, str, Path], metric: str) -> None:
    found, scores = concluded[0], SCORES[metric].to_numpy()
    directions = (scores > 0).astype(int)
    fleiss = value(found, "fleiss", metric)
    assert fleiss["value"] == pytest.approx(peer_fleiss(aggregate_raters(directions)[0]))
    assert fleiss["low"] < fleiss["value"] < fleiss["high"]
    assert fleiss["pairs_low"] < fleiss["value"] < fleiss["pairs_high"]
    assert (fleiss["words"], fleiss["pairs"]) == (24, 5)
    assert fleiss["agreement"] == agreement_in_words(fleiss["value"])
    assert isinstance(value(found, "mean", metric)["agreement"], float), "no kappa"
    alike = [len(set(row)) == 1 for row in directions.tolist()]
    assert value(found, "unanimous", metric)["value"] == pytest.approx(np.mean(alike))
    moved = [
        abs(row[i] - row[j]) >= SPREAD
        for row in scores.tolist()
        for i, j in combinations(range(5), 2)
    ]
    assert value(found, "magnitude", metric)["value"] == pytest.approx(np.mean(moved))
    for i, j in combinations(range(5), 2):
        row = value(found, "two_pairs", metric, PAIRS[j], PAIRS[i])
        expected = cohen_kappa_score(directions[:, i], directions[:, j])
        assert row["value"] == pytest.approx(expected)


@pytest.mark.parametrize("metric", PAIR_METRICS)
def test_agreement_of_forms_and_with_what_is_known(
    concluded: tuple[pd.DataFrame, str, Path], metric: str
) -> None:
    found, base = concluded[0], SCORES[metric]
    for statistic, other, table in (
        ("pair_form", "capital", CAPITALS[metric]),
        ("word_form", "plural", PLURALS[metric]),
    ):
        kappas = []
        for pair in table.columns:
            mine = base.loc[table.index, pair] > 0
            kappas.append(cohen_kappa_score(mine, table[pair] > 0))
            row = value(found, statistic, metric, other, pair)
            assert row["value"] == pytest.approx(kappas[-1])
            assert row["words"] == len(table)
        overall = value(found, statistic, metric, other)
        assert overall["value"] == pytest.approx(np.mean(kappas))
        interval = stats.t.interval(0.95, len(kappas) - 1, np.mean(kappas), stats.sem(kappas))
        assert (overall["pairs_low"], overall["pairs_high"]) == pytest.approx(interval)
    for pair in PAIRS:
        reference = cohen_kappa_score([*TRUE.values()], np.sign(KNOWN[metric][pair]))
        assert value(found, "truth", metric, "known", pair)["value"] == pytest.approx(reference)


def test_measures_against_each_other_and_kappa_against_cosine(
    concluded: tuple[pd.DataFrame, str, Path],
) -> None:
    found = concluded[0]
    one, other = (SCORES[name] > 0 for name in PAIR_METRICS)
    for pair in PAIRS:
        row = value(found, "measures", "pair_bias", "ripa", pair)
        assert row["value"] == pytest.approx(cohen_kappa_score(one[pair], other[pair]))
    rng = np.random.default_rng(7)
    cosines = {frozenset(two): rng.uniform(0.2, 0.9) for two in combinations(PAIRS, 2)}
    first = PAIRS[0]
    kappas = [cohen_kappa_score(one[first], one[pair]) for pair in PAIRS[1:]]
    r = stats.pearsonr([cosines[frozenset((first, pair))] for pair in PAIRS[1:]], kappas)
    row = value(found, "cosine_r", "pair_bias", pair=first)
    assert row["value"] == pytest.approx(r.statistic)
    every = [cohen_kappa_score(one[a], one[b]) for a, b in combinations(PAIRS, 2)]
    overall = value(found, "cosine_r", "pair_bias")
    assert overall["value"] == pytest.approx(stats.pearsonr([*cosines.values()], every).statistic)
    assert -1 <= overall["pairs_low"] <= overall["pairs_high"] <= 1


def test_the_vocabulary_over_words_and_pairs_together(
    concluded: tuple[pd.DataFrame, str, Path],
) -> None:
    row = value(concluded[0], "sd", "ripa")
    assert row["value"] == pytest.approx(SPREAD), "all pairs have one mean"
    assert value(concluded[0], "mean", "ripa")["value"] == pytest.approx(MEAN)
    assert row["words"] == 500


def test_analogies_with_and_without_a_base_pair(concluded: tuple[pd.DataFrame, str, Path]) -> None:
    found = concluded[0]
    every = pd.concat(SOLVED.values())
    for query, table in (*SOLVED.items(), ("all", every)):
        rows = found[found["query"].eq(query)]
        solved = value(rows, "solved", "unrelated_analogies", "partners")
        assert solved["value"] == pytest.approx(table.to_numpy().mean())
        assert solved["words"] == len(table)
        alone = value(rows, "solved", "unrelated_analogies", "no base pair")["value"]
        expected = UNAIDED.get(query, (11 * 0.5 + 12 * 0.25) / 23)
        assert alone == pytest.approx(expected)


def test_all_words_in_one_direction_have_no_kappa(tmp_path: Path) -> None:
    rows = probe_rows()
    rows["score"] = rows["score"].abs()
    given = tables()._replace(probes=rows)
    BasePairStudy(resamples=10).conclude(given, tmp_path, Console(file=io.StringIO()))
    found = pd.read_csv(tmp_path / "base_pairs.csv").fillna({"compared_with": "", "pair": ""})
    row = value(found, "fleiss", "ripa")
    assert isnan(row["value"])
    assert row["reason"].startswith("all words have one direction")


def test_kappas_are_those_of_peers_and_a_weight_is_a_number_of_times() -> None:
    rng = np.random.default_rng(0)
    for raters in (2, 3, 4, 6):
        lean = rng.dirichlet(np.ones(3), size=30)
        ratings = np.array([[rng.choice(3, p=p) for _ in range(raters)] for p in lean])
        weights = rng.multinomial(30, np.full(30, 1 / 30), size=5).astype(float)
        cohen = cohen_kappa(ratings[:, 0], ratings[:, 1], weights)
        fleiss = fleiss_kappa(ratings, weights)
        for i, times in enumerate(weights):
            repeated = np.repeat(ratings, times.astype(int), axis=0)
            assert cohen[i] == pytest.approx(cohen_kappa_score(repeated[:, 0], repeated[:, 1]))
            assert fleiss[i] == pytest.approx(peer_fleiss(aggregate_raters(repeated)[0]))
    ones, once = np.ones(6, dtype=int), np.ones((1, 6))
    assert isnan(cohen_kappa(ones, ones, once)[0])
    assert cohen_kappa(ones, np.arange(6) % 2, once)[0] == 0


@pytest.mark.parametrize(
    ("kappa", "word"),
    [  # of Landis & Koch (1977), table on p. 165
        *((-0.01, "poor"), (0.0, "slight"), (0.2, "slight"), (0.21, "fair"), (0.4, "fair")),
        *((0.41, "moderate"), (0.6, "moderate"), (0.61, "substantial"), (0.8, "substantial")),
        *((0.81, "almost perfect"), (1.0, "almost perfect"), (math.nan, "")),
    ],
)
def test_agreement_in_words(kappa: float, word: str) -> None:
    assert agreement_in_words(kappa) == word


def kappa_of(directions: Truths, kept: Sequence[int]) -> float:
    return float(fleiss_kappa(directions[:, kept] + 0, np.ones((1, len(directions))))[0])


def test_the_interval_over_pairs_holds_the_kappa_of_their_population() -> None:
    """Ten pairs drawn from many: each has the words' leans and noise of its own, more or less."""
    rng = np.random.default_rng(0)
    lean = rng.normal(size=(60, 1))

    def pairs(number: int) -> Truths:
        noise = rng.gamma(2, 0.4, size=(1, number))
        return np.asarray(lean + noise * rng.normal(size=(60, number)) > 0)

    truth = kappa_of(pairs(2_000), range(2_000))
    held = 0
    for _ in range(300):
        sample = pairs(10)
        low, high = _jackknife_interval(partial(kappa_of, sample), 10)
        held += low <= truth <= high
    assert 0.92 <= held / 300 <= 0.985


# The study of base pairs on real vectors: what Zhang, Sneyd & Stevenson (2020) print, as far as
# nine of their ten pairs and a small vocabulary decide it.

COUNTABLE = ["pair_bias", "ripa"]  # NBM depends on neighbours that the vocabulary lacks


@pytest.fixture(scope="module")
def probes(realdata: Path) -> pd.DataFrame:
    path = realdata / "vectors" / "googlenews_13k.bin"
    vectors = KeyedVectors.load_word2vec_format(str(path), binary=True)
    requested = ("base_pairs", "woman_queen")
    found = [
        BasePairScores(samples=1_000).rows(
            vectors, METRICS[name].by_convention("sneyd", queries=requested), seed=0
        )
        for name in COUNTABLE
    ]
    return pd.concat(found).assign(probe="base_pairs", point="p")


@pytest.fixture(scope="module")
def found(probes: pd.DataFrame) -> pd.DataFrame:
    none = pd.DataFrame()
    every = list(read_probes(Tables(none, none, none, probes)))
    return _with_published(estimate_all(every, Bootstrap(resamples=20)))


@pytest.mark.realdata
def test_the_printed_scores_of_single_words(probes: pd.DataFrame) -> None:
    keys = ["metric", "word", "pair", "form", "pair_form", "query"]
    scores = probes[probes["kind"].eq("score")].set_index(keys)["score"]
    printed = {
        ("pair_bias", "she:he"): -0.081630945,
        ("ripa", "she:he"): -0.17162736,
        ("ripa", "woman:man"): 0.26936823,
    }
    for (metric, pair), score in printed.items():
        key = (metric, "surgeon", pair, "base", "base", "base_pairs")
        assert scores.loc[key] == pytest.approx(score, abs=1e-6)


@pytest.mark.realdata
@pytest.mark.parametrize("statistic", ["measures", "pair_form"])
def test_the_printed_kappas_of_every_pair(found: pd.DataFrame, statistic: str) -> None:
    """Tables 6 and 3 need the professions and the pairs alone, and are the same to the last digit
    printed."""
    rows = found[
        found["statistic"].eq(statistic) & found["pair"].ne("") & found["query"].eq("base_pairs")
    ]
    rows = rows[rows["metric"].isin(COUNTABLE) & rows["published"].notna()]
    assert len(rows) == {"measures": 9, "pair_form": 2 * 7}[statistic]
    assert (rows["value"] - rows["published"]).abs().max() <= 0.005 + 1e-3
    assert rows["words"].eq(320).all()


@pytest.mark.realdata
def test_a_third_of_professions_change_sides_between_pairs_that_are_roughly_the_same(
    found: pd.DataFrame,
) -> None:
    """Section 7: 28% (91) of the professions under RIPA, woman - man against queen - king."""
    of = found["query"].eq("woman_queen") & found["statistic"].eq("unanimous")
    (row,) = found[of & found["metric"].eq("ripa")].itertuples()
    assert row.value == 1 - 91 / 320


@pytest.mark.realdata
def test_the_printed_magnitudes_cannot_be_shares_of_changes(found: pd.DataFrame) -> None:
    """Table 2 has .69 and .66 as the share of changes of the pair that move a score by one standard
    deviation. 36 of the 45 are known; were all the others changes, the share would be below .5.
    """
    rows = found[found["statistic"].eq("magnitude") & found["query"].eq("base_pairs")]
    assert ((36 * rows["value"] + 9) / 45 < 0.5).all()
    assert ((36 * (1 - rows["value"])) / 45 < rows["published"]).all()
    assert (rows["published"] < (36 * (1 - rows["value"]) + 9) / 45).all(), "shares that stay"


@pytest.mark.realdata
def test_cosines_that_the_study_prints(found: pd.DataFrame, probes: pd.DataFrame) -> None:
    """man and woman .77, she and he .61; r of cosine and kappa .81 to .98 over ten pairs."""
    likeness = probes[probes["kind"].eq("likeness") & probes["query"].eq("base_pairs")]
    cosines = likeness.groupby("word")["score"].first()
    assert cosines["woman:man"] == pytest.approx(0.77, abs=0.005)
    assert cosines["she:he"] == pytest.approx(0.61, abs=0.005)
    r = found[found["statistic"].eq("cosine_r") & found["metric"].eq("pair_bias")]
    assert (r["value"] > 0.7).all()
    assert len(r) == 10


def test_the_published_table_is_whole() -> None:
    printed = pd.read_csv(_PUBLISHED, keep_default_na=False)
    every = printed[printed["query"].eq("base_pairs")]
    means = every[every["pair"].eq("")].set_index(["statistic", "metric", "compared_with"])[
        "published"
    ]
    by_pair = every[every["pair"].ne("")].groupby(["statistic", "metric", "compared_with"])[
        "published"
    ]
    assert by_pair.count().eq(10).all()
    # The printed means are of unrounded kappas
    assert (by_pair.mean() - means.loc[by_pair.mean().index]).abs().max() < 0.011


# Scores under single base pairs, and the probe that keeps them.

JOBS = ["baker", "judge", "nurse", "cook"]
FORMS = ["bakers", "Baker", "JUDGE", "nurses", "Nurse", "NURSE"]
WORD_PAIRS = [["she", "he"], ["woman", "man"], ["girl", "boy"]]
TRAITS = ["kind", "warm", "bold", "loud"]
EVERY = [*JOBS, *FORMS, *(w for pair in WORD_PAIRS for w in pair), "She", "He", "Woman", *TRAITS]
ASKED: dict[str, object] = {
    "words": [*JOBS, "unheard"],
    "pairs": [*WORD_PAIRS, ["mary", "john"]],
    "language": "en",
}
QUERIES: dict[str, object] = {
    "mine": ASKED,
    "known": {"X": ["kind", "warm", "gone"], "Y": ["bold", "loud"]},
    "half": {"X": ["kind"]},
    "alike": {"partners": [["kind", "warm"], ["bold", "loud"]], "pairs": WORD_PAIRS},
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
    probe = BasePairScores(truths=("known",), samples=300)
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
    columns = (as_text(some, item) for item in ("word", "form", "pair", "pair_form"))
    for word, form, pair, pair_form, score in zip(*columns, as_float(some, "score"), strict=True):
        names = {"base": word, "plural": f"{word}s", "capital": word.title(), "upper": word.upper()}
        requested = [item.title() if pair_form == "capital" else item for item in pair.split(":")]
        # The words left out of neighbours are those of the query's own pairs
        left = [item for two in (*WORD_PAIRS, ["mary", "john"]) for item in two]
        alone = {"words": [names[form]], "pairs": [requested], "excluded": left}
        value = metric(tmp_path, name, "alone", alone=alone).score(vectors(), seed=0)[0].value
        expected = abs(score) if name == "direct_bias" else score
        assert value == pytest.approx(expected, abs=1e-6)


def test_pairs_and_words_in_all_forms_that_the_vocabulary_has(tmp_path: Path) -> None:
    rows = probed(tmp_path, "pair_bias")
    scores = rows[rows["kind"].eq("score")]
    forms = scores.groupby(["set", "form", "pair_form"])["word"].unique().map(sorted).to_dict()
    assert forms == {
        ("words", "base", "base"): sorted(JOBS),
        ("words", "base", "capital"): sorted(JOBS),
        ("words", "plural", "base"): ["baker", "nurse"],
        ("words", "capital", "base"): ["baker", "nurse"],
        ("words", "upper", "base"): ["judge", "nurse"],
        ("known", "base", "base"): sorted(TRAITS),
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
    columns = zip(*(as_float(part, item) for item in ("score", "sd", "n")), strict=True)
    for pair, (mean, sd, n) in zip(as_text(part, "pair"), columns, strict=True):
        a, b = (v[word].astype(float) for word in pair.split(":"))
        scores = [v[word].astype(float) @ (a - b) / np.linalg.norm(a - b) for word in frequent]
        assert n == len(frequent)
        assert (mean, sd) == pytest.approx((np.mean(scores), np.std(scores)), abs=1e-6)
    found = rows[rows["kind"].eq("difference")]
    expected = []
    for first, second in combinations(WORD_PAIRS, 2):
        one, other = v[first[0]] - v[first[1]], v[second[0]] - v[second[1]]
        expected.append(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
    assert found["score"].tolist() == pytest.approx(expected, abs=1e-6)
    likeness = rows[rows["kind"].eq("likeness")]
    assert likeness["word"].tolist() == [":".join(pair) for pair in WORD_PAIRS]
    assert likeness["score"].tolist() == pytest.approx(
        [v.similarity(*p) for p in WORD_PAIRS], abs=1e-6
    )
    random = rows[rows["kind"].eq("random")]
    assert as_text(random, "set") == ["differences", "words"]
    mean, sd = as_float(random, "score"), as_float(random, "sd")
    assert (np.abs(mean) < 4 * sd / math.sqrt(300)).all(), "vectors drawn at random"


def test_direct_bias_is_word_association_with_one_pair(tmp_path: Path) -> None:
    """Zhang et al. (2020), section 2: DB without rescaling and WA are the same number."""
    found = metric(tmp_path, "pair_bias")
    scores = PairScores.resolve(found, vectors(), found.loaded_queries[0])
    values = scores([(word,) for word in JOBS], scores.pairs)
    w = find(vectors(), JOBS).matrix
    for column, (a, b) in zip(values.T, scores.pairs, strict=True):
        first, second = find(vectors(), [a]).matrix, find(vectors(), [b]).matrix
        assert column == pytest.approx(associations(w, first, second), abs=1e-12)


def test_analogies_are_scored_by_pair_too(tmp_path: Path) -> None:
    rows = probed(tmp_path, "unrelated_analogies", "alike")
    scores = rows[rows["kind"].eq("score") & rows["pair_form"].eq("base")]
    assert len(scores) == 2 * len(WORD_PAIRS)
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
            probed(tmp_path, name, "few", few={"words": JOBS, "pairs": pairs})


def test_words_outside_the_vocabulary_are_refused_where_none_is_left(tmp_path: Path) -> None:
    query = {"words": ["unheard", "unseen"], "pairs": WORD_PAIRS}
    with pytest.raises(InputError, match=r"has 0 of 2 words .*missing unheard, unseen"):
        probed(tmp_path, "ripa", "gone", gone=query)


def test_a_pair_of_one_vector_is_refused(tmp_path: Path) -> None:
    same = vectors(girl=[1, 0, 0, 0, 0, 0], boy=[1, 0, 0, 0, 0, 0])
    with pytest.raises(InputError, match="girl:boy has two words with the same vector"):
        BasePairScores().rows(same, metric(tmp_path, "pair_bias"), seed=0)


def test_metrics_and_truths_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"weat has no score of a single word .* use pair_bias"):
        BasePairScores().rows(vectors(), METRICS["weat"].by_convention(), seed=0)
    with pytest.raises(InputError, match="examines metrics"):
        BasePairScores().rows(vectors(), None, seed=0)
    with pytest.raises(InputError, match="'half' has no Y"):
        BasePairScores(truths=("half",)).rows(vectors(), metric(tmp_path, "ripa"), seed=0)
    with pytest.raises(InputError, match="unknown query 'knwon'"):
        BasePairScores(truths=("knwon",)).rows(vectors(), metric(tmp_path, "ripa"), seed=0)
