"""Data that the library ``datasets`` reads: local ones by their bytes, whatever it remembers."""

from __future__ import annotations

import gzip
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from biasbridge.corpora.corpus import DatasetCorpus
from biasbridge.corpora.posts import DatasetSource
from biasbridge.files import InputError
from biasbridge.train.engine.steps import _decide
from biasbridge.train.engine.store import Store


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The library's own cache, in a place of the test."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    return tmp_path / "cache"


def write(path: Path, labels: str) -> Path:
    """Posts of these labels."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("text,label\n" + "".join(f"post {n},{x}\n" for n, x in enumerate(labels)))
    return path


def positives(source: DatasetSource) -> int:
    return int(np.sum(source.load(seed=0)["label"] == 1))


def key(source: DatasetSource | DatasetCorpus, folder: Path) -> str:
    params, files = _decide(source, Store(folder / "store").digest)
    return f"{params} {files}"


@pytest.mark.parametrize("split", [None, "train"])
def test_a_file_replaced_with_its_time_and_size_is_read_anew(
    split: str | None, tmp_path: Path, cache: Path
) -> None:
    path = write(tmp_path / "data" / "train.csv", "0001")
    source = DatasetSource(str(path.parent), test=split)
    before = key(source, tmp_path)
    assert positives(source) == (1 if split is None else 2)
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    write(tmp_path / "new.csv", "0111").replace(path)
    os.utime(path, ns=times)
    assert key(source, tmp_path) != before
    assert positives(source) == (3 if split is None else 6)
    assert not cache.exists() or not list(cache.rglob("*.arrow"))


def test_patterns_and_relative_names_are_resolved_as_the_library_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        write(tmp_path / "g" / f"{name}.csv", "01")
    write(tmp_path / "g" / ".hidden.csv", "01")
    by_pattern = DatasetSource("csv", data_files="g/*.csv")
    in_folder = DatasetSource("g", data_files=("b.csv",))
    text = DatasetCorpus("csv", data_files="g/[a-b].csv")
    assert [path.name for path in by_pattern.files()] == ["a.csv", "b.csv"]
    assert [path.name for path in in_folder.files()] == ["b.csv"]
    assert [path.name for path in text.files()] == ["a.csv", "b.csv"]
    assert positives(by_pattern) == 2
    before = [key(corpus, tmp_path) for corpus in (by_pattern, in_folder, text)]
    write(tmp_path / "g" / "b.csv", "11")
    after = [key(corpus, tmp_path) for corpus in (by_pattern, in_folder, text)]
    assert all(one != other for one, other in zip(before, after, strict=True))
    assert positives(by_pattern) == 3


def test_a_folder_is_keyed_by_the_splits_of_its_files(tmp_path: Path) -> None:
    """The same two files, by the same names: in train and validation, and in train and test."""
    for number, second in enumerate(("validation", "test")):
        for name, labels in (("train", "01"), (second, "11")):
            write(tmp_path / str(number) / name / "0.csv", labels)
    one, other = (DatasetSource(str(tmp_path / str(number)), test="test") for number in range(2))
    assert [(p.name, p.read_text()) for p in one.files()] == [
        (p.name, p.read_text()) for p in other.files()
    ]
    assert key(one, tmp_path) != key(other, tmp_path)
    with pytest.raises(InputError):
        one.load(seed=0)
    assert len(other.load(seed=0)) == 4


def test_what_is_no_data_is_not_keyed_and_what_describes_them_is(tmp_path: Path) -> None:
    write(tmp_path / "data" / "train.csv", "01")
    source = DatasetSource(str(tmp_path / "data"))
    before = key(source, tmp_path)
    for name in (".DS_Store", ".git/index", "LICENSE"):
        (tmp_path / "data" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "data" / name).write_text("x")
    assert key(source, tmp_path) == before
    (tmp_path / "data").rename(tmp_path / "moved")
    moved = DatasetSource(str(tmp_path / "moved"))
    assert key(moved, tmp_path) == before
    card = "---\nconfigs:\n- config_name: default\n  data_files: train.csv\n---\n"
    (tmp_path / "moved" / "README.md").write_text(card)
    assert key(moved, tmp_path) != before


@pytest.mark.parametrize(
    ("path", "data_files", "message"),
    [
        ("csv", "g/*.tsv", r"data_files='g/\*\.tsv' names no file in "),
        ("csv", None, "'csv' is a builder, which needs data_files"),
        ("empty", None, "doesn't contain any data files"),
    ],
)
def test_what_names_no_file_is_refused(
    path: str,
    data_files: str | tuple[str, ...] | None,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "g" / "a.csv", "01")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=message):
        DatasetSource(path, data_files=data_files).files()


def test_what_lies_elsewhere_is_keyed_by_its_name(tmp_path: Path) -> None:
    """Nothing is asked of a network to plan."""
    one, other = (f"someone/posts@{digit * 40}" for digit in "ab")
    hub = DatasetSource(one, data_files="*.csv")
    assert hub.files() == []
    names = {key(hub, tmp_path)}
    names |= {key(DatasetSource(path), tmp_path) for path in (one, other)}
    assert len(names) == 3
    for path in ("csv", one):
        source = DatasetSource(path, data_files="https://example.org/a.csv")
        with pytest.raises(InputError, match=r"'https://example.org/a\.csv' may change; download"):
            key(source, tmp_path)
    with pytest.raises(InputError, match=r"'someone/posts@main' is not a local folder.* give some"):
        key(DatasetSource("someone/posts@main"), tmp_path)


def test_a_file_in_an_archive_is_keyed_by_the_archive(tmp_path: Path) -> None:
    for labels in ("01", "11"):
        with zipfile.ZipFile(tmp_path / "posts.zip", "w") as archive:
            archive.write(write(tmp_path / "posts.csv", labels), "posts.csv")
        source = DatasetSource("csv", data_files=f"zip://posts.csv::{tmp_path}/posts.zip")
        assert source.files() == [tmp_path / "posts.zip"]
        assert int(source.table("train", "text")["label"].sum()) == labels.count("1")


@pytest.mark.parametrize("suffix", [".gz", ".zip"])
def test_a_damaged_archive_is_refused(suffix: str, tmp_path: Path) -> None:
    content = b"text,label\n" + b"a,1\nb,0\n" * 500
    path = tmp_path / f"posts.csv{suffix}"
    if suffix == ".gz":
        path.write_bytes(gzip.compress(content))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("posts.csv", content)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="datasets cannot load"):
        DatasetSource(path="csv", data_files=str(path)).load(seed=0)
