"""The network of the end-to-end resolver equals its definition, span by span and pair by pair."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from gensim.models import KeyedVectors
from torch import Tensor

from biasbridge.extrinsic.coreference.model import antecedents as products
from biasbridge.extrinsic.coreference.model.antecedents import buckets, marginal_loss
from biasbridge.extrinsic.coreference.model.dropout import dropout, relu_dropout_
from biasbridge.extrinsic.coreference.model.encode import Text, read_lexicon, read_text
from biasbridge.extrinsic.coreference.model.network import Network, Scores, build, clusters_on_grid
from biasbridge.extrinsic.coreference.model.training import decode
from biasbridge.extrinsic.coreference.resolver import EndToEnd
from biasbridge.files.documents import Document
from tests.extrinsic import literal_resolver as literal

SMALL = EndToEnd(
    letter_dim=4,
    letter_filters=6,
    lstm=7,
    hidden=8,
    feature_size=3,
    max_span_width=4,
    max_antecedents=5,
)
WORDS = ["Ann", "said", "she", "saw", "the", "doctor", "who", "é", ".", "extraordinarily"]
LENGTHS = [6, 1, 9, 3, 12]


@pytest.fixture(scope="module")
def vectors() -> KeyedVectors:
    made = KeyedVectors(5)
    matrix = np.random.default_rng(0).normal(size=(len(WORDS) - 2, 5)).astype(np.float32)
    made.add_vectors(WORDS[:-2], matrix)
    return made


def document(lengths: list[int], seed: int = 0) -> Document:
    rng = np.random.default_rng(seed)
    drawn = tuple(tuple(map(str, rng.choice(WORDS, length))) for length in lengths)
    last = sum(lengths)
    clusters = (((0, 1), (2, 4)), ((1, 3), (last - 1, last))) if last > 4 else ()
    return Document("d", drawn, clusters)


def made(
    choice: EndToEnd, vectors: KeyedVectors, *documents: Document
) -> tuple[Network, list[Text]]:
    """In double precision, so that a difference would be no rounding, and without dropout."""
    lexicon = read_lexicon(documents, vectors)
    network = build(choice, lexicon, seed=1).double().eval()
    return network, [read_text(each, lexicon) for each in documents]


@torch.no_grad()
def test_scores_are_those_of_single_spans_and_pairs(vectors: KeyedVectors) -> None:
    source = document(LENGTHS)
    network, (text,) = made(SMALL, vectors, source)
    scores = network(text)
    lexicon = read_lexicon([source], vectors)
    rows = {word: int(lexicon.rows[number]) for word, number in lexicon.index.items()}
    words = literal.token_vectors(network, source.tokens, rows)
    states = literal.states(network, words, LENGTHS)
    g = {
        span: literal.representation(network, words, states, span)
        for span in literal.candidates(LENGTHS, 4)
    }
    mention = {span: float(literal.mention_score(network, each)) for span, each in g.items()}
    best = sorted(sorted(mention, key=mention.__getitem__)[-math.floor(0.29 * sum(LENGTHS)) :])
    places = scores.spans.tolist()
    assert [(place // 4, place // 4 + place % 4) for place in places] == best
    np.testing.assert_allclose(scores.mentions, [mention[span] for span in best], atol=1e-9)
    assert scores.antecedents.shape == (len(best), 1 + 5)
    for i, one in enumerate(best):
        expected = [0.0]
        for j in range(i - 5, i):
            if j < 0:
                expected.append(-math.inf)
                continue
            pair = literal.pair_score(network, g[one], g[best[j]], i - j)
            expected.append(mention[one] + mention[best[j]] + float(pair))
        np.testing.assert_allclose(scores.antecedents[i], expected, atol=1e-9)


@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_pair_products_in_chunks_of_any_size(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    count, reach, dim, hidden = 11, 4, 6, 3
    monkeypatch.setattr(products, "CACHED", at_once * reach * dim)
    spans = torch.randn(count, dim, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(hidden, dim, dtype=torch.float64, requires_grad=True)
    out = products.pair_products(spans, weight, reach)
    for i in range(count):
        for c in range(reach):
            j = i - reach + c
            pair = weight @ (spans[i] * spans[j]) if j >= 0 else torch.zeros(hidden)
            torch.testing.assert_close(out[i, c], pair.to(out))
    assert torch.autograd.gradcheck(
        lambda g, w: products.pair_products(g, w, reach), (spans, weight)
    )


def test_distances_fall_into_ten_buckets() -> None:
    found = buckets(100, torch.device("cpu")).tolist()[::-1]
    edges = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (7, 5), (8, 6), (15, 6), (16, 7), (31, 7)]
    edges += [(32, 8), (63, 8), (64, 9), (100, 9)]
    assert [(distance, found[distance - 1]) for distance, _ in edges] == edges


def test_loss_is_the_marginal_likelihood_of_true_antecedents() -> None:
    minus = -math.inf
    scores = torch.tensor(
        [[0.0, minus, minus], [0.0, minus, 1.0], [0.0, 2.0, 3.0], [0.0, 1.0, 4.0]]
    )
    labels = torch.tensor([5, 5, 5, -1])
    p = scores.exp() / scores.exp().sum(1, keepdim=True)
    likelihoods = [p[0, 0], p[1, 2], p[2, 1] + p[2, 2], p[3, 0]]
    expected = -sum(math.log(each) for each in likelihoods)
    assert marginal_loss(scores, labels).item() == pytest.approx(expected)


def test_a_span_whose_antecedents_are_pruned_counts_as_having_none() -> None:
    scores = torch.tensor([[0.0, -math.inf], [0.0, 1.0]])
    expected = math.log(2) * 0 + math.log(1 + math.e)
    assert marginal_loss(scores, torch.tensor([3, 4])).item() == pytest.approx(expected)
    assert marginal_loss(scores, torch.tensor([-1, -1])).item() == pytest.approx(expected)


def test_links_join_into_clusters() -> None:
    spans = torch.tensor([0, 5, 9, 12, 20])  # on a grid of width 4
    minus = -math.inf
    links = torch.tensor(
        [[0, minus, minus], [0, minus, 1], [0, 2, 3], [0, -1, -2], [0, 5.0, 1]]
    )  # 1 to 0, 2 to 1, 3 to none, 4 to 2
    found = decode(document([10, 20]), Scores(spans, torch.arange(5.0), links), 4)
    assert found.document.clusters == (((0, 1), (1, 3), (2, 4), (5, 6)),)
    assert found.mentions == {(0, 1): 0, (1, 3): 1, (2, 4): 2, (3, 4): 3, (5, 6): 4}


def test_unknown_words_share_a_vector_and_case_is_kept(vectors: KeyedVectors) -> None:
    source = Document("d", (("Ann", "ann", "Doctor", "doctor"),), ())
    lexicon = read_lexicon([source], vectors)
    assert lexicon.coverage == 0.5
    assert lexicon.matrix[lexicon.rows[lexicon.index["ann"]]].tolist() == [0] * 5
    np.testing.assert_array_equal(
        lexicon.matrix[lexicon.rows[lexicon.index["Ann"]]], vectors["Ann"]
    )
    unknown = KeyedVectors(5)
    unknown.add_vectors(["Ann", "<UNK>"], np.arange(10, dtype=np.float32).reshape(2, 5))
    lexicon = read_lexicon([source], unknown)
    assert lexicon.matrix[lexicon.rows[lexicon.index["doctor"]]].tolist() == [5, 6, 7, 8, 9]


@torch.no_grad()
@pytest.mark.parametrize(
    ("tokens", "least", "kept"), [(9, 0, 2), (9, 4, 4), (1, 0, 0), (1, 3, 1), (2, 9, 3)]
)
def test_how_many_spans_are_kept(tokens: int, least: int, kept: int, vectors: KeyedVectors) -> None:
    choice, source = replace(SMALL, least_spans=least), document([tokens])
    network, (text, _) = made(choice, vectors, source, document(LENGTHS))
    scores = network(text)
    assert len(scores.spans) == kept
    decode(source, scores, 4)


@torch.no_grad()
def test_true_mentions_in_place_of_pruning(vectors: KeyedVectors) -> None:
    source = replace(document(LENGTHS), clusters=(((0, 1), (2, 6)), ((1, 2), (7, 12))))
    network, (text,) = made(replace(SMALL, mentions="gold"), vectors, source)
    assert network(text).spans.tolist() == [0, 4, 2 * 4 + 3]  # (7, 12) is wider than 4
    assert clusters_on_grid(text, 4)[[0, 1, 2], [0, 0, 3]].tolist() == [0, 1, 0]


def test_dropout_keeps_the_mean_and_passes_gradients_where_it_kept() -> None:
    generator = torch.Generator().manual_seed(0)
    ones = torch.ones(100_000, requires_grad=True)
    kept = dropout(ones, 0.2, generator)
    assert kept.mean().item() == pytest.approx(1, abs=0.01)
    assert set(kept.tolist()) == {0.0, 1.25}
    source = torch.randn(100_000, requires_grad=True)
    out = relu_dropout_(source * 1, 0.5, generator)
    assert (out > 0).float().mean().item() == pytest.approx(0.25, abs=0.01)
    out.sum().backward()
    gradient: Tensor | None = source.grad
    assert gradient is not None
    torch.testing.assert_close(gradient, (out > 0) * 2.0)


def test_first_weights_are_drawn_by_the_seed_alone(vectors: KeyedVectors) -> None:
    lexicon = read_lexicon([document(LENGTHS)], vectors)
    state = torch.get_rng_state()
    one = build(SMALL, lexicon, seed=1).state_dict()
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(5)
    again, other = build(SMALL, lexicon, seed=1), build(SMALL, lexicon, seed=2)
    assert all(torch.equal(one[name], weight) for name, weight in again.state_dict().items())
    assert not torch.equal(one["spans.first.weight"], other.state_dict()["spans.first.weight"])
    recurrent = one["context.back.weight_hh_l0"]
    torch.testing.assert_close(recurrent.T @ recurrent, torch.eye(7))
