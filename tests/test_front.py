"""The front door: every YAML composes and builds, keys that nobody knows are refused, the commands
of the README do what it says.
"""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from biasbridge.files.data.registry import collected_requests
from biasbridge.train.cli import CONF
from biasbridge.train.cli.choices import choices
from biasbridge.train.cli.composing import read_point, read_study
from biasbridge.train.engine.point import Outcome, Point, plan_point
from biasbridge.train.engine.store import Store
from tests.analysis.test_columns import check_columns, columns
from tests.test_certify import write_metric

if TYPE_CHECKING:
    from tests.conftest import Ended, Train

ROOT = CONF.parent
# Choices that only a task on documents has
OF_COREFERENCE = {"documents", "resolver"}
OF_COREFERENCE |= {f"challenge={name}" for name in ("gap", "generated", "generated_link")}
OF_COREFERENCE |= {f"challenge={name}" for name in ("winobias", "winobias_test", "winogender")}
# Every group of choices, with those that go together in one composition
TOGETHER = (
    ("intrinsic", "corpus", "debias", "source", "classifier", "study"),
    *(("words", "groups", "embedding"), ("documents", "resolver")),
    *(("challenge",), ("subject",), ("task",)),
)
EXPERIMENTS = sorted([*(CONF / "experiment").glob("*.yaml"), *(CONF / "sweep").glob("*.yaml")])
# What a choice cannot do without: values for the fields that its YAML leaves open, and a debiasing
# method that goes with it.
GIVEN_IN_ITS_SWEEP = {
    "base_pairs_pretrained": ["embedding.path=vectors.txt"],
    "pretrained_audit": ["embedding.path=vectors.txt"],
    "silhouettes_real": ["embedding.path=vectors.txt"],
    "score_properties_models": ["embedding.model=bert"],
    "answer_en_davidson": ["corpus=en_tweets"],
    "paper001_open_davidson": ["corpus=en_tweets_open"],
    "paper001_en_target": ["corpus=en_tweets", "source=hateval_all"],
    "bbq": ["model.model=bert", "task.data=folder"],
    "referents": ["model.model=bert"],
    "transfer_smollm2": ["bbq=folder"],
}
MODEL = ["subject=language_model", "model=loaded", "model.model=bert"]
ENCODER = [*MODEL, "source=none"]
OF_MODELS = ["aul", "aula", "ceat", "crows_pairs", "disco", "lpbs", "next_word", "planted_bias"]
OF_MODELS += ["neutral_loss", "pll", "probe", "seat", "sts_b", "certificate_models"]
OF_MODELS += ["certificate_smollm2", "certificate_minilm"]
HUB = ["embedding.model=bert@86b5e0934494bd15c9632b12f734a8a67f723594"]
NEEDS: dict[tuple[str, str], list[str]] = {
    ("corpus", "default"): [],  # no text of its own
    ("challenge", "csv"): ["challenge.path=posts.csv", "challenge.group=who"],
    ("embedding", "pretrained"): ["embedding.path=vectors.txt"],
    ("embedding", "transformers"): HUB,
    ("corpus", "text"): ["corpus.path=corpus.txt"],
    ("corpus", "datasets"): ["corpus.path=folder"],
    ("source", "csv"): ["source.path=posts.csv"],
    ("intrinsic", "sq"): [f"intrinsic.sq.file={ROOT}/tests/similar.tsv"],
    **{("intrinsic", name): ENCODER for name in OF_MODELS},
    ("intrinsic", "stereoset"): [*ENCODER, "intrinsic.stereoset.items.path=dev.json"],
    ("debias", "steering"): ENCODER,
    ("task", "bbq"): [*MODEL, "intrinsic=seat", "task.data=folder"],
    ("task", "referents"): [*MODEL, "intrinsic=seat"],
    ("task", "retrieval"): [*MODEL, "intrinsic=seat"],
    ("classifier", "encoder"): [*MODEL, "intrinsic=seat"],
    ("classifier", "finetuned"): [*MODEL, "intrinsic=seat"],
    ("corpus", "planted_occupations_es"): ["intrinsic=weat_gender_es", "source=none"],
    ("source", "datasets"): ["source.path=folder"],
    ("words", "file"): [f"words.file={ROOT}/tests/words.yaml"],
    ("documents", "files"): ["documents.path=folder", "documents.scheme=mine"],
    ("challenge", "winogender"): ["challenge.folder=folder"],
    ("groups", "hateval"): ["groups.heading=against women", "groups.group=women"],
    # Spanish goes with Spanish
    ("corpus", "es"): ["intrinsic=weat_gender_es", "source=none"],
    ("corpus", "es_open"): ["intrinsic=weat_gender_es", "source=none"],
    ("corpus", "es_tweets_authors"): ["intrinsic=weat_gender_es", "source=none"],
    ("corpus", "generated_es_gender"): ["intrinsic=weat_gender_es", "source=none"],
    ("corpus", "generated_es_migrants"): ["intrinsic=weat_migrants_es", "source=none"],
    ("source", "generated_es_gender"): ["corpus=es", "intrinsic=weat_gender_es"],
    ("source", "generated_es_migrants"): ["corpus=es", "intrinsic=weat_migrants_es"],
    **{
        ("source", name): ["corpus=es", "intrinsic=weat_gender_es", "groups=gender_es"]
        for name in ("hateval_es", "hateval_es_test")
    },
    ("intrinsic", "weat_gender_es"): ["corpus=es", "source=none"],
    ("intrinsic", "weat_migrants_es"): ["corpus=es", "source=none"],
    ("intrinsic", "certificate_es"): ["corpus=es", "source=none"],
    ("intrinsic", "certificate_text_es"): ["corpus=es", "source=none"],
    ("intrinsic", "certificate_models_es"): ["model.language=es", *ENCODER],
}
MIGRANTS = ["gaps.privileged=local", "gaps.unprivileged=migrant"]
# Points that have, with those recorded in docs/runs, all columns of the points table
WITH_EVERY_COLUMN = [
    *([f"+experiment={name}"] for name in ("silhouettes", "coreference_en", "certificate_gaps")),
    ["+experiment=base_pairs"],
    ["embedding=transformers", *HUB],
    [*ENCODER, "intrinsic=seat", "model.random_weights=true"],
    ["corpus=generated", "embedding.epochs=0", "challenge=csv", *NEEDS["challenge", "csv"]],
    ["corpus=generated", "source=csv", "source.path=a.csv", *MIGRANTS],
]
# A small world: one training takes about a second.
SMALL = ["seed=0", "corpus.sentences=3000", "size.dim=16", "size.epochs=2", "size.bucket=1000"]
SMALL += ["source.posts=1200", "classifier=linear"]


