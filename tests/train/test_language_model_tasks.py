"""Tasks on what else than vectors a subject gives: an encoder of texts, a whole model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd
import pytest

from corpora.generated_queries import GeneratedQueries
from corpora.world import GeneratedPosts
from debias.unmodified import Unmodified
from extrinsic.encoder_classifier import EncoderClassifier
from extrinsic.finetuned import Finetuned
from extrinsic.gaps import Gaps
from extrinsic.linear import Linear
from extrinsic.tagger import WordTagger
from files import InputError, choice
from files.choice import Fileless
from tests.extrinsic.test_retrieval import Bag
from tests.points import WEAT
from train.parts import scores
from train.parts.hatespeech import HateSpeech
from train.parts.posts import coverage
from train.parts.retrieval import Retrieval
from train.point import Point, plan_point
from train.store import Store

if TYPE_CHECKING:
    from extrinsic.kinds import Classifier
    from train.parts.part import Facts, Inputs, Stages
    from train.store import Stage
