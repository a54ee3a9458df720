"""The sources of ``conf/documents``: their parts count in a store's key."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from biasbridge.corpora.protocols import DocumentSource
from biasbridge.files.data.registry import collected_requests
from biasbridge.train.cli import CONF, configure  # noqa: F401 (registers the resolver of paths)
from biasbridge.train.cli.choices import Reader
from biasbridge.train.engine.part import keyed_params

NEEDS = {
    "files": ["documents.path=folder", "documents.scheme=mine"],
}


def built(option: str, *more: str) -> DocumentSource:
    overrides = [f"+documents={option}", *NEEDS.get(option, []), *more]
    with collected_requests(), initialize_config_dir(str(CONF), version_base="1.3"):
        node = OmegaConf.to_container(
            compose("config", overrides=overrides).documents, resolve=True
        )
    found = Reader({})(cast("dict[str, object]", node), "documents")
    assert isinstance(found, DocumentSource)
    return found


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIASBRIDGE_DATA", "/nowhere")


def test_a_choice_within_a_choice_counts_in_the_key() -> None:
    whole = keyed_params(built("ontogum_litbank"))
    first = whole["first"]
    assert isinstance(first, dict)
    assert first["made_by"] == "biasbridge.corpora.documents.DocumentFiles"
    assert "path" not in first
    dropped = keyed_params(built("ontogum_litbank", "documents.first.test=0.2"))
    assert dropped["first"] != first
    assert dropped["second"] == whole["second"]


@pytest.mark.realdata
def test_ontogum_is_split_as_gum_is(realdata: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIASBRIDGE_DATA", str(realdata))
    splits = built("ontogum").load(seed=0)
    assert {split: len(each) for split, each in splits.items()} == {
        "train": 177,
        "dev": 30,
        "test": 30,
    }
