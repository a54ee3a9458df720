"""A file that changes between plan and build: nothing made from it is kept under the old key."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from biasbridge.corpora.corpus import TextCorpus
from biasbridge.debias.word_choice import WordChoice, write_words
from biasbridge.files import InputError
from biasbridge.intrinsic.wordsets import load_query
from biasbridge.intrinsic.wordsets.library import _library
from biasbridge.train.engine.part import Inputs, StepBuilder
from biasbridge.train.engine.store import Step, Store
from biasbridge.train.subjects.static import write_corpus

MEANWHILE: dict[str, Callable[[], object]] = {"before": bool, "after": bool}


def carry_out(corpus: TextCorpus, out: Path, inputs: Inputs, seed: int) -> None:
    MEANWHILE["before"]()
    write_corpus(corpus, out, inputs, seed)
    MEANWHILE["after"]()


def step_of(path: Path, store: Store, after: Callable[[], object] = bool) -> Step:
    MEANWHILE.update(before=bool, after=after)
    choice = TextCorpus(str(path), tokeniser="whitespace", min_count=1)
    return StepBuilder(0, store)("corpus", choice, carry_out)


def rewrite(path: Path) -> None:
    """Other bytes of the same number, under the old time."""
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_text("two\n")
    os.utime(path, ns=times)


def put_another(path: Path) -> None:
    """Another file in its place."""
    other = path.with_suffix(".new")
    other.write_text("six\n")
    other.replace(path)


CHANGES = {"rewritten": rewrite, "replaced": put_another, "removed": Path.unlink}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("when", ["before", "during"])
def test_a_changed_file_is_noticed_and_named(
    change: Callable[[Path], object], when: str, tmp_path: Path
) -> None:
    store, path = Store(tmp_path / "store"), tmp_path / "text.txt"
    path.write_text("one\n")
    step = step_of(path, store, (lambda: change(path)) if when == "during" else bool)
    if when == "before":
        change(path)
    with pytest.raises(
        InputError,
        match=r"text\.txt",
    ):
        store.make(step)
    assert not store.has(step)
    assert not list((store.root / "work").iterdir())
    path.write_text("two\n")
    again = step_of(path, store)
    assert again.key != step.key
    assert (store.make(again) / "corpus.txt").read_text() == "two\n"


def test_a_file_that_is_only_touched_before_it_is_read_is_the_same(tmp_path: Path) -> None:
    store, path = Store(tmp_path / "store"), tmp_path / "text.txt"
    path.write_text("one\n")
    step = step_of(path, store)
    path.touch()
    assert (store.make(step) / "corpus.txt").read_text() == "one\n"


def rewritten_and_back(path: Path) -> Iterator[None]:
    rewrite(path)
    yield
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_text("one\n")
    os.utime(path, ns=times)


def moved_and_back(path: Path) -> Iterator[None]:
    aside = path.rename(path.with_suffix(".old"))
    path.write_text("two\n")
    yield
    aside.replace(path)


def folder_linked_and_back(path: Path) -> Iterator[None]:
    """The folder of ``text.txt`` is a link, which for a while leads to another folder."""
    link, first = path.parent, path.parent.readlink()
    other = link.with_suffix(".other")
    other.mkdir()
    (other / path.name).write_text("two\n")
    link.unlink()
    link.symlink_to(other)
    yield
    link.unlink()
    link.symlink_to(first)


BACK: dict[str, tuple[Callable[[Path], Iterator[None]], str]] = {
    "rewritten": (rewritten_and_back, ""),
    "moved": (moved_and_back, ""),
    "folder linked": (folder_linked_and_back, "folder"),
}


@pytest.mark.parametrize("what", BACK)
def test_another_file_that_was_read_in_the_place_of_the_same_one_is_noticed(
    what: str, tmp_path: Path
) -> None:
    change, link = BACK[what]
    store = Store(tmp_path / "store")
    (tmp_path / "real").mkdir()
    path = tmp_path / "real" / "text.txt"
    path.write_text("one\n")
    if link:
        (tmp_path / link).symlink_to(path.parent)
        path = tmp_path / link / "text.txt"
    read = []
    changing = change(path)

    def after() -> None:
        (work,) = (store.root / "work").glob("*/corpus.txt")
        read.append(work.read_text())
        list(changing)

    step = step_of(path, store, after)
    MEANWHILE["before"] = lambda: next(changing)
    with pytest.raises(InputError, match=r"text\.txt changed after corpus \(TextCorpus\) was"):
        store.make(step)
    assert read == ["two\n"]
    assert path.read_text() == "one\n"
    assert not store.has(step)
    assert step_of(path, store).key == step.key


def test_shipped_words_that_change_meanwhile_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    step = StepBuilder(0, store)("words", WordChoice("weat7"), write_words)
    monkeypatch.setitem(_library().queries, "weat7", load_query("weat8"))
    with pytest.raises(InputError, match="the content of its words or files changed after words"):
        store.make(step)
    assert not store.has(step)
