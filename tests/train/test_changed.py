"""A file that changes between plan and build: nothing made from it is kept under the old key."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from corpora.corpus import TextCorpus
from debias.word_choice import WordChoice, write_words
from files import InputError
from intrinsic.wordsets import load_query
from intrinsic.wordsets.library import _library
from train.parts.part import Inputs, Stages
from train.parts.static import write_corpus
from train.store import Stage, Store


def stage_of(path: Path, store: Store, meanwhile: Callable[[], object] = bool) -> Stage:
    def carry_out(corpus: TextCorpus, out: Path, inputs: Inputs, seed: int) -> None:
        write_corpus(corpus, out, inputs, seed)
        meanwhile()

    choice = TextCorpus(str(path), tokeniser="whitespace", min_count=1)
    return Stages(0, store)("corpus", choice, carry_out)


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
    stage = stage_of(path, store, (lambda: change(path)) if when == "during" else bool)
    if when == "before":
        change(path)
    with pytest.raises(
        InputError,
        match=r"text\.txt",
    ):
        store.make(stage)
    assert not store.has(stage)
    assert not list((store.root / "work").iterdir())
    path.write_text("two\n")
    again = stage_of(path, store)
    assert again.key != stage.key
    assert (store.make(again) / "corpus.txt").read_text() == "two\n"


def test_a_file_that_is_only_touched_is_the_same(tmp_path: Path) -> None:
    store, path = Store(tmp_path / "store"), tmp_path / "text.txt"
    path.write_text("one\n")
    stage = stage_of(path, store, lambda: path.touch())
    assert (store.make(stage) / "corpus.txt").read_text() == "one\n"


def test_shipped_words_that_change_meanwhile_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    stage = Stages(0, store)("words", WordChoice("weat7"), write_words)
    monkeypatch.setitem(_library().queries, "weat7", load_query("weat8"))
    with pytest.raises(InputError, match="what its words or files stand for changed after words"):
        store.make(stage)
    assert not store.has(stage)
