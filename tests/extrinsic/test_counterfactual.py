"""What changes when nothing but the term changes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from biasbridge.extrinsic.counterfactual import term_rows
from biasbridge.extrinsic.gap_table import Row, as_table, gap_table
from biasbridge.extrinsic.gaps import Gaps

ANY = Gaps("g", "h", min_support=0)
TERMS = {"a": "g", "b": "g", "c": "h", "d": "h"}


def frames(n: int = 60, seed: int = 0, apart: float = 0.0) -> pd.DataFrame:
    """Every term in every frame; the predictions of a frame go together, and the terms of the
    second group are predicted 1 more often by ``apart``.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        label, hard = number % 2, rng.normal()
        for term, group in TERMS.items():
            chance = hard + 0.4 * rng.normal() + (label - 0.5) + apart * (group == "h")
            rows.append((str(number), term, group, label, int(chance > 0)))
    table = pd.DataFrame(rows, columns=["frame", "term", "group", "label", "prediction"])
    return table.assign(unit=table["frame"])


def only(rows: list[Row], kind: str) -> pd.DataFrame:
    table = as_table(rows)
    return table[table["kind"] == kind]


def test_equality_differences_by_the_formula() -> None:
    data = frames(apart=0.4)
    found = only(term_rows(data, ANY), "equality_difference").set_index("measure")["value"]
    for name, label in (("fpr", 0), ("fnr", 1)):
        part = data[data["label"] == label]
        wrong = part["prediction"] != part["label"]
        by_term = wrong.groupby(part["term"]).mean()
        assert found[name] == pytest.approx((by_term - wrong.mean()).abs().sum(), abs=1e-12)


def test_flips_are_those_of_all_pairs_counted() -> None:
    data = frames(apart=0.4)
    found = only(term_rows(data, ANY), "flips")
    table = data.pivot_table("prediction", "frame", "term")
    pairs = combinations(TERMS, 2)
    differ = {(one, other): (table[one] != table[other]).mean() for one, other in pairs}
    values = found.set_index("group")["value"]
    assert values["all"] == pytest.approx(np.mean(list(differ.values())))
    for term in TERMS:
        own = [value for pair, value in differ.items() if term in pair]
        assert values[term] == pytest.approx(np.mean(own))
    between = found[found["privileged"] == "g"].iloc[0]
    across = [differ[a, b] for a in "ab" for b in "cd"]
    assert (between["unprivileged"], between["support"]) == ("h", 60)
    assert between["value"] == pytest.approx(np.mean(across))


def test_terms_are_measured_and_compared_with_the_rest() -> None:
    data = frames(apart=0.4)
    table = as_table(term_rows(data, ANY)).query("subset == 'terms'")
    values = table.query("kind == 'value' and measure == 'recall'").set_index("group")["value"]
    positive = data[data["label"] == 1]
    for term in TERMS:
        of = positive["term"] == term
        assert values[term] == positive.loc[of, "prediction"].mean()
        row = table.query("kind == 'term_gap' and measure == 'recall' and unprivileged == @term")
        assert row["value"].iloc[0] == pytest.approx(
            positive.loc[~of, "prediction"].mean() - values[term]
        )


def test_a_classifier_that_ignores_terms_never_flips() -> None:
    data = frames()
    same = data.assign(prediction=data["frame"].astype(int) % 3 == 0)
    rows = term_rows(same.astype({"prediction": int}), ANY)
    flips = only(rows, "flips")
    assert (flips["value"] == 0).all()
    assert flips["high"].between(0.03, 0.08).all()
    found = only(rows, "equality_difference")
    assert (found["value"] == 0).all()
    assert (found["low"] == 0).all()
    assert (found["high"] > 0).all()


def test_gaps_within_frames_are_better_known_than_between_unrelated_posts() -> None:
    """And about as well as a bootstrap over frames says."""
    data = frames(400, apart=0.1)
    paired, apart = (
        gap_table(each, ANY).query("kind == 'gap' and measure == 'recall'").iloc[0]
        for each in (data, data.drop(columns="unit"))
    )
    assert paired["value"] == apart["value"]
    positive = data[data["label"] == 1]
    by_frame = positive.pivot_table("prediction", "frame", "group")
    differences = (by_frame["g"] - by_frame["h"]).to_numpy()
    expected = differences.std() / np.sqrt(len(differences))
    assert (paired["high"] - paired["low"]) / (2 * 1.96) == pytest.approx(expected, rel=0.15)
    assert paired["high"] - paired["low"] < 0.8 * (apart["high"] - apart["low"])


@pytest.mark.slow
@pytest.mark.parametrize("apart", [0.0, 0.5])
def test_the_interval_of_an_equality_difference_holds_the_truth(
    apart: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In 93% or more of 80 sets, though of terms that are alike the sum seen is never 0."""
    monkeypatch.setattr("biasbridge.extrinsic.spread.N_DRAWS", 400)
    many = frames(20_000, seed=99, apart=apart)
    negative = many[many["label"] == 0]
    rates = negative.groupby("term")["prediction"].mean()
    groups = negative.groupby("group")["prediction"].mean()
    truth = float((groups - groups.mean()).abs().sum() * 2) if apart else 0.0
    assert rates.std() < 0.15
    held = 0
    for seed in range(80):
        found = only(term_rows(frames(100, seed, apart), ANY), "equality_difference")
        row = found.set_index("measure").loc["fpr"]
        held += bool(row["low"] - 1e-9 <= truth <= row["high"] + 1e-9)
    assert held / 80 >= 0.9


def test_posts_about_nobody_and_in_no_frame() -> None:
    data = frames()
    other = data.head(4).assign(term="", frame="", unit=["w", "x", "y", "z"], group="none")
    lone = data.head(2).assign(frame="", unit=["p", "q"])
    rows = term_rows(pd.concat([data, other, lone], ignore_index=True), ANY)
    [everything] = [row for row in rows if row.kind == "flips" and row.group == "all"]
    assert everything.support == 60
    [recall] = [row for row in rows if (row.kind, row.measure, row.group) == ("value", "fpr", "a")]
    assert recall.support == 31
    assert not [row for row in term_rows(data.drop(columns="frame"), ANY) if row.kind == "flips"]
