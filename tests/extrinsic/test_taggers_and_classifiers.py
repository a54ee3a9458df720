"""What a run asks of taggers and classifiers: all of ours provide it, and planning loads little."""

from __future__ import annotations

from extrinsic.cnn import CNN
from extrinsic.keywords import KeywordTagger
from extrinsic.kinds import Classifier, Tagger
from extrinsic.linear import Linear
from extrinsic.tagger import MentionTagger
from files.choice import lacks


def test_what_a_run_asks_for_is_there() -> None:
    assert lacks(MentionTagger(), Tagger) == []
    assert lacks(KeywordTagger("women", keywords=("mujer",)), Tagger) == []
    assert lacks(CNN(), Classifier) == lacks(Linear(), Classifier) == []
