"""The linear probe: folds, a literal loop, invariances, and a real encoder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from biasbridge.corpora.items import named_items
from biasbridge.files import InputError
from biasbridge.intrinsic.models.items import Item, ItemSet, _fill_templates, library
from biasbridge.intrinsic.models.probe import LinearProbe, _assign_folds, _is_correct
from tests.intrinsic.models.tables import EncoderTable, GivenVectors
from tests.minilm import minilm

if TYPE_CHECKING:
    from biasbridge.intrinsic.score import Score
    from biasbridge.stats.arrays import Floats


GROUPS = {
    "male": tuple(f"he{number}" for number in range(6)),
    "female": tuple(f"she{number}" for number in range(6)),
}
TEMPLATES = {"here": "{} is here", "there": "{} is there", "late": "{} was late"}
SET = ItemSet("persons", "en", items=_fill_templates(GROUPS, TEMPLATES))
PRONOUNS = ItemSet(
    "pronouns",
    "en",
    items=_fill_templates(
        {"": ("nurse", "guard")}, {"is": "[MASK] is a {}", "was": "[MASK] was a {}"}
    ),
    fillers=(("he", "she"),),
)


def bag_of_words(sentences: list[str]) -> EncoderTable:
    """A dimension for each word."""
    words = list(dict.fromkeys(word for text in sentences for word in text.split()))
    return EncoderTable({text: [word in text.split() for word in words] for text in sentences})


def random_table(rng: np.random.Generator, shift: float = 1.5, dim: int = 4) -> EncoderTable:
    """Sentences of a term share a part, and those of the first group a little more."""
    of_term = {item.term: rng.normal(size=dim) for item in SET.items}
    return EncoderTable(
        {
            item.sentence: of_term[item.term]
            + rng.normal(size=dim)
            + shift * (item.group == "male") * np.eye(dim)[0]
            for item in SET.items
        }
    )


def scored(encoder: Any, items: ItemSet = SET, convention: str = "default") -> Score:
    [row] = LinearProbe.by_convention(convention, items=GivenVectors((items,))).score(
        encoder, seed=0
    )
    return row


def test_words_are_recognised_in_random_folds_alone() -> None:
    """A bag of words knows nothing of a new word: both groups' sentences in a template get the same
    answer, so that half of them are right.
    """
    encoder = bag_of_words([item.sentence for item in SET.items])
    assert scored(encoder, convention="random_folds").value == 1
    row = scored(encoder)
    assert row.value == 0.5
    assert row.unbiased == 0.5
    assert "terms=12; templates=3; held out=term; folds=5; chance=0.5" in row.settings
    assert row.n_found == 36


def test_it_equals_a_literal_loop() -> None:
    encoder = random_table(np.random.default_rng(0))
    rows = np.stack([encoder.of[item.sentence] for item in SET.items])
    male = np.array([item.group == "male" for item in SET.items])
    fold = np.array([GROUPS[item.group].index(item.term) % 5 for item in SET.items])
    right = 0
    for held in range(5):
        trained, tested = rows[fold != held], rows[fold == held]
        scale = np.sqrt(np.mean([np.var(column) for column in trained.T]))
        w = fit((trained - trained.mean(axis=0)) / scale, np.where(male[fold != held], 1, -1))
        predicted = (tested - trained.mean(axis=0)) / scale @ w[:-1] + w[-1] > 0
        right += int((predicted == male[fold == held]).sum())
    assert 18 < right < 36
    assert scored(encoder).value == pytest.approx(right / 36)


def fit(rows: Floats, signs: Floats) -> Floats:
    """w, then b, with the least (|w|^2 + b^2) / 2 + sum log(1 + exp(-y (w . x + b)))."""

    def loss(w: Floats) -> float:
        return float(w @ w / 2 + np.logaddexp(0, -signs * (rows @ w[:-1] + w[-1])).sum())

    found: Floats = minimize(loss, np.zeros(rows.shape[1] + 1), tol=1e-12).x
    return found


def test_scale_rotation_and_place_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    encoder = random_table(rng)
    turn, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    moved = EncoderTable({text: 1e-3 * (turn @ row + 5) for text, row in encoder.of.items()})
    first, second = scored(encoder), scored(moved)
    assert (first.value, first.low, first.high) == (second.value, second.low, second.high)
    assert first.low < first.value < first.high
    assert first.resampled


def test_what_was_erased_on_the_same_words_falls_below_chance() -> None:
    """Without the difference of the means, that of the other folds points the other way."""
    encoder = random_table(np.random.default_rng(2))
    male = np.array([item.group == "male" for item in SET.items])
    rows = np.stack([*encoder.of.values()])
    rows[male] -= rows[male].mean(axis=0) - rows[~male].mean(axis=0)
    erased = EncoderTable(dict(zip(encoder.of, rows, strict=True)))
    assert scored(erased).value < 0.4


def test_what_is_held_out() -> None:
    """Terms of both groups, else templates, else what the texts are about."""
    for items, held_out in (
        (PRONOUNS, "template"),
        (ItemSet("one", "en", items=PRONOUNS.items[::2], fillers=PRONOUNS.fillers), "attribute"),
        (ItemSet("more", "en", items=PRONOUNS.items, fillers=(("he", "she"), ("x", "y"))), "term"),
    ):
        fillers = [filler for pair in items.fillers for filler in pair]
        texts = [i.text.replace("[MASK]", filler) for i in items.items for filler in fillers]
        row = scored(bag_of_words(texts), items)
        assert f"held out={held_out};" in row.settings
        assert row.n_found == len(texts)
    assert scored(bag_of_words(texts), items).n_oov == 0
    alone = ItemSet("alone", "en", items=PRONOUNS.items[:1], fillers=PRONOUNS.fillers)
    assert "nothing can be held out" in scored(bag_of_words(texts), alone).reason


def test_pairs_of_terms_are_held_out_together() -> None:
    """The n-th of each group; seven and three terms make three folds."""
    groups, labels = ["a"] * 7 + ["b"] * 3, [*"tuvwxyz", *"TUV"]
    folds = _assign_folds(groups, labels)
    assert [folds[label] for label in labels] == [0, 1, 2, 0, 1, 2, 0, 0, 1, 2]


def test_chance_is_the_larger_group() -> None:
    few = [item for item in SET.items if item.group == "male" or item.term in ("she0", "she1")]
    items = ItemSet("few", "en", items=tuple(few))
    row = scored(bag_of_words([item.sentence for item in few]), items)
    assert row.unbiased == 0.75
    assert "folds=2; chance=0.75" in row.settings


def test_what_cannot_be_told_apart_says_why() -> None:
    assert "has 4 groups," in LinearProbe.reason_against(library()["seat6"])
    assert "has 1 group," in LinearProbe.reason_against(library()["neutral_sentences"])
    assert "no texts of two groups" in LinearProbe.reason_against(ItemSet("pairs", "en"))
    mixed = (*SET.items, Item("[MASK] is a nurse", "male", "nurse", "is", fills=False))
    assert "mixes" in LinearProbe.reason_against(
        ItemSet("mixed", "en", items=mixed, fillers=(("a", "b"),))
    )
    alike = EncoderTable({item.sentence: [1.0, 2.0] for item in SET.items})
    assert "all sentences have the same vector" in scored(alike).reason
    half = EncoderTable({item.sentence: [1.0] for item in SET.items if item.group == "male"})
    assert "knows no sentence of a group" in scored(half).reason


@pytest.mark.realdata
@pytest.mark.slow
def test_minilm_tells_men_from_women(realdata: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever words are held out: as scikit-learn alone says of the vectors as they are."""
    monkeypatch.setitem(os.environ, "BIASBRIDGE_DATA", str(realdata))
    source = named_items(("bec_pro_balanced",))
    encoder = minilm()
    [row] = LinearProbe.by_convention(items=source).score(encoder, seed=0)
    [items] = source.load()
    rows = encoder.encode([item.sentence for item in items.items])
    male = np.array([item.group == "male" for item in items.items])
    terms = {
        group: list(dict.fromkeys(item.term for item in result))
        for group, result in items.by_group().items()
    }
    folds = np.array([terms[item.group].index(item.term) % 5 for item in items.items])
    right = 0
    for fold in range(5):
        model = LogisticRegression().fit(rows[folds != fold], male[folds != fold])
        right += int((model.predict(rows[folds == fold]) == male[folds == fold]).sum())
    assert row.value == pytest.approx(right / 1800, abs=2e-3)
    assert row.n_found == 1800


def test_a_row_is_right_or_wrong() -> None:
    """Points on a line, apart: all right; labels that alternate along it: not all."""
    points = np.array([0.0, 1, 2, 3, 10, 11, 12, 13])[:, None]
    folds = [0, 1, 0, 1, 0, 1, 0, 1]
    assert _is_correct(points, [*"aaaabbbb"], folds).tolist() == [1] * 8
    assert 0 < _is_correct(points, [*"abbaabba"], folds).sum() < 8
    with pytest.raises(InputError, match="holds all sentences of a group"):
        _is_correct(points, [*"abababab"], folds)
