"""The examples of docs/extending.md in a folder of one's own: commands and runs find them."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import torch

import biasbridge
from biasbridge.commands.audit import main as audit
from biasbridge.commands.debias import main as debias
from biasbridge.debias.methods import METHODS
from biasbridge.files import InputError
from biasbridge.files.models.language_model import open_model
from biasbridge.files.vectors import open_mapped, read_vectors
from biasbridge.intrinsic.registry import METRICS, MODEL_METRICS
from biasbridge.intrinsic.words import load_query
from biasbridge.train.cli.start import _help_text
from tests.fresh_code import forget_code
from tests.tiny_models import save_model

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from tests.conftest import Train


ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "extending.md"
FILES = ("centroid_distance.py", "token_bias.py", "centroid_shift.py", "test_mine.py")

SUBJECTS = [word for role in "XYAB" for word in load_query("weat7")[role].words]
MALE, FEMALE = (load_query("gender_union")[role].words for role in "XY")


def distance(vectors: KeyedVectors) -> float:
    """Return how far the centroids of male and female words lie apart."""
    x, y = (
        np.mean([vectors[w.lower()] for w in words if w.lower() in vectors], axis=0)
        for words in (MALE, FEMALE)
    )
    return float(np.linalg.norm(x - y))


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the page, with the files that it shows; commands start beside it."""
    (tmp_path / "mine").mkdir()
    page = PAGE.read_text(encoding="utf-8")
    shown = re.findall(r"## [^\n]*: `mine/(\w+\.py)`\n\n```python\n(.*?)```", page, re.DOTALL)
    assert [name for name, _ in shown] == [*FILES]
    for name, text in shown:
        (tmp_path / "mine" / name).write_text(text, encoding="utf-8")
    fixed = dict(shown)["centroid_shift.py"].replace("    dose: Share = 1.0\n", "")
    fixed = fixed.replace("self.dose", "1.0").replace('    direction: Direction = "debias"\n', "")
    fixed = fixed.replace('-shift if self.direction == "overbias" else ', "")
    fixed = fixed.replace('"centroid_shift"', '"fixed_shift"')
    (tmp_path / "mine" / "fixed_shift.py").write_text(fixed, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    known: tuple[dict[str, Any], ...] = (METRICS, MODEL_METRICS, *METHODS.values())
    tables = [(table, dict(table)) for table in known]
    rng = np.random.default_rng(0)
    words = [word.lower() for word in (*MALE, *FEMALE, *SUBJECTS, "house")]
    rows = [f"{word} {' '.join(map(str, rng.normal(size=8)))}" for word in dict.fromkeys(words)]
    Path("before.txt").write_text("\n".join([f"{len(rows)} 8", *rows, ""]), encoding="utf-8")
    yield tmp_path / "mine"
    for table, before in tables:
        table.clear()
        table.update(before)
    forget_code("centroid_", "token_bias", "fixed_shift", "other")


def test_the_documented_test_passes(mine: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "mine"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


def test_the_documented_method_and_metric_run(mine: Path, train: Train) -> None:
    ended = train(
        *("--config-dir", "mine", "debias=centroid_shift", "debias.dose=0.5", "source=none"),
        *("intrinsic=[weat,centroid_distance]", "intrinsic.centroid_distance.convention=raw"),
        *("intrinsic.centroid_distance.queries=[gender_union]", "corpus.sentences=1000"),
        *("size.dim=8", "size.epochs=1"),
    )
    assert ended.status == 0, ended
    before, after = (
        open_mapped(next(Path("store", step).glob("*/vectors"))) for step in ("vectors", "modified")
    )
    assert np.array_equal(after["house"], before["house"])
    (table,) = Path("results").rglob("intrinsic.parquet")
    scores = pd.read_parquet(table)
    assert np.isfinite(scores["value"]).all(), scores["reason"].tolist()
    value = scores.set_index("metric").loc["centroid_distance", "value"]
    assert value == pytest.approx(distance(after), rel=1e-5)
    assert value == pytest.approx(distance(before) / 2, rel=1e-5)


def test_the_documented_metric_is_audited(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "before.txt --config-dir mine --metric centroid_distance --query gender_union --json"
    assert audit([*line.split(), "--convention", "raw", "--case", "lower"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["value"] == pytest.approx(distance(read_vectors("before.txt")), rel=1e-5)


def test_the_documented_metric_of_a_language_model_is_audited(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = save_model(Path("model"), "gpt2", head="causal")
    pairs = [
        ("the nurse said she was at home", "the nurse said he was at home"),
        ("a man", "a woman"),
    ]
    rows = "".join(f"{stereo},{anti},\n" for stereo, anti in pairs)
    Path("pairs.csv").write_text(f"stereo,anti,cluster\n{rows}", encoding="utf-8")
    line = f"{folder} --config-dir mine --metric token_bias --items pairs.csv --json"
    assert audit(line.split()) == 0
    [row] = json.loads(capsys.readouterr().out)
    opened: Any = open_model(folder)

    def mean_log_p(text: str) -> float:
        ids = opened.tokenizer(text)["input_ids"]
        with torch.inference_mode():
            logs = opened.model(input_ids=torch.tensor([ids])).logits[0].log_softmax(dim=-1)
        return float(np.mean([logs[k - 1, ids[k]] for k in range(1, len(ids))]))

    differences = [mean_log_p(stereo) - mean_log_p(anti) for stereo, anti in pairs]
    assert row["value"] == pytest.approx(np.mean(differences), abs=1e-5)
    Path("long.csv").write_text(f"stereo,anti,cluster\n{'a ' * 99},a man,\n", encoding="utf-8")
    table = biasbridge.audit(folder, metrics="token_bias", items="long.csv")
    assert table["reason"].item() == "long has no pair that model can read"


def test_python_takes_classes_and_objects(mine: Path) -> None:
    sys.path.insert(0, str(mine))
    CentroidDistance = importlib.import_module("centroid_distance").CentroidDistance
    CentroidShift = importlib.import_module("centroid_shift").CentroidShift
    options: dict[str, Any] = {"convention": "raw", "queries": "gender_union", "case": "lower"}
    metric = CentroidDistance.configured(**options | {"queries": ("gender_union",)})
    before = distance(read_vectors("before.txt"))
    table = biasbridge.audit("before.txt", metrics=CentroidDistance, **options)
    assert table["value"].tolist() == pytest.approx([before], rel=1e-5)
    table = biasbridge.audit("before.txt", metrics=["weat", metric], queries="weat7")
    assert table["metric"].tolist() == ["weat", "centroid_distance"]
    assert table["value"].iloc[1] == pytest.approx(before, rel=1e-5)
    moved = [
        biasbridge.debias("before.txt", lowercase=True, method=CentroidShift(dose=0.5)),
        biasbridge.debias("before.txt", lowercase=True, method=CentroidShift, dose=0.5),
    ]
    assert list(map(distance, moved)) == pytest.approx([before / 2] * 2, rel=1e-4)
    with pytest.raises(InputError, match="dose is a field of centroid_shift; set it in the object"):
        biasbridge.debias("before.txt", method=CentroidShift(), dose=0.5)
    with pytest.raises(InputError, match=r"builtins\.int is neither a metric nor a method"):
        biasbridge.debias("before.txt", method=int)


def test_an_option_that_is_misspelt_is_refused_with_the_nearest(mine: Path, train: Train) -> None:
    own = ("--config-dir", "mine", "source=none", "intrinsic=centroid_distance", "plan=true")
    ended = train(*own, "intrinsic.centroid_distance.normalise=false")
    assert ended.status == 2
    assert "'normalise'; did you mean 'normalize'?" in ended.err
    ended = train(*own[:3], "intrinsic=centroid_distanc", "plan=true")
    assert "did you mean 'centroid_distance'?" in ended.err


def test_a_name_that_is_taken_is_refused(mine: Path) -> None:
    code = (mine / "centroid_shift.py").read_text(encoding="utf-8")
    (mine / "other.py").write_text(code.replace('"centroid_shift"', '"leace"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"other\.CentroidShift: 'leace' is taken; choose another"):
        audit(["before.txt", "--config-dir", "mine"])


def test_the_options_of_a_class_are_shown_with_their_comments() -> None:
    shown = _help_text(["source=csv", "debias=balance"])
    assert "source=csv source.path=FILE\n_target_: biasbridge.corpora.posts.TableSource\n" in shown
    assert "language: ${language} # ISO 639 code" in shown
    assert "cap: 0.05 # largest share of all lines to remove" in shown


DOSES = {
    "--method centroid_shift": 0.0,
    "--method centroid_shift --dose 0.5": 0.5,
    "--method centroid_shift --dose 0.5 --direction overbias": 1.5,
    "--method fixed_shift": 0.0,
}


@pytest.mark.parametrize("options", DOSES)
def test_the_documented_method_debiases_a_file(options: str, mine: Path) -> None:
    line = f"before.txt after.txt --config-dir mine {options} --lowercase"
    assert debias(line.split()) == 0
    before, after = (read_vectors(f"{name}.txt") for name in ("before", "after"))
    expected = DOSES[options] * distance(before)
    assert distance(after) == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert np.allclose(after["house"], before["house"])


def test_a_method_without_a_dose_is_refused_a_dose(mine: Path) -> None:
    for options, said in {"--dose 0.5": "has no dose", "--until weat7=0": "has no dose"}.items():
        line = f"before.txt after.txt --config-dir mine --method fixed_shift {options} --lowercase"
        with pytest.raises(InputError, match=f"fixed_shift {said}"):
            debias(line.split())


def test_the_documented_task_adds_its_step() -> None:
    (code,) = re.findall(r"\n\n(    def build_steps.*?)\n\n", PAGE.read_text("utf-8"), re.DOTALL)
    known: dict[str, Any] = {"measure": "the function"}
    exec(textwrap.dedent(code), known)
    task = object()
    found = known["build_steps"](task, lambda *given: given, {"vectors": "their step"})
    assert found == ("nearness", task, "the function", {"vectors": "their step"})
