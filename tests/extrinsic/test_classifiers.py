"""Who is trained on, who is judged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from biasbridge.extrinsic.classifiers import CNN, EncoderClassifier, Finetuned, Linear, mean_vectors
from biasbridge.extrinsic.crossval import Fold, _deal, cross_predict, read_posts, split_posts
from biasbridge.extrinsic.encode import encode
from biasbridge.extrinsic.networks import FinetunedNetwork, _fit_finetuned, tokenise
from biasbridge.extrinsic.protocols import Classifier
from biasbridge.files import InputError
from biasbridge.files.models.encoder import Encoder
from biasbridge.files.models.language_model import open_model
from tests.extrinsic.test_retrieval import Bag
from tests.tiny_models import LINES, save_model


def table(n: int = 100, split: str = "all", seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {
        "id": [f"p{i}" for i in range(n)],
        "text": [f"x{i}" for i in range(n)],
        "split": split,
        "label": rng.integers(0, 2, n),
    }
    return pd.DataFrame(columns | {"group": rng.choice(["male", "female"], n)})


def constant(fold: Fold) -> np.ndarray:
    return np.full(len(fold.test), 0.5)


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=80), st.integers(2, 6), st.integers(0, 99))
def test_dealing_is_even_overall_and_within_strata(
    strata: list[int], parts: int, seed: int
) -> None:
    part = _deal(np.array(strata), parts, np.random.default_rng(seed))
    for chosen in (part, *(part[np.array(strata) == stratum] for stratum in set(strata))):
        counts = np.bincount(chosen, minlength=parts)
        assert len(counts) == parts
        assert counts.max() - counts.min() <= 1


def test_folds_are_stratified_by_label_where_no_group_is_known() -> None:
    data = table(100).assign(label=[0, 1] * 50, group=None)
    for fold in split_posts(data, folds=5, seed=0):
        assert data["label"][fold.test].mean() == 0.5
        assert data["label"][fold.dev].mean() == 0.5


@settings(deadline=None, max_examples=25)
@given(st.integers(20, 120), st.integers(2, 6), st.integers(0, 2**63))
def test_folds_predict_each_item_once_and_never_overlap(n: int, folds: int, seed: int) -> None:
    result = list(split_posts(table(n), folds=folds, seed=seed))
    assert [fold.name for fold in result] == [f"fold{number}" for number in range(folds)]
    assert sorted(np.concatenate([fold.test for fold in result])) == list(range(n))
    for fold in result:
        assert sorted([*fold.train, *fold.dev, *fold.test]) == list(range(n))
        assert len(fold.dev) == -(-(n - len(fold.test)) // 10)
    assert len({fold.seed for fold in result}) == folds


def test_posts_of_one_text_are_never_learned_from_and_predicted() -> None:
    data = table(120)
    data["text"] = [f"x{i % 50}" for i in range(120)]
    result = list(split_posts(data, folds=5, seed=0))
    assert sorted(np.concatenate([fold.test for fold in result])) == list(range(120))
    for fold in result:
        learned = data["text"][np.concatenate([fold.train, fold.dev])]
        assert not set(learned) & set(data["text"][fold.test])
    with pytest.raises(InputError, match=r"the number of different posts \(50\)"):
        list(split_posts(data, folds=51, seed=0))


def test_a_given_split_is_kept() -> None:
    data = table(10)
    data["split"] = [
        *("test", "train", "dev", "train", "test", "train", "dev", "train", "train", "train")
    ]
    (fold,) = split_posts(data, folds=5, seed=0)
    assert fold.name == "test"
    assert [each.tolist() for each in (fold.train, fold.dev, fold.test)] == [
        [1, 3, 5, 7, 8, 9],
        [2, 6],
        [0, 4],
    ]


def test_without_dev_a_tenth_of_train_serves() -> None:
    data = table(110)
    data["split"] = ["train"] * 100 + ["test"] * 10
    (fold,) = split_posts(data, folds=5, seed=0)
    assert len(fold.dev) == 10
    assert sorted([*fold.train, *fold.dev]) == list(range(100))


def test_copies_of_a_text_are_not_parted_between_train_and_dev() -> None:
    data = table(200)
    data["text"] = [f"text {number % 50}" for number in range(200)]
    for fold in split_posts(data, folds=5, seed=0):
        train, dev = (set(data["text"].iloc[rows]) for rows in (fold.train, fold.dev))
        assert dev
        assert not train & dev


@pytest.mark.parametrize("split", ["all", "mixed"])
def test_predictions_follow_the_order_of_the_posts(split: str) -> None:
    data = table(50)
    if split == "mixed":
        data["split"] = ["train", "test", "dev", "train", "test"] * 10
    predictions = cross_predict(data, lambda fold: fold.test / 50, folds=4, seed=0)
    judged = data if split == "all" else data[data["split"] == "test"]
    assert list(predictions.columns) == ["id", "split", "group", "label", "score", "prediction"]
    for column in ("id", "group", "label"):
        assert list(predictions[column]) == list(judged[column])
    assert list(predictions["score"]) == list(judged.index / 50)
    assert list(predictions["prediction"]) == [int(row >= 25) for row in judged.index]
    assert set(predictions["split"]) == (
        {f"fold{i}" for i in range(4)} if split == "all" else {"test"}
    )
    assert list(predictions.index) == list(range(len(judged)))


def test_one_class_in_train_is_refused() -> None:
    data = table(20, "train")
    data.loc[:4, "split"] = "test"
    data["label"] = (data["split"] == "test").astype(int)
    with pytest.raises(InputError, match=r"the training items of test \(13\) hold one class only"):
        cross_predict(data, constant, folds=5, seed=0)


@pytest.mark.parametrize(
    ("splits", "folds", "message"),
    [
        (
            ["train", "validation"],
            5,
            r"split 'validation' of the posts is none of train, dev, test, all",
        ),
        (["train", "dev"], 5, r"the posts are split as train 10, dev 10; they need train and test"),
        (["all", "test"], 5, r"'all' on every post"),
        (["all", "all"], 21, "folds=21 must lie between 2 and the number of different posts"),
    ],
)
def test_unusable_splits_are_refused(splits: list[str], folds: int, message: str) -> None:
    data = table(20)
    data["split"] = splits * 10
    with pytest.raises(InputError, match=message):
        list(split_posts(data, folds=folds, seed=0))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"id": "a", "text": "x", "labels": 1, "split": "all"}],
            r"no column 'label'; did you mean 'labels'\?",
        ),
        (
            [{"id": "a", "text": "x", "label": 1, "split": "all"}, {"id": "b", "label": 1}],
            r"1 posts have no text, the first with id 'b'",
        ),
    ],
)
def test_unusable_posts_are_refused(rows: list[dict[str, object]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_posts(pd.DataFrame(rows))


# What a post is learned by, and whether at all, changes nothing in how it is judged.

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
    result, expected = (classifier.predict(each, vectors, seed=3) for each in (changed, others))
    pd.testing.assert_frame_equal(result, expected)
    assert (result["label"].to_numpy() == divided.loc[~training, "label"].to_numpy()).all()
    plain = classifier.predict(divided, vectors, seed=3)
    assert (result["score"] - plain["score"]).abs().max() > 0.01


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


# Posts to integers and back.

WORDS = ["a", "b", "c", "d"]


def keyed(words: list[str], dim: int = 3) -> KeyedVectors:
    vectors = KeyedVectors(dim)
    vectors.add_vectors(
        words, np.random.default_rng(0).normal(size=(len(words), dim)).astype(np.float32)
    )
    return vectors


def literal(text: str, vectors: KeyedVectors) -> np.ndarray:
    known = {word: vectors[word] for word in vectors.index_to_key}
    unknown = known.get("<UNK>", np.zeros(vectors.vector_size))
    return np.array([known.get(word, unknown) for word in text.split()]).reshape(
        -1, vectors.vector_size
    )


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from([*WORDS, "x", "y", "<UNK>"]), max_size=8).map(" ".join), max_size=6
    ).map(lambda posts: [*posts, "a"]),
    st.booleans(),
)
def test_rows_are_the_vectors_of_the_words(texts: list[str], has_unknown: bool) -> None:
    vectors = keyed([*WORDS, "<UNK>"] if has_unknown else WORDS)
    encoded = encode(texts, vectors)
    words = " ".join(texts).split()
    assert encoded.matrix.dtype == np.float32
    assert not np.any(encoded.matrix[:1])
    assert len(encoded.matrix) <= len(set(words)) + 2  # no vector that no post needs
    assert encoded.coverage == pytest.approx(np.mean([word in vectors for word in words]))
    posts = np.split(encoded.tokens, encoded.offsets[1:-1])
    for rows, text in zip(posts, texts, strict=True):
        np.testing.assert_array_equal(encoded.matrix[rows], literal(text, vectors))


def test_padded_is_cut_and_filled() -> None:
    encoded = encode(["a b c d", "", "d", "b a"], keyed(WORDS))
    a, b, c, d = encoded.tokens[:4].flat
    np.testing.assert_array_equal(
        encoded.padded(np.array([2, 0]), shortest=2, longest=3), [[d, 0, 0], [a, b, c]]
    )
    np.testing.assert_array_equal(
        encoded.padded(np.array([1, 3]), shortest=5, longest=9), [[0] * 5, [b, a, 0, 0, 0]]
    )
    np.testing.assert_array_equal(encoded.padded(np.array([1]), shortest=2, longest=9), [[0, 0]])


def test_words_without_any_vector_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"none of the 2 distinct words of the texts \(A, B\) has a vector"
    ):
        encode(["A B A"], keyed(WORDS))


def test_a_vector_that_is_not_finite_is_refused() -> None:
    vectors = keyed(WORDS)
    vectors.vectors[1, 0] = np.nan
    with pytest.raises(InputError, match="the vector of 'b'"):
        encode(["a b"], vectors)
    encode(["a c"], vectors)


# The linear baseline against gensim's means and scikit-learn's regression.


def test_mean_vectors_are_gensims(vectors: KeyedVectors) -> None:
    texts = ["word1 word2 word2", "zog0 unheard word3", "", "unheard of"]
    means = mean_vectors(encode(texts, vectors))
    theirs = [vectors.get_mean_vector(text.split(), pre_normalize=False) for text in texts[:2]]
    np.testing.assert_allclose(means[:2], theirs, atol=1e-6)
    assert not means[2:].any()


def test_scores_are_those_of_a_regression_on_the_training_posts(
    divided: pd.DataFrame, vectors: KeyedVectors
) -> None:
    means = np.array(
        [vectors.get_mean_vector(text.split(), pre_normalize=False) for text in divided["text"]]
    )
    labels, splits = np.array(divided["label"]), np.array(divided["split"])
    train, test = means[splits == "train"], means[splits == "test"]
    scaled = [(part - train.mean(0)) / train.std(0) for part in (train, test)]
    expected = (
        LogisticRegression(C=0.5)
        .fit(scaled[0], labels[splits == "train"])
        .predict_proba(scaled[1])[:, 1]
    )
    predictions = Linear(C=0.5).predict(divided, vectors, seed=0)
    np.testing.assert_allclose(predictions["score"], expected, atol=1e-3)


# Classifiers on an encoder of texts and on a whole language model: tiny random ones, and posts
# that are hateful when they hold one of two words.

NEUTRAL = sorted({word for line in LINES for word in line.split()})
INSULTS = ("fool", "mob")
TINY = Finetuned(epochs=12, patience=4, learning_rate=3e-3, batch_size=20)


@pytest.fixture(scope="module", params=["bert", "gpt2"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture(scope="module")
def short_posts() -> pd.DataFrame:
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


def constant_scores(predictions: pd.DataFrame) -> float:
    """The accuracy of the classifier that always says the more frequent label."""
    share = float(predictions["label"].mean())
    return max(share, 1 - share)


@pytest.mark.parametrize("classifier", [EncoderClassifier(), Finetuned()])
def test_they_are_classifiers(classifier: Classifier) -> None:
    assert isinstance(classifier, Classifier)


def test_a_frozen_encoder_is_regressed_on_its_rows(short_posts: pd.DataFrame) -> None:
    encoder = Bag(*NEUTRAL, *INSULTS)
    rows, labels = (encoder.encode(list(short_posts["text"])), np.array(short_posts["label"]))
    train, test = (np.array(short_posts["split"] == name) for name in ("train", "test"))
    rows = (rows - rows[train].mean(0)) / rows[train].std(0)
    regression = LogisticRegression(C=0.5).fit(rows[train], labels[train])
    expected = regression.predict_proba(rows[test])[:, 1]
    result = EncoderClassifier(C=0.5).predict(short_posts, encoder, seed=0)
    np.testing.assert_allclose(result["score"], expected, atol=1e-3)


def test_posts_are_read_as_they_were_written(short_posts: pd.DataFrame) -> None:
    """Where that is known: a post without a raw text is read tokenised."""
    encoder = Bag(*NEUTRAL, *INSULTS, "FOOL")
    shouted = short_posts["text"].str.replace("fool|mob", "FOOL", regex=True)
    hidden = short_posts.assign(text=short_posts["text"].str.replace("fool|mob", "man", regex=True))
    assert accuracy(EncoderClassifier().predict(hidden, encoder, seed=0)) < 0.9
    assert accuracy(EncoderClassifier().predict(hidden.assign(raw=shouted), encoder, seed=0)) == 1
    partly = short_posts.assign(raw=short_posts["text"].where(short_posts.index % 2 == 0))
    plain = EncoderClassifier().predict(short_posts, encoder, seed=0)
    assert plain.equals(EncoderClassifier().predict(partly, encoder, seed=0))


def test_a_random_encoder_beats_a_constant(short_posts: pd.DataFrame, folder: Path) -> None:
    predictions = EncoderClassifier().predict(short_posts, Encoder(folder), seed=0)
    assert accuracy(predictions) > constant_scores(predictions) + 0.05


def test_a_finetuned_model_beats_a_constant_and_a_seed_repeats_it(
    short_posts: pd.DataFrame, folder: Path
) -> None:
    opened = open_model(folder)
    before = {name: value.clone() for name, value in opened.base.state_dict().items()}
    state = torch.get_rng_state()
    predictions = TINY.predict(short_posts, opened, seed=0)
    assert accuracy(predictions) > constant_scores(predictions) + 0.2
    assert predictions.equals(TINY.predict(short_posts, opened, seed=0))
    assert not predictions.equals(TINY.predict(short_posts, opened, seed=1))
    assert torch.equal(state, torch.get_rng_state())
    for name, value in opened.base.state_dict().items():
        assert torch.equal(value, before[name]), "the model that is given stays as it is"


def untrained_network(short_posts: pd.DataFrame, folder: Path) -> FinetunedNetwork:
    opened = open_model(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return FinetunedNetwork(TINY, opened, tokenise(list(short_posts["text"]), opened, 128))


def test_the_epoch_of_the_lowest_dev_loss_is_kept(short_posts: pd.DataFrame, folder: Path) -> None:
    network, labels = untrained_network(short_posts, folder), np.array(short_posts["label"])
    train, dev = (np.flatnonzero(short_posts["split"] == name) for name in ("train", "dev"))
    losses = [-score.negative_loss for score in _fit_finetuned(network, labels, train, dev)]
    assert len(losses) <= TINY.epochs
    assert losses.index(min(losses)) >= len(losses) - 1 - TINY.patience
    probability = network.logits(dev).softmax(1).numpy()[np.arange(len(dev)), labels[dev]]
    assert -np.log(probability).mean() == pytest.approx(min(losses), rel=1e-4)


def test_neighbours_in_a_batch_change_nothing(short_posts: pd.DataFrame, folder: Path) -> None:
    network = untrained_network(short_posts, folder)
    rows = np.arange(30)
    alone = torch.cat([network.logits(rows[[row]]) for row in rows])
    torch.testing.assert_close(network.logits(rows), alone, atol=1e-5, rtol=1e-4)
    network.eval()
    text = tokenise([short_posts["text"][7]], open_model(folder), 128)
    states = network.base(input_ids=torch.tensor(text)).last_hidden_state[0]
    torch.testing.assert_close(network.head(states.mean(0)), alone[7], atol=1e-5, rtol=1e-4)


def test_long_and_empty_texts_are_classified(short_posts: pd.DataFrame, folder: Path) -> None:
    strange = short_posts.copy()
    strange.loc[[0, 20], "text"] = ["", "the man " * 500]
    predictions = Finetuned(epochs=1).predict(strange, open_model(folder), seed=0)
    assert predictions["score"].between(0, 1).all()


def test_a_loss_that_is_not_finite_stops_the_training(
    short_posts: pd.DataFrame, folder: Path
) -> None:
    with pytest.raises(FloatingPointError, match="lower learning_rate"):
        Finetuned(learning_rate=1e30).predict(short_posts, open_model(folder), seed=0)
