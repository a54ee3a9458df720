"""Transformers and the study of score properties, from the command line to tables and figures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.tiny_models import save_model

ROOT = Path(__file__).resolve().parent.parent


def train(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "120", "HF_HUB_OFFLINE": "1"}
    return subprocess.run(
        [sys.executable, str(ROOT / "train.py"), *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_models_side_by_side(tmp_path: Path) -> None:
    for name in ("bert", "gpt2"):
        save_model(tmp_path / name, name)
    done = train("+experiment=score_properties_models", "models=[bert,gpt2]", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Table 2" in done.stdout
    results = tmp_path / "results" / "score_properties_models"
    table = pd.read_csv(results / "attribute_differences.csv")
    assert table["embedding"].tolist() == ["bert", "gpt2"]
    assert table["difference"].between(0, 2).all()
    points = pd.read_parquet(results / "points.parquet")
    assert points["contexts"].tolist() == ["alone", "alone"]
    assert (results / "report.html").is_file()


@pytest.mark.slow
def test_words_in_sentences_of_the_generated_world_are_searched_and_measured(
    tmp_path: Path,
) -> None:
    save_model(tmp_path / "bert", "bert")
    done = train(
        *("embedding=transformers_in_corpus", "embedding.model=bert", "embedding.sentences=3"),
        *("source=none", "corpus.sentences=1000", "intrinsic=association"),
        *("intrinsic.association.queries=[planted]", "embedding.queries=[planted]"),
        *("probe=score_properties", "probe.items=[1]", "probe.evaluations=5", "probe.sets=4"),
        "study=score_properties",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Table 1" in done.stdout
    [csv] = (tmp_path / "results").rglob("score_properties.csv")
    table = pd.read_csv(csv)
    assert table[["comparable", "trustworthy"]].to_numpy().tolist() == [["no", "yes"]]
    [scores] = (tmp_path / "results").rglob("intrinsic.parquet")
    [row] = pd.read_parquet(scores).to_dict("records")
    assert row["reason"] == ""


def test_a_folder_without_a_model_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = train("embedding=transformers", "embedding.model=./empty", "source=none", cwd=tmp_path)
    assert done.returncode == 2
    [line] = done.stderr.strip().splitlines()
    assert "'./empty' has no config.json; give one that save_pretrained wrote" in line
    assert not (tmp_path / "store").exists()
