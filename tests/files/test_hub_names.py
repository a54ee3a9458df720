"""A name on a hub gets its commit, from the hub or from the copy in the cache."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest

from files import InputError
from files.hub import HubModel, find_commit
from files.models.place import is_hub_name, is_model_path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OTHER = COMMIT[::-1]


def cached(folder: Path, commit: str = COMMIT, ref: str = "main") -> Path:
    """The layout of a hub's cache with one snapshot."""
    model = folder / "models--org--tiny"
    snapshot = model / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (model / "refs").mkdir(exist_ok=True)
    (model / "refs" / ref).write_text(commit)
    return snapshot


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a hub that does not answer."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))

    def refuse(*_: object, **__: object) -> None:
        raise ConnectionError("no route to host\nwith a second line")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", refuse)
    return tmp_path


def test_the_hub_is_asked_for_the_commit_of_a_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    commits = {None: COMMIT, "v1": OTHER, COMMIT: COMMIT}
    asked: list[Any] = []

    def answer(_: object, name: str, *, revision: str | None, timeout: float) -> SimpleNamespace:
        asked.append((name, revision))
        return SimpleNamespace(sha=commits[revision])

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", answer)
    assert find_commit("org/tiny") == HubModel("org/tiny", COMMIT)
    assert find_commit("org/tiny@v1") == HubModel("org/tiny", OTHER)
    assert find_commit("org/tiny", "v1").commit == OTHER
    assert find_commit("tiny", COMMIT) == HubModel("tiny", COMMIT)
    assert asked == [("org/tiny", None), ("org/tiny", "v1"), ("org/tiny", "v1"), ("tiny", COMMIT)]


def test_without_a_hub_the_snapshot_in_the_cache_is_taken(cache: Path) -> None:
    main, tagged = cached(cache), cached(cache, OTHER, "v1")
    assert find_commit("org/tiny") == HubModel("org/tiny", COMMIT, str(main))
    assert find_commit("org/tiny@v1") == HubModel("org/tiny", OTHER, str(tagged))
    assert find_commit("org/tiny", OTHER) == HubModel("org/tiny", OTHER, str(tagged))
    with pytest.raises(InputError, match="no copy is in the cache"):
        find_commit("org/tiny@v2")


def test_a_model_that_is_nowhere_is_refused_in_a_line() -> None:
    for model, revision, told in (
        ("org/tiny", None, r"the hub did not give it \(ConnectionError: no route to host"),
        ("org/tiny@v1", "v2", "gives a revision twice"),
        ("a b", None, "is neither a local folder nor a hub name"),
    ):
        with pytest.raises(InputError, match=told) as refusal:
            find_commit(model, revision)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        ("org/tiny", True),
        ("org/tiny-1.5@refs/pr/1", True),
        ("tiny@main", True),
        ("tiny", False),
        ("org/tiny.vec", False),
        ("org/tiny.bin.gz", False),
        ("here/tiny", False),
        ("./tiny", False),
        ("../tiny", False),
        ("org/more/tiny", False),
        ("", False),
    ],
)
def test_a_hub_name_is_told_from_a_path(
    text: str, is_name: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    assert is_hub_name(text) == is_model_path(text) == is_name
