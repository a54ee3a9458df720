"""LEACE against the package of its authors, and what it promises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import torch
from fairlearn.preprocessing import CorrelationRemover
from numpy.typing import NDArray

from biasbridge.corpora.items import BecPro
from biasbridge.debias.examples import Examples
from biasbridge.debias.leace import Leace
from biasbridge.files import InputError
from tests.minilm import minilm

if TYPE_CHECKING:
    from biasbridge.files.eraser import Eraser
    from biasbridge.stats.arrays import Floats


def examples(rows: Floats, labels: NDArray[np.bool_]) -> Examples:
    return Examples(rows[labels], rows[~labels], np.empty((0, 2, rows.shape[1])), "")


def drawn(n: int, dim: int, seed: int = 0) -> Examples:
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.4
    rows = rng.standard_normal((n, dim)) @ rng.standard_normal((dim, dim))
    return examples(rows + labels[:, None] * rng.standard_normal(dim), labels)


def covariance_with_labels(eraser: Eraser, found: Examples) -> Floats:
    after = eraser.apply(found.rows)
    centred = after - after.mean(axis=0)
    with_labels: Floats = centred.T @ (found.labels - found.labels.mean()) / len(after)
    return np.abs(with_labels)


def agrees_with_its_authors(found: Examples, *, shrinkage: bool = True) -> Eraser:
    leace = pytest.importorskip("concept_erasure").LeaceFitter
    eraser = Leace(shrinkage=shrinkage).fit(found, seed=0)
    # Its shrinkage adds 2e-16 to products that are as small for short vectors
    rows, labels = torch.tensor(found.rows) * 100, torch.tensor(found.labels)[:, None]
    peer = leace.fit(rows, labels, shrinkage=shrinkage).eraser
    np.testing.assert_allclose(eraser.apply(found.rows), peer(rows).numpy() / 100, atol=1e-10)
    return eraser


@pytest.mark.parametrize("shrinkage", [True, False])
def test_its_authors_package(shrinkage: bool) -> None:
    eraser = agrees_with_its_authors(drawn(400, 12), shrinkage=shrinkage)
    assert eraser.rank == 1


def test_its_authors_package_where_the_covariance_is_singular() -> None:
    """Fewer rows than dimensions."""
    agrees_with_its_authors(drawn(30, 60))


def test_no_covariance_with_the_groups_is_left() -> None:
    found = drawn(400, 12)
    assert covariance_with_labels(Leace().fit(found, seed=0), found).max() < 1e-12


def test_it_changes_more_than_what_knows_the_group_of_each_row() -> None:
    """Fairlearn's baseline on labelled rows takes away each group's mean, and needs it at use."""
    found = drawn(400, 12)
    table = pd.DataFrame(found.rows, columns=[f"x{number}" for number in range(12)])
    table["group"] = found.labels
    baseline = CorrelationRemover(sensitive_feature_ids=["group"]).fit_transform(table)
    left = baseline.astype(np.float64) - found.rows.mean(axis=0)
    assert np.abs(left.T @ (found.labels - found.labels.mean())).max() < 1e-9
    changed = Leace(shrinkage=False).fit(found, seed=0).apply(found.rows) - found.rows
    assert (changed**2).sum() > ((baseline - found.rows) ** 2).sum()


def test_groups_without_a_difference_are_refused() -> None:
    same = np.tile(np.arange(6.0).reshape(3, 2), (2, 1))
    with pytest.raises(InputError, match="no direction separates them"):
        Leace().fit(Examples(same, same, np.empty((0, 2, 2)), ""), seed=0)


@pytest.mark.realdata
def test_bert_encodings(realdata: Path) -> None:
    folder = realdata / "contextual"
    rows = np.load(folder / "bert_seat_sentences.npy").astype(np.float64)
    about = json.loads((folder / "bert_seat_sentences.json").read_text(encoding="utf-8"))
    male = {"he", "him", "his", "man", "boy", "brother", "son", "father", "uncle", "male"}
    female = {
        "she",
        "her",
        "hers",
        "woman",
        "girl",
        "sister",
        "daughter",
        "mother",
        "aunt",
        "female",
    }
    words = [{*text.lower().rstrip(".").split()} for text in about["sentences"]]
    known = np.array([bool(each & (male | female)) for each in words])
    labels = np.array([bool(each & male) for each in words])
    found = examples(rows[known], labels[known])
    eraser = agrees_with_its_authors(found)
    assert covariance_with_labels(eraser, found).max() < 1e-12


@pytest.mark.slow
@pytest.mark.realdata
def test_bec_pro_in_minilm(realdata: Path) -> None:
    """1,000 sentences drawn at random: norm 3.3 with shrinkage, about 11 without."""
    encoder = minilm()
    sets = BecPro(str(realdata / "models/bec_pro/BEC-Pro_EN.tsv")).load()
    items = [item for each in sets for item in each.items]
    some = [items[i] for i in np.random.default_rng(0).permutation(len(items))[:1000]]
    rows = encoder.encode([item.sentence for item in some]).astype(np.float64)
    found = examples(rows, np.array([item.group == "male" for item in some]))
    eraser = agrees_with_its_authors(found)
    assert eraser.norm == pytest.approx(3.3, abs=0.1)
    assert covariance_with_labels(eraser, found).max() < 1e-12
    assert Leace(shrinkage=False).fit(found, seed=0).norm == pytest.approx(11, abs=1)
