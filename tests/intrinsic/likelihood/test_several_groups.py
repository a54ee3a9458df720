"""More than two groups of terms or fillers: each against the others, by literal loops."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from biasbridge.files import InputError
from biasbridge.files.models.language_model import LanguageModel, open_model
from biasbridge.intrinsic.items.item import ItemSet, cross
from biasbridge.intrinsic.items.read import parse_fillers, read_items
from biasbridge.intrinsic.likelihood.lpbs import LogProbabilityBias
from biasbridge.intrinsic.likelihood.next_word import NextWord
from biasbridge.intrinsic.likelihood.planted import PlantedBias
from tests.intrinsic.likelihood.tables import given
from tests.tiny_models import save_model

GROUPS: dict[str, tuple[str, ...]] = {
    "a": ("nurse", "teacher", "baker", "clerk", "guard"),
    "b": ("doctor", "engineer", "mason", "waiter", "tailor"),
    "c": ("market", "office", "hospital", "family", "home"),
}
TEMPLATES = {"that": "the {} said that [MASK]", "and": "a {} and [MASK]", "as": "a {} as [MASK]"}
TEMPLATES |= {"the": "by the {} with [MASK]", "or": "{} or [MASK]"}
WORDS = ("he", "she", "woman")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LanguageModel]:
    heads = {"bert": "masked", "gpt2": "causal"}
    return {
        head: open_model(save_model(tmp_path_factory.mktemp(name), name, head=head))
        for name, head in heads.items()
    }


def two_group_score(
    metric: type[LogProbabilityBias | NextWord],
    model: LanguageModel,
    groups: Mapping[str, tuple[str, ...]],
    fillers: tuple[str, str],
) -> tuple[float, float]:
    """The score and p of two groups and two fillers."""
    items = ItemSet("two", "en", items=cross(groups, TEMPLATES), fillers=(fillers,))
    [row] = metric(items=given(items)).score(model, seed=0)
    assert not row.part
    return row.value, row.p_value


@pytest.mark.parametrize(("metric", "head"), [(LogProbabilityBias, "masked"), (NextWord, "causal")])
def test_each_group_of_terms_is_held_against_all_others(
    metric: type[LogProbabilityBias | NextWord], head: str, models: dict[str, LanguageModel]
) -> None:
    items = ItemSet("three", "en", items=cross(GROUPS, TEMPLATES), fillers=(("he", "she"),))
    rows = metric(items=given(items)).score(models[head], seed=0)
    assert [row.part for row in rows] == [f"{name} against the others" for name in GROUPS]
    for row, name in zip(rows, GROUPS, strict=True):
        rest = tuple(term for other in GROUPS if other != name for term in GROUPS[other])
        pooled = {name: GROUPS[name], "rest": rest}
        value, p = two_group_score(metric, models[head], pooled, ("he", "she"))
        assert row.value == pytest.approx(value, abs=1e-6)
        assert row.p_value == pytest.approx(p)
        assert row.n_found == 75
        assert row.low < row.high


@pytest.mark.parametrize(("metric", "head"), [(LogProbabilityBias, "masked"), (NextWord, "causal")])
def test_each_filler_is_held_against_the_mean_of_the_others(
    metric: type[LogProbabilityBias | NextWord], head: str, models: dict[str, LanguageModel]
) -> None:
    two = {name: GROUPS[name] for name in "ab"}
    items = ItemSet("fillers", "en", items=cross(two, TEMPLATES), fillers=(WORDS,))
    rows = metric(items=given(items)).score(models[head], seed=0)
    assert [row.part for row in rows] == [f"{word} against the others" for word in WORDS]
    score = {
        pair: two_group_score(metric, models[head], two, pair)[0] for pair in combinations(WORDS, 2)
    }
    score |= {(second, first): -value for (first, second), value in score.items()}
    for row, word in zip(rows, WORDS, strict=True):
        others = [score[word, other] for other in WORDS if other != word]
        assert row.value == pytest.approx(np.mean(others), abs=1e-5)
        assert 0 <= row.p_value <= 1
        assert "fillers=he/she/woman" in row.settings
    assert sum(row.value for row in rows) == pytest.approx(0, abs=1e-5)


def test_several_groups_and_fillers_are_crossed(models: dict[str, LanguageModel]) -> None:
    items = ItemSet("both", "en", items=cross(GROUPS, TEMPLATES), fillers=(WORDS,))
    rows = LogProbabilityBias(items=given(items)).score(models["masked"], seed=0)
    assert len({row.part for row in rows}) == 9
    assert rows[0].part == "he against the others; a against the others"
    standardised = LogProbabilityBias.by_convention("effect_size", items=given(items))
    assert all(np.isfinite(row.value) for row in standardised.score(models["masked"], seed=0))
    assert "more than two fillers" in PlantedBias.reason_against(items)
    assert not items.paired


def test_a_row_of_fillers_has_a_word_for_every_group(tmp_path: Path) -> None:
    assert parse_fillers(["he/she/they", "him/her/them"])[1] == ("him", "her", "them")
    text = "text,group,term,template,fillers\n[MASK] met {},a,nurse,,he/she/they\n"
    path = tmp_path / "mine.csv"
    path.write_text(text + "[MASK] met {},a,doctor,,he/she\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"row 2 of .* has 2 fillers, row 1 3"):
        read_items(path)
