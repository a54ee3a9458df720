"""What a user has is neither lost nor overwritten: by a store, results or data of a stranger that
hold links, nor where their folder is the user's own.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from biasbridge.analysis.result_folder import require_own
from biasbridge.commands.store import main
from biasbridge.data import LOCK, _locked
from biasbridge.files import InputError
from biasbridge.files.data.download import download
from biasbridge.files.paths import digest_of
from biasbridge.files.terminal import open_console
from biasbridge.train.cli.start import run_experiment
from biasbridge.train.engine.point import results_folder
from biasbridge.train.engine.store import Step, Store
from biasbridge.train.engine.store_tools import Outdated, report_outdated
from tests.data_server import serve

OTHER = "ab" * 16  # a key
PROCESS = digest_of([platform.node(), os.getpid()])
LINK = "is a link, and writing to it would overwrite its target; remove the link"
RUN = ["source=none", "corpus.sentences=1000", "size.dim=8", "size.epochs=1"]


def build(out: Path, inputs: Mapping[str, Path]) -> None:
    (out / "text").write_text("x")


STEP = Step("corpus", "Text", 1, {}, build)


def make(folder: Path) -> None:
    Store(folder).make(STEP)


def discard(folder: Path) -> None:
    make(folder)
    Store(folder).discard(STEP)


def clean(folder: Path) -> None:
    main(["gc", "--older-than", "1d", "--store", str(folder)])
    Store(folder).orphans(remove=True)


def look(folder: Path) -> None:
    main(["ls", "--store", str(folder)])


def sweep(folder: Path) -> None:
    run_experiment([*RUN, f"store.dir={folder}", f"results.dir={folder / 'results'}"])


def write_results(folder: Path) -> None:
    require_own(folder, ["figures"])
    results_folder(str(folder))


def lock_data(folder: Path) -> None:
    with _locked():
        pass


def fetch(folder: Path) -> None:
    (folder.parent / "served").mkdir()
    (folder.parent / "served" / "v.txt").write_text("new")
    with serve(folder.parent / "served") as server:
        download([f"{server.url}/v.txt"], folder / "v.txt")


# What leads to the user's file or folder, what is done, and the reason that is given, if any
ATTACKS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "lock of a result": (f"locks/{STEP.key}.lock -> file", make, LINK),
    "lock, removed": (f"locks/{STEP.key}.lock -> file", discard, LINK),
    "lock, cleaned": (f"locks/{OTHER}.lock -> file", clean, LINK),
    "lock of work, cleaned": (f"locks/{OTHER}.lock -> file, work/{OTHER}/", clean, LINK),
    "lock of work, seen": (f"locks/{OTHER}.lock -> file, work/{OTHER}/", look, ""),
    "another's lock": ("locks/poetry.lock", clean, ""),
    "probe": (
        f"locks/, work/.probe-{PROCESS} -> file",
        lambda f: Store(f).prove_writable(),
        LINK,
    ),
    "locks": ("locks -> folder", clean, "locks in it is a link"),
    "locks of a sweep": ("locks -> folder", sweep, "locks in it is a link"),
    "work": ("locks/, work -> folder", clean, "work in it is a link"),
    "work, built": (f"locks/, work/{STEP.key} -> folder", make, ""),
    "work, removed": (f"locks/, work/.removed-{STEP.key} -> folder", discard, ""),
    "work, cleaned": (f"locks/, work/{OTHER} -> folder", clean, f"work/{OTHER} in it is not of"),
    "another's work": ("locks/, work/thesis.txt", clean, "work/thesis.txt in it is not of a store"),
    "another's work with a digest": (
        f"locks/, work/thesis-{OTHER}",
        clean,
        "in it is not of a store",
    ),
    "another's hidden work": ("locks/, work/.thesis/thesis.txt", clean, ""),
    "another's work of a sweep": ("locks/, work/mine/thesis.txt", sweep, "work/mine in it is not"),
    "another's work and no lock": ("work/mine/thesis.txt", sweep, "work/mine in it is not of a"),
    "unfinished": ("locks/, unfinished -> folder", clean, "unfinished in it is a link"),
    "another's unfinished": ("locks/, unfinished/thesis.txt", clean, "unfinished/thesis.txt in it"),
    "step": ("locks/, corpus -> folder", clean, ""),
    "result": (f"locks/, corpus/{OTHER} -> folder", clean, ""),
    "lock of results": ("points/.lock -> file", write_results, LINK),
    "points": ("points -> folder", write_results, "points in it is a link, and files behind it"),
    "figures": ("figures -> folder, points.parquet", write_results, "figures in it is a link"),
    "results of the user": ("report.html", write_results, "report.html in it is not of a sweep"),
    "lock of data": (f"{LOCK} -> file", lock_data, LINK),
    "part of data": (".v.txt.part -> file", fetch, LINK),
    "tag of data": (".v.txt.part.etag -> file, .v.txt.part", fetch, LINK),
    "data": ("v.txt -> file", fetch, ""),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_file_of_the_user_is_lost_or_overwritten(
    attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries, act, reason = ATTACKS[attack]
    home, folder = tmp_path / "home", tmp_path / "folder"
    monkeypatch.setenv("BIASBRIDGE_DATA", str(folder))
    for file in (home / "thesis.txt", home / OTHER / "thesis.txt"):
        file.parent.mkdir(parents=True)
        file.write_text("mine")
    for entry in entries.split(", "):
        name, _, target = entry.partition(" -> ")
        path = folder / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if target:
            path.symlink_to(home / "thesis.txt" if target == "file" else home)
        elif not name.endswith("/"):
            path.write_text("mine")
    for path in (*tmp_path.rglob("*"), home):
        os.utime(path, (0, 0), follow_symlinks=False)

    def users() -> dict[Path, str]:
        files = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
        return {path: path.read_text() for path in files if path.read_text() == "mine"}

    before = users()
    if reason:
        with pytest.raises(InputError, match=reason):
            act(folder)
    else:
        act(folder)
    assert users() == before
    assert sorted(home.rglob("*")) == [
        home / OTHER,
        home / OTHER / "thesis.txt",
        home / "thesis.txt",
    ]


def test_a_stranger_s_store_sends_no_escape_sequence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step = replace(STEP, name="\x1b[2Jcorpus", made_by="m.\x1b]0;title\x07Text")
    entry = Store(tmp_path).make(step)
    entry = entry.rename(entry.with_name(f"\x1b[5m-{step.key}"))
    for arguments in (["ls"], ["ls", step.name], ["verify"]):
        main([*arguments, "--store", str(tmp_path)])
    (entry / "\x1b[9D").touch()
    main(["verify", "--store", str(tmp_path)])
    report_outdated([Outdated(step, True, ("\x1b[1m",), ())], "use", open_console())
    out = capsys.readouterr().out
    assert "\x1b" not in out
    for text in ("[2Jcorpus", "]0;title\\x07Text", "[5m", "[9D", "[1m"):
        assert f"\\x1b{text}" in out
