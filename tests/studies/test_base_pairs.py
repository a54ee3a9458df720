"""A study of base pairs on scores that are made up, against literal loops and peer libraries."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as peer_fleiss

from biasbridge.analysis.agreement import fleiss_kappa
from biasbridge.analysis.results import Tables
from biasbridge.studies.base_pairs.estimate import jackknife
from biasbridge.studies.base_pairs.study import BasePairs

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

PAIRS = ["she:he", "woman:man", "girl:boy", "gal:guy", "female:male"]
WORDS = [f"w{i}" for i in range(24)]
TRUE = {f"f{i}": 1 for i in range(7)} | {f"m{i}": -1 for i in range(6)}
METRICS = ("pair_bias", "ripa")
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


SCORES = {name: made_scores(i, WORDS) for i, name in enumerate(METRICS)}
CAPITALS = {name: made_scores(10 + i, WORDS).iloc[:, :4] for i, name in enumerate(METRICS)}
PLURALS = {name: made_scores(20 + i, WORDS[4:18]) for i, name in enumerate(METRICS)}
UPPER = {name: made_scores(30 + i, WORDS[:3]) for i, name in enumerate(METRICS)}
KNOWN = {name: made_scores(40 + i, list(TRUE)) for i, name in enumerate(METRICS)}
SOLVED = {
    query: (made_scores(50 + i, [f"x{i}{j}:y" for j in range(11 + i)]) > 0).astype(float)
    for i, query in enumerate(("unrelated_a", "unrelated_b"))
}
UNAIDED = {"unrelated_a": 0.5, "unrelated_b": 0.25}


def probe_rows() -> pd.DataFrame:
    rows: list[dict[str, object]] = []
    for name in METRICS:
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
    study = BasePairs(resamples=200)
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


@pytest.mark.parametrize("metric", METRICS)
def test_agreement_of_the_pairs(concluded: tuple[pd.DataFrame, str, Path], metric: str) -> None:
    found, scores = concluded[0], SCORES[metric].to_numpy()
    directions = (scores > 0).astype(int)
    fleiss = value(found, "fleiss", metric)
    assert fleiss["value"] == pytest.approx(peer_fleiss(aggregate_raters(directions)[0]))
    assert fleiss["low"] < fleiss["value"] < fleiss["high"]
    assert fleiss["pairs_low"] < fleiss["value"] < fleiss["pairs_high"]
    assert (fleiss["words"], fleiss["pairs"]) == (24, 5)
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


@pytest.mark.parametrize("metric", METRICS)
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
        known = cohen_kappa_score([*TRUE.values()], np.sign(KNOWN[metric][pair]))
        assert value(found, "truth", metric, "known", pair)["value"] == pytest.approx(known)


def test_measures_against_each_other_and_kappa_against_cosine(
    concluded: tuple[pd.DataFrame, str, Path],
) -> None:
    found = concluded[0]
    one, other = (SCORES[name] > 0 for name in METRICS)
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


def test_analogies_with_and_without_a_base_pair(
    concluded: tuple[pd.DataFrame, str, Path],
) -> None:
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
    BasePairs(resamples=10).conclude(given, tmp_path, Console(file=io.StringIO()))
    found = pd.read_csv(tmp_path / "base_pairs.csv").fillna({"compared_with": "", "pair": ""})
    row = value(found, "fleiss", "ripa")
    assert isnan(row["value"])
    assert row["reason"].startswith("all words have one direction")


def kappa_of(directions: Floats, kept: Sequence[int]) -> float:
    return float(fleiss_kappa(directions[:, kept])[0])


def test_the_interval_over_pairs_holds_the_kappa_of_their_population() -> None:
    """Ten pairs drawn from many: each has the words' leans and noise of its own, more or less."""
    rng = np.random.default_rng(0)
    lean = rng.normal(size=(60, 1))

    def pairs(number: int) -> Floats:
        noise = rng.gamma(2, 0.4, size=(1, number))
        return np.asarray(lean + noise * rng.normal(size=(60, number)) > 0, dtype=float)

    truth = float(fleiss_kappa(pairs(2_000))[0])
    held = 0
    for _ in range(300):
        drawn = pairs(10)
        low, high = jackknife(partial(kappa_of, drawn), 10)
        held += low <= truth <= high
    assert 0.92 <= held / 300 <= 0.985
