"""The network of the end-to-end resolver equals its definition, span by span and pair by pair."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from gensim.models import KeyedVectors
from torch import Tensor

from biasbridge.extrinsic.coreference import model as products
from biasbridge.extrinsic.coreference.model import (
    EncodedDocument,
    ResolverNetwork,
    ResolverScores,
    _apply_dropout,
    _distance_buckets,
    _relu_dropout_,
    build_network,
    clusters_on_grid,
    marginal_loss,
    read_lexicon,
    read_text,
)
from biasbridge.extrinsic.coreference.resolution import ResolverOutput, _mention_recall
from biasbridge.extrinsic.coreference.resolver import EndToEnd
from biasbridge.extrinsic.coreference.scorer import score
from biasbridge.extrinsic.coreference.training import OtherTrainingError, Training, _decode
from biasbridge.files import InputError
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
    keyed = KeyedVectors(5)
    matrix = np.random.default_rng(0).normal(size=(len(WORDS) - 2, 5)).astype(np.float32)
    keyed.add_vectors(WORDS[:-2], matrix)
    return keyed


def document(lengths: list[int], seed: int = 0) -> Document:
    rng = np.random.default_rng(seed)
    drawn = tuple(tuple(map(str, rng.choice(WORDS, length))) for length in lengths)
    last = sum(lengths)
    clusters = (((0, 1), (2, 4)), ((1, 3), (last - 1, last))) if last > 4 else ()
    return Document("d", drawn, clusters)


def build_resolver(
    choice: EndToEnd, vectors: KeyedVectors, *documents: Document
) -> tuple[ResolverNetwork, list[EncodedDocument]]:
    """In double precision, so that a difference would be no rounding, and without dropout."""
    lexicon = read_lexicon(documents, vectors)
    network = build_network(choice, lexicon, seed=1).double().eval()
    return network, [read_text(each, lexicon) for each in documents]


@torch.no_grad()
def test_scores_are_those_of_single_spans_and_pairs(vectors: KeyedVectors) -> None:
    source = document(LENGTHS)
    network, (text,) = build_resolver(SMALL, vectors, source)
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
    result = _distance_buckets(100, torch.device("cpu")).tolist()[::-1]
    edges = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (7, 5), (8, 6), (15, 6), (16, 7), (31, 7)]
    edges += [(32, 8), (63, 8), (64, 9), (100, 9)]
    assert [(distance, result[distance - 1]) for distance, _ in edges] == edges


def test_loss_is_the_marginal_likelihood_of_true_antecedents() -> None:
    minus = -math.inf
    scores = torch.tensor(
        [[0.0, minus, minus], [0.0, minus, 1.0], [0.0, 2.0, 3.0], [0.0, 1.0, 4.0]]
    )
    labels = torch.tensor([5, 5, 5, -1])
    p = scores.exp() / scores.exp().sum(1, keepdim=True)
    likelihoods = [p[0, 0], p[1, 2], p[2, 1] + p[2, 2], p[3, 0]]
    expected = -sum(math.log(likelihood) for likelihood in likelihoods)
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
    result = _decode(document([10, 20]), ResolverScores(spans, torch.arange(5.0), links), 4)
    assert result.document.clusters == (((0, 1), (1, 3), (2, 4), (5, 6)),)
    assert result.mentions == {(0, 1): 0, (1, 3): 1, (2, 4): 2, (3, 4): 3, (5, 6): 4}


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
    network, (text, _) = build_resolver(choice, vectors, source, document(LENGTHS))
    scores = network(text)
    assert len(scores.spans) == kept
    _decode(source, scores, 4)


@torch.no_grad()
def test_true_mentions_in_place_of_pruning(vectors: KeyedVectors) -> None:
    source = replace(document(LENGTHS), clusters=(((0, 1), (2, 6)), ((1, 2), (7, 12))))
    network, (text,) = build_resolver(replace(SMALL, mentions="gold"), vectors, source)
    assert network(text).spans.tolist() == [0, 4, 2 * 4 + 3]  # (7, 12) is wider than 4
    assert clusters_on_grid(text, 4)[[0, 1, 2], [0, 0, 3]].tolist() == [0, 1, 0]


def test_dropout_keeps_the_mean_and_passes_gradients_where_it_kept() -> None:
    generator = torch.Generator().manual_seed(0)
    ones = torch.ones(100_000, requires_grad=True)
    kept = _apply_dropout(ones, 0.2, generator)
    assert kept.mean().item() == pytest.approx(1, abs=0.01)
    assert set(kept.tolist()) == {0.0, 1.25}
    source = torch.randn(100_000, requires_grad=True)
    out = _relu_dropout_(source * 1, 0.5, generator)
    assert (out > 0).float().mean().item() == pytest.approx(0.25, abs=0.01)
    out.sum().backward()
    gradient: Tensor | None = source.grad
    assert gradient is not None
    torch.testing.assert_close(gradient, (out > 0) * 2.0)


def test_first_weights_are_drawn_by_the_seed_alone(vectors: KeyedVectors) -> None:
    lexicon = read_lexicon([document(LENGTHS)], vectors)
    state = torch.get_rng_state()
    one = build_network(SMALL, lexicon, seed=1).state_dict()
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(5)
    again, other = build_network(SMALL, lexicon, seed=1), build_network(SMALL, lexicon, seed=2)
    assert all(torch.equal(one[name], weight) for name, weight in again.state_dict().items())
    assert not torch.equal(one["spans.first.weight"], other.state_dict()["spans.first.weight"])
    recurrent = one["context.back.weight_hh_l0"]
    torch.testing.assert_close(recurrent.T @ recurrent, torch.eye(7))


# Training of the end-to-end resolver: it learns, stops, goes on after an interruption, refuses.

CHOICE = EndToEnd(
    letter_dim=4,
    letter_filters=8,
    lstm=16,
    hidden=16,
    feature_size=4,
    max_span_width=2,
    least_spans=6,
    lexical_dropout=0.2,
    learning_rate=0.005,
    epochs=20,
    patience=3,
)
NAMES = {"Ann": "she", "Eve": "she", "Bob": "he", "Tom": "he"}
OTHERS = ["saw", "met", "heard", "and", "then", "left", "."]
Splits = dict[str, list[Document]]


@pytest.fixture(scope="module")
def story_vectors() -> KeyedVectors:
    words = [*NAMES, "she", "he", *OTHERS]
    matrix = np.random.default_rng(0).normal(size=(len(words), 12)).astype(np.float32)
    matrix[[0, 1, 4], :3] += 2
    keyed = KeyedVectors(12)
    keyed.add_vectors(words, matrix)
    return keyed


def story(number: int) -> Document:
    """A woman and a man meet, and each is then spoken of by a pronoun: no order tells which."""
    rng = np.random.default_rng(number)
    pair = [str(rng.choice(["Ann", "Eve"])), str(rng.choice(["Bob", "Tom"]))]
    rng.shuffle(pair)
    later = [*pair]
    rng.shuffle(later)
    verbs = list(map(str, rng.choice(OTHERS[:3], 2)))
    first = (pair[0], verbs[0], pair[1], ".")
    second = ("then", NAMES[later[0]], "left", "and", NAMES[later[1]], verbs[1], ".")
    said = {later[0]: (5, 6), later[1]: (8, 9)}
    clusters = (((0, 1), said[pair[0]]), ((2, 3), said[pair[1]]))
    return Document(f"story {number}", (first, second), clusters)


@pytest.fixture(scope="module")
def splits() -> Splits:
    stories = [story(number) for number in range(90)]
    return {"train": stories[:50], "dev": stories[50:70], "test": stories[70:]}


@pytest.fixture(scope="module")
def resolved(
    splits: Splits, story_vectors: KeyedVectors, tmp_path_factory: pytest.TempPathFactory
) -> ResolverOutput:
    return CHOICE.resolve(splits, story_vectors, seed=0, folder=tmp_path_factory.mktemp("whole"))


def weights(folder: Path) -> dict[str, Tensor]:
    state = torch.load(folder / "checkpoint.pt", weights_only=True)
    return {"generator": state["generator"], **state["network"], **state["best"]}


def test_it_learns_which_pronoun_speaks_of_whom(splits: Splits, resolved: ResolverOutput) -> None:
    assert list(resolved.splits) == ["test"]
    pairs = list(zip(splits["test"], resolved.splits["test"], strict=True))
    assert score((key, result.document) for key, result in pairs)["conll"].f1 > 0.9
    assert _mention_recall(pairs) > 0.95
    for key, result in pairs:
        assert (result.document.name, result.document.sentences) == (key.name, key.sentences)
        assert set(result.document.mentions) <= set(result.mentions)


def test_interrupted_training_ends_with_the_same_weights(
    splits: Splits, story_vectors: KeyedVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice = replace(CHOICE, epochs=5, patience=9, decay_patience=0)
    splits = {**splits, "train": splits["train"][:20], "dev": splits["dev"][:5]}
    whole = choice.resolve(splits, story_vectors, seed=3, folder=tmp_path / "whole")
    steps, take = 2 * len(splits["train"]) + 7, Training.step
    left = iter(range(steps))

    def step(self: Training, text: EncodedDocument) -> float:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return take(self, text)

    monkeypatch.setattr(Training, "step", step)
    with pytest.raises(KeyboardInterrupt):
        choice.resolve(splits, story_vectors, seed=3, folder=tmp_path / "parts")
    monkeypatch.setattr(Training, "step", take)
    torch.rand(7)  # what others draw in the meantime does not matter
    parts = choice.resolve(splits, story_vectors, seed=3, folder=tmp_path / "parts")
    assert parts == whole
    one, other = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], weight) for name, weight in other.items())
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["checkpoint.pt"]


@pytest.mark.parametrize(
    ("f1", "best", "ended"),
    [
        ([0.0, 0.0, 0.0, 0.0, 0.0], 0, False),  # nothing is found yet
        ([0.0, 0.3, 0.2, 0.3], 1, False),
        ([0.0, 0.3, 0.2, 0.3, 0.1], 1, True),
        ([0.1] * 4, 0, True),
        ([number / 20 for number in range(20)], 19, True),  # all epochs are done
    ],
)
def test_training_ends_when_dev_no_longer_rises(
    f1: list[float], best: int, ended: bool, story_vectors: KeyedVectors
) -> None:
    training = Training(build_network(CHOICE, read_lexicon([story(0)], story_vectors), seed=0))
    assert not training.ended
    training.epochs = [{"loss": 1.0, "dev_f1": each, "learning_rate": 0.1} for each in f1]
    assert (training.best, training.ended) == (best, ended)


def test_checkpoint_of_another_training_is_refused(
    splits: Splits, story_vectors: KeyedVectors, tmp_path: Path
) -> None:
    choice = replace(CHOICE, epochs=1)
    choice.resolve(splits, story_vectors, seed=0, folder=tmp_path)
    with pytest.raises(InputError, match=r"checkpoint\.pt belongs to a training on other"):
        choice.resolve(splits, story_vectors, seed=1, folder=tmp_path)
    with pytest.raises(InputError, match="remove it, or give another folder"):
        replace(choice, hidden=8).resolve(splits, story_vectors, seed=0, folder=tmp_path)
    checkpoint = tmp_path / "checkpoint.pt"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-100])
    with pytest.raises(OtherTrainingError, match=r"checkpoint\.pt is damaged: remove it"):
        choice.resolve(splits, story_vectors, seed=0, folder=tmp_path)


def test_documents_without_tokens_or_with_one(
    splits: Splits, story_vectors: KeyedVectors, tmp_path: Path
) -> None:
    odd = [
        Document("none", (), ()),
        Document("hollow", ((),), ()),
        Document("one", (("Ann",),), ()),
    ]
    given = {**splits, "train": [*splits["train"][:5], *odd], "odd": odd}
    result = replace(CHOICE, epochs=1).resolve(given, story_vectors, seed=0, folder=tmp_path)
    assert [len(split.mentions) for split in result.splits["odd"]] == [0, 0, 1]
    assert [split.document for split in result.splits["odd"]] == odd


def test_what_cannot_be_learnt_from_is_refused(
    splits: Splits, story_vectors: KeyedVectors, tmp_path: Path
) -> None:
    for missing in ("train", "dev"):
        with pytest.raises(InputError, match=f"no documents in split '{missing}'"):
            CHOICE.resolve({**splits, missing: []}, story_vectors, seed=0, folder=tmp_path)
    alone = [replace(split, clusters=(((0, 1),),)) for split in splits["train"]]
    with pytest.raises(InputError, match="no training document has two mentions"):
        CHOICE.resolve({**splits, "train": alone}, story_vectors, seed=0, folder=tmp_path)
    with pytest.raises(FloatingPointError, match="not finite in epoch 1; lower learning_rate"):
        replace(CHOICE, learning_rate=1e30).resolve(splits, story_vectors, seed=0, folder=tmp_path)
