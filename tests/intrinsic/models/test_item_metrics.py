"""Metrics on likelihoods: values by hand on a table of probabilities, and what holds of each."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasbridge.corpora.items import named_items
from biasbridge.files.models.language_model import LanguageModel, open_model
from biasbridge.intrinsic.models.item_metric import ItemObservations
from biasbridge.intrinsic.models.items import ItemSet, Pair, _fill_templates, library
from biasbridge.intrinsic.models.pairs import CrowsPairs, _sign_test
from biasbridge.intrinsic.registry import MODEL_METRICS
from tests.intrinsic.models.tables import Table, given, table_model
from tests.tiny_models import save_model

if TYPE_CHECKING:
    from biasbridge.intrinsic.score import Score


KNOWN = ("he", "she", "him", "her", "likes", "told", "it", "is", "a", "nurse", "guard", "cook")
MASKED: Table = {
    ("he", "_", "it"): {"likes": 0.9},
    ("he", "likes", "_"): {"it": 0.1},
    ("she", "_", "it"): {"likes": 0.4},
    ("she", "likes", "_"): {"it": 0.4},
    ("_", "likes", "it"): {"he": 0.8, "she": 0.1},
    ("<he>", "likes", "it"): {"he": 0.1},
    ("he", "<likes>", "it"): {"likes": 0.2},
    ("he", "likes", "<it>"): {"it": 0.4},
    ("<she>", "likes", "it"): {"she": 0.5},
    ("she", "<likes>", "it"): {"likes": 0.3},
    ("she", "likes", "<it>"): {"it": 0.2},
    ("he", "_", "him"): {"told": 0.5},
    ("she", "_", "her"): {"told": 0.2},
    ("_", "told", "him"): {"he": 0.1},
    ("he", "told", "_"): {"him": 0.1},
    ("_", "told", "her"): {"she": 0.5},
    ("she", "told", "_"): {"her": 0.5},
    ("_", "told", "[MASK]"): {"he": 0.6, "she": 0.1},
    ("[MASK]", "told", "_"): {"him": 0.6, "her": 0.1},
}
PAIRS = ItemSet(
    "pairs",
    "en",
    pairs=(
        Pair("he likes it", "she likes it", cluster="one"),
        Pair("he told him", "she told her", cluster="two"),
        Pair("it told", "it likes", cluster="three"),  # all tokens equally likely
    ),
)
# By hand, a pair a column: scores .1*.9 < .4*.4, .5 > .2; .8 > .1, .1 < .5; all together .6 > .1;
# sums of probabilities 1 > .8; all .072 > .016, .005 < .05
PREFERRED = {
    "default": (0, 1, 0.5),
    "nangia": (0, 1, 0),
    "bias_bench": (1, 0, 0),
    "kaneko": (1, 1, 0),
    "biased_rulers": (1, 1, 0),
    "salazar": (1, 0, 0.5),
}


def score(model: LanguageModel, name: str, items: ItemSet, convention: str) -> list[Score]:
    metric = MODEL_METRICS[name].by_convention(convention, items=given(items))
    return metric.score(model, seed=0)


@pytest.mark.parametrize("convention", PREFERRED)
def test_crows_pairs_by_each_convention(convention: str) -> None:
    metric = CrowsPairs.by_convention(convention, items=given(PAIRS))
    [(row, singles)] = metric.score_with_singles(table_model(KNOWN, MASKED), seed=0)
    assert tuple(singles.values()) == PREFERRED[convention]
    assert row.value == pytest.approx(sum(PREFERRED[convention]) / 3)
    assert row.unbiased == 0.5
    assert "model=masked; dtype=float32; case=lower; special tokens=yes" in row.settings


CAUSAL: Table = {
    ("he",): {"likes": 0.2, "told": 0.3},
    ("he", "likes"): {"it": 0.5},
    ("he", "told"): {"him": 0.5},
    ("she",): {"likes": 0.4, "told": 0.3},
    ("she", "likes"): {"it": 0.3},
    ("she", "told"): {"her": 0.1},
    (): {"he": 0.5, "she": 0.1},
}


@pytest.mark.parametrize(
    ("convention", "preferred"),
    # .2*.5 < .4*.3, .3*.5 > .3*.1; with a first token .5 and .1 before them
    [("default", (0, 1)), ("lm_eval", (1, 1)), ("bos", (1, 1)), ("bias_bench_causal", (1, 1))],
)
def test_crows_pairs_of_a_causal_model(convention: str, preferred: tuple[float, ...]) -> None:
    pairs = dataclasses.replace(PAIRS, pairs=PAIRS.pairs[:2])
    metric = CrowsPairs.by_convention(convention, items=given(pairs))
    [(row, singles)] = metric.score_with_singles(table_model(KNOWN, CAUSAL, causal=True), seed=0)
    assert tuple(singles.values()) == preferred
    first = "none" if convention == "default" else "[CLS]"
    assert f"first token={first};" in row.settings


@pytest.mark.parametrize(
    ("name", "convention", "why"),
    [
        ("crows_pairs", "lm_eval", "needs a causal model"),
        ("lpbs", "default", "no texts with a slot"),
    ],
)
def test_what_cannot_be_asked_says_why(name: str, convention: str, why: str) -> None:
    [row] = score(table_model(KNOWN, MASKED), name, PAIRS, convention)
    assert math.isnan(row.value)
    assert why in row.reason


def test_pll_is_the_mean_difference_in_nats() -> None:
    [row] = score(table_model(KNOWN, MASKED), "pll", PAIRS, "default")
    one = math.log(0.8 * 0.9 * 0.1 / (0.1 * 0.4 * 0.4))
    two = math.log(0.1 * 0.5 * 0.1 / (0.5 * 0.2 * 0.5))
    assert row.value == pytest.approx((one + two + 0) / 3, abs=1e-6)
    [row] = score(table_model(KNOWN, CAUSAL, causal=True), "pll", PAIRS, "bos")
    expected = (math.log(5 * 0.5 / 0.6 / 1) + math.log(5 * 0.5 / 0.1)) / 3
    assert row.value == pytest.approx(expected, abs=1e-6)


def test_aul_masks_nothing() -> None:
    [(_, singles)] = (
        MODEL_METRICS["aul"]
        .by_convention("default", items=given(PAIRS))
        .score_with_singles(table_model(KNOWN, MASKED), seed=0)
    )
    assert tuple(singles.values()) == (0, 0.5, 0.5)  # .1*.2*.4 < .5*.3*.2, and nothing known
    [row] = score(table_model(KNOWN, MASKED), "aul", PAIRS, "kaneko")
    assert row.value == 0


NURSE = _fill_templates({"female": ("nurse",)}, {"is": "[MASK] is a {}"})
PRONOUNS = (("he", "she"),)


def test_lpbs_of_one_term() -> None:
    """Kurita's toy: log(.3/.2) - log(.1/.15)."""
    table: Table = {
        ("_", "is", "a", "nurse"): {"he": 0.3, "she": 0.1},
        ("_", "is", "a", "[MASK]"): {"he": 0.2, "she": 0.15},
    }
    items = ItemSet("nurse", "en", items=NURSE, fillers=PRONOUNS)
    model = table_model(KNOWN, table)
    assert score(model, "lpbs", items, "default")[0].value == pytest.approx(0.810930216, abs=1e-6)
    [row] = score(model, "lpbs", items, "without_prior")
    assert row.value == pytest.approx(math.log(3), abs=1e-6)


