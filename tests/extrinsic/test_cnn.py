"""Kim's CNN: its parts against torch, its training on a toy problem."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from gensim.models import KeyedVectors
from sklearn.metrics import f1_score, log_loss
from torch import Tensor
from torch.nn import functional

from biasbridge.extrinsic import networks
from biasbridge.extrinsic.classifiers import CNN
from biasbridge.extrinsic.encode import Encoded, encode
from biasbridge.extrinsic.networks import (
    ConvolutionalNetwork,
    DevScore,
    _evaluate,
    _fit_cnn,
    _pooled_convolution,
)

if TYPE_CHECKING:
    import pandas as pd


SMALL = CNN(maps=8, epochs=8, batch_size=20)


@pytest.fixture(scope="module")
def encoded(posts: pd.DataFrame, vectors: KeyedVectors) -> Encoded:
    return encode(posts["text"], vectors)


@pytest.fixture(scope="module")
def labels(posts: pd.DataFrame) -> np.ndarray:
    return np.array(posts["label"])


def network(encoded: Encoded, choice: CNN = SMALL, seed: int = 0) -> ConvolutionalNetwork:
    return ConvolutionalNetwork(choice, encoded, torch.Generator().manual_seed(seed))


def test_logits_are_those_of_torchs_layers(encoded: Encoded) -> None:
    net = network(encoded)
    with torch.no_grad():
        net.filter_bias.normal_(generator=torch.Generator().manual_seed(3))
        net.output_bias.copy_(torch.tensor([0.5, -0.25]))
    for row, ours in enumerate(net.logits(np.arange(40)).unbind()):
        words = encoded.tokens[encoded.offsets[row] : encoded.offsets[row + 1]]
        words = np.pad(words, (0, max(0, 5 - len(words))))
        embedded = torch.from_numpy(encoded.matrix[words]).T[None]
        features = []
        parts = zip(
            torch.split(net.filters, [3, 4, 5]), torch.split(net.filter_bias, 8), strict=True
        )
        for filters, bias in parts:
            features.append(
                functional.conv1d(embedded, filters.permute(1, 2, 0), bias).relu().amax(2)
            )
        theirs = functional.linear(torch.cat(features, 1), net.output, net.output_bias)[0]
        torch.testing.assert_close(ours, theirs.detach(), atol=1e-5, rtol=1e-5)


def test_words_past_max_length_are_not_read(encoded: Encoded) -> None:
    net, cut = network(encoded), network(encoded, CNN(maps=8, max_length=5))
    fits = encoded.lengths <= 5
    assert fits.any()
    same = (
        torch.isclose(net.logits(np.arange(300)), cut.logits(np.arange(300)), atol=1e-6)
        .all(1)
        .numpy()
    )
    assert same[fits].all()
    assert not same[~fits].all()


def test_dropout_and_norm_are_kims(encoded: Encoded) -> None:
    """His network: weights cut to norm s, kept features unscaled in training, p w at test."""
    choice = CNN(maps=4, dropout=0.75, max_norm=0.8)
    net, p = network(encoded, choice), 0.25
    with torch.no_grad():
        net.output.normal_(generator=torch.Generator().manual_seed(1))
    kims = torch.renorm(net.output.detach() / p, 2, 0, choice.max_norm)
    idle = torch.optim.SGD(net.parameters(), lr=0)
    rows = np.arange(20)
    networks.cnn_step(net, idle, rows, torch.zeros(20, dtype=torch.int64))
    features = capture_features(net, rows)
    torch.testing.assert_close(net.logits(rows), features @ (p * kims).T)
    net.train()
    assert net.generator is not None
    net.generator.manual_seed(5)
    masked = features * (torch.rand(features.shape, generator=net.generator) >= 0.75)
    net.generator.manual_seed(5)
    torch.testing.assert_close(net(rows).detach(), masked @ kims.T)


def capture_features(net: ConvolutionalNetwork, rows: np.ndarray) -> torch.Tensor:
    """The features of each post, by output weights that pick them out one pair after the other."""
    weights = net.output.detach().clone()
    result = []
    with torch.no_grad():
        for first in range(0, weights.shape[1], 2):
            net.output.zero_()
            net.output[[0, 1], [first, first + 1]] = 1
            result.append(net.logits(rows))
        net.output.copy_(weights)
    return torch.cat(result, 1)


@pytest.mark.parametrize(
    ("scores", "kept", "run"),
    [
        # Stops two epochs after the best
        ([(0.1, -1.0), (0.5, -1.0), (0.4, -0.1), (0.5, -1.0), (0.9, -1.0)], 1, 4),
        # On equal F1 the loss decides
        ([(0.0, -1.0), (0.0, -0.5), (0.0, -0.7), (0.2, -0.9), (0.1, -0.9), (0.1, -0.9)], 3, 6),
        # Ends with the epochs
        ([(0.1, -1.0), (0.2, -1.0), (0.3, -1.0), (0.4, -1.0), (0.5, -1.0), (0.6, -1.0)], 5, 6),
    ],
)
def test_training_stops_early_and_keeps_the_best_weights(
    scores: list[tuple[float, float]],
    kept: int,
    run: int,
    encoded: Encoded,
    labels: np.ndarray,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    net = network(encoded, CNN(maps=8, epochs=6, patience=2, batch_size=50))
    seen: list[dict[str, torch.Tensor]] = []

    def scripted(*_: Any) -> DevScore:
        seen.append(copy.deepcopy(net.state_dict()))
        return DevScore(*scores[len(seen) - 1])

    monkeypatch.setattr(networks, "_evaluate", scripted)
    assert _fit_cnn(net, labels, np.arange(250), np.arange(250, 300)) == scores[:run]
    torch.testing.assert_close(dict(net.state_dict()), dict(seen[kept]), atol=0, rtol=0)
    assert not torch.equal(seen[kept]["filters"], seen[kept - 1]["filters"])


def test_dev_scores_are_sklearns(labels: np.ndarray) -> None:
    logits = torch.randn(300, 2, generator=torch.Generator().manual_seed(0))
    score = _evaluate(logits, torch.tensor(labels))
    assert score.f1 == pytest.approx(f1_score(labels, logits.argmax(1)))
    assert score.negative_loss == pytest.approx(
        -log_loss(labels, logits.double().softmax(1)), rel=1e-5
    )
    assert _evaluate(-torch.eye(2)[[1, 1]], torch.tensor([0, 0])).f1 == 0


def test_a_loss_that_is_not_finite_names_the_epoch(posts: pd.DataFrame, labels: np.ndarray) -> None:
    vectors = KeyedVectors(20)
    words = sorted(set(" ".join(posts["text"]).split()))
    vectors.add_vectors(words, np.full((len(words), 20), 3e38, dtype=np.float32))
    with pytest.raises(FloatingPointError, match="the loss is not finite in epoch 1"):
        _fit_cnn(
            network(encode(posts["text"], vectors)), labels, np.arange(250), np.arange(250, 300)
        )


def test_a_separable_problem_is_learnt_by_cross_validation(
    posts: pd.DataFrame, vectors: KeyedVectors
) -> None:
    predictions = CNN(maps=16, batch_size=10, patience=8, folds=4).predict(posts, vectors, seed=0)
    assert list(predictions["id"]) == list(posts["id"])
    assert f1_score(predictions["label"], predictions["prediction"]) > 0.95


def test_the_seed_decides_and_global_state_is_left_alone(
    divided: pd.DataFrame, vectors: KeyedVectors
) -> None:
    choice = CNN(maps=8, epochs=2)
    torch.manual_seed(5)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    numpy_before = np.random.get_state(legacy=False)["state"]["key"].copy()  # noqa: NPY002
    first = choice.predict(divided, vectors, seed=1)
    assert torch.equal(torch.get_rng_state(), before)
    assert (np.random.get_state(legacy=False)["state"]["key"] == numpy_before).all()  # noqa: NPY002
    assert torch.get_num_threads() == threads
    torch.manual_seed(6)
    assert first.equals(choice.predict(divided, vectors, seed=1))
    assert not first["score"].equals(choice.predict(divided, vectors, seed=2)["score"])


def test_labels_of_test_posts_do_not_reach_the_model(
    divided: pd.DataFrame, vectors: KeyedVectors
) -> None:
    choice = CNN(maps=8, epochs=2)
    test = divided["split"] == "test"
    flipped = divided.assign(label=divided["label"].where(~test, 1 - divided["label"]))
    assert choice.predict(divided, vectors, seed=1)["score"].equals(
        choice.predict(flipped, vectors, seed=1)["score"]
    )


def test_a_post_without_known_words_or_without_words_is_predicted(
    divided: pd.DataFrame, vectors: KeyedVectors
) -> None:
    strange = divided.copy()
    test = strange["split"] == "test"
    strange.loc[test, "text"] = ["unheard of", ""] * (test.sum() // 2)
    predictions = CNN(maps=8, epochs=1).predict(strange, vectors, seed=0)
    assert len(set(predictions["score"])) == 1
    assert predictions["score"].between(0, 1).all()


# The quick convolution is torch's, forward and backward.


def problem(
    windows: tuple[int, ...], *, double: bool = False, maps: int = 7, dim: int = 20
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    dtype = torch.float64 if double else torch.float32
    filters = torch.randn(sum(windows), maps, dim, generator=generator, dtype=dtype)
    vectors = torch.randn(30, dim, generator=generator, dtype=dtype)
    vectors[0] = 0
    lengths = torch.randint(max(windows), 13, (9,), generator=generator)
    tokens = torch.randint(1, 30, (9, 12), generator=generator) * (
        torch.arange(12) < lengths[:, None]
    )
    return filters.requires_grad_(), vectors, tokens, lengths


def literal(
    filters: Tensor, vectors: Tensor, tokens: Tensor, lengths: Tensor, windows: tuple[int, ...]
) -> Tensor:
    """One post and one width at a time, by ``conv1d``."""
    posts = []
    for row, length in zip(tokens.unbind(), lengths.tolist(), strict=True):
        words = vectors[row[:length]].T[None]
        parts = torch.split(filters, list(windows))
        posts.append(
            torch.cat(
                [functional.conv1d(words, part.permute(1, 2, 0)).amax(2)[0] for part in parts]
            )
        )
    return torch.stack(posts)


@pytest.mark.parametrize("windows", [(3, 4, 5), (1,), (2, 2), (5, 3)])
def test_forward_and_gradient_are_those_of_conv1d(windows: tuple[int, ...]) -> None:
    filters, vectors, tokens, lengths = problem(windows)
    ours = _pooled_convolution(filters, vectors, tokens, lengths, windows)
    theirs = literal(filters, vectors, tokens, lengths, windows)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    upstream = torch.randn(ours.shape, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(
        torch.autograd.grad(ours, filters, upstream)[0],
        torch.autograd.grad(theirs, filters, upstream)[0],
        atol=1e-5,
        rtol=1e-5,
    )
