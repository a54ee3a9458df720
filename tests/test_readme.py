"""The commands of the README, as they stand there, run in a copy of the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from files.vectors import keyed, save_vectors
from intrinsic.wordsets import load_query

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST = "python train.py +experiment=hatespeech_link"
STUDY = "python train.py +experiment=hatespeech_en"
ROOMS = (
    "analysis",
    "biasbridge",
    "conf",
    "corpora",
    "debias",
    "extrinsic",
    "files",
    "intrinsic",
    "studies",
    "train",
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the commands need, where they can write results."""
    copy = tmp_path_factory.mktemp("project")
    for room in ROOMS:
        shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "train.py", copy)
    return copy


def run(command: str, cwd: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "BIASBRIDGE_DATA"} | {
        "COLUMNS": "120"
    }
    words = [sys.executable if word == "python" else word for word in command.split()]
    done = subprocess.run(
        words, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "count"), [(" embedding=word2vec", 25), pytest.param("", 50, marks=pytest.mark.stress)]
)
def test_the_first_command_makes_what_the_readme_shows(
    more: str, count: int, project: Path
) -> None:
    assert f"{FIRST}\n" in README
    printed = run(FIRST + more, project)
    points = pd.read_parquet(project / "results" / "hatespeech_link" / "points.parquet")
    assert len(points) == count
    assert (points["status"] == "done").all()
    assert points["generated"].all()
    assert f"{count} of {count} points done" in printed
    assert "positive for these 5 conditions" in printed
    lines = printed.splitlines()
    assert any(line.startswith("recall gap (exploratory): falls with") for line in lines)
    for line in re.findall(r"results/hatespeech_link/\S+", README):
        assert (project / line.rstrip(".,:`")).exists(), line


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        f"{STUDY} plan=true",
        f"{STUDY} plan=true power=true planner.reliability_x=0.9 planner.reliability_y=0.6",
        "python -m analysis.correlate results/hatespeech_link",
        "python -m analysis.effects results/hatespeech_link",
        "python -m analysis.scatter results/hatespeech_link",
        f"{STUDY} hydra.mode=RUN debias=attract_repel debias.direction=overbias",
    ],
)
def test_commands_on_its_results(command: str, project: Path) -> None:
    assert f"`{command}`" in README
    if not (project / "results").exists():
        pytest.skip("needs the results of the first command")
    run(command, project)


@pytest.mark.slow
def test_commands_on_files_of_ones_own(project: Path) -> None:
    text = (
        "she is at home with family\nhe is in the office with business\nthe math of a novel\n" * 200
    )
    (project / "corpus.txt").write_text(text, encoding="utf-8")
    small = "embedding.dim=8 embedding.epochs=1 intrinsic.weat.min_found=0.1"
    run(f"python train.py corpus=text corpus.path=corpus.txt source=none {small}", project)
    vectors = max(
        (project / "store" / "vectors").glob("*/vectors"), key=lambda path: path.stat().st_mtime
    )
    run(
        f"python -m debias {vectors} copy.vec --method attract_repel --direction debias --query"
        " weat6b",
        project,
    )
    run(
        "python train.py embedding=pretrained embedding.path=copy.vec source=none"
        " intrinsic.weat.min_found=0.1",
        project,
    )
    (project / "p.csv").write_text("gold,pred,who\n1,1,m\n1,0,f\n0,0,m\n1,1,f\n", encoding="utf-8")
    assert "recall" in run(
        "python -m extrinsic p.csv --gold gold --pred pred --group who --privileged m", project
    )


@pytest.mark.slow
def test_the_spanish_example_on_posts_vectors_and_words_of_ones_own(project: Path) -> None:
    [command] = re.findall(r"python train.py \S+hatespeech_es_gender source=csv .*", README)
    [words] = re.findall(r"(# palabras\.yaml.*?)```", README, re.DOTALL)
    (project / "palabras.yaml").write_text(words, encoding="utf-8")
    rng, query = np.random.default_rng(0), load_query("gender_union_es")
    asked = [word for role in "XYAB" for word in query[role].words]
    asked += [
        "jefe",
        "jefa",
        "médico",
        "médica",
        "secretario",
        "secretaria",
        "cocinero",
        "cocinera",
    ]
    save_vectors(
        keyed([*asked, "bien", "mal"], rng.normal(size=(len(asked) + 2, 8)).astype(np.float32)),
        project / "vectores.vec",
    )
    kinds = [(who, how) for who in ("Él", "la mujer") for how in ("mal", "bien")] * 40
    texts = [f"{who} lo hace {n} {how}" for n, (who, how) in enumerate(kinds)]
    posts = pd.DataFrame({"texto": texts})
    posts.assign(odio=[int(how == "mal") for _, how in kinds]).to_csv(
        project / "posts.csv", index=False
    )
    small = "seed=0 debias.dose=0,0.1 classifier=linear hydra/launcher=basic"
    own = [
        option for option in re.findall(r"`([^`]*palabras\.yaml[^`]*)`", README) if "=" in option
    ]
    assert len(own) == 3
    assert "3 of 3 points done" in run(f"{command} {small} {' '.join(own)}", project)
    results = project / "results" / "hatespeech_es_gender"
    assert set(pd.read_parquet(results / "intrinsic.parquet")["query"]) == {"oficios"}
    gaps = pd.read_parquet(results / "extrinsic.parquet").query("kind == 'gap'")
    assert gaps["group_by"].str.contains("palabras.oficios: 3 male, 3 female words").all()
    assert (gaps.query("measure == 'recall'")["support"] == 40).all()