# Log odds 2, 1, 0, -1 of four terms
ODDS = {"guard": 2.0, "cook": 1.0, "nurse": 0.0, "maid": -1.0}
WORDS = (*KNOWN, "maid", "[MASK]")


def odds(*context: str, last: bool = False) -> Table:
    def at(term: str) -> tuple[str, ...]:
        return (*context, term) if last else ("_", *context, term)

    return {at(t): {"he": 0.1 * math.exp(x), "she": 0.1} for t, x in ODDS.items()}


GROUPS = {"male": ("guard", "cook"), "female": ("nurse", "maid")}


def test_groups_of_terms_are_compared_over_terms() -> None:
    """Means 1.5 and -.5; standard deviation of all sqrt(1.25); the most extreme of 3 two-sided
    partitions.
    """
    items = ItemSet(
        "four", "en", items=_fill_templates(GROUPS, {"is": "[MASK] is a {}"}), fillers=PRONOUNS
    )
    model = table_model(WORDS, odds("is", "a"))
    [row] = score(model, "lpbs", items, "default")
    assert row.value == pytest.approx(2, abs=1e-5)
    assert row.p_value == pytest.approx(1 / 3)
    assert row.p_method == "exact"
    [row] = score(model, "lpbs", items, "effect_size")
    assert row.value == pytest.approx(2 / math.sqrt(1.25), abs=1e-5)


