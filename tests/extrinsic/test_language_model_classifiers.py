"""Classifiers on an encoder of texts and on a whole language model: tiny random ones, and posts
that are hateful when they hold one of two words.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from biasbridge.extrinsic.encoder_classifier import EncoderClassifier
from biasbridge.extrinsic.finetuned import Finetuned
from biasbridge.extrinsic.finetuning import Network, fit, tokenise
from biasbridge.extrinsic.protocols import Classifier
from biasbridge.files.models.encoder import Encoder
from biasbridge.files.models.language_model import open_model
from tests.extrinsic.test_retrieval import Bag
from tests.tiny_models import LINES, save_model

NEUTRAL = sorted({word for line in LINES for word in line.split()})
INSULTS = ("fool", "mob")
TINY = Finetuned(epochs=12, patience=4, learning_rate=3e-3, batch_size=20)


@pytest.fixture(scope="module", params=["bert", "gpt2"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture(scope="module")
def posts() -> pd.DataFrame:
    """300 posts of 2 to 11 words, a third of them hateful: 200 train, 40 dev and 60 test."""
    rng = np.random.default_rng(3)
    rows = []
    for number in range(300):
        words = list(rng.choice(NEUTRAL, size=rng.integers(2, 12)))
        label = int(rng.random() < 1 / 3)
        if label:
            words[rng.integers(len(words))] = str(rng.choice(INSULTS))
        rows.append((f"p{number}", " ".join(words), label))
    table = pd.DataFrame(rows, columns=["id", "text", "label"])
    return table.assign(split=(["train"] * 10 + ["dev"] * 2 + ["test"] * 3) * 20)


def accuracy(predictions: pd.DataFrame) -> float:
    return float((predictions["label"] == predictions["prediction"]).mean())


def constant(predictions: pd.DataFrame) -> float:
    """The accuracy of the classifier that always says the more frequent label."""
    share = float(predictions["label"].mean())
    return max(share, 1 - share)


@pytest.mark.parametrize("classifier", [EncoderClassifier(), Finetuned()])
def test_they_are_classifiers(classifier: Classifier) -> None:
    assert isinstance(classifier, Classifier)


def test_a_frozen_encoder_is_regressed_on_its_rows(posts: pd.DataFrame) -> None:
    encoder = Bag(*NEUTRAL, *INSULTS)
    rows, labels = encoder.encode(list(posts["text"])), np.array(posts["label"])
    train, test = (np.array(posts["split"] == name) for name in ("train", "test"))
    rows = (rows - rows[train].mean(0)) / rows[train].std(0)
    regression = LogisticRegression(C=0.5).fit(rows[train], labels[train])
    expected = regression.predict_proba(rows[test])[:, 1]
    found = EncoderClassifier(C=0.5).predict(posts, encoder, seed=0)
    np.testing.assert_allclose(found["score"], expected, atol=1e-3)


def test_posts_are_read_as_they_were_written(posts: pd.DataFrame) -> None:
    """Where that is known: a post without a raw text is read tokenised."""
    encoder = Bag(*NEUTRAL, *INSULTS, "FOOL")
    shouted = posts["text"].str.replace("fool|mob", "FOOL", regex=True)
    hidden = posts.assign(text=posts["text"].str.replace("fool|mob", "man", regex=True))
    assert accuracy(EncoderClassifier().predict(hidden, encoder, seed=0)) < 0.9
    assert accuracy(EncoderClassifier().predict(hidden.assign(raw=shouted), encoder, seed=0)) == 1
    partly = posts.assign(raw=posts["text"].where(posts.index % 2 == 0))
    plain = EncoderClassifier().predict(posts, encoder, seed=0)
    assert plain.equals(EncoderClassifier().predict(partly, encoder, seed=0))


def test_a_random_encoder_beats_a_constant(posts: pd.DataFrame, folder: Path) -> None:
    predictions = EncoderClassifier().predict(posts, Encoder(folder), seed=0)
    assert accuracy(predictions) > constant(predictions) + 0.05


def test_a_finetuned_model_beats_a_constant_and_a_seed_repeats_it(
    posts: pd.DataFrame, folder: Path
) -> None:
    opened = open_model(folder)
    before = {name: value.clone() for name, value in opened.base.state_dict().items()}
    state = torch.get_rng_state()
    predictions = TINY.predict(posts, opened, seed=0)
    assert accuracy(predictions) > constant(predictions) + 0.2
    assert predictions.equals(TINY.predict(posts, opened, seed=0))
    assert not predictions.equals(TINY.predict(posts, opened, seed=1))
    assert torch.equal(state, torch.get_rng_state())
    for name, value in opened.base.state_dict().items():
        assert torch.equal(value, before[name]), "the model that is given stays as it is"


def made(posts: pd.DataFrame, folder: Path) -> Network:
    opened = open_model(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Network(TINY, opened, tokenise(list(posts["text"]), opened, 128))


def test_the_epoch_of_the_lowest_dev_loss_is_kept(posts: pd.DataFrame, folder: Path) -> None:
    network, labels = made(posts, folder), np.array(posts["label"])
    train, dev = (np.flatnonzero(posts["split"] == name) for name in ("train", "dev"))
    losses = fit(network, labels, train, dev)
    assert len(losses) <= TINY.epochs
    assert losses.index(min(losses)) >= len(losses) - 1 - TINY.patience
    probability = network.logits(dev).softmax(1).numpy()[np.arange(len(dev)), labels[dev]]
    assert -np.log(probability).mean() == pytest.approx(min(losses), rel=1e-4)


def test_neighbours_in_a_batch_change_nothing(posts: pd.DataFrame, folder: Path) -> None:
    network = made(posts, folder)
    rows = np.arange(30)
    alone = torch.cat([network.logits(rows[[row]]) for row in rows])
    torch.testing.assert_close(network.logits(rows), alone, atol=1e-5, rtol=1e-4)
    network.eval()
    text = tokenise([posts["text"][7]], open_model(folder), 128)
    states = network.base(input_ids=torch.tensor(text)).last_hidden_state[0]
    torch.testing.assert_close(network.head(states.mean(0)), alone[7], atol=1e-5, rtol=1e-4)


def test_long_and_empty_texts_are_classified(posts: pd.DataFrame, folder: Path) -> None:
    strange = posts.copy()
    strange.loc[[0, 20], "text"] = ["", "the man " * 500]
    predictions = Finetuned(epochs=1).predict(strange, open_model(folder), seed=0)
    assert predictions["score"].between(0, 1).all()


def test_a_loss_that_is_not_finite_stops_the_training(posts: pd.DataFrame, folder: Path) -> None:
    with pytest.raises(FloatingPointError, match="lower learning_rate"):
        Finetuned(learning_rate=1e30).predict(posts, open_model(folder), seed=0)
