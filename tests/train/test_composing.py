"""Cells of a sweep: the grids expanded as documented, each composed to what Hydra itself
composes.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from biasbridge.files import Choice, InputError
from biasbridge.train.cli import CONF
from biasbridge.train.cli.choices import find_class
from biasbridge.train.cli.command import (
    MAX_CELLS,
    _build_cells,
    expand_grids,
    read_command,
    read_options,
)
from biasbridge.train.cli.composing import Composer, Selection, read_point
from biasbridge.train.engine.point import plan_point
from biasbridge.train.engine.steps import SharedSteps
from biasbridge.train.engine.store import Store
from tests.test_front import GIVEN_IN_ITS_SWEEP

STUDIES = sorted(path.stem for path in (CONF / "experiment").glob("*.yaml"))
COMPLETE = [study for study in STUDIES if study not in GIVEN_IN_ITS_SWEEP]


@pytest.fixture(autouse=True)
def _hydra_conf(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("BIASBRIDGE_DATA", "/nowhere")
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield


PAPER = ["+experiment=hatespeech_en", "+sweep=paper001"]


@pytest.mark.parametrize(
    "arguments",
    [
        PAPER,
        [*PAPER, "embedding=fasttext", "size.dim=7", "++debias.dose=0.5"],
        *([f"+experiment={study}"] for study in COMPLETE[::6]),
    ],
    ids=" ".join,
)
def test_cells_are_composed_as_hydra_does(arguments: list[str]) -> None:
    whole = compose("config", overrides=arguments, return_hydra_config=True)
    sweeper = OmegaConf.to_container(whole.hydra.sweeper)
    assert isinstance(sweeper, dict)
    found = _build_cells(sweeper["params"], sweeper["grids"], arguments)
    composer = Composer([])
    for cell in (found[0], found[-1]):
        try:
            expected = read_point(compose("config", overrides=cell))
        except (InputError, OmegaConfBaseException) as error:  # data that are not here
            with pytest.raises(type(error), match=re.escape(str(error).partition("\n")[0])):
                Composer([]).read(cell)  # the first cell ends a sweep
        else:
            assert composer.read(cell).point == expected


SEEDS = ["seed=3", "corpus.stereotype=0.1", "classifier=linear"]


def test_cells_that_differ_in_the_seed_share_the_parts_of_their_points(tmp_path: Path) -> None:
    composer, store, planned = Composer([]), Store(tmp_path), SharedSteps()
    points = [composer.read([f"seed={seed}", *SEEDS[1:]]).point for seed in (3, 4, 3)]
    assert [point.seed for point in points] == [3, 4, 3]
    assert points[0].subject is points[1].subject
    assert points[0].metrics is points[1].metrics
    first, second, third = (plan_point(point, store, planned) for point in points)
    assert first.key == plan_point(read_point(compose("config", overrides=SEEDS)), store).key
    assert first.key == third.key != second.key
    assert first.ends == third.ends
    assert all(a is b for a, b in zip(first.ends, third.ends, strict=True))
    assert first.unit.params is second.unit.params


def test_what_refers_to_the_seed_is_not_shared() -> None:
    composer = Composer([])
    cells = ([f"seed={seed}", "task.name='task_${seed}'"] for seed in (1, 2))
    tasks = [composer.read(cell).point.task for cell in cells]
    assert [task.name for task in tasks if task] == ["task_1", "task_2"]


def test_a_part_is_read_once_for_equal_values_of_what_it_depends_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_parts: list[str] = []
    original = Selection._read_changed  # noqa: SLF001

    def count(self: Selection, part: str, built: dict[str, Choice]) -> Any:
        read_parts.append(part)
        return original(self, part, built)

    monkeypatch.setattr(Selection, "_read_changed", count)
    axes = (
        [f"debias.dose={dose}" for dose in (0.25, 0.5, 1.0)],
        [f"words.query={query}" for query in ("weat6", "weat7")],
        [f"gaps.min_support={support}" for support in (10, 20)],
        [f"size.dim={dim}" for dim in (8, 16)],
        [f"seed={seed}" for seed in range(4)],
    )
    composer = Composer([])
    cells = [["debias=balance", *cell] for cell in itertools.product(*axes)]
    points = [composer.read(cell).point for cell in cells]
    assert Counter(read_parts) == {
        "": 1,
        "subject": 3 * 2 * 2,
        "task": 2,
        "intrinsic": 1,
        "probe": 1,
        "from_task": 2,  # names the groups of the gaps
    }
    for number in (0, 5, 50, 95):
        assert points[number] == read_point(compose("config", overrides=cells[number]))
    assert composer.read(["debias=balance"]).point == read_point(
        compose("config", overrides=["debias=balance"])
    )


@pytest.mark.parametrize("change", ["subject.debias.dose=0.5", "corpus.stereotype=${size.dim}"])
def test_a_change_by_or_below_a_reference_is_read_as_hydra_does(change: str) -> None:
    with pytest.raises((InputError, HydraException)):
        read_point(compose("config", overrides=["debias=balance", change]))
    with pytest.raises((InputError, HydraException, OmegaConfBaseException)):
        Composer([]).read(["debias=balance", change])


def test_a_seed_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="seed='one': give a whole number"):
        Composer([]).read(["seed=one"])


OTHERS = {  # by experiment: a choice in the place of one whose options it sets, and such an option
    "positive_control": ("classifier=cnn", "C"),
    "silhouettes": ("corpus=text", "sentences"),
    "hatespeech_es_gender_real": ("corpus=generated_es_gender", "min_count"),
}


@pytest.mark.parametrize("experiment", OTHERS)
def test_an_option_of_a_choice_does_not_block_another(experiment: str) -> None:
    choice, option = OTHERS[experiment]
    group = choice.partition("=")[0]
    chosen = Composer([])([f"+experiment={experiment}", choice])
    assert read(chosen, group).keys() == compose("config", overrides=[choice])[group].keys()
    with pytest.raises((InputError, HydraException), match=option):
        read(Composer([])([f"+experiment={experiment}", choice, f"{group}.{option}=1"]), group)


LEFT_OUT = {  # by command: the number of cells, and by choice what its file's grid cannot set
    "+experiment=hatespeech_en debias=leace,inlp": (
        2 * 7 * 5,  # doses, of which both grids have those above 0, and seeds
        {"debias=leace": ["direction"], "debias=inlp": ["direction"]},
    ),
    "+experiment=hatespeech_en debias=none,balance": (
        (1 + 2 * 7) * 5,
        {"debias=none": ["direction", "dose"]},
    ),
    "+experiment=hatespeech_en +sweep=paper001_small source=davidson": (
        84,
        {"source=davidson": ["posts"]},
    ),
    "+experiment=transfer_minilm intrinsic=[weat,ect]": (
        52,
        {"intrinsic=[weat,ect]": ["seat"]},
    ),
    "+experiment=hatespeech_en classifier=linear,linear_balanced classifier.C=1": (140, {}),
}


@pytest.mark.parametrize("line", LEFT_OUT)
def test_an_option_of_a_grid_that_a_choice_lacks_is_left_out(line: str) -> None:
    composer = Composer([])
    cells = composer.list_cells(read_command(read_options(line.split())))
    count, left_out = LEFT_OUT[line]
    assert (len(cells), {c: [*names] for c, names in composer.left_out.items()}) == (
        count,
        left_out,
    )
    for cell in (cells[0], cells[-1]):
        composer(cell)


@pytest.mark.parametrize(
    "line",
    [
        "+experiment=hatespeech_en debias=leace,inlp debias.direction=debias",  # typed
        "hydra.mode=MULTIRUN hydra.sweeper.grids=[{debias:leace,debias.dos:1}]",  # a mistake
    ],
)
def test_an_option_that_no_choice_of_the_file_has_or_that_is_typed_is_refused(line: str) -> None:
    composer = Composer([])
    [cell, *_] = composer.list_cells(read_command(read_options(line.split())))
    with pytest.raises(HydraException, match="Could not override 'debias"):
        composer.read(cell)


def read(config: DictConfig, group: str) -> DictConfig:
    """The node of a group that a choice can be made of."""
    node: DictConfig = config[group]
    values = OmegaConf.to_container(node, resolve=False)
    assert isinstance(values, dict)
    cls = find_class(values.pop("_target_"), group)
    fields = [field.name for field in dataclasses.fields(cls)]
    if unknown := values.keys() - {*fields}:
        raise InputError(f"unknown {unknown}")
    return node


def test_product_of_params_and_union_of_grids() -> None:
    assert _build_cells({"a": "1,2", "b": 3}, [], ["c=4,5"]) == [
        [f"a={a}", "b=3", f"c={c}"] for a in (1, 2) for c in (4, 5)
    ]
    assert _build_cells({"a": "1,2"}, [{"a": 1}, {"b": "range(2)"}], []) == [
        ["a=1"],
        ["b=0"],
        ["b=1"],
    ]
    assert _build_cells({"a": "1,2", "b": "1,2"}, [], ["a=7"]) == [["b=1", "a=7"], ["b=2", "a=7"]]
    assert _build_cells({}, [], []) == [[]]
    listed = {"a": [0, 1], "b": [True, None], "c": ["x, y"], "d": None}
    cells = _build_cells(listed, [], [])
    assert [cell[:2] for cell in cells] == [
        [f"a={a}", f"b={b}"] for a in (0, 1) for b in ("True", "null")
    ]
    assert cells[0][2:] == ['c="x, y"', "d=null"]


def test_what_is_no_grid_is_refused() -> None:
    with pytest.raises(InputError, match="single values, a list of them or range"):
        _build_cells({}, [], ["a=interval(0,1)"])
    with pytest.raises(InputError, match=r"hydra.sweeper.grids\[0\]=1: give a mapping"):
        _build_cells({}, [1], [])  # type: ignore[list-item]
    with pytest.raises(InputError, match="200,000 cells or more; give fewer"):
        _build_cells({}, [], ["a=0,1", f"b=range({MAX_CELLS})"])


@pytest.mark.parametrize("name", ["gaps.at", "gaps", "debias.dose"])
def test_what_differs_between_points_is_filled_in_by_each(name: str) -> None:
    """The sweep would fill it in once: two tasks of one name, whose gaps would be averaged."""

    def cells(reference: str) -> list[list[str]]:
        grid = f"{{gaps.at: 'threshold,share', debias: none, task.name: 'x_{reference}'}}"
        lines = ["hydra.mode=MULTIRUN", f"hydra.sweeper.grids=[{grid}]"]
        return expand_grids(read_command(read_options(lines)))

    with pytest.raises(InputError, match=f"{re.escape(name)} differs between points"):
        cells(f"${{{name}}}")
    first, second = cells(f"\\${{{name}}}")
    assert f"task.name=x_${{{name}}}" in first
    assert f"task.name=x_${{{name}}}" in second


def test_the_paper_sweep_holds_what_the_study_varied() -> None:
    whole = compose("config", overrides=PAPER, return_hydra_config=True)
    sweeper = OmegaConf.to_container(whole.hydra.sweeper)
    assert isinstance(sweeper, dict)
    found = [set(cell) for cell in _build_cells(sweeper["params"], sweeper["grids"], [])]
    assert len(found) == 2 * 5 * (1 + 2 * 2 * 4 + 4)
    assert (
        sum("debias.max_bias=True" in cell or "debias.max_bias=true" in cell for cell in found)
        == 2 * 5 * 4
    )
    assert Path(CONF / "sweep" / "paper001_small.yaml").is_file()


def test_a_score_needs_few_modules() -> None:
    """What composing WEAT without a task loads: the classes chosen, nothing that reports."""
    code = (
        "import sys\n"
        "from hydra import compose, initialize_config_dir\n"
        "from biasbridge.train.cli import CONF\n"
        "from biasbridge.train.cli.composing import read_point\n"
        "with initialize_config_dir(str(CONF), version_base='1.3'):\n"
        "    read_point(compose('config', overrides=['source=none']))\n"
        "print(*sys.modules)"
    )
    loaded = subprocess.check_output([sys.executable, "-c", code], cwd=CONF.parent, text=True)
    ours = [name for name in loaded.split() if f"{name}.".startswith("biasbridge.")]
    assert len(ours) < 110
    assert "biasbridge.analysis.concluding" not in ours
    assert not any(name.startswith("biasbridge.studies") for name in ours)
