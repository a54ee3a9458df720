"""What holds of every metric on likelihoods: its built-in items, conventions, signs, resamples."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from biasbridge.corpora.items import named_items
from biasbridge.files.models.language_model import LanguageModel, open_model
from biasbridge.intrinsic.item_metric import Observations
from biasbridge.intrinsic.items.item import ItemSet, Pair, cross
from biasbridge.intrinsic.items.library import library
from biasbridge.intrinsic.likelihood.model_metrics import MODEL_METRICS
from biasbridge.intrinsic.likelihood.pairs import sign_test
from tests.intrinsic.likelihood.tables import given
from tests.tiny_models import save_model

ON_LIKELIHOODS = [name for name, kind in MODEL_METRICS.items() if kind.needs == "model"]
PAIRS = ItemSet(
    "pairs",
    "en",
    pairs=(
        Pair("the man was walking home", "the woman was walking home", cluster="walk"),
        Pair("a man was walking home", "a woman was walking home", cluster="walk"),
        Pair("the doctor said he was at home", "the doctor said she was at home"),
        Pair("the engineer and the doctor", "the nurse and the teacher"),
    ),
)
TERMS = {"male": ("doctor", "engineer"), "female": ("nurse", "teacher")}
SLOTS = ItemSet(
    "slots",
    "en",
    items=cross(
        TERMS, {"said": "the {} said that [MASK] was home", "at": "the {} and [MASK] at home"}
    ),
    fillers=(("he", "she"), ("man", "woman")),
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LanguageModel]:
    return {
        head: open_model(save_model(tmp_path_factory.mktemp(head), name, head=head))
        for head, name in (("masked", "bert"), ("causal", "gpt2"))
    }


def swapped(items: ItemSet) -> ItemSet:
    """The other way round: stereo and anti, and the groups of terms."""
    turned = {"male": "female", "female": "male"}
    return dataclasses.replace(
        items,
        pairs=tuple(pair._replace(stereo=pair.anti, anti=pair.stereo) for pair in items.pairs),
        items=tuple(item._replace(group=turned[item.group]) for item in items.items[::-1]),
    )


@pytest.mark.parametrize("name", ["crows_pairs", "pll", "aul", "aula", "lpbs", "next_word"])
def test_scores_turn_with_the_items(models: dict[str, LanguageModel], name: str) -> None:
    """A random model has no ties, so that shares become 1 - share and differences change sign."""
    kind = MODEL_METRICS[name]
    items = SLOTS if kind.reason_against(PAIRS) else PAIRS
    model = models["causal" if name == "next_word" else "masked"]
    [one] = kind.by_convention(items=given(items)).score(model, seed=0)
    [other] = kind.by_convention(items=given(swapped(items))).score(model, seed=0)
    assert one.reason == ""
    assert one.value + other.value == pytest.approx(2 * one.unbiased, abs=1e-5)
    assert len(one.resampled) == 200
    assert 0 < one.p_value <= 1


@pytest.mark.parametrize("name", ON_LIKELIHOODS)
def test_every_convention_gives_a_score_or_a_reason(
    models: dict[str, LanguageModel], name: str
) -> None:
    kind = MODEL_METRICS[name]
    for convention in kind.conventions():
        for model in models.values():
            for items in (PAIRS, SLOTS):
                for row in kind.by_convention(convention, items=given(items)).score(model, seed=0):
                    assert bool(row.reason) is math.isnan(row.value)
                    assert row.reason or "dtype=float32" in row.settings


def test_built_in_items_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in map(MODEL_METRICS.__getitem__, ON_LIKELIHOODS):
        for name in kind.about.asks:
            if not name.startswith("crows_pairs"):
                assert not kind.reason_against(library()[name])
    monkeypatch.delenv("BIASBRIDGE_DATA", raising=False)
    assert not named_items(("bec_pro_male",), available_only=True).load()


def test_the_sign_test_counts_clusters() -> None:
    """Three pairs alone and two in a cluster, all for the stereotype: 2 of the 2^4 turns of four
    clusters; 2 of 2^5 if all were alone.
    """
    values, names = np.ones(5), [f"pair {n}" for n in range(5)]
    together = Observations(values, names, {"cluster": ["a", "a", "b", "c", "d"]})
    assert sign_test(together).p == pytest.approx(2 / 2**4)
    alone = Observations(values, names, {"cluster": names})
    assert sign_test(alone).p == pytest.approx(2 / 2**5)


def test_planted_bias_is_read_with_its_model(tmp_path: Path) -> None:
    folder = save_model(tmp_path, "bert", head="masked")
    assert open_model(folder).planted is None
    text = '{"terms": {"nurse": {"log_odds": -1.5, "half": "held_out"}}}'
    (folder / "planted.json").write_text(text, encoding="utf-8")
    planted = open_model(folder).planted
    assert planted
    assert planted["terms"]["nurse"]["log_odds"] == -1.5
