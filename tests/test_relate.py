"""Scores of tiny language models are related to tiny files of BBQ and WinoBias."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from biasbridge import plot, read_results, relate
from biasbridge.files import InputError
from tests.corpora.test_coreference_challenges import write as write_conditions
from tests.extrinsic.bbq_items import item
from tests.tiny_models import save_model
from tests.train.test_referents import folders

__all__ = ["folders"]  # a fixture
MEN = "carpenter mechanic guard driver farmer cook lawyer sheriff janitor developer chief mover"
WOMEN = "nurse teacher baker cashier clerk writer editor designer cleaner tailor librarian auditor"


def write_bbq(folder: Path) -> Path:
    items = [item(number, category="Gender_identity") for number in range(64)]
    (folder / "Gender_identity.jsonl").write_text("\n".join(map(json.dumps, items)), "utf-8")
    return folder


def write_winobias(folder: Path) -> Path:
    people = list(zip(MEN.split(), WOMEN.split(), strict=True))
    of_men = "[The {}] thanked the {} because [{}] got a ride."
    of_women = "The {} thanked [the {}] because [{}] gave a hand."
    pro, anti = (
        tuple(
            text.format(*pair, pronoun)
            for text, pronoun in zip((of_men, of_women), pronouns, strict=True)
            for pair in people
        )
        for pronouns in (("he", "she"), ("she", "he"))
    )
    return write_conditions(folder, pro, anti)


@pytest.fixture(scope="module")
def models(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Tiny models by name."""
    encoder = save_model(tmp_path_factory.mktemp("encoder") / "encoder", "bert")
    t5 = save_model(tmp_path_factory.mktemp("t5") / "t5", "t5")
    config = json.loads((t5 / "config.json").read_text())
    config |= {"architectures": ["T5ForConditionalGeneration"]}  # as published
    (t5 / "config.json").write_text(json.dumps(config))
    causal, masked, other = (str(folders[name]) for name in ("gpt2", "roberta", "other"))
    return {
        "causal": causal,
        "masked": masked,
        "other": other,
        "encoder": str(encoder),
        "t5": str(t5),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "write", "names", "measures"),
    [
        ("bbq", write_bbq, ["masked", "other"], {"bbq_ambiguous", "bbq_disambiguated"}),
        ("winobias", write_winobias, ["causal"], {"log_odds"}),
    ],
    ids=["bbq", "winobias"],
)
def test_the_change_of_the_gap_is_the_slope_within_models_times_the_range(
    task: str,
    write: Callable[[Path], Path],
    names: list[str],
    measures: set[str],
    models: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    table = relate(
        [models[name] for name in names],
        task=task,  # type: ignore[arg-type]
        data=write(tmp_path / "data"),
        metrics=["seat"],
        methods=["leace", "mean_difference"],
    )
    assert {*table["measure"]} == measures
    assert {*table["query"]} == {"seat6b", "seat7", "seat8"}
    assert table["n"].max() == 9 * len(names)  # four doses of two methods, and the model itself
    assert {*table["n_parents"]} == {len(names)}
    rows = read_results(table.attrs["folder"])
    for test in table.dropna(subset="change").to_dict("records"):
        keys = ("measure", "query", "subset")
        mine = rows[(rows[[*keys]] == [test[key] for key in keys]).all(axis=1)].dropna(subset=["y"])
        assert len(mine) == test["n"]
        u, v = (
            mine[name].to_numpy(float)
            - mine.groupby("parent")[name].transform("mean").to_numpy(float)
            for name in "xy"
        )
        slope = float(u @ v) / float(u @ u)
        assert np.isclose(test["change"], slope * (test["score_high"] - test["score_low"]))
        assert test["change_low"] < test["change"] < test["change_high"]
    assert "by leace, mean_difference" in " ".join(table.attrs["answer"].split())
    assert not {"corpora", "seeds"} & {*table.attrs["answer"].split()}  # which no model has
    assert "change of the gap" in plot.change(table.attrs["folder"]).to_json()


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (
            ["causal"],
            {"data": None},
            "the data of bbq are not in .*; run biasbridge data get bbq, or",
        ),
        (["causal", "masked"], {}, "gpt2 causal, .*roberta masked: they have different scores"),
        (["encoder"], {}, "encoder is an encoder and cannot answer questions"),
        (["encoder"], {"data": None}, "encoder is an encoder and cannot answer questions"),
        (["t5"], {"data": None}, "t5 is an encoder-decoder and cannot answer questions"),
        (["causal", "masked"], {"data": None}, "they have different scores"),
        (["causal"], {"metrics": "lpbs"}, "lpbs is not for causal models; give next_word"),
        (["causal"], {"metrics": "seet"}, "--metric seet: no such metric; did you mean 'seat'"),
        (["causal"], {"methods": "hard"}, "--method hard: no such method; there are bam, gbdd"),
        (["causal"], {"doses": [2]}, "--dose 2: give doses from -1"),
        (["causal"], {"task": "winobias", "limit": 2}, "--limit is for items of bbq"),
        (["causal"], {"task": "squad"}, "task=.*squad"),
        (["causal"], {"limit": 0}, "limit"),
    ],
    ids=str,
)
def test_mistakes_are_one_line(
    names: list[str],
    options: dict[str, object],
    message: str,
    models: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BIASBRIDGE_DATA", str(tmp_path))
    arguments = {"task": "bbq", "data": write_bbq(tmp_path)} | options
    with pytest.raises(InputError, match=message) as refused:
        relate([models[name] for name in names], **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)
