"""CEAT: the combination of effects, literal loops over draws, and what its p-values count."""

from __future__ import annotations

import math

import numpy as np
import pytest

from biasbridge.files.models.encoder import Context
from biasbridge.intrinsic.items.item import Item
from biasbridge.intrinsic.metrics.weat import associations, effect_size
from biasbridge.intrinsic.sentences.ceat import Ceat, context_of, draw_contexts
from biasbridge.intrinsic.sentences.effects import combine_effects
from biasbridge.intrinsic.sentences.encoded import groups_of
from tests.intrinsic.sentences.tables import Given, Table, random_set


def test_effects_combine_as_in_statsmodels() -> None:
    """statsmodels 0.14, combine_effects(method_re="dl")."""
    e, v = np.array([0.2, 0.5, 0.8, 1.1]), np.array([0.04, 0.02, 0.05, 0.03])
    found = combine_effects(e, v)
    assert found.q == pytest.approx(13.383116883)
    assert found.between == pytest.approx(0.112605634)
    assert found.value == pytest.approx(0.649929632)
    assert found.error == pytest.approx(0.191543504)


def test_equal_effects_have_no_variance_between_them() -> None:
    found = combine_effects(np.array([[1.0], [1.0]]), np.array([[1.0], [3.0]]))
    assert found.between == pytest.approx(0)
    assert found.error == pytest.approx(math.sqrt(3 / 4))


@pytest.mark.parametrize("variance", ["effect", "associations"])
def test_a_literal_loop_over_draws(variance: str) -> None:
    items, table = random_set(np.random.default_rng(1))
    metric = Ceat.by_convention("default", items=items, draws=50, variance=variance)
    seen = metric.observe(table, items.sets[0])  # type: ignore[arg-type]
    groups, rng = groups_of(seen), np.random.default_rng(0)
    drawn = {role: draw_contexts(group, 50, rng) for role, group in groups.items()}
    effects, variances = [], []
    for number in range(50):
        x, y, a, b = (groups[role].vectors[drawn[role][number]] for role in "XYAB")
        d = effect_size(x, y, a, b, ddof=1)
        s = np.concatenate([associations(x, a, b), associations(y, a, b)])
        effects.append(d)
        variances.append(8 / 16 + d**2 / 16 if variance == "effect" else s.var(ddof=1))
    [row] = metric.score(table, seed=0)
    combined = combine_effects(np.array(effects), np.array(variances))
    assert row.value == pytest.approx(float(combined.value))
    single = list(metric.singles(seen).values())
    assert np.mean(single[:4]) - np.mean(single[4:]) == pytest.approx(row.value)
    assert row.low < row.value < row.high


def test_each_word_is_drawn_in_its_own_contexts() -> None:
    items, table = random_set(np.random.default_rng(2))
    seen = Ceat.by_convention("default", items=items).observe(table, items.sets[0])  # type: ignore[arg-type]
    group = groups_of(seen)["A"]
    drawn = draw_contexts(group, 100, np.random.default_rng(0))
    for word, places in enumerate(drawn.T):
        assert {*places.tolist()} == {*np.flatnonzero(group.member[word]).tolist()}


def test_resamples_repeat_words() -> None:
    """With one context a word every draw is the same: WEAT over words drawn again."""
    items, table = random_set(np.random.default_rng(3), contexts=1)
    metric = Ceat.by_convention("default", items=items, draws=5)
    seen = metric.observe(table, items.sets[0])  # type: ignore[arg-type]
    weights = seen.resample_weights()
    found = metric.summarise(seen, weights)[""]
    groups = np.asarray(seen.groups)
    for number in range(3):
        times = weights[:, number].astype(int)
        rows = [np.repeat(seen.values, times * (groups == role), axis=0) for role in "XYAB"]
        assert found[number] == pytest.approx(effect_size(*rows, ddof=1))


def test_draws_in_many_parts_are_those_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    items, table = random_set(np.random.default_rng(3))
    metric = Ceat.by_convention("default", items=items, draws=30)
    whole = metric.score(table, seed=0)[0]
    monkeypatch.setattr("biasbridge.intrinsic.sentences.ceat.CELLS", 1)
    parts = metric.score(table, seed=0)[0]
    assert (parts.value, parts.low, parts.p_value) == pytest.approx(
        (whole.value, whole.low, whole.p_value)
    )


def null_world(rng: np.random.Generator) -> tuple[Given, Table]:
    return random_set(rng, words=8)


def test_only_the_published_p_shrinks_with_the_draws() -> None:
    """X and Y differ by the choice of words alone; more draws are no more words."""
    items, table = null_world(np.random.default_rng(2))
    published, ours = (
        [
            Ceat.by_convention(name, items=items, draws=n, intervals=False)
            .score(table, seed=0)[0]
            .p_value
            for n in (10, 100, 1000)
        ]
        for name in ("guo_caliskan", "default")
    )
    assert 0.05 > published[0] > published[1] > published[2]
    assert published[2] < 1e-30
    assert ours == pytest.approx([ours[2]] * 3, abs=0.05)


def test_false_alarms_under_a_null_over_words() -> None:
    rng = np.random.default_rng(5)
    alarms = np.zeros(2)
    for seed in range(100):
        items, table = null_world(rng)
        for place, name in enumerate(("default", "guo_caliskan")):
            metric = Ceat.by_convention(name, items=items, draws=200, intervals=False)
            alarms[place] += metric.score(table, seed=seed)[0].p_value <= 0.05
    assert alarms[0] <= 11  # binomial(100, 0.05) exceeds 11 with probability 0.4%
    assert alarms[1] >= 30


def test_draws_follow_the_seed() -> None:
    items, table = random_set(np.random.default_rng(6))
    metric = Ceat.by_convention("default", items=items, draws=20)
    first, again, other = (metric.score(table, seed=seed)[0] for seed in (0, 0, 1))
    assert (first.value, first.low, first.p_value) == (again.value, again.low, again.p_value)
    assert first.value != other.value


@pytest.mark.parametrize(
    ("item", "context"),
    [
        (Item("This is [MASK].", "X", "Ian", "this", fills=True), ("This is Ian.", 8, 11)),
        (Item("His is here.", "A", "his", "h", fills=False, form="His"), ("His is here.", 0, 3)),
        (Item("This is his.", "A", "is", "t", fills=False), ("This is his.", 5, 7)),
        (Item("Doctors are here.", "A", "doctors", "t", fills=False), ("Doctors are here.", 0, 7)),
        (Item("This will be Will.", "X", "Will", "t", fills=False), ("This will be Will.", 13, 17)),
        (Item("No such word.", "A", "is", "t", fills=False), ("No such word.", 0, 13)),
    ],
)
def test_a_word_is_found_in_its_sentence(item: Item, context: tuple[str, int, int]) -> None:
    assert context_of(item) == Context(*context)
