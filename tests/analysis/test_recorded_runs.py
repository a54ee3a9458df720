"""The recorded runs in ``docs/runs`` are what the present code makes of their tables, and what was
found of them by other programs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from analysis.correlate import correlate_slices
from analysis.effects import effects
from analysis.joined import join_points
from analysis.results import read_tables
from biasbridge.cli.correlate import main as correlate

if TYPE_CHECKING:
    from analysis.findings import Finding

RUNS = Path(__file__).resolve().parents[2] / "docs" / "runs"
ESTIMATES = ["r_rm", "low", "high"]
Slice = tuple[str, str]
# By the rule of before, with t intervals and a skewness of their own (its answer, recorded).
BEFORE = {
    ("weat6b", "precision"): (0.25, 0.06, 0.42),
    ("weat7", "precision"): (0.17, 0.01, 0.33),
    ("weat8", "precision"): (0.21, 0.06, 0.36),
    ("weat6b", "recall"): (0.07, -0.16, 0.30),
    ("weat7", "recall"): (-0.04, -0.25, 0.17),
    ("weat8", "recall"): (0.04, -0.18, 0.26),
}
# By a prototype, without the sampling error of words and items: r within parents, over conditions
# (with its p) and given the condition.
PRECISION = {
    "weat6b": ((0.25, 0.12, 0.37), (0.49, -0.04, 0.80, 0.07), (-0.01, -0.20, 0.18)),
    "weat7": ((0.17, 0.04, 0.29), (0.35, -0.18, 0.72, 0.17), (-0.05, -0.25, 0.16)),
    "weat8": ((0.21, 0.10, 0.32), (0.40, -0.07, 0.73, 0.09), (0.05, -0.15, 0.25)),
}
RECALL = {"weat6b": (0.07, 0.10, 0.18), "weat7": (-0.04, -0.09, 0.08), "weat8": (0.04, 0.04, 0.18)}


@pytest.fixture(scope="module")
def joined() -> pd.DataFrame:
    return join_points(read_tables(RUNS / "answer_en"))


def confirmatory(joined: pd.DataFrame) -> dict[Slice, Finding]:
    return {
        (each.names["query"], each.names["measure"]): each
        for each in correlate_slices(joined)
        if each.confirmatory
    }


def test_six_intervals_are_those_of_the_rule_before(joined: pd.DataFrame) -> None:
    found = confirmatory(joined)
    assert found.keys() == BEFORE.keys()
    for key, expected in BEFORE.items():
        assert found[key].within.interval == pytest.approx(expected, abs=0.03)
        counts = (found[key].n, found[key].n_parents, found[key].n_conditions, found[key].lost)
        assert counts == (192, 8, 24, 0)
    assert {each.scope for each in found.values()} <= {"", "these conditions"}


def test_without_sampling_error_they_are_those_of_the_prototype(joined: pd.DataFrame) -> None:
    found = confirmatory(joined.drop(columns=["x_resampled", "y_resampled"]))
    for query, (within, conditions, given) in PRECISION.items():
        of = found[query, "precision"]
        over = (*of.conditions.interval, of.conditions.p)
        assert of.within.interval == pytest.approx(within, abs=0.03)
        assert over == pytest.approx(conditions, abs=0.05)
        assert of.given_condition.interval == pytest.approx(given, abs=0.05)
    for query, expected in RECALL.items():
        of = found[query, "recall"]
        three = (of.within.r, of.conditions.r, of.given_condition.r)
        assert three == pytest.approx(expected, abs=0.05)


def test_the_answer_is_that_of_its_tables(tmp_path: Path) -> None:
    assert correlate([str(RUNS / "answer_en"), "--out", str(tmp_path / "again.csv")]) == 0
    again, recorded = (
        pd.read_csv(path, keep_default_na=False, na_values=[""])
        for path in (tmp_path / "again.csv", RUNS / "answer_en.csv")
    )
    columns = [*ESTIMATES, "verdict"]
    pd.testing.assert_frame_equal(again[columns], recorded[columns], rtol=1e-9)


def test_how_far_full_overbiasing_moves_the_gaps_is_as_the_page_says() -> None:
    found = {
        each.names["measure"]: each
        for each in effects(read_tables(RUNS / "answer_en"))
        if each.names["side"] == "gap" and each.against == "debias" and each.embedding == "all"
        if (each.names["wordset"], each.names["dose"]) == ("gender_authors", "1")
        if each.names["method"] == "attract_repel"
    }
    page = (RUNS / "answer.md").read_text(encoding="utf-8")
    for measure in ("precision", "fpr"):
        each = found[measure]
        assert each.n_parents == 8
        numbers = [f"{number:.3f}".lstrip("0") for number in (each.change, each.low, each.high)]
        assert f"{numbers[0]} [{numbers[1]}, {numbers[2]}]" in " ".join(page.split())
