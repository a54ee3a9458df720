"""What a run asks of taggers and classifiers: all of ours provide it, and planning loads little."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from extrinsic.cnn import CNN
from extrinsic.kinds import Classifier, Tagger
from extrinsic.linear import Linear
from extrinsic.tagger import GenderTagger
from files.choice import lacks


def test_what_a_run_asks_for_is_there() -> None:
    assert lacks(GenderTagger(), Tagger) == []
    assert lacks(CNN(), Classifier) == lacks(Linear(), Classifier) == []


def test_importing_the_choices_loads_no_heavy_library() -> None:
    heavy = {"datasets", "gensim", "nltk", "scipy", "sklearn", "statsmodels", "torch"}
    code = "import sys, extrinsic.cnn, extrinsic.linear, extrinsic.tagger; print(*sys.modules)"
    loaded = subprocess.check_output(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[2], text=True
    )
    assert not heavy & {*loaded.split()}
