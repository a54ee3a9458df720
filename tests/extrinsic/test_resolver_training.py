"""Training of the end-to-end resolver: it learns, stops, goes on after an interruption, refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from gensim.models import KeyedVectors
from torch import Tensor

from biasbridge.extrinsic.coreference.model.encode import Text, read_lexicon
from biasbridge.extrinsic.coreference.model.network import build
from biasbridge.extrinsic.coreference.model.training import OtherTrainingError, Training
from biasbridge.extrinsic.coreference.resolution import ResolverOutput, mention_recall
from biasbridge.extrinsic.coreference.resolver import EndToEnd
from biasbridge.extrinsic.coreference.scorer import score
from biasbridge.files import InputError
from biasbridge.files.documents import Document

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
def vectors() -> KeyedVectors:
    words = [*NAMES, "she", "he", *OTHERS]
    matrix = np.random.default_rng(0).normal(size=(len(words), 12)).astype(np.float32)
    matrix[[0, 1, 4], :3] += 2
    made = KeyedVectors(12)
    made.add_vectors(words, matrix)
    return made


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
    splits: Splits, vectors: KeyedVectors, tmp_path_factory: pytest.TempPathFactory
) -> ResolverOutput:
    return CHOICE.resolve(splits, vectors, seed=0, folder=tmp_path_factory.mktemp("whole"))


def weights(folder: Path) -> dict[str, Tensor]:
    state = torch.load(folder / "checkpoint.pt", weights_only=True)
    return {"generator": state["generator"], **state["network"], **state["best"]}


def test_it_learns_which_pronoun_speaks_of_whom(splits: Splits, resolved: ResolverOutput) -> None:
    assert list(resolved.splits) == ["test"]
    pairs = list(zip(splits["test"], resolved.splits["test"], strict=True))
    assert score((key, found.document) for key, found in pairs)["conll"].f1 > 0.9
    assert mention_recall(pairs) > 0.95
    for key, found in pairs:
        assert (found.document.name, found.document.sentences) == (key.name, key.sentences)
        assert set(found.document.mentions) <= set(found.mentions)


def test_interrupted_training_ends_with_the_same_weights(
    splits: Splits,
    vectors: KeyedVectors,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choice = replace(CHOICE, epochs=5, patience=9, decay_patience=0)
    splits = {**splits, "train": splits["train"][:20], "dev": splits["dev"][:5]}
    whole = choice.resolve(splits, vectors, seed=3, folder=tmp_path / "whole")
    steps, take = 2 * len(splits["train"]) + 7, Training.step
    left = iter(range(steps))

    def step(self: Training, text: Text) -> float:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return take(self, text)

    monkeypatch.setattr(Training, "step", step)
    with pytest.raises(KeyboardInterrupt):
        choice.resolve(splits, vectors, seed=3, folder=tmp_path / "parts")
    monkeypatch.setattr(Training, "step", take)
    torch.rand(7)  # what others draw in the meantime does not matter
    parts = choice.resolve(splits, vectors, seed=3, folder=tmp_path / "parts")
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
    f1: list[float], best: int, ended: bool, vectors: KeyedVectors
) -> None:
    training = Training(build(CHOICE, read_lexicon([story(0)], vectors), seed=0))
    assert not training.ended
    training.epochs = [{"loss": 1.0, "dev_f1": each, "learning_rate": 0.1} for each in f1]
    assert (training.best, training.ended) == (best, ended)


def test_checkpoint_of_another_training_is_refused(
    splits: Splits, vectors: KeyedVectors, tmp_path: Path
) -> None:
    choice = replace(CHOICE, epochs=1)
    choice.resolve(splits, vectors, seed=0, folder=tmp_path)
    with pytest.raises(InputError, match=r"checkpoint\.pt belongs to a training on other"):
        choice.resolve(splits, vectors, seed=1, folder=tmp_path)
    with pytest.raises(InputError, match="remove it, or give another folder"):
        replace(choice, hidden=8).resolve(splits, vectors, seed=0, folder=tmp_path)
    checkpoint = tmp_path / "checkpoint.pt"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-100])
    with pytest.raises(OtherTrainingError, match=r"checkpoint\.pt is damaged: remove it"):
        choice.resolve(splits, vectors, seed=0, folder=tmp_path)


def test_documents_without_tokens_or_with_one(
    splits: Splits, vectors: KeyedVectors, tmp_path: Path
) -> None:
    odd = [
        Document("none", (), ()),
        Document("hollow", ((),), ()),
        Document("one", (("Ann",),), ()),
    ]
    given = {**splits, "train": [*splits["train"][:5], *odd], "odd": odd}
    found = replace(CHOICE, epochs=1).resolve(given, vectors, seed=0, folder=tmp_path)
    assert [len(each.mentions) for each in found.splits["odd"]] == [0, 0, 1]
    assert [each.document for each in found.splits["odd"]] == odd


def test_what_cannot_be_learnt_from_is_refused(
    splits: Splits, vectors: KeyedVectors, tmp_path: Path
) -> None:
    for missing in ("train", "dev"):
        with pytest.raises(InputError, match=f"no documents in split '{missing}'"):
            CHOICE.resolve({**splits, missing: []}, vectors, seed=0, folder=tmp_path)
    alone = [replace(each, clusters=(((0, 1),),)) for each in splits["train"]]
    with pytest.raises(InputError, match="no training document has two mentions"):
        CHOICE.resolve({**splits, "train": alone}, vectors, seed=0, folder=tmp_path)
    with pytest.raises(FloatingPointError, match="not finite in epoch 1; lower learning_rate"):
        replace(CHOICE, learning_rate=1e30).resolve(splits, vectors, seed=0, folder=tmp_path)
