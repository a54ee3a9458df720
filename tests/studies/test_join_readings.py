"""``docs/studies/join_readings.py`` certifies recorded readings and those of a new study as one."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    import pytest

STUDIES = Path(__file__).resolve().parents[2] / "docs" / "studies"


def test_readings_of_a_material_replace_those_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.util.spec_from_file_location("join", STUDIES / "join_readings.py")
    assert spec
    assert spec.loader
    join = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(join)
    readings = pd.read_csv(join.READINGS, low_memory=False)
    is_asked = (readings["metric"] == "weat") & (readings["convention"] == "default")
    readings = readings[is_asked & readings["material"].isin(["en_tweets", "en_plots"])]
    readings.to_csv(tmp_path / "recorded.csv.gz", index=False)
    again = readings[(readings["material"] == "en_plots") & (readings["seed"] < 4)]
    (tmp_path / "study").mkdir()
    again.to_csv(tmp_path / "study" / "certificate_readings.csv", index=False)
    monkeypatch.setattr(join, "READINGS", tmp_path / "recorded.csv.gz")
    monkeypatch.setattr(join, "RESAMPLES", 10)
    join.main([tmp_path / "study"], tmp_path)
    seeds = pd.read_csv(tmp_path / "certificate.csv").set_index("material")["seeds"]
    assert seeds.to_dict() == {"en_tweets": 8, "en_plots": 4}
    assert (tmp_path / "certificate.svg").exists()
