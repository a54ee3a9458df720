"""SentDebias: scikit-learn's principal components of BERT's sentences, and doses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA

from biasbridge.debias.examples import Examples
from biasbridge.debias.sent_debias import SentDebias
from biasbridge.files import InputError

PAIRS = ("man woman", "boy girl", "brother sister", "father mother", "son daughter", "uncle aunt")


@pytest.mark.realdata
@pytest.mark.parametrize("components", [1, 3])
def test_the_components_of_encodings_of_bert(realdata: Path, components: int) -> None:
    folder = realdata / "contextual"
    texts = json.loads((folder / "bert_seat_sentences.json").read_text("utf-8"))["sentences"]
    rows = np.load(folder / "bert_seat_sentences.npy", allow_pickle=False)[: len(texts)]
    place = {text: number for number, text in enumerate(texts)}
    both = []
    for male, female in map(str.split, PAIRS):
        for text in filter(re.compile(rf"\b{male}\b").search, texts):
            other = re.sub(rf"\b{male}\b", female, text)
            both.append([rows[place[text]], rows[place[other]]])
    pairs = np.array(both, dtype=np.float64)
    assert pairs.shape == (42, 2, 768)

    centred = []
    for one, other in pairs:
        one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
        centred += [one - (one + other) / 2, other - (one + other) / 2]
    expected = rows.astype(np.float64)
    for axis in PCA(components).fit(centred).components_:
        expected = expected - np.outer(expected @ axis, axis)
    none = np.empty((0, 768))
    eraser = SentDebias(components=components).fit(Examples(none, none, pairs, ""), seed=0)
    np.testing.assert_allclose(eraser.apply(rows.astype(np.float64)), expected, atol=1e-9)
    assert eraser.rank == components


def test_more_components_than_pairs_span() -> None:
    one = np.eye(4)[:2]
    pairs, none = np.stack([one, -one], axis=1), np.empty((0, 4))
    with pytest.raises(InputError, match=r"components=3: .* span 2 dimensions; give fewer"):
        SentDebias(components=3).fit(Examples(none, none, pairs, ""), seed=0)
