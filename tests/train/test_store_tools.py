"""``biasbridge store``: it prints what is there and removes what nobody needs."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from biasbridge.commands.store import main
from biasbridge.files import InputError
from biasbridge.files.vectors import keyed, read_vectors, save_mapped
from biasbridge.train.engine.store import Step, Store
from biasbridge.train.engine.store.locks import locked

ROOT = Path(__file__).resolve().parent.parent.parent
DAY = 86400


def write(out: Path, inputs: Mapping[str, Path]) -> None:
    (out / "text").write_text("x" * 1000)


CORPUS = Step(
    name="corpus",
    made_by="Text",
    version=1,
    params={"lines": 3},
    build=write,
    files={"0 tweets.txt": "ab" * 32},
    seed=3,
)
VECTORS = Step(
    name="vectors",
    made_by="Word2Vec",
    version=2,
    params={"dim": 7},
    build=write,
    inputs={"corpus": CORPUS},
    seed=5,
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store", made={"command": "python train.py seed=4", "device": "cpu"})
    store.make(VECTORS)
    return store


def run(store: Store, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main([arguments[0], "--store", str(store.root), *arguments[1:]])
    return status, capsys.readouterr().out


def everything(store: Store) -> list[str]:
    return sorted(str(path.relative_to(store.root)) for path in store.root.rglob("*"))


def test_ls_counts_results_and_bytes(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    (store.root / "work" / ("0" * 32)).mkdir()
    _, out = run(store, capsys, "ls")
    row = next(line for line in out.splitlines() if "vectors" in line)
    bytes_there = sum(path.stat().st_size for path in store.path(VECTORS).iterdir())
    assert [cell.strip() for cell in row.strip("│").split("│")][1:3] == [
        "1",
        f"{bytes_there / 1000:.1f} kB",
    ]
    assert "0 being built, 1 orphaned" in out


def test_explain_prints_recipe_inputs_and_command(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out = run(store, capsys, "explain", VECTORS.key[:6])
    for part in (
        VECTORS.key,
        CORPUS.key,
        "Word2Vec v2",
        "dim=7",
        "lines=3",
        "seed 5",
        "tweets.txt",
        f"Python {platform.python_version()}",
        "\n  python train.py seed=4\n",
    ):
        assert part in out


def test_explain_says_that_a_result_is_damaged(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = store.path(VECTORS) / "recipe.json"
    for content in ("{", "", "{}", "[]", "[" * 100_000, f"{'[' * 900}{']' * 900}"):
        recipe.write_text(content)
        status, out = run(store, capsys, "explain", VECTORS.key)
        assert status == 0
        assert "(damaged: recipe.json is no recipe)" in out


def test_bad_input_names_the_remedy(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, message in (
        (("explain", "zz"), "unit_key"),
        (("explain", ""), "matches 2 keys"),
        (("ls", "vector"), "no step 'vector'; it has corpus, vectors"),
        (("gc", "--older-than", "long"), "such as 30d"),
    ):
        with pytest.raises(InputError, match=message):
            run(store, capsys, *arguments)
    with pytest.raises(InputError, match="is no store"):
        main(["ls", "--store", str(tmp_path / "absent")])


def test_verify_finds_a_flipped_byte_and_changes_nothing(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(store, capsys, "verify")[0] == 0
    (store.path(CORPUS) / "text").write_text("x" * 999 + "y")
    before = everything(store)
    status, out = run(store, capsys, "verify")
    assert status == 1
    assert f"damaged: corpus {CORPUS.key}: text was altered" in out
    assert "2 results" in out
    assert "1 damaged" in out
    assert everything(store) == before


def test_gc_removes_orphans_but_not_what_is_being_built(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    orphan, busy = store.root / "work" / ("0" * 32), store.root / "work" / ("1" * 32)
    orphan.mkdir()
    busy.mkdir()
    before = everything(store)
    with locked(store.root / "locks" / f"{busy.name}.lock"):
        run(store, capsys, "gc", "--dry-run")
        assert [path for path in everything(store) if not path.startswith("locks")] == [
            p for p in before if not p.startswith("locks")
        ]
        run(store, capsys, "gc")
        assert not orphan.exists()
        assert busy.exists()
        assert (store.root / "locks" / f"{busy.name}.lock").exists()
    assert store.intact(VECTORS)
    assert store.intact(CORPUS)


def test_gc_by_age_removes_what_was_not_used_for_so_long(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    old = time.time() - 31 * DAY
    os.utime(store.path(CORPUS) / "recipe.json", (old, old))
    trainings = [store.root / "unfinished" / (digit * 32) for digit in "01"]
    for training in trainings:
        training.mkdir(parents=True)
    os.utime(trainings[0], (old, old))
    run(store, capsys, "gc")
    assert all(training.exists() for training in trainings), "a sweep continues from them"
    run(store, capsys, "gc", "--older-than", "30d")
    assert [training.exists() for training in trainings] == [False, True]
    assert not store.has(CORPUS)
    assert store.has(VECTORS)
    store.make(CORPUS)


@pytest.mark.slow
def test_the_command_that_explain_prints_makes_the_same_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    command = (
        "python train.py source=none corpus.sentences=1000 size.dim=8 size.epochs=1"
        " intrinsic.weat.queries=[weat7,weat8]"
    )
    for folder in (first, second):
        folder.mkdir()
        words = [sys.executable, str(ROOT / "train.py"), *shlex.split(command)[2:]]
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
        (entry,) = (folder / "store" / "intrinsic").iterdir()
        main(["explain", entry.name, "--store", str(folder / "store")])
        command = capsys.readouterr().out.splitlines()[-1].strip()
        assert command.startswith("python train.py hydra.mode=RUN")
    assert [path.name for path in (first / "store" / "intrinsic").iterdir()] == [entry.name]


def test_vectors_are_exported_in_the_format_of_the_ending(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = keyed(["a", "b"], np.array([[1, 2], [3, 4]], dtype=np.float32))

    def build(out: Path, inputs: Mapping[str, Path]) -> None:
        save_mapped(vectors, out / "vectors")

    step = Step(name="vectors", made_by="Mine", version=1, params={}, build=build)
    store.make(step)
    for name in ("a.vec", "a.bin"):
        out = tmp_path / name
        assert run(store, capsys, "export", step.key, str(out)) == (0, f"wrote {out}\n")
        assert (read_vectors(out).vectors == vectors.vectors).all()
    for arguments, message in (
        ([step.key, str(tmp_path / "a.vec")], "is there already"),
        ([CORPUS.key, str(tmp_path / "mine.vec")], "has no vectors; copy"),
        (["zz", str(out)], "no result in"),
    ):
        with pytest.raises(InputError, match=message):
            run(store, capsys, "export", *arguments)


@pytest.mark.parametrize("name", ["unfinished", "work", "vectors"])
def test_nothing_behind_a_link_is_removed(
    name: str, store: Store, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    thesis = tmp_path / "thesis" / ("ab" * 16) / "chapter.txt"
    thesis.parent.mkdir(parents=True)
    thesis.write_text("mine")
    folder = store.root / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.symlink_to(tmp_path / "thesis")
    for path in (thesis, thesis.parent):
        os.utime(path, (0, 0))
    assert run(store, capsys, "gc", "--older-than", "1d")[0] == 0
    store.orphans(remove=True)
    assert thesis.read_text() == "mine"


@pytest.mark.parametrize("name", ["work", "unfinished"])
def test_a_folder_of_the_user_is_not_made_a_store(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=rf"is not a store, and has a folder {name}; choose an"):
        Store(tmp_path).prove_writable()
    assert [path.name for path in tmp_path.iterdir()] == [name]
