"""A name on a hub gets its commit: from the registry, the hub or the copy in the cache."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest

from biasbridge.files import InputError
from biasbridge.files.data.registry import registry
from biasbridge.files.places import (
    HubModel,
    Place,
    _is_hub_name,
    find_commit,
    find_model,
    is_model_path,
    require_commit,
    without_commit,
)

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OTHER = COMMIT[::-1]
GPT2 = "openai-community/gpt2"
REGISTERED = "607a30d783dfa663caf39e06633721c8d4cfcd7e"


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
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))

    def refuse(*_: object, **__: object) -> None:
        raise ConnectionError("no route to host\nwith a second line")

    for ask in ("model_info", "dataset_info"):
        monkeypatch.setattr(huggingface_hub.HfApi, ask, refuse)
    return tmp_path


def answering(monkeypatch: pytest.MonkeyPatch, ask: str = "model_info") -> list[Any]:
    """Let the hub answer; return what it will have been asked."""
    commits = {None: COMMIT, "v1": OTHER, COMMIT: COMMIT, COMMIT[:7]: COMMIT, "abcdef0": OTHER}
    asked: list[Any] = []

    def answer(_: object, name: str, *, revision: str | None, timeout: float) -> SimpleNamespace:
        asked.append((name, revision))
        return SimpleNamespace(sha=commits.get(revision, revision))

    monkeypatch.setattr(huggingface_hub.HfApi, ask, answer)
    return asked


def test_the_hub_is_asked_for_the_commit_of_a_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch)
    assert find_commit("org/tiny") == HubModel("org/tiny", COMMIT)
    assert find_commit("org/tiny@v1") == HubModel("org/tiny", OTHER)
    assert find_commit(f"tiny@{COMMIT[:7]}") == HubModel("tiny", COMMIT)
    assert asked == [("org/tiny", None), ("org/tiny", "v1"), ("tiny", COMMIT[:7])]
    assert find_commit(GPT2) == find_commit(f"{GPT2}@607a30d") == HubModel(GPT2, REGISTERED)


def test_without_a_hub_the_snapshot_in_the_cache_is_taken(cache: Path) -> None:
    main, tagged = cached(cache), cached(cache, OTHER, "v1")
    assert find_commit("org/tiny") == HubModel("org/tiny", COMMIT, str(main))
    for revision in ("v1", OTHER, OTHER[:7]):
        model = find_commit(f"org/tiny@{revision}")
        assert model == HubModel("org/tiny", OTHER, str(tagged))
    for revision in ("v2", OTHER[:6]):
        with pytest.raises(InputError, match="no copy is in the cache"):
            find_commit(f"org/tiny@{revision}")


def test_a_commit_is_completed_by_registry_and_cache_before_the_hub(cache: Path) -> None:
    cached(cache)
    assert registry()[GPT2].commit == REGISTERED
    for text in (GPT2, f"{GPT2}@607a30d", f"{GPT2}@{REGISTERED}"):
        assert find_model(text) == Place(GPT2, REGISTERED)
    assert require_commit(f"org/tiny@{COMMIT[:7]}") == ("org/tiny", COMMIT)
    assert require_commit(f"org/tiny@{OTHER}") == ("org/tiny", OTHER)
    with pytest.raises(InputError, match=r"did not complete it \(ConnectionError: no route"):
        require_commit(f"org/tiny@{COMMIT[:7]}", "dataset")  # another cache
    same_start = f"{COMMIT[:12]}{OTHER[12:]}"
    cached(cache, same_start, "v1")
    with pytest.raises(InputError, match="did not complete it"):
        require_commit(f"org/tiny@{COMMIT[:12]}")
    assert require_commit(f"org/tiny@{COMMIT[:13]}") == ("org/tiny", COMMIT)


@pytest.mark.parametrize(("kind", "ask"), [("model", "model_info"), ("dataset", "dataset_info")])
def test_the_hub_completes_a_short_commit_but_no_branch(
    kind: Any, ask: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answering(monkeypatch, ask)
    assert require_commit(f"org/tiny@{COMMIT[:7]}", kind) == ("org/tiny", COMMIT)
    assert asked == [("org/tiny", COMMIT[:7])]
    for text, told in (
        ("org/tiny", r"give org/tiny@COMMIT, with 7 to 40 .* none is given"),
        ("org/tiny@v1", "'v1' is not one"),
        (f"org/tiny@{COMMIT[:6]}", "is not one"),
        (f"org/tiny@{COMMIT}0", "is not one"),
        ("org/tiny@abcdef0", "'abcdef0' is not one"),  # a branch called like a commit
    ):
        with pytest.raises(InputError, match=told):
            require_commit(text, kind)


def test_a_model_that_is_nowhere_is_refused_in_a_line() -> None:
    for model, told in (
        ("org/tiny", r"the hub did not give it \(ConnectionError: no route to host"),
        ("org/tiny@v1@v2", "is neither a local folder nor a hub name"),
        ("a b", "is neither a local folder nor a hub name"),
    ):
        with pytest.raises(InputError, match=told) as refusal:
            find_commit(model)
        assert "\n" not in str(refusal.value)


def test_a_name_is_shown_without_its_commit_and_a_folder_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny@1").mkdir()
    for path, shown in (
        (f"org/tiny@{COMMIT}", "org/tiny"),
        ("tiny@1", "tiny@1"),
        ("/far/tiny@1", "/far/tiny@1"),
        ("package:tiny", "package:tiny"),
    ):
        assert without_commit(path) == shown


def test_a_missing_folder_beside_others_is_of_the_hub_only_with_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "org" / "tinny").mkdir(parents=True)
    problem = "org/tiny; did you mean 'tinny'.; for a model of the hub give org/name@COMMIT"
    with pytest.raises(InputError, match=problem):
        find_commit("org/tiny")
    answering(monkeypatch)
    assert find_commit(f"org/tiny@{COMMIT}").commit == COMMIT


@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        *(("org/tiny", True), ("org/tiny-1.5@refs/pr/1", True), ("tiny@main", True)),
        *(("tiny", False), ("org/tiny.vec", False), ("org/tiny.bin.gz", False)),
        *(("here/tiny", False), ("./tiny", False), ("../tiny", False), ("org/more/tiny", False)),
        ("", False),
    ],
)
def test_a_hub_name_is_told_from_a_path(
    text: str, is_name: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    assert _is_hub_name(text) == is_model_path(text) == is_name
