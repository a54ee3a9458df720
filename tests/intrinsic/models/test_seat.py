"""SEAT and CEAT: by hand, against literal loops, on real encodings; the built-in sets."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasbridge.corpora.items import BuiltInItems
from biasbridge.files import InputError
from biasbridge.files.models.encoder import Context
from biasbridge.intrinsic.metrics.weat import associations, effect_size
from biasbridge.intrinsic.models.items import Item, ItemSet, library, load_items
from biasbridge.intrinsic.models.sentences import (
    Ceat,
    Seat,
    _combine_effects,
    _context_of,
    _draw_contexts,
    _groups_of,
)
from biasbridge.intrinsic.permutation import exact_p
from biasbridge.intrinsic.word_forms import _article, _plural_of, inflect
from tests.intrinsic.models.tables import EncoderTable, GivenVectors, given_vectors, random_set
from tests.minilm import minilm

if TYPE_CHECKING:
    from biasbridge.intrinsic.models.item_metric import ItemObservations
    from biasbridge.intrinsic.score import Score
    from biasbridge.stats.arrays import Floats


# A bag of words: the counts of he, she, math, art
BAG = {
    "he does math": (1, 0, 1, 0),
    "math is here": (0, 0, 1, 0),
    "she does art": (0, 1, 0, 1),
    "art is here": (0, 0, 0, 1),
    "this is he": (1, 0, 0, 0),
    "this is she": (0, 1, 0, 0),
}
ROLES = "XXYYAB"
# Encodings of BERT in sent_debias@1be02d4. d over sentences, p of 9,999 shuffles of them; d and
# exact p over words, with s averaged by word. Computed outside this project.
BERT = {
    "seat6": (0.4768, 0.0033, 0.9036, 0.0344),
    "seat6b": (0.1080, 0.2505, 0.1826, 0.3650),
    "seat7": (0.2525, 0.0634, 0.0070, 0.4959),
    "seat7b": (0.2538, 0.0635, 0.0665, 0.4544),
    "seat8": (0.3988, 0.0178, 1.0060, 0.0206),
    "seat8b": (0.6364, 0.0006, 0.6821, 0.0887),
}
# all-MiniLM-L6-v2, mean of all tokens, and the first token. Computed outside this project.
MINILM = {
    "seat1": (1.3869, 1.2241),
    "seat6": (1.2938, 1.4019),
    "seat6b": (0.2765, 0.5432),
    "seat7": (0.7279, 0.2836),
    "seat7b": (1.4397, 0.8955),
    "seat8": (0.7213, 0.3474),
    "seat8b": (1.2861, 1.1948),
}


def bag() -> GivenVectors:
    return given_vectors([(t, r, t.split()[0] + r, "") for t, r in zip(BAG, ROLES, strict=True)])


def only(rows: list[Score]) -> Score:
    [row] = rows
    return row


def test_a_bag_of_words_by_hand() -> None:
    """s: sqrt(1/2), 0, -sqrt(1/2), 0; their sum of squares is 1."""
    table = EncoderTable(BAG)
    row = only(Seat.by_convention("default", items=bag()).score(table, seed=0))
    assert row.value == pytest.approx(math.sqrt(0.5) / math.sqrt(1 / 3))
    assert (row.p_value, row.p_method, row.n_found, row.n_oov) == (2 / 6, "exact", 6, 0)
    assert row.settings == (
        "pooling=mean; special tokens=included; layer=2; dtype=float32; terms=6; templates=1;"
        " ddof=1; multi-piece words=0"
    )
    population = only(Seat.by_convention("default", items=bag(), ddof=0).score(table, seed=0))
    assert population.value == pytest.approx(math.sqrt(2))
    assert population.convention == "default,ddof=0"


def test_targets_and_attributes_change_places() -> None:
    """s: he sqrt(1/2) / 2, she the negative; one word each, so p is 1/2 and d sqrt(2)."""
    row = only(
        Seat.by_convention("biased_rulers", items=bag(), permuted="words").score(
            EncoderTable(BAG), seed=0
        )
    )
    assert row.value == pytest.approx(math.sqrt(2))
    assert row.p_value == 1 / 2


def test_a_sentence_that_the_model_does_not_know_is_lost() -> None:
    table = EncoderTable({text: vector for text, vector in BAG.items() if text != "he does math"})
    row = only(Seat.by_convention("default", items=bag()).score(table, seed=0))
    assert (row.n_found, row.n_oov, row.oov) == (5, 1, "he does math")
    without = EncoderTable({text: vector for text, vector in BAG.items() if text != "this is he"})
    row = only(Seat.by_convention("default", items=bag()).score(without, seed=0))
    assert math.isnan(row.value)
    assert row.reason == "the model knows no sentence of group A of own"


def test_a_set_without_the_four_groups_is_refused() -> None:
    two = ItemSet("own", "en", items=(Item("[MASK] is here", "men", "he", "", fills=True),))
    reason = "own has no group X; it has men; seat needs X, Y, A, B"
    assert (
        only(
            Seat.by_convention("default", items=GivenVectors((two,))).score(
                EncoderTable(BAG), seed=0
            )
        ).reason
        == reason
    )


def uneven() -> tuple[GivenVectors, EncoderTable]:
    """Words with one to three sentences each."""
    items, table = random_set(np.random.default_rng(0))
    rows = items.sets[0].items
    remaining = tuple(item for number, item in enumerate(rows) if number % 5 != 1)
    return GivenVectors((ItemSet("own", "en", items=remaining),)), table


def test_resamples_are_sentences_repeated() -> None:
    """Every sentence as often as its word and its template are drawn."""
    items, table = uneven()
    metric = Seat.by_convention("default", items=items)
    seen = metric.observe(table, items.sets[0])  # type: ignore[arg-type]
    weights = seen.resample_weights()
    result = metric.summarise(seen, weights)[""]
    groups = np.asarray(seen.groups)
    for number in range(0, 200, 20):
        times = weights[:, number].astype(int)
        rows = [np.repeat(seen.values, times * (groups == role), axis=0) for role in "XYAB"]
        try:
            by_hand = effect_size(*rows, ddof=1)
        except InputError:
            by_hand = math.nan
        assert result[number] == pytest.approx(by_hand, nan_ok=True)


@pytest.mark.parametrize("unit", ["word", "vector"])
def test_resamples_over_words_by_a_literal_loop(unit: str) -> None:
    """A word counts as often as its sentences on average, with their mean as they are drawn."""
    items, table = uneven()
    metric = Seat.by_convention("default", items=items, unit=unit)
    seen = metric.observe(table, items.sets[0])  # type: ignore[arg-type]
    weights = seen.resample_weights()
    result = metric.summarise(seen, weights)[""]
    for number in np.flatnonzero(np.isfinite(result))[:5].tolist():
        assert result[number] == pytest.approx(by_hand(seen, weights[:, number], unit))


def by_hand(seen: ItemObservations, times: Floats, unit: str) -> float:
    """The effect size over words of sentences that count as often as ``times`` says."""
    terms = np.asarray(seen.factors["term"])
    counts = {term: times[terms == term].mean() for term in dict.fromkeys(terms.tolist())}
    drawn = [term for term in counts if counts[term] > 0]

    def mean(rows: Floats, shares: list[float]) -> Floats:
        return np.asarray(np.average(rows, axis=0, weights=shares))

    def vectors(term: str) -> tuple[Floats, list[float]]:
        own, shares = seen.values[terms == term], times[terms == term].tolist()
        return (own, shares) if unit == "word" else (mean(own, shares)[None], [counts[term]])

    def direction(role: str) -> Floats:
        pairs = [vectors(term) for term in drawn if term[0] == role]
        rows = np.concatenate([rows for rows, _ in pairs])
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return mean(rows / lengths, [share for _, shares in pairs for share in shares])

    axis = direction("A") - direction("B")
    s = {}
    for term in drawn:
        rows, shares = vectors(term)
        s[term] = float(mean(rows @ axis / np.linalg.norm(rows, axis=1), shares))
    x, y = ([term for term in drawn if term[0] == role] for role in "XY")
    means = [
        np.average([s[t] for t in group], weights=[counts[t] for t in group]) for group in (x, y)
    ]
    n = sum(counts[term] for term in x + y)
    middle = sum(counts[term] * s[term] for term in x + y) / n
    square = sum(counts[term] * (s[term] - middle) ** 2 for term in x + y) / (n - 1)
    return float((means[0] - means[1]) / math.sqrt(square))


def test_the_only_word_of_a_group_is_kept() -> None:
    items, table = random_set(np.random.default_rng(4), words=8)
    rows = items.sets[0].items
    remaining = tuple(item for item in rows if item.group in "XY" or item.term in ("A0", "B0"))
    row = only(
        Seat.by_convention(
            "default", items=GivenVectors((ItemSet("own", "en", items=remaining),))
        ).score(table, seed=0)
    )
    assert row.low < row.value < row.high


def test_a_vector_of_zeros_and_equal_associations_say_so() -> None:
    metrics = [kind.by_convention("default", items=bag()) for kind in (Seat, Ceat)]
    empty, same = (
        EncoderTable(BAG | {"math is here": (0, 0, 0, 0)}),
        EncoderTable(dict.fromkeys(BAG, (1, 1))),
    )
    for metric in metrics:
        row = only(metric.score(empty, seed=0))
        assert row.reason.startswith("the vector of 'math is here' is zero")
        row = only(metric.score(same, seed=0))
        assert math.isnan(row.value)
        assert row.reason


@pytest.mark.parametrize("unit", ["word", "vector"])
def test_effect_sizes_over_words_by_a_literal_loop(unit: str) -> None:
    items, table = uneven()
    row = only(Seat.by_convention("default", items=items, unit=unit).score(table, seed=0))
    of: dict[str, dict[str, list[Floats]]] = {role: {} for role in "XYAB"}
    for item in items.sets[0].items:
        of[item.group].setdefault(item.term, []).append(table.of[item.sentence])
    if unit == "vector":
        mean = {role: [np.mean(rows, axis=0) for rows in of[role].values()] for role in "XYAB"}
        assert row.value == pytest.approx(effect_size(*mean.values(), ddof=1))
        return
    a, b = ([row for rows in of[role].values() for row in rows] for role in "AB")
    x, y = (
        [
            np.mean([np.mean([cos(v, w) for w in a]) - np.mean([cos(v, w) for w in b]) for v in vs])
            for vs in of[role].values()
        ]
        for role in "XY"
    )
    assert row.value == pytest.approx((np.mean(x) - np.mean(y)) / np.std(x + y, ddof=1))
    assert row.p_value == exact_p(x, y).p


def cos(v: Floats, w: Floats) -> float:
    return float(v @ w / math.sqrt(v @ v * (w @ w)))


def test_swapping_targets_changes_the_sign_and_every_tail() -> None:
    items, table = uneven()
    swap = {"X": "Y", "Y": "X", "A": "A", "B": "B"}
    turned = tuple(item._replace(group=swap[item.group]) for item in items.sets[0].items)
    other = GivenVectors((ItemSet("own", "en", items=turned),))
    for convention in Seat.conventions():
        one, two = (
            only(Seat.by_convention(convention, items=source, tail=tail).score(table, seed=0))
            for source, tail in ((items, "greater"), (other, "less"))
        )
        assert one.value == pytest.approx(-two.value)
        assert one.p_value == pytest.approx(two.p_value, nan_ok=True)


@pytest.mark.realdata
@pytest.mark.parametrize("name", BERT)
def test_published_effect_sizes_on_encodings_of_bert(realdata: Path, name: str) -> None:
    folder = realdata / "contextual"
    texts = json.loads((folder / "bert_seat_sentences.json").read_text("utf-8"))["sentences"]
    rows = np.load(folder / "bert_seat_sentences.npy", allow_pickle=False)
    table, items = EncoderTable(dict(zip(texts, rows, strict=True))), BuiltInItems(sets=(name,))
    d, p, d_words, p_words = BERT[name]
    published = only(Seat.by_convention("may", items=items, intervals=False).score(table, seed=0))
    assert published.value == pytest.approx(d, abs=1e-4)
    error = math.sqrt(p * (1 - p) * (1 / 9_999 + 1 / 99_999))
    assert published.p_value == pytest.approx(p, abs=4 * error)
    row = only(Seat.by_convention("default", items=items, unit="word").score(table, seed=0))
    assert (row.value, row.p_value) == pytest.approx((d_words, p_words), abs=1e-4)
    assert row.low < row.value < row.high


@pytest.mark.slow
def test_known_effect_sizes_on_minilm() -> None:
    items = BuiltInItems(sets=tuple(MINILM))
    encoder = minilm()
    for place, convention in enumerate(("default", "sent_debias")):
        metric = Seat.by_convention(convention, items=items, intervals=False, permuted="nothing")
        result = {row.query: row.value for row in metric.score(encoder, seed=0)}
        expected = {name: values[place] for name, values in MINILM.items()}
        assert result == pytest.approx(expected, abs=1e-4)
    [row] = Ceat.by_convention("default", items=BuiltInItems(sets=("seat6",)), draws=100).score(
        encoder, seed=0
    )
    assert (row.n_oov, row.reason) == (0, "")
    assert "special tokens=in the text; layer=6" in row.settings


# The built-in sets of SEAT.

SETS = [name for name in library() if name.startswith("seat")]


@pytest.mark.parametrize(
    ("template", "word", "plural", "text", "form"),
    [
        ("This is {a} {}.", "executive", "", "This is an {}.", "executive"),
        ("{a} {} is a thing.", "honor", "", "An {} is a thing.", "honor"),
        ("{a} {} is here.", "European", "", "A {} is here.", "European"),
        ("{s} are things.", "child", "children", "Children are things.", "Children"),
        ("These are {s}.", "fly", "", "These are flies.", "flies"),
        ("{C} is here.", "he", "", "He is here.", "He"),
        ("{} is here.", "he", "", "{} is here.", "he"),
    ],
)
def test_a_template_takes_forms(
    template: str, word: str, plural: str, text: str, form: str
) -> None:
    assert inflect(template, word, plural) == (text, form)


def test_articles_and_plurals() -> None:
    assert [_article(word) for word in ("unit", "ant", "hour", "home")] == ["a", "an", "an", "a"]
    assert [_plural_of(word) for word in ("iris", "boy", "roach", "axe")] == [
        *("irises", "boys", "roaches", "axes")
    ]


def test_a_word_is_one_term_in_all_its_sentences() -> None:
    [seat] = load_items(["seat6"])
    family = [item for item in seat.items if item.group == "B"]
    assert {item.term for item in family} == {
        *("home", "parent", "child", "family", "cousin", "marriage", "wedding", "relative")
    }
    assert {item.word for item in family if item.term == "child"} == {
        *("child", "children", "Children")
    }
    assert all(item.word in item.sentence for item in seat.items)


@pytest.mark.realdata
@pytest.mark.parametrize("name", SETS)
def test_sentences_are_those_of_the_published_lists(realdata: Path, name: str) -> None:
    [items] = load_items([name])
    file = items.source.split(", ")[1]
    lists = json.loads((realdata / "words" / "seat" / file).read_text(encoding="utf-8"))
    for group, key in zip("XYAB", ("targ1", "targ2", "attr1", "attr2"), strict=True):
        ours = [item.sentence for item in items.items if item.group == group]
        assert sorted(ours) == sorted(lists[key]["examples"])


# CEAT: the combination of effects, literal loops over draws, and what its p-values count.


def test_effects_combine_as_in_statsmodels() -> None:
    """statsmodels 0.14, combine_effects(method_re="dl")."""
    e, v = np.array([0.2, 0.5, 0.8, 1.1]), np.array([0.04, 0.02, 0.05, 0.03])
    result = _combine_effects(e, v)
    assert result.q == pytest.approx(13.383116883)
    assert result.between == pytest.approx(0.112605634)
    assert result.value == pytest.approx(0.649929632)
    assert result.error == pytest.approx(0.191543504)


def test_equal_effects_have_no_variance_between_them() -> None:
    result = _combine_effects(np.array([[1.0], [1.0]]), np.array([[1.0], [3.0]]))
    assert result.between == pytest.approx(0)
    assert result.error == pytest.approx(math.sqrt(3 / 4))


@pytest.mark.parametrize("variance", ["effect", "associations"])
def test_a_literal_loop_over_draws(variance: str) -> None:
    items, table = random_set(np.random.default_rng(1))
    metric = Ceat.by_convention("default", items=items, draws=50, variance=variance)
    seen = metric.observe(table, items.sets[0])  # type: ignore[arg-type]
    groups, rng = _groups_of(seen), np.random.default_rng(0)
    draws = {role: _draw_contexts(group, 50, rng) for role, group in groups.items()}
    effects, variances = [], []
    for number in range(50):
        x, y, a, b = (groups[role].vectors[draws[role][number]] for role in "XYAB")
        d = effect_size(x, y, a, b, ddof=1)
        s = np.concatenate([associations(x, a, b), associations(y, a, b)])
        effects.append(d)
        variances.append(8 / 16 + d**2 / 16 if variance == "effect" else s.var(ddof=1))
    [row] = metric.score(table, seed=0)
    combined = _combine_effects(np.array(effects), np.array(variances))
    assert row.value == pytest.approx(float(combined.value))
    single = list(metric.singles(seen).values())
    assert np.mean(single[:4]) - np.mean(single[4:]) == pytest.approx(row.value)
    assert row.low < row.value < row.high


def test_each_word_is_drawn_in_its_own_contexts() -> None:
    items, table = random_set(np.random.default_rng(2))
    seen = Ceat.by_convention("default", items=items).observe(table, items.sets[0])  # type: ignore[arg-type]
    group = _groups_of(seen)["A"]
    draws = _draw_contexts(group, 100, np.random.default_rng(0))
    for word, places in enumerate(draws.T):
        assert {*places.tolist()} == {*np.flatnonzero(group.member[word]).tolist()}


def test_resamples_repeat_words() -> None:
    """With one context a word every draw is the same: WEAT over words drawn again."""
    items, table = random_set(np.random.default_rng(3), contexts=1)
    metric = Ceat.by_convention("default", items=items, draws=5)
    seen = metric.observe(table, items.sets[0])  # type: ignore[arg-type]
    weights = seen.resample_weights()
    result = metric.summarise(seen, weights)[""]
    groups = np.asarray(seen.groups)
    for number in range(3):
        times = weights[:, number].astype(int)
        rows = [np.repeat(seen.values, times * (groups == role), axis=0) for role in "XYAB"]
        assert result[number] == pytest.approx(effect_size(*rows, ddof=1))


def test_draws_in_many_parts_are_those_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    items, table = random_set(np.random.default_rng(3))
    metric = Ceat.by_convention("default", items=items, draws=30)
    whole = metric.score(table, seed=0)[0]
    monkeypatch.setattr("biasbridge.intrinsic.models.sentences._ASSOCIATION_CELLS", 1)
    parts = metric.score(table, seed=0)[0]
    assert (parts.value, parts.low, parts.p_value) == pytest.approx(
        (whole.value, whole.low, whole.p_value)
    )


def null_world(rng: np.random.Generator) -> tuple[GivenVectors, EncoderTable]:
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
    assert _context_of(item) == Context(*context)
