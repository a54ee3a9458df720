"""The store: one build a key, nothing half-written, keys that follow from everything that decides a
result.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import platform
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from biasbridge.analysis.provenance import describe_mixture, describe_processor
from biasbridge.files import InputError
from biasbridge.train.engine.store import Step, Store
from biasbridge.train.engine.store.entry import DamagedError, read_recipe
from biasbridge.train.engine.store.step import SCHEME
from biasbridge.train.engine.store.tools import build_records


def write(out: Path, inputs: Mapping[str, Path]) -> None:
    """A result that says what it was made from."""
    (out / "text").write_text(
        " ".join((folder / "text").read_text() for folder in inputs.values()) + "x"
    )


CORPUS = Step(name="corpus", made_by="Text", version=1, params={"a": 1}, build=write, seed=3)


def on(corpus: Step) -> Step:
    return replace(CORPUS, name="vectors", inputs={"corpus": corpus})


def test_makes_inputs_first_and_only_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    built: list[Path] = []

    def count(out: Path, inputs: Mapping[str, Path]) -> None:
        built.append(out)
        write(out, inputs)

    first = replace(CORPUS, build=count)
    second = replace(on(first), build=count)
    assert (store.make(second) / "text").read_text() == "xx"
    assert store.make(second) == store.make(second)
    assert len(built) == 2
    assert store.has(first)


def test_a_finished_result_needs_no_inputs(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = CORPUS, on(CORPUS)
    store.make(second)
    (store.path(first) / "text").unlink()
    (store.path(first) / "recipe.json").unlink()
    store.path(first).rmdir()
    store.make(second)
    assert not store.has(first)


@pytest.mark.parametrize(
    "changed",
    [
        replace(CORPUS, made_by="Other"),
        replace(CORPUS, done_by="other"),
        replace(CORPUS, version=2),
        replace(CORPUS, params={"a": 2}),
        replace(CORPUS, seed=4),
        replace(CORPUS, files={"x": "00"}),
        replace(CORPUS, name="other"),
    ],
    ids=["made_by", "done_by", "version", "params", "seed", "files", "name"],
)
def test_key_follows_from_all_that_decides(changed: Step) -> None:
    assert changed.key != CORPUS.key
    assert on(changed).key != on(CORPUS).key


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def fail(out: Path, inputs: Mapping[str, Path]) -> None:
        write(out, inputs)
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        store.make(replace(CORPUS, build=fail))
    assert not store.has(CORPUS)
    assert list((tmp_path / "work").iterdir()) == []
    assert (store.make(CORPUS) / "text").read_text() == "x"


def test_a_store_removed_under_a_build_is_built_anew(tmp_path: Path) -> None:
    removed: list[Path] = []

    def build(out: Path, inputs: Mapping[str, Path]) -> None:
        if not removed:
            removed.append(tmp_path)
            shutil.rmtree(tmp_path)
            raise TypeError("what a library says of a file that is gone")
        write(out, inputs)

    made = Store(tmp_path).make(replace(on(CORPUS), build=build))
    assert (made / "text").read_text() == "xx"


def test_recipe_is_written_beside_the_result(tmp_path: Path) -> None:
    content = read_recipe(Store(tmp_path, made={"command": "python train.py"}).make(CORPUS))
    assert content["recipe"] == CORPUS.recipe()
    assert content["made"]["libraries"]["Python"] == platform.python_version()
    assert content["made"]["command"] == "python train.py"
    assert "instructions" not in content["made"]
    assert content["files"] == {"text": {"bytes": 1, "sha256": hashlib.sha256(b"x").hexdigest()}}


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_the_instructions_of_torch_stand_in_the_recipe_and_not_in_the_key(
    tmp_path: Path, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    records = []
    for instructions in ("AVX2", "AVX512"):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda it=instructions: it)
        step = replace(CORPUS, made_of=("biasbridge.extrinsic.cnn",))
        assert step.key == CORPUS.key
        store = Store(tmp_path / instructions, made={"device": device})
        made = read_recipe(store.make(step))["made"]
        assert made.get("instructions") == (instructions if device == "cpu" else None)
        records += build_records(store, [step.key])
    note = "CPU instructions: AVX2 and AVX512; digits of networks may differ on another processor"
    assert describe_processor(records) == (note if device == "cpu" else "")
    assert ("CPU instructions AVX2 and AVX512" in describe_mixture(records)) == (device == "cpu")


def slow_build(out: Path, inputs: Mapping[str, Path]) -> None:
    time.sleep(0.2)
    (out / "text").write_text(str(time.time_ns()))


def make_slowly(root: Path) -> str:
    return (Store(root).make(replace(CORPUS, build=slow_build)) / "text").read_text()


def test_processes_share_one_build(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert len(set(pool.map(make_slowly, [tmp_path] * 3))) == 1


def test_digest_follows_the_bytes(tmp_path: Path) -> None:
    store, path = Store(tmp_path / "store"), tmp_path / "data"
    path.write_text("a")
    first = store.digest(path)
    # SHA-256 of "a", FIPS 180 test value
    assert first == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    assert store.digest(path) == first
    path.write_text("bb")
    assert store.digest(path) != first


def test_a_result_of_an_earlier_scheme_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr("biasbridge.train.engine.store.step.SCHEME", SCHEME - 1)
        entry = Store(tmp_path).make(replace(CORPUS))
    assert not Store(tmp_path).has(replace(CORPUS))
    with pytest.raises(DamagedError, match="stored by an earlier version"):
        read_recipe(entry)


def test_bad_places_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"store\.dir=.*choose another"):
        Store(tmp_path / "file" / "store").prove_writable()
    with pytest.raises(InputError, match="no such file"):
        Store(tmp_path / "store").digest(tmp_path / "absent")
