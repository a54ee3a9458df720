"""Real data by name: got, verified, added; from servers, mirrors and users' own copies."""

from __future__ import annotations

import hashlib
import io
import lzma
import re
import subprocess
import sys
import textwrap
import zipfile
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from biasbridge import data
from biasbridge.__main__ import main as biasbridge
from biasbridge.data import _MAX_SINGLE
from biasbridge.files import InputError
from biasbridge.files.data import download as download_module
from biasbridge.files.data import registry as registry_module
from biasbridge.files.data.registry import DataFile, DataSet, registry
from biasbridge.files.documents import Document
from biasbridge.files.errors import run_cli
from biasbridge.train.cli.composing import compose_point
from tests.conftest import Ended, Train
from tests.data_server import Reply, Server, serve, tar_gz
from tests.write_conll import write_conll

A, B = b"word,score\nhe,1\n" * 400, b"word,score\nshe,2\n" * 300
COMMIT = "0123456789" * 4
Run = Callable[..., Ended]


def sha(content: bytes) -> dict[str, str]:
    return {"sha256": hashlib.sha256(content).hexdigest()}


def register(
    monkeypatch: pytest.MonkeyPatch, name: str, *files: DataFile, **fields: object
) -> DataSet:
    about = dict.fromkeys(("what", "licence", "licence_source", "citation"), "")
    given = about | {"what": f"{name} things", "licence": "CC0", "citation": "Doe 2020"} | fields
    each = DataSet(name, files=files, **({"kind": "data"} | given))  # type: ignore[arg-type]
    monkeypatch.setitem(registry(), name, each)
    return each


def set_wait(monkeypatch: pytest.MonkeyPatch, wait: Callable[[float], object]) -> None:
    defaults = download_module.download.__kwdefaults__
    assert defaults
    monkeypatch.setitem(defaults, "wait", wait)


