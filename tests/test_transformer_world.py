"""Transformers and the study of score properties, from the command line to tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from tests.tiny_models import save_model

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Train


def test_models_side_by_side(tmp_path: Path, train: Train) -> None:
    for name in ("bert", "gpt2"):
        save_model(tmp_path / name, name)
    experiment = ["+experiment=score_properties_models", "models=[bert,gpt2]"]
    status, out, err = train(*experiment, "hydra/launcher=basic")
    assert status == 0, out + err
    assert "Table 2" in out
    results = tmp_path / "results" / "score_properties_models"
    table = pd.read_csv(results / "attribute_differences.csv")
    assert table["embedding"].tolist() == ["bert", "gpt2"]
    assert table["difference"].between(0, 2).all()
    points = pd.read_parquet(results / "points.parquet")
    assert points["contexts"].tolist() == ["alone", "alone"]
    assert (results / "report.html").is_file()


def test_a_folder_without_a_model_is_refused_before_anything_runs(
    tmp_path: Path, train: Train
) -> None:
    (tmp_path / "empty").mkdir()
    done = train("embedding=transformers", "embedding.model=./empty", "source=none")
    assert done.status == 2
    [line] = done.err.strip().splitlines()
    assert "'./empty' has no config.json; give one that save_pretrained wrote" in line
    assert not (tmp_path / "store").exists()
