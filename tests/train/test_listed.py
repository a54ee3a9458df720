"""What a sweep says that it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from train.finish import list_written

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_line_a_folder_and_pages_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    results = tmp_path / "results" / "study"
    figure = results / "figures" / "figure3"
    written = [
        results / "points.parquet",
        *(figure.with_suffix(end) for end in (".csv", ".svg", ".png")),
        results / "report.html",
        results / "correlations.csv",
    ]
    assert list_written(written, results) == [
        "results/study: points.parquet, correlations.csv",
        "results/study/figures: figure3 (svg, png)",
        "results/study/report.html",
    ]


def test_a_folder_elsewhere_is_named_in_full(tmp_path: Path) -> None:
    assert list_written([tmp_path / "made.csv"], tmp_path) == [f"{tmp_path}: made.csv"]
