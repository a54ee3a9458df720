"""The recorded runs in ``docs/runs`` are what the present code makes of their tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from analysis.correlate import main as correlate
from analysis.effects.estimate import effects
from analysis.report.__main__ import main as report
from analysis.results import read_tables

RUNS = Path(__file__).resolve().parents[2] / "docs" / "runs"
ESTIMATES = ["pearson", "within", "within_low", "within_high", "accuracy"]


def test_the_answer_is_that_of_its_tables(tmp_path: Path) -> None:
    assert correlate([str(RUNS / "answer_en"), "--out", str(tmp_path / "again.csv")]) == 0
    again, recorded = (
        pd.read_csv(path) for path in (tmp_path / "again.csv", RUNS / "answer_en.csv")
    )
    pd.testing.assert_frame_equal(again[ESTIMATES], recorded[ESTIMATES], rtol=1e-9)
    assert again["verdict"].tolist() == recorded["verdict"].tolist()
    confirmatory = again[again["role"] == "confirmatory"]
    assert confirmatory["verdict"].value_counts().to_dict() == {"supports": 1, "cannot tell": 5}
    assert (confirmatory["within_high"] - confirmatory["within_low"]).max() < 0.5


def test_its_report_is_made_of_its_tables(tmp_path: Path) -> None:
    for path in (RUNS / "answer_en").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert report([str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "of 6 confirmatory slices 1 supports that" in page
    assert "192 different embeddings" in page


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
        assert (each.n_bases, each.answers_for) == (8, "bases and items")
        told = [f"{number:.3f}".lstrip("0") for number in (each.change, each.low, each.high)]
        assert f"{told[0]} [{told[1]}, {told[2]}]" in " ".join(page.split())
