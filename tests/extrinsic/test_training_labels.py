"""What a post is learned by, and whether at all, changes nothing in how it is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasbridge.extrinsic.cnn import CNN
from biasbridge.extrinsic.crossval import read_posts, split_posts
from biasbridge.extrinsic.linear import Linear

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.extrinsic.protocols import Classifier

CLASSIFIERS = (Linear(C=0.1), CNN(maps=4, epochs=2, windows=(2,)))


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda each: each.name)
def test_it_is_as_if_the_training_posts_were_other_posts(
    classifier: Classifier, divided: pd.DataFrame, vectors: KeyedVectors
) -> None:
    rng = np.random.default_rng(0)
    turned = rng.random(300) < 0.2
    gone = rng.random(300) < 0.2
    changed = divided.assign(
        train_label=divided["label"].where(~turned, 1 - divided["label"]), in_training=~gone
    )
    training = divided["split"] != "test"
    others = divided.assign(label=changed["train_label"].where(training, divided["label"]))
    others = others[~(gone & training)]
    found, expected = (classifier.predict(each, vectors, seed=3) for each in (changed, others))
    pd.testing.assert_frame_equal(found, expected)
    assert (found["label"].to_numpy() == divided.loc[~training, "label"].to_numpy()).all()
    plain = classifier.predict(divided, vectors, seed=3)
    assert (found["score"] - plain["score"]).abs().max() > 0.01


def test_folds_are_those_of_the_posts_as_published(posts: pd.DataFrame) -> None:
    """Whoever leaves training is judged in the same fold, and no other changes places."""
    gone = np.arange(300) % 3 == 0
    changed = posts.assign(train_label=1 - posts["label"], in_training=~gone)
    folds, before = (
        list(split_posts(read_posts(each), folds=5, seed=1)) for each in (changed, posts)
    )
    for fold, plain in zip(folds, before, strict=True):
        assert fold.test.tolist() == plain.test.tolist()
        assert fold.train.tolist() == plain.train[~gone[plain.train]].tolist()
        assert fold.dev.tolist() == plain.dev[~gone[plain.dev]].tolist()
