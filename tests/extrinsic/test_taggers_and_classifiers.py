"""What a run asks of taggers and classifiers: all of ours provide it, and planning loads little."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


def test_importing_the_choices_loads_no_heavy_library() -> None:
    heavy = {"datasets", "gensim", "nltk", "scipy", "sklearn", "statsmodels", "torch"}
    modules = "extrinsic.cnn, extrinsic.keywords, extrinsic.linear, extrinsic.tagger"
    code = f"import sys, {modules}; print(*sys.modules)"
    loaded = subprocess.check_output(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[2], text=True
    )
    assert not heavy & {*loaded.split()}
