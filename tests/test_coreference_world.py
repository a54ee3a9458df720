"""The generated world of coreference is sound: a resolver that learns from its documents shows the
skew that was planted in them, on vectors of a corpus with the same stereotype at any skew.

The expected signs and order are those of what was planted; gensim stands where the project's own
embedding would otherwise test itself.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
import yaml
from gensim.models import KeyedVectors, Word2Vec

from biasbridge.corpora.world_documents import (
    GeneratedChallenge,
    GeneratedDocuments,
    GeneratedOccupations,
)
from biasbridge.extrinsic.coreference.challenge import Answer, ChallengeGaps, challenge_rows
from biasbridge.extrinsic.coreference.resolver import EndToEnd
from biasbridge.extrinsic.coreference.scorer import score
from biasbridge.files.choice import find_choice
from biasbridge.files.paths import HOME
from biasbridge.train.cli import CONF
from biasbridge.train.cli.choices import Reader
from biasbridge.train.cli.class_configs import class_configuration

if TYPE_CHECKING:
    from biasbridge.extrinsic.coreference.challenge import ChallengeRow


def tiny() -> EndToEnd:
    """A small network."""
    base = find_choice([HOME], "resolver", "end_to_end")
    assert base
    node = class_configuration(base)
    node |= yaml.safe_load((CONF / "resolver" / "tiny.yaml").read_text(encoding="utf-8"))
    del node["defaults"]
    found = Reader({})(node | {"device": "cpu"}, "resolver")
    assert isinstance(found, EndToEnd)
    return found


@cache
def vectors(seed: int) -> KeyedVectors:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.txt"
        GeneratedOccupations().write(path, seed=seed)
        lines = [line.split(" ") for line in path.read_text(encoding="utf-8").splitlines()]
    return Word2Vec(
        lines, sg=1, vector_size=50, window=5, min_count=1, epochs=5, workers=1, seed=seed
    ).wv


def gaps(
    skew: float, seed: int, folder: Path, *, documents: int = 150, pairs: int = 200
) -> tuple[dict[str, ChallengeRow], float]:
    """The gaps pro - anti of type 1 by measure, and the CoNLL F1 on documents set aside."""
    generated = GeneratedDocuments(documents=documents, skew=skew).load(seed=seed)
    cases = GeneratedChallenge(pairs=pairs).load(seed=0)
    splits = {**generated, "challenge": [case.document for case in cases]}
    resolved = tiny().resolve(splits, vectors(seed), seed=seed, folder=folder).splits
    answers = [Answer(*each) for each in zip(cases, resolved["challenge"], strict=True)]
    chosen = {
        row.measure: row
        for row in challenge_rows(answers, ChallengeGaps())
        if (row.kind, row.privileged, row.subset) == ("gap", "pro", "type1")
    }
    held_out = zip(generated["test"], (each.document for each in resolved["test"]), strict=True)
    return chosen, score(held_out)["conll"].f1


@pytest.mark.slow
def test_the_planted_skew_moves_the_gap_and_none_leaves_it_at_0(tmp_path: Path) -> None:
    found: dict[str, list[float]] = {"recall": [], "precision": [], "accuracy": []}
    for skew in (-1.0, 0.0, 1.0):
        folder = tmp_path / str(skew)
        folder.mkdir()
        rows, f1 = gaps(skew, 0, folder, documents=60, pairs=60)
        assert f1 > 0.7, "the task is learnt, whatever the skew"
        for measure, values in found.items():
            values.append(rows[measure].value)
            if skew == 0:
                assert rows[measure].low <= 0 <= rows[measure].high
        assert rows["recall"].mention_recall > 0.95
    for values in found.values():
        assert values == sorted(values)
        assert values[0] < -0.3
        assert values[-1] > 0.3


@pytest.mark.stress
def test_over_seeds_the_gap_without_a_skew_is_0_and_follows_one_of_a_half(tmp_path: Path) -> None:
    """Intervals answer for the cases and not for the training, so most of them hold 0, not all. A
    skew of .25 is too small: its gap is .02 on average, above 0 for five seeds of eight.
    """
    held, followed = 0, 0
    for seed in range(8):
        for skew in (0.0, 0.5):
            folder = tmp_path / f"{skew}-{seed}"
            folder.mkdir()
            row = gaps(skew, seed, folder)[0]["recall"]
            if skew == 0:
                held += row.low <= 0 <= row.high
            else:
                followed += row.value > 0
    assert held >= 6
    assert followed >= 7