@pytest.fixture
def folder(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder; ``toy``, of the authors' server, has two files, and no pause is made."""
    monkeypatch.setenv("BIASBRIDGE_DATA", str(tmp_path / "data"))
    set_wait(monkeypatch, lambda _: None)
    files = []
    for name, content in [("a", A), ("b", B)]:
        write(server.folder / "authors" / f"{name}.csv", content)
        address = f"{server.url}/authors/{name}.csv"
        files.append(DataFile(f"words/{name}.csv", (address,), len(content), sha(content)))
    register(monkeypatch, "toy", *files)
    return tmp_path / "data"


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def tree(folder: Path) -> list[str]:
    """The files of a folder but for the lock."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != data.LOCK)
    return sorted(str(path.relative_to(folder)) for path in paths)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Run:
    """``biasbridge data`` with some arguments, in this process."""

    def call(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as stop:
            run_cli(partial(biasbridge, ["data", *arguments]))
        (out, err), logged = capsys.readouterr(), caplog.messages[:]
        caplog.clear()
        return Ended(stop.value.code, out, "".join(f"{line}\n" for line in logged) + err)

    return call


TOY = ["words/SOURCE.txt", "words/a.csv", "words/b.csv"]


def test_get_brings_verifies_and_says_where(folder: Path, server: Server, run: Run) -> None:
    ended = run("get", "toy")
    assert (ended.status, ended.out.split()) == (0, [str(folder / path) for path in TOY[1:]])
    assert "toy: toy things" in ended.err
    assert "licence: CC0" in ended.err
    assert "cite: Doe 2020" in ended.err
    assert tree(folder) == TOY
    assert (folder / "words" / "a.csv").read_bytes() == A
    assert len(server.requests) == 2
    assert run("get", "toy").status == 0
    assert len(server.requests) == 2
    assert data.get("toy") == [folder / path for path in TOY[1:]]


def test_each_folder_tells_where_its_files_are_from(
    folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = registry()["toy"]
    other = [replace(toy.files[0], target="words/c.csv"), replace(toy.files[1], target="more/d")]
    register(monkeypatch, "other", *other, licence="MIT", note="with care")
    data.get("toy", "other")
    for _ in range(2):
        text = (folder / "words" / "SOURCE.txt").read_text(encoding="utf-8")
        first, second = text.split("\n\n")
        assert first.startswith("[toy] toy things\nlicence: CC0 ()\ncite: Doe 2020\nfetched 2")
        assert f"a.csv  sha256:{sha(A)['sha256']}  {server.url}/authors/a.csv\n" in first
        assert "licence: MIT" in second
        assert "note: with care" in second
        assert "c.csv" in second
        assert "d  " not in second
        (folder / "words" / "c.csv").unlink()
        data.get("other")  # writes its entry again
    assert "[other]" in (folder / "more" / "SOURCE.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("n_sets", [1, 2])
def test_a_file_that_does_not_come_leaves_the_rest(
    n_sets: int, folder: Path, server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = registry()["toy"]
    register(monkeypatch, "other", replace(toy.files[0], target="more/c.csv"))
    server.reply("authors/b.csv", then=repeat(Reply(404)))
    ended = run("get", *["toy", "other"][:n_sets])
    assert ended.status == 2
    assert ended.err.splitlines()[-1] == (
        f"error: b.csv did not come: {server.url}/authors/b.csv answered 404 Not Found; a copy of"
        " yours: biasbridge data add toy FILE"
    )
    more = ["more/SOURCE.txt", "more/c.csv"] if n_sets == 2 else []
    assert tree(folder) == [*more, *TOY[:2]]


def test_a_file_at_hand_that_differs_is_left_alone(folder: Path, server: Server, run: Run) -> None:
    mine = write(folder / "words" / "b.csv", b"mine")
    ended = run("get", "toy")
    assert (ended.status, ended.out, server.requests) == (2, "", [])
    assert f"{mine} is not the file that the registry names: 4 bytes instead of 5,100" in ended.err
    assert mine.read_bytes() == b"mine"


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASBRIDGE_DATA", str(write(tmp_path / "file", b"") / "data"))
    ended = run("get", "toy")
    assert ended.status == 2
    assert ended.err.endswith("; set BIASBRIDGE_DATA to a folder that can be written\n")
    assert len(ended.err.splitlines()) == 1


# What a mirror answers for a.csv, and what is said; b.csv it has
MIRRORS: dict[str, tuple[Iterable[Reply], str]] = {
    "right": ([], ""),
    "without the file": ([Reply(404)], ""),
    "another file": ([Reply(body=b"x" + A[1:])], "is not the file that the registry names"),
    "another size": ([Reply(body=b"x")], "offers 1 bytes"),
    "a page": ([Reply(body=b"<html>" + A[6:])], "a web page"),
    "limited for an hour": ([Reply(429, {"Retry-After": "3600"})], "answered 429"),
    "broken off": ([Reply(cut=0)] * 2, "broke off"),
    "broken off, then right": ([Reply(cut=10)], ""),
}


@pytest.mark.parametrize("name", MIRRORS)
def test_a_mirror_is_asked_first(
    name: str, folder: Path, server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies, warning = MIRRORS[name]
    write(server.folder / "mirror" / "words" / "a.csv", A)
    write(server.folder / "mirror" / "words" / "b.csv", B)
    server.reply("mirror/words/a.csv", *replies)
    login = server.url.replace("://", "://me:p%40ss@")
    monkeypatch.setenv("BIASBRIDGE_MIRROR", f"{login}/mirror/")
    ended = run("get", "toy")
    assert ended.status == 0
    assert tree(folder) == TOY
    assert data.verify("toy")["state"].eq("verified").all()
    paths = [path for path, _ in server.requests]
    sent = {path.split("/")[0]: token for path, token in zip(paths, server.tokens, strict=True)}
    assert sent.pop("mirror") == f"Basic {b64encode(b'me:p@ss').decode()}"
    assert {*sent.values()} <= {None}
    assert "ss@" not in ended.out + ended.err
    assert "authors/b.csv" not in paths
    assert ("authors/a.csv" in paths) == (not name.endswith("right"))
    lines = [line for line in ended.err.splitlines() if "mirror" in line]
    assert len(lines) == bool(warning)
    assert warning in "".join(lines)


def test_a_mirror_that_is_down_is_asked_once(
    folder: Path, server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASBRIDGE_MIRROR", "http://me:secret@127.0.0.1:9")
    ended = run("get", "toy")
    assert ended.status == 0
    assert ended.err.count("http://127.0.0.1:9 does not answer; asking the authors'") == 1
    assert tree(folder) == TOY


@pytest.mark.parametrize("mirror", ["me:secret@host", "https://me:secret/1@host", "host/secret"])
def test_a_mirror_that_is_no_address_is_refused_without_its_login(
    mirror: str, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASBRIDGE_MIRROR", mirror)
    ended = run("get", "toy")
    assert ended.status == 2
    assert "the mirror (BIASBRIDGE_MIRROR) is not an address; give https://" in ended.err
    assert "secret" not in ended.out + ended.err


TWO = """
    import sys
    from biasbridge.commands.data import main
    from biasbridge.files.data.registry import DataFile, DataSet, registry
    url, n_bytes, digest = sys.argv[1:]
    file = DataFile("words/a.csv", (url,), int(n_bytes), {"sha256": digest})
    registry()["toy"] = DataSet("toy", "data", "", "", "", "", (file,))
    sys.exit(main(["get", "toy"]))
"""


def test_two_processes_at_once(folder: Path, server: Server) -> None:
    content = A * 1000
    write(server.folder / "authors" / "a.csv", content)
    url = server.reply("authors/a.csv", Reply(cut=2_000_000))
    about = (url, str(len(content)), *sha(content).values())
    code = [sys.executable, "-c", textwrap.dedent(TWO), *about]
    pipe = subprocess.PIPE
    both = [subprocess.Popen(code, text=True, stdout=pipe, stderr=pipe) for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert out == f"{folder / 'words' / 'a.csv'}\n"
    assert (folder / "words" / "a.csv").read_bytes() == content
    assert tree(folder) == TOY[:2]
    assert [asked for _, asked in server.requests] == [None, "bytes=2000000-"]  # by one of them


def test_interrupted_it_goes_on(
    folder: Path, server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    server.reply("authors/b.csv", Reply(cut=1000))
    with monkeypatch.context() as patch:
        set_wait(patch, interrupt)
        assert run("get", "toy").status == 130
    assert [*tree(folder)] == ["words/.b.csv.part", "words/.b.csv.part.etag", *TOY[:2]]
    assert run("get", "toy").status == 0
    assert tree(folder) == TOY
    assert server.requests[-1] == ("authors/b.csv", "bytes=1000-")


def ask(monkeypatch: pytest.MonkeyPatch, server: Server) -> DataSet:
    """A set of which one file may be downloaded and one may not."""
    toy = registry()["toy"]
    files = [toy.files[0], replace(toy.files[1], by_user=True)]
    return register(monkeypatch, "asked", *files, ask="ask the Does at http://doe.example")


@pytest.mark.parametrize("mirror", [False, True])
def test_restricted_files_are_never_downloaded(
    mirror: bool, folder: Path, server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(monkeypatch, server)
    write(server.folder / "mirror" / "words" / "b.csv", B)
    if mirror:
        monkeypatch.setenv("BIASBRIDGE_MIRROR", f"{server.url}/mirror")
    ended = run("get", "asked")
    assert ended.status == 2
    assert ended.err.splitlines()[-1] == (
        "error: asked: 1 of 2 files are here; ask the Does at http://doe.example. Then run"
        " biasbridge data add asked FILE"
    )
    assert tree(folder) == TOY[:2]
    assert not [path for path, _ in server.requests if path.endswith("b.csv")]
    assert run("add", "asked", str(write(folder.parent / "mine", B))).status == 0
    assert run("get", "asked").status == 0


def test_no_restricted_set_of_the_registry_opens_a_connection(folder: Path, server: Server) -> None:
    for each in [*registry().values()]:
        if each.ask and all(file.by_user for file in each.files):
            with pytest.raises(InputError, match=re.escape(each.ask)):
                data.get(each.name)
    assert server.requests == []


@pytest.mark.parametrize("variable", ["BIASBRIDGE_OFFLINE", "HF_HUB_OFFLINE"])
def test_offline_nothing_is_opened(
    variable: str, folder: Path, server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "1")
    ended = run("get", "toy")
    assert (ended.status, server.requests) == (2, [])
    assert ended.out.splitlines() == [
        f"{server.url}/authors/{name}.csv  words/{name}.csv  sha256:{sha(content)['sha256']}"
        for name, content in [("a", A), ("b", B)]
    ]
    assert f"error: {variable} is set, and 2 of the files named are missing. Save each" in ended.err
    with pytest.raises(InputError, match="2 of the files named are missing"):
        data.get("toy")
    for path, content in zip(TOY[1:], (A, B), strict=True):
        write(folder / path, content)
    assert run("get", "toy").status == 0
    monkeypatch.setenv(variable, "0")
    (folder / "words" / "a.csv").unlink()
    assert run("get", "toy").status == 0


def test_dry_run(folder: Path, server: Server, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = run("get", "--dry-run", "toy")
    assert (ended.status, server.requests, folder.exists()) == (1, [], False)
    assert len(ended.out.splitlines()) == 3
    assert ended.out.endswith("\n2 files to download, 0.0 MB\n")
    ask(monkeypatch, server)
    assert (
        "1 files to download, 0.0 MB; 1 to be added by hand\n"
        in run("get", "asked", "--dry-run").out
    )
    data.get("toy")
    assert run("get", "--dry-run", "toy")[:2] == (0, "0 files to download, 0.0 MB\n")


def in_repository(server: Server, monkeypatch: pytest.MonkeyPatch, n_files: int) -> bytes:
    """Register ``many``, of files in a repository; return the repository's archive."""
    monkeypatch.setattr(registry_module, "RAW", f"{server.url}/raw/")
    monkeypatch.setattr(registry_module, "ARCHIVE", f"{server.url}/archive/")
    names = [f"a {number}.txt" for number in range(n_files)]
    files = []
    for name in names:
        path = f"owner/name/{COMMIT}/texts/{name}"
        write(server.folder / "raw" / path, name.encode())
        address = f"{server.url}/raw/{path.replace(' ', '%20')}"
        files.append(DataFile(f"many/{name}", (address,), len(name), sha(name.encode())))
    register(monkeypatch, "many", *files)
    return tar_gz(*((f"name-{COMMIT}/texts/{name}", name.encode()) for name in names))


ARCHIVE = f"archive/owner/name/tar.gz/{COMMIT}"


@pytest.mark.parametrize("n_files", [_MAX_SINGLE, _MAX_SINGLE + 1])
def test_many_files_of_a_repository_come_in_its_archive(
    n_files: int, folder: Path, server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(server.folder / ARCHIVE, in_repository(server, monkeypatch, n_files))
    ended = run("get", "many")
    assert (ended.status, ended.out) == (0, f"{folder / 'many'}\n")
    assert len(tree(folder)) == n_files + 1
    assert data.verify("many")["state"].eq("verified").all()
    is_archive = n_files > _MAX_SINGLE
    assert len(server.requests) == (1 if is_archive else n_files)
    assert ((ARCHIVE, None) in server.requests) == is_archive


def test_a_bad_archive_is_not_kept(
    folder: Path, server: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = in_repository(server, monkeypatch, 30)
    for wrong in (archive[:-200], tar_gz((f"name-{COMMIT}/a", b"a")), b"?" * 100):
        write(server.folder / ARCHIVE, wrong)
        ended = run("get", "many")
        assert ended.status == 2
        assert ended.err.splitlines()[-1].startswith(f"error: {COMMIT}.tar.gz ")
        assert not [path for path in tree(folder) if not path.startswith("many/")]
        data.verify("many")["state"].isin(["verified", "missing"]).all()
    write(server.folder / ARCHIVE, archive)
    assert run("get", "many").status == 0


def zipped(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"in/{name}.vec", content)
    return packed.getvalue()


@pytest.fixture
def vectors(folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """``v-a`` and ``v-b``, members of one zip, which is returned."""
    packed = zipped(a=A, b=B)
    write(server.folder / "authors" / "v.zip", packed)
    for name, content in [("a", A), ("b", B)]:
        url, member = f"{server.url}/authors/v.zip", f"in/{name}.vec"
        checks = len(packed), sha(packed), member, sha(content)
        register(monkeypatch, f"v-{name}", DataFile(f"vectors/{name}.vec", (url,), *checks))
    monkeypatch.setitem(registry_module.groups(), "both", ("v-a", "v-b"))
    return packed


def test_one_zip_serves_several_names(folder: Path, server: Server, vectors: bytes) -> None:
    assert data.get("both") == [folder / "vectors" / "a.vec", folder / "vectors" / "b.vec"]
    assert server.requests == [("authors/v.zip", None)]
    assert tree(folder) == ["vectors/SOURCE.txt", "vectors/a.vec", "vectors/b.vec"]
    (folder / "vectors" / "b.vec").unlink()
    data.get("both")
    assert len(server.requests) == 2
    assert data.verify("both")["state"].tolist() == ["verified"] * 2


def test_a_mirror_has_the_members_of_zips(
    folder: Path, server: Server, vectors: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASBRIDGE_MIRROR", server.url)
    write(server.folder / "vectors" / "a.vec", A)
    write(server.folder / "vectors" / "b.vec", A)  # wrong
    data.get("both")
    paths = [path for path, _ in server.requests]
    assert paths == ["vectors/a.vec", "vectors/b.vec", "v.zip", "authors/v.zip"]
    assert (folder / "vectors" / "b.vec").read_bytes() == B


def test_a_mirror_may_have_the_zip_itself(
    folder: Path, server: Server, vectors: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASBRIDGE_MIRROR", server.url)
    write(server.folder / "v.zip", vectors)
    data.get("both")
    assert [path for path, _ in server.requests] == ["vectors/a.vec", "v.zip", "vectors/b.vec"]
    assert tree(folder) == ["vectors/SOURCE.txt", "vectors/a.vec", "vectors/b.vec"]


def test_a_member_that_differs_is_refused(
    folder: Path, server: Server, vectors: bytes, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = replace(registry()["v-a"].files[0], checks={}, n_bytes=None)
    register(monkeypatch, "v-a", file)
    write(server.folder / "authors" / "v.zip", zipped(a=A[1:], b=B))
    ended = run("get", "v-a")
    assert ended.status == 2
    assert "vectors/a.vec is not what the registry names: sha256" in ended.err
    assert tree(folder) == []


TEXT = b"".join(b"text number %d of some\n" % number for number in (3, 1, 2))


@pytest.fixture
def corpus(folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> DataSet:
    """``toy_corpus``: a file and a folder of a repository."""
    in_repository(server, monkeypatch, 0)
    base = f"owner/name/{COMMIT}"
    write(server.folder / "raw" / base / "first", TEXT[:22])
    members = [(f"name-{COMMIT}/texts/{n}", b"text number %d\nof some" % n) for n in (2, 1)]
    archive = tar_gz((f"name-{COMMIT}/first", TEXT[:22]), *members)
    write(server.folder / ARCHIVE, archive)
    common = {"repository": "owner/name", "commit": COMMIT, "licence": "CC0", "cite": "Nobody"}
    sources = [
        common | {"targets": [f"sources/{base}/first"], "format": {"type": "lines"}},
        common | {"targets": [f"sources/{base}/texts/"], "format": {"type": "whole"}},
    ]
    files = (
        DataFile(f"sources/{base}/first", (f"{server.url}/raw/{base}/first",), 22, sha(TEXT[:22])),
        DataFile(f"sources/{base}/texts/", (f"{server.url}/raw/{base}/texts/",), 36),
    )
    recipe = {"cleaning": "tweets", "sources": sources, "expected": sha(TEXT)}
    return register(monkeypatch, "toy_corpus", *files, kind="corpus", recipe=recipe)


BUILT = ["corpora/SOURCE.txt", "corpora/toy_corpus.txt.xz"]


def test_a_corpus_is_built_and_its_sources_removed(
    folder: Path, server: Server, run: Run, corpus: DataSet
) -> None:
    ended = run("get", "toy_corpus")
    assert (ended.status, ended.out) == (0, f"{folder / BUILT[1]}\n")
    assert lzma.decompress((folder / BUILT[1]).read_bytes()) == TEXT
    assert tree(folder) == BUILT
    assert not (folder / "sources").exists()
    assert f"owner/name@{COMMIT}  CC0" in (folder / BUILT[0]).read_text(encoding="utf-8")
    assert run("verify", "toy_corpus").status == 0
    n_requests = len(server.requests)
    assert run("get", "toy_corpus").status == 0
    assert len(server.requests) == n_requests


def test_a_folder_that_was_unpacked_in_part_is_unpacked_again(
    folder: Path, corpus: DataSet
) -> None:
    write(folder / "sources" / "owner" / "name" / COMMIT / "texts" / "1", b"text number 1 of some")
    data.get("toy_corpus")
    assert tree(folder) == BUILT


def test_sources_carried_in_by_hand(
    folder: Path, corpus: DataSet, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry_module, "ARCHIVE", "http://127.0.0.1:9/")
    write(folder / corpus.files[0].target, TEXT[:22])
    with pytest.raises(InputError, match=r"tar\.gz did not come"):
        data.get("toy_corpus")
    assert server.requests == []
    assert tree(folder) == [corpus.files[0].target]


@pytest.mark.parametrize("is_right", [True, False])
def test_a_mirror_has_the_built_text(
    is_right: bool, folder: Path, server: Server, corpus: DataSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASBRIDGE_MIRROR", server.url)
    content = lzma.compress(TEXT if is_right else TEXT[1:], preset=1)
    write(server.folder / BUILT[1], content)
    data.get("toy_corpus")
    assert tree(folder) == BUILT
    assert ((folder / BUILT[1]).read_bytes() == content) == is_right
    assert data.verify("toy_corpus")["state"].tolist() == ["verified"]


def test_another_text_than_the_recipe_names_is_refused(
    folder: Path, server: Server, run: Run, corpus: DataSet
) -> None:
    write(server.folder / ARCHIVE, tar_gz((f"name-{COMMIT}/texts/1", b"text number 4 of some")))
    ended = run("get", "toy_corpus")
    assert ended.status == 2
    assert "has a text of sha256" in ended.err.splitlines()[-1]
    assert not (folder / BUILT[1]).exists()


def test_verify(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("verify", "toy") == (
        1, "toy: words/a.csv: missing\ntoy: words/b.csv: missing\n0 of 2 files verified\n", ""
    )  # fmt: skip
    assert run("verify")[:2] == (1, "0 of 0 files verified\n")
    data.get("toy")
    assert run("verify", "toy")[:2] == (0, "2 of 2 files verified\n")
    assert run("verify") == (0, "2 of 2 files verified\n", "")
    write(folder / "words" / "a.csv", b"x" + A[1:])
    ended = run("verify")
    assert ended.status == 1
    assert ended.out.startswith("toy: words/a.csv: sha256 ")
    assert ended.out.endswith("1 of 2 files verified\n")
    unknown = register(monkeypatch, "unknown", DataFile("words/b.csv", ("http://127.0.0.1:9",)))
    assert data.verify(unknown.name)["state"].tolist() == ["no digest known"]
    assert run("verify", "unknown").status == 0


def test_files_of_ones_own_are_known_by_their_content(
    folder: Path, server: Server, run: Run, tmp_path: Path
) -> None:
    one = write(tmp_path / "mine" / "download (1).txt", B)
    ended = run("add", "toy", str(one))
    assert (ended.status, ended.out) == (0, f"{folder / 'words' / 'b.csv'}\n")
    assert "added by hand" in (folder / "words" / "SOURCE.txt").read_text(encoding="utf-8")
    write(tmp_path / "mine" / "deeper" / "x", A)
    assert run("add", "toy", str(tmp_path / "mine")).status == 0  # a folder of them
    assert tree(folder) == TOY
    assert data.verify("toy")["state"].eq("verified").all()
    assert one.exists()
    assert run("add", "toy", str(folder / "words" / "a.csv")).status == 0  # where it lies
    assert server.requests == []


WRONG = {
    "another file": (b"x" + A[1:], r"mine is not a file of toy \(words/a.csv: sha256 .*; words/b"),
    "a part": (A[:-1], "words/a.csv: 6,399 bytes instead of 6,400"),
}


@pytest.mark.parametrize("name", WRONG)
def test_other_files_are_refused_with_how_they_differ(
    name: str, folder: Path, run: Run, tmp_path: Path
) -> None:
    content, reason = WRONG[name]
    path = write(tmp_path / "mine", content)
    with pytest.raises(InputError, match=reason):
        data.add("toy", path)
    assert run("add", "toy", str(path)).status == 2
    assert tree(folder) == []


def test_what_cannot_be_added(folder: Path, tmp_path: Path) -> None:
    for name, path, reason in [
        ("toy", tmp_path / "none", "none: no such file"),
        ("sesari2022", tmp_path, "has no files of its own"),
        ("openai-community/gpt2", tmp_path, "has no files of its own"),
        ("tyo", tmp_path, r"no data 'tyo'; did you mean 'toy'\?"),
    ]:
        with pytest.raises(InputError, match=reason):
            data.add(name, path)


def test_zips_and_members_of_ones_own(folder: Path, vectors: bytes, tmp_path: Path) -> None:
    data.add("v-a", write(tmp_path / "from the site.zip", vectors))
    assert (folder / "vectors" / "a.vec").read_bytes() == A
    data.add("v-b", write(tmp_path / "unpacked", B))
    assert (folder / "vectors" / "b.vec").read_bytes() == B
    data.add("v-a", write(tmp_path / "packed again.zip", zipped(a=A)))
    for wrong, reason in [(zipped(a=B), "a.vec is not what"), (zipped(b=B), "no item"), (B, "v-a")]:
        with pytest.raises(InputError, match=reason):
            data.add("v-a", write(tmp_path / "wrong", wrong))
    assert (folder / "vectors" / "a.vec").read_bytes() == A


def test_a_zip_gives_all_its_files_of_a_set(
    folder: Path, vectors: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, "v", *(registry()[name].files[0] for name in ("v-a", "v-b")))
    data.add("v", write(tmp_path / "some.zip", vectors))
    assert tree(folder) == ["vectors/SOURCE.txt", "vectors/a.vec", "vectors/b.vec"]


FOUNTA = (
    'some post\tnormal\t4\n"quoted\nin lines"\thateful\t3\nanother\tabusive\t5\nmore\tspam\t2\n'
)


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        (FOUNTA, True),
        (FOUNTA.replace("\t", ","), False),
        ("id\n" + FOUNTA, True),
        ("1\n2\n3\n", False),
        ("a\tnormal\t4\nid\n", False),  # half of the lines
        ("a\tnormal\t4\nid\nb\tspam\t1\n", True),
        ("", False),
    ],
)
def test_founta_is_known_by_the_form_of_its_lines(
    text: str, is_right: bool, folder: Path, tmp_path: Path
) -> None:
    path = write(tmp_path / "posts", text.encode())
    if is_right:
        assert data.add("founta2018", path) == [folder / registry()["founta2018"].targets[0]]
        assert (folder / registry()["founta2018"].targets[0]).read_text() == text
    else:
        with pytest.raises(InputError, match="its lines have another form"):
            data.add("founta2018", path)


def test_tagged_posts_are_known_by_their_tags(folder: Path, tmp_path: Path) -> None:
    text = "tweet,label,tag\na man,abusive,male\nall women,normal,Female\n"
    (place,) = data.add("goldfarb_tarrant_founta", write(tmp_path / "a.csv", text.encode()))
    experiment = ["+experiment=hatespeech_en", "corpus=generated", "challenge=founta_tagged"]
    task: Any = compose_point(experiment).task
    assert task.challenge.path == str(place)
    for wrong in ("tweet,label\na woman,normal\n", FOUNTA):
        with pytest.raises(InputError, match="its lines have another form"):
            data.add("goldfarb_tarrant_founta", write(tmp_path / "b.csv", wrong.encode()))


def test_ontonotes_is_a_folder_of_ones_own(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "mine" / "a.conll", b"1")
    write(tmp_path / "mine" / "b.conll", b"2")
    data.add("ontonotes5", tmp_path / "mine")
    base = "coreference/ontonotes5"
    assert tree(folder) == [f"{base}/{name}" for name in ("a.conll", "b.conll")]
    assert data.get("ontonotes5") == [folder / base]


def test_files_of_ontonotes_are_its_splits(folder: Path, tmp_path: Path) -> None:
    names = {"train": "bc/0001", "dev": "bc/0002", "test": "bc/0003"}
    for split, name in names.items():
        document = Document(name, (("It", "was", "."),) * 2, (((0, 1), (3, 4)),))
        write_conll([document], tmp_path / "mine" / f"{split}.english.v4_gold_conll")
    data.add("ontonotes5", tmp_path / "mine")
    experiment = ["task=coreference_en", "documents=ontonotes", "corpus=generated"]
    task: Any = compose_point(experiment).task
    splits = task.documents.load(seed=0)
    found = {split: [document.name for document in splits[split]] for split in splits}
    assert found == {split: [name] for split, name in names.items()}


@pytest.mark.parametrize("pack", [bytes, lzma.compress])
def test_a_corpus_of_ones_own(
    pack: Callable[[bytes], bytes], folder: Path, corpus: DataSet, tmp_path: Path
) -> None:
    data.add("toy_corpus", write(tmp_path / "mine.txt", pack(TEXT)))
    assert lzma.decompress((folder / BUILT[1]).read_bytes()) == TEXT
    with pytest.raises(
        InputError, match=r"mine\.txt is not a file of toy_corpus \(.*a text of sha256"
    ):
        data.add("toy_corpus", write(tmp_path / "mine.txt", pack(TEXT[1:])))
    assert tree(folder) == BUILT


def test_what_there_is(folder: Path, run: Run) -> None:
    assert run() == run("list")
    listed = run("list").out
    assert "davidson2017" in listed
    assert "sesari2022" in listed
    assert str(folder) in listed
    table = data.table().set_index("name")
    assert not table.loc["toy", "here"]
    data.get("toy")
    assert data.table().set_index("name").loc["toy", "here"]
    assert table.loc["glove-wiki-gigaword-50", "megabytes"] == 862.2
    assert (table.loc["hateval2019", "megabytes"], table.loc["hateval2019", "download"]) == (
        3.0,  # the seven files
        False,
    )
    shown = run("info", "founta2018", "toy").out
    assert "ask for access at https://zenodo.org/record/3706866" in shown
    assert "toy: toy things (data, 0.0 MB, here)" in shown


def test_names_that_are_not_known(folder: Path, run: Run) -> None:
    for arguments, reason in [
        (["get", "davidson"], "no data, corpus or experiment 'davidson'; did you mean"),
        (["get"], "biasbridge data get needs names"),
        (["info", "x y"], "no data 'x y'"),
        (["get", "source=x"], "error: "),
    ]:
        ended = run(*arguments)
        assert ended.status == 2
        assert reason in ended.err
        assert len(ended.err.splitlines()) == 1


def test_models_by_their_commit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def get_from_hub(*about: str) -> Path:
        asked.append(about)
        return Path("x")

    monkeypatch.setattr(data, "_get_from_hub", get_from_hub)
    data.get("openai-community/gpt2", f"org/model@{COMMIT}", "cardiffnlp/tweet_eval")
    commits = [
        registry()[name].commit for name in ("openai-community/gpt2", "cardiffnlp/tweet_eval")
    ]
    assert asked == [
        ("openai-community/gpt2", commits[0], "model"),
        ("cardiffnlp/tweet_eval", commits[1], "hub data"),
        ("org/model", COMMIT, "model"),
    ]
    with pytest.raises(InputError, match="no commit of uclanlp/wino_bias is known"):
        data.get("uclanlp/wino_bias")


HATEVAL = ["hateval2019", "hateval2019_es_labels", "hateval2019_keywords"]
RECORDED = ["en_tweets", "en_wiki_plots_plus"]
# Arguments of get, and the sets that the configurations they name read, by hand
EXPERIMENTS = {
    "hatespeech_en": [],
    "paper001_en": [*HATEVAL, "tweeteval_hate", *RECORDED],
    "hatespeech_es_gender_real": [*HATEVAL, "es_tweets", "es_subtitles"],
    "+experiment=answer_en +sweep=answer_en_davidson": ["davidson2017", *RECORDED],
    "+experiment=coreference_en documents=ontogum_litbank challenge=winobias,gap": [
        *("ontogum", "litbank", "winobias", "gap")
    ],
    "source=founta corpus=en_tweets davidson2017": ["davidson2017", "founta2018", "en_tweets"],
    "+experiment=hatespeech_en +data=founta": [
        *("founta2018", "goldfarb_tarrant_founta", "goldfarb_tarrant_tweets_en")
    ],
    "+experiment=hatespeech_en +sweep=paper001": ["davidson2017", "en_tweets_open"],
    "+experiment=hatespeech_en hydra.mode=RUN": [],
    "+experiment=pretrained_audit vectors=[mine.txt]": [],
}


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(arguments, marks=[pytest.mark.slow] * (RECORDED[1] in EXPERIMENTS[arguments]))
        for arguments in EXPERIMENTS
    ],
)
def test_an_experiment_asks_for_all_that_it_reads(arguments: str, folder: Path) -> None:
    needs = data.find_needs(*arguments.split())
    assert {each.name for each in needs.sets} == {*EXPERIMENTS[arguments]}
    assert (needs.unknown, needs.others) == ([], [])


def test_an_experiment_that_is_not_complete_names_what_it_needs(folder: Path, run: Run) -> None:
    ended = run("get", "pretrained_audit")
    assert ended.status == 2
    assert ended.err.startswith("error: embedding.path needs values to sweep over")


def test_a_path_of_ones_own_is_named(folder: Path, run: Run, server: Server) -> None:
    ended = run("get", "source=none", "corpus=text", "corpus.path=${data:my/own.txt}")
    assert ended.status == 2
    assert "my/own.txt is not public and has no name here" in ended.err


@pytest.fixture
def mirrored(
    realdata: Path, tmp_path: Path, only_local: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """An empty data folder, and the real data on a mirror; sets are of the files at hand."""
    monkeypatch.setenv("BIASBRIDGE_DATA", str(tmp_path / "data"))
    for name in ("winobias", "bbq_answers"):
        here = [file for file in registry()[name].files if (realdata / file.target).exists()]
        monkeypatch.setitem(registry(), name, replace(registry()[name], files=tuple(here)))
    with serve(realdata) as mirror:
        monkeypatch.setenv("BIASBRIDGE_MIRROR", mirror.url)
        yield tmp_path / "data"


LINEAR = ["source=davidson", "classifier=linear", "embedding.dim=20", "corpus.min_count=2"]
PLOTS = ["corpus=text", "corpus.path=${data:corpora/en_plots_open.txt.xz}", "corpus.limit=300"]
NOVELS = ["corpus=text", "corpus.path=${data:corpora/en_gutenberg.txt.xz}", "corpus.limit=1"]
# Commands that read real data, and the files that they need
COMMANDS = {
    "hate speech in English": (
        [*LINEAR, *PLOTS], ["corpora/en_plots_open.txt.xz", "hatespeech/davidson2017.csv"]
    ),
    "coreference": (
        ["+experiment=coreference_en", "hydra.mode=RUN", "challenge=winobias",
         "embedding.dim=20", *NOVELS],
        ["coreference/winobias", "corpora/en_gutenberg.txt.xz"],
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize("name", COMMANDS)
def test_two_commands_give_the_tables_of_files_in_place(
    name: str, mirrored: Path, realdata: Path, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, paths = COMMANDS[name]
    monkeypatch.setenv("BIASBRIDGE_DATA", str(mirrored))
    status, _, error = train(*command)
    assert (status, error.count("biasbridge data get")) == (2, 1)  # the error names the command
    assert biasbridge(["data", "get", *command]) == 0
    assert {*paths} <= {str(path.relative_to(mirrored)) for path in [*mirrored.glob("*/*")]}
    tables = []
    for folder in (mirrored, realdata):
        monkeypatch.setenv("BIASBRIDGE_DATA", str(folder))
        results = mirrored.parent / f"results of {folder.name}"
        assert train(*command, f"results.dir='{results}'").status == 0
        found = [*results.rglob("intrinsic.parquet"), *results.rglob("extrinsic.parquet")]
        tables.append([pd.read_parquet(path) for path in found])
    assert len(tables[0]) == 2
    for fetched, in_place in zip(*tables, strict=True):
        assert len(fetched) > 0
        pd.testing.assert_frame_equal(fetched, in_place)