def test_next_word_is_asked_after_the_text_before_the_slot() -> None:
    items = ItemSet(
        "next", "en", items=_fill_templates(GROUPS, {"a": "a {} [MASK] is it"}), fillers=PRONOUNS
    )
    model = table_model(WORDS, odds("a", last=True), causal=True)
    [row] = score(model, "next_word", items, "default")
    assert row.value == pytest.approx(2, abs=1e-5)
    assert "scored=text before the slot" in row.settings
    assert score(model, "next_word", items, "sentence")[0].value == pytest.approx(2, abs=1e-5)


def test_the_first_group_is_the_first_of_the_items() -> None:
    """Also where its first text, without a word before the slot, is lost."""
    lost = _fill_templates({"male": ("guard",)}, {"first": "[MASK] is a {}"})
    turned = {name: GROUPS[name] for name in ("female", "male")}
    items = (*lost, *_fill_templates(turned, {"a": "a {} [MASK] is it"}))
    model = table_model(WORDS, odds("a", last=True), causal=True)
    [row] = score(
        model, "next_word", ItemSet("turned", "en", items=items, fillers=PRONOUNS), "default"
    )
    assert row.value == pytest.approx(2, abs=1e-5)
    assert row.n_oov == 1


def test_a_pair_without_a_group_counts_in_the_whole_alone() -> None:
    groups = zip(PAIRS.pairs, ("x", "", "y"), strict=True)
    pairs = dataclasses.replace(
        PAIRS, pairs=tuple(pair._replace(group=name) for pair, name in groups)
    )
    rows = score(table_model(KNOWN, MASKED), "crows_pairs", pairs, "salazar")
    values = {row.part: (row.value, row.n_found) for row in rows}
    assert values == {"": (0.5, 3), "x": (1, 1), "y": (0.5, 1)}


@pytest.mark.parametrize("causal", [True, False])
def test_planted_bias_is_a_slope_and_a_correlation(causal: bool) -> None:
    """Planted odds half of those measured: slope 2, r 1; what calibrates is left out. Where a
    method changed the text, those before count.
    """
    text = {"a": "a {} [MASK]"} if causal else {"is": "[MASK] is a {}"}
    items = ItemSet("planted", "en", items=_fill_templates(GROUPS, text), fillers=PRONOUNS)
    table = odds("a", last=True) if causal else odds("is", "a")
    terms = {t: {"log_odds": x / 2, "half": "held_out"} for t, x in ODDS.items()}
    terms["cook"] = {"log_odds": 9, "half": "calibration"}
    model = dataclasses.replace(table_model(WORDS, table, causal=causal), planted={"terms": terms})
    slope, r = score(model, "planted_bias", items, "default")
    assert [slope.part, r.part] == ["slope", "r"]
    assert [slope.value, r.value] == pytest.approx([2, 1], abs=1e-5)
    assert slope.p_value == pytest.approx(1 / 6, abs=0.02)  # one of 3! orders
    before = {t: entry | {"original": ODDS.get(t, 9) / 4} for t, entry in terms.items()}
    changed = dataclasses.replace(model, planted={"terms": before})
    assert score(changed, "planted_bias", items, "default")[0].value == pytest.approx(4, abs=1e-5)
    bare = table_model(WORDS, table, causal=causal)
    assert "planted.json" in score(bare, "planted_bias", items, "default")[0].reason


MEN, WOMEN = ([f"{sex}{letter}" for letter in "abcdefghij"] for sex in "mw")
FILLS = ("cook", "sing", "run", "fish", "sew")