@pytest.fixture
def hydra_conf(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hydra started on ``conf/`` and left as it was found."""
    monkeypatch.setenv("BIASBRIDGE_DATA", str(ROOT / "nowhere"))
    with collected_requests(), initialize_config_dir(str(CONF), version_base="1.3"):
        yield
    assert not GlobalHydra.instance().is_initialized()


def point(*overrides: str) -> Point:
    config = compose("config", overrides=list(overrides))
    read_study(config)
    return read_point(config)


def compositions() -> Iterator[list[str]]:
    """Overrides that choose each choice once; one with needs of its own is alone."""
    rows: list[tuple[tuple[str, str] | None, ...]] = [(each,) for each in NEEDS]
    for groups in TOGETHER:
        free = [[(group, name) for name in choices(group)] for group in groups]
        rows += itertools.zip_longest(*([one for one in all_ if one not in NEEDS] for all_ in free))
    for row in rows:
        chosen = [each for each in row if each]
        overrides = [f"{group}={name}" for group, name in chosen]
        of_coreference = {*overrides, *(group for group, _ in chosen)} & OF_COREFERENCE
        overrides += [need for each in chosen for need in NEEDS.get(each, [])]
        overrides += ["corpus=generated"] * all("corpus=" not in one for one in overrides)
        yield ["task=coreference_en"] * bool(of_coreference) + overrides


@pytest.mark.slow
@pytest.mark.usefixtures("hydra_conf")
def test_every_choice_composes_and_builds() -> None:
    failed = []
    for overrides in compositions():
        try:
            point(*overrides)
        except Exception as error:  # of Hydra, of OmegaConf, or an InputError
            failed.append(f"{' '.join(overrides)}: {error!r}")
    assert failed == []


@pytest.mark.usefixtures("hydra_conf")
@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda p: p.stem)
def test_every_experiment_says_how_to_run_it_and_the_first_point_of_its_grids_composes(
    path: Path,
) -> None:
    text = path.read_text(encoding="utf-8")
    own = f"+{path.parent.name}={path.stem}"
    assert own in text
    command = dict.fromkeys([*re.findall(r"\+experiment=\w+", text)[:1], own])
    grids = yaml.safe_load(text).get("hydra", {}).get("sweeper", {}).get("grids") or [{}]
    cells = [{name: str(values).split(",")[0] for name, values in grid.items()} for grid in grids]
    # Cells of the same keys and choices, which differ in values alone, compose alike
    distinct = {tuple((n, x * ("." not in n)) for n, x in cell.items()): cell for cell in cells}
    for first in distinct.values():
        given = [f"{name}={'0' if 'range' in one else one}" for name, one in first.items()]
        facts = point(*command, *GIVEN_IN_ITS_SWEEP.get(path.stem, []), *given).facts()
        check_columns(pa.Table.from_pylist([dict(facts)]).schema, "points.parquet")


@pytest.mark.usefixtures("hydra_conf")
def test_no_column_of_points_is_never_written(tmp_path: Path) -> None:
    points = [point(*overrides) for overrides in WITH_EVERY_COLUMN]
    plan = plan_point(points[0], Store(tmp_path))
    written = {"point", *plan.keys(), *plan.options(), *Outcome("").columns()}
    recorded = map(pq.read_schema, ROOT.glob("docs/runs/*/points.parquet"))
    written.update(*(each.facts() for each in points), *(each.names for each in recorded))
    assert set(columns("points.parquet")) == written


@pytest.mark.usefixtures("hydra_conf")
def test_a_replicate_is_another_classifier_on_the_same_embedding(tmp_path: Path) -> None:
    one, other = (plan_point(point(f"replicate={number}"), Store(tmp_path)) for number in (0, 1))
    assert one.subject["vectors"].key == other.subject["vectors"].key
    assert [step.key for step in one.metrics] == [step.key for step in other.metrics]
    assert one.task is not None
    assert other.task is not None
    first, second = (task.inputs["predictions"] for task in (one.task, other.task))
    assert first.inputs["posts"].key == second.inputs["posts"].key
    assert first.key != second.key
    assert one.key != other.key


# Beside the train commands of tests/test_mistakes.py
SWEEP = "hydra.mode=MULTIRUN"
ENGLISH = "+experiment=hatespeech_en"
REFUSED = [
    ("sed=3", "unknown config key 'sed'; did you mean 'seed'?"),
    ("debias=balance debias.dos=1", "unknown config key 'dos'; did you mean 'dose'?"),
    ("debias=balance +debias.dos=1", "unknown config key 'debias.dos'; did you mean 'dose'?"),
    ("debias=balance debias.direction=up", "give one of debias, overbias"),
    ("debias.dose=0.5", "debias.dose=0.5 without a method"),
    (f"{ENGLISH} debias=leace,inpl", "debias has no choice 'inpl'; did you mean 'inlp'? (choices:"),
    (f"{ENGLISH} intrinsic=[weat,ectt]", "intrinsic has no choice 'ectt'; did you mean 'ect'?"),
    (f"{ENGLISH} embedding=word2vec,glove", "did you mean 'glove_6b_50d'?"),
    (f"{ENGLISH} classifier=linear,cnn classifier.C=1", "unknown config key 'C'"),
    ("+experiment=positive_control source=none", "source.transmission, which there is not; give"),
    ("classifier._target_=os.system", "is not a choice"),
    ("store=X", "store=X: give the folder as store.dir=X"),
    ("results=X", "results=X: give the folder as results.dir=X"),
    ("results.dir=", "results.dir='' is not a folder"),
    ("plan=maybe", "plan='maybe': give true or false"),
    ("source=davidson corpus=generated", "biasbridge data get davidson2017"),
    ("store.dir=/dev/null/store", "store.dir"),
    ("results.dir=/dev/null/results", "cannot write"),
    (
        f"{ENGLISH} debias.max_bias=true,false",
        "(in the cell embedding=word2vec seed=0 debias=attract_repel",
    ),
    ("seed=range(3)", "seed=range(3): several values need a sweep, and this runs one point"),
    (f"{ENGLISH} debias.dose=0,2", "debias.dose=2"),
    ("~seed", "the config key 'seed' is missing; do not remove it with ~seed"),
    ("intrinsic=[]", "the config key 'intrinsic' is missing; do not remove it with ~intrinsic or"),
    ("name=../..", "name='../..' is not a folder name in results/"),
    ("source=none challenge=hatecheck challenge.path=/x", "challenge=HateCheck needs a"),
    ("+hydra.job.env_set.PATH=/x", "hydra.job.env_set cannot be changed"),
    (f"{SWEEP} hydra.sweeper.grids=[1]", "hydra.sweeper.grids[0]=1: give a"),
    (f"{SWEEP} seed=range(3000000)", "100,001 cells or more; give fewer values"),
    (f"{SWEEP} debias=glob(z*)", "debias=glob(z*) has no value to sweep over"),
    (f"{SWEEP} hydra.launcher.n_jobs=many", "n_jobs='many': give the number"),
    ("--config-dir /nowhere/at/all", "no such folder"),
    ("-cd", "argument --config-dir/-cd: expected one argument"),
    ("--cfg nothing", "invalid choice: 'nothing' (choose from 'job', 'hydra', 'all')"),
    ("--cfg job -m", "argument --multirun/-m: not allowed with argument --cfg/-c"),
    ("--cfg job +sed.a=${", "+sed.a=${ cannot be read"),
    ("--stale never", "argument --stale: invalid choice: 'never' (choose from"),
    ("intrinsic.weat.resamples=99999999999", "give a whole number from 0 to 1e+06"),
]


def assert_refused(ended: Ended, message: str) -> None:
    assert ended.status == 2, ended
    assert message in ended.err
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=[each[0] for each in REFUSED])
def test_bad_input_exits_2_with_one_line_and_leaves_nothing(
    arguments: str, message: str, tmp_path: Path, train: Train
) -> None:
    assert_refused(train(*arguments.split()), message)
    assert not list(tmp_path.rglob("*.parquet"))


TOUCH = "{_target_: builtins.open, file: touched, mode: w}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("seed: 2001-01-01", "seed='2001-01-01': give a whole number"),
        (f"seed: {'1' * 5000}", "Exceeds the limit"),
        ("seed: !!python/name:os.system", "could not determine a constructor"),
        ("seed: [1, 1, 1]", "seed=(1, 1, 1)"),
        ('name: "a\\x1b[2J"', r"name='a\x1b[2J' contains a control character"),
        ("intrinsic: 3", "intrinsic=3: give a mapping"),
        ("corpus: {_target_: os.system}", "is not a choice"),
        ("corpus: {_target_: mine.Absent}", "has no attribute 'Absent'"),
        (f"hydra: {{callbacks: {{a: {TOUCH}}}}}", "hydra.callbacks cannot be changed"),
        (f"hydra: {{launcher: {{n_jobs: {TOUCH}}}}}", "hydra.launcher contains _target_, which"),
        ("seed: [", "cannot be read (while parsing a flow node"),
    ],
)
def test_a_configuration_file_that_cannot_be_used(
    content: str, message: str, tmp_path: Path, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "experiment").mkdir()
    file = tmp_path / "experiment" / "mine.yaml"
    file.write_text(f"# @package _global_\n{content}\n", encoding="utf-8")
    (tmp_path / "mine.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert_refused(train("--config-dir", str(tmp_path), "+experiment=mine", "plan=true"), message)
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize(
    ("content", "overrides", "message"),
    [
        (
            b"text,label\na,1\nb,1\n",
            ["source=csv"],
            "all 2 labels are 1; a classifier needs posts of both classes",
        ),
        (b"", ["corpus=text"], "is empty"),
        (b"ok\n\xff\n", ["corpus=text"], "line 2 is not UTF-8"),
        (b"2 3\na 1 2 3\nb 1 2\n", ["embedding=pretrained"], "bad"),
        (b"2 2\na 1 2\nb 1 nan\n", ["embedding=pretrained"], "bad"),
    ],
)
def test_bad_files_exit_2_and_leave_no_tables(
    content: bytes, overrides: list[str], message: str, tmp_path: Path, train: Train
) -> None:
    name = "bad.csv" if overrides == ["source=csv"] else "bad"
    (tmp_path / name).write_bytes(content)
    group = overrides[0].split("=")[0]
    fast = ["size.dim=8", "size.epochs=1"]
    fast += ["corpus=generated" if group == "source" else "source=none"]
    ended = train(*overrides, f"{group}.path={name}", *fast)
    assert ended.status == 2, ended
    assert message in ended.err
    assert not list((tmp_path / "results").rglob("*.parquet"))


def test_the_script_passes_on_what_the_door_says(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "train.py"), "+sed=3"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("error: unknown config key 'sed'; did you mean 'seed'?")


def test_plan_builds_nothing(tmp_path: Path, train: Train) -> None:
    status, out, err = train(ENGLISH, "plan=true")
    assert status == 0, err
    assert "70 runs, 65 distinct points" in out
    assert not [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert out.startswith(
        "axes: seed 0, 1, 2, 3, 4; debias balance, attract_repel; debias.direction\n"
        "debias, overbias; debias.dose 0, 0.3, 0.6, 1, 0.08, 0.12, 0.15\n"
        "13 conditions of 5 parents: a verdict is possible\n"
    )


def test_a_plan_comes_before_data(
    tmp_path: Path, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASBRIDGE_DATA", str(tmp_path / "empty"))
    arguments = ("+experiment=hatespeech_es_gender_real", "embedding=word2vec", "seed=range(20)")
    status, out, err = train(*arguments, "plan=true")
    assert status == 2
    axes, verdict = out.rsplit("\n", 2)[:2]
    assert all(len(line) <= 80 for line in axes.splitlines())
    assert "seed (20)" in axes
    assert "debias.direction debias, overbias" in axes
    assert verdict.endswith("conditions of 20 parents: a verdict is possible")
    assert "error: not in" in err


def test_words_that_the_world_lacks_are_told_before_a_training(train: Train) -> None:
    for arguments in (["plan=true"], []):
        _, out, _ = train("intrinsic=ect", "source=none", "corpus.sentences=1000", *arguments)
        assert (
            "warning: ect: 0 of 10 ect_female_names, 0 of 10 ect_male_names, 0 of 320 professions"
            " are words of the synthetic world, so query 'names_professions' has no score\n"
        ) in out
    _, out, _ = train("intrinsic=weat", "source=none", "plan=true")
    assert "synthetic world" not in out


@pytest.mark.parametrize(
    ("arguments", "cells"),
    [
        ("-m seed=0,1,2", "3 runs, 3 distinct points"),
        ("seed=0,1 --multirun", "2 runs, 2 distinct points"),
        (f"-m {ENGLISH} seed=0,1,2", "42 runs, 39 distinct points"),
        (f"-m {ENGLISH} seed=0 hydra.mode=RUN", "14 runs, 13 distinct points"),
        ("-m", "1 run, 1 distinct point"),
    ],
)
def test_multirun_is_a_sweep(arguments: str, cells: str, train: Train) -> None:
    status, out, err = train(*arguments.split(), "plan=true")
    assert status == 0, err
    assert cells in out


def test_the_configuration_is_shown_as_hydra_does(train: Train) -> None:
    arguments = (ENGLISH, "seed=3", "size.dim=17", "classifier=linear")
    with initialize_config_dir(str(CONF), version_base="1.3"):
        expected = OmegaConf.to_yaml(compose("config", overrides=list(arguments)))
    assert train("--cfg", "job", *arguments) == (0, expected, "")
    assert "dir: ${results.dir}" in train("-c", "hydra").out
    assert "dir: results/point" in train("-c=all", "--resolve").out


def test_a_class_beside_its_configuration_is_imported(
    tmp_path: Path, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "mine").mkdir()
    write_metric(tmp_path / "mine", "leaning_beside")
    status, out, err = train("-cd", "mine", "intrinsic=leaning_beside", "source=none", "plan=true")
    assert status == 0, err
    assert "1 run, 1 distinct point" in out
    monkeypatch.delitem(sys.modules, "leaning_beside")


def test_one_point(tmp_path: Path, train: Train) -> None:
    overrides = ["hydra.mode=RUN", "debias=attract_repel", "debias.direction=overbias"]
    status, out, err = train(ENGLISH, *SMALL, *overrides)
    assert status == 0, out + err
    (path,) = (tmp_path / "results" / "hatespeech_en").glob("*/points.parquet")
    assert [*path.parent.parent.iterdir()] == [path.parent]
    assert pd.read_parquet(path)[["method", "direction", "dose"]].to_numpy().tolist() == [
        ["attract_repel", "overbias", 1.0]
    ]


def test_how_much_is_printed_and_an_experiment_of_ones_own_is_found(
    train: Train, tmp_path: Path
) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "own.yaml").write_text(
        "# @package _global_\nname: own\nsource:\n  posts: 400\n", encoding="utf-8"
    )
    small = "experiment=own classifier=linear corpus.sentences=1000 size.dim=8 size.epochs=1"
    words = [*small.split(), "intrinsic.weat.min_found=0", "hydra.mode=RUN"]
    first = train(*words)
    assert first.status == 0, first.err
    assert first.out.startswith("1 point, ")
    assert first.out.splitlines()[0].endswith(" steps to run, of unknown length")
    again = train(*words)
    assert "to run" not in again.out
    assert "distinct point" not in again.out
    assert "distinct point" in train(*words, "--verbose").out
    assert train(*words, "--quiet", "overwrite=always").out.startswith("1 point, synth")