def test_disco_counts_words_that_depend_on_the_group() -> None:
    """In one template of two, men have cook, run, fish and women cook, sing, sew: four words of
    five depend on the group.
    """
    likes = dict.fromkeys(MEN, ("cook", "run", "fish"))
    likes |= dict.fromkeys(WOMEN, ("cook", "sing", "sew"))
    table: Table = {
        (name, verb, "_"): {
            word: 0.3 - 0.01 * n for n, word in enumerate(words if verb == "likes" else FILLS[:3])
        }
        for name, words in likes.items()
        for verb in ("likes", "hates")
    }
    items = _fill_templates(
        {"men": tuple(MEN), "women": tuple(WOMEN)},
        {"likes": "{} likes [MASK]", "hates": "{} hates [MASK]"},
    )
    model = table_model((*MEN, *WOMEN, *FILLS, "likes", "hates"), table)
    [row] = score(model, "disco", ItemSet("names", "en", items=items), "default")
    assert row.value == 4 / 2
    [row] = score(model, "disco", ItemSet("names", "en", items=items), "fairllms")
    assert row.value == pytest.approx(100 * (1 - 1 / 3) / 2)


def test_stereoset_averages_over_terms() -> None:
    """Two items of one term, one of another: stereo, anti, unrelated .5 .2 .1, .2 .5 .3; .1 .2 .3.
    lms: 100, 50; 0. ss: 100, 0; 0.
    """
    words = ("nurse", "guard", "cook")
    shares = {"he": (0.5, 0.2, 0.1), "she": (0.2, 0.5, 0.3), "it": (0.1, 0.2, 0.3)}
    table: Table = {
        (who, "is", "_"): dict(zip(words, parts, strict=True)) for who, parts in shares.items()
    }
    pairs = tuple(
        Pair(
            f"{who} is {words[0]}",
            f"{who} is {words[1]}",
            term=term,
            unrelated=f"{who} is {words[2]}",
            frame=f"{who} is [MASK]",
        )
        for who, term in (("he", "one"), ("she", "one"), ("it", "other"))
    )
    model, items = table_model(KNOWN, table), ItemSet("three", "en", pairs=pairs)
    rows = score(model, "stereoset", items, "default")
    result = {row.part: row.value for row in rows}
    lms, ss = (75 + 0) / 2, (50 + 0) / 2
    assert result == pytest.approx({"lms": lms, "ss": ss, "icat": lms * ss / 50})
    assert rows[0].unbiased == 50
    # Whole sentences: the other words are equally likely; the likelier related word wins two of 3
    rows = score(model, "stereoset", items, "fairllms")
    assert rows[1].value == pytest.approx(200 / 3)


# What holds of every metric on likelihoods: its built-in items, conventions, signs, resamples.

ON_LIKELIHOODS = [name for name, kind in MODEL_METRICS.items() if kind.needs == "model"]
FOUR_PAIRS = ItemSet(
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
    items=_fill_templates(
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
    items = SLOTS if kind.reason_against(FOUR_PAIRS) else FOUR_PAIRS
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
            for items in (FOUR_PAIRS, SLOTS):
                for row in kind.by_convention(convention, items=given(items)).score(model, seed=0):
                    assert bool(row.reason) is math.isnan(row.value)
                    assert row.reason or "dtype=float32" in row.settings


def test_every_metric_has_a_test() -> None:
    files = Path(__file__).parents[2].rglob("test_*.py")
    tests = "\n".join(path.read_text(encoding="utf-8") for path in files)
    for name, kind in MODEL_METRICS.items():
        assert re.search(rf"\b{kind.__name__}\b|[\"']{name}[\"']", tests), name


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
    together = ItemObservations(values, names, {"cluster": ["a", "a", "b", "c", "d"]})
    assert _sign_test(together).p == pytest.approx(2 / 2**4)
    alone = ItemObservations(values, names, {"cluster": names})
    assert _sign_test(alone).p == pytest.approx(2 / 2**5)


def test_planted_bias_is_read_with_its_model(tmp_path: Path) -> None:
    folder = save_model(tmp_path, "bert", head="masked")
    assert open_model(folder).planted is None
    text = '{"terms": {"nurse": {"log_odds": -1.5, "half": "held_out"}}}'
    (folder / "planted.json").write_text(text, encoding="utf-8")
    planted = open_model(folder).planted
    assert planted
    assert planted["terms"]["nurse"]["log_odds"] == -1.5
